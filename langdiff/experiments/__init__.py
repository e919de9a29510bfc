"""Experiments of Mielke et al. (2019), which combine language models, regression and typology."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
