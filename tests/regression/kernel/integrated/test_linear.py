"""Model 1 with random intents against statsmodels' mixed models and against fixed intents."""

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from statsmodels.tools.sm_exceptions import ConvergenceWarning

from langdiff.regression.kernel.integrated.linear import LinearRows, LinearSearch, restricted_information
from langdiff.regression.kernel.integrated.marginal import IntentTable, sum_of_rows
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants.normal import LogNormal

MIXED_MODEL = 1e-5  # statsmodels stops at a gradient, ours at a root
ROUNDING = 1e-9
STEP, DIFFERENCES = 1e-5, 1e-6  # of central differences, and what they err by relative to the largest


def draw(intents, editions, missing, *, seed=0, sigma=0.2, tau=0.5, slope=0.0):
    """Return log surprisals with rows of any number of cells, and a covariate."""
    rng = np.random.default_rng(seed)
    covariate = rng.normal(size=intents)
    sizes = 4 + slope * covariate + rng.normal(0, tau, intents)
    z = sizes[:, None] + rng.normal(0, 0.1, editions) + rng.normal(0, sigma, (intents, editions))
    gone = rng.random(z.shape) < missing
    gone[np.arange(intents), rng.integers(editions, size=intents)] = False
    z[gone] = np.nan
    return z, covariate[:, None]


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("missing", "slope"), [(0.0, 0.0), (0.3, 0.0), (0.3, 0.4)])
def test_statsmodels_agrees(missing, slope, restricted):
    z, w = draw(60, 4, missing, slope=slope)
    long = pd.DataFrame(z).rename_axis("intent").melt(ignore_index=False, var_name="edition", value_name="z")
    long = long.assign(w=w[long.index, 0]).reset_index().dropna()
    formula = "z ~ 0 + C(edition)" + (" + w" if slope else "")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = smf.mixedlm(formula, long, groups=long["intent"]).fit(reml=restricted, method="bfgs", gtol=1e-9)
    found = estimate_random(z, model="1", covariates=w if slope else None, restricted=restricted, max_iterations=100)
    assert_allclose(found.c + found.mean, theirs.fe_params.iloc[:4], atol=MIXED_MODEL)
    assert found.variance == pytest.approx(theirs.scale, rel=MIXED_MODEL)
    assert found.tau**2 == pytest.approx(theirs.cov_re.iloc[0, 0], rel=1e-4)
    if slope:
        assert_allclose(found.slopes, theirs.fe_params.iloc[4:], atol=MIXED_MODEL)
    if not restricted:
        assert found.log_likelihood == pytest.approx(theirs.llf, rel=MIXED_MODEL)
    predicted = pd.Series({intent: effect.iloc[0] for intent, effect in theirs.random_effects.items()})
    expected = predicted.to_numpy() + found.mean + (w[:, 0] * theirs.fe_params.iloc[4] if slope else 0.0)
    assert_allclose(found.sizes, expected, atol=1e-4)


def test_complete_tables_are_those_of_fixed_intents():
    z, _ = draw(50, 5, 0.0)
    random = estimate_random(z, model="1", restricted=True, max_iterations=100)
    fixed = LogNormal().estimate(solve_two_way(z))
    assert_allclose(random.c, fixed.c, atol=ROUNDING)
    contrasts = np.eye(5)[1:] - np.eye(5)[0]
    assert_allclose(contrasts @ random.covariance @ contrasts.T, contrasts @ fixed.covariance @ contrasts.T, rtol=1e-8)


@pytest.mark.parametrize("restricted", [False, True])
def test_derivatives(restricted):
    """Of the log-likelihood, and of the restricted one as a function of all parameters."""
    z, w = draw(30, 4, 0.3, slope=0.4)
    table = IntentTable.build(z, w, None)
    rows = LinearRows(table)
    rng = np.random.default_rng(1)
    theta = np.concatenate([4 + rng.normal(0, 0.1, 4), [0.3, np.log(0.4), np.log(0.05)]])
    total = sum_of_rows(rows, theta)
    steps = STEP * np.eye(len(theta))
    above, below = ([sum_of_rows(rows, theta + sign * step) for step in steps] for sign in (1, -1))
    slope = [(up.value - down.value) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.gradient, slope, atol=DIFFERENCES * np.abs(slope).max())
    bend = [(up.gradient - down.gradient) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.information, -np.array(bend), atol=DIFFERENCES * np.abs(bend).max())
    if restricted:
        half = 1e-4

        def penalty(log_tau, log_variance):
            moved = np.concatenate([theta[:-2], [log_tau, log_variance]])
            return -0.5 * np.linalg.slogdet(sum_of_rows(rows, moved).information[:5, :5])[1]

        x, y = theta[-2:]
        second = np.array(
            [
                [penalty(x + half, y) + penalty(x - half, y) - 2 * penalty(x, y), 0.0],
                [0.0, penalty(x, y + half) + penalty(x, y - half) - 2 * penalty(x, y)],
            ]
        )
        mixed = penalty(x + half, y + half) - penalty(x + half, y - half)
        mixed -= penalty(x - half, y + half) - penalty(x - half, y - half)
        second[0, 1] = second[1, 0] = mixed / 4
        assert_allclose(restricted_information(table, theta), -second / half**2, atol=1e-5)


@pytest.mark.parametrize("restricted", [False, True])
def test_slope_of_the_search(restricted):
    z, w = draw(40, 4, 0.3, slope=0.4)
    search = LinearSearch(IntentTable.build(z, w, None), restricted)
    for log_ratio in (-3.0, 0.0, 4.0):
        by_differences = (search.at(log_ratio + STEP).criterion - search.at(log_ratio - STEP).criterion) / (2 * STEP)
        assert search.at(log_ratio).slope == pytest.approx(by_differences, rel=1e-5)


def test_no_variation_between_intents():
    rng = np.random.default_rng(0)
    z = rng.normal(0, 0.2, (200, 4))
    z -= 0.9 * z.mean(axis=1, keepdims=True)  # rows are more alike than chance has it
    found = estimate_random(z, model="1", max_iterations=100)
    assert found.tau == 0
    assert "no variation between intents" in found.message
    assert found.converged
    assert_allclose(found.c, z.mean(axis=0) - z.mean(), atol=ROUNDING)
    assert_allclose(found.sizes, z.mean(), atol=ROUNDING)
    assert np.isfinite(found.covariance).all()


def test_intents_that_vary_without_bound_are_fixed():
    z, _ = draw(50, 4, 0.3, sigma=1e-2, tau=1e4)
    found = estimate_random(z, model="1", max_iterations=100)
    assert "fixed intents" in found.message
    assert_allclose(found.c, solve_two_way(z).edition_effect, atol=1e-3 * 1e-2)  # a thousandth of σ


def test_design_ties_editions():
    z, _ = draw(60, 4, 0.3)
    design = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    found = estimate_random(z, model="1", design=design, max_iterations=100)
    assert found.c[0] == pytest.approx(found.c[1], abs=ROUNDING)
    assert found.c[2] == pytest.approx(found.c[3], abs=ROUNDING)
    assert_allclose(found.basis.T @ found.scores.sum(axis=0), 0, atol=1e-7)
