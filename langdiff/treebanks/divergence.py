"""Counts of numbered bins, and divergences between two tables of counts."""

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from langdiff.base.types import Floats, Integers

CONSTANT = 1e-12  # relative variance below which a table does not vary but for rounding
Kind = Literal["kl", "js", "symmetric", "correlation"]


class Counts(NamedTuple):
    """Bins that occur, whole numbers or floats, sorted, and how often; both of shape (B,)."""

    bins: npt.NDArray[Any]
    counts: Integers

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Counts":
        """Count equal values."""
        bins, counts = np.unique(values, return_counts=True)
        return cls(bins, counts.astype(np.int64))

    @classmethod
    def total(cls, several: Sequence["Counts"]) -> "Counts":
        """Add counts up.

        Examples
        --------
        >>> Counts.total([Counts.of(np.array([3, 3])), Counts.of(np.array([1, 3]))])
        Counts(bins=array([1, 3]), counts=array([1, 3]))
        """
        bins, place = np.unique(np.concatenate([one.bins for one in several]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([one.counts for one in several]))
        return cls(bins, counts)

    def at(self, bins: npt.NDArray[Any]) -> Integers:
        """Return how often each of some bins occurs."""
        if not len(self.bins):
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)


def divergence(
    reference: Counts,
    compared: Counts,
    *,
    kind: Kind = "kl",
    alpha: float = 0.5,
    base: float = np.e,
    box: int | None = None,
) -> float:
    r"""Return the divergence of `compared` from `reference`, over the bins S that occur in either.

    .. math:: D(R \| C) = \sum_{s \in S} p_s \log \frac{p_s}{q_s}, \quad
        p_s = \frac{r_s + \alpha}{\sum_{t \in S} (r_t + \alpha)}, \quad
        q_s = \frac{c_s + \alpha}{\sum_{t \in S} (c_t + \alpha)}

    Examples
    --------
    >>> one, other = Counts.of(np.array([26, 12])), Counts.of(np.array([26, 14]))
    >>> round(divergence(one, other), 6), divergence(one, other, alpha=0)
    (0.313889, inf)
    """
    bins = np.union1d(reference.bins, compared.bins)
    r, c = reference.at(bins).astype(float), compared.at(bins).astype(float)
    if not len(bins):
        return 0.0
    if not (r.any() and c.any()) and (kind == "correlation" or alpha == 0):
        return 1.0 if kind == "correlation" else np.inf
    if kind == "correlation":
        return _one_less_correlation(r / r.sum(), c / c.sum(), box or len(bins))
    p, q = (r + alpha) / (r + alpha).sum(), (c + alpha) / (c + alpha).sum()
    if kind == "js":
        middle = (p + q) / 2
        nats = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2
    elif kind == "symmetric":
        nats = (rel_entr(p, q).sum() + rel_entr(q, p).sum()) / 2
    else:
        nats = rel_entr(p, q).sum()
    return max(float(nats / np.log(base)), 0.0)  # of tables that are almost equal, rounding may go below 0


def _one_less_correlation(p: Floats, q: Floats, box: int) -> float:
    """Return 1 - Pearson's r of proportions over a box; bins that are not given are 0 in both."""
    if np.array_equal(p, q):
        return 0.0
    # both have mean 1 / box, so that empty bins need not be written out
    pp, qq, pq = (box * float(np.dot(*pair)) - 1 for pair in ((p, p), (q, q), (p, q)))
    if min(pp, qq) < CONSTANT:
        return 1.0
    return 1 - pq / float(np.sqrt(pp * qq))
