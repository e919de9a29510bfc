"""Where editions stand on one predictor."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from langdiff.errors import ConfigError, listing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.typology import Predictors

COLOURS = ("#2a6f97", "#b5532a", "#5b8c3e", "#7b4f9e", "#c29a2b", "#3d3d3d", "#b23a6f")
UNKNOWN = "#bbbbbb"


def plot_predictor(
    predictors: "Predictors", predictor: str, ax: "Axes | None" = None, *, by: str | None = None, **style: Any
) -> "Axes":
    """Draw a numeric predictor as dots, one line an edition, the largest on top.

    Parameters
    ----------
    predictors : Predictors
        What to draw; editions without a value are left out, and counted in the label below.
    predictor : str
        A numeric one.
    ax : Axes, optional
        Where; by default a new figure, as tall as its editions need.
    by : str, optional
        A categorical predictor, such as ``"26A"``, which colours the dots; grey where it is missing.
    **style
        Passed on to ``Axes.scatter``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If a predictor is unknown or not of the kind that is needed.
    """
    _check(predictors, predictor, "numeric")
    values = predictors.values[predictor].dropna().sort_values()
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 1.2 + 0.15 * len(values)), layout="constrained")[1]
    usual: dict[str, Any] = {"s": 18, "zorder": 3}
    heights = pd.Series(range(len(values)), index=values.index)
    ax.grid(axis="y", color="#e9e9e9", linewidth=0.8)
    for label, colour, editions in _groups(predictors, values.index, by):
        ax.scatter(values[editions], heights[editions], label=label, **({"color": colour} | usual | style))
    ax.set_yticks(heights, [str(edition) for edition in values.index], fontsize=min(8.0, 900 / max(len(values), 1)))
    ax.set_ylim(-1, len(values))
    unit = str(predictors.info.loc[predictor, "unit"])
    left_out = len(predictors.values) - len(values)
    name = predictor.replace("_", " ") + (f" ({unit})" if unit and unit.split()[0] not in predictor else "")
    ax.set_xlabel(name + (f"; {left_out} without a value" if left_out else ""))
    if by is not None:
        ax.legend(title=str(predictors.info.loc[by, "unit"]), fontsize=8, title_fontsize=8, loc="lower right")
    ax.spines[["right", "top"]].set_visible(False)
    return ax


def _check(predictors: "Predictors", name: str, kind: str) -> None:
    known = predictors.info.index[predictors.info["kind"] == kind]
    if name not in known:
        raise ConfigError(f"{name!r} is no {kind} predictor here; there are {listing(known, 12)}.")


def _groups(predictors: "Predictors", editions: pd.Index, by: str | None) -> list[tuple[str, str, list[str]]]:
    """Return label, colour and editions of each category that occurs, then of those without one."""
    if by is None:
        return [("", COLOURS[0], list(editions))]
    _check(predictors, by, "categorical")
    category = predictors.values.loc[editions, by]
    groups = []
    for label in category.cat.categories:
        colour = COLOURS[category.cat.categories.get_loc(label) % len(COLOURS)]
        groups.append((str(label), colour, list(category.index[category == label])))
    groups.append(("no value", UNKNOWN, list(category.index[category.isna()])))
    return [group for group in groups if group[2]]
