"""Variances and slopes of correlated residuals, against statsmodels, dense brute force and closed forms."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy import optimize, stats

from langdiff.typology.association.related import fit_related, interval_of_share, slopes
from langdiff.typology.association.relatives import RANGES, exponential_kernel, great_circle
from langdiff.typology.association.variance import (
    OneEffect,
    coefficients,
    profile_share,
    reml_variances,
    reml_variances_beside,
    restricted_log_likelihood,
    share_interval,
)
from langdiff.typology.family_tree import parse_newick, plant

AT_THE_END = 1e-4  # in −2 ln L: our share stops at 1 − 1e-6, brute force goes on
SAME = 1e-6  # two optimizers of one criterion
ROUNDING = 1e-9


def random_tree(n, rng):
    """Return the covariance of n leaves, joined at random by branches of random lengths, in three families."""
    groups = [f"l{i}:{rng.uniform(0.5, 2):.3f}" for i in range(n)]
    while len(groups) > 3:
        i, j = rng.choice(len(groups), 2, replace=False)
        joined = f"({groups[i]},{groups[j]}):{rng.uniform(0.2, 2):.3f}"
        groups = [group for k, group in enumerate(groups) if k not in (i, j)] + [joined]
    tree = plant([parse_newick(group) for group in groups])
    return tree.covariance([f"l{i}" for i in range(n)]).to_numpy()


def problem(seed, n=40, share=0.6, slope=0.5):
    rng = np.random.default_rng(seed)
    tree = random_tree(n, rng)
    design = np.column_stack([np.ones(n), rng.normal(size=n), rng.multivariate_normal(np.zeros(n), tree)])
    noise = rng.multivariate_normal(np.zeros(n), share * tree + (1 - share) * np.eye(n))
    return design, design @ [1, slope, 0] + noise, tree


def dense_criterion(design, y, covariance):
    """Return minus twice the restricted log-likelihood by the definition: the density of contrasts of y."""
    contrasts = np.linalg.svd(design, full_matrices=True)[0][:, design.shape[1] :]
    left = contrasts.T @ y
    density = stats.multivariate_normal(cov=contrasts.T @ covariance @ contrasts).logpdf(left)
    return -2 * density


def test_the_likelihood_is_the_density_of_contrasts_but_for_a_constant_of_the_design():
    design, y, tree = problem(0)
    constant = np.linalg.slogdet(design.T @ design)[1]
    for share in (0.0, 0.3, 0.9):
        covariance = 2.5 * (share * tree + (1 - share) * np.eye(len(y)))
        expected = -0.5 * (dense_criterion(design, y, covariance) + constant)
        assert_allclose(restricted_log_likelihood(design, y, covariance), expected, rtol=ROUNDING)


@pytest.mark.parametrize("seed", range(6))
def test_one_effect_is_that_of_dense_brute_force(seed):
    design, y, tree = problem(seed, share=(0.0, 0.3, 0.6, 0.8, 0.9, 1.0)[seed])
    n = len(y)

    def criterion(logs):
        return dense_criterion(design, y, np.exp(logs[0]) * tree + np.exp(logs[1]) * np.eye(n))

    starts = [(-3.0, 0.0), (0.0, -1.0), (0.0, -6.0)]
    options = {"xatol": 1e-9, "fatol": 1e-12, "maxiter": 4000, "maxfev": 4000}
    found = min(
        (optimize.minimize(criterion, start, method="Nelder-Mead", options=options) for start in starts),
        key=lambda result: result.fun,
    )
    brute = np.exp(found.x)
    ours = OneEffect(design, y, tree).variances()
    assert -dense_criterion(design, y, ours[0] * tree + ours[1] * np.eye(n)) >= -found.fun - AT_THE_END
    if min(brute) > 1e-4:  # not at the boundary, where brute force creeps
        assert_allclose(ours, brute, rtol=1e-4)
        assert_allclose(slopes_of(design, y, tree, ours), slopes_of(design, y, tree, brute), atol=SAME)


def slopes_of(design, y, tree, variances):
    """Return generalized least squares of statsmodels."""
    covariance = variances[0] * tree + variances[1] * np.eye(len(y))
    fitted = sm.GLS(y, design, sigma=covariance).fit(cov_type="fixed scale")
    return np.append(fitted.params, fitted.bse)


@pytest.mark.parametrize("share", [0.0, 0.4, 0.95])
def test_coefficients_at_a_fixed_share_are_those_of_statsmodels(share):
    design, y, tree = problem(3)
    curve = OneEffect(design, y, tree)
    variance = curve.profile(share)[1]
    identity = np.eye(len(y))
    fitted = sm.GLS(y, design, sigma=share * tree + (1 - share) * identity).fit()
    found = coefficients(design, y, [tree, identity], variance * np.array([share, 1 - share]))
    assert_allclose(found.estimate, fitted.params, rtol=SAME)
    assert_allclose(found.std_error, fitted.bse, rtol=SAME)  # both divide by n - p
    assert_allclose(variance, fitted.scale, rtol=SAME)


def test_two_effects_by_their_two_routes_agree_with_one_where_the_other_is_none():
    design, y, tree = problem(4)
    one = OneEffect(design, y, tree).variances()
    assert_allclose(reml_variances(design, y, [tree]), one, rtol=1e-3)
    nothing = np.zeros_like(tree)
    assert_allclose(reml_variances_beside(design, y, [tree], nothing), one, rtol=1e-3)


def test_errors_that_are_known_are_not_counted_among_the_residuals():
    design, y, tree = problem(5, share=0.5)
    n = len(y)
    plain = OneEffect(design, y, tree).variances()
    known = 0.1 * np.eye(n)
    beside = reml_variances_beside(design, y, [tree], known)
    assert_allclose(beside, plain - [0, 0.1], atol=1e-3)  # the same covariance in all
    parts = [tree, np.eye(n)]
    first, second = coefficients(design, y, parts, plain), coefficients(design, y, parts, plain - [0, 0.1], known)
    assert_allclose(first.std_error, second.std_error, rtol=ROUNDING)
    shifted = reml_variances_beside(design, y, [tree], known + 3.0)  # an error that all languages share
    assert_allclose(shifted, beside, atol=1e-3)


def test_without_relatives_degrees_of_freedom_are_those_of_least_squares():
    design, y, _ = problem(6)
    fitted = sm.OLS(y, design).fit()
    found = coefficients(design, y, [np.eye(len(y))], np.array([fitted.scale]))
    assert_allclose(found.degrees, fitted.df_resid)
    assert_allclose(found.std_error, fitted.bse, rtol=ROUNDING)


def test_interval_of_a_share_is_where_the_likelihood_has_fallen_by_half_a_quantile():
    design, y, tree = problem(7, n=120, share=0.5)
    fit = fit_related(design, y, tree, None)
    low, high = interval_of_share(design, y, fit, "phylo")
    assert 0 < low < fit.share("phylo") < high < 1
    curve = OneEffect(design, y, tree)
    for end in (low, high):
        assert_allclose(fit.log_likelihood - curve.profile(end)[0], stats.chi2.ppf(0.95, 1) / 2, atol=1e-4)
    for name in ("area", "residual"):
        assert np.isnan(interval_of_share(design, y, fit, name)).all()
    assert share_interval(lambda share: 0.0, 0.5, 1.0) == (0.0, 1.0)


def test_tree_and_area_together_and_their_range():
    rng = np.random.default_rng(8)
    n = 60
    design, _, tree = problem(8, n=n)
    km = great_circle(rng.uniform(-50, 60, n), rng.uniform(0, 150, n))
    covariance = 0.2 * tree + 0.7 * exponential_kernel(km, 2000.0) + 0.1 * np.eye(n)
    y = rng.multivariate_normal(np.zeros(n), covariance)
    both = fit_related(design, y, tree, km)
    assert both.names == ("phylo", "area", "residual")
    assert_allclose(sum(map(both.share, both.names)), 1)
    each = [fit_related(design, y, tree, None), fit_related(design, y, None, km), fit_related(design, y, None, None)]
    assert both.log_likelihood >= max(fit.log_likelihood for fit in each) - SAME
    assert min(fit.log_likelihood for fit in each) == each[2].log_likelihood
    assert both.range_km in RANGES

    def criterion(logs):
        parts = (tree, exponential_kernel(km, both.range_km), np.eye(n))
        return dense_criterion(design, y, sum(np.exp(log) * part for log, part in zip(logs, parts, strict=True)))

    options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 6000, "maxfev": 6000}
    starts = [(-1.0, -1.0, -1.0), (-9.0, 0.0, -2.0)]
    best = min(optimize.minimize(criterion, start, method="Nelder-Mead", options=options).fun for start in starts)
    assert_allclose(criterion(np.log(np.maximum(both.variances, 1e-12))), best, atol=1e-4)
    low, high = interval_of_share(design, y, both, "area")
    assert low <= both.share("area") <= high
    assert slopes(design, y, both).estimate.shape == (3,)


@pytest.mark.parametrize("share", [0.3, 0.8])
def test_the_profile_of_one_share_of_three_is_that_of_dense_brute_force(share):
    rng = np.random.default_rng(9)
    n = 36
    design, _, tree = problem(9, n=n)
    families, scripts = rng.integers(0, 6, n), rng.integers(0, 4, n)
    parts = [tree, *(np.equal.outer(labels, labels).astype(float) for labels in (families, scripts))]
    y = rng.multivariate_normal(np.zeros(n), np.tensordot([0.3, 0.3, 0.2, 0.2], [*parts, np.eye(n)], axes=1))

    def covariance(logs):  # the variances of family, script and the rest; that of the tree has the share
        others = np.exp(logs)
        of_tree = others.sum() * share / (1 - share)
        return of_tree * tree + np.tensordot(others, [*parts[1:], np.eye(n)], axes=1)

    options = {"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000, "maxfev": 4000}
    starts = [(-1.0, -1.0, -1.0), (-8.0, -8.0, 0.0)]
    found = [
        optimize.minimize(
            lambda logs: dense_criterion(design, y, covariance(logs)), start, method="Nelder-Mead", options=options
        )
        for start in starts
    ]
    best = min(found, key=lambda result: result.fun)
    expected = restricted_log_likelihood(design, y, covariance(best.x))
    assert_allclose(profile_share(design, y, parts, 0, share), expected, atol=AT_THE_END)


def test_the_profile_is_highest_at_the_estimated_share():
    rng = np.random.default_rng(10)
    n = 60
    labels = [rng.integers(0, groups, n) for groups in (8, 5, 4)]
    parts = [np.equal.outer(label, label).astype(float) for label in labels]
    y = rng.multivariate_normal(np.zeros(n), np.tensordot([0.3, 0.3, 0.2, 0.2], [*parts, np.eye(n)], axes=1))
    design = np.ones((n, 1))
    variances = reml_variances(design, y, parts)
    likelihood = restricted_log_likelihood(design, y, np.tensordot(variances, [*parts, np.eye(n)], axes=1))
    for place, share in enumerate(variances[:-1] / variances.sum()):
        assert_allclose(profile_share(design, y, parts, place, share), likelihood, atol=SAME)
        for other in (share / 2, share + 0.1):
            assert profile_share(design, y, parts, place, other) < likelihood - SAME
