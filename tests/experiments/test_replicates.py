from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.experiments import replicate
from langdiff.experiments.replicates import Replicates
from langdiff.lm import RECIPES
from langdiff.typology import propagate_errors

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
    return replicate(parts, lm=RECIPE, n_seeds=3, cache=tmp_path_factory.mktemp("cache"), progress=False, seed=0)


def test_each_seed_is_a_run_of_its_own(parts, replicates):
    seeds = list(replicates.surprisals)
    assert len(set(seeds)) == 3
    alone = ld.compute_surprisals(parts, lm=RECIPE, seed=seeds[1], progress=False)
    pd.testing.assert_frame_equal(alone.bits, replicates.surprisals[seeds[1]].bits, check_exact=True)
    assert not alone.bits.equals(replicates.surprisals[seeds[0]].bits)
    pd.testing.assert_series_equal(
        ld.fit(alone, model="2").difficulty, replicates.difficulty[seeds[1]], check_names=False, check_exact=True
    )


def test_the_spread_is_that_of_the_seeds(replicates):
    frame = replicates.to_frame()
    assert frame["difficulty"].is_monotonic_decreasing
    for edition in ("eng", "deu"):
        bits = [float(np.sum(table.bits[edition].to_numpy())) for table in replicates.surprisals.values()]
        difficulties = replicates.difficulty.loc[edition].to_numpy()
        errors = replicates.std_error.loc[edition].to_numpy()
        mean = sum(bits) / 3
        assert frame.loc[edition, "bits"] == pytest.approx(mean, rel=ROUNDING)
        assert frame.loc[edition, "bits_seed_sd"] == pytest.approx(
            (sum((b - mean) ** 2 for b in bits) / 2) ** 0.5, rel=ROUNDING
        )
        seed_variance = sum((d - difficulties.mean()) ** 2 for d in difficulties) / 2
        assert seed_variance > 0
        assert frame.loc[edition, "seed_sd"] == pytest.approx(seed_variance**0.5, rel=ROUNDING)
        variance = sum(e**2 for e in errors) / 3
        assert replicates.covariance.loc[edition, edition] == pytest.approx(variance, rel=ROUNDING)
        assert frame.loc[edition, "total_std_error"] == pytest.approx((variance + seed_variance) ** 0.5, rel=ROUNDING)
    assert "Between seeds, a difficulty varies by" in replicates.summary()
    assert " seed_sd " in replicates.summary()  # no column is cut
    assert repr(replicates) == "Replicates of char-tiny: 3 seeds × 2 editions"


def test_draws_have_both_errors():
    rng = np.random.default_rng(3)
    editions = pd.Index(["deu", "eng", "fra"], name="edition")
    root = rng.normal(size=(3, 3)) / 100
    replicates = Replicates(
        surprisals={},
        difficulty=pd.DataFrame([[0.1, 0.14], [0.0, 0.0], [-0.1, -0.14]], index=editions, columns=[5, 6]),
        std_error=pd.DataFrame(),
        covariance=pd.DataFrame(root @ root.T, index=editions, columns=editions),
        model="2",
    )
    luck = (2 * 0.02**2 + 0 + 2 * 0.02**2) / 3  # variance between seeds, mean over editions
    assert replicates.seed_sd == pytest.approx(luck**0.5, rel=ROUNDING)
    drawn = replicates.draws(200_000, seed=1)
    assert list(drawn.columns) == list(editions)
    expected = root @ root.T + np.eye(3) * luck / 2
    assert np.abs(np.cov(drawn.to_numpy(), rowvar=False) - expected).max() < 5e-6  # 5 Monte-Carlo errors
    assert np.abs(drawn.mean() - [0.12, 0, -0.12]).max() < 3e-4
    pd.testing.assert_frame_equal(replicates.draws(9, seed=1), replicates.draws(9, seed=1))


def test_draws_are_taken_by_typology(replicates):
    assert replicates.draws(100, seed=0)["eng"].std() > 0
    both = pd.concat([replicates.draws(200, seed=0), replicates.draws(200, seed=1).add_suffix("-2")], axis=1)
    lengths = pd.Series(range(4), index=both.columns, name="length", dtype=float)
    assert propagate_errors(both, lengths, seed=0).estimates["n"].eq(4).all()


def test_more_seeds_are_the_same_ones_and_others(parts, replicates, tmp_path, monkeypatch):
    trained = []

    def recorded(parts, *, seed, cache, **options):
        trained.append((seed, cache.name))
        return replicates.surprisals[next(iter(replicates.surprisals))]

    monkeypatch.setattr("langdiff.experiments.replicates.compute_surprisals", recorded)
    more = replicate(parts, lm=RECIPE, n_seeds=5, cache=tmp_path, progress=False, seed=0)
    assert isinstance(more, Replicates)
    assert [seed for seed, _ in trained][:3] == list(replicates.surprisals)
    assert len({name for _, name in trained}) == 5
    trained.clear()
    replicate(parts, lm=RECIPE, n_seeds=2, seed=1, cache=tmp_path, progress=False)
    assert not {seed for seed, _ in trained} & set(more.surprisals)


@pytest.mark.parametrize(
    ("options", "message"), [({"n_seeds": 1}, "n_seeds must be at least 2"), ({"seed": -1}, "seed")]
)
def test_settings_that_cannot_be_used(parts, options, message):
    with pytest.raises(ConfigError, match=message):
        replicate(parts, lm=RECIPE, progress=False, **({"seed": 0} | options))
