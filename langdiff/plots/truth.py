"""Estimates beside the truth, where the truth is known."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.regression import DifficultyFit


def plot_against_truth(
    fits: "Mapping[str, DifficultyFit]", truth: pd.Series, ax: "Axes | None" = None, **style: Any
) -> "Axes":
    """Draw estimated difficulties against true ones, one colour a language model.

    Parameters
    ----------
    fits : mapping from name of language model to DifficultyFit
        What was estimated.
    truth : Series, shape (J,)
        True difficulties in nats, indexed by edition, factors averaging 1.
    ax : Axes, optional
        Where to draw; a new figure by default.
    **style
        Passed to ``Axes.errorbar``.

    Returns
    -------
    Axes
        With 95 % intervals, both axes in percent of the average edition.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1]
    percent = 100 * np.expm1(truth)
    ax.axline((0, 0), slope=1, color="0.7", lw=1, zorder=0)
    for name, fit in fits.items():
        rows = fit.to_frame().loc[truth.index]
        low, high = 100 * np.expm1(rows["low"]), 100 * np.expm1(rows["high"])
        errors = np.array([rows["percent"] - low, high - rows["percent"]])
        ax.errorbar(percent, rows["percent"], yerr=errors, label=name, **{"fmt": "o", "capsize": 2, **style})
    _name_points(ax, percent, pd.concat([100 * np.expm1(fit.difficulty) for fit in fits.values()], axis=1).max(axis=1))
    ax.set(xlabel="true difficulty (% of the average)", ylabel="estimated difficulty (% of the average)")
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _name_points(ax: "Axes", truth: pd.Series, highest: pd.Series) -> None:
    """Name the editions above their highest point; those as good as equally hard share one label."""
    middle = (truth.min() + truth.max()) / 2
    near = 0.02 * (truth.max() - truth.min())
    clusters = (truth.sort_values().diff() > near).cumsum()
    for _, cluster in truth.sort_values().groupby(clusters):
        names = cluster.index
        left = cluster.iloc[0] < middle
        ax.annotate(
            "\n".join(map(str, names)),
            (cluster.mean(), highest[names].max()),
            xytext=(6 if left else -6, 6),
            textcoords="offset points",
            ha="left" if left else "right",
            fontsize="small",
        )
