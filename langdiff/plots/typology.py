"""Difficulty against what may make a language hard (Mielke et al. 2019, Figure 5)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from pandas.api.types import is_numeric_dtype

from langdiff.errors import DataError
from langdiff.plots.labels import box_beside, overlap

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.typology import Correlations

Floats = npt.NDArray[np.float64]

COLOURS = ("#2a6f97", "#b5532a", "#5c8a3a", "#7a5195", "#8a6d1f", "#333333")
MARKERS = ("o", "s", "^", "D", "v", "P")
INK, FAINT = "#333333", "#d5d5d5"
NAMED = 45  # of more points only those are named that lie farthest out


def plot_correlation(
    result: "Correlations",
    predictor: str,
    ax: "Axes | None" = None,
    *,
    label: str | None = None,
    **style: Any,
) -> "Axes":
    """Draw difficulty against a predictor, a named point a language; colours are corpora and language models.

    Parameters
    ----------
    result : Correlations
        Of `langdiff.correlate` or `langdiff.adjust`. What its table says of Pearson's r (or of the first test it
        made) is in the legend. A category is drawn as a column of points with their mean.
    predictor : str
        Name of the predictor.
    ax : Axes, optional
        Where; by default a new figure.
    label : str, optional
        What to write below, with the unit; by default the predictor's name.
    **style
        Passed on to ``Axes.plot`` for the points, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If the predictor is unknown.
    DataError
        If no language has both its value and a difficulty.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.typology import correlate
    >>> figures = mielke2019()
    >>> result = correlate(figures.difficulties("europarl")["bpe"], figures.predictors("europarl")["mcc"])
    >>> axes = plot_correlation(result, "mcc")
    >>> axes.get_legend().get_texts()[0].get_text()
    'bpe: r = 0.06, n = 21'
    >>> axes.figure.clear()
    """
    points = result.points(predictor)
    if points.empty:
        raise DataError(f"nothing to draw: no language has both a value of {predictor!r} and a difficulty.")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7.0, 4.6), layout="constrained")[1]
    numeric = is_numeric_dtype(points["predictor"])
    x, categories = _positions(points, numeric)
    groups = [(str(c), str(m)) for c, m in points[["corpus", "language_model"]].drop_duplicates().to_numpy()]
    models = list(dict.fromkeys(lm for _, lm in groups))
    corpora = list(dict.fromkeys(corpus for corpus, _ in groups))
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    for at, (corpus, lm) in enumerate(groups):
        rows = ((points["corpus"] == corpus) & (points["language_model"] == lm)).to_numpy()
        aside = 0.0 if numeric else 0.6 * ((at + 0.5) / len(groups) - 0.5)
        x[rows] += aside
        colour = COLOURS[models.index(lm) % len(COLOURS)]
        usual: dict[str, Any] = {
            "marker": MARKERS[corpora.index(corpus) % len(MARKERS)],
            "color": colour,
            "linestyle": "none",
            "markersize": 4.5,
            "markeredgewidth": 0,
            "alpha": 0.9,
        }
        y = points.loc[rows, "difficulty"].to_numpy()
        ax.plot(x[rows], y, label=_legend(result, predictor, corpus, lm), **(usual | style))
        if not numeric:
            _draw_means(ax, x[rows], y, colour)
    ax.set_xlabel(label or predictor)
    ax.set_ylabel("difficulty (nats)")
    _scale_x(ax, x, categories)
    ax.set_ylim(*_limits(points["difficulty"].to_numpy(), 0.06))
    ax.legend(frameon=False, fontsize=8.5, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, borderaxespad=0)
    ax.spines[["right", "top"]].set_visible(False)
    _name_points(ax, x, points["difficulty"].to_numpy(), points["name"].tolist())
    return ax


def _positions(points: pd.DataFrame, numeric: bool) -> tuple[Floats, list[str]]:
    """Return where points stand on the x axis, and the names of categories there."""
    if numeric:
        return points["predictor"].to_numpy(dtype=float).copy(), []
    column = points["predictor"]
    ordered = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else sorted(column.unique())
    names = [str(name) for name in ordered if (column == name).any()]
    members = points.groupby(column.astype(str))["name"].nunique()
    labels = [f"{name} ({members[name]})" for name in names]
    return column.astype(str).map(names.index).to_numpy(dtype=float), labels


def _legend(result: "Correlations", predictor: str, corpus: str, lm: str) -> str:
    tests = result.tests
    wanted = (tests["predictor"] == predictor) & (tests["language_model"] == lm) & (tests["corpus"] == corpus)
    name = f"{corpus}, {lm}" if corpus else lm
    found = tests[wanted].sort_values("test", key=lambda kind: kind != "pearson", kind="stable")
    if found.empty:
        return name
    row = found.iloc[0]
    figure = "no estimate" if np.isnan(row["estimate"]) else f"{row['statistic']} = {row['estimate']:.2f}"
    figure += f" given {row['given']}" if row["given"] else ""
    star = ", significant" if row["significant"] else ""
    return f"{name}: {figure}, n = {row['n']}{star}"


def _draw_means(ax: "Axes", x: Floats, y: Floats, colour: str) -> None:
    for place in np.unique(x):
        ax.hlines(
            float(y[x == place].mean()), place - 0.12, place + 0.12, colors=colour, linewidths=2, alpha=0.5, zorder=0.5
        )


def _scale_x(ax: "Axes", x: Floats, categories: list[str]) -> None:
    if categories:
        ax.set_xticks(np.arange(len(categories)), categories)
        ax.set_xlim(-0.5, len(categories) - 0.5)
        return
    ax.set_xlim(*_limits(x, 0.05))


def _limits(values: Floats, margin: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin *= (high - low) or abs(low) or 1.0  # one value only: it stands in the middle
    return low - margin, high + margin


def _name_points(ax: "Axes", x: Floats, y: Floats, names: list[str]) -> None:
    """Write names beside their points, each on the side where it covers least; leave out what finds no room."""
    from matplotlib.patheffects import withStroke

    figure = ax.get_figure(root=True)
    box = ax.get_position()
    size = 6.5
    width = 72 * box.width * (figure.get_figwidth() if figure else 7.0)
    height = 72 * box.height * (figure.get_figheight() if figure else 4.6)
    across = ax.transData.transform(np.column_stack([x, y]))
    at = ax.transAxes.inverted().transform(across) * [width, height]  # points from the lower left corner
    taken = [(px - 2.5, py - 2.5, px + 2.5, py + 2.5) for px, py in at]
    far = np.abs((at - np.median(at, axis=0)) / [width, height]).sum(axis=1)
    shown = np.arange(len(names)) if len(names) <= NAMED else np.argsort(-far)
    for i in shown:
        w, h = 0.58 * size * len(names[i]), 1.1 * size
        sides = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
        boxes = [box_beside(at[i], side, w, h) for side in sides]
        costs = [sum(overlap(box, other) for other in taken) + 1e6 * (box[0] < 0 or box[2] > width) for box in boxes]
        best = int(np.argmin(costs))
        if costs[best] > 0.25 * w * h:
            continue
        taken.append(boxes[best])
        right, up = sides[best]
        ax.annotate(
            names[i],
            (float(x[i]), float(y[i])),
            xytext=(3 * right, 2 * up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=size,
            color=INK,
            zorder=1.5,
            path_effects=[withStroke(linewidth=1.5, foreground="white")],
        )
