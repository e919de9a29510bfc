"""Pairs of parallelisms that share tokens, their scores by four metrics, and maximum matchings."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, min_weight_full_bipartite_matching

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.parallelism.documents import Branch, Parallelism

Metric = Literal["EPM", "MPBM", "MBAWO", "MWO"]
METRICS: tuple[Metric, ...] = ("EPM", "MPBM", "MBAWO", "MWO")
DENSE = 1_000_000  # cells of the largest dense matrix; larger components are solved as sparse ones


class Overlap(NamedTuple):
    """Branches of a hypothesis and of a reference that share tokens: their places and the numbers shared."""

    ours: int
    theirs: int
    tokens: int


def overlaps(
    references: Sequence[Parallelism], hypotheses: Sequence[Parallelism]
) -> dict[tuple[int, int], list[Overlap]]:
    """Return the branches that share tokens, by pair of parallelisms.

    Time and memory grow with the number of branches (times its logarithm) and of the pairs that share tokens.

    Examples
    --------
    >>> gold, predicted = Parallelism(((0, 3), (5, 7))), Parallelism(((2, 7), (8, 9)))
    >>> overlaps([gold], [predicted])
    {(0, 0): [Overlap(ours=0, theirs=0, tokens=1), Overlap(ours=1, theirs=0, tokens=2)]}
    """
    spans = sorted(
        (start, end, side, number, place)
        for side, parallelisms in enumerate((references, hypotheses))
        for number, one in enumerate(parallelisms)
        for place, (start, end) in enumerate(one.branches)
    )
    found: defaultdict[tuple[int, int], list[Overlap]] = defaultdict(list)
    opened: tuple[list[tuple[int, int, int]], ...] = ([], [])  # heaps of end, number and place of each side
    for start, end, side, number, place in spans:
        others = opened[1 - side]
        while others and others[0][0] <= start:
            heappop(others)
        for other_end, other, other_place in others:
            shared = (other_end if other_end < end else end) - start
            if side:
                found[other, number].append(Overlap(other_place, place, shared))
            else:
                found[number, other].append(Overlap(place, other_place, shared))
        heappush(opened[side], (end, number, place))
    return dict(found)


def pair_scores(
    reference: Sequence[Branch], hypothesis: Sequence[Branch], shared: Sequence[Overlap]
) -> tuple[int, int, int, int]:
    """Return the scores of one pair of parallelisms by EPM, MPBM, MBAWO and MWO.

    Examples
    --------
    >>> gold, predicted = ((0, 2), (2, 7)), ((0, 5), (6, 7))
    >>> pair_scores(gold, predicted, [Overlap(0, 0, 2), Overlap(1, 0, 3), Overlap(1, 1, 1)])
    (0, 0, 3, 6)
    """
    same = sum(reference[ours] == hypothesis[theirs] for ours, theirs, _ in shared)
    words = sum(tokens for _, _, tokens in shared)
    exact = int(same == len(reference) == len(hypothesis))
    matched = shared
    if len({one.ours for one in shared}) < len(shared) or len({one.theirs for one in shared}) < len(shared):
        matched = match_branches(shared)
    aware = sum(one.tokens for one in matched) if len(matched) > 1 else 0
    return exact, same if same > 1 else 0, aware, words


def match_parallelisms(
    references: Sequence[Parallelism], hypotheses: Sequence[Parallelism]
) -> dict[Metric, dict[int, tuple[int, int]]]:
    """Return a fixed maximum matching of the parallelisms of one document by each metric.

    Examples
    --------
    >>> gold, predicted = Parallelism(((0, 3), (5, 7))), Parallelism(((0, 3), (5, 6)))
    >>> match_parallelisms([gold], [predicted])
    {'EPM': {}, 'MPBM': {}, 'MBAWO': {0: (0, 4)}, 'MWO': {0: (0, 4)}}
    """
    edges: tuple[dict[tuple[int, int], int], ...] = ({}, {}, {}, {})
    for (row, column), shared in overlaps(references, hypotheses).items():
        scores = pair_scores(references[row].branches, hypotheses[column].branches, shared)
        for known, score in zip(edges, scores, strict=True):
            if score:
                known[row, column] = score
    matched = {}
    for metric, known in zip(METRICS, edges, strict=True):
        pairs = sorted(maximum_matching(known).items())
        matched[metric] = {row: (column, known[row, column]) for row, column in pairs}
    return matched


def sizes(parallelism: Parallelism) -> tuple[int, int, int, int]:
    """Return the size of a parallelism by EPM, MPBM, MBAWO and MWO: 1, its branches, its tokens, its tokens.

    Examples
    --------
    >>> sizes(Parallelism(((0, 3), (5, 7))))
    (1, 2, 5, 5)
    """
    words = sum(end - start for start, end in parallelism.branches)
    return 1, len(parallelism.branches), words, words


def match_branches(shared: Sequence[Overlap]) -> list[Overlap]:
    """Match branches one to one, with the most shared tokens and, among such matchings, the most pairs.

    Examples
    --------
    >>> match_branches([Overlap(0, 0, 3), Overlap(0, 1, 2), Overlap(1, 0, 1)])
    [Overlap(ours=0, theirs=1, tokens=2), Overlap(ours=1, theirs=0, tokens=1)]
    """
    most = 1 + len(shared)  # more than any number of pairs: tokens decide first
    edges = {(one.ours, one.theirs): one.tokens * most + 1 for one in shared}
    chosen = maximum_matching(edges)
    return [Overlap(ours, theirs, edges[ours, theirs] // most) for ours, theirs in sorted(chosen.items())]


def maximum_matching(edges: Mapping[tuple[int, int], int]) -> dict[int, int]:
    """Return one fixed matching of maximum total weight.

    Rows are gone through by number: each gets the largest weight that still leaves the total at its maximum and, of
    equal weights, the column of the smallest number. The result does not depend on the solver.

    Examples
    --------
    >>> maximum_matching({(0, 0): 7, (0, 1): 6, (1, 0): 6, (1, 1): 5})
    {0: 0, 1: 1}
    >>> maximum_matching({(0, 0): 3, (0, 1): 2, (1, 0): 2})
    {0: 1, 1: 0}
    """
    rows = Counter(row for row, _ in edges)
    columns = Counter(column for _, column in edges)
    if min(len(rows), len(columns)) == 1:  # as in most pairs of parallelisms: one edge is matched, without a solver
        row, column = min(edges, key=lambda edge: (-edges[edge], edge))
        return {row: column}
    matched = {row: column for row, column in edges if rows[row] == columns[column] == 1}
    for component in _components({edge: edges[edge] for edge in edges if edge[0] not in matched}):
        matched |= _match_component(component)
    return matched


class _Component(NamedTuple):
    """A connected part of the graph: numbers of its rows and columns, rising; places of these and weight by edge."""

    rows: Integers
    columns: Integers
    row: Integers
    column: Integers
    weight: Floats


def _components(edges: Mapping[tuple[int, int], int]) -> Iterator[_Component]:
    if not edges:
        return
    ends = np.array(sorted(edges))  # (E, 2)
    weights = np.array([edges[row, column] for row, column in ends.tolist()], dtype=np.float64)
    first = int(ends[:, 0].max()) + 1  # of the nodes that stand for columns
    size = first + int(ends[:, 1].max()) + 1
    graph = csr_array((weights, (ends[:, 0], first + ends[:, 1])), shape=(size, size))
    labels = connected_components(graph, directed=False)[1][ends[:, 0]]
    order = np.argsort(labels, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(labels[order])) + 1):
        rows, row = np.unique(ends[part, 0], return_inverse=True)
        columns, column = np.unique(ends[part, 1], return_inverse=True)
        yield _Component(rows, columns, row, column, weights[part])


def _match_component(component: _Component) -> dict[int, int]:
    """Return the matching that goes through the rows by number.

    Edges whose weight is less than the dual prices of their ends are in no maximum matching and are not tried.
    """
    row, column, weight = component.row, component.column, component.weight
    best = _solve(component, np.ones(len(weight), dtype=bool))
    mine, theirs = _prices(component, best)
    tight = np.flatnonzero(mine[row] + theirs[column] == weight)
    tight = tight[np.lexsort((column[tight], -weight[tight], row[tight]))]
    free = np.ones(len(component.columns), dtype=bool)
    for place, own in groupby(tight.tolist(), key=lambda edge: int(row[edge])):
        for edge in own:
            if best[place] == column[edge]:
                break
            if not free[column[edge]]:
                continue
            rest = (row > place) & free[column] & (column != column[edge])
            other = _solve(component, rest)
            other[place] = column[edge]
            if _total(component, other, place) == _total(component, best, place):
                best[place:] = other[place:]
                break
        if best[place] >= 0:
            free[best[place]] = False
    found = np.flatnonzero(best >= 0)
    return dict(zip(component.rows[found].tolist(), component.columns[best[found]].tolist(), strict=True))


def _total(component: _Component, columns: Integers, first: int) -> float:
    """Return the total weight of a matching from some row on."""
    used = (columns[component.row] == component.column) & (component.row >= first)
    return float(component.weight[used].sum())


def _prices(component: _Component, matching: Integers) -> tuple[Floats, Floats]:
    """Return the least dual prices of columns, and those of rows, that prove a matching to be a maximum.

    Prices of the ends of an edge add up to its weight or more, and to the weight where it is matched; what is not
    matched has price 0.
    """
    row, column, weight = component.row, component.column, component.weight
    matched = np.flatnonzero(matching[row] == column)
    theirs = np.zeros(len(component.columns))
    while True:
        mine = np.zeros(len(component.rows))
        mine[row[matched]] = weight[matched] - theirs[column[matched]]
        raised = theirs.copy()
        np.maximum.at(raised, column, weight - mine[row])
        if np.array_equal(raised, theirs):
            return mine, theirs
        theirs = raised


def _solve(component: _Component, kept: Booleans) -> Integers:
    """Return the column of each row, or -1, in some maximum matching that uses only some of the edges."""
    shape = len(component.rows), len(component.columns)
    row, column, weight = component.row[kept], component.column[kept], component.weight[kept]
    matching = np.full(shape[0], -1)
    if shape[0] * shape[1] <= DENSE:
        matrix = np.zeros(shape)
        matrix[row, column] = weight
        found = np.array(linear_sum_assignment(matrix, maximize=True))
        found = found[:, matrix[tuple(found)] > 0]
    else:  # each row has a column of its own, to stay unmatched with; costs must not be 0
        alone, top = np.arange(shape[0]), weight.max(initial=0.0) + 1
        places = (np.concatenate([row, alone]), np.concatenate([column, shape[1] + alone]))
        costs = np.concatenate([top - weight, np.full(shape[0], top)])
        graph = csr_array((costs, places), shape=(shape[0], sum(shape)))
        found = np.array(min_weight_full_bipartite_matching(graph))
        found = found[:, found[1] < shape[1]]
    matching[found[0]] = found[1]
    return matching
