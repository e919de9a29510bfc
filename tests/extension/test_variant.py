"""A regression model made in one file: Student's t with four degrees of freedom goes through the public functions."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import trapezoid
from scipy.special import gammaln
from scipy.stats import norm
from scipy.stats import t as student_t

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression import Blunders, Variant
from langdiff.regression.curves.fitting import fit_curve
from langdiff.regression.kernel.cells import CellLikelihood, chain, chain_twice, scale_of_cells, standardized
from langdiff.regression.kernel.two_way import solve_two_way
from tests.helpers import refused

NU = 4.0


class StudentCells:
    """Cost ½ ln v − ln f(t), f the density of Student's t, at t = (x − h)/√v."""

    def cells(self, x, mu):
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        constant = gammaln(NU / 2) - gammaln((NU + 1) / 2) + 0.5 * np.log(NU * np.pi)
        value = constant + 0.5 * np.log(v) + 0.5 * (NU + 1) * np.log1p(t * t / NU)
        return chain(value, (NU + 1) * t / (NU + t * t), t, scale, slope, narrowing)

    def curvature(self, x, mu):
        v = scale_of_cells(mu)[0]
        t = standardized(x, mu)
        return (NU + 1) / (NU + t * t) / v  # of the weights of iterated least squares

    def second_derivatives(self, x, mu):
        t = standardized(x, mu)
        square = NU + t * t
        return chain_twice((NU + 1) * t / square, (NU + 1) * (NU - t * t) / square**2, t, mu)

    def information(self):
        return (NU + 1) / (NU + 3), 2 * NU / (NU + 3)


@dataclass(frozen=True, kw_only=True)
class Student(Variant):
    """Model 2T."""

    name: ClassVar[str] = "2T"
    concave: ClassVar[bool] = False
    distribution: ClassVar[str] = "Student"

    def cells(self):
        return StudentCells()

    def log_density(self, z, location, variance):
        return student_t.logpdf(z, NU, location, np.sqrt(variance))

    def deviations(self, generator, variance):
        return np.sqrt(variance) * generator.standard_t(NU, variance.shape)

    def quantiles(self, shares):
        return student_t.ppf(shares, NU)


@pytest.fixture(scope="module")
def truth():
    return ld.simulate(400, 4, model=Student(), missing=0.1, seed=3)


def test_the_information_is_that_of_the_paper_on_robust_regression():
    assert_allclose(StudentCells().information(), (5 / 7, 8 / 7))


def test_it_draws_fits_and_knows_its_errors(truth):
    fit = ld.fit(truth.surprisals, model=Student())
    assert truth.model == fit.model == "2T"
    assert fit.converged
    assert fit.signature.startswith("model:2T|method:lbfgs|")
    assert fit.errors.kind == "sandwich"
    assert np.isfinite(fit.std_error).all()
    assert ((fit.difficulty - truth.difficulty) / fit.std_error).abs().max() < 4


def test_what_it_maximizes_is_its_density(truth):
    fit = ld.fit(truth.surprisals, model=Student())
    z = np.log(truth.surprisals.bits.to_numpy())
    several = (~np.isnan(z)).sum(axis=1) > 1
    m, d = np.log(fit.intent_size.to_numpy()), fit.difficulty.to_numpy()
    cells = Student().log_density_of_cells(z, m, d, fit.dispersion)
    assert np.nansum(cells[several]) == pytest.approx(fit.log_likelihood, rel=1e-9)


def test_its_second_derivatives_are_those_of_differences():
    rng, step = np.random.default_rng(0), 1e-6
    mu, x = rng.uniform(-1, 5, (10, 1)), rng.normal(2, 3, (10, 4))
    cells, found = StudentCells(), StudentCells().second_derivatives(x, mu)
    for axis, of_x, of_mu in (((step, 0), found.of_x, found.mixed), ((0, step), found.mixed, found.of_mu)):
        up, down = (cells.cells(x + sign * axis[0], mu + sign * axis[1]) for sign in (1, -1))
        assert_allclose((up.of_x - down.of_x) / (2 * step), of_x, atol=1e-6 * np.abs(of_x).max())
        assert_allclose((up.of_mu - down.of_mu) / (2 * step), of_mu, atol=1e-6 * np.abs(of_mu).max())


def test_clusters_restriction_and_resampling_come_with_it(truth):
    table = truth.surprisals
    chapter = {intent: str(number // 10) for number, intent in enumerate(table.intents)}
    assert ld.fit(table, model=Student(), clusters=chapter, restricted=True).errors.n_clusters == 40
    two_way = solve_two_way(np.log(table.bits.dropna().to_numpy()))
    found = Student().estimate(two_way)
    again = Student().estimate(two_way, start=(found.sizes, found.c), with_covariance=False)
    assert_allclose(again.c, found.c, atol=1e-3)
    values = CellLikelihood(two_way, StudentCells()).intent_values(found.sizes, found.c)
    assert -values.sum() == pytest.approx(found.log_likelihood)


def test_models_are_compared_with_it(truth):
    table = ld.Surprisals(bits=truth.surprisals.bits.iloc[:80])
    found = ld.compare([ld.fit(table, model=model, restricted=False) for model in (Student(), "2")])
    assert found.index.tolist() == ["2T", "2"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"intents": "random"}, r"^intents='random' is for models '1', '2' and '2L', not '2T'\.$"),
        ({"dispersion": "edition"}, r"^dispersions of editions are for models '1' and '2', not '2T'\.$"),
        ({"errors": "information"}, "needs a smooth likelihood, which model '2T' lacks"),
    ],
)
def test_what_it_lacks_is_refused(truth, settings, message):
    refused(ConfigError, message, ld.fit, truth.surprisals, model=Student(), **settings)


