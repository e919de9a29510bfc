"""Difficulty regression: how much harder one edition is than another, given surprisals of the same intents.

The models are those of Mielke et al. (2019), "What Kind of Language Is Hard to Language-Model?",
section 3. `kernel` holds the mathematics on plain arrays; the modules beside it add names, `check` judges fits,
`simulation` draws tables with known parameters, and `stan` samples posteriors.
"""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

if __name__ == "regression":  # through the link at the root of a checkout; never so in an installed package
    from langdiff.base.public import use_package

    use_package(__name__)
