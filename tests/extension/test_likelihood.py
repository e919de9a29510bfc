"""A likelihood of cells that is defined here alone, with a chance level γ: P = γ + (1 − γ) · logistic(η)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from scipy.stats import norm

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.outcomes.likelihoods import CellTerms, Likelihood

WORKED = 1e-10  # of numbers given to ten digits
SAME = 1e-6  # of two ways to integrate and to search


def guessing(eta, s, t, chance):
    """Return the terms of cells of which a share is right by chance."""
    q = expit(eta)
    p = chance + (1 - chance) * q
    first = (1 - chance) * q * (1 - q)
    second = first * (1 - 2 * q)
    value = s * np.log(p) + (t - s) * np.log1p(-p)
    pull = s / p - (t - s) / (1 - p)
    return CellTerms(value.sum(axis=-1), first * pull, first**2 * (s / p**2 + (t - s) / (1 - p) ** 2) - second * pull)


@dataclass(frozen=True)
class Guessing(Likelihood):
    """One chance level for all items."""

    level: float = 0.25
    name = "guessing"

    def terms(self, eta, s, t, d=None, constant=None):
        """Return the terms of cells."""
        return guessing(eta, s, t, self.level)

    def mean(self, eta, constant=None):
        """Return the probability of a success."""
        return self.level + (1 - self.level) * expit(eta)


@dataclass(frozen=True)
class GuessingByItem(Likelihood):
    """A chance level for each item, its attribute ``chance``."""

    name = "guessing by item"
    constant = "chance"

    def terms(self, eta, s, t, d=None, constant=None):
        """Return the terms of cells."""
        return guessing(eta, s, t, constant)

    def mean(self, eta, constant=None):
        """Return the probability of a success."""
        return constant + (1 - constant) * expit(eta)


def drawn(chance, *, n_items=400, seed=1):
    """Return outcomes of systems that guess, and their abilities."""
    rng = np.random.default_rng(seed)
    ability = np.array([-1.0, -0.2, 0.4, 0.8])
    chance = np.broadcast_to(chance, n_items)
    p = chance[:, None] + (1 - chance[:, None]) * expit(ability - rng.normal(size=(n_items, 1)))
    names = pd.Index([f"i{i}" for i in range(n_items)], name="item")
    successes = pd.DataFrame(rng.binomial(1, p).astype(float), names, ["a", "b", "c", "d"])
    items = pd.DataFrame({"chance": chance, "half": np.arange(n_items) % 2}, index=names)
    return ld.Outcomes(successes=successes, items=items, name="choices"), ability


def test_worked_cell():
    cell = np.array([[0.5]]), np.array([[3.0]]), np.array([[4.0]])
    for found in (Guessing(0.25).terms(*cell), GuessingByItem().terms(*cell, constant=np.array([[0.25]]))):
        assert found.value.item() == pytest.approx(-2.2604480766, abs=WORKED)
        assert found.of_eta.item() == pytest.approx(0.1151599902, abs=WORKED)
        assert found.curvature.item() == pytest.approx(0.5970212042, abs=WORKED)


def test_a_fit_is_the_maximum_of_a_sum_over_a_grid():
    outcomes, _ = drawn(0.25, n_items=60)
    fit = ld.fit_outcomes(outcomes, model=Guessing(0.25))
    assert fit.converged
    v = np.linspace(-8, 8, 2001)
    s = outcomes.successes.to_numpy()

    def log_likelihood(level, spread):
        p = 0.25 + 0.75 * expit(level - spread * v[:, None])
        rows = s @ np.log(p).T + (1 - s) @ np.log1p(-p).T
        return np.log(np.trapezoid(np.exp(rows) * norm.pdf(v), v, axis=1)).sum()

    level, spread = fit.point.level[0], fit.point.spread
    best = log_likelihood(level, spread)
    assert fit.log_likelihood == pytest.approx(best, abs=SAME)
    assert fit.held_out_log_likelihood(outcomes).sum() == pytest.approx(best, abs=SAME)
    for step in (*(0.01 * np.eye(5)), *(-0.01 * np.eye(5))):
        assert log_likelihood(level + step[:4], spread + step[4]) < best


@pytest.mark.parametrize("model", [Guessing(0.25), GuessingByItem()])
def test_abilities_are_recovered(model):
    outcomes, ability = drawn(0.25, n_items=4000)
    fit = ld.fit_outcomes(outcomes, model=model)
    apart = (fit.abilities.estimate.to_numpy() - (ability - ability.mean())) / fit.abilities.std_error.to_numpy()
    assert np.abs(apart).max() < 3
    assert fit.spread == pytest.approx(1, abs=0.2)
    naive = ld.fit_outcomes(outcomes, chance=None)
    assert np.ptp(naive.abilities.estimate) < 0.8 * np.ptp(fit.abilities.estimate)  # chance draws them together


def test_without_chance_it_is_the_model_of_rasch():
    outcomes, _ = drawn(0.0)
    one, other = ld.fit_outcomes(outcomes, model=Guessing(0.0), by="half"), ld.fit_outcomes(outcomes, by="half")
    assert_allclose(one.parameters, other.parameters, atol=SAME)
    assert_allclose(one.items["difficulty"], other.items["difficulty"], atol=1e-4)  # with 15 nodes
    assert_allclose(one.predict(outcomes), other.predict(outcomes), atol=SAME)
    assert_allclose(one.expected_rates(), other.expected_rates(), atol=SAME)


def test_constants_of_items_are_used_everywhere():
    outcomes, _ = drawn(np.where(np.arange(400) % 2, 0.5, 0.1))
    fit = ld.fit_outcomes(outcomes, model=GuessingByItem(), by="half")
    predicted = fit.predict(outcomes)
    assert (predicted.to_numpy() > outcomes.items["chance"].to_numpy()[:, None]).all()
    assert fit.expected_rates().iloc[1].min() > 0.5
    lacking = outcomes.items["chance"].mask(outcomes.items.index == "i3").to_frame()
    with pytest.raises(DataError, match="1 of 400 items have no chance: 'i3'"):
        ld.fit_outcomes(ld.Outcomes(successes=outcomes.successes, items=lacking), model=GuessingByItem())


def test_settings_are_in_signature_and_file(tmp_path):
    outcomes, _ = drawn(0.25)
    fit = ld.fit_outcomes(outcomes, model=Guessing(0.2), errors="sandwich")
    assert fit.signature.startswith("model:guessing(level=0.2)|errors:robust|")
    assert "Model guessing, converged" in fit.summary()
    fit.save(tmp_path / "fit.json")
    back = ld.read(tmp_path / "fit.json")
    assert back.structure.likelihood == Guessing(0.2)
    pd.testing.assert_frame_equal(back.predict(outcomes), fit.predict(outcomes), check_exact=True)


def test_what_it_lacks_is_said(monkeypatch, tmp_path):
    outcomes, _ = drawn(0.25, n_items=50)
    with pytest.raises(ConfigError, match=r"model is the class Guessing: write Guessing\(\)\."):
        ld.fit_outcomes(outcomes, model=Guessing)
    with pytest.raises(ConfigError, match="model 'guessing' has no lines of Stan"):
        ld.sample_outcomes(outcomes, model=Guessing())
    ld.fit_outcomes(outcomes, model=Guessing()).save(tmp_path / "fit.json")
    monkeypatch.delitem(Likelihood.kinds, "guessing")
    with pytest.raises(DataError, match=r"fit.json: the fit is of model 'guessing', of which no class is known here"):
        ld.read(tmp_path / "fit.json")
