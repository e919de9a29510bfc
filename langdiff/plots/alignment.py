"""Picture of a check of alignment: how well the texts of each document fit, by edition."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from langdiff.errors import DataError
from langdiff.plots._axes import FAINT, GREY, INK, add_colorbar, axes_of, finish, takes
from langdiff.plots._rows import name_rows
from langdiff.plots.corpora import mark_books

if TYPE_CHECKING:
    from langdiff.corpora.alignment.result import Alignment

_MOST = 60  # editions that are drawn
_BOUND = 1.5  # nats; most documents fit by one
_NARROWEST = 0.006  # width of an outline, as a part of the axes
_CHAPTER = re.compile(r"([0-9A-Z]{3}) [0-9]+")


@takes("alignment", "fit passages editions", "the result of langdiff.corpora.check_alignment")
def plot_alignment(alignment: "Alignment", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw how well the texts of every document fit those of the other editions, and outline passages that do not.

    Parameters
    ----------
    alignment : Alignment
        Result of `langdiff.corpora.check_alignment`. Editions with passages that do not fit come first, then those that
        fit least; at most 60 are drawn.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.imshow``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Passages in step but of another length are outlined in grey.

    Raises
    ------
    DataError
        If there is no document.

    Examples
    --------
    >>> import langdiff as ld
    >>> multitext = ld.corpora.synthesize(300, 4, seed=1).multitext
    >>> axes = plot_alignment(ld.corpora.check_alignment(multitext))
    >>> axes.get_title(loc="left")
    'no passage of 4 editions is out of step'
    """
    if not alignment.fit.size:
        raise DataError("nothing to draw: there is no edition or no document.")
    worst = alignment.editions["worst"]
    order = np.lexsort([alignment.fit.mean(axis=1).to_numpy(), -worst.to_numpy()])
    fit = alignment.fit.iloc[order[:_MOST]]
    rows, columns = fit.shape
    ax = axes_of(ax, 9.0, max(1.6 + 0.16 * rows, 2.4))
    colours = colormaps["RdBu"].with_extremes(bad=FAINT)
    usual: dict[str, Any] = {"cmap": colours, "vmin": -_BOUND, "vmax": _BOUND, "aspect": "auto"}
    usual |= {"interpolation": "nearest", "extent": (0, columns, rows - 0.5, -0.5)}
    image = ax.imshow(np.ma.masked_invalid(fit.to_numpy()), **(usual | style))
    at = {str(name): place for place, name in enumerate(fit.columns)}
    row_of = {edition: row for row, edition in enumerate(fit.index)}
    passages: list[Any] = list(alignment.passages.itertuples())
    for passage in passages:
        if passage.edition in row_of:
            begin, end = at[passage.first_document], at[passage.last_document] + 1
            width = max(end - begin, _NARROWEST * columns)
            corner = (begin + end - width) / 2, row_of[passage.edition] - 0.5
            of_level = passage.kind == "level"
            edge: dict[str, Any] = {"edgecolor": GREY if of_level else INK, "linewidth": 0.6 if of_level else 1.2}
            ax.add_patch(Rectangle(corner, width, 1, fill=False, **edge))
    name_rows(ax, fit.index)
    ax.tick_params(axis="y", length=0)
    chapters = [_CHAPTER.fullmatch(str(name)) for name in fit.columns]
    books = [match[1] for match in chapters if match]
    if not (len(books) == columns and mark_books(ax, books)):
        ax.xaxis.set_major_formatter("{x:,.0f}")
    add_colorbar(ax, image, "fit (nats per text; below 0: not in step)")
    wrong = int((worst > 0).sum())
    total = len(alignment.fit)
    title = f"{wrong} of {total} editions have passages out of step"
    if not wrong:
        title = f"no passage of {total} editions is out of step"
    others = f" ({total - rows} that fit better are not drawn)" if total > rows else ""
    return finish(ax, "chapters" if books else "documents", f"editions{others}", title, keep=[])
