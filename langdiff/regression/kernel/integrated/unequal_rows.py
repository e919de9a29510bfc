r"""Likelihoods with one dispersion per edition, computed by row, and their maximization.

Model 1 with unequal noise, sizes integrated out in closed form.

Each row says :math:`z_{ij} = m_i + c_j + \epsilon_{ij}`, :math:`\epsilon_{ij} \sim \mathcal N(0, s_j^2)`. With
:math:`r_{ij} = z_{ij} - c_j`, precisions :math:`p_j = s_j^{-2}`, :math:`P_i = \sum_j p_j` and the weighted mean
:math:`\bar r_i = \sum_j p_j r_{ij} / P_i`, all over the :math:`J_i` observed cells, integrating
:math:`m_i` over a flat prior leaves

.. math:: \ell_i = -\tfrac12\Bigl[(J_i - 1)\ln 2\pi + \sum_j \ln s_j^2 + \ln P_i
          + \sum_j p_j (r_{ij} - \bar r_i)^2\Bigr]

(Grubbs 1948, "On estimating precision of measuring instruments and product variability"). A normal prior
:math:`m_i \sim \mathcal N(a, \tau^2)` is one cell more in every row: the value 0 of a column of level
:math:`-a` and variance :math:`\tau^2`.

Newton's method for likelihoods of rows, with steps of the EM algorithm where it fails.
"""

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

from langdiff.base.types import TOLERANCE_OF_STEPS, Booleans, Floats, Integers


class Rows(NamedTuple):
    """Log-likelihood of each row, shape (I,), with the means of the sizes ln n given the row, shape (I,).

    `gradient` (2C,) and, where asked for, `information` (2C, 2C) are sums over rows, in the parameters by column.
    """

    values: Floats
    gradient: Floats
    sizes: Floats
    information: Floats | None = None


class Block(NamedTuple):
    """What some rows add to scores and information, with R rows and C columns.

    Their information is a matrix of two diagonals and the diagonal between, less the products of the roots.
    """

    rows: Integers
    scores: Floats  # (R, 2C)
    second: Floats  # (3, R, C): of levels, of level and log-dispersion, of log-dispersions
    roots: Iterable[Floats]  # each (R, 2C), computed where they are asked for


