r"""Depth-first search for the most intents that u units share, by matrix products.

A node has taken some units; it holds the intents that these share and the editions that may follow. Write G for the
matrix of intents that two editions share at a node. Of k further units that share at least `need` intents,

* each intent is one that at least k of the units left have,
* each edition i shares at least `need` intents with editions of k - 1 other units: so many entries of row i of G;
* an edition that lacks nothing can be one, and one without which u + 1 units would share too many must be
  (see `reduction`).

What is against these rules goes. The last two units are the largest entry of G, so that three units cost one product
per edition. Where minimum cuts bound a node well, they are used, too; presence that is pure noise has no structure
that a cut can see, and there the products alone must do.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Booleans, Integers
from langdiff.selection.search.cut import Priced, sweep
from langdiff.selection.search.problem import Problem, Remainder, collapse

Reals = npt.NDArray[np.floating[Any]]

NODE = 4e6  # operations in the time that a node takes besides its products
CHOICES = 2e6  # choices of editions × (rows + editions) up to which all choices are tried at once
NEAR = 1.25  # a cut that leaves a node open is tried again below it if it came so near


@dataclass(frozen=True, eq=False, repr=False)
class Node:
    """Node of the search: the intents and editions that can extend the units taken so far.

    Attributes
    ----------
    table : ndarray of float, shape (K, E)
        1 where an edition has a row that all units taken have, else 0; editions of a unit are neighbours.
    weight : ndarray of float, shape (K,)
        Intents of each row.
    editions, group : ndarray of int, shape (E,)
        Number and unit of each edition.
    inside : ndarray of bool, shape (n_groups,)
        Units that are still to be taken in any case.
    room : ndarray of int, shape (languages,)
        How many more editions each language may have.
    k : int
        Units still to be taken.
    near : bool
        Whether a cut may be sharp.
    """

    table: Reals
    weight: Reals
    editions: Integers
    group: Integers
    inside: Booleans
    room: Integers
    k: int
    near: bool = True

    @cached_property
    def starts(self) -> Integers:
        """Positions at which each unit's editions begin."""
        return np.flatnonzero(np.diff(self.group, prepend=-1))

    @property
    def units(self) -> Reals:
        """Indicator of the rows that some edition of a unit has, shape (K, units)."""
        starts = self.starts
        if len(starts) == len(self.group):
            return self.table
        member = np.zeros((len(self.group), len(starts)), dtype=self.table.dtype)
        member[np.arange(len(self.group)), np.searchsorted(self.group[starts], self.group)] = 1
        return np.minimum(self.table @ member, 1)

    def of(self, columns: Booleans) -> "Node":
        """Return the node with only some editions."""
        if columns.all():
            return self
        return replace(self, table=self.table[:, columns], editions=self.editions[columns], group=self.group[columns])


