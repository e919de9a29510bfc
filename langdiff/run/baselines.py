"""The baselines of a run: measured once for each text, and kept as soon as they are."""

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff import __version__
from langdiff.base.cells import unguarded
from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, write_json
from langdiff.base.numbers import read_exact_csv
from langdiff.base.progress import progress_bar
from langdiff.base.signature import full_hash
from langdiff.errors import DataError
from langdiff.lm.baselines import measure_baselines
from langdiff.lm.jobs.record import hash_texts
from langdiff.run.directory import JOBS
from langdiff.tables.divisions import Folds, Parts, texts_by_part

BASELINES = "tables/baselines.csv"
BASELINES_BEFORE = "tables/floors.csv"  # of runs that were finished under the earlier name
KEPT = f"{JOBS}/floors.json"  # by edition, with the hash of all that they depend on; the name that earlier runs know


def baselines_of_run(
    parts: Parts | Folds, editions: Sequence[str], directory: Path, progress: bool | None
) -> pd.DataFrame:
    """Return the baselines of editions, those that were measured before where their texts are the same.

    Parameters
    ----------
    parts : Parts or Folds
        What models learn from and are measured on; of folds, the bits of all tests are divided by their characters.
    editions : sequence of str
        Editions to measure.
    directory : Path
        Run directory.
    progress : bool or None
        Whether to draw a progress bar.

    Returns
    -------
    DataFrame, one row per edition
        As `langdiff.lm.measure_baselines` returns it.
    """
    kept = _kept(directory / KEPT)
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("baselines", total=len(editions), note="")
        for edition in editions:
            bar.update(task, note=edition)
            key = _key(parts, edition)
            if kept.get(edition, {}).get("key") != key:
                kept[edition] = {"key": key, "floors": _measure(parts, edition)}
                write_json(directory / KEPT, seal({"editions": kept}))
            bar.update(task, advance=1)
    rows = {edition: kept[edition]["floors"] for edition in editions}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("edition")


def read_baselines(directory: Path) -> pd.DataFrame | None:
    """Return the baselines that a finished run measured, one row per edition; None if it measured none.

    Raises
    ------
    DataError
        If the table cannot be read.
    """
    path = next((directory / name for name in (BASELINES, BASELINES_BEFORE) if (directory / name).is_file()), None)
    if path is None:
        return None
    try:
        return unguarded(read_exact_csv(path, dtype={"edition": str}, keep_default_na=False)).set_index("edition")
    except (ValueError, KeyError) as error:
        raise DataError(f"{path}: no table of baselines: {error}.") from error


def _kept(path: Path) -> dict[str, Any]:
    """Return what was measured before, if the file is as it was written."""
    try:
        document = parse_json(path.read_bytes())
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
        bits = {str(baseline): bits.get(str(baseline), 0.0) + float(rate) * own for baseline, rate in rates.items()}
        characters += own
    return {baseline: total / characters for baseline, total in bits.items()}


def _all(parts: Parts | Folds) -> Sequence[Parts]:
    return parts.parts if isinstance(parts, Folds) else [parts]


def _key(parts: Parts | Folds, edition: str) -> str:
    """Return a hash of all that the baselines of an edition depend on."""
    texts = [hash_texts(texts) for each in _all(parts) for texts in texts_by_part(each, edition).values()]
    try:
        compressor = version("pyppmd")
    except PackageNotFoundError:
        compressor = ""
    return full_hash({"texts": texts, "langdiff": __version__, "pyppmd": compressor})
