r"""Likelihood of model 2 in parameters that are identified.

Model 2 of Mielke et al. (2019, section 3) says of z = ln(bits)

.. math:: z_{ij} \sim \mathcal{N}\bigl(m_i + d_j + \tfrac12(\sigma^2 - v_i),\; v_i\bigr), \quad
          v_i = \ln(1 + \kappa / n_i), \quad n_i = e^{m_i}, \quad \kappa = e^{\sigma^2} - 1.

Multiplying all n and κ by t and lowering all d by :math:`\ln t + \tfrac12 \ln\frac{1+t\kappa}{1+\kappa}`
changes no mean and no variance: of the I + J + 1 parameters one is redundant. With

.. math:: \mu_i = m_i - \ln\kappa, \qquad c_j = d_j + \ln\kappa + \tfrac12\ln(1+\kappa)

the model reads :math:`z_{ij} \sim \mathcal{N}(\mu_i - \tfrac12 v_i + c_j,\; v_i)` with
:math:`v_i = \ln(1 + e^{-\mu_i})`. Both μ and c are identified; κ, n and the normalized difficulties
follow from c and the convention that the factors exp(d) average 1 (`normalize`).

Every intent brings a parameter of its own, which is fitted to its few cells. That makes the most likely
variances too small and, in incomplete tables, biases c towards editions in sparse rows (Neyman and Scott
1948). The *restricted* likelihood has :math:`(J_i - 1) \ln v_i` for :math:`J_i \ln v_i` in each row of
:math:`J_i` cells: the adjustment of Cox and Reid (1987), which is what integrating m_i out gives, to
first order.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, expit, logsumexp

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.two_way import TwoWay, add_products, blocks_of, eliminated_information, whole

FAR_VARIANCES = np.geomspace(0.5, 100, 64)  # where the second mode of an intent lies, if it has one
MOST_INNER_STEPS = 50  # about four are needed
INNER_TOLERANCE = 1e-10  # in units of an intent's standard error
WILD = 1e-3  # as rare are residuals as large as those of an intent that may belong to its far mode
MOST_WILD = 0.1  # of the intents; more, and it is the model that is wrong
LEAST_GAIN = 1e-6  # of log-likelihood, for an intent to be moved to its other mode


class Gradient(NamedTuple):
    """Minus log-likelihood and its derivatives."""

    value: float
    mu: Floats
    c: Floats


class Profile(NamedTuple):
    """Likelihood with every intent at its mode for a given c: its value in each row and its gradient in c."""

    mu: Floats
    values: Floats
    of_c: Floats
    excess: float  # the largest derivative left in any μ, in units of its standard error


class Scales(NamedTuple):
    """Inverse square roots of the curvature in μ, in the free parameters of c, and along μ − k, c + k."""

    mu: Floats
    c: Floats
    k: float


class Rows(NamedTuple):
    """Scores and information of some rows, all of shape (R, J) and 0 in missing cells.

    `score` is the derivative of the log-likelihood in c, whose columns sum to 0 at the optimum. The
    information of row i is diag(`weight[i]`) − `mixed[i]` `mixed[i]`ᵀ.
    """

    score: Floats
    weight: Floats
    mixed: Floats

    def kept(self) -> "RowInformation":
        """Return the information of all rows, of which these are kept in memory."""
        return RowInformation(self.score.shape, lambda rows: Rows(*(part[rows] for part in self)))


@dataclass(frozen=True, eq=False, repr=False)
class RowInformation:
    """Scores and information of rows, computed for as many at a time as are asked for: of all they fill the memory."""

    shape: tuple[int, ...]
    of: Callable[[slice | Integers], Rows]

    @property
    def total(self) -> Floats:
        """Information of all rows, shape (J, J)."""
        intents, editions = self.shape
        own, gram = np.zeros(editions), np.zeros((editions, editions), order="F")
        for rows in blocks_of(intents, editions):
            _, weight, mixed = self.of(rows)
            own += weight.sum(axis=0)
            gram = add_products(gram, mixed)
        return np.diag(own) - whole(gram)


class _Row(NamedTuple):
    """Quantities of each row, of shape (I,); primes are derivatives in μ, and v' = −p."""

    v: Floats
    p: Floats  # 1 / (1 + e^μ)
    location: Floats  # h = μ − v/2
    sum: Floats  # of residuals r = z − h − c over the row's cells
    sum_of_squares: Floats


