"""Which editions and intents to compare: the largest complete table in an incomplete multitext, and its parts."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.selection._select import select
    from langdiff.selection.result import Selection
    from langdiff.selection.splits import split

_HOME = {"Selection": "result", "select": "_select", "split": "splits"}

__all__ = ["Selection", "select", "split"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.selection' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.selection.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
