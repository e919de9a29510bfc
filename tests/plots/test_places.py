"""Names beside points and at the ends of lines do not cover each other, measured on the letters that are drawn."""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text

from langdiff.plots import _axes, _places, plot_line_follow, plot_two_models

COVERED = 0.3  # of the smaller of two names, at most: twice `MOST_COVERED`, as widths are estimated before drawing
NAMES = [f"ed-{number:02d}" for number in range(24)]


def covered(ax):
    """Return the largest share of a name that another covers, by the boxes of the text that Matplotlib draws."""
    figure = ax.get_figure(root=True)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    # of the letters alone, without the white behind them and the line to the point
    boxes = [Text.get_window_extent(text, renderer) for text in ax.texts if text.get_text()]
    shares = [0.0]
    for one, other in combinations(boxes, 2):
        width = min(one.x1, other.x1) - max(one.x0, other.x0)
        height = min(one.y1, other.y1) - max(one.y0, other.y0)
        if width > 0 and height > 0:
            shares.append(width * height / min(one.width * one.height, other.width * other.height))
    return max(shares), len(boxes)


def crowd(seed):
    """Draw difficulties, most of which are alike."""
    rng = np.random.default_rng(seed)
    spread = np.where(np.arange(len(NAMES)) < 4, 0.3, 0.05)
    return [pd.Series(rng.normal(0, spread), NAMES) for _ in "xy"]


def two_models(seed):
    x, y = crowd(seed)
    return plot_two_models(x, x + 0.3 * y)


def points(seed):
    x, y = crowd(seed)
    ax = plt.subplots(layout="constrained")[1]
    ax.plot(x, y, "o")
    ax.set(xlim=(-1, 1), ylim=(-1, 1))
    _places.name_points(ax, x.to_numpy(), y.to_numpy(), NAMES)
    return ax


def lines(seed):
    x, y = crowd(seed)
    return plot_line_follow({"one": x, "other": y})


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("draw", [two_models, points, lines])
def test_names_do_not_cover_each_other(draw, seed):
    share, count = covered(draw(seed))
    assert share <= (0.02 if draw is lines else COVERED)
    assert count >= len(NAMES) / 2  # leaving names out is the last resort


@pytest.mark.parametrize("draw", [two_models, points, lines])
def test_without_placement_they_would(monkeypatch, draw):
    monkeypatch.setattr(_axes, "_part_names", lambda ax, names: False)
    monkeypatch.setattr(_places, "spread", lambda wanted, *_: wanted)
    monkeypatch.setattr(_places, "SIDES", _places.SIDES[:1])
    monkeypatch.setattr(_places, "MOST_COVERED", np.inf)
    assert all(covered(draw(seed))[0] > COVERED for seed in range(3))
