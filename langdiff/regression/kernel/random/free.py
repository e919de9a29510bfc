r"""Random intents of any distribution: sizes on a grid, their weights by maximum likelihood.

The distribution of sizes is any on `POINTS` evenly spaced points that span the sizes of the rows, as fixed intents
have them. Its weights :math:`\pi` come from the EM algorithm, in turn with Newton steps in which c (in model 1 also
σ²) and the weights that have not vanished move together. On such a grid most weights vanish (Laird 1978). With many
editions a row says more of its size than the grid can; the likelihood is then below that of normal sizes, while
difficulties differ by little.

Standard errors are from the observed information on c, ln σ² and the logits of the weights that have not vanished,
all but c eliminated; which have not is treated as known. In model 1 the level of c is that of the grid and has no
standard error.

Source: Laird (1978), "Nonparametric maximum likelihood estimation of a mixing distribution"; Louis (1982), "Finding
the observed information matrix when using the EM algorithm".
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.special import logsumexp

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.random.ascent import Derivatives, Total, rows_at_a_time, sum_of_rows
from langdiff.regression.kernel.random.hermite import products_of_cells
from langdiff.regression.kernel.random.table import IntentTable

POINTS = 60
EM_STEPS = 50  # on the weights, between two Newton steps in c
STEP_TOLERANCE = 1e-5  # of the Newton step in c and ln σ², in standard errors
GAIN_TOLERANCE = 1e-4  # of log-likelihood, of the last round of EM steps
VANISHED = 1e-6  # weight below which a point of the grid is not counted among the parameters
LEAST_WEIGHT = 1e-100
LONGEST, LONGEST_LOGIT = 0.5, 3.0  # of a Newton step in c or ln σ², and in a logit
SHORTEST = 1e-3
ROUNDING = 1e-7


class FreeFit(NamedTuple):
    """The maximum over c, ln σ² (model 1) and the weights."""

    theta: Floats  # (c, [ln σ²,] logits of weights)
    grid: Floats  # (60,)
    weights: Floats  # (60,)
    counted: Booleans  # which logits are parameters: not those of vanished weights, nor that of the largest, (60,)
    converged: bool
    n_iterations: int
    grad_norm: float
    message: str


@dataclass(eq=False, repr=False)
class FreeRows:
    """Marginal likelihood of each row in θ = (c, logits of weights), in model 1 (c, ln σ², logits).

    Attributes
    ----------
    table : IntentTable
        Table to be fitted.
    model : {"1", "2"}
        Regression model.
    grid : ndarray, shape (60,)
        Possible values of μ, in model 1 of m.
    """

    table: IntentTable
    model: str
    grid: Floats

    def log_density(self, theta: Floats, rows: slice | Integers) -> Floats:
        """Return the log-density of each row's cells at each size, (R, 60)."""
        mean, spread = self._sums(theta, rows)[1:]
        return self._log_density(theta, self.table.cells[rows], mean, spread)

    def _sums(self, theta: Floats, rows: slice | Integers) -> tuple[Floats, Floats, Floats]:
        """Return z − c less the rows' means, these means, and the sums of squares around them."""
        table, mask = self.table, self.table.mask(rows)
        x = table.x(rows, theta[: table.shape[1]]) * mask
        mean = x.sum(axis=1) / table.cells[rows]
        within = (x - mean[:, None]) * mask
        return within, mean, np.einsum("ij,ij->i", within, within)

    def _moments(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the mean and variance of a cell at each size, c apart."""
        if self.model == "1":
            return self.grid, np.full_like(self.grid, np.exp(theta[self.table.shape[1]]))
        v = np.logaddexp(0.0, -self.grid)
        return self.grid - 0.5 * v, v

    def _log_density(self, theta: Floats, n: Floats, mean: Floats, spread: Floats) -> Floats:
        h, v = self._moments(theta)
        n, mean, spread = n[:, None], mean[:, None], spread[:, None]
        density: Floats = -0.5 * (n * np.log(2 * np.pi * v) + (spread + n * (mean - h) ** 2) / v)
        return density

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""
        table, editions = self.table, self.table.shape[1]
        n, mask = table.cells[rows], table.mask(rows)
        within, mean, spread = self._sums(theta, rows)
        h, v = self._moments(theta)
        logits = theta[-len(self.grid) :]
        joint = self._log_density(theta, n, mean, spread) + logits - logsumexp(logits)
        values = logsumexp(joint, axis=1)
        share = np.exp(joint - values[:, None])  # posterior of each point, (R, 60)
        weights = np.exp(logits - logsumexp(logits))
        first, second = np.broadcast_to(1 / v, share.shape), (h - mean[:, None]) / v
        expected = np.einsum("ig,kig->ik", share, np.stack([first, second]))
        away = first - expected[:, :1], second - expected[:, 1:]
        of_c = (within * expected[:, :1] - expected[:, 1:]) * mask
        covariance = np.einsum("ig,kig,lig->ikl", share, away, away)
        information = np.zeros((len(theta), len(theta)))
        c, of_weights = slice(editions), slice(len(theta) - len(self.grid), None)
        information[c, c] = np.diag(expected[:, 0] @ mask) - products_of_cells(within, mask, covariance)
        upper = np.zeros_like(information)
        upper[c, of_weights] = mask.T @ (share * away[1]) - within.T @ (share * away[0])
        scores = [of_c]
        if self.model == "1":
            square = 0.5 * (spread[:, None] + n[:, None] * (mean[:, None] - h) ** 2) / v
            typical = np.einsum("ig,ig->i", share, square)
            moved = share * (square - typical[:, None])
            scores.append((typical - 0.5 * n)[:, None])
            upper[c, editions] = of_c.sum(axis=0) + mask.T @ np.einsum("ig,ig->i", moved, second)
            upper[editions, of_weights] = -moved.sum(axis=0)
            information[editions, editions] = np.sum(typical) - np.sum(moved * square)
        scores.append(share - weights)
        information += upper + upper.T
        information[of_weights, of_weights] = (
            share.T @ share - np.diag(share.sum(axis=0)) + len(n) * (np.diag(weights) - np.outer(weights, weights))
        )
        return Derivatives(values, share @ self.grid, np.hstack(scores), information)


def maximize_free(table: IntentTable, model: str, start: Floats, max_iterations: int) -> FreeFit:
    """Maximize over c, σ² and the weights: EM steps on the weights, then a Newton step in all, in turn.

    Parameters
    ----------
    table : IntentTable
        Table to be fitted.
    model : {"1", "2"}
        Regression model.
    start : ndarray
        c and, in model 1, ln σ², as normal sizes have them.
    max_iterations : int
        Largest number of Newton steps.
    """
    editions = table.shape[1]
    mean, _ = table.mean_and_spread(start[:editions])
    located = mean if model == "1" else mu_at_mean(mean)
    rows = FreeRows(table, model, np.linspace(located.min(), located.max(), POINTS))
    theta, weights = start, np.full(POINTS, 1 / POINTS)
    length, iterations, converged = np.inf, 0, False
    while iterations < max_iterations and not converged:
        iterations += 1
        weights, gain = _update_weights(rows, theta, weights)
        here = sum_of_rows(rows, np.concatenate([theta, np.log(np.maximum(weights, LEAST_WEIGHT))]))
        step, length = _newton_step(here, free_basis(table, model, counted_weights(weights)), len(theta))
        converged = length <= STEP_TOLERANCE and gain <= GAIN_TOLERANCE
        theta, weights = _descend(rows, here, step, len(theta))
    full = np.concatenate([theta, np.log(np.maximum(weights, LEAST_WEIGHT))])
    message = "neither weights nor difficulties change" if converged else "too many iterations"
    return FreeFit(full, rows.grid, weights, counted_weights(weights), converged, iterations, length, message)


def counted_weights(weights: Floats) -> Booleans:
    """Return which logits are parameters: of weights that have not vanished, but for the largest."""
    counted = weights > VANISHED
    counted[weights.argmax()] = False
    return counted


def free_basis(table: IntentTable, model: str, counted: Booleans) -> Floats:
    """Return the map from free parameters to θ; the level of c is not free in model 1, where the grid has it."""
    editions = table.shape[1]
    design = np.eye(editions) if table.two_way.design is None else table.two_way.design
    of_weights = np.eye(len(counted))[:, counted]
    if model == "2":
        plain: Floats = block_diag(design, of_weights)
        return plain
    centred, sizes, _ = np.linalg.svd(design - design.mean(axis=0), full_matrices=False)
    contrasts: Floats = block_diag(centred[:, sizes > 1e-9 * sizes.max()], np.eye(1), of_weights)
    return contrasts


def _update_weights(rows: FreeRows, theta: Floats, weights: Floats) -> tuple[Floats, float]:
    """Take EM steps on the weights, all else fixed; return them and the gain in log-likelihood of the last tenth."""
    intents, step = rows.table.shape[0], rows_at_a_time(rows.table)
    log_density = np.vstack([rows.log_density(theta, slice(at, at + step)) for at in range(0, intents, step)])
    highest = log_density.max(axis=1, keepdims=True)
    density = np.exp(log_density - highest)
    before = after = -np.inf
    for number in range(EM_STEPS):
        marginal = density @ weights
        if number == EM_STEPS - EM_STEPS // 10:
            before = float(np.log(marginal).sum())
        weights = weights * (density.T @ (1 / marginal)) / intents
    after = float(np.log(density @ weights).sum())
    return weights, after - before


def _newton_step(here: Total, basis: Floats, others: int) -> tuple[Floats, float]:
    """Return the Newton step in all parameters, kept short, and the length in standard errors of that before logits."""
    curvature, axes = np.linalg.eigh(basis.T @ here.information @ basis)
    size = np.maximum(np.abs(curvature), 1e-10 * np.abs(curvature).max())
    step = basis @ (axes @ ((axes.T @ (basis.T @ here.gradient)) / size))
    moved = step.copy()
    moved[others:] = 0.0
    length = float(np.sqrt(max(moved @ here.information @ moved, 0.0)))
    longest = np.maximum(np.abs(step[:others]).max() / LONGEST, np.abs(step[others:]).max() / LONGEST_LOGIT)
    return step / max(1.0, float(longest)), length


def _descend(rows: FreeRows, here: Total, step: Floats, others: int) -> tuple[Floats, Floats]:
    """Return c, ln σ² and the weights after a step, halved until it does no harm."""
    share = 1.0
    while share > SHORTEST:
        theta = here.theta + share * step
        if sum_of_rows(rows, theta).value >= here.value - ROUNDING:
            return theta[:others], np.exp(theta[others:] - logsumexp(theta[others:]))
        share /= 2
    return here.theta[:others], np.exp(here.theta[others:] - logsumexp(here.theta[others:]))
