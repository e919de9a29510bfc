r"""Costs of single cells, with their first and second derivatives: models 2, 2L, 2C and 3.

In the scale-free parameters of `langdiff.regression.kernel.likelihood`, with :math:`x_{ij} = z_{ij} - c_j`,
:math:`v = \ln(1 + e^{-\mu})` and :math:`h = \mu - v/2`, a cell costs (minus its log-density)

* 2: :math:`\tfrac12\ln 2\pi v + \tfrac12 t^2`, :math:`t = (x - h)/\sqrt v`. Its fit needs only sums over rows
  (`langdiff.regression.kernel.likelihood`), its cells serve the errors that are robust;
* 2L: :math:`\tfrac12\ln 2v + \sqrt2\,|t|`: a Laplace distribution of the mean and
  variance of model 2 (Mielke et al. 2019, section 3);
* 2C: :math:`\tfrac12\ln v + \ln\pi + \ln(1 + t^2)`: a Cauchy distribution of that location, its scale
  :math:`\sqrt v` (their footnote 14);
* 3: the least over ν of the cost of model 2 at :math:`\mu + \nu`, plus :math:`|\nu|/b + \ln 2b` (their appendix B):
  near a Huber loss, quadratic while :math:`\nu = 0` and then of slope 1/b.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import expit

from langdiff.base.types import Floats
from langdiff.regression.kernel.likelihood import mu_at_mean

MOST_INNER_STEPS = 50
INNER_TOLERANCE = 1e-12  # of ν
DOUBTFUL = 0.3  # of v/b, the residual beyond which ν may leave 0


class Cells(NamedTuple):
    """Costs of a block of cells and their derivatives, all of the block's shape."""

    value: Floats
    of_mu: Floats
    of_x: Floats


class SecondDerivatives(NamedTuple):
    """Second derivatives of the costs of a block of cells, all of the block's shape."""

    of_x: Floats
    mixed: Floats
    of_mu: Floats


class CellModel(Protocol):
    """The cost of cells, given x of shape (R, J) and μ of shape (R, 1)."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return costs and their derivatives in μ and x."""

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs, of either sign."""


@dataclass(frozen=True)
class NormalCells:
    """Model 2."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        return _chain(0.5 * (np.log(2 * np.pi * v) + t * t), t, t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return the second derivative in x."""
        curvature: Floats = 1 / np.logaddexp(0.0, -mu) + np.zeros_like(x)
        return curvature

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs; see `CellModel`."""
        t = _standardized(x, mu)
        return _chain_twice(t, np.ones_like(t), t, mu)


@dataclass(frozen=True)
class LaplaceCells:
    """Model 2L; |t| is rounded off to √(t² + width²) − width, so that it can be followed to its kink."""

    width: float = 0.0

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        length = np.sqrt(t * t + self.width**2)
        with np.errstate(invalid="ignore"):  # 0/0 at the kink of an unrounded |t|, where any slope will do
            pull = np.sqrt(2) * np.nan_to_num(t / length)
        value = 0.5 * np.log(2 * v) + np.sqrt(2) * (length - self.width)
        return _chain(value, pull, t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""
        v, scale, _, _ = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        curvature: Floats = np.sqrt(2) * self.width**2 / (t * t + self.width**2) ** 1.5 / v
        return curvature

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs, whose kink must be rounded off; see `CellModel`."""
        t = _standardized(x, mu)
        length = np.sqrt(t * t + self.width**2)
        return _chain_twice(np.sqrt(2) * t / length, np.sqrt(2) * self.width**2 / length**3, t, mu)

    def information(self) -> tuple[float, float]:
        """Return what a cell says of its location, in units of 1/v, and of the logarithm of its scale."""
        return 2.0, 1.0


@dataclass(frozen=True)
class CauchyCells:
    """Model 2C."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        value = 0.5 * np.log(v) + np.log(np.pi) + np.log1p(t * t)
        return _chain(value, 2 * t / (1 + t * t), t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""
        v, scale, _, _ = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        curvature: Floats = 2 / (1 + t * t) / v  # of the parabola above: that of iterated weighted least squares
        return curvature

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs; see `CellModel`."""
        t = _standardized(x, mu)
        square = 1 + t * t
        return _chain_twice(2 * t / square, 2 * (1 - t * t) / square**2, t, mu)

    def information(self) -> tuple[float, float]:
        """Return the same as that of `LaplaceCells`."""
        return 0.5, 0.5


