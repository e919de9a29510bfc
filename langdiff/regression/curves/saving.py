"""Curves as JSON: arrays as their bytes, so that numbers keep all digits; a hash tells damage."""

import base64
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.checksums import read_sealed, seal
from langdiff.base.types import Floats
from langdiff.errors import DataError

FORMAT = "langdiff.DifficultyCurve"
FORMAT_VERSION = 1
PLAIN: Mapping[str, tuple[type, ...]] = {
    "model": (str,),
    "lm": (str,),
    "clusters": (str, type(None)),
    "n_intents": (int,),
    "match": (str,),
    "n_draws": (int,),
    "seed": (int,),
    "converged": (bool,),
    "signature": (str,),
}


def to_json(values: Mapping[str, Any]) -> str:
    """Return the fields of a curve as JSON."""
    document: dict[str, Any] = {"format": FORMAT, "format_version": FORMAT_VERSION}
    document |= {name: values[name] for name in PLAIN}
    document["editions"] = list(map(str, values["log_bits"].index))
    document["sizes"] = [int(size) for size in values["log_bits"].columns]
    for name in ("log_bits", "influence", "by_seed"):
        document[name] = _packed(np.asarray(values[name], dtype=float))
    document["read"] = None if values["read"] is None else values["read"].to_numpy().tolist()
    return json.dumps(seal(document), ensure_ascii=False, allow_nan=False)


def _packed(array: Floats) -> dict[str, Any]:
    return {"shape": list(array.shape), "float64": base64.b64encode(array.astype("<f8").tobytes()).decode("ascii")}


def _unpacked(stored: dict[str, Any]) -> Floats:
    numbers = np.frombuffer(base64.b64decode(stored["float64"], validate=True), dtype="<f8")
    return numbers.astype(float).reshape(stored["shape"])


def read_document(path: Path) -> dict[str, Any]:
    """Read a file of `to_json`, as yet unchecked but for its format.

    Raises
    ------
    DataError
        If the file cannot be read, holds something else, or not what was saved.
    """
    return read_sealed(path, kind=FORMAT, versions=(FORMAT_VERSION,), what="saved curve")


def restore(document: dict[str, Any], path: Path) -> dict[str, Any]:
    """Turn the JSON document into the arguments of `DifficultyCurve`.

    Raises
    ------
    DataError
        If it lacks something, or holds something of another type.
    """
    try:
        for name, kinds in PLAIN.items():
            if type(document[name]) not in kinds:
                raise TypeError(f"{name} is {document[name]!r}")
        restored: dict[str, Any] = {name: document[name] for name in PLAIN}
        editions, sizes = (pd.Index(document[name], name=name[:-1]) for name in ("editions", "sizes"))
        restored["log_bits"] = pd.DataFrame(_unpacked(document["log_bits"]), editions, sizes)
        for name in ("influence", "by_seed"):
            restored[name] = _unpacked(document[name])
        read = document["read"]
        restored["read"] = None if read is None else pd.DataFrame(read, editions, sizes)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged: {type(error).__name__}: {error}.") from error
    return restored
