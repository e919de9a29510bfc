"""Newton's method and the restricted likelihood, against L-BFGS, SciPy and simulated truth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import LinAlgError
from scipy.optimize import minimize, minimize_scalar

import langdiff as ld
from langdiff.regression import Optimizer
from langdiff.regression.kernel import optimizers as newton_module
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.optimizers import maximize_lbfgs, maximize_newton
from langdiff.regression.kernel.two_way import solve_two_way

OPTIMIZERS = 1e-6  # nats; two optimizers of one problem, far below any standard error here
ROUNDING = 1e-9  # relative, of two log-likelihoods at the same optimum


def make_likelihood(intents, editions, missing, *, restricted=False, seed=1, **settings):
    surprisals = ld.simulate(intents, editions, missing=missing, seed=seed, **settings).surprisals
    z = np.log(surprisals.bits.to_numpy())
    return ScaleFreeLikelihood(solve_two_way(z[(~np.isnan(z)).sum(axis=1) > 1]), restricted)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("size", [(50, 5), (500, 20), (4336, 106)])
def test_newton_and_lbfgs_agree(size, missing, restricted):
    likelihood = make_likelihood(*size, missing, restricted=restricted)
    newton = maximize_newton(likelihood, max_iterations=100)
    lbfgs = maximize_lbfgs(likelihood, max_iterations=1000, tolerance=1e-6)
    assert newton.converged
    assert newton.n_iterations < 10
    assert newton.grad_norm < newton_module.NEWTON_TOLERANCE
    assert_allclose(newton.c - newton.c.mean(), lbfgs.c - lbfgs.c.mean(), atol=OPTIMIZERS)
    assert newton.log_likelihood == pytest.approx(lbfgs.log_likelihood, rel=ROUNDING)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("size", [(50, 5), (500, 20)])
def test_model_1_is_what_an_optimizer_finds(size, missing):
    """On m, d and ln sigma of the likelihood written out, with the scale left free."""
    surprisals = ld.simulate(*size, model="1", missing=missing, seed=2).surprisals
    z = np.log(surprisals.bits.to_numpy())
    observed = ~np.isnan(z)
    n_intents = len(z)

    def minus(x):
        m, d, log_sigma = x[:n_intents], x[n_intents:-1], x[-1]
        r = np.where(observed, z - m[:, None] - d, 0.0)
        w = np.exp(-2 * log_sigma)
        value = observed.sum() * (log_sigma + 0.5 * np.log(2 * np.pi)) + 0.5 * w * np.sum(r**2)
        slope = np.concatenate([-w * r.sum(axis=1), -w * r.sum(axis=0), [observed.sum() - w * np.sum(r**2)]])
        return value, slope

    start = np.concatenate([np.nanmean(z, axis=1), np.zeros(size[1]), [-1.0]])
    found = minimize(minus, start, jac=True, method="L-BFGS-B", options={"maxiter": 5000, "ftol": 1e-16, "gtol": 1e-8})
    ours = ld.fit(surprisals, model="1")
    theirs = found.x[n_intents:-1] - np.log(np.exp(found.x[n_intents:-1]).mean())
    assert_allclose(ours.difficulty, theirs, atol=OPTIMIZERS)
    assert ours.single_cell_intents == 0  # else the likelihoods would be of different cells
    assert ours.log_likelihood == pytest.approx(-found.fun, rel=ROUNDING)


@pytest.mark.parametrize("restricted", [False, True])
def test_profile_finds_the_mode_of_every_intent(restricted):
    likelihood = make_likelihood(12, 4, 0.3, restricted=restricted, sigma=2.0, seed=3)
    mu, c = likelihood.start()
    c = c + np.linspace(-0.3, 0.3, len(c))
    found = likelihood.profile(mu, c)
    assert found.excess < 1e-9
    assert_allclose(found.values, likelihood.intent_values(found.mu, c), rtol=ROUNDING)
    assert_allclose(found.of_c, likelihood.value_and_gradient(found.mu, c, np.zeros(len(mu))).c, atol=1e-9)
    for i in range(len(mu)):

        def value(x, i=i):
            moved = found.mu.copy()
            moved[i] = x
            return likelihood.intent_values(moved, c)[i]

        best = minimize_scalar(
            value, bounds=(found.mu[i] - 1, found.mu[i] + 1), method="bounded", options={"xatol": 1e-9}
        )
        assert found.mu[i] == pytest.approx(best.x, abs=1e-5)


def test_expected_information_is_the_mean_of_the_observed():
    """At the truth, over 400 data sets; the standard error of a mean entry is about 1 % of the largest."""
    observed = []
    for seed in range(400):
        truth = ld.simulate(
            8, 3, sigma=1.0, intent_sizes=[30, 40, 50, 60, 70, 80, 90, 100], difficulties=[0, 0.1, -0.1], seed=seed
        )
        surprisals = truth.surprisals
        likelihood = ScaleFreeLikelihood(solve_two_way(np.log(surprisals.bits.to_numpy())))
        kappa = np.expm1(truth.sigma**2)
        mu = np.log(truth.intent_size.to_numpy() / kappa)
        c = truth.difficulty.to_numpy() + np.log(kappa) + 0.5 * np.log1p(kappa)
        row, a, b = likelihood._rows(mu, c)
        r = likelihood.two_way.residual - a[:, None] - b
        w, p = 1 / row.v, row.p
        mixed = ((1 + 0.5 * p) * w)[:, None] - (p * w**2)[:, None] * r
        observed.append((w.sum(), mixed.mean(axis=0), likelihood._curvature(row)))
    expected = likelihood.expected_information(mu, c)
    mixed, curvature = ((1 + 0.5 * p) * w), likelihood._expected_curvature(row)
    assert_allclose(np.mean([o[2] for o in observed], axis=0), curvature, rtol=0.03)
    assert_allclose(np.mean([o[1] for o in observed], axis=0), mixed.mean(), rtol=0.03)
    assert_allclose(expected, w.sum() * np.eye(3) - np.sum(mixed**2 / curvature), rtol=ROUNDING)


def test_lbfgs_takes_over_where_newton_fails(monkeypatch):
    surprisals = ld.simulate(50, 5, missing=0.2, seed=1).surprisals
    usual = ld.fit(surprisals)
    assert usual.method == "newton"

    def refuse(_):
        raise LinAlgError("not positive definite")

    monkeypatch.setattr(newton_module, "cho_factor", refuse)
    other = ld.fit(surprisals)
    assert other.method == "newton, then lbfgs"
    assert other.converged
    assert_allclose(other.difficulty, usual.difficulty, atol=OPTIMIZERS)


def test_methods_by_name():
    surprisals = ld.simulate(50, 5, missing=0.2, seed=1).surprisals
    newton, lbfgs = ld.fit(surprisals, optimizer=Optimizer("newton")), ld.fit(surprisals, optimizer=Optimizer("lbfgs"))
    assert (newton.method, lbfgs.method) == ("newton", "lbfgs")
    assert_allclose(newton.difficulty, lbfgs.difficulty, atol=OPTIMIZERS)


def uneven(seed):
    """Half the rows in two editions only, and the intents small: where incidental parameters hurt."""
    truth = ld.simulate(1000, 6, sigma=1.3, intent_sizes=np.full(1000, 15.0), difficulties=np.zeros(6), seed=seed)
    surprisals = truth.surprisals
    bits = surprisals.bits.copy()
    bits.iloc[:500, 2:] = np.nan
    return truth, bits


@pytest.mark.slow
def test_restricted_likelihood_has_no_bias_where_what_is_missing_is_uneven():
    """e1 + e2 against the rest, whose true difference is 0; 60 data sets give a standard error of 0.1 %."""
    contrasts = {True: [], False: []}
    sigmas = []
    for seed in range(60):
        truth, bits = uneven(seed)
        for restricted, found in contrasts.items():
            fit = ld.fit(bits, restricted=restricted, dispersion="common")  # with one of each edition sigma is another
            found.append(fit.contrast(["e1", "e2"], ["e3", "e4", "e5", "e6"]).estimate)
            if restricted:
                sigmas.append(fit.sigma)
    error = np.std(contrasts[True], ddof=1) / np.sqrt(60)
    assert abs(np.mean(contrasts[True])) < 3 * error
    assert np.mean(contrasts[False]) < -5 * error  # the likelihood itself is biased
    assert np.mean(sigmas) == pytest.approx(truth.sigma, rel=0.01)


def test_restricted_changes_little_on_a_complete_table():
    surprisals = ld.simulate(500, 20, seed=4).surprisals
    plain, restricted = ld.fit(surprisals), ld.fit(surprisals, restricted=True)
    assert_allclose(restricted.difficulty, plain.difficulty, atol=0.05 * plain.std_error.mean())
    assert_allclose(restricted.std_error, plain.std_error, rtol=0.01)
    assert restricted.log_likelihood == pytest.approx(plain.log_likelihood)  # both that of the full likelihood
    assert "restricted" in restricted.signature
    assert "restricted" in restricted.summary()
