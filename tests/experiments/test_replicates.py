from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.experiments import replicate
from langdiff.experiments.replicates import Replicates
from langdiff.lm import RECIPES, Compute

ROUNDING = 1e-12
RECIPE = replace(RECIPES["char-tiny"], epochs=1, embedding_size=8)


@pytest.fixture(scope="module")
def parts():
    words = {"eng": ["the", "cat", "sat", "on"], "deu": ["die", "Katze", "sass", "auf"]}
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 4, size=(150, 6))
    frame = pd.DataFrame({e: [" ".join(w[i] for i in row) for row in drawn] for e, w in words.items()})
    bible = ld.read_frame(frame)
    train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 110), (110, 120), (120, 150)))
    return ld.Parts(train=train, dev=dev, test=test)


@pytest.fixture(scope="module")
def replicates(parts, tmp_path_factory):
    return replicate(
        parts,
        lm=RECIPE,
        n_seeds=3,
        clusters=None,
        compute=Compute(cache=tmp_path_factory.mktemp("cache"), progress=False),
        seed=0,
    )


def test_each_seed_is_a_run_of_its_own(parts, replicates):
    seeds = list(replicates.surprisals)
    assert len(set(seeds)) == 3
    alone = ld.compute_surprisals(parts, lm=RECIPE, seed=seeds[1], progress=False)
    pd.testing.assert_frame_equal(alone.bits, replicates.surprisals[seeds[1]].bits, check_exact=True)
    assert not alone.bits.equals(replicates.surprisals[seeds[0]].bits)
    pd.testing.assert_series_equal(
        ld.fit(alone, model="2").difficulty, replicates.difficulty[seeds[1]], check_names=False, check_exact=True
    )


def test_the_frame_has_the_errors_of_a_mean_and_of_one_model(replicates):
    frame = replicates.to_frame()
    assert frame["difficulty"].is_monotonic_decreasing
    tables = replicates.surprisals.values()
    geometric = np.exp(sum(np.log(table.bits) for table in tables) / 3)
    mean = ld.fit(geometric, model="2")
    difference = replicates.difficulty.loc["eng"] - replicates.difficulty.loc["deu"]
    halves = {"eng": difference / 2, "deu": -difference / 2}  # difficulties relative to their mean
    deviations = {edition: half - half.mean() for edition, half in halves.items()}
    pooled = sum((d**2).sum() for d in deviations.values()) / (2 * 1)  # (R − 1)(J − 1)
    assert pooled > 0
    assert replicates.seed_sd**2 == pytest.approx(pooled, rel=ROUNDING)
    for edition in ("eng", "deu"):
        row = frame.loc[edition]
        bits = [float(np.sum(table.bits[edition].to_numpy())) for table in tables]
        assert row["bits"] == pytest.approx(sum(bits) / 3, rel=ROUNDING)
        spread = (sum((b - sum(bits) / 3) ** 2 for b in bits) / 2) ** 0.5
        assert row["bits_seed_sd"] == pytest.approx(spread, rel=ROUNDING)
        assert row["difficulty"] == pytest.approx(mean.difficulty[edition], abs=1e-9)
        assert row["seed_sd"] ** 2 == pytest.approx((deviations[edition] ** 2).sum() / 2 / (1 - 1 / 2), rel=ROUNDING)
        of_intents = mean.covariance.loc[edition, edition]
        assert row["std_error"] ** 2 == pytest.approx(of_intents, rel=1e-6)
        assert row["total_std_error"] ** 2 == pytest.approx(of_intents + pooled / 3 / 2, rel=1e-6)
        assert row["one_model_std_error"] ** 2 == pytest.approx(of_intents + pooled * (1 + 1 / 3) / 2, rel=1e-6)
    assert "Between seeds, a difficulty varies by" in replicates.summary()
    assert "They are about other intents and other seeds, not about other translations" in replicates.summary()
    assert " one_model_std_error" in replicates.summary()  # no column is cut
    assert repr(replicates) == "Replicates of char-tiny: 3 seeds × 2 editions"


def test_replicates_are_effects(replicates):
    """Contrasts, ranks and draws have the errors of intents and of seeds."""
    mean = ld.fit(np.exp(sum(np.log(table.bits) for table in replicates.surprisals.values()) / 3), model="2")
    alone, both = mean.contrast("eng", "deu"), ld.as_effects(replicates).contrast("eng", "deu")
    assert both.estimate == pytest.approx(alone.estimate, abs=1e-9)
    assert both.std_error**2 == pytest.approx(alone.std_error**2 + 2 * replicates.seed_sd**2 / 3, rel=1e-6)
    pd.testing.assert_frame_equal(replicates.covariance, replicates.effects.covariance)
    ranks = ld.rank_probabilities(replicates, n_draws=500, seed=1)
    pd.testing.assert_frame_equal(ranks, replicates.effects.ranks(500, seed=1))
    assert "3 seeds" in replicates.effects.title
    assert replicates.effects.signature.endswith("seeds:3")


def test_draws_have_both_errors(replicates):
    drawn = replicates.draws(50_000, seed=1)
    assert list(drawn.columns) == ["eng", "deu"]
    freedom = np.asarray(replicates.effects.degrees_of_freedom).min()
    expected = replicates.covariance.to_numpy() * freedom / (freedom - 2)  # draws have Student's t distribution
    assert np.abs(np.cov(drawn.to_numpy(), rowvar=False) - expected).max() < 0.03 * expected.max()
    error = 5 * np.sqrt(expected.max() / 50_000)
    assert np.abs(drawn.mean() - replicates.effects.estimate).max() < error
    pd.testing.assert_frame_equal(replicates.draws(9, seed=1), replicates.draws(9, seed=1))


def test_more_seeds_are_the_same_ones_and_others(parts, replicates, tmp_path, monkeypatch):
    trained = []

    table = replicates.surprisals[next(iter(replicates.surprisals))]

    def recorded(parts, *, seed, compute, **options):
        trained.append((seed, compute.cache.name))
        return replace(table, provenance=replace(table.provenance, seed=seed)), {}

    monkeypatch.setattr("langdiff.experiments.replicates.compute_where_possible", recorded)
    more = replicate(parts, lm=RECIPE, n_seeds=5, compute=Compute(cache=tmp_path, progress=False), seed=0)
    assert isinstance(more, Replicates)
    assert [seed for seed, _ in trained][:3] == list(replicates.surprisals)
    assert len({name for _, name in trained}) == 5
    trained.clear()
    replicate(parts, lm=RECIPE, n_seeds=2, seed=1, compute=Compute(cache=tmp_path, progress=False))
    assert not {seed for seed, _ in trained} & set(more.surprisals)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_seeds": 1}, "n_seeds must be at least 2"),
        ({"seed": -1}, "seed"),
        ({"model": "3"}, "model '3' needs model=Blunders"),
        ({"compute": Compute}, r"compute is the class Compute: write Compute\(\)\."),
        ({"compute": "cuda"}, r"compute is 'cuda'; give langdiff\.lm\.Compute, with device"),
    ],
)
def test_settings_that_cannot_be_used(parts, options, message, monkeypatch):
    monkeypatch.setattr("langdiff.experiments.replicates.compute_where_possible", None)  # nothing is trained before
    with pytest.raises(ConfigError, match=message):
        replicate(parts, lm=RECIPE, **({"seed": 0, "compute": Compute(progress=False)} | options))
