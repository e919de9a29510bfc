"""Experiments of Mielke et al. (2019), which combine language models, regression and typology."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
