"""How difficulties change with the intents, what deletion and versions of a language do, and costs of perturbations."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from langdiff.errors import DataError
from langdiff.plots._axes import BLUE, FAINT, GREY, INK, MARKERS, RUST, SERIES, axes_of, finish, takes
from langdiff.plots._rows import in_columns, name_line_ends, row_axes

if TYPE_CHECKING:
    from langdiff.experiments.versions import LanguageSpread, PerturbationContrasts


COLOURED = len(SERIES)  # of more editions, the hardest and the easiest are drawn in colour
OF_SIZES = ("size", "edition", "difficulty", "sd")
STYLES = (("-", "o"), ("--", "s"), (":", "^"))  # line and marker of each mechanism
CONNECTED = len(SERIES)  # of more editions, all but the first are points
APART = 0.16  # of the gap between rates, from one mechanism to the next
OF_DELETIONS = ("mechanism", "rate", "edition", "bias")
_SPREAD = 0.7  # of the height of a row, over which its editions are placed


@takes("stability", pd.DataFrame, "the table to_frame() of langdiff.experiments.intent_stability")
def plot_intent_stability(stability: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the difficulty of every edition against the number of intents, with the spread between random subsets.

    Parameters
    ----------
    stability : DataFrame
        Table of ``to_frame()`` of `langdiff.experiments.intent_stability`: ``size``, ``edition``, ``difficulty`` and
        ``sd`` between repeats, in nats. Of more than eight editions, the three hardest and three easiest are drawn in
        colour, with bands of two standard deviations to either side.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no rows, or a column is missing.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=0).surprisals
    >>> found = ld.experiments.intent_stability(surprisals, n_intents=[20, 50], n_repeats=3, seed=1)
    >>> axes = plot_intent_stability(found.to_frame())
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['20', '50', '100']
    """
    missing = [name for name in OF_SIZES if name not in stability]
    if missing or stability.empty:
        raise DataError(f"nothing to draw: {f'no column {missing[0]!r}' if missing else 'no rows'}.")
    wide = stability.pivot(index="edition", columns="size", values="difficulty")
    wide = wide.sort_values(wide.columns[-1], ascending=False)
    spread = stability.pivot(index="edition", columns="size", values="sd").loc[wide.index].fillna(0.0)
    count = len(wide)
    chosen = range(count) if count <= COLOURED else [*range(3), *range(count - 3, count)]
    styles = dict(zip((wide.index[k] for k in chosen), zip(SERIES, MARKERS, strict=True), strict=False))
    ax = axes_of(ax, 6.0, 4.2)
    sizes = wide.columns.to_numpy(dtype=float)
    for edition, y, half in zip(wide.index, wide.to_numpy(), 2 * spread.to_numpy(), strict=True):
        colour, marker = styles.get(edition, (GREY, "o"))
        if edition in styles:
            ax.fill_between(sizes, y - half, y + half, color=colour, alpha=0.15, linewidth=0)
        usual: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.5}
        usual |= {"linewidth": 1.4 if edition in styles else 0.6, "zorder": 2 if edition in styles else 1}
        ax.plot(sizes, y, **(usual | style))
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sizes.tolist()))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(sizes[0], sizes[-1])
    ax.set_ylim(ax.get_ylim())  # final, for the names
    ends = dict(zip(wide.index, wide.to_numpy()[:, -1], strict=True))
    name_line_ends(ax, {str(edition): float(ends[edition]) for edition in styles})
    return finish(ax, "intents (logarithmic)", "difficulty (nats)")


