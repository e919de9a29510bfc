"""Statistics of annotated documents, counted by hand, and tests of treatments, against scikit-posthocs."""

import re

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.datasets import bothwell2023
from langdiff.errors import DataError
from langdiff.parallelism import Parallelism, Section, compare_treatments, make_document, parallelism_statistics
from tests.helpers import refused

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
    refused(DataError, "there are no documents", parallelism_statistics, {})
    empty = parallelism_statistics({"1": make_document("1", ["a"], [])})
    assert empty.to_frame().set_index("statistic").loc["branch size"].isna().all()
    assert empty.histogram.tolist() == [0] * 10


ASP = {
    "BIOMJ-TD": 3.33, "BIOMJ-BD": 4.33, "BIOME-BD": 4.67, "BIOMJE-TD": 5.50, "BIOM-BD": 6.50, "BIOM-TD": 6.83,
    "BIOMJE-BD": 6.83, "BIO-TD": 9.17, "BIOME-TD": 9.17, "BIOE-TD": 9.83, "BIO-BD": 9.92, "BIOJE-TD": 11.00,
    "BIOJ-BD": 11.08, "BIOJ-TD": 11.83, "BIOE-BD": 12.75, "BIOJE-BD": 13.25,
}  # fmt: skip


@pytest.fixture(scope="module", params=["ASP", "PSE-I", "ties"])
def table(request):
    if request.param != "ties":
        return bothwell2023().table(request.param)
    return pd.DataFrame(np.random.default_rng(0).integers(0, 4, (5, 6))).rename(columns="t{}".format)


def test_against_the_oracle(table):
    found = compare_treatments(table)
    oracle = scikit_posthocs.posthoc_nemenyi_friedman(table)
    ours = [oracle.loc[row.treatment, row.other] for row in found.pairs.itertuples()]
    assert_allclose(found.pairs["p_value"], ours, atol=1e-6)
    assert_allclose(found.ranks.reindex(table.columns), table.rank(axis=1, ascending=False).mean())


def test_published_schemes():
    found = compare_treatments(bothwell2023().table("ASP"))
    assert_allclose(found.ranks[list(ASP)], list(ASP.values()), atol=0.0051)
    assert found.ranks.index[0] == "BIOMJ-TD"
    assert (round(found.statistic, 2), round(found.p_value, 5)) == (38.91, 0.00066)
    assert found.critical_difference == pytest.approx(9.417, abs=5e-4)
    [apart] = found.pairs[found.pairs["p_value"] < 0.05].itertuples()
    assert (apart.treatment, apart.other, round(apart.p_value, 4)) == ("BIOMJ-TD", "BIOJE-BD", 0.0274)
    assert [(group[0], group[-1]) for group in found.groups()] == [("BIOMJ-TD", "BIOE-BD"), ("BIOMJ-BD", "BIOJE-BD")]
    other = compare_treatments(bothwell2023().table("PSE-I"))
    assert (round(other.statistic, 2), round(other.p_value, 4)) == (32.13, 0.0062)


def test_bad_tables():
    good = pd.DataFrame({"a": [1.0, 2], "b": [2.0, 3], "c": [3.0, 1]}, index=["x", "y"])
    with pytest.raises(DataError, match=r"1 cell\(s\) are missing or not finite, among them 'b' of 'y'"):
        compare_treatments(good.assign(b=[1, np.nan]))
    for small in (good.iloc[:1], good[["a", "b"]]):
        refused(DataError, "two or more blocks and three or more treatments", compare_treatments, small)
    refused(DataError, "all values of every block are equal", compare_treatments, good * 0)
    refused(DataError, "block 'x' is there twice", compare_treatments, good.set_axis(["x", "x"]))