@dataclass(frozen=True, eq=False, repr=False)
class ScaleFreeLikelihood:
    """Log-likelihood of model 2 as a function of μ and c; see the module.

    A step needs only sums over rows and columns, so that no I × J temporary is made: with E the
    residuals of model 1, r = E − a − b for an a of each row and a b of each column, both near 0 at the
    optimum (no cancellation), and the sums of r and r² follow from those of E, from E b and from Eᵀw.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the same table.
    restricted : bool
        Take the restricted likelihood instead; see the module.
    """

    two_way: TwoWay
    restricted: bool = False

    @cached_property
    def _row_square(self) -> Floats:
        residual = self.two_way.residual
        squares: Floats = np.einsum("ij,ij->i", residual, residual)
        return squares

    @property
    def log_weight(self) -> Floats:
        """Weight of ½ ln v in the log-likelihood of each row, shape (I,)."""
        return self.two_way.cells_per_intent - self.restricted

    def _rows(self, mu: Floats, c: Floats) -> tuple[_Row, Floats, Floats]:
        """Return the row quantities, and a (I,) and b (J,) with r = E − a − b."""
        table = self.two_way
        v = np.logaddexp(0.0, -mu)
        location = mu - 0.5 * v
        b = c - table.edition_effect
        level = b.mean()  # μ and c differ from model 1's m and d by a constant, which a + b is better without
        a, b = location - table.intent_effect + level, b - level
        cross = table.residual @ b
        row_b, row_bb = table.over_rows(np.column_stack([b, b * b])).T
        n = table.cells_per_intent
        square: Floats = self._row_square - 2 * cross + row_bb + a * (2 * row_b + n * a)
        return _Row(v, expit(-mu), location, -n * a - row_b, square), a, b

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row of z, shape (I,)."""
        row, _, _ = self._rows(mu, c)
        return 0.5 * (self.log_weight * np.log(2 * np.pi * row.v) + row.sum_of_squares / row.v)

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return minus the log-likelihood of z, less a baseline, and its gradient.

        Parameters
        ----------
        mu, c : ndarray, shapes (I,) and (J,)
            The scale-free parameters.
        baseline : ndarray, shape (I,)
            Subtracted row by row before summing, so that differences between neighbouring points
            keep the digits that a sum of hundreds of thousands of cells would lose.
        """
        row, a, b = self._rows(mu, c)
        w = 1 / row.v
        rows = 0.5 * (self.log_weight * np.log(2 * np.pi * row.v) + row.sum_of_squares * w)
        return Gradient(float(np.sum(rows - baseline)), self._slope(row), self._gradient_in_c(w, a, b))

    def _gradient_in_c(self, w: Floats, a: Floats, b: Floats) -> Floats:
        """Return minus the column sums of w·r, r = E − a − b."""
        table = self.two_way
        of_a, of_b = table.over_columns(np.column_stack([w * a, w])).T
        of_c: Floats = of_a + of_b * b - w @ table.residual
        return of_c

    def _slope(self, row: _Row) -> Floats:
        """Return minus the derivative of the log-likelihood in each μ, shape (I,)."""
        w, p = 1 / row.v, row.p
        return -(1 + 0.5 * p) * row.sum * w - 0.5 * p * w * (self.log_weight - row.sum_of_squares * w)

    def _expected_curvature(self, row: _Row) -> Floats:
        """Return the expectation of `_curvature`, which is positive."""
        w, p = 1 / row.v, row.p
        return self.two_way.cells_per_intent * (1 + 0.5 * p) ** 2 * w + 0.5 * self.log_weight * (p * w) ** 2

    def _curvature(self, row: _Row) -> Floats:
        """Return minus the second derivative of the log-likelihood in each μ, shape (I,)."""
        n, w, p = self.two_way.cells_per_intent, 1 / row.v, row.p
        slope, bend = 1 + 0.5 * p, p * (1 - p)  # h' and v''
        return (
            n * slope**2 * w
            + 0.5 * bend * w * row.sum
            - 2 * slope * p * w**2 * row.sum
            + 0.5 * self.log_weight * (bend * w - (p * w) ** 2)
            - 0.5 * row.sum_of_squares * (bend * w**2 - 2 * p**2 * w**3)
        )

    def information(self, mu: Floats, c: Floats) -> Floats:
        """Return the observed information on c with μ eliminated: the Schur complement of the Hessian.

        Returns
        -------
        ndarray, shape (J, J)
            The inverse is the covariance of the estimate of c.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the log-likelihood is not concave in some μ there.
        """
        return self.row_information(mu, c).total

    def row_information(self, mu: Floats, c: Floats) -> RowInformation:
        """Return the scores and the observed information of all rows; see `information`."""
        table, mask = self.two_way, self.two_way.mask
        row, a, b = self._rows(mu, c)
        w, p, curvature = 1 / row.v, row.p, self._curvature(row)
        if not (curvature > 0).all():
            raise np.linalg.LinAlgError("the log-likelihood is not concave in an intent size")
        constant, factor = (1 + 0.5 * p) * w / np.sqrt(curvature), p * w**2 / np.sqrt(curvature)

        def of(rows: slice | Integers) -> Rows:
            r = table.residual[rows] - a[rows, None]
            r -= b
            mixed = r * -factor[rows, None]
            mixed += constant[rows, None]
            weight = np.broadcast_to(w[rows, None], r.shape)
            if mask is not None:
                mixed *= mask[rows]
                weight = weight * mask[rows]
            r *= weight
            return Rows(r, weight, mixed)

        return RowInformation((len(mu), len(c)), of)

    def of_rows(self, rows: Integers) -> "ScaleFreeLikelihood":
        """Return the likelihood of some rows, whose model 1 is that of the whole table."""
        table = self.two_way
        part = replace(
            table,
            intent_effect=table.intent_effect[rows],
            residual=table.residual[rows],
            mask=None if table.mask is None else table.mask[rows],
            cells_per_intent=table.cells_per_intent[rows],
        )
        return ScaleFreeLikelihood(part, self.restricted)

    def scores(self, mu: Floats, c: Floats) -> Floats:
        """Return the derivatives of the log-likelihood of each row in c, shape (I, J)."""
        table = self.two_way
        row, a, b = self._rows(mu, c)
        scores: Floats = (table.residual - a[:, None] - b) / row.v[:, None]
        return scores if table.mask is None else scores * table.mask

    def start(self) -> tuple[Floats, Floats]:
        """Return starting values of μ and c: the means of model 1 with the most likely scale."""
        table = self.two_way
        m = table.intent_effect
        variance = table.sum_of_squares / table.degrees_of_freedom
        middle = float(np.median(m)) + variance + np.log(-np.expm1(-variance))  # ln κ of the median intent

        def minus_log_likelihood(k: float) -> float:
            v = np.logaddexp(0.0, k - m)
            square = self._row_square
            return float(np.sum(self.log_weight * np.log(v) + square / v))

        k = minimize_scalar(minus_log_likelihood, bounds=(middle - 10, middle + 10), method="bounded").x
        mu = m - k
        return mu, table.edition_effect + k + 0.5 * float(np.mean(np.logaddexp(0.0, -mu)))

    def expected_information(self, mu: Floats, c: Floats) -> Floats:
        """Return the expected information on c, shape (J, J), which is cheaper than `information`."""
        row, _, _ = self._rows(mu, c)
        w = 1 / row.v
        return eliminated_information(self.two_way, w, (1 + 0.5 * row.p) * w, self._expected_curvature(row), rough=True)

    def profile(self, mu: Floats, c: Floats) -> Profile:
        """Compute the mode of every intent nearest to the given μ, at fixed c.

        Given c, a row is known by the mean and the spread of its z − c, so that this costs one pass
        over the table, and the gradient another.
        """
        row, a, b = self._rows(mu, c)
        n, start_location = self.two_way.cells_per_intent, row.location
        mean, spread = _mean_and_spread(row, n)
        for _ in range(MOST_INNER_STEPS):
            v = np.logaddexp(0.0, -mu)
            location = mu - 0.5 * v
            excess = n * (mean - location)
            row = _Row(v, expit(-mu), location, excess, spread + excess * (mean - location))
            expected, observed = self._expected_curvature(row), self._curvature(row)
            # far from the mode the observed curvature may be minute or negative: such a step is kept short
            curvature = np.where(observed > 0.1 * expected, observed, expected)
            step = np.clip(-self._slope(row) / curvature, -2.0, 2.0)
            mu = mu + step
            if not (np.abs(step) * np.sqrt(expected) > INNER_TOLERANCE).any():
                break
        v = np.logaddexp(0.0, -mu)
        location = mu - 0.5 * v
        excess = n * (mean - location)
        row = _Row(v, expit(-mu), location, excess, spread + excess * (mean - location))
        values = 0.5 * (self.log_weight * np.log(2 * np.pi * v) + row.sum_of_squares / v)
        left = np.abs(self._slope(row)) / np.sqrt(self._expected_curvature(row))
        return Profile(mu, values, self._gradient_in_c(1 / v, a + location - start_location, b), float(left.max()))

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return μ with every intent moved to its other mode if that is likelier, at fixed c.

        The likelihood of one intent can have two modes: the mean of z explained by the intent's size,
        or (for a row that varies far more than others of its size) a minute size, whose variance is
        huge. Given c the first is near h(μ) = mean of z − c; the second is searched for on a grid of
        variances. An optimizer that follows the gradient never crosses from one to the other.
        """
        row, _, _ = self._rows(mu, c)
        n, log_weight = self.two_way.cells_per_intent, self.log_weight
        mean, spread = _mean_and_spread(row, n)
        near = mu_at_mean(mean)
        near_v = np.logaddexp(0.0, -near)
        # no variance above the least can make up for more than this
        least = np.maximum(spread / np.maximum(log_weight, 1.0), FAR_VARIANCES[0])
        hoped = log_weight * np.log(least) + spread / least
        maybe = np.flatnonzero(hoped <= log_weight * np.log(near_v) + spread / near_v)
        far, far_values = mu.copy(), np.full(len(mu), np.inf)
        far[maybe], far_values[maybe] = _far_modes(mean[maybe], spread[maybe], n[maybe], log_weight[maybe])
        candidates = np.column_stack([mu, near, far])
        values = 0.5 * np.column_stack(
            [
                log_weight * np.log(row.v) + row.sum_of_squares / row.v - 2 * LEAST_GAIN,
                log_weight * np.log(near_v) + spread / near_v,
                far_values,
            ]
        )
        best: Floats = candidates[np.arange(len(mu)), values.argmin(axis=1)]
        return best

    def without_wild_intents(self, mu: Floats, c: Floats) -> Floats | None:
        """Return μ with outlying intents moved to their mode of large variance; None without outlying intents.

        A few such intents together can make all variances so large that none of them alone would be better off at its
        far mode.
        """
        row, _, _ = self._rows(mu, c)
        n = self.two_way.cells_per_intent
        wild = row.sum_of_squares / row.v > chdtri(np.maximum(n - 1, 1), WILD)
        if not wild.any() or wild.mean() > MOST_WILD:
            return None
        mean, spread = _mean_and_spread(row, n)
        moved = mu.copy()
        moved[wild] = _far_modes(mean[wild], spread[wild], n[wild], self.log_weight[wild])[0]
        return moved

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return inverse square roots of the larger of observed and expected curvature."""
        table = self.two_way
        row, _, _ = self._rows(mu, c)
        n, w, p = table.cells_per_intent, 1 / row.v, row.p
        of_mu = np.maximum(self._expected_curvature(row), self._curvature(row))
        of_c = table.over_columns(w)
        if table.design is not None:
            of_c = of_c @ table.design**2
        of_k = float(np.sum(0.25 * n * p**2 * w + 0.5 * self.log_weight * (p * w) ** 2))
        return Scales(1 / np.sqrt(of_mu), 1 / np.sqrt(of_c), of_k**-0.5)


