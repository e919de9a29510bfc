"""Immutable records as JSON: numbers keep all digits, and files are checked against the record's annotations."""

import base64
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Protocol, Self, TypeVar, runtime_checkable

import numpy as np
import pandas as pd
from pandas.api.extensions import ExtensionDtype

from langdiff.base.cells import check_names
from langdiff.errors import DataError, listing

Record = TypeVar("Record")

_NAMES = (str, int, float, np.integer, np.floating, type(None))
_WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@runtime_checkable
class Kept(Protocol):
    """Class saved in the form of another dataclass, because its own fields cannot be stored, such as text sources."""

    def to_record(self) -> Any:
        """Return the dataclass to be saved; its type is the annotation of the result."""

    @classmethod
    def from_record(cls, record: Any) -> Self:
        """Return the object that a saved record represents."""


def encode_fields(record: Any) -> dict[str, Any]:
    """Return the fields of a dataclass as values that JSON can hold."""
    hints = typing.get_type_hints(type(record))
    encoded = {}
    for name in (field.name for field in fields(record) if field.init):
        value = getattr(record, name)
        missing = isinstance(value, float) and math.isnan(value) and type(None) not in typing.get_args(hints[name])
        encoded[name] = None if missing else encode(value, name)  # null is NaN where nothing else can be missing
    return encoded


def decode_fields(kind: type[Record], stored: Mapping[str, Any]) -> Record:
    """Return a record from fields that `encode_fields` encoded; missing fields get their defaults."""
    hints = typing.get_type_hints(kind)
    read = {}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.init and (field.name in stored or field.default is field.default_factory is MISSING):
            read[field.name] = _decode(hints[field.name], stored[field.name], field.name)
    return kind(**read)


def encode(value: Any, name: str) -> Any:
    """Return a value in a form that JSON can hold; `name` is its field, for messages."""
    match value.item() if isinstance(value, np.generic) else value:
        case None | bool() | int() | str() as plain:
            return plain
        case float() | bytes() | pd.Timestamp() | pd.Timedelta() as one:
            return _encode_one(one)
        case pd.Series() | pd.DataFrame() | pd.Index() as table:
            return _encode_table(table, name)
        case np.ndarray():
            return {"shape": list(value.shape), value.dtype.name: base64.b64encode(_little(value).tobytes()).decode()}
        case Mapping():
            return [[encode(key, name), encode(part, name)] for key, part in value.items()]
        case tuple() | list():
            return [encode(part, name) for part in value]
        case Kept():
            return encode_fields(value.to_record())
        case record if is_dataclass(record) and not isinstance(record, type):
            return encode_fields(record)
        case _:
            raise DataError(f"{name} holds {type(value).__name__}, which cannot be saved.")


def _encode_one(value: float | bytes | pd.Timestamp | pd.Timedelta) -> float | str:
    match value:
        case float():
            return _word(value)
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value.isoformat()


def _encode_table(table: pd.Series | pd.DataFrame | pd.Index, name: str) -> dict[str, Any]:
    """Return a table as JSON: plain lists for numbers with simple names, otherwise columns with types."""
    match table:
        case pd.Index():
            return _index(table)
        case pd.Series() if table.dtype == np.float64 and _is_plain(table.index):
            names = {"axis": table.index.name, "names": table.index.tolist()}
            return {"name": table.name, **names, "values": _words(table)}
        case pd.Series():
            return {"name": table.name, "index": _index(table.index), **_cells(table, name)}
    if all(table.dtypes == np.float64) and _is_plain(table.index) and _is_plain(table.columns):
        axes, rows = [table.index.name, table.columns.name], [_words(row) for row in table.to_numpy()]
        return {"axes": axes, "names": table.index.tolist(), "columns": table.columns.tolist(), "values": rows}
    cells = [_cells(table.iloc[:, place], name) for place in range(table.shape[1])]
    return {"index": _index(table.index), "columns": _index(table.columns), "cells": cells}


