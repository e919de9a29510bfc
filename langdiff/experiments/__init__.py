"""Experiments of Mielke et al. (2019) on finished surprisals; all work is done by the stages below."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
