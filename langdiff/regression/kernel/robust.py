"""Fitting models 2L, 2C and 3, which need every cell."""

from dataclasses import replace

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.regression.kernel.cell_likelihood import CellLikelihood
from langdiff.regression.kernel.cells import CauchyCells, CellModel, LaplaceCells, SparseCells
from langdiff.regression.kernel.information import eliminated_information, inverse_information
from langdiff.regression.kernel.lbfgs import Optimum, maximize_lbfgs
from langdiff.regression.kernel.polish import polish
from langdiff.regression.kernel.two_way import TwoWay

ROUNDING = 0.3  # of the kink of 2L, in standard deviations of residuals: what a sandwich has information for
WIDTHS = (0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4)  # to which a sharper kink is rounded off first, in turn
NARROWEST = 1e-4  # for the kink itself
ROUGH_WIDTH = 0.03  # for the kink itself in samples of intents
WIDTHS_TO_2C = (0.3, 0.1, 0.03)
STAGE_TOLERANCE = 1e-3  # of a stage that only leads to the next
ROBUST_TOLERANCE = 1e-4  # every parameter within about 1e-4 of its standard error
MOST_NOISE = 0.5  # of cells with noise of their own; more, and model 3 is not what it is meant to be


def maximize_robust(
    two_way: TwoWay,
    model: str,
    laplace_scale: float | None,
    restricted: bool,
    start: tuple[Floats, Floats],
    *,
    rough: bool,
    max_iterations: int,
    rounding: float = ROUNDING,
) -> Optimum:
    """Maximize the likelihood of model 2L, 2C or 3 from a start near the optimum, such as that of model 2.

    The kink of 2L is rounded off to a hyperbola, approached through wider ones, each started where the
    last one ended; 2C starts from 2L, as its likelihood may have several maxima.

    Parameters
    ----------
    rounding : float
        Width of the hyperbola of model 2L, in standard deviations of the residuals; 0 for the kink
        itself, which is approached to 1e-4.
    rough : bool
        Fit as exactly as a bootstrap needs.

    Returns
    -------
    Optimum
        `log_likelihood` is that of the model itself, without rounding off.
    """
    if laplace_scale is not None:
        likelihood = CellLikelihood(two_way, SparseCells(laplace_scale))
        optimum = maximize_lbfgs(likelihood, start, max_iterations=max_iterations, tolerance=ROBUST_TOLERANCE)
        return optimum if rough else _polished(likelihood, optimum)
    stages = _stages(model, rough, rounding)
    iterations = evaluations = 0
    for stage, (cells, tolerance) in enumerate(stages):
        ends = stage == 0 or stage == len(stages) - 1
        likelihood = CellLikelihood(two_way, cells, restricted, second_modes=ends and not rough)
        optimum = maximize_lbfgs(likelihood, start, max_iterations=max_iterations, tolerance=tolerance)
        iterations += optimum.n_iterations
        evaluations += optimum.n_evaluations
        start = optimum.mu, optimum.c
    if not rough and (model == "2C" or rounding > 0):
        optimum = _polished(likelihood, optimum)
    exact = CellLikelihood(two_way, LaplaceCells() if model == "2L" else CauchyCells())
    return optimum._replace(
        log_likelihood=-float(exact.intent_values(optimum.mu, optimum.c).sum()),
        n_iterations=iterations,
        n_evaluations=evaluations,
    )


def _stages(model: str, rough: bool, rounding: float) -> list[tuple[CellModel, float]]:
    """Return the likelihoods to maximize in turn, and how exactly."""
    stages: list[tuple[CellModel, float]]
    if model == "2C":
        stages = [] if rough else [(LaplaceCells(width), STAGE_TOLERANCE) for width in WIDTHS_TO_2C]
        return [*stages, (CauchyCells(), STAGE_TOLERANCE if rough else ROBUST_TOLERANCE)]
    if rough:  # samples of intents are started from the whole table's fit
        return [(LaplaceCells(rounding or ROUGH_WIDTH), STAGE_TOLERANCE)]
    last = rounding or NARROWEST
    stages = [(LaplaceCells(width), STAGE_TOLERANCE) for width in WIDTHS if width > last]
    return [*stages, (LaplaceCells(last), ROBUST_TOLERANCE)]


