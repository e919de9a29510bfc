"""The learning curve of a tagger says what its history says."""

import pandas as pd
from matplotlib.figure import Figure
from numpy.testing import assert_array_equal

from langdiff.plots import plot_tagger_training

HISTORY = pd.DataFrame(
    {
        "epoch": [1, 2, 3, 4],
        "loss": [0.9, 0.5, 0.4, 0.35],
        "mbawo": [0.0, 0.2, 0.25, 0.1],
        "epm": [0.0, 0.1, 0.2, 0.05],
        "kept": [True, True, True, False],
    }
)


def test_lines_are_the_columns_and_the_kept_epoch_is_marked():
    figure = Figure()
    ax = plot_tagger_training(HISTORY, figure.subplots())
    kept, mbawo, epm = ax.get_lines()
    assert list(kept.get_xdata()) == [3, 3]
    (loss,) = figure.axes[1].get_lines()
    for line, column in ((mbawo, "mbawo"), (epm, "epm"), (loss, "loss")):
        assert_array_equal(line.get_xdata(), HISTORY["epoch"])
        assert_array_equal(line.get_ydata(), HISTORY[column])
    assert ax.get_legend().get_texts()[0].get_text() == "epoch kept: 3"
