"""The picture of difficulty against a predictor draws what its points say."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError, DataError
from langdiff.experiments import reproduce
from langdiff.plots import plot_correlation
from langdiff.plots._axes import POINT_NAME
from langdiff.typology import correlate
from tests.helpers import refused


@pytest.fixture(scope="module")
def result():
    return reproduce()


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


def test_points_stand_where_the_figures_say(result, axes):
    assert result.plot(axes) is axes
    series = [line for line in axes.lines if line.get_linestyle() == "None"]
    points = result.pearson.points("mcc")
    assert len(series) == 2
    for line, lm in zip(series, ("bpe", "char"), strict=True):
        rows = points[points["language_model"] == lm]
        assert_allclose(line.get_xydata(), rows[["predictor", "difficulty"]])
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert labels == ["europarl, bpe: r = 0.06, n = 21", "europarl, char: r = 0.02, n = 21"]
    assert {"deu", "fin", "eng"} <= {text.get_text() for text in axes.texts}


def test_both_corpora_share_the_axes(result, axes):
    result.pearson.plot("word_types", axes, color="black")
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert "bibles, bpe: r = 0.74, n = 61, significant" in labels
    assert len(labels) == 4
    assert {line.get_color() for line in axes.lines[1:]} == {"black"}


def test_categories_stand_in_columns_with_their_means(result, axes):
    result.wals.plot("81A", axes)
    ticks = [tick.get_text().replace("\n", " ") for tick in axes.get_xticklabels()]
    assert ticks == ["SOV (7)", "SVO (18)", "VSO (5)", "VOS (2)", "No dominant order (4)"]
    means = np.sort([segment[0][1] for lines in axes.collections for segment in lines.get_segments()])
    assert_allclose(means, np.sort(result.table(2).query("predictor == '81A'")["mean"]))


def test_a_figure_is_made_and_bad_names_refused(result):
    ax = plot_correlation(result.pearson, "characters", label="characters of the training text")
    label, _, note = ax.get_xlabel().partition("\n")
    assert label == "characters of the training text"
    named = sum(text.get_label() == POINT_NAME for text in ax.texts)
    assert note == f"({named} of {len(result.pearson.points('characters'))} named)"
    plt.close(ax.figure)
    refused(ConfigError, "unknown predictor 'nothing'", plot_correlation, result.pearson, "nothing")
    refused(DataError, "no numeric predictor", result.wals.plot)


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
    result = correlate(d, pd.DataFrame({"same": 3.0, "none": np.nan, "x": d**2}, index=names))
    assert result.plot("same", axes).get_xlim() == pytest.approx((2.85, 3.15))
    refused(DataError, "no language has both a value of 'none'", result.plot, "none", axes)
