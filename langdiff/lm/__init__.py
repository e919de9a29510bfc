"""Open-vocabulary language models and the surprisal of texts under them.

The names below are loaded when first used: importing this package does not import torch.
"""

from typing import Any

from langdiff.base.public import attach

_RENAMED = {"measure_floors": "measure_baselines", "compare_with_floors": "compare_with_baselines"}
_find, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in _RENAMED:
        raise AttributeError(f"langdiff.lm.{name} is called langdiff.lm.{_RENAMED[name]} now.")
    return _find(name)


if __name__ == "lm":  # through the link at the root of a checkout; never so in an installed package
    from langdiff.base.links import use_package

    use_package(__name__)
