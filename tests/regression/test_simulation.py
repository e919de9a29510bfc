"""Draws from the models have the distributions that the models state, and cells go missing as asked."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.integrate import quad
from scipy.stats import cauchy, kstest, laplace, norm

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.regression import Blunders
from tests.helpers import refused

UNLIKELY = 1e-3  # p-value under which a test of distribution is failed; seeds are fixed
SIGMA = 0.8
KAPPA = np.exp(SIGMA**2) - 1
SIZES = (5.0, 50.0, 500.0)
STANDARD = {  # distribution of (ln y − its mean or location) / sigma_i
    "1": norm,
    "2": norm,
    "2L": laplace(scale=1 / np.sqrt(2)),
    "2C": cauchy,
}


def variance_at(size, model):
    return SIGMA**2 if model == "1" else np.log(1 + KAPPA / size)


@pytest.mark.parametrize("model", STANDARD)
def test_log_bits_have_the_stated_distribution(model):
    d = np.array([-0.3, 0.0, 0.4])
    sizes = np.repeat(SIZES, 4000)
    truth = ld.simulate(12000, 3, model=model, sigma=SIGMA, difficulties=d, intent_sizes=sizes, seed=1)
    surprisals = truth.surprisals
    assert_allclose(truth.difficulty - d, truth.difficulty.iloc[0] - d[0])
    assert np.exp(truth.difficulty).mean() == pytest.approx(1)
    for size in SIZES:
        z = np.log(surprisals.bits[sizes == size]) - truth.difficulty
        variance = variance_at(size, model)
        mean = np.log(size) + 0.5 * (SIGMA**2 - variance)
        standard = (z.to_numpy().ravel() - mean) / np.sqrt(variance)
        assert kstest(standard, STANDARD[model].cdf).pvalue > UNLIKELY
        assert np.isfinite(z.to_numpy()).all()


@pytest.mark.parametrize("model", ["1", "2", "2L"])
def test_log_bits_have_the_stated_mean_and_variance(model):
    sizes = np.repeat(SIZES, 40000)
    truth = ld.simulate(120000, 1, model=model, sigma=SIGMA, difficulties=[0.0], intent_sizes=sizes, seed=2)
    surprisals = truth.surprisals
    assert truth.model == model
    z = np.log(surprisals.bits["e1"].to_numpy())
    for size in SIZES:
        variance, part = variance_at(size, model), z[sizes == size]
        five_errors = 5 * np.sqrt(variance / 40000)
        assert part.mean() == pytest.approx(np.log(size) + 0.5 * (SIGMA**2 - variance), abs=five_errors)
        assert part.var() == pytest.approx(variance, rel=5 * np.sqrt(5 / 40000))  # kurtosis of a Laplace is 6


def test_model_3_is_a_mixture_over_laplace_blunders():
    """The distribution function of ln y, by quadrature over ν, given which ln y is normal."""
    b, size = 0.6, 20.0
    truth = ld.simulate(
        4000, 1, model=Blunders(scale=b), sigma=SIGMA, difficulties=[0.0], intent_sizes=[size] * 4000, seed=3
    )
    surprisals = truth.surprisals
    assert truth.laplace_scale == b
    z = np.log(surprisals.bits["e1"].to_numpy())

    def given(nu):
        variance = np.log(1 + KAPPA / (size * np.exp(nu)))
        return np.log(size) + nu + 0.5 * (SIGMA**2 - variance), variance

    def expected(of):
        return sum(quad(lambda nu: of(*given(nu)) * laplace.pdf(nu, scale=b), *side)[0] for side in ((-9, 0), (0, 9)))

    mean = expected(lambda m, v: m)
    variance = expected(lambda m, v: v + (m - mean) ** 2)
    assert z.mean() == pytest.approx(mean, abs=5 * np.sqrt(variance / 4000))
    assert z.var() == pytest.approx(variance, rel=5 * np.sqrt(5 / 4000))
    at = np.linspace(z.min(), z.max(), 60)
    exact = [expected(lambda m, v, x=x: norm.cdf(x, m, np.sqrt(v))) for x in at]
    assert kstest(z, lambda x: np.interp(x, at, exact)).pvalue > UNLIKELY


def test_model_3_with_small_blunders_is_model_2():
    settings = {"difficulties": [0.0], "intent_sizes": [50.0] * 5000}
    two = ld.simulate(5000, 1, model="2", seed=4, **settings).surprisals
    three = ld.simulate(5000, 1, model=Blunders(scale=1e-6), seed=5, **settings).surprisals
    assert kstest(np.log(two.bits["e1"]), np.log(three.bits["e1"])).pvalue > UNLIKELY


def test_model_2_approximates_a_sum_of_log_normal_choices():
    """Fenton–Wilkinson: y and n choices of e^d e^eps each have the same mean and variance (equation 3)."""
    sigma, n = 0.7, 12
    choices = np.exp(np.random.default_rng(0).normal(0, sigma, (40000, n))).sum(axis=1)
    surprisals = ld.simulate(40000, 1, sigma=sigma, difficulties=[0.0], intent_sizes=[n] * 40000, seed=1).surprisals
    drawn = surprisals.bits["e1"]
    assert drawn.mean() == pytest.approx(choices.mean(), rel=0.01)  # five standard errors
    assert drawn.std() == pytest.approx(choices.std(), rel=0.05)


def test_missing_cells_are_at_random_and_leave_no_empty_row():
    surprisals = ld.simulate(4000, 5, missing=0.3, seed=2).surprisals
    gone = surprisals.bits.isna()
    assert gone.to_numpy().mean() == pytest.approx(0.3, abs=0.02)
    assert gone.mean().max() - gone.mean().min() < 0.06


@pytest.mark.parametrize("mechanism", ["MCAR", "MAR", "MNAR"])
def test_no_row_and_no_column_is_lost(mechanism):
    sparse = ld.simulate(300, 3, missing=0.97, mechanism=mechanism, seed=2).surprisals
    observed = sparse.bits.notna()
    assert observed.any(axis=1).all()
    assert observed.any(axis=0).all()


def complete_and_holed(mechanism, missing, **settings):
    """The same draw without and with missing cells: the bits are drawn first."""
    complete = ld.simulate(20000, 4, seed=9, **settings).surprisals
    truth = ld.simulate(20000, 4, seed=9, missing=missing, mechanism=mechanism, **settings)
    holed = truth.surprisals
    both = holed.bits.notna()
    assert holed.bits[both].equals(complete.bits[both])
    return truth, complete.bits, ~both


@pytest.mark.parametrize("model", ["2", "2C"])
@pytest.mark.parametrize("mechanism", ["MAR", "MNAR"])
@pytest.mark.parametrize("missing", [0.02, 0.4, 0.9])
def test_the_first_edition_stays_and_others_lose_their_share(model, mechanism, missing):
    _, _, gone = complete_and_holed(mechanism, missing, model=model)
    assert not gone["e1"].any()
    assert_allclose(gone[["e2", "e3", "e4"]].mean(), missing, atol=4 * np.sqrt(missing * (1 - missing) / 20000))


def test_each_mechanism_depends_on_what_it_says():
    """Correlation of going missing with the first edition's bits, and with the cell's own noise."""
    of_original, of_own = {}, {}
    for mechanism in ("MCAR", "MAR", "MNAR"):
        truth, bits, gone = complete_and_holed(mechanism, 0.4)
        noise = np.log(bits["e2"]) - np.log(truth.intent_size) - truth.difficulty["e2"]
        of_original[mechanism] = np.corrcoef(gone["e2"], np.log(bits["e1"]))[0, 1]
        of_own[mechanism] = np.corrcoef(gone["e2"], noise)[0, 1]
    chance = 5 / np.sqrt(20000)
    assert abs(of_original["MCAR"]) < chance
    assert abs(of_own["MCAR"]) < chance
    assert of_original["MAR"] > 0.5
    assert of_own["MNAR"] > 0.5
    assert of_own["MAR"] < 0.1  # through the size of the intent, on which the mean of the noise depends


@pytest.mark.filterwarnings("ignore:.* of the cells are missing, and fixed and random intents differ")
@pytest.mark.parametrize("model", ["1", pytest.param("2", marks=pytest.mark.slow)])
def test_only_missing_by_ones_own_bits_biases_the_other_editions_together(model):
    """Against the mean noise of what is left, which a difference of columns inherits."""
    bias = {}
    for mechanism in ("MCAR", "MAR", "MNAR"):
        truth = ld.simulate(20000, 4, model=model, missing=0.4, mechanism=mechanism, seed=6)
        surprisals = truth.surprisals
        fit = ld.fit(surprisals, model=model, restricted=False)
        error = fit.difficulty - truth.difficulty
        bias[mechanism] = (error - error["e1"]) / fit.std_error.max()
        assert abs(error["e3"] - error["e2"]) < 5 * fit.std_error.max()
    assert bias["MCAR"].abs().max() < 4
    assert bias["MNAR"].drop("e1").max() < -40
    assert 4 < bias["MAR"].drop("e1").min() < bias["MAR"].max() < 25


def test_seed_decides_everything():
    one, other, third = (ld.simulate(5, 3, missing=0.2, seed=seed).surprisals.bits for seed in (0, 0, 1))
    assert one.equals(other)
    assert not one.equals(third)
    generator = ld.simulate(5, 3, missing=0.2, seed=np.random.default_rng(0)).surprisals.bits
    assert one.equals(generator)


def test_truth_shows_and_saves_itself(tmp_path):
    truth = ld.simulate(3, 2, model=Blunders(scale=0.1), seed=0)
    assert repr(truth) == "Simulation: model 3, 3 intents × 2 editions, sigma 1.3"
    truth.save(tmp_path / "truth.json")
    saved = json.loads((tmp_path / "truth.json").read_text())
    assert saved == {
        "model": "3",
        "sigma": 1.3,
        "laplace_scale": 0.1,
        "difficulty": dict(truth.difficulty),
        "intent_size": dict(truth.intent_size),
    }


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"n_intents": 0}, "n_intents must be a whole number, at least 1, got 0"),
        ({"n_intents": 2.5}, "n_intents must be a whole number, at least 1, got 2.5"),
        ({"n_editions": "2"}, "n_editions must be a whole number, at least 1, got '2'"),
        ({"seed": -1}, "seed must be a whole number .* got -1"),
        ({"difficulties": [0.0, 800.0]}, "difficulties and intent_sizes so far apart give surprisals beyond"),
        ({"model": Blunders(scale=1e4)}, r"sigma 1.3 with Blunders\(scale=10000.0\) gives surprisals beyond"),
        ({"model": "4"}, "unknown model '4'; use one of '1', '2', '2L', '2L-rounded', '2C'"),
        ({"missing": 1.0}, "missing is a share"),
        ({"missing": float("nan")}, "missing is a share"),
        ({"mechanism": "mcar"}, "mechanism is one of MCAR, MAR, MNAR; got 'mcar'"),
        ({"model": "3"}, r"model '3' needs model=Blunders\(scale=b\)"),
        ({"sigma": 0}, "sigma must be positive"),
        ({"sigma": 1000}, "sigma 1000 gives surprisals beyond what a number can hold"),
        ({"difficulties": [0.0]}, r"difficulties: 2 numbers are needed, got shape \(1,\)"),
        ({"difficulties": [0.0, np.nan]}, "difficulties must be finite"),
        ({"intent_sizes": [1.0, 2.0, -1.0]}, "intent_sizes must be positive; the smallest is -1"),
    ],
)
def test_bad_settings_are_refused(setting, message):
    refused(ConfigError, message, ld.simulate, **{"n_intents": 3, "n_editions": 2, "seed": 0} | setting)
