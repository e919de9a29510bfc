"""Estimates against true values, where these are known."""

from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError, listing
from langdiff.plots._axes import FAINT, MARKERS, SERIES, axes_of, finish, takes
from langdiff.plots._places import ALL_NAMED, name_points
from langdiff.tables.effect_sources import Sources, effects_by_source
from langdiff.tables.effects import Effects

NAMED = 16  # of more than ALL_NAMED editions, those farthest above or below the line


@takes("truth", pd.Series, "estimates and true difficulties")
def plot_against_truth(sources: Sources, truth: pd.Series, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw estimated difficulties against true ones, one colour and marker per language model.

    Parameters
    ----------
    sources : mapping or sequence of fits, Effects or Series; DataFrame; or one fit
        Estimates, by name of language model; as in `plot_line_follow`.
    truth : Series, shape (J,)
        True difficulties in the unit of the estimates (nats), indexed by edition.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on, with 95 % intervals where standard errors are known; difficulties in nats are drawn in
        percent of the average edition.

    Raises
    ------
    DataError
        If there is nothing to draw, or an edition of `truth` has no estimate.

    Examples
    --------
    >>> truth = pd.Series({"eng": -0.1, "fin": 0.1})
    >>> axes = plot_against_truth({"char": truth + 0.01}, truth)
    >>> axes.get_xlabel()
    'true difficulty (% above the average)'
    """
    named = effects_by_source(sources)
    if not named or truth.empty:
        raise DataError("nothing to draw: there are no estimates, or no true values.")
    scale = named[0][1].scale
    shown, unit = (_percent, "% above the average") if scale.unit == "nats" else (_as_it_is, scale.unit)
    ax = axes_of(ax, 6.4, 4.8)
    ax.axline((0, 0), slope=1, color=FAINT, linewidth=1, zorder=0)
    x, highest = shown(truth), pd.Series(-np.inf, index=truth.index)
    for (name, effects), (colour, marker) in zip(named, cycle(zip(SERIES, MARKERS, strict=True)), strict=False):
        rows = _rows(name, effects, truth.index)
        y, low, high = (shown(rows[column]) for column in (effects.scale.quantity, "low", "high"))
        errors = None if low.isna().all() else np.array([y - low, high - y])
        usual: dict[str, Any] = {"fmt": marker, "capsize": 2, "markersize": 5, "color": colour}
        ax.errorbar(x, y, yerr=errors, label=name, **(usual | style))
        highest = highest.where(highest > y, y)
    ax.autoscale_view()
    if len(truth) <= ALL_NAMED:
        _name_editions(ax, x, highest)
    else:
        true, drawn = np.asarray(x, dtype=np.float64), np.asarray(highest, dtype=np.float64)
        name_points(ax, true, drawn, list(truth.index), order=np.argsort(-np.abs(drawn - true))[:NAMED])
    return finish(ax, f"true {scale.quantity} ({unit})", f"estimated {scale.quantity} ({unit})", legend=True)


def _percent(nats: pd.Series) -> pd.Series:
    percent: pd.Series = 100 * np.expm1(nats)
    return percent


def _as_it_is(values: pd.Series) -> pd.Series:
    return values


def _rows(name: str, effects: Effects, editions: pd.Index) -> pd.DataFrame:
    missing = editions.difference(effects.estimate.index)
    if len(missing):
        raise DataError(f"{len(missing)} edition(s) have a true value but no estimate by {name}: {listing(missing)}.")
    return effects.to_frame().loc[editions]


def _name_editions(ax: Axes, truth: pd.Series, highest: pd.Series) -> None:
    """Name the editions at their highest point; about equally hard ones share one label."""
    ordered = truth.sort_values()
    clusters = (ordered.diff() > 0.02 * (truth.max() - truth.min())).cumsum()
    groups = [cluster for _, cluster in ordered.groupby(clusters)]
    x = np.array([group.mean() for group in groups])
    y = np.array([highest[group.index].max() for group in groups])
    labels = ["\n".join(map(str, group.index)) for group in groups]
    avoid = np.column_stack([truth, highest])
    name_points(ax, x, y, labels, size=8.5, order=np.arange(len(groups)), avoid=avoid)
