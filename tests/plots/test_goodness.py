"""Goodness of fit, ranks and residuals: what is drawn is what the numbers say."""

from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import DataError
from langdiff.plots import plot_goodness_of_fit, plot_ranks, plot_residuals
from langdiff.regression import standardized_residuals
from langdiff.regression.variants import find_variant
from langdiff.tables.effect_sources import rank_probabilities
from tests.helpers import refused

OWN_DISPERSION = 0.01  # mean square of residuals over the dispersion fitted to them; twice the spread over seeds


def simulated(editions=8, intents=300, **settings):
    sizes = np.exp(np.random.default_rng(0).normal(4.5, 1, intents))
    return ld.simulate(intents, editions, intent_sizes=sizes, seed=1, **settings).surprisals


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
    found = ld.cross_validate(simulated(intents=80, editions=5), ["2", "1"], n_folds=3, seed=0)
    ax = found.plot(title="simulated")
    assert ax.get_title(loc="left") == "simulated"
    frame = found.to_frame().loc[["2", "1"]]
    low = frame["log_density"] - frame["difference_std_error"]
    assert_allclose(bars(ax)[:, 0], low)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["2", "1"]


@pytest.mark.parametrize("editions", [8, 20, 106])
def test_ranks_are_drawn_hardest_on_top_and_named_without_overlap(editions):
    fit = ld.fit(simulated(editions=editions))
    ax = plot_ranks(fit, seed=0)
    ax.figure.canvas.draw()
    shares = rank_probabilities(fit, seed=0)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names == list(shares.index)[:: 1 if editions < 40 else 2]  # of many, every second has its name
    assert_allclose(np.asarray(ax.collections[0].get_array()).reshape(shares.shape), 100 * shares)
    assert ax.transData.transform((1, 1))[1] > ax.transData.transform((1, 2))[1]
    boxes = [label.get_window_extent() for label in ax.get_yticklabels()]
    assert all(above.y0 >= below.y1 - 0.5 for above, below in pairwise(boxes))
    assert 72 * boxes[0].height / ax.figure.dpi > 4  # readable
    assert len(ax.texts) == ((shares >= 0.005).to_numpy().sum() if editions == 8 else 0)
    assert all(label.get_text().isdigit() for label in ax.get_xticklabels())  # whole ranks


@pytest.mark.parametrize(("model", "restricted"), [("1", False), ("2", False), ("2", True)])
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_residuals_of_the_right_model_have_unit_variance(model, missing, restricted):
    surprisals = simulated(editions=6, intents=2000, model=model, missing=missing)
    fit = ld.fit(surprisals, model=model, restricted=restricted)
    residuals = standardized_residuals(fit, surprisals)
    single = surprisals.bits.notna().sum(axis=1) == 1
    assert residuals[single].isna().all().all()
    assert residuals[~single].notna().equals(surprisals.bits[~single].notna())
    assert residuals.stack().pow(2).mean() == pytest.approx(1, abs=OWN_DISPERSION)


def test_residuals_make_up_for_what_is_free_only():
    """Twenty editions of two sorts have two free difficulties; to take off twenty gives a mean square of .92."""
    surprisals = ld.simulate(12, 20, difficulties=np.zeros(20), seed=1).surprisals
    info = pd.DataFrame({"sort": ["a", "b"] * 10}, index=surprisals.editions)
    fit = ld.fit(surprisals, formula="sort", edition_info=info)
    mean_square = standardized_residuals(fit, surprisals).stack().pow(2).mean()
    assert mean_square == pytest.approx(1, abs=OWN_DISPERSION)


