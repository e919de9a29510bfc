r"""Marginal likelihoods of models 2 and 2L with random intents, by quadrature.

Model 2 with random intents: the marginal likelihood by adaptive Gauss–Hermite quadrature.

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

Model 2L with random intents: the marginal likelihood by Gauss–Legendre quadrature between kinks.

As for model 2, with a Laplace density of scale :math:`b = \sqrt{v/2}` around h
for each cell, so that ln f has a kink where :math:`h(\mu) = x_{ij}`, at :math:`\mu_{ij}^*`. Between two kinks it is
smooth, and Σ|x − h| is linear in h. The marginal likelihood is smooth in c: its score is the posterior mean of
:math:`\operatorname{sgn}(x_{ij} - h)/b`, and its Hessian the posterior covariance of these less, on the diagonal,
:math:`2 p(\mu_{ij}^* \mid \text{row}) / (b h')`, which is what moving the kink does.
"""

from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.integrated.marginal import Derivatives, IntentTable
from langdiff.regression.kernel.likelihood import mu_at_mean

FAR_VARIANCES = np.geomspace(0.5, 100, 32)  # where the second mode of an intent lies, if it has one
BETWEEN = 9  # points between the mean of sizes and the size that explains a row's mean: the first mode is there
MOST_STEPS = 50  # to a mode; about four are needed
STEP_TOLERANCE = 1e-9  # of a mode, in its standard errors: the quadrature around it is not sensitive to it


class RowData(NamedTuple):
    """Statistics of rows on which the likelihood of μ depends, all of shape (R,)."""

    cells: Floats
    mean: Floats  # of z − c
    spread: Floats  # sum of squares around it
    expected: Floats  # mean of μ before the row was seen


class RowPosterior(NamedTuple):
    """Log marginal density of some rows, with posterior means of μ and T and the covariance of T."""

    values: Floats  # (R,)
    mu: Floats  # (R,)
    mean: Floats  # (R, 4)
    covariance: Floats  # (R, 4, 4)
    modes: Floats  # (R,)


def log_joint(mu: Floats, data: RowData, tau: float, v: Floats | None = None) -> Floats:
    """Return ln f(μ) of each row at its points, (R, Q) → (R, Q), where v may be known."""
    n, mean, spread, expected = (part[:, None] for part in data)
    v = np.logaddexp(0.0, -mu) if v is None else v
    square = spread + n * (mean - mu + 0.5 * v) ** 2
    deviation = (mu - expected) / tau
    density: Floats = -0.5 * (n * np.log(2 * np.pi * v) + square / v + deviation**2 + np.log(2 * np.pi * tau**2))
    return density


def find_modes(start: Floats, data: RowData, tau: float) -> tuple[Floats, Floats]:
    """Return modes of ln f and its curvature there, by Newton's method from a start for each row.

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


@cache
def _hermite(nodes: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights of Gauss–Hermite quadrature."""
    t, weights = np.polynomial.hermite.hermgauss(nodes)
    return t, weights


def row_posterior(data: RowData, tau: float, start: Floats, nodes: int) -> RowPosterior:
    """Integrate over μ in each row by quadrature with nodes around its mode.

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
    t, weights = _hermite(nodes)
    modes, curvature = find_modes(start, data, tau)
    scale = np.sqrt(2 / curvature)[:, None]
    mu = modes[:, None] + scale * t
    v = np.logaddexp(0.0, -mu)
    terms = log_joint(mu, data, tau, v) + np.log(weights) + t**2 + np.log(scale)
    highest = terms.max(axis=1, keepdims=True)
    share = np.exp(terms - highest)
    total = share.sum(axis=1, keepdims=True)
    share /= total
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
    return one.T @ one + other.T @ other


@dataclass(eq=False, repr=False)
class HermiteRows:
    """Marginal likelihood of rows of model 2 in θ = (c, α, ln τ); α begins with the mean size a.

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
        """Start without known modes."""
        self.forget()

    def forget(self) -> None:
        """Discard the known modes, so that all modes of each row are searched for again."""
        self.modes = np.full(self.table.shape[0], np.nan)

    def posterior(self, theta: Floats, rows: slice | Integers) -> tuple[RowPosterior, Floats]:
        """Return the posterior of some rows and their centered z − c, 0 in missing cells, (R, J)."""
        table, editions = self.table, self.table.shape[1]
        n, mask = table.cells[rows], table.mask(rows)
        x = table.two_way.less(rows, theta[:editions]) * mask
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


NODES = 8  # in a panel
GRID = 24  # panels where there are no kinks
NEGLIGIBLE = 32.0  # e^-32 is 1e-14: a posterior density so much below its peak is left out
MOST_EXPANSIONS = 80


class _Rows(NamedTuple):
    """Some rows of a table at given parameters."""

    x: Floats  # z − c, 0 in missing cells, (R, J)
    mask: Floats  # (R, J)
    expected: Floats  # mean of μ before the row was seen, (R,)
    tau: float


