"""Plots draw what their frames say, on the axes they are given."""

from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from numpy.testing import assert_allclose
from scipy.stats import t as student

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.plots import (
    plot_against_truth,
    plot_by_language,
    plot_difficulties,
    plot_forest,
    plot_line_follow,
    plot_ranks,
    plot_two_models,
)
from langdiff.plots._axes import SERIES
from langdiff.regression import Optimizer
from langdiff.tables.pairs import rank_set
from langdiff.tables.rule import Scale


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
    columns = ax.figure.axes
    assert [label.get_text() for column in columns[::-1] for label in column.get_yticklabels()] == list(frame.index)
    beside = [label.get_text() for column in columns[::-1] for label in column.child_axes[1].get_yticklabels()]
    assert beside == sets
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
    scores = plot_difficulties(
        replace(abilities, scale=Scale(quantity="score", unit="score", first="highest", centre="mean"))
    )
    assert scores.get_xlabel().startswith("score, with 95 %")
    assert [child.get_xlabel() for child in scores.child_axes] == [""]
    assert_allclose(ax.child_axes[0].get_xlim(), np.exp(ax.get_xlim()))
    containers = plot_two_models(abilities, replace(abilities, estimate=estimate + 3)).containers
    assert_allclose(*points_of(containers), atol=1e-12)  # both relative to their mean
    assert plot_ranks(abilities, seed=0).get_xlabel() == "rank (1 is ablest)"
    with pytest.raises(ConfigError, match="different scales cannot be drawn together: ability in log odds, diff"):
        plot_two_models(abilities, estimate)


# --- Languages of two corpora stand where their means are, and editions of chosen languages in their own colours.


LANGUAGES = {"de": "deu", "en": "eng", "deu-a": "deu", "deu-b": "deu", "eng-a": "eng", "fin-a": "fin"}
X = pd.Series({"de": 0.2, "en": -0.1, "lv": 0.3}, name="one")
Y = pd.Series({"deu-a": 0.3, "deu-b": 0.1, "eng-a": -0.2, "fin-a": 0.0}, name="other")


def points(ax):
    return {line.get_label(): line.get_xydata() for line in ax.lines if line.get_linestyle() == "None"}


def centred(*values):
    return np.array(values) - np.log(np.mean(np.exp(values)))


def test_languages_of_both_stand_at_the_means_of_their_editions():
    ax = plt.subplots()[1]
    assert plot_by_language(X, Y, ax, edition_info=LANGUAGES, highlight=["eng"]) is ax
    x, y = centred(0.2, -0.1), centred(0.2, -0.2)  # deu, eng; only these two are in both
    drawn = points(ax)
    assert_allclose(drawn["eng"], [[x[1], y[1]]])
    (rest,) = [xy for label, xy in drawn.items() if label != "eng"]
    assert_allclose(rest, [[x[0], y[0]]])
    assert ax.get_title(loc="left").startswith("2 languages, ")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("difficulty, one (nats)", "difficulty, other (nats)")
    assert {text.get_text() for text in ax.texts} == {"deu", "eng"}
    segments = [segment for lines in ax.collections for segment in lines.get_segments()]
    assert any(np.allclose(segment, [[x[0], y[0] - 0.1], [x[0], y[0] + 0.1]]) for segment in segments)


def test_editions_of_one_corpus_are_coloured_by_language():
    ax = plot_by_language(
        Y, 2 * Y, edition_info=pd.DataFrame({"language": LANGUAGES}), highlight=["deu"], average=False
    )
    deu = points(ax)["deu"]
    assert_allclose(deu[:, 0], centred(*Y)[:2])
    assert_allclose(deu[:, 1], centred(*(2 * Y))[:2])
    assert ax.get_legend().get_texts()[0].get_text() == "deu"
    assert ax.get_title(loc="left").startswith("4 editions, ")
    colours = {line.get_color() for line in ax.lines if line.get_linestyle() == "None"}
    shapes = {line.get_marker() for line in ax.lines if line.get_linestyle() == "None"}
    assert len(colours) == len(shapes) == 2


def test_names_are_languages_without_a_table():
    ax = plot_by_language(X, X)
    assert ax.get_title(loc="left") == "3 languages, Pearson's r = 1.000"
    assert ax.get_legend() is None


# --- A forest of several language models: each estimate in its row, with its interval, and differences beside.


@pytest.fixture(scope="module")
def fits():
    return [ld.fit(table, clusters="document") for table in ld.datasets.ntrex10()]


@pytest.fixture
def axes(fits):
    yield plot_forest(ld.table(fits, by="family"))
    plt.close("all")


def rows(ax):
    """Return the row of each name, and whether it is bold."""
    labels = {round(label.get_position()[1]): label for label in ax.get_yticklabels()}
    names = {label.get_text().strip("\N{NO-BREAK SPACE}"): row for row, label in labels.items()}
    return names, {name for name, row in names.items() if labels[row].get_fontweight() == "bold"}


def drawn_of_forest(ax, colour):
    """Return the points of a colour: rows, estimates, and the ends of their intervals."""
    (points,) = (c for c in ax.containers if to_hex(c[0].get_color()) == colour)
    ends = np.array([segment[:, 0] for segment in points[2][0].get_segments()])
    return points[0].get_ydata(), points[0].get_xdata(), ends


@pytest.mark.parametrize("place", [0, 1])
def test_estimates_and_intervals_are_those_of_the_fits(axes, fits, place):
    y, x, ends = drawn_of_forest(axes, SERIES[place])
    names = {row: name for name, row in rows(axes)[0].items()}
    effects = fits[place].effects
    half = student.ppf(0.975, np.diag(effects.degrees_of_freedom)) * effects.std_error
    for row, estimate, (low, high) in zip(y, x, ends, strict=True):
        name = names[round(row)]
        nats = effects.estimate[name]
        wanted = [100 * np.expm1(nats + sign * half[name]) for sign in (0, -1, 1)]
        np.testing.assert_allclose([estimate, low, high], wanted, rtol=1e-9)
    assert len(y) == 10


def test_families_are_bold_and_stand_above_their_editions(axes):
    names, bold = rows(axes)
    assert bold == {"Uralic", "Germanic", "Romance", "Basque", "Austroasiatic"}
    assert names["Uralic"] > names["hun"] > names["fin"] > names["Germanic"] > names["deu"]


def test_the_panel_has_the_differences_in_the_same_rows(axes, fits):
    (panel,) = axes.child_axes
    assert panel.get_ylim() == axes.get_ylim()
    (points,) = panel.containers
    names = {row: name for name, row in rows(axes)[0].items()}
    factor = np.exp(fits[0].difficulty - fits[1].difficulty)  # of both, factors average 1 over the same editions
    for row, x in zip(points[0].get_ydata(), points[0].get_xdata(), strict=True):
        assert x == pytest.approx(100 * (factor[names[round(row)]] - 1), rel=1e-6)


def test_one_fit_has_neither_legend_nor_panel(fits):
    ax = ld.table(fits[:1]).plot()
    assert (ax.get_legend(), list(ax.child_axes)) == (None, [])
    assert len(rows(ax)[0]) == 10
    plt.close("all")
