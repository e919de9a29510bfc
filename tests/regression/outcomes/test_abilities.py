"""What attributes of systems say of abilities: a mixed regression on as many observations as there are systems."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError


def fitted(n_systems, size, seed=1, n_items=400, abilities=None):
    outcomes = ld.simulate_outcomes(n_items, n_systems, abilities=abilities, seed=seed).outcomes
    frame = pd.DataFrame({"size": size}, index=outcomes.systems.index)
    return ld.fit_outcomes(outcomes.with_systems(frame))


def test_without_sampling_error_it_is_least_squares():
    size = np.array([1.0, 2, 3, 5, 8, 13])
    rng = np.random.default_rng(0)
    fit = fitted(6, size, n_items=10_000, abilities=0.1 * size + rng.normal(size=6))
    found = ld.explain_abilities(fit, "size")
    ols = sm.OLS(fit.abilities.estimate.to_numpy(), sm.add_constant(size)).fit()
    row = found.terms.loc["size"]
    assert_allclose(row[["estimate", "std_error"]].astype(float), [ols.params[1], ols.bse[1]], rtol=0.01)
    assert row["p_value"] == pytest.approx(ols.pvalues[1], rel=0.05)
    assert found.degrees_of_freedom == 4
    assert found.tau == pytest.approx(np.sqrt(ols.scale), rel=0.01)


@pytest.mark.slow
def test_intervals_hold_what_is_true_and_tests_reject_what_is_not():
    """Size says nothing; nine systems differ by .5: of 30 tests at 5 % no more than five reject (p < .01)."""
    rng = np.random.default_rng(3)
    rejected = 0
    for seed in range(30):
        fit = fitted(9, rng.normal(size=9), seed, n_items=100, abilities=0.5 * rng.normal(size=9))
        rejected += ld.explain_abilities(fit, "size").terms.loc["size", "p_value"] < 0.05
    assert rejected <= 5


def test_no_variation_between_systems_is_zero():
    fit = fitted(6, np.arange(6.0), abilities=0.2 * np.arange(6), n_items=200)
    found = ld.explain_abilities(fit, "size")
    assert found.scale >= 1
    assert 0 <= found.tau < 0.3
    assert "degrees of freedom" in found.summary()
    assert found.to_frame() is found.terms


def test_what_cannot_be_explained():
    fit = fitted(3, [1.0, 2, 3])
    with pytest.raises(DataError, match="3 systems are too few for 2 term"):
        ld.explain_abilities(fit, "size + I(size**2)")
    with pytest.raises(ConfigError, match="'tokens' is not a column; there are 'size'"):
        ld.explain_abilities(fit, "tokens")
    with pytest.raises(ConfigError, match="must be an OutcomeFit, not int"):
        ld.explain_abilities(3, "size")
