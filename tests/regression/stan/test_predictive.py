"""Replicated bits and log-densities of intents, without Stan: against quadrature, and against what the model says."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from langdiff.regression.stan.draws import MOST_DRAWS, log_density_of_intents, replicate_bits
from langdiff.regression.variants import find_variant

DIFFICULTY, KAPPA, SIZES = np.array([-0.1, 0.0, 0.1]), 0.8, (4.5, 0.6)


def posterior(model, bits):
    return SimpleNamespace(variant=find_variant(model), bits=bits)


@pytest.fixture
def bits():
    rows = [[100.0, 120, 90], [40, np.nan, 50], [np.nan, 230, np.nan], [75, 70, 88], [1.2, 400, 30]]
    return pd.DataFrame(rows, columns=list("abc"))


def integrated(row, model, kappa):
    """Integrate the density of a row's cells over ln n on a fine grid."""
    m = np.linspace(-8, 14, 200_001)[:, None]
    v = np.log1p(kappa) + 0 * m if model == "1" else np.log1p(kappa / np.exp(m))
    cells = norm.logpdf(row, m + DIFFICULTY + 0.5 * (np.log1p(kappa) - v), np.sqrt(v))
    return np.log(np.trapezoid(np.exp(np.nansum(cells, axis=1) + norm.logpdf(m[:, 0], *SIZES)), m[:, 0]))


@pytest.mark.parametrize(("model", "tolerance"), [("1", 1e-8), ("2", 2e-3)])
def test_log_densities_are_integrals_over_the_size(bits, model, tolerance):
    kappas = np.array([[2.0, 1.0], [4.0, 8.0]]) * (0.02 if model == "1" else 1)
    draws = {
        "difficulty": np.broadcast_to(DIFFICULTY, (2, 2, 3)),
        "dispersion": kappas,
        "size_distribution": np.broadcast_to(SIZES, (2, 2, 2)),
    }
    rows = bits.iloc[:4]  # the last is so odd that model 2 has two modes
    found = log_density_of_intents(draws, posterior(model, rows))
    assert found.shape == (2, 2, 4)
    for place in np.ndindex(2, 2):
        expected = [integrated(row, model, kappas[place]) for row in np.log(rows.to_numpy())]
        np.testing.assert_allclose(found[place], expected, atol=tolerance)


@pytest.mark.parametrize("model", ["1", "2", "2L"])
def test_replicated_bits_have_the_moments_of_the_model(bits, model):
    size = np.array([20.0, 50, 100, 200, 800])
    draws = {
        "difficulty": np.broadcast_to(DIFFICULTY, (4, 1000, 3)),
        "dispersion": np.full((4, 1000), 0.02 if model == "1" else KAPPA),
        "intent_size": np.broadcast_to(size, (4, 1000, 5)),
    }
    found = replicate_bits(draws, posterior(model, bits), np.random.default_rng(0))
    assert found.bits.shape == (4, 100, 5, 3)
    assert np.isnan(found.bits[:, :, bits.isna().to_numpy()]).all()
    assert found.missing.shape == (4, 100, 3)
    z = np.log(found.bits.reshape(MOST_DRAWS, 5, 3))
    v = np.log1p(0.02) + 0 * size if model == "1" else np.log1p(KAPPA / size)
    shift = 0 if model == "1" else 0.5 * (np.log1p(KAPPA) - v)[:, None]
    location = np.log(size)[:, None] + DIFFICULTY + shift
    error = np.sqrt(v / MOST_DRAWS)[:, None]
    assert (np.abs(np.mean(z, axis=0) - location)[bits.notna()] < 4 * (error + 0 * location)[bits.notna()]).all()
    spread = np.std(z, axis=0)[bits.notna()] / np.sqrt(v[:, None] + 0 * location)[bits.notna()]
    assert (np.abs(spread - 1) < (0.16 if model == "1" or model == "2" else 0.3)).all()


def test_few_draws_are_all_used(bits):
    draws = {
        "difficulty": np.broadcast_to(DIFFICULTY, (2, 150, 3)),
        "dispersion": np.full((2, 150), KAPPA),
        "intent_size": np.full((2, 150, 5), 100.0),
    }
    found = replicate_bits(draws, posterior("2", bits), np.random.default_rng(0))
    assert (found.every, found.bits.shape[1], found.note) == (1, 150, "bits of every draw")
