"""Newton's method for likelihoods of rows, with steps of the EM algorithm where it fails."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from langdiff.base.types import Booleans, Floats
from langdiff.regression.kernel.unequal.rows import RowLikelihood, Rows

TOLERANCE = 1e-8  # the Newton step, in standard errors
SAFE = 1e-2  # a shorter step is taken without looking: what it gains is near the error of a quadrature
LEAST_INCREASE = 1e-4  # of what the gradient promises, for a step to be taken whole (Armijo)
LEAST_CURVATURE = 1e-9  # of that with sizes observed
LONGEST = 2.0  # change of a log-dispersion in a step
SHORTEST = 2.0**-16


class Found(NamedTuple):
    """Where a search ended: free parameters (P,), rows there, and which parameters are held at their floor."""

    free: Floats
    rows: Rows
    held: Booleans
    converged: bool
    n_iterations: int
    length: float  # of the Newton step, in standard errors
    message: str


class Problem(NamedTuple):
    """A likelihood, and the free parameters as which those by edition are written.

    `spread` (E, P) takes free parameters to those by edition; along `invariant` (P,) the likelihood does
    not change; `floor` (P,) is the least value of each, minus infinity where there is none.
    """

    likelihood: RowLikelihood
    spread: Floats
    invariant: Floats
    floor: Floats

    def information(self, free: Floats) -> Floats:
        """Return the observed information on the free parameters, shape (P, P)."""
        by_edition = self.likelihood.information(self.spread @ free, slice(None))
        information: Floats = self.spread.T @ by_edition @ self.spread
        return information

    def complete_information(self, free: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (P, P)."""
        information: Floats = self.spread.T @ self.likelihood.complete_information(self.spread @ free) @ self.spread
        return information


def maximize_rows(problem: Problem, start: Floats, *, max_iterations: int) -> Found:
    """Maximize a likelihood of rows.

    Eigenvalues of the information are taken without their sign, relative to the information there would be if
    the sizes were observed. Where no length of such a step improves, a step with the latter information
    is tried: the EM algorithm with one Newton step in place of its maximization (Lange 1995, "A gradient
    algorithm locally equivalent to the EM algorithm"). A parameter at its floor that the gradient would
    lower is held there.

    Parameters
    ----------
    problem : Problem
        Likelihood and its free parameters.
    start : ndarray, shape (P,)
        Free parameters at which the search begins.
    max_iterations : int
        Largest number of steps.

    Returns
    -------
    Found
    """
    free = np.maximum(start, problem.floor)
    rows = problem.likelihood.rows(problem.spread @ free)
    length, held, message = np.inf, np.zeros(len(free), dtype=bool), "too many iterations"
    n_iterations = 0
    while n_iterations < max_iterations:
        n_iterations += 1
        gradient = problem.spread.T @ rows.scores.sum(axis=0)
        held = (free <= problem.floor) & (gradient <= 0)
        complete = problem.complete_information(free)
        information = problem.information(free)
        if not (np.isfinite(information).all() and np.isfinite(gradient).all()):
            message = "the likelihood is out of range"
            break
        step, length, concave = _newton_step(problem, gradient, information, complete, held)
        if length <= TOLERANCE and concave:
            message = "the Newton step is shorter than the tolerance"
            break
        moved = _ascend(problem, free, rows, gradient, step, whole=length < SAFE and concave)
        if moved is None:
            em = np.zeros(len(free))
            em[~held] = np.linalg.solve(complete[np.ix_(~held, ~held)], gradient[~held])
            moved = _ascend(problem, free, rows, gradient, em, whole=False)
        if moved is None:
            message = "no step improves"
            break
        free, rows = moved
    converged = message.startswith("the Newton step")
    return Found(free, rows, held, converged, n_iterations, length, message)


def _newton_step(
    problem: Problem, gradient: Floats, information: Floats, complete: Floats, held: Booleans
) -> tuple[Floats, float, bool]:
    """Return the step, its length in standard errors, and whether the likelihood is concave there."""
    moving = np.flatnonzero(~held)
    invariant = problem.invariant[moving]
    metric = complete[np.ix_(moving, moving)]
    # a curvature along the invariant direction, so that nothing moves there
    along = np.outer(invariant, invariant) * np.trace(metric) / (invariant @ invariant) ** 2
    values, vectors = eigh(information[np.ix_(moving, moving)] + along, metric + along)
    # a quadrature leaves a trace of a gradient in that direction, which no step would remove
    uphill = gradient[moving] - invariant * (invariant @ gradient[moving]) / (invariant @ invariant)
    coordinates = vectors.T @ uphill
    curvature = np.maximum(np.abs(values), LEAST_CURVATURE)
    step = np.zeros(len(gradient))
    step[moving] = vectors @ (coordinates / curvature)
    length = float(np.sqrt(np.sum(coordinates**2 / curvature)))
    return step, length, bool((values > 0).all())


def _ascend(
    problem: Problem, free: Floats, rows: Rows, gradient: Floats, step: Floats, *, whole: bool
) -> tuple[Floats, Rows] | None:
    """Go along a step, halved until the likelihood increases; None if no length does."""
    bounded = np.isfinite(problem.floor)
    share = min(1.0, LONGEST / max(LONGEST, float(np.abs(step[bounded]).max(initial=0.0))))
    while share >= SHORTEST:
        candidate = np.maximum(free + share * step, problem.floor)
        found = problem.likelihood.rows(problem.spread @ candidate)
        gain = float(np.sum(found.values - rows.values))
        if whole or gain >= LEAST_INCREASE * float(gradient @ (candidate - free)):
            return candidate, found
        share /= 2
    return None
