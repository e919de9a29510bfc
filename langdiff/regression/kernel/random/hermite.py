r"""Model 2 with random intents: the marginal likelihood by adaptive Gauss–Hermite quadrature.

In the scale-free parameters of `langdiff.regression.kernel.likelihood`, with :math:`\mu_i \sim N(w_i^\top\alpha,
\tau^2)` (w begins with the constant) and :math:`x_{ij} = z_{ij} - c_j`, a row is known by its :math:`J_i` cells,
their mean and the sum of squares SS around it:

.. math:: \ln f(\mu) = -\tfrac12 J_i\ln 2\pi v - \frac{SS_i + J_i(\bar x_i - h)^2}{2v}
          + \ln N(\mu; w_i^\top\alpha, \tau^2), \quad v = \ln(1 + e^{-\mu}), \quad h = \mu - \tfrac12 v.

All derivatives follow from the posterior mean and covariance of :math:`T = (1/v,\ (h - \bar x_i)/v,\
(\mu - w_i^\top\alpha)/\tau^2,\ (\mu - w_i^\top\alpha)^2/\tau^2 - 1)`, since the derivatives of ln f in (c, α, ln τ)
are linear in T, and by Louis (1982) the Hessian of ln ∫f is the posterior mean of theirs plus the posterior
covariance of the scores.

Source: Louis (1982), "Finding the observed information matrix when using the EM algorithm"; Liu and Pierce
(1994), "A note on Gauss–Hermite quadrature".
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.random.ascent import Derivatives
from langdiff.regression.kernel.random.table import IntentTable

FAR_VARIANCES = np.geomspace(0.5, 100, 32)  # where the second mode of an intent lies, if it has one
BETWEEN = 9  # points between the mean of sizes and the size that explains a row's mean: the first mode is there
MOST_STEPS = 50  # to a mode; about four are needed
STEP_TOLERANCE = 1e-9  # of a mode, in its standard errors: the quadrature around it is not sensitive to it


class RowData(NamedTuple):
    """What a likelihood of μ needs of some rows, all of shape (R,)."""

    cells: Floats
    mean: Floats  # of z − c
    spread: Floats  # sum of squares around it
    expected: Floats  # mean of μ before the row was seen


class RowPosterior(NamedTuple):
    """Log marginal density of some rows, posterior mean of μ, and those of T with its covariance."""

    values: Floats  # (R,)
    mu: Floats  # (R,)
    mean: Floats  # (R, 4)
    covariance: Floats  # (R, 4, 4)
    modes: Floats  # (R,)


def log_joint(mu: Floats, data: RowData, tau: float) -> Floats:
    """Return ln f(μ) of each row at its points, (R, Q) → (R, Q)."""
    n, mean, spread, expected = (part[:, None] for part in data)
    v = np.logaddexp(0.0, -mu)
    square = spread + n * (mean - mu + 0.5 * v) ** 2
    deviation = (mu - expected) / tau
    density: Floats = -0.5 * (n * np.log(2 * np.pi * v) + square / v + deviation**2 + np.log(2 * np.pi * tau**2))
    return density


def find_modes(start: Floats, data: RowData, tau: float) -> tuple[Floats, Floats]:
    """Return modes of ln f and minus its second derivative there, by Newton's method from a start for each row.

    Where the start is NaN the best of several is taken: from the mean of sizes to the size that explains the row's
    mean, and minute sizes, whose huge variance may explain a row that varies more than others do.
    """
    n, mean, spread, expected = data
    missing = np.isnan(start)
    if missing.any():
        part = RowData(*(of_row[missing] for of_row in data))
        far = np.broadcast_to(-np.log(np.expm1(FAR_VARIANCES)), (len(part.mean), len(FAR_VARIANCES)))
        located = mu_at_mean(part.mean)[:, None]
        between = part.expected[:, None] + (located - part.expected[:, None]) * np.linspace(0, 1, BETWEEN)
        candidates = np.hstack([between, far])
        best = log_joint(candidates, part, tau).argmax(axis=1)
        start = start.copy()
        start[missing] = candidates[np.arange(len(best)), best]
    mu, curvature = start, np.ones_like(start)
    for _ in range(MOST_STEPS):
        v, p = np.logaddexp(0.0, -mu), expit(-mu)
        w, slope, bend = 1 / v, 1 + 0.5 * p, p * (1 - p)  # 1/v, h', v''
        away = mean - mu + 0.5 * v
        total, square = n * away, spread + n * away**2
        first = slope * total * w + 0.5 * p * w * (n - square * w) - (mu - expected) / tau**2
        least = n * slope**2 * w + 0.5 * n * (p * w) ** 2 + tau**-2  # expected curvature
        curvature = (
            n * slope**2 * w
            + 0.5 * bend * w * total
            - 2 * slope * p * w**2 * total
            + 0.5 * n * (bend * w - (p * w) ** 2)
            - 0.5 * square * (bend * w**2 - 2 * p**2 * w**3)
            + tau**-2
        )
        # far from the mode the curvature may be minute or negative: such a step is kept short
        curvature = np.where(curvature > 0.1 * least, curvature, least)
        step = np.clip(first / curvature, -2.0, 2.0)
        mu = mu + step
        if not (np.abs(step) * np.sqrt(curvature) > STEP_TOLERANCE).any():
            break
    return mu, curvature


def row_posterior(data: RowData, tau: float, start: Floats, nodes: int) -> RowPosterior:
    """Integrate μ out of each row, with nodes around its mode.

    Parameters
    ----------
    data : RowData
        Rows to be integrated.
    tau : float
        Standard deviation of sizes.
    start : ndarray, shape (R,)
        Points near the modes, NaN where unknown.
    nodes : int
        Number of nodes.
    """
    t, weights = np.polynomial.hermite.hermgauss(nodes)
    modes, curvature = find_modes(start, data, tau)
    scale = np.sqrt(2 / curvature)[:, None]
    mu = modes[:, None] + scale * t
    terms = log_joint(mu, data, tau) + np.log(weights) + t**2 + np.log(scale)
    highest = terms.max(axis=1, keepdims=True)
    share = np.exp(terms - highest)
    total = share.sum(axis=1, keepdims=True)
    share /= total
    v = np.logaddexp(0.0, -mu)
    deviation = (mu - data.expected[:, None]) / tau
    statistics = np.stack(
        [1 / v, (mu - 0.5 * v - data.mean[:, None]) / v, deviation / tau, deviation**2 - 1], axis=1
    )  # (R, 4, Q)
    mean = np.einsum("ikq,iq->ik", statistics, share)
    statistics -= mean[:, :, None]
    covariance = np.matmul(statistics * share[:, None, :], statistics.transpose(0, 2, 1))
    values = (highest + np.log(total))[:, 0]
    return RowPosterior(values, np.einsum("iq,iq->i", mu, share), mean, covariance, modes)


def products_of_cells(within: Floats, mask: Floats, covariance: Floats) -> Floats:
    """Return the covariance of the scores in c, summed over rows, shape (J, J).

    A score is linear in the first two statistics, with factors (x, −1) in the row's cells; a root of their
    covariance makes Gram matrices of it.
    """
    first = np.sqrt(np.maximum(covariance[:, 0, 0], 0.0))
    second = covariance[:, 0, 1] / np.where(first > 0, first, 1.0)
    third = np.sqrt(np.maximum(covariance[:, 1, 1] - second**2, 0.0))
    one, other = within * first[:, None] - mask * second[:, None], mask * third[:, None]
    products: Floats = one.T @ one + other.T @ other
    return products


@dataclass(eq=False, repr=False)
class HermiteRows:
    """Marginal likelihood of each row in θ = (c, α, ln τ); α begins with the mean size a.

    Parameters
    ----------
    table : IntentTable
        Table to be fitted.
    nodes : int
        Number of nodes in each row.
    """

    table: IntentTable
    nodes: int
    modes: Floats = field(init=False)  # of the rows where last looked for, shape (I,)

    def __post_init__(self) -> None:
        """Begin without modes."""
        self.forget()

    def forget(self) -> None:
        """Look for all modes of each row next time, not only for that nearest to the last one."""
        self.modes = np.full(self.table.shape[0], np.nan)

    def posterior(self, theta: Floats, rows: slice | Integers) -> tuple[RowPosterior, Floats]:
        """Return the posterior of some rows and their z − c less the rows' means, 0 in missing cells, (R, J)."""
        table, editions = self.table, self.table.shape[1]
        n, mask = table.cells[rows], table.mask(rows)
        x = table.x(rows, theta[:editions]) * mask
        mean = x.sum(axis=1) / n
        within = (x - mean[:, None]) * mask
        expected = table.attributes[rows] @ theta[editions:-1]
        data = RowData(n, mean, np.einsum("ij,ij->i", within, within), expected)
        found = row_posterior(data, float(np.exp(theta[-1])), self.modes[rows], self.nodes)
        self.modes[rows] = found.modes
        return found, within

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""
        table, editions = self.table, self.table.shape[1]
        found, within = self.posterior(theta, rows)
        w, mask, precision = table.attributes[rows], table.mask(rows), np.exp(-2 * theta[-1])
        t, k = found.mean, found.covariance
        scores = np.hstack([(within * t[:, :1] - t[:, 1:2]) * mask, t[:, 2:3] * w, t[:, 3:]])
        information = np.zeros((len(theta), len(theta)))
        c = slice(editions)
        information[c, c] = np.diag(t[:, 0] @ mask) - products_of_cells(within, mask, k)
        upper = np.zeros_like(information)
        of_sizes, of_spread = slice(editions, -1), -1
        upper[c, of_sizes] = mask.T @ (k[:, 1, 2:3] * w) - within.T @ (k[:, 0, 2:3] * w)
        upper[c, of_spread] = mask.T @ k[:, 1, 3] - within.T @ k[:, 0, 3]
        upper[of_sizes, of_spread] = w.T @ (2 * t[:, 2] - k[:, 2, 3])
        information += upper + upper.T
        information[of_sizes, of_sizes] = w.T @ ((precision - k[:, 2, 2])[:, None] * w)
        information[-1, -1] = float(np.sum(2 * (t[:, 3] + 1) - k[:, 3, 3]))
        return Derivatives(found.values, found.mu, scores, information)
