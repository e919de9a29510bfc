"""The scale-free likelihood of model 2 against the model as published, written out naively."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm

import langdiff as ld
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood, normalize
from langdiff.regression.kernel.optimizers import maximize_lbfgs
from langdiff.regression.kernel.two_way import solve_two_way

ROUNDING = 1e-9  # both sides are the same algebra in another order
FINITE_DIFFERENCE = 1e-6  # of central differences with a step of 1e-5, relative to the largest entry


def published_log_likelihood(z, m, d, kappa):
    """Mielke et al. (2019), equations 1, 5 and 6, cell by cell."""
    total = 0.0
    sigma2 = np.log(1 + kappa)
    for i, j in np.argwhere(~np.isnan(z)):
        v = np.log(1 + kappa / np.exp(m[i]))
        total += norm.logpdf(z[i, j], m[i] + d[j] + (sigma2 - v) / 2, np.sqrt(v))
    return total


def log_likelihood(likelihood, mu, c):
    return -likelihood.intent_values(mu, c).sum()


@st.composite
def problems(draw):
    """Draw z with connected gaps, and parameters m, d, kappa."""
    n_intents, n_editions = draw(st.integers(2, 8)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, d = rng.normal(2, 1.5, n_intents), rng.normal(0, 0.5, n_editions)
    kappa = draw(st.floats(0.01, 20))
    z = m[:, None] + d + rng.normal(0, draw(st.floats(0.05, 2)), (n_intents, n_editions))
    gone = rng.random((n_intents, n_editions)) < draw(st.sampled_from([0.0, 0.4]))
    gone[0], gone[:, 0] = False, False
    z[gone] = np.nan
    return z, m, d, kappa


def scale_free(m, d, kappa):
    return m - np.log(kappa), d + np.log(kappa) + 0.5 * np.log1p(kappa)


@given(problems())
def test_likelihood_is_the_published_one(problem):
    z, m, d, kappa = problem
    likelihood = ScaleFreeLikelihood(solve_two_way(z))
    ours = log_likelihood(likelihood, *scale_free(m, d, kappa))
    assert_allclose(ours, published_log_likelihood(z, m, d, kappa), rtol=ROUNDING, atol=ROUNDING)


@given(problems())
def test_restricted_likelihood_counts_each_variance_once_less(problem):
    z, m, d, kappa = problem
    two_way, point = solve_two_way(z), scale_free(m, d, kappa)
    plain = ScaleFreeLikelihood(two_way).intent_values(*point)
    restricted = ScaleFreeLikelihood(two_way, restricted=True).intent_values(*point)
    v = np.log1p(kappa / np.exp(m))
    assert_allclose(plain - restricted, 0.5 * np.log(2 * np.pi * v), rtol=ROUNDING, atol=ROUNDING)


@given(problems(), st.floats(0.1, 10))
def test_scale_of_intents_is_unidentified(problem, t):
    z, m, d, kappa = problem
    shift = np.log(t) + 0.5 * (np.log1p(t * kappa) - np.log1p(kappa))
    moved = published_log_likelihood(z, m + np.log(t), d - shift, t * kappa)
    assert_allclose(moved, published_log_likelihood(z, m, d, kappa), rtol=ROUNDING, atol=ROUNDING)
    for one, other in zip(scale_free(m, d, kappa), scale_free(m + np.log(t), d - shift, t * kappa), strict=True):
        assert_allclose(one, other, rtol=ROUNDING, atol=ROUNDING)


@given(problems())
def test_normalize_undoes_scale_free(problem):
    z, m, d, kappa = problem
    mu, c = scale_free(m, d, kappa)
    found = normalize(mu, c)
    assert_allclose(np.exp(found.difficulty).mean(), 1, rtol=ROUNDING)
    back = published_log_likelihood(z, found.log_intent_size, found.difficulty, np.exp(found.log_kappa))
    assert_allclose(back, published_log_likelihood(z, m, d, kappa), rtol=ROUNDING, atol=ROUNDING)


def numerical_gradient(function, x, step=1e-5):
    return np.array([(function(x + h) - function(x - h)) / (2 * step) for h in step * np.eye(len(x))])


@given(problems(), st.booleans())
@settings(max_examples=50, deadline=None)
def test_gradient_is_that_of_central_differences(problem, restricted):
    z, m, d, kappa = problem
    likelihood = ScaleFreeLikelihood(solve_two_way(z), restricted)
    mu, c = scale_free(m, d, kappa)
    n_intents = len(mu)
    ours = likelihood.value_and_gradient(mu, c, np.zeros(n_intents))
    theirs = numerical_gradient(
        lambda x: -log_likelihood(likelihood, x[:n_intents], x[n_intents:]), np.concatenate([mu, c])
    )
    analytic = np.concatenate([ours.mu, ours.c])
    assert_allclose(analytic, theirs, atol=FINITE_DIFFERENCE * max(1, np.abs(theirs).max()))
    assert_allclose(ours.value, -log_likelihood(likelihood, mu, c), rtol=ROUNDING)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_information_is_the_schur_complement_of_a_numerical_hessian(missing, restricted):
    surprisals = ld.simulate(15, 4, sigma=1.5, missing=missing, seed=2).surprisals
    likelihood = ScaleFreeLikelihood(solve_two_way(np.log(surprisals.bits.to_numpy())), restricted)
    best = maximize_lbfgs(likelihood, max_iterations=1000)
    n_intents = len(best.sizes)

    def gradient(x):
        g = likelihood.value_and_gradient(x[:n_intents], x[n_intents:], np.zeros(n_intents))
        return np.concatenate([g.mu, g.c])

    for mu, c in [(best.sizes, best.c), (best.sizes + 0.3, best.c - 0.25)]:  # off the optimum residuals do not add to 0
        hessian = numerical_gradient(gradient, np.concatenate([mu, c]))
        mixed = hessian[n_intents:, :n_intents]
        schur = hessian[n_intents:, n_intents:] - mixed @ np.linalg.solve(hessian[:n_intents, :n_intents], mixed.T)
        ours = likelihood.information(mu, c)
        assert_allclose(ours, schur, atol=FINITE_DIFFERENCE * np.abs(schur).max())


def test_information_does_not_depend_on_the_blocks_of_rows(monkeypatch):
    surprisals = ld.simulate(23, 4, missing=0.2, seed=2).surprisals
    likelihood = ScaleFreeLikelihood(solve_two_way(np.log(surprisals.bits.to_numpy())))
    point = likelihood.start()
    whole = likelihood.information(*point)
    monkeypatch.setattr("langdiff.regression.kernel.two_way.CELLS_AT_A_TIME", 20)
    assert_allclose(likelihood.information(*point), whole, rtol=ROUNDING)


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_optimum_is_that_of_another_optimizer_on_the_published_likelihood(missing):
    """Trust-region steps with numerical derivatives on m, d and ln kappa, the scale left free."""
    surprisals = ld.simulate(6, 3, sigma=1.0, intent_sizes=[3, 5, 8, 13, 21, 34], missing=missing, seed=4).surprisals
    z = np.log(surprisals.bits.to_numpy())
    n_intents = len(z)

    def minus(x):
        return -published_log_likelihood(z, x[:n_intents], x[n_intents:-1], np.exp(x[-1]))

    x0 = np.concatenate([np.nanmean(z, axis=1), np.zeros(3), [0.0]])
    found = minimize(minus, x0, method="trust-constr", options={"maxiter": 2000, "gtol": 1e-7, "xtol": 1e-12})
    ours = ld.fit(surprisals, restricted=False)
    assert ours.converged
    assert ours.log_likelihood == pytest.approx(-found.fun, abs=1e-6)
    assert ours.log_likelihood >= -found.fun - 1e-9
    theirs = found.x[n_intents:-1] - np.log(np.exp(found.x[n_intents:-1]).mean())
    assert_allclose(ours.difficulty, theirs, atol=1e-4)  # the trust region stops at a flatter point


def test_same_difficulties_whatever_the_start():
    surprisals = ld.simulate(60, 5, missing=0.2, seed=9).surprisals
    likelihood = ScaleFreeLikelihood(solve_two_way(np.log(surprisals.bits.to_numpy())))
    best = maximize_lbfgs(likelihood, max_iterations=1000)
    rng = np.random.default_rng(1)
    for _ in range(10):
        start = best.sizes + rng.normal(0, 1, 60) + rng.normal(0, 2), best.c + rng.normal(0, 1, 5)
        other = maximize_lbfgs(likelihood, start, max_iterations=1000)
        assert other.converged
        assert other.n_iterations > best.n_iterations  # it did start elsewhere
        assert other.log_likelihood == pytest.approx(best.log_likelihood, rel=1e-10)
        assert_allclose(other.c - other.c.mean(), best.c - best.c.mean(), atol=1e-6)
        assert_allclose(other.sizes, best.sizes, atol=1e-4)
