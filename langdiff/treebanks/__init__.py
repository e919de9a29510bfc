"""Dependency treebanks: CoNLL-U, measures of word order, and the syntactic similarity of corpora."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
