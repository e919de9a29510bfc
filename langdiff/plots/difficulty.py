"""Difficulties of editions with their intervals."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy.stats import pearsonr

from langdiff.base.result import opened
from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError
from langdiff.plots._axes import (
    DASHED,
    EASIER,
    FAINT,
    GREY,
    HARDER,
    INK,
    MARKERS,
    SERIES,
    axes_of,
    finish,
    is_kind,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._rows import (
    ALL_NAMED,
    Color,
    Order,
    arrange,
    colours_of,
    in_columns,
    name_line_ends,
    name_points,
    row_axes,
)
from langdiff.plots.systems import draw_cells
from langdiff.tables.effect_sources import EffectsLike, Sources, as_effects, effects_by_source
from langdiff.tables.effects import Effects
from langdiff.tables.pairs import rank_set
from langdiff.tables.rule import Scale, half_width

if TYPE_CHECKING:
    from langdiff.tables.two_way import TwoWay

ABOVE: dict[str, Any] = {  # to the unit above, and back; Matplotlib tries limits below −100 %, too
    "nats": (lambda nats: 100 * np.expm1(nats), lambda percent: np.log1p(np.maximum(percent, -99.9) / 100)),
    "log odds": (np.exp, lambda odds: np.log(np.maximum(odds, 1e-9))),
}
APART = 0.6  # of the distance of rows, which the intervals of one edition take
FOLLOWED = 25  # editions, of which `plot_line_follow` draws and names all
CHANGING = 12  # of more, those that are drawn in colour and named
NAMED = 16  # of more than ALL_NAMED editions, `plot_two_models` names as many, the most telling


def _crossed(source: Any) -> "TwoWay | None":
    """Return the levels of several systems in several languages; None of anything else."""
    if is_kind(source, "cells system_scale"):  # a `TwoWay`
        return cast("TwoWay", source)
    crossed = getattr(source, "columns", None) is not None and not isinstance(source, pd.DataFrame)
    return source.two_way if crossed and source.converged and getattr(source, "split", True) else None


@in_columns
def plot_difficulties(
    source: EffectsLike,
    ax: Axes | None = None,
    *,
    order: Order = "estimate",
    color: Color | str | None = None,
    **style: Any,
) -> Axes:
    """Draw difficulties with 95 % intervals, hardest on top.

    Where the joint covariance is known, the rank sets stand at the right, and a thin line shows the interval that holds
    for all editions together; see `langdiff.Pairs`.

    Parameters
    ----------
    source : DifficultyFit, Effects, Series, DataFrame or TwoWay
        Difficulties or other effects, as `langdiff.as_effects` takes them; points without bars where standard
        errors are not known. Of several systems, each language is a row, and each system has a marker; levels at chance
        are arrows from their bounds.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    order : {"estimate", "name", "family"}
        Order of the rows: by what is drawn, by name, or families together.
    color : {"family", "script", "macroarea"}, optional
        Column of ``edition_info`` that colours the editions: its seven most frequent groups, the others grey. Or a
        colour for all.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on: nats below and percent of the average edition above, log odds and odds, or another unit.

    Raises
    ------
    ConfigError
        If `order` or `color` needs a column that what is drawn does not have.
    DataError
        If there are no effects, or `source` cannot be read as effects.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> axes = plot_difficulties(mielke2019().difficulties("europarl")["bpe"])
    >>> axes.get_yticklabels()[-1].get_text(), axes.get_xlabel()
    ('de', 'difficulty (nats)')
    """
    source = opened(source)
    if (two_way := _crossed(source)) is not None:
        return draw_cells(two_way, ax, **style)
    effects = as_effects(source)
    rows = effects.to_frame().iloc[::-1]
    if rows.empty:
        raise DataError("nothing to draw: there are no effects.")
    rows = rows.loc[arrange(rows[effects.scale.quantity], order, source)]
    known = "rank_low" in rows
    ax = row_axes(ax, rows.index)
    dot = float(np.clip(0.4 * size_of(ax)[1] / len(rows), 2.2, 6))
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    x, y = rows[effects.scale.quantity].to_numpy(), np.arange(len(rows))
    half = _half(rows, effects)
    together = effects.against_mean().loc[rows.index].to_numpy() if known else None
    groups, legend = (None, None) if color is None else colours_of(rows.index, color, source)
    for part, colour in _by_colour(x, effects) if groups is None else _by_group(groups):
        usual: dict[str, Any] = {"fmt": "o", "color": colour, "markersize": dot, "elinewidth": dot / 3}
        usual["markeredgewidth"] = 0
        if together is not None:
            ax.hlines(y[part], together[part, 0], together[part, 1], colors=colour, linewidths=dot / 8, zorder=1)
        ax.errorbar(x[part], y[part], xerr=None if half is None else half[part], **(usual | style))
    _add_top_axis(ax, effects)
    if known:
        _add_ranks(ax, rows)
    interval = "" if half is None else ", with 95 % interval" + (" (thin: of all together)" if known else "")
    state = "" if effects.converged else ", NOT CONVERGED"
    label = f"{effects.scale.label}{interval}"
    raised = 3 * text_size(ax) if legend else 0.0  # above the second axis
    return finish(ax, label, title=effects.title + state, keep=["bottom"], legend=legend or False, raised=raised)


def _by_colour(estimates: Floats, effects: Effects) -> Iterator[tuple[Booleans, str]]:
    """Yield indicators of effects above and below the average, with their colours in all pictures."""
    harder: Booleans = estimates < 0 if effects.scale.quantity == "ability" else estimates > 0
    yield from ((part, colour) for part, colour in ((harder, HARDER), (~harder, EASIER)) if part.any())


def _by_group(colours: list[str]) -> Iterator[tuple[Booleans, str]]:
    """Yield indicators of the editions of each colour."""
    yield from ((np.array(colours) == colour, colour) for colour in dict.fromkeys(colours))


def _half(rows: pd.DataFrame, effects: Effects) -> Floats | None:
    """Return half the width of each interval; None without standard errors."""
    half: Floats = (rows["high"] - rows[effects.scale.quantity]).to_numpy()
    return None if np.isnan(half).all() else half


def _add_ranks(ax: Axes, rows: pd.DataFrame) -> None:
    """Write the rank sets of the rows that are named at the right edge of the axes."""
    right = ax.secondary_yaxis("right")
    places = ax.get_yticks()
    sets = [rank_set(*ends) for ends in zip(rows["rank_low"], rows["rank_high"], strict=True)]
    right.set_yticks(places, [sets[int(place)] for place in places], fontsize=ax.get_yticklabels()[0].get_fontsize())
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)
    right.set_ylabel("rank set", fontsize=0.9 * text_size(ax))


def _add_top_axis(ax: Axes, effects: Effects) -> None:
    if effects.scale.unit not in ABOVE:
        return  # scores have no second unit
    top = ax.secondary_xaxis("top", functions=ABOVE[effects.scale.unit])
    average = f"the average {effects.unit_name}"
    if effects.scale.unit == "nats":
        quantity = effects.scale.quantity
        label = "difference (%)" if quantity in ("difference", "rate") else f"more bits than {average} (%)"
    elif effects.scale.quantity == "difficulty":  # of items, for the average system
        label = "odds of failure"
    else:
        label = f"odds, relative to {average}"
    top.set_xlabel(label, fontsize=0.9 * text_size(ax))  # longer than the label below, in as much room
    top.tick_params(labelsize=text_size(ax))
    top.spines["top"].set_visible(False)


@takes("table", "tests differences", "a Table with differences, as langdiff.table returns it")
@in_columns
def plot_lm_differences(table: Any, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw differences of difficulties between language models with 95 % intervals, the largest on top.

    Parameters
    ----------
    table : Table
        Result of `langdiff.table`. Each language model that the first is compared with has a colour and a marker; where
        there is only one, the colour shows for which of the two an edition is harder.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on: nats below and percent above.

    Raises
    ------
    DataError
        If `table` is something else, or has no differences.

    Examples
    --------
    >>> import langdiff as ld
    >>> fits = [ld.fit(table) for table in ld.datasets.ntrex10()]
    >>> axes = plot_lm_differences(ld.table(dict(zip("AB", fits))))
    >>> axes.get_xlabel()
    'difficulty by A less that by B (nats), with 95 % interval'
    """
    if not len(table.tests):
        raise DataError("the table has no differences between fits: langdiff.table(fits, paired=True).")
    first, others = str(table.tests["one"].iloc[0]), list(table.tests["other"])
    own = table.differences[table.differences["kind"] == "edition"]
    by_other = {
        other: own[own["column"] == name].set_index("row")
        for other, name in zip(others, table.tests["column"], strict=True)
    }
    names = by_other[others[0]]["estimate"].sort_values(kind="stable").index
    ax = row_axes(ax, names)
    step = APART / len(others)
    dot = float(np.clip(0.4 * size_of(ax)[1] / len(names) / len(others) ** 0.5, 2.2, 6))
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    for place, other in enumerate(others):
        rows = by_other[other].reindex(names)
        x = rows["estimate"].to_numpy(dtype=float)
        half = half_width(rows["std_error"].to_numpy(), rows["df"].to_numpy(dtype=float))
        y = np.arange(len(names)) + step * ((len(others) - 1) / 2 - place)
        parts: Any = [(np.ones(len(x), bool), SERIES[place % len(SERIES)])]
        if len(others) == 1:
            parts = [(part, colour) for part, colour in ((x > 0, HARDER), (x <= 0, EASIER)) if part.any()]
        for part, colour in parts:
            usual: dict[str, Any] = {"fmt": MARKERS[place % len(MARKERS)], "color": colour, "markersize": dot}
            usual |= {"elinewidth": dot / 3, "markeredgewidth": 0, "label": f"against {other}"}
            ax.errorbar(x[part], y[part], xerr=half[part], **(usual | style))
    top = ax.secondary_xaxis("top", functions=ABOVE["nats"])
    top.set_xlabel(f"harder for {first} (%)", fontsize=0.9 * text_size(ax))
    top.tick_params(labelsize=text_size(ax))
    top.spines["top"].set_visible(False)
    other = others[0] if len(others) == 1 else "the other"
    title = f"{first} against {', '.join(others)}" + (", NOT CONVERGED" if table.warnings else "")
    label = f"difficulty by {first} less that by {other} (nats), with 95 % interval"
    several = len(others) > 1
    return finish(ax, label, title=title, keep=["bottom"], legend=several, raised=3 * text_size(ax) if several else 0)