def _word(number: float) -> float | str:
    if math.isfinite(number):
        return number
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _words(values: Any) -> list[float | str | None]:
    """Return numbers, with null for NaN."""
    return [None if math.isnan(value) else _word(value) for value in values.tolist()]


def _is_plain(index: pd.Index) -> bool:
    """Return whether an index survives JSON unchanged: one level of texts or of whole numbers."""
    names = index.tolist()
    alike = {type(name) for name in names} in ({str}, {int})
    return index.nlevels == 1 and alike and pd.Index(names).dtype == index.dtype


def _index(index: pd.Index) -> dict[str, Any]:
    levels = [index.get_level_values(level).to_series() for level in range(index.nlevels)]
    bad = [name for level in levels for name in level.tolist() if not isinstance(name, _NAMES)]
    if bad:
        raise DataError(
            f"{len(bad)} name(s) of rows or columns are neither text nor numbers: {listing(bad)}. Rename them before "
            "saving."
        )
    return {"axes": list(index.names), "levels": [_cells(level, "an index") for level in levels]}


def _cells(column: pd.Series, name: str) -> dict[str, Any]:
    kind = column.dtype
    if isinstance(kind, pd.CategoricalDtype):
        codes = column.cat.codes.tolist()
        categories = _index(kind.categories)
        return {"dtype": "category", "categories": categories, "ordered": bool(kind.ordered), "values": codes}
    if kind.kind == "O" and not isinstance(kind, ExtensionDtype):
        return {"dtype": "object", "values": [_object(cell, name) for cell in column.tolist()]}
    missing = column.isna().to_numpy() if kind.kind != "f" else np.zeros(len(column), bool)
    values = [None if gone else encode(cell, name) for cell, gone in zip(column.tolist(), missing, strict=True)]
    return {"dtype": str(kind), "values": values}


def _object(cell: Any, name: str) -> Any:
    """Return a cell of a column of mixed types, with its type where JSON does not keep it."""
    cell = cell.item() if isinstance(cell, np.generic) else cell
    match cell:
        case float() if not math.isfinite(cell):
            return {"float": _word(cell)}
        case tuple() | list():
            return {type(cell).__name__: [_object(part, name) for part in cell]}
        case _ if cell is pd.NA:
            return {"NA": None}
        case None | bool() | int() | str() | float():
            return cell
        case _:
            raise DataError(f"{name} has a cell of {type(cell).__name__}, which cannot be saved.")


def _little(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))


def _decode(hint: Any, stored: Any, name: str) -> Any:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return stored
    if origin in (typing.Union, types.UnionType):
        return _decode_union(arguments, stored, name)
    if origin is typing.Literal:
        if stored not in arguments:
            raise ValueError(f"{name} is {stored!r}, not one of {', '.join(map(repr, arguments))}")
        return stored
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, part = arguments
        return {_decode(key, at, name): _decode(part, value, name) for at, value in stored}
    if origin is tuple:
        kinds = [arguments[0]] * len(stored) if arguments[-1] is Ellipsis else arguments
        return tuple(_decode(kind, part, name) for kind, part in zip(kinds, stored, strict=True))
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return [_decode(arguments[0], part, name) for part in stored]
    return _decode_plain(origin or hint, stored, name)


def _decode_union(arguments: tuple[Any, ...], stored: Any, name: str) -> Any:
    if stored is None and type(None) in arguments:
        return None
    kinds = [kind for kind in arguments if kind is not type(None)]
    if len(kinds) == 1:
        return _decode(kinds[0], stored, name)
    for kind in kinds:
        try:
            return _decode(kind, stored, name)
        except (AttributeError, KeyError, TypeError, ValueError):
            continue
    raise TypeError(f"{name} is {stored!r:.60}, of none of the types expected")


