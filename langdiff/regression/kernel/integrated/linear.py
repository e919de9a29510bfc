r"""Random intents without quadrature: model 1 in closed form, and free size distributions on a grid.

Model 1 with random intents: a linear mixed model, solved by a search in one dimension.

With :math:`m_i \sim N(w_i^\top\alpha, \tau^2)` (the mean size a is absorbed into c), r the residuals
:math:`z - c - w^\top\alpha`, S and Q their sums over a row and those of their squares, and
:math:`W_i = \sigma^2 + J_i\tau^2`, the marginal log-likelihood is

.. math:: -\tfrac12\sum_i\Bigl[J_i\ln 2\pi + (J_i - 1)\ln\sigma^2 + \ln W_i
          + \frac{Q_i - \tau^2 S_i^2 / W_i}{\sigma^2}\Bigr].

Given :math:`\lambda = \tau^2/\sigma^2` the rest has closed forms. As λ → ∞ the estimates become those of fixed
intents. The restricted likelihood (REML) is that with c and α integrated out.

Source: Laird and Ware (1982), "Random-effects models for longitudinal data"; Patterson and Thompson (1971),
"Recovery of inter-block information when block sizes are unequal".

Random intents of any distribution: sizes on a grid, their weights by maximum likelihood.

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
from scipy.linalg import block_diag, cho_factor, cho_solve
from scipy.optimize import brentq
from scipy.special import logsumexp

from langdiff.base.types import ROUNDING_OF_INTEGRALS, TOLERANCE_OF_ROOTS, Booleans, Floats, Integers
from langdiff.regression.kernel.integrated.marginal import Derivatives, IntentTable, Total, rows_at_a_time, sum_of_rows
from langdiff.regression.kernel.integrated.quadrature import products_of_cells
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.two_way import blocks, weighted_gram

FARTHEST = 18.0  # of |ln λ|: beyond, the intents do not vary, or do not bind the cells of a row together


class LinearFit(NamedTuple):
    """Maximum of the likelihood; `boundary` is −1 if λ is 0 there, 1 if it is infinite, else 0."""

    c: Floats  # shape (J,), the mean size absorbed
    alpha: Floats  # shape (K,)
    tau: float
    variance: float
    criterion: float  # log-likelihood, or restricted log-likelihood
    boundary: int
    n_evaluations: int
    slope: float  # of the criterion in ln λ


class _Point(NamedTuple):
    slope: float
    beta: Floats
    variance: float
    criterion: float


@dataclass(frozen=True, eq=False, repr=False)
class LinearSearch:
    """Profile likelihood of model 1 as a function of ln λ, with all other parameters at their best.

    Parameters
    ----------
    table : IntentTable
        Table to be fitted.
    restricted : bool
        Take the restricted likelihood.
    """

    table: IntentTable
    restricted: bool

    def at(self, log_ratio: float) -> _Point:
        """Return the other parameters at their best, the criterion and its derivative, at ln λ."""
        table, ratio = self.table, float(np.exp(log_ratio))
        n, w = table.cells, table.attributes[:, 1:]
        left = 1 / (1 + n * ratio)  # of a row's mean, once its size is predicted
        m = table.two_way.intent_effect - table.two_way.intent_effect.mean()
        basis = table.basis(np.ones(w.shape[1], dtype=bool))
        normal = self._normal_matrix(ratio)
        factor = cho_factor(basis.T @ normal @ basis)
        right = np.concatenate([table.two_way.over_columns(left * m), w.T @ (n * left * m)])
        beta = basis @ cho_solve(factor, basis.T @ right)
        square = table.two_way.sum_of_squares + float(n @ (left * m**2)) - float(right @ beta)
        sums = n * (m - w @ beta[len(beta) - w.shape[1] :]) - table.two_way.over_rows(beta[: table.shape[1]])
        total, fixed = float(n.sum()), basis.shape[1]
        freedom = total - fixed if self.restricted else total
        variance = square / freedom
        determinants = float(np.log1p(n * ratio).sum())
        slope = -float(np.sum(n * ratio * left)) + ratio * float(left**2 @ sums**2) / variance
        if self.restricted:
            determinants += 2 * float(np.log(np.diag(factor[0])).sum())
            inverse = basis @ cho_solve(factor, basis.T)
            slope += ratio * float(left**2 @ quadratic_forms(table, inverse))
        criterion = -0.5 * (freedom * (np.log(2 * np.pi * variance) + 1) + determinants)
        return _Point(0.5 * slope, beta, variance, criterion)

    def _normal_matrix(self, ratio: float) -> Floats:
        """Return XᵀV⁻¹X of all c and α in units of 1/σ²."""
        table, n = self.table, self.table.cells
        shrink = ratio / (1 + n * ratio)
        return _plain_gram(table) - _gram_of_sums(table, shrink)

    def maximize(self) -> LinearFit:
        """Maximize the profile likelihood over λ ≥ 0."""
        evaluations = 0

        def slope(log_ratio: float) -> float:
            nonlocal evaluations
            evaluations += 1
            return self.at(log_ratio).slope

        low = high = float(np.clip(self._start(), -FARTHEST, FARTHEST))
        step, rising = 1.0, slope(low) > 0
        while rising and high < FARTHEST and slope(min(high + step, FARTHEST)) > 0:
            low = high = min(high + step, FARTHEST)
            step *= 2
        while not rising and low > -FARTHEST and slope(max(low - step, -FARTHEST)) <= 0:
            low = high = max(low - step, -FARTHEST)
            step *= 2
        boundary = 0
        if rising and high >= FARTHEST:
            found, boundary = high, 1
        elif not rising and low <= -FARTHEST:
            found, boundary = -np.inf, -1
        else:
            low, high = (low, min(high + step, FARTHEST)) if rising else (max(low - step, -FARTHEST), high)
            found = float(brentq(slope, low, high, xtol=TOLERANCE_OF_ROOTS))
        point = self.at(found)
        level = float(self.table.two_way.intent_effect.mean())
        editions = self.table.shape[1]
        return LinearFit(
            c=point.beta[:editions] + self.table.two_way.edition_effect + level,
            alpha=point.beta[editions:],
            tau=float(np.sqrt(np.exp(found) * point.variance)),
            variance=point.variance,
            criterion=point.criterion,
            boundary=boundary,
            n_evaluations=evaluations + 1,
            slope=point.slope,
        )

    def _start(self) -> float:
        """Return a starting value of ln λ from the variances of residuals and of row means with fixed intents."""
        two_way = self.table.two_way
        noise = two_way.sum_of_squares / max(two_way.degrees_of_freedom, 1)
        between = float(np.var(two_way.intent_effect)) - noise * float(np.mean(1 / self.table.cells))
        return float(np.log(max(between, 1e-3 * noise) / noise))


def _plain_gram(table: IntentTable) -> Floats:
    """Return Σ XᵀX over rows, for all c and α."""
    w, n = table.attributes[:, 1:], table.cells
    mixed = table.two_way.over_columns(w)
    return np.block([[np.diag(table.two_way.cells_per_edition), mixed], [mixed.T, (n[:, None] * w).T @ w]])


def _gram_of_sums(table: IntentTable, weight: Floats) -> Floats:
    """Return Σ weight_i·(Xᵀ1)(Xᵀ1)ᵀ over rows, for all c and α, where X is the design of a row's fixed effects."""
    w, n, mask = table.attributes[:, 1:], table.cells, table.two_way.mask
    of_c = np.full((table.shape[1],) * 2, weight.sum()) if mask is None else weighted_gram(mask, weight)
    mixed = table.two_way.over_columns((weight * n)[:, None] * w)
    return np.block([[of_c, mixed], [mixed.T, ((weight * n**2)[:, None] * w).T @ w]])


