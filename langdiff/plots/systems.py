"""Pictures of systems: recall of parsers by construction, and abilities and difficulties on one scale."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._axes import (
    BLUE,
    FAINT,
    GREY,
    INK,
    LEAST_TEXT,
    LETTER,
    LINE,
    MARKERS,
    POINT_NAME,
    RUST,
    SERIES,
    axes_of,
    count_points,
    finish,
    size_of,
    takes,
    text_size,
)
from langdiff.plots._names import shorten
from langdiff.plots._rows import FEW_ROWS, in_columns, row_axes, spread
from langdiff.tables.effects import Effects

if TYPE_CHECKING:
    from langdiff.tables.two_way import TwoWay

BINS = 30
SHARE = 0.9  # of the left half that the longest bar takes
GAP = 0.6  # between phenomena, in columns
WIDTH = 0.5  # of a column's marks
APART = 0.6  # of the distance of rows, which the markers of one language take
ARROW = 0.07  # of the axis, the length of an arrow from a bound


@takes("abilities", Effects, "abilities of systems and difficulties of items")
@takes("items", pd.Series, "abilities of systems and difficulties of items")
@takes("difficulties", Effects, "abilities of systems and difficulties of items")
def plot_wright_map(
    abilities: Effects,
    items: pd.Series,
    difficulties: Effects | None = None,
    ax: Axes | None = None,
    *,
    bounds: pd.Series | None = None,
) -> Axes:
    """Draw difficulties of items as a histogram on the left, abilities with 95 % intervals on the right.

    A system at the height of an item succeeds on it half of the time.

    Parameters
    ----------
    abilities : Effects
        Abilities of systems, log odds.
    items : Series
        Difficulty of each item, log odds.
    difficulties : Effects, optional
        Difficulties of groups of items, written at their heights.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    bounds : Series, optional
        Highest abilities of systems at chance, which are drawn as arrows without a point.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no systems or no items.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit_outcomes(ld.simulate_outcomes(50, 3, seed=1).outcomes)
    >>> plot_wright_map(fit.abilities, fit.items["difficulty"]).get_ylabel()
    'log odds'
    """
    if abilities.estimate.empty or items.empty:
        raise DataError("nothing to draw: there are no systems or no items.")
    ax = axes_of(ax, 6.4, float(np.clip(0.11 * len(abilities.estimate), 4.8, 7.1)))
    counts, edges = np.histogram(items.to_numpy(dtype=float), bins=min(BINS, max(5, len(items) // 4)))
    ax.barh(edges[:-1], -SHARE * counts / counts.max(), height=np.diff(edges), align="edge", color=GREY, linewidth=0)
    ax.axvline(0, color=INK, linewidth=0.8)
    rows = abilities.to_frame()
    heights = rows["ability"].to_numpy()
    x = np.linspace(0.12, 0.45, len(rows)) if len(rows) > 1 else np.array([0.3])
    dot = 4 if len(rows) <= FEW_ROWS else 2
    ax.errorbar(
        x,
        heights,
        yerr=(rows["high"] - rows["ability"]).to_numpy(),
        fmt="o",
        color=BLUE,
        markersize=dot,
        elinewidth=dot / 4,
    )
    names = [str(name) for name in rows.index]
    if bounds is not None and len(bounds):
        low, high = ax.get_ylim()
        places = np.linspace(0.06, 0.11, len(bounds)) if len(bounds) > 1 else np.array([0.08])
        for place, end in zip(places, bounds, strict=True):
            draw_bound(ax, (place, end), (place, end - ARROW * (high - low)), BLUE)
        ax.set_ylim(min(low, bounds.min() - 1.2 * ARROW * (high - low)), high)
        names, heights = [*names, *(f"< {name}" for name in bounds.index)], np.append(heights, bounds)
        x = np.append(x, places)
    _write(ax, 0.55, heights, names, BLUE, x)
    if difficulties is not None:
        groups = difficulties.to_frame()
        heights = groups["difficulty"].to_numpy()
        _write(ax, -1.35, heights, [str(name) for name in groups.index], RUST, np.full(len(groups), -0.02))
    ax.set_xlim(-1.4 if difficulties is not None else -1.0, 1.0)
    ax.set_xticks([-0.5, 0.5], [f"{len(items):,} items", f"{len(rows):,} systems"])
    ax.tick_params(axis="x", length=0)
    return finish(ax, "", "log odds", abilities.title, keep=["left"])


@in_columns
def draw_cells(two_way: "TwoWay", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw levels with 95 % intervals, a row per language and a marker per system; bounds are arrows."""
    cells, sign = two_way.to_frame(), -1 if two_way.system_scale.quantity == "ability" else 1
    ends = np.array(two_way.cells._ends()) - float(two_way.levels.mean())
    measured = cells.iloc[: len(two_way.levels)].assign(
        low=np.min(sign * ends, axis=0), high=np.max(sign * ends, axis=0)
    )
    languages, systems = (
        two_way.leaderboard(f"{of}s").index.append(pd.Index(gaps)) for of, gaps in two_way.without_level.items()
    )
    languages = languages[::sign]  # the ablest or the hardest on top
    ax = row_axes(ax, languages)
    rows = pd.Series(np.arange(len(languages)), languages)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    dot = float(np.clip(0.4 * size_of(ax)[1] / len(rows) / len(systems) ** 0.5, 2.2, 6))
    for number, system in enumerate(systems):
        colour, up = SERIES[number % len(SERIES)], APART * ((len(systems) - 1) / 2 - number) / len(systems)
        own = measured[measured.index.get_level_values("system") == system]
        x = sign * own["level"].to_numpy()
        y = rows[own.index.get_level_values("language")].to_numpy() + up
        usual: dict[str, Any] = {"fmt": MARKERS[number % len(MARKERS)], "color": colour, "markersize": dot}
        usual |= {"elinewidth": dot / 4, "markeredgewidth": 0, "label": str(system)}
        ax.errorbar(x, y, xerr=np.array([x - own["low"], own["high"] - x]), **(usual | style))
    low, high = ax.get_xlim()
    bounded: Any = cells["low"].iloc[len(two_way.levels) :] if "low" in cells else {}
    for (language, system), end in bounded.items():
        number, at = list(systems).index(system), sign * end
        y = rows[language] + APART * ((len(systems) - 1) / 2 - number) / len(systems)
        draw_bound(ax, (at, y), (at - ARROW * (high - low), y), SERIES[number % len(SERIES)])
        low = min(low, at - 1.2 * ARROW * (high - low))
    ax.set_xlim(low, high)
    label = "ability" if sign < 0 else "difficulty"
    bounds = "; arrows: bounds" if len(bounded) else ""
    title = two_way.title if two_way.converged else f"{two_way.title}, NOT CONVERGED"
    name = f"{label} ({two_way.scale.unit}), with 95 % interval{bounds}"
    return finish(ax, name, title=title, keep=["bottom"], legend=True)


