"""Goodness of fit, ranks and residuals: what is drawn is what the numbers say."""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.plots import plot_goodness_of_fit, plot_ranks, plot_residuals
from langdiff.regression import rank_probabilities, standardised_residuals

OWN_DISPERSION = 0.01  # mean square of residuals over the dispersion fitted to them; twice the spread over seeds


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def simulated(editions=8, intents=300, **settings):
    sizes = np.exp(np.random.default_rng(0).normal(4.5, 1, intents))
    return ld.simulate(intents, editions, intent_sizes=sizes, seed=1, **settings)[1]


def bars(ax):
    """Return (low, middle, high) of each error bar."""
    (container,) = ax.containers
    middle = container[0].get_ydata()
    segments = np.array(container[2][0].get_segments())[:, :, 1]
    return np.column_stack([segments[:, 0], middle, segments[:, 1]])


def test_bars_are_standard_deviations_over_subsets():
    scores = pd.DataFrame({"1": [0.3, 0.2, 0.4], "2": [0.5, 0.1, 0.6]})
    ax = plt.subplots()[1]
    assert plot_goodness_of_fit(scores, ax, title="Europarl") is ax
    mean, std = scores.mean(), scores.std(ddof=1)
    assert_allclose(bars(ax), np.column_stack([mean - std, mean, mean + std]))
    assert [label.get_text() for label in ax.get_xticklabels()] == ["1", "2"]
    assert ax.get_title(loc="left") == "Europarl"
    joined = [line.get_ydata() for line in ax.lines if len(line.get_ydata()) == 2 and line.get_color() == "#d5d5d5"]
    assert_allclose(sorted(map(tuple, joined)), sorted(map(tuple, scores.to_numpy())))


def test_one_subset_has_no_bar():
    ax = plot_goodness_of_fit(pd.DataFrame({"1": [0.3], "2": [0.5]}))
    assert_allclose(bars(ax), [[0.3] * 3, [0.5] * 3])


def test_cross_validation_is_drawn_in_the_order_of_its_models():
    found = ld.cross_validate(simulated(intents=80, editions=5), ["2", "1"], k=3, seed=0)
    ax = plot_goodness_of_fit(found)
    frame = found.to_frame().loc[["2", "1"]]
    low = frame["log_density"] - frame["difference_std_error"]
    assert_allclose(bars(ax)[:, 0], low)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "1"]


def test_missing_scores_are_refused():
    with pytest.raises(DataError, match="scores are missing"):
        plot_goodness_of_fit(pd.DataFrame({"1": [0.3, np.nan]}))


def test_rank_probabilities_of_two_editions_follow_from_their_contrast():
    """Independent oracle: P(d1 > d2) of a normal difference."""
    from scipy.stats import norm

    fit = ld.fit(ld.simulate(40, 2, difficulties=[0.0, 0.01], seed=3)[1], model="1")
    shares = rank_probabilities(fit, draws=40_000, seed=0)
    difference = fit.difficulty["e1"] - fit.difficulty["e2"]
    covariance = fit.covariance.to_numpy()
    expected = norm.cdf(difference / np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))
    assert 0.05 < expected < 0.95
    assert shares.loc["e1", 1] == pytest.approx(expected, abs=0.01)  # 4 standard errors of 40,000 draws


def test_rank_probabilities_sum_to_one_both_ways():
    shares = rank_probabilities(ld.fit(simulated(editions=12)), seed=0)
    assert_allclose(shares.sum(axis=0), 1)
    assert_allclose(shares.sum(axis=1), 1)
    mean_rank = shares @ shares.columns
    assert mean_rank.is_monotonic_increasing


def test_tied_draws_share_their_ranks():
    draws = pd.DataFrame({"a": [0.1, 0.3], "b": [0.1, 0.2], "c": [0.1, 0.3], "d": [0.0, 0.1]})
    shares = rank_probabilities(draws)
    # of the two draws, one has a, b, c on ranks 1 to 3, the other a and c on 1 and 2
    assert_allclose(shares.loc["a"], [(1 / 3 + 1 / 2) / 2, (1 / 3 + 1 / 2) / 2, (1 / 3) / 2, 0])
    assert_allclose(shares.loc["b"], [(1 / 3) / 2, (1 / 3) / 2, (1 / 3 + 1) / 2, 0])
    assert_allclose(shares.loc["d"], [0, 0, 0, 1])
    assert list(shares.index) == ["a", "c", "b", "d"]


@pytest.mark.parametrize("model", ["1", "2"])
def test_editions_that_a_formula_ties_share_their_ranks(model):
    surprisals = simulated(editions=4)
    info = pd.DataFrame({"side": list("abab")}, index=surprisals.editions)
    shares = rank_probabilities(ld.fit(surprisals, model=model, formula="side", edition_info=info), draws=500, seed=0)
    for tied in (["e1", "e3"], ["e2", "e4"]):
        assert_allclose(*shares.loc[tied].to_numpy())
    assert_allclose(shares[1], shares[2])
    assert_allclose(shares[3], shares[4])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"draws": -1}, "draws must be a whole number, at least 1, got -1"),
        ({"draws": 0}, "at least 1, got 0"),
        ({"draws": 10.0}, "a whole number, at least 1, got 10.0"),
        ({"seed": -1}, "seed must be a whole number .* got -1"),
    ],
)
def test_rank_probabilities_refuse_what_is_no_number_of_draws(settings, message):
    with pytest.raises(ConfigError, match=message):
        rank_probabilities(ld.fit(simulated(intents=20)), **({"seed": 0} | settings))


