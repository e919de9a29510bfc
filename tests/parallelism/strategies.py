"""Random documents: nested, overlapping, with any number of branches."""

from itertools import pairwise

from hypothesis import strategies as st

from langdiff.parallelism import Parallelism, make_document


@st.composite
def branch_sets(draw, length=24, most=4):
    """Draw one parallelism as sorted, disjoint spans."""
    count = draw(st.integers(1, most))
    cuts = sorted(draw(st.lists(st.integers(0, length), min_size=2 * count, max_size=2 * count, unique=True)))
    return tuple(zip(cuts[::2], cuts[1::2], strict=True))


@st.composite
def document_pairs(draw, length=24, most=5):
    """Draw two documents of the same tokens, whose parallelisms may overlap in any way and share branches."""
    pool = draw(st.lists(branch_sets(length), min_size=1, max_size=most))
    some = st.lists(st.one_of(st.sampled_from(pool), branch_sets(length)), max_size=most, unique=True)
    return tuple(_document(draw(some), length) for _ in range(2))


@st.composite
def flat_documents(draw, length=40):
    """Draw a document of up to 5 parallelisms whose branches share no tokens but may interlock."""
    cuts = draw(st.lists(st.integers(0, length), min_size=4, max_size=16, unique=True).map(sorted))
    spans = list(pairwise(cuts))
    owners = draw(st.lists(st.integers(0, 5), min_size=len(spans), max_size=len(spans)))  # 5: none
    sets = [tuple(span for span, own in zip(spans, owners, strict=True) if own == owner) for owner in range(5)]
    return _document([branches for branches in sets if branches], length)


@st.composite
def nested_documents(draw):
    """Draw a document in two strata: within branches of a flat one there are parallelisms of their own."""
    outer = draw(flat_documents())
    inner = []
    for one in outer.parallelisms:
        start, end = max(one.branches, key=lambda branch: branch[1] - branch[0])
        if end - start >= 3 and draw(st.booleans()):
            middle = draw(st.integers(start + 1, end - 2))
            inner.append(((start, middle), (middle + 1, end)))
    return _document([one.branches for one in outer.parallelisms] + inner, len(outer.tokens))


def _document(sets, length):
    return make_document("d", ["w"] * length, [Parallelism(branches) for branches in sets])
