"""Selection problem on arrays: requirements, reduction and bounds."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Integers
from langdiff.selection.search.cut import sweep


class Solution(NamedTuple):
    """Feasible selection; selections are compared by `value`, then by number of editions."""

    value: int
    n_editions: int
    units: int
    intents: int
    editions: Booleans

    @property
    def rank(self) -> tuple[int, int]:
        """The value, then the number of editions: maximized in this order."""
        return self.value, self.n_editions


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Problem of choosing editions B and the intents C that all of them have, maximizing units(B)·|C|.

    Attributes
    ----------
    present : ndarray of bool, shape (K, J)
        Distinct rows of the presence matrix.
    weight : ndarray of int, shape (K,)
        Intents with that row.
    language : ndarray of int, shape (J,)
        Language of each edition, numbered from 0.
    count_languages : bool
        Whether the units of the objective are languages; else they are editions.
    required : ndarray of bool, shape (J,)
        Editions that must be in B.
    required_languages : tuple of int
        Languages of which at least one edition must be in B.
    min_intents : int
        Least |C|.
    n_editions : int or None
        The number of editions in B, if it is given.
    max_editions, max_per_language : int
        Limits on |B| and on the editions of one language in B.
    """

    present: Booleans
    weight: Integers
    language: Integers
    count_languages: bool
    required: Booleans
    required_languages: tuple[int, ...]
    min_intents: int
    n_editions: int | None
    max_editions: int
    max_per_language: int

    @cached_property
    def single(self) -> bool:
        """Whether one edition of each group is enough to reach the optimum, except for ties."""
        return not (self.count_languages and self.n_editions is not None)

    @cached_property
    def group(self) -> Integers:
        """Number of each edition's unit, shape (J,), from 0 without gaps."""
        if self.count_languages or self.max_per_language == 1:
            return self.language
        return np.arange(len(self.language))

    @cached_property
    def n_groups(self) -> int:
        """Number of units."""
        return int(self.group.max()) + 1

    @property
    def choice(self) -> bool:
        """Whether some unit has several editions to choose from."""
        return self.n_groups < len(self.language)

    @cached_property
    def required_groups(self) -> Booleans:
        """Units that must be in, shape (n_groups,)."""
        groups = np.zeros(self.n_groups, dtype=bool)
        groups[self.group[self.required]] = True
        if self.group is self.language:
            groups[list(self.required_languages)] = True
        return groups

    @cached_property
    def fewest_units(self) -> int:
        """Smallest number of units that meets the requirements."""
        if self.group is self.language:
            return max(1, int(self.required_groups.sum()))
        others = set(self.required_languages) - set(self.language[self.required].tolist())
        return max(1, int(self.required.sum()) + len(others))

    @cached_property
    def most_units(self) -> int:
        """Largest number of units that the limits on editions allow."""
        limit = self.max_editions if self.n_editions is None else self.n_editions
        if self.count_languages:  # several required editions of a language are one unit
            limit += len(np.unique(self.language[self.required])) - int(self.required.sum())
        if self.group is self.language:
            return min(limit, self.n_groups)
        return min(limit, int(np.minimum(np.bincount(self.language), self.max_per_language).sum()))

    @cached_property
    def totals(self) -> Integers:
        """Intents of each edition, shape (J,)."""
        return weigh(self.weight, self.present)

    @cached_property
    def candidates(self) -> Booleans:
        """Editions to choose from, shape (J,): where one per unit is enough, a required one excludes the others."""
        if not self.single:
            return np.ones(len(self.language), dtype=bool)
        decided = np.zeros(self.n_groups, dtype=bool)
        decided[self.group[self.required]] = True
        return self.required | ~decided[self.group]

    @cached_property
    def may_be_added(self) -> Booleans:
        """Editions whose addition violates no limit on languages, shape (J,)."""
        if not self.single:
            return np.zeros(len(self.language), dtype=bool)
        if self.group is self.language:
            return self.candidates
        return self.candidates & (np.bincount(self.language)[self.language] <= self.max_per_language)

    def shared(self, editions: Booleans) -> Booleans:
        """Return an indicator of the rows that all of some editions have, shape (K,)."""
        shared: Booleans = np.logical_and.reduce(self.present[:, editions], axis=1)
        return shared

    def intents_of(self, rows: Booleans) -> int:
        """Count the intents of some rows."""
        return int(self.weight[rows].sum())

    def best_editions(self, rows: Booleans) -> Solution | None:
        """Return the best editions that have all of some rows; None if no choice is allowed.

        With the intents given, it is optimal to take one edition per required language, then one per language (if they
        are counted), then as many others as the limits allow; fuller editions come first.
        """
        eligible: Booleans = np.logical_and.reduce(self.present[rows], axis=0)
        order = self._fullest_first
        chosen = self.required.copy()
        taken = np.bincount(self.language[chosen], minlength=int(self.language.max()) + 1)
        limit = self.max_editions if self.n_editions is None else self.n_editions

        def take(candidates: Integers, most: int) -> None:
            for j in candidates:
                if most == 0 or chosen.sum() >= limit:
                    return
                if eligible[j] and not chosen[j] and taken[self.language[j]] < self.max_per_language:
                    chosen[j] = True
                    taken[self.language[j]] += 1
                    most -= 1

        for language in [*self.required_languages, *(self.language[order] if self.count_languages else [])]:
            if not taken[language]:
                take(order[self.language[order] == language], 1)
        take(order, len(order))
        return self._solution(chosen, taken)

    @cached_property
    def _fullest_first(self) -> Integers:
        return np.argsort(-self.totals, kind="stable")

    def _solution(self, chosen: Booleans, taken: Integers) -> Solution | None:
        """Return the solution of some editions, given their number per language; None if it is not allowed."""
        intents = self.intents_of(self.shared(chosen))
        count = int(chosen.sum())
        allowed = (
            0 < count <= self.max_editions
            and count == (self.n_editions or count)
            and taken.max() <= self.max_per_language
            and all(taken[language] for language in self.required_languages)
            and intents >= self.min_intents
        )
        units = int((taken > 0).sum()) if self.count_languages else count
        return Solution(units * intents, count, units, intents, chosen) if allowed else None


