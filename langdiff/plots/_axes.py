"""What all pictures share: colours, new axes, rows with names, frames, and where names are written."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation
from scipy.optimize import isotonic_regression

from langdiff._types import Floats, Integers
from langdiff.plots._names import shorten, show_names

# any two can be told apart with and without each of the three kinds of colour blindness; tests/plots/test_palette.py
BLUE, RUST, GREEN, VIOLET = "#0062b8", "#ce4b0b", "#009e73", "#4a0070"
MAUVE, SKY, BROWN, INK = "#b279a0", "#9095ff", "#5e3300", "#333333"  # ink is for text and axes, too
GREY, FAINT = "#aaaaaa", "#d5d5d5"  # what stands back; guides
SERIES = (BLUE, RUST, GREEN, VIOLET, MAUVE, SKY, BROWN, INK)
# one for each colour of a series
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)), (0, (8, 2)), (0, (3, 1)))
EASIER, HARDER = BLUE, RUST  # than the average
DASHED = (0, (4, 4))
LEADER: dict[str, Any] = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
# behind text that may stand on lines; an outline of the letters would turn the text of an SVG into paths
BACKING: dict[str, Any] = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.3}
FEW_ROWS = 40  # with more rows, each is lower
WIDE = 250.0  # points; in narrower axes, text is smaller
LETTER, LINE = 0.55, 1.15  # width of a letter and height of a line, as shares of the size of text
LEAST_TEXT = 4.0  # points
NAME_SHARE = 0.5  # of the width of axes that the name of a row may take beside them
ALL_NAMED = 30  # of more points, only the most telling are named
# of a name at its point: right or left, above or below; the last ones are farther away, with a leader
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1.6, 0), (-1.6, 0), (4, 5), (-4, 5), (4, -5), (-4, -5))
MOST_COVERED = 0.15  # of a name, by points and other names


def axes_of(ax: Axes | None, width: float, height: float) -> Axes:
    """Return the axes given, or those of a new figure of some size in inches; small axes have small numbers."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(width, height), layout="constrained")[1]
    ax.tick_params(labelsize=text_size(ax))
    return ax


def size_of(ax: Axes) -> Floats:
    """Return width and height of axes in points, as far as they are known before the layout is made."""
    figure = ax.get_figure(root=True)
    ax.apply_aspect()
    box = ax.get_position()
    inches = (6.4, 4.8) if figure is None else (figure.get_figwidth(), figure.get_figheight())
    return 72 * np.array([box.width, box.height]) * inches


def text_size(ax: Axes) -> float:
    """Return the size of labels in points: that of the settings, less in axes narrower than a column of a page."""
    return float(mpl.rcParams["font.size"] * np.clip(size_of(ax)[0] / WIDE, 0.7, 1))