def _polished(likelihood: CellLikelihood, optimum: Optimum) -> Optimum:
    """Return the optimum to rounding, if it is one; `grad_norm` stays that at which L-BFGS stopped."""
    if not optimum.converged:
        return optimum
    mu, c = polish(likelihood, optimum.mu, optimum.c)
    return optimum._replace(mu=mu, c=c, log_likelihood=-float(likelihood.intent_values(mu, c).sum()))


def is_unbounded(two_way: TwoWay) -> bool:
    """Whether the likelihood of model 2C grows without bound as the dispersion vanishes.

    With the location of every intent on one of its cells, one of J_i ≥ 3 cells costs (J_i/2 − 1)·|ln v|,
    one of two cells nothing; and those of two cells that the difficulties can make exact gain |ln v|.
    """
    cells = two_way.cells_per_intent
    editions = two_way.residual.shape[1]
    free = editions if two_way.design is None else two_way.design.shape[1]
    exact = min(int((cells == 2).sum()), int(free) - 1)
    return float(np.sum(cells[cells > 2] / 2 - 1)) < exact


def is_degenerate(two_way: TwoWay, laplace_scale: float, optimum: Optimum) -> bool:
    """Whether a fit of model 3 went the way on which its density has no bound.

    There every cell is explained by its own noise at a bounded price, while −½ ln v grows as the
    dispersion vanishes.
    """
    kept, _ = _huber(two_way, laplace_scale, optimum)
    return float(kept.sum()) < (1 - MOST_NOISE) * two_way.cells


def _huber(two_way: TwoWay, laplace_scale: float, optimum: Optimum) -> tuple[Floats, Floats]:
    """Return which cells have no noise, 0/1 of shape (I, J), and the sums over rows of squared pulls, (I,)."""
    cells = SparseCells(laplace_scale)
    likelihood = CellLikelihood(two_way, cells)
    kept, squares = np.empty_like(two_way.residual), np.empty_like(optimum.mu)
    for rows in likelihood.blocks(optimum.c):
        x, mu = likelihood.x(rows, optimum.c), optimum.mu[rows, None]
        observed = 1.0 if two_way.mask is None else two_way.mask[rows]
        kept[rows] = (cells.noise(x, mu) == 0) * observed
        squares[rows] = (cells.cells(x, mu).of_x ** 2 * observed).sum(axis=1)
    return kept, squares


def robust_covariance(
    two_way: TwoWay, model: str, laplace_scale: float | None, restricted: bool, optimum: Optimum
) -> Floats:
    """Return the covariance of c from the expected information, intents eliminated.

    A likelihood with kinks has no observed information. For model 3 the information is that of the
    cells without noise, times what the pulls vary over what they would if all were normal: the
    sandwich of Huber's estimator.
    """
    v = np.logaddexp(0.0, -optimum.mu)
    half_p = 0.5 * expit(-optimum.mu)
    inflation = 1.0 if restricted else two_way.cells / two_way.degrees_of_freedom
    table, cells = two_way, LaplaceCells() if model == "2L" else CauchyCells()
    of_location, of_scale = cells.information()
    if laplace_scale is not None:
        kept, squares = _huber(two_way, laplace_scale, optimum)
        table = replace(two_way, mask=kept, cells_per_intent=kept.sum(axis=1))
        inflation *= float(squares @ v) / kept.sum()
        of_location, of_scale = 1.0, 0.5
    slope, w = 1 + half_p, 1 / v
    of_mu = table.cells_per_intent * (of_location * slope**2 * w + of_scale * (half_p * w) ** 2)
    of_mu = np.maximum(of_mu, np.finfo(float).tiny)  # an intent of which nothing is kept says nothing
    information = eliminated_information(table, of_location * w, of_location * slope * w, of_mu)
    return inflation * inverse_information(two_way, information)
