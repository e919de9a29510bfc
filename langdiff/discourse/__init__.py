"""Discourse trees: formats, binarization, and the evaluation of discourse parsers."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
