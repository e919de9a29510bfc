"""Pictures of language models, truth, posteriors, merges, translationese, typology and parity."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.experiments import reproduce, translationese
from langdiff.experiments.bpe_sweep import SweepResult
from langdiff.plots import (
    plot_against_truth,
    plot_correlation,
    plot_learning_curves,
    plot_line_follow,
    plot_parity,
    plot_posterior,
    plot_translationese,
)
from langdiff.plots._axes import POINT_NAME
from langdiff.plots._rows import spread
from langdiff.regression.stan.draws import import_arviz
from langdiff.typology import correlate
from tests.helpers import refused


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_points_stand_where_truth_and_estimate_say(axes):
    truth = ld.simulate(200, 3, difficulties=[0.0, 0.0, 0.3], seed=1)
    surprisals = truth.surprisals
    fit = ld.fit(surprisals)
    assert plot_against_truth({"lm": fit}, truth.difficulty, axes) is axes
    x, y = axes.containers[0].lines[0].get_xydata().T
    np.testing.assert_allclose(x, 100 * np.expm1(truth.difficulty))
    np.testing.assert_allclose(y, 100 * np.expm1(fit.difficulty[truth.difficulty.index]))


def test_editions_as_hard_as_each_other_share_a_label(axes):
    truth = ld.simulate(200, 3, difficulties=[0.0, 0.0, 0.3], seed=1)
    surprisals = truth.surprisals
    plot_against_truth({"lm": ld.fit(surprisals)}, truth.difficulty, axes)
    assert [label.get_text() for label in axes.texts] == ["e1\ne2", "e3"]


def logs(curves):
    """Make the logs of (edition, lm, seed): bits by epoch."""
    rows = [
        {"edition": edition, "lm": lm, "seed": seed, "epoch": epoch, "dev_bits_per_character": bits}
        for (edition, lm, seed), curve in curves.items()
        for epoch, bits in enumerate(curve, start=1)
    ]
    return pd.DataFrame(rows)


def test_draws_what_the_logs_say():
    curves = {("eng", "char-small", 0): [3.0, 2.0, 2.5], ("deu", "char-small", 0): [3.5, 2.8]}
    ax = Figure().subplots()
    assert plot_learning_curves(logs(curves).sample(frac=1, random_state=0), ax) is ax
    lines = {line.get_label(): line for line in ax.get_lines() if not line.get_label().startswith("_")}
    assert lines["eng"].get_ydata().tolist() == [3.0, 2.0, 2.5]
    assert lines["deu"].get_xdata().tolist() == [1, 2]
    dots = {
        (float(line.get_xdata()[0]), float(line.get_ydata()[0])) for line in ax.get_lines() if line.get_marker() == "o"
    }
    assert dots == {(2.0, 2.0), (2.0, 2.8)}
    assert {text.get_text() for text in ax.texts} == {"eng", "deu"}


def test_names_say_what_tells_models_apart():
    curves = {("eng", "char-small", 0): [3.0], ("eng", "char-small", 7): [2.9], ("eng", "bpe-small", 7): [2.7]}
    ax = plot_learning_curves(logs(curves), Figure().subplots())
    names = {"eng char-small seed 0", "eng char-small seed 7", "eng bpe-small seed 7"}
    assert {text.get_text() for text in ax.texts} == names


@pytest.fixture
def idata():
    rng = np.random.default_rng(0)
    draws = np.array([0.1, -0.2, 0.05]) + np.array([0.01, 0.02, 0.03]) * rng.standard_normal((2, 500, 3))
    made = import_arviz().from_dict(
        posterior={"difficulty": draws}, dims={"difficulty": ["edition"]}, coords={"edition": ["deu", "eng", "fin"]}
    )
    made.posterior.attrs.update(model="2", lm="lstm")
    yield made
    plt.close("all")


def test_intervals_are_quantiles_hardest_on_top(idata):
    ax = plt.figure().add_subplot()
    assert plot_posterior(idata, ax) is ax
    assert [label.get_text() for label in ax.get_yticklabels()] == ["eng", "fin", "deu"]
    draws = idata.posterior["difficulty"].sel(edition="deu").to_numpy().ravel()
    _, wide, narrow = ax.collections  # grid, 95 %, 50 %
    for lines, part in ((wide, (0.025, 0.975)), (narrow, (0.25, 0.75))):
        segment = lines.get_segments()[2]
        np.testing.assert_allclose(segment[:, 0], np.quantile(draws, part))
        np.testing.assert_array_equal(segment[:, 1], 2)
    x, y = ax.lines[-1].get_data()
    np.testing.assert_allclose(x[list(y).index(2)], np.median(draws))
    assert "model 2" in ax.get_title(loc="left")


# --- The pictures of the sweep and of difficulties across models draw what their tables say.


@pytest.fixture
def sweep():
    dev_bits = pd.DataFrame(
        {"eng": [9e5, 8e5, 8.5e5], "deu": [9.5e5, 8.8e5, 8.7e5]}, index=pd.Index([0.0, 0.4, 1.0], name="ratio")
    )
    return SweepResult(lm="bpe-small", dev_bits=dev_bits, surprisals={}, seed=0)


def test_a_line_an_edition_with_its_minimum(sweep, axes):
    assert sweep.plot(axes, linewidth=2.0) is axes
    for edition, ratio, lowest in (("eng", 0.4, 800), ("deu", 1.0, 870)):
        place = [line.get_label() for line in axes.lines].index(edition)
        line, dot = axes.lines[place : place + 2]
        assert_allclose(line.get_xydata(), np.column_stack([sweep.dev_bits.index, sweep.dev_bits[edition] / 1000]))
        assert_allclose(dot.get_xydata(), [[ratio, lowest]])
        assert line.get_linewidth() == 2
    assert axes.lines[0].get_xdata() == [sweep.best_overall] * 2 == [0.4, 0.4]
    assert {text.get_text() for text in axes.texts} == {"eng", "deu"}
    assert "kbit" in axes.get_ylabel()


@pytest.fixture(scope="module")
def fits():
    return [ld.fit(ld.simulate(300, 5, seed=seed).surprisals) for seed in range(3)]


def test_lines_go_through_the_difficulties(fits, axes):
    assert plot_line_follow(dict(zip("abc", fits, strict=True)), axes) is axes
    for edition in fits[0].difficulty.index:
        (line,) = [line for line in axes.lines if line.get_label() == edition]
        assert_allclose(line.get_ydata(), [fit.difficulty[edition] for fit in fits], atol=1e-12)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]


def test_only_shared_editions_are_drawn_and_normalized(fits, axes):
    fewer = ld.fit(ld.simulate(300, 3, seed=9).surprisals)
    plot_line_follow([fits[0], fewer], axes)
    lines = [line for line in axes.lines if line.get_label() in fewer.difficulty.index]
    assert len(lines) == 3
    assert_allclose(np.exp([line.get_ydata() for line in lines]).mean(axis=0), 1)
    colours = {line.get_ydata()[1] > line.get_ydata()[0]: line.get_color() for line in lines}
    assert len(set(colours.values())) == len(colours)


@given(wanted=st.lists(st.floats(0, 1), min_size=2, max_size=6), gap=st.floats(0.01, 0.3))
def test_labels_are_spread_as_little_as_possible(wanted, gap):
    wanted = np.array(wanted)
    moved = spread(wanted, gap)
    assert (np.diff(np.sort(moved)) >= gap - 1e-9).all()
    order = np.argsort(wanted, kind="stable")
    best = minimize(
        lambda y: ((y - wanted[order]) ** 2).sum(),
        np.linspace(0, 1, len(wanted)) + gap * np.arange(len(wanted)),
        constraints={"type": "ineq", "fun": lambda y: np.diff(y) - gap},
        method="SLSQP",
        options={"maxiter": 300, "ftol": 1e-12},
    )
    assert ((moved - wanted) ** 2).sum() <= best.fun + 1e-6


@given(wanted=st.lists(st.floats(0, 1), min_size=1, max_size=6), gap=st.floats(0.01, 0.2))
def test_spread_labels_stay_within_bounds(wanted, gap):
    moved = spread(np.array(wanted), gap, 0, 1)
    assert (np.diff(np.sort(moved)) >= gap - 1e-9).all()
    assert -1e-9 <= moved.min() <= moved.max() <= 1 + 1e-9


# --- The picture of native against translated draws what its frame says.


@pytest.fixture(scope="module")
def result():
    surprisals = ld.simulate(400, 4, seed=0).surprisals
    origin = pd.Series(np.random.default_rng(0).choice(["e1", "e2", "e3"], 400), index=surprisals.intents)
    return translationese(surprisals, origin, min_native=50)


def test_intervals_stand_where_the_frame_says(result, axes):
    assert result.plot(axes) is axes
    axes.figure.canvas.draw()
    (container,) = axes.containers
    rows = result.to_frame().iloc[::-1]
    assert_allclose(container.lines[0].get_xdata().astype(float), rows["difference"])
    ends = np.array([segment[:, 0] for segment in container.lines[2][0].get_segments()])
    assert_allclose(ends, rows[["low", "high"]])
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert labels == [f"{e}  ({row.native} + {row.translated})" for e, row in rows.iterrows()]
    (mean,) = [line for line in axes.lines if line.get_label() == "mean"]
    assert_allclose(mean.get_xdata(), result.mean.estimate)


def test_of_one_edition_no_mean_is_drawn(result, axes):
    surprisals = ld.simulate(100, 2, seed=0).surprisals
    origin = pd.Series(["e1", "x"] * 50, index=surprisals.intents)
    plot_translationese(translationese(surprisals, origin, languages=["e1"]), axes)
    assert axes.get_legend() is None


# --- The picture of difficulty against a predictor draws what its points say.


@pytest.fixture(scope="module")
def result_of_typology():
    return reproduce()


def test_points_stand_where_the_figures_say(result_of_typology, axes):
    assert result_of_typology.plot(axes) is axes
    series = [line for line in axes.lines if line.get_linestyle() == "None"]
    points = result_of_typology.pearson.points("mcc")
    assert len(series) == 2
    for line, lm in zip(series, ("bpe", "char"), strict=True):
        rows = points[points["language_model"] == lm]
        assert_allclose(line.get_xydata(), rows[["predictor", "difficulty"]])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["europarl, bpe: r = 0.06, n = 21", "europarl, char: r = 0.02, n = 21"]
    assert {"deu", "fin", "eng"} <= {text.get_text() for text in axes.texts}


def test_both_corpora_share_the_axes(result_of_typology, axes):
    result_of_typology.pearson.plot("word_types", axes, color="black")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "bibles, bpe: r = 0.74, n = 61, significant" in labels
    assert len(labels) == 4
    assert {line.get_color() for line in axes.lines[1:]} == {"black"}


def test_categories_stand_in_columns_with_their_means(result_of_typology, axes):
    result_of_typology.wals.plot("81A", axes)
    ticks = [tick.get_text().replace("\n", " ") for tick in axes.get_xticklabels()]
    assert ticks == ["SOV (7)", "SVO (18)", "VSO (5)", "VOS (2)", "No dominant order (4)"]
    means = np.sort([segment[0][1] for lines in axes.collections for segment in lines.get_segments()])
    assert_allclose(means, np.sort(result_of_typology.table(2).query("predictor == '81A'")["mean"]))


def test_a_figure_is_made_and_bad_names_refused(result_of_typology):
    ax = plot_correlation(result_of_typology.pearson, "characters", label="characters of the training text")
    label, _, note = ax.get_xlabel().partition("\n")
    assert label == "characters of the training text"
    named = sum(text.get_label() == POINT_NAME for text in ax.texts)
    assert note == f"({named} of {len(result_of_typology.pearson.points('characters'))} named)"
    plt.close(ax.figure)
    refused(ConfigError, "unknown predictor 'nothing'", plot_correlation, result_of_typology.pearson, "nothing")
    refused(DataError, "no numeric predictor", result_of_typology.wals.plot)


def test_the_legend_says_pearsons_r_and_what_was_held_fixed(axes):
    names = [f"l{i}" for i in range(8)]
    rng = np.random.default_rng(0)
    d, table = pd.Series(rng.normal(size=8), names, name="lm"), pd.DataFrame(rng.normal(size=(8, 2)), names, ["x", "z"])
    first = correlate(d, table, tests=["spearman", "pearson"])
    r = np.corrcoef(table["x"], d)[0, 1]
    assert first.plot("x", axes).get_legend().get_texts()[0].get_text() == f"lm: r = {r:.2f}, n = 8"
    text = correlate(d, table, given="z").plot("x", axes).get_legend().get_texts()[-1].get_text()
    assert " given z, n = 8" in text


def test_a_predictor_that_is_constant_or_missing_is_drawn_or_refused(axes):
    names = [f"l{i}" for i in range(8)]
    d = pd.Series(np.arange(8.0), names)
    result_of_typology = correlate(d, pd.DataFrame({"same": 3.0, "none": np.nan, "x": d**2}, index=names))
    assert result_of_typology.plot("same", axes).get_xlim() == pytest.approx((2.85, 3.15))
    refused(DataError, "no language has both a value of 'none'", result_of_typology.plot, "none", axes)


TEXTS = pd.DataFrame({"eng": ["Good day", "Thanks"] * 12, "ell": ["Καλημέρα", "Ευχαριστώ"] * 12})


def test_points_intervals_and_the_characters_beside():
    result = ld.measure_parity(ld.read_frame(TEXTS), reference="eng")
    ax = plot_parity(result)
    drawn = ax.containers[0]
    assert drawn.lines[0].get_xdata().tolist() == result.estimates["byte_premium"].tolist()
    segment = drawn.lines[2][0].get_segments()[1]
    assert np.allclose(segment[:, 0], [result.low.loc["ell", "byte_premium"], result.high.loc["ell", "byte_premium"]])
    assert ax.lines[1].get_xdata().tolist() == result.estimates["character_premium"].tolist()
    assert ax.get_xlabel() == "bytes for the same content (eng = 1)"
    assert ax.get_xscale() == "log"


def test_a_measure_without_a_reference_has_a_plain_axis():
    result = ld.measure_parity(ld.read_frame(TEXTS), reference="eng")
    ax = result.plot("bytes_per_character")
    assert ax.get_xscale() == "linear"
    refused(ConfigError, "unknown measure 'x'", result.plot, "x")
