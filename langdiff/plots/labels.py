"""Names at the right ends of lines, pushed apart so that all can be read; and where a name beside a point would lie."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy.optimize import isotonic_regression

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]
Box = tuple[float, float, float, float]  # left, bottom, right, top; in points, as 1/72 inch


def name_line_ends(ax: "Axes", ends: Mapping[str, float], colour: str = "#333333") -> None:
    """Write names right of the axes, near the heights at which lines end, each with a thin leader.

    Parameters
    ----------
    ax : Axes
        Its vertical limits must be final.
    ends : mapping from name to float
        Height of a line's end, in data units.
    """
    figure = ax.get_figure(root=True)
    height = 72 * ax.get_position().height * (figure.get_figheight() if figure else 4.8)  # points
    low, high = ax.get_ylim()
    wanted = (np.array(list(ends.values())) - low) / (high - low)  # axes fractions
    size = float(np.clip(0.85 * height / len(ends), 3.5, 8.5))
    places = spread(wanted, min(1.15 * size / height, 1 / len(ends)))
    for name, end, place in zip(ends, wanted, places, strict=True):
        ax.annotate(
            name,
            xy=(1.0, float(end)),
            xytext=(1.0 + 0.04, float(place)),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=size,
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": "#bbbbbb", "linewidth": 0.5, "shrinkA": 1, "shrinkB": 0},
        )


def spread(wanted: Floats, gap: float) -> Floats:
    """Move numbers as little as possible (least squares), so that neighbours are `gap` apart.

    Parameters
    ----------
    wanted : ndarray, shape (N,)
        Where they would be.
    gap : float
        Least distance of two.

    Returns
    -------
    ndarray, shape (N,)
        In the order of `wanted`.

    Examples
    --------
    >>> spread(np.array([0.5, 0.1, 0.5]), 0.2).round(2)
    array([0.4, 0.1, 0.6])
    """
    order = np.argsort(wanted, kind="stable")
    steps = gap * np.arange(len(wanted))
    moved = np.empty(len(wanted))
    moved[order] = isotonic_regression(wanted[order] - steps).x + steps  # less the steps, they must not fall
    return moved


def box_beside(point: Floats, side: tuple[int, int], width: float, height: float) -> Box:
    """Return the box of a name on one side of its point.

    Parameters
    ----------
    point : ndarray, shape (2,)
        Where the point is.
    side : tuple of int
        1 for right and -1 for left of it; 1 for above and -1 for below.
    width, height : float
        Of the name.

    Examples
    --------
    >>> box_beside(np.array([10.0, 10.0]), (-1, 1), 20, 5)
    (-13.0, 12.0, 7.0, 17.0)
    """
    left = float(point[0]) + (3 if side[0] > 0 else -3 - width)
    bottom = float(point[1]) + (2 if side[1] > 0 else -2 - height)
    return (left, bottom, left + width, bottom + height)


def overlap(one: Box, other: Box) -> float:
    """Return the area that two boxes share.

    Examples
    --------
    >>> overlap((0, 0, 2, 2), (1, 1, 5, 5)), overlap((0, 0, 1, 1), (2, 0, 3, 1))
    (1.0, 0.0)
    """
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return float(max(wide, 0) * max(high, 0))
