"""Shares of the variance of difficulties, what lies behind them, and power over the number of intents."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.plots._axes import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    INK,
    LINE,
    MARKERS,
    RUST,
    SERIES,
    VIOLET,
    axes_of,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._rows import name_line_ends, row_axes
from langdiff.plots.difficulty import plot_difficulties

if TYPE_CHECKING:
    from langdiff.regression.components.difficulty_shares import DifficultyShares
    from langdiff.regression.components.planning import Plan


LANGUAGE, CORPUS = "language", "corpus"
WORDS = {LANGUAGE: "the language's own", "lm": "language model", "edition": "the edition's own", "rest": "the rest"}
HIGHER = "all others"
COLOURS = {LANGUAGE: BLUE, "language:corpus": RUST, "language:lm": GREEN, "language:size": VIOLET}
WRITTEN = 0.04  # share of the narrowest part of a bar in which its number has room
COLOURED = 6  # languages whose ranks move most
SPREAD = 0.6  # of the height of a row, over which the pairs of tables are placed
FILLS = ("", "white", "")  # of marks by corpus, "" their own colour, so that they differ in grey, too
FIRST, POINTS = 3, 60
HEIGHTS = (0.3, 0.7)  # of the names of the first and the last curve, so that names of close curves are apart


@takes("shares", (Mapping, "difficulties facets"), "the result of langdiff.difficulty_shares")
def plot_shares(
    shares: "DifficultyShares | Mapping[str, DifficultyShares]",
    kind: str = "shares",
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw what share of the differences between languages is their own, or what lies behind it.

    Parameters
    ----------
    shares : DifficultyShares, or mapping from str to DifficultyShares
        Result of `langdiff.difficulty_shares`; for ``"stacked"`` several by name, one bar each.
    kind : {"shares", "stacked", "ranks", "correlations", "leaderboard", "texts", "editions"}
        The share of every component with its interval of 95 %; the same as one bar; the rank of every language in each
        corpus, at its mean over the other facets, in colours those whose ranks move most, with the range over the
        tables of a corpus; the correlations of pairs of corpora with their intervals, one mark for each choice of the
        other facets; the stable difficulties with their rank sets, as `plot_difficulties` draws them; how well a text
        of one corpus agrees with one of another, of one corpus the levels of its first facet; or the difficulty of
        each edition, one dot each, languages in the order of their means over corpora.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings that override the defaults: for ``Axes.barh`` (shares, stacked), ``Axes.plot`` (ranks, editions),
        ``Axes.errorbar`` (correlations, leaderboard) or ``Axes.imshow`` (texts).

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If there is no such kind.
    DataError
        If `shares` is another object, or there are no two corpora, as ranks and correlations need.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(200, 10, seed=1).surprisals
    >>> tables = {"first": table.sel(intents=table.intents[:100]), "second": table.sel(intents=table.intents[100:])}
    >>> shares = ld.difficulty_shares(tables, languages={edition: edition for edition in table.editions})
    >>> [label.get_text() for label in plot_shares(shares).get_yticklabels()]
    ['× corpus', "the language's own"]
    >>> [label.get_text() for label in plot_shares(shares, "ranks").get_xticklabels()]
    ['first', 'second']
    """
    if kind not in KINDS:
        raise ConfigError(f"{option('kind')} is one of {listing(KINDS)}; got {kind!r}.")
    if isinstance(shares, Mapping):
        if kind != "stacked":
            raise DataError("plot_shares draws several results as 'stacked' only; give one, not a mapping.")
        wrong = [value for value in shares.values() if not hasattr(value, "difficulties")]
        if wrong or not shares:
            given = f"one is a {type(wrong[0]).__name__}" if wrong else "there are none"
            raise DataError(f"plot_shares draws results of langdiff.difficulty_shares; {given}.")
    return KINDS[kind](shares, ax, style)