def quadratic_forms(table: IntentTable, matrix: Floats) -> Floats:
    """Return the quadratic form (Xᵀ1)ᵀ·matrix·(Xᵀ1) of every row, shape (I,)."""
    forms = np.empty(table.shape[0])
    for rows in blocks(table.two_way.residual):
        sums = np.hstack([table.mask(rows), table.cells[rows, None] * table.attributes[rows, 1:]])
        forms[rows] = np.einsum("ij,ij->i", sums @ matrix, sums)
    return forms


@dataclass(frozen=True, eq=False, repr=False)
class LinearRows:
    """Marginal likelihood of rows in θ = (c, α, ln τ, ln σ²), with the mean size absorbed into c."""

    table: IntentTable

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information.

        The sizes are predictions of m less the mean size.
        """
        table, editions = self.table, self.table.shape[1]
        w, n = table.attributes[rows, 1:], table.cells[rows]
        t, s = np.exp(2 * theta[-2]), np.exp(theta[-1])
        total = s + n * t  # W
        mask = table.mask(rows)
        x = (table.two_way.less(rows, theta[:editions]) - (w @ theta[editions:-2])[:, None]) * mask
        mean = x.sum(axis=1) / n
        within = (x - mean[:, None]) * mask
        spread, between = np.einsum("ij,ij->i", within, within), n * mean**2
        of_c = (within / s + (mean / total)[:, None]) * mask
        pull = n * mean / total
        of_s = -0.5 * ((n - 1) / s + 1 / total - spread / s**2 - between / total**2)
        of_t = -0.5 * (n / total - n * between / total**2)
        scores = np.hstack([of_c, pull[:, None] * w, (2 * t * of_t)[:, None], (s * of_s)[:, None]])
        in_ss = -0.5 * (-(n - 1) / s**2 - 1 / total**2 + 2 * spread / s**3 + 2 * between / total**3)
        in_st = -0.5 * (-n / total**2 + 2 * n * between / total**3)
        in_tt = -0.5 * (-(n**2) / total**2 + 2 * n**2 * between / total**3)
        information = np.zeros((len(theta), len(theta)))
        root = np.sqrt(t / (s * total))[:, None] * mask
        information[:editions, :editions] = np.diag(mask.sum(axis=0)) / s - root.T @ root
        upper = np.zeros_like(information)
        upper[:editions, editions:-2] = mask.T @ (w / total[:, None])
        upper[:editions, -2] = mask.T @ (2 * t * n * mean / total**2)
        upper[:editions, -1] = within.sum(axis=0) / s + mask.T @ (s * mean / total**2)
        upper[editions:-2, -2] = w.T @ (2 * t * n**2 * mean / total**2)
        upper[editions:-2, -1] = w.T @ (s * n * mean / total**2)
        upper[-2, -1] = -np.sum(2 * s * t * in_st)
        information += upper + upper.T
        information[editions:-2, editions:-2] = (w * (n / total)[:, None]).T @ w
        information[-2, -2] = -np.sum(4 * t**2 * in_tt + 4 * t * of_t)
        information[-1, -1] = -np.sum(s**2 * in_ss + s * of_s)
        values = n * np.log(2 * np.pi) + (n - 1) * np.log(s) + np.log(total) + spread / s + between / total
        sizes = w @ theta[editions:-2] + t * pull
        return Derivatives(-0.5 * values, sizes, scores, information)


def restricted_information(table: IntentTable, theta: Floats) -> Floats:
    """Return the term that REML adds to the observed information on (ln τ, ln σ²), shape (2, 2).

    Minus the second derivatives of −½ ln|XᵀV⁻¹X|: a function of the variances alone, so that adding them to the
    joint information makes elimination of c give the observed information of the restricted likelihood.
    """
    t, s = np.exp(2 * theta[-2]), np.exp(theta[-1])
    n, plain = table.cells, _plain_gram(table)
    omega = s / (s + n * t)
    g = (1 - omega) / (n * s)  # weight of the outer product of row sums in XᵀV⁻¹X
    basis = table.basis(np.ones(table.attributes.shape[1] - 1, dtype=bool))
    inverse = basis @ np.linalg.solve(basis.T @ (plain / s - _gram_of_sums(table, g)) @ basis, basis.T)
    forms, trace = quadratic_forms(table, inverse), float(np.sum(inverse * plain)) / s
    first = [-_gram_of_sums(table, 2 * g * omega), -plain / s + _gram_of_sums(table, g * (1 + omega))]
    second = {
        (0, 0): -float(forms @ (4 * g * omega * (2 * omega - 1))),
        (0, 1): float(forms @ (4 * g * omega**2)),
        (1, 1): trace - float(forms @ (g * (1 + omega + 2 * omega**2))),
    }
    added = np.empty((2, 2))
    for (k, m), bend in second.items():
        twice = float(np.sum((inverse @ first[k]) * (inverse @ first[m]).T))
        added[k, m] = added[m, k] = 0.5 * (bend - twice)
    return added


POINTS = 60
EM_STEPS = 50  # on the weights, between two Newton steps in c
STEP_TOLERANCE = 1e-5  # of the Newton step in c and ln σ², in standard errors
GAIN_TOLERANCE = 1e-4  # of log-likelihood, of the last round of EM steps
VANISHED = 1e-6  # weight below which a point of the grid is not counted among the parameters
LEAST_WEIGHT = 1e-100
LONGEST, LONGEST_LOGIT = 0.5, 3.0  # of a Newton step in c or ln σ², and in a logit
SHORTEST = 1e-3


class FreeFit(NamedTuple):
    """Maximum of the likelihood over c, ln σ² (model 1) and the weights."""

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
    """Marginal likelihood of rows in θ = (c, logits of weights), or (c, ln σ², logits) in model 1.

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
        """Return the log-density of each row's cells at each size of the grid, (R, 60)."""
        mean, spread = self._sums(theta, rows)[1:]
        return self._log_density(theta, self.table.cells[rows], mean, spread)

    def _sums(self, theta: Floats, rows: slice | Integers) -> tuple[Floats, Floats, Floats]:
        """Return z − c centered by row, the rows' means, and the sums of squares around them."""
        table, mask = self.table, self.table.mask(rows)
        x = table.two_way.less(rows, theta[: table.shape[1]]) * mask
        mean = x.sum(axis=1) / table.cells[rows]
        within = (x - mean[:, None]) * mask
        return within, mean, np.einsum("ij,ij->i", within, within)

    def _moments(self, theta: Floats) -> tuple[Floats, Floats]:
        """Return the mean, without c, and the variance of a cell at each size of the grid."""
        if self.model == "1":
            return self.grid, np.full_like(self.grid, np.exp(theta[self.table.shape[1]]))
        v = np.logaddexp(0.0, -self.grid)
        return self.grid - 0.5 * v, v

    def _log_density(self, theta: Floats, n: Floats, mean: Floats, spread: Floats) -> Floats:
        h, v = self._moments(theta)
        n, mean, spread = n[:, None], mean[:, None], spread[:, None]
        return -0.5 * (n * np.log(2 * np.pi * v) + (spread + n * (mean - h) ** 2) / v)

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
    """Maximize over c, σ² and the weights by alternating EM steps on the weights and Newton steps in all.

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
    shift = table.two_way.over_rows(start[:editions] - table.two_way.edition_effect)
    mean = table.two_way.intent_effect - shift / table.cells
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
    """Return an indicator of the logits that are parameters: weights that have not vanished, except the largest."""
    counted = weights > VANISHED
    counted[weights.argmax()] = False
    return counted


def free_basis(table: IntentTable, model: str, counted: Booleans) -> Floats:
    """Return the matrix that maps free parameters to θ; in model 1 the grid determines the level of c."""
    editions = table.shape[1]
    design = np.eye(editions) if table.two_way.design is None else table.two_way.design
    of_weights = np.eye(len(counted))[:, counted]
    if model == "2":
        return block_diag(design, of_weights)
    centred, sizes, _ = np.linalg.svd(design - design.mean(axis=0), full_matrices=False)
    return block_diag(centred[:, sizes > 1e-9 * sizes.max()], np.eye(1), of_weights)


def _update_weights(rows: FreeRows, theta: Floats, weights: Floats) -> tuple[Floats, float]:
    """Update the weights by EM steps; return them and the gain in log-likelihood of the last tenth of the steps."""
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
    """Return the Newton step, bounded in length, and the length of its part before the logits in standard errors."""
    curvature, axes = np.linalg.eigh(basis.T @ here.information @ basis)
    size = np.maximum(np.abs(curvature), 1e-10 * np.abs(curvature).max())
    step = basis @ (axes @ ((axes.T @ (basis.T @ here.gradient)) / size))
    moved = step.copy()
    moved[others:] = 0.0
    length = float(np.sqrt(max(moved @ here.information @ moved, 0.0)))
    longest = np.maximum(np.abs(step[:others]).max() / LONGEST, np.abs(step[others:]).max() / LONGEST_LOGIT)
    return step / max(1.0, float(longest)), length


def _descend(rows: FreeRows, here: Total, step: Floats, others: int) -> tuple[Floats, Floats]:
    """Return c, ln σ² and the weights after a step, which is halved until the likelihood does not decrease."""
    share = 1.0
    while share > SHORTEST:
        theta = here.theta + share * step
        if sum_of_rows(rows, theta).value >= here.value - ROUNDING_OF_INTEGRALS:
            return theta[:others], np.exp(theta[others:] - logsumexp(theta[others:]))
        share /= 2
    return here.theta[:others], np.exp(here.theta[others:] - logsumexp(here.theta[others:]))
