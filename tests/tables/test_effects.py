"""Effects: contrasts against plain matrix algebra, ranks against brute force, plain numbers, other scales."""

import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from scipy import stats
from scipy.stats import norm

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.tables.effect_sources import as_effects, effects_by_source, rank_probabilities
from langdiff.tables.effects import Effects
from langdiff.tables.rule import Scale
from tests.helpers import refused

ROUNDING = 1e-9  # both sides are the same algebra in another order
LOG_ODDS = Scale(quantity="ability", unit="log odds", first="ablest", centre="mean")


@st.composite
def effects(draw, least=2):
    """Draw effects with a full covariance, of rank as low as 1."""
    count = draw(st.integers(least, 6))
    names = [f"e{j}" for j in range(count)]
    numbers = st.floats(-1, 1).map(lambda x: round(x, 6))
    estimate = draw(arrays(float, count, elements=numbers))
    root = draw(arrays(float, (count, draw(st.integers(1, count))), elements=numbers))
    return Effects.from_covariance(pd.Series(estimate, names), covariance=pd.DataFrame(root @ root.T, names, names))


def known(estimate, covariance, **settings):
    names = [f"e{j}" for j in range(len(estimate))]
    return Effects.from_covariance(
        pd.Series(estimate, names), covariance=pd.DataFrame(covariance, names, names).astype(float), **settings
    )


@given(problem=effects(least=3), data=st.data())
def test_contrast_is_plain_matrix_algebra(problem, data):
    names = list(problem.estimate.index)
    order = data.draw(st.permutations(names))
    cut = data.draw(st.integers(1, len(names) - 1))
    one, other = order[:cut], order[cut:]
    weights = np.array([1 / len(one) if name in one else -1 / len(other) for name in names])
    found = problem.contrast(one, other)
    assert_allclose(found.estimate, weights @ problem.estimate, atol=ROUNDING)
    assert_allclose(found.std_error**2, weights @ problem.covariance.to_numpy() @ weights, atol=ROUNDING)
    assert_allclose([found.low, found.high], found.estimate + norm.ppf([0.025, 0.975]) * found.std_error, atol=ROUNDING)
    back = problem.contrast(other, one)
    assert_allclose([back.estimate, back.std_error], [-found.estimate, found.std_error], atol=ROUNDING)


def test_effects_that_are_tied_have_no_p():
    tied = known([0.1, 0.1, 0.3], [[1, 1, 0], [1, 1, 0], [0, 0, 1]]).contrast("e0", "e1")
    assert tied.std_error == 0
    assert np.isnan(tied.p_value)


@given(problem=effects())
def test_frame_says_what_the_estimates_are(problem):
    frame = problem.to_frame()
    estimate = problem.estimate[frame.index]
    assert frame["difficulty"].is_monotonic_decreasing
    assert_allclose(frame["difficulty"], estimate)
    assert_allclose(frame["std_error"] ** 2, np.diag(problem.covariance.loc[frame.index, frame.index]), atol=ROUNDING)
    assert_allclose(frame["percent"], 100 * (np.exp(estimate) - 1), atol=ROUNDING)
    assert_allclose(frame["percent_std_error"], frame["std_error"] * 100 * np.exp(estimate), atol=ROUNDING)
    for end in ("low", "high"):
        assert_allclose(frame[f"percent_{end}"], 100 * (np.exp(frame[end]) - 1), rtol=ROUNDING, atol=ROUNDING)
    assert list(frame["rank"]) == [1 + int((estimate > value).sum()) for value in estimate]


@given(
    values=arrays(float, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=st.floats(-5, 5)),
    shift=st.floats(-3, 3),
)
def test_centring_takes_off_the_level_and_nothing_else(values, shift):
    for scale, average in ((Scale(), lambda x: np.exp(x).mean(axis=0) - 1), (LOG_ODDS, lambda x: x.mean(axis=0))):
        centered = scale.center(values)
        assert_allclose(average(centered), 0, atol=ROUNDING)
        assert_allclose(np.diff(centered, axis=0), np.diff(values, axis=0), atol=ROUNDING)
        assert_allclose(scale.center(values + shift), centered, atol=ROUNDING)


@given(draws=arrays(float, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(0, 3).map(float)))
def test_ranks_are_shares_over_all_orders_that_break_ties(draws):
    count = draws.shape[1]
    expected = np.zeros((count, count))
    for row in draws:
        orders = [order for order in itertools.permutations(range(count)) if (np.diff(row[list(order)]) <= 0).all()]
        for order in orders:
            expected[list(order), range(count)] += 1 / len(orders) / len(draws)
    shares = rank_probabilities(pd.DataFrame(draws))
    assert_allclose(shares.loc[range(count)], expected, atol=ROUNDING)
    assert (np.diff(shares.to_numpy() @ np.arange(1, count + 1)) >= -ROUNDING).all()


