"""Model 2 with unequal noise, against integrals by SciPy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import norm

from langdiff.regression.kernel.integrated.unequal_rows import SizeLikelihood

INTEGRALS = 1e-8  # with enough nodes
MANY = 81
D = np.array([0.1, -0.2, 0.3, 0.05])
LOG_KAPPA = np.log([0.5, 2.0, 1.0, 4.0])
PRIOR = np.array([4.4, np.log(0.7)])


def table(intents=6, seed=0):
    rng = np.random.default_rng(seed)
    m = rng.normal(4.5, 0.5, (intents, 1))
    v = np.log1p(np.exp(LOG_KAPPA - m))
    z = m + D - v / 2 + np.sqrt(v) * rng.standard_normal((intents, 4))
    z[0, 2], z[1, :2], z[2, 0] = np.nan, np.nan, np.nan
    return z


def joint(row, m, normal):
    """Density of a row and a size, from the formula of the model."""
    seen = ~np.isnan(row)
    v = np.log(1 + np.exp(LOG_KAPPA[seen]) / np.exp(m))
    density = np.prod(norm.pdf(row[seen], m + D[seen] - v / 2, np.sqrt(v)))
    return density * (norm.pdf(m, PRIOR[0], np.exp(PRIOR[1])) if normal else 1)


@pytest.mark.parametrize("normal", [False, True])
def test_values_and_sizes_are_integrals(normal):
    z = table()
    found = SizeLikelihood(z, normal=normal, nodes=MANY).rows(np.concatenate([D, LOG_KAPPA, PRIOR if normal else []]))
    for i, row in enumerate(z):
        points = {"epsabs": 0, "epsrel": 1e-11, "limit": 500, "points": [np.nanmean(row)]}
        total = quad(lambda m, row=row: joint(row, m, normal), -4, 12, **points)[0]
        mean = quad(lambda m, row=row: m * joint(row, m, normal), -4, 12, **points)[0] / total
        assert found.values[i] == pytest.approx(np.log(total), abs=INTEGRALS)
        assert found.sizes[i] == pytest.approx(mean, abs=INTEGRALS)


def test_fifteen_nodes_are_close():
    x = np.concatenate([D, LOG_KAPPA, PRIOR])
    few, many = (SizeLikelihood(table(), normal=True, nodes=n).rows(x).values.sum() for n in (15, MANY))
    assert 1e-12 < abs(few - many) < 1e-5


@pytest.mark.parametrize("normal", [False, True])
def test_derivatives_are_differences(normal):
    likelihood = SizeLikelihood(table(), normal=normal, nodes=MANY)
    x = np.concatenate([D, LOG_KAPPA, PRIOR if normal else []])
    steps = 1e-4 * np.eye(len(x))
    rows = likelihood.rows(x)
    scores = [(likelihood.rows(x + h).values - likelihood.rows(x - h).values) / 2e-4 for h in steps]
    assert_allclose(rows.scores, np.array(scores).T, atol=1e-5, rtol=1e-6)
    for which in (slice(None), np.array([1, 4])):
        slopes = [(likelihood.rows(x + h).scores - likelihood.rows(x - h).scores)[which].sum(axis=0) for h in steps]
        assert_allclose(likelihood.information(x, which), -np.array(slopes) / 2e-4, atol=2e-4, rtol=1e-5)


@pytest.mark.parametrize("t", [0.1, 7.0])
@pytest.mark.parametrize("normal", [False, True])
def test_the_unit_of_bits_is_unidentified(t, normal):
    """All n and κ times t, D lower by ln t."""
    z = table()
    x = np.concatenate([D, LOG_KAPPA, PRIOR if normal else []])
    shift = np.log(t) * np.concatenate([-np.ones(4), np.ones(4), [1, 0] if normal else []])
    here, there = (SizeLikelihood(z, normal=normal, nodes=15).rows(parameters) for parameters in (x, x + shift))
    assert_allclose(there.values, here.values, rtol=1e-11)
    assert_allclose(there.sizes, here.sizes + np.log(t), rtol=1e-9)


def test_blocks_of_rows_change_nothing(monkeypatch):
    x = np.concatenate([D, LOG_KAPPA, PRIOR])
    whole = SizeLikelihood(table(), normal=True, nodes=15)
    rows, information = whole.rows(x), whole.information(x, slice(None))
    monkeypatch.setattr("langdiff.regression.kernel.integrated.unequal_rows.CELLS_AT_A_TIME", 120)  # two rows
    parts = SizeLikelihood(table(), normal=True, nodes=15)
    assert len(parts._blocks(slice(None))) == 3
    assert_allclose(parts.rows(x).scores, rows.scores, rtol=1e-12)
    assert_allclose(parts.information(x, slice(None)), information, rtol=1e-10, atol=1e-10)


def test_complete_information_is_the_expectation_with_known_sizes():
    """Of the squared derivative of the density of one cell, by quadrature over z."""
    likelihood = SizeLikelihood(table(), normal=True, nodes=15)
    x = np.concatenate([D, LOG_KAPPA, PRIOR])
    modes = likelihood._find_modes(x, np.arange(6))
    t, weights = np.polynomial.hermite_e.hermegauss(20)
    expected = np.zeros((2, 2))
    for mode, row in zip(modes, table(), strict=True):
        if np.isnan(row[3]):
            continue

        def density(z, level, log_kappa, mode=mode):
            v = np.log1p(np.exp(log_kappa - mode))
            return norm.logpdf(z, mode + level - v / 2, np.sqrt(v))

        v = np.log1p(np.exp(LOG_KAPPA[3] - mode))
        z = mode + D[3] - v / 2 + np.sqrt(v) * t
        h = 1e-5
        slopes = np.array(
            [
                density(z, D[3] + h, LOG_KAPPA[3]) - density(z, D[3] - h, LOG_KAPPA[3]),
                density(z, D[3], LOG_KAPPA[3] + h) - density(z, D[3], LOG_KAPPA[3] - h),
            ]
        ) / (2 * h)
        expected += (slopes * weights / weights.sum()) @ slopes.T
    complete = likelihood.complete_information(x)
    assert_allclose(complete[np.ix_([3, 7], [3, 7])], expected, rtol=1e-6)
    assert_allclose(complete[-2:, -2:], 6 * np.diag([1 / 0.7**2, 2]), rtol=1e-12)
