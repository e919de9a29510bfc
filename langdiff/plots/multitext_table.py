"""The multitext as a schematic table (Mielke et al. 2019, Figure 1), its selection, and its check of alignment."""

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing
from langdiff.plots._axes import (
    BLUE,
    DASHED,
    FAINT,
    GREEN,
    GREY,
    INK,
    LETTER,
    RUST,
    SKY,
    VIOLET,
    add_colorbar,
    axes_of,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._names import shorten
from langdiff.plots._rows import name_rows
from langdiff.plots.corpora import mark_books

if TYPE_CHECKING:
    from langdiff.corpora.alignment.result import Alignment
    from langdiff.regression.result import DifficultyFit
    from langdiff.selection.result import ParetoFront, Selection
    from langdiff.tables.surprisals import Surprisals


GAP = 0.25  # between the table and its margins, in cells
DARKEST = 0.75  # of the colour map, so that numbers can be read
NAME = 12  # characters of the name of a row
CLOSED = {  # colour and marker
    "hull": (GREY, "o"),
    "reduction": (SKY, "s"),
    "branching": (GREEN, "^"),
    "relaxation": (BLUE, "D"),
    "program": (VIOLET, "v"),
    "open": (RUST, "X"),
}
_MOST = 60  # editions that are drawn
_BOUND = 1.5  # nats; most documents fit by one
_NARROWEST = 0.006  # width of an outline, as a part of the axes
_CHAPTER = re.compile(r"([0-9A-Z]{3}) [0-9]+")


@takes("surprisals", (pd.DataFrame, "bits"), "Surprisals, or a frame of bits")
@takes("fit", "difficulty intent_size dispersion", "Surprisals and the result of langdiff.fit")
def plot_multitext(
    surprisals: "Surprisals | pd.DataFrame",
    ax: Axes | None = None,
    *,
    fit: "DifficultyFit | None" = None,
    n_intents: int = 8,
    n_editions: int = 8,
    **style: Any,
) -> Axes:
    """Draw the first intents and editions as a table of bits, darker where there are more, and empty where missing.

    With a fit, the margins are what the model explains the cells by: on the right the information content of each
    intent, which all its translations share, and below the difficulty of each edition, in percent of the average one.
    The content is that of a translation of average difficulty in bits, n·√(1 + κ), so that it compares with the cells.

    Parameters
    ----------
    surprisals : Surprisals or DataFrame
        Table of bits, intents × editions; NaN where a translation is missing.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as large as the table needs.
    fit : DifficultyFit, optional
        Fit of these surprisals, with one difficulty per edition.
    n_intents, n_editions : int
        Greatest numbers of rows and of columns; the first ones are drawn.
    **style
        Settings for the ``Rectangle`` of each cell, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If the table is empty, or the fit lacks an intent or edition that is drawn.
    ConfigError
        If a number of rows or columns is less than 1.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 4, missing=0.2, seed=1).surprisals
    >>> axes = plot_multitext(surprisals, fit=ld.fit(surprisals), n_intents=5)
    >>> axes.get_title(loc="left")
    'bits of the first 5 of 100 intents'
    """
    if min(n_intents, n_editions) < 1:
        raise ConfigError(f"n_intents and n_editions must be at least 1, got {n_intents!r} and {n_editions!r}.")
    table = surprisals if isinstance(surprisals, pd.DataFrame) else surprisals.bits
    if words := [str(name) for name, kind in table.dtypes.items() if kind.kind not in "fiu"]:
        raise DataError(f"a frame of bits has numbers only; {listing(words)} has none.")
    bits = table.iloc[:n_intents, :n_editions]
    if not bits.size:
        raise DataError("nothing to draw: the table has no intents or no editions.")
    rows, columns = bits.shape
    margin = 0.0 if fit is None else 1 + GAP
    ax = axes_of(ax, 1.4 + 0.85 * (columns + margin), 1.0 + 0.34 * (rows + margin))
    values = bits.to_numpy()
    darkness = DARKEST * values / np.nanmax(values) if np.isfinite(values).any() else values
    for i, j in np.ndindex(rows, columns):
        _draw_cell(ax, (j, i), _bits(float(values[i, j])), float(darkness[i, j]), style)
    size = 0.8 * text_size(ax)
    room = int(size_of(ax)[0] / (columns + margin) / (LETTER * size)) - 1  # characters of the name of a column
    if fit is not None:
        _draw_margins(ax, bits, fit, style)
    ax.set_xlim(-0.5, columns - 0.5 + margin)
    ax.set_ylim(rows - 0.5 + margin, -0.5)
    across = shorten([str(name) for name in bits.columns], room)
    down = shorten([str(name) for name in bits.index], NAME)
    if fit is not None:
        across, down = [*across, "content\n(bits)"], [*down, "difficulty\n(%)"]
    at = [*range(columns), columns + GAP][: len(across)], [*range(rows), rows + GAP][: len(down)]
    ax.set_xticks(at[0], across, fontsize=size, parse_math=False)
    ax.set_yticks(at[1], down, fontsize=size, parse_math=False)
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    parts = [(rows, len(table), "intents"), (columns, table.shape[1], "editions")]
    cut = " and ".join(f"the first {shown:,} of {of:,} {what}" for shown, of, what in parts if shown < of)
    return finish(ax, title=f"bits of {cut or 'all intents'}", keep=[])


def _draw_cell(ax: Axes, centre: tuple[float, float], text: str, darkness: float, style: dict[str, Any]) -> None:
    """Draw one cell; a hatched one if `darkness` is NaN."""
    missing = bool(np.isnan(darkness))
    usual: dict[str, Any] = {"edgecolor": "white", "linewidth": 1.5, "facecolor": colormaps["Blues"](darkness)}
    if missing:
        usual = {"edgecolor": FAINT, "linewidth": 0, "facecolor": "none", "hatch": "////"}
    x, y = centre
    ax.add_patch(Rectangle((x - 0.48, y - 0.46), 0.96, 0.92, **(usual | style)))
    colour = "white" if darkness > 0.55 else GREY if missing else INK
    ax.text(x, y, text, ha="center", va="center", fontsize=0.8 * text_size(ax), color=colour)


def _draw_margins(ax: Axes, bits: pd.DataFrame, fit: "DifficultyFit", style: dict[str, Any]) -> None:
    for what, drawn, known in (("intent", bits.index, fit.intent_size), ("edition", bits.columns, fit.difficulty)):
        lacking = [name for name in drawn if name not in known.index]
        if lacking:
            raise DataError(f"the fit has no {what} {listing(lacking)}; give the fit of these surprisals.")
    rows, columns = bits.shape
    sizes: Floats = fit.intent_size[bits.index].to_numpy(dtype=float)
    if fit.dispersions is None:  # otherwise they are expected bits
        sizes = sizes * np.sqrt(1 + fit.dispersion)
    for i, size in enumerate(sizes):
        _draw_cell(ax, (columns + GAP, i), _bits(size), 0.0, style)
    for j, nats in enumerate(fit.difficulty[bits.columns]):
        _draw_cell(ax, (j, rows + GAP), f"{100 * np.expm1(nats):+z.1f}", 0.0, style)


def _bits(value: float) -> str:
    return "" if np.isnan(value) else f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


@takes("front", "points best()", "the result of langdiff.pareto_front")
def plot_pareto_front(front: "ParetoFront", ax: Axes | None = None, *, min_intents: int = 1, **style: Any) -> Axes:
    """Draw the most intents against the number of editions (or languages) that share them.

    Parameters
    ----------
    front : ParetoFront
        Result of `langdiff.pareto_front`. Each dot is a number of editions, filled where it is proven best; a grey
        line shows the bound where it is higher. The curve through the largest product joins all selections with
        the same product.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    min_intents : int
        Least number of intents of the selection that is marked.
    **style
        Settings for ``Axes.plot`` of the proven dots, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    InfeasibleError
        If no point of the front has `min_intents` intents.

    Examples
    --------
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_pareto_front(ld.pareto_front(ld.read_frame(texts)))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('editions', 'intents that all of them have')
    """
    ax = axes_of(ax, 7, 4.2)
    points = front.points
    units, intents, proven = points.index.to_numpy(), points["intents"].to_numpy(), points["proven"].to_numpy()
    if not proven.all():
        ax.plot(units, points["intents_at_most"], color=GREY, linewidth=1.2, label="upper bound", zorder=1)
        ax.plot(units[~proven], intents[~proven], "o", color=BLUE, mfc="white", ms=4, label="best found", zorder=2)
    usual: dict[str, Any] = {"marker": "o", "linestyle": "", "color": BLUE, "markersize": 4, "label": "proven best"}
    ax.plot(units[proven], intents[proven], **(usual | style))
    most, shared = front.best(min_intents)
    top = 1.06 * intents.max()
    curve = np.linspace(max(most * shared / top, 0.5), units[-1] + 0.5, 400)
    ax.plot(curve, most * shared / curve, color=RUST, linewidth=1, linestyle=DASHED, zorder=1)
    ax.plot(most, shared, "D", color=RUST, markersize=7, zorder=4, label=f"largest product: {most:,} × {shared:,}")
    if min_intents > 1:
        ax.axhline(min_intents, color=INK, linewidth=0.8, linestyle=":", label=f"at least {min_intents:,} intents")
    ax.set(xlim=(0, units[-1] + 1), ylim=(0, top))
    return _with_legend(ax, str(points.index.name), "intents that all of them have")


@takes("selection", "certificate value upper_bound", "a Selection, as langdiff.select returns it")
def plot_certificate(selection: "Selection", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw upper bounds of the objective by number of editions (or languages), with their proofs.

    Parameters
    ----------
    selection : Selection
        Selection from `langdiff.select`; the dashed line is the objective reached.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the dots, which override the defaults.

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
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_certificate(ld.select(ld.read_frame(texts)))
    >>> axes.get_ylabel()
    'editions × intents, at most'
    """
    ax = axes_of(ax, 7, 4.2)
    certificate = selection.certificate
    for closed, rows in certificate.groupby("closed", sort=False):
        colour, marker = CLOSED[str(closed)]
        usual: dict[str, Any] = {"marker": marker, "linestyle": "", "color": colour, "markersize": 4}
        label = "open" if closed == "open" else f"closed by {closed}"
        ax.plot(rows.index, rows["bound"], **(usual | {"label": label} | style))
    ax.axhline(selection.value, color=RUST, linewidth=1, linestyle=DASHED, label=f"reached: {selection.value:,}")
    top = 1.3 * max(selection.value, selection.upper_bound)  # bounds far above were closed by min_intents
    ax.set(xlim=(0, certificate.index[-1] + 1), ylim=(0, top))
    counted = str(certificate.index.name)
    return _with_legend(ax, counted, f"{counted} × intents, at most")


def _with_legend(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return finish(ax, xlabel, ylabel, legend=True)


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
