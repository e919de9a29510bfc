"""The combinatorial problem on plain arrays, with identical intents collapsed."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Integers


class Solution(NamedTuple):
    """A feasible choice; solutions are compared by `value`, then by number of editions."""

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
    """Choose editions B and the intents C that all of them have, maximizing units(B)·|C|.

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
        """Number of the unit each edition belongs to, shape (J,), from 0 without a gap."""
        if self.count_languages or self.max_per_language == 1:
            return self.language
        return np.arange(len(self.language))

    @cached_property
    def n_groups(self) -> int:
        """How many units there are."""
        return int(self.group.max()) + 1

    @property
    def choice(self) -> bool:
        """Whether some unit can be one of several editions."""
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
        """The fewest units that meet the requirements."""
        if self.group is self.language:
            return max(1, int(self.required_groups.sum()))
        others = set(self.required_languages) - set(self.language[self.required].tolist())
        return max(1, int(self.required.sum()) + len(others))

    @cached_property
    def most_units(self) -> int:
        """The most units that the limits on editions allow."""
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
        """Editions of a further unit that no limit on languages can forbid to add, shape (J,)."""
        if not self.single:
            return np.zeros(len(self.language), dtype=bool)
        if self.group is self.language:
            return self.candidates
        return self.candidates & (np.bincount(self.language)[self.language] <= self.max_per_language)

    def shared(self, editions: Booleans) -> Booleans:
        """Return which rows all of some editions have, shape (K,)."""
        shared: Booleans = np.logical_and.reduce(self.present[:, editions], axis=1)
        return shared

    def intents_of(self, rows: Booleans) -> int:
        """Count the intents of some rows."""
        return int(self.weight[rows].sum())

    def best_editions(self, rows: Booleans) -> Solution | None:
        """Return the best editions that have all of some rows, or None if no choice is allowed.

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
        """Return what some editions make, of which each language has taken so many; None if not allowed."""
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
    """Sum the weights of the rows that are true in each column, shape (J,); by floats, which are exact up to 2⁵³."""
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
