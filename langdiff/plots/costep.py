"""Languages per intent, intents per edition, and how many of them native (Mielke et al. 2019, Figures 7 to 9)."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, FAINT, axes_of, finish, row_axes
from langdiff.plots.presence import HasPresence


@takes("counts", pd.Series, "the counts of langdiff.corpora.origin.languages_per_intent")
def plot_languages_per_intent(counts: pd.Series, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw how many intents are there in how many languages (Figure 7).

    Parameters
    ----------
    counts : Series, indexed by number of languages
        Number of intents, as `langdiff.corpora.origin.languages_per_intent` counts them.
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


@takes("multitext", HasPresence, "a Multitext")
def plot_intents_per_edition(multitext: HasPresence, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw how many intents each edition has, most on top (Figure 8).

    Parameters
    ----------
    multitext : Multitext
        Multitext to count; no text is read.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.barh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
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
    ax = _bars(multitext.presence.sum(), ax, style)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    return finish(ax, f"intents, of {len(multitext.presence):,}", keep=["bottom"])


@takes(
    "share", pd.DataFrame, "the table of langdiff.corpora.native_share", columns=("intents", "native", "native_percent")
)
def plot_native_share(share: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw which part of each edition was first said in its language, most on top (Figure 9).

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
    rows = values.sort_values(kind="stable")
    ax = row_axes(ax, rows.index, guides=False)
    usual: dict[str, Any] = {"color": BLUE, "height": 0.75}
    ax.barh(range(len(rows)), rows, **(usual | style))
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    return ax