def plot_two_models(
    source_x: EffectsLike, source_y: EffectsLike, ax: Axes | None = None, *, color: Color | str | None = None
) -> Axes:
    """Draw the difficulties under one language model against those under another.

    Editions on the dashed line are as hard for both; bars are 95 % intervals, where standard errors are known. Of
    more than 30 editions, only those farthest from the line and those at its ends are named.

    Parameters
    ----------
    source_x, source_y : DifficultyFit, Effects, Series or DataFrame
        Difficulties under the two language models, as `langdiff.as_effects` takes them. Editions that are in
        both are drawn, relative to their own average in either.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    color : {"family", "script", "macroarea"}, optional
        Column of ``edition_info`` of the first that colours the editions, as in `plot_difficulties`.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If fewer than two editions are in both sources.
    ConfigError
        If the two have different units or quantities, or `color` is a column that the first does not have.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> published = mielke2019().difficulties("europarl")
    >>> axes = plot_two_models(published["bpe"], published["char"])
    >>> axes.get_title(loc="left")
    "21 editions, Pearson's r = 0.760"
    """
    source_x, source_y = opened(source_x), opened(source_y)
    both = [as_effects(source_x), as_effects(source_y)]
    points, scale = side_by_side(both)
    names, values = list(points.index), points.to_numpy()  # (J, 2)
    halves = [_half(effects.to_frame().loc[names], effects) for effects in both]
    bars = np.column_stack([np.zeros(len(names)) if half is None else half for half in halves])
    ax = axes_of(ax, 5.6, 5.6)
    set_limits(ax, values - bars, values + bars)
    x, y = values.T
    groups, legend = (None, None) if color is None else colours_of(points.index, color, source_x)
    for part, colour in _by_colour(values.mean(axis=1), both[0]) if groups is None else _by_group(groups):
        wide, tall = (None if half is None else half[part] for half in halves)
        usual: dict[str, Any] = {"fmt": "o", "color": colour, "ecolor": f"{colour}66", "elinewidth": 0.8}
        ax.errorbar(x[part], y[part], xerr=wide, yerr=tall, markersize=4, markeredgewidth=0, zorder=2, **usual)
    ax.locator_params(nbins=6)
    order = None
    if len(names) > ALL_NAMED:
        telling = np.abs(values - values.mean(axis=0)).sum(axis=1) / 2 + 2 * np.abs(x - y)
        order = np.argsort(-telling)[:NAMED]
    line = np.linspace(*ax.get_xlim(), 100)
    size = 8.0 if len(names) <= 12 else 7.0
    name_points(ax, x, y, names, size=size, order=order, avoid=np.column_stack([line, line]))
    xlabel, ylabel = (f"{scale.quantity}{f' under {e.title}' if e.title else ''} ({scale.unit})" for e in both)
    r = float(pearsonr(x, y).statistic)
    return finish(ax, xlabel, ylabel, f"{len(names)} editions, Pearson's r = {r:.3f}", legend=legend or False)


