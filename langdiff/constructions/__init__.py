"""Recall of parsers on chosen constructions: gold targets, rules for parsers' outputs, scores, mining of candidates."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