def _draw_shares(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    frame = shares.to_frame().iloc[::-1]
    ax = row_axes(ax, [_named(str(name)) for name in frame.index], guides=False)
    percent, rows = 100 * frame[["share", "low", "high"]].to_numpy(dtype=float), np.arange(len(frame))
    colours = [BLUE if name == LANGUAGE else GREY for name in frame.index]
    usual: dict[str, Any] = {"color": colours, "height": 0.6}
    ax.barh(rows, percent[:, 0], **(usual | style))
    ax.hlines(rows, percent[:, 1], percent[:, 2], color=INK, linewidth=1.2)
    for row, (share, _, high) in zip(rows, percent, strict=True):
        ax.annotate(f"{share:.0f} %", (max(share, high), row), (4, 0), textcoords="offset points", va="center")
    ax.set_xlim(0, min(100, percent.max() + 12))
    languages, tables = shares.difficulties.shape
    title = f"What distinguishes {languages} languages in {tables} tables"
    return finish(ax, xlabel="share of the variance of difficulties (%)", title=title)


def _draw_stacked(shares: Any, ax: Axes | None, style: dict[str, Any]) -> Axes:
    named = dict(shares) if isinstance(shares, Mapping) else {f"{len(shares.difficulties)} languages": shares}
    parts = pd.DataFrame({name: _parts(each.to_frame()["share"]) for name, each in named.items()}).fillna(0.0)
    parts = parts.iloc[:, ::-1]  # the first on top
    ax = row_axes(ax, parts.columns, guides=False)
    rows, left = np.arange(len(parts.columns)), np.zeros(len(parts.columns))
    size = 0.9 * text_size(ax)
    roomy = size_of(ax)[1] > LINE * size * len(rows)
    drawn: dict[str, Any] = {}
    for component, values in parts.iterrows():
        usual: dict[str, Any] = {"color": COLOURS.get(str(component), GREY), "edgecolor": "white", "height": 0.6}
        widths = 100 * values.to_numpy(dtype=float)
        name = HIGHER if component == HIGHER else _named(str(component))
        drawn[name] = ax.barh(rows, widths, left=left, **(usual | style))
        for row, width, start in zip(rows, widths, left, strict=True):
            if roomy and width >= 100 * WRITTEN:
                place = (start + width / 2, row)
                ax.annotate(f"{width:.0f}", place, ha="center", va="center", color="white", fontsize=size)
        left += widths
    ax.set_xlim(0, 100)
    return finish(ax, "share of the variance of difficulties (%)", title="", legend=drawn, keep=["bottom"])


def _parts(share: pd.Series) -> pd.Series:
    """Return the shares of the language and of its interactions with one facet, and the sum of all others."""
    first = [name for name in share.index if str(name).count(":") <= 1 and name != "rest"]
    rest = share.drop(index=first)
    found: pd.Series = pd.concat([share[first], pd.Series({HIGHER: rest.sum()} if len(rest) else {}, dtype=float)])
    return found


def _draw_ranks(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    corpora = _corpora(shares)
    ranks = shares.difficulties.T.groupby(corpora, sort=False).mean().T.rank(ascending=False, method="first")
    each = shares.difficulties.rank(ascending=False, method="first")
    lowest, highest = (getattr(each.T.groupby(corpora, sort=False), side)().T for side in ("min", "max"))
    moves = ranks.max(axis=1) - ranks.min(axis=1)
    coloured = list(moves.sort_values(ascending=False, kind="stable").index[:COLOURED])
    ax = axes_of(ax, 5.4, max(3.6, 1.2 + 0.19 * len(ranks)))
    places = np.arange(ranks.shape[1])
    ax.set_ylim(len(ranks) + 0.7, 0.3)
    ax.set_xlim(-0.15, places[-1])
    for language, row in ranks.iterrows():
        place = coloured.index(language) if language in coloured else None
        colour = GREY if place is None else SERIES[place]
        usual: dict[str, Any] = {"color": colour, "linewidth": 0.7 if place is None else 1.6, "zorder": 1}
        if place is not None:
            usual |= {"marker": MARKERS[place], "markersize": 4, "zorder": 3}
            reach = lowest.loc[language].to_numpy() - 0.3, highest.loc[language].to_numpy() + 0.3
            ax.vlines(places, *reach, color=colour, linewidth=5, alpha=0.25, zorder=2)
        ax.plot(places, row.to_numpy(), clip_on=False, **(usual | style))
    name_line_ends(ax, {str(language): float(rank) for language, rank in ranks.iloc[:, -1].items()})
    ax.set_xticks(places, list(ranks.columns))
    return finish(ax, "", "rank (1 = hardest)", "Ranks of the same languages in other corpora", keep=["left"])


def _draw_correlations(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    _corpora(shares)
    table = shares.correlations
    others = [name for name in shares.facets if name != CORPUS]
    table = table.assign(pair=table["one"] + " – " + table["other"], choice=table[others].agg(", ".join, axis=1))
    pairs, choices = list(dict.fromkeys(table["pair"])), list(dict.fromkeys(table["choice"]))
    counts = table.groupby("pair", sort=False)["n"].max()
    row_of = {pair: len(pairs) - 1 - place for place, pair in enumerate(pairs)}
    ax = row_axes(ax, [f"{pair} (n = {counts[pair]})" for pair in reversed(pairs)], 6.4, guides=False)
    shifts = SPREAD * (0.5 - (np.arange(len(choices)) + 0.5) / len(choices))
    few = len(choices) <= len(SERIES)
    for number, choice in enumerate(choices):
        rows = table[table["choice"] == choice]
        usual: dict[str, Any] = {"linestyle": "none", "markersize": 4.5, "linewidth": 1.1}
        usual |= {"color": SERIES[number] if few else INK, "marker": MARKERS[number] if few else "o"}
        r, low, high = rows[["pearson", "low", "high"]].to_numpy(dtype=float).T
        reach = [r - low, high - r]
        places = rows["pair"].map(row_of).to_numpy() + shifts[number]
        ax.errorbar(r, places, xerr=reach, label=choice, **(usual | style))
    ax.set_xlim(min(0.0, float(table["low"].min())), 1)
    label = "correlation of difficulties, with 95 % interval"
    return finish(ax, label, title="Do corpora agree?", keep=["bottom"], legend=few and bool(others))


def _draw_leaderboard(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    return plot_difficulties(shares.stable, ax, **style)


def _draw_texts(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    names = [str(name) for name in shares.facets if shares.facets[name].nunique() > 1]
    facet = CORPUS if CORPUS in names else names[0]
    table = shares.texts(facet)
    values = table.to_numpy(dtype=float)
    ax = axes_of(ax, 1.6 + 0.9 * len(table), 1.2 + 0.8 * len(table))
    usual: dict[str, Any] = {"cmap": "Greys", "vmin": 0.0, "vmax": 2.0, "aspect": "auto"}  # numbers stay legible
    ax.imshow(values, **(usual | style))
    for (row, column), value in np.ndenumerate(values):
        text = f"{value:.2f}" if np.isfinite(value) else "–"
        ax.annotate(text, (column, row), ha="center", va="center", color=INK, fontsize=1.2 * text_size(ax))
    ax.set_xticks(range(len(table)), list(table.columns))
    ax.set_yticks(range(len(table)), list(table.index))
    ax.tick_params(length=0)
    what = "corpora" if facet == CORPUS else f"values of {facet}"
    return finish(ax, "", "", f"How well texts of two {what} agree on difficulty", keep=[])


def _draw_editions(shares: "DifficultyShares", ax: Axes | None, style: dict[str, Any]) -> Axes:
    table = shares.editions
    corpora = list(dict.fromkeys(table[CORPUS]))
    means = table.groupby([LANGUAGE, CORPUS])["difficulty"].mean().groupby(level=LANGUAGE).mean().sort_values()
    row_of = {language: row for row, language in enumerate(means.index)}
    ax = row_axes(ax, list(means.index))
    shifts = SPREAD * (0.5 - (np.arange(len(corpora)) + 0.5) / len(corpora)) if len(corpora) > 1 else np.zeros(1)
    for place, corpus in enumerate(corpora):
        own = table[table[CORPUS] == corpus]
        percent = 100 * np.expm1(own["difficulty"].to_numpy(dtype=float))
        rows = own[LANGUAGE].map(row_of).to_numpy(dtype=float) + shifts[place]
        usual: dict[str, Any] = {"marker": MARKERS[place % len(MARKERS)], "color": SERIES[place % len(SERIES)]}
        usual |= {
            "linestyle": "none",
            "markersize": 3.6,
            "markerfacecolor": FILLS[place % len(FILLS)] or usual["color"],
        }
        ax.plot(percent, rows, label=str(corpus), **(usual | style))
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    title = f"{len(table)} editions in {len(means)} languages"
    return finish(ax, "more bits than the average edition of the corpus (%)", title=title, keep=["bottom"], legend=True)


def _corpora(shares: "DifficultyShares") -> pd.Series:
    """Return the corpus of each table."""
    corpora: pd.Series = shares.facets[CORPUS]
    if corpora.nunique() < 2:
        raise DataError("plot_shares draws ranks and correlations of at least two corpora; all tables are of one.")
    return corpora


KINDS: dict[str, Callable[[Any, Axes | None, dict[str, Any]], Axes]] = {
    "shares": _draw_shares,
    "stacked": _draw_stacked,
    "ranks": _draw_ranks,
    "correlations": _draw_correlations,
    "leaderboard": _draw_leaderboard,
    "texts": _draw_texts,
    "editions": _draw_editions,
}


def _named(component: str) -> str:
    """Return the name of a component on an axis."""
    first, *facets = component.split(":")
    if first == LANGUAGE and facets:
        return " ".join(f"× {WORDS.get(name, name)}" for name in facets)
    return " × ".join([WORDS[first], *(WORDS.get(name, name) for name in facets)])


@takes("plan", "frame percent power()", "a Plan, as langdiff.plan returns it")
def plot_power(plan: "Plan", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the power over the number of intents, one curve per difference in percent.

    Parameters
    ----------
    plan : Plan
        Result of `langdiff.plan`. A line shows the power that was asked for.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the curves, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If `plan` is something else.
    AttributeError
        If Matplotlib's lines do not have a setting.

    Examples
    --------
    >>> import langdiff as ld
    >>> axes = plot_power(ld.plan(5, noise=0.17))
    >>> axes.get_ylabel()
    'power'
    """
    ax = axes_of(ax, 6.0, 4.2)
    counts = plan.frame["n_documents"]
    known = counts[np.isfinite(counts)]
    most = 2 * float(known.max()) if len(known) else 1e5
    documents = np.unique(np.geomspace(FIRST, max(most, 10 * FIRST), POINTS).round())
    heights = np.linspace(*HEIGHTS, len(plan.frame))
    for percent, colour, height in zip(plan.frame.index, SERIES[: len(MARKERS)], heights, strict=False):
        power = np.array([plan.power(count, percent) for count in documents])
        usual: dict[str, Any] = {"color": colour, "linewidth": 2.0 if percent == plan.percent else 1.2}
        ax.plot(documents * plan.per_document, power, **(usual | style))
        place = min(int(np.searchsorted(power, height)), len(power) - 1)  # the end of a curve that stays below
        ax.annotate(
            f"{percent:g} %",
            (documents[place] * plan.per_document, power[place]),
            ha="center" if power[place] >= height else "right",
            va="center",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )
    ax.axhline(plan.wanted, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(documents[0] * plan.per_document, documents[-1] * plan.per_document)
    ax.set_ylim(0, 1.02)
    return finish(ax, "intents (logarithmic)", "power")
