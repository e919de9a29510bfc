"""Statistics of a made-up document, counted by hand, and properties of the overlap."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import DataError
from langdiff.parallelism import Parallelism, Section, make_document, parallelism_statistics

TOKENS = ["a", "b", "c", "d", ",", "a", "b", "x", ",", "e", "f", "g", "h", "i", "a", "a", "b"]
DOCUMENT = make_document(
    "1",
    TOKENS,
    [Parallelism(((0, 4), (5, 8))), Parallelism(((0, 1), (2, 3))), Parallelism(((9, 10), (11, 13), (14, 17)))],
    [Section("1", 0, 9), Section("2", 9, 12), Section("3", 12, 17)],
)


def test_counted_by_hand():
    found = parallelism_statistics({"1": DOCUMENT, "2": make_document("2", ["z"], [])})
    table = found.to_frame().set_index("statistic")
    counts = {
        "documents": 2,
        "sections": 4,
        "tokens": 18,
        "branched tokens": 4 + 3 + 1 + 1 + 1 + 2 + 3,
        "branches": 7,
        "nested branches": 2,
        "parallelisms": 3,
        "nested parallelisms": 1,
        "related pairs": 1 + 1 + 3,
    }
    assert table.loc[list(counts), "value"].to_dict() == counts
    assert table.loc[list(counts), "std"].isna().all()
    per_section, distances = [2, 1, 0, 0], [5 - 3, 2 - 0, 11 - 9, 14 - 12]
    for name, values in (("parallelisms per section", per_section), ("branch distance", distances)):
        assert table.loc[name].tolist() == pytest.approx([np.mean(values), np.std(values, ddof=1)])
    overlaps = [0, 2 / 5, 0, 0, 0]  # {a} {c}; {a b c d} {a b x}; …
    assert sorted(found.pairs["overlap"]) == pytest.approx(sorted(overlaps))
    assert found.histogram.tolist() == [4, 0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert table.at["% pairs without overlap", "value"] == 80
    assert re.search("branch distance +2.00 ± 0.00\n", found.summary())


LETTERS = st.lists(st.sampled_from("abc"), min_size=1, max_size=8)


@given(LETTERS, LETTERS)
def test_overlap_of_multisets(one, other):
    document = make_document("1", [*one, *other], [Parallelism(((0, len(one)), (len(one), len(one) + len(other))))])
    [pair] = parallelism_statistics({"1": document}).pairs.itertuples()
    shared = sum(min(one.count(token), other.count(token)) for token in "abc")
    joint = sum(max(one.count(token), other.count(token)) for token in "abc")
    assert (pair.shared, pair.joint, pair.overlap) == (shared, joint, shared / joint)
    assert (pair.overlap == 1) == (sorted(one) == sorted(other))


def test_three_tenths_are_in_their_bin():
    tokens = [*"abcdefg", *"abcxyz"]  # 3 shared of 10: as a floating-point product it may fall below 3
    document = make_document("1", tokens, [Parallelism(((0, 7), (7, 13)))])
    assert parallelism_statistics({"1": document}).histogram.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]


def test_nothing_to_count():
    with pytest.raises(DataError, match="there are no documents"):
        parallelism_statistics({})
    empty = parallelism_statistics({"1": make_document("1", ["a"], [])})
    assert empty.to_frame().set_index("statistic").loc["branch size"].isna().all()
    assert empty.histogram.tolist() == [0] * 10
