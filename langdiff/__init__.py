"""Measure how hard languages are for language models, from texts that say the same thing.

The names below are loaded when first used, so that ``import langdiff`` is quick and does not
import torch.
"""

from typing import Any

from langdiff.base.public import attach

_EARLIER = {
    "explain_abilities": "explain(fit.abilities, formula, fit.systems)",
    "flag_cells": "flag_outliers",
    "read_log_likelihoods": "read_logs(files, unit=…).surprisals()",
    "read_token_scores": "read_logs(table, unit=…).tokens()",
}
_find, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in _EARLIER:
        raise AttributeError(f"langdiff.{name} is called langdiff.{_EARLIER[name]} now.")
    return _find(name)


__version__ = "0.1.0"
