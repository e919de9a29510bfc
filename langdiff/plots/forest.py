"""Difficulties by several language models: a forest plot with differences, ranks, and posterior distributions."""

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from langdiff.base.result import opened
from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._axes import (
    EASIER,
    FAINT,
    HARDER,
    INK,
    LETTER,
    MARGIN,
    MARKERS,
    PAGE,
    SERIES,
    add_colorbar,
    axes_of,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._names import breadth
from langdiff.plots._rows import in_columns, name_rows, row_axes
from langdiff.tables.effect_sources import EffectsLike, as_effects, rank_probabilities
from langdiff.tables.rule import Scale, t_interval

if TYPE_CHECKING:
    import arviz as az


APART = 0.6  # of the distance of rows, which the intervals of one edition take
BESIDE = (0.7, 0.0, 0.3, 1.0)  # where differences are drawn, in parts of the axes
LEFT = 0.67  # what they leave to the estimates
INDENT = "\N{NO-BREAK SPACE}" * 2  # of editions below the name of their group
WRITTEN_OUT = 16  # with more editions percentages find no room
WIDE, NARROW = (0.025, 0.975), (0.25, 0.75)


@takes("table", "estimates lines differences", "a Table, as langdiff.table returns it")
def plot_forest(table: Any, ax: Axes | None = None, **style: Any) -> Axes:
    r"""Draw difficulties by one or several language models with 95 % intervals on one axis, in the order of a table.

    Parameters
    ----------
    table : Table
        Result of `langdiff.table`. Each fit has a colour and a marker; rows stand below the names of their groups, if
        the table has groups. The differences of two fits, if there are any, are drawn beside.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of rows needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on; those of the differences are its child.

    Raises
    ------
    DataError
        If `table` is something else, or has no rows.

    Examples
    --------
    >>> import langdiff as ld
    >>> fits = [ld.fit(table) for table in ld.datasets.ntrex10()]
    >>> axes = plot_forest(ld.table(fits, by="family"))
    >>> axes.get_xlabel(), axes.child_axes[0].get_xlabel()
    ('more bits than the average edition (%)', 'harder under\nkneser-ney-3 (%)')
    """
    lines = table.lines[table.lines["kind"] != "mean"].iloc[::-1]
    if lines.empty:
        raise DataError("nothing to draw: the table has no rows.")
    own = table.estimates[table.estimates["kind"] != "mean"]
    grouped = (lines["kind"] == "edition").any() and (lines["kind"] == "group").any()
    head = grouped & (lines["kind"] == "group").to_numpy()
    shown = zip(lines["name"], head, strict=True)
    names = [str(name) if of_group or not grouped else f"{INDENT}{name}" for name, of_group in shown]
    differences = table.differences[table.differences["kind"] != "mean"]
    two = differences["column"].nunique() == 1 and len(table.columns) == 2
    ax = row_axes(ax, names, 7.1 if two else 6.4)
    rows = pd.Series(np.arange(len(lines))[~head], lines["row"].to_numpy()[~head])
    step = APART / len(table.columns)
    dot = float(np.clip(0.4 * size_of(ax)[1] / len(lines) / len(table.columns) ** 0.5, 2.2, 6))
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    for place, column in enumerate(table.columns):
        part = own[(own["column"] == column) & own["row"].isin(rows.index)]
        y = rows[part["row"]].to_numpy() + step * ((len(table.columns) - 1) / 2 - place)
        usual: dict[str, Any] = {"fmt": MARKERS[place % len(MARKERS)], "color": SERIES[place % len(SERIES)]}
        usual |= {"markersize": dot, "elinewidth": dot / 3, "markeredgewidth": 0, "label": column or None}
        _draw(ax, part, y, table.unit, usual | style)
    if two:
        low, high = ax.get_xlim()
        ticks = [tick for tick in MaxNLocator(7, steps=[1, 2, 5, 10]).tick_values(low, high) if low <= tick <= high]
        ax.set_xticks(ticks)
        ax.set_xlim(low, low + (high - low) / LEFT)
        ax.spines["bottom"].set_bounds(low, high)
        _draw_differences(ax, differences[differences["row"].isin(rows.index)], rows, table, dot)
    for written in (*ax.get_yticklabels(), *ax.get_yticklabels(minor=True)):  # of names in two columns
        written.set_fontweight("bold" if head[round(written.get_position()[1])] else "normal")
    title = "NOT CONVERGED" if table.warnings else ""
    label = _in_lines(ax, _label(table), LEFT) if two else _label(table)
    finish(ax, label, title=title, keep=["bottom"], legend=len(table.columns) > 1)
    if two:
        ax.xaxis.label.set_x(LEFT / 2)
    return ax


def _label(table: Any) -> str:
    """Return what the axis of estimates shows."""
    if table.unit == "percent":
        return f"more bits than the average {table.of} (%)"
    return f"{'difficulty' if table.highest == 'hardest' else 'ability'} ({table.unit})"


def _in_lines(ax: Axes, label: str, share: float) -> str:
    """Return a label in lines that fit a share of the width that the names of rows leave."""
    letter = LETTER * text_size(ax)
    names = max((letter * breadth(name.get_text()) for name in ax.get_yticklabels()), default=0.0)
    letters = int(share * (size_of(ax)[0] - max(names - MARGIN, 0)) / letter)
    return "\n".join(wrap(label, max(letters, 8), break_on_hyphens=False))


def _draw(ax: Axes, rows: pd.DataFrame, y: Floats, unit: str, style: dict[str, Any]) -> None:
    """Draw estimates with their intervals, in percent where the table is."""
    estimate = rows["estimate"].to_numpy(dtype=float)
    ends = np.array([estimate, *t_interval(estimate, rows["std_error"].to_numpy(), rows["df"].to_numpy(dtype=float))])
    x, low, high = 100 * np.expm1(ends) if unit == "percent" else ends
    ax.errorbar(x, y, xerr=None if np.isnan(low).all() else np.array([x - low, high - x]), **style)


def _draw_differences(ax: Axes, rows: pd.DataFrame, places: pd.Series, table: Any, dot: float) -> None:
    """Draw the differences of two fits at the right of the estimates, on axes of their own."""
    panel = ax.inset_axes(BESIDE)
    panel.set(ylim=ax.get_ylim(), yticks=[], facecolor="none")
    panel.axvline(0, color=INK, linewidth=0.8, zorder=1)
    usual: dict[str, Any] = {"fmt": "o", "color": INK, "markersize": dot, "elinewidth": dot / 3, "markeredgewidth": 0}
    _draw(panel, rows, places[rows["row"]].to_numpy(), table.unit, usual)
    size = text_size(ax)
    panel.tick_params(labelsize=size)
    panel.locator_params(axis="x", nbins=4)
    more = "harder" if table.highest == "hardest" else "abler"
    unit = "%" if table.unit == "percent" else table.unit
    label = f"{more} under {table.columns[0]} ({unit})"
    panel.set_xlabel(_in_lines(ax, label, BESIDE[2]), fontsize=size)
    panel.margins(x=0.12)  # room for the last number
    panel.spines[["left", "right", "top"]].set_visible(False)


def plot_ranks(
    source: EffectsLike,
    ax: Axes | None = None,
    *,
    n_draws: int = 4000,
    seed: int | np.random.Generator = 0,
    **style: Any,
) -> Axes:
    """Draw the probability of every rank of every edition, hardest on top.

    A dark diagonal means that the order is sure, a pale band that many orders are as likely. Percentages are
    written out if there are no more than 16 editions.

    Parameters
    ----------
    source : DifficultyFit, Effects, posterior or DataFrame
        A fit or effects with their covariance, a posterior of `langdiff.sample`, or a frame of draws of difficulties,
        shape (draws, J) with columns named by edition, such as a bootstrap gives; see `langdiff.rank_probabilities`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    n_draws : int
        Number of draws from a fit or effects, in which ranks are counted.
    seed : int or numpy.random.Generator, optional
        Seed of these draws; without effect if `source` is a posterior or a frame of draws.
    **style
        Settings for ``Axes.pcolormesh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If the covariance of effects is not known, or draws are missing.
    ConfigError
        If `n_draws` or `seed` is out of range.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> axes = plot_ranks(draws)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['fin', 'eng']
    """
    source = opened(source)
    shares = rank_probabilities(source, n_draws=n_draws, seed=seed)
    first = (Scale() if isinstance(source, pd.DataFrame) else as_effects(source).scale).first
    count = len(shares)
    side = 1.2 + count * (0.42 if count <= WRITTEN_OUT else 0.3 if count <= 30 else 0.12)
    ax = axes_of(ax, min(max(side + 1.2, 4.8), PAGE[0]), min(max(side, 2.8), PAGE[0]))
    highest = 100 * max(float(shares.to_numpy().max()), 1 / count)
    # of many editions most probabilities are low: a root makes them visible
    usual: dict[str, Any] = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0, vmax=highest)}
    edges = np.arange(count + 1) + 0.5
    mesh = ax.pcolormesh(edges, edges, 100 * shares.to_numpy(), **(usual | style))
    ax.invert_yaxis()
    text = name_rows(ax, shares.index, first=1)
    ax.tick_params(axis="both", length=0)
    if count <= WRITTEN_OUT:
        ax.set_xticks(np.arange(1, count + 1))
        _write_percentages(ax, shares, text)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        add_colorbar(ax, mesh, "probability (%)", fraction=0.03)
    ax.spines[:].set_color(FAINT)
    title = "probability (%)" if count <= WRITTEN_OUT else ""
    return finish(ax, f"rank (1 is {first})", title=title, keep=["left", "right", "top", "bottom"])