def test_a_model_without_a_density_says_what_to_define(truth):
    class Bare(Student):
        log_density = Variant.log_density
        deviations = Variant.deviations

    refused(ConfigError, "model '2T' cannot be simulated: define deviations", ld.simulate, 20, 3, model=Bare(), seed=1)


def test_residuals_are_those_of_the_definition_and_have_its_quantiles(truth):
    fit = ld.fit(truth.surprisals, model=Student())
    assert fit.variant == Student()
    residuals = ld.standardized_residuals(fit, truth.surprisals)
    z, m = np.log(truth.surprisals.bits.to_numpy()), np.log(fit.intent_size.to_numpy())[:, None]
    cells = (~np.isnan(z)).sum(axis=1, keepdims=True)
    v = np.log1p(fit.dispersion / np.exp(m))
    used = cells[:, 0] > 1
    n, free = cells[used].sum(), used.sum() + fit.free_difficulties - 1
    left = np.where(cells > 1, 1 - 1 / cells, np.nan) * n / (n - free)
    expected = (z - m - fit.difficulty.to_numpy() - 0.5 * (fit.sigma**2 - v)) / np.sqrt(v * left)
    assert_allclose(residuals.to_numpy(), expected, rtol=1e-9)
    axes = ld.plots.plot_residuals(fit, residuals)
    assert any("Student" in ax.get_xlabel() for ax in np.ravel(axes))


def test_new_intents_are_predicted_with_its_density(truth):
    bits = truth.surprisals.bits.dropna()
    fit = ld.fit(ld.Surprisals(bits=bits.iloc[:150]), model=Student())
    held_out = bits.iloc[150:156]
    most_likely, integrated = (
        ld.held_out_log_likelihood(fit, ld.Surprisals(bits=held_out), n=n).per_intent for n in ("map", "posterior")
    )
    log_size = np.log(fit.intent_size)
    prior = norm(log_size.mean(), log_size.std())

    def log_density(m, z):
        v = np.log1p(fit.dispersion / np.exp(m))
        return student_t.logpdf(z, NU, m + fit.difficulty + 0.5 * (fit.sigma**2 - v), np.sqrt(v)).sum()

    for intent, z in np.log(held_out).iterrows():
        grid = np.linspace(z.min() - 2, z.max() + 2, 2_001)
        values = np.array([log_density(m, z) for m in grid])
        assert most_likely[intent] == pytest.approx(values.max(), abs=1e-3)
        assert integrated[intent] == pytest.approx(np.log(trapezoid(np.exp(values) * prior.pdf(grid), grid)), abs=1e-3)


def test_it_is_cross_validated_and_predicts_its_own_tables_best(truth):
    found = ld.cross_validate(truth.surprisals, [Student(), "2"], n_folds=3, seed=1)
    assert found.to_frame().index.tolist() == ["2T", "2"]
    assert "2T" in found.signature
    assert ld.goodness(truth.surprisals, Student(), n_subsets=2).to_frame()["model"].tolist() == ["2T"]


def test_a_saved_fit_finds_its_class(truth, tmp_path, monkeypatch):
    fit = ld.fit(truth.surprisals, model=Student())
    fit.save(tmp_path / "fit.json")
    assert ld.read(tmp_path / "fit.json").variant == Student()
    monkeypatch.delitem(Variant.kinds, "2T")
    refused(DataError, "model '2T', of which no class is known here: import it first", ld.read, tmp_path / "fit.json")


def test_studies_of_many_fits_take_it(truth, monkeypatch):
    tables = [ld.simulate(150, 3, model=Student(), seed=seed).surprisals for seed in range(3)]
    whole = ld.fit(tables[0], model=Student())
    curve = fit_curve({10: tables[0], 20: tables[1]}, model=Student())
    assert curve.model == "2T"
    assert "|model:2T|" in curve.signature
    differences = curve.log_bits[10] - curve.log_bits[10].mean()
    assert_allclose(differences, whole.difficulty - whole.difficulty.mean(), atol=1e-6)

    given = iter(tables)
    monkeypatch.setattr("langdiff.experiments.replicates.compute_where_possible", lambda *_, **__: (next(given), {}))
    found = ld.replicate(multitext_parts(), n_seeds=2, model=Student())
    assert_allclose(found.difficulty.iloc[:, 0], whole.difficulty)
    assert found.summary().endswith("|model:2T]")

    stable = ld.experiments.intent_stability(tables[0], n_intents=[100], n_repeats=1, model=Student())
    assert_allclose(stable.whole.difficulty, whole.difficulty)
    bias = ld.experiments.deletion_bias(tables[0], rates=[0.1], mechanisms="MCAR", n_repeats=1, model=Student())
    assert "|model:2T|" in bias.signature


def test_numbers_of_a_model_are_in_signatures():
    tables = {size: ld.simulate(100, 3, seed=size).surprisals for size in (1, 2)}
    assert "|model:3|laplace_scale:0.02|" in fit_curve(tables, model=Blunders(scale=0.02)).signature


def multitext_parts():
    texts = ld.read_frame(pd.DataFrame({name: ["a b", "c d", "e f"] for name in ("e1", "e2", "e3")}))
    train, dev, test = (texts.sel(intents=texts.intents[[place]]) for place in range(3))
    return ld.Parts(train=train, dev=dev, test=test)
