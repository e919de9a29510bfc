"""Parity of editions: bytes, characters, tokens and information of the same content."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
