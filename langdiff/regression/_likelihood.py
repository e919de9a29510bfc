r"""Likelihood of model 2 in parameters that are identified.

Model 2 of Mielke et al. (2019, section 3) says of z = ln(bits)

.. math:: z_{ij} \sim \mathcal{N}\bigl(m_i + d_j + \tfrac12(\sigma^2 - v_i),\; v_i\bigr), \quad
          v_i = \ln(1 + \kappa / n_i), \quad n_i = e^{m_i}, \quad \kappa = e^{\sigma^2} - 1.

Multiplying all n and κ by t and lowering all d by :math:`\ln t + \tfrac12 \ln\frac{1+t\kappa}{1+\kappa}`
changes no mean and no variance: of the I + J + 1 parameters one is redundant. With

.. math:: \mu_i = m_i - \ln\kappa, \qquad c_j = d_j + \ln\kappa + \tfrac12\ln(1+\kappa)

the model reads :math:`z_{ij} \sim \mathcal{N}(\mu_i - \tfrac12 v_i + c_j,\; v_i)` with
:math:`v_i = \ln(1 + e^{-\mu_i})`. Both μ and c are identified; κ, n and the normalised difficulties
follow from c and the convention that the factors exp(d) average 1 (`normalise`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, logsumexp

from langdiff.regression._two_way import TwoWay

Floats = npt.NDArray[np.float64]

ROWS_AT_A_TIME = 4096  # bounds the memory of `information` without slowing it
FAR_VARIANCES = np.geomspace(0.5, 100, 64)  # where the second mode of an intent lies, if it has one
LEAST_GAIN = 1e-6  # of log-likelihood, for an intent to be moved to its other mode


class Gradient(NamedTuple):
    """Minus log-likelihood and its derivatives."""

    value: float
    mu: Floats
    c: Floats


class Scales(NamedTuple):
    """Inverse square roots of the curvature in μ, in c, and along μ − k, c + k."""

    mu: Floats
    c: Floats
    k: float


class _Row(NamedTuple):
    """What a row needs, all of shape (I,); primes are derivatives in μ, and v' = −p."""

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
    """

    two_way: TwoWay

    def __post_init__(self) -> None:
        residual = self.two_way.residual
        object.__setattr__(self, "_row_square", np.einsum("ij,ij->i", residual, residual))

    def _rows(self, mu: Floats, c: Floats) -> tuple[_Row, Floats, Floats]:
        """Return the row quantities, and a (I,) and b (J,) with r = E − a − b."""
        table = self.two_way
        v = np.logaddexp(0.0, -mu)
        location = mu - 0.5 * v
        b = c - table.edition_effect
        level = b.mean()  # μ and c differ from model 1's m and d by a constant, which a + b is better without
        a, b = location - table.intent_effect + level, b - level
        cross = table.residual @ b
        if table.mask is None:
            row_b, row_bb = b.sum(), b @ b
        else:
            row_b, row_bb = (table.mask @ np.column_stack([b, b * b])).T
        n = table.cells_per_intent
        square: Floats = self._row_square - 2 * cross + row_bb + a * (2 * row_b + n * a)  # type: ignore[attr-defined]
        return _Row(v, expit(-mu), location, -n * a - row_b, square), a, b

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row of z, shape (I,)."""
        row, _, _ = self._rows(mu, c)
        values: Floats = 0.5 * (self.two_way.cells_per_intent * np.log(2 * np.pi * row.v) + row.sum_of_squares / row.v)
        return values

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
        table = self.two_way
        row, a, b = self._rows(mu, c)
        n, w = table.cells_per_intent, 1 / row.v
        rows = 0.5 * (n * np.log(2 * np.pi * row.v) + row.sum_of_squares * w)
        of_mu = -(1 + 0.5 * row.p) * row.sum * w - 0.5 * row.p * w * (n - row.sum_of_squares * w)
        if table.mask is None:
            of_c = (w @ a) + w.sum() * b - w @ table.residual
        else:
            weighted = np.vstack([w * a, w]) @ table.mask
            of_c = weighted[0] + weighted[1] * b - w @ table.residual
        return Gradient(float(np.sum(rows - baseline)), of_mu, of_c)

    def _curvature(self, row: _Row) -> Floats:
        """Return minus the second derivative of the log-likelihood in each μ, shape (I,)."""
        n, w, p = self.two_way.cells_per_intent, 1 / row.v, row.p
        slope, bend = 1 + 0.5 * p, p * (1 - p)  # h' and v''
        curvature: Floats = (
            n * slope**2 * w
            + 0.5 * bend * w * row.sum
            - 2 * slope * p * w**2 * row.sum
            + 0.5 * n * (bend * w - (p * w) ** 2)
            - 0.5 * row.sum_of_squares * (bend * w**2 - 2 * p**2 * w**3)
        )
        return curvature

    def information(self, mu: Floats, c: Floats) -> Floats:
        """Return the observed information on c, μ eliminated: the Schur complement of the Hessian.

        Returns
        -------
        ndarray, shape (J, J)
            Its inverse is the covariance of the estimate of c.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the log-likelihood is not concave in some μ there.
        """
        table = self.two_way
        row, a, b = self._rows(mu, c)
        w, p = 1 / row.v, row.p
        slope = 1 + 0.5 * p
        curvature = self._curvature(row)
        if not (curvature > 0).all():
            raise np.linalg.LinAlgError("the log-likelihood is not concave in an intent size")
        weight = np.full(len(c), w.sum()) if table.mask is None else w @ table.mask
        schur: Floats = np.diag(weight)
        root = np.sqrt(curvature)
        for start in range(0, len(mu), ROWS_AT_A_TIME):
            rows = slice(start, start + ROWS_AT_A_TIME)
            r = table.residual[rows] - a[rows, None] - b
            mixed = ((slope * w)[rows, None] - (p * w**2)[rows, None] * r) / root[rows, None]
            if table.mask is not None:
                mixed *= table.mask[rows]
            schur -= mixed.T @ mixed
        return schur

    def start(self) -> tuple[Floats, Floats]:
        """Return μ and c with the means of model 1 and the most likely scale."""
        table = self.two_way
        m = table.intent_effect
        variance = table.sum_of_squares / table.degrees_of_freedom
        middle = float(np.median(m)) + variance + np.log(-np.expm1(-variance))  # ln κ of the median intent

        def minus_log_likelihood(k: float) -> float:
            v = np.logaddexp(0.0, k - m)
            square = self._row_square  # type: ignore[attr-defined]
            return float(np.sum(table.cells_per_intent * np.log(v) + square / v))

        k = minimize_scalar(minus_log_likelihood, bounds=(middle - 10, middle + 10), method="bounded").x
        mu = m - k
        return mu, table.edition_effect + k + 0.5 * float(np.mean(np.logaddexp(0.0, -mu)))

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return μ with every intent moved to its other mode if that is likelier, c held fixed.

        The likelihood of one intent can have two modes: the mean of z explained by the intent's size,
        or (for a row that varies far more than others of its size) a minute size, whose variance is
        huge. Given c the first is near h(μ) = mean of z − c; the second is searched for on a grid of
        variances. An optimiser that follows the gradient never crosses from one to the other.
        """
        row, _, _ = self._rows(mu, c)
        n = self.two_way.cells_per_intent
        mean = row.location + row.sum / n
        spread = np.maximum(row.sum_of_squares - row.sum**2 / n, 0.0)

        near = mu_at_mean(mean)
        near_v = np.logaddexp(0.0, -near)
        far = -np.log(np.expm1(FAR_VARIANCES))
        far_squares = spread[:, None] + n[:, None] * (mean[:, None] - (far - 0.5 * FAR_VARIANCES)) ** 2
        far_values = n[:, None] * np.log(FAR_VARIANCES) + far_squares / FAR_VARIANCES
        best_far = far_values.argmin(axis=1)

        candidates = np.column_stack([mu, near, far[best_far]])
        values = 0.5 * np.column_stack(
            [
                n * np.log(row.v) + row.sum_of_squares / row.v - 2 * LEAST_GAIN,
                n * np.log(near_v) + spread / near_v,
                far_values.min(axis=1),
            ]
        )
        best: Floats = candidates[np.arange(len(mu)), values.argmin(axis=1)]
        return best

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return inverse square roots of the curvature, observed where positive, at least expected."""
        table = self.two_way
        row, _, _ = self._rows(mu, c)
        n, w, p = table.cells_per_intent, 1 / row.v, row.p
        of_variance = 0.5 * (p * w) ** 2
        of_mu = np.maximum(n * ((1 + 0.5 * p) ** 2 * w + of_variance), self._curvature(row))
        of_c = np.full(len(c), w.sum()) if table.mask is None else w @ table.mask
        of_k = float(np.sum(n * (0.25 * p**2 * w + of_variance)))
        return Scales(1 / np.sqrt(of_mu), 1 / np.sqrt(of_c), of_k**-0.5)


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


class Normalised(NamedTuple):
    """Parameters of the model as published, with factors exp(d) that average 1."""

    log_intent_size: Floats
    difficulty: Floats
    log_kappa: float


def normalise(mu: Floats, c: Floats) -> Normalised:
    r"""Find the m, d and κ that μ and c stand for, with :math:`\sum_j e^{d_j} = J`.

    ln κ solves :math:`\ln\kappa + \tfrac12\ln(1+\kappa) = \ln\frac1J\sum_j e^{c_j}`, whose left side
    increases from −∞ to ∞.

    Examples
    --------
    >>> normalise(np.array([1.0]), np.log([1.0, 3.0])).difficulty.round(4)
    array([-0.6931,  0.4055])
    """
    level = float(logsumexp(c) - np.log(len(c)))

    def excess(log_kappa: float) -> float:
        return log_kappa + 0.5 * float(np.logaddexp(0.0, log_kappa)) - level

    log_kappa = float(brentq(excess, min(level, 2 * level / 3) - 1, level, xtol=1e-14))
    return Normalised(mu + log_kappa, c - level, log_kappa)
