"""Models 2L, 2C and 3: against the densities as published, another optimizer, random starts and simulated truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.errors import ConfigError, ConvergenceWarning, DataError
from langdiff.regression import Blunders, Cauchy, Laplace, Optimizer
from langdiff.regression.kernel.cells import CellLikelihood
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.optimizers import maximize_lbfgs, maximize_model_2
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.regression.variants import find_variant
from langdiff.regression.variants.blunders import SparseCells
from langdiff.regression.variants.laplace import CauchyCells, LaplaceCells
from tests.helpers import refused
from tests.regression.kernel.joint_density import profile_log_density

ROUNDING = 1e-9
CENTRAL_DIFFERENCE = 1e-5  # relative to the largest entry, with steps of 1e-6
B = 0.05


def make_table(model, intents=40, editions=5, missing=0.3, seed=1, **options):
    variant = find_variant(model, laplace_scale=B if model == "3" else None)
    truth = ld.simulate(intents, editions, model=variant, missing=missing, seed=seed, **options)
    surprisals = truth.surprisals
    z = np.log(surprisals.bits.to_numpy())
    return truth, z[(~np.isnan(z)).sum(axis=1) > 1]


def scale_free(m, d, kappa):
    return m - np.log(kappa), d + np.log(kappa) + 0.5 * np.log1p(kappa)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize(
    ("model", "cells"), [("2L", LaplaceCells()), ("2C", CauchyCells()), ("3", SparseCells(B))], ids=["2L", "2C", "3"]
)
def test_costs_are_those_of_the_published_densities(model, cells, missing):
    truth, z = make_table(model, missing=missing)
    m, d = np.nanmean(z, axis=1) + 0.1, truth.difficulty.to_numpy() + 0.05
    kappa = 3.0
    if model == "3":
        theirs = profile_log_density(z, m, d, kappa, B)
    else:
        theirs = find_variant(model).log_density_of_cells(z, m, d, kappa)
    ours = CellLikelihood(solve_two_way(z), cells).intent_values(*scale_free(m, d, kappa))
    assert_allclose(-ours, np.nansum(theirs, axis=1), rtol=1e-7)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("cells", [LaplaceCells(0.1), CauchyCells(), SparseCells(B)], ids=["2L rounded", "2C", "3"])
def test_gradients_are_those_of_central_differences(cells, restricted):
    _, z = make_table("2L", intents=12, editions=4)
    likelihood = CellLikelihood(solve_two_way(z), cells, restricted)
    mu, c = likelihood.start()
    n_intents = len(mu)
    x = np.concatenate([mu, c + np.array([0.1, -0.1, 0.2, 0.0])])
    step = 1e-6
    moves = step * np.eye(len(x))

    def value(x):
        return likelihood.intent_values(x[:n_intents], x[n_intents:]).sum()

    theirs = np.array([(value(x + h) - value(x - h)) / (2 * step) for h in moves])
    ours = likelihood.value_and_gradient(x[:n_intents], x[n_intents:], np.zeros(n_intents))
    analytic = np.concatenate([ours.mu, ours.c])
    assert_allclose(analytic, theirs, atol=CENTRAL_DIFFERENCE * np.abs(theirs).max())


def test_blocks_of_rows_do_not_matter(monkeypatch):
    _, z = make_table("2L")
    likelihood = CellLikelihood(solve_two_way(z), LaplaceCells(0.1))
    point = likelihood.start()
    whole = likelihood.value_and_gradient(*point, np.zeros(len(z)))
    monkeypatch.setattr("langdiff.regression.kernel.cells.CELLS_WITH_TEMPORARIES", 12)
    parts = likelihood.value_and_gradient(*point, np.zeros(len(z)))
    for one, other in zip(whole, parts, strict=True):
        assert_allclose(one, other, rtol=1e-8, atol=1e-8)


@given(x=st.floats(-6, 12), mu=st.floats(-2, 6), b=st.floats(0.01, 0.3))
def test_noise_is_the_best_of_a_fine_grid(x, mu, b):
    cells = SparseCells(b)
    found = cells.cells(np.array([[x]]), np.array([[mu]]))
    grid = np.concatenate([[0.0], np.linspace(min(x - mu, 0) - 1, max(x - mu, 0) + 1, 20001)])
    v = np.logaddexp(0.0, -(mu + grid))
    costs = 0.5 * np.log(2 * np.pi * v) + (x - mu - grid + 0.5 * v) ** 2 / (2 * v) + np.abs(grid) / b + np.log(2 * b)
    assert found.value[0, 0] <= costs.min() + 1e-9 * max(1, abs(costs.min()))


def brute_force(z, model, start):
    """Powell's method and the simplex on the published density: slow, and in need of no derivative."""
    n_intents = len(z)

    def minus(x):
        m, d = x[:n_intents], np.concatenate([[0.0], x[n_intents:-1]])
        if not -5 < x[-1] < 8:
            return 1e10
        return -np.nansum(find_variant(model).log_density_of_cells(z, m, d, np.exp(x[-1])))

    best = start
    for _ in range(4):
        for method in ("Powell", "Nelder-Mead"):
            best = minimize(
                minus, best, method=method, options={"maxiter": 20000, "maxfev": 40000, "xatol": 1e-9, "fatol": 1e-10}
                if method == "Nelder-Mead" else {"maxiter": 2000, "xtol": 1e-8, "ftol": 1e-12},
            ).x  # fmt: skip
    return best, -minus(best)


