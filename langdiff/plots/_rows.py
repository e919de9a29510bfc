"""Names in pictures: one per row, next to points, at the ends of lines; order and colours of editions."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Literal, ParamSpec, TypeVar, get_args

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import is_color_like
from matplotlib.lines import Line2D
from scipy.optimize import isotonic_regression

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, listing, option
from langdiff.plots._axes import (
    BACKING,
    FAINT,
    GREY,
    INK,
    LEAST_TEXT,
    LETTER,
    LINE,
    NAME_SHARE,
    PAGE,
    POINT_NAME,
    SERIES,
    axes_of,
    count_points,
    every_name,
    extent_of,
    part_numbers,
    size_of,
    text_size,
)
from langdiff.plots._names import breadth, shorten, with_note

P = ParamSpec("P")
R = TypeVar("R")
LOWEST = 2.2  # inches of a figure with rows: room for title, legend and labels
FEW_ROWS = 40  # with more rows, each is lower
ROWS_OF_COLUMNS = (45, 90)  # up to which rows named are in one column, in two; more are in three
NAMES_OF_COLUMN = 0.6  # of the width of one of several columns that names may take
ROW = 0.19  # inches of a row in several columns
Order = Literal["estimate", "name", "family"]
Color = Literal["family", "script", "macroarea"]
ORDERS, COLUMNS = get_args(Order), get_args(Color)
COLOURED = 7  # groups, the most frequent; the others are grey
UNKNOWN = "not known"


def row_axes(
    ax: Axes | None, names: Iterable[Any], width: float = 6.4, *, notes: Sequence[str] = (), guides: bool = True
) -> Axes:
    """Return axes with one named row per name, the first lowest; new ones are as high as the rows need."""
    names = list(names)
    count = len(names)
    columns = _columns.get()
    if ax is None and columns is not None and count > ROWS_OF_COLUMNS[0]:
        import matplotlib.pyplot as plt

        parts = 2 if count <= ROWS_OF_COLUMNS[1] else 3
        letters = max(map(breadth, map(str, names))) + max(map(len, notes), default=0)
        while parts > 1 and LETTER * LEAST_TEXT * letters > NAMES_OF_COLUMN * 72 * PAGE[0] / parts:
            parts -= 1
        height = min(PAGE[1], 1.4 + ROW * -(-count // parts))
        shape: dict[str, Any] = {"sharex": True, "squeeze": False, "layout": "constrained"}
        columns.axes = list(plt.subplots(1, parts, figsize=(PAGE[0], height), **shape)[1][0])
        ax = columns.axes[0]
    ax = axes_of(ax, width, max(LOWEST, 1.2 + count * (0.26 if count <= FEW_ROWS else 0.15)))
    shown = columns.shown(count) if columns is not None else range(count)
    per = columns.per(count) if columns is not None else count
    name_rows(ax, [names[k] for k in shown], first=shown.start, notes=[notes[k] for k in shown] if notes else ())
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(shown.stop - per - 0.7, shown.stop - 0.3)
    if guides:
        ax.hlines(range(count), 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    return ax


@dataclass
class _Columns:
    """Columns that the rows of a picture are dealt to, from the top of the first; each draws all and shows its part."""

    axes: list[Axes] = field(default_factory=list)
    at: int = 0  # which of them is drawn

    def shown(self, count: int) -> range:
        """Return the places of the rows that are shown in this column."""
        per = self.per(count)
        return range(max(0, count - (self.at + 1) * per), count - self.at * per)

    def per(self, count: int) -> int:
        """Return the number of rows of a column."""
        return -(-count // max(len(self.axes), 1))

    def finish(self) -> None:
        """Write title, legend and labels of the axes once for all columns."""
        figure: Any = self.axes[0].get_figure(root=True)
        title, legend = self.axes[0].get_title(loc="left"), self.axes[0].get_legend()
        for ax in self.axes[1:]:
            ax.set_ylabel("")
        labels = [(child.get_xlabel(), child.get_ylabel()) for child in self.axes[0].child_axes]
        below = self.axes[0].get_xlabel()
        below += "".join(f"; above: {above}" if above else f"; right: {right}" for above, right in labels)
        size = text_size(self.axes[0])
        for ax in self.axes:
            ax.set_title("", loc="left")
            ax.set_xlabel("")
            for child in ax.child_axes:
                child.set(xlabel="", ylabel="")
            if (own := ax.get_legend()) is not None:
                own.remove()
        figure.supxlabel(below, fontsize=size, wrap=True)
        if title:
            figure.suptitle(title, fontsize=1.1 * size, x=0.01, ha="left")
        if legend is not None:
            handles, labels = self.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper right", ncols=4, frameon=False, fontsize=0.9 * size)
        figure.draw_without_rendering()  # the width of the axes is known only then
        for ax in self.axes:
            for each in (ax, *ax.child_axes):
                part_numbers(each.xaxis)


_columns: ContextVar[_Columns | None] = ContextVar("_columns", default=None)


def in_columns(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that draws named rows, so that many are in two or three columns of one page.

    Rows are dealt out only if the function makes a new figure: up to 45 rows are in one column, up to 90 in two, more
    in three, with a common x axis, within 7.1 × 9.6 inches. The function is called once per column, and returns the
    axes of the first, which holds the uppermost rows.
    """

    @wraps(function)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> R:
        bound = signature.bind(*args, **kwargs)
        if bound.arguments.get("ax") is not None:
            return function(*args, **kwargs)
        columns = _Columns()
        token = _columns.set(columns)
        try:
            first = function(*args, **kwargs)
            for at, ax in enumerate(columns.axes[1:], 1):
                columns.at, bound.arguments["ax"] = at, ax
                function(*bound.args, **bound.kwargs)
        finally:
            _columns.reset(token)
        if columns.axes:
            columns.finish()
        return first

    signature = inspect.signature(function)
    return drawn


