r"""Influences of intents on difficulties in model 2L at its kinks; see `langdiff.regression.kernel.kinks`.

The cost of a row at its best size, as a function of c, has the derivative :math:`s_i(c)`. At a kink of cell a the size
follows :math:`c_a`, so that this cell takes the row's derivative in μ divided by :math:`-h'`; between kinks all cells
have their own. With differences of :math:`\sum_i s_i` over a step of :math:`\eta = 2\sqrt{v}\, I^{-1/3}`, in which many
rows change their kink, for the second derivative Ĥ, and Q a basis of the contrasts,
:math:`A = Q (Q^\top \hat H Q)^{-1} Q^\top` and :math:`A s_i` are the influences. The level is left out, of which
differences over such a step say little.
"""

from typing import Any

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from langdiff.base.types import CELLS_OF_WINDOWS, Floats, Integers
from langdiff.regression.kernel.kinks import Kinks
from langdiff.regression.kernel.likelihood import mu_at_mean

STEP = 2.0  # of √v I^(−1/3)
TIE = 1e-10  # of the cost, by which of tied kinks that with the larger u is taken
SAME = 1e-9  # of x, at which cells are at one kink: their signs are the u of the certificate
MOST_STEPS = 30


class _Chosen:
    """Best sizes of rows at some c: derivatives in c are sums of signs, and what the active cell takes."""

    def __init__(self, x: Floats, weight: Floats, cost: Floats, distance: Floats, outer: Floats, u: Floats) -> None:
        rows = np.arange(len(x))
        self.active = cost.argmin(axis=1)
        h = x[rows, self.active]
        self.mu = mu_at_mean(h)
        v, p = np.logaddexp(0.0, -self.mu), expit(-self.mu)
        apart = x - h[:, None]
        self.signs = np.where(np.abs(apart) < SAME, u, np.nan_to_num(np.sign(apart)))
        self.signs[rows, self.active] = 0.0
        slope, total = 1 + 0.5 * p, self.signs.sum(axis=1)
        self.taken = -self._slope(weight, v, p, total, distance[rows, self.active])
        bound = np.sqrt(2 / v) * slope
        side = np.sign(self.taken) * (np.abs(self.taken) > bound)  # 1: the cost falls where μ grows
        for k in map(int, np.flatnonzero(side)):
            self._move(x, weight, k, side[k])
        for k in map(int, np.flatnonzero(np.isfinite(outer))):
            self._leave(x, weight, k, outer[k], cost[k, self.active[k]])
        self.taken = np.where(self.active >= 0, self.taken / slope, 0.0)
        self.pull = np.sqrt(2 / np.logaddexp(0.0, -self.mu))

    @staticmethod
    def _slope(weight: Floats, v: Any, p: Any, total: Any, distance: Any) -> Floats:
        """Return the derivative of the cost in μ for a sum of signs and a sum of distances."""
        slope: Floats = np.sqrt(2 / v) * (-(1 + 0.5 * p) * total + 0.5 * p * distance / v) - 0.5 * weight * p / v
        return slope

    def _move(self, x: Floats, weight: Floats, k: int, side: float) -> None:
        """Move a row to the smooth point next to its kink."""
        h, others = x[k, self.active[k]], x[k][~np.isnan(x[k])]
        beyond = others[(others - h) * side > 0]
        self.signs[k, self.active[k]] = -side
        end = mu_at_mean(np.array([(beyond * side).min() * side]))[0] if len(beyond) else self.mu[k] + side * 8
        self._settle(x, weight, k, *sorted((float(self.mu[k]), float(end))))

    def _leave(self, x: Floats, weight: Floats, k: int, mu: float, cost: float) -> None:
        """Move a row to its mode outside of all kinks if that costs less."""
        before = self.mu[k], self.active[k], self.signs[k].copy()
        own = x[k][~np.isnan(x[k])]
        side = 1.0 if mu - 0.5 * np.logaddexp(0.0, -mu) < own.min() else -1.0
        self.signs[k] = np.where(np.isnan(x[k]), 0.0, side)
        self._settle(x, weight, k, mu - 8.0, mu + 8.0)
        v = np.logaddexp(0.0, -self.mu[k])
        distance = float(np.abs(own - (self.mu[k] - 0.5 * v)).sum())
        if 0.5 * weight[k] * np.log(2 * v) + np.sqrt(2 / v) * distance > cost:
            self.mu[k], self.active[k], self.signs[k] = before

    def _settle(self, x: Floats, weight: Floats, k: int, low: float, high: float) -> None:
        """Find the smooth minimum of a row between two sizes by bisection, with its signs."""
        total, sum_of_signed = self.signs[k].sum(), float(np.nansum(self.signs[k] * x[k]))
        own = weight[k : k + 1]
        for _ in range(50):
            mu = 0.5 * (low + high)
            v, p = np.logaddexp(0.0, -mu), expit(-mu)
            distance = sum_of_signed - total * (mu - 0.5 * v)
            low, high = (low, mu) if self._slope(own, v, p, total, distance)[0] > 0 else (mu, high)
        self.mu[k], self.active[k] = 0.5 * (low + high), -1

    def sums(self) -> Floats:
        """Return the sum of the rows' derivatives in c, shape (J,)."""
        sums: Floats = -(self.pull @ self.signs)
        np.add.at(sums, self.active[self.active >= 0], self.taken[self.active >= 0])
        return sums

    def scores(self) -> Floats:
        """Return the rows' derivatives in c, shape (R, J)."""
        scores: Floats = -self.pull[:, None] * self.signs
        rows = np.flatnonzero(self.active >= 0)
        scores[rows, self.active[rows]] += self.taken[rows]
        return scores


