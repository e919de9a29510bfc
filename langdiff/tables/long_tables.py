"""Long tables, one row per cell, whatever they come in and whatever their columns are called."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from langdiff.base.control_characters import check_names
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.intent_info import attributes_of_long
from langdiff.tables.table_files import numbers_of
from langdiff.tables.units import Unit, as_bits

CELL = ("intent", "edition", "bits")
BESIDE = ("eos_bits", "characters", "bytes", "units", "replaced")  # columns that may be known beside the bits


class ArrowTable(Protocol):
    """A table of Polars, PyArrow, DuckDB or another library that shares tables by Arrow's PyCapsule interface."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as a stream."""
        ...


LongTable = pd.DataFrame | Mapping[str, Sequence[Any]] | ArrowTable


def as_pandas(table: object) -> pd.DataFrame | None:
    """Return a table as a frame; None if it is none.

    Raises
    ------
    DataError
        If columns differ in length, or two have one name.

    Examples
    --------
    >>> as_pandas({"intent": ["1"], "bits": [3.0]})
      intent  bits
    0      1   3.0
    """
    if not isinstance(table, pd.DataFrame) and hasattr(table, "__arrow_c_stream__"):
        import pyarrow as pa  # slow to import

        try:
            table = pa.table(table).to_pandas()
        except pa.ArrowInvalid:  # one column, such as a Series
            return None
    if isinstance(table, pd.DataFrame):
        twice = table.columns[table.columns.duplicated()].unique()
        if len(twice):
            raise DataError(f"{len(twice)} column(s) of a table named twice: {listing(twice)}. Names must be unique.")
        check_names(table, "column", "the table")
        return table
    if isinstance(table, Mapping):
        without = [name for name, column in table.items() if not hasattr(column, "__len__")]
        if without:
            raise DataError(
                f"columns of a table are lists or arrays; {listing(without)} of this mapping is a "
                f"{type(table[without[0]]).__name__}."
            )
        lengths = {name: len(column) for name, column in table.items()}
        if len(set(lengths.values())) > 1:
            raise DataError(f"columns of a table have one length: {listing(f'{k}: {n}' for k, n in lengths.items())}.")
        return pd.DataFrame(dict(table))
    return None


def is_long(frame: pd.DataFrame) -> bool:
    """Whether a frame has the columns of a long table under their usual names."""
    return set(CELL) <= set(frame.columns)


def with_usual_names(frame: pd.DataFrame, names: Mapping[str, str], where: object) -> pd.DataFrame:
    """Give the columns of a long table their usual names; other columns of these names are left out.

    Parameters
    ----------
    frame : DataFrame
        Long table.
    names : mapping
        From ``"intent"``, ``"edition"`` and ``"bits"`` to the column of each.
    where : object
        Name of the table, for messages.

    Raises
    ------
    DataError
        If there is no such column.
    ConfigError
        If two of them are one column.
    """
    absent = [name for name in names.values() if name not in frame]
    if absent:
        raise DataError(
            f"{where}: no column {listing(absent)}; there are {listing(frame.columns, 20)}. Name the columns of "
            "intents, editions and numbers: intent=…, edition=…, bits=… (in commands, --intent-column …)."
        )
    if len(set(names.values())) < len(names):
        raise ConfigError(f"intents, editions and bits are in different columns; got {listing(names.values())}.")
    renamed = {theirs: ours for ours, theirs in names.items() if ours != theirs}
    taken = [ours for ours in renamed.values() if ours in frame and ours not in renamed]
    return frame.drop(columns=taken).rename(columns=renamed)


def parts_of_long(frame: pd.DataFrame, unit: Unit | None, where: object, lm: str) -> dict[str, Any]:
    """Return what `Surprisals` is made of.

    Raises
    ------
    DataError
        If a cell is given twice or a name is missing, numbers are not numbers, or a table is of several models.
    """
    path = Path(str(where))
    models = frame["lm"].unique() if "lm" in frame else [lm]
    if len(models) > 1:
        raise DataError(f"{where}: surprisals of {len(models)} language models; give one table per model.")
    for what in ("intent", "edition"):
        if frame[what].isna().any():
            raise DataError(f"{where}: {int(frame[what].isna().sum()):,} row(s) without a name of the {what}.")
    twice = frame.duplicated(["intent", "edition"])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise DataError(
            f"{where}: {int(twice.sum()):,} cell(s) given twice, the first intent {row['intent']!r}, "
            f"edition {row['edition']!r}."
        )
    intents, editions = frame["intent"].unique(), frame["edition"].unique()

    def wide(name: str) -> pd.DataFrame | None:
        if name not in frame:
            return None
        numbers = frame.assign(**{name: numbers_of(frame[name], path)})
        return numbers.pivot(index="intent", columns="edition", values=name).loc[intents, editions]

    in_units = {name: wide(name) for name in ("bits", "eos_bits")}
    return {
        **{name: None if part is None else as_bits(part, unit, where) for name, part in in_units.items()},
        **{name: wide(name) for name in BESIDE if name != "eos_bits"},
        "intent_info": attributes_of_long(frame, path),
        "lm": str(models[0]) if len(models) else lm,
    }
