"""Costs of changes, against fits of all editions, statsmodels and a loop."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import langdiff as ld
from langdiff.errors import DataError

SAME = 1e-9  # the same algebra in another order


@pytest.fixture
def surprisals():
    """Return a table of two editions and their changes, in twelve documents."""
    rng = np.random.default_rng(0)
    size = np.exp(rng.normal(5, 0.5, 60))
    factors = {"eng": 1.0, "eng|reverse": 1.0, "eng|shuffle": 1.2, "a|b": 1.1, "a|b|shuffle": 1.4}
    names = [str(k) for k in range(60)]
    bits = pd.DataFrame({name: size * f * np.exp(rng.normal(0, 0.1, 60)) for name, f in factors.items()}, index=names)
    info = pd.DataFrame({"document": np.repeat([f"d{k}" for k in range(12)], 5), "added_bits|eng": 60.0}, index=names)
    return ld.Surprisals(bits=bits, intent_info=info, lm="drawn")


def test_contrasts_are_those_of_model_1(surprisals):
    table = ld.experiments.perturbation_contrasts(surprisals).to_frame()
    assert table[["edition", "kind"]].to_numpy().tolist() == [
        ["eng", "reverse"], ["eng", "shuffle"], ["a|b", "shuffle"],
    ]  # fmt: skip
    fit = ld.fit(surprisals, model="1", clusters="document", errors=ld.Sandwich("CR1"))
    for row in table.itertuples():
        contrast = fit.contrast(f"{row.edition}|{row.kind}", row.edition)
        assert row.difference == pytest.approx(contrast.estimate, abs=SAME)


def test_errors_are_those_of_statsmodels(surprisals):
    ratios = np.log(surprisals.bits["eng|shuffle"] / surprisals.bits["eng"]).to_numpy()
    groups = pd.factorize(surprisals.intent_info["document"])[0]
    # without the correction (n - 1) / (n - p), which is 1 for a mean
    reference = sm.OLS(ratios, np.ones(60)).fit(cov_type="cluster", cov_kwds={"groups": groups})
    row = ld.experiments.perturbation_contrasts(surprisals, clusters="document").to_frame().iloc[1]
    assert row["std_error"] == pytest.approx(reference.bse[0], rel=SAME)
    alone = ld.experiments.perturbation_contrasts(surprisals, clusters=None).to_frame().iloc[1]
    assert alone["std_error"] == pytest.approx(ratios.std(ddof=1) / np.sqrt(60), rel=SAME)
    assert alone["low"] < alone["percent"] < alone["high"]


def test_share_of_order_that_was_learnt(surprisals):
    table = ld.experiments.perturbation_contrasts(surprisals, clusters=None).to_frame()
    more = surprisals.bits["eng|shuffle"] - surprisals.bits["eng"]
    assert table["learnt"].iloc[1] == pytest.approx(more.sum() / 3600)
    assert table["learnt_std_error"].iloc[1] == pytest.approx(more.std(ddof=1) * np.sqrt(60) / 3600)
    assert table["learnt"].isna().tolist() == [True, False, True]


def test_missing_cells_are_left_out_in_pairs(surprisals):
    bits = surprisals.bits.copy()
    bits.iloc[:7, 0] = bits.iloc[5:9, 2] = np.nan
    table = ld.experiments.perturbation_contrasts(ld.Surprisals(bits=bits)).to_frame()
    assert table["intents"].tolist() == [53, 51, 60]
    assert table["difference"].iloc[1] == pytest.approx(np.log(bits["eng|shuffle"] / bits["eng"]).mean())


def test_nothing_to_compare(surprisals):
    with pytest.raises(DataError, match="stands beside its edition"):
        ld.experiments.perturbation_contrasts(surprisals.sel(editions=["eng", "a|b|shuffle"]))
