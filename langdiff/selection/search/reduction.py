r"""The part of a problem that selections of u units that beat the incumbent can use, and a bound on c(u).

Let B be u units that share at least `need` intents. Then

* an intent that fewer than u units have is not shared, nor is one that a unit known to be in B lacks;
* an edition with fewer than `need` of the remaining intents is not in B;
* of two editions of a unit, one that has every intent of the other is as good;
* **exchange**: adding a unit i to B gives u + 1 units that share at least `need` less what i lacks of the
  remaining intents. If no u + 1 units share so many, i is in B.

Each fact sharpens the others, so that they are repeated until nothing changes. The last one makes real multitexts
easy: units that lack almost nothing are in B, intents that these units lack are not shared, and a minimum cut of what
remains is sharp.
"""

from dataclasses import dataclass

import numpy as np

from langdiff.base.types import Booleans, Integers
from langdiff.selection.search.cut import sweep
from langdiff.selection.search.problem import Problem, collapse, weigh

NEVER = np.iinfo(np.int64).max  # as a bound: nothing is known of u + 1 units


@dataclass(frozen=True, eq=False, repr=False)
class Remainder:
    """Rows, editions and units that can still matter.

    Attributes
    ----------
    rows, editions : ndarray of bool, shapes (K,) and (J,)
        Editions and rows that can be in a selection.
    inside : ndarray of bool, shape (n_groups,)
        Units that are in any.
    """

    rows: Booleans
    editions: Booleans
    inside: Booleans


def reduce(problem: Problem, u: int, need: int, above: int, start: Remainder | None = None) -> Remainder | None:
    """Reduce the problem to what u units that share at least `need` intents can be made of.

    Parameters
    ----------
    problem : Problem
        Problem to reduce.
    u, need : int
        Units, and the intents they must share at least.
    above : int
        Bound on the intents that u + 1 units share (without limits on their number).
    start : Remainder, optional
        Remainder of an earlier reduction, for at most as many units and intents.

    Returns
    -------
    Remainder or None
        None if there is no such selection.
    """
    if start is None:
        start = Remainder(problem.shared(problem.required), problem.candidates, problem.required_groups)
    rows, editions, inside = start.rows.copy(), start.editions.copy(), start.inside.copy()
    while True:
        before = rows.sum(), editions.sum(), inside.sum()
        table, weight = problem.present[np.ix_(rows, editions)], problem.weight[rows]
        group = problem.group[editions]
        units, numbers = by_unit(table, group)
        if len(numbers) < u or inside.sum() > u or not np.isin(np.flatnonzero(inside), numbers).all():
            return None
        kept: Booleans = (units.sum(axis=1) >= u) & np.logical_and.reduce(units[:, inside[numbers]], axis=1)
        total = int(weight[kept].sum())
        if total < need:
            return None
        have = weigh(weight * kept, table)
        added = problem.may_be_added[editions] & (need - (total - have) > above)
        inside[group[added]] = True
        stay = have >= need
        if problem.single and len(numbers) < len(group):
            stay &= problem.required[editions] | ~_dominated(table[kept], group)
        rows[np.flatnonzero(rows)[~kept]] = False
        editions[np.flatnonzero(editions)[~stay]] = False
        if before == (rows.sum(), editions.sum(), inside.sum()):
            return Remainder(rows, editions, inside)


def bound(problem: Problem, left: Remainder, u: int, need: int) -> int:
    """Bound the intents that u units share, by minimum cuts on what is left; stop once it is below `need`."""
    units, _ = by_unit(problem.present[np.ix_(left.rows, left.editions)], problem.group[left.editions])
    table, weight = collapse(units, problem.weight[left.rows])
    bounds = [int(weight.sum())]
    for found in sweep(table, weight, lambda low, high: min(bounds) >= need and low < u < high):
        bounds.append(found.bound(u))
    return min(bounds)


def by_unit(table: Booleans, group: Integers) -> tuple[Booleans, Integers]:
    """Return which rows some edition of each unit has, shape (K, units), and the units' numbers."""
    numbers, first = np.unique(group, return_index=True)
    if len(numbers) == len(group):
        return table[:, first], numbers
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], numbers)
    return np.logical_or.reduceat(table[:, order], starts, axis=1), numbers


def _dominated(table: Booleans, group: Integers) -> Booleans:
    """Mark editions that another one of the unit makes superfluous, shape (J,)."""
    marked = np.zeros(len(group), dtype=bool)
    numbers, counts = np.unique(group, return_counts=True)
    for number in numbers[counts > 1]:
        members = np.flatnonzero(group == number)
        has = table[:, members].astype(np.float32)
        covers = (1 - has).T @ has == 0  # [i, j]: i lacks nothing that j has
        earlier = np.tri(len(members), k=-1, dtype=bool).T  # [i, j]: i comes before j
        marked[members] = (covers & (~covers.T | earlier)).any(axis=0)
    return marked
