"""Difficulties against the number of intents that they are measured on."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import FAINT, GREY, MARKERS, SERIES, axes_of, finish
from langdiff.plots._places import name_line_ends

COLOURED = len(SERIES)  # of more editions, the hardest and the easiest are drawn in colour
NEEDED = ("size", "edition", "difficulty", "sd")


@takes("stability", pd.DataFrame, "the table to_frame() of langdiff.experiments.intent_stability")
def plot_intent_stability(stability: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the difficulty of every edition against the number of intents, with the spread between random subsets.

    Parameters
    ----------
    stability : DataFrame
        Table of ``to_frame()`` of `langdiff.experiments.intent_stability`: ``size``, ``edition``, ``difficulty`` and
        ``sd`` between repeats, in nats. Of more than eight editions, the three hardest and three easiest are drawn in
        colour, with bands of two standard deviations to either side.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no rows, or a column is missing.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=0).surprisals
    >>> found = ld.experiments.intent_stability(surprisals, sizes=[20, 50], n_repeats=3, seed=1)
    >>> axes = plot_intent_stability(found.to_frame())
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['20', '50', '100']
    """
    missing = [name for name in NEEDED if name not in stability]
    if missing or stability.empty:
        raise DataError(f"nothing to draw: {f'no column {missing[0]!r}' if missing else 'no rows'}.")
    wide = stability.pivot(index="edition", columns="size", values="difficulty")
    wide = wide.sort_values(wide.columns[-1], ascending=False)
    spread = stability.pivot(index="edition", columns="size", values="sd").loc[wide.index].fillna(0.0)
    count = len(wide)
    chosen = range(count) if count <= COLOURED else [*range(3), *range(count - 3, count)]
    series = zip(SERIES, MARKERS, strict=True)
    styles = dict(zip((wide.index[k] for k in chosen), series, strict=False))
    ax = axes_of(ax, 6.0, 4.2)
    sizes = wide.columns.to_numpy(dtype=float)
    for edition, y, half in zip(wide.index, wide.to_numpy(), 2 * spread.to_numpy(), strict=True):
        colour, marker = styles.get(edition, (GREY, "o"))
        if edition in styles:
            ax.fill_between(sizes, y - half, y + half, color=colour, alpha=0.15, linewidth=0)
        usual: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.5}
        usual |= {"linewidth": 1.4 if edition in styles else 0.6, "zorder": 2 if edition in styles else 1}
        ax.plot(sizes, y, **(usual | style))
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sizes.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(ax.get_ylim())  # final, for the names
    ends = dict(zip(wide.index, wide.to_numpy()[:, -1], strict=True))
    name_line_ends(ax, {str(edition): float(ends[edition]) for edition in styles})
    return finish(ax, "intents (logarithmic)", "difficulty (nats)")
