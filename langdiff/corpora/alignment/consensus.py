"""Lengths of texts that an edition is expected to have, from those of all others.

Of the logarithm of the length of a text, a part is the edition's (its language and script), a part the intent's (how
much is said), and the rest is the translator's. What the others have beside their own part is the *content* of an
intent; an edition whose lengths do not follow it is out of step.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from langdiff.base.types import Booleans, Integers

Numbers = NDArray[np.floating[Any]]  # of 32 bits, where there are many

_CLIPPED = 3  # spreads from the typical length, beyond which a text has no more weight
_HEAVIEST = 3  # times the typical weight of an edition
_LEAST_SPREAD = 1e-3  # of an edition whose texts are copies of others
NORMAL = 1.4826  # median absolute deviation to standard deviation


@dataclass(frozen=True)
class Consensus:
    """Lengths without the part of the edition, and what all editions together say of the intents.

    Attributes
    ----------
    level : ndarray, shape (J,)
        The part of each edition, b.
    rest : ndarray, shape (I, J)
        Lengths without it, r.
    typical : ndarray, shape (I,)
        Median of these, a.
    spread : ndarray, shape (J,)
        How far the texts of an edition are from what is typical, s.
    """

    level: Numbers
    rest: Numbers
    typical: Numbers
    spread: Numbers
    _weights: Numbers
    _clipped: Numbers  # times weights, 0 where missing
    _has: Booleans
    _sums: tuple[Numbers, Numbers]

    def content(self, editions: Integers | slice) -> Numbers:
        """Return what the other editions say of each intent; NaN where none of them has it.

        Parameters
        ----------
        editions : slice or ndarray of int
            Columns.

        Returns
        -------
        ndarray, shape (I, columns)
            For each edition, the mean of the lengths of all others, weighted by their precision.
        """
        has = self._has[:, editions]
        weights = self._weights[editions] * has
        total = self._sums[1][:, None] - weights
        others = total > 1e-9 * self._weights.max(initial=1.0)
        content = np.full(has.shape, np.nan, dtype=self.rest.dtype)
        np.divide(self._sums[0][:, None] - self._clipped[:, editions], total, out=content, where=others)
        return content


def consensus_of(lengths: Numbers, used: Booleans | None = None) -> Consensus:
    """Return the consensus of a table of logarithms of lengths.

    Parameters
    ----------
    lengths : ndarray, shape (I, J)
        Logarithms of lengths, NaN where a text is missing.
    used : ndarray of bool, shape (I, J), optional
        The cells that count; by default all. Others still have a rest.

    Examples
    --------
    >>> lengths = np.log([[20.0, 10, 15], [200, 100, 150], [40, 20, 10]])
    >>> consensus = consensus_of(lengths)
    >>> np.exp(consensus.content(slice(0, 1))).ravel().round(1)  # the second and the third, the third less
    array([0.5, 5. , 1. ])
    """
    counted = lengths if used is None else np.where(used, lengths, np.nan)
    level = medians(counted, axis=0)
    typical = medians(counted - level, axis=1)
    level = level + medians(counted - level - typical[:, None], axis=0)
    rest = lengths - level
    typical = medians(counted - level, axis=1)
    distance = rest - typical[:, None]
    spread = NORMAL * medians(np.abs(distance if used is None else np.where(used, distance, np.nan)), axis=0)
    spread = np.where(np.isfinite(spread), np.maximum(spread, _LEAST_SPREAD), 1.0).astype(rest.dtype)
    precision = spread**-2
    weights = np.minimum(precision, _HEAVIEST * np.median(precision))
    has = np.isfinite(counted) & np.isfinite(typical)[:, None]
    clipped = typical[:, None] + np.clip(distance, -_CLIPPED * spread, _CLIPPED * spread)
    clipped = np.where(has, weights * clipped, 0)
    sums: tuple[Numbers, Numbers] = clipped.sum(axis=1), np.asarray(has @ weights)
    return Consensus(level, rest, typical, spread, weights, clipped, has, sums)


def medians(values: Numbers, axis: int) -> Numbers:
    """Return medians without NaN; NaN where there is nothing else.

    Examples
    --------
    >>> medians(np.array([[1.0, 5.0, np.nan], [np.nan, np.nan, np.nan]]), axis=1)
    array([ 3., nan])
    """
    ordered = np.sort(values, axis=axis)
    counts = np.isfinite(ordered).sum(axis=axis, keepdims=True)
    middle = [np.take_along_axis(ordered, np.maximum(at, 0), axis=axis) for at in ((counts - 1) // 2, counts // 2)]
    found: Numbers = np.where(counts > 0, (middle[0] + middle[1]) / 2, np.nan).squeeze(axis)
    return found
