"""Elements of all pictures: colours, new axes, labels, legend and frame."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import pairwise
from pathlib import Path
from textwrap import wrap
from typing import Any, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakSet

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.collections import QuadMesh
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from matplotlib.text import Text
from matplotlib.ticker import AutoLocator, FixedLocator, Locator, LogLocator, MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox, ScaledTranslation

from langdiff.base.result import opened
from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._names import breadth, choose_fonts, shorten, show_names, tick_names

P = ParamSpec("P")
R = TypeVar("R")
Kind = type | str


def takes(
    name: str, kind: Kind | tuple[Kind, ...], what: str, *, columns: Sequence[str] = ()
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorate a function to check one of its arguments before a picture is begun, and to read it where it is a file.

    Examples
    --------
    >>> @takes("counts", pd.Series, "counts of intents")
    ... def plot_counts(counts, ax=None): ...
    >>> plot_counts("counts")
    Traceback (most recent call last):
    langdiff.errors.DataError: plot_counts draws counts of intents; counts is a str.
    """
    kinds = kind if isinstance(kind, tuple) else (kind,)

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        optional = signature.parameters[name].default is None

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            value = bound.arguments.get(name)
            if isinstance(value, str | Path):
                value = bound.arguments[name] = opened(value)
            if not (value is None and optional) and not any(is_kind(value, each) for each in kinds):
                given = "None" if value is None else f"a {type(value).__name__}"
                raise DataError(f"{function.__name__} draws {what}; {name} is {given}.")
            if lacking := [column for column in columns if isinstance(value, pd.DataFrame) and column not in value]:
                raise DataError(f"{function.__name__} draws {what}; {name} has no column {lacking[0]!r}.")
            return function(*bound.args, **bound.kwargs)

        return checked

    return decorate


def is_kind(value: object, kind: Kind) -> bool:
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
MAUVE, SKY, BROWN, INK = "#b279a0", "#8388ff", "#5e3300", "#333333"  # ink is for text and axes, too
GREY, FAINT = "#aaaaaa", "#d5d5d5"  # what stands back; guides
SERIES = (BLUE, RUST, GREEN, VIOLET, MAUVE, SKY, BROWN, INK)
# one for each colour of a series
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
LINES = ("-", "--", "-.", ":", (0, (6, 2, 1, 2, 1, 2)), (0, (1, 3)), (0, (8, 2)), (0, (3, 1)))
EASIER, HARDER = BLUE, RUST  # than the average
DASHED = (0, (4, 4))
# behind text that may stand on lines; an outline of the letters would turn the text of an SVG into paths
BACKING: dict[str, Any] = {"facecolor": "white", "alpha": 0.75, "linewidth": 0, "pad": 0.3}
WIDE = 250.0  # points; in narrower axes, text is smaller
LETTER, LINE = 0.55, 1.15  # width of a letter and height of a line, as shares of the size of text
POINT_NAME = "_name of a point"  # label of texts of which none may overlap; the _ keeps it out of legends
MOST_LINES = 3  # of a name below the axes
MOST_ENTRIES = 12  # of a legend; more are counted
LEAST_TEXT = 6.0  # points, which can still be read in print
MARGIN = 30.0  # points, which names beside the axes may take before the axes become narrower
HANDLE = 6  # letters that take as much room as what stands before a label of a legend
FEWEST_LETTERS = 8  # of a name below the axes
FEWEST_TICKS = 3  # of a logarithmic axis
PAGE = (7.1, 9.6)  # inches: the largest figure that is made without being asked for
NAME_SHARE = 0.5  # of the width of axes that the name of a row may take beside them


_own: WeakSet[Axes] = WeakSet()  # of new figures, whose size is ours
_notes: WeakKeyDictionary[Axes, list[str]] = WeakKeyDictionary()
_points: WeakKeyDictionary[Axes, int] = WeakKeyDictionary()  # how many have a name, if there is room for it


def axes_of(ax: Axes | None, width: float = 6.4, height: float = 4.8) -> Axes:
    """Return the axes given, or those of a new figure of some size in inches; small axes have small numbers.

    A new figure is no larger than `PAGE`, on which it can be printed.
    """
    if ax is None:
        import matplotlib.pyplot as plt

        size = (min(width, PAGE[0]), min(height, PAGE[1]))
        ax = plt.subplots(figsize=size, layout="constrained")[1]
        _own.add(ax)
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


