"""Premiums against the mean, beside the Poisson regression of statsmodels and beside refitted samples."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.parity.counting import against_mean
from langdiff.regression.kernel.two_way import two_way_premiums
from langdiff.tables.influences import Units

pytestmark = pytest.mark.filterwarnings("ignore:Few units")


def counts(rng, shape=(40, 4), missing=0.25):
    table = rng.poisson(np.exp(rng.normal(4, 0.6, (shape[0], 1)) + np.linspace(-0.3, 0.4, shape[1]))).astype(float) + 1
    table[rng.random(shape) < missing] = np.nan
    table[0] = 50.0  # one intent that all have
    return table


def test_the_worked_totals_of_a_complete_table():
    found = two_way_premiums(np.array([[10.0, 16.0, 12.0], [20.0, 20.0, 18.0]]), np.ones((2, 3)))
    assert np.exp(found.logarithms) == pytest.approx([0.9410360, 1.1292432, 0.9410360], abs=1e-7)  # totals 30, 36, 30


def test_incomplete_tables_are_fitted_as_by_poisson_regression():
    table = counts(np.random.default_rng(1))
    rows, columns = np.nonzero(~np.isnan(table))
    dummies = np.column_stack([np.eye(table.shape[0])[rows], np.eye(table.shape[1])[columns][:, 1:]])
    fitted = sm.GLM(table[rows, columns], dummies, family=sm.families.Poisson()).fit(tol=1e-13)
    b = np.append(0.0, fitted.params[table.shape[0] :])
    found = against_mean(table).estimate()
    assert np.log(found) == pytest.approx(b - b.mean(), abs=1e-9)


@pytest.mark.parametrize("missing", [0.0, 0.25])
def test_influences_are_derivatives_by_the_weights_of_intents(missing):
    table = counts(np.random.default_rng(3), (12, 3), missing)
    units, code = Units.of("intent", [str(row) for row in range(12)])
    effects = against_mean(table).effects("x", pd.Index(list("abc")), units, code)
    step, known = 1e-6, ~np.isnan(table)
    for row in range(12):
        ends = []
        for sign in (1, -1):
            weight = np.ones((12, 1))
            weight[row] += sign * step
            ends.append(two_way_premiums(np.where(known, table * weight, 0.0), known.astype(float)).logarithms)
        assert effects.influence.values[row] == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-8)
    assert effects.influence.share.sum() == pytest.approx(1)


def test_the_mean_is_the_default_and_needs_no_edition_that_has_all():
    texts = pd.DataFrame(
        {"eng": ["Good day", "Thanks", None], "ell": ["Καλημέρα", None, "Ναι"], "fin": [None, "Kiitos", "Kyllä"]}
    )
    parity = ld.measure_parity(ld.read_frame(texts))
    assert parity.reference == "mean"
    assert np.log(parity.estimates["byte_premium"]).sum() == pytest.approx(0, abs=1e-12)
    assert repr(parity).startswith("Parity of 3 editions with their mean; byte premium from")
    three = parity.estimates
    product = three["bytes_per_character"] * three["character_premium"] / three["reference_bytes_per_character"]
    assert product.to_numpy() == pytest.approx(three["byte_premium"].to_numpy())
    assert parity.plot().get_xlabel().endswith("(mean = 1)")


def test_information_parity_against_the_mean():
    table = ld.simulate(100, 4, seed=1).surprisals
    parity = ld.measure_parity(table)
    fit = ld.fit(table)
    assert parity.estimates["information_parity"].isna().all()  # the published form is of a named reference
    assert parity.estimates["information_parity_model"].to_numpy() == pytest.approx(np.exp(-fit.difficulty.to_numpy()))
    assert (parity.low["information_parity_model"] < parity.estimates["information_parity_model"]).all()
    totals = table.bits.sum()
    expected = np.exp(np.log(totals).mean()) / totals
    assert parity.estimates["information_parity_totals"].to_numpy() == pytest.approx(expected.to_numpy())
    named = ld.measure_parity(table, reference="e1").estimates["information_parity_totals"]
    assert (named / named["e2"]).to_numpy() == pytest.approx((expected / expected["e2"]).to_numpy())


def test_what_has_no_mean_is_refused():
    apart = np.array([[1.0, 2.0, np.nan, np.nan], [np.nan, np.nan, 3.0, 4.0]])
    with pytest.raises(DataError, match="in 2 groups that share no rows"):
        against_mean(apart).estimate()
    texts = ld.read_frame(pd.DataFrame({"eng": ["Good day"], "deu": ["Guten Tag"]}))
    with pytest.raises(ConfigError, match=r"no such edition; .* 'mean' stands for the mean of all"):
        ld.measure_parity(texts, reference="average")
