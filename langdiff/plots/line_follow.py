"""How the order of difficulties changes from one language model to the next (Mielke et al. 2019, Figure 3)."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from langdiff.errors import DataError
from langdiff.plots._axes import EASIER, FAINT, HARDER, INK, axes_of, finish
from langdiff.plots._places import name_line_ends
from langdiff.plots.difficulty import side_by_side
from langdiff.tables.effect_sources import Sources, effects_by_source


def plot_line_follow(sources: Sources, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw difficulties under several language models side by side, one line per edition.

    The colour says whether an edition is harder under the last model than under the first.

    Parameters
    ----------
    sources : sequence or mapping of fits, Effects or Series; or DataFrame
        Difficulties from left to right. The labels are the names in a mapping, the names of language models in a
        sequence of fits, or the columns of a frame of difficulties in nats. Editions that all sources have are
        drawn, relative to their own average.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are fewer than two sources, or fewer than two editions in all of them.
    ConfigError
        If sources have different units or quantities.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> axes = plot_line_follow(mielke2019().difficulties("europarl")[["bpe", "char"]])
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['bpe', 'char']
    """
    named = effects_by_source(sources)
    if len(named) < 2:
        raise DataError(f"{len(named)} source(s); at least two are needed to follow a line from one to the next.")
    table, scale = side_by_side([effects for _, effects in named])
    ax = axes_of(ax, 1.8 + 1.6 * len(named), max(3.2, 0.2 * len(table)))
    x = np.arange(len(named))
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    for place in range(len(named)):
        ax.axvline(place, color=FAINT, linewidth=0.8, zorder=0)
    usual: dict[str, Any] = {"linewidth": 1.0, "marker": "o", "markersize": 3.5, "clip_on": False}
    for edition, row in zip(table.index, table.to_numpy(), strict=True):
        colour = HARDER if row[-1] > row[0] else EASIER
        ax.plot(x, row, label=str(edition), **(usual | {"color": colour} | style))
    ax.set_xlim(0, len(named) - 1)
    ax.set_xticks(x, [name for name, _ in named])
    ax.tick_params(axis="x", length=0)
    name_line_ends(ax, dict(zip(map(str, table.index), table.iloc[:, -1].tolist(), strict=True)))
    first, last = named[0][0], named[-1][0]
    legend = {
        f"higher under {last}": Line2D([], [], color=HARDER),
        f"higher under {first}": Line2D([], [], color=EASIER),
    }
    return finish(ax, ylabel=f"{scale.quantity} ({scale.unit})", keep=["left"], legend=legend)
