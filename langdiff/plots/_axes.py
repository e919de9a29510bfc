"""Elements of all pictures: colours, new axes, rows with names, labels, legend and frame."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property, wraps
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import QuadMesh
from matplotlib.image import AxesImage
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, FixedFormatter, FixedLocator, Locator, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox, ScaledTranslation

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._names import breadth, shorten, show_names, tick_names, with_note

P = ParamSpec("P")
R = TypeVar("R")
Kind = type | str


def takes(
    name: str, kind: Kind | tuple[Kind, ...], what: str, *, columns: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function to check one of its arguments before a picture is begun.

    Parameters
    ----------
    name : str
        Name of the argument; where it is optional, None is accepted.
    kind : type, str, or tuple of them
        Classes, of which one is enough; or the attributes and methods that are enough whatever the class, such as
        ``"reference to_frame()"``.
    what : str
        What to give, in words.
    columns : sequence of str
        Columns that a frame must have.

    Examples
    --------
    >>> @takes("counts", pd.Series, "counts of intents")
    ... def plot_counts(counts, ax=None): ...
    >>> plot_counts("counts.csv")
    Traceback (most recent call last):
    langdiff.errors.DataError: plot_counts draws counts of intents; counts is a str.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        optional = signature.parameters[name].default is None

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            value = signature.bind(*args, **kwargs).arguments.get(name)
            if not (value is None and optional) and not any(_is(value, each) for each in kinds):
                given = "None" if value is None else f"a {type(value).__name__}"
                raise DataError(f"{function.__name__} draws {what}; {name} is {given}.")
            if lacking := [column for column in columns if isinstance(value, pd.DataFrame) and column not in value]:
                raise DataError(f"{function.__name__} draws {what}; {name} has no column {lacking[0]!r}.")
            return function(*args, **kwargs)

        return checked

    return decorate


def _is(value: object, kind: Kind) -> bool:
    """Return whether a value is of a class or has all attributes named, without computing its properties."""
    if not isinstance(kind, str):
        return isinstance(value, kind)
    for name in kind.split():
        found = inspect.getattr_static(value, name.removesuffix("()"), None)
        method = inspect.isroutine(found) and not isinstance(found, cached_property)  # which has __get__ alone, too
        if found is None or (method and not name.endswith("()")):
            return False
    return True


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
# behind text that may stand on lines; an outline of the letters would turn the text of an SVG into paths
BACKING: dict[str, Any] = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.3}
LOWEST = 2.2  # inches of a figure with rows: room for title, legend and labels
FEW_ROWS = 40  # with more rows, each is lower
WIDE = 250.0  # points; in narrower axes, text is smaller
LETTER, LINE = 0.55, 1.15  # width of a letter and height of a line, as shares of the size of text
POINT_NAME = "name of a point"  # group of texts of which none may overlap
LEAST_TEXT = 6.0  # points, which can still be read in print
MARGIN = 30.0  # points, which names beside the axes may take before the axes become narrower
HANDLE = 6  # letters that take as much room as what stands before a label of a legend
FEWEST_LETTERS = 8  # of a name below the axes
FEWEST_TICKS = 3  # of a logarithmic axis
ROWS_OF_COLUMNS = (45, 90)  # up to which rows named are in one column, in two; more are in three
PAGE = (7.1, 9.6)  # inches: the largest figure of several columns
NAMES_OF_COLUMN = 0.6  # of the width of one of several columns that names may take
ROW = 0.19  # inches of a row in several columns
NAME_SHARE = 0.5  # of the width of axes that the name of a row may take beside them


def axes_of(ax: Axes | None, width: float = 6.4, height: float = 4.8) -> Axes:
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
        columns.axes = list(plt.subplots(1, parts, sharex=True, figsize=(PAGE[0], height), layout="constrained")[1])
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
        below, above = self.axes[0].get_xlabel(), [child.get_xlabel() for child in self.axes[0].child_axes]
        size = text_size(self.axes[0])
        for ax in self.axes:
            ax.set_title("", loc="left")
            ax.set_xlabel("")
            for child in ax.child_axes:
                child.set_xlabel("")
            if (own := ax.get_legend()) is not None:
                own.remove()
        figure.supxlabel(below + "".join(f"; above: {label}" for label in above), fontsize=size, wrap=True)
        if title:
            figure.suptitle(title, fontsize=1.1 * size, x=0.01, ha="left")
        if legend is not None:
            handles, labels = self.axes[0].get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper right", ncols=4, frameon=False, fontsize=0.9 * size)
        figure.draw_without_rendering()  # the width of the axes is known only then
        for ax in self.axes:
            for each in (ax, *ax.child_axes):
                _part_numbers(each.xaxis)


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


def name_rows(ax: Axes, names: Iterable[Any], *, first: int = 0, notes: Sequence[str] = ()) -> float:
    """Write names next to rows at first, first + 1, …, as `row_axes` does; return the text size in points."""
    labels = [str(name) for name in names]
    across, down = size_of(ax)
    text = float(np.clip(0.75 * down / max(len(labels), 1), LEAST_TEXT, text_size(ax)))
    labels = shorten(labels, int(NAME_SHARE * across / (LETTER * text)))
    if notes:
        labels = [with_note(label, note) for label, note in zip(labels, notes, strict=True)]
    every = max(1, int(np.ceil(len(labels) * LINE * LEAST_TEXT / down)))
    ax.set_yticks(range(first, first + len(labels), every), labels[::every], fontsize=text)
    return text


def add_colorbar(ax: Axes, mesh: QuadMesh | AxesImage, label: str, **settings: Any) -> None:
    """Add a colour bar, with text of the size of that of the axes."""
    figure = ax.get_figure(root=True)
    if figure is not None:
        bar = figure.colorbar(mesh, ax=ax, **({"pad": 0.02} | settings))
        bar.set_label(label, fontsize=text_size(ax))
        bar.ax.tick_params(labelsize=0.9 * text_size(ax))


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
    """Finish a picture: labels, legend and title, the frame, and the fonts of names.

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
    # only what is too long is wrapped: Matplotlib wraps at the edges of axes that its layout has not yet placed
    across, down = size_of(ax) / (LETTER * size)  # letters
    beside = max((breadth(label.get_text()) for label in ax.get_yticklabels()), default=0)
    page: Any = ax.get_figure(root=True)
    across = min(across, 72 * page.get_size_inches()[0] / (LETTER * size) - beside)  # what long names leave
    if len(xlabel) > across:
        xlabel = xlabel.replace(" %", "\N{NO-BREAK SPACE}%")
    ax.set_xlabel(xlabel, fontsize=size, wrap=len(xlabel) > across)
    ax.set_ylabel(ylabel, fontsize=size, wrap=len(ylabel) > down)
    if legend is True:
        handles, labels = ax.get_legend_handles_labels()
        legend = dict(zip(labels, handles, strict=True))
    if legend:
        raised += _legend_above(ax, legend, 0.9 * size, raised)
    if title:
        pad = mpl.rcParams["axes.titlepad"] + raised
        ax.set_title(title, loc="left", fontsize=1.1 * size, pad=pad, wrap=1.1 * len(title) > across)
    locator = ax.xaxis.get_major_locator()
    if isinstance(locator, AutoLocator):  # which takes numbers to be shorter than those below 0.1
        locator.set_params(nbins=int(np.clip(size_of(ax)[0] / (7 * LETTER * size), 3, 9)))
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    _thin_ticks(ax)
    legend_drawn = ax.get_legend()
    for text in [*ax.texts, *([] if legend_drawn is None else legend_drawn.get_texts())]:
        text.set_fontsize(max(text.get_fontsize(), LEAST_TEXT))
    show_names(ax)
    _part_names(ax)
    return ax


