"""Maps of divergences between treebanks, and what the metrics see of one."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from langdiff.treebanks import PerturbationCurve, TreebankComparison, TreebankMeasures, TreebankProfile

BLUE, INK, PALE = "#2a6f97", "#333333", "#d5d5d5"
COLOURS = {
    "size": "#2a6f97",
    "depth": "#b5532a",
    "width": "#5b8c3a",
    "length": "#7a5195",
    "matrix": "#b8860b",
    "mean": INK,
}
AXIS = {
    "dependency_length": "mean dependency length (words)",
    "head_final": "share of dependents before their heads",
    "hpe_mean": "head-POS entropy, mean over {over} (bits)",
    "hpe_skew": "head-POS entropy, skewness over {over}",
}


def plot_divergences(
    comparison: "TreebankComparison",
    metric: str = "mean",
    ax: "Axes | None" = None,
    *,
    order: list[str] | None = None,
    noise: bool = False,
    **style: Any,
) -> "Axes":
    """Draw a map: rows are references, columns what is compared, dark blue 0 and white the maximum.

    Parameters
    ----------
    comparison : TreebankComparison
    metric : str
        One of its metrics, or ``"mean"``.
    ax : Axes, optional
        Where; by default a new figure.
    order : list of str, optional
        Treebanks from top to bottom, such as ``comparison.cluster_order()``; by default as they were given.
    noise : bool
        Show on the diagonal the divergence of random halves of a treebank instead of 0.
    **style
        Passed on to ``Axes.imshow``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If `noise` is asked for and was not computed, the metric is unknown, or `order` does not hold the
        treebanks.
    """
    from langdiff.errors import ConfigError

    if metric not in comparison.divergence:
        raise ConfigError(f"metric is one of {', '.join(comparison.divergence)}; got {metric!r}.")
    frame = comparison.divergence[metric]
    names = list(frame.index) if order is None else list(order)
    if sorted(names) != sorted(frame.index):
        raise ConfigError(f"order must hold each treebank once: {', '.join(frame.index)}.")
    cells = frame.loc[names, names].to_numpy(copy=True)
    if noise:
        floor = comparison.noise.loc[names, metric]
        if floor.isna().any():
            raise ConfigError("the divergence of halves was not computed; compare with noise=True.")
        np.fill_diagonal(cells, floor)
    if ax is None:
        import matplotlib.pyplot as plt

        side = 1.6 + 0.62 * len(names)
        ax = plt.subplots(figsize=(side + 0.6, side), layout="constrained")[1]
    finite = cells[np.isfinite(cells)]
    usual: dict[str, Any] = {"cmap": "Blues_r", "vmin": 0, "vmax": finite.max(initial=0) or 1}
    usual |= style
    ax.imshow(np.where(np.isfinite(cells), cells, np.nan), **usual)
    ax.set_facecolor("#eeeeee")  # of infinite cells
    _write_cells(ax, cells, usual["vmax"])
    ax.set_xticks(range(len(names)), names, rotation=40, ha="right", rotation_mode="anchor")
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="compared", ylabel="reference")
    ax.set_title(metric + (" (diagonal: random halves)" if noise else ""), loc="left", fontsize=11)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _write_cells(ax: "Axes", cells: "np.ndarray[Any, np.dtype[np.float64]]", highest: float) -> None:
    size = float(np.clip(60 / len(cells), 4, 9))
    for (i, j), value in np.ndenumerate(cells):
        dark = value < 0.5 * highest
        ax.text(j, i, _short(value), ha="center", va="center", fontsize=size, color="white" if dark else INK)


def _short(value: float) -> str:
    if value == 0:
        return "0"
    if value >= 0.1 or not np.isfinite(value):
        return f"{value:.2f}"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"  # not 0.000, which would be no difference


def plot_metric_maps(
    comparison: "TreebankComparison", axes: "np.ndarray[Any, Any] | None" = None, **options: Any
) -> "np.ndarray[Any, Any]":
    """Draw the maps of size, depth, width and length, each with colours of its own.

    Parameters
    ----------
    comparison : TreebankComparison
    axes : ndarray of four Axes, optional
        Where; by default a new figure of 2 × 2.
    **options
        As for `plot_divergences`.

    Returns
    -------
    ndarray of Axes
    """
    if axes is None:
        import matplotlib.pyplot as plt

        side = 2 * (1.6 + 0.55 * len(comparison.profiles))
        axes = plt.subplots(2, 2, figsize=(side + 1, side), layout="constrained")[1]
    for metric, ax in zip(("size", "depth", "width", "length"), axes.flat, strict=True):
        plot_divergences(comparison, metric, ax, **options)
    return axes


def plot_treebank_profile(
    profile: "TreebankProfile",
    metric: str = "size",
    ax: "Axes | None" = None,
    *,
    box: "TreebankProfile | None" = None,
    **style: Any,
) -> "Axes":
    """Draw what one metric sees of a treebank.

    Parameters
    ----------
    profile : TreebankProfile
    metric : {"size", "depth", "width", "length"}
        A map of sentences by depth and length; a histogram of costs; bars of numbers of children.
    ax : Axes, optional
        Where; by default a new figure.
    box : TreebankProfile, optional
        Crop the axes to where this treebank has bins, too, so that two pictures can be laid side by side.
    **style
        Passed on to ``Axes.pcolormesh`` or ``Axes.bar``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If the metric is none of these.
    """
    from langdiff.errors import ConfigError

    draw = {"size": _draw_size, "depth": _draw_costs, "width": _draw_costs, "length": _draw_length}.get(metric)
    if draw is None:
        raise ConfigError(f"metric is one of size, depth, width, length; got {metric!r}.")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")[1]
    table = profile.tables[metric]  # type: ignore[index]  # just checked
    draw(ax, table, table if box is None else box.tables[metric], metric, style)  # type: ignore[index]
    ax.set_title(f"{profile.name}: {metric}", loc="left", fontsize=11)
    ax.spines[["right", "top"]].set_visible(False)
    return ax


def _draw_size(ax: "Axes", table: "pd.Series", other: "pd.Series", _: str, style: dict[str, Any]) -> None:
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import MaxNLocator

    both = table.index.union(other.index)
    depth, length = (np.arange(level.min(), level.max() + 1) for level in map(both.get_level_values, (0, 1)))
    cells = table.unstack(fill_value=0).reindex(index=depth, columns=length, fill_value=0).to_numpy(dtype=float)
    usual: dict[str, Any] = {"cmap": "Blues", "norm": LogNorm(1, max(cells.max(), 2))}
    edges = [np.append(places, places[-1] + 1) - 0.5 for places in (length, depth)]
    mesh = ax.pcolormesh(*edges, np.where(cells > 0, cells, np.nan), **(usual | style))
    ax.invert_yaxis()
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="length (words)", ylabel="mean depth of leaves (bin)")
    ax.get_figure(root=True).colorbar(mesh, ax=ax, label="sentences", pad=0.02)  # type: ignore[union-attr]


def _draw_costs(ax: "Axes", table: "pd.Series", other: "pd.Series", metric: str, style: dict[str, Any]) -> None:
    costs = table.index.to_numpy()
    finite = np.isfinite(costs)
    shares = 100 * table.to_numpy() / max(table.sum(), 1)
    usual: dict[str, Any] = {"color": COLOURS[metric], "width": 0.25, "align": "edge"}
    ax.bar(costs[finite], shares[finite], **(usual | style))
    both = table.index.union(other.index).to_numpy(dtype=float)
    ax.set_xlim(min(both.min(initial=0), 0), both[np.isfinite(both)].max(initial=0) + 0.25)
    unit = "leaves" if metric == "depth" else "chains of children"
    ax.set(xlabel="cost, $-\\log_{10} P$", ylabel=f"{unit} (%)")
    if not finite.all():
        ax.annotate(
            f"probability 0: {shares[~finite].sum():.1f} %",
            (0.98, 0.95),
            xycoords="axes fraction",
            ha="right",
            va="top",
        )


def _draw_length(ax: "Axes", table: "pd.Series", other: "pd.Series", metric: str, style: dict[str, Any]) -> None:
    from matplotlib.ticker import MaxNLocator

    usual: dict[str, Any] = {"color": COLOURS[metric], "width": 0.8}
    ax.bar(table.index, 100 * table.to_numpy() / max(table.sum(), 1), **(usual | style))
    ax.set_xlim(0.4, table.index.union(other.index).to_numpy().max(initial=1) + 0.6)
    if len(table):
        ax.set_yscale("log")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set(xlabel="children of a word", ylabel="words with children (%)")


def plot_perturbation(
    curve: "PerturbationCurve", kind: str = "relations", ax: "Axes | None" = None, **style: Any
) -> "Axes":
    """Draw how divergence grows with the share of changed words; dotted: random halves of the treebank.

    Parameters
    ----------
    curve : PerturbationCurve
    kind : {"relations", "heads", "order"}
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.plot``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If that kind was not tried.
    """
    from langdiff.errors import ConfigError

    frame = curve.to_frame()
    frame = frame[frame["kind"] == kind]
    if frame.empty:
        raise ConfigError(f"kind is one of {', '.join(curve.table['kind'].unique())}; got {kind!r}.")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(5.2, 3.6), layout="constrained")[1]
    for metric, rows in frame.groupby("metric", sort=False):
        usual: dict[str, Any] = {"color": COLOURS[str(metric)], "marker": "o", "markersize": 3.5, "linewidth": 1.3}
        ax.plot(100 * rows["rate"], rows["divergence"], label=str(metric), **(usual | style))
        ax.axhline(curve.noise[str(metric)], color=COLOURS[str(metric)], linewidth=0.8, linestyle=":", zorder=0)
    ax.plot([], [], color=INK, linewidth=0.8, linestyle=":", label="random halves")
    ax.set_yscale("symlog", linthresh=0.01)
    ax.set_ylim(bottom=0)
    ax.set(xlabel=f"changed words (%): {kind}", ylabel="divergence from the source")
    ax.set_title(curve.treebank, loc="left", fontsize=11)
    ax.legend(frameon=False, fontsize=8, ncols=2)
    ax.spines[["right", "top"]].set_visible(False)
    return ax


def plot_treebank_measures(
    measures: "TreebankMeasures", measure: str = "dependency_length", ax: "Axes | None" = None, **style: Any
) -> "Axes":
    """Draw a measure of treebanks, lowest on top.

    Parameters
    ----------
    measures : TreebankMeasures
    measure : str
        A column of its table. Of ``"dependency_length"`` and ``"head_final"`` an open dot shows it of trees with
        content words as heads, a filled one with function words.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.plot`` for the dots, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    ConfigError
        If there is no such column.
    """
    from langdiff.errors import ConfigError

    table = measures.table
    if measure not in table:
        raise ConfigError(f"measure is one of {', '.join(table.columns)}; got {measure!r}.")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(5.6, 1.2 + 0.22 * len(table)), layout="constrained")[1]
    function = f"{measure}_function"
    both = function in table
    last = function if both else measure
    table = table.sort_values(last)
    rows = np.arange(len(table))
    usual: dict[str, Any] = {"color": BLUE, "marker": "o", "linestyle": "none", "markersize": 5}
    if both:
        ax.hlines(rows, table[measure], table[function], color=PALE, linewidth=1.2, zorder=0)
        ax.plot(table[measure], rows, label="content heads", **(usual | {"markerfacecolor": "white"} | style))
    ax.plot(table[last], rows, label="function heads", **(usual | style))
    ax.set_yticks(rows, [str(name) for name in table.index])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel(AXIS.get(measure, measure).format(over=measures.over))
    ax.tick_params(axis="y", length=0)
    ax.spines[["right", "top"]].set_visible(False)
    if both:
        ax.legend(frameon=False, fontsize=8, loc="lower right", bbox_to_anchor=(1, 1), ncols=2)
    return ax
