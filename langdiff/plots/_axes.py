"""Elements of all pictures: colours, new axes, rows with names, labels, legend and frame."""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, ParamSpec, TypeVar

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import QuadMesh
from matplotlib.image import AxesImage
from matplotlib.ticker import AutoLocator, Locator, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

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
LEAST_TEXT = 4.5  # points
MARGIN = 30.0  # points, which names beside the axes may take before the axes become narrower
HANDLE = 6  # letters that take as much room as what stands before a label of a legend
FEWEST_TICKS = 3  # of a logarithmic axis
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
    ax = axes_of(ax, width, max(LOWEST, 1.2 + count * (0.26 if count <= FEW_ROWS else 0.15)))
    name_rows(ax, names, notes=notes)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(-0.7, count - 0.3)
    if guides:
        ax.hlines(range(count), 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    return ax


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
    show_names(ax)
    return ax


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
