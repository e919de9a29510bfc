"""Sampling the posterior of the difficulty regression with Stan.

The models are those of Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?",
section 3. For each there are two Stan programs of the same posterior, package data beside this file:
``model_*.stan``, whitened by the maximum-likelihood fit, is what `sample` runs; ``plain_*.stan`` reads
as the paper does and is the reference. Arrays below (`_whiten`, `_pystan`, `_cmdstan`), names above
(`_sample`, `_label`).
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.regression.stan.approximation import approximate
    from langdiff.regression.stan.cmdstan import install_cmdstan
    from langdiff.regression.stan.diagnosis import Diagnosis, diagnose, posterior_table
    from langdiff.regression.stan.priors import Priors
    from langdiff.regression.stan.programs import program_path
    from langdiff.regression.stan.sampling import sample

_HOME = {
    "Diagnosis": "diagnosis",
    "Priors": "priors",
    "approximate": "approximation",
    "diagnose": "diagnosis",
    "install_cmdstan": "cmdstan",
    "posterior_table": "diagnosis",
    "program_path": "programs",
    "sample": "sampling",
}

__all__ = [
    "Diagnosis",
    "Priors",
    "approximate",
    "diagnose",
    "install_cmdstan",
    "posterior_table",
    "program_path",
    "sample",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.regression.stan' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.regression.stan.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
