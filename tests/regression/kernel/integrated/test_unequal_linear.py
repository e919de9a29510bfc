"""Model 1 with unequal noise, against the density of a normal vector written out."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space
from scipy.stats import multivariate_normal

from langdiff.regression.kernel.integrated.unequal_rows import LinearLikelihood

CLOSED = 1e-10  # two closed forms of one density
CENTRAL = 1e-6  # central differences with steps of 1e-5


def table(missing=0.25, intents=7, editions=4, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(4.5, 0.6, (intents, 1)) + rng.normal(0, 0.3, (intents, editions))
    z[rng.random(z.shape) < missing] = np.nan
    z[:, :2] = np.where(np.isnan(z[:, :2]), 4.0, z[:, :2])  # two cells in every row
    return z


C = np.array([0.1, -0.2, 0.3, 0.05])
LOG_VARIANCE = np.log([0.04, 0.09, 0.01, 0.16])
PRIOR = np.array([4.4, np.log(0.7)])


def columns(normal):
    """Parameters by column; the prior is a column of level −a and log-variance 2 ln τ."""
    prior = [[-PRIOR[0]], [2 * PRIOR[1]]] if normal else [[], []]
    return np.concatenate([C, prior[0], LOG_VARIANCE, prior[1]])


def test_a_normal_prior_gives_the_density_of_a_normal_vector():
    z = table()
    found = LinearLikelihood(z, normal=True).rows(columns(True))
    for i, row in enumerate(z):
        seen = ~np.isnan(row)
        covariance = np.diag(np.exp(LOG_VARIANCE[seen])) + np.exp(2 * PRIOR[1])
        joint = multivariate_normal(C[seen] + PRIOR[0], covariance)
        assert found.values[i] == pytest.approx(joint.logpdf(row[seen]), abs=CLOSED)
        # the mean of m given the row, by the regression of m on it
        gain = np.exp(2 * PRIOR[1]) * np.linalg.solve(covariance, np.ones(seen.sum()))
        assert found.sizes[i] == pytest.approx(PRIOR[0] + gain @ (row[seen] - C[seen] - PRIOR[0]), abs=CLOSED)


def test_a_flat_prior_gives_the_density_of_differences():
    """An orthonormal basis of what sums to 0, and ½ ln J for the measure dm along (1, …, 1)."""
    z = table()
    found = LinearLikelihood(z, normal=False).rows(columns(False))
    for i, row in enumerate(z):
        seen = np.flatnonzero(~np.isnan(row))
        basis = null_space(np.ones((1, len(seen))))
        covariance = basis.T @ np.diag(np.exp(LOG_VARIANCE[seen])) @ basis
        differences = multivariate_normal(np.zeros(len(seen) - 1), covariance)
        expected = differences.logpdf(basis.T @ (row[seen] - C[seen])) - 0.5 * np.log(len(seen))
        assert found.values[i] == pytest.approx(expected, abs=CLOSED)


@pytest.mark.parametrize("normal", [False, True])
def test_derivatives_are_differences(normal):
    likelihood = LinearLikelihood(table(), normal=normal)
    x = columns(normal)
    steps = 1e-5 * np.eye(len(x))
    rows = likelihood.rows(x, terms=2)
    (block,) = likelihood.blocks(x)
    values = [(likelihood.rows(x + h).values - likelihood.rows(x - h).values) / 2e-5 for h in steps]
    assert_allclose(block.scores, np.array(values).T, atol=CENTRAL)
    assert_allclose(rows.gradient, block.scores.sum(axis=0), atol=CLOSED)
    slopes = [(likelihood.rows(x + h).gradient - likelihood.rows(x - h).gradient) / 2e-5 for h in steps]
    assert_allclose(rows.information, -np.array(slopes), atol=1e-4, rtol=1e-6)


def test_complete_information_is_what_known_sizes_would_give():
    """The mean over tables of minus the second derivative of the density with m known."""
    likelihood = LinearLikelihood(table(missing=0), normal=True)
    complete = likelihood.complete_information(columns(True))
    expected = np.concatenate([7 / np.exp(LOG_VARIANCE), [7 / np.exp(2 * PRIOR[1])], np.full(5, 3.5)])
    assert_allclose(complete, np.diag(expected), rtol=1e-12)
