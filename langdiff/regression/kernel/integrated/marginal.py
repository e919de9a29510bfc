"""Marginal likelihoods of rows with random sizes, and their maximization by Newton's method."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import block_diag

from langdiff.base.types import CELLS_WITH_NODES, Booleans, Floats, Integers
from langdiff.regression.kernel.two_way import TwoWay, solve_two_way

NEWTON_TOLERANCE = 1e-7  # the Newton step, in standard errors
NEAR = 0.03  # standard errors: so short a step is taken unseen, as quadrature may err by more than it gains
LEAST_GAIN = 1e-4  # of what the gradient promises, for a longer step to be taken whole (Armijo)
SHORTEST = 2.0**-15
LEAST_CURVATURE = 1e-10  # of the largest, so that a step along a flat direction remains finite
LONGEST_IN_SPREAD = 1.0  # of ln τ per step


@dataclass(frozen=True, eq=False, repr=False)
class IntentTable:
    """Log surprisals with the attributes of each intent.

    Attributes
    ----------
    two_way : TwoWay
        Model 1 with fixed intents, fitted to the same table; rows of one cell have no residual there.
    attributes : ndarray, shape (I, 1 + K)
        The constant and the covariates: the mean size of an intent is a linear function of them.
    """

    two_way: TwoWay
    attributes: Floats

    @classmethod
    def build(
        cls, z: Floats, covariates: Floats | None, design: Floats | None, two_way: TwoWay | None = None
    ) -> "IntentTable":
        """Return the table of log surprisals, shape (I, J), with covariates, shape (I, K), and model 1 if known."""
        constant = np.ones((len(z), 1))
        attributes = constant if covariates is None else np.hstack([constant, covariates])
        return cls(two_way or solve_two_way(z, design), attributes)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of intents and of editions."""
        intents, editions = self.two_way.residual.shape
        return intents, editions

    @property
    def cells(self) -> Floats:
        """Number of observed cells of each row, shape (I,)."""
        return self.two_way.cells_per_intent

    def mask(self, rows: slice | Integers) -> Floats:
        """Return an indicator (1.0 or 0.0) of the observed cells of some rows, shape (R, J)."""
        if self.two_way.mask is None:
            return np.ones_like(self.two_way.residual[rows])
        return self.two_way.mask[rows].astype(float)

    def basis(self, others: Booleans | None = None) -> Floats:
        """Return the matrix that maps the free parameters to all: the design for c, and a selection of the others.

        Parameters
        ----------
        others : ndarray of bool
            Which of the parameters behind c are free.

        Returns
        -------
        ndarray, shape (P, P')
        """
        editions = self.shape[1]
        of_c = np.eye(editions) if self.two_way.design is None else self.two_way.design
        chosen = np.ones(0, dtype=bool) if others is None else others
        return block_diag(of_c, np.eye(len(chosen))[:, chosen])


class Derivatives(NamedTuple):
    """Log densities of some rows, with posterior means of sizes, scores, and the sum of the information."""

    values: Floats  # (R,)
    sizes: Floats  # (R,)
    scores: Floats  # (R, P)
    information: Floats  # (P, P)


class MarginalRows(Protocol):
    """Interface of a marginal likelihood that is computed by row."""

    @property
    def table(self) -> IntentTable:
        """Table to be fitted."""

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""


class SearchedRows(MarginalRows, Protocol):
    """Interface of a marginal likelihood that is maximized by a search; its last parameter is ln τ."""

    def forget(self) -> None:
        """Discard the known modes, so that those of each row are searched for again."""


class Total(NamedTuple):
    """Marginal log-likelihood and its derivatives, summed over rows."""

    theta: Floats
    value: float
    gradient: Floats
    information: Floats
    sizes: Floats


class Ascent(NamedTuple):
    """Final point of a search, and whether it converged."""

    total: Total
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    scores: Floats | None = None  # of the rows, (I, P), if it converged


def rows_at_a_time(table: IntentTable) -> int:
    """Return the number of rows that are computed together, so that memory does not grow with the nodes."""
    return max(1, CELLS_WITH_NODES // table.shape[1])


def sum_of_rows(likelihood: MarginalRows, theta: Floats) -> Total:
    """Return the marginal log-likelihood and its derivatives, summed over all rows by blocks."""
    return _sum(likelihood, theta, None)


def scores_of_rows(likelihood: MarginalRows, theta: Floats) -> tuple[Total, Floats]:
    """Return the marginal log-likelihood summed over all rows, and the scores of each, shape (I, P)."""
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
    looked_again, scores = False, None
    for iteration in range(1, max_iterations + 1):
        if not (np.isfinite(here.value) and np.isfinite(here.information).all()):
            return Ascent(here, False, iteration, evaluations, np.inf, "the likelihood is not finite")
        step, length = _step(here, basis)
        if length <= NEWTON_TOLERANCE:
            if looked_again:
                done = "the Newton step is below the tolerance"
                return Ascent(here, True, iteration, evaluations, length, done, scores)
            likelihood.forget()
            looked_again, (here, scores) = True, scores_of_rows(likelihood, here.theta)
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
    """Return the Newton step with negative curvature reversed, and its length in standard errors."""
    curvature, axes = np.linalg.eigh(basis.T @ here.information @ basis)
    size = np.abs(curvature)
    size = np.maximum(size, LEAST_CURVATURE * size.max())
    along = axes.T @ (basis.T @ here.gradient)
    step: Floats = basis @ (axes @ (along / size))
    length = float(np.sqrt(np.sum(along**2 / size)))
    too_long = abs(step[-1]) / LONGEST_IN_SPREAD
    return (step / too_long if too_long > 1 else step), length


def _descend(likelihood: SearchedRows, here: Total, step: Floats, length: float) -> tuple[Total | None, int]:
    """Move by a backtracking line search; return the new point and the number of evaluations."""
    promise, share, tried = float(here.gradient @ step), 1.0, 0
    while share >= SHORTEST:
        there = sum_of_rows(likelihood, here.theta + share * step)
        tried += 1
        if there.value >= here.value + LEAST_GAIN * share * promise or (length <= NEAR and np.isfinite(there.value)):
            return there, tried
        share /= 2
    return None, tried
