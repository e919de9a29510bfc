"""Measure how hard languages are for language models, from texts that say the same thing.

The names below are loaded when first used, so that ``import langdiff`` is quick and does not
import torch.
"""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

__version__ = "0.1.0"
