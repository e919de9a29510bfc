"""Pictures of corpora: sizes, languages, native shares and the presence of intents."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._axes import BLUE, FAINT, GREY, RUST, axes_of, finish, plain_log_ticks, takes, text_size
from langdiff.plots._rows import Color, Order, arrange, colours_of, in_columns, name_rows, row_axes

if TYPE_CHECKING:
    from langdiff.tables.multitext import Multitext

_PIXELS = 2000  # of the picture in either direction, about as many as a screen or page shows
NAMED = 80  # editions; more names cannot be read
_MARKED = 300  # beginnings of books; where there are more, the intents are not in the order of books
_NAME_WIDTH = 0.042  # of a book, as a part of the axes


@takes("multitext", "presence intent_info", "a Multitext")
def plot_presence(multitext: "Multitext", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the presence matrix, one row per edition, the one with most intents on top.

    Parameters
    ----------
    multitext : Multitext
        Multitext to draw; no text is read. Intents go from left to right in their order. More than 2,000 of them
        are averaged in groups: the darker, the more intents of a group are there.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.imshow``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on, with marks where a book begins if ``intent_info`` has a column ``book`` and the intents
        are in the order of books.

    Raises
    ------
    DataError
        If there is no edition or no intent.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_presence(ld.read_frame(texts))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'deu']
    """
    have = multitext.presence.to_numpy()  # (I, J)
    if not have.size:
        raise DataError(f"nothing to draw: {multitext!r}.")
    counts = have.sum(axis=0)
    order = np.argsort(-counts, kind="stable")
    starts = np.unique(np.linspace(0, len(have), min(len(have), _PIXELS), endpoint=False).astype(int))
    widths = np.diff(np.append(starts, len(have)))
    share = (np.add.reduceat(have, starts, axis=0, dtype=np.int32) / widths[:, None]).T[order].astype(np.float32)
    rows = len(order)
    share = np.repeat(share, max(1, _PIXELS // rows), axis=0)  # or smoothing would blend one edition with the next
    ax = axes_of(ax, 8.0, max(1.2 + (0.14 * rows if rows <= NAMED else 5.0), 2.0))
    usual: dict[str, Any] = {
        "cmap": "Blues",
        "vmin": 0,
        "vmax": 1,
        "aspect": "auto",
        "interpolation": "antialiased",
        "extent": (0, len(have), rows - 0.5, -0.5),
    }
    ax.imshow(share, **(usual | style))
    if rows <= NAMED:
        name_rows(ax, multitext.presence.columns[order])
    else:
        ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.tick_params(axis="y", length=0 if rows <= NAMED else 3)
    if not ("book" in multitext.intent_info and mark_books(ax, multitext.intent_info["book"])):
        ax.xaxis.set_major_formatter("{x:,.0f}")
    title = f"{100 * counts.sum() / have.size:.1f} % of {have.size:,} cells present"
    across, down = f"{len(have):,} intents in their order", f"{rows:,} editions"
    return finish(ax, across, down, title, keep=[])


def mark_books(ax: Axes, book: pd.Series | Sequence[str]) -> bool:
    """Mark where books begin, and name as many as there is room for, long ones first; not if intents are shuffled."""
    given = pd.Series(book, dtype=object)
    names = given.where(given.notna(), "").to_numpy()
    starts = np.flatnonzero(np.append(True, names[1:] != names[:-1]))
    if len(starts) > _MARKED:
        return False
    lengths = np.diff(np.append(starts, len(names)))
    middles = starts + lengths / 2
    named: list[int] = []
    for k in np.argsort(-lengths, kind="stable"):
        if all(abs(middles[k] - middles[other]) > _NAME_WIDTH * len(names) for other in named):
            named.append(int(k))
    ax.set_xticks(starts, [""] * len(starts))
    ax.set_xticks(middles[named], [str(names[starts[k]]) for k in named], minor=True, fontsize=0.7 * text_size(ax))
    ax.tick_params(axis="x", which="major", length=5, color=GREY)
    ax.tick_params(axis="x", which="minor", length=0, pad=5)
    return True


@takes(
    "counts",
    (pd.Series, "presence intent_info"),
    "a Multitext, or the counts of langdiff.corpora.origin.languages_per_intent",
)
def plot_languages_per_intent(counts: "pd.Series | Multitext", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the number of intents by the number of languages that have them (Figure 7).

    Parameters
    ----------
    counts : Multitext, or Series indexed by number of languages
        Texts, or numbers of intents as `langdiff.corpora.origin.languages_per_intent` counts them.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.bar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there is no intent.

    Examples
    --------
    >>> axes = plot_languages_per_intent(pd.Series([0, 10, 30], index=[0, 1, 2]))
    >>> axes.get_title(loc="left")
    '75.0 % of 40 intents in all languages'
    """
    if not isinstance(counts, pd.Series):
        counts = _languages_per_intent(counts)
    total = int(counts.sum())
    if not total:
        raise DataError("nothing to draw: there is no intent.")
    share = 100 * counts.iloc[-1] / total
    counts = counts[counts.index > 0]
    ax = axes_of(ax, 6.4, 3.2)
    usual: dict[str, Any] = {"color": BLUE, "width": 0.8}
    ax.bar(counts.index, counts, **(usual | style))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlim(0.4, len(counts) + 0.6)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    title = f"{share:.1f} % of {total:,} intents in all languages"
    return finish(ax, "languages that have an intent", "intents", title)


def _languages_per_intent(multitext: "Multitext") -> pd.Series:
    """Count intents by the number of languages that have them, from 0 to all; editions without one stand alone."""
    language = multitext.edition_info["language"]
    language = language.where(language.notna(), language.index.to_series())
    have = multitext.presence.T.groupby(language.to_numpy()).any()
    return have.sum().value_counts().reindex(range(len(have) + 1), fill_value=0)


@takes("multitext", "presence intent_info", "a Multitext")
@in_columns
def plot_intents_per_edition(
    multitext: "Multitext",
    ax: Axes | None = None,
    *,
    order: Order = "estimate",
    color: Color | str | None = None,
    **style: Any,
) -> Axes:
    """Draw the number of intents of each edition, most on top (Figure 8).

    Parameters
    ----------
    multitext : Multitext
        Multitext to count; no text is read.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    order : {"estimate", "name", "family"}
        Order of the rows: by what is drawn, by name, or families together.
    color : {"family", "script", "macroarea"}, optional
        Column of ``edition_info`` that colours the editions: its seven most frequent groups, the others grey. Or a
        colour for all.
    **style
        Settings for ``Axes.barh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If `order` or `color` needs a column that what is drawn does not have.
    DataError
        If there is no edition.

    Examples
    --------
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_intents_per_edition(ld.read_frame(texts))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['deu', 'eng']
    """
    counts = multitext.presence.sum()
    counts = counts[arrange(counts, order, multitext)]
    colours, legend = (None, {}) if color is None else colours_of(counts.index, color, multitext)
    ax = _bars(counts, ax, ({} if colours is None else {"color": colours}) | style)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return finish(ax, f"intents, of {len(multitext.presence):,}", keep=["bottom"], legend=legend)


@takes(
    "share", pd.DataFrame, "the table of langdiff.corpora.native_share", columns=("intents", "native", "native_percent")
)
@in_columns
def plot_native_share(share: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the share of each edition first said in its language, largest on top (Figure 9).

    Parameters
    ----------
    share : DataFrame, one row per edition
        ``intents``, ``native`` and ``native_percent``, as `langdiff.corpora.native_share` gives them.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.barh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. The number of native intents is written beside each bar.

    Raises
    ------
    DataError
        If no edition has an intent.

    Examples
    --------
    >>> share = pd.DataFrame({"intents": [4, 4], "native": [1, 3], "native_percent": [25.0, 75.0]}, ["deu", "eng"])
    >>> axes = plot_native_share(share)
    >>> [text.get_text() for text in axes.texts]
    ['1', '3']
    """
    share = share[share["intents"] > 0].sort_values("native_percent", kind="stable")
    ax = _bars(share["native_percent"], ax, style)
    for place, (percent, native) in enumerate(zip(share["native_percent"], share["native"], strict=True)):
        beside: dict[str, Any] = {"xytext": (3, 0), "textcoords": "offset points", "va": "center", "fontsize": 7}
        ax.annotate(f"{native:,}", (percent, place), **beside)
    ax.margins(x=0.12)
    label = "intents first said in the language (% of those it has; beside the bar, their number)"
    return finish(ax, label, keep=["bottom"])


def _bars(values: pd.Series, ax: Axes | None, style: dict[str, Any]) -> Axes:
    if values.empty:
        raise DataError("nothing to draw: there is no edition with an intent.")
    ax = row_axes(ax, values.index, guides=False)
    usual: dict[str, Any] = {"color": BLUE, "height": 0.75}
    ax.barh(range(len(values)), values, **(usual | style))
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    return ax


@takes("sizes", (pd.DataFrame, "edition_sizes()"), "a Multitext, or the table of multitext.edition_sizes()")
@in_columns
def plot_corpus_sizes(
    sizes: "pd.DataFrame | Multitext", ax: Axes | None = None, *, order: Order = "estimate", **style: Any
) -> Axes:
    """Draw words and characters of each edition on a logarithmic scale, most characters on top.

    Parameters
    ----------
    sizes : Multitext, or DataFrame with one row per edition
        Texts, which are read; or the table of ``multitext.edition_sizes()``: ``intents``, ``words`` (between white
        space, so that they are not meaningful where a script has none) and ``characters``.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    order : {"estimate", "name", "family"}
        Order of the rows: by characters, by name, or families together.
    **style
        Settings for ``Axes.plot``, for words and characters alike, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Sizes are comparable between editions only if all have the same intents; the title says
        whether they have the same number.

    Raises
    ------
    ConfigError
        If families are not known, by which rows are to stand.
    DataError
        If no edition has any text, or a column is missing.

    Examples
    --------
    >>> sizes = pd.DataFrame({"intents": [2, 2], "words": [9, 7], "characters": [40, 45]}, index=["eng", "deu"])
    >>> axes = plot_corpus_sizes(sizes)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'deu']
    """
    if not isinstance(sizes, pd.DataFrame):
        sizes = sizes.edition_sizes()
    missing = [name for name in ("intents", "words", "characters") if name not in sizes]
    if missing:
        raise DataError(f"sizes has no column {missing[0]!r}; multitext.edition_sizes() gives such a table.")
    rows = sizes[sizes["characters"] > 0]
    if rows.empty:
        raise DataError("nothing to draw: no edition has any text.")
    rows = rows.loc[arrange(rows["characters"], order, sizes)]
    ax = row_axes(ax, rows.index, guides=False)
    y = np.arange(len(rows))
    ax.hlines(y, rows["words"], rows["characters"], colors=FAINT, linewidths=0.8, zorder=0)
    for name, colour in (("words", RUST), ("characters", BLUE)):
        usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 3.5, "color": colour}
        ax.plot(rows[name], y, label=name, **(usual | style))
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    few, many = rows["intents"].min(), rows["intents"].max()
    same = f"{many:,} intents" if few == many else f"{few:,} to {many:,} intents: not the same texts"
    title = f"{len(rows):,} editions, {same}"
    return finish(ax, "size of the edition (logarithmic)", title=title, keep=["bottom"], legend=True)
