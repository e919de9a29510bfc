"""A forest of several language models: each estimate in its row, with its interval, and differences beside."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex
from scipy.stats import t as student

import langdiff as ld
from langdiff.plots import plot_forest
from langdiff.plots._axes import SERIES


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


def drawn(ax, colour):
    """Return the points of a colour: rows, estimates, and the ends of their intervals."""
    (points,) = (c for c in ax.containers if to_hex(c[0].get_color()) == colour)
    ends = np.array([segment[:, 0] for segment in points[2][0].get_segments()])
    return points[0].get_ydata(), points[0].get_xdata(), ends


@pytest.mark.parametrize("place", [0, 1])
def test_estimates_and_intervals_are_those_of_the_fits(axes, fits, place):
    y, x, ends = drawn(axes, SERIES[place])
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
