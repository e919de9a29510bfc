"""Fits as JSON: numbers keep all digits, NaN becomes null, and infinity the word Infinity."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError, listing

FORMAT = "langdiff.DifficultyFit"
FORMAT_VERSION = 2


def to_json(values: Mapping[str, Any]) -> str:
    """Return the fields of a fit as JSON.

    Raises
    ------
    DataError
        If a name of an edition or intent is neither text nor a whole number.
    """
    document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
    for name, value in values.items():
        match _plain(value):
            case pd.Series():
                document[name] = {
                    "axis": value.index.name,
                    "names": _names(value.index),
                    "values": _words(value.to_numpy()),
                }
            case pd.DataFrame() if name == "terms":
                document[name] = {
                    column: dict(zip(value.index, _words(value[column]), strict=True)) for column in value
                }
            case pd.DataFrame():
                document[name] = [_words(row) for row in value.to_numpy()]
            case float() as number:
                document[name] = _word(number)
            case other:
                document[name] = other
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
    return [_word(value) for value in values.tolist()]


def _word(value: float) -> float | str | None:
    if math.isfinite(value):
        return value
    return None if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _number(word: float | str | None) -> float:
    return math.nan if word is None else float(word)


def restore(document: dict[str, Any]) -> dict[str, Any]:
    """Turn the JSON document into the arguments of `DifficultyFit`."""

    def series(name: str) -> pd.Series:
        stored = document[name]
        index = pd.Index(stored["names"], name=stored["axis"])
        return pd.Series(list(map(_number, stored["values"])), index=index, dtype=float, name=name)

    difficulty = series("difficulty")
    covariance = np.array([list(map(_number, row)) for row in document["covariance"]])
    restored: dict[str, Any] = {
        "difficulty": difficulty,
        "intent_size": series("intent_size"),
        "covariance": pd.DataFrame(covariance, index=difficulty.index, columns=difficulty.index),
    }
    for name in ("dispersion", "inflation", "log_likelihood", "log_likelihood_bits", "grad_norm"):
        restored[name] = _number(document[name])
    b, terms = document["laplace_scale"], document["terms"]
    restored["laplace_scale"] = None if b is None else float(b)
    if terms is not None:
        terms = pd.DataFrame({name: {t: _number(x) for t, x in column.items()} for name, column in terms.items()})
        terms = terms.rename_axis("term")
    restored["terms"] = terms
    if document.get("replaced_percent") is not None:  # older files have none
        restored["replaced_percent"] = series("replaced_percent")
    for name, kind in _TYPES.items():
        if type(document[name]) is not kind:
            raise TypeError(f"{name} is {document[name]!r}, not of type {kind.__name__}")
        restored[name] = document[name]
    return restored
