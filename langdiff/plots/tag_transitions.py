"""Which tag follows which, as a graph (Bothwell et al. 2023, Figure 5)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BACKING, BLUE, INK, axes_of, finish

_ORDER = ("start", "B", "I", "J", "E", "stop", "O", "M", "B-X")  # clockwise from the left; each tag keeps its place
_RADIUS = 0.1  # of a node
_THINNEST, _WIDEST = 0.5, 4.5  # points
_BEND = 0.16  # of arrows, so that those of both directions are apart


@takes("transitions", pd.DataFrame, "the table of langdiff.parallelism.tag_transitions")
def plot_tag_transitions(transitions: pd.DataFrame, ax: Axes | None = None, *, title: str = "", **style: Any) -> Axes:
    """Draw tags as nodes and how often one follows another as arrows with numbers.

    Arrows are the wider, the larger the share of what follows a tag. Transitions that never occur are left out. Each
    tag has its place, whatever the tagset, so that two pictures can be compared.

    Parameters
    ----------
    transitions : DataFrame
        Counts: one row per tag that is followed, one column per tag that follows; see
        `langdiff.parallelism.tag_transitions`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    title : str
        Title, such as the name of the tagging scheme.
    **style
        Settings for ``FancyArrowPatch``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If no transition occurs, or a tag is unknown.

    Examples
    --------
    >>> from langdiff.parallelism import Parallelism, TaggingScheme, make_document, tag_transitions
    >>> document = make_document("1", "he came and he saw".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> axes = plot_tag_transitions(tag_transitions([document], TaggingScheme("BIO", "TD")))
    >>> len(axes.patches), sorted({text.get_text() for text in axes.texts})
    (6, ['1', 'B', 'B-X', 'I', 'O', 'start', 'stop'])
    """
    names = [name for name in _ORDER if name in {*transitions.index, *transitions.columns}]
    if unknown := sorted({*transitions.index, *transitions.columns} - set(_ORDER), key=str):
        raise DataError(f"unknown tags: {', '.join(map(str, unknown))}; known are {', '.join(_ORDER)}.")
    cells = transitions.to_numpy()
    if not (cells > 0).any():
        raise DataError("there are no transitions to draw.")
    ax = axes_of(ax, 5.6, 5.6)
    ax.set_aspect("equal")
    ax.set(xlim=(-1.5, 1.5), ylim=(-1.5, 1.5), xticks=[], yticks=[])
    for row, column in np.argwhere(cells > 0):
        source, target = str(transitions.index[row]), str(transitions.columns[column])
        _arrow(ax, source, target, int(cells[row, column]), float(cells[row, column] / cells[row].sum()), style)
    for name in names:
        box = {"boxstyle": "circle,pad=0.25", "facecolor": "white", "edgecolor": INK, "linewidth": 0.9}
        x, y = _place(name)
        ax.text(x, y, name, ha="center", va="center", fontsize=9, color=INK, zorder=4, bbox=box)
    return finish(ax, title=title, keep=())


def _place(name: str) -> Floats:
    angle = np.pi - 2 * np.pi * _ORDER.index(name) / len(_ORDER)
    return np.array([np.cos(angle), np.sin(angle)])


def _arrow(ax: Axes, source: str, target: str, count: int, share: float, style: dict[str, Any]) -> None:
    """Draw one arrow with its number; from a tag to itself, a loop away from the middle."""
    one, other = _place(source), _place(target)
    usual: dict[str, Any] = {"color": BLUE, "alpha": 0.5 + 0.5 * share, "zorder": 2, "arrowstyle": "-|>"}
    usual |= {"linewidth": _THINNEST + (_WIDEST - _THINNEST) * share, "mutation_scale": 8 + 6 * share}
    if source == target:
        across = 0.09 * np.array([-one[1], one[0]])
        begin, end = one * (1 + _RADIUS) - across, one * (1 + _RADIUS) + across
        usual["connectionstyle"] = "arc3,rad=1.4"
        label = one * 1.33
    else:
        way = (other - one) / np.linalg.norm(other - one)
        begin, end = one + _RADIUS * way, other - _RADIUS * way
        usual["connectionstyle"] = f"arc3,rad={_BEND}"
        side = np.array([way[1], -way[0]])
        length = float(np.linalg.norm(end - begin))
        along = 0.36  # not in the middle, where many arrows meet
        label = begin + along * (end - begin) + 2 * along * (1 - along) * _BEND * length * side
    ax.add_patch(FancyArrowPatch(tuple(begin), tuple(end), **(usual | style)))
    ax.text(label[0], label[1], f"{count:,}", ha="center", va="center", fontsize=7, color=INK, zorder=3, bbox=BACKING)
