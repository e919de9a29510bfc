"""Abilities of systems and difficulties of items on one scale (Wright and Stone 1979)."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._axes import (
    BLUE,
    GREY,
    INK,
    LEAST_TEXT,
    LETTER,
    LINE,
    RUST,
    axes_of,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._names import shorten
from langdiff.plots._places import spread
from langdiff.plots._rows import FEW_ROWS
from langdiff.tables.effects import Effects

BINS = 30
SHARE = 0.9  # of the left half that the longest bar takes


@takes("abilities", Effects, "abilities of systems and difficulties of items")
@takes("items", pd.Series, "abilities of systems and difficulties of items")
@takes("difficulties", Effects, "abilities of systems and difficulties of items")
def plot_wright_map(
    abilities: Effects, items: pd.Series, difficulties: Effects | None = None, ax: Axes | None = None
) -> Axes:
    """Draw difficulties of items as a histogram on the left, abilities with 95 % intervals on the right.

    A system at the height of an item succeeds on it half of the time.

    Parameters
    ----------
    abilities : Effects
        Abilities of systems, log odds.
    items : Series
        Difficulty of each item, log odds.
    difficulties : Effects, optional
        Difficulties of groups of items, written at their heights.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no systems or no items.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes)
    >>> plot_wright_map(fit.abilities, fit.items["difficulty"]).get_ylabel()
    'log odds'
    """
    if abilities.estimate.empty or items.empty:
        raise DataError("nothing to draw: there are no systems or no items.")
    ax = axes_of(ax, 6.4, float(np.clip(0.11 * len(abilities.estimate), 4.8, 7.1)))
    counts, edges = np.histogram(items.to_numpy(dtype=float), bins=min(BINS, max(5, len(items) // 4)))
    ax.barh(edges[:-1], -SHARE * counts / counts.max(), height=np.diff(edges), align="edge", color=GREY, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    rows = abilities.to_frame()
    heights = rows["ability"].to_numpy()
    x = np.linspace(0.12, 0.45, len(rows)) if len(rows) > 1 else np.array([0.3])
    dot = 4 if len(rows) <= FEW_ROWS else 2
    ax.errorbar(
        x,
        heights,
        yerr=(rows["high"] - rows["ability"]).to_numpy(),
        fmt="o",
        color=BLUE,
        markersize=dot,
        elinewidth=dot / 4,
    )
    _write(ax, 0.55, heights, [str(name) for name in rows.index], BLUE, x)
    if difficulties is not None:
        groups = difficulties.to_frame()
        heights = groups["difficulty"].to_numpy()
        _write(ax, -1.35, heights, [str(name) for name in groups.index], RUST, np.full(len(groups), -0.02))
    ax.set_xlim(-1.4 if difficulties is not None else -1.0, 1.0)
    ax.set_xticks([-0.5, 0.5], [f"{len(items):,} items", f"{len(rows):,} systems"])
    ax.tick_params(axis="x", length=0)
    return finish(ax, "", "log odds", abilities.title, keep=["left"])


def _write(ax: Axes, at: float, heights: Floats, names: list[str], colour: str, ends: Floats) -> None:
    """Write names in a column, as near to their heights as there is room, with leaders to their points."""
    across, down = size_of(ax)
    low, high = ax.get_ylim()
    shown = slice(None, None, int(np.ceil(len(names) * LINE * LEAST_TEXT / down)))
    heights, ends, names = heights[shown], ends[shown], names[shown]
    size = float(np.clip(0.85 * down / len(names), LEAST_TEXT, 0.8 * text_size(ax)))
    names = shorten(names, int(0.2 * across / (LETTER * size)))
    places = spread(heights, min(LINE * size / down, 1 / len(names)) * (high - low), low, high)
    for name, height, place, end in zip(names, heights, places, ends, strict=True):
        ax.annotate(
            name,
            xy=(float(end), float(height)),
            xytext=(at, float(place)),
            va="center",
            fontsize=size,
            color=colour,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 3},
        )
