"""Expected bits, and the comparison of totals that needs no model."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import DataError
from langdiff.regression.kernel.integrated.comparisons import log_total_ratio, sandwich_covariance
from langdiff.regression.kernel.integrated.unequal import estimate_unequal
from tests.helpers import refused

FOUR = np.arange(4)
DEVIATIONS = np.array([0.2, 0.3, 0.5, 0.8])


def draw(model, intents=300, seed=0, deviations=DEVIATIONS):
    rng = np.random.default_rng(seed)
    m = rng.normal(4.5, 0.6, (intents, 1))
    variance = deviations**2 if model == "1" else np.log1p(np.expm1(deviations**2) * np.exp(4.5 - m))
    shift = 0 if model == "1" else -0.5 * variance
    return m + shift + np.sqrt(variance) * rng.standard_normal((intents, len(deviations)))


def difference(found, one, other, covariance=None):
    """Difference of levels of expected bits, with its standard error."""
    values, jacobian = found.expected()
    contrast = jacobian[one] - jacobian[other]
    covariance = found.covariance if covariance is None else covariance
    return values[one] - values[other], np.sqrt(contrast @ covariance @ contrast)


@pytest.mark.parametrize(("model", "slope"), [("1", 0.5), ("2", 0.0)])
def test_levels_and_their_slopes(model, slope):
    """Against differences of the formula in every parameter."""
    found = estimate_unequal(draw(model), model=model, group=np.array([0, 1, 1, 2]))
    x = np.concatenate([found.c, found.log_variance])

    def formula(x):
        return x[:4] + slope * np.exp(x[4:])[found.group]

    values, jacobian = found.expected()
    slopes = np.array([(formula(x + h) - formula(x - h)) / 2e-6 for h in 1e-6 * np.eye(len(x))]).T
    assert_allclose(values, formula(x), rtol=1e-12)
    assert_allclose(jacobian, slopes, atol=1e-8)


def test_expected_bits_of_model_1_have_the_error_of_normal_noise():
    """[s_j² + s_k² + ½(s_j⁴ + s_k⁴)]/I if sizes were known; with many editions they nearly are."""
    deviations = np.full(40, 0.4)
    found = estimate_unequal(draw("1", 500, deviations=deviations), model="1", group=np.arange(40))
    errors = np.array([difference(found, j, 0)[1] ** 2 for j in range(1, 40)])
    variance = np.exp(found.log_variance)
    known = (variance[1:] + variance[0] + 0.5 * (variance[1:] ** 2 + variance[0] ** 2)) / 500
    assert_allclose(errors, known, rtol=0.01)


@pytest.mark.parametrize("model", ["1", "2"])
def test_the_ratio_of_totals_is_that_of_expected_bits(model):
    z = draw(model, 4000, seed=5, deviations=np.array([0.1, 0.2, 0.3, 0.6]))
    found = estimate_unequal(z, model=model, group=FOUR)
    estimate, std_error = difference(found, 3, 0, sandwich_covariance(found))
    free = log_total_ratio(np.exp(z), 3, 0)
    assert estimate == pytest.approx(free.estimate, abs=3 * free.std_error)
    assert free.std_error > std_error
    if model == "1":  # medians differ by half the difference of variances
        assert abs(found.c[3] - found.c[0] - free.estimate) > 6 * free.std_error


def test_the_error_of_the_ratio_of_totals_is_the_jackknife():
    bits = np.exp(draw("1", 200))
    bits[:20, 1] = np.nan
    clusters = np.arange(200) // 5
    for labels in (None, clusters):
        found = log_total_ratio(bits, 1, 0, labels)
        common = ~np.isnan(bits).any(axis=1)
        assert found.estimate == pytest.approx(np.log(bits[common, 1].sum() / bits[common, 0].sum()), rel=1e-12)
        drop = np.arange(200) if labels is None else labels
        left = [log_total_ratio(bits[drop != g], 1, 0).estimate for g in np.unique(drop[common])]
        jackknife = (len(left) - 1) / len(left) * np.sum((np.array(left) - np.mean(left)) ** 2)
        assert found.std_error**2 == pytest.approx(jackknife, rel=0.1)


def test_single_rows_have_the_error_of_a_mean():
    bits = np.exp(draw("1", 7))
    influence = bits[:, 2] / bits[:, 2].mean() - bits[:, 0] / bits[:, 0].mean()
    expected = influence.std(ddof=1) / np.sqrt(7)
    assert log_total_ratio(bits, 2, 0).std_error == pytest.approx(expected, rel=1e-12)
    twice = log_total_ratio(np.repeat(bits, 2, axis=0), 2, 0, np.repeat(np.arange(7), 2))
    assert twice.std_error == pytest.approx(expected, rel=1e-12)


def test_too_few_intents_in_common_are_refused():
    bits = np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 4.0]])
    refused(DataError, "have 1 intents in common, of 1 cluster", log_total_ratio, bits, 0, 1)
