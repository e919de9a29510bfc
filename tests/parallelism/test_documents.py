"""Strata and categories agree with their definitions, looked at pair by pair."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import DataError
from langdiff.parallelism import Parallelism, make_document, nesting, strata
from tests.helpers import refused

LENGTH = 14


@st.composite
def parallelism_sets(draw):
    found = []
    for _ in range(draw(st.integers(0, 4))):
        cuts = sorted(draw(st.sets(st.integers(0, LENGTH), min_size=4, max_size=4)))
        found.append(Parallelism(((cuts[0], cuts[1]), (cuts[2], cuts[3]))))
    return found


def share(one, other):
    return one[0] < other[1] and other[0] < one[1]


def inside(one, other):
    return other[0] <= one[0] and one[1] <= other[1]


@given(sets=parallelism_sets())
def test_category_pair_by_pair(sets):
    spans = [span for one in sets for span in one.branches]
    pairs = [(a, b) for i, a in enumerate(spans) for b in spans[:i] if share(a, b)]
    wanted = "flat" if not pairs else "nested"
    if any(not inside(a, b) and not inside(b, a) for a, b in pairs):
        wanted = "overlapping"
    assert nesting(sets) == wanted


@given(sets=parallelism_sets())
def test_strata_branch_by_branch(sets):
    document = make_document("1", "abcdefghijklmn", sets)
    spans = [(span, number) for number, one in enumerate(document.parallelisms) for span in one.branches]
    size = [sum(end - start for start, end in one.branches) for one in document.parallelisms]

    def encloses(outer, inner):
        (a, i), (b, j) = outer, inner
        return i != j and inside(b, a) and (a != b or (-size[i], i) < (-size[j], j))

    depth = [
        max(sum(encloses(other, (span, number)) for other in spans) for span, own in spans if own == number)
        for number in range(len(document.parallelisms))
    ]
    clash = any(share(a, b) and depth[i] == depth[j] for a, i in spans for b, j in spans if i != j)
    if clash:
        refused(DataError, r"branch \(.* of parallelism . and branch \(.* share tokens in stratum", strata, document)
    else:
        assert strata(document) == tuple(depth)


def test_branches_end_with_the_document():
    with pytest.raises(DataError, match=r"branch \(3, 5\) is empty or outside the 4 tokens"):
        make_document("1", list("abcd"), [Parallelism(((0, 1), (3, 5)))])


def test_equal_branches_and_the_message():
    outer, inner = Parallelism(((0, 3), (4, 6))), Parallelism(((0, 3), (4, 5)))
    document = make_document("1", list("abcdef"), [inner, outer])
    assert dict(zip(document.parallelisms, strata(document), strict=True)) == {outer: 0, inner: 1}
    crossing = make_document("7", list("abcdef"), [Parallelism(((0, 2), (3, 4))), Parallelism(((1, 3), (5, 6)))])
    with pytest.raises(DataError) as caught:
        strata(crossing)
    assert str(caught.value) == (
        "Document 7: branch (0, 2) 'a b' of parallelism 1 and branch (1, 3) 'b c' of parallelism 2 share tokens in "
        "stratum 0. Branches of one stratum may not; correct one of the two."
    )
