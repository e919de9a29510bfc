"""Numbers worked out by independent programs (mpmath, lme4, statsmodels), to all digits that they were printed with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.regression.kernel.integrated.linear import LinearRows
from langdiff.regression.kernel.integrated.marginal import IntentTable, sum_of_rows
from langdiff.regression.kernel.integrated.quadrature import HermiteRows, PanelRows
from langdiff.regression.kernel.integrated.random import estimate_random
from langdiff.regression.kernel.likelihood import normalize
from langdiff.regression.kernel.two_way import normalized_covariance

NAN = np.nan
A = np.log([[100, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]])
B = np.log(
    [
        [100, 120, 90, 110],
        [40, 52, NAN, 61],
        [220, NAN, 180, NAN],
        [75, 70, 88, NAN],
        [NAN, 190, 140, 150],
        [60, NAN, NAN, 66],
    ]
)
TABLES = {"A": A, "B": B}
C = {"A": np.array([-0.05, 0.1, -0.05]), "B": np.array([-0.05, 0.1, -0.05, 0.0])}
SIX, FOUR = 0.51e-6, 0.51e-4  # half of the last printed digit, and what the sixteenth does to it
EXACT = 41  # nodes; the default, 15, errs by 1e-6 here


def family(model):
    return {"model": model[0], "distribution": "Laplace" if model == "2L" else "normal"}


def scale_free(name, kappa=2.0, mean=4.5, tau=0.6):
    """Return θ of models 2 and 2L from d = c normalized, κ, and the distribution of ln n."""
    d = C[name] - np.log(np.mean(np.exp(C[name])))
    c = d + np.log(kappa) + 0.5 * np.log1p(kappa)
    return np.concatenate([c, [mean - np.log(kappa), np.log(tau)]])


def marginal(rows, theta):
    return sum_of_rows(rows, theta).value


@pytest.mark.parametrize(
    ("name", "expected"), [("A", (0.007630, -1.769530, -1.605624)), ("B", (-1.079073, -3.562899, -3.393906))]
)
def test_marginal_likelihood(name, expected):
    table = IntentTable.build(TABLES[name], None, None)
    linear = np.concatenate([C[name] + 4.5, np.log([0.6]), np.log([0.02])])
    theta = scale_free(name)
    ours = [
        marginal(LinearRows(table), linear),
        marginal(HermiteRows(table, EXACT), theta),
        marginal(PanelRows(table), theta),
    ]
    assert_allclose(ours, expected, rtol=0, atol=SIX)


@pytest.mark.parametrize(("nodes", "expected"), [(1, -1.813184), (5, -1.771508), (9, -1.769574), (15, -1.769531)])
def test_number_of_nodes(nodes, expected):
    table = IntentTable.build(A, None, None)
    assert marginal(HermiteRows(table, nodes), scale_free("A")) == pytest.approx(expected, abs=SIX)


def test_gradient_of_model_2():
    table = IntentTable.build(B, None, None)
    gradient = sum_of_rows(HermiteRows(table, EXACT), scale_free("B")).gradient
    expected = [0.518011, -2.334390, -8.610060, 0.506847, -7.257424, 1.022450]
    assert_allclose(gradient, expected, rtol=0, atol=SIX)


def difficulty(found):
    return found.c - np.log(np.mean(np.exp(found.c)))


def std_error(covariance, c):
    return np.sqrt(np.diag(normalized_covariance(covariance, c)))


@pytest.mark.parametrize(
    ("name", "restricted", "delta", "errors", "others"),
    [
        ("A", True, [-0.046219, 0.085087, -0.044626], [0.049184, 0.045930, 0.049148], (0.017326, 0.339774, -3.291267)),
        ("A", False, [-0.046219, 0.085087, -0.044626], [0.043991, 0.041081, 0.043959], (0.013861, 0.271819, 0.577188)),
        (
            "B",
            True,
            [-0.066382, 0.064958, -0.071426, 0.063959],
            [0.063774, 0.064558, 0.070213, 0.066919],
            (0.021367, 0.298293, -5.288044),
        ),
        (
            "B",
            False,
            [-0.066208, 0.065210, -0.072761, 0.064717],
            [0.054415, 0.055079, 0.059944, 0.057089],
            (0.015549, 0.249210, -0.156317),
        ),
    ],
)
def test_model_1_is_lme4(name, restricted, delta, errors, others):
    """Errors of lme4 hold the variances fixed: they are those of the block of c of our information."""
    found = estimate_random(TABLES[name], model="1", restricted=restricted, max_iterations=100)
    assert found.converged
    assert_allclose(difficulty(found), delta, rtol=0, atol=SIX)
    assert_allclose([found.variance, found.tau**2, found.log_likelihood], others, rtol=0, atol=SIX)
    editions = len(found.c)
    block = np.linalg.inv(found.information[:editions, :editions])
    assert_allclose(std_error(block, found.c), errors, rtol=0, atol=SIX)


def test_observed_errors_of_model_1():
    found = estimate_random(B, model="1", max_iterations=100)
    expected = [0.054422, 0.055093, 0.060320, 0.057217]
    assert_allclose(std_error(found.covariance, found.c), expected, rtol=0, atol=SIX)


@pytest.mark.parametrize(
    ("name", "model", "delta", "errors", "others"),
    [
        (
            "A",
            "2",
            [-0.021492, 0.100980, -0.088822],
            [0.038033, 0.035618, 0.039262],
            (0.918191, 4.331196, 0.519445, 1.269314),
        ),
        (
            "B",
            "2",
            [-0.028724, 0.096813, -0.104478, 0.025538],
            [0.051745, 0.051858, 0.050383, 0.055034],
            (0.980426, 4.242119, 0.504053, 0.166720),
        ),
        (
            "A",
            "2L",
            [-0.029142, 0.126777, -0.112545],
            [0.0382, 0.0326, 0.0321],
            (1.006429, 4.306351, 0.520693, 0.997766),
        ),
        (
            "B",
            "2L",
            [-0.041185, 0.130014, -0.143151, 0.034287],
            [0.0376, 0.0367, 0.0408, 0.0414],
            (0.990365, 4.239678, 0.520634, 0.204530),
        ),
    ],
)
def test_models_2_and_2l(name, model, delta, errors, others):
    found = estimate_random(TABLES[name], **family(model), max_iterations=100)
    assert found.converged
    assert_allclose(difficulty(found), delta, rtol=0, atol=SIX)
    assert_allclose(std_error(found.covariance, found.c), errors, rtol=0, atol=SIX if model == "2" else FOUR)
    log_kappa = normalize(found.sizes, found.c).log_kappa
    ours = [np.exp(log_kappa), found.mean + log_kappa, found.tau, found.log_likelihood]
    assert_allclose(ours, others, rtol=0, atol=SIX)


def test_plain_sandwich_of_model_2():
    """CR0 with every intent a cluster, in all parameters."""
    found = estimate_random(B, model="2", max_iterations=100)
    influence = found.influence()
    expected = [0.040638, 0.059976, 0.055136, 0.046317]
    assert_allclose(std_error(influence.T @ influence, found.c), expected, rtol=0, atol=SIX)
