"""Cases of the golden file: how they are declared, recorded, and compared with what is stored."""

import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.errors import LangdiffWarning

FILE = Path(__file__).parent / "numbers.json"
DIGITS = 12
EXACT = os.environ.get("LANGDIFF_EXACT") == "1"  # one thread, pinned packages, the processor the file was made on
TOLERANCE = 1e-10 if EXACT else 1e-6  # relative
ZERO = 1e-12 if EXACT else 1e-9  # absolute, for numbers near zero
VOLATILE = (  # what says nothing about results, and what is left when a gradient vanishes
    (re.compile(r"version:[^|\]\s]+"), "version:*"),
    (re.compile(r"gradient \d\S*"), "gradient *"),
    (re.compile(r"in \d+\.\d s\b"), "in * s"),
    (re.compile(r"largest difference \d(?:\.\d+)?e-1\d"), "largest difference *"),
    (re.compile(r"-?\d+\.\d{9,}(?:e[-+]\d+)?"), lambda found: f"{float(found[0]):.6g}"),  # a float in full
)
NUMBER = re.compile(r" *-?\b\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?\b")
Values = dict[str, Any]
CASES: dict[str, Callable[[], Values]] = {}
LOOSE: dict[str, float] = {}  # cases whose numbers depend on the processor by more than the general tolerance


def golden(case: Callable[[], Values]) -> Callable[[], Values]:
    """Declare a case, named like its function."""
    return add(case.__name__, case)


def loose(tolerance: float) -> Callable[[Callable[[], Values]], Callable[[], Values]]:
    """Declare a case that is compared with a relative tolerance of its own on other processors."""

    def declare(case: Callable[[], Values]) -> Callable[[], Values]:
        LOOSE[case.__name__] = tolerance
        return golden(case)

    return declare


def add(name: str, case: Callable[[], Values]) -> Callable[[], Values]:
    """Declare a case under a name."""
    if name in CASES:
        raise ValueError(f"two cases are called {name!r}")
    CASES[name] = case
    return case


def texts(result: Any) -> Values:
    """Return what a result prints: its repr, its summary and its signature, of those that it has."""
    found = {"repr": repr(result)}
    if hasattr(result, "summary"):
        found["summary"] = result.summary().split("\n")
    if isinstance(getattr(result, "signature", None), str):
        found["signature"] = result.signature
    return found


def without_hashes(values: Values, *names: str) -> Values:
    """Return values in whose texts the hashes of computed numbers, which no tolerance compares, are left out."""
    pattern = re.compile(rf"\b({'|'.join(names)}):((?:\w+#)?)[0-9a-f]{{8}}")

    def mask(value: Any) -> Any:
        if isinstance(value, list):
            return [mask(one) for one in value]
        return pattern.sub(r"\1:\2*", value) if isinstance(value, str) else value

    return {key: mask(value) for key, value in values.items()}


def columns(frame: pd.DataFrame, *names: str) -> Values:
    """Return columns of a frame, each as a list; those that hold more than text if none is named."""
    kept = names or [name for name in frame.columns if not all(isinstance(one, str) for one in frame[name])]
    return {str(name): frame[name] for name in kept}


def record(case: Callable[[], Values]) -> Values:
    """Compute a case and return its values as the file holds them, with the warnings of langdiff."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("error")
        warnings.simplefilter("always", LangdiffWarning)
        values = case()
    said = {"warnings": [str(one.message) for one in caught]} if caught else {}
    return {key: _stored(value) for key, value in (values | said).items()}


def _stored(value: Any) -> Any:
    match value:
        case str():
            for pattern, instead in VOLATILE:
                value = pattern.sub(instead, value)
            return value
        case None | bool():
            return value
        case Mapping():
            return {str(key): _stored(one) for key, one in value.items()}
        case Iterable():
            return [_stored(one) for one in value]
    if value is pd.NA:
        return None
    value = value.item() if hasattr(value, "item") else value  # a NumPy scalar
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else str(value)
    return value


def differences(found: Any, stored: Any, tolerance: float = TOLERANCE, place: str = "") -> list[str]:
    """Name the places where two recorded values differ: counts and text exactly, numbers within a tolerance."""
    match found, stored:
        case dict(), dict() if list(found) == list(stored):
            parts = [differences(found[key], stored[key], tolerance, f"{place}.{key}") for key in found]
            return [line for part in parts for line in part]
        case list(), list() if len(found) == len(stored):
            pairs = enumerate(zip(found, stored, strict=True))
            return [line for k, (a, b) in pairs for line in differences(a, b, tolerance, f"{place}[{k}]")]
        case float() | int(), float() | int() if float in (type(found), type(stored)):
            same = math.isclose(found, stored, rel_tol=tolerance, abs_tol=ZERO)
        case str(), str():
            same = found == stored or (not EXACT and _alike(found, stored))
        case _:
            same = type(found) is type(stored) and found == stored
    return [] if same else [f"{place}: {found!r} instead of {stored!r}"]


def _alike(found: str, stored: str) -> bool:
    """Whether two texts differ at most by one unit in the last digit of rounded numbers."""
    if len(found) != len(stored) or NUMBER.sub("#", found) != NUMBER.sub("#", stored):
        return False
    pairs = zip(NUMBER.findall(found), NUMBER.findall(stored), strict=True)
    return all(_within_a_unit(one.strip(), other.strip()) for one, other in pairs)


def _within_a_unit(found: str, stored: str) -> bool:
    mantissa, _, exponent = stored.partition("e")
    if found == stored or "." not in mantissa:
        return found == stored
    unit = 10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2]))
    return abs(float(found.replace(",", "")) - float(stored.replace(",", ""))) < 1.5 * unit
