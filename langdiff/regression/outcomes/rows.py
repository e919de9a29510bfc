"""Tables of outcomes as arrays, and rows that share an integral."""

from dataclasses import dataclass, replace

import numpy as np

from langdiff.base.types import Floats, Integers


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Items as arrays.

    Attributes
    ----------
    s, t : ndarray, shape (I, J)
        Successes and trials, both 0 where a cell is missing.
    x : ndarray, shape (I, K)
        Covariates of the items.
    block : ndarray of int, shape (I,)
        Which levels of the systems an item has: its group, where systems and groups interact; otherwise 0.
    weight : ndarray, shape (I,)
        How often each row counts.
    """

    s: Floats
    t: Floats
    x: Floats
    block: Integers
    weight: Floats

    def take(self, rows: object) -> "Rows":
        """Return some rows, in the order given."""
        return Rows(**{name: getattr(self, name)[rows] for name in ("s", "t", "x", "block", "weight")})

    def reweighted(self, weight: Floats) -> "Rows":
        """Return the rows with other weights, those of weight 0 left out."""
        return replace(self, weight=weight).take(weight > 0)


def collapse(rows: Rows) -> Rows:
    """Merge rows as `patterns` does."""
    return patterns(rows)[0]


def patterns(rows: Rows) -> tuple[Rows, Integers]:
    """Merge rows of equal trials, covariates and total of successes, which differ only by linear terms.

    Where all systems are alike in how items bear on them, the likelihood of a row depends on its successes through
    their total and a linear term; rows that share the rest become one of their mean successes and their number.

    Returns
    -------
    Rows
        One row per pattern.
    ndarray of int, shape (I,)
        Pattern of each row.
    """
    place = kinds(np.column_stack([rows.s.sum(axis=1), rows.t, rows.x, rows.block]))
    first = np.zeros(place.max() + 1, dtype=int)
    first[place[::-1]] = np.arange(len(place))[::-1]
    weight: Floats = np.bincount(place, rows.weight).astype(float)
    s = np.column_stack([np.bincount(place, rows.weight * column) for column in rows.s.T]) / weight[:, None]
    return replace(rows.take(first), s=s, weight=weight), place


def kinds(values: Floats) -> Integers:
    """Return a number for each row of an array, shape (n,), the same for equal rows."""
    varying = values[:, np.ptp(values, axis=0) > 0]
    if not varying.shape[1]:
        return np.zeros(len(values), dtype=int)
    as_bytes = np.ascontiguousarray(varying + 0.0).view(np.dtype((np.void, varying.itemsize * varying.shape[1])))
    return np.unique(as_bytes.ravel(), return_inverse=True)[1].astype(int)  # numbers one by one sort ten times slower
