"""Held-out intents: sizes against other optimizers and integrals, and what the figures mean."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.check.held_out import held_out_log_likelihood, known_editions, mean_per_cell, size_prior
from langdiff.regression.kernel.quadrature import KnownEditions, SizePrior, log_marginal, most_likely_sizes
from langdiff.regression.variants import find_variant
from tests.helpers import refused

KINKS = 1e-3  # nats per row, of 2L, whose density has a kink at every cell; the others are smooth
SMOOTH = 1e-8
MODELS = ["1", "2", "2L", "2C", "3"]


def variant_of(model):
    return find_variant(model, laplace_scale=0.1 if model == "3" else None)


def problem(model, rows=6, editions=5, seed=0):
    rng = np.random.default_rng(seed)
    known = KnownEditions(
        variant_of(model), rng.normal(0, 0.1, editions), 0.03 if model == "1" else 3.0, sizes=(2.0, 8.0)
    )
    m = rng.normal(5, 0.5, rows)
    z = m[:, None] + known.difficulty + 0.2 * rng.normal(size=(rows, editions)) + (0 if model == "1" else 0.5)
    z[rng.random(z.shape) < 0.3] = np.nan
    z[:, 0] = m
    return z, known, SizePrior(5.0, 0.5)


@pytest.mark.parametrize("model", MODELS)
def test_most_likely_size_is_that_of_a_search_over_a_fine_grid(model):
    z, known, prior = problem(model)
    found = most_likely_sizes(z, known, prior, np.random.default_rng(0))
    ours = known.rows(z, found)
    for i in range(len(z)):
        row = z[i : i + 1]
        grid = np.linspace(2, 8, 61)
        values = [known.rows(row, np.array([m]))[0] for m in grid]
        top = grid[np.argmax(values)]
        best = minimize_scalar(
            lambda m, row=row: -known.rows(row, np.array([m]))[0],
            bounds=(top - 0.1, top + 0.1),
            method="bounded",
            options={"xatol": 1e-7},
        )
        assert ours[i] >= -best.fun - 1e-6


@pytest.mark.parametrize("model", ["2", "2L", "2C"])
def test_marginal_is_a_dense_sum_over_sizes(model):
    z, known, prior = problem(model, rows=12, editions=21)
    ours = log_marginal(z, known, prior, np.random.default_rng(0))
    grid, step = np.linspace(-1, 11, 120_001, retstep=True)
    for i in range(len(z)):
        row = np.broadcast_to(z[i], (len(grid), z.shape[1]))
        cells = find_variant(model).log_density_of_cells(row, grid, known.difficulty, known.kappa)
        values = np.nansum(cells, axis=1) + norm.logpdf(grid, prior.mean, prior.std)
        dense = values.max() + np.log(np.exp(values - values.max()).sum() * step)
        assert_allclose(ours[i], dense, atol=KINKS if model == "2L" else 1e-6)


def test_marginal_of_model_1_is_a_normal_distribution_of_the_row():
    """Sizes integrated out leave equicorrelated normals: a closed form."""
    z, known, prior = problem("1", rows=10)
    ours = log_marginal(z, known, prior, np.random.default_rng(0))
    for i, row in enumerate(z):
        seen = ~np.isnan(row)
        n = seen.sum()
        covariance = prior.std**2 * np.ones((n, n)) + np.log1p(known.kappa) * np.eye(n)
        exact = multivariate_normal.logpdf(row[seen], prior.mean + known.difficulty[seen], covariance)
        assert_allclose(ours[i], exact, atol=SMOOTH)


def test_a_row_without_cells_says_nothing():
    _, known, prior = problem("2")
    nothing = np.full((1, 5), np.nan)
    assert_allclose(log_marginal(nothing, known, prior, np.random.default_rng(0)), 0, atol=SMOOTH)


@pytest.fixture(scope="module")
def split():
    surprisals = ld.simulate(500, 6, missing=0.2, seed=3).surprisals
    return surprisals.bits.iloc[:300], surprisals.bits.iloc[300:]


@pytest.mark.parametrize("n", ["map", "posterior"])
def test_the_fields_fit_together(split, n):
    train, test = split
    fit = ld.fit(train)
    found = held_out_log_likelihood(fit, test, n=n, seed=0)
    assert found.cells == test.notna().to_numpy().sum()
    assert found.per_intent.sum() == pytest.approx(found.total)
    assert found.per_cell == pytest.approx(found.total / found.cells)
    assert found.total_bits == pytest.approx(found.total - np.nansum(np.log(test)))
    assert found.dispersion == fit.dispersion
    assert list(found.per_intent.index) == list(test.index)
    assert f"{found.cells:,} cells" in repr(found)


def test_true_intents_of_held_out_rows_are_outdone_by_fitted_ones(split):
    """MAP sizes beat any others on the same cells, the true ones among them."""
    train, test = split
    truth = ld.simulate(500, 6, missing=0.2, seed=3)
    fit = ld.fit(train)
    known = known_editions(fit, test.columns)
    z = np.log(test.to_numpy())
    with_truth = known.rows(z, np.log(truth.intent_size.iloc[300:].to_numpy()))
    found = held_out_log_likelihood(fit, test, seed=0)
    assert (found.per_intent.to_numpy() >= with_truth - 1e-9).all()
    assert found.total > with_truth.sum() + 50


def test_a_new_dispersion_is_likelier_and_near_the_old(split):
    train, test = split
    fit = ld.fit(train)
    for n in ("map", "posterior"):
        fixed = held_out_log_likelihood(fit, test, n=n, seed=0)
        anew = held_out_log_likelihood(fit, test, fix="difficulty", n=n, seed=0)
        assert anew.total >= fixed.total - 1e-6
        assert np.log(anew.dispersion / fit.dispersion) == pytest.approx(0, abs=0.35)
        for factor in (0.95, 1.05):  # a maximum
            known = known_editions(fit, test.columns)._replace(kappa=anew.dispersion * factor)
            z, prior, rng = np.log(test.to_numpy()), size_prior(fit), np.random.default_rng(0)
            rows = (
                log_marginal(z, known, prior, rng)
                if n == "posterior"
                else known.rows(z, most_likely_sizes(z, known, prior, rng))
            )
            assert rows.sum() < anew.total


def test_new_dispersion_of_model_1_is_the_mean_square():
    """Closed form: given difficulties, σ² is the mean squared deviation from each row's mean."""
    surprisals = ld.simulate(200, 5, model="1", seed=4).surprisals
    fit = ld.fit(surprisals.bits.iloc[:100], model="1")
    test = np.log(surprisals.bits.iloc[100:]) - fit.difficulty
    variance = ((test.sub(test.mean(axis=1), axis=0)) ** 2).to_numpy().mean()
    found = held_out_log_likelihood(fit, surprisals.bits.iloc[100:], fix="difficulty", seed=0)
    assert np.log1p(found.dispersion) == pytest.approx(variance, rel=1e-4)  # of a search to 1e-5 in ln kappa
    assert found.per_cell == pytest.approx(-0.5 * (np.log(2 * np.pi * variance) + 1), abs=1e-6)


