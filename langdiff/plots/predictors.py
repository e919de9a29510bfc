"""Where editions stand on one predictor."""

from typing import Any, Protocol

import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import ConfigError, DataError, listing
from langdiff.plots._arguments import takes
from langdiff.plots._axes import GREY, SERIES, finish, row_axes


class PredictorTable(Protocol):
    """What is drawn of `langdiff.predictors`."""

    @property
    def values(self) -> pd.DataFrame:
        """Values, editions × predictors: numbers or categories."""

    @property
    def info(self) -> pd.DataFrame:
        """One row per predictor: ``kind`` and ``unit``."""


@takes("predictors", PredictorTable, "the result of langdiff.predictors")
def plot_predictor(
    predictors: PredictorTable, predictor: str, ax: Axes | None = None, *, by: str | None = None, **style: Any
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


def _check(predictors: PredictorTable, name: str, kind: str) -> None:
    known = predictors.info.index[predictors.info["kind"] == kind]
    if name not in known:
        raise ConfigError(f"{name!r} is not a {kind} predictor of this table; there are {listing(known, 12)}.")


def _groups(predictors: PredictorTable, editions: pd.Index, by: str | None) -> list[tuple[str, str, list[str]]]:
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