def set_limits(ax: Axes, low: Floats, high: Floats) -> None:
    """Set the same limits for both axes, and draw the line of equal difficulty."""
    margin = 0.08 * float(np.nanmax(high) - np.nanmin(low)) or 0.01
    limits = (float(np.nanmin(low)) - margin, float(np.nanmax(high)) + margin)
    ax.plot(limits, limits, color=INK, linewidth=0.8, linestyle=DASHED, zorder=1)
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set(xlim=limits, ylim=limits, aspect="equal")


def side_by_side(sources: Sequence[Effects]) -> tuple[pd.DataFrame, Scale]:
    """Return the effects that all sources have, one column per source, relative to their average, and their scale."""
    scales = list(dict.fromkeys(effects.scale for effects in sources))
    if len(scales) > 1:
        kinds = ", ".join(f"{scale.quantity} in {scale.unit}" for scale in scales)
        raise ConfigError(f"effects on different scales cannot be drawn together: {kinds}.")
    estimates = [effects.estimate for effects in sources]
    table = pd.concat(estimates, axis=1, join="inner", keys=range(len(sources)))
    if len(table) < 2:
        raise DataError(f"all {len(sources)} sources share {len(table)} edition(s); at least two are needed.")
    # each source is relative to the average of its own editions; those drawn are to be relative to theirs
    return pd.DataFrame(scales[0].center(table.to_numpy()), index=table.index), scales[0]