class _Panels(NamedTuple):
    """Panels of positive length, row after row, and the breakpoints they lie between."""

    row: Integers  # (F,)
    position: Integers  # of the left breakpoint in its row, (F,)
    start: Floats  # (F,)
    length: Floats  # (F,)
    below: Floats  # cells of the row whose kink lies to the left, (F,)
    sum_below: Floats  # sum of their x, (F,)
    place: Integers  # of each cell's kink among the breakpoints of its row, (R, J)
    breakpoints: int  # in each row


def _log_joint_at(mu: Floats, part: _Rows) -> Floats:
    """Return ln f of each row at one point, (R,) → (R,)."""
    v = np.logaddexp(0.0, -mu)
    distance = np.einsum("ij,ij->i", np.abs(part.x - (mu - 0.5 * v)[:, None]), part.mask)
    return _log_joint(mu, v, distance, part.mask.sum(axis=1), part.expected, part.tau)


def _log_joint(mu: Floats, v: Floats, distance: Floats, n: Floats, expected: Floats, tau: float) -> Floats:
    """Return ln f of rows from the sums of absolute deviations Σ|x − h|."""
    deviation = (mu - expected) / tau
    density: Floats = -0.5 * (n * np.log(2 * v) + deviation**2 + np.log(2 * np.pi * tau**2))
    density -= distance * np.sqrt(2 / v)
    return density


def _support(part: _Rows) -> tuple[Floats, Floats, Floats]:
    """Return the interval outside which the posterior is negligible, and ln f near its peak, (R,) each."""
    n = part.mask.sum(axis=1)
    middle = mu_at_mean(part.x.sum(axis=1) / n)
    at_middle, at_expected = _log_joint_at(middle, part), _log_joint_at(part.expected, part)
    start, top = np.where(at_middle > at_expected, middle, part.expected), np.maximum(at_middle, at_expected)
    scale = (part.tau**-2 + 2 * n / np.logaddexp(0.0, -start)) ** -0.5
    ends = []
    for sign in (-1, 1):
        reach, going = scale.copy(), np.ones(len(n), dtype=bool)
        for _ in range(MOST_EXPANSIONS):
            value = _log_joint_at(start + sign * reach, part)
            top = np.maximum(top, value)
            going = value > top - NEGLIGIBLE
            if not going.any():
                break
            reach[going] *= 1.4
        ends.append(start + sign * reach)
    points = ends[0][:, None] + (ends[1] - ends[0])[:, None] * np.linspace(0, 1, GRID + 1)
    values = np.stack([_log_joint_at(points[:, k], part) for k in range(GRID + 1)], axis=1)
    top = np.maximum(top, values.max(axis=1))
    kept = values > (top - NEGLIGIBLE)[:, None]
    kept[np.arange(len(kept)), values.argmax(axis=1)] = True
    first, last = kept.argmax(axis=1), GRID - kept[:, ::-1].argmax(axis=1)
    rows = np.arange(len(kept))
    return points[rows, np.maximum(first - 1, 0)], points[rows, np.minimum(last + 1, GRID)], top


def _make_panels(part: _Rows, kinks: Floats, low: Floats, high: Floats) -> _Panels:
    """Return panels that divide the interval at the kinks and at evenly spaced points."""
    n_rows, editions = kinks.shape
    grid = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, GRID + 1)
    points = np.hstack([np.clip(kinks, low[:, None], high[:, None]), grid])
    order = np.argsort(points, axis=1)
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.broadcast_to(np.arange(points.shape[1]), order.shape), axis=1)
    points = np.take_along_axis(points, order, axis=1)
    padding = np.zeros((n_rows, GRID + 1))
    below = np.cumsum(np.take_along_axis(np.hstack([part.mask, padding]), order, axis=1), axis=1)
    sum_below = np.cumsum(np.take_along_axis(np.hstack([part.x, padding]), order, axis=1), axis=1)
    length = np.diff(points, axis=1)
    row, position = np.nonzero(length > 0)
    at = row, position
    return _Panels(
        row, position, points[at], length[at], below[at], sum_below[at], place[:, :editions], points.shape[1]
    )


class _Integrals(NamedTuple):
    """Posterior means over whole rows, and cumulative means up to each breakpoint."""

    values: Floats  # log marginal density, (R,)
    whole: Floats  # of _statistics, (R, 10)
    up_to: Floats  # of the first four of them, (4, R, breakpoints)


