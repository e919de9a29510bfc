"""The test of a common dispersion, and covariances that hold for any noise."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import f as fisher

from langdiff.errors import ConfigError
from langdiff.regression.kernel.integrated.comparisons import (
    bootstrap_wald,
    compare_dispersions,
    sandwich_covariance,
)
from langdiff.regression.kernel.integrated.unequal import estimate_unequal
from langdiff.tables.rule import likelihood_ratio
from tests.helpers import refused

THREE = np.arange(3)


def draw(deviations, intents=150, seed=0, noise=None):
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((intents, len(deviations))) if noise is None else noise(rng, intents, len(deviations))
    return rng.normal(4.5, 0.6, (intents, 1)) + noise * deviations


def both(z):
    return (estimate_unequal(z, model="1", group=g) for g in (np.arange(z.shape[1]), np.zeros(z.shape[1], int)))


def test_the_sandwich_is_the_infinitesimal_jackknife():
    """Leaving a row out moves the estimate by its influence, to first order in 1/I."""
    z = draw([0.2, 0.3, 0.4], intents=400)
    found = estimate_unequal(z, model="1", group=THREE)
    parameters = np.concatenate([found.c, found.log_variance])
    moves = []
    for i in range(len(z)):
        part = estimate_unequal(np.delete(z, i, axis=0), model="1", group=THREE)
        moves.append(np.concatenate([part.c, part.log_variance]) - parameters)
    jackknife = (len(z) - 1) / len(z) * np.array(moves).T @ moves
    assert_allclose(np.diag(sandwich_covariance(found)), np.diag(jackknife), rtol=0.03)


def test_rows_of_a_cluster_count_together():
    """Every row twice: as clusters of two they say what single rows said."""
    z = draw([0.2, 0.3, 0.4])
    once, twice = (estimate_unequal(table, model="1", group=THREE) for table in (z, np.repeat(z, 2, axis=0)))
    together = sandwich_covariance(twice, twice.by(np.repeat(np.arange(len(z)), 2))[0])
    assert_allclose(together, sandwich_covariance(once), rtol=1e-6, atol=1e-12)
    assert_allclose(sandwich_covariance(twice), together / 2, rtol=0.01, atol=1e-6)


def test_statistics_are_what_they_say():
    own, common = both(draw([0.2, 0.25, 0.3]))
    found, ratio = compare_dispersions(own), 2 * (own.log_likelihood - common.log_likelihood)
    assert likelihood_ratio(own.log_likelihood, common.log_likelihood, 2).p == pytest.approx(np.exp(-ratio / 2))
    assert found.degrees == 2
    rows = own.n_rows
    assert found.wald_p == pytest.approx(fisher.sf(found.wald * (rows - 2) / (2 * (rows - 1)), 2, rows - 2))
    assert np.isnan(compare_dispersions(own, n_clusters=3).wald_p)  # no more clusters than dispersions
    # any basis of the contrasts gives the same statistic
    basis = np.array([[1.0, 1, -2], [1, -1, 0]])
    values, covariance = basis @ own.log_variance, basis @ sandwich_covariance(own)[3:, 3:] @ basis.T
    assert found.wald == pytest.approx(values @ np.linalg.inv(covariance) @ values, rel=1e-9)
    by_information = compare_dispersions(own, own.covariance)
    assert by_information.wald != found.wald
    # all three tests agree to first order where noise is normal
    assert by_information.wald == pytest.approx(ratio, rel=0.3)


def test_heavy_tails_mislead_the_likelihood_ratio_and_not_wald():
    def t5(rng, intents, editions):
        return rng.standard_t(5, (intents, editions))

    p_values = []
    for seed in range(60):
        own, common = both(draw([0.2] * 4, intents=400, seed=seed, noise=t5))
        ratio_p = likelihood_ratio(own.log_likelihood, common.log_likelihood, 3).p
        p_values.append([ratio_p, compare_dispersions(own).wald_p])
    of_ratio, of_wald = np.mean(np.array(p_values) < 0.05, axis=0)
    assert of_ratio > 0.2 > of_wald


def test_a_dispersion_at_the_boundary_has_no_wald_test():
    rng = np.random.default_rng(1)
    shared = rng.normal(0, 0.2, (30, 1))
    z = np.column_stack([np.zeros((30, 1)), shared, -shared]) + rng.normal(0, 0.05, (30, 3)) * [0, 1, 1]
    own, common = both(z)
    assert own.boundary.any()
    found = compare_dispersions(own)
    assert np.isnan(found.wald)
    assert np.isnan(found.wald_p)
    assert likelihood_ratio(own.log_likelihood, common.log_likelihood, found.degrees).p < 0.05
    assert np.isnan(bootstrap_wald(own, lambda: (own, sandwich_covariance(own)), n_resamples=99))


def test_the_bootstrap_counts_samples_that_are_farther():
    z = draw([0.2, 0.2, 0.3, 0.3], intents=100)
    rng = np.random.default_rng(3)
    group = np.arange(4)
    own = estimate_unequal(z, model="1", group=group)

    def resample():
        again = estimate_unequal(z[rng.integers(len(z), size=len(z))], model="1", group=group)
        return again, sandwich_covariance(again)

    assert bootstrap_wald(own, resample, n_resamples=99) <= 0.03
    # samples from noise that is far from the table's are all farther
    far = estimate_unequal(draw([0.4, 0.1, 0.1, 0.4], seed=9), model="1", group=group)
    assert bootstrap_wald(own, lambda: (far, sandwich_covariance(far)), n_resamples=99) == 1
    assert bootstrap_wald(own, lambda: (own, sandwich_covariance(own)), n_resamples=99) == 1 / 100


def test_what_is_refused():
    own, common = both(draw([0.2, 0.25, 0.3]))
    refused(ConfigError, "two dispersions or more", compare_dispersions, common)
    with pytest.raises(ConfigError, match="at least two clusters"):
        sandwich_covariance(own, own.by(np.zeros(150, int))[0])