def test_rank_probabilities_need_draws():
    with pytest.raises(DataError, match="draws of difficulties are missing"):
        rank_probabilities(pd.DataFrame({"a": [0.1, np.nan], "b": [0.0, 0.2]}))


@pytest.mark.parametrize("editions", [8, 106])
def test_ranks_are_drawn_hardest_on_top_and_named_without_overlap(editions):
    fit = ld.fit(simulated(editions=editions))
    ax = plot_ranks(fit, seed=0)
    ax.figure.canvas.draw()
    shares = rank_probabilities(fit, seed=0)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == list(shares.index)
    assert_allclose(np.asarray(ax.collections[0].get_array()).reshape(shares.shape), 100 * shares)
    assert ax.transData.transform((1, 1))[1] > ax.transData.transform((1, 2))[1]
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(boxes))
    assert 72 * boxes[0].height / ax.figure.dpi > 4  # readable
    assert len(ax.texts) == (0 if editions == 106 else (shares >= 0.005).to_numpy().sum())


def test_ranks_use_the_axes_they_are_given():
    _, (ax, other) = plt.subplots(1, 2)
    assert plot_ranks(ld.fit(simulated()), ax, seed=0) is ax
    assert not other.has_data()


@pytest.mark.parametrize(("model", "restricted"), [("1", False), ("2", False), ("2", True)])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_residuals_of_the_right_model_have_unit_variance(model, missing, restricted):
    surprisals = simulated(editions=6, intents=2000, model=model, missing=missing)
    fit = ld.fit(surprisals, model=model, restricted=restricted)
    residuals = standardised_residuals(fit, surprisals)
    single = surprisals.bits.notna().sum(axis=1) == 1
    assert residuals[single].isna().all().all()
    assert residuals[~single].notna().equals(surprisals.bits[~single].notna())
    assert residuals.stack().pow(2).mean() == pytest.approx(1, abs=OWN_DISPERSION)


def test_residuals_make_up_for_what_is_free_only():
    """Twenty editions of two sorts have two free difficulties; to take off twenty gives a mean square of .92."""
    _, surprisals = ld.simulate(12, 20, difficulties=np.zeros(20), seed=1)
    info = pd.DataFrame({"sort": ["a", "b"] * 10}, index=surprisals.editions)
    fit = ld.fit(surprisals, formula="sort", edition_info=info)
    mean_square = standardised_residuals(fit, surprisals).stack().pow(2).mean()
    assert mean_square == pytest.approx(1, abs=OWN_DISPERSION)


def test_residuals_of_an_array_are_those_of_a_frame():
    bits = simulated(intents=50).bits
    of_array = standardised_residuals(ld.fit(bits.to_numpy()), bits.to_numpy())
    assert_allclose(of_array, standardised_residuals(ld.fit(bits), bits))


def test_residuals_show_why_model_2_beats_model_1():
    surprisals = simulated(editions=8, intents=600)
    slopes = {}
    for model in ("1", "2"):
        _, ax = plot_residuals(ld.fit(surprisals, model=model), surprisals)
        (container,) = [c for c in ax.containers if len(c) == 3]
        size, spread = np.asarray(container[0].get_data(), dtype=float)
        line = next(line for line in ax.lines if line.get_label() == f"model {model}")
        said = np.interp(np.log(size), np.log(line.get_xdata()), line.get_ydata())
        slopes[model] = np.polyfit(np.log(size), np.log(spread / said), 1)[0]
    assert slopes["1"] < -0.3  # spread falls with size; model 1 has it constant
    assert abs(slopes["2"]) < 0.05


@pytest.mark.parametrize(("model", "name"), [("1", "normal"), ("2L", "Laplace"), ("2C", "Cauchy")])
def test_quantiles_of_the_right_model_are_on_the_line(model, name):
    surprisals = simulated(editions=20, intents=300, model=model)
    quantiles, _ = plot_residuals(ld.fit(surprisals, model=model), surprisals)
    assert name in quantiles.get_xlabel()
    x, y = next(line for line in quantiles.lines if line.get_marker() == "o").get_data()
    central = np.abs(x) < np.quantile(np.abs(x), 0.5)
    # a fitted location takes a little off every residual, so that slopes are near 1, not at it
    assert np.polyfit(x[central], y[central], 1)[0] == pytest.approx(1, abs=0.1)
    assert (np.diff(y) >= 0).all()


def test_wrong_tails_leave_the_line():
    surprisals = simulated(editions=20, intents=300, model="2L")
    quantiles, _ = plot_residuals(ld.fit(surprisals, model="2"), surprisals)
    x, y = next(line for line in quantiles.lines if line.get_marker() == "o").get_data()
    assert y[-1] > 1.3 * x[-1]
    assert y[0] < 1.3 * x[0]


def test_residuals_use_the_axes_they_are_given_and_the_table_that_was_fitted():
    surprisals = simulated()
    fit = ld.fit(surprisals)
    pair = plt.subplots(1, 2)[1]
    assert plot_residuals(fit, surprisals, tuple(pair)) == tuple(pair)
    with pytest.raises(DataError, match=r"1 edition\(s\) that the fit does not know: 'x'"):
        plot_residuals(fit, surprisals.bits.rename(columns={"e1": "x"}))
    with pytest.raises(DataError, match=r"1 intent\(s\) that the fit does not know: 'new'"):
        plot_residuals(fit, surprisals.bits.rename(index={"1": "new"}))