def name_rows(
    ax: Axes, names: Iterable[Any], *, first: int = 0, notes: Sequence[str] = (), share: float = 1.0
) -> float:
    """Write names next to rows at first, first + 1, …, as `row_axes` does; return the text size in points.

    Rows take a share of the height of the axes before the layout is made, if long names below will take the rest.
    """
    labels = [str(name) for name in names]
    across, down = size_of(ax) * (1.0, share)
    text = float(np.clip(0.75 * down / max(len(labels), 1), LEAST_TEXT, text_size(ax)))
    labels = shorten(labels, int(NAME_SHARE * across / (LETTER * text)))
    if notes:
        labels = [with_note(label, note) for label, note in zip(labels, notes, strict=True)]
    every = max(1, int(np.ceil(len(labels) * LINE * LEAST_TEXT / down)))
    if every == 2 and not notes:
        _stagger(ax, labels, first, text)
        return text
    every_name(ax, every)
    ax.set_yticks(range(first, first + len(labels), every), labels[::every], fontsize=text)
    return text


def _stagger(ax: Axes, labels: Sequence[str], first: int, text: float) -> None:
    """Write names in two columns, every second one farther from the axes, with a line that leads to its row."""
    short = shorten(labels, int(NAME_SHARE * size_of(ax)[0] / (2 * LETTER * text)))
    ax.set_yticks(range(first, first + len(short), 2), short[::2], fontsize=text)
    ax.set_yticks(range(first + 1, first + len(short), 2), short[1::2], fontsize=text, minor=True)
    widest = max(float(extent_of(ax, name, text)[0]) for name in short[::2])
    ax.tick_params(axis="y", which="minor", length=widest + 6, pad=2, color=FAINT, width=0.5)


def groups_of(source: Any, column: str, names: pd.Index, parameter: str) -> pd.Series:
    """Return the group of each edition, as text.

    Examples
    --------
    >>> info = pd.DataFrame({"family": ["Uralic"]}, index=["fin"])
    >>> groups_of(info, "family", pd.Index(["fin", "vie"]), "color").to_dict()
    {'fin': 'Uralic', 'vie': 'not known'}
    """
    info = source if isinstance(source, pd.DataFrame) else getattr(source, "edition_info", None)
    if info is None or column not in info:
        known = "nothing is known of its editions" if info is None else f"it has {listing(info.columns)}"
        raise ConfigError(
            f"{option(parameter, column)}: what is drawn has no column {column!r} of editions; {known}. Texts read "
            "with a table of editions keep such columns in surprisals and fits."
        )
    groups = info[column].reindex(names)
    return groups.where(groups.notna() & (groups.astype(str) != ""), UNKNOWN).astype(str)


def arrange(values: pd.Series, order: Order, source: Any) -> pd.Index:
    """Return editions from the lowest row to the highest: by their values, by name, or by family.

    Families stand in the order of their largest value, and editions within them by their values.
    """
    if order not in ORDERS:
        raise ConfigError(f"{option('order')} is one of {listing(ORDERS)}; got {order!r}.")
    rows = values.sort_values(kind="stable")
    if order == "name":
        return rows.sort_index(ascending=False, key=lambda names: names.astype(str)).index
    if order == "family":
        family = groups_of(source, "family", rows.index, "order")
        largest = rows.groupby(family.to_numpy()).transform("max").to_numpy()
        return rows.index[np.lexsort([rows.to_numpy(), family.to_numpy(dtype=str), largest])]
    return rows.index


def colours_of(names: pd.Index, color: Color | str, source: Any) -> tuple[list[str], dict[str, Artist]]:
    """Return the colour of each edition, and a legend with the number of editions of each group.

    A colour of Matplotlib in place of a column is the colour of all, without a legend.
    """
    if color not in COLUMNS and is_color_like(color):
        return [color] * len(names), {}
    groups = groups_of(source, color, names, "color")
    counts = groups[groups != UNKNOWN].value_counts()
    shown = dict(zip(counts.index[:COLOURED], SERIES, strict=False))
    marks = {f"{name} ({counts[name]})": colour for name, colour in shown.items()}
    if rest := len(groups) - int(counts.iloc[:COLOURED].sum()):
        marks[f"{'others' if len(counts) > COLOURED else UNKNOWN} ({rest})"] = GREY
    legend: dict[str, Artist] = {
        label: Line2D([], [], color=colour, marker="o", linestyle="none", markersize=5)
        for label, colour in marks.items()
    }
    return [shown.get(name, GREY) for name in groups], legend


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
