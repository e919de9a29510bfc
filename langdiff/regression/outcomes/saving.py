"""Fits of outcomes as JSON: numbers keep all digits, NaN becomes null; a hash tells damage."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.checksums import read_sealed, seal
from langdiff.base.control_characters import check_names
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.formulas import checked_formula
from langdiff.regression.outcomes.likelihood import Point
from langdiff.regression.outcomes.records import ErrorRecord, LikelihoodRatio, LikelihoodsCompared, ProfileTest

FORMAT = "langdiff.OutcomeFit"
FORMAT_VERSION = 1
RECORDS = {
    "errors": ErrorRecord,
    "variation": LikelihoodRatio,
    "overdispersion": LikelihoodRatio,
    "interacts": ProfileTest,
    "compared": LikelihoodsCompared,
}
ATTRIBUTES = ("items", "systems")
PLAIN: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "name": (str,),
    "by": (str, type(None)),
    "formula": (str, type(None)),
    "interaction": (str, type(None)),
    "log_likelihood": (float,),
    "cells": (int,),
    "trials": (int,),
    "converged": (bool,),
    "n_iterations": (int,),
    "step": (float,),
    "signature": (str,),
}


def to_json(values: Mapping[str, Any]) -> str:
    """Return the fields of a fit as JSON.

    Raises
    ------
    DataError
        If an item or a system is named by neither text nor a whole number.
    """
    document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
    document |= {name: values[name] for name in PLAIN}
    for name in RECORDS:
        document[name] = None if values[name] is None else _plain(asdict(values[name]))
    for name in ATTRIBUTES:
        document[name] = _attributes(values[name])
    parameters = values["parameters"]
    document["parameters"] = {
        "names": [list(name) for name in parameters.index],
        "estimate": _plain(parameters["estimate"].tolist()),
        "std_error": _plain(parameters["std_error"].tolist()),
        "covariance": _plain(values["covariance"].to_numpy().tolist()),
    }
    document["point"] = {name: _listed(value) for name, value in vars(values["point"]).items()}
    return json.dumps(seal(document), ensure_ascii=False, allow_nan=False)


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _plain(value: Any) -> Any:
    """Return what JSON can hold: NaN becomes None, and NumPy's numbers become Python's."""
    match value:
        case dict():
            return {key: _plain(part) for key, part in value.items()}
        case list():
            return [_plain(part) for part in value]
        case np.generic():
            return _plain(value.item())
        case float() if math.isnan(value):
            return None
        case _:
            return value


def _attributes(table: pd.DataFrame) -> dict[str, Any]:
    names = _plain(table.index.tolist())
    bad = [name for name in names if not isinstance(name, str | int) or isinstance(name, bool)]
    if bad:
        raise DataError(
            f"{len(bad)} {table.index.name}(s) are named by neither text nor whole numbers: {listing(bad)}. Rename "
            "them."
        )
    columns = {}
    for name, column in table.items():
        cells = _plain(column.astype(object).where(column.notna(), None).tolist())
        columns[str(name)] = [cell if isinstance(cell, str | int | float | None) else str(cell) for cell in cells]
    return {"axis": table.index.name, "names": names, "columns": columns}


def read_document(path: Path) -> dict[str, Any]:
    """Return the fields that `to_json` wrote into a file.

    Raises
    ------
    DataError
        If the file cannot be read, or holds something else, or its formula is not one.
    """
    document = read_sealed(path, kind=FORMAT, versions=(FORMAT_VERSION,), what="saved fit of outcomes")
    try:
        fields = _restored(document)
    except DataError as error:  # a name that cannot be
        raise DataError(f"{path}: {error}") from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged: {type(error).__name__}: {error}.") from error
    if fields["formula"] is not None:
        try:
            checked_formula(fields["formula"], fields["items"].columns)
        except ConfigError as error:
            raise DataError(f"{path}: {error}") from error
    return fields


def _restored(document: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, kinds in PLAIN.items():
        if type(document[name]) not in kinds:
            raise TypeError(f"{name} is {document[name]!r}")
        fields[name] = document[name]
    for name, record in RECORDS.items():
        given = document[name]
        fields[name] = None if given is None else record(**given)
    for name in ATTRIBUTES:
        stored = document[name]
        index = pd.Index(stored["names"], name=stored["axis"])
        fields[name] = pd.DataFrame(stored["columns"], index=index)
        check_names(fields[name].columns, "column")
    check_names(fields["systems"].index, "system")
    stored = document["parameters"]
    index = pd.MultiIndex.from_tuples([tuple(name) for name in stored["names"]], names=["parameter", "name"])
    columns = {name: np.array(stored[name], dtype=float) for name in ("estimate", "std_error")}
    fields["parameters"] = pd.DataFrame(columns, index=index)
    fields["covariance"] = pd.DataFrame(np.array(stored["covariance"], dtype=float), index=index, columns=index)
    point = document["point"]
    arrays = {name: np.array(point[name], dtype=float) for name in ("level", "slope", "log_loading")}
    fields["point"] = Point(**{**point, **arrays})
    return fields