@pytest.mark.parametrize("model", ["2L", "2C"])
def test_optimum_is_not_beaten_by_a_search_without_derivatives(model):
    truth, z = make_table(model, intents=6, editions=3, missing=0.0, sigma=1.0, intent_sizes=[3, 5, 8, 13, 21, 34])
    two_way = solve_two_way(z)
    ours = (Laplace(rounding=0) if model == "2L" else Cauchy()).estimate(two_way)
    start = np.concatenate([np.log(truth.intent_size), [0.0, 0.0], [0.5]])
    _, theirs = brute_force(z, model, start)
    assert ours.converged
    assert ours.log_likelihood > theirs - 1e-6


@pytest.mark.parametrize("model", ["2L", "2C"])
def test_random_starts_lead_to_the_same_difficulties(model):
    _, z = make_table(model, intents=80, editions=6, missing=0.2, seed=4)
    two_way = solve_two_way(z)
    best = find_variant(model).estimate(two_way)
    rng = np.random.default_rng(0)
    for _ in range(5):
        start = best.sizes + rng.normal(0, 0.3, len(z)), best.c + rng.normal(0, 0.3, 6)
        other = find_variant(model).estimate(two_way, start=start)
        assert other.converged
        assert other.log_likelihood == pytest.approx(best.log_likelihood, abs=0.02)
        assert_allclose(other.c - other.c.mean(), best.c - best.c.mean(), atol=2e-3)


@pytest.mark.filterwarnings("ignore:.*over 20 times")
@pytest.mark.parametrize("model", ["2L", "2C", "3"])
def test_truth_is_recovered(model):
    variant = find_variant(model, laplace_scale=B if model == "3" else None)
    truth = ld.simulate(3000, 12, model=variant, missing=0.2, seed=3)
    surprisals = truth.surprisals
    fit = ld.fit(surprisals, model=variant)
    assert fit.converged
    error = fit.difficulty - truth.difficulty
    assert (error / fit.std_error).abs().max() < 4
    assert fit.sigma == pytest.approx(truth.sigma, rel=0.06)  # ML: about half of (I + J - 1) / N too small
    assert np.median(np.abs(np.log(fit.intent_size / truth.intent_size))) < 0.1


def planted(spread, intents=60, editions=6):
    """Three intents whose cells lie far to both sides, so that each has a second mode."""
    surprisals = ld.simulate(intents, editions, seed=1).surprisals
    z = np.log(surprisals.bits.to_numpy())
    z[:3] += spread * np.where(np.arange(editions) % 2, 1.0, -1.0)
    return z


