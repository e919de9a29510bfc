"""What all pictures share: colours, new axes, rows with names, frames, and where names are written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter
from scipy.optimize import isotonic_regression

from langdiff._types import Floats, Integers

# any two can be told apart with and without each of the three kinds of colour blindness; tests/plots/test_palette.py
BLUE, RUST, GREEN, VIOLET = "#0062b8", "#ce4b0b", "#009e73", "#4a0070"
MAUVE, SKY, BROWN, INK = "#b279a0", "#9095ff", "#5e3300", "#333333"  # ink is for text and axes, too
GREY, FAINT = "#aaaaaa", "#d5d5d5"  # what stands back; guides
SERIES = (BLUE, RUST, GREEN, VIOLET, MAUVE, SKY, BROWN, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # one for each colour of a series
EASIER, HARDER = BLUE, RUST  # than the average
DASHED = (0, (4, 4))
# behind text that may stand on lines; an outline of the letters would turn the text of an SVG into paths
BACKING: dict[str, Any] = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.3}
FEW_ROWS = 40  # with more rows, each is lower
ALL_NAMED = 30  # of more points, only those whose names find room are named


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of some size in inches."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    new: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return new


def size_of(ax: Axes) -> Floats:
    """Return width and height of axes in points, as far as they are known before the layout is made."""
    figure = ax.get_figure(root=True)
    ax.apply_aspect()
    box = ax.get_position()
    inches = (6.4, 4.8) if figure is None else (figure.get_figwidth(), figure.get_figheight())
    return 72 * np.array([box.width, box.height]) * inches


def row_axes(ax: Axes | None, names: Iterable[Any], width: float = 6.4, *, guides: bool = True) -> Axes:
    """Return axes with one named row per name, the first lowest; new ones are as high as the rows need."""
    labels = [str(name) for name in names]
    count = len(labels)
    ax = axes_of(ax, width, 1.2 + count * (0.26 if count <= FEW_ROWS else 0.15))
    text = float(np.clip(0.75 * size_of(ax)[1] / max(count, 1), 4, 10))
    ax.set_yticks(np.arange(count), labels, fontsize=text)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.7, count - 0.3)
    if guides:
        ax.hlines(range(count), 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    return ax


def finish(
    ax: Axes, xlabel: str = "", ylabel: str = "", title: str = "", *, keep: Sequence[str] = ("left", "bottom")
) -> Axes:
    """Write labels and title, and hide the sides of the frame that are not to be kept."""
    ax.set(xlabel=xlabel, ylabel=ylabel)
    if title:
        ax.set_title(title, loc="left", fontsize=11)
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    return ax


def legend_above(ax: Axes, **settings: Any) -> None:
    """Draw a legend of one line above the right end of the axes, beside the title."""
    usual: dict[str, Any] = {"frameon": False, "fontsize": 9, "ncols": 2, "handletextpad": 0.3, "borderaxespad": 0.2}
    ax.legend(loc="lower right", bbox_to_anchor=(1, 1), **(usual | settings))


def plain_log_ticks(axis: Axis) -> None:
    """Write 1, 2, 5, 10, … on a logarithmic axis, and nothing between."""
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())


def name_line_ends(ax: Axes, ends: Mapping[str, float]) -> None:
    """Write names right of the axes, near the heights at which lines end, each with a thin leader.

    Parameters
    ----------
    ax : Axes
        Axes whose vertical limits are final.
    ends : mapping from name to float
        Height of the end of each line, in data units.
    """
    height = float(size_of(ax)[1])
    low, high = ax.get_ylim()
    wanted = (np.array(list(ends.values())) - low) / (high - low)  # axes fractions
    size = float(np.clip(0.85 * height / len(ends), 3.5, 8.5))
    places = spread(wanted, min(1.15 * size / height, 1 / len(ends)), 0, 1)
    for name, end, place in zip(ends, wanted, places, strict=True):
        ax.annotate(
            name,
            xy=(1.0, float(end)),
            xytext=(1.0 + 0.04, float(place)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=size,
            color=INK,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 0},
        )


def spread(wanted: Floats, gap: float, low: float = -np.inf, high: float = np.inf) -> Floats:
    """Move numbers as little as possible (least squares), so that neighbours are `gap` apart and within bounds.

    Parameters
    ----------
    wanted : ndarray, shape (N,)
        Numbers to move.
    gap : float
        Least distance between two of them.
    low, high : float
        Bounds, which must be far enough apart for all numbers.

    Returns
    -------
    ndarray, shape (N,)
        Moved numbers, in the order of `wanted`.

    Examples
    --------
    >>> spread(np.array([0.5, 0.1, 0.5]), 0.2).round(2)
    array([0.4, 0.1, 0.6])
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    moved = np.empty(len(wanted))
    rising = isotonic_regression(wanted[order] - steps).x  # less the steps, they must not fall
    moved[order] = np.clip(rising, low, high - steps[-1]) + steps
    return moved


