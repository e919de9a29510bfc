"""How much harder native texts are than translated ones."""

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, DASHED, INK, RUST, finish, row_axes
from langdiff.tables.effect_sources import HasEffects


class Differences(Protocol):
    """What is drawn of a `langdiff.translationese`."""

    @property
    def fit(self) -> HasEffects:
        """The fit behind the differences."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition: ``difference``, ``low``, ``high``, ``native``, ``translated``."""


class BalancedDifferences(Protocol):
    """What is drawn of a `langdiff.run_balanced`."""

    @property
    def results(self) -> Mapping[str, Differences]:
        """Differences of each balanced sample."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per language, with the columns of `Differences`."""


@takes("result", Differences, "the result of langdiff.translationese")
def plot_translationese(result: Differences, ax: Axes | None = None, **style: Any) -> Axes:
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


@takes("result", BalancedDifferences, "the result of langdiff.run_balanced")
def plot_balanced(result: BalancedDifferences, ax: Axes | None = None, **style: Any) -> Axes:
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


def _draw(frame: pd.DataFrame, fits: list[HasEffects], training: str, ax: Axes | None, style: dict[str, Any]) -> Axes:
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