def test_editions_come_in_any_order_and_need_not_be_all(split):
    train, test = split
    fit = ld.fit(train)
    whole = held_out_log_likelihood(fit, test, seed=0)
    turned = held_out_log_likelihood(fit, test[test.columns[::-1]], seed=0)
    assert turned.total == pytest.approx(whole.total, abs=1e-5)
    part = held_out_log_likelihood(fit, test[["e5", "e2"]].dropna(how="all"), seed=0)
    assert part.cells == test[["e5", "e2"]].notna().to_numpy().sum()


def test_mean_per_cell_has_the_spread_of_repeated_samples():
    rng = np.random.default_rng(0)
    estimates, errors = [], []
    for _ in range(300):
        counts = rng.integers(1, 9, 50)
        rows = counts * rng.normal(1, 1, 50) + rng.normal(0, np.sqrt(counts))
        mean, error = mean_per_cell(rows, counts)[["per_cell", "std_error"]]
        estimates.append(mean)
        errors.append(error)
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.13)  # 300 samples: 4.1 %; a ratio's own bias


def test_bad_input_is_refused(split):
    train, test = split
    fit = ld.fit(train)
    refused(ConfigError, "unknown n 'mean'", held_out_log_likelihood, fit, test, n="mean", seed=0)
    refused(ConfigError, "unknown fix 'all'", held_out_log_likelihood, fit, test, fix="all", seed=0)
    with pytest.raises(DataError, match=r"1 held-out edition\(s\) that the fit does not know: 'x'"):
        held_out_log_likelihood(fit, test.rename(columns={"e1": "x"}), seed=0)
    refused(DataError, "every cell is missing", held_out_log_likelihood, fit, test * np.nan, seed=0)
    refused(ConfigError, "seed must be a whole number from 0 up", held_out_log_likelihood, fit, test, seed=-1)
    grouped = ld.fit(train, groups=dict(zip(train.columns, "aabbcc", strict=True)))
    with pytest.raises(DataError, match=r"a difficulty for each group \('a', 'b', 'c'\), not for each edition \('e1'"):
        held_out_log_likelihood(grouped, test, seed=0)


