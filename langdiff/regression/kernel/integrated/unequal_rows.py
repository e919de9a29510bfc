r"""Likelihoods with one dispersion per edition, computed by row, and their maximization.

Interface of a likelihood that is a product over intents, and its maximization.

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

Model 2 with unequal noise, sizes integrated out by Gauss–Hermite quadrature.

With :math:`v_{ij} = \ln(1 + \kappa_j / n_i)` and :math:`m_i = \ln n_i` each row says

.. math:: z_{ij} \sim \mathcal N(m_i + D_j - \tfrac12 v_{ij},\; v_{ij}),

so that :math:`m_i + D_j` is the logarithm of the expected bits. Multiplying all n and κ by t and lowering all D
by ln t changes nothing: the level of D is a convention, here :math:`\sum_j e^{D_j} = J` once the search has ended,
which makes n the expected bits of an edition of factor 1. The parameters are D, λ = ln κ and, with a normal prior
:math:`m_i \sim \mathcal N(a, \tau^2)`, a and ln τ.

The nodes of a row are :math:`\hat m + \sqrt{2/H}\, t_q` around its mode. Posterior means over them give the score
(Fisher's identity) and the observed information (Louis 1982, "Finding the observed information matrix when
using the EM algorithm"). Cells of a row differ in variance, so that there are no sufficient statistics: a step
costs nodes × cells, in blocks of rows.

Newton's method for likelihoods of rows, with steps of the EM algorithm where it fails.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import eigh

from langdiff.base.types import Booleans, Floats, Integers


class Rows(NamedTuple):
    """Log-likelihood of each row with its derivatives.

    `values` are log-likelihoods, shape (I,); `scores` their derivatives in the parameters by edition,
    shape (I, E); `sizes` the means of the sizes ln n given the row, shape (I,).
    """

    values: Floats
    scores: Floats
    sizes: Floats


class RowLikelihood(Protocol):
    """Interface of a likelihood in parameters by edition, shape (E,).

    These are J levels (ln bits), J logarithms of dispersions and, if sizes have a normal prior, its mean
    and the logarithm of its standard deviation.
    """

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""


class LinearLikelihood:
    """Log-likelihood of model 1 with one variance per edition; see the module and `RowLikelihood`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    """

    def __init__(self, z: Floats, *, normal: bool) -> None:
        intents, editions = z.shape
        if normal:
            z = np.column_stack([z, np.zeros(intents)])
        observed = ~np.isnan(z)
        self.mask = observed.astype(float)
        self.z = np.where(observed, z, 0.0)
        self.columns = z.shape[1]
        # from the parameters by edition to levels and log-variances of all columns
        self.to_columns = np.zeros((2 * self.columns, 2 * self.columns))
        editions_of = np.arange(editions)
        self.to_columns[editions_of, editions_of] = 1
        self.to_columns[self.columns + editions_of, editions + editions_of] = 1
        if normal:
            self.to_columns[editions, -2] = -1
            self.to_columns[-1, -1] = 2  # ln τ² from ln τ

    def _errors(self, parameters: Floats, which: Integers | slice) -> tuple[Floats, Floats, Floats]:
        """Return precisions (R, C), their sums by row (R, 1) and residuals of cells (R, C), 0 where missing."""
        columns = self.to_columns @ parameters
        precision = self.mask[which] * np.exp(-columns[self.columns :])
        total = precision.sum(axis=1, keepdims=True)
        residual = self.mask[which] * (self.z[which] - columns[: self.columns])
        mean = (precision * residual).sum(axis=1, keepdims=True) / total
        return precision, total, self.mask[which] * (residual - mean)

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""
        precision, total, error = self._errors(parameters, slice(None))
        columns = self.to_columns @ parameters
        cells = self.mask.sum(axis=1)
        values = -0.5 * (
            (cells - 1) * np.log(2 * np.pi)
            + self.mask @ columns[self.columns :]
            + np.log(total[:, 0])
            + (precision * error**2).sum(axis=1)
        )
        scores = np.column_stack([precision * error, 0.5 * (precision * (error**2 + 1 / total) - self.mask)])
        sizes = (precision * (self.z - columns[: self.columns])).sum(axis=1) / total[:, 0]
        return Rows(values, scores @ self.to_columns, sizes)

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""
        precision, total, error = self._errors(parameters, which)
        scaled, share = precision / np.sqrt(total), precision / total
        pulled = scaled * error
        levels = np.diag(precision.sum(axis=0)) - scaled.T @ scaled
        mixed = np.diag((precision * error).sum(axis=0)) - scaled.T @ pulled
        spread = np.diag(0.5 * (precision * (error**2 + 1 / total)).sum(axis=0))
        variances = spread - pulled.T @ pulled - 0.5 * share.T @ share
        information: Floats = self.to_columns.T @ np.block([[levels, mixed], [mixed.T, variances]]) @ self.to_columns
        return information

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""
        columns = self.to_columns @ parameters
        cells = self.mask.sum(axis=0)
        diagonal = np.concatenate([cells * np.exp(-columns[self.columns :]), 0.5 * cells])
        information: Floats = self.to_columns.T @ (diagonal[:, None] * self.to_columns)
        return information


CELLS_AT_A_TIME = 2**16  # times the nodes, so that temporaries stay in the processor's cache
MOST_STEPS = 50
SIZE_TOLERANCE = 1e-8  # of a mode, in its standard errors
LONGEST_STEP = 2.0  # of a search for a mode, nats
LARGEST = 700.0  # argument of the exponential function


class _Cells(NamedTuple):
    """Log-densities of cells and their derivatives in D and λ, those in m being ∂D − ∂λ; 0 where missing."""

    value: Floats
    of_level: Floats
    of_dispersion: Floats
    level_level: Floats
    level_dispersion: Floats
    dispersion_dispersion: Floats


class _Nodes(NamedTuple):
    """Nodes of a block of rows, shape (R, Q), with posterior weights and the cells' densities there, (R, Q, J)."""

    m: Floats
    weights: Floats
    log_likelihood: Floats  # (R,)
    cells: _Cells