def plot_line_follow(sources: Sources, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw difficulties under several language models side by side, one line per edition.

    The colour says whether an edition is harder under the last model than under the first. Of more than 25 editions,
    the 12 that change most are drawn in colour and named, by the absolute change divided by its standard error where
    that is known; the legend counts all that rise and fall.

    Parameters
    ----------
    sources : sequence or mapping of fits, Effects or Series; or DataFrame
        Difficulties from left to right. The labels are the names in a mapping, the names of language models in a
        sequence of fits, or the columns of a frame of difficulties in nats. Editions that all sources have are
        drawn, relative to their own average.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are fewer than two sources, or fewer than two editions in all of them.
    ConfigError
        If sources have different units or quantities.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> axes = plot_line_follow(mielke2019().difficulties("europarl")[["bpe", "char"]])
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['bpe', 'char']
    """
    named = effects_by_source(sources)
    if len(named) < 2:
        raise DataError(f"at least two sources are needed to join by lines; got {len(named)}.")
    table, scale = side_by_side([effects for _, effects in named])
    many = len(table) > FOLLOWED
    ax = axes_of(ax, min(1.8 + 1.6 * len(named), 7.1), 4.8 if many else max(3.2, 0.2 * len(table)))
    x = np.arange(len(named))
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    for place in range(len(named)):
        ax.axvline(place, color=FAINT, linewidth=0.8, zorder=0)
    change = table.iloc[:, -1] - table.iloc[:, 0]
    telling = _change_in_errors(change, named[0][1], named[-1][1]).abs().sort_values(ascending=False, kind="stable")
    shown = set(telling.index[:CHANGING] if many else table.index)
    usual: dict[str, Any] = {"linewidth": 1.0, "marker": "o", "markersize": 3.5, "clip_on": False}
    faint: dict[str, Any] = {"linewidth": 0.5, "color": GREY, "marker": "", "zorder": 1}
    for edition, row in zip(table.index, table.to_numpy(), strict=True):
        colour = HARDER if row[-1] > row[0] else EASIER
        of_line = {"color": colour} if edition in shown else faint
        ax.plot(x, row, label=str(edition), **(usual | of_line | style))
    ax.set_xlim(0, len(named) - 1)
    ax.set_xticks(x, [name for name, _ in named])
    ax.tick_params(axis="x", length=0)
    ends = table.iloc[:, -1][[edition in shown for edition in table.index]]
    name_line_ends(ax, dict(zip(map(str, ends.index), ends.tolist(), strict=True)))
    first, last = named[0][0], named[-1][0]
    words = (f"higher under {last}", f"higher under {first}")
    if many:
        words = (f"rises ({int((change > 0).sum())})", f"falls ({int((change <= 0).sum())})")
    legend = dict(zip(words, [Line2D([], [], color=colour) for colour in (HARDER, EASIER)], strict=True))
    if many:
        legend["changes less"] = Line2D([], [], color=GREY, linewidth=0.5)
    return finish(ax, ylabel=scale.label, keep=["left"], legend=legend)


def _change_in_errors(change: pd.Series, first: Effects, last: Effects) -> pd.Series:
    """Return changes divided by their standard errors, as if both fits were independent; as they are if unknown."""
    rows = change.index
    of_both = [np.diag(each.covariance.loc[rows, rows].to_numpy(dtype=float)) for each in (first, last)]
    variance = of_both[0] + of_both[1]
    return change / np.sqrt(variance) if np.isfinite(variance).all() and (variance > 0).all() else change
