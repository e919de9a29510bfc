"""Reading, writing, tokenizing and synthesizing multitexts."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
