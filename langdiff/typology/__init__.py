"""Predictors of difficulty, and tests of them against difficulties.

The names below are loaded when first used.
"""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
