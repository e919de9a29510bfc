"""Difficulty regression: how much harder one edition is than another, given surprisals of the same intents.

The models are those of Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?",
section 3. Arrays below (`_two_way`, `_likelihood`, `_lbfgs`), names above (`_fit`, `result`).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.regression._fit import fit
    from langdiff.regression._simulate import SimulatedTruth, simulate
    from langdiff.regression.result import DifficultyFit

_HOME = {
    "DifficultyFit": "result",
    "SimulatedTruth": "_simulate",
    "fit": "_fit",
    "simulate": "_simulate",
}

__all__ = ["DifficultyFit", "SimulatedTruth", "fit", "simulate"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.regression' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.regression.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