def note_on(ax: Axes, note: str) -> None:
    """Have `finish` write a note below the axes, such as which names are left out."""
    _notes.setdefault(ax, []).append(note)


def count_points(ax: Axes, count: int) -> None:
    """Have `finish` say how many of all points are named, unless all are."""
    _points[ax] = count


def every_name(ax: Axes, every: int) -> None:
    """Have `finish` say that only every second, third, … name is written."""
    if every > 1:
        ends = {1: "st", 2: "nd", 3: "rd"} if every not in (11, 12, 13) else {}
        note_on(ax, f"every {every}{ends.get(every % 10, 'th')} name is written")


def extent_of(ax: Axes, name: str, size: float) -> Floats:
    """Return the width and height of a name as it is drawn, with a font that has its letters, in points, shape (2,)."""
    page: Any = ax.get_figure(root=True)
    text = ax.text(0, 0, name, fontsize=size, parse_math=False)
    choose_fonts([text])
    extent: Floats = np.array(text.get_window_extent().size) * 72 / page.dpi
    text.remove()
    return extent


def letters_of(ax: Axes, name: str, size: float) -> float:
    """Return the width of a name in letters, of the font that draws it where letters are not Latin."""
    if "\n" in name:
        return max(letters_of(ax, line, size) for line in name.split("\n"))
    if name.isascii():
        return len(name)
    return max(breadth(name), float(extent_of(ax, name, size)[0]) / (LETTER * size))


def add_colorbar(ax: Axes, mesh: QuadMesh | AxesImage, label: str, **settings: Any) -> None:
    """Add a colour bar, with text of the size of that of the axes."""
    figure = ax.get_figure(root=True)
    if figure is not None:
        bar = figure.colorbar(mesh, ax=ax, **({"pad": 0.02} | settings))
        letters = max(1, int(size_of(ax)[1] / (LETTER * text_size(ax))))
        bar.set_label("\n".join(wrap(label, letters)), fontsize=text_size(ax))
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
    """Finish a picture: labels, legend and title, the frame, and the fonts of names."""
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
        locator.set_params(nbins=int(np.clip(across / 7, 3, 9)))
    for side, spine in ax.spines.items():
        spine.set_visible(side in keep)
    _thin_ticks(ax, across)
    legend_drawn = ax.get_legend()
    for text in [*ax.texts, *([] if legend_drawn is None else legend_drawn.get_texts())]:
        text.set_fontsize(max(text.get_fontsize(), LEAST_TEXT))
    show_names(ax)
    _write_notes(ax, xlabel)
    return ax


def _write_notes(ax: Axes, xlabel: str) -> None:
    """Write notes below the axes; names of points that overlap are removed first, and counted."""
    count, notes = _points.pop(ax, 0), _notes.pop(ax, [])

    def write(named: int) -> None:
        told = [f"{named} of {count} named", *notes] if named < count else notes
        if told:
            label = f"{xlabel}\n({'; '.join(dict.fromkeys(told))})".lstrip()
            ax.set_xlabel(label, fontsize=text_size(ax), wrap=ax.xaxis.label.get_wrap())

    names = [text for text in ax.texts if text.get_label() == POINT_NAME]
    write(len(names))  # the label takes room, too
    if _part_names(ax, names):
        write(sum(text.get_label() == POINT_NAME for text in ax.texts))


def _part_names(ax: Axes, names: Sequence[Text]) -> bool:
    """Remove names of points that overlap more important ones, which were written before, once axes have their size."""
    if len(names) < 2:
        return False
    page: Any = ax.get_figure(root=True)
    page.draw_without_rendering()
    kept: list[Bbox] = []
    for name in names:
        box = Text.get_window_extent(name)  # without the line that leads to the point
        if any(box.overlaps(other) for other in kept):
            name.remove()
        else:
            kept.append(box)
    return len(kept) < len(names)


