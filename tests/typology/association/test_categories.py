"""Mood's and Kruskal and Wallis's tests, and means of categories, against hand-made contingency tables."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from langdiff.errors import DataError
from langdiff.typology import correlate
from langdiff.typology.association.correlation import category_means, compare_categories


def sample(seed=0, n=24):
    rng = np.random.default_rng(seed)
    categories = pd.Series(rng.choice(["SOV", "SVO", "VSO"], n))
    return pd.Series(rng.normal(size=n) + (categories == "SOV")), categories


def test_mood_is_chi_squared_of_the_hand_made_table():
    values, categories = sample()
    median = np.median(values)
    table = np.array(
        [
            [np.sum(values[categories == c] > median), np.sum(values[categories == c] <= median)]
            for c in ("SOV", "SVO", "VSO")
        ]
    )
    totals = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    chi2 = ((table - totals) ** 2 / totals).sum()
    found = compare_categories(values, categories, "mood")
    assert_allclose([found.estimate, found.p], [chi2, stats.chi2.sf(chi2, 2)], rtol=1e-9)


def test_mood_worked_by_hand():
    # medians: 4 of A above, 1 of B, 1 of C; expected 2 in every cell of 4: chi2 = 2*(4/2) + 4*(1/2) = 6
    values = pd.Series([7.0, 8, 9, 10, 1, 2, 3, 11, 4, 5, 6, 12])
    found = compare_categories(values, pd.Series(list("AAAABBBBCCCC")), "mood")
    assert_allclose([found.estimate, found.p], [6.0, np.exp(-3.0)], rtol=1e-12)  # chi2 of 2 degrees


def test_kruskal_is_h_of_the_ranks():
    values, categories = sample(1)
    ranks, n = values.rank(), len(values)
    sums = ranks.groupby(categories).agg(["sum", "size"])
    h = 12 / (n * (n + 1)) * (sums["sum"] ** 2 / sums["size"]).sum() - 3 * (n + 1)
    found = compare_categories(values, categories, "kruskal")
    assert_allclose([found.estimate, found.p], [h, stats.chi2.sf(h, 2)], rtol=1e-9)


def test_small_categories_are_named_and_one_category_is_no_test():
    values, categories = sample()
    categories.iloc[0] = "OSV"
    assert compare_categories(values, categories, "mood").reason == "categories with one language: 'OSV'"
    one = compare_categories(values, pd.Series(["SVO"] * len(values)), "kruskal")
    assert np.isnan(one.p)
    assert one.reason == "one category only: 'SVO'"


@pytest.mark.parametrize("test", ["mood", "kruskal"])
def test_numbers_read_as_text_are_no_categories(test):
    """χ² of n categories of one language is n or n − 1 whatever the difficulties are."""
    found = compare_categories(pd.Series([1.0, 2, 3, 4]), pd.Series(["0.1", "0.2", "0.3", "0.4"]), test)
    assert np.isnan(found.p)
    assert found.reason == "every category has one language; of numbers, make a column of numbers"


def test_mood_of_values_at_their_median_is_no_test():
    found = compare_categories(pd.Series([1.0, 2, 2, 2, 2]), pd.Series(list("aabbb")), "mood")
    assert np.isnan(found.p)
    assert "above the median" in found.reason


def test_means_are_those_of_numpy_and_unused_categories_are_left_out():
    values, categories = sample()
    kind = pd.CategoricalDtype(["VSO", "SVO", "SOV", "OSV"], ordered=True)
    table = category_means(values, categories.astype(kind))
    assert table.index.tolist() == ["VSO", "SVO", "SOV"]  # in the order given
    for name, row in table.iterrows():
        members = values[categories == name]
        assert_allclose(row, [len(members), np.mean(members), np.std(members, ddof=1)])


def test_words_are_categories_and_missing_ones_left_out():
    names = [f"l{i}" for i in range(10)]
    d = pd.Series(np.arange(10.0), index=names)
    order = pd.Series(["SOV", "SVO"] * 4 + [None, np.nan], index=names, name="81A")
    result = correlate(d, order, tests=["mood", "kruskal"])
    assert result.tests[["n", "missing", "statistic"]].to_numpy().tolist() == [[8, 2, "chi2"], [8, 2, "H"]]
    assert result.categories()[["category", "n", "mean"]].to_numpy().tolist() == [["SOV", 4, 3.0], ["SVO", 4, 4.0]]
    truth = pd.Series([True, False] * 5, index=names, name="tone")
    assert set(correlate(d, truth, tests=["mood"]).categories()["category"]) == {"True", "False"}


def test_editions_in_different_categories_are_an_error():
    names = list("abcdef")
    info = pd.DataFrame({"language": list("vvwxyz")}, index=names)
    order = pd.Series(["SOV", "SVO", "SOV", "SOV", "SVO", "SVO"], index=names, name="81A")
    with pytest.raises(DataError, match=r"'81A': 1 language.*different categories: 'v'"):
        correlate(pd.Series(np.arange(6.0), index=names), order, edition_info=info)


def test_categories_are_taken_in_order_whatever_their_index():
    values, categories = sample()
    named = categories.set_axis([f"l{i}" for i in range(len(categories))])
    for test in ("mood", "kruskal"):
        assert compare_categories(values, named, test) == compare_categories(values, categories, test)
    pd.testing.assert_frame_equal(category_means(values, named), category_means(values, categories))
