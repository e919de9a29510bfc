"""Experiments of Mielke et al. (2019) on finished surprisals; all work is done by the stages below."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what type checkers and editors see; `_HOME` is what happens
    from langdiff.experiments._origins import read_origins, split_by_origin, split_by_source
    from langdiff.experiments._translationese import TranslationeseResult, translationese

_HOME = {
    "TranslationeseResult": "_translationese",
    "read_origins": "_origins",
    "split_by_origin": "_origins",
    "split_by_source": "_origins",
    "translationese": "_translationese",
}

__all__ = ["TranslationeseResult", "read_origins", "split_by_origin", "split_by_source", "translationese"]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'langdiff.experiments' has no attribute {name!r}")
    return getattr(importlib.import_module(f"langdiff.experiments.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return list(__all__)
