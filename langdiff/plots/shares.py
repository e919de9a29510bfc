"""Shares of the variance of difficulties."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from langdiff.plots._axes import BLUE, GREY, INK, finish, row_axes, takes

if TYPE_CHECKING:
    from langdiff.regression.components.difficulty_shares import DifficultyShares

WORDS = {"language": "the language's own", "lm": "language model"}


@takes("shares", "difficulties facets", "the result of langdiff.difficulty_shares")
def plot_shares(shares: "DifficultyShares", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the share of every component of the differences between languages, with its interval of 95 %.

    Parameters
    ----------
    shares : DifficultyShares
        Result of `langdiff.difficulty_shares`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.barh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If `shares` is another object.

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(200, 10, seed=1).surprisals
    >>> tables = {"first": table.sel(intents=table.intents[:100]), "second": table.sel(intents=table.intents[100:])}
    >>> shares = ld.difficulty_shares(tables, languages={edition: edition for edition in table.editions})
    >>> [label.get_text() for label in plot_shares(shares).get_yticklabels()]
    ['× corpus', "the language's own"]
    """
    frame = shares.to_frame().iloc[::-1]
    ax = row_axes(ax, [_named(str(name)) for name in frame.index], guides=False)
    percent, rows = 100 * frame[["share", "low", "high"]].to_numpy(dtype=float), np.arange(len(frame))
    colours = [BLUE if name == "language" else GREY for name in frame.index]
    usual: dict[str, Any] = {"color": colours, "height": 0.6}
    ax.barh(rows, percent[:, 0], **(usual | style))
    ax.hlines(rows, percent[:, 1], percent[:, 2], color=INK, linewidth=1.2)
    for row, (share, _, high) in zip(rows, percent, strict=True):
        ax.annotate(f"{share:.0f} %", (max(share, high), row), (4, 0), textcoords="offset points", va="center")
    ax.set_xlim(0, min(100, percent.max() + 12))
    languages, tables = shares.difficulties.shape
    finish(
        ax,
        xlabel="share of the variance of difficulties (%)",
        title=f"What distinguishes {languages} languages in {tables} tables",
    )
    return ax


def _named(component: str) -> str:
    """Return the name of a component on an axis."""
    first, *facets = component.split(":")
    return " ".join(f"× {WORDS.get(name, name)}" for name in facets) if facets else WORDS[first]
