"""Curves: difficulty by size of the training data, training logs, and numbers of merges."""

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

from langdiff.errors import DataError
from langdiff.plots._axes import (
    BLUE,
    DASHED,
    EASIER,
    FAINT,
    GREY,
    HARDER,
    INK,
    LINES,
    RUST,
    SERIES,
    axes_of,
    finish,
    takes,
)
from langdiff.plots._rows import name_line_ends

if TYPE_CHECKING:
    from langdiff.experiments.bpe_sweep import SweepResult
    from langdiff.regression.curves.curve import DifficultyCurve

OF_CURVES = "lm match difficulty to_frame() correlations()"
AT_ENDS = 3  # of many curves: how many of the lowest and of the highest are drawn and named
MOST_NAMED = 8  # of many curves, those that change most are drawn in colour
FEW = 12  # curves of which all are drawn in colour
EASIEST_TEXT = 0.55  # share of the colours' range from which text is white


@takes("curve", OF_CURVES, "a DifficultyCurve, as langdiff.difficulty_curve returns it")
def plot_difficulty_curves(curve: "DifficultyCurve", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the difficulty of every edition against the size of the training data, with bands of 95 %.

    Parameters
    ----------
    curve : DifficultyCurve
        Result of `langdiff.difficulty_curve`. Of more than twelve editions, the eight whose difficulty changes most are
        drawn in colour, with bands and names: blue those that become easier, red those that become harder.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(60, 3, seed=1).surprisals
    >>> tables = {n: ld.Surprisals(bits=truth.bits * (1 + n**-0.5)) for n in (10, 100)}
    >>> plot_difficulty_curves(ld.regression.fit_curve(tables, seed=0)).get_ylabel()
    'difficulty (percent)'
    """
    frame, difficulty = curve.to_frame(), curve.difficulty
    ax, name = _size_axes(ax, difficulty), difficulty.columns.name
    ends, coloured, axis = {}, _coloured(difficulty), "size" if name is None else str(name)
    for edition in _in_order(difficulty):
        rows = frame[frame["edition"] == edition]
        sizes, shown = rows[axis].to_numpy(dtype=float), edition in coloured
        colour = _colour(difficulty.loc[edition]) if shown else GREY
        if shown:
            low, high = (100 * np.expm1(rows[name].to_numpy()) for name in ("low", "high"))
            ax.fill_between(sizes, low, high, color=colour, alpha=0.15, linewidth=0)
            ends[str(edition)] = float(100 * np.expm1(difficulty.loc[edition].iloc[-1]))
        usual: dict[str, Any] = {"color": colour, "linewidth": 1.4 if shown else 0.6, "zorder": 3 if shown else 1}
        ax.plot(sizes, 100 * np.expm1(rows["difficulty"].to_numpy()), **(usual | style))
    ax.axhline(0, color=INK, linewidth=0.6, zorder=0)
    name_line_ends(ax, ends)
    title = f"{curve.lm}: difficulty by {axis}"
    return finish(ax, _size_label(curve), "difficulty (percent)", title, legend=_legend(difficulty))


@takes("curve", OF_CURVES, "a DifficultyCurve, as langdiff.difficulty_curve returns it")
def plot_rank_changes(curve: "DifficultyCurve", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the rank of every edition at each size; lines that cross change places.

    Parameters
    ----------
    curve : DifficultyCurve
        Result of `langdiff.difficulty_curve`. Rank 1, the hardest, is at the top. Colours and names are those of
        `plot_difficulty_curves`; of at most twelve editions all are named.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(60, 3, seed=1).surprisals
    >>> tables = {n: ld.Surprisals(bits=truth.bits * (1 + n**-0.5)) for n in (10, 100)}
    >>> plot_rank_changes(ld.regression.fit_curve(tables, seed=0)).get_ylabel()
    'rank (1 = hardest)'
    """
    difficulty = curve.difficulty
    ranks = (-difficulty).rank(method="first")
    ax = _size_axes(ax, difficulty)
    ax.set_ylim(len(ranks) + 0.7, 0.3)
    ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    ends, coloured = {}, _coloured(difficulty)
    for edition in _in_order(difficulty):
        shown = edition in coloured
        colour = _colour(difficulty.loc[edition]) if shown else GREY
        usual: dict[str, Any] = {
            "color": colour,
            "linewidth": 1.4 if shown else 0.5,
            "marker": "o" if shown else "",
            "markersize": 3,
            "zorder": 3 if shown else 1,
        }
        ax.plot(ranks.columns.to_numpy(dtype=float), ranks.loc[edition].to_numpy(), **(usual | style))
        if shown:
            ends[str(edition)] = float(ranks.loc[edition].iloc[-1])
    name_line_ends(ax, ends)
    title = f"{curve.lm}: ranks by {curve.difficulty.columns.name}"
    return finish(ax, _size_label(curve), "rank (1 = hardest)", title, legend=_legend(difficulty))


@takes("curve", OF_CURVES, "a DifficultyCurve, as langdiff.difficulty_curve returns it")
def plot_size_correlations(curve: "DifficultyCurve", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the matrix of rank correlations between sizes, with their intervals of 95 %.

    Parameters
    ----------
    curve : DifficultyCurve
        Result of `langdiff.difficulty_curve`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.imshow``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Examples
    --------
    >>> import langdiff as ld
    >>> truth = ld.simulate(60, 3, seed=1).surprisals
    >>> tables = {n: ld.Surprisals(bits=truth.bits * (1 + n**-0.5)) for n in (10, 100)}
    >>> len(plot_size_correlations(ld.regression.fit_curve(tables, seed=0)).texts)
    1
    """
    frame, sizes = curve.correlations(), list(curve.difficulty.columns)
    matrix = np.full((len(sizes), len(sizes)), np.nan)
    ax = axes_of(ax, 1.6 + 0.9 * len(sizes), 1.2 + 0.75 * len(sizes))
    low = min(0.0, float(frame["spearman"].min()))
    usual: dict[str, Any] = {"cmap": "Blues", "vmin": low, "vmax": 1.0, "aspect": "auto"}
    for row in frame.to_dict("records"):
        i, k = sizes.index(row["other"]), sizes.index(row["size"])
        matrix[i, k] = row["spearman"]
        text = f"{row['spearman']:.2f}\n{row['spearman_low']:.2f} to {row['spearman_high']:.2f}"
        light = (row["spearman"] - low) / (1 - low) > EASIEST_TEXT
        ax.text(k, i, text, ha="center", va="center", fontsize=8, color="white" if light else INK)
    ax.imshow(matrix, **(usual | style))
    names = [f"{int(size):,}" for size in sizes]
    ax.set_xticks(range(len(sizes) - 1), names[:-1])
    ax.set_yticks(range(1, len(sizes)), names[1:])
    ax.set_xlim(-0.5, len(sizes) - 1.5)
    ax.set_ylim(len(sizes) - 0.5, 0.5)
    ax.tick_params(length=0)
    label = _size_label(curve)
    return finish(ax, label, label, f"{curve.lm}: Spearman's correlation between sizes", keep=())


def _size_axes(ax: Axes | None, difficulty: pd.DataFrame) -> Axes:
    ax = axes_of(ax, 6.4, 4.2 + 0.02 * len(difficulty))
    sizes = difficulty.columns.to_numpy(dtype=float)
    ax.set_xscale("log")
    ax.set_xlim(sizes[0], sizes[-1])
    ax.xaxis.set_major_locator(FixedLocator(list(sizes)))
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    return ax


def _change(difficulty: pd.DataFrame) -> pd.Series:
    return difficulty.iloc[:, -1] - difficulty.iloc[:, 0]


def _coloured(difficulty: pd.DataFrame) -> set[Any]:
    """Return the editions drawn in colour: all if there are few, else the ones that change most."""
    change = _change(difficulty).abs().sort_values(ascending=False, kind="stable")
    return set(change.index if len(change) <= FEW else change.index[:MOST_NAMED])


def _in_order(difficulty: pd.DataFrame) -> list[Any]:
    return list(_change(difficulty).abs().sort_values(kind="stable").index)


def _colour(of_edition: pd.Series) -> str:
    return HARDER if of_edition.iloc[-1] > of_edition.iloc[0] else EASIER


def _legend(difficulty: pd.DataFrame) -> dict[str, Artist]:
    legend: dict[str, Artist] = {
        "becomes harder": Line2D([], [], color=HARDER, linewidth=1.4),
        "becomes easier": Line2D([], [], color=EASIER, linewidth=1.4),
    }
    if len(difficulty) > FEW:
        legend["changes less"] = Line2D([], [], color=GREY, linewidth=0.6)
    return legend


def _size_label(curve: "DifficultyCurve") -> str:
    of = {
        "bytes": "intents' worth of bytes",
        "characters": "intents' worth of characters",
        "intents": "training intents",
    }
    usual = "size of the training data" if curve.difficulty.columns.name == "size" else "step of the training"
    return of.get(curve.match, usual)


@takes("logs", pd.DataFrame, "the table of langdiff.lm.read_training_logs")
def plot_learning_curves(logs: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the dev bits per character of every model against its epochs; a dot marks the epoch that was kept.

    A pale line leads from where training has stopped, or is now, to the name; recipes differ in colour and dashes. Of
    more than twelve models, the three with fewest and the three with most bits of each recipe are drawn and named, over
    the median of all and a band from the 10th to the 90th percentile.

    Parameters
    ----------
    logs : DataFrame, one row per epoch
        ``edition``, ``lm``, ``seed``, ``epoch`` and ``dev_bits_per_character``, as
        `langdiff.lm.read_training_logs` gives them. One line per model, named by what tells it from the others.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If no model has finished an epoch.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> logs = pd.DataFrame({"edition": "eng", "lm": "char-small", "seed": 0, "epoch": [1, 2]})
    >>> ax = plot_learning_curves(logs.assign(dev_bits_per_character=[2.5, 1.9]), Figure().subplots())
    >>> ax.get_ylabel()
    'surprisal of the dev part (bits per character)'
    """
    if logs.empty:
        raise DataError("there is no learning curve to draw: no model has finished an epoch.")
    wanted = ("edition", "lm", "seed", "epoch", "dev_bits_per_character")
    if missing := [column for column in wanted if column not in logs]:
        raise DataError(f"logs have no column {missing[0]!r}; langdiff.lm.read_training_logs gives such a table.")
    models = {key: curve.sort_values("epoch") for key, curve in logs.groupby(["edition", "lm", "seed"], sort=False)}
    look_of = dict(zip(logs["lm"].unique(), cycle(zip(SERIES, LINES, strict=True)), strict=False))
    many = len(models) > FEW
    fewest = {key: float(curve["dev_bits_per_character"].min()) for key, curve in models.items()}
    shown = [key for lm in look_of for key in _at_ends({k: v for k, v in fewest.items() if k[1] == lm}, many)]
    ax = axes_of(ax, 6.4, 4.8 if many else 3.2 + 0.1 * len(models))
    last = int(logs["epoch"].max())
    names = _names(list(models))
    ends = {}
    for lm, (colour, _) in look_of.items() if many else ():
        of_lm = [curve.set_index("epoch")["dev_bits_per_character"] for key, curve in models.items() if key[1] == lm]
        _draw_band(ax, pd.concat(of_lm, axis=1), colour)
    for key in shown:
        curve = models[key]
        epochs, bits = curve["epoch"].to_numpy(), curve["dev_bits_per_character"].to_numpy()
        colour, line = look_of[key[1]]
        usual: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.0}
        ax.plot(epochs, bits, label=names[key], **(usual | style))
        ax.hlines(bits[-1], epochs[-1], last, color=GREY, linewidth=0.5)
        best = int(bits.argmin())
        (dot,) = ax.plot(epochs[best], bits[best], "o", color=INK, markersize=3.5, zorder=3, clip_on=False)
        ends[names[key]] = float(bits[-1])
    ax.set_xlim(1, last if last > 1 else 2)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_line_ends(ax, ends)
    legend: dict[str, Artist] = {
        str(lm): Line2D([], [], color=colour, linestyle=line) for lm, (colour, line) in look_of.items()
    }
    legend = (legend if len(legend) > 1 else {}) | {"fewest bits": dot}
    return finish(ax, "epoch", "surprisal of the dev part (bits per character)", legend=legend)


def _at_ends(lowest: dict[Any, float], many: bool) -> list[Any]:
    """Return the curves that are drawn: all, or of many those with the lowest and the highest minima."""
    ordered = sorted(lowest, key=lambda key: lowest[key])
    chosen = {*ordered[:AT_ENDS], *ordered[-AT_ENDS:]}
    return [key for key in lowest if not many or key in chosen]


def _draw_band(ax: Axes, curves: pd.DataFrame, colour: str) -> None:
    """Draw the median of curves, one column each, and a band from their 10th to their 90th percentile."""
    curves = curves.sort_index()
    low, middle, high = (curves.quantile(share, axis=1) for share in (0.1, 0.5, 0.9))
    places = curves.index.to_numpy(dtype=float)
    ax.fill_between(places, low, high, color=colour, alpha=0.15, linewidth=0)
    ax.plot(places, middle, color=colour, linewidth=2.4, alpha=0.6, zorder=1)


def _names(keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Name models by their edition, and by recipe and seed where these differ."""
    _, lms, seeds = (set(column) for column in zip(*keys, strict=True))
    names = {}
    for edition, lm, seed in keys:
        parts = [str(edition)] + [str(lm)] * (len(lms) > 1) + [f"seed {seed}"] * (len(seeds) > 1)
        names[edition, lm, seed] = " ".join(parts)
    return names


@takes("result", "lm dev_bits best_overall", "the result of langdiff.sweep_merges")
def plot_bpe_sweep(result: "SweepResult", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the dev bits of every edition against its merges; a dot marks each minimum.

    Parameters
    ----------
    result : SweepResult
        Result of `langdiff.sweep_merges`: one line per edition, in megabits, kilobits or bits. A dashed line shows
        the ratio that is best for all editions together. Of more than twelve editions, the three with fewest and
        the three with most bits are drawn and named, over the median and a band from the 10th to the 90th percentile.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    AttributeError
        If Matplotlib does not know a setting in `style`.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> bits = pd.DataFrame({"deu": [980.0, 900.0], "eng": [890.0, 850.0]}, index=[0.2, 0.4])
    >>> axes = plot_bpe_sweep(SimpleNamespace(lm="bpe-small", dev_bits=bits, best_overall=0.4))
    >>> axes.get_title(loc="left")
    'bpe-small: fewest bits over all editions at 0.4'
    """
    bits = result.dev_bits
    many = bits.shape[1] > FEW
    shown = _at_ends(bits.min().to_dict(), many)
    ax = axes_of(ax, 6.4, 4.8 if many else 3.2 + 0.1 * bits.shape[1])
    most = bits.max().max()
    scale, unit = (1e6, "Mbit") if most >= 1e6 else (1e3, "kbit") if most >= 1e3 else (1.0, "bits")
    ratios = bits.index.to_numpy(dtype=float)
    usual: dict[str, Any] = {"color": BLUE, "linewidth": 1.0}
    overall = ax.axvline(result.best_overall, color=RUST, linewidth=1, linestyle=DASHED, zorder=0)
    if many:
        _draw_band(ax, bits / scale, BLUE)
    for edition in shown:
        values = bits[edition].to_numpy() / scale
        ax.plot(ratios, values, label=str(edition), **(usual | style))
        lowest = int(np.argmin(values))
        (dot,) = ax.plot(ratios[lowest], values[lowest], "o", color=INK, markersize=3.5, zorder=3, clip_on=False)
    ax.set_xlim(ratios[0], ratios[-1] if len(ratios) > 1 else ratios[0] + 1)
    name_line_ends(ax, {str(edition): float(bits[edition].iloc[-1]) / scale for edition in shown})
    legend = {"fewest bits of an edition": dot, "over all editions": overall}
    title = f"{result.lm}: fewest bits over all editions at {result.best_overall:g}"
    return finish(
        ax, "merges per distinct word of the training text", f"surprisal of the dev part ({unit})", title, legend=legend
    )
