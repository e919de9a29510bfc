"""Measure how hard languages are for language models, from texts that say the same thing.

The names below are loaded when first used, so that ``import langdiff`` is quick and does not
import torch.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

__version__ = "0.1.0"
