"""Standard errors: three ways to the same number, and contrasts from the joint covariance."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError

AGREEMENT = 0.10  # of a standard error; 500 samples leave 3 % of each, and their mean over editions less


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize(("model", "restricted"), [("1", False), ("2", False), ("2", True)])
def test_bootstrap_and_information_agree(model, restricted, missing):
    _, surprisals = ld.simulate(600, 8, model=model, missing=missing, seed=2)
    information = ld.fit(surprisals, model=model, restricted=restricted)
    bootstrap = ld.fit(surprisals, model=model, restricted=restricted, bootstrap=500, seed=1)
    ratio = bootstrap.std_error / information.std_error
    assert abs(ratio.mean() - 1) < AGREEMENT
    assert_allclose(bootstrap.difficulty, information.difficulty, atol=1e-12)
    assert bootstrap.bootstrap == 500
    assert "bootstrap-500" in bootstrap.signature
    assert "500 samples of intents" in bootstrap.summary()


def test_bootstrap_sees_what_the_model_does_not():
    """Normal residuals under 2L: the information takes them for Laplace, and is far too sure."""
    _, surprisals = ld.simulate(800, 8, seed=3)
    sure = ld.fit(surprisals, model="2L").std_error.mean()
    honest = ld.fit(surprisals, model="2L", bootstrap=100, seed=1).std_error.mean()
    assert honest > 1.3 * sure


def test_bootstrap_of_groups_and_robust_models_is_repeated_by_its_seed():
    _, surprisals = ld.simulate(100, 4, missing=0.1, seed=4)
    groups = {"e1": "a", "e2": "a", "e3": "b", "e4": "b"}
    one = ld.fit(surprisals, groups=groups, bootstrap=20, seed=7)
    same = ld.fit(surprisals, groups=groups, bootstrap=20, seed=np.random.default_rng(7))
    other = ld.fit(surprisals, groups=groups, bootstrap=20, seed=8)
    assert_allclose(one.covariance, same.covariance)
    assert not np.allclose(one.covariance, other.covariance, rtol=1e-3)
    robust = ld.fit(surprisals, model="2C", bootstrap=10, seed=1)
    assert (robust.std_error > 0).all()


def test_a_table_too_sparse_for_a_bootstrap():
    _, surprisals = ld.simulate(30, 3, seed=1)
    bits = surprisals.bits.copy()
    bits.iloc[1:, 2] = np.nan
    ld.fit(bits)
    with pytest.raises(DataError, match="samples of intents some editions had no intent in common"):
        ld.fit(bits, bootstrap=50, seed=1)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"bootstrap": -1, "seed": 1}, "must be 0 or at least 2 samples, got -1"),
        ({"bootstrap": 1, "seed": 1}, "got 1"),
        ({"bootstrap": 10}, "needs a seed"),
    ],
)
def test_bad_bootstraps(setting, message):
    _, surprisals = ld.simulate(30, 3, seed=1)
    with pytest.raises(ConfigError, match=message):
        ld.fit(surprisals, **setting)


@pytest.fixture(scope="module")
def fit():
    return ld.fit(ld.simulate(200, 5, missing=0.2, seed=5)[1])


def test_contrast_is_that_of_draws_from_the_joint_distribution(fit):
    draws = pd.DataFrame(
        np.random.default_rng(0).multivariate_normal(fit.difficulty, fit.covariance, size=200_000),
        columns=fit.difficulty.index,
    )
    pair, sets = fit.contrast("e1", "e2"), fit.contrast(["e1", "e3"], ["e2", "e4", "e5"])
    assert pair.estimate == pytest.approx(fit.difficulty["e1"] - fit.difficulty["e2"])
    assert pair.std_error == pytest.approx((draws["e1"] - draws["e2"]).std(), rel=0.01)
    means = draws[["e1", "e3"]].mean(axis=1) - draws[["e2", "e4", "e5"]].mean(axis=1)
    assert sets.std_error == pytest.approx(means.std(), rel=0.01)
    assert sets.high - sets.low == pytest.approx(2 * 1.959964 * sets.std_error)
    assert pair.percent == pytest.approx(100 * (np.exp(pair.estimate) - 1))
    p = 2 * min((draws["e1"] - draws["e2"] < 0).mean(), (draws["e1"] - draws["e2"] > 0).mean())
    assert pair.p_value == pytest.approx(p, abs=0.01)
    assert str(sets).startswith("mean(e1, e3) - mean(e2, e4, e5): ")


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("e1", "e9"), "not in this fit: 'e9'; it has 'e1'"),
        (("e1", ["e2", "e1"]), "on both sides of the contrast: 'e1'"),
        (([], "e1"), "needs a name on both sides"),
    ],
)
def test_contrasts_that_cannot_be(fit, sides, message):
    with pytest.raises(ConfigError, match=message):
        fit.contrast(*sides)