def draw_bound(ax: Axes, at: tuple[float, float], to: tuple[float, float], colour: str) -> None:
    """Draw an arrow from a bound to where the quantity may be, without a point."""
    look = {"arrowstyle": "->", "color": colour, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", xy=to, xytext=at, arrowprops=look, annotation_clip=False)


def _write(ax: Axes, at: float, heights: Floats, names: list[str], colour: str, ends: Floats) -> None:
    """Write names in a column, as near to their heights as there is room, with leaders to their points."""
    across, down = size_of(ax)
    low, high = ax.get_ylim()
    shown = slice(None, None, int(np.ceil(len(names) * LINE * LEAST_TEXT / down)))
    heights, ends, names = heights[shown], ends[shown], names[shown]
    size = float(np.clip(0.85 * down / len(names), LEAST_TEXT, 0.8 * text_size(ax)))
    names = shorten(names, int(0.2 * across / (LETTER * size)))
    places = spread(heights, min(LINE * size / down, 1 / len(names)) * (high - low), low, high)
    for name, height, place, end in zip(names, heights, places, ends, strict=True):
        ax.annotate(
            name,
            xy=(float(end), float(height)),
            xytext=(at, float(place)),
            va="center",
            fontsize=size,
            color=colour,
            arrowprops={"arrowstyle": "-", "color": GREY, "linewidth": 0.5, "shrinkA": 1, "shrinkB": 3},
        )


@takes("table", pd.DataFrame, "a table of the scores of constructions")
def plot_constructions(table: pd.DataFrame, ax: Axes | None = None, *, title: str = "", **style: Any) -> Axes:
    """Draw recall of parsers by type of dependency, one column per type and one mark per parser.

    Columns are drawn in the order of the table, those of a phenomenon side by side. Bars are intervals, if there are
    any.

    Parameters
    ----------
    table : DataFrame
        One row per ``phenomenon``, ``type`` and ``parser``, with ``recall`` and perhaps ``low`` and ``high``, in the
        order to draw, such as that of ``to_frame`` of the scores.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    title : str
        Name of the gold set.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If a column is missing, there are no scores, or a cell comes twice.

    Examples
    --------
    >>> rows = [("vpart", "ARG2", 0.9), ("rnr", "ARG2:first", 0.8), ("rnr", "ARG2:second", 0.2)]
    >>> table = pd.DataFrame(rows, columns=["phenomenon", "type", "recall"]).assign(parser="mine")
    >>> axes = plot_constructions(table)
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['ARG2', 'ARG2:first', 'ARG2:second']
    """
    keys = ["phenomenon", "type", "parser"]
    if lacking := [name for name in (*keys, "recall") if name not in table.columns]:
        raise DataError(f"a table of scores has the columns {', '.join(keys)} and recall; it lacks {lacking[0]!r}.")
    if table.empty or table.duplicated(keys).any():
        raise DataError("the table of scores is empty, or has a phenomenon, type and parser twice.")
    columns = list(dict.fromkeys(zip(table["phenomenon"], table["type"], strict=True)))
    steps = [1 + GAP * (left[0] != right[0]) for left, right in pairwise(columns)]
    places = dict(zip(columns, np.concatenate([[0.0], np.cumsum(steps)]), strict=True))
    ax = axes_of(ax, 2.2 + 0.36 * places[columns[-1]] + 0.4, 4.4)
    parsers = list(dict.fromkeys(table["parser"]))
    for number, parser in enumerate(parsers):
        own = table[table["parser"] == parser]
        x = np.array([places[cell] for cell in zip(own["phenomenon"], own["type"], strict=True)])
        x = x + WIDTH * ((number + 0.5) / len(parsers) - 0.5)
        usual: dict[str, Any] = {
            "fmt": MARKERS[number % len(MARKERS)],
            "color": SERIES[number % len(SERIES)],
            "markersize": 4.5,
            "elinewidth": 0.7,
            "markeredgewidth": 0,
            "label": parser,
            "clip_on": False,
        }
        ax.errorbar(x, own["recall"], yerr=_bars(own), **(usual | style))
    ax.set_xticks(list(places.values()), [kind for _, kind in columns], rotation=90, fontsize=7.5)
    ax.tick_params(axis="x", length=0)
    ax.set_xlim(-0.6, places[columns[-1]] + 0.6)
    ax.set_ylim(0, 1)
    _name_phenomena(ax, places)
    return finish(ax, "", "recall of targets", title, legend=True, raised=14)  # above the names of phenomena


def _bars(own: pd.DataFrame) -> Any:
    if not {"low", "high"} <= set(own.columns):
        return None
    # an interval of Wilson contains its recall, but for rounding
    return np.maximum([own["recall"] - own["low"], own["high"] - own["recall"]], 0)


def _name_phenomena(ax: Axes, places: dict[tuple[str, str], float]) -> None:
    """Write each phenomenon above its columns, with a line between it and the next."""
    spans: dict[str, list[float]] = {}
    for (phenomenon, _), place in places.items():
        spans.setdefault(phenomenon, []).append(float(place))
    ends = [max(span) + (1 + GAP) / 2 for span in spans.values()][:-1]
    ax.vlines(ends, 0, 1, transform=ax.get_xaxis_transform(), colors=FAINT, linewidth=0.8, zorder=0)
    count_points(ax, len(spans))
    for phenomenon, span in spans.items():
        ax.text(
            (span[0] + span[-1]) / 2,
            1.02,
            phenomenon,
            transform=ax.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize=0.85 * text_size(ax),
            label=POINT_NAME,
        )