def _decode_plain(kind: Any, stored: Any, name: str) -> Any:
    if kind in _NAMED:
        return _NAMED[kind](stored, name)
    if kind in _UNNAMED:
        return _UNNAMED[kind](stored)
    if isinstance(kind, Kept):
        return kind.from_record(decode_fields(typing.get_type_hints(kind.to_record)["return"], stored))
    if is_dataclass(kind):
        return decode_fields(kind, stored)  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, tuple):  # a NamedTuple, whose fields were written in order
        hints = typing.get_type_hints(kind)
        return kind(*(_decode(hints[field], part, name) for field, part in zip(hints, stored, strict=True)))
    if type(stored) is not kind:
        raise TypeError(f"{name} is {stored!r:.60}, not of type {getattr(kind, '__name__', kind)}")
    return stored


def _number(stored: Any, name: str) -> float:
    if stored is None:
        return math.nan
    if stored in _WORDS:
        return _WORDS[stored]
    if isinstance(stored, bool) or not isinstance(stored, int | float):
        raise TypeError(f"{name} is {stored!r:.60}, not a number")
    return float(stored)


def _series(stored: Any, name: str) -> pd.Series:
    if "axis" in stored:  # numbers
        index, values = pd.Index(stored["names"], name=stored["axis"]), stored["values"]
        check_names(index, stored["axis"] or "row")
        if not all(isinstance(value, str) and value not in _WORDS for value in values):
            values = np.array([_number(word, name) for word in values], dtype=float)
        return pd.Series(values, index=index, name=stored.get("name", name))
    return _column(stored).set_axis(_read_index(stored["index"])).rename(stored["name"])


def _frame(stored: Any) -> pd.DataFrame:
    if "values" in stored:  # numbers
        rows, columns = (
            pd.Index(stored[key], name=axis) for key, axis in zip(("names", "columns"), stored["axes"], strict=True)
        )
        for names in (rows, columns):
            check_names(names, str(names.name or "column"))
        values = [[_number(word, "a cell") for word in row] for row in stored["values"]]
        return pd.DataFrame(np.array(values, dtype=float).reshape(len(rows), len(columns)), rows, columns)
    index, columns = _read_index(stored["index"]), _read_index(stored["columns"])
    frame = pd.DataFrame(
        {place: _column(cells) for place, cells in enumerate(stored["cells"])}, index=range(len(index))
    )
    return frame.set_axis(index, axis=0).set_axis(columns, axis=1)


def _column(stored: Any) -> pd.Series:
    kind, values = stored["dtype"], stored["values"]
    column: pd.Series
    if kind == "category":
        categories = _read_index(stored["categories"])
        column = pd.Series(pd.Categorical.from_codes(values, categories=categories, ordered=stored["ordered"]))
    elif kind == "object":
        column = pd.Series([_read_object(cell) for cell in values], dtype=object)
    elif kind.startswith("float"):
        column = pd.Series([_number(word, "a cell") for word in values], dtype=kind)
    else:
        column = pd.Series(pd.array(values, dtype=kind))
    return column


def _read_object(cell: Any) -> Any:
    if not isinstance(cell, dict):
        return cell
    ((kind, value),) = cell.items()
    match kind:
        case "float":
            return _WORDS[value]
        case "NA":
            return pd.NA
        case "tuple":
            return tuple(map(_read_object, value))
        case _:
            return list(map(_read_object, value))


def _read_index(stored: Any) -> pd.Index:
    levels, axes = [_column(level) for level in stored["levels"]], stored["axes"]
    for level in levels:
        check_names(level, "row or column")
    return pd.Index(levels[0], name=axes[0]) if len(levels) == 1 else pd.MultiIndex.from_arrays(levels, names=axes)


def _array(stored: Any) -> np.ndarray:
    kind = next(name for name in stored if name != "shape")
    content = base64.b64decode(stored[kind], validate=True)
    return np.frombuffer(content, dtype=np.dtype(kind).newbyteorder("<")).astype(kind).reshape(stored["shape"])


def _content(stored: str) -> bytes:
    return base64.b64decode(stored, validate=True)


_NAMED: dict[Any, Callable[[Any, str], Any]] = {float: _number, pd.Series: _series}  # what messages name
_UNNAMED: dict[Any, Callable[[Any], Any]] = {
    bytes: _content,
    pd.DataFrame: _frame,
    pd.Index: _read_index,
    np.ndarray: _array,
}
