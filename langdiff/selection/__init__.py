"""Selection of editions and intents: the largest complete table in an incomplete multitext, and its division."""

from langdiff.base.public import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

if __name__ == "selection":  # through the link at the root of a checkout; never so in an installed package
    from langdiff.base.public import use_package

    use_package(__name__)
