"""Difficulty regression: how much harder one edition is than another, given surprisals of the same intents.

The models are those of Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?",
section 3. Arrays below (`_two_way`, `_likelihood`, `_lbfgs`), names above (`_fit`, `result`).
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
