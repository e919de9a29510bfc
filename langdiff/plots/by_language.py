"""Two sets of difficulties against each other: by language (Mielke et al. 2019, Figure 4), and against true values."""

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import pearsonr

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.plots._axes import BLUE, FAINT, GREY, MARKERS, SERIES, axes_of, finish, takes
from langdiff.plots._rows import ALL_NAMED, name_points
from langdiff.plots.difficulty import set_limits, side_by_side
from langdiff.tables.effect_sources import EffectsLike, Sources, as_effects, effects_by_source
from langdiff.tables.effects import Effects

NAMED = 16  # of more than ALL_NAMED points, this many are named, those far from the line and from the middle
HIGHLIGHTS = tuple(zip(SERIES[1:6], MARKERS[1:6], strict=True))  # colour and marker of each language


def plot_by_language(
    source_x: EffectsLike,
    source_y: EffectsLike,
    ax: Axes | None = None,
    *,
    edition_info: Mapping[str, str] | pd.Series | pd.DataFrame | None = None,
    highlight: Sequence[str] = (),
    average: bool = True,
) -> Axes:
    r"""Draw two sets of difficulties against each other, with chosen languages highlighted.

    By default a point is a language that both sources have, at the mean over its editions in each, and thin bars reach
    from its easiest to its hardest edition: this compares two corpora. With ``average=False`` a point is an edition
    that both sources have: this compares two language models on one corpus.

    Parameters
    ----------
    source_x, source_y : DifficultyFit, Effects, Series or DataFrame
        Difficulties, as `langdiff.as_effects` takes them. The axes are labelled with their titles, such as the name of
        a Series. Those drawn are relative to their own average in either source.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    edition_info : mapping, Series or DataFrame, optional
        Language of each edition of either source, in a frame as its column ``language``; an edition that is not in it
        is a language of its own name.
    highlight : sequence of str
        Languages, at most five, that are drawn in colours and shapes of their own.
    average : bool
        Whether to average over the editions of a language.

    Returns
    -------
    Axes
        The axes drawn on. The dashed line joins points of equal difficulty in both.

    Raises
    ------
    DataError
        If fewer than two languages, or editions, are in both sources, no point is of a language to highlight, or
        `edition_info` is a frame without a column ``language``.
    ConfigError
        If more than five languages are to be highlighted, or the sources have different units or quantities.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> figures = mielke2019()
    >>> europarl, bibles = (figures.difficulties(corpus)["bpe"].rename(corpus) for corpus in ("europarl", "bibles"))
    >>> info = pd.concat([figures.edition_info("europarl"), figures.edition_info("bibles")])
    >>> axes = plot_by_language(europarl, bibles, edition_info=info, highlight=["deu", "eng"])
    >>> axes.get_title(loc="left"), axes.get_xlabel()
    ("14 languages, Pearson's r = 0.422", 'difficulty, europarl (nats)\n(13 of 14 named)')
    """
    if len(highlight) > len(HIGHLIGHTS):
        raise ConfigError(f"at most {len(HIGHLIGHTS)} languages can be highlighted, got {len(highlight)}.")
    both = [as_effects(source_x), as_effects(source_y)]
    if isinstance(edition_info, pd.DataFrame):
        if "language" not in edition_info:
            raise DataError(f"{option('edition_info')} needs a column 'language', has {listing(edition_info.columns)}.")
        edition_info = edition_info["language"]
    known = {} if edition_info is None else dict(edition_info)
    points, low, high = _points(both, known if average else None)
    language = pd.Series([name if average else known.get(name, name) for name in points.index])
    if unknown := [name for name in highlight if not (language == name).any()]:
        raise DataError(f"no point has the language(s) to highlight: {listing(unknown)}.")
    ax = axes_of(ax, 5.6, 5.6)
    set_limits(ax, low, high)
    rest = ~language.isin(highlight).to_numpy()
    groups = [("", (GREY if highlight else BLUE, "o"), rest)]
    styles = zip(highlight, HIGHLIGHTS, strict=False)
    groups += [(name, style, (language == name).to_numpy()) for name, style in styles]
    x, y = points.to_numpy().T
    for label, (colour, marker), members in groups:
        at: dict[str, Any] = {"colors": f"{colour}88", "linewidths": 0.8, "zorder": 2}
        ax.hlines(y[members], low[members, 0], high[members, 0], **at)
        ax.vlines(x[members], low[members, 1], high[members, 1], **at)
        dots: dict[str, Any] = {"marker": marker, "linestyle": "none", "markersize": 4.5, "markeredgewidth": 0}
        ax.plot(x[members], y[members], color=colour, label=label or None, zorder=3, **dots)
    order = None
    if len(points) > ALL_NAMED:
        telling = np.where(rest, np.abs(x) + np.abs(y) + 2 * np.abs(x - y), 0.0)  # colours name the others
        order = np.argsort(-telling, kind="stable")[:NAMED]
    line = np.linspace(*ax.get_xlim(), 100)
    name_points(ax, x, y, list(points.index), order=order, avoid=np.column_stack([line, line]))
    xlabel, ylabel = (f"{e.scale.quantity}{f', {e.title}' if e.title else ''} ({e.scale.unit})" for e in both)
    r = float(pearsonr(x, y).statistic)
    what = "languages" if average else f"{both[0].unit_name}s"
    return finish(ax, xlabel, ylabel, f"{len(points)} {what}, Pearson's r = {r:.3f}", legend=bool(highlight))


