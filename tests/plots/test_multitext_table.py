"""The schematic table shows the numbers of the table and of the fit, and what is missing."""

from itertools import pairwise

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

import langdiff as ld
from langdiff.plots import plot_multitext

FRAME = pd.DataFrame(
    {"eng": [100.0, 20.0, 3.25], "deu": [120.0, np.nan, 4.5], "fin": [90.0, 25.0, np.nan]}, index=["v1", "v2", "v3"]
)


def texts(ax):
    return {tuple(np.round(text.get_position(), 2)): text.get_text() for text in ax.texts}


def test_cells_are_the_first_ones_and_missing_ones_are_hatched():
    ax = plot_multitext(ld.Surprisals(bits=FRAME), n_editions=2)
    assert texts(ax) == {(0, 0): "100", (1, 0): "120", (0, 1): "20", (1, 1): "", (0, 2): "3.2", (1, 2): "4.5"}
    cells = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    assert [cell.get_hatch() is not None for cell in cells] == [False, False, False, True, False, False]
    assert ax.get_title(loc="left") == "bits of the first 2 of 3 editions"
    lightness = [sum(cell.get_facecolor()[:3]) for cell in cells]
    assert lightness[1] < lightness[0] < lightness[2]  # darker where there are more bits


def test_margins_are_those_of_the_fit():
    surprisals = ld.simulate(60, 3, missing=0.1, seed=0).surprisals
    fit = ld.fit(surprisals)
    ax = plot_multitext(surprisals, fit=fit, n_intents=4)
    drawn = texts(ax)
    for j, edition in enumerate(surprisals.editions):
        assert drawn[(j, 4.25)] == f"{100 * np.expm1(fit.difficulty[edition]):+z.1f}"
    # what the model expects of an edition of factor 1 is the content
    content = fit.intent_size.iloc[:4] * np.exp(fit.sigma**2 / 2)
    assert [drawn[(3.25, i)] for i in range(4)] == [f"{value:,.0f}" for value in content]
    assert ax.get_yticklabels()[-1].get_text() == "difficulty\n(%)"


def test_long_names_are_shortened_and_dollars_stay():
    long = FRAME.rename(columns={"eng": "eng-authorized-of-1769", "deu": "deu-$luther$"})
    ax = plot_multitext(ld.Surprisals(bits=long))
    authorized, *others = [label.get_text() for label in ax.get_xticklabels()]
    assert authorized.startswith("eng-auth")
    assert authorized.endswith("…")
    assert others == ["deu-$luther$", "fin"]
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
