"""Ranks and tests agree with scikit-posthocs and with the published figures."""

import numpy as np
import pandas as pd
import pytest
import scikit_posthocs
from numpy.testing import assert_allclose

from langdiff.datasets import bothwell2023
from langdiff.errors import DataError
from langdiff.parallelism import compare_treatments

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
    with pytest.raises(DataError, match=r"1 cell\(s\) are missing, among them 'b' of 'y'"):
        compare_treatments(good.assign(b=[1, np.nan]))
    for small in (good.iloc[:1], good[["a", "b"]]):
        with pytest.raises(DataError, match="two or more blocks and three or more treatments"):
            compare_treatments(small)
    with pytest.raises(DataError, match="all values of every block are equal"):
        compare_treatments(good * 0)
