from itertools import combinations, permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.parallelism import Parallelism, matching
from langdiff.parallelism.matching import METRICS, maximum_matching, overlaps, pair_scores
from tests.parallelism.strategies import document_pairs

weights = st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.integers(1, 4), max_size=16)


def all_matchings(edges):
    """Every matching, the empty one too."""
    rows = sorted({row for row, _ in edges})
    columns = sorted({column for _, column in edges})
    for size in range(min(len(rows), len(columns)) + 1):
        for some in combinations(rows, size):
            for others in permutations(columns, size):
                pairs = dict(zip(some, others, strict=True))
                if all(pair in edges for pair in pairs.items()):
                    yield pairs


def chosen_by_hand(edges):
    """Of all matchings of the largest total, that with the largest weights, then smallest columns, row by row."""
    rows = sorted({row for row, _ in edges})

    def key(pairs):
        credits = [(edges.get((row, pairs.get(row)), 0), -pairs.get(row, 0)) for row in rows]
        return (sum(edges[pair] for pair in pairs.items()), credits)

    return max(all_matchings(edges), key=key)


@pytest.mark.parametrize("dense", [matching.DENSE, 0])
@given(edges=weights)
def test_the_matching_is_the_fixed_one_of_all_matchings(dense, edges):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "DENSE", dense)
        assert maximum_matching(edges) == chosen_by_hand(edges)


@pytest.mark.parametrize("edges", [{(0, k): 2 + k % 3 for k in range(6)}, {(k, 0): 2 + k % 3 for k in range(6)}])
def test_one_node_with_many_needs_no_solver(edges, monkeypatch):
    monkeypatch.delattr(matching, "_solve")  # thousands of calls where one prediction spans a document
    assert maximum_matching(edges) == chosen_by_hand(edges)


def test_components_of_a_long_chain_are_matched():
    edges = {(k, k): 3 for k in range(500)} | {(k, k + 1): 3 for k in range(500)}
    assert maximum_matching(edges) == {k: k for k in range(500)}


def by_definition(reference, hypothesis):
    """Scores of one pair as they are defined, over all matchings of branches."""
    x, y = (set(range(*b)) for b in hypothesis), (set(range(*b)) for b in reference)
    x, y = list(x), list(y)
    words = len(set().union(*x) & set().union(*y))
    same = len(set(reference) & set(hypothesis))
    shared = {(i, j): len(b & c) for i, b in enumerate(y) for j, c in enumerate(x) if b & c}
    best = max((sum(shared[p] for p in pairs.items()), len(pairs)) for pairs in all_matchings(shared))
    exact = int(set(reference) == set(hypothesis))
    return exact, same if same > 1 else 0, best[0] if best[1] > 1 else 0, words


@given(pair=document_pairs())
def test_scores_of_pairs_follow_their_definition(pair):
    gold, predicted = (document.parallelisms for document in pair)
    found = overlaps(gold, predicted)
    for i, y in enumerate(gold):
        for j, x in enumerate(predicted):
            expected = by_definition(y.branches, x.branches)
            if expected[METRICS.index("MWO")]:
                assert pair_scores(y.branches, x.branches, found[i, j]) == expected
            else:
                assert (i, j) not in found


@pytest.mark.parametrize(
    ("one", "other", "score"),
    [(((0, 5), (6, 7)), ((0, 2), (2, 7)), 3), (((0, 1), (8, 12), (13, 16)), ((3, 6), (9, 10), (10, 14)), 2)],
)
def test_ties_are_broken_by_the_number_of_pairs(one, other, score):
    for gold, predicted in ((one, other), (other, one)):
        shared = overlaps([Parallelism(gold)], [Parallelism(predicted)])[0, 0]
        assert pair_scores(gold, predicted, shared)[METRICS.index("MBAWO")] == score
