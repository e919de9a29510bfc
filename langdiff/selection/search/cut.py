r"""Bounds for every number of units at once, by minimum cuts.

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
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from langdiff._types import Booleans
from langdiff.errors import DataError
from langdiff.selection.search.problem import Ints


class Priced(NamedTuple):
    """A selection that is best at its price of p / q intents per unit."""

    p: int
    q: int
    value: int  # q × intents + p × units
    intents: int
    units: int
    rows: Booleans

    def bound(self, u: int) -> int:
        """Return an upper bound on c(u)."""
        return (self.value - self.p * u) // self.q


def best_at_price(present: Booleans, weight: Ints, p: int, q: int) -> Priced:
    """Choose rows and units to maximize q × intents + p × units.

    Parameters
    ----------
    present : ndarray of bool, shape (K, U)
        Whether unit u has row k.
    weight : ndarray of int, shape (K,)
        Number of intents of each row.
    p, q : int
        Value of a unit and of an intent, positive.

    Raises
    ------
    DataError
        If the numbers exceed the 32 bits of SciPy's flows.

    Examples
    --------
    >>> best_at_price(np.array([[True, True], [True, False]]), np.array([3, 2]), p=1, q=1).value
    6
    """
    rows, units = present.shape
    k, u = np.nonzero(~present)
    source, sink = rows + units, rows + units + 1
    total = int(weight.sum()) * q + p * units
    if total >= np.iinfo(np.int32).max:
        raise DataError(f"{int(weight.sum()):,} intents × {units:,} editions are more than selection can handle.")
    tails = np.concatenate([np.full(rows, source), k, rows + np.arange(units)]).astype(np.int32)
    heads = np.concatenate([np.arange(rows), rows + u, np.full(units, sink)]).astype(np.int32)
    capacity = np.concatenate([weight * q, np.full(len(k), total), np.full(units, p)]).astype(np.int32)
    graph = csr_array((capacity, (tails, heads)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink)
    residual = csr_array(graph - flow.flow)
    residual.eliminate_zeros()
    reached = np.zeros(sink + 1, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    chosen = reached[:rows]
    return Priced(
        p=p,
        q=q,
        value=total - int(flow.flow_value),
        intents=int(weight[chosen].sum()),
        units=int((~reached[rows : rows + units]).sum()),
        rows=chosen,
    )


def sweep(present: Booleans, weight: Ints, wanted: Callable[[int, int], bool]) -> Iterator[Priced]:
    """Yield the best selections at ever finer prices, from the two ends inwards.

    Parameters
    ----------
    present, weight : ndarray, shapes (K, U) and (K,)
        See `best_at_price`.
    wanted : callable
        Whether bounds for the numbers of units between two are still needed; called before each price between them.

    Examples
    --------
    >>> present = np.array([[True, True, True], [True, True, False], [True, False, False]])
    >>> [(found.units, found.intents) for found in sweep(present, np.array([5, 2, 1]), lambda low, high: True)]
    [(1, 8), (3, 5), (2, 7)]
    """
    units = present.shape[1]
    left, right = best_at_price(present, weight, 1, units + 1), best_at_price(present, weight, int(weight.sum()) + 1, 1)
    yield left
    yield right
    segments = [(left, right)]
    while segments:
        left, right = segments.pop()
        if right.units - left.units < 2 or not wanted(left.units, right.units):
            continue
        p, q = left.intents - right.intents, right.units - left.units
        common = math.gcd(p, q)
        middle = best_at_price(present, weight, p // common, q // common)
        yield middle
        if middle.value > middle.q * left.intents + middle.p * left.units:
            segments += [(left, middle), (middle, right)]
