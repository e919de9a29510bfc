import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import langdiff as ld
from langdiff.errors import ConfigError
from langdiff.plots import plot_perturbation
from langdiff.plots.treebanks import INK, plot_divergences
from langdiff.treebanks import SimilaritySettings, perturbation_curve
from langdiff.treebanks.treebank import Treebank
from tests.helpers import refused
from tests.treebanks.strategies import SAW, SLEEP, A, B

C = [SAW, SAW, SLEEP]


@pytest.fixture(scope="module")
def banks():
    return [Treebank.from_trees(trees, name=name) for trees, name in ((A, "A"), (B, "B"), (C, "C"))]


@pytest.fixture(scope="module")
def comparison(banks):
    return ld.compare_treebanks(banks, n_repeats=2, seed=0)


def axes():
    return Figure().subplots()


def written(ax):
    return [text.get_text() for text in ax.texts]


def test_maps_show_the_table(comparison):
    ax = axes()
    assert comparison.plot("length", ax) is ax
    assert ax.images[0].get_array().tolist() == comparison.divergence["length"].to_numpy().tolist()
    assert ax.images[0].get_cmap()(0.0)[2] < ax.images[0].get_cmap()(1.0)[2]  # 0 is dark, the maximum white
    assert written(ax)[:2] == ["0", "0.082"]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["A", "B", "C"]
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("reference", "compared")


def test_order_and_noise(comparison):
    ax = comparison.plot("mean", axes(), order=["C", "A", "B"], noise=True)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["C", "A", "B"]
    assert np.diag(ax.images[0].get_array()).tolist() == comparison.noise.loc[["C", "A", "B"], "mean"].tolist()
    assert ax.images[0].get_array()[0, 1] == comparison.divergence["mean"].at["C", "A"]
    for options, message in (
        ({"order": ["A"]}, "order must hold each treebank once: A, B, C"),
        ({"metric": "beauty"}, "metric is one of size, depth, width, length, matrix, mean; got 'beauty'"),
    ):
        refused(ConfigError, message, comparison.plot, ax=axes(), **options)


def test_infinite_cells_are_written(banks):
    bare = ld.compare_treebanks(banks, settings=SimilaritySettings(alpha=0), noise=False)
    ax = bare.plot("size", axes())
    assert "inf" in written(ax)
    assert math.isfinite(ax.images[0].get_clim()[1])
    refused(ConfigError, "compare with noise=True", bare.plot, "size", axes(), noise=True)


def test_profiles(comparison):
    one, other = comparison.profiles["A"], comparison.profiles["B"]
    ax = one.plot("size", axes(), box=other)
    cells = ax.collections[0].get_array()
    assert cells.shape == (2, 5)  # depths 1 and 2, lengths 2 … 6 of both
    assert np.ma.filled(cells, 0)[~np.isnan(np.ma.filled(cells, np.nan))].tolist() == [1, 1]
    bars = one.plot("depth", axes(), box=other).patches
    assert {bar.get_x(): bar.get_height() for bar in bars} == {0.5: 50, 0.75: 50}
    assert one.plot("depth", axes(), box=other).get_xlim() == (0, 1.25)
    assert [bar.get_height() for bar in one.plot("length", axes()).patches] == [75, 25]
    refused(ConfigError, "metric is one of size, depth, width, length; got 'matrix'", one.plot, "matrix", axes())


def test_perturbation(banks):
    curve = perturbation_curve(banks[2], rates=[0, 1], kinds=["order"], n_repeats=1, progress=False, seed=0)
    ax = axes()
    assert plot_perturbation(curve, "order", ax) is ax
    lines = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines() if len(line.get_xdata()) == 2}
    table = curve.to_frame().set_index("metric")["divergence"]
    assert lines["depth"] == table["depth"].tolist()
    refused(ConfigError, "kind is one of order; got 'heads'", curve.plot, "heads", axes())


def test_small_divergences_are_not_written_as_none():
    frame = pd.DataFrame([[0.0, 0.0004], [0.25, 0.0]], index=list("ab"), columns=list("ab"))
    ax = plot_divergences(SimpleNamespace(divergence={"mean": frame}, noise=frame), ax=axes(), vmax=0.3)
    assert written(ax) == ["0", "4e-04", "0.25", "0"]
    assert [text.get_color() for text in ax.texts] == ["white", "white", INK, "white"]  # 0.25 of 0.3 is light
    again = plot_divergences(SimpleNamespace(divergence={"mean": frame}, noise=frame), ax=axes(), vmax=1)
    assert {text.get_color() for text in again.texts} == {"white"}
