"""Dependency treebanks: CoNLL-U, measures of word order, and the syntactic similarity of corpora."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