def row_axes(
    ax: Axes | None, names: Iterable[Any], width: float = 6.4, *, notes: Sequence[str] = (), guides: bool = True
) -> Axes:
    """Return axes with one named row per name, the first lowest; new ones are as high as the rows need.

    Parameters
    ----------
    ax : Axes or None
        Axes to draw on; where they are too low for all names, every second, third, … row has its name.
    names : iterable
        Names of the rows; long ones are shortened.
    width : float
        Width of a new figure in inches.
    notes : sequence of str
        What follows each name and is not shortened.
    guides : bool
        Whether a faint line leads along each row.
    """
    labels = [str(name) for name in names]
    count = len(labels)
    ax = axes_of(ax, width, 1.2 + count * (0.26 if count <= FEW_ROWS else 0.15))
    across, down = size_of(ax)
    text = float(np.clip(0.75 * down / max(count, 1), LEAST_TEXT, text_size(ax)))
    labels = shorten(labels, int(NAME_SHARE * across / (LETTER * text)))
    if notes:
        labels = [label + note for label, note in zip(labels, notes, strict=True)]
    shown = range(0, count, int(np.ceil(count * LINE * LEAST_TEXT / down)) if count else 1)
    ax.set_yticks(list(shown), [labels[k] for k in shown], fontsize=text)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.7, count - 0.3)
    if guides:
        ax.hlines(range(count), 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    return ax


def finish(
    ax: Axes,
    xlabel: str = "",
    ylabel: str = "",
    title: str = "",
    *,
    keep: Sequence[str] = ("left", "bottom"),
    legend: bool | Mapping[str, Artist] = False,
    raised: float = 0.0,
) -> Axes:
    """Write labels, legend and title, hide sides of the frame, and see that names can be read: the last step.

    Parameters
    ----------
    ax : Axes
        Axes on which everything else is drawn.
    xlabel, ylabel, title : str
        Texts, which are wrapped where they are too long.
    keep : sequence of str
        Sides of the frame that are kept.
    legend : bool or mapping from str to Artist
        Whether to write a legend between axes and title: of all that has a label, or of the labels given.
    raised : float
        Height of what is drawn between the axes and the legend, in points.
    """
    size = text_size(ax)
    ax.set_xlabel(xlabel, fontsize=size, wrap=True)
    ax.set_ylabel(ylabel, fontsize=size, wrap=True)
    if legend is True:
        handles, labels = ax.get_legend_handles_labels()
        legend = dict(zip(labels, handles, strict=True))
    if legend:
        raised += _legend_above(ax, legend, 0.9 * size, raised)
    if title:
        pad = mpl.rcParams["axes.titlepad"] + raised
        ax.set_title(title, loc="left", fontsize=1.1 * size, pad=pad, wrap=True)
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    show_names(ax)
    return ax


def _legend_above(ax: Axes, entries: Mapping[str, Artist], size: float, raised: float) -> float:
    """Draw a legend above the axes, in as few rows as their width allows; return its height in points."""
    letters = float(size_of(ax)[0]) / (LETTER * size)  # in a row
    labels = shorten(list(entries), max(12, int(letters) - 5))
    columns = max(1, int(letters / (max(map(len, labels)) + 5)))
    rows = int(np.ceil(len(labels) / columns))
    figure = ax.get_figure(root=True)
    up = 0 if figure is None else ScaledTranslation(0, raised / 72, figure.dpi_scale_trans)
    ax.legend(
        list(entries.values()),
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        bbox_transform=ax.transAxes + up if up else ax.transAxes,
        ncols=int(np.ceil(len(labels) / rows)),
        fontsize=size,
        frameon=False,
        borderpad=0.2,
        borderaxespad=0.2,
        labelspacing=0.3,
        handlelength=1.6,
        handletextpad=0.4,
        columnspacing=1.2,
    )
    return size * (1.5 * rows + 0.6)


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
        Axes whose vertical limits are final. Where they are too low for all names, every second, third, … is written.
    ends : mapping from name to float
        Height of the end of each line, in data units.
    """
    across, height = size_of(ax)
    low, high = ax.get_ylim()
    names = sorted(ends, key=lambda name: ends[name])
    names = names[:: int(np.ceil(len(names) * LINE * LEAST_TEXT / height)) if names else 1]
    wanted = (np.array([ends[name] for name in names]) - low) / (high - low)  # axes fractions
    size = float(np.clip(0.85 * height / max(len(names), 1), LEAST_TEXT, 0.85 * text_size(ax)))
    places = spread(wanted, min(LINE * size / height, 1 / max(len(names), 1)), 0, 1)
    short = shorten(names, int(NAME_SHARE * across / (LETTER * size)))
    for name, end, place in zip(short, wanted, places, strict=True):
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
            arrowprops=LEADER | {"shrinkA": 1, "shrinkB": 0},
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
    """Write names beside their points, each where it covers least; leave out what finds no room.

    Parameters
    ----------
    ax : Axes
        Axes whose limits are final.
    x, y : ndarray, shape (N,)
        Points, in data units.
    names : sequence of N
        What to write; may be of several lines.
    size : float
        Size of the text in points, in axes that are not small.
    order : ndarray of int, optional
        Which points to name, the most important first; by default all, the farthest out first.
    avoid : ndarray, shape (M, 2), optional
        Further points, in data units, that names should not cover, such as those of a line.
    """
    area = size_of(ax)
    size = max(size * text_size(ax) / mpl.rcParams["font.size"], LEAST_TEXT)
    data = np.column_stack([x, y]) if avoid is None else np.vstack([np.column_stack([x, y]), avoid])
    at = ax.transAxes.inverted().transform(ax.transData.transform(data)) * area  # points from the lower left corner
    if order is None:
        order = np.argsort(-np.abs((at - np.median(at, axis=0)) / area).sum(axis=1)[: len(names)], kind="stable")
    short = shorten([str(name) for name in names], int(NAME_SHARE * area[0] / (LETTER * size)))
    taken = np.hstack([at - 2.5, at + 2.5])  # boxes: left, bottom, right, top
    for i in order:
        lines = short[i].split("\n")
        extent = np.array([1.05 * LETTER * size * max(map(len, lines)), LINE * size * len(lines)])
        boxes = np.array([box_beside(at[i], side, *extent) for side in SIDES])
        outside = (boxes[:, 0] < 0) | (boxes[:, 2] > area[0])
        costs = np.array([overlaps(box, taken).sum() for box in boxes]) / extent.prod() + outside
        best = int(np.argmin(costs + 0.001 * np.arange(len(SIDES))))  # nearer sides come first
        if costs[best] > MOST_COVERED:
            continue
        taken = np.vstack([taken, boxes[best]])
        right, up = SIDES[best]
        ax.annotate(
            short[i],
            (float(x[i]), float(y[i])),
            xytext=(3 * right, 2 * up),
            textcoords="offset points",
            ha=("right", "center", "left")[int(np.sign(right)) + 1],
            va=("top", "center", "bottom")[int(np.sign(up)) + 1],
            fontsize=size,
            color=INK,
            zorder=1.5,  # below the points, which its backing must not hide
            bbox=BACKING,
            arrowprops=LEADER if max(abs(right), abs(up)) > 2 else None,
        )


def box_beside(point: Floats, side: tuple[float, float], width: float, height: float) -> Floats:
    """Return the box of a name beside its point: left, bottom, right, top, in points.

    Parameters
    ----------
    point : ndarray, shape (2,)
        Place of the point.
    side : tuple of float
        Positive for right and negative for left of the point, 0 for the middle; in the same way above and below.
        At 1, the name is next to the point; at 2, twice as far.
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
    right, up = side
    left = point[0] + 3 * right - width * (1 - np.sign(right)) / 2
    bottom = point[1] + 2 * up - height * (1 - np.sign(up)) / 2
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