def test_intents_of_one_size_say_nothing_of_others():
    bits = pd.DataFrame({"a": [10.0, 20, 12, 24], "b": [24.0, 12, 20, 10]})
    fit = ld.fit(bits, model="1")
    assert np.log(fit.intent_size).std() < 1e-9
    with pytest.raises(DataError, match="all intents of the fit are of one size"):
        held_out_log_likelihood(fit, bits, n="posterior", seed=0)
    assert np.isfinite(held_out_log_likelihood(fit, bits, n="map", seed=0).total)


def unequal(rows=600, seed=0):
    """Bits of editions whose noise differs, drawn without the package: log-normal, about known expected bits."""
    rng = np.random.default_rng(seed)
    sizes, d = 150 * np.exp(rng.normal(0, 0.6, rows)), np.array([0.0, 0.6, -0.5, 0.1, -0.1])
    v = (0.17 * np.array([0.5, 0.7, 1, 1.4, 2])) ** 2 * (150 / sizes)[:, None]
    z = np.log(sizes)[:, None] + d - v / 2 + np.sqrt(v) * rng.normal(size=(rows, 5))
    return pd.DataFrame(np.exp(z), columns=list("abcde"))


@pytest.mark.parametrize("model", ["1", "2"])
def test_residuals_of_editions_with_dispersions_of_their_own_are_standard(model):
    bits = unequal().mask(np.random.default_rng(1).random((600, 5)) < 0.2)
    fit = ld.fit(bits, model=model)
    assert fit.dispersions is not None
    residuals = ld.standardized_residuals(fit, bits)
    assert residuals.mean().abs().max() < 0.1
    wider = 1.25 if model == "1" else 1.06  # model 1 takes the noise of short texts for that of all
    assert residuals.std().between(1 / wider, wider).all()


@pytest.mark.parametrize("model", ["1", "2"])
def test_held_out_intents_of_editions_with_dispersions_of_their_own(model):
    train, test = unequal(400), unequal(40, seed=1)
    fit = ld.fit(train, model=model)
    prior = size_prior(fit)
    found = held_out_log_likelihood(fit, test, n="posterior").per_intent
    m = np.linspace(prior.mean - 8 * prior.std, prior.mean + 8 * prior.std, 20_001)[:, None]
    kappa = fit.dispersions.value[fit.dispersions.group[test.columns]].to_numpy()
    v = np.log1p(kappa / (1 if model == "1" else np.exp(m)))
    location = m + fit.difficulty.to_numpy() - v / 2  # difficulties are of expected bits
    for intent in (0, 7):
        z = np.log(test.iloc[intent].to_numpy())
        density = np.exp(norm.logpdf(z, location, np.sqrt(v)).sum(axis=1)) * norm.pdf(m[:, 0], prior.mean, prior.std)
        assert found[intent] == pytest.approx(np.log(np.trapezoid(density, m[:, 0])), abs=1e-6)
    common = ld.fit(train, model=model, dispersion="common")
    assert found.sum() > held_out_log_likelihood(common, test, n="posterior").total + 5
    refitted = held_out_log_likelihood(fit, test, fix="difficulty", n="posterior")
    assert refitted.total >= found.sum() - 1e-6
    assert refitted.dispersion == pytest.approx(fit.dispersion, rel=0.3)