class SizeLikelihood:
    """Log-likelihood of model 2 with one dispersion per edition; see the module and `RowLikelihood`.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    normal : bool
        Whether sizes have a normal prior; otherwise it is flat, and every row needs two cells.
    nodes : int
        Number of nodes of the quadrature.
    """

    def __init__(self, z: Floats, *, normal: bool, nodes: int) -> None:
        observed = ~np.isnan(z)
        self.mask = observed.astype(float)
        self.z = np.where(observed, z, 0.0)
        self.normal = normal
        self.t, weights = np.polynomial.hermite.hermgauss(nodes)
        self.log_weights = np.log(weights) + self.t**2
        self.modes: Floats = self.z.sum(axis=1) / self.mask.sum(axis=1)  # from which the next search for them begins

    def rows(self, parameters: Floats) -> Rows:
        """Return the log-likelihood of each row with its derivatives."""
        found = []
        for which in self._blocks(slice(None)):
            nodes = self._nodes(parameters, which)
            scores = np.einsum("rq,rqe->re", nodes.weights, self._scores(parameters, nodes))
            found.append(Rows(nodes.log_likelihood, scores, (nodes.weights * nodes.m).sum(axis=1)))
        return Rows(*(np.concatenate(part) for part in zip(*found, strict=True)))

    def information(self, parameters: Floats, which: Integers | slice) -> Floats:
        """Return minus the second derivative of the log-likelihood of the rows `which`, shape (E, E)."""
        editions = self.z.shape[1]
        information = np.zeros((len(parameters), len(parameters)))
        for block in self._blocks(which):
            nodes = self._nodes(parameters, block)
            score = self._scores(parameters, nodes)
            score -= np.einsum("rq,rqe->re", nodes.weights, score)[:, None]
            score *= np.sqrt(nodes.weights)[:, :, None]
            flat = score.reshape(-1, len(parameters))
            information -= flat.T @ flat
            of = [np.einsum("rq,rqj->j", nodes.weights, second) for second in nodes.cells[3:]]
            information[: 2 * editions, : 2 * editions] -= np.block(
                [[np.diag(of[0]), np.diag(of[1])], [np.diag(of[1]), np.diag(of[2])]]
            )
            if self.normal:
                information[-2:, -2:] -= self._prior_curvature(parameters, nodes)
        return information

    def complete_information(self, parameters: Floats) -> Floats:
        """Return the expected information if sizes were observed, shape (E, E); positive definite."""
        editions = self.z.shape[1]
        modes = self._find_modes(parameters, np.arange(len(self.z)))
        v, p = _variances(modes[:, None], parameters[editions : 2 * editions])
        levels = (self.mask / v).sum(axis=0)
        mixed = (-0.5 * self.mask * p / v).sum(axis=0)
        dispersions = (self.mask * p**2 * (0.5 / v**2 + 0.25 / v)).sum(axis=0)
        information = np.zeros((len(parameters), len(parameters)))
        information[: 2 * editions, : 2 * editions] = np.block(
            [[np.diag(levels), np.diag(mixed)], [np.diag(mixed), np.diag(dispersions)]]
        )
        if self.normal:
            information[-2, -2] = len(self.z) * np.exp(-2 * parameters[-1])
            information[-1, -1] = 2 * len(self.z)
        return information

    def _blocks(self, which: Integers | slice) -> list[Integers]:
        rows = np.arange(len(self.z))[which]
        size = max(1, CELLS_AT_A_TIME // (self.z.shape[1] * len(self.t)))
        return [rows[start : start + size] for start in range(0, len(rows), size)]

    def _nodes(self, parameters: Floats, which: Integers) -> _Nodes:
        modes = self._find_modes(parameters, which)
        _, curvature = self._slope(parameters, modes, which)
        scale = np.sqrt(2 / curvature)
        m = modes[:, None] + scale[:, None] * self.t  # (R, Q)
        cells = self._cells(parameters, m, which)
        log_joint = cells.value.sum(axis=2) + self.log_weights + np.log(scale)[:, None]
        if self.normal:
            a, log_tau = parameters[-2:]
            log_joint += -0.5 * np.log(2 * np.pi) - log_tau - 0.5 * ((m - a) * np.exp(-log_tau)) ** 2
        highest = log_joint.max(axis=1, keepdims=True)
        weights = np.exp(log_joint - highest)
        total = weights.sum(axis=1, keepdims=True)
        return _Nodes(m, weights / total, (highest + np.log(total))[:, 0], cells)

    def _scores(self, parameters: Floats, nodes: _Nodes) -> Floats:
        """Return the derivatives of the joint log-density of a row and its size, shape (R, Q, E)."""
        parts = [nodes.cells.of_level, nodes.cells.of_dispersion]
        if self.normal:
            a, log_tau = parameters[-2:]
            deviation = (nodes.m - a) * np.exp(-log_tau)
            parts += [(deviation * np.exp(-log_tau))[:, :, None], (deviation**2 - 1)[:, :, None]]
        return np.concatenate(parts, axis=2)

    def _prior_curvature(self, parameters: Floats, nodes: _Nodes) -> Floats:
        """Return the posterior mean of the second derivative of the log-density of the prior, shape (2, 2)."""
        a, log_tau = parameters[-2:]
        deviation = (nodes.m - a) * np.exp(-log_tau)
        first = -2 * float((nodes.weights * deviation).sum()) * np.exp(-log_tau)
        second = -2 * float((nodes.weights * deviation**2).sum())
        return np.array([[-len(nodes.m) * np.exp(-2 * log_tau), first], [first, second]])

    def _cells(self, parameters: Floats, m: Floats, which: Integers) -> _Cells:
        """Return log-densities of the cells of some rows, with derivatives, at points m of shape (R, Q)."""
        editions = self.z.shape[1]
        mask = self.mask[which][:, None]
        v, p = _variances(m[:, :, None], parameters[editions : 2 * editions])
        w = mask / v
        r = (self.z[which] - parameters[:editions])[:, None] - m[:, :, None] + 0.5 * v
        rw = r * w
        of_v = 0.5 * (rw * (r / v - 1) - w)
        level_v = 0.5 * w - rw / v
        v_v = 0.5 * w / v - 0.25 * w + rw * (1 - r / v) / v
        value = -0.5 * (mask * np.log(2 * np.pi * v) + r * rw)
        return _Cells(value, rw, p * of_v, -w, p * level_v, p * (1 - p) * of_v + p * p * v_v)

    def _slope(self, parameters: Floats, m: Floats, which: Integers) -> tuple[Floats, Floats]:
        """Return the derivative in each size and a curvature: observed if sufficiently positive, else expected."""
        editions = self.z.shape[1]
        cells = self._cells(parameters, m[:, None], which)
        v, p = _variances(m[:, None], parameters[editions : 2 * editions])
        slope = (cells.of_level - cells.of_dispersion).sum(axis=(1, 2))
        second = cells.level_level - 2 * cells.level_dispersion + cells.dispersion_dispersion
        expected = (self.mask[which] * ((1 + 0.5 * p) ** 2 / v + 0.5 * (p / v) ** 2)).sum(axis=1)
        observed = -second.sum(axis=(1, 2))
        curvature = np.where(observed > 0.1 * expected, observed, expected)
        if self.normal:
            precision = np.exp(-2 * parameters[-1])
            slope = slope - (m - parameters[-2]) * precision
            curvature = curvature + precision
        return slope, curvature

    def _find_modes(self, parameters: Floats, which: Integers) -> Floats:
        """Return the posterior mode of the sizes of some rows, shape (R,), starting from the last known modes."""
        m = self.modes[which]
        for _ in range(MOST_STEPS):
            slope, curvature = self._slope(parameters, m, which)
            step = np.clip(slope / curvature, -LONGEST_STEP, LONGEST_STEP)
            m = m + step
            if (np.abs(step) * np.sqrt(curvature)).max() < SIZE_TOLERANCE:
                break
        self.modes[which] = m
        return m


def _variances(m: Floats, log_kappa: Floats) -> tuple[Floats, Floats]:
    """Return v = ln(1 + κ/n) and −dv/dm = κ/(κ + n)."""
    ratio = np.exp(np.minimum(log_kappa - m, LARGEST))
    return np.log1p(ratio), ratio / (1 + ratio)


TOLERANCE = 1e-8  # the Newton step, in standard errors
SAFE = 1e-2  # a shorter step is taken without looking: what it gains is near the error of a quadrature
LEAST_INCREASE = 1e-4  # of what the gradient promises, for a step to be taken whole (Armijo)
LEAST_CURVATURE = 1e-9  # of that with sizes observed
LONGEST = 2.0  # change of a log-dispersion in a step
SHORTEST = 2.0**-16


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
    """A likelihood with the mapping from free parameters to those by edition.

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
    """Return the Newton step, its length in standard errors, and whether the likelihood is concave there."""
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
    """Backtracking line search; return None if no step improves."""
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
