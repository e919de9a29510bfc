"""Rhetorical parallelism: annotated documents, metrics, tagging schemes, and taggers."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