def test_residuals_show_why_model_2_beats_model_1():
    surprisals = simulated(editions=8, intents=600)
    slopes = {}
    for model in ("1", "2"):
        fit = ld.fit(surprisals, model=model)
        _, ax = plot_residuals(fit, standardized_residuals(fit, surprisals))
        (container,) = [c for c in ax.containers if len(c) == 3]
        size, spread = np.asarray(container[0].get_data(), dtype=float)
        assert next(line for line in ax.lines if line.get_label() == f"model {model}").get_ydata() == [1, 1]
        slopes[model] = np.polyfit(np.log(size), np.log(spread), 1)[0]
    assert slopes["1"] < -0.3  # spread falls with size; model 1 has it constant
    assert abs(slopes["2"]) < 0.05


@pytest.mark.filterwarnings("ignore:.*over 20 times")
@pytest.mark.parametrize(("model", "name"), [("1", "normal"), ("2L", "Laplace"), ("2C", "Cauchy")])
def test_quantiles_of_the_right_model_are_on_the_line(model, name):
    surprisals = simulated(editions=20, intents=300, model=model)
    fit = ld.fit(surprisals, model=model)
    quantiles, _ = plot_residuals(fit, standardized_residuals(fit, surprisals))
    assert name in quantiles.get_xlabel()
    x, y = next(line for line in quantiles.lines if line.get_marker() == "o").get_data()
    central = np.abs(x) < np.quantile(np.abs(x), 0.5)
    # a fitted location takes a little off every residual, so that slopes are near 1, not at it
    assert np.polyfit(x[central], y[central], 1)[0] == pytest.approx(1, abs=0.1)
    assert (np.diff(y) >= 0).all()


def test_wrong_tails_leave_the_line():
    surprisals = simulated(editions=20, intents=300, model="2L")
    fit = ld.fit(surprisals, model="2")
    quantiles, _ = plot_residuals(fit, standardized_residuals(fit, surprisals))
    x, y = next(line for line in quantiles.lines if line.get_marker() == "o").get_data()
    assert y[-1] > 1.3 * x[-1]
    assert y[0] < 1.3 * x[0]


def test_only_residuals_of_the_fit_are_drawn():
    surprisals = simulated()
    fit = ld.fit(surprisals)
    for table in (surprisals, surprisals.bits):
        refused(DataError, "not the surprisals", plot_residuals, fit, table)
    residuals = standardized_residuals(fit, surprisals)
    with pytest.raises(DataError, match=r"1 intent\(s\) that the fit does not know: 'new'"):
        plot_residuals(fit, residuals.rename(index={"1": "new"}))
    refused(DataError, "at most one cell", plot_residuals, fit, residuals * np.nan)
    with pytest.raises(DataError, match=r"1 edition\(s\) that the fit does not know: 'x'"):
        standardized_residuals(fit, surprisals.bits.rename(columns={"e1": "x"}))
    refused(DataError, "not those that were fitted", standardized_residuals, fit, 2 * surprisals.bits)


def test_the_order_of_the_table_does_not_matter_to_residuals():
    surprisals = simulated(intents=60, missing=0.2)
    fit, expected = ld.fit(surprisals), standardized_residuals(ld.fit(surprisals), surprisals)
    for table in (surprisals.bits.iloc[::-1, ::-1], surprisals.to_frame().sample(frac=1, random_state=0)):
        pd.testing.assert_frame_equal(standardized_residuals(fit, table), expected, check_like=True)


def test_spread_of_a_group_is_its_root_mean_square_or_half_its_interquartile_range():
    fit = SimpleNamespace(
        variant=None, intent_size=pd.Series(np.arange(1.0, 6)), effects=ld.as_effects(pd.Series([0.0]))
    )
    residuals = pd.DataFrame(np.random.default_rng(0).normal(size=(5, 4)))
    for model, expected in (
        ("2", np.sqrt((residuals.to_numpy() ** 2).mean())),
        ("2C", (residuals.stack().quantile(0.75) - residuals.stack().quantile(0.25)) / 2),
    ):
        fit.variant = find_variant(model)
        _, ax = plot_residuals(fit, residuals)
        (container,) = [c for c in ax.containers if len(c) == 3]
        assert_allclose(container[0].get_ydata(), [expected])
