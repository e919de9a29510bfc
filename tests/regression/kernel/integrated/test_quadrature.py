"""Models 2 and 2L with random intents against integrals by brute force, and derivatives by differences."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.kernel.integrated.marginal import IntentTable, maximize_marginal, sum_of_rows
from langdiff.regression.kernel.integrated.quadrature import HermiteRows, PanelRows, RowData, find_modes, log_joint
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.variants import find_variant
from tests.helpers import refused

INTEGRALS = 1e-8
MANY = 81  # nodes, with which the quadrature is exact to rounding or nearly so
STEP = 1e-5
DIFFERENCES = 1e-6  # relative to the largest derivative
PERMUTED = 1e-9


def family(model):
    return {"model": model[0], "distribution": "Laplace" if model == "2L" else "normal"}


def draw(intents, editions, missing, *, seed=0, model="2"):
    """Return log surprisals, some of whose rows have one cell, and a covariate."""
    rng = np.random.default_rng(seed)
    z = np.log(ld.simulate(intents, editions, model=model, sigma=0.9, seed=seed).surprisals.bits.to_numpy())
    gone = rng.random(z.shape) < missing
    gone[np.arange(intents), rng.integers(editions, size=intents)] = False
    z[gone] = np.nan
    return z, rng.normal(size=(intents, 1))


def make_rows(model, table, nodes=MANY):
    return HermiteRows(table, nodes) if model == "2" else PanelRows(table)


def some_theta(table, seed=1):
    """Return parameters of the order of those of the table, away from the maximum."""
    rng = np.random.default_rng(seed)
    editions = table.shape[1]
    c = table.two_way.edition_effect + 1.0 + rng.normal(0, 0.1, editions)
    mean = table.two_way.intent_effect.mean() - 1.0
    slopes = 0.2 * np.ones(table.attributes.shape[1] - 1)
    return np.concatenate([c, [mean], slopes, [np.log(0.8)]])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("model", ["2", "2L"])
def test_marginal_likelihood_by_brute_force(model, seed):
    """The published density of each cell times that of ln n, integrated over ln n by SciPy."""
    z, w = draw(8, 3, 0.4, seed=seed, model=model)
    table = IntentTable.build(z, w, None)
    theta = some_theta(table)
    c, expected, tau = theta[:3], table.attributes @ theta[3:5], np.exp(theta[-1])
    values, variant = make_rows(model, table).derivatives(theta, np.arange(8)).values, find_variant(model)
    for i in range(8):
        known = ~np.isnan(z[i])

        def integrand(mu, i=i, known=known):
            # with κ = 1 the published model has μ = m and c = d + ½ ln 2
            cells = variant.log_density_of_cells(z[i : i + 1, known], np.array([mu]), c[known] - 0.5 * np.log(2), 1.0)
            prior = -0.5 * ((mu - expected[i]) / tau) ** 2 - np.log(tau) - 0.5 * np.log(2 * np.pi)
            return np.exp(cells.sum() + prior)

        kinks = mu_at_mean(z[i, known] - c[known])
        edges = np.unique(np.concatenate([expected[i] + np.array([-10, 10]) * tau, np.linspace(-6, 12, 37), kinks]))
        pieces = [quad(integrand, low, high, epsabs=1e-13, epsrel=1e-11)[0] for low, high in pairwise(edges)]
        assert values[i] == pytest.approx(np.log(sum(pieces)), abs=INTEGRALS)


@pytest.mark.parametrize("model", ["2", "2L"])
def test_derivatives(model):
    z, w = draw(40, 5, 0.4, model=model)
    table = IntentTable.build(z, w, None)
    rows, theta = make_rows(model, table), some_theta(table)
    total = sum_of_rows(rows, theta)
    steps = STEP * np.eye(len(theta))
    above, below = ([sum_of_rows(rows, theta + sign * step) for step in steps] for sign in (1, -1))
    slope = [(up.value - down.value) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.gradient, slope, atol=DIFFERENCES * np.abs(slope).max())
    bend = [(up.gradient - down.gradient) / (2 * STEP) for up, down in zip(above, below, strict=True)]
    assert_allclose(total.information, -np.array(bend), atol=DIFFERENCES * np.abs(bend).max())


def test_modes_are_the_highest():
    """Also of a row that varies so much that a minute size explains it best."""
    rng = np.random.default_rng(0)
    data = RowData(
        rng.integers(1, 20, 50).astype(float), rng.normal(3, 1, 50), rng.exponential(1, 50), rng.normal(3, 0.5, 50)
    )
    data.spread[:5] = 400.0
    modes, curvature = find_modes(np.full(50, np.nan), data, 0.8)
    grid = np.linspace(-30, 8, 20001)
    at_modes = log_joint(modes[:, None], data, 0.8)[:, 0]
    assert (at_modes >= log_joint(np.broadcast_to(grid, (50, len(grid))), data, 0.8).max(axis=1) - 1e-9).all()
    around = log_joint(modes[:, None] + np.array([-1e-3, 1e-3]), data, 0.8)
    assert_allclose(curvature, -(around.sum(axis=1) - 2 * at_modes) / 1e-6, rtol=1e-3)
    assert (modes[:5] < modes[5:].min()).any()


@pytest.mark.parametrize("model", ["2", "2L"])
def test_what_a_fit_says_of_itself(model):
    z, w = draw(80, 4, 0.3, model=model)
    found = estimate_random(z, **family(model), covariates=w, max_iterations=100)
    assert found.converged
    assert found.n_iterations < 25
    assert_allclose(found.theta, np.concatenate([found.c, [found.mean], found.slopes, [np.log(found.tau)]]))
    assert_allclose(found.scores.sum(axis=0), 0, atol=1e-5)
    assert_allclose(found.covariance, np.linalg.inv(found.information)[:4, :4], rtol=1e-8)
    assert found.influence().shape == (80, 4)
    clusters = np.arange(80) % 7
    by_cluster = found.information_by(clusters)
    assert by_cluster.shape == (7, 7, 7)
    assert_allclose(by_cluster.sum(axis=0), found.information, atol=1e-8)
    alone = make_rows(model, IntentTable.build(z, w, None), nodes=15).derivatives(
        found.theta, np.flatnonzero(clusters == 3)
    )
    assert_allclose(by_cluster[3], alone.information, atol=1e-8)


@pytest.mark.parametrize("model", ["1", "2", "2L"])
def test_order_of_rows_and_columns_does_not_matter(model):
    z, w = draw(60, 4, 0.3, model="2")
    rows, columns = np.random.default_rng(5).permutation(60), np.array([2, 0, 3, 1])
    one = estimate_random(z, **family(model), covariates=w, max_iterations=100)
    other = estimate_random(z[rows][:, columns], **family(model), covariates=w[rows], max_iterations=100)
    assert_allclose(other.c, one.c[columns], atol=PERMUTED)
    assert_allclose(other.sizes, one.sizes[rows], atol=PERMUTED)
    assert_allclose(np.diag(other.covariance), np.diag(one.covariance)[columns], rtol=1e-7)


@pytest.mark.parametrize("model", ["2", "2L"])
def test_any_start_leads_there(model):
    z, _ = draw(60, 4, 0.3, model=model)
    table = IntentTable.build(z, None, None)
    usual = estimate_random(z, **family(model), max_iterations=100)
    far = maximize_marginal(make_rows(model, table, 15), some_theta(table, 7), np.eye(6), max_iterations=100)
    assert far.converged
    assert_allclose(far.total.theta, usual.theta, atol=1e-6)
    warm = estimate_random(z, **family(model), start=usual.theta, max_iterations=100)
    assert warm.n_iterations <= 3
    assert_allclose(warm.theta, usual.theta, atol=1e-7)


def test_design_ties_editions():
    z, _ = draw(60, 4, 0.3)
    design = np.array([[1.0, 0], [1, 0], [0, 1], [0, 1]])
    found = estimate_random(z, model="2", design=design, max_iterations=100)
    assert found.converged
    assert found.c[0] == pytest.approx(found.c[1], abs=PERMUTED)
    assert_allclose(found.basis.T @ found.scores.sum(axis=0), 0, atol=1e-5)
    free = estimate_random(z, model="2", max_iterations=100)
    assert found.log_likelihood < free.log_likelihood


def test_no_variation_between_intents():
    rng = np.random.default_rng(0)
    z = 5 + rng.normal(0, 0.2, (200, 4))
    z -= 0.9 * (z.mean(axis=1, keepdims=True) - 5)
    found = estimate_random(z, model="2", max_iterations=200)
    assert "no variation between intents" in found.message
    assert found.converged
    assert found.tau == 0
    assert np.isfinite(found.covariance).all()
    assert_allclose(found.c - found.c.mean(), z.mean(axis=0) - z.mean(), atol=1e-3)


def test_too_few_iterations_are_said():
    z, _ = draw(60, 4, 0.3)
    found = estimate_random(z, model="2", max_iterations=1)
    assert not found.converged
    assert found.message == "too many iterations"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "2", "restricted": True}, "has no meaning"),
        ({**family("2L"), "restricted": True}, "has no meaning"),
        ({"model": "1", "restricted": True, "sizes": "free"}, "has no meaning"),
        ({**family("2L"), "sizes": "free"}, "has kinks"),
        ({"model": "2", "sizes": "free", "covariates": np.arange(60.0)[:, None]}, "no mean that could depend"),
    ],
)
def test_settings_that_are_refused(settings, message):
    z, _ = draw(60, 4, 0.3)
    refused(ConfigError, message, estimate_random, z, max_iterations=10, **settings)


@pytest.mark.parametrize(
    ("covariates", "message"),
    [
        (np.ones((60, 1)), "only 1 are independent"),
        (np.arange(120.0).reshape(60, 2), "only 2 are independent"),
        (np.full((60, 1), np.nan), "60 covariates of intents are not finite"),
    ],
)
def test_covariates_that_are_refused(covariates, message):
    z, _ = draw(60, 4, 0.3)
    refused(DataError, message, estimate_random, z, model="2", covariates=covariates, max_iterations=10)
