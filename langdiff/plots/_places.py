"""Placement of names next to points and at the ends of lines, without overlaps."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from scipy.optimize import isotonic_regression

from langdiff.base.types import Floats, Integers
from langdiff.plots._axes import (
    BACKING,
    GREY,
    INK,
    LEAST_TEXT,
    LETTER,
    LINE,
    NAME_SHARE,
    POINT_NAME,
    count_points,
    every_name,
    extent_of,
    size_of,
    text_size,
)
from langdiff.plots._names import shorten

LEADER: dict[str, Any] = {"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2}
ALL_NAMED = 30  # of more points, only the most telling are named
# of a name at its point: right or left, above or below; the last ones are farther away, with a leader
SIDES = ((1, 1), (-1, 1), (1, -1), (-1, -1), (1.6, 0), (-1.6, 0), (4, 5), (-4, 5), (4, -5), (-4, -5))
MOST_COVERED = 0.15  # of a name, by points


def name_line_ends(ax: Axes, ends: Mapping[str, float]) -> None:
    """Write names right of the axes, near the heights at which lines end, each with a thin leader."""
    across, height = size_of(ax)
    low, high = ax.get_ylim()
    names = sorted(ends, key=lambda name: ends[name])
    every = max(1, int(np.ceil(len(names) * LINE * LEAST_TEXT / height)))
    every_name(ax, every)
    names = names[::every]
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
            arrowprops=LEADER | {"shrinkA": 1, "shrinkB": 0, "relpos": (0, 0.5)},  # to the left end of the name
        )


def spread(wanted: Floats, gap: float, low: float = -np.inf, high: float = np.inf) -> Floats:
    """Move numbers as little as possible (least squares), so that neighbours are `gap` apart and within bounds.

    Shapes: wanted (N,).

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
    """Write names next to their points, each where it covers least; leave out names without room.

    Shapes: x, y (N,); avoid (M, 2).
    """
    count_points(ax, len(names))
    area = size_of(ax)
    size = max(size * text_size(ax) / mpl.rcParams["font.size"], LEAST_TEXT)
    data = np.column_stack([x, y]) if avoid is None else np.vstack([np.column_stack([x, y]), avoid])
    at = ax.transAxes.inverted().transform(ax.transData.transform(data)) * area  # points from the lower left corner
    if order is None:
        order = np.argsort(-np.abs((at - np.median(at, axis=0)) / area).sum(axis=1)[: len(names)], kind="stable")
    short = shorten([str(name) for name in names], int(NAME_SHARE * area[0] / (LETTER * size)))
    taken = np.hstack([at - 2.5, at + 2.5])  # boxes: left, bottom, right, top
    few = len(order) < len(names)
    for i in order:
        extent = extent_of(ax, short[i], size)
        boxes = np.array([box_beside(at[i], side, *extent) for side in SIDES])
        outside = (boxes[:, 0] < 0) | (boxes[:, 2] > area[0])
        costs = np.array([overlaps(box, taken).sum() for box in boxes]) / extent.prod() + outside
        # names may cover points, but not each other, nor, where most points have none, the lines that lead to others
        whole = np.hstack([np.minimum(boxes[:, :2], at[i]), np.maximum(boxes[:, 2:], at[i])]) if few else boxes
        costs += [overlaps(box, taken[len(at) :]).any() for box in whole]
        best = int(np.argmin(costs + 0.001 * np.arange(len(SIDES))))  # nearer sides come first
        if costs[best] > MOST_COVERED:
            continue
        taken = np.vstack([taken, whole[best]])
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
            label=POINT_NAME,
        )


def box_beside(point: Floats, side: tuple[float, float], width: float, height: float) -> Floats:
    """Return the box of a name next to its point: left, bottom, right, top, in points.

    Shapes: point (2,).

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
