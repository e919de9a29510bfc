"""Which edition has which intent (Mielke et al. 2019, Figure 10)."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import GREY, axes_of, finish, name_rows, text_size

_PIXELS = 2000  # of the picture in either direction, about as many as a screen or page shows
NAMED = 80  # editions; more names cannot be read
_MARKED = 300  # beginnings of books; where there are more, the intents are not in the order of books
_NAME_WIDTH = 0.042  # of a book, as a part of the axes


class HasPresence(Protocol):
    """What is drawn of a `langdiff.Multitext`."""

    @property
    def presence(self) -> pd.DataFrame:
        """Whether an edition (column) has an intent (row)."""

    @property
    def intent_info(self) -> pd.DataFrame:
        """What is known of intents, such as their ``book``."""


@takes("multitext", HasPresence, "a Multitext")
def plot_presence(multitext: HasPresence, ax: Axes | None = None, **style: Any) -> Axes:
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
    if not ("book" in multitext.intent_info and _mark_books(ax, multitext.intent_info["book"])):
        ax.xaxis.set_major_formatter("{x:,.0f}")
    title = f"{100 * counts.sum() / have.size:.1f} % of {have.size:,} cells present"
    across, down = f"{len(have):,} intents in their order", f"{rows:,} editions"
    return finish(ax, across, down, title, keep=[])


def _mark_books(ax: Axes, book: pd.Series) -> bool:
    """Mark where books begin, and name as many as there is room for, long ones first; not if intents are shuffled."""
    names = book.astype(object).where(book.notna(), "").to_numpy()
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
