r"""Bounds for every number of units at once, by parametric minimum cuts.

Write c(u) for the most intents that u units (editions, or languages) share. For any price λ = p/q per unit

.. math:: z(\lambda) = \max_{B, C} |C| + \lambda\,\mathrm{units}(B)

is a maximum-weight independent set in the bipartite graph that joins a row to the units that lack it: all
weight, less that of a minimum cut; and :math:`c(u) \le z(\lambda) - \lambda u`. A few prices, each the slope
between two solutions already found, give the best such bound for all u: the concave hull of c. All is
computed in whole numbers, so that the bounds are exact.
"""

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow

from langdiff.base.types import Booleans, Integers
from langdiff.errors import DataError


class Priced(NamedTuple):
    """Optimal selection at a price of p / q intents per unit."""

    p: int
    q: int
    value: int  # q × intents + p × units
    intents: int
    units: int
    rows: Booleans

    def bound(self, u: int) -> int:
        """Return an upper bound on c(u)."""
        return (self.value - self.p * u) // self.q


class Network:
    """Network of all prices: from a source to each row, to the units that lack it, and on to a sink.

    Nodes are numbered in this order, so that the matrix of capacities is written down node by node.

    Parameters
    ----------
    present : ndarray of bool, shape (K, U)
        Whether unit u has row k.
    weight : ndarray of int, shape (K,)
        Number of intents of each row, positive.
    """

    def __init__(self, present: Booleans, weight: Integers) -> None:
        rows, units = present.shape
        self.present, self.weight = present, weight
        row, unit = np.nonzero(~present)
        self._pairs = len(row)
        heads = [np.arange(1, rows + 1), 1 + rows + unit, np.full(units, 1 + rows + units)]
        counts = [np.array([0, rows]), np.bincount(row, minlength=rows), np.ones(units, dtype=int), np.array([0])]
        self._heads = np.concatenate(heads).astype(np.int32)
        self._begin = np.cumsum(np.concatenate(counts)).astype(np.int32)

    def ends(self) -> tuple[Priced, Priced]:
        """Return the optimal selections at prices below any intent and above all of them, without a cut."""
        units, total = self.present.shape[1], int(self.weight.sum())
        common: Booleans = np.logical_and.reduce(self.present, axis=1)
        whole, shared = int(self.present.all(axis=0).sum()), int(self.weight[common].sum())
        return (
            Priced(1, units + 1, (units + 1) * total + whole, total, whole, np.ones_like(common)),
            Priced(total + 1, 1, shared + (total + 1) * units, shared, units, common),
        )

    def best_at_price(self, p: int, q: int) -> Priced:
        """Return the rows and units that maximize q × intents + p × units; p and q are positive.

        Raises
        ------
        DataError
            If the numbers exceed the 32 bits of SciPy's flows.

        Examples
        --------
        >>> Network(np.array([[True, True], [True, False]]), np.array([3, 2])).best_at_price(p=1, q=1).value
        6
        """
        rows, units = self.present.shape
        total = int(self.weight.sum()) * q + p * units
        if total >= np.iinfo(np.int32).max:
            raise DataError(
                f"{int(self.weight.sum()):,} intents × {units:,} editions are more than selection can handle."
            )
        capacity = np.concatenate([self.weight * q, np.full(self._pairs, total), np.full(units, p)]).astype(np.int32)
        nodes = rows + units + 2
        found = maximum_flow(csr_array((capacity, self._heads, self._begin), shape=(nodes, nodes)), 0, nodes - 1)
        chosen, lacking = self._source_side(found.flow, q)
        return Priced(
            p=p,
            q=q,
            value=total - int(found.flow_value),
            intents=int(self.weight[chosen].sum()),
            units=units - int(lacking.sum()),
            rows=chosen,
        )

    def _source_side(self, flow: csr_array, q: int) -> tuple[Booleans, Booleans]:
        """Return the rows and units reachable from the source in the residual network."""
        rows, units = self.present.shape
        begin = flow.indptr[1 : rows + 2]
        row = np.repeat(np.arange(rows), np.diff(begin))
        unit, used = flow.indices[begin[0] : begin[-1]] - rows - 1, flow.data[begin[0] : begin[-1]]
        onward = used > 0  # the others are empty, or lead back to the source
        row, unit, used = row[onward], unit[onward], used[onward]
        reached: Booleans = np.bincount(row, used, minlength=rows) < self.weight * q
        lacking, fresh = np.zeros(units, dtype=bool), reached
        while fresh.any():
            lacking |= ~self.present[fresh].all(axis=0)
            back = np.zeros(rows, dtype=bool)
            back[row[lacking[unit]]] = True  # what flows from a row to such a unit can be taken back
            fresh = back & ~reached
            reached = reached | fresh
        return reached, lacking


def sweep(present: Booleans, weight: Integers, wanted: Callable[[int, int], bool]) -> Iterator[Priced]:
    """Yield the optimal selections at ever finer prices, from both ends inwards.

    Parameters
    ----------
    present, weight : ndarray, shapes (K, U) and (K,)
        See `Network`.
    wanted : callable
        Whether bounds for the numbers of units between two are still needed; called before each price between them.

    Examples
    --------
    >>> present = np.array([[True, True, True], [True, True, False], [True, False, False]])
    >>> [(found.units, found.intents) for found in sweep(present, np.array([5, 2, 1]), lambda low, high: True)]
    [(1, 8), (3, 5), (2, 7)]
    """
    network = Network(present, weight)
    left, right = network.ends()
    yield left
    yield right
    segments = [(left, right)]
    while segments:
        left, right = segments.pop()
        if right.units - left.units < 2 or not wanted(left.units, right.units):
            continue
        p, q = left.intents - right.intents, right.units - left.units
        common = math.gcd(p, q)
        middle = network.best_at_price(p // common, q // common)
        yield middle
        if middle.value > middle.q * left.intents + middle.p * left.units:
            segments += [(left, middle), (middle, right)]
