"""Experiment files, resumable run directories and the report."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langdiff.run.experiment import Experiment, demo_experiment, read_experiment
    from langdiff.run.report import write_report
    from langdiff.run.result import RunResult, load_run
    from langdiff.run.runner import run_experiment

_HOME = {
    "Experiment": "experiment",
    "read_experiment": "experiment",
    "demo_experiment": "experiment",
    "RunResult": "result",
    "load_run": "result",
    "run_experiment": "runner",
    "write_report": "report",
}

__all__ = [
    "Experiment",
    "RunResult",
    "demo_experiment",
    "load_run",
    "read_experiment",
    "run_experiment",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.run' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.run.{_HOME[name]}"), name)
