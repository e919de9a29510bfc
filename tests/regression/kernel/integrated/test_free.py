"""Sizes of any distribution on a grid: optimality of the weights and derivatives, by other means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import logsumexp

from langdiff.regression.kernel.integrated.linear import POINTS, FreeRows, maximize_free
from langdiff.regression.kernel.integrated.marginal import IntentTable, sum_of_rows
from langdiff.regression.kernel.integrated.random import estimate_random

STEP, DIFFERENCES = 1e-5, 1e-6


def draw(intents, editions, missing, seed=0):
    """Return log surprisals of sizes with an exponential tail."""
    rng = np.random.default_rng(seed)
    mu = 1 + rng.exponential(0.6, intents)
    v = np.log1p(np.exp(-mu))
    z = (
        (mu - 0.5 * v)[:, None]
        + rng.normal(0, 0.1, editions)
        + np.sqrt(v)[:, None] * rng.normal(size=(intents, editions))
    )
    gone = rng.random(z.shape) < missing
    gone[np.arange(intents), rng.integers(editions, size=intents)] = False
    z[gone] = np.nan
    return z


@pytest.mark.parametrize("model", ["1", "2"])
def test_derivatives(model):
    table = IntentTable.build(draw(30, 4, 0.3), None, None)
    rows = FreeRows(table, model, np.linspace(0, 5, POINTS))
    rng = np.random.default_rng(1)
    variance = [np.log(0.3)] if model == "1" else []
    theta = np.concatenate([rng.normal(0, 0.1, 4), variance, rng.normal(0, 1, POINTS)])
    total = sum_of_rows(rows, theta)
    steps = STEP * np.eye(len(theta))
    above, below = ([sum_of_rows(rows, theta + sign * step) for step in steps] for sign in (1, -1))
    slope = [(up.value - down.value) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.gradient, slope, atol=DIFFERENCES * np.abs(slope).max())
    bend = [(up.gradient - down.gradient) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.information, -np.array(bend), atol=DIFFERENCES * np.abs(bend).max())


@pytest.mark.parametrize("model", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_an_optimizer_finds_nothing_better(model):
    """L-BFGS on c, ln σ² and the logits together, of the likelihood written out, on the same grid."""
    z = draw(40, 3, 0.3)
    observed = ~np.isnan(z)
    table = IntentTable.build(z, None, None)
    normal = estimate_random(z, model=model, max_iterations=100)
    start = np.append(normal.c, np.log(normal.variance)) if model == "1" else normal.c
    found = maximize_free(table, model, start, 500)
    assert found.converged
    assert found.weights.sum() == pytest.approx(1, abs=1e-9)
    others = len(found.theta) - POINTS
    v = np.log1p(np.exp(-found.grid))
    h = found.grid if model == "1" else found.grid - 0.5 * v

    def minus(theta):
        variance = np.full(POINTS, np.exp(theta[3])) if model == "1" else v
        r = np.where(observed, z - theta[:3], 0.0)[:, :, None] - h * observed[:, :, None]
        cells = -0.5 * observed[:, :, None] * (np.log(2 * np.pi * variance) + r**2 / variance)
        cells = np.where(observed[:, :, None], cells, 0.0)
        logits = theta[others:] - logsumexp(theta[others:])
        return -float(logsumexp(cells.sum(axis=1) + logits, axis=1).sum())

    best = -minus(found.theta)
    assert best == pytest.approx(sum_of_rows(FreeRows(table, model, found.grid), found.theta).value, abs=1e-8)
    first = np.concatenate([start + 0.02 * np.sin(np.arange(others)), np.full(POINTS, -np.log(POINTS))])
    theirs = minimize(minus, first, method="L-BFGS-B", options={"maxiter": 80, "maxfun": 10**6})
    assert -theirs.fun > normal.log_likelihood  # the optimizer went somewhere
    assert best >= -theirs.fun - 0.01
    error = np.sqrt(normal.covariance[1, 1] + normal.covariance[0, 0])
    assert_allclose(theirs.x[1:3] - theirs.x[0], found.theta[1:3] - found.theta[0], atol=0.1 * error)


@pytest.mark.parametrize("model", ["1", "2"])
def test_standard_errors_are_near_those_of_normal_sizes(model):
    z = draw(400, 4, 0.2)
    free = estimate_random(z, model=model, sizes="free", max_iterations=500)
    normal = estimate_random(z, model=model, max_iterations=100)
    assert free.converged
    assert free.log_likelihood > normal.log_likelihood
    contrast = np.array([1.0, -1, 0, 0])
    ratio = (contrast @ free.covariance @ contrast) / (contrast @ normal.covariance @ contrast)
    assert 0.8 < ratio < 1.2
    assert abs(contrast @ (free.c - normal.c)) < np.sqrt(contrast @ normal.covariance @ contrast)