@pytest.mark.parametrize("model", ["1", "2"])
def test_editions_that_a_formula_ties_share_their_ranks(model):
    surprisals = ld.simulate(100, 4, seed=1).surprisals
    info = pd.DataFrame({"side": list("abab")}, index=surprisals.editions)
    fit = ld.fit(surprisals, model=model, formula="side", edition_info=info)
    shares = rank_probabilities(fit, n_draws=500, seed=0)
    for tied in (["e1", "e3"], ["e2", "e4"]):
        assert_allclose(*shares.loc[tied].to_numpy())
    assert_allclose(shares[1], shares[2])
    assert_allclose(shares[3], shares[4])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_draws": -1}, "n_draws=-1: give a whole number, at least 99"),
        ({"n_draws": 98}, "n_draws=98: "),
        ({"n_draws": 10.0}, "n_draws=10.0: give a whole number"),
        ({"n_draws": True}, "n_draws=True: give a whole number"),
        ({"seed": -1}, "-1"),
        ({"seed": None}, "seed must be a whole number"),
    ],
)
def test_ranks_need_draws_and_a_seed(settings, message):
    refused(ConfigError, message, rank_probabilities, known([0.0, 0.1], np.eye(2)), **{"seed": 0} | settings)


def test_ranks_need_complete_draws_or_a_covariance():
    with pytest.raises(DataError, match="draws of difficulties are missing"):
        rank_probabilities(pd.DataFrame({"a": [0.1, np.nan], "b": [0.0, 0.2]}))
    for source in (pd.Series({"a": 0.1, "b": 0.2}), as_effects(pd.Series({"a": 0.1, "b": 0.2})).to_frame()):
        refused(DataError, "without their joint covariance", rank_probabilities, source, seed=0)


@given(problem=effects())
def test_draws_have_the_moments_of_the_effects(problem):
    drawn = problem.draws(20_000, seed=0)
    spread = np.sqrt(np.diag(problem.covariance))
    monte_carlo = 6 * spread.max() / np.sqrt(20_000) + ROUNDING  # six standard errors of the mean
    assert_allclose(drawn.mean(), problem.estimate, atol=monte_carlo)
    # a product of two normal variables varies by no more than √3 times both spreads
    assert_allclose(drawn.cov(), problem.covariance, atol=6 * 1.75 * spread.max() ** 2 / np.sqrt(20_000) + ROUNDING)


def test_plain_numbers_have_points_and_perhaps_intervals():
    numbers = pd.Series({"deu": 0.04, "eng": -0.04}, name="char")
    plain = as_effects(numbers)
    assert plain.title == "char"
    assert plain.std_error.isna().all()
    assert np.isnan(plain.contrast("deu", "eng").std_error)
    frame = pd.DataFrame({"difficulty": numbers, "std_error": [0.01, 0.02]})
    with_errors = as_effects(frame, title="published")
    assert_allclose(with_errors.std_error, [0.01, 0.02])
    assert np.isnan(with_errors.contrast("deu", "eng").std_error)  # what the errors share is not known
    assert with_errors.title == "published"
    pd.testing.assert_frame_equal(as_effects(with_errors.to_frame()).to_frame(), with_errors.to_frame())
    assert as_effects(numbers.to_frame()).title == "char"
    named = pd.DataFrame({"effects": [0.1, 0.2], "other": 0.0})  # a column of that name does not make effects of it
    refused(DataError, "needs a column 'difficulty'; this one has 'effects', 'other'", as_effects, named)


@pytest.mark.parametrize(
    ("source", "error", "message"),
    [
        (3, ConfigError, "must be effects, a fit, a posterior, a Series or a DataFrame; got int"),
        (pd.Series([0.1, 0.2], ["a", "a"], name="x"), DataError, r"1 effect\(s\) of x named twice: 'a'"),
        (pd.Series({"a": 0.1, "b": np.nan}), DataError, "1 of 2 are not finite numbers: 'b'"),
        (pd.Series({"a": "0.1", "b": "hard"}), DataError, "1 of 2 are not finite numbers: 'b'"),
    ],
)
def test_what_is_not_effects_is_refused(source, error, message):
    refused(error, message, as_effects, source)


def posterior_of(draws, **facts):
    """Return what `ld.sample` returns, as far as effects are concerned, of draws (chains, draws, J)."""
    xr = pytest.importorskip("xarray")
    names = [f"e{k}" for k in range(draws.shape[2])]
    array = xr.DataArray(draws, dims=("chain", "draw", "edition"), coords={"edition": names})
    return SimpleNamespace(posterior=xr.Dataset({"difficulty": array}, attrs=facts))


