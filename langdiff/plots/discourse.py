"""Pictures of discourse trees, of two trees of one document, and of recall by relation."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._axes import (
    BLUE,
    DASHED,
    GREEN,
    GREY,
    INK,
    LEAST_TEXT,
    LINE,
    MARKERS,
    RUST,
    SERIES,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._rows import in_columns, row_axes

EXCERPT = 48  # characters of a text beside its row
INCHES_BESIDE, INCHES_PER_LEVEL, WIDEST = 2.4, 1.15, 60.0
AGREEMENT = {
    "same": (BLUE, "same span and labels"),
    "span": (GREEN, "same span"),
    "none": (RUST, "not in the other tree"),
}
NODES = ("first", "last", "nuclearity", "relation", "parent")  # columns


@takes("nodes", pd.DataFrame, "a table of the nodes of a discourse tree", columns=NODES)
def plot_discourse_tree(
    nodes: pd.DataFrame, ax: Axes | None = None, *, texts: Mapping[int, str] | None = None, **style: Any
) -> Axes:
    r"""Draw a discourse tree: EDUs in rows, the root on the right.

    A line leads from every node to its parent, thick from a nucleus, thin from a satellite; its label is what the node
    is to the parent.

    Parameters
    ----------
    nodes : DataFrame
        One row per node, parents before children: ``first``, ``last``, ``nuclearity``, ``relation``, ``parent`` (number
        of the row, -1 for the root); optionally ``added`` (drawn dashed) and ``decision`` (the label to draw instead).
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    texts : mapping from int to str, optional
        Texts of the EDUs by number.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no nodes.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> tree = parse_discourse("1 1 N span\n2 2 S evidence", format="spans")
    >>> axes = plot_discourse_tree(tree.to_frame())
    >>> [text.get_text() for text in axes.texts]
    ['evidence']
    """
    heights = _heights(nodes)
    ax = _rows(nodes, ax, texts, INCHES_BESIDE + INCHES_PER_LEVEL * (heights[0] + 1))
    colours = np.where(nodes["nuclearity"] == "Satellite", RUST, BLUE)
    _draw(ax, nodes, heights, colours, style)
    ax.set_xlim(0, heights[0] + 1)
    ax.set_xticks([])
    legend = {
        "nucleus": Line2D([], [], color=BLUE, linewidth=2.2),
        "satellite": Line2D([], [], color=RUST, linewidth=1.0),
    }
    if "added" in nodes and nodes["added"].any():
        legend["new in the binary tree"] = Line2D([], [], color=BLUE, linewidth=2.2, linestyle=DASHED)
    return finish(ax, keep=(), legend=legend)


@takes("reference", pd.DataFrame, "tables of the nodes of two discourse trees", columns=(*NODES, "agreement"))
@takes("predicted", pd.DataFrame, "tables of the nodes of two discourse trees", columns=(*NODES, "agreement"))
def plot_discourse_comparison(
    reference: pd.DataFrame,
    predicted: pd.DataFrame,
    ax: Axes | None = None,
    *,
    names: tuple[str, str] = ("reference", "prediction"),
    texts: Mapping[int, str] | None = None,
    **style: Any,
) -> Axes:
    r"""Draw two trees of one document, one to the left and one to the right of the numbers of the EDUs.

    Parameters
    ----------
    reference, predicted : DataFrame
        Nodes as for `plot_discourse_tree`, with a column ``agreement``: ``same`` if the other tree has the node with
        its labels, ``span`` if it has the span only, ``none`` if not.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    names : tuple of str
        Names of the two trees, above them.
    texts : mapping from int to str, optional
        Texts of the EDUs by number.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no nodes.

    Examples
    --------
    >>> from langdiff.discourse import compare_trees, parse_discourse
    >>> one, other = (parse_discourse(f"1 1 N span\n2 2 S {name}", format="spans") for name in ("cause", "result"))
    >>> axes = compare_trees(one, other).plot()
    >>> [text.get_text() for text in axes.texts]
    ['cause', 'result', '1', '2']
    """
    left, right = _heights(reference), _heights(predicted)
    ax = _rows(reference, ax, texts, INCHES_BESIDE + INCHES_PER_LEVEL * (left[0] + right[0] + 2))
    for nodes, heights, side in ((reference, left, -1), (predicted, right, 1)):
        colours = nodes["agreement"].map({name: colour for name, (colour, _) in AGREEMENT.items()}).to_numpy()
        _draw(ax, nodes, heights, colours, style, side=side)
    every = int(np.ceil(len(_places(reference)) * LINE * LEAST_TEXT / size_of(ax)[1]))
    for edu, y in list(_places(reference).items())[::every]:
        ax.text(0, y, str(edu), ha="center", va="center", fontsize=7, color=INK)
    ax.set_xlim(-left[0] - 1.3, right[0] + 1.3)
    ax.set_xticks([-left[0] / 2 - 0.5, right[0] / 2 + 0.5], names)
    ax.xaxis.tick_top()
    ax.tick_params(axis="x", length=0)
    legend = {what: Line2D([], [], color=colour, linewidth=2) for colour, what in AGREEMENT.values()}
    return finish(ax, keep=(), legend=legend, raised=2 * text_size(ax))  # above the names of the trees


@takes(
    "relations", pd.DataFrame, "a table of relations and their recall", columns=("system", "relation", "recall", "gold")
)
@in_columns
def plot_discourse_relations(relations: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the recall of every relation by every system, the most frequent relation on top.

    Parameters
    ----------
    relations : DataFrame
        One row per system and relation: ``system``, ``relation``, ``recall`` and ``gold`` (how many the reference has);
        see `langdiff.discourse.DiscourseEvaluation.relations`. Relations that the reference does not have are left out.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If the reference has no relations.

    Examples
    --------
    >>> table = pd.DataFrame(
    ...     {"system": ["a", "a"], "relation": ["joint", "cause"], "recall": [0.4, 0.1], "gold": [9, 4]}
    ... )
    >>> [label.get_text() for label in plot_discourse_relations(table).get_yticklabels()]
    ['cause (4)', 'joint (9)']
    """
    table = relations[relations["gold"] > 0]
    if table.empty:
        raise DataError("the reference has no relations to draw.")
    counts = table.groupby("relation")["gold"].max().sort_values(kind="stable")
    ax = row_axes(ax, counts.index, notes=[f" ({count:,})" for count in counts])
    place = {name: row for row, name in enumerate(counts.index)}
    systems = list(dict.fromkeys(table["system"]))
    for number, system in enumerate(systems):
        rows = table[table["system"] == system]
        usual: dict[str, Any] = {"linestyle": "none", "markersize": 5, "label": system}
        usual |= {"marker": MARKERS[number % len(MARKERS)], "color": SERIES[number % len(SERIES)]}
        ax.plot(100 * rows["recall"], rows["relation"].map(place), **(usual | style))
    ax.set_xlim(-2, 102)
    return finish(ax, "recall (%)", "relation (number in the reference)", legend=len(systems) > 1)