def scale_of_cells(mu: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return v, √v, h' and −(ln √v)'."""
    v = np.logaddexp(0.0, -mu)
    p = expit(-mu)
    return v, np.sqrt(v), 1 + 0.5 * p, 0.5 * p / v


def _chain(value: Floats, pull: Floats, t: Floats, scale: Floats, slope: Floats, narrowing: Floats) -> Cells:
    """Return derivatives in μ and x from `pull`, that in t."""
    of_x = pull / scale
    return Cells(value, pull * t * narrowing - of_x * slope - narrowing, of_x)


def _standardized(x: Floats, mu: Floats) -> Floats:
    """Return t."""
    v = np.logaddexp(0.0, -mu)
    t: Floats = (x - (mu - 0.5 * v)) / np.sqrt(v)
    return t


def _chain_twice(pull: Floats, bend: Floats, t: Floats, mu: Floats) -> SecondDerivatives:
    """Return second derivatives in μ and x from the first, `pull`, and the second, `bend`, in t."""
    v, scale, slope, narrowing = scale_of_cells(mu)
    p = expit(-mu)
    steepening, narrower = -0.5 * p * (1 - p), 0.5 * p * (p / v - (1 - p)) / v  # h'' and −(ln √v)''
    of_t = t * narrowing - slope / scale  # dt/dμ, and its derivative
    of_of_t = of_t * narrowing + t * narrower - (steepening + slope * narrowing) / scale
    return SecondDerivatives(
        of_x=bend / v,
        mixed=(bend * of_t + pull * narrowing) / scale,
        of_mu=bend * of_t**2 + pull * of_of_t - narrower,
    )


@dataclass(frozen=True)
class SparseCells:
    """Model 3, at the best ν of each cell.

    Attributes
    ----------
    laplace_scale : float
        b, nats.
    """

    laplace_scale: float

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        nu = self.noise(x, mu)
        value, of_u, of_x, _ = _normal(x, mu + nu)
        value += np.abs(nu) / self.laplace_scale + np.log(2 * self.laplace_scale)
        return Cells(value, np.where(nu == 0, of_u, -np.sign(nu) / self.laplace_scale), of_x)

    def noise(self, x: Floats, mu: Floats) -> Floats:
        """Return the best ν of each cell: 0 unless the residual is large.

        As ν also changes the variance, the cost has several modes in it: one near the intent that would
        leave no residual, and for very large residuals one at a smaller intent of larger variance.
        """
        v = np.logaddexp(0.0, -mu)
        nu = np.zeros_like(x)
        doubtful = np.abs(x - (mu - 0.5 * v)) > DOUBTFUL * v / self.laplace_scale
        if not doubtful.any():
            return nu
        x, mu = x[doubtful], np.broadcast_to(mu, nu.shape)[doubtful]
        stay, pull, _, _ = _normal(x, mu)
        best, least = np.zeros_like(mu), stay
        exact = mu_at_mean(x)  # leaves no residual; from here back towards μ
        for start, sign in ((exact, np.sign(exact - mu)), (mu, -np.sign(pull))):
            u = self._mode(x, start, -sign / self.laplace_scale)
            cost = _normal(x, u)[0] + np.abs(u - mu) / self.laplace_scale
            better = ((u - mu) * sign > 0) & (cost < least)
            best, least = np.where(better, u - mu, best), np.where(better, cost, least)
        nu[doubtful] = best
        return nu

    @staticmethod
    def _mode(x: Floats, u: Floats, target: Floats) -> Floats:
        """Follow the cost of model 2 from u to where its slope is the target."""
        for _ in range(MOST_INNER_STEPS):
            _, of_u, _, curvature = _normal(x, u)
            step = np.clip((target - of_u) / curvature, -1.0, 1.0)
            u = u + step
            if not (np.abs(step) > INNER_TOLERANCE).any():
                break
        return u

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""
        kept = self.noise(x, mu) == 0
        curvature: Floats = kept / np.logaddexp(0.0, -mu)
        return curvature

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs; see `CellModel`.

        A cell with noise of its own costs ±ν/b more or less whatever μ, and knows x by way of u = μ + ν
        alone, at which its slope in u is fixed: only its second derivative in x is left, small beside
        1/v.
        """
        nu = self.noise(x, mu)
        of_x, mixed, of_mu = NormalCells().second_derivatives(x, mu + nu)
        noisy = nu != 0
        of_x[noisy] -= mixed[noisy] ** 2 / of_mu[noisy]
        return SecondDerivatives(of_x, np.where(noisy, 0.0, mixed), np.where(noisy, 0.0, of_mu))


def _normal(x: Floats, u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the cost of model 2 at u, its derivatives in u and x, and a positive curvature in u."""
    v, p = np.logaddexp(0.0, -u), expit(-u)
    slope, bend = 1 + 0.5 * p, p * (1 - p)
    r, w = x - (u - 0.5 * v), 1 / v
    value = 0.5 * (np.log(2 * np.pi * v) + r * r * w)
    of_u = -slope * r * w - 0.5 * p * w * (1 - r * r * w)
    expected = slope**2 * w + 0.5 * (p * w) ** 2
    observed = (
        slope**2 * w
        + 0.5 * bend * w * r
        - 2 * slope * p * w**2 * r
        + 0.5 * (bend * w - (p * w) ** 2)
        - 0.5 * r * r * (bend * w**2 - 2 * p**2 * w**3)
    )
    return value, of_u, r * w, np.where(observed > 0.1 * expected, observed, expected)
