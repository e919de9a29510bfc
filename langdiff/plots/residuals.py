"""Residuals of a fit: their distribution, and how they depend on the size of an intent."""

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.stats import cauchy, laplace, norm

from langdiff.errors import DataError
from langdiff.plots.difficulty import EASIER, HARDER, INK
from langdiff.regression import model_variance, standardised_residuals
from langdiff.regression.result import DifficultyFit
from langdiff.surprisals import Surprisals

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

BINS = 20  # of equally many intents
LEAST_IN_BIN = 5  # intents
POINTS = 400  # drawn at even distances
OUTERMOST = 50  # that are all drawn, at either end
TAIL = 0.005  # at either end, left out under model 2C, whose tails would hide the rest


def plot_residuals(
    fit: DifficultyFit, surprisals: Surprisals | pd.DataFrame, axes: "tuple[Axes, Axes] | None" = None
) -> "tuple[Axes, Axes]":
    """Draw what a fit leaves unexplained: quantiles against those of the model, and spread against size.

    Left: on the line, residuals are distributed as the model says; steeper at the ends, tails are heavier.
    Right: the standard deviation of residuals (2C: half their interquartile range) of twenty groups of
    intents by size, with 95 % intervals, and what the model says of it. Under model 1, whose spread is the same
    for all intents, it falls with size if longer intents vary less, which model 2 allows for.

    Parameters
    ----------
    fit : DifficultyFit
        One difficulty an edition.
    surprisals : Surprisals or DataFrame, shape (I, J)
        The table that was fitted.
    axes : pair of Axes, optional
        Where; by default a new figure.

    Returns
    -------
    pair of Axes

    Raises
    ------
    DataError
        If the table is not the one that was fitted, or no intent has two cells.

    Examples
    --------
    >>> import langdiff as ld
    >>> _, surprisals = ld.simulate(300, 8, seed=0)
    >>> quantiles, spread = plot_residuals(ld.fit(surprisals, model="1"), surprisals)
    >>> spread.get_xscale()
    'log'
    >>> quantiles.figure.clear()
    """
    residuals = standardised_residuals(fit, surprisals)
    residuals = residuals[residuals.notna().any(axis=1)]
    if residuals.empty:
        raise DataError("no residuals: every intent has at most one cell.")
    if axes is None:
        import matplotlib.pyplot as plt

        axes = tuple(plt.subplots(1, 2, figsize=(8.4, 3.8), layout="constrained")[1])
    _draw_quantiles(axes[0], fit, residuals)
    _draw_spread(axes[1], fit, residuals)
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    return axes


def _draw_quantiles(ax: "Axes", fit: DifficultyFit, residuals: pd.DataFrame) -> None:
    values = residuals.to_numpy()
    ordered = np.sort(values[~np.isnan(values)])
    shares = (np.arange(len(ordered)) + 0.5) / len(ordered)
    name, distribution = {
        "2L": ("Laplace", laplace(scale=np.sqrt(0.5))),
        "2C": ("Cauchy", cauchy()),
    }.get(fit.model, ("normal", norm()))
    if fit.model == "2C":
        central = (shares > TAIL) & (shares < 1 - TAIL)
        ordered, shares = ordered[central], shares[central]
    expected: Floats = distribution.ppf(shares)
    count = len(ordered)
    ends = (float(expected[0]), float(expected[-1]))
    evenly = np.minimum(np.searchsorted(expected, np.linspace(*ends, POINTS)), count - 1)
    shown = np.unique(np.concatenate([np.arange(count)[:OUTERMOST], evenly, np.arange(count)[-OUTERMOST:]]))
    ax.plot(ends, ends, color=INK, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    ax.plot(expected[shown], ordered[shown], "o", color=EASIER, markersize=3, markeredgewidth=0, zorder=2)
    ax.set_xlabel(f"quantile of the {name} distribution")
    ax.set_ylabel("standardised residual")
    ax.set_title(f"{fit.lm}, model {fit.model}", loc="left", fontsize=11)


def _draw_spread(ax: "Axes", fit: DifficultyFit, residuals: pd.DataFrame) -> None:
    from matplotlib.ticker import LogLocator, NullFormatter

    size = fit.intent_size[residuals.index].to_numpy(dtype=float)
    scale = np.sqrt(model_variance(fit, size) + 2 * (fit.laplace_scale or 0.0) ** 2)
    deviations = residuals.to_numpy() * scale[:, None]
    bins = np.array_split(np.argsort(size, kind="stable"), max(1, min(BINS, len(size) // LEAST_IN_BIN)))
    middle = [float(np.exp(np.log(size[rows]).mean())) for rows in bins]
    spread = np.array([_spread(deviations[rows], fit.model) for rows in bins])
    order = np.argsort(size)
    ax.plot(size[order], scale[order], color=HARDER, linewidth=1.5, label=f"model {fit.model}", zorder=1)
    ax.errorbar(
        middle,
        spread[:, 0],
        yerr=norm.ppf(0.975) * spread[:, 1],
        fmt="o",
        color=EASIER,
        markersize=4,
        markeredgewidth=0,
        elinewidth=1,
        label="residuals",
        zorder=2,
    )
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter("{x:g}")
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.set_ylim(bottom=0)
    ax.set_xlabel("intent size n (bits)")
    what = "scale of the Cauchy distribution" if fit.model == "2C" else "standard deviation of log bits"
    ax.set_ylabel(f"{what} (nats)")
    ax.legend(frameon=False)


def _spread(deviations: Floats, model: str) -> tuple[float, float]:
    """Return the spread of some residuals and its standard error."""
    values = deviations[~np.isnan(deviations)]
    if model == "2C":
        low, high = np.quantile(values, [0.25, 0.75])
        half = float(high - low) / 2
        return half, half * np.pi / (2 * np.sqrt(len(values)))  # asymptotically, of a Cauchy sample
    root = float(np.sqrt(np.mean(values**2)))
    return root, float(np.std(values**2) / (2 * root * np.sqrt(len(values))))
