"""How large each edition is (Mielke et al. 2019, Figure 11)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WORDS, CHARACTERS, FAINT = "#b5532a", "#2a6f97", "#d5d5d5"


def plot_corpus_sizes(sizes: pd.DataFrame, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw words and characters of each edition on a logarithmic scale, most characters on top.

    Parameters
    ----------
    sizes : DataFrame, one row an edition
        As ``multitext.edition_sizes()`` gives it: ``intents``, ``words`` (between white space, so that they say
        nothing where a script has none) and ``characters``.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.plot`` for both, over the defaults.

    Returns
    -------
    Axes
        Sizes are comparable between editions only if all have the same intents; the title says so if not.

    Raises
    ------
    DataError
        If there is no edition with text, or a column is not there.

    Examples
    --------
    >>> sizes = pd.DataFrame({"intents": [2, 2], "words": [9, 7], "characters": [40, 45]}, index=["eng", "deu"])
    >>> axes = plot_corpus_sizes(sizes)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'deu']
    >>> axes.figure.clear()
    """
    missing = [name for name in ("intents", "words", "characters") if name not in sizes]
    if missing:
        raise DataError(f"sizes has no column {missing[0]!r}; multitext.edition_sizes() gives such a table.")
    rows = sizes[sizes["characters"] > 0].sort_values("characters", kind="stable")
    if rows.empty:
        raise DataError("nothing to draw: no edition has any text.")
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, max(2.0, 1.1 + 0.15 * len(rows))), layout="constrained")[1]
    y = np.arange(len(rows))
    ax.hlines(y, rows["words"], rows["characters"], colors=FAINT, linewidths=0.8, zorder=0)
    for name, colour in (("words", WORDS), ("characters", CHARACTERS)):
        usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "markersize": 3.5, "color": colour}
        ax.plot(rows[name], y, label=name, **(usual | style))
    ax.set_xscale("log")
    ax.set_yticks(y, [str(name) for name in rows.index], fontsize=8 if len(rows) <= 40 else 6)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.set_xlabel("size of the edition, logarithmic")
    few, many = rows["intents"].min(), rows["intents"].max()
    same = f"{many:,} intents" if few == many else f"{few:,} to {many:,} intents: not the same texts"
    ax.set_title(f"{len(rows):,} editions, {same}", loc="left", fontsize=11)
    ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0, ncols=2, handletextpad=0)
    ax.spines[["right", "top", "left"]].set_visible(False)
    return ax
