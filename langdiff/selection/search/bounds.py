"""What is known of the most intents that each number of units can share."""

from dataclasses import dataclass

import numpy as np

from langdiff.selection.search.problem import Problem
from langdiff.selection.search.reduction import by_unit


@dataclass(frozen=True)
class Bounds:
    """Upper bounds on c(u), the most intents that u units share; they are only ever lowered.

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
        """Note that u units share at most `most` intents; `by` says what closed u, if that did."""
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
