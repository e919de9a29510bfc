"""Plots draw what their frames say, on the axes they are given."""

from dataclasses import replace

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.plots import plot_against_truth, plot_difficulties, plot_line_follow, plot_ranks, plot_two_models
from langdiff.regression import Optimizer
from langdiff.tables.contrasts import Scale
from langdiff.tables.pairs import rank_set


def fitted(editions, seed=0, lm="char-lstm", intents=100, **settings):
    surprisals = ld.simulate(intents, editions, seed=seed, **settings).surprisals
    return ld.fit(ld.Surprisals(bits=surprisals.bits, lm=lm))


def points_of(containers):
    """Return x and y of all points, those of harder editions first."""
    return np.hstack([np.asarray(container[0].get_data(), dtype=float) for container in containers])


def drawn(ax):
    """Return {y: (low, x, high)} of the error bars."""
    found = {}
    for container in ax.containers:
        for x, y, segment in zip(*container[0].get_data(), container[2][0].get_segments(), strict=True):
            found[int(y)] = (segment[0, 0], x, segment[1, 0])
    return found


@pytest.mark.parametrize("editions", [2, 8, 106])
def test_forest_shows_the_frame_hardest_on_top(editions):
    fit = fitted(editions)
    ax = plot_difficulties(fit)
    ax.figure.canvas.draw()
    frame = fit.to_frame().iloc[::-1]
    sets = [rank_set(*ends) for ends in zip(frame["rank_low"], frame["rank_high"], strict=True)]
    names = [f"{name}  {ranks}" for name, ranks in zip(frame.index, sets, strict=True)]
    columns = ax.figure.axes
    assert [label.get_text() for column in columns[::-1] for label in column.get_yticklabels()] == names
    found = drawn(ax)
    assert_allclose([found[i] for i in range(editions)], frame[["low", "difficulty", "high"]], atol=1e-12)
    assert columns[-1].get_ylim()[0] < 0 < editions - 1 < columns[0].get_ylim()[1]


def test_percent_axis_agrees_with_the_nats_below():
    ax = plot_difficulties(fitted(8))
    ax.figure.canvas.draw()
    percent = ax.child_axes[0]
    assert_allclose(percent.get_xlim(), 100 * np.expm1(ax.get_xlim()))


def test_forest_uses_the_axes_and_the_style_it_is_given():
    _, (ax, other) = plt.subplots(1, 2)
    fit = fitted(4)
    assert fit.plot(ax, color="black", fmt="s") is ax
    assert not other.has_data()
    assert all(container[0].get_marker() == "s" for container in ax.containers)
    assert plt.get_fignums() == [1]


def test_not_converged_is_written_on_the_picture():
    surprisals = ld.simulate(60, 4, missing=0.3, seed=6).surprisals
    with pytest.warns(ld.errors.ConvergenceWarning):
        fit = ld.fit(surprisals, optimizer=Optimizer(max_iterations=1))
    assert "NOT CONVERGED" in fit.plot().get_title(loc="left")


def test_two_models_shows_points_intervals_line_and_correlation():
    one, other = fitted(8, lm="char"), fitted(8, seed=1, lm="bpe")
    ax = plot_two_models(one, other)
    ax.figure.canvas.draw()
    x, y = points_of(ax.containers)
    assert_allclose(sorted(zip(x, y, strict=True)), sorted(zip(one.difficulty, other.difficulty, strict=True)))
    r = np.corrcoef(one.difficulty, other.difficulty)[0, 1]
    assert f"8 editions, Pearson's r = {r:.3f}" == ax.get_title(loc="left")
    assert {text.get_text() for text in ax.texts} == set(one.difficulty.index)
    assert "char" in ax.get_xlabel()
    assert "bpe" in ax.get_ylabel()
    assert ax.get_xlim() == ax.get_ylim()
    line = ax.lines[0].get_xydata()
    assert_allclose(line[:, 0], line[:, 1])


