"""XMI against SciPy's paired test, and with clusters against sums of clusters."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import langdiff as ld
from langdiff.errors import DataError
from tests.helpers import refused


def tables():
    rng = np.random.default_rng(2)
    alone = pd.DataFrame(rng.uniform(100, 200, (40, 2)), columns=["deu", "fin"])
    given = alone * rng.uniform(0.3, 0.5, alone.shape)
    given.iloc[3, 1] = np.nan
    return ld.Surprisals(bits=alone), ld.Surprisals(bits=given)


def test_errors_are_paired():
    alone, given = tables()
    found = ld.xmi(alone, given).to_frame()
    for edition in ("deu", "fin"):
        rows = given.bits[edition].notna()
        a, b = alone.bits.loc[rows, edition], given.bits.loc[rows, edition]
        test = stats.ttest_rel(a, b)
        low, high = test.confidence_interval()
        row = found.loc[edition]
        assert row["xmi"] == pytest.approx(a.mean() - b.mean())
        assert row["xmi"] / row["std_error"] == pytest.approx(test.statistic)
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))
        assert row["bits"] - row["conditional_bits"] == pytest.approx(row["xmi"])


def test_equal_clusters_are_like_their_means():
    alone, given = tables()
    clusters = pd.Series(np.arange(40) // 4, alone.intents)
    row = ld.xmi(alone, given, clusters=clusters).to_frame().loc["deu"]
    means = (alone.bits - given.bits)["deu"].groupby(clusters).mean()
    assert row["std_error"] == pytest.approx(stats.sem(means))


def test_refusals():
    alone, given = tables()
    other = ld.Surprisals(bits=given.bits.rename(columns={"deu": "x", "fin": "y"}))
    refused(DataError, "share 0 editions", ld.xmi, alone, other)
    refused(DataError, r"'deu' has 1 intent", ld.xmi, alone.sel(intents=[5]), given)
    assert "XMI of 2 editions" in ld.xmi(alone, given).summary()
