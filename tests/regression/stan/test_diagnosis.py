"""The diagnosis of draws, on chains whose effective sample sizes are known."""

from dataclasses import replace

import numpy as np
import pytest

from langdiff import diagnose
from langdiff.regression.stan.draws import import_arviz, posterior_table

EDITIONS = ["deu", "eng", "fra"]


def chains(phi, *, draws=2000, count=4, seed=0, divergent=0):
    """Draw chains of which each quantity is autoregressive: x_t = φ x_{t−1} + noise, of variance 1."""
    rng = np.random.default_rng(seed)
    noise = rng.standard_normal((count, draws, 4)) * np.sqrt(1 - phi**2)
    noise[:, 0] /= np.sqrt(1 - phi**2)
    x = np.empty_like(noise)
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = phi * x[:, t - 1] + noise[:, t]
    diverging = np.zeros((count, draws), dtype=bool)
    diverging[0, :divergent] = True
    return import_arviz().from_dict(
        posterior={"difficulty": 0.01 * x[:, :, :3], "dispersion": np.exp(0.1 * x[:, :, 3])},
        sample_stats={"diverging": diverging},
        coords={"edition": EDITIONS},
        dims={"difficulty": ["edition"]},
    )


@pytest.mark.parametrize("phi", [0.0, 0.8, -0.5])
def test_effective_sizes_are_those_of_autoregression(phi):
    """Ranks decorrelate as x, φ^k, and squares as φ^(2k); N times (1 − ρ)/(1 + ρ) either way."""
    draws = 4 * 2000
    table = posterior_table(chains(phi))
    bulk, sd = ((1 - rho) / (1 + rho) for rho in (phi, phi**2))
    assert table["ess_sd"].mean() == pytest.approx(sd * draws, rel=0.25)
    assert table["ess_bulk"].mean() == pytest.approx(bulk * draws, rel=0.25)
    found = diagnose(chains(phi))
    arviz = import_arviz()
    for name, method in (("ess_bulk", "bulk"), ("ess_tail", "tail"), ("ess_sd", "sd")):
        of = arviz.ess(chains(phi).posterior, method=method)
        smallest = min(float(of["difficulty"].min()), float(of["dispersion"]))
        assert getattr(found, name) == pytest.approx(smallest)


def test_antithetic_chains_are_not_good_for_their_bulk_alone():
    """Alternating draws: the mean is known far better than from independent ones, the spread far worse."""
    found = replace(diagnose(chains(-0.85, draws=500)), r_hat=1.0)
    assert found.ess_bulk > 2000
    assert found.ess_sd < 400
    assert not found.divergences
    assert not found.good
    assert "effective draws are few" in found.verdict
    assert f"{found.ess_sd:,.0f} of the standard deviation" in found.verdict
    assert "of the middle" not in found.verdict
    assert f"and {found.ess_sd:,.0f} (SD)" in found.summary()
    assert replace(found, ess_sd=400.0, ess_tail=400.0).good
    assert not replace(found, ess_sd=400.0, ess_tail=399.0).good
    assert not replace(found, ess_sd=399.0, ess_tail=400.0).good


def test_good_chains_and_others():
    assert diagnose(chains(0.0)).good
    assert diagnose(chains(0.0)).verdict == "no sign of trouble."
    divergent = diagnose(chains(0.0, divergent=3))
    assert not divergent.good
    assert divergent.verdict.startswith("3 of 8000 transitions diverged")
    single = diagnose(chains(0.0, count=1))
    assert not single.good
    assert single.verdict.startswith("a single chain")
    few = diagnose(chains(0.0, draws=3, count=2))  # too few for any effective size
    assert np.isnan(few.ess_sd)
    assert not few.good
