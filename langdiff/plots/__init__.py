"""Pictures: axes in, the same axes out. Importing this does not import Matplotlib."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
