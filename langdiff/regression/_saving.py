"""Fits as JSON: numbers keep all digits, NaN becomes null."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError, listing

FORMAT = "langdiff.DifficultyFit"
FORMAT_VERSION = 2


def to_json(values: Mapping[str, Any]) -> str:
    """Write the fields of a fit.

    Raises
    ------
    DataError
        If a name of an edition or intent is neither text nor a whole number.
    """
    document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
    for name, value in values.items():
        match value:
            case pd.Series():
                document[name] = {
                    "axis": value.index.name,
                    "names": _names(value.index),
                    "values": _nulls(value.to_numpy()),
                }
            case pd.DataFrame() if name == "terms":
                document[name] = {
                    column: dict(zip(value.index, _nulls(value[column]), strict=True)) for column in value
                }
            case pd.DataFrame():
                document[name] = [_nulls(row) for row in value.to_numpy()]
            case float():
                document[name] = value if np.isfinite(value) else None
            case _:
                document[name] = value
    return json.dumps(document, ensure_ascii=False, allow_nan=False)


def read_document(path: Path) -> dict[str, Any]:
    """Read a file of `to_json`, as yet unchecked but for its format.

    Raises
    ------
    DataError
        If the file cannot be read or holds something else.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except ValueError as error:  # broken JSON or UTF-8
        raise DataError(f"{path}: not a saved fit, or damaged: {error}.") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise DataError(f"{path}: not a saved fit; expected JSON with format {FORMAT!r}.")
    if document.get("format_version") != FORMAT_VERSION:
        raise DataError(
            f"{path}: format version {document.get('format_version')!r}; this langdiff reads "
            f"{FORMAT_VERSION}. Fit again, or use the version that wrote it."
        )
    return document


_TYPES: Mapping[str, type] = {
    "model": str,
    "method": str,
    "restricted": bool,
    "bootstrap": int,
    "lm": str,
    "converged": bool,
    "n_iterations": int,
    "n_evaluations": int,
    "message": str,
    "cells": int,
    "single_cell_intents": int,
    "signature": str,
}


def _names(index: pd.Index) -> list[Any]:
    names: list[Any] = index.tolist()
    bad = [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]
    if bad:
        raise DataError(
            f"{len(bad)} name(s) of intents or editions are neither text nor whole numbers: {listing(bad)}. "
            "Rename them before saving."
        )
    return names


def _nulls(values: Any) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def restore(document: dict[str, Any]) -> dict[str, Any]:
    """Turn the JSON document into the arguments of `DifficultyFit`."""

    def series(name: str) -> pd.Series:
        stored = document[name]
        index = pd.Index(stored["names"], name=stored["axis"])
        return pd.Series(stored["values"], index=index, dtype=float, name=name)

    difficulty = series("difficulty")
    covariance = np.array(document["covariance"], dtype=float)
    restored: dict[str, Any] = {
        "difficulty": difficulty,
        "intent_size": series("intent_size"),
        "covariance": pd.DataFrame(covariance, index=difficulty.index, columns=difficulty.index),
    }
    for name in ("dispersion", "log_likelihood", "log_likelihood_bits", "grad_norm"):
        restored[name] = float("nan") if document[name] is None else float(document[name])
    b, terms = document["laplace_scale"], document["terms"]
    restored["laplace_scale"] = None if b is None else float(b)
    restored["terms"] = None if terms is None else pd.DataFrame(terms, dtype=float).rename_axis("term")
    for name, kind in _TYPES.items():
        if type(document[name]) is not kind:
            raise TypeError(f"{name} is {document[name]!r}, not of type {kind.__name__}")
        restored[name] = document[name]
    return restored
