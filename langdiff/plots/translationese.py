"""Editions against a reference, and native against translated texts."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import ConfigError, listing
from langdiff.plots._axes import BLUE, DASHED, GREY, INK, MARKERS, RUST, SERIES, axes_of, finish, plain_log_ticks, takes
from langdiff.plots._rows import in_columns, row_axes
from langdiff.tables.effect_sources import HasEffects

if TYPE_CHECKING:
    from langdiff.experiments.balanced_training import BalancedResult
    from langdiff.experiments.native_and_translated import TranslationeseResult
    from langdiff.parity.result import Parity


FACTORS = {"byte_premium": "character_premium"}  # what is drawn beside, fainter
LABELS = {
    "byte_premium": "bytes for the same content",
    "character_premium": "characters for the same content",
    "information_parity": "bits of the reference / bits, mean over intents",
    "information_parity_totals": "bits of the reference / bits, totals",
    "information_parity_model": "bits of the reference / bits, by the model",
    "fertility": "tokens per word",
    "split_words": "share of words that are split",
}
LENGTH = "length"


@takes(
    "result", "reference compared_with originals estimates low high sorting", "the result of langdiff.measure_parity"
)
@in_columns
def plot_parity(result: "Parity", measure: str | None = None, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw one measure of parity by edition, with 95 % intervals, the highest on top.

    Premiums and parities have a logarithmic axis and a line at 1, the reference. With the premium of bytes, an open
    circle shows that of characters: the distance between both is the script's. Editions that are known to be the
    original of the texts are named as such.

    Parameters
    ----------
    result : Parity
        Result of `langdiff.measure_parity`.
    measure : str, optional
        Column of `Parity.estimates` to draw; by default the premium of bytes, or information parity.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If there is no such measure.

    Examples
    --------
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"eng": ["Good day", "Thanks"] * 8, "ell": ["Καλημέρα", "Ευχαριστώ"] * 8})
    >>> axes = plot_parity(ld.measure_parity(ld.read_frame(texts), reference="eng"))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'ell']
    """
    name = result.sorting if measure is None else measure
    if name not in result.estimates:
        raise ConfigError(f"unknown measure {name!r}; there are {listing(result.estimates.columns, 20)}.")
    values = result.estimates[name].dropna().sort_values(kind="stable")
    ax = row_axes(ax, [f"{edition} (original)" if edition in result.originals else edition for edition in values.index])
    rows = np.arange(len(values))
    usual: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 4, "elinewidth": 1.2}
    ends = None
    if name in result.low:
        low, high = (part.loc[values.index, name].to_numpy() for part in (result.low, result.high))
        ends = np.maximum([values - low, high - values], 0)
    ax.errorbar(values, rows, xerr=ends, **(usual | {"label": name.replace("_", " ")} | style))
    beside = FACTORS.get(name)
    if beside in result.estimates:
        faint: dict[str, Any] = {"markerfacecolor": "white", "markeredgecolor": GREY, "markersize": 4, "zorder": 1}
        ax.plot(result.estimates.loc[values.index, beside], rows, "o", label=str(beside).replace("_", " "), **faint)
    relative = "premium" in name or name.startswith("information_parity")
    if relative:
        ax.set_xscale("log")
        plain_log_ticks(ax.xaxis)
        ax.axvline(1, color=INK, linewidth=1, linestyle=DASHED, zorder=0)
    of = f" ({result.compared_with.removeprefix('their ')} = 1)" if relative else ""
    return finish(
        ax, f"{LABELS.get(name, name.replace('_', ' '))}{of}", keep=("bottom",), legend=beside in result.estimates
    )


