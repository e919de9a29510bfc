"""Power of a correlation against simulation and published figures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from langdiff.errors import ConfigError
from langdiff.typology.association.correlation import detectable_correlation, power_of_correlation


@pytest.mark.parametrize(("r", "n", "power"), [(0.3, 84.07364, 0.8), (0.5, 28.24841, 0.8)])
def test_sample_sizes_of_r(r, n, power):
    # R, package pwr: pwr.r.test(r = .3, power = .8)$n, pwr.r.test(r = .5, power = .8)$n
    assert_allclose(power_of_correlation(r, n), power, atol=1e-4)


@pytest.mark.parametrize(("r", "n"), [(0.5, 21), (0.35, 61), (0.0, 10)])
def test_power_is_the_share_of_significant_samples(r, n):
    rng, draws = np.random.default_rng(0), 5_000
    x = rng.normal(size=(draws, n))
    y = r * x + np.sqrt(1 - r**2) * rng.normal(size=(draws, n))
    found = np.array([np.corrcoef(a, b)[0, 1] for a, b in zip(x, y, strict=True)])
    t = found * np.sqrt((n - 2) / (1 - found**2))
    share = float(np.mean(np.abs(t) > stats.t.isf(0.025, n - 2)))
    assert (
        abs(share - power_of_correlation(r, n)) < 0.03
    )  # Fisher's approximation, and four times 0.007 of Monte-Carlo error


@given(n=st.integers(5, 500), power=st.floats(0.3, 0.99), n_tests=st.integers(1, 100))
def test_detectable_correlation_inverts_power(n, power, n_tests):
    r = detectable_correlation(n, power=power, n_tests=n_tests)
    assert_allclose(power_of_correlation(r, n, n_tests=n_tests), power, atol=1e-6)
    assert detectable_correlation(n + 10, power=power, n_tests=n_tests) < r


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: power_of_correlation(1.0, 20), "between -1 and 1"),
        (lambda: power_of_correlation(0.5, 3), "at least 4"),
        (lambda: power_of_correlation(0.5, 20, alpha=2), "alpha"),
        (lambda: power_of_correlation(0.5, 20, n_tests=0), "tests"),
        (lambda: detectable_correlation(20, power=0.01), "power"),
    ],
)
def test_bad_arguments(call, message):
    with pytest.raises(ConfigError, match=message):
        call()