def weigh(weight: Integers, matrix: Booleans) -> Integers:
    """Return the sum of the weights of the true rows of each column, shape (J,), in floats, exact up to 2⁵³."""
    return (weight.astype(np.float64) @ matrix).astype(np.int64)


def collapse(presence: Booleans, weight: Integers | None = None) -> tuple[Booleans, Integers]:
    """Return the distinct rows that some edition has, in order of appearance, and how often each occurs.

    With weights, how often is the sum of the weights.

    Examples
    --------
    >>> collapse(np.array([[True, True], [True, False], [True, True], [False, False]]))
    (array([[ True,  True], [ True, False]]), array([2, 1]))
    """
    presence = np.ascontiguousarray(presence)  # frames keep their columns together, which makes rows slow
    packed = np.packbits(presence, axis=1)
    bits = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    bits[:, : packed.shape[1]] = packed
    words = bits.view(np.uint64)
    some = np.flatnonzero(words.any(axis=1))
    place = np.zeros(len(some), dtype=np.int64)
    for word in words[some].T:  # 64 editions at a time; hashing is much faster than sorting whole rows
        codes, distinct = pd.factorize(word)
        place = pd.factorize(place * len(distinct) + codes)[0]
    first = np.zeros(place.max(initial=-1) + 1, dtype=np.int64)
    first[place[::-1]] = some[::-1]  # of equal rows the first is written last
    total = np.bincount(place, weights=None if weight is None else weight[some], minlength=len(first))
    return presence[first], total.astype(np.int64)


NEVER = np.iinfo(np.int64).max  # as a bound: nothing is known of u + 1 units


@dataclass(frozen=True, eq=False, repr=False)
class Remainder:
    """Rows, editions and units that remain after reduction.

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
    """Reduce the problem to rows and editions that can be in a selection of u units with at least `need` intents.

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
    """Bound the intents that u units share, by minimum cuts on the reduced problem; stop once below `need`."""
    units, _ = by_unit(problem.present[np.ix_(left.rows, left.editions)], problem.group[left.editions])
    table, weight = collapse(units, problem.weight[left.rows])
    bounds = [int(weight.sum())]
    for found in sweep(table, weight, lambda low, high: min(bounds) >= need and low < u < high):
        bounds.append(found.bound(u))
    return min(bounds)


def by_unit(table: Booleans, group: Integers) -> tuple[Booleans, Integers]:
    """Return an indicator of the rows that some edition of each unit has, shape (K, units), and the units' numbers."""
    numbers, first = np.unique(group, return_index=True)
    if len(numbers) == len(group):
        return table[:, first], numbers
    order = np.argsort(group, kind="stable")
    starts = np.searchsorted(group[order], numbers)
    return np.logical_or.reduceat(table[:, order], starts, axis=1), numbers


def _dominated(table: Booleans, group: Integers) -> Booleans:
    """Return an indicator of the editions dominated by another one of their unit, shape (J,)."""
    marked = np.zeros(len(group), dtype=bool)
    numbers, counts = np.unique(group, return_counts=True)
    for number in numbers[counts > 1]:
        members = np.flatnonzero(group == number)
        has = table[:, members].astype(np.float32)
        covers = (1 - has).T @ has == 0  # [i, j]: i lacks nothing that j has
        earlier = np.tri(len(members), k=-1, dtype=bool).T  # [i, j]: i comes before j
        marked[members] = (covers & (~covers.T | earlier)).any(axis=0)
    return marked


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on c(u), the most intents that u units share, which only decrease.

    Attributes
    ----------
    numbers : range
        The numbers of units u that a selection can have.
    at_most : dict from int to int
        The bound on c(u) for every u, also beyond `numbers`, up to one more than there are units.
    closed : dict from int to str
        For each u in `numbers`, what lowered its bound last: ``"hull"``, ``"reduction"``, ``"branching"``,
        ``"relaxation"`` or ``"program"``.
    """

    numbers: range
    at_most: dict[int, int]
    closed: dict[int, str]

    def lower(self, u: int, most: int, by: str | None = None) -> None:
        """Lower the bound of u units to `most` intents; `by` is the method that closed u, if it did."""
        self.at_most[u] = min(self.at_most[u], most)
        if by is not None:
            self.closed[u] = by


def first_bounds(problem: Problem) -> Bounds:
    """Bound c(u) by the number of intents that at least u units have, and by those of the u-th fullest unit."""
    most_units = problem.most_units
    fixed = problem.n_editions is not None and not problem.count_languages
    numbers = range(most_units if fixed else problem.fewest_units, most_units + 1)
    units, _ = by_unit(problem.present, problem.group)
    count = np.bincount(units.sum(axis=1), weights=problem.weight, minlength=problem.n_groups + 1)
    most = np.cumsum(count[::-1])[::-1].astype(int)
    fullest = np.zeros(problem.n_groups, dtype=int)
    np.maximum.at(fullest, problem.group, problem.totals)
    least = np.minimum(most[1:], np.sort(fullest)[::-1])
    at_most = dict(enumerate(least.tolist(), 1)) | {problem.n_groups + 1: -1}
    return Bounds(numbers, at_most, dict.fromkeys(numbers, "hull"))