@takes("result", "fit to_frame()", "the result of langdiff.translationese")
@in_columns
def plot_translationese(result: "TranslationeseResult", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw native less translated difficulty by edition, with 95 % intervals and the mean.

    Parameters
    ----------
    result : TranslationeseResult
        Result of `langdiff.translationese`; editions are drawn in its order, the first on top, with their numbers
        of native and translated intents.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
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
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(900, 3, seed=1).surprisals
    >>> origin = pd.Series(["e1", "e2", "e3"] * 300, index=surprisals.intents)
    >>> axes = plot_translationese(ld.translationese(surprisals, origin, min_native=300))
    >>> axes.get_yticklabels()[-1].get_text()
    'e1  (300 + 600)'
    """
    return _draw(result.to_frame(), [result.fit], "", ax, style)


@takes("result", "results to_frame()", "the result of langdiff.run_balanced")
@in_columns
def plot_balanced(result: "BalancedResult", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw native less translated difficulty by language, each under models trained on equal amounts of both.

    Parameters
    ----------
    result : BalancedResult
        Result of `langdiff.run_balanced`, drawn as in `plot_translationese`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of languages needs.
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
    >>> import langdiff as ld
    >>> from types import SimpleNamespace
    >>> surprisals = ld.simulate(900, 3, seed=1).surprisals
    >>> origin = pd.Series(["e1", "e2", "e3"] * 300, index=surprisals.intents)
    >>> one = ld.translationese(surprisals, origin, min_native=300)
    >>> axes = plot_balanced(SimpleNamespace(results={"e1": one}, to_frame=one.to_frame))
    >>> axes.get_xlabel().splitlines()[-1]
    'of models trained on equal amounts of both'
    """
    fits = [differences.fit for differences in result.results.values()]
    return _draw(result.to_frame(), fits, "\nof models trained on equal amounts of both", ax, style)


def _draw(
    frame: pd.DataFrame, fits: Sequence[HasEffects], training: str, ax: Axes | None, style: dict[str, Any]
) -> Axes:
    rows = frame.iloc[::-1]
    notes = [f"  ({row.native:,} + {row.translated:,})" for row in rows.itertuples()]
    ax = row_axes(ax, rows.index, 7.0, notes=notes)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    if len(rows) > 1:
        mean = float(rows["difference"].mean())
        ax.axvline(mean, color=RUST, linewidth=1, linestyle=DASHED, zorder=1, label="mean")
    half = rows["high"] - rows["difference"]
    usual: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 5}
    ax.errorbar(rows["difference"], np.arange(len(rows)), xerr=half, **(usual | style))
    effects = [fit.effects for fit in fits]
    state = "" if all(each.converged for each in effects) else ", NOT CONVERGED"
    label = f"native − translated difficulty (nats), with 95 % interval{training}"
    return finish(
        ax,
        label,
        "(native + translated)",
        title=effects[0].title + state,
        keep=["bottom"],
        legend=len(rows) > 1,
    )


@takes(
    "differences",
    pd.DataFrame,
    "the table of langdiff.experiments.translationese_by_model",
    columns=("lm", "edition", "bits_per_character", "difference", "std_error"),
)
def plot_translationese_by_model(differences: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw native less translated difficulty against bits per character, one point per model, with standard errors.

    Better models are to the right. The difference of lengths is a dashed line.

    Parameters
    ----------
    differences : DataFrame
        Table of `langdiff.experiments.translationese_by_model`: ``lm``, ``edition``, ``bits_per_character``,
        ``difference`` and ``std_error``, both in nats.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
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
    >>> rows = [("length", "deu", float("nan"), -0.06, 0.01), ("kneser-ney-3", "deu", 2.1, -0.03, 0.01)]
    >>> columns = ["lm", "edition", "bits_per_character", "difference", "std_error"]
    >>> plot_translationese_by_model(pd.DataFrame(rows, columns=columns)).get_xlabel()
    'bits per character of the language model'
    """
    ax = axes_of(ax, 6.4, 4.2)
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    for number, (edition, rows) in enumerate(differences.groupby("edition", sort=False)):
        colour = SERIES[number % len(SERIES)]
        by_model = rows[rows["lm"] != LENGTH].sort_values("bits_per_character", ascending=False)
        usual: dict[str, Any] = {"color": colour, "markersize": 4, "linewidth": 1.0, "capsize": 2}
        usual["marker"] = MARKERS[number % len(MARKERS)]
        ax.errorbar(
            by_model["bits_per_character"],
            by_model["difference"],
            yerr=by_model["std_error"],
            label=str(edition),
            **(usual | style),
        )
        for length in rows.loc[rows["lm"] == LENGTH, "difference"]:
            ax.axhline(length, color=colour, linewidth=1.0, linestyle=DASHED, zorder=0)
    ax.plot([], [], color=INK, linewidth=1.0, linestyle=DASHED, label="of lengths in characters")
    ax.invert_xaxis()
    return finish(ax, "bits per character of the language model", "native − translated (nats)", legend=True)
