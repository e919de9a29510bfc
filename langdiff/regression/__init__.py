"""Difficulty regression: how much harder one edition is than another, given surprisals of the same intents.

The models are those of Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?",
section 3. Arrays below (`_two_way`, `_likelihood`, `_lbfgs`), names above (`_fit`, `result`).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.regression.check.compare import compare
    from langdiff.regression.check.cross_validate import CrossValidation, cross_validate
    from langdiff.regression.check.held_out import HeldOutLikelihood, held_out_log_likelihood
    from langdiff.regression.check.residuals import model_variance, standardised_residuals
    from langdiff.regression.fitting import fit
    from langdiff.regression.result import DifficultyFit
    from langdiff.regression.simulation.draw import SimulatedTruth, simulate
    from langdiff.regression.stan import approximate, diagnose, sample

_HOME = {
    "CrossValidation": "check.cross_validate",
    "HeldOutLikelihood": "check.held_out",
    "compare": "check.compare",
    "cross_validate": "check.cross_validate",
    "held_out_log_likelihood": "check.held_out",
    "model_variance": "check.residuals",
    "standardised_residuals": "check.residuals",
    "DifficultyFit": "result",
    "SimulatedTruth": "simulation.draw",
    "approximate": "stan",
    "diagnose": "stan",
    "sample": "stan",
    "fit": "fitting",
    "simulate": "simulation.draw",
}

__all__ = [
    "CrossValidation",
    "DifficultyFit",
    "HeldOutLikelihood",
    "SimulatedTruth",
    "approximate",
    "compare",
    "cross_validate",
    "diagnose",
    "fit",
    "held_out_log_likelihood",
    "model_variance",
    "sample",
    "simulate",
    "standardised_residuals",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.regression' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.regression.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
