r"""Model 1 with random intents: a linear mixed model, solved by a search in one dimension.

With :math:`m_i \sim N(w_i^\top\alpha, \tau^2)` (the mean size a is absorbed into c), r the residuals
:math:`z - c - w^\top\alpha`, S and Q their sums over a row and those of their squares, and
:math:`W_i = \sigma^2 + J_i\tau^2`, the marginal log-likelihood is

.. math:: -\tfrac12\sum_i\Bigl[J_i\ln 2\pi + (J_i - 1)\ln\sigma^2 + \ln W_i
          + \frac{Q_i - \tau^2 S_i^2 / W_i}{\sigma^2}\Bigr].

Given :math:`\lambda = \tau^2/\sigma^2` the rest has closed forms. As λ → ∞ the estimates become those of fixed
intents. The restricted likelihood (REML) is that with c and α integrated out.

Source: Laird and Ware (1982), "Random-effects models for longitudinal data"; Patterson and Thompson (1971),
"Recovery of inter-block information when block sizes are unequal".
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import brentq

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.random.ascent import Derivatives
from langdiff.regression.kernel.random.table import IntentTable
from langdiff.regression.kernel.two_way import blocks, weighted_gram

FARTHEST = 18.0  # of |ln λ|: beyond, the intents do not vary, or do not bind the cells of a row together
TOLERANCE = 1e-12  # of ln λ


class LinearFit(NamedTuple):
    """The maximum; `boundary` is −1 if λ is 0 there, 1 if it is infinite, else 0."""

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
    """The likelihood of model 1 as a function of ln λ alone, all else at its best.

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
        """Return the best of all else, the criterion and its derivative, at ln λ."""
        table, ratio = self.table, float(np.exp(log_ratio))
        n, w = table.cells, table.attributes[:, 1:]
        left = 1 / (1 + n * ratio)  # of a row's mean, once its size is predicted
        m = table.two_way.intent_effect - table.two_way.intent_effect.mean()
        basis = table.basis(np.ones(w.shape[1], dtype=bool))
        normal = self._normal_matrix(ratio)
        factor = cho_factor(basis.T @ normal @ basis)
        right = np.concatenate([table.over_columns(left * m), w.T @ (n * left * m)])
        beta = basis @ cho_solve(factor, basis.T @ right)
        square = table.two_way.sum_of_squares + float(n @ (left * m**2)) - float(right @ beta)
        sums = n * (m - w @ beta[len(beta) - w.shape[1] :]) - table.over_rows(beta[: table.shape[1]])
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
        """Return XᵀV⁻¹X in units of 1/σ², of all c and α."""
        table, n = self.table, self.table.cells
        shrink = ratio / (1 + n * ratio)
        return _plain_gram(table) - _gram_of_sums(table, shrink)

    def maximize(self) -> LinearFit:
        """Find the maximum over λ ≥ 0."""
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
            found = float(brentq(slope, low, high, xtol=TOLERANCE))
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
        """Return ln λ from the residual variance and that of the row means, both as fixed intents have them."""
        two_way = self.table.two_way
        noise = two_way.sum_of_squares / max(two_way.degrees_of_freedom, 1)
        between = float(np.var(two_way.intent_effect)) - noise * float(np.mean(1 / self.table.cells))
        return float(np.log(max(between, 1e-3 * noise) / noise))


def _plain_gram(table: IntentTable) -> Floats:
    """Return Σ XᵀX of all c and α."""
    w, n = table.attributes[:, 1:], table.cells
    mixed = table.over_columns(w)
    gram: Floats = np.block([[np.diag(table.two_way.cells_per_edition), mixed], [mixed.T, (n[:, None] * w).T @ w]])
    return gram


def _gram_of_sums(table: IntentTable, weight: Floats) -> Floats:
    """Return Σ weight_i·(Xᵀ1)(Xᵀ1)ᵀ of all c and α: the sums over a row of what its fixed effects multiply."""
    w, n, mask = table.attributes[:, 1:], table.cells, table.two_way.mask
    of_c = np.full((table.shape[1],) * 2, weight.sum()) if mask is None else weighted_gram(mask, weight)
    mixed = table.over_columns((weight * n)[:, None] * w)
    gram: Floats = np.block([[of_c, mixed], [mixed.T, ((weight * n**2)[:, None] * w).T @ w]])
    return gram


def quadratic_forms(table: IntentTable, matrix: Floats) -> Floats:
    """Return (Xᵀ1)ᵀ·matrix·(Xᵀ1) of every row, shape (I,)."""
    forms = np.empty(table.shape[0])
    for rows in blocks(table.two_way.residual):
        sums = np.hstack([table.mask(rows), table.cells[rows, None] * table.attributes[rows, 1:]])
        forms[rows] = np.einsum("ij,ij->i", sums @ matrix, sums)
    return forms


@dataclass(frozen=True, eq=False, repr=False)
class LinearRows:
    """Marginal likelihood of each row in θ = (c, α, ln τ, ln σ²), the mean size absorbed into c."""

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
        x = (table.x(rows, theta[:editions]) - (w @ theta[editions:-2])[:, None]) * mask
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
    """Return what REML adds to the observed information on (ln τ, ln σ²), shape (2, 2).

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
