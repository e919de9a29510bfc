"""Residuals of a fit: their distribution, and how they depend on the size of an intent."""

from typing import TYPE_CHECKING, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.stats import norm

from langdiff.base.types import Floats
from langdiff.errors import DataError, listing
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, DASHED, INK, RUST, axes_of, finish, plain_log_ticks
from langdiff.tables.effects import Effects

if TYPE_CHECKING:
    from langdiff.regression.variants.variant import Variant

BINS = 20  # of equally many intents
LEAST_IN_BIN = 5  # intents
POINTS = 400  # drawn at even distances
OUTERMOST = 50  # that are all drawn, at either end
TAIL = 0.005  # at either end, left out under model 2C, whose tails would hide the rest


class SizedFit(Protocol):
    """What is drawn of a `langdiff.DifficultyFit`, beside its residuals."""

    @property
    def variant(self) -> "Variant":
        """Regression model."""

    @property
    def intent_size(self) -> pd.Series:
        """Size of each intent in bits."""

    @property
    def effects(self) -> Effects:
        """Difficulties, whose title is drawn."""


@takes("fit", SizedFit, "a fit and its residuals")
def plot_residuals(fit: SizedFit, residuals: pd.DataFrame, axes: tuple[Axes, Axes] | None = None) -> tuple[Axes, Axes]:
    """Draw what a fit leaves unexplained: quantiles against those of the model, and spread against size.

    Left: on the line, residuals are distributed as the model says; steeper at the ends, tails are heavier.
    Right: the standard deviation of residuals (2C: half their interquartile range) of twenty groups of
    intents by size, with 95 % intervals; it is 1 at every size if the model is right. Under model 1, whose spread is
    the same for all intents, it falls with size if longer intents vary less, which model 2 allows for.

    Parameters
    ----------
    fit : DifficultyFit
        Fit with one difficulty per edition.
    residuals : DataFrame, shape (I, J)
        Residuals of `langdiff.standardized_residuals`, for the same fit and the table that was fitted.
    axes : pair of Axes, optional
        Axes to draw on; by default those of a new figure.

    Returns
    -------
    pair of Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no residuals, an intent is not in the fit, or the values are not residuals.

    Examples
    --------
    >>> import langdiff as ld
    >>> from langdiff.regression import standardized_residuals
    >>> surprisals = ld.simulate(300, 8, seed=0).surprisals
    >>> fit = ld.fit(surprisals, model="1")
    >>> quantiles, spread = plot_residuals(fit, standardized_residuals(fit, surprisals))
    >>> spread.get_xscale()
    'log'
    """
    residuals = _checked(fit, residuals)
    if axes is None:
        import matplotlib.pyplot as plt

        axes = tuple(plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")[1])
    axes = (axes_of(axes[0]), axes_of(axes[1]))
    _draw_quantiles(axes[0], fit, residuals)
    _draw_spread(axes[1], fit, residuals)
    return axes


def _checked(fit: SizedFit, residuals: pd.DataFrame) -> pd.DataFrame:
    if isinstance(residuals, pd.DataFrame):
        residuals = residuals[residuals.notna().any(axis=1)]
        if residuals.empty:
            raise DataError("no residuals: every intent has at most one cell.")
    if not isinstance(residuals, pd.DataFrame) or np.nanmin(residuals.to_numpy(dtype=float)) > 0:
        raise DataError("give the frame that standardized_residuals(fit, surprisals) returns, not the surprisals.")
    unknown = residuals.index.difference(fit.intent_size.index)
    if len(unknown):
        raise DataError(f"{len(unknown)} intent(s) that the fit does not know: {listing(unknown)}.")
    return residuals


def _draw_quantiles(ax: Axes, fit: SizedFit, residuals: pd.DataFrame) -> None:
    values = residuals.to_numpy()
    ordered = np.sort(values[~np.isnan(values)])
    shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
    if not fit.variant.has_variance:
        central = (shares > TAIL) & (shares < 1 - TAIL)
        ordered, shares = ordered[central], shares[central]
    expected = fit.variant.quantiles(shares)
    count = len(ordered)
    ends = (float(expected[0]), float(expected[-1]))
    evenly = np.minimum(np.searchsorted(expected, np.linspace(*ends, POINTS)), count - 1)
    shown = np.unique(np.concatenate([np.arange(count)[:OUTERMOST], evenly, np.arange(count)[-OUTERMOST:]]))
    ax.plot(ends, ends, color=INK, linewidth=0.8, linestyle=DASHED, zorder=1)
    ax.plot(expected[shown], ordered[shown], "o", color=BLUE, markersize=3, markeredgewidth=0, zorder=2)
    finish(ax, f"quantile of the {fit.variant.distribution} distribution", "standardized residual", fit.effects.title)


def _draw_spread(ax: Axes, fit: SizedFit, residuals: pd.DataFrame) -> None:
    size, values = fit.intent_size[residuals.index].to_numpy(dtype=float), residuals.to_numpy()
    bins = np.array_split(np.argsort(size, kind="stable"), max(1, min(BINS, len(size) // LEAST_IN_BIN)))
    middle = [float(np.exp(np.log(size[rows]).mean())) for rows in bins]
    spread = np.array([_spread(values[rows], fit.variant) for rows in bins])
    ax.axhline(1, color=RUST, linewidth=1.5, label=f"model {fit.variant.name}", zorder=1)
    dots = {"fmt": "o", "color": BLUE, "markersize": 4, "markeredgewidth": 0, "elinewidth": 1, "zorder": 2}
    ax.errorbar(middle, spread[:, 0], yerr=norm.ppf(0.975) * spread[:, 1], label="residuals", **dots)  # type: ignore[arg-type]
    ax.set_xscale("log")
    plain_log_ticks(ax.xaxis)
    ax.set_ylim(bottom=0)
    what = "standard deviation" if fit.variant.has_variance else "half the interquartile range"
    finish(ax, "intent size n (bits)", f"{what} of residuals", legend=True)


def _spread(residuals: Floats, variant: "Variant") -> tuple[float, float]:
    """Return the spread of some residuals and its standard error."""
    values = residuals[~np.isnan(residuals)]
    if not variant.has_variance:
        low, high = np.quantile(values, [0.25, 0.75])
        half = float(high - low) / 2
        return half, half * np.pi / (2 * np.sqrt(len(values)))  # asymptotically, of a Cauchy sample
    root = float(np.sqrt(np.mean(values**2)))
    return root, float(np.std(values**2) / (2 * root * np.sqrt(len(values))))