class Branching:
    """Search for the most intents that u units share, if these are at least `need`.

    Parameters
    ----------
    problem : Problem
        Problem to choose from.
    u, need : int
        Units, and the intents they must share at least.
    above : int
        Bound on the intents that u + 1 units share (without limits on their number).
    offer : callable
        Called with editions, shape (J,), of u units that share more intents than any found before.
    deadline : float
        When to stop, on the monotonic clock.
    work : float
        Floating-point operations after which to stop.
    every : bool
        Whether to offer all selections that share `need` intents, if these are the most; of selections with the same
        intents one is offered.

    Attributes
    ----------
    need : int
        One more than the most intents found, and at least what was asked for. When `run` is done, no u units (each of
        one edition) share so many; except with `every`, where it stays as it is.
    """

    def __init__(
        self,
        problem: Problem,
        u: int,
        need: int,
        above: int,
        offer: Callable[[Booleans], object],
        *,
        deadline: float = np.inf,
        work: float = np.inf,
        every: bool = False,
    ) -> None:
        self.problem, self.u, self.need, self.above = problem, u, need, above
        self.offer, self.deadline, self.work, self.every = offer, deadline, work, every

    def run(self, left: Remainder) -> bool:
        """Search the remaining problem; return whether the search was completed."""
        problem = self.problem
        decided = np.isin(problem.group, problem.group[problem.required])  # these units are taken
        columns = np.flatnonzero(left.editions & ~decided)
        columns = columns[np.argsort(problem.group[columns], kind="stable")]
        table, weight = collapse(problem.present[np.ix_(left.rows, columns)], problem.weight[left.rows])
        lost = int(problem.weight[left.rows].sum() - weight.sum())  # rows that none of these editions has
        kind: type[np.floating[Any]] = (
            np.float32 if weight.sum() < 2**24 else np.float64
        )  # sums of whole numbers stay exact
        taken = np.bincount(problem.language[problem.required], minlength=int(problem.language.max()) + 1)
        free = left.inside.copy()
        free[problem.group[problem.required]] = False
        k = self.u - int(left.inside.sum() - free.sum())
        if k == 0:
            self._found([], int(weight.sum()) + lost)
            return True
        most = problem.max_per_language if problem.group is not problem.language else len(columns) + len(taken)
        node = Node(table.astype(kind), weight.astype(kind), columns, problem.group[columns], free, most - taken, k)
        return self._search(node.of(node.room[problem.language[columns]] > 0))

    def _search(self, node: Node) -> bool:
        """Branch on one edition, included or excluded, until no open node is left."""
        stack: list[tuple[Node, list[int]]] = [(node, [])]
        while stack:
            part, taken = stack.pop()
            left, products = self._reduce(part, taken)
            if left is None:
                continue
            if time.monotonic() > self.deadline or self.work < 0:
                return False
            if left.k <= 2 and not left.inside.any():
                self._finish(left, products, taken)
                continue
            if math.comb(len(left.editions), left.k) * sum(left.table.shape) <= CHOICES:
                self._try_all(left, taken)
                continue
            left, first = self._cut(left)
            if left is None:
                continue
            if first is None:
                first = self._first(left, products)
            others = np.ones(len(left.editions), dtype=bool)
            others[first] = False
            stack.append((left.of(others), taken.copy()))
            stack.append((self._take(left, first), [*taken, int(left.editions[first])]))
        return True

    def _reduce(self, node: Node, taken: list[int]) -> tuple[Node | None, Reals]:
        """Reduce a node and include the editions that are necessary; return None if it has no better selection."""
        products: Reals = np.zeros((0, 0))
        while node.k > 0:
            size = node.table.size
            rows = self._useful_rows(node)
            if rows is None:
                return None, products
            node = replace(node, table=node.table[rows], weight=node.weight[rows])
            have, total = node.weight @ node.table, int(node.weight.sum())
            if (have < self.need).any():
                node = node.of(have >= self.need)
                continue
            node = self._with_needed(node, total - have)
            certain = self._certain(node, total - have)
            if certain is not None:
                taken.append(int(node.editions[certain]))
                node = self._take(node, certain)
                continue
            if node.k == 1:
                return node, have[None]
            self.work -= 2 * node.table.size * len(have)
            products = (node.table * node.weight[:, None]).T @ node.table
            if node.k == 2 and not node.inside.any():
                return node, products
            stay = (self._partners(node, products) >= node.k - 1) & ~self._dominated(node, products)
            if stay.all() and node.table.size == size:
                return node, products
            node = node.of(stay)
        self._found(taken, int(node.weight.sum()))
        return None, products

    def _useful_rows(self, node: Node) -> Booleans | None:
        """Return an indicator of the rows that k units can share, shape (K,); None if they are fewer than needed."""
        self.work -= NODE + 4 * node.table.size
        units, numbers = node.units, node.group[node.starts]
        must = node.inside[numbers]
        if len(numbers) < node.k or not must.sum() == node.inside.sum() <= node.k:
            return None
        rows: Booleans = units.sum(axis=1) >= node.k
        if must.any():
            rows &= units[:, must].all(axis=1)
        return rows if node.weight[rows].sum() >= self.need else None

    def _with_needed(self, node: Node, lacks: Reals) -> Node:
        """Return the node with the units required that every improvement includes; `lacks` has shape (E,)."""
        needed = self.problem.may_be_added[node.editions] & (self.need - lacks > self.above)
        if node.inside[node.group[needed]].all():
            return node
        inside = node.inside.copy()
        inside[node.group[needed]] = True
        return replace(node, inside=inside)

    def _certain(self, node: Node, lacks: Reals) -> int | None:
        """Return the position of an edition that can be included without loss; None without one."""
        whole = lacks == 0
        if node.inside.sum() >= node.k:  # only such units may be taken
            whole &= node.inside[node.group]
        alone = np.zeros(len(lacks), dtype=bool)
        starts = node.starts
        alone[starts] = np.diff(starts, append=len(lacks)) == 1
        certain = np.flatnonzero(whole | (alone & node.inside[node.group]))
        return int(certain[0]) if len(certain) else None

    def _partners(self, node: Node, products: Reals) -> Integers:
        """Count the other units of which some edition shares enough with each edition, shape (E,)."""
        enough: Booleans = products >= self.need
        starts = node.starts
        if len(starts) < len(node.group):
            enough = np.logical_or.reduceat(enough, starts, axis=1)
        partners: Integers = enough.sum(axis=1) - 1  # each edition shares enough with itself
        return partners

    def _dominated(self, node: Node, products: Reals) -> Booleans:
        """Return an indicator of editions of whose unit another edition has every row, shape (E,)."""
        own, starts = products.diagonal(), node.starts
        if len(starts) == len(own):
            return np.zeros(len(own), dtype=bool)
        covered = (products == own[:, None]) & (node.group[:, None] == node.group)  # [i, j]: j has what i has
        earlier = np.tri(len(own), k=-1, dtype=bool)  # [i, j]: j comes before i
        marked: Booleans = (covered & ((own > own[:, None]) | earlier)).any(axis=1)
        return marked

    def _take(self, node: Node, place: int) -> Node:
        """Return the node with an edition included: its rows, and no other edition of its unit."""
        group, language = node.group[place], self.problem.language[node.editions[place]]
        rows = node.table[:, place] > 0
        inside, room = node.inside.copy(), node.room.copy()
        inside[group] = False
        room[language] -= 1
        columns = (node.group != group) & (room[self.problem.language[node.editions]] > 0)
        taken = replace(node, table=node.table[rows], weight=node.weight[rows], inside=inside, room=room, k=node.k - 1)
        return taken.of(columns)

    def _finish(self, node: Node, products: Reals, taken: list[int]) -> None:
        """Update the incumbent with the best edition, or the best two that can be included together."""
        if node.k == 2:
            language = self.problem.language[node.editions]
            full = (language[:, None] == language) & (node.room[language] < 2)
            products = np.where(full | (node.group[:, None] == node.group), -1, products)
        i, j = np.unravel_index(products.argmax(), products.shape)
        pairs = np.argwhere(products >= self.need) if self.every else np.array([(i, j)])
        for i, j in pairs:
            last = node.editions[[i, j] if node.k == 2 else [j]].tolist()
            self._found([*taken, *last], int(products[i, j]))

    def _try_all(self, node: Node, taken: list[int]) -> None:
        """Enumerate all choices of the editions still to be included."""
        chosen = np.array(list(combinations(range(len(node.editions)), node.k)))  # (choices, k)
        table: Reals = np.zeros((node.table.shape[1], len(chosen)), dtype=node.table.dtype)
        table[chosen.T, np.arange(len(chosen))] = 1
        self.work -= NODE + 2 * node.table.size * len(chosen)
        language = self.problem.language[node.editions]
        of_unit, of_language = (np.equal.outer(np.unique(kind), kind) @ table for kind in (node.group, language))
        allowed = (of_unit <= 1).all(axis=0) & (of_language <= node.room[np.unique(language), None]).all(axis=0)
        allowed &= (of_unit >= node.inside[np.unique(node.group), None]).all(axis=0)
        intents = (node.weight @ (node.table @ table == node.k)) * allowed
        for place in np.flatnonzero(intents >= self.need) if self.every else [intents.argmax()]:
            self._found([*taken, *node.editions[chosen[place]].tolist()], int(intents[place]))

    def _found(self, taken: list[int], intents: int) -> None:
        if intents < self.need:
            return
        if not self.every:
            self.need = intents + 1
        chosen = self.problem.required.copy()
        chosen[taken] = True
        self.offer(chosen)

    def _first(self, node: Node, products: Reals) -> int:
        """Return the position of the edition to branch on: of a required unit, or with few partners."""
        own = node.weight @ node.table
        if node.inside.any():
            place = np.flatnonzero(node.inside[node.group])
            return int(place[own[place].argmax()])
        starts = node.starts
        if len(starts) == len(own):
            return int(np.lexsort((own, self._partners(node, products)))[0])
        # leaving out all editions of one unit after another soon leaves too few units: the unit with the fewest first
        sizes = np.diff(starts, append=len(own))
        unit = int(np.lexsort((np.maximum.reduceat(own, starts), sizes))[0])
        place = np.arange(starts[unit], starts[unit] + sizes[unit])
        return int(place[own[place].argmax()])

    def _cut(self, node: Node) -> tuple[Node | None, int | None]:
        """Bound a node by minimum cuts; return None if that closes it, and the best edition to branch on."""
        if not node.near:
            return node, None
        table, weight = collapse(node.units > 0, node.weight.astype(np.int64))
        most, ends = int(weight.sum()), {}

        def wanted(low: int, high: int) -> bool:
            return most >= self.need and low < node.k < high

        for found in sweep(table, weight, wanted):
            self.work -= NODE + 100 * table.size
            most = min(most, found.bound(node.k))
            ends[found.units] = found
        if most < self.need:
            return None, None
        if most > NEAR * self.need:
            return replace(node, near=False), None
        return node, self._dividing(node, table, ends)

    def _dividing(self, node: Node, table: Booleans, ends: dict[int, Priced]) -> int | None:
        """Return the position of the fullest edition of a unit that only one of the two nearest selections includes."""
        lower = max((u for u in ends if u <= node.k), default=None)
        upper = min((u for u in ends if u > node.k), default=None)
        if lower is None or upper is None:
            return None
        few, many = (np.logical_and.reduce(table[ends[u].rows], axis=0) for u in (lower, upper))
        differ = np.flatnonzero(many & ~few)
        if not len(differ):
            return None
        own = node.weight @ node.table
        best = np.maximum.reduceat(own, node.starts)
        unit = int(differ[best[differ].argmin()])
        place = np.flatnonzero(node.group == node.group[node.starts[unit]])
        return int(place[own[place].argmax()])
