"""Pictures of rhetorical parallelism: overlap of words, tags, scores and training of taggers."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch
from matplotlib.ticker import MaxNLocator

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.plots._axes import (
    BACKING,
    BLUE,
    GREY,
    INK,
    MARKERS,
    PAGE,
    RUST,
    SERIES,
    axes_of,
    finish,
    takes,
    text_size,
)
from langdiff.plots._rows import in_columns, row_axes

BINS = 10


@takes("pairs", Mapping, "a mapping from names of data sets to tables of pairs of branches")
def plot_lexical_overlap(pairs: Mapping[str, pd.DataFrame], ax: Axes | None = None, **style: Any) -> Axes:
    """Draw numbers of pairs of branches by their lexical overlap, data sets side by side.

    Parameters
    ----------
    pairs : mapping from str to DataFrame
        Of each data set by name, one row per pair of branches: ``bin``, that of the overlap, from 0 to 9, and
        ``shared``, the number of tokens in both; the attribute ``pairs`` of
        `langdiff.parallelism.ParallelismStatistics`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.bar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on; bins are 0.1 wide, the last is closed. The legend has the share of pairs that share no token.

    Raises
    ------
    DataError
        If there are no data sets, or one has no pairs or not these columns.

    Examples
    --------
    >>> axes = plot_lexical_overlap({"": pd.DataFrame({"shared": [0, 1, 3], "bin": [0, 1, 3]})})
    >>> [int(bar.get_height()) for bar in axes.patches][:4]
    [1, 1, 0, 1]
    """
    for name, table in pairs.items():
        if not isinstance(table, pd.DataFrame):
            raise DataError(f"the pairs of {name!r} are not a DataFrame, but a {type(table).__name__}.")
    if not pairs or any(table.empty for table in pairs.values()):
        raise DataError("nothing to draw: a data set has no pairs of branches.")
    for name, table in pairs.items():
        if missing := [column for column in ("bin", "shared") if column not in table]:
            raise DataError(f"nothing to draw: the pairs of {name!r} have no column {missing[0]!r}.")
    ax = axes_of(ax, 6.4, 3.6)
    width = 0.09 / len(pairs)
    for place, (name, table) in enumerate(pairs.items()):
        counts = np.bincount(table["bin"], minlength=BINS)
        label = f"{name}: {100 * np.mean(table['shared'] == 0):.1f} % without overlap".removeprefix(": ")
        left = np.arange(BINS) / BINS + 0.005 + place * width
        usual: dict[str, Any] = {"width": width, "align": "edge", "color": SERIES[place % len(SERIES)], "label": label}
        ax.bar(left, counts.astype(float), **(usual | style))
    ax.set_xticks(np.arange(BINS + 1) / BINS)
    ax.set_xlim(0, 1)
    return finish(ax, "normalized lexical overlap", "pairs of branches", legend=True)


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


COLUMNS = ("model", "tagset", "link", "f1")


@takes("scores", pd.DataFrame, "a table of the scores of tagging schemes")
def plot_scheme_scores(scores: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw one box per model over its tagging schemes, and every scheme as a point.

    Boxes go from the lower to the upper quartile (linear interpolation) with a line at the median; whiskers reach to
    the last point within one and a half times the distance of the quartiles.

    Parameters
    ----------
    scores : DataFrame
        One row per model and scheme of one corpus and metric: ``model``, ``tagset``, ``link``, ``f1``; such as rows of
        `langdiff.datasets.bothwell2023().scores`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.bxp``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on; the first model is on top.

    Raises
    ------
    DataError
        If a column is missing, there are no rows, or a model has a scheme twice.

    Examples
    --------
    >>> scores = pd.DataFrame({"model": ["a", "a"], "tagset": "BIO", "link": ["TD", "BD"], "f1": [0.1, 0.3]})
    >>> axes = plot_scheme_scores(scores)
    >>> axes.get_yticklabels()[0].get_text()
    'a'
    """
    if missing := [name for name in COLUMNS if name not in scores]:
        raise DataError(f"the scores have no column {missing[0]!r}.")
    if scores.empty or scores.duplicated(["model", "tagset", "link"]).any():
        raise DataError("each model has one row per scheme; choose one corpus and one metric.")
    from matplotlib.cbook import boxplot_stats

    models = list(dict.fromkeys(scores["model"]))[::-1]  # the first on top
    tagsets, links = list(dict.fromkeys(scores["tagset"])), list(dict.fromkeys(scores["link"]))
    ax = row_axes(ax, models, 7.2, guides=False)
    if (figure := ax.get_figure(root=True)) is not None and len(figure.axes) == 1:
        figure.set_figheight(min(max(figure.get_figheight(), 1.2 + 0.7 * len(models)), PAGE[1]))  # room for the points
    boxes = [boxplot_stats(scores.loc[scores["model"] == model, "f1"])[0] for model in models]
    thin: dict[str, Any] = {"color": GREY, "linewidth": 1}
    usual: dict[str, Any] = {
        "positions": np.arange(len(models)), "widths": 0.7, "showfliers": False, "orientation": "horizontal",
        "boxprops": thin, "whiskerprops": thin, "capprops": thin, "medianprops": {"color": INK}, "manage_ticks": False,
    }  # fmt: skip
    ax.bxp(boxes, **(usual | style))
    places = dict(zip(models, range(len(models)), strict=True))
    schemes = [(tagset, link) for tagset in tagsets for link in links]
    offsets = dict(zip(schemes, np.linspace(0.26, -0.26, len(schemes)), strict=True))
    for (tagset, link), rows in scores.groupby(["tagset", "link"], sort=False):
        ax.plot(
            rows["f1"],
            rows["model"].map(places) + offsets[tagset, link],
            linestyle="none",
            marker=MARKERS[links.index(link) % len(MARKERS)],
            color=SERIES[tagsets.index(tagset) % len(SERIES)],
            markersize=4,
        )
    legend = {
        str(tagset): Line2D([], [], color=SERIES[k % len(SERIES)], marker="o", linestyle="none")
        for k, tagset in enumerate(tagsets)
    }
    for k, link in enumerate(links):
        marker = MARKERS[k % len(MARKERS)]
        legend[str(link)] = Line2D([], [], color=INK, marker=marker, linestyle="none", fillstyle="none")
    ax.set_xlim(left=0)
    return finish(ax, "F1", keep=["bottom"], legend=legend)