def _write_percentages(ax: Axes, shares: pd.DataFrame, size: float) -> None:
    highest = float(shares.to_numpy().max())
    for (i, j), share in np.ndenumerate(shares.to_numpy()):
        if share >= 0.005:
            colour = "white" if share > 0.35 * highest else INK
            ax.text(j + 1, i + 1, f"{100 * share:.0f}", ha="center", va="center", fontsize=0.8 * size, color=colour)


@in_columns
def plot_posterior(idata: "az.InferenceData", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw posterior medians of difficulties with 50 % and 95 % intervals, hardest on top.

    Parameters
    ----------
    idata : arviz.InferenceData
        Posterior with a variable ``difficulty`` by chain, draw and edition, as `langdiff.sample` returns it.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.plot`` of the medians, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there is no posterior of difficulties.

    Examples
    --------
    >>> import xarray as xr
    >>> from types import SimpleNamespace
    >>> draws = np.random.default_rng(0).normal([-0.1, 0.1], 0.01, (4, 100, 2))
    >>> array = xr.DataArray(draws, dims=("chain", "draw", "edition"), coords={"edition": ["eng", "fin"]})
    >>> posterior = xr.Dataset({"difficulty": array}, attrs={"lm": "char", "model": "2"})
    >>> axes = plot_posterior(SimpleNamespace(posterior=posterior))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'fin']
    """
    posterior = getattr(idata, "posterior", None)
    if posterior is None or "difficulty" not in posterior or "edition" not in posterior["difficulty"].dims:
        raise DataError("there is no posterior of difficulties; give what langdiff.sample returned.")
    difficulty = posterior["difficulty"]
    draws = difficulty.stack(sample=("chain", "draw")).transpose("edition", "sample").to_numpy()  # (J, draws)
    order = np.argsort(draws.mean(axis=1), kind="stable")
    draws, names = draws[order], difficulty["edition"].to_numpy()[order]
    ax = row_axes(ax, names)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    y, median = np.arange(len(names)), np.median(draws, axis=1)
    colours = [HARDER if value > 0 else EASIER for value in median]
    for part, width in ((WIDE, 1.2), (NARROW, 3.2)):
        low, high = np.quantile(draws, part, axis=1)
        ax.hlines(y, low, high, colors=colours, linewidths=width, zorder=2)
    usual: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "white", "markeredgecolor": INK}
    ax.plot(median, y, **(usual | {"markersize": 4, "zorder": 3} | style))
    attributes = posterior.attrs
    title = ", ".join(filter(None, [attributes.get("lm", ""), f"model {attributes.get('model', '?')}"]))
    return finish(ax, "difficulty (nats), median, 50 % and 95 % of the posterior", title=title, keep=["bottom"])
