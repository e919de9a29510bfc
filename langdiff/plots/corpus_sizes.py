"""How large each edition is (Mielke et al. 2019, Figure 11)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, FAINT, RUST, finish, plain_log_ticks, row_axes


@takes("sizes", pd.DataFrame, "the table of multitext.edition_sizes()")
def plot_corpus_sizes(sizes: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw words and characters of each edition on a logarithmic scale, most characters on top.

    Parameters
    ----------
    sizes : DataFrame, one row per edition
        Table of ``multitext.edition_sizes()``: ``intents``, ``words`` (between white space, so that they are not
        meaningful where a script has none) and ``characters``.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.plot``, for words and characters alike, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Sizes are comparable between editions only if all have the same intents; the title says
        whether they have the same number.

    Raises
    ------
    DataError
        If no edition has any text, or a column is missing.

    Examples
    --------
    >>> sizes = pd.DataFrame({"intents": [2, 2], "words": [9, 7], "characters": [40, 45]}, index=["eng", "deu"])
    >>> axes = plot_corpus_sizes(sizes)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'deu']
    """
    missing = [name for name in ("intents", "words", "characters") if name not in sizes]
    if missing:
        raise DataError(f"sizes has no column {missing[0]!r}; multitext.edition_sizes() gives such a table.")
    rows = sizes[sizes["characters"] > 0].sort_values("characters", kind="stable")
    if rows.empty:
        raise DataError("nothing to draw: no edition has any text.")
    ax = row_axes(ax, rows.index, guides=False)
    y = np.arange(len(rows))
    ax.hlines(y, rows["words"], rows["characters"], colors=FAINT, linewidths=0.8, zorder=0)
    for name, colour in (("words", RUST), ("characters", BLUE)):
        usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 3.5, "color": colour}
        ax.plot(rows[name], y, label=name, **(usual | style))
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    few, many = rows["intents"].min(), rows["intents"].max()
    same = f"{many:,} intents" if few == many else f"{few:,} to {many:,} intents: not the same texts"
    title = f"{len(rows):,} editions, {same}"
    return finish(ax, "size of the edition (logarithmic)", title=title, keep=["bottom"], legend=True)
