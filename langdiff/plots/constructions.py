"""Recall of parsers by construction: a column of marks for each type of dependency."""

from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._axes import FAINT, MARKERS, POINT_NAME, SERIES, axes_of, count_points, finish, takes, text_size

GAP = 0.6  # between phenomena, in columns
WIDTH = 0.5  # of a column's marks


@takes("table", pd.DataFrame, "a table of the scores of constructions")
def plot_constructions(table: pd.DataFrame, ax: Axes | None = None, *, title: str = "", **style: Any) -> Axes:
    """Draw recall of parsers by type of dependency, one column per type and one mark per parser.

    Columns are drawn in the order of the table, those of a phenomenon side by side. Bars are intervals, if there are
    any.

    Parameters
    ----------
    table : DataFrame
        One row per ``phenomenon``, ``type`` and ``parser``, with ``recall`` and perhaps ``low`` and ``high``, in the
        order to draw, such as that of ``to_frame`` of the scores or of `langdiff.constructions.order_columns`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    title : str
        Name of the gold set.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If a column is missing, there are no scores, or a cell comes twice.

    Examples
    --------
    >>> rows = [("vpart", "ARG2", 0.9), ("rnr", "ARG2:first", 0.8), ("rnr", "ARG2:second", 0.2)]
    >>> table = pd.DataFrame(rows, columns=["phenomenon", "type", "recall"]).assign(parser="mine")
    >>> axes = plot_constructions(table)
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['ARG2', 'ARG2:first', 'ARG2:second']
    """
    keys = ["phenomenon", "type", "parser"]
    if lacking := [name for name in (*keys, "recall") if name not in table.columns]:
        raise DataError(f"a table of scores has the columns {', '.join(keys)} and recall; it lacks {lacking[0]!r}.")
    if table.empty or table.duplicated(keys).any():
        raise DataError("the table of scores is empty, or has a phenomenon, type and parser twice.")
    columns = list(dict.fromkeys(zip(table["phenomenon"], table["type"], strict=True)))
    steps = [1 + GAP * (left[0] != right[0]) for left, right in pairwise(columns)]
    places = dict(zip(columns, np.concatenate([[0.0], np.cumsum(steps)]), strict=True))
    ax = axes_of(ax, 2.2 + 0.36 * places[columns[-1]] + 0.4, 4.4)
    parsers = list(dict.fromkeys(table["parser"]))
    for number, parser in enumerate(parsers):
        own = table[table["parser"] == parser]
        x = np.array([places[cell] for cell in zip(own["phenomenon"], own["type"], strict=True)])
        x = x + WIDTH * ((number + 0.5) / len(parsers) - 0.5)
        usual: dict[str, Any] = {
            "fmt": MARKERS[number % len(MARKERS)],
            "color": SERIES[number % len(SERIES)],
            "markersize": 4.5,
            "elinewidth": 0.7,
            "markeredgewidth": 0,
            "label": parser,
            "clip_on": False,
        }
        ax.errorbar(x, own["recall"], yerr=_bars(own), **(usual | style))
    ax.set_xticks(list(places.values()), [kind for _, kind in columns], rotation=90, fontsize=7.5)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, places[columns[-1]] + 0.6)
    ax.set_ylim(0, 1)
    _name_phenomena(ax, places)
    return finish(ax, "", "recall of targets", title, legend=True, raised=14)  # above the names of phenomena


def _bars(own: pd.DataFrame) -> Any:
    if not {"low", "high"} <= set(own.columns):
        return None
    # an interval of Wilson contains its recall, but for rounding
    return np.maximum([own["recall"] - own["low"], own["high"] - own["recall"]], 0)


def _name_phenomena(ax: Axes, places: dict[tuple[str, str], float]) -> None:
    """Write each phenomenon above its columns, with a line between it and the next."""
    spans: dict[str, list[float]] = {}
    for (phenomenon, _), place in places.items():
        spans.setdefault(phenomenon, []).append(float(place))
    ends = [max(span) + (1 + GAP) / 2 for span in spans.values()][:-1]
    ax.vlines(ends, 0, 1, transform=ax.get_xaxis_transform(), colors=FAINT, linewidth=0.8, zorder=0)
    count_points(ax, len(spans))
    for phenomenon, span in spans.items():
        ax.text(
            (span[0] + span[-1]) / 2,
            1.02,
            phenomenon,
            transform=ax.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=0.85 * text_size(ax),
            label=POINT_NAME,
        )
