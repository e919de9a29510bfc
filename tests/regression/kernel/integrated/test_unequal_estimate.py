"""Estimates under unequal noise: worked numbers, identities, what is refused, and recovery of known values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.optimize import brentq

from langdiff.errors import DataError
from langdiff.regression.kernel.clusters import SummedClusters, covariance_of_clusters
from langdiff.regression.kernel.integrated import unequal_rows as search_module
from langdiff.regression.kernel.integrated.comparisons import sandwich_covariance
from langdiff.regression.kernel.integrated.unequal import UnequalClusters, estimate_unequal, pseudo_inverse
from langdiff.regression.kernel.two_way import solve_two_way
from tests.helpers import refused

PRINTED = 6e-7  # worked numbers have six digits
NONE = np.nan
A = np.log([[100.0, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]])
B = np.log(
    [
        [100, 120, 90, 110],
        [40, 52, NONE, 61],
        [220, NONE, 180, NONE],
        [75, 70, 88, NONE],
        [NONE, 190, 140, 150],
        [60, NONE, NONE, 66],
    ]
)


def draw(model, intents, deviations, *, missing=0.0, rng):
    """Draw a table; in model 2 the deviations are those of an intent of ln n = 4.5."""
    deviations = np.asarray(deviations)
    m = rng.normal(4.5, 0.6, (intents, 1))
    variance = deviations**2 if model == "1" else np.log1p(np.expm1(deviations**2) * np.exp(4.5 - m))
    levels = np.linspace(-0.2, 0.2, len(deviations))
    shift = 0 if model == "1" else -0.5 * variance
    z = m + levels + shift + np.sqrt(variance) * rng.standard_normal((intents, len(deviations)))
    z[rng.random(z.shape) < missing] = np.nan
    return z[(~np.isnan(z)).sum(axis=1) > 1], levels


@pytest.mark.parametrize(
    ("z", "c", "errors", "variance", "between", "log_likelihood"),
    [
        (A, [-0.046219, 0.085087, -0.044626], [0.043991, 0.041081, 0.043959], 0.013861, 0.271819, 0.577188),
        (
            B,
            [-0.066208, 0.065210, -0.072761, 0.064717],
            [0.054422, 0.055093, 0.060320, 0.057217],
            0.015549,
            0.249210,
            -0.156317,
        ),
    ],
)
def test_model_1_with_one_group_is_the_mixed_model(z, c, errors, variance, between, log_likelihood):
    """Maximum likelihood with random intents, as lme4 1.1-31 fits it; errors of B from the observed information."""
    found = estimate_unequal(z, model="1", group=np.zeros(z.shape[1], int), intents="normal")
    assert found.converged
    assert_allclose(found.c, c, atol=PRINTED)
    assert_allclose(np.sqrt(np.diag(found.covariance))[:-1], errors, atol=PRINTED)
    assert_allclose([np.exp(found.log_variance[0]), found.tau**2], [variance, between], atol=PRINTED)
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=PRINTED)


@pytest.mark.parametrize(
    ("z", "c", "errors", "kappa", "mean", "tau", "log_likelihood"),
    [
        (A, [-0.021492, 0.100980, -0.088822], [0.038033, 0.035618, 0.039262], 0.918191, 4.331196, 0.519445, 1.269314),
        (
            B,
            [-0.028724, 0.096813, -0.104478, 0.025538],
            [0.051745, 0.051858, 0.050383, 0.055034],
            0.980426,
            4.242119,
            0.504053,
            0.166720,
        ),
    ],
)
def test_model_2_with_one_group_is_that_of_random_intents(z, c, errors, kappa, mean, tau, log_likelihood):
    """Numbers of two independent programs, one of them with mpmath; n there is not the expected bits, n·exp(σ²/2)."""
    found = estimate_unequal(z, model="2", group=np.zeros(z.shape[1], int), intents="normal")
    assert found.converged
    assert_allclose(found.c, c, atol=PRINTED)
    assert_allclose(np.sqrt(np.diag(found.covariance))[:-1], errors, atol=PRINTED)
    published = brentq(lambda k: k * np.sqrt(1 + k) - np.exp(found.log_variance[0]), 0.01, 10)
    assert published == pytest.approx(kappa, abs=PRINTED)
    assert found.mean - 0.5 * np.log1p(published) == pytest.approx(mean, abs=PRINTED)
    assert found.tau == pytest.approx(tau, abs=PRINTED)
    assert found.log_likelihood == pytest.approx(log_likelihood, abs=PRINTED)


def test_the_sandwich_of_model_2_is_the_worked_one():
    found = estimate_unequal(B, model="2", group=np.zeros(4, int), intents="normal")
    correction = np.sqrt(5 / 6)  # from CR1 to CR0
    errors = correction * np.sqrt(np.diag(sandwich_covariance(found)))[:4]
    assert_allclose(errors, [0.040638, 0.059976, 0.055136, 0.046317], atol=PRINTED)


def test_complete_model_1_keeps_the_levels_and_has_the_error_of_two_means():
    z, _ = draw("1", 60, [0.1, 0.2, 0.3, 0.4], rng=np.random.default_rng(1))
    found = estimate_unequal(z, model="1", group=np.arange(4))
    two_way = solve_two_way(z).edition_effect
    assert_allclose(found.c - found.c.mean(), two_way, atol=1e-10)
    variance = np.exp(found.log_variance)
    for j in range(4):
        for k in range(j):
            of_pair = found.covariance[j, j] + found.covariance[k, k] - 2 * found.covariance[j, k]
            assert of_pair == pytest.approx((variance[j] + variance[k]) / 60, rel=1e-8)


def test_three_editions_have_the_variances_of_grubbs():
    """With three editions the model is saturated: s_j² is the covariance of the differences to the other two."""
    z, _ = draw("1", 200, [0.2, 0.3, 0.4], rng=np.random.default_rng(2))
    found = estimate_unequal(z, model="1", group=np.arange(3))
    for j, (k, other) in enumerate([(1, 2), (0, 2), (0, 1)]):
        expected = np.cov(z[:, j] - z[:, k], z[:, j] - z[:, other], ddof=0)[0, 1]
        assert np.exp(found.log_variance[j]) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("model", ["1", "2"])
@pytest.mark.parametrize("intents", ["flat", "normal"])
def test_the_estimate_is_a_maximum_with_the_conventions(model, intents):
    z, _ = draw(model, 80, [0.2, 0.3, 0.4, 0.3], missing=0.2, rng=np.random.default_rng(3))
    clusters = np.arange(len(z)) % 7
    found = estimate_unequal(z, model=model, group=np.array([0, 1, 2, 1]), intents=intents)
    assert found.converged
    assert np.exp(found.c).sum() == pytest.approx(4, rel=1e-12)
    assert_allclose(found.scores().sum(axis=0), 0, atol=1e-4)
    sums, information = found.by(clusters)
    assert_allclose(sums.sum(axis=0), 0, atol=1e-4)
    assert_allclose(information.sum(axis=0), found.information, rtol=1e-7, atol=1e-6)
    assert_allclose(
        found.covariance, found.jacobian @ pseudo_inverse(found.information) @ found.jacobian.T, rtol=1e-6, atol=1e-10
    )
    # factors have a fixed sum, so that the covariance is singular along them
    factors = np.append(np.exp(found.c), np.zeros(3))
    assert_allclose(found.covariance @ factors, 0, atol=1e-9)


@pytest.mark.parametrize("model", ["1", "2"])
def test_the_covariance_is_that_under_the_conventions(model):
    """Inverse information on the tangent of Σ exp(c) = J, on which all parameters are identified."""
    z, _ = draw(model, 80, [0.2, 0.3, 0.4], missing=0.2, rng=np.random.default_rng(3))
    found = estimate_unequal(z, model=model, group=np.arange(3))
    tangent = null_space(np.append(np.exp(found.c), np.zeros(3))[None])
    expected = tangent @ np.linalg.solve(tangent.T @ found.information @ tangent, tangent.T)
    assert_allclose(found.covariance, expected, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("model", ["1", "2"])
def test_multiplying_bits_changes_levels_only_as_the_conventions_say(model):
    """All bits of an edition twice as large: its level moves, and in model 2 κ with the unit of bits."""
    z, _ = draw(model, 80, [0.2, 0.3, 0.4], missing=0.1, rng=np.random.default_rng(4))
    moved = z + np.log([2.0, 1, 1])
    one, two = (estimate_unequal(table, model=model, group=np.arange(3)) for table in (z, moved))
    level = np.log(np.mean(np.exp(one.c) * [2, 1, 1]))
    assert_allclose(two.c, one.c + np.log([2, 1, 1]) - level, atol=1e-7)
    assert_allclose(two.log_variance, one.log_variance + level * (model == "2"), atol=1e-6)
    assert_allclose(two.sizes, one.sizes + level, atol=1e-7)
    assert two.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-8)


def test_a_design_ties_levels():
    z, _ = draw("1", 100, [0.2, 0.3, 0.4, 0.3], rng=np.random.default_rng(5))
    design = np.kron(np.eye(2), np.ones((2, 1))) / np.sqrt(2)
    found = estimate_unequal(z, model="2", group=np.arange(4), design=design)
    free = estimate_unequal(z, model="2", group=np.arange(4))
    assert found.converged
    assert_allclose(found.c[[0, 2]], found.c[[1, 3]], atol=1e-12)
    assert found.log_likelihood < free.log_likelihood
    assert found.scores().shape == (100, 6)
    difference = found.covariance[0, 0] + found.covariance[1, 1] - 2 * found.covariance[0, 1]
    assert difference == pytest.approx(0, abs=1e-12)


def test_em_reaches_what_newton_reaches(monkeypatch):
    z, _ = draw("1", 80, [0.2, 0.3, 0.4], rng=np.random.default_rng(6))
    newton = estimate_unequal(z, model="1", group=np.arange(3))
    usual = search_module._Metric.step

    def backwards(metric, gradient):
        step, length = usual(metric, gradient)
        return (-step, length) if length > 1e-5 else (step, length)

    monkeypatch.setattr(search_module._Metric, "step", backwards)
    monkeypatch.setattr(search_module, "SAFE", 0.0)  # nothing is taken without looking
    em = estimate_unequal(z, model="1", group=np.arange(3), max_iterations=2000)
    assert em.n_iterations > 3 * newton.n_iterations
    assert_allclose(em.log_variance, newton.log_variance, atol=1e-4)


def test_the_boundary_is_named():
    rng = np.random.default_rng(1)
    common = rng.normal(0, 0.2, (30, 1))
    z = np.column_stack([np.zeros((30, 1)), common, -common]) + rng.normal(4.5, 0.6, (30, 1))
    z[:, 1:] += rng.normal(0, 0.05, (30, 2))  # the differences to edition 0 are opposite
    found = estimate_unequal(z, model="1", group=np.arange(3))
    assert found.converged
    assert found.boundary.tolist() == [True, False, False]
    assert_allclose(found.covariance[3], 0)  # known, as far as the others are concerned
    assert (np.diag(found.covariance)[[0, 1, 2, 4, 5]] > 0).all()
    assert_allclose(sandwich_covariance(found)[3], 0)


def test_an_iteration_too_few_is_said():
    z, _ = draw("1", 80, [0.2, 0.3, 0.4], rng=np.random.default_rng(6))
    found = estimate_unequal(z, model="1", group=np.arange(3), max_iterations=1)
    assert not found.converged
    assert found.message == "too many iterations"


PAIRS = np.array([[1.0, 2, NONE, NONE], [NONE, 2, 3, NONE], [NONE, NONE, 3, 4], [1, NONE, NONE, 4.5]])


@pytest.mark.parametrize(
    ("z", "group", "message"),
    [
        (A[:, :2], [0, 1], "2 editions do not identify 2 dispersions"),
        (np.tile(PAIRS, (5, 1)), [0, 1, 2, 3], "4 editions do not identify 4 dispersions"),
        (np.array([[1.0, 2, NONE], [2, NONE, NONE]] * 3), [0, 0, 0], "3 of 6 intents have fewer"),
        (np.array([[1.0, 2, NONE, NONE], [NONE, NONE, 2, 3]]), [0] * 4, "no chain of shared"),
        (np.tile(A[:, :1], 3), [0, 1, 2], "the residuals vanish"),
    ],
)
def test_what_is_refused(z, group, message):
    refused(DataError, message, estimate_unequal, z, model="1", group=np.array(group))


def test_two_editions_are_enough_for_a_normal_prior():
    z, _ = draw("1", 4000, [0.1, 0.3], rng=np.random.default_rng(7))
    found = estimate_unequal(z, model="1", group=np.arange(2), intents="normal")
    assert_allclose(np.exp(found.log_variance / 2), [0.1, 0.3], rtol=0.25)
    assert found.tau == pytest.approx(0.6, rel=0.05)


@pytest.mark.parametrize(("model", "tables"), [("1", 60), ("2", 15)])
@pytest.mark.parametrize("intents", ["flat", "normal"])
def test_known_values_are_recovered(model, tables, intents):
    """Standardized errors of levels and dispersions over tables have mean 0 and mean square 1."""
    rng = np.random.default_rng(8)
    deviations = np.array([0.1, 0.15, 0.2, 0.3])
    dispersion = np.log(deviations**2 if model == "1" else np.expm1(deviations**2) * np.exp(4.5))
    standardized = []
    for _ in range(tables):
        z, levels = draw(model, 300, deviations, missing=0.15, rng=rng)
        found = estimate_unequal(z, model=model, group=np.arange(4), intents=intents)
        assert found.converged
        errors = np.concatenate([found.c - levels, found.log_variance - dispersion])
        contrasts = np.zeros((6, 8))
        contrasts[:3, :4] = np.eye(4)[1:] - np.eye(4)[0]
        contrasts[3:, 4:] = np.eye(4)[1:] - np.eye(4)[0]
        standardized.append(contrasts @ errors / np.sqrt(np.diag(contrasts @ found.covariance @ contrasts.T)))
    standardized = np.array(standardized)
    n = standardized.shape[0]
    assert (np.abs(standardized.mean(axis=0)) < 3.5 / np.sqrt(n)).all()
    assert 0.75 < np.mean(standardized**2) < 1.3


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_clusters_are_the_same_as_products_and_as_matrices(missing):
    """What CR2 and degrees of freedom need, from parts of the information or without them."""
    z, _ = draw("2", 120, [0.2, 0.3, 0.4, 0.3], missing=missing, rng=np.random.default_rng(3))
    found = estimate_unequal(z, model="2", group=np.arange(4), intents="normal")
    code = np.sort(np.arange(len(z)) % 12)
    parts, products = SummedClusters(*found.by(code)), UnequalClusters(found, code)
    which = np.array([1, 4, 5])
    directions = np.random.default_rng(1).normal(size=(3, parts.root.shape[1]))
    to = np.linalg.lstsq(products.root, parts.root)[0]  # from the coordinates of one to those of the other
    assert_allclose(products.shares(which), to @ parts.shares(which) @ to.T, atol=1e-7)
    assert_allclose(products.times(which, directions @ to.T), parts.times(which, directions) @ to.T, atol=1e-6)
    assert_allclose(products.shares_along(directions @ to.T), parts.shares_along(directions), atol=1e-6)
    one, other = (covariance_of_clusters(each, "CR2") for each in (parts, products))
    assert_allclose(one, other, rtol=1e-5, atol=1e-9)
