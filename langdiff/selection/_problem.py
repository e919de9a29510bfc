"""The combinatorial problem on plain arrays, with identical intents collapsed."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Solution(NamedTuple):
    """A feasible choice; solutions are compared by `value`, then by number of editions."""

    value: int
    n_editions: int
    intents: int
    editions: Bools

    @property
    def rank(self) -> tuple[int, int]:
        """What is maximised, in this order."""
        return self.value, self.n_editions


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Choose editions B and the intents C that all of them have, maximising units(B)·|C|.

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
    min_intents, max_editions, max_per_language : int
        Limits on |C|, on |B| and on the editions of one language in B.
    """

    present: Bools
    weight: Ints
    language: Ints
    count_languages: bool
    required: Bools
    required_languages: tuple[int, ...]
    min_intents: int
    max_editions: int
    max_per_language: int

    def count(self, editions: Bools) -> int:
        """Count the units of some editions."""
        return len(np.unique(self.language[editions])) if self.count_languages else int(editions.sum())

    def unit_presence(self, editions: Bools) -> Bools:
        """Return which rows each unit has, in one of the editions at least, shape (K, units)."""
        if not self.count_languages:
            return self.present[:, editions]
        table = np.zeros((len(self.weight), int(self.language.max()) + 1), dtype=bool)
        for j in np.flatnonzero(editions):
            table[:, self.language[j]] |= self.present[:, j]
        return table

    def coverage(self, editions: Bools) -> Ints:
        """Count the units that have each row in one of the editions at least, shape (K,)."""
        return np.asarray(self.unit_presence(editions).sum(axis=1))

    def shared(self, editions: Bools) -> Bools:
        """Return which rows all of some editions have, shape (K,)."""
        shared: Bools = np.logical_and.reduce(self.present[:, editions], axis=1)
        return shared

    def best_editions(self, rows: Bools) -> Solution | None:
        """Return the best editions that have all of some rows, or None if no choice is allowed.

        With the intents given, taking one edition a required language, then one a language (if they
        are counted), then whatever else the limits allow is optimal; fuller editions come first.
        """
        eligible: Bools = np.logical_and.reduce(self.present[rows], axis=0)
        order = np.argsort(-(self.weight @ self.present), kind="stable")
        chosen = self.required.copy()
        taken = np.bincount(self.language[chosen], minlength=int(self.language.max()) + 1)

        def take(candidates: Ints, most: int) -> None:
            for j in candidates:
                if most == 0 or chosen.sum() >= self.max_editions:
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

    def _solution(self, chosen: Bools, taken: Ints) -> Solution | None:
        """Return what some editions make, of which each language has taken so many; None if not allowed."""
        intents = int(self.weight[self.shared(chosen)].sum())
        allowed = (
            0 < chosen.sum() <= self.max_editions
            and taken.max() <= self.max_per_language
            and all(taken[language] for language in self.required_languages)
            and intents >= self.min_intents
        )
        return Solution(self.count(chosen) * intents, int(chosen.sum()), intents, chosen) if allowed else None


def collapse(presence: Bools) -> tuple[Bools, Ints]:
    """Return the distinct rows that some edition has, and how often each occurs.

    Examples
    --------
    >>> collapse(np.array([[True, True], [True, False], [True, True], [False, False]]))
    (array([[ True, False], [ True,  True]]), array([1, 2]))
    """
    packed, weight = np.unique(np.packbits(presence, axis=1), axis=0, return_counts=True)
    rows = np.unpackbits(packed, axis=1, count=presence.shape[1]).astype(bool)
    some = rows.any(axis=1)
    return rows[some], weight[some].astype(np.int64)


def greedy(problem: Problem) -> Solution | None:
    """Remove editions one by one, each time the one whose removal frees most intents; keep the best stage."""
    kept = np.ones(len(problem.language), dtype=bool)
    absent = ~problem.present
    lacking = absent.sum(axis=1)  # how many of the kept editions lack each row
    totals = problem.weight @ problem.present
    best: Solution | None = None
    while kept.any():
        rows = lacking == 0
        if problem.weight[rows].sum() >= problem.min_intents:
            found = problem.best_editions(rows)
            if found is not None and (best is None or found.rank > best.rank):
                best = found
        removable = np.flatnonzero(kept & ~problem.required)
        if not len(removable):
            break
        almost = lacking == 1
        freed = problem.weight[almost] @ absent[np.ix_(almost, removable)]
        gone = removable[np.lexsort((totals[removable], -freed))[0]]
        kept[gone] = False
        lacking -= absent[:, gone]
    return best
