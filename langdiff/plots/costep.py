"""Languages an intent, intents a language, and how many natively (Mielke et al. 2019, Figures 7 to 9)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.corpora.edition_info import EditionInfo
from langdiff.corpora.origin import languages_per_intent, native_share
from langdiff.errors import DataError
from langdiff.multitext import Multitext

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BAR, FAINT = "#2a6f97", "#d5d5d5"


def plot_languages_per_intent(multitext: Multitext, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw how many intents are there in how many languages (Figure 7).

    Parameters
    ----------
    multitext : Multitext
        What to count; no text is read. Several editions in one language count once.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.bar``, over the defaults.

    Returns
    -------
    Axes
    """
    counts = languages_per_intent(multitext).loc[1:]
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")[1]
    usual: dict[str, Any] = {"color": BAR, "width": 0.8}
    ax.bar(counts.index, counts, **(usual | style))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlim(0.4, len(counts) + 0.6)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel("languages that have an intent")
    ax.set_ylabel("intents")
    complete = counts.iloc[-1] if len(counts) else 0
    everywhere = 100 * complete / max(len(multitext), 1)
    ax.set_title(f"{everywhere:.1f} % of {len(multitext):,} intents in all languages", loc="left", fontsize=11)
    ax.spines[["right", "top"]].set_visible(False)
    return ax


def plot_intents_per_edition(multitext: Multitext, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw how many intents each edition has, most on top (Figure 8).

    Parameters
    ----------
    multitext : Multitext
        What to count; no text is read.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.barh``, over the defaults.

    Returns
    -------
    Axes
    """
    ax = _bars(multitext.presence.sum(), ax, style)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(f"intents, of {len(multitext):,}")
    return ax


def plot_native_share(
    multitext: Multitext,
    original_language: pd.Series | None = None,
    edition_info: EditionInfo | None = None,
    ax: "Axes | None" = None,
    **style: Any,
) -> "Axes":
    """Draw which part of each edition was first said in its language, most on top (Figure 9).

    Parameters
    ----------
    multitext, original_language, edition_info
        See `langdiff.corpora.native_share`, also for the errors.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.barh``, over the defaults.

    Returns
    -------
    Axes
        The number of native intents stands beside each bar.

    Raises
    ------
    DataError
        If no edition has an intent.
    """
    share = native_share(multitext, original_language, edition_info)
    share = share[share["intents"] > 0]
    if share.empty:
        raise DataError(f"nothing to draw: {multitext!r}.")
    ax = _bars(share["native_percent"], ax, style)
    order = share["native_percent"].sort_values(kind="stable").index
    for place, native in enumerate(share["native"][order]):
        ax.annotate(
            f"{native:,}",
            (share["native_percent"][order[place]], place),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            fontsize=7,
        )
    ax.margins(x=0.12)
    ax.set_xlabel("intents first said in the language (% of those it has; beside the bar, their number)")
    return ax


def _bars(values: pd.Series, ax: "Axes | None", style: Mapping[str, Any]) -> "Axes":
    rows = values.sort_values(kind="stable")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, max(1.6, 0.9 + 0.18 * len(rows))), layout="constrained")[1]
    y = np.arange(len(rows))
    usual: dict[str, Any] = {"color": BAR, "height": 0.75}
    ax.barh(y, rows, **(usual | dict(style)))
    ax.set_yticks(y, [str(name) for name in rows.index], fontsize=8 if len(rows) <= 40 else 6)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.grid(axis="x", color=FAINT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.spines[["right", "top", "left"]].set_visible(False)
    return ax