def _part_names(ax: Axes) -> None:
    """Remove names of points that overlap more important ones, which were written before, once axes have their size."""
    names = [text for text in ax.texts if text.get_gid() == POINT_NAME]
    if len(names) < 2:
        return
    page: Any = ax.get_figure(root=True)
    page.draw_without_rendering()
    kept: list[Bbox] = []
    for name in names:
        box = Text.get_window_extent(name)  # without the line that leads to the point
        if any(box.overlaps(other) for other in kept):
            name.remove()
        else:
            kept.append(box)


def _part_numbers(axis: Axis) -> None:
    """Write every second, third, … number of an axis that is laid out, until none touch."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [(tick.label2 if tick.label2.get_visible() else tick.label1).get_window_extent() for tick in ticks]
    every = 1
    while any(left.x1 + 3 > right.x0 for left, right in pairwise(boxes[::every])):
        every += 1
    if every > 1:
        axis.set_major_locator(FixedLocator([tick.get_loc() for tick in ticks[::every]]))


def _thin_ticks(ax: Axes) -> None:
    """Shorten names below the axes to the room between ticks; where it is too narrow, write every second, third, …."""
    formatter = ax.xaxis.get_major_formatter()
    if not isinstance(formatter, FixedFormatter) or len(ticks := ax.get_xticks()) < 2:
        return
    names = list(formatter.seq)
    apart = (
        float(
            np.diff(
                np.sort(
                    ax.transAxes.inverted().transform(
                        ax.transData.transform(np.column_stack([ticks, np.zeros(len(ticks))]))
                    )[:, 0]
                )
            ).min()
        )
        * size_of(ax)[0]
    )  # points
    size = float(ax.xaxis.get_majorticklabels()[0].get_fontsize())
    room = apart / (LETTER * size) - 1  # letters
    if not any(names) or max(map(breadth, names)) <= room or any("\n" in name for name in names):
        return
    every = max(1, int(np.ceil(FEWEST_LETTERS / max(room, 0.1))))
    names = shorten(names, max(FEWEST_LETTERS, int(room * every)))
    ax.set_xticks(ticks, [name if k % every == 0 else "" for k, name in enumerate(names)], fontsize=size)


def _legend_above(ax: Axes, entries: Mapping[str, Artist], size: float, raised: float) -> float:
    """Draw a legend above the axes, in as few rows as their width allows; return its height in points."""
    beside = max((LETTER * text_size(ax) * breadth(name.get_text()) for name in tick_names(ax.yaxis)), default=0.0)
    letters = (size_of(ax)[0] - max(0.0, beside - MARGIN)) / (LETTER * size)  # in a row
    labels = shorten(list(entries), max(12, int(letters) - HANDLE))
    columns = max(1, int(letters / (max(map(breadth, labels)) + HANDLE)))
    rows = int(np.ceil(len(labels) / columns))
    figure = ax.get_figure(root=True)
    place = ax.transAxes
    if figure is not None and raised:
        place = place + ScaledTranslation(0, raised / 72, figure.dpi_scale_trans)
    ax.legend(
        list(entries.values()),
        labels,
        loc="lower left",
        bbox_to_anchor=(0, 1),
        bbox_transform=place,
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
    """Write 1, 2, 5, 10, … on a logarithmic axis after drawing; equal steps where these are too few."""
    low, high = axis.get_view_interval()
    locator: Locator = LogLocator(subs=(1.0, 2.0, 5.0))
    if sum(low <= tick <= high for tick in locator.tick_values(low, high)) < FEWEST_TICKS:
        locator = MaxNLocator(nbins=6, steps=[1, 2, 5, 10])
    axis.set_major_locator(locator)
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())
