r"""Selections at a price a unit, by minimum cut.

Without limits on editions, choosing rows C and units B to maximise :math:`q\sum_{k\in C} w_k + p|B|` such that every
unit has every row is a maximum-weight independent set in the bipartite graph that joins a row to the
units that lack it: all weight, less that of a minimum cut. It is computed in whole numbers, so that the
bounds that follow are exact.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

from langdiff.errors import DataError
from langdiff.selection._problem import Bools, Ints


class Priced(NamedTuple):
    """A selection that is best at its price."""

    value: int  # q × intents + p × units
    intents: int
    units: int
    rows: Bools


def best_at_price(present: Bools, weight: Ints, p: int, q: int) -> Priced:
    """Choose rows and units to maximise q × intents + p × units.

    Parameters
    ----------
    present : ndarray of bool, shape (K, U)
        Whether unit u has row k.
    weight : ndarray of int, shape (K,)
        Intents a row stands for.
    p, q : int
        Value of a unit and of an intent, positive.

    Examples
    --------
    >>> best_at_price(np.array([[True, True], [True, False]]), np.array([3, 2]), p=1, q=1).value
    6
    """
    rows, units = present.shape
    k, u = np.nonzero(~present)
    source, sink = rows + units, rows + units + 1
    total = int(weight.sum()) * q + p * units
    if total >= np.iinfo(np.int32).max:  # SciPy's flows are 32-bit
        raise DataError(f"{int(weight.sum()):,} intents × {units:,} editions are more than selection can handle.")
    tails = np.concatenate([np.full(rows, source), k, rows + np.arange(units)])
    heads = np.concatenate([np.arange(rows), rows + u, np.full(units, sink)])
    capacity = np.concatenate([weight * q, np.full(len(k), total), np.full(units, p)]).astype(np.int32)
    graph = csr_array((capacity, (tails, heads)), shape=(sink + 1, sink + 1))
    flow = maximum_flow(graph, source, sink)
    residual = csr_array(graph - flow.flow)
    residual.eliminate_zeros()
    reached = np.zeros(sink + 1, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    chosen = reached[:rows]
    return Priced(
        value=total - int(flow.flow_value),
        intents=int(weight[chosen].sum()),
        units=int((~reached[rows : rows + units]).sum()),
        rows=chosen,
    )
