"""Experiments of Mielke et al. (2019) on finished surprisals; all work is done by the stages below."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.experiments.balance import BalancedResult, balance_by_origin, run_balanced
    from langdiff.experiments.bpe_sweep import SweepResult, sweep_merges
    from langdiff.experiments.native import read_origins, split_by_origin, split_by_source
    from langdiff.experiments.native_and_translated import TranslationeseResult, translationese
    from langdiff.experiments.replicates import Replicates, replicate
    from langdiff.experiments.reproduction import Reproduction, reproduce

_HOME = {
    "BalancedResult": "balance",
    "Replicates": "replicates",
    "Reproduction": "reproduction",
    "SweepResult": "bpe_sweep",
    "TranslationeseResult": "native_and_translated",
    "balance_by_origin": "balance",
    "read_origins": "native",
    "replicate": "replicates",
    "reproduce": "reproduction",
    "run_balanced": "balance",
    "split_by_origin": "native",
    "split_by_source": "native",
    "sweep_merges": "bpe_sweep",
    "translationese": "native_and_translated",
}

__all__ = [
    "BalancedResult",
    "Replicates",
    "Reproduction",
    "SweepResult",
    "TranslationeseResult",
    "balance_by_origin",
    "read_origins",
    "replicate",
    "reproduce",
    "run_balanced",
    "split_by_origin",
    "split_by_source",
    "sweep_merges",
    "translationese",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.experiments' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.experiments.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
