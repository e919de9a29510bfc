r"""Models whose likelihood needs every cell, not only sums over rows: 2L, 2C and 3.

In the scale-free parameters of `langdiff.regression.kernel.likelihood`, with :math:`x_{ij} = z_{ij} - c_j`,
:math:`v = \ln(1 + e^{-\mu})` and :math:`h = \mu - v/2`, a cell costs (minus its log-density)

* 2L: :math:`\tfrac12\ln 2v + \sqrt2\,|t|`, :math:`t = (x - h)/\sqrt v`: a Laplace distribution of the mean and
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

from langdiff._types import Floats
from langdiff.regression.kernel.likelihood import Gradient, ScaleFreeLikelihood, Scales, mu_at_mean
from langdiff.regression.kernel.two_way import TwoWay

CELLS_AT_A_TIME = 32768  # so that temporaries stay in the processor's cache
MOST_INNER_STEPS = 50
INNER_TOLERANCE = 1e-12  # of ν
DOUBTFUL = 0.3  # of v/b, the residual beyond which ν may leave 0
NEAR_QUANTILES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a row's z − c, where the first mode of an intent may lie
FAR_VARIANCES = np.geomspace(0.3, 100, 20)  # where the second mode of an intent lies, if it has one
LEAST_GAIN = 1e-3  # of log-likelihood, for an intent to be moved there: far above what rounding off a kink costs
LEAST_CURVATURE = 1e-3  # of what model 2 would have, so that no scale becomes extreme


class Cells(NamedTuple):
    """Costs of a block of cells and their derivatives, all of the block's shape."""

    value: Floats
    of_mu: Floats
    of_x: Floats


class CellModel(Protocol):
    """The cost of cells, given x of shape (R, J) and μ of shape (R, 1)."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return costs and their derivatives in μ and x."""

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""


