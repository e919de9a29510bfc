"""Random choices whose information is counted: the one source of randomness of a synthetic multitext."""

from bisect import bisect_right
from typing import Protocol

import numpy as np
import numpy.typing as npt

from langdiff.errors import ConfigError


class Alternatives:
    """Alternatives and their probabilities.

    Parameters
    ----------
    what : str
        Name of what is chosen, for messages.
    weights : array-like of float, shape (K,)
        Finite, not negative, not all 0; divided by their sum.

    Attributes
    ----------
    bits : tuple of float
        Information of each alternative, minus log2 of its probability; infinite if that is 0.
    cumulative : tuple of float
        Probability of an alternative up to and including each.

    Raises
    ------
    ConfigError
        If there is no alternative, or the weights are not finite, are negative or are all 0.

    Examples
    --------
    >>> Alternatives("tense", [2, 1, 1]).bits
    (1.0, 2.0, 2.0)
    """

    __slots__ = ("bits", "cumulative")

    def __init__(self, what: str, weights: npt.ArrayLike) -> None:
        values = np.asarray(weights, dtype=float)
        if values.ndim != 1 or not (np.isfinite(values) & (values >= 0)).all() or not values.any():
            raise ConfigError(f"{what}: weights must be numbers from 0 up, not all 0, got {weights!r}.")
        probabilities = values / values.sum()
        with np.errstate(divide="ignore"):
            self.bits = tuple(np.abs(np.log2(probabilities)).tolist())  # abs: no minus zero
        cumulative = probabilities.cumsum()
        cumulative[values.nonzero()[0][-1] :] = 1.0  # rounding must not leave a gap for what follows
        self.cumulative = tuple(cumulative.tolist())

    @property
    def entropy(self) -> float:
        """Mean information of a choice, in bits."""
        bits = np.array(self.bits)[np.isfinite(self.bits)]
        return float(bits @ 2.0**-bits)


class Decide(Protocol):
    """A maker of choices: a generator of random numbers, or a test that tries all alternatives."""

    def __call__(self, alternatives: Alternatives) -> int:
        """Return the position of the alternative chosen."""
        ...


class RandomDecisions:
    """Choose at random, and add up the information of what was chosen.

    Parameters
    ----------
    rng : Generator
        Source of random numbers.

    Attributes
    ----------
    bits : float
        Information of all choices so far.
    """

    __slots__ = ("_uniform", "bits")

    def __init__(self, rng: np.random.Generator) -> None:
        self._uniform = rng.random
        self.bits = 0.0

    def __call__(self, alternatives: Alternatives) -> int:
        """Choose, and count."""
        if len(alternatives.bits) == 1:
            return 0
        chosen = bisect_right(alternatives.cumulative, self._uniform())
        self.bits += alternatives.bits[chosen]
        return chosen