def test_two_models_puts_editions_on_the_line_though_one_fit_has_a_harder_one_more():
    surprisals = ld.simulate(300, 5, model="1", difficulties=[0, 0.1, -0.1, 0.05, 0.5], seed=3).surprisals
    all_five, four = ld.fit(surprisals), ld.fit(surprisals.sel(editions=surprisals.editions[:4]))
    assert abs(all_five.difficulty.iloc[0] - four.difficulty.iloc[0]) > 0.1
    ax = plot_two_models(all_five, four)
    x, y = points_of(ax.containers)
    assert np.abs(np.subtract(x, y)).max() < 0.01


def test_two_models_compares_only_what_both_have():
    one = fitted(4)
    other = ld.fit(ld.simulate(50, 4, seed=2).surprisals.bits.rename(columns={"e4": "other"}))
    assert plot_two_models(one, other).get_title(loc="left").startswith("3 editions")
    strange = ld.fit(ld.simulate(50, 2, seed=2).surprisals.bits.rename(columns={"e1": "x", "e2": "y"}))
    with pytest.raises(DataError, match=r"all 2 sources share 0 edition\(s\)"):
        plot_two_models(one, strange)


@pytest.mark.parametrize("corpus", ["europarl", "bibles"])
def test_published_difficulties_are_drawn_as_points(corpus):
    published = mielke2019().difficulties(corpus)["bpe"]
    ax = plot_difficulties(published)
    points = np.concatenate([container[0].get_xdata() for container in ax.containers])
    assert_allclose(np.sort(points), np.sort(published))
    assert all(not container[2] for container in ax.containers)  # no bars
    figure = ax.figure
    one = {
        "europarl": (ax.get_title(loc="left"), ax.get_xlabel()),
        "bibles": (figure.get_suptitle(), "difficulty (nats)"),
    }
    assert one[corpus] == ("bpe", "difficulty (nats)")
    assert corpus == "europarl" or figure.get_supxlabel().startswith("difficulty (nats); above: ")


def test_published_difficulties_stand_beside_a_fit():
    fit = fitted(4)
    published = (fit.difficulty + 0.5).rename("published")  # relative to some other average
    containers = plot_two_models(fit, published).containers
    assert_allclose(*points_of(containers), atol=1e-12)
    assert all(len(container[2]) == 1 for container in containers)  # the fit has bars, the numbers have none
    ax = plot_line_follow({"fit": fit, "published": published})
    assert [label.get_text() for label in ax.get_xticklabels()] == ["fit", "published"]
    truth = fit.difficulty
    (container,) = plot_against_truth({"published": published}, truth).containers
    assert_allclose(np.asarray(container[0].get_ydata(), dtype=float), 100 * np.expm1(published))
    with pytest.raises(DataError, match=r"1 edition\(s\) have a true value but no estimate by published: 'e1'"):
        plot_against_truth({"published": published.drop("e1")}, truth)


def test_units_and_the_axis_above_come_from_the_scale():
    names = ["a", "b", "c"]
    scale = Scale(quantity="ability", unit="log odds", first="ablest", centre="mean")
    estimate = pd.Series([1.0, 0.2, -1.2], names).rename_axis("system")
    abilities = ld.Effects.from_covariance(
        estimate, covariance=pd.DataFrame(0.01 * np.eye(3), names, names), scale=scale
    )
    ax = abilities.plot()
    ax.figure.canvas.draw()
    assert ax.get_xlabel() == "ability (log odds), with 95 % interval (thin: of all together)"
    assert ax.child_axes[0].get_xlabel() == "odds, relative to the average system"
    assert_allclose(ax.child_axes[0].get_xlim(), np.exp(ax.get_xlim()))
    containers = plot_two_models(abilities, replace(abilities, estimate=estimate + 3)).containers
    assert_allclose(*points_of(containers), atol=1e-12)  # both relative to their mean
    assert plot_ranks(abilities, seed=0).get_xlabel() == "rank (1 is ablest)"
    with pytest.raises(ConfigError, match="different scales cannot be drawn together: ability in log odds, diff"):
        plot_two_models(abilities, estimate)
