"""Difficulty against what may make a language hard (Mielke et al. 2019, Figure 5)."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from pandas.api.types import is_numeric_dtype

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import FAINT, MARKERS, SERIES, axes_of, finish
from langdiff.plots._places import name_points


class Tested(Protocol):
    """What is drawn of a `langdiff.correlate`."""

    @property
    def tests(self) -> pd.DataFrame:
        """One row per test, with its ``estimate``."""

    def points(self, predictor: str) -> pd.DataFrame:
        """Return one row per language, language model and corpus: ``predictor`` and ``difficulty``."""


@takes("result", Tested, "the result of langdiff.correlate")
def plot_correlation(
    result: Tested,
    predictor: str,
    ax: Axes | None = None,
    *,
    label: str | None = None,
    **style: Any,
) -> Axes:
    """Draw difficulty against a predictor, one named point per language.

    Colours tell language models apart, and shapes tell corpora (of one corpus, models, too). A category is
    drawn as a column of points with their mean.

    Parameters
    ----------
    result : Correlations
        Result of `langdiff.correlate` or `langdiff.adjust`. The legend gives Pearson's r, or the first test that
        was made.
    predictor : str
        Name of the predictor.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    label : str, optional
        Label of the horizontal axis, with the unit; by default the predictor's name.
    **style
        Settings for ``Axes.plot`` of the points, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

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
    """
    points = result.points(predictor)
    if points.empty:
        raise DataError(f"nothing to draw: no language has both a value of {predictor!r} and a difficulty.")
    ax = axes_of(ax, 7.0, 4.6)
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
        colour = SERIES[models.index(lm) % len(SERIES)]
        usual: dict[str, Any] = {
            "marker": MARKERS[(corpora.index(corpus) if len(corpora) > 1 else models.index(lm)) % len(MARKERS)],
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
    _scale_x(ax, x, categories)
    ax.set_ylim(*_limits(points["difficulty"].to_numpy(), 0.06))
    name_points(ax, x, points["difficulty"].to_numpy(), points["name"].tolist(), size=6.5)
    return finish(ax, label or predictor, "difficulty (nats)", legend=True)


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


def _legend(result: Tested, predictor: str, corpus: str, lm: str) -> str:
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


def _draw_means(ax: Axes, x: Floats, y: Floats, colour: str) -> None:
    for place in np.unique(x):
        ax.hlines(
            float(y[x == place].mean()), place - 0.12, place + 0.12, colors=colour, linewidths=2, alpha=0.5, zorder=0.5
        )


def _scale_x(ax: Axes, x: Floats, categories: list[str]) -> None:
    if categories:
        ax.set_xticks(np.arange(len(categories)), categories)
        ax.set_xlim(-0.5, len(categories) - 0.5)
        return
    ax.set_xlim(*_limits(x, 0.05))


def _limits(values: Floats, margin: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin *= (high - low) or abs(low) or 1.0  # one value only: it stands in the middle
    return low - margin, high + margin
