"""Open-vocabulary language models and the surprisal of texts under them.

The names below are loaded when first used: importing this package does not import torch.
"""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

if __name__ == "lm":  # through the link at the root of a checkout; never so in an installed package
    from langdiff.base.public import use_package

    use_package(__name__)