class RowLikelihood(Protocol):
    """Interface of a likelihood in parameters by column, shape (2C,): levels, then logarithms of dispersions.

    Columns are J editions and, if sizes have a normal prior, that: a cell of value 0 in every row, whose level is minus
    the mean of sizes and whose dispersion is their variance.
    """

    def rows(self, columns: Floats, terms: int = 0) -> Rows:
        """Return the log-likelihood of each row with sums of its derivatives.

        The information is computed if `terms` is positive, the number of roots of a row at most.
        """

    def blocks(self, columns: Floats) -> Iterator[Block]:
        """Yield what rows add to scores and information, in blocks."""

    def complete_information(self, columns: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (2C, 2C); positive definite."""


def from_diagonals(second: Floats) -> Floats:
    """Return a matrix of 2 × 2 blocks that are diagonal, from these diagonals, (3, C) → (2C, 2C)."""
    width = second.shape[1]
    matrix, j = np.zeros((2 * width, 2 * width)), np.arange(width)
    matrix[j, j], matrix[j, width + j], matrix[width + j, j], matrix[width + j, width + j] = second[[0, 1, 1, 2]]
    return matrix


class LinearLikelihood:
    """Log-likelihood of model 1 with one variance per column; see the module and `RowLikelihood`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    """

    def __init__(self, z: Floats, *, normal: bool) -> None:
        if normal:
            z = np.column_stack([z, np.zeros(len(z))])
        observed = ~np.isnan(z)
        self.mask = observed.astype(float)
        self.z = np.where(observed, z, 0.0)
        self.columns = z.shape[1]

    def _errors(self, columns: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return precisions (I, C), their sums by row (I, 1), residuals of cells (I, C) and posterior means (I,)."""
        precision = self.mask * np.exp(-columns[self.columns :])
        total = precision.sum(axis=1, keepdims=True)
        residual = self.mask * (self.z - columns[: self.columns])
        mean = (precision * residual).sum(axis=1, keepdims=True) / total
        return precision, total, self.mask * (residual - mean), mean[:, 0]

    def rows(self, columns: Floats, terms: int = 0) -> Rows:  # noqa: ARG002 - a row has two roots
        """Return the log-likelihood of each row with sums of its derivatives; see `RowLikelihood`."""
        precision, total, error, sizes = self._errors(columns)
        values = -0.5 * (
            (self.mask.sum(axis=1) - 1) * np.log(2 * np.pi)
            + self.mask @ columns[self.columns :]
            + np.log(total[:, 0])
            + (precision * error**2).sum(axis=1)
        )
        (block,) = self.blocks(columns)
        information = from_diagonals(block.second.sum(axis=1))  # it costs as much as the scores
        for root in block.roots:
            information -= root.T @ root
        return Rows(values, block.scores.sum(axis=0), sizes, information)

    def blocks(self, columns: Floats) -> Iterator[Block]:
        """Yield what all rows add, as one block; see `RowLikelihood`."""
        precision, total, error, _ = self._errors(columns)
        pulled, spread = precision * error, 0.5 * precision * (error**2 + 1 / total)
        scores = np.hstack([pulled, spread - 0.5 * self.mask])
        roots = [
            np.hstack([precision, pulled]) / np.sqrt(total),
            np.hstack([np.zeros_like(precision), precision / (np.sqrt(2) * total)]),
        ]
        yield Block(np.arange(len(self.z)), scores, np.stack([precision, pulled, spread]), roots)

    def complete_information(self, columns: Floats) -> Floats:
        """Return the expected information if sizes were observed; see `RowLikelihood`."""
        cells = self.mask.sum(axis=0)
        return from_diagonals(np.stack([cells * np.exp(-columns[self.columns :]), np.zeros_like(cells), 0.5 * cells]))


SAFE = 1e-2  # a shorter step is taken without looking: what it gains is near the error of a quadrature
SLOW = 0.2  # a step that is longer than this part of the last asks for the information where the search now is
LEAST_INCREASE = 1e-4  # of what the gradient promises, for a step to be taken whole (Armijo)
LEAST_CURVATURE = 1e-9  # of that with sizes observed
LONGEST = 2.0  # change of a log-dispersion in a step
SHORTEST = 2.0**-16
MANY_PARAMETERS = 100  # from which the products of roots take longer than all else


class Found(NamedTuple):
    """Final point of a search: free parameters (P,), rows, and an indicator of parameters at their floor."""

    free: Floats
    rows: Rows
    held: Booleans
    converged: bool
    n_iterations: int
    length: float  # of the Newton step, in standard errors
    message: str


class Problem(NamedTuple):
    """A likelihood with the mapping from free parameters to those by column.

    `spread` (2C, P) takes free parameters to those by column; along `invariant` (P,) the likelihood does
    not change; `floor` (P,) is the least value of each, minus infinity where there is none.
    """

    likelihood: RowLikelihood
    spread: Floats
    invariant: Floats
    floor: Floats

    def rows(self, free: Floats, terms: int = 0) -> Rows:
        """Return the log-likelihood of rows with derivatives in the free parameters, (P,) and (P, P)."""
        found = self.likelihood.rows(self.spread @ free, terms)
        information = None if found.information is None else self.spread.T @ found.information @ self.spread
        return found._replace(gradient=self.spread.T @ found.gradient, information=information)


class _Metric:
    """Information at a point of the search, by which a gradient becomes a step, and the same if sizes were observed.

    Eigenvalues of an information that is not positive definite are taken without their sign, relative to the latter.
    """

    def __init__(self, problem: Problem, free: Floats, information: Floats, held: Booleans) -> None:
        self.held, self.moving, self._problem, self._free = held, np.flatnonzero(~held), problem, free
        self.invariant = problem.invariant[self.moving]
        matrix, self._eigen = information[np.ix_(self.moving, self.moving)], None
        try:
            self._factor = cho_factor(matrix + self._along(matrix))
            self.concave = True
        except LinAlgError:
            along = self._along(self._complete)
            values, vectors = eigh(matrix + along, self._complete + along)
            self._eigen, self.concave = vectors / np.sqrt(np.maximum(np.abs(values), LEAST_CURVATURE)), False

    def _along(self, matrix: Floats) -> Floats:
        """Return a curvature along the invariant direction, so that nothing moves there."""
        found: Floats = np.outer(self.invariant, self.invariant) * np.trace(matrix)
        return found / (self.invariant @ self.invariant) ** 2

    @cached_property
    def _complete(self) -> Floats:
        """Information on the moving parameters if sizes were observed."""
        spread = self._problem.spread[:, self.moving]
        of_columns = self._problem.likelihood.complete_information(self._problem.spread @ self._free)
        return spread.T @ of_columns @ spread

    def step(self, gradient: Floats) -> tuple[Floats, float]:
        """Return the step (P,) and its length in standard errors."""
        uphill = gradient[self.moving]
        # a quadrature leaves a trace of a gradient in that direction, which no step would remove
        uphill = uphill - self.invariant * (self.invariant @ uphill) / (self.invariant @ self.invariant)
        step = np.zeros(len(gradient))
        if self._eigen is None:
            step[self.moving] = cho_solve(self._factor, uphill)
        else:
            step[self.moving] = self._eigen @ (self._eigen.T @ uphill)
        return step, float(np.sqrt(max(float(step[self.moving] @ uphill), 0.0)))

    def em_step(self, gradient: Floats) -> Floats:
        """Return a step of the EM algorithm."""
        step = np.zeros(len(gradient))
        step[self.moving] = np.linalg.solve(self._complete, gradient[self.moving])
        return step


def maximize_rows(problem: Problem, start: Floats, *, max_iterations: int) -> Found:
    """Maximize a likelihood of rows by Newton's method, whose information is kept while steps shorten fast.

    A step needs only the gradient; the information has few roots of each row, and more where steps with it do little.
    Where no length of a step improves, a step with the information as if sizes were observed is tried: the EM
    algorithm with one Newton step in place of its maximization (Lange 1995, "A gradient algorithm locally equivalent to
    the EM algorithm"). A parameter at its floor that the gradient would lower is held there.

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
    free, terms = np.maximum(start, problem.floor), 1 if len(start) > MANY_PARAMETERS else 4
    rows = problem.rows(free, terms)
    metric: _Metric | None = None
    before, length, message = np.inf, np.inf, "too many iterations"
    held, n_iterations = np.zeros(len(free), dtype=bool), 0
    while n_iterations < max_iterations:
        n_iterations += 1
        held = (free <= problem.floor) & (rows.gradient <= 0)
        fresh = rows.information is not None
        if not fresh and (metric is None or (held != metric.held).any()):
            rows, fresh = problem.rows(free, terms), True
        known = rows.gradient if rows.information is None else rows.information
        if not (np.isfinite(known).all() and np.isfinite(rows.gradient).all()):
            message = "the likelihood is out of range"
            break
        if metric is None or rows.information is not None:
            metric = _Metric(problem, free, np.asarray(rows.information), held)
        step, length = metric.step(rows.gradient)
        if length <= TOLERANCE_OF_STEPS and metric.concave:
            message = "the Newton step is shorter than the tolerance"
            break
        slow, before = length > SLOW * before or not metric.concave, length
        terms += 2 * (slow and fresh)
        whole, asked = length < SAFE and metric.concave, terms if slow else 0
        moved = _ascend(problem, free, rows, step, whole=whole, terms=asked)
        if moved is None and not fresh:  # with the information where the search now is
            rows, before = problem.rows(free, terms), np.inf
            continue
        moved = moved or _ascend(problem, free, rows, metric.em_step(rows.gradient), whole=False, terms=terms)
        if moved is None:
            message = "no step improves"
            break
        free, rows = moved
    converged = message.startswith("the Newton step")
    return Found(free, rows, held, converged, n_iterations, length, message)


def _ascend(
    problem: Problem, free: Floats, rows: Rows, step: Floats, *, whole: bool, terms: int
) -> tuple[Floats, Rows] | None:
    """Backtracking line search; return None if no step improves."""
    bounded = np.isfinite(problem.floor)
    share = min(1.0, LONGEST / max(LONGEST, float(np.abs(step[bounded]).max(initial=0.0))))
    while share >= SHORTEST:
        candidate = np.maximum(free + share * step, problem.floor)
        found = problem.rows(candidate, terms)
        gain = float(np.sum(found.values - rows.values))
        if whole or gain >= LEAST_INCREASE * float(rows.gradient @ (candidate - free)):
            return candidate, found
        share /= 2
    return None