@pytest.mark.parametrize("spread", [0.7, 0.9, 1.1, 1.3, 1.6])
@pytest.mark.parametrize("model", ["2", "2L", "2C"])
def test_no_intent_would_be_better_off_at_another_size(model, spread):
    two_way = solve_two_way(planted(spread))
    found = find_variant(model).estimate(two_way)
    if model == "2":
        likelihood = ScaleFreeLikelihood(two_way)
    else:
        likelihood = CellLikelihood(two_way, LaplaceCells() if model == "2L" else CauchyCells())
    least = np.full(len(found.sizes), np.inf)
    for mu in np.linspace(-5, 9, 561):
        least = np.minimum(least, likelihood.intent_values(np.full_like(found.sizes, mu), found.c))
    assert (likelihood.intent_values(found.sizes, found.c) < least + 0.05).all()


@pytest.mark.parametrize("spread", [0.7, 0.75, 0.85])
def test_a_few_wild_intents_together_do_not_hide_the_better_optimum(spread):
    likelihood = ScaleFreeLikelihood(solve_two_way(planted(spread)))
    ours, _ = maximize_model_2(likelihood, "newton", 1000, None)
    mu, c = likelihood.start()
    mu[:3] = -3.0
    other = maximize_lbfgs(likelihood, (mu, c), max_iterations=1000)
    assert other.converged
    assert ours.log_likelihood >= other.log_likelihood - 1e-6


def test_2c_of_two_cells_an_intent_has_no_maximum():
    surprisals = ld.simulate(50, 2, model="2C", seed=1).surprisals
    with pytest.raises(DataError, match=r"two cells only: then the likelihood of model 2C has no maximum.*restricted"):
        ld.fit(surprisals, model="2C")
    assert ld.fit(surprisals, model="2C", restricted=True).converged


def test_outliers_move_model_2_and_hardly_2l():
    surprisals = ld.simulate(2000, 8, difficulties=np.zeros(8), seed=5).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[:100, 0] *= 4  # five percent of the sentences of one edition translated sloppily
    error = {model: abs(ld.fit(bits, model=model).difficulty["e1"]) for model in ("2", "2L", "2C")}
    assert error["2"] > 0.04
    assert error["2L"] < 0.5 * error["2"]
    assert error["2C"] < 0.5 * error["2"]


def test_model_3_without_bound_is_said_to_be():
    """b as large as the standard deviation of log bits leaves no reason for any other noise."""
    surprisals = ld.simulate(60, 6, seed=1).surprisals
    with pytest.warns(ConvergenceWarning, match="laplace_scale=0.3 is too large.*grows without bound"):
        fit = ld.fit(surprisals, model=Blunders(scale=0.3))
    assert not fit.converged


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"model": "3"}, r"needs model=Blunders\(scale=b\)"),
        ({"model": Blunders}, r"model is the class Blunders: write Blunders\(\)"),
        ({"model": "2L", "optimizer": Optimizer("newton")}, "model '2L' has one way"),
        ({"model": "1", "restricted": True}, "has an unbiased variance already"),
        ({"model": Blunders(scale=0.1), "restricted": True}, "not a likelihood of z"),
    ],
)
def test_contradictions_are_refused(setting, message):
    surprisals = ld.simulate(10, 3, seed=1).surprisals
    refused(ConfigError, message, ld.fit, surprisals, **setting)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["2L", "2C"])
@pytest.mark.filterwarnings("ignore:.*over 20 times")  # as model 2C draws them
def test_restricted_dispersion_of_robust_models(model):
    """With five cells a row the likelihood's own is 12 % too small under 2C; restricting leaves half of that."""
    sigmas = {True: [], False: []}
    for seed in range(20):
        truth = ld.simulate(400, 5, model=model, seed=seed)
        surprisals = truth.surprisals
        for restricted, found in sigmas.items():
            found.append(ld.fit(surprisals, model=model, restricted=restricted).sigma)
    assert abs(np.mean(sigmas[True]) / truth.sigma - 1) < 0.6 * abs(np.mean(sigmas[False]) / truth.sigma - 1)


def test_start_of_every_model_is_that_of_model_2():
    _, z = make_table("2L")
    two_way = solve_two_way(z)
    for one, other in zip(
        CellLikelihood(two_way, LaplaceCells()).start(), ScaleFreeLikelihood(two_way).start(), strict=True
    ):
        assert_allclose(one, other, rtol=ROUNDING)