class _RowCosts:
    """Costs of some rows at all of their kinks, which a step of one difficulty changes a little."""

    def __init__(self, x: Floats, weight: Floats, u: Floats, mu: Floats) -> None:
        self.x, self.weight, self.u = x, weight, u
        h = mu - 0.5 * np.logaddexp(0.0, -mu)
        self.outer = np.where((h < np.nanmin(x, axis=1)) | (h > np.nanmax(x, axis=1)), mu, np.nan)
        order = np.argsort(x, axis=1)  # missing cells come last
        ordered = np.nan_to_num(np.take_along_axis(x, order, axis=1))
        n = (~np.isnan(x)).sum(axis=1, keepdims=True)
        below = np.arange(1, x.shape[1] + 1)
        up_to = np.cumsum(ordered, axis=1)
        self.distance = np.empty_like(x)
        np.put_along_axis(self.distance, order, (2 * below - n) * ordered + up_to[:, -1:] - 2 * up_to, axis=1)
        v = np.logaddexp(0.0, -mu_at_mean(x))
        self.level, self.factor = 0.5 * weight[:, None] * np.log(2 * v), np.sqrt(2 / v)

    def at(self) -> _Chosen:
        """Return the best sizes where it is."""
        return self._chosen(self.x, self.level, self.factor, self.distance, slice(None))

    def moved(self, j: int, step: float) -> Floats:
        """Return the sum of derivatives with one difficulty moved by a step, of the rows that it concerns."""
        rows = np.flatnonzero(~np.isnan(self.x[:, j]))
        part: slice | Integers = slice(None) if len(rows) == len(self.x) else rows
        x, own = self.x[part].copy(), self.x[part, j]
        distance = self.distance[part] - np.abs(own[:, None] - x)
        x[:, j] = own - step
        distance += np.abs(x[:, j, None] - x)
        distance[:, j] = np.nansum(np.abs(x - x[:, j, None]), axis=1)
        v = np.logaddexp(0.0, -mu_at_mean(x[:, j]))
        level, factor = self.level[part].copy(), self.factor[part].copy()
        level[:, j], factor[:, j] = 0.5 * self.weight[part] * np.log(2 * v), np.sqrt(2 / v)
        return self._chosen(x, level, factor, distance, part).sums()

    def _chosen(self, x: Floats, level: Floats, factor: Floats, distance: Floats, part: slice | Integers) -> _Chosen:
        cost = factor * distance
        cost += level
        cost -= TIE * np.abs(self.u[part])
        if np.isnan(cost).any():
            cost[np.isnan(cost)] = np.inf
        return _Chosen(x, self.weight[part], cost, distance, self.outer[part], self.u[part])


def influences_at_kinks(kinks: Kinks, mu: Floats, c: Floats) -> Floats:
    """Return the influence of each row on c up to a constant, shape (I, J); see the module.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the differences give no positive definite information.
    """
    with np.errstate(invalid="ignore"):  # missing cells are NaN
        return _influences(kinks, mu, c)


def _influences(kinks: Kinks, mu: Floats, c: Floats) -> Floats:
    table, (intents, editions) = kinks.table, kinks.table.residual.shape
    _, _, u = kinks.certificate(mu, c)
    u[~np.isfinite(u)] = 0.0
    step = STEP * float(np.sqrt(np.median(np.logaddexp(0.0, -mu)))) * intents ** (-1 / 3)
    hessian, scores = np.zeros((editions, editions)), np.empty((intents, editions))
    size = max(1, CELLS_OF_WINDOWS // editions)
    for start in range(0, intents, size):
        rows = slice(start, start + size)
        x = table.less(rows, c)
        if kinks.mask is not None:
            x[~kinks.mask[rows]] = np.nan
        part = _RowCosts(x, kinks.weight[rows], u[rows], mu[rows])
        scores[rows] = part.at().scores()
        for j in range(editions):
            hessian[:, j] += (part.moved(j, step) - part.moved(j, -step)) / (2 * step)
    scores -= scores.mean(axis=0)
    basis = kinks.basis - kinks.basis.mean(axis=0)
    left, values, _ = np.linalg.svd(basis, full_matrices=False)
    contrasts = left[:, values > 1e-9 * values[0]]
    information = contrasts.T @ (0.5 * (hessian + hessian.T)) @ contrasts
    if np.linalg.eigvalsh(information)[0] <= 0:
        raise LinAlgError("differences of scores give no positive definite information")
    return np.asarray(scores @ contrasts @ np.linalg.inv(information) @ contrasts.T)
