r"""Model 2L with random intents: the marginal likelihood by Gauss–Legendre quadrature between kinks.

As in `langdiff.regression.kernel.random.hermite`, with a Laplace density of scale :math:`b = \sqrt{v/2}` around h
for each cell, so that ln f has a kink where :math:`h(\mu) = x_{ij}`, at :math:`\mu_{ij}^*`. Between two kinks it is
smooth, and Σ|x − h| is linear in h. The marginal likelihood is smooth in c: its score is the posterior mean of
:math:`\operatorname{sgn}(x_{ij} - h)/b`, and its Hessian the posterior covariance of these less, on the diagonal,
:math:`2 p(\mu_{ij}^* \mid \text{row}) / (b h')`, which is what moving the kink does.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.random.ascent import Derivatives
from langdiff.regression.kernel.random.table import IntentTable

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
    """Return ln f from Σ|x − h|."""
    deviation = (mu - expected) / tau
    density: Floats = -0.5 * (n * np.log(2 * v) + deviation**2 + np.log(2 * np.pi * tau**2))
    density -= distance * np.sqrt(2 / v)
    return density


def _support(part: _Rows) -> tuple[Floats, Floats, Floats]:
    """Return the ends of the interval outside which the posterior is negligible, and ln f near its peak, (R,) each."""
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
    """Cut the interval at the kinks and at evenly spaced points."""
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
    """Posterior means over whole rows, and cumulative ones up to each breakpoint."""

    values: Floats  # log marginal density, (R,)
    whole: Floats  # of _statistics, (R, 10)
    up_to: Floats  # of the first four of them, (4, R, breakpoints)


def _integrate(part: _Rows, panels: _Panels, top: Floats) -> _Integrals:
    """Integrate over the panels; statistics: 1/b times (1, 1/b, T₃, T₄), T₃, T₄, their squares and product, μ."""
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
    """Return 2p(μ* | row)/(b h′) of each cell, (R, J); 0 where the posterior is negligible."""
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
    moved: Floats = 2 * density * np.sqrt(2 / v) / (1 + 0.5 * expit(-mu))
    return moved


@dataclass(eq=False, repr=False)
class PanelRows:
    """Marginal likelihood of each row of model 2L in θ = (c, α, ln τ); α begins with the mean size a."""

    table: IntentTable

    def forget(self) -> None:
        """Do nothing: the whole posterior of each row is seen every time."""

    def derivatives(self, theta: Floats, rows: slice | Integers) -> Derivatives:
        """Return log densities and scores of some rows, and the sum of their observed information."""
        table, editions = self.table, self.table.shape[1]
        mask, w = table.mask(rows), table.attributes[rows]
        expected, tau = w @ theta[editions:-1], float(np.exp(theta[-1]))
        part = _Rows(table.x(rows, theta[:editions]) * mask, mask, expected, tau)
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
    """Return Σ over rows of the posterior means of products of two cells' scores in c, shape (J, J).

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
