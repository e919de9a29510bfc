"""Recall of parsers on chosen constructions: gold targets, rules for parsers' outputs, scores, mining of candidates."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
