"""Residuals of fits, and scores of models on intents held out."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.base.types import Floats
from langdiff.errors import DataError, listing
from langdiff.plots._axes import BLUE, DASHED, FAINT, INK, PAGE, RUST, axes_of, finish, plain_log_ticks, takes
from langdiff.tables.rule import half_width

if TYPE_CHECKING:
    from langdiff.regression.check.cross_validate import CrossValidation
    from langdiff.regression.result import DifficultyFit
    from langdiff.regression.variants.variant import Variant

BINS = 20  # of equally many intents
LEAST_IN_BIN = 5  # intents
POINTS = 400  # drawn at even distances
OUTERMOST = 50  # that are all drawn, at either end
TAIL = 0.005  # at either end, left out under model 2C, whose tails would hide the rest


@takes("fit", "variant intent_size effects", "a fit and its residuals")
def plot_residuals(
    fit: "DifficultyFit", residuals: pd.DataFrame, axes: tuple[Axes, Axes] | None = None
) -> tuple[Axes, Axes]:
    """Draw residuals of a fit: quantiles against quantiles of the model, and spread against size.

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

        axes = tuple(plt.subplots(1, 2, figsize=(PAGE[0], 3.4), layout="constrained")[1])
    axes = (axes_of(axes[0]), axes_of(axes[1]))
    _draw_quantiles(axes[0], fit, residuals)
    _draw_spread(axes[1], fit, residuals)
    return axes


def _checked(fit: "DifficultyFit", residuals: pd.DataFrame) -> pd.DataFrame:
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


def _draw_quantiles(ax: Axes, fit: "DifficultyFit", residuals: pd.DataFrame) -> None:
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


def _draw_spread(ax: Axes, fit: "DifficultyFit", residuals: pd.DataFrame) -> None:
    size, values = fit.intent_size[residuals.index].to_numpy(dtype=float), residuals.to_numpy()
    bins = np.array_split(np.argsort(size, kind="stable"), max(1, min(BINS, len(size) // LEAST_IN_BIN)))
    middle = [float(np.exp(np.log(size[rows]).mean())) for rows in bins]
    spread = np.array([_spread(values[rows], fit.variant) for rows in bins])
    ax.axhline(1, color=RUST, linewidth=1.5, label=f"model {fit.variant.name}", zorder=1)
    dots = {"fmt": "o", "color": BLUE, "markersize": 4, "markeredgewidth": 0, "elinewidth": 1, "zorder": 2}
    ax.errorbar(middle, spread[:, 0], yerr=half_width(spread[:, 1], np.inf), label="residuals", **dots)  # type: ignore[arg-type]
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


@takes(
    "scores",
    (pd.DataFrame, "per_intent to_frame()"),
    "a table of scores, subsets × models, or the result of langdiff.cross_validate",
)
def plot_goodness_of_fit(
    scores: "pd.DataFrame | CrossValidation", ax: Axes | None = None, *, title: str = "", **style: Any
) -> Axes:
    """Draw the log-density of held-out cells by model: one panel, for one data set.

    From subsets of the data, dots are means and bars standard deviations over subsets, as in Figure 6; a faint line
    joins the scores of the models on one subset. These lines compare models better than the bars, which include
    what all models find hard alike. From a cross-validation, bars are standard errors of the differences to the
    best model.

    Parameters
    ----------
    scores : DataFrame or CrossValidation
        One row per subset of the data, one column per model, values the log-density in nats per cell (such as
        ``per_cell`` of `langdiff.held_out_log_likelihood`). Or the result of `langdiff.cross_validate`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure. For several data sets, give each axes of its own.
    title : str
        Name of the data set.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no scores, or some are missing.

    Examples
    --------
    >>> scores = pd.DataFrame({"1": [0.31, 0.28], "2": [0.36, 0.34], "2L": [0.35, 0.34]})
    >>> axes = plot_goodness_of_fit(scores, title="Europarl")
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['1', '2', '2L']
    """
    lines: pd.DataFrame | None = None
    if isinstance(scores, pd.DataFrame):
        if not scores.size or scores.isna().to_numpy().any():
            raise DataError("scores are missing; give a complete frame, subsets × models.")
        middle, half, lines = scores.mean(), scores.std(ddof=1), scores
    else:
        table = scores.to_frame().loc[list(scores.per_intent.columns)]
        middle, half = table["log_density"], table["difference_std_error"]
    ax = axes_of(ax, 1.6 + 0.8 * len(middle), 3.6)
    x = np.arange(len(middle))
    if lines is not None and len(lines) > 1:
        ax.plot(x, lines.to_numpy().T, color=FAINT, linewidth=0.8, zorder=0)
    usual: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 6, "elinewidth": 2, "markeredgewidth": 0}
    errors = half.fillna(0.0).to_numpy()  # one subset has no spread
    ax.errorbar(x, middle.to_numpy(), yerr=errors, **(usual | style))
    ax.axhline(float(middle.max()), color=INK, linewidth=0.6, linestyle=DASHED, zorder=0)
    ax.set_xticks(x, [str(name) for name in middle.index])
    ax.set_xlim(-0.5, len(middle) - 0.5)
    return finish(ax, "model", "log-density of log bits (nats per cell)", title)