@takes("bias", pd.DataFrame, "the table to_frame() of langdiff.experiments.deletion_bias")
def plot_deletion_bias(bias: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the bias of each edition against the deletion rate, one colour per mechanism, mechanisms side by side.

    Parameters
    ----------
    bias : DataFrame
        Table of ``to_frame()`` of `langdiff.experiments.deletion_bias`: ``mechanism``, ``rate``, ``edition``, ``bias``
        and, if known, ``bias_std_error``, both in nats.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Thick lines are of the first edition, which stays complete under MAR and MNAR; thin lines, or
        points if there are more than eight editions, are of the others. The vertical bars of lines reach one Monte
        Carlo error to either side.

    Raises
    ------
    DataError
        If there are no rows, or a column is missing.

    Examples
    --------
    >>> columns = {"mechanism": "MAR", "rate": [0.1, 0.3] * 2, "edition": ["eng"] * 2 + ["deu"] * 2}
    >>> axes = plot_deletion_bias(pd.DataFrame(columns | {"bias": [0.0, -0.01, 0.0, 0.01]}))
    >>> axes.get_xlabel()
    'share of cells deleted'
    """
    missing = [name for name in OF_DELETIONS if name not in bias]
    if missing or bias.empty:
        raise DataError(f"nothing to draw: {f'no column {missing[0]!r}' if missing else 'no rows'}.")
    ax = axes_of(ax, 5.6, 4.0)
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    first, connected = bias["edition"].iloc[0], bias["edition"].nunique() <= CONNECTED
    rates = np.unique(bias["rate"])
    mechanisms = bias.groupby("mechanism", sort=False)
    apart = APART * (np.diff(rates).min() if len(rates) > 1 else rates[0])
    for place, (mechanism, rows) in enumerate(mechanisms):
        colour, (line, marker) = SERIES[place % len(SERIES)], STYLES[place % len(STYLES)]
        shift = apart * (place - (len(mechanisms) - 1) / 2)
        for edition, points in rows.groupby("edition", sort=False):
            points = points.sort_values("rate")
            x, y, thick = points["rate"] + shift, points["bias"], edition == first
            usual: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.5, "zorder": 2 + thick}
            usual |= {"linewidth": 2.2 if thick else 0.8, "linestyle": line if thick or connected else "none"}
            usual |= {"alpha": 1.0 if thick or connected else 0.5, "label": str(mechanism) if thick else None}
            ax.plot(x, y, **(usual | style))
            if "bias_std_error" in points and (thick or connected):
                error = np.nan_to_num(points["bias_std_error"].to_numpy(dtype=float))
                ax.vlines(x, y - error, y + error, color=colour, linewidth=1.0)
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    title = f"thick lines: {first}"
    return finish(ax, "share of cells deleted", "bias of difficulty (nats)", title, legend=True)


@takes("spread", "editions title", "the result of langdiff.experiments.spread_within_languages")
@in_columns
def plot_within_languages(spread: "LanguageSpread", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the editions of each language that has several, the hardest language on top, and means of the others.

    Parameters
    ----------
    spread : LanguageSpread
        Result of `langdiff.experiments.spread_within_languages`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of languages needs.
    **style
        Settings for ``Axes.plot`` of the editions, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Languages of one edition share the lowest row.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.experiments import spread_within_languages
    >>> figures = mielke2019()
    >>> spread = spread_within_languages(figures.difficulties("bibles")["char"], figures.edition_info("bibles"))
    >>> plot_within_languages(spread).get_yticklabels()[0].get_text()
    '44 of one edition'
    """
    groups = spread.editions.groupby("language")["difficulty"]
    several = groups.mean()[groups.size() > 1].sort_values()
    single = spread.editions[~spread.editions["language"].isin(several.index)]["difficulty"]
    rows = [(f"{name} ({len(groups.get_group(name))})", groups.get_group(name)) for name in several.index]
    if len(single):
        rows.insert(0, (f"{len(single)} of one edition", single))
    ax = row_axes(ax, [name for name, _ in rows])
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "alpha": 0.7}
    for place, (_, values) in enumerate(rows):
        label = "edition" if place == 0 else None
        ax.plot(values, np.full(len(values), place), label=label, **(usual | {"markeredgewidth": 0} | style))
    means = [values.mean() for _, values in rows]
    ax.plot(means, range(len(rows)), "|", color=RUST, markersize=13, markeredgewidth=2, label="mean")
    return finish(ax, "difficulty (nats)", title=spread.title, keep=["bottom"], legend=True)


@takes("contrasts", "by_kind() to_frame()", "the result of langdiff.experiments.perturbation_contrasts")
def plot_perturbation_contrasts(contrasts: "PerturbationContrasts", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the percent more bits of changed texts with 95 % intervals, one row per kind and one mark per edition.

    Parameters
    ----------
    contrasts : PerturbationContrasts
        Result of `langdiff.experiments.perturbation_contrasts`; kinds are drawn in its order, the first on top. Of more
        than eight editions all have one colour, and the mean of a kind is a dark line.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of kinds needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    AttributeError
        If Matplotlib does not know a setting in `style`.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> bits = pd.DataFrame({"eng": [100.0, 50.0], "eng|reverse": [101.0, 50.6]}, index=["1", "2"])
    >>> contrasts = ld.experiments.perturbation_contrasts(ld.Surprisals(bits=bits))
    >>> plot_perturbation_contrasts(contrasts).get_yticklabels()[0].get_text()
    'reverse'
    """
    means = contrasts.by_kind().iloc[::-1]
    table = contrasts.to_frame()
    ax = row_axes(ax, means.index, 7.0)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    few = len(means.columns) <= len(SERIES)
    row_of = {kind: row for row, kind in enumerate(means.index)}
    shifts = _SPREAD * ((np.arange(len(means.columns)) + 0.5) / len(means.columns) - 0.5)
    for number, edition in enumerate(means.columns):
        own = table[table["edition"] == edition]
        usual: dict[str, Any] = {"linestyle": "none", "markersize": 4, "linewidth": 1.0}
        usual |= {"color": SERIES[number] if few else GREY, "marker": MARKERS[number] if few else "o"}
        reach = [own["percent"] - own["low"], own["high"] - own["percent"]]
        places = own["kind"].map(row_of).to_numpy() - shifts[number]
        ax.errorbar(own["percent"], places, xerr=reach, label=str(edition), **(usual | style))
    if not few:
        rows = np.arange(len(means))
        ax.vlines(means.mean(axis=1), rows - 0.4, rows + 0.4, colors=INK, linewidths=1.5, zorder=3)
    label = "more bits for the same intents (%), with 95 % interval"
    return finish(ax, label, "", title=f"by {contrasts.lm}", keep=["bottom"], legend=few)
