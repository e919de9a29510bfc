"""What a search needs of a likelihood that is a product over intents."""

from typing import NamedTuple, Protocol

from langdiff.base.types import Floats, Integers


class Rows(NamedTuple):
    """Log-likelihood of each row with its derivatives.

    `values` are log-likelihoods, shape (I,); `scores` their derivatives in the parameters by edition,
    shape (I, E); `sizes` the means of the sizes ln n given the row, shape (I,).
    """

    values: Floats
    scores: Floats
    sizes: Floats


class RowLikelihood(Protocol):
    """A likelihood in parameters by edition, shape (E,).

    These are J levels (ln bits), J logarithms of dispersions and, if sizes have a normal prior, its mean
    and the logarithm of its standard deviation.
    """

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""
