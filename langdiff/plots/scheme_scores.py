"""How scores of models vary over tagging schemes (Bothwell et al. 2023, Figures 9–16)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import GREY, INK, MARKERS, SERIES, finish, row_axes

COLUMNS = ("model", "tagset", "link", "f1")


@takes("scores", pd.DataFrame, "a table of the scores of tagging schemes")
def plot_scheme_scores(scores: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw one box per model over its tagging schemes, and every scheme as a point.

    Boxes go from the lower to the upper quartile (linear interpolation) with a line at the median; whiskers reach to
    the last point within one and a half times the distance of the quartiles.

    Parameters
    ----------
    scores : DataFrame
        One row per model and scheme of one corpus and metric: ``model``, ``tagset``, ``link``, ``f1``; such as rows of
        `langdiff.datasets.bothwell2023().scores`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.bxp``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on; the first model is on top.

    Raises
    ------
    DataError
        If a column is missing, there are no rows, or a model has a scheme twice.

    Examples
    --------
    >>> scores = pd.DataFrame({"model": ["a", "a"], "tagset": "BIO", "link": ["TD", "BD"], "f1": [0.1, 0.3]})
    >>> axes = plot_scheme_scores(scores)
    >>> axes.get_yticklabels()[0].get_text()
    'a'
    """
    if missing := [name for name in COLUMNS if name not in scores]:
        raise DataError(f"the scores have no column {missing[0]!r}.")
    if scores.empty or scores.duplicated(["model", "tagset", "link"]).any():
        raise DataError("each model has one row per scheme; choose one corpus and one metric.")
    from matplotlib.cbook import boxplot_stats

    models = list(dict.fromkeys(scores["model"]))[::-1]  # the first on top
    tagsets, links = list(dict.fromkeys(scores["tagset"])), list(dict.fromkeys(scores["link"]))
    ax = row_axes(ax, models, 7.2, guides=False)
    if (figure := ax.get_figure(root=True)) is not None and len(figure.axes) == 1:
        figure.set_figheight(max(figure.get_figheight(), 1.2 + 0.7 * len(models)))  # room for the points
    boxes = [boxplot_stats(scores.loc[scores["model"] == model, "f1"])[0] for model in models]
    thin: dict[str, Any] = {"color": GREY, "linewidth": 1}
    usual: dict[str, Any] = {
        "positions": np.arange(len(models)), "widths": 0.7, "showfliers": False, "orientation": "horizontal",
        "boxprops": thin, "whiskerprops": thin, "capprops": thin, "medianprops": {"color": INK}, "manage_ticks": False,
    }  # fmt: skip
    ax.bxp(boxes, **(usual | style))
    places = dict(zip(models, range(len(models)), strict=True))
    schemes = [(tagset, link) for tagset in tagsets for link in links]
    offsets = dict(zip(schemes, np.linspace(0.26, -0.26, len(schemes)), strict=True))
    for (tagset, link), rows in scores.groupby(["tagset", "link"], sort=False):
        ax.plot(
            rows["f1"],
            rows["model"].map(places) + offsets[tagset, link],
            linestyle="none",
            marker=MARKERS[links.index(link) % len(MARKERS)],
            color=SERIES[tagsets.index(tagset) % len(SERIES)],
            markersize=4,
        )
    legend = {
        str(tagset): Line2D([], [], color=SERIES[k % len(SERIES)], marker="o", linestyle="none")
        for k, tagset in enumerate(tagsets)
    }
    for k, link in enumerate(links):
        marker = MARKERS[k % len(MARKERS)]
        legend[str(link)] = Line2D([], [], color=INK, marker=marker, linestyle="none", fillstyle="none")
    ax.set_xlim(left=0)
    return finish(ax, "F1", keep=["bottom"], legend=legend)
