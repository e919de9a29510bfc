"""The picture of native against translated draws what its frame says."""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.experiments import translationese
from langdiff.plots import plot_translationese


@pytest.fixture(scope="module")
def result():
    surprisals = ld.simulate(400, 4, seed=0).surprisals
    origin = pd.Series(np.random.default_rng(0).choice(["e1", "e2", "e3"], 400), index=surprisals.intents)
    return translationese(surprisals, origin, min_native=50)


@pytest.fixture
def axes():
    figure, ax = plt.subplots()
    yield ax
    plt.close(figure)


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
