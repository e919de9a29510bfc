"""Measure how hard languages are for language models, from texts that say the same thing.

The names below are loaded when first used, so that ``import langdiff`` is quick and does not
import torch.
"""

from typing import Any

import lazy_loader

_find, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name == "flag_cells":  # as it was called before
        raise AttributeError("langdiff.flag_cells is called langdiff.flag_outliers now.")
    return _find(name)


__version__ = "0.1.0"
