"""The floors of a run: measured once for each text, kept beside its other tables."""

from collections.abc import Sequence
from functools import reduce
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pandas as pd

from langdiff import __version__
from langdiff._checksums import DamageError, read_checksums
from langdiff._signature import full_hash
from langdiff.errors import DataError
from langdiff.folds import Folds
from langdiff.lm.floors import measure_floors
from langdiff.lm.jobs.record import hash_texts
from langdiff.multitext import Parts

FLOORS = "tables/floors.csv"
_KEY = "key"  # of what the floors of an edition depend on


def floors_of_run(
    parts: Parts | Folds, editions: Sequence[str], directory: Path, progress: bool | None
) -> pd.DataFrame:
    """Return the floors of editions, from an earlier run in the directory where their texts are the same.

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
        As `langdiff.lm.measure_floors` returns it, and the column ``key``.
    """
    keys = {edition: _key(parts, edition) for edition in editions}
    rows = []
    known = _known(directory)
    if known is not None:
        rows = [known[known[_KEY] == known.index.map(keys)]]
    missing = [edition for edition in editions if not rows or edition not in rows[0].index]
    if missing:
        rows.append(_measure(parts, missing, progress).assign(key=pd.Series(keys)))
    return pd.concat(rows).loc[list(editions)]


def _measure(parts: Parts | Folds, editions: Sequence[str], progress: bool | None) -> pd.DataFrame:
    """Return the floors of editions, of folds as one test part."""
    bits, characters = [], []
    for each in _all(parts):
        train, dev, test = (part.sel(editions=editions) for part in (each.train, each.dev, each.test))
        characters.append(pd.Series({edition: test.text(edition).str.len().sum() for edition in editions}))
        rates = measure_floors(Parts(train=train, dev=dev, test=test), progress=progress)
        bits.append(rates.mul(characters[-1], axis=0))
    return reduce(pd.DataFrame.add, bits).div(reduce(pd.Series.add, characters), axis=0)


def _all(parts: Parts | Folds) -> Sequence[Parts]:
    return parts.parts if isinstance(parts, Folds) else [parts]


def read_floors(directory: Path) -> pd.DataFrame | None:
    """Return the floors that a run measured, one row per edition; None if it measured none.

    Raises
    ------
    DataError
        If the table cannot be read.
    """
    path = directory / FLOORS
    if not path.is_file():
        return None
    try:
        return pd.read_csv(path, dtype={"edition": str}, keep_default_na=False).set_index("edition")
    except (ValueError, KeyError) as error:
        raise DataError(f"{path}: no table of floors: {error}.") from error


def _known(directory: Path) -> pd.DataFrame | None:
    try:
        read_checksums(directory).read(FLOORS)  # else damaged, or left by another program
        return read_floors(directory)
    except (DamageError, DataError):
        return None


def _key(parts: Parts | Folds, edition: str) -> str:
    """Return a hash of all that the floors of an edition depend on."""
    texts = [hash_texts(part.text(edition)) for each in _all(parts) for part in (each.train, each.dev, each.test)]
    try:
        compressor = version("pyppmd")
    except PackageNotFoundError:
        compressor = ""
    return full_hash({"texts": texts, "langdiff": __version__, "pyppmd": compressor})
