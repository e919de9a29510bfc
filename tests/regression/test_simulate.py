"""Draws from the models have the distribution that the models state."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import kstest

import langdiff as ld
from langdiff.errors import ConfigError


@pytest.mark.parametrize("model", ["1", "2"])
def test_log_bits_are_normal_with_the_stated_moments(model):
    d = np.array([-0.3, 0.0, 0.4])
    sizes = np.repeat([5.0, 50.0, 500.0], 4000)
    truth, surprisals = ld.simulate(12000, 3, model=model, sigma=0.8, difficulties=d, intent_sizes=sizes, seed=1)
    kappa = np.exp(0.64) - 1
    variance = np.full(12000, 0.64) if model == "1" else np.log(1 + kappa / sizes)
    mean = np.log(sizes)[:, None] + truth.difficulty.to_numpy() + (0.64 - variance[:, None]) / 2
    standard = (np.log(surprisals.bits) - mean) / np.sqrt(variance)[:, None]
    for size in (5.0, 50.0, 500.0):
        assert kstest(standard[sizes == size].to_numpy().ravel(), "norm").pvalue > 1e-3
    assert_allclose(truth.difficulty - d, truth.difficulty.iloc[0] - d[0])
    assert np.exp(truth.difficulty).mean() == pytest.approx(1)


def test_model_2_approximates_a_sum_of_log_normal_choices():
    """Fenton–Wilkinson: y and n choices of e^d e^eps each have the same mean and variance (equation 3)."""
    sigma, n = 0.7, 12
    choices = np.exp(np.random.default_rng(0).normal(0, sigma, (40000, n))).sum(axis=1)
    _, surprisals = ld.simulate(40000, 1, sigma=sigma, difficulties=[0.0], intent_sizes=[n] * 40000, seed=1)
    drawn = surprisals.bits["e1"]
    assert drawn.mean() == pytest.approx(choices.mean(), rel=0.01)  # five standard errors
    assert drawn.std() == pytest.approx(choices.std(), rel=0.05)


def test_missing_cells_are_at_random_and_leave_no_empty_row():
    _, surprisals = ld.simulate(4000, 5, missing=0.3, seed=2)
    gone = surprisals.bits.isna()
    assert gone.to_numpy().mean() == pytest.approx(0.3, abs=0.02)
    assert gone.mean().max() - gone.mean().min() < 0.06
    _, sparse = ld.simulate(300, 3, missing=0.95, seed=2)
    observed = sparse.bits.notna()
    assert observed.any(axis=1).all()
    assert observed.any(axis=0).all()


def test_seed_decides_everything():
    one, other, third = (ld.simulate(5, 3, missing=0.2, seed=seed)[1].bits for seed in (0, 0, 1))
    assert one.equals(other)
    assert not one.equals(third)
    generator = ld.simulate(5, 3, missing=0.2, seed=np.random.default_rng(0))[1].bits
    assert one.equals(generator)


def test_truth_shows_itself():
    truth, _ = ld.simulate(3, 2, seed=0)
    assert repr(truth) == "SimulatedTruth: model 2, 3 intents × 2 editions, sigma 1.3"


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"intents": 0}, "at least 1"),
        ({"model": "2L"}, "unknown model '2L'"),
        ({"missing": 1.0}, "missing is a share"),
        ({"missing": float("nan")}, "missing is a share"),
        ({"sigma": 0}, "sigma must be positive"),
        ({"difficulties": [0.0]}, r"difficulties: 2 numbers are needed, got shape \(1,\)"),
        ({"difficulties": [0.0, np.nan]}, "difficulties must be finite"),
        ({"intent_sizes": [1.0, 2.0, -1.0]}, "intent_sizes must be positive; the smallest is -1"),
    ],
)
def test_bad_settings_are_refused(setting, message):
    with pytest.raises(ConfigError, match=message):
        ld.simulate(**({"intents": 3, "editions": 2, "seed": 0} | setting))