def name_points(
    ax: Axes,
    x: Floats,
    y: Floats,
    names: Sequence[Any],
    *,
    size: float = 7.0,
    order: Integers | None = None,
    avoid: Floats | None = None,
) -> None:
    """Write names beside their points, each on the side where it covers least; of many, leave out what finds no room.

    Parameters
    ----------
    ax : Axes
        Axes whose limits are final.
    x, y : ndarray, shape (N,)
        Points, in data units.
    names : sequence of N
        What to write; may be of several lines.
    size : float
        Size of the text in points.
    order : ndarray of int, optional
        Which points to name, the most important first; by default all, the farthest out first.
    avoid : ndarray, shape (M, 2), optional
        Further points, in data units, that names should not cover, such as those of a line.
    """
    area = size_of(ax)
    data = np.column_stack([x, y]) if avoid is None else np.vstack([np.column_stack([x, y]), avoid])
    at = ax.transAxes.inverted().transform(ax.transData.transform(data)) * area  # points from the lower left corner
    if order is None:
        order = np.argsort(-np.abs((at - np.median(at, axis=0)) / area).sum(axis=1)[: len(names)], kind="stable")
    taken = np.hstack([at - 2.5, at + 2.5])  # boxes: left, bottom, right, top
    for i in order:
        lines = str(names[i]).split("\n")
        extent = np.array([0.58 * size * max(map(len, lines)), 1.15 * size * len(lines)])
        sides = [(1, 1), (-1, 1), (1, -1), (-1, -1)]  # right or left, above or below
        boxes = [box_beside(at[i], side, *extent) for side in sides]
        costs = [overlaps(box, taken).sum() + 1e6 * (box[0] < 0 or box[2] > area[0]) for box in boxes]
        best = int(np.argmin(costs))
        if len(names) > ALL_NAMED and costs[best] > 0.08 * extent.prod():
            continue
        taken = np.vstack([taken, boxes[best]])
        right, up = sides[best]
        ax.annotate(
            str(names[i]),
            (float(x[i]), float(y[i])),
            xytext=(3 * right, 2 * up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=size,
            color=INK,
            zorder=1.5,  # below the points, which its backing must not hide
            bbox=BACKING,
        )


def box_beside(point: Floats, side: tuple[int, int], width: float, height: float) -> Floats:
    """Return the box of a name beside its point: left, bottom, right, top, in points.

    Parameters
    ----------
    point : ndarray, shape (2,)
        Place of the point.
    side : tuple of int
        1 for right and -1 for left of the point; 1 for above and -1 for below it.
    width, height : float
        Size of the name.

    Returns
    -------
    ndarray, shape (4,)

    Examples
    --------
    >>> box_beside(np.array([10.0, 10.0]), (-1, 1), 20, 5).tolist()
    [-13.0, 12.0, 7.0, 17.0]
    """
    left = point[0] + (3 if side[0] > 0 else -3 - width)
    bottom = point[1] + (2 if side[1] > 0 else -2 - height)
    return np.array([left, bottom, left + width, bottom + height])


def overlaps(box: Floats, others: Floats) -> Floats:
    """Return the areas that a box shares with each of several, shapes (4,) and (N, 4).

    Examples
    --------
    >>> overlaps(np.array([0.0, 0, 2, 2]), np.array([[1.0, 1, 5, 5], [2, 0, 3, 1]])).tolist()
    [1.0, 0.0]
    """
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    area: Floats = np.maximum(sides, 0).prod(axis=1)
    return area