@dataclass(frozen=True)
class LaplaceCells:
    """Model 2L; |t| is rounded off to √(t² + width²) − width, so that it can be followed to its kink."""

    width: float = 0.0

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = _scale(mu)
        t = (x - (mu - 0.5 * v)) / scale
        length = np.sqrt(t * t + self.width**2)
        with np.errstate(invalid="ignore"):  # 0/0 at the kink of an unrounded |t|, where any slope will do
            pull = np.sqrt(2) * np.nan_to_num(t / length)
        value = 0.5 * np.log(2 * v) + np.sqrt(2) * (length - self.width)
        return _chain(value, pull, t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""
        v, scale, _, _ = _scale(mu)
        t = (x - (mu - 0.5 * v)) / scale
        curvature: Floats = np.sqrt(2) * self.width**2 / (t * t + self.width**2) ** 1.5 / v
        return curvature

    def information(self) -> tuple[float, float]:
        """Return what a cell says of its location, in units of 1/v, and of the logarithm of its scale."""
        return 2.0, 1.0


@dataclass(frozen=True)
class CauchyCells:
    """Model 2C."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = _scale(mu)
        t = (x - (mu - 0.5 * v)) / scale
        value = 0.5 * np.log(v) + np.log(np.pi) + np.log1p(t * t)
        return _chain(value, 2 * t / (1 + t * t), t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return a second derivative in x, or a bound of it, not negative."""
        v, scale, _, _ = _scale(mu)
        t = (x - (mu - 0.5 * v)) / scale
        curvature: Floats = 2 / (1 + t * t) / v  # of the parabola above: that of iterated weighted least squares
        return curvature

    def information(self) -> tuple[float, float]:
        """Return the same as that of `LaplaceCells`."""
        return 0.5, 0.5


def _scale(mu: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return v, √v, h' and −(ln √v)'."""
    v = np.logaddexp(0.0, -mu)
    p = expit(-mu)
    return v, np.sqrt(v), 1 + 0.5 * p, 0.5 * p / v


def _chain(value: Floats, pull: Floats, t: Floats, scale: Floats, slope: Floats, narrowing: Floats) -> Cells:
    """Return derivatives in μ and x from `pull`, that in t."""
    of_x = pull / scale
    return Cells(value, pull * t * narrowing - of_x * slope - narrowing, of_x)


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


@dataclass(frozen=True, eq=False, repr=False)
class CellLikelihood:
    """Likelihood of μ and c under a model of cells, for `langdiff.regression.kernel.lbfgs`.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the same table.
    model : CellModel
        Cost of a cell under the model.
    restricted : bool
        Count ½ ln v once less in each row; see `langdiff.regression.kernel.likelihood`.
    second_modes : bool
        Let `best_intents` look for likelier modes of intents.
    """

    two_way: TwoWay
    model: CellModel
    restricted: bool = False
    second_modes: bool = False

    def blocks(self, c: Floats) -> list[slice]:
        """Return the rows that are taken at a time."""
        rows = max(1, CELLS_AT_A_TIME // len(c))
        return [slice(start, start + rows) for start in range(0, len(self.two_way.intent_effect), rows)]

    def x(self, rows: slice, c: Floats) -> Floats:
        """Return z − c of some rows; any number in missing cells."""
        table = self.two_way
        x: Floats = table.residual[rows] + table.intent_effect[rows, None] + (table.edition_effect - c)
        return x

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row of z, shape (I,)."""
        return self._sums(mu, c)[0]

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return minus the log-likelihood less a baseline of each row, and its gradient."""
        values, of_mu, of_c = self._sums(mu, c)
        return Gradient(float(np.sum(values - baseline)), of_mu, of_c)

    def _sums(self, mu: Floats, c: Floats) -> tuple[Floats, Floats, Floats]:
        values, of_mu, of_c = np.empty_like(mu), np.empty_like(mu), np.zeros_like(c)
        mask = self.two_way.mask
        for rows in self.blocks(c):
            cells = self.model.cells(self.x(rows, c), mu[rows, None])
            if mask is None:
                values[rows], of_mu[rows] = cells.value.sum(axis=1), cells.of_mu.sum(axis=1)
                of_c -= cells.of_x.sum(axis=0)
            else:
                values[rows] = np.einsum("ij,ij->i", cells.value, mask[rows])
                of_mu[rows] = np.einsum("ij,ij->i", cells.of_mu, mask[rows])
                of_c -= np.einsum("ij,ij->j", cells.of_x, mask[rows])
        if self.restricted:
            v = np.logaddexp(0.0, -mu)
            values -= 0.5 * np.log(v)
            of_mu += 0.5 * expit(-mu) / v
        return values, of_mu, of_c

    def curvatures(self, mu: Floats, c: Floats) -> tuple[Floats, Floats]:
        """Return the sums over rows and over columns of the curvature in x, shapes (I,) and (J,)."""
        of_rows, of_columns = np.empty_like(mu), np.zeros_like(c)
        mask = self.two_way.mask
        for rows in self.blocks(c):
            curvature = self.model.curvature(self.x(rows, c), mu[rows, None])
            if mask is not None:
                curvature *= mask[rows]
            of_rows[rows] = curvature.sum(axis=1)
            of_columns += curvature.sum(axis=0)
        return of_rows, of_columns

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return inverse square roots of the curvature."""
        v, _, slope, narrowing = _scale(mu)
        n, w = self.two_way.cells_per_intent, 1 / v
        normal_c = np.full(len(c), w.sum()) if self.two_way.mask is None else w @ self.two_way.mask
        of_rows, of_c = self.curvatures(mu, c)
        of_scale = 2 * n * narrowing**2
        of_mu = slope**2 * np.maximum(of_rows, LEAST_CURVATURE * n * w) + of_scale
        of_c = np.maximum(of_c, LEAST_CURVATURE * normal_c)
        if self.two_way.design is not None:
            of_c = of_c @ self.two_way.design**2
        of_k = float(np.sum((slope - 1) ** 2 * n * w + of_scale))
        return Scales(1 / np.sqrt(of_mu), 1 / np.sqrt(of_c), of_k**-0.5)

    def start(self) -> tuple[Floats, Floats]:
        """Return where model 2 starts."""
        return ScaleFreeLikelihood(self.two_way, self.restricted).start()

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return μ with every intent moved to another mode if that is likelier, c held fixed.

        See `ScaleFreeLikelihood.best_intents`; here every candidate costs a pass over the table.
        """
        if not self.second_modes:
            return mu
        quantiles = np.empty((len(NEAR_QUANTILES), len(mu)))
        for rows in self.blocks(c):
            x = self.x(rows, c)
            if self.two_way.mask is not None:
                x[self.two_way.mask[rows] == 0] = np.nan
            quantiles[:, rows] = np.nanquantile(x, NEAR_QUANTILES, axis=1)
        best, least = mu, self.intent_values(mu, c) - LEAST_GAIN
        far = -np.log(np.expm1(FAR_VARIANCES))
        for candidate in [*map(mu_at_mean, quantiles), *(np.full_like(mu, u) for u in far)]:
            values = self.intent_values(candidate, c)
            best, least = np.where(values < least, candidate, best), np.minimum(values, least)
        return best