def _points(both: Sequence[Effects], known: Mapping[str, str] | None) -> tuple[pd.DataFrame, Floats, Floats]:
    """Return the points and the ends of their bars, all (K, 2); `known` if editions are to be averaged."""
    if known is None:
        points = side_by_side(both)[0]
        return points, points.to_numpy(), points.to_numpy()
    spans = []
    for effects in both:
        estimate = effects.estimate
        groups = estimate.groupby([known.get(str(name), str(name)) for name in estimate.index])
        spans.append(groups.agg(["mean", "min", "max"]))
    means = [
        Effects.from_covariance(span["mean"], pd.DataFrame(np.nan, span.index, span.index), scale=effects.scale)
        for span, effects in zip(spans, both, strict=True)
    ]
    points = side_by_side(means)[0]
    ends = [
        np.column_stack([(span[end] - span["mean"])[points.index] for span in spans]) + points.to_numpy()
        for end in ("min", "max")
    ]
    return points, ends[0], ends[1]


NAMED = 16  # of more than ALL_NAMED editions, those farthest above or below the line


@takes("truth", pd.Series, "estimates and true difficulties")
def plot_against_truth(sources: Sources, truth: pd.Series, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw estimated difficulties against true ones, one colour and marker per language model.

    Parameters
    ----------
    sources : mapping or sequence of fits, Effects or Series; DataFrame; or one fit
        Estimates, by name of language model; as in `plot_line_follow`.
    truth : Series, shape (J,)
        True difficulties in the unit of the estimates (nats), indexed by edition.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on, with 95 % intervals where standard errors are known; difficulties in nats are drawn in
        percent of the average edition.

    Raises
    ------
    DataError
        If there is nothing to draw, or an edition of `truth` has no estimate.

    Examples
    --------
    >>> truth = pd.Series({"eng": -0.1, "fin": 0.1})
    >>> axes = plot_against_truth({"char": truth + 0.01}, truth)
    >>> axes.get_xlabel()
    'true difficulty (% above the average)'
    """
    named = effects_by_source(sources)
    if not named or truth.empty:
        raise DataError("nothing to draw: there are no estimates, or no true values.")
    scale = named[0][1].scale
    shown, unit = (_percent, "% above the average") if scale.unit == "nats" else (pd.Series.copy, scale.unit)
    ax = axes_of(ax, 6.4, 4.8)
    ax.axline((0, 0), slope=1, color=FAINT, linewidth=1, zorder=0)
    x, highest = shown(truth), pd.Series(-np.inf, index=truth.index)
    for (name, effects), (colour, marker) in zip(named, cycle(zip(SERIES, MARKERS, strict=True)), strict=False):
        rows = _rows(name, effects, truth.index)
        y, low, high = (shown(rows[column]) for column in (effects.scale.quantity, "low", "high"))
        errors = None if low.isna().all() else np.array([y - low, high - y])
        usual: dict[str, Any] = {"fmt": marker, "capsize": 2, "markersize": 5, "color": colour}
        ax.errorbar(x, y, yerr=errors, label=name, **(usual | style))
        highest = highest.where(highest > y, y)
    ax.autoscale_view()
    if len(truth) <= ALL_NAMED:
        _name_editions(ax, x, highest)
    else:
        true, drawn = np.asarray(x, dtype=np.float64), np.asarray(highest, dtype=np.float64)
        name_points(ax, true, drawn, list(truth.index), order=np.argsort(-np.abs(drawn - true))[:NAMED])
    return finish(ax, f"true {scale.quantity} ({unit})", f"estimated {scale.quantity} ({unit})", legend=True)


def _percent(nats: pd.Series) -> pd.Series:
    percent: pd.Series = 100 * np.expm1(nats)
    return percent


def _rows(name: str, effects: Effects, editions: pd.Index) -> pd.DataFrame:
    missing = editions.difference(effects.estimate.index)
    if len(missing):
        raise DataError(f"{len(missing)} edition(s) have a true value but no estimate by {name}: {listing(missing)}.")
    return effects.to_frame().loc[editions]


def _name_editions(ax: Axes, truth: pd.Series, highest: pd.Series) -> None:
    """Name the editions at their highest point; about equally hard ones share one label."""
    ordered = truth.sort_values()
    clusters = (ordered.diff() > 0.02 * (truth.max() - truth.min())).cumsum()
    groups = [cluster for _, cluster in ordered.groupby(clusters)]
    x = np.array([group.mean() for group in groups])
    y = np.array([highest[group.index].max() for group in groups])
    labels = ["\n".join(map(str, group.index)) for group in groups]
    avoid = np.column_stack([truth, highest])
    name_points(ax, x, y, labels, size=8.5, order=np.arange(len(groups)), avoid=avoid)
