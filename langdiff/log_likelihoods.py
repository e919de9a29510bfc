"""Surprisals from files of log-likelihoods, one number per line, one file per edition."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff._io import read_lines
from langdiff.errors import ConfigError, DataError, listing
from langdiff.surprisals import BITS_PER_UNIT, Surprisals, Unit

_MISSING = {"", "NA", "NaN", "nan"}


def read_log_likelihoods(
    files: Mapping[str, str | Path],
    *,
    unit: Unit,
    intents: Sequence[str] | None = None,
    intent_info: pd.DataFrame | str | Path | None = None,
    lm: str = "unknown",
) -> Surprisals:
    r"""Read what most toolkits write: the log-probability of each sentence, one per line.

    Parameters
    ----------
    files : mapping from edition to path
        One file per edition. Line i of every file is intent i; an empty line is a missing translation. Numbers are
        log-probabilities (0 or less) in all files, or their negatives in all files.
    unit : {"bits", "nats", "log10"}
        Unit of the logarithms: base 2, e or 10. Toolkits differ, so it must be given.
    intents : sequence of str, optional
        Names of the lines; by default their numbers, from ``"1"``.
    intent_info : DataFrame, str or Path, optional
        Properties of the intents, such as their documents; see `Surprisals.with_intent_info`.
    lm : str
        Name of the language model that gave the numbers.

    Returns
    -------
    Surprisals
        The table in bits.

    Raises
    ------
    DataError
        If a file cannot be read or has no number, a line is something else (``-nan`` too, which is a failure
        and not a missing translation), signs are mixed, files differ in length, or `intent_info` lacks an intent.
    ConfigError
        If no file is given, or the unit is unknown.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     eng, deu = Path(folder, "eng.scores"), Path(folder, "deu.scores")
    ...     _ = eng.write_text("-3.0\n-4.5\n"), deu.write_text("-3.5\n\n")
    ...     read_log_likelihoods({"eng": eng, "deu": deu}, unit="log10").bits.round(2)
    edition    eng    deu
    intent
    1         9.97  11.63
    2        14.95    NaN
    """
    if unit not in BITS_PER_UNIT:
        raise ConfigError(f"unknown unit {unit!r}; use one of {', '.join(BITS_PER_UNIT)}.")
    if not files:
        raise ConfigError("no file of log-likelihoods is given.")
    columns = {edition: _read(Path(path)) for edition, path in files.items()}
    lengths = {edition: len(column) for edition, column in columns.items()}
    if intents is not None:
        lengths = {"intents": len(intents), **lengths}
    if len(set(lengths.values())) > 1:
        raise DataError(f"files differ in length: {listing(f'{name}: {n:,} lines' for name, n in lengths.items())}.")
    _check_signs(columns, files)
    n = next(iter(lengths.values()))
    names = [str(line) for line in range(1, n + 1)] if intents is None else list(intents)
    bits = pd.DataFrame(columns).abs().set_axis(names, axis=0) * BITS_PER_UNIT[unit]
    table = Surprisals(bits=bits, lm=lm)
    return table if intent_info is None else table.with_intent_info(intent_info)


def _read(path: Path) -> pd.Series:
    """Return the numbers of a file, indexed by line."""
    numbers = []
    for number, line in read_lines(path):
        try:
            numbers.append(np.nan if line.strip() in _MISSING else _number(line))
        except ValueError:
            raise DataError(
                f"{path}, line {number}: {line[:40]!r} is not a number. Give one log-likelihood per line, and an empty "
                "line for a missing translation."
            ) from None
    if np.isnan(numbers).all():
        raise DataError(f"{path}: no log-likelihood in {len(numbers):,} line(s). Leave this edition out.")
    return pd.Series(numbers, index=range(1, len(numbers) + 1), dtype=float)


def _number(line: str) -> float:
    """Read a number; refuse Python's digit groups (``1_000``) and its other spellings of NaN."""
    number = float(line)
    if np.isnan(number) or "_" in line:
        raise ValueError(line)
    return number


def _check_signs(columns: Mapping[str, pd.Series], files: Mapping[str, str | Path]) -> None:
    """Refuse a mixture of log-probabilities and of their negatives."""
    first: dict[bool, str] = {}
    for edition, column in columns.items():
        for positive in (False, True):
            found = column[column > 0] if positive else column[column < 0]
            if len(found):
                first.setdefault(positive, f"{found.iloc[0]:g} ({files[edition]}, line {found.index[0]})")
    if len(first) > 1:
        raise DataError(
            f"log-probabilities are never above 0, but there are both {first[False]} and {first[True]}: give "
            "log-probabilities in all files, or their negatives in all."
        )
