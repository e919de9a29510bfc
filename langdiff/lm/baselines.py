"""What needs no network: bits per character that a language model of an edition should stay below."""

import warnings
from collections.abc import Iterable
from importlib.util import find_spec

import pandas as pd

from langdiff.base.progress import progress_bar
from langdiff.errors import DataError, LangdiffWarning, listing
from langdiff.lm.external.compression import lzma_bits, ppmd_bits
from langdiff.lm.language_model import TrainingPlan
from langdiff.lm.ngram.model import fit_kneser_ney
from langdiff.lm.ngram.recipe import KneserNeyRecipe
from langdiff.lm.texts import check_texts, naming
from langdiff.tables.divisions import Parts
from langdiff.tables.surprisals import Surprisals

ORDERS = (6, 10, 16)  # of the n-grams


def measure_baselines(parts: Parts, *, progress: bool | None = None) -> pd.DataFrame:
    """Measure, edition by edition, what character n-grams and compressors make of the test part.

    Each learns from the training part. Characters that are too rare in training are replaced and priced, as for
    language models, so that all figures are about the same string.

    Parameters
    ----------
    parts : Parts
        What models learn from and are measured on.
    progress : bool, optional
        Whether to draw a progress bar; by default if stderr is a terminal.

    Returns
    -------
    DataFrame, one row per edition
        Bits per character of the test part, end symbols priced but not counted as characters: ``kneser-ney-6``,
        ``kneser-ney-10``, ``kneser-ney-16``, ``lzma`` and, if pyppmd is installed, ``ppmd``. Compressors go on
        learning from the test part; see `lzma_bits`.

    Raises
    ------
    DataError
        If a text is missing or empty, or too few characters are frequent enough.

    Examples
    --------
    >>> import langdiff as ld
    >>> verses = {"eng": ["the cat sat", "a dog ran"] * 70, "deu": ["die Katze sass", "ein Hund lief"] * 70}
    >>> bible = ld.read_frame(pd.DataFrame(verses))
    >>> baselines = measure_baselines(ld.split(bible), progress=False)
    >>> list(baselines.index), bool((baselines["kneser-ney-6"] < 1).all())
    (['eng', 'deu'], True)
    """
    rows = {}
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("baselines", total=len(parts.train.editions), note="")
        for edition in parts.train.editions:
            bar.update(task, note=edition)
            with naming(edition):
                rows[edition] = _baselines(parts, edition)
            bar.update(task, advance=1)
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("edition")


def _baselines(parts: Parts, edition: str) -> dict[str, float]:
    train, dev, test = (check_texts(part.text(edition), "texts") for part in (parts.train, parts.dev, parts.test))
    rates, characters = {}, int(test.str.len().sum())
    for order in ORDERS:
        recipe = KneserNeyRecipe(name=f"kneser-ney-{order}", order=order)
        model = fit_kneser_ney(recipe, train, dev, TrainingPlan(seed=0, name=edition))
        rates[recipe.name] = float(model.surprisal(test)["bits"].sum()) / characters
    alphabet = model.alphabet
    learned, judged = ([alphabet.apply(text) for text in part] for part in (train, test))
    price = sum(map(alphabet.replaced_bits, test))
    rates["lzma"] = (lzma_bits(learned, judged) + price) / characters
    if find_spec("pyppmd") is not None:
        rates["ppmd"] = (ppmd_bits(learned, judged) + price) / characters
    return rates


def compare_with_baselines(tables: Iterable[Surprisals], baselines: pd.DataFrame) -> pd.DataFrame:
    """Set the bits of language models beside their baselines.

    Parameters
    ----------
    tables : iterable of Surprisals
        Surprisals of the same test part by one or more language models.
    baselines : DataFrame
        Baselines of the editions, as `measure_baselines` returns them.

    Returns
    -------
    DataFrame, one row per edition × language model
        ``edition``, ``lm``, ``bits_per_character``, ``baseline`` (name of the lowest baseline), ``baseline_bits`` (its
        bits per character), and ``percent``, by how much the model is below it: negative where it is above.

    Raises
    ------
    DataError
        If a table has no characters, or an edition has no baselines other than the model itself.

    Warns
    -----
    LangdiffWarning
        If models are above their baselines: they have learned less than n-grams or a compressor.

    Examples
    --------
    >>> bits = pd.DataFrame({"eng": [20.0, 30.0]})
    >>> table = Surprisals(bits=bits, characters=pd.DataFrame({"eng": [10.0, 15.0]}), lm="char-small")
    >>> baselines = pd.DataFrame({"kneser-ney-10": [2.5]}, index=["eng"])
    >>> compare_with_baselines([table], baselines)["percent"].round(1).tolist()
    [20.0]
    """
    rows = []
    for table in tables:
        unknown = [edition for edition in table.editions if edition not in baselines.index]
        if unknown:
            raise DataError(f"{len(unknown)} edition(s) of {table.lm!r} have no baselines: {listing(unknown)}.")
        if table.characters is None:
            raise DataError(
                f"{table.lm!r}: the table has no characters, so that nothing is known of bits per character."
            )
        for edition, rate in table.bits_per_character()["bits_per_character"].items():
            own = baselines.loc[str(edition)].drop(labels=table.lm, errors="ignore").dropna()
            if own.empty:
                raise DataError(f"{table.lm!r} has no other baseline to be set beside in edition {edition!r}.")
            baseline = str(own.idxmin())
            rows.append((edition, table.lm, rate, baseline, own[baseline], 100 * (1 - rate / own[baseline])))
    columns = ["edition", "lm", "bits_per_character", "baseline", "baseline_bits", "percent"]
    found = pd.DataFrame(rows, columns=columns)
    above = found[found["percent"] < 0]
    for lm, of_lm in above.groupby("lm", sort=False):
        count = int((found["lm"] == lm).sum())
        warnings.warn(
            f"{lm}: {len(of_lm)} of {count} edition(s) need more bits than a baseline, so that the model has learned "
            f"less than n-grams or a compressor: {listing(of_lm['edition'])}. Train longer, or use a better recipe.",
            LangdiffWarning,
            stacklevel=2,
        )
    return found
