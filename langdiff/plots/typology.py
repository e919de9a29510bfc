"""Predictors, and difficulties against them."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from pandas.api.types import is_numeric_dtype

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.plots._axes import FAINT, GREY, MARKERS, SERIES, axes_of, finish, takes
from langdiff.plots._rows import in_columns, name_points, row_axes

if TYPE_CHECKING:
    from langdiff.typology.association.result import Correlations
    from langdiff.typology.predictors.table import Predictors


@takes("predictors", "values info", "the result of langdiff.predictors")
@in_columns
def plot_predictor(
    predictors: "Predictors", predictor: str, ax: Axes | None = None, *, by: str | None = None, **style: Any
) -> Axes:
    """Draw a numeric predictor as dots, one row per edition, the largest on top.

    Parameters
    ----------
    predictors : Predictors
        Table from `langdiff.predictors`; editions without a value are left out, and counted in the label below.
    predictor : str
        Name of a numeric predictor.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    by : str, optional
        Name of a categorical predictor, such as ``"26A"``, which colours the dots; grey where it is missing.
    **style
        Settings for ``Axes.scatter``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If a predictor is unknown or not of the kind that is needed.
    DataError
        If no edition has a value.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", "nein"], "eng": ["yes", "no no"]}, index=["1", "2"])
    >>> axes = plot_predictor(ld.predictors(ld.read_frame(texts)), "word_tokens")
    >>> axes.get_xlabel()
    'word tokens'
    """
    _check(predictors, predictor, "numeric")
    values = predictors.values[predictor].dropna().sort_values()
    if values.empty:
        raise DataError(f"nothing to draw: no edition has a value of {predictor!r}.")
    ax = row_axes(ax, values.index)
    usual: dict[str, Any] = {"s": 18, "zorder": 3}
    heights = pd.Series(range(len(values)), index=values.index)
    for label, colour, editions in _groups(predictors, values.index, by):
        ax.scatter(values[editions], heights[editions], label=label, **({"color": colour} | usual | style))
    unit = str(predictors.info.loc[predictor, "unit"])
    left_out = len(predictors.values) - len(values)
    name = predictor.replace("_", " ") + (f" ({unit})" if unit and unit.split()[0] not in predictor else "")
    label = name + (f"; {left_out} without a value" if left_out else "")
    title = "" if by is None else str(predictors.info.loc[by, "unit"])
    return finish(ax, label, title=title, keep=["bottom"], legend=by is not None)


def _check(predictors: "Predictors", name: str, kind: str) -> None:
    known = predictors.info.index[predictors.info["kind"] == kind]
    if name not in known:
        raise ConfigError(f"{name!r} is not a {kind} predictor of this table; there are {listing(known, 12)}.")


def _groups(predictors: "Predictors", editions: pd.Index, by: str | None) -> list[tuple[str, str, list[str]]]:
    """Return label, colour and editions of each category that occurs, then of those without one."""
    if by is None:
        return [("", SERIES[0], list(editions))]
    _check(predictors, by, "categorical")
    category = predictors.values.loc[editions, by]
    groups = []
    for place, label in enumerate(category.cat.categories):
        groups.append((str(label), SERIES[place % len(SERIES)], list(category.index[category == label])))
    groups.append(("no value", GREY, list(category.index[category.isna()])))
    return [group for group in groups if group[2]]


@takes("result", "tests points()", "the result of langdiff.correlate")
def plot_correlation(
    result: "Correlations",
    predictor: str | None = None,
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
    predictor : str, optional
        Name of the predictor; by default the numeric one with the smallest p-value.
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
        If no language has both its value and a difficulty, or no predictor was named and none is numeric.

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
    predictor = result.strongest() if predictor is None else predictor
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
        for place in () if numeric else np.unique(x[rows]):
            mean = float(y[x[rows] == place].mean())
            ax.hlines(mean, place - 0.12, place + 0.12, colors=colour, linewidths=2, alpha=0.5, zorder=0.5)
    if categories:
        ax.set_xticks(np.arange(len(categories)), categories)
    ax.set_xlim(*((-0.5, len(categories) - 0.5) if categories else _limits(x, 0.05)))
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


def _limits(values: Floats, margin: float) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    margin *= (high - low) or abs(low) or 1.0  # one value only: it stands in the middle
    return low - margin, high + margin
