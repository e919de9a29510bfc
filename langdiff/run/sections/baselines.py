"""``baselines`` of ``[lm]``: bits of n-grams and compressors, measured once for each text and stored at once."""

import warnings
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pandas as pd

from langdiff.base.cells import read_exact_csv, unguarded
from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, read_bytes, write_json
from langdiff.base.progress import progress_bar
from langdiff.base.signature import full_hash
from langdiff.errors import DataError, LangdiffWarning
from langdiff.lm.baselines import compare_with_baselines, measure_baselines
from langdiff.lm.jobs.record import hash_texts
from langdiff.lm.ngram.recipe import KneserNeyRecipe
from langdiff.run.analysis import Analysis
from langdiff.run.directory import KEPT_BASELINES
from langdiff.run.html import html_table
from langdiff.run.settings import Basis, Section, section
from langdiff.tables.multitext import Folds, Parts, texts_by_part

if TYPE_CHECKING:
    from langdiff.run.settings import Core, RunResult

TABLE = "tables/baselines.csv"


@section(
    "baselines",
    title="Baselines",
    heading="Have the models learned enough?",
    explains="Bits per character that need no network: character n-grams (Kneser–Ney, of the order given) and general "
    "compressors, which learn from the same training part. Part of the difficulty of an edition in which a network is "
    "above such a baseline (a negative percentage) is what the network has not learned.",
    in_file=False,
    kept=False,  # each edition is, by itself
    files=(TABLE,),
)
class Baselines(Section):
    """Baselines of the language models, for experiments whose ``[lm]`` asks for them."""

    @classmethod
    def asked_by(cls, experiment: "Core") -> Self | None:
        """Return the section if the file says so, by default if a model is compared with baselines."""
        return cls() if experiment.lm.measures_baselines else None

    def make(self, basis: Basis) -> Analysis:
        """Measure all scored editions, and warn of networks that are worse than the baselines."""
        tables = basis.surprisals.values()
        editions = list(dict.fromkeys(edition for table in tables for edition in table.editions))
        measured = baselines_of(basis.parts, editions, basis.directory, basis.progress)
        compared = [table for lm, table in basis.surprisals.items() if basis.experiment.lm.has_baselines(lm)]
        compare_with_baselines(compared, measured)  # warns
        return _analysis(measured)

    @classmethod
    def read(cls, directory: Path) -> Analysis | None:
        """Return the baselines that a finished run measured.

        Raises
        ------
        DataError
            If the table cannot be read.
        """
        path = directory / TABLE
        if not path.is_file():
            return None
        try:
            table = unguarded(read_exact_csv(path, dtype={"edition": str}, keep_default_na=False))
            return _analysis(table.set_index("edition"))
        except (ValueError, KeyError) as error:
            raise DataError(f"{path}: not a table of baselines: {error}. Run the experiment again.") from error

    @classmethod
    def tables(cls, run: "RunResult") -> list[dict[str, str]]:
        """Return baselines per edition, and by how many percent each network is below the lowest."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)  # the page says it
            compared = run.against_baselines()
        below = compared.pivot(index="edition", columns="lm", values="percent")
        below = below[list(dict.fromkeys(compared["lm"]))]  # in their order
        measured: pd.DataFrame = run.analyses[cls.about.name].result
        table = measured.join(below.add_suffix(": below the lowest, %")).rename_axis("edition").reset_index()
        return [{"caption": "", "same": "", "table": html_table(table, {"%": "{:+.1f}", "": "{:.3f}"})}]

    @classmethod
    def instead(cls, run: "RunResult") -> str:
        """Return the reason why baselines were not measured, if a language model was trained."""
        lm = run.experiment.lm
        if lm.hf is not None:
            return ""
        unasked = "no model here is a network that pays for replaced characters"
        why = unasked if lm.baselines is None else "the experiment file says baselines = false"
        return (
            "Networks are compared with character n-grams of several orders and with general compressors. These were "
            f"not measured: {why}. With baselines = true in [lm] they are."
        )


def _analysis(measured: pd.DataFrame) -> Analysis:
    return Analysis(name="baselines", table=measured.reset_index(), result=measured)


def baselines_of(parts: Parts | Folds, editions: Sequence[str], directory: Path, progress: bool | None) -> pd.DataFrame:
    """Return the baselines of editions; baselines stored earlier are used where the texts are unchanged."""
    path = directory / KEPT_BASELINES
    kept = _kept(path)
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("baselines", total=len(editions), note="")
        for edition in editions:
            bar.update(task, note=edition)
            key = _key(parts, edition)
            if kept.get(edition, {}).get("key") != key:
                kept[edition] = {"key": key, "baselines": _measure(parts, edition)}
                write_json(path, seal({"editions": kept}))
            bar.update(task, advance=1)
    rows = {edition: kept[edition]["baselines"] for edition in editions}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("edition")


def _kept(path: Path) -> dict[str, Any]:
    """Return the stored baselines if the file is undamaged."""
    try:
        document = parse_json(read_bytes(path))
        if isinstance(document, dict) and is_whole(document):
            return dict(document["editions"])
    except (OSError, ValueError, KeyError):
        pass
    return {}


def _measure(parts: Parts | Folds, edition: str) -> dict[str, float]:
    """Return the baselines of an edition, of folds as one test part."""
    bits: dict[str, float] = {}
    characters = 0
    for each in _all(parts):
        own = int(each.test.text(edition).str.len().sum())
        rates = measure_baselines(each.sel([edition]), progress=False).to_dict("records")[0]
        bits = {str(name): bits.get(str(name), 0.0) + float(rate) * own for name, rate in rates.items()}
        characters += own
    return {name: total / characters for name, total in bits.items()}


def _all(parts: Parts | Folds) -> Sequence[Parts]:
    return parts.parts if isinstance(parts, Folds) else [parts]


def _key(parts: Parts | Folds, edition: str) -> str:
    """Return a hash of everything that the baselines of an edition depend on."""
    texts = [hash_texts(texts) for each in _all(parts) for texts in texts_by_part(each, edition).values()]
    try:
        compressor = version("pyppmd")
    except PackageNotFoundError:
        compressor = ""
    return full_hash({"texts": texts, "training_format": KneserNeyRecipe.training_format, "pyppmd": compressor})