def _heights(nodes: pd.DataFrame) -> Floats:
    """Return the number of levels below each node; leaves are at 0."""
    if nodes.empty:
        raise DataError("there are no nodes to draw.")
    parents = nodes["parent"].to_numpy()
    heights = np.zeros(len(nodes))
    for place in range(len(nodes) - 1, 0, -1):  # children before parents
        heights[parents[place]] = max(heights[parents[place]], heights[place] + 1)
    return heights


def _places(nodes: pd.DataFrame) -> dict[int, int]:
    """Return the row of every EDU, the first on top."""
    last = int(nodes["last"].iloc[0])
    return {edu: last - edu for edu in range(int(nodes["first"].iloc[0]), last + 1)}


def _rows(nodes: pd.DataFrame, ax: Axes | None, texts: Mapping[int, str] | None, width: float) -> Axes:
    edus = list(reversed(_places(nodes)))
    names = [(texts or {}).get(edu, "")[:EXCERPT] for edu in edus]
    notes = [f"  {edu}" if name else str(edu) for edu, name in zip(edus, names, strict=True)]
    made = row_axes(ax, names, notes=notes, guides=False)
    if ax is None and (figure := made.get_figure(root=True)) is not None:
        figure.set_figwidth(min(width, WIDEST))  # deep trees are wider than a page, or their labels would overlap
    return made


def _draw(
    ax: Axes, nodes: pd.DataFrame, heights: Floats, colours: Any, style: Mapping[str, Any], *, side: int = 1
) -> None:
    """Draw lines and labels, growing to the right (side 1) or to the left (-1)."""
    start = 0.15 if side == -1 or "agreement" in nodes else 0.0  # room for the numbers of EDUs between two trees
    x = side * (heights + start)
    y, low, high = _centres(nodes)
    added = nodes["added"].to_numpy() if "added" in nodes else np.zeros(len(nodes), dtype=bool)
    for place, (nuclearity, parent) in enumerate(zip(nodes["nuclearity"], nodes["parent"], strict=True)):
        end = x[parent] if parent >= 0 else x[place] + side
        usual: dict[str, Any] = {"color": colours[place], "linewidth": 1.0 if nuclearity == "Satellite" else 2.2}
        usual |= {"linestyle": DASHED if added[place] else "-", "solid_capstyle": "butt"}
        if parent >= 0:
            ax.plot([x[place], end], [y[place], y[place]], **{**usual, **style})
        if heights[place]:
            ax.plot([x[place]] * 2, [low[place], high[place]], color=GREY, linewidth=1.2)
        if label := _label(nodes, place):
            align = "left" if side == 1 else "right"
            at = x[place] + side * 0.06
            ax.text(at, y[place] + 0.06, label, fontsize=6, ha=align, va="bottom", color=colours[place])


def _centres(nodes: pd.DataFrame) -> tuple[Floats, Floats, Floats]:
    """Return the vertical position of each node, and of its lowest and highest child."""
    rows, parents = _places(nodes), nodes["parent"].to_numpy()
    first, last = nodes["first"].to_numpy(), nodes["last"].to_numpy()
    low, high = np.full(len(nodes), np.inf), np.full(len(nodes), -np.inf)
    y = np.zeros(len(nodes))
    for place in range(len(nodes) - 1, -1, -1):  # children before parents
        y[place] = rows[first[place]] if first[place] == last[place] else (low[place] + high[place]) / 2
        if parents[place] >= 0:
            low[parents[place]] = min(low[parents[place]], y[place])
            high[parents[place]] = max(high[parents[place]], y[place])
    return y, low, high


def _label(nodes: pd.DataFrame, place: int) -> str:
    if "decision" in nodes:
        return str(nodes["decision"].iat[place])
    relation = str(nodes["relation"].iat[place])
    return "" if relation in ("---", "span") else relation
