"""Long and wide tables of outcomes, as files hold them."""

from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.numbers import exact_numbers
from langdiff.errors import DataError, listing, option
from langdiff.tables.table_files import read_table_file

NOT_WHOLE = (
    "is not a whole number from 0 up. Of rates and other scores give successes and trials; leave the cell empty if it "
    "is missing."
)
TOO_MANY = "are more successes than trials. Give both, or leave the cell empty if it is missing."


def read_long_or_wide(path: Path, *, wide: bool) -> pd.DataFrame:
    """Return the long table in a file, with numbers as successes and trials.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet.
    wide : bool
        Whether the file has one column per system, in place of columns ``item``, ``system``, ``successes``.

    Raises
    ------
    DataError
        If the file cannot be read as such a table, or a cell is not a count; the message names line and column.
    """
    frame = read_table_file(path)
    if frame.empty:
        raise DataError(f"{path}: no rows below the header. Give one per {'item' if wide else 'item and system'}.")
    return _melted(frame, path) if wide else _checked_long(frame, path)


def _melted(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the long form of a wide table, whose cells are successes or successes/trials."""
    first, *systems = frame.columns
    if not systems:
        raise DataError(f"{path}: only one column. Give a column of items and one per system.")
    twice = frame[first][frame[first].duplicated()].unique()
    if len(twice):
        raise DataError(f"{path}: {len(twice)} item(s) have several rows: {listing(twice)}. Give each one row.")
    long = frame.melt(id_vars=[first], var_name="system", value_name="cell", ignore_index=False)
    long = long.rename(columns={first: "item"})
    _check_names(long, path)
    cells = long.pop("cell")
    parts = cells.where(cells.notna(), "").astype(str).str.partition("/")
    divided = parts[1] != ""
    successes, no_successes = _whole(parts[0].str.strip())
    trials, no_trials = _whole(parts[2].str.strip().where(divided, "1"))
    bad = no_successes | no_trials | (divided & (successes.isna() | trials.isna()))
    for wrong, why in ((bad, NOT_WHOLE), (successes > trials, TOO_MANY)):
        if wrong.any():
            place = int(np.argmax(wrong))
            where = f"{path}, line {long.index[place]}, column {long['system'].iloc[place]!r}"
            raise DataError(f"{where}: {cells.iloc[place]!r} {why}")
    return long.assign(successes=successes, trials=trials)


def _checked_long(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a long table with numbers as successes and trials; an error names line and column."""
    missing = [name for name in ("item", "system", "successes") if name not in frame]
    if missing:
        raise DataError(
            f"{path}: no column {listing(missing)}; a long table has item, system, successes and perhaps trials. Is it "
            f"wide, with one column per system? Then say so ({option('format', 'wide')})."
        )
    _check_names(frame, path)
    numbers = {"successes": frame["successes"], "trials": frame.get("trials", pd.Series("1", frame.index))}
    for name, column in numbers.items():
        numbers[name], bad = _whole(column)
        if bad.any():
            place = int(np.argmax(bad))
            where = f"{path}, line {column.index[place]}, column {name!r}"
            raise DataError(f"{where}: {column.iloc[place]!r} {NOT_WHOLE}")
    successes, trials = numbers["successes"], numbers["trials"]
    for name, bad, why in (
        ("trials", successes.notna() & trials.isna(), "is empty though successes are given; give both or neither."),
        ("successes", successes > trials, TOO_MANY),
    ):
        if bad.any():
            place = int(np.argmax(bad))
            cell = f"{successes.iloc[place]:g} of {trials.iloc[place]:g} " if name == "successes" else ""
            raise DataError(f"{path}, line {frame.index[place]}, column {name!r}: {cell}{why}")
    return frame.assign(**numbers)


def _check_names(long: pd.DataFrame, path: Path) -> None:
    empty = long["item"].isin(["", None]) | long["system"].isin(["", None])
    if empty.any():
        raise DataError(f"{path}, line {long.index[int(np.argmax(empty))]}: an item or a system without a name.")


def _whole(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return numbers, NaN where a cell is empty, and whether each is something else than a count."""
    missing = column.isna() | column.isin(["", "NA", "NaN", "nan"])
    numbers = exact_numbers(column.mask(missing)).astype(float)
    return numbers, ~missing & ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))


def typed(values: pd.Series) -> pd.Series:
    """Return numbers, which a formula may need, if all values are such and none becomes equal to another."""
    numbers = exact_numbers(values)
    alike = numbers.notna().equals(values.notna()) and numbers.nunique() == values.nunique()
    return numbers if values.notna().any() and alike else values
