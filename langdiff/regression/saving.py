"""Fits as JSON: numbers keep all digits, NaN becomes null, and infinity the word Infinity; a hash tells damage."""

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.checksums import read_sealed, seal
from langdiff.base.control_characters import check_names
from langdiff.errors import DataError, listing
from langdiff.regression.records import Dispersions, ErrorSource, IntentsCompared, SizeDistribution

FORMAT = "langdiff.DifficultyFit"
FORMAT_VERSION = 3


def to_json(values: Mapping[str, Any]) -> str:
    """Return the fields of a fit as JSON.

    Raises
    ------
    DataError
        If a name of an edition or intent is neither text nor a whole number.
    """
    document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
    for name, value in values.items():
        document[name] = _encode(value)
    return json.dumps(seal(document), ensure_ascii=False, allow_nan=False)


def _encode(value: Any) -> Any:
    match _plain(value):
        case pd.Series():
            return {"axis": value.index.name, "names": _names(value.index), "values": _words(value)}
        case pd.DataFrame():
            columns, axes = list(map(str, value.columns)), [value.index.name, value.columns.name]
            rows = [_words(row) for row in value.to_numpy()]
            return {"axes": axes, "names": _names(value.index), "columns": columns, "values": rows}
        case record if is_dataclass(record) and not isinstance(record, type):
            return {field.name: _encode(getattr(record, field.name)) for field in fields(record)}
        case float() as number:
            return _word(number)
        case tuple() as words:
            return list(words)
        case other:
            return other


def read_document(path: Path) -> dict[str, Any]:
    """Read a file of `to_json`, as yet unchecked but for its format.

    Raises
    ------
    DataError
        If the file cannot be read, holds something else, or not what was saved.
    """
    return read_sealed(path, kind=FORMAT, version=FORMAT_VERSION, what="saved fit")


_TYPES: Mapping[str, type] = {
    "model": str,
    "method": str,
    "restricted": bool,
    "intents": str,
    "lm": str,
    "converged": bool,
    "n_iterations": int,
    "n_evaluations": int,
    "message": str,
    "cells": int,
    "free_difficulties": int,
    "single_cell_intents": int,
    "signature": str,
}


def _names(index: pd.Index) -> list[Any]:
    names = [_plain(name) for name in index.tolist()]
    bad = [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]
    if bad:
        raise DataError(
            f"{len(bad)} name(s) of intents or editions are neither text nor whole numbers: {listing(bad)}. "
            "Rename them before saving."
        )
    return names


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value  # JSON does not take NumPy's own numbers


def _words(values: Any) -> list[float | str | None]:
    return [value if isinstance(value, str) else _word(value) for value in values.tolist()]


def _word(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _number(word: float | str | None) -> float:
    return math.nan if word is None else float(word)


def restore(document: dict[str, Any]) -> dict[str, Any]:
    """Turn the JSON document into the arguments of `DifficultyFit`."""
    difficulty = _series(document, "difficulty")
    check_names(difficulty.index, "edition")
    restored: dict[str, Any] = {"difficulty": difficulty, "intent_size": _series(document, "intent_size")}
    restored["covariance"] = _frame(document["covariance"], difficulty.index)
    freedom = document["degrees_of_freedom"]
    restored["degrees_of_freedom"] = (
        _frame(freedom, difficulty.index) if isinstance(freedom, dict) else _number(freedom)
    )
    for name in ("dispersion", "log_likelihood", "log_likelihood_bits", "grad_norm"):
        restored[name] = _number(document[name])
    b, terms = document["laplace_scale"], document["terms"]
    restored["laplace_scale"] = None if b is None else float(b)
    restored["terms"] = None if terms is None else _frame(terms)
    if document.get("replaced_percent") is not None:
        restored["replaced_percent"] = _series(document, "replaced_percent")
    for name, kind in _TYPES.items():
        if type(document[name]) is not kind:
            raise TypeError(f"{name} is {document[name]!r}, not of type {kind.__name__}")
        restored[name] = document[name]
    return restored | _records(document)


def _records(document: dict[str, Any]) -> dict[str, Any]:
    errors = document["errors"] | {"design_effect": _number(document["errors"]["design_effect"])}
    records: dict[str, Any] = {"errors": ErrorSource(**errors)}
    if sizes := document.get("sizes"):
        slopes = None if sizes["slopes"] is None else _series(sizes, "slopes", "slope")
        records["sizes"] = SizeDistribution(
            kind=sizes["kind"], mean=_number(sizes["mean"]), sd=_number(sizes["sd"]), slopes=slopes
        )
    if found := document.get("dispersions"):
        numbers = {name: _number(found[name]) for name in ("wald", "p_value", "likelihood_ratio_p")}
        group = found["group"]
        records["dispersions"] = Dispersions(
            group=pd.Series(group["values"], pd.Index(group["names"], name=group["axis"]), name=found["value"]["axis"]),
            value=_series(found, "value", "dispersion"),
            level=_series(found, "level"),
            covariance=_frame(found["covariance"]),
            test=found["test"],
            boundary=tuple(found["boundary"]),
            **numbers,
        )
    if compared := document.get("compared"):
        numbers = {name: _number(compared[name]) for name in ("statistic", "p_value")}
        freedom = compared["degrees_of_freedom"]
        difference = _series(compared, "difference")
        records["compared"] = IntentsCompared(difference=difference, degrees_of_freedom=freedom, **numbers)
    return records


def _series(document: dict[str, Any], name: str, called: str | None = None) -> pd.Series:
    stored = document[name]
    index = pd.Index(stored["names"], name=stored["axis"])
    return pd.Series(list(map(_number, stored["values"])), index=index, dtype=float, name=called or name)


def _frame(stored: dict[str, Any], index: pd.Index | None = None) -> pd.DataFrame:
    """Return a frame; one of editions × editions has the given index on both axes."""
    values = np.array([list(map(_number, row)) for row in stored["values"]], dtype=float)
    rows, columns = (
        pd.Index(stored[key], name=axis) for key, axis in zip(("names", "columns"), stored["axes"], strict=True)
    )
    return pd.DataFrame(values, rows, columns) if index is None else pd.DataFrame(values, index, index)