def part_numbers(axis: Axis) -> None:
    """Write every second, third, … number of an axis that is laid out, until none touch."""
    low, high = sorted(axis.get_view_interval())
    ticks = [tick for tick in axis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [(tick.label2 if tick.label2.get_visible() else tick.label1).get_window_extent() for tick in ticks]
    every = 1
    while any(left.x1 + 3 > right.x0 for left, right in pairwise(boxes[::every])):
        every += 1
    if every > 1:
        axis.set_major_locator(FixedLocator([tick.get_loc() for tick in ticks[::every]]))


def _thin_ticks(ax: Axes, letters: float) -> None:
    """Shorten names below the axes to the room between ticks; where it is too narrow, write every second, third, …."""
    labels = tick_names(ax.xaxis)
    if not isinstance(ax.xaxis.get_major_locator(), FixedLocator) or len(ticks := ax.get_xticks()) < 2 or not labels:
        return
    names = [label.get_text() for label in labels[: len(ticks)]]
    places = ax.transData.transform(np.column_stack([ticks, np.zeros(len(ticks))]))
    shares = np.sort(ax.transAxes.inverted().transform(places)[:, 0])
    first = labels[0]
    size, angle = float(first.get_fontsize()), np.deg2rad(first.get_rotation())
    if not any(names):
        return
    room = float(np.diff(shares).min()) * min(size_of(ax)[0], letters * LETTER * size)  # points
    if angle:
        room *= np.sin(angle)
        size = float(np.clip(room / LINE, LEAST_TEXT, size))
        every = max(1, int(np.ceil(LINE * size / room)))
        names = shorten(names, int(NAME_SHARE * size_of(ax)[1] / (np.sin(angle) * LETTER * size)))
    else:
        room = room / (LETTER * size) - 1  # letters
        if max(letters_of(ax, name, size) for name in names) <= room:
            return
        names = _in_lines(names, int(room))
        every = max(1, int(np.ceil(FEWEST_LETTERS / max(room, 0.1))))
        if not any("\n" in name for name in names):
            names = shorten(names, max(FEWEST_LETTERS, int(room * every)))
    every_name(ax, every)
    kept: dict[str, Any] = {"rotation": first.get_rotation(), "ha": first.get_horizontalalignment(), "fontsize": size}
    kept["rotation_mode"] = first.get_rotation_mode()
    ax.set_xticks(ticks, [name if k % every == 0 else "" for k, name in enumerate(names)], **kept)


def _in_lines(names: Sequence[str], letters: int) -> list[str]:
    """Return names of several words broken into lines of at most a number of letters, if all fit; else as they are."""
    lines = [wrap(name, max(letters, 1), break_long_words=False, break_on_hyphens=False) for name in names]
    fit = all(len(parts) <= MOST_LINES and max(map(breadth, parts), default=0) <= letters for parts in lines)
    return ["\n".join(parts) for parts in lines] if fit else list(names)


def _legend_above(ax: Axes, entries: Mapping[str, Artist], size: float, raised: float) -> float:
    """Draw a legend above the axes, in as few rows as their width allows; return its height in points."""
    if len(entries) > MOST_ENTRIES:
        kept = list(entries.items())[: MOST_ENTRIES - 1]
        entries = dict(kept) | {f"and {len(entries) - len(kept)} more": Line2D([], [], linestyle="none")}
    beside = max((LETTER * text_size(ax) * breadth(name.get_text()) for name in tick_names(ax.yaxis)), default=0.0)
    letters = (size_of(ax)[0] - max(0.0, beside - MARGIN)) / (LETTER * size)  # in a row
    labels = shorten(list(entries), max(12, int(letters) - HANDLE))
    columns = max(1, int(letters / (max(letters_of(ax, label, size) for label in labels) + HANDLE)))
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
    height = size * (1.5 * rows + 0.6)
    if ax in _own and rows > 1 and figure is not None:  # axes keep their height
        figure.set_figheight(min(figure.get_figheight() + height / 72, PAGE[1]))
    return height


def plain_log_ticks(axis: Axis) -> None:
    """Write 1, 2, 5, 10, … on a logarithmic axis after drawing; equal steps where these are too few."""
    low, high = axis.get_view_interval()
    locator: Locator = LogLocator(subs=(1.0, 2.0, 5.0))
    if sum(low <= tick <= high for tick in locator.tick_values(low, high)) < FEWEST_TICKS:
        locator = MaxNLocator(nbins=6, steps=[1, 2, 5, 10])
    axis.set_major_locator(locator)
    axis.set_major_formatter("{x:,g}")
    axis.set_minor_formatter(NullFormatter())
