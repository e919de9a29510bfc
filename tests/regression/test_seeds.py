"""Difficulties from several seeds: covariance and degrees of freedom, against formulas and simulated truth."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import t as student

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.seeds import _variances, combine_seeds, mean_over_seeds, seed_variance
from langdiff.tables.effects import Effects
from langdiff.tables.long_tables import Provenance
from langdiff.tables.surprisals import Surprisals
from tests.helpers import refused

ROUNDING = 1e-10


def estimate(table):
    return ld.fit(table, model="1")


def two_way_means(table):
    """Model 1 of a complete table, without `langdiff.fit` for speed."""
    z = np.log(table.bits.to_numpy())
    intents, editions = z.shape
    residual = z - z.mean(axis=1, keepdims=True) - z.mean(axis=0) + z.mean()
    variance = np.sum(residual**2) / ((intents - 1) * (editions - 1))
    covariance = variance / intents * (np.eye(editions) - 1 / editions)
    return Effects.from_covariance(pd.Series(z.mean(axis=0) - z.mean()), covariance=pd.DataFrame(covariance))


def draw(rng, *, intents=200, editions=4, seeds=3, seed_sd=0.012, noise=0.1, own=0.05):
    """Draw tables of equally difficult editions: what seeds share, what each seed adds, and noise of its own."""
    shape = intents, editions
    shared = rng.normal(4.5, 0.6, (intents, 1)) + rng.normal(0, noise, shape)
    luck = rng.normal(0, seed_sd, (seeds, editions))
    return [Surprisals(bits=pd.DataFrame(np.exp(shared + row + rng.normal(0, own, shape))), lm="x") for row in luck]


def test_the_covariance_is_that_of_intents_and_of_seeds():
    tables = draw(np.random.default_rng(1))
    found = combine_seeds(tables, estimate, seeds=[5, 6, 9])
    by_seed = pd.DataFrame({seed: estimate(table).difficulty for seed, table in zip([5, 6, 9], tables, strict=True)})
    pd.testing.assert_frame_equal(found.by_seed, by_seed)
    errors = pd.DataFrame({seed: estimate(table).std_error for seed, table in zip([5, 6, 9], tables, strict=True)})
    pd.testing.assert_frame_equal(found.std_errors, errors)
    deviations = by_seed.sub(by_seed.mean(axis=1), axis=0)
    relative = deviations - deviations.mean()  # normalized by factors, whose mean is nearly this one
    b = (relative**2).to_numpy().sum() / (2 * 3)
    assert b == pytest.approx((deviations**2).to_numpy().sum() / (2 * 3), rel=1e-3)
    assert found.variance == pytest.approx(b, rel=ROUNDING)
    assert seed_variance(by_seed) == pytest.approx(b, rel=ROUNDING)
    mean = estimate(np.exp(sum(np.log(table.bits) for table in tables) / 3))
    assert_allclose(found.effects.estimate, mean.difficulty, atol=ROUNDING)
    assert_allclose(found.of_intents, mean.covariance, rtol=1e-8, atol=1e-14)
    expected = mean.covariance.to_numpy() + b / 3 * (np.eye(4) - 1 / 4)
    assert_allclose(found.effects.covariance, expected, rtol=1e-8, atol=1e-14)
    contrast = found.effects.contrast(2, 0)
    assert contrast.std_error**2 == pytest.approx(mean.contrast(2, 0).std_error ** 2 + 2 * b / 3, rel=1e-8)
    assert found.n_seeds == 3
    assert found.effects.signature.endswith("|seeds:3")
    # the mean of z, so that model 1 gives the mean of the seeds' estimates
    centred = by_seed.mean(axis=1) - by_seed.mean().mean()
    assert_allclose(found.effects.estimate - found.effects.estimate.mean(), centred, atol=ROUNDING)


def test_degrees_of_freedom():
    found = combine_seeds(draw(np.random.default_rng(1)), estimate)
    b, c = found.variance, found.of_intents
    variance = c.loc[0, 0] + c.loc[2, 2] - 2 * c.loc[0, 2]
    of_seeds = 2 * b / 3
    for of_intents in (30.0, np.inf):
        expected = (variance + of_seeds) ** 2 / (of_seeds**2 / (2 * 3) + variance**2 / of_intents)
        degrees = found.degrees_of_freedom(of_intents)
        assert degrees.loc[0, 2] == pytest.approx(expected, rel=ROUNDING)
        assert degrees.loc[2, 0] == pytest.approx(degrees.loc[0, 2], rel=ROUNDING)
        assert np.isnan(np.diag(degrees)).all()
    refused(ConfigError, "degrees of freedom must be positive, got 0", found.degrees_of_freedom, 0)


def test_seeds_that_agree_add_nothing():
    tables = draw(np.random.default_rng(2), seeds=1) * 3
    found = combine_seeds(tables, estimate)
    assert found.variance == pytest.approx(0, abs=1e-30)
    assert_allclose(found.effects.covariance, found.of_intents, atol=1e-20)
    assert_allclose(found.degrees_of_freedom(50.0).to_numpy()[np.triu_indices(4, 1)], 50)


def test_own_variances_are_recovered():
    rng = np.random.default_rng(3)
    sd = np.array([0.02, 0.03, 0.05, 0.1])
    by_seed = pd.DataFrame(rng.normal(0, sd[:, None], (4, 50_000)))
    assert_allclose(_variances(by_seed), sd**2, rtol=0.1)
    assert seed_variance(by_seed) == pytest.approx(np.mean(sd**2), rel=0.02)
    assert_allclose(
        _variances(by_seed + rng.normal(0, 1, 50_000)), _variances(by_seed), rtol=1e-6
    )  # levels are nothing


def test_ten_seeds_give_each_edition_its_own_variance():
    rng = np.random.default_rng(5)
    sd = np.array([0.05, 0.05, 0.05, 0.2])
    found = combine_seeds(draw(rng, seeds=40, seed_sd=sd), two_way_means)
    assert found.variances[3] > 5 * found.variances[0]
    assert (found.variances > 0).all()
    assert found.variances.mean() == pytest.approx(found.variance, rel=ROUNDING)
    b = found.variances / 40
    c = found.of_intents
    for j, k in ((0, 3), (1, 2)):
        variance = c.loc[j, j] + c.loc[k, k] - 2 * c.loc[j, k]
        full = found.effects.contrast(j, k).std_error ** 2
        assert full == pytest.approx(variance + b[j] + b[k], rel=1e-8)
        expected = full**2 / ((b[j] ** 2 + b[k] ** 2) / 39 + variance**2 / 100)
        assert found.degrees_of_freedom(100).loc[j, k] == pytest.approx(expected, rel=1e-8)
    pooled = combine_seeds(draw(rng, seeds=9, seed_sd=sd), two_way_means)
    assert pooled.variances.nunique() == 1
    two = combine_seeds(draw(rng, seeds=12, editions=2), two_way_means)  # of two, only the difference is known
    assert two.variances.nunique() == 1


def test_intervals_of_a_difference_cover_the_truth():
    """With the seeds' variance pooled and Student's t; without it, an interval is too short."""
    rng = np.random.default_rng(4)
    alone, both = [], []
    for _ in range(80):
        found = combine_seeds(draw(rng, intents=100, seed_sd=0.03), two_way_means)
        degrees = found.degrees_of_freedom(100 * 4 - 100 - 4 + 1)
        for j in range(1, 4):
            difference = found.effects.contrast(j, 0)
            variance = found.of_intents.loc[j, j] + found.of_intents.loc[0, 0] - 2 * found.of_intents.loc[0, j]
            alone.append(abs(difference.estimate) < 1.96 * variance**0.5)
            both.append(abs(difference.estimate) < student.ppf(0.975, degrees.loc[0, j]) * difference.std_error)
    assert np.mean(alone) < 0.8
    assert 0.91 < np.mean(both) <= 0.985


def test_the_mean_over_seeds_tells_where_it_is_from():
    bits = pd.DataFrame({"eng": [10.0, np.nan], "deu": [20.0, 30.0]}, index=["a", "b"])
    tables = [
        Surprisals(bits=factor * bits, lm="lstm", provenance=Provenance(recipe="lstm#1", scoring="unpriced", seed=seed))
        for factor, seed in ((1.0, 3), (4.0, 4))
    ]
    mean = mean_over_seeds(tables)
    pd.testing.assert_frame_equal(mean.bits, 2 * bits, check_names=False)
    assert mean.lm == "lstm"
    assert mean.provenance.seed is None
    assert mean.provenance.recipe.startswith("lstm#")
    other = mean_over_seeds([tables[0], replace(tables[1], provenance=replace(tables[1].provenance, seed=5))])
    assert other.provenance != mean.provenance


BITS = pd.DataFrame(np.full((3, 2), 10.0), index=["a", "b", "c"], columns=["eng", "deu"])
ONE = Surprisals(bits=BITS, lm="x", provenance=Provenance(recipe="x#1", scoring="unpriced", seed=1))


@pytest.mark.parametrize(
    ("tables", "error", "message"),
    [
        ([ONE], ConfigError, "at least two tables, got 1"),
        ([ONE, replace(ONE, bits=BITS.iloc[:2], provenance=None)], DataError, "the intents of table 2 of 2.*'c'"),
        ([ONE, replace(ONE, bits=BITS.iloc[::-1], provenance=None)], DataError, "only the order differs"),
        ([ONE, replace(ONE, bits=BITS.rename(columns={"deu": "fra"}))], DataError, "the editions of table 2 of 2"),
        ([ONE, replace(ONE, bits=BITS.drop(index="b").reindex(BITS.index))], DataError, "lacks other cells"),
        ([ONE, replace(ONE, lm="y", provenance=None)], DataError, "is by 'y', the first by 'x'"),
        ([ONE, ONE], DataError, "two tables are of seed 1"),
    ],
)
def test_what_is_refused(tables, error, message):
    refused(error, message, mean_over_seeds, tables)


def test_one_edition_has_no_spread():
    refused(ConfigError, "two seeds and two editions, got 3 and 1", seed_variance, pd.DataFrame([[0.0, 0.0, 0.0]]))