def _integrate(part: _Rows, panels: _Panels, top: Floats) -> _Integrals:
    """Integrate statistics over the panels: 1/b times (1, 1/b, T₃, T₄), T₃, T₄, their squares and product, μ."""
    t, weights = np.polynomial.legendre.leggauss(NODES)
    row = panels.row
    n, total = part.mask.sum(axis=1), part.x.sum(axis=1)
    mu = panels.start[:, None] + panels.length[:, None] * (0.5 + 0.5 * t)  # (F, Q)
    v = np.logaddexp(0.0, -mu)
    h, narrow = mu - 0.5 * v, np.sqrt(2 / v)  # 1/b
    distance = (2 * panels.below - n[row])[:, None] * h + (total[row] - 2 * panels.sum_below)[:, None]
    density = _log_joint(mu, v, distance, n[row, None], part.expected[row, None], part.tau)
    density = np.exp(density - top[row, None]) * (0.5 * panels.length[:, None] * weights)
    deviation = (mu - part.expected[row, None]) / part.tau
    third, fourth = deviation / part.tau, deviation**2 - 1
    factors = (
        narrow,
        narrow**2,
        third * narrow,
        fourth * narrow,
        third,
        fourth,
        third**2,
        third * fourth,
        fourth**2,
        mu,
    )
    by_panel = np.stack([np.einsum("fq,fq->f", density, factor) for factor in factors], axis=1)
    firsts = np.flatnonzero(np.diff(row, prepend=-1))
    mass = np.add.reduceat(density.sum(axis=1), firsts)
    whole = np.add.reduceat(by_panel, firsts, axis=0) / mass[:, None]
    up_to = np.zeros((4, len(n), panels.breakpoints))
    up_to[:, row, panels.position + 1] = by_panel[:, :4].T / mass[row]
    return _Integrals(top + np.log(mass), whole, np.cumsum(up_to, axis=2))


def _density_of_kinks(part: _Rows, kinks: Floats, values: Floats, inside: Floats) -> Floats:
    """Return the posterior density at the kink of each cell times 2/(b h′), (R, J); 0 where it is negligible."""
    mu = np.where(inside > 0, kinks, part.expected[:, None])
    order = np.argsort(np.where(part.mask > 0, part.x, np.inf), axis=1)
    x = np.take_along_axis(part.x, order, axis=1)
    n, total = part.mask.sum(axis=1, keepdims=True), part.x.sum(axis=1, keepdims=True)
    below = np.arange(1, x.shape[1] + 1)
    distance = np.empty_like(x)
    np.put_along_axis(distance, order, (2 * below - n) * x + total - 2 * np.cumsum(x, axis=1), axis=1)
    v = np.logaddexp(0.0, -mu)
    log_density = _log_joint(mu, v, distance, n, part.expected[:, None], part.tau) - values[:, None]
    density = np.exp(np.where(inside > 0, log_density, -np.inf))
    return 2 * density * np.sqrt(2 / v) / (1 + 0.5 * expit(-mu))


@dataclass(eq=False, repr=False)
class PanelRows:
    """Marginal likelihood of each row of model 2L in θ = (c, α, ln τ); α begins with the mean size a."""

    table: IntentTable

    def forget(self) -> None:
        """Do nothing, since the quadrature covers the whole posterior of each row."""

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""
        table, editions = self.table, self.table.shape[1]
        mask, w = table.mask(rows), table.attributes[rows]
        expected, tau = w @ theta[editions:-1], float(np.exp(theta[-1]))
        part = _Rows(table.two_way.less(rows, theta[:editions]) * mask, mask, expected, tau)
        kinks = np.where(mask > 0, mu_at_mean(part.x), np.inf)
        low, high, top = _support(part)
        panels = _make_panels(part, kinks, low, high)
        found = _integrate(part, panels, top)
        whole = found.whole
        at_kinks = np.take_along_axis(found.up_to, panels.place[None], axis=2)  # (4, R, J)
        of_c = (2 * at_kinks[0] - whole[:, :1]) * mask
        scores = np.hstack([of_c, whole[:, 4:5] * w, whole[:, 5:6]])
        inside = mask * (kinks > low[:, None]) * (kinks < high[:, None])
        information = np.zeros((len(theta), len(theta)))
        c, of_sizes = slice(editions), slice(editions, -1)
        moved = _density_of_kinks(part, kinks, found.values, inside)
        information[c, c] = np.diag(moved.sum(axis=0)) - _products(at_kinks[1], whole[:, 1], mask) + of_c.T @ of_c
        upper = np.zeros_like(information)
        third, fourth = whole[:, 4], whole[:, 5]
        upper[c, of_sizes] = (of_c * third[:, None] - (2 * at_kinks[2] - whole[:, 2:3]) * mask).T @ w
        upper[c, -1] = of_c.T @ fourth - np.sum((2 * at_kinks[3] - whole[:, 3:4]) * mask, axis=0)
        upper[of_sizes, -1] = w.T @ (2 * third - whole[:, 7] + third * fourth)
        information += upper + upper.T
        information[of_sizes, of_sizes] = w.T @ ((tau**-2 - whole[:, 6] + third**2)[:, None] * w)
        information[-1, -1] = float(np.sum(2 * (fourth + 1) - whole[:, 8] + fourth**2))
        return Derivatives(found.values, whole[:, 9], scores, information)


def _products(up_to_kinks: Floats, whole: Floats, mask: Floats) -> Floats:
    """Return the sum over rows of posterior mean products of two cells' scores in c, shape (J, J).

    Between their kinks two cells pull in opposite directions, elsewhere in the same.
    """
    root = mask * np.sqrt(whole)[:, None]
    products: Floats = root.T @ root
    cumulative, present = np.ascontiguousarray(up_to_kinks.T), np.ascontiguousarray(mask.T)
    for j in range(len(present)):
        apart = np.abs(cumulative[j:] - cumulative[j]) * present[j:] @ present[j]
        products[j, j:] -= 2 * apart
        products[j + 1 :, j] -= 2 * apart[1:]
    return products
