"""Quotients of totals, and their bootstrap over intents."""

from dataclasses import dataclass

import numpy as np

from langdiff.base.types import Floats, Integers

AT_ONCE = 64  # bootstrap samples held in memory


@dataclass(frozen=True, eq=False)
class Quotient:
    """A measure of editions that is a total divided by another over the same intents.

    Attributes
    ----------
    over, under : ndarray, shape (I, J)
        Numerators and denominators; 0 where a cell does not count.
    """

    over: Floats
    under: Floats

    def estimate(self) -> Floats:
        """Return the quotient of the totals by edition, shape (J,); NaN where no cell counts."""
        return _quotient(self.over.sum(axis=0), self.under.sum(axis=0))


def of_reference(counts: Floats, reference: int) -> Quotient:
    """Divide totals by those of one edition, over the intents that both have.

    Parameters
    ----------
    counts : ndarray, shape (I, J)
        Counts; NaN where an edition lacks an intent.
    reference : int
        Column of the edition that others are compared with.
    """
    shared = ~np.isnan(counts) & ~np.isnan(counts[:, [reference]])
    return Quotient(np.where(shared, counts, 0.0), np.where(shared, counts[:, [reference]], 0.0))


def intervals(quotients: list[Quotient], clusters: Integers, n: int, rng: np.random.Generator) -> list[Floats]:
    """Return the 2.5 % and 97.5 % points of the bootstrap of quotients; all see the same samples.

    Parameters
    ----------
    quotients : list of Quotient
        Measures over the same I intents.
    clusters : ndarray of int, shape (I,)
        Cluster of each intent, 0 to G − 1; whole clusters are drawn.
    n : int
        Number of samples.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of ndarray, shape (2, J)
        Ends of the interval of each measure, over the samples in which some of the edition's intents were drawn.
    """
    groups = int(clusters.max()) + 1
    totals = [(_by_cluster(one.over, clusters, groups), _by_cluster(one.under, clusters, groups)) for one in quotients]
    samples: list[list[Floats]] = [[] for _ in quotients]
    for start in range(0, n, AT_ONCE):
        size = min(AT_ONCE, n - start)
        weights = rng.multinomial(groups, np.full(groups, 1 / groups), size=size).astype(float)
        for kept, (over, under) in zip(samples, totals, strict=True):
            kept.append(_quotient(weights @ over, weights @ under))
    return [_ends(np.vstack(kept)) for kept in samples]


def _ends(samples: Floats) -> Floats:
    """Return the percentiles of each column; NaN where all of it is."""
    ends: Floats = np.percentile(samples, [2.5, 97.5], axis=0)
    drawn = ~np.isnan(samples)
    some = drawn.any(axis=0) & ~drawn.all(axis=0)
    ends[:, some] = np.nanpercentile(samples[:, some], [2.5, 97.5], axis=0)
    return ends


def _by_cluster(cells: Floats, clusters: Integers, groups: int) -> Floats:
    if groups == len(clusters):
        return cells
    totals = np.zeros((groups, cells.shape[1]))
    np.add.at(totals, clusters, cells)
    return totals


def _quotient(over: Floats, under: Floats) -> Floats:
    quotient: Floats = np.divide(over, under, out=np.full(over.shape, np.nan), where=under != 0)
    return quotient
