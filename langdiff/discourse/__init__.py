"""Discourse trees: formats, binarization, and the evaluation of discourse parsers."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