def test_a_posterior_has_the_moments_and_the_ranks_of_its_draws():
    draws = np.random.default_rng(0).multivariate_normal([-0.1, 0.0, 0.1], np.diag([1e-2, 4e-2, 1e-2]), (4, 250))
    flat = draws.reshape(1000, 3)
    posterior = posterior_of(draws, lm="char", model="2", signature="model:2|seed:1")
    effects = as_effects(posterior)
    assert_allclose(effects.estimate, flat.mean(axis=0), rtol=1e-12)
    assert_allclose(effects.covariance, np.cov(flat.T), rtol=1e-12)
    assert (effects.title, effects.signature) == ("char, model 2", "model:2|seed:1")
    assert_allclose(effects.contrast("e2", "e1").std_error, (flat[:, 2] - flat[:, 1]).std(ddof=1), rtol=1e-12)
    ranks = rank_probabilities(posterior)
    assert ranks.loc["e2", 1] == np.mean(flat.argmax(axis=1) == 2)  # counted in the draws, without a seed
    assert [name for name, _ in effects_by_source([posterior, posterior_of(draws)])] == ["char", "unknown"]
    draws[0, 1, 2] = np.nan
    for use in (as_effects, rank_probabilities):
        refused(DataError, "1 of 3,000 difficulties in the posterior are not finite", use, posterior_of(draws))
    without = SimpleNamespace(posterior=posterior.posterior.rename(difficulty="ability"))
    with pytest.raises(DataError, match="no posterior of difficulties by chain, draw and edition; there are 'ability'"):
        as_effects(without)


def test_covariances_that_do_not_fit_are_refused():
    good = known([0.1, 0.2], np.eye(2))
    with pytest.raises(DataError, match="must have their names"):
        Effects.from_covariance(good.estimate, good.covariance.rename(index={"e0": "x"}))
    refused(DataError, "1 variances are negative: 'e1'", known, [0.1, 0.2], np.diag([1.0, -1.0]))
    assert (known([0.1, 0.1], np.full((2, 2), -1e-20)).std_error == 0).all()  # rounding, as of effects that are tied


def test_log_odds_have_no_percent_but_odds():
    abilities = known([0.7, -0.7], [[0.1, -0.1], [-0.1, 0.1]], scale=LOG_ODDS, title="parsers")
    assert " ".join(abilities.to_frame()) == "ability std_error low high rank rank_low rank_high"
    contrast = abilities.contrast("e0", "e1")
    assert contrast.std_error**2 == pytest.approx(0.4)
    assert f"odds × {np.exp(1.4):.2f}" in str(contrast)
    assert repr(abilities) == "Effects: ability of 2 editions by parsers (log odds)"


def test_sources_are_named_by_key_column_language_model_or_title():
    fit = ld.fit(ld.simulate(100, 3, seed=0).surprisals)
    series = pd.Series({"e1": 0.1, "e2": -0.1}, name="char")
    assert [name for name, _ in effects_by_source([fit, fit.effects, series])] == [fit.lm, fit.effects.title, "char"]
    assert [name for name, _ in effects_by_source({"a": fit, "b": series})] == ["a", "b"]
    assert [name for name, _ in effects_by_source(fit)] == [fit.lm]
    assert [name for name, _ in effects_by_source(series.rename(None))] == ["unknown"]
    assert [name for name, _ in effects_by_source(fit.to_frame())] == ["unknown"]
    published = mielke2019().difficulties("europarl")
    for name, effects in effects_by_source(published):
        pd.testing.assert_series_equal(effects.estimate, published[name].dropna(), check_names=False)
    holes = pd.DataFrame({"one": [0.1, np.nan], "two": [0.2, 0.3]}, index=["a", "b"])
    assert [len(effects.estimate) for _, effects in effects_by_source(holes)] == [1, 2]


def t_effects(freedom):
    names = ["eng", "fin", "deu"]
    covariance = pd.DataFrame(np.diag([1e-4, 4e-4, 9e-4]), names, names)
    estimate = pd.Series([-0.1, 0.12, -0.02], names)
    return ld.Effects.from_covariance(estimate, covariance=covariance, freedom=freedom)


def test_intervals_and_tests_follow_students_distribution():
    names = ["eng", "fin", "deu"]
    freedom = pd.DataFrame([[4.0, 5, 6], [5, 7, 8], [6, 8, 9]], names, names)
    effects = t_effects(freedom)
    frame = effects.to_frame().loc[names]
    expected = stats.t.ppf(0.975, [4, 7, 9]) * [0.01, 0.02, 0.03]
    assert_allclose(frame["high"] - frame["difficulty"], expected)
    contrast = effects.contrast("fin", "deu")
    assert contrast.degrees_of_freedom == 8
    assert contrast.p_value == pytest.approx(2 * stats.t.sf(0.14 / np.sqrt(13e-4), 8))
    assert contrast.high - contrast.estimate == pytest.approx(stats.t.ppf(0.975, 8) * np.sqrt(13e-4))
    assert effects.contrast("eng", ["fin", "deu"]).degrees_of_freedom == 5  # the fewer of 5 and 6
    assert t_effects(np.inf).contrast("fin", "deu").p_value == pytest.approx(2 * stats.norm.sf(0.14 / np.sqrt(13e-4)))


def test_draws_have_the_tails_of_the_intervals():
    drawn = t_effects(5.0).draws(40_000, seed=1)["fin"]
    normal = t_effects(np.inf).draws(40_000, seed=1)["fin"]
    assert np.var(normal) == pytest.approx(4e-4, rel=0.05)
    assert np.var(drawn) == pytest.approx(4e-4 * 5 / 3, rel=0.1)
    low, high = t_effects(5.0).to_frame().loc["fin", ["low", "high"]]
    assert ((drawn < low) | (drawn > high)).mean() == pytest.approx(0.05, abs=0.005)
