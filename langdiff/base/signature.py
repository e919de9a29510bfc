"""Short hashes of the data and settings behind a result, for signatures that can be printed in a paper."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np
import pandas as pd

from langdiff import __version__

SHORT = 8  # hexadecimal digits; two different things share them with a chance of 2**-32
_NUMBERS_AT_ONCE = 2**16  # half a megabyte, which stays in the processor's cache


def short_hash(*parts: Any) -> str:
    """Return a hash of eight hexadecimal digits that identifies data or settings.

    Examples
    --------
    >>> short_hash(1, "a") == short_hash(1, "a")
    True
    >>> short_hash(np.zeros(2)) == short_hash(np.zeros((2, 1)))
    False
    """
    return full_hash(*parts)[:SHORT]


def full_hash(*parts: Any) -> str:
    """Return the full hash of 64 hexadecimal digits; see `short_hash`."""
    digest = hashlib.sha256()
    for part in parts:
        for piece in _pieces(part):
            digest.update(len(piece).to_bytes(8, "little"))
            digest.update(piece)
    return digest.hexdigest()


def _pieces(part: Any) -> Iterable[bytes | memoryview]:
    """Yield the bytes that represent an object, beginning with its kind."""
    match part:
        case pd.DataFrame():
            yield b"frame"
            yield from _pieces(part.index)
            yield from _pieces(part.columns)
            if all(dtype == np.dtype(np.float64) for dtype in part.dtypes):
                yield from _pieces(part.to_numpy())
            else:
                for place in range(part.shape[1]):
                    yield from _pieces(part.iloc[:, place].to_numpy())
        case pd.Series():
            yield b"series"
            yield _json(str(part.name))
            yield from _pieces(part.index)
            yield from _pieces(part.to_numpy())
        case pd.Index():
            names = [*map(str, part.names), *map(str, part.tolist())]
            yield _json([part.nlevels, [len(name) for name in names]])
            yield "".join(names).encode("utf-8", "surrogatepass")
        case np.ndarray() if part.dtype.kind in "fiub":
            yield _json([part.dtype.kind, part.shape])
            columns = np.atleast_1d(part.T)  # column by column, as the numbers of a frame usually lie in memory
            step = max(1, _NUMBERS_AT_ONCE * len(columns) // max(1, part.size))
            for start in range(0, len(columns), step):
                yield _bytes_of(columns[start : start + step])
        case np.ndarray():
            yield _json([part.shape, [None if _is_missing(value) else str(value) for value in part.ravel()]])
        case _:
            yield _json(part)


def _bytes_of(block: np.ndarray) -> memoryview:
    """Return the bytes of an array, equal for equal numbers whatever their memory layout."""
    if block.dtype.kind == "f":
        block = np.add(block, 0.0, dtype="<f8", order="C")  # −0 becomes 0
        np.copyto(block, np.nan, where=np.isnan(block))  # one of the many bit patterns
    else:
        block = np.array(block, dtype="<u8" if block.dtype.kind == "u" else "<i8", order="C")
    return block.reshape(-1).view(np.uint8).data


def _is_missing(value: object) -> bool:
    return value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and np.isnan(value))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=_plain).encode("utf-8", "surrogatepass")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)


def name_of_seed(seed: object, rng: np.random.Generator) -> str:
    """Return a seed as part of a signature: the number, or a hash of the state of a generator.

    Examples
    --------
    >>> name_of_seed(7, np.random.default_rng(7))
    '7'
    >>> rng = np.random.default_rng(7)
    >>> before, drawn = name_of_seed(rng, rng), rng.random()
    >>> before == name_of_seed(rng, rng)
    False
    """
    if isinstance(seed, Integral):
        return str(int(seed))
    bits = rng.bit_generator
    source: Any = getattr(bits, "seed_seq", None)  # decides what is spawned
    family = [str(getattr(source, name, None)) for name in ("entropy", "spawn_key", "n_children_spawned")]
    return f"generator#{short_hash(bits.state, family)}"


def name_of_number(number: float) -> str:
    """Return the shortest text of a number that keeps all its digits.

    Examples
    --------
    >>> name_of_number(0.05), name_of_number(2.0), name_of_number(1 / 3)
    ('0.05', '2', '0.3333333333333333')
    """
    return repr(float(number)).removesuffix(".0")


def join_signature(parts: Mapping[str, object]) -> str:
    """Return a signature: ``name:value`` of all known parts, in the order given.

    Examples
    --------
    >>> join_signature({"model": 2, "groups": None, "restricted": True, "cells": 12})
    'model:2|restricted:yes|cells:12'
    """
    known = {name: value for name, value in parts.items() if value is not None and value is not False}
    return "|".join(f"{name}:{'yes' if value is True else value}" for name, value in known.items())


def full_signature(parts: Mapping[str, object]) -> str:
    """Return the signature of a result: its parts, and the version of langdiff last; see `join_signature`."""
    return join_signature({**parts, "version": __version__})
