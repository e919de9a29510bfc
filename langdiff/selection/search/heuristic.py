"""Heuristics for good selections: greedy removal, then exchange."""

from collections.abc import Iterator

import numpy as np

from langdiff.base.types import Booleans
from langdiff.selection.search.problem import Problem, weigh

STEP = 0.9  # fewer intents than so many times those of the next fuller edition are a step down: to another canon


def representatives(problem: Problem) -> Booleans:
    """Return all editions, or, where one per unit is enough, the fullest of each unit and those required."""
    candidates = problem.candidates
    if problem.group is not problem.language or not problem.single:
        return candidates
    chosen = problem.required.copy()
    order = np.lexsort((-problem.totals, problem.group))
    order = order[candidates[order]]
    _, first = np.unique(problem.group[order], return_index=True)
    chosen[order[first]] = True
    return chosen


def levels(problem: Problem) -> list[tuple[int, int]]:
    """Return the starting points of removals: the numbers of intents at large steps in their order, and all.

    Removal sees one edition at a time. Beside many New Testaments it gives up whole Bibles before the last of them,
    whose removal alone would free the Old Testament; hence it also begins with whole Bibles alone.

    Returns
    -------
    list of (int, int)
        The fewest intents of an edition to begin with, and what no selection whose emptiest edition is between the step
        before and this one can exceed; by the latter, the largest first.
    """
    totals = np.sort(problem.totals[representatives(problem)])[::-1]
    rank = np.arange(1, len(totals) + 1)
    last = np.append(totals[1:] < STEP * totals[:-1], True)
    units = np.where(rank < max(problem.fewest_units, problem.n_editions or 1), 0, np.minimum(rank, problem.most_units))
    products = units * np.minimum(totals, problem.intents_of(problem.shared(problem.required)))
    most = np.maximum.reduceat(products, np.append(0, np.flatnonzero(last)[:-1] + 1))
    return sorted(zip(totals[last].tolist(), most.tolist(), strict=True), key=lambda level: -level[1])


def stages(problem: Problem, least: int = 0) -> Iterator[tuple[Booleans, Booleans]]:
    """Remove editions one by one, each time the one whose removal frees the most intents.

    Parameters
    ----------
    problem : Problem
        Problem to choose from.
    least : int
        Fewest intents of the editions to begin with; those required are among them in any case.

    Yields
    ------
    kept, rows : ndarray of bool, shapes (J,) and (K,)
        Editions left at each stage, and the rows that all of them have.
    """
    kept = representatives(problem) & ((problem.totals >= least) | problem.required)
    absent = ~problem.present
    lacking = absent[:, kept].sum(axis=1)  # how many of the kept editions lack each row
    while kept.any():
        yield kept.copy(), lacking == 0
        removable = np.flatnonzero(kept & ~problem.required)
        if not len(removable):
            return
        almost = lacking == 1
        freed = weigh(problem.weight[almost], absent[np.ix_(almost, removable)])
        gone = removable[np.lexsort((problem.totals[removable], -freed))[0]]
        kept[gone] = False
        lacking -= absent[:, gone]


def without_worst(problem: Problem, kept: Booleans) -> Booleans:
    """Remove the edition whose removal frees the most intents."""
    absent, removable = ~problem.present, np.flatnonzero(kept & ~problem.required)
    if not len(removable):
        return kept
    almost = absent[:, kept].sum(axis=1) == 1
    fewer = kept.copy()
    fewer[removable[weigh(problem.weight[almost], absent[np.ix_(almost, removable)]).argmax()]] = False
    return fewer


def exchange(problem: Problem, kept: Booleans, allowed: Booleans) -> Booleans:
    """Exchange editions, the best exchange first, until the number of shared intents no longer increases.

    Parameters
    ----------
    problem : Problem
        Problem whose editions are exchanged.
    kept : ndarray of bool, shape (J,)
        Editions to begin with.
    allowed : ndarray of bool, shape (J,)
        Editions that may come in.

    Returns
    -------
    ndarray of bool, shape (J,)
        The same number of editions.
    """
    kept, absent = kept.copy(), ~problem.present
    while True:
        inside, outside = np.flatnonzero(kept & ~problem.required), np.flatnonzero(allowed & ~kept)
        if not len(inside) or not len(outside):
            return kept
        lacking = absent[:, kept].sum(axis=1)
        shared, almost = lacking == 0, lacking == 1
        lost = weigh(problem.weight[shared], absent[np.ix_(shared, outside)])
        freed = absent[np.ix_(almost, inside)] * problem.weight[almost, None].astype(np.float64)  # rows × inside
        both = freed.T @ absent[np.ix_(almost, outside)].astype(np.float64)
        gain = freed.sum(axis=0)[:, None] - lost - both
        gain[~_may_swap(problem, kept, inside, outside)] = -1
        i, j = np.unravel_index(gain.argmax(), gain.shape)
        if gain[i, j] <= 0:
            return kept
        kept[inside[i]], kept[outside[j]] = False, True


def _may_swap(problem: Problem, kept: Booleans, inside: np.ndarray, outside: np.ndarray) -> Booleans:
    """Return an indicator of the exchanges that the limits allow, shape (inside, outside)."""
    taken = np.bincount(problem.language[kept], minlength=int(problem.language.max()) + 1)
    same: Booleans = problem.language[inside][:, None] == problem.language[outside]
    if problem.group is problem.language:
        free = taken[problem.language[outside]] == 0
    else:
        free = taken[problem.language[outside]] < problem.max_per_language
    last = np.isin(problem.language[inside], problem.required_languages) & (taken[problem.language[inside]] == 1)
    may: Booleans = same | (free & ~last[:, None])
    return may
