"""Maps of divergences between treebanks, and tables of the metrics in one treebank."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.ticker import MaxNLocator

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, option
from langdiff.plots._axes import (
    BLUE,
    FAINT,
    INK,
    LEAST_TEXT,
    LETTER,
    MARKERS,
    PAGE,
    SERIES,
    add_colorbar,
    axes_of,
    finish,
    plain_log_ticks,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._names import shorten
from langdiff.plots._rows import in_columns, name_rows, row_axes

if TYPE_CHECKING:
    from langdiff.treebanks.measures import TreebankMeasures
    from langdiff.treebanks.pairwise import TreebankComparison
    from langdiff.treebanks.perturbation import PerturbationCurve
    from langdiff.treebanks.profile import TreebankProfile

COLOURS = dict(zip(("size", "depth", "width", "length", "matrix", "mean"), (*SERIES[:5], INK), strict=True))
SHARE_OF_MAP = 0.6  # of the height of axes, which names below leave
METRICS = ("size", "depth", "width", "length")
MAP_NAME = 16  # letters of a name beside and below a map
AXIS = {
    "dependency_length": "mean dependency length (words)",
    "head_final": "share of dependents before their heads",
    "hpe_mean": "head-POS entropy, mean over {over} (bits)",
    "hpe_skew": "head-POS entropy, skewness over {over}",
}


@takes("comparison", "divergence noise", "the result of langdiff.compare_treebanks")
def plot_divergences(
    comparison: "TreebankComparison",
    metric: str = "mean",
    ax: Axes | None = None,
    *,
    order: Sequence[str] | None = None,
    noise: bool = False,
    **style: Any,
) -> Axes:
    """Draw a map of divergences: rows are references, columns compared treebanks, dark blue 0, white the maximum.

    Parameters
    ----------
    comparison : TreebankComparison
        Result of `langdiff.compare_treebanks`.
    metric : str
        One of its metrics, or ``"mean"``.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    order : sequence of str, optional
        Treebanks from top to bottom, such as ``comparison.cluster_order()``; by default as they were given.
    noise : bool
        Show on the diagonal the divergence of random halves of a treebank instead of 0.
    **style
        Settings for ``Axes.imshow``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If `noise` is asked for and was not computed, the metric is unknown, or `order` does not hold the
        treebanks.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> frame = pd.DataFrame([[0, 0.2], [0.3, 0]], index=["deu", "eng"], columns=["deu", "eng"])
    >>> axes = plot_divergences(SimpleNamespace(divergence={"mean": frame}, noise=frame))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('compared', 'reference')
    """
    if metric not in comparison.divergence:
        raise ConfigError(f"{option('metric')} is one of {', '.join(comparison.divergence)}; got {metric!r}.")
    frame = comparison.divergence[metric]
    names = list(frame.index) if order is None else list(order)
    if sorted(names) != sorted(frame.index):
        raise ConfigError(f"{option('order')} must hold each treebank once: {', '.join(frame.index)}.")
    cells = frame.loc[names, names].to_numpy(dtype=float, copy=True)
    if noise:
        floor = comparison.noise.loc[names, metric]
        if floor.isna().any():
            raise ConfigError(f"the divergence of halves was not computed; compare with {option('noise', True)}.")
        np.fill_diagonal(cells, floor)
    side = 1.6 + 0.62 * len(names)
    ax = axes_of(ax, side + 0.6, side)
    finite = cells[np.isfinite(cells)]
    usual: dict[str, Any] = {"cmap": "Blues_r", "vmin": 0, "vmax": finite.max(initial=0) or 1}
    usual |= style
    ax.imshow(np.where(np.isfinite(cells), cells, np.nan), **usual)
    ax.set_facecolor("#eeeeee")  # of infinite cells
    _write_cells(ax, cells, usual["vmax"])
    names = shorten(names, MAP_NAME)
    ax.set_xticks(range(len(names)), names, rotation=90)
    name_rows(ax, names, share=SHARE_OF_MAP)
    ax.tick_params(length=0)
    return finish(ax, "compared", "reference", metric + (" (diagonal: random halves)" if noise else ""), keep=[])


def _write_cells(ax: Axes, cells: Floats, highest: float) -> None:
    room = 0.7 * size_of(ax).min() / len(cells)  # points; ax keeps its aspect
    size = float(min(room / (6 * LETTER), 0.9 * text_size(ax)))
    if size < LEAST_TEXT:  # colours have to do
        return
    for (i, j), value in np.ndenumerate(cells):
        dark = value < 0.5 * highest
        ax.text(j, i, _short(value), ha="center", va="center", fontsize=size, color="white" if dark else INK)


def _short(value: float) -> str:
    if value == 0:
        return "0"
    if value >= 0.1 or not np.isfinite(value):
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"  # not 0.000, which would be no difference


@takes("comparison", "divergence noise", "the result of langdiff.compare_treebanks")
def plot_metric_maps(
    comparison: "TreebankComparison", axes: "np.ndarray[Any, Any] | None" = None, **options: Any
) -> "np.ndarray[Any, Any]":
    """Draw the maps of size, depth, width and length, each with colours of its own.

    Parameters
    ----------
    comparison : TreebankComparison
        Result of `langdiff.compare_treebanks`.
    axes : ndarray of four Axes, optional
        Axes to draw on; by default those of a new figure of 2 × 2.
    **options
        Settings for `plot_divergences`.

    Returns
    -------
    ndarray of Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        As for `plot_divergences`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> frame = pd.DataFrame([[0, 0.2], [0.3, 0]], index=["deu", "eng"], columns=["deu", "eng"])
    >>> axes = plot_metric_maps(SimpleNamespace(divergence=dict.fromkeys(METRICS, frame), noise=frame))
    >>> [ax.get_title(loc="left") for ax in axes.flat]
    ['size', 'depth', 'width', 'length']
    """
    if axes is None:
        import matplotlib.pyplot as plt

        side = 2 * (1.6 + 0.55 * len(comparison.divergence["size"]))
        size = (min(side + 1, PAGE[0]), min(side, PAGE[0]))
        axes = plt.subplots(2, 2, figsize=size, layout="constrained")[1]
    for metric, ax in zip(METRICS, axes.flat, strict=True):
        plot_divergences(comparison, metric, ax, **options)
    return axes


@takes("profile", "name bins", "the profile of a treebank")
@takes("box", "name bins", "the profile of a treebank")
def plot_treebank_profile(
    profile: "TreebankProfile",
    metric: str = "size",
    ax: Axes | None = None,
    *,
    box: "TreebankProfile | None" = None,
    **style: Any,
) -> Axes:
    """Draw the counts of one metric in a treebank.

    Parameters
    ----------
    profile : TreebankProfile
        One of the `profiles` of `langdiff.compare_treebanks`.
    metric : {"size", "depth", "width", "length"}
        A map of sentences by depth and length; histograms of costs; or bars of numbers of children.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    box : TreebankProfile, optional
        A second treebank, whose bins the axes span, too, so that two pictures can be laid side by side.
    **style
        Settings for ``Axes.pcolormesh`` or ``Axes.bar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If the metric is none of these.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> profile = SimpleNamespace(name="eng", bins={"length": pd.Series({1: 3, 2: 1})})
    >>> axes = plot_treebank_profile(profile, "length")
    >>> axes.get_title(loc="left"), axes.get_ylabel()
    ('eng: length', 'words with children (%)')
    """
    draw = dict(zip(METRICS, (_draw_size, _draw_costs, _draw_costs, _draw_length), strict=True)).get(metric)
    if draw is None or metric not in profile.bins:
        raise ConfigError(f"{option('metric')} is one of {', '.join(METRICS)}; got {metric!r}.")
    ax = axes_of(ax, 6.4, 3.2)
    tables, others = ({str(name): table for name, table in each.bins.items()} for each in (profile, box or profile))
    xlabel, ylabel = draw(ax, tables[metric], others[metric], metric, style)
    return finish(ax, xlabel, ylabel, f"{profile.name}: {metric}")


def _draw_size(ax: Axes, table: pd.Series, other: pd.Series, _: str, style: dict[str, Any]) -> tuple[str, str]:
    both = table.index.union(other.index)
    depth, length = (np.arange(level.min(), level.max() + 1) for level in map(both.get_level_values, (0, 1)))
    cells = table.unstack(fill_value=0).reindex(index=depth, columns=length, fill_value=0).to_numpy(dtype=float)
    usual: dict[str, Any] = {"cmap": "viridis_r", "norm": LogNorm(1, max(cells.max(), 2))}
    edges = [np.append(places, places[-1] + 1) - 0.5 for places in (length, depth)]
    mesh = ax.pcolormesh(*edges, np.where(cells > 0, cells, np.nan), **(usual | style))
    ax.invert_yaxis()
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator("auto", integer=True))
    add_colorbar(ax, mesh, "sentences")
    return "length (words)", "mean depth of leaves (bin)"


def _draw_costs(ax: Axes, table: pd.Series, other: pd.Series, metric: str, style: dict[str, Any]) -> tuple[str, str]:
    costs = table.index.to_numpy()
    finite = np.isfinite(costs)
    shares = 100 * table.to_numpy() / max(table.sum(), 1)
    usual: dict[str, Any] = {"color": COLOURS[metric], "width": 0.25, "align": "edge"}
    ax.bar(costs[finite], shares[finite], **(usual | style))
    both = table.index.union(other.index).to_numpy(dtype=float)
    ax.set_xlim(min(both.min(initial=0), 0), both[np.isfinite(both)].max(initial=0) + 0.25)
    if not finite.all():
        text = f"probability 0: {shares[~finite].sum():.1f} %"
        ax.annotate(text, (0.98, 0.95), xycoords="axes fraction", ha="right", va="top")
    return "cost, −log₁₀ P", f"{'leaves' if metric == 'depth' else 'chains of children'} (%)"


def _draw_length(ax: Axes, table: pd.Series, other: pd.Series, metric: str, style: dict[str, Any]) -> tuple[str, str]:
    usual: dict[str, Any] = {"color": COLOURS[metric], "width": 0.8}
    ax.bar(table.index, 100 * table.to_numpy() / max(table.sum(), 1), **(usual | style))
    ax.set_xlim(0.4, table.index.union(other.index).to_numpy().max(initial=1) + 0.6)
    if len(table):
        ax.set_yscale("log")
        plain_log_ticks(ax.yaxis)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    return "children of a word", "words with children (%)"


@takes("curve", "treebank noise to_frame()", "the result of langdiff.treebanks.perturbation_curve")
def plot_perturbation(
    curve: "PerturbationCurve", kind: str = "relations", ax: Axes | None = None, **style: Any
) -> Axes:
    """Draw how divergence grows with the share of changed words; dotted: random halves of the treebank.

    Parameters
    ----------
    curve : PerturbationCurve
        Result of `langdiff.treebanks.perturbation_curve`.
    kind : {"relations", "heads", "order"}
        What was changed in the copies: relations, heads or the order of words.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If that kind was not tried.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> table = pd.DataFrame({"kind": "heads", "rate": [0.0, 0.1], "metric": "size", "divergence": [0.0, 0.2]})
    >>> curve = SimpleNamespace(treebank="eng", noise={"size": 0.01}, to_frame=lambda: table)
    >>> axes = plot_perturbation(curve, "heads")
    >>> axes.get_xlabel()
    'changed words (%): heads'
    """
    frame = curve.to_frame()
    kinds = frame["kind"].unique()
    frame = frame[frame["kind"] == kind]
    if frame.empty:
        raise ConfigError(f"{option('kind')} is one of {', '.join(kinds)}; got {kind!r}.")
    ax = axes_of(ax, 5.2, 3.6)
    for (metric, rows), marker in zip(frame.groupby("metric", sort=False), MARKERS, strict=False):
        colour = COLOURS[str(metric)]
        usual: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.5, "linewidth": 1.3}
        ax.plot(100 * rows["rate"], rows["divergence"], label=str(metric), **(usual | style))
        ax.axhline(curve.noise[str(metric)], color=colour, linewidth=0.8, linestyle=":", zorder=0)
    ax.plot([], [], color=INK, linewidth=0.8, linestyle=":", label="random halves")
    ax.set_yscale("symlog", linthresh=0.01)
    ax.set_ylim(bottom=0)
    return finish(ax, f"changed words (%): {kind}", "divergence from the source", curve.treebank, legend=True)


@takes("measures", "table over", "the result of langdiff.measure_treebanks")
@in_columns
def plot_treebank_measures(
    measures: "TreebankMeasures", measure: str = "dependency_length", ax: Axes | None = None, **style: Any
) -> Axes:
    """Draw a measure of treebanks, lowest on top.

    Parameters
    ----------
    measures : TreebankMeasures
        Result of `langdiff.measure_treebanks`.
    measure : str
        A column of their table. For ``"dependency_length"`` and ``"head_final"``, an open dot shows trees with
        content words as heads, a filled one trees with function words as heads.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of treebanks needs.
    **style
        Settings for ``Axes.plot`` of the dots, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If there is no such column.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> measures = SimpleNamespace(table=pd.DataFrame({"hpe_mean": [0.9, 1.1]}, index=["deu", "eng"]), over="types")
    >>> axes = plot_treebank_measures(measures, "hpe_mean")
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'deu']
    """
    table = measures.table
    if measure not in table:
        raise ConfigError(f"{option('measure')} is one of {', '.join(table.columns)}; got {measure!r}.")
    function = f"{measure}_function"
    both = function in table
    last = function if both else measure
    table = table.sort_values(last, ascending=False)
    rows = np.arange(len(table))
    ax = row_axes(ax, table.index, 5.6)
    usual: dict[str, Any] = {"color": BLUE, "marker": "o", "linestyle": "none", "markersize": 5}
    if both:
        ax.hlines(rows, table[measure], table[function], color=FAINT, linewidth=1.2, zorder=0)
        ax.plot(
            table[measure],
            rows,
            label="content heads",
            **(usual | {"markerfacecolor": "white", "markersize": 8} | style),
        )
    ax.plot(table[last], rows, label="function heads", **(usual | style))
    return finish(ax, AXIS.get(measure, measure).format(over=measures.over), keep=["bottom"], legend=both)