def _mean_and_spread(row: _Row, n: Floats) -> tuple[Floats, Floats]:
    """Return the mean of z − c in each row and the sum of squares around it."""
    return row.location + row.sum / n, np.maximum(row.sum_of_squares - row.sum**2 / n, 0.0)


def _far_modes(mean: Floats, spread: Floats, n: Floats, log_weight: Floats) -> tuple[Floats, Floats]:
    """Return the likeliest μ of large variance of rows, and twice its cost up to a constant, both of shape (R,)."""
    far = -np.log(np.expm1(FAR_VARIANCES))
    values = mean[:, None] - (far - 0.5 * FAR_VARIANCES)
    values *= values
    values *= n[:, None]
    values += spread[:, None]
    values /= FAR_VARIANCES
    values += log_weight[:, None] * np.log(FAR_VARIANCES)
    best = values.argmin(axis=1)
    return far[best], values[np.arange(len(n)), best]


def mu_at_mean(mean: Floats) -> Floats:
    r"""Solve :math:`\mu - \tfrac12\ln(1 + e^{-\mu}) = ` mean for μ: the intent whose mean z − c is `mean`.

    Examples
    --------
    >>> mu_at_mean(np.array([1.0 - 0.5 * np.log1p(np.exp(-1.0))])).round(12)
    array([1.])
    """
    mu = mean + 0.5 * np.logaddexp(0.0, -mean)
    for _ in range(6):  # Newton on a convex decreasing excess: to rounding in about four steps
        mu -= (mu - 0.5 * np.logaddexp(0.0, -mu) - mean) / (1 + 0.5 * expit(-mu))
    return mu


class Normalized(NamedTuple):
    """Parameters of the model as published, with factors exp(d) that average 1."""

    log_intent_size: Floats
    difficulty: Floats
    log_kappa: float


def normalize(mu: Floats, c: Floats) -> Normalized:
    r"""Return m, d and κ from μ and c, normalized to :math:`\sum_j e^{d_j} = J`.

    ln κ solves :math:`\ln\kappa + \tfrac12\ln(1+\kappa) = \ln\frac1J\sum_j e^{c_j}`, whose left side
    increases from −∞ to ∞.

    Examples
    --------
    >>> normalize(np.array([1.0]), np.log([1.0, 3.0])).difficulty.round(4)
    array([-0.6931,  0.4055])
    """
    level = float(logsumexp(c) - np.log(len(c)))

    def excess(log_kappa: float) -> float:
        return log_kappa + 0.5 * float(np.logaddexp(0.0, log_kappa)) - level

    log_kappa = float(brentq(excess, min(level, 2 * level / 3) - 1, level, xtol=1e-14))
    return Normalized(mu + log_kappa, c - level, log_kappa)
