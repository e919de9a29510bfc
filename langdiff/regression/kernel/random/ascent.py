"""Newton's method on a marginal likelihood, all sizes of intents integrated out."""

from typing import NamedTuple, Protocol

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.random.table import IntentTable

NEWTON_TOLERANCE = 1e-7  # the Newton step, in standard errors
NEAR = 0.03  # standard errors: so short a step is taken unseen, as quadrature may err by more than it gains
LEAST_GAIN = 1e-4  # of what the gradient promises, for a longer step to be taken whole (Armijo)
SHORTEST = 2.0**-15
LEAST_CURVATURE = 1e-10  # of the largest, so that a step along a flat direction remains finite
LONGEST_IN_SPREAD = 1.0  # of ln τ per step
CELLS_AT_A_TIME = 2**16  # of the table; each row brings nodes besides


class Derivatives(NamedTuple):
    """Of some rows: log densities, posterior means of sizes, scores, and the sum of their information."""

    values: Floats  # (R,)
    sizes: Floats  # (R,)
    scores: Floats  # (R, P)
    information: Floats  # (P, P)


class MarginalRows(Protocol):
    """A marginal likelihood, row by row."""

    @property
    def table(self) -> IntentTable:
        """Table to be fitted."""

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""


class SearchedRows(MarginalRows, Protocol):
    """One that has to be searched; its last parameter is ln τ."""

    def forget(self) -> None:
        """Look for the modes of each row anew."""


class Total(NamedTuple):
    """The marginal likelihood and its derivatives, summed over rows."""

    theta: Floats
    value: float
    gradient: Floats
    information: Floats
    sizes: Floats


class Ascent(NamedTuple):
    """Where the search ended, and whether that can be trusted."""

    total: Total
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str


def rows_at_a_time(table: IntentTable) -> int:
    """Return the number of rows to be taken at a time, so that memory does not grow with the nodes."""
    return max(1, CELLS_AT_A_TIME // table.shape[1])


def sum_of_rows(likelihood: MarginalRows, theta: Floats) -> Total:
    """Sum over all rows, some at a time."""
    return _sum(likelihood, theta, None)


def scores_of_rows(likelihood: MarginalRows, theta: Floats) -> tuple[Total, Floats]:
    """Return the sum over all rows and the scores of each, shape (I, P)."""
    scores = np.empty((likelihood.table.shape[0], len(theta)))
    return _sum(likelihood, theta, scores), scores


def _sum(likelihood: MarginalRows, theta: Floats, scores: Floats | None) -> Total:
    intents, step = likelihood.table.shape[0], rows_at_a_time(likelihood.table)
    gradient, information = np.zeros_like(theta), np.zeros((len(theta), len(theta)))
    values, sizes = np.empty(intents), np.empty(intents)
    for start in range(0, intents, step):
        rows = slice(start, start + step)
        part = likelihood.derivatives(theta, rows)
        values[rows], sizes[rows] = part.values, part.sizes
        gradient += part.scores.sum(axis=0)
        information += part.information
        if scores is not None:
            scores[rows] = part.scores
    return Total(theta, float(values.sum()), gradient, information, sizes)


def maximize_marginal(
    likelihood: SearchedRows, start: Floats, basis: Floats, *, max_iterations: int, least_spread: float = -np.inf
) -> Ascent:
    """Maximize a marginal likelihood over θ = start + basis·β.

    Parameters
    ----------
    likelihood : SearchedRows
        Likelihood to maximize.
    start : ndarray, shape (P,)
        Where to begin, its first part in the span of the design.
    basis : ndarray, shape (P, P')
        Directions that are free.
    max_iterations : int
        Largest number of iterations.
    least_spread : float
        ln τ at which the search ends, since below it nothing changes but rounding.

    Returns
    -------
    Ascent
        `grad_norm` is the length of the Newton step, in standard errors.
    """
    here = sum_of_rows(likelihood, start)
    evaluations, length, message = 1, np.inf, "too many iterations"
    looked_again = False
    for iteration in range(1, max_iterations + 1):
        if not (np.isfinite(here.value) and np.isfinite(here.information).all()):
            return Ascent(here, False, iteration, evaluations, np.inf, "the likelihood is not finite")
        step, length = _step(here, basis)
        if length <= NEWTON_TOLERANCE:
            if looked_again:
                return Ascent(here, True, iteration, evaluations, length, "the Newton step is below the tolerance")
            likelihood.forget()
            looked_again, here = True, sum_of_rows(likelihood, here.theta)
            evaluations += 1
            continue
        looked_again = False
        found, tried = _descend(likelihood, here, step, length)
        evaluations += tried
        if found is None:
            message = "no step along the Newton direction improves"
            break
        here = found
        if here.theta[-1] < least_spread:
            message = "no variation between intents"
            break
    return Ascent(here, False, iteration, evaluations, length, message)


def _step(here: Total, basis: Floats) -> tuple[Floats, float]:
    """Return the Newton step, negative curvature made positive, and its length in standard errors."""
    curvature, axes = np.linalg.eigh(basis.T @ here.information @ basis)
    size = np.abs(curvature)
    size = np.maximum(size, LEAST_CURVATURE * size.max())
    along = axes.T @ (basis.T @ here.gradient)
    step: Floats = basis @ (axes @ (along / size))
    length = float(np.sqrt(np.sum(along**2 / size)))
    too_long = abs(step[-1]) / LONGEST_IN_SPREAD
    return (step / too_long if too_long > 1 else step), length


def _descend(likelihood: SearchedRows, here: Total, step: Floats, length: float) -> tuple[Total | None, int]:
    """Go along the step, halved until it improves; return where that leads and the number of evaluations."""
    promise, share, tried = float(here.gradient @ step), 1.0, 0
    while share >= SHORTEST:
        there = sum_of_rows(likelihood, here.theta + share * step)
        tried += 1
        if there.value >= here.value + LEAST_GAIN * share * promise or (length <= NEAR and np.isfinite(there.value)):
            return there, tried
        share /= 2
    return None, tried
