"""Which editions and intents to compare: the largest complete table in an incomplete multitext, and its parts."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.selection.front import pareto_front
    from langdiff.selection.result import ParetoFront, Selection
    from langdiff.selection.selecting import select
    from langdiff.selection.splits import split

_HOME = {
    "ParetoFront": "result",
    "Selection": "result",
    "pareto_front": "front",
    "select": "selecting",
    "split": "splits",
}

__all__ = ["ParetoFront", "Selection", "pareto_front", "select", "split"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.selection' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.selection.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