@takes("ranks", pd.DataFrame, "a table of average ranks", columns=("treatment", "rank"))
@in_columns
def plot_average_ranks(
    ranks: pd.DataFrame,
    groups: Sequence[Sequence[str]] = (),
    critical_difference: float | None = None,
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw the average rank of each treatment, the best on top; a bar joins treatments that are not told apart.

    Parameters
    ----------
    ranks : DataFrame
        One row per treatment, the best first: ``treatment`` and ``rank``.
    groups : sequence of sequences of str
        Treatments that are not told apart; see `langdiff.parallelism.RankComparison.groups`.
    critical_difference : float, optional
        Difference of ranks at which two treatments are told apart, drawn as a scale above the ranks.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the ranks, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no ranks, or a group names an unknown treatment.

    Examples
    --------
    >>> axes = plot_average_ranks(pd.DataFrame({"treatment": ["a", "b", "c"], "rank": [1, 2.2, 2.8]}), [["b", "c"]])
    >>> axes.lines[0].get_xdata().tolist()
    [1.0, 2.2, 2.8]
    """
    if ranks.empty:
        raise DataError("nothing to draw: there are no ranks.")
    rows = {name: len(ranks) - 1 - place for place, name in enumerate(ranks["treatment"])}
    if unknown := {name for group in groups for name in group} - set(rows):
        raise DataError(f"{sorted(unknown)[0]!r} is in a group but has no rank; give a rank for each treatment.")
    ax = row_axes(ax, ranks["treatment"].iloc[::-1])
    usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE}
    ax.plot(ranks["rank"].astype(float), list(rows.values()), **(usual | style))
    best, worst = float(ranks["rank"].min()), float(ranks["rank"].max())
    gap = 0.04 * max(worst - best, 1)
    for place, group in enumerate(groups, 1):
        heights = [rows[name] for name in group]
        ax.plot([worst + gap * (place + 0.5)] * 2, [min(heights), max(heights)], color=RUST, linewidth=3)
    if critical_difference is not None and ax.get_ylim()[1] > len(ranks) - 1:  # of columns, the first
        top = len(ranks) - 0.1
        ax.plot([best, best + critical_difference], [top, top], color=INK, marker="|")
        label = f"critical difference {critical_difference:.2f}"
        ax.text(
            best + critical_difference / 2,
            top + 0.15,
            label,
            ha="center",
            va="bottom",
            fontsize=0.9 * text_size(ax),
            color=INK,
        )
        ax.set_ylim(top=len(ranks) + 0.9)
    title = "bars join what is not told apart" if len(groups) else ""
    return finish(ax, "average rank (1 is best)", title=title, keep=["bottom"])


_LINES = {"mbawo": ("MBAWO F1 (validation)", BLUE, "-"), "epm": ("EPM F1 (validation)", RUST, "-.")}


@takes(
    "history",
    pd.DataFrame,
    "the history of a langdiff.parallelism.Tagger",
    columns=("epoch", "loss", "mbawo", "epm", "kept"),
)
def plot_tagger_training(history: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the F1 of the validation part by epoch, the loss on a second axis, and a line at the epoch that was kept.

    Parameters
    ----------
    history : DataFrame, one row per epoch
        ``epoch``, ``loss`` (nats per token), ``mbawo``, ``epm`` and ``kept``, as `langdiff.parallelism.Tagger` has.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes of F1; those of the loss share its horizontal axis.

    Raises
    ------
    DataError
        If there are no epochs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> history = pd.DataFrame({"epoch": [1, 2], "loss": [0.5, 0.3], "mbawo": [0.0, 0.1], "epm": [0.0, 0.1]})
    >>> ax = plot_tagger_training(history.assign(kept=True), Figure().subplots())
    >>> [line.get_label() for line in ax.get_lines()]
    ['epoch kept: 2', 'MBAWO F1 (validation)', 'EPM F1 (validation)']
    """
    if history.empty:
        raise DataError("there is no learning curve to draw: no epoch is finished.")
    ax = axes_of(ax, 6.4, 3.6)
    epochs = history["epoch"].to_numpy()
    kept = int(epochs[history["kept"].to_numpy(bool)][-1])
    ax.axvline(kept, color=INK, linewidth=0.8, linestyle=":", label=f"epoch kept: {kept}")
    for column, (label, colour, line) in _LINES.items():
        usual: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.3, "label": label}
        ax.plot(epochs, history[column].to_numpy(), **(usual | style))
    losses = axes_of(ax.twinx())
    usual = {"color": GREY, "linewidth": 1.3, "linestyle": "--", "label": "loss (training)"}
    losses.plot(epochs, history["loss"].to_numpy(), **(usual | style))
    losses.set_ylim(bottom=0)
    finish(losses, ylabel="loss (nats per token)", keep=("right",))
    ax.set_ylim(bottom=0)
    ax.set_xlim(1, max(2, int(epochs[-1])))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend = {str(line.get_label()): line for line in [*ax.get_lines(), *losses.get_lines()]}
    return finish(ax, "epoch", "F1", legend=legend)
