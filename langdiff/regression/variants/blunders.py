r"""Model 3: model 2 with independent Laplace noise in each cell, for sentences that are translated loosely.

The marginal density of a cell integrates its noise out, by Gauss–Legendre quadrature on both sides of the kink at 0. In
the scale-free parameters of `langdiff.regression.kernel.likelihood` it depends on two numbers only, :math:`\mu = m -
\ln\kappa` and :math:`x = z - d - \ln\kappa - \tfrac12\ln(1+\kappa)`, and on b, which is given; a table of it is
a hundred times faster.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from numbers import Real
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.special import expit, ndtri

from langdiff.base.signature import name_of_number
from langdiff.base.types import CELLS_WITH_DENSITIES, TOLERANCE, Booleans, Floats
from langdiff.errors import ConfigError, option, words
from langdiff.regression.kernel.cells import CellLikelihood, CellModel, Cells, NormalCells, SecondDerivatives
from langdiff.regression.kernel.likelihood import mu_at_mean
from langdiff.regression.kernel.optimizers import Estimate
from langdiff.regression.kernel.quadrature import log_integral, peak_between
from langdiff.regression.kernel.two_way import TwoWay
from langdiff.regression.variants.variant import (
    Start,
    Variant,
    check_dispersion,
    covariance_of,
    log_dispersion,
    variance_of,
)

MOST_NOISE = 0.5  # of cells with noise of their own; more, and the model is not what it is meant to be
MOST_INNER_STEPS = 50
INNER_TOLERANCE = 1e-12  # of ν
DOUBTFUL = 0.3  # of v/b, the residual beyond which ν may leave 0
NEGLIGIBLE = 45.0  # e^-45 is 3e-20
STEP_OF_SIZE, STEP_OF_RESIDUAL = 0.125, 0.05
FARTHEST = 6.5  # of asinh(residual / √v) in the table: 330 standard deviations
ROUND = 4.0  # nats; ranges of sizes are widened to multiples of it, so that tables are used again


@dataclass(frozen=True)
class SparseCells:
    """Cost of a cell in model 3: that of model 2 at μ + ν plus |ν|/b + ln 2b, minimized over ν.

    See Mielke et al. (2019), appendix B.

    Near a Huber loss, quadratic while ν = 0 and then of slope 1/b.

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
        """Return the minimizing ν of each cell, which is 0 unless the residual is large.

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
        """Return the point near u at which the cost of model 2 has a given slope, by Newton's method."""
        for _ in range(MOST_INNER_STEPS):
            _, of_u, _, curvature = _normal(x, u)
            step = np.clip((target - of_u) / curvature, -1.0, 1.0)
            u = u + step
            if not (np.abs(step) > INNER_TOLERANCE).any():
                break
        return u

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return the second derivative in x: that of model 2 for cells without noise, else 0; see `CellModel`."""
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

    def information(self) -> tuple[float, float]:
        """Return the information of a cell without noise; see `CellModel`."""
        return 1.0, 0.5


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


@dataclass(frozen=True, kw_only=True)
class Blunders(Variant):
    r"""Model 3: model 2 with noise :math:`\nu_{ij} \sim \mathrm{Laplace}(0, b)` of each cell added to ln n.

    See Mielke et al. (2019), appendix B, equations 7 to 10. With b given, the joint density has no maximum over κ:
    each ν explains its cell at a bounded price, while :math:`-\tfrac12\ln v` grows as κ vanishes; a fit that goes this
    way is said not to have converged.

    Parameters
    ----------
    scale : float
        b, nats; it cannot be estimated, and must be well below the standard deviation of z.

    Raises
    ------
    ConfigError
        If the scale is not a positive number.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, model=Blunders(scale=0.03), seed=1).surprisals
    >>> ld.fit(surprisals, model=Blunders(scale=0.03)).laplace_scale
    0.03
    """

    name: ClassVar[str] = "3"
    restrictable: ClassVar[bool] = False
    concave: ClassVar[bool] = False
    second_modes: ClassVar[bool] = False
    stan: ClassVar[bool] = True
    without: ClassVar[Mapping[str, str]] = {
        "restrictable": "is not for model '3', whose density is not a likelihood of z"
    }

    scale: float

    def __post_init__(self) -> None:
        scale: object = self.scale
        if not (isinstance(scale, Real) and 0 < float(scale) < np.inf):
            given = words(python="the scale of Blunders", command=option("laplace_scale"))
            raise ConfigError(f"{given} must be a positive number, got {scale!r}.")
        object.__setattr__(self, "scale", float(scale))

    @property
    def laplace_scale(self) -> float:
        """Scale b of the Laplace noise of single cells, nats."""
        return self.scale

    def cells(self) -> CellModel:
        """Return the costs of cells, minimized over ν; see `Variant.cells`."""
        return SparseCells(self.scale)

    def stages(self, *, rough: bool) -> list[tuple[CellModel, float]]:  # noqa: ARG002 - samples are fitted as exactly
        """Return the costs of model 3 alone, always with the full precision; see `Variant.stages`."""
        return [(self.cells(), TOLERANCE)]

    def signature(self) -> dict[str, str]:
        """Return the scale of the noise; see `Variant.signature`."""
        return {"laplace_scale": name_of_number(self.scale)}

    def maximize(
        self, two_way: TwoWay, restricted: bool, start: Start, *, rough: bool, max_iterations: int
    ) -> Estimate:
        """Maximize the likelihood; mark the optimum as not converged if noise explains most cells."""
        optimum = super().maximize(two_way, restricted, start, rough=rough, max_iterations=max_iterations)
        if np.isfinite(optimum.log_likelihood):
            kept, _ = self._kept(two_way, optimum)
            if kept.sum() >= (1 - MOST_NOISE) * two_way.cells:
                return optimum
        message = (
            f"no maximum with noise in few cells was found: {option('laplace_scale', self.scale)} is too large beside "
            "the standard deviation of log bits, and the density grows without bound as the dispersion vanishes"
        )
        return optimum._replace(converged=False, message=message)

    def covariance(self, two_way: TwoWay, optimum: Estimate, *, restricted: bool) -> Floats:
        """Return the covariance of c by Huber's sandwich estimator, shape (J, J).

        The information is that of the cells without noise, and the variance is scaled by the ratio of observed to
        normal-theory variance of their scores.
        """
        v = np.logaddexp(0.0, -optimum.sizes)
        kept, squares = self._kept(two_way, optimum)
        table = replace(two_way, mask=kept, cells_per_intent=kept.sum(axis=1, dtype=float))
        inflation = two_way.inflation(restricted) * float(squares @ v) / kept.sum()
        return covariance_of(table, optimum, *self.exact().information(), inflation)

    def _kept(self, two_way: TwoWay, optimum: Estimate) -> tuple[Booleans, Floats]:
        """Return an indicator of the cells without noise, (I, J), and the row sums of squared slopes in x, (I,)."""
        cells = SparseCells(self.scale)
        likelihood = CellLikelihood(two_way, cells)
        kept, squares = np.empty(two_way.residual.shape, dtype=bool), np.empty_like(optimum.sizes)
        for rows in likelihood.blocks(optimum.c):
            x, mu = likelihood.two_way.less(rows, optimum.c), optimum.sizes[rows, None]
            observed = True if two_way.mask is None else two_way.mask[rows]
            kept[rows] = (cells.noise(x, mu) == 0) & observed
            squares[rows] = (cells.cells(x, mu).of_x ** 2 * observed).sum(axis=1)
        return kept, squares

    def log_density_of_cells(
        self, z: Floats, m: Floats, d: Floats, kappa: float | Floats, sizes: tuple[float, float] | None = None
    ) -> Floats:
        r"""Return the log-density of each cell with ν integrated out; see `Variant.log_density_of_cells`.

        .. math:: p(z_{ij}) = \int \mathrm{Laplace}(\nu; 0, b)\, p_2(z_{ij} \mid m_i + \nu, d_j, \kappa)\, d\nu

        Parameters
        ----------
        z, m, d, kappa
            The same as there.
        sizes : pair of float, optional
            A range of m to be expected, for which a table is made; outside it, and for residuals of more than 300
            standard deviations, the density is computed by quadrature, slowly.

        Returns
        -------
        ndarray, shape (I, J)
            NaN where z is. To 1e-8 without a table. With it to 1e-5 for cells less than six standard deviations or
            .8 nats larger than expected; to a few tenths for those beyond, where a second explanation of the cell, a
            minute intent, takes over sharply.

        Examples
        --------
        >>> z, m, d = np.array([[4.7, 5.9]]), np.array([5.0]), np.zeros(2)
        >>> exact = Blunders(scale=0.05).log_density_of_cells(z, m, d, 3.0)
        >>> bool(np.allclose(Blunders(scale=0.05).log_density_of_cells(z, m, d, 3.0, (4, 6)), exact, atol=1e-5))
        True
        """
        check_dispersion(kappa)
        kappa = float(kappa)  # this model has one for all editions
        if sizes is None:
            return _marginal_by_cell(z, m, d, kappa, self.scale)
        shift = np.log(kappa)
        low, high = ROUND * np.floor((sizes[0] - shift) / ROUND), ROUND * np.ceil((sizes[1] - shift) / ROUND)
        spline = _table(self.scale, float(low), float(high))
        mu = (m - shift)[:, None]
        v = np.logaddexp(0.0, -mu)
        residual = np.arcsinh((z - d - shift - 0.5 * np.log1p(kappa) - mu + 0.5 * v) / np.sqrt(v))
        density: Floats = spline.ev(np.broadcast_to(mu, z.shape), residual)
        beyond = (mu < low) | (mu > high) | (np.abs(residual) > FARTHEST)
        rows = np.flatnonzero(beyond.any(axis=1))
        if len(rows):
            slow = np.where(beyond[rows], z[rows], np.nan)
            exact = _marginal_by_cell(slow, m[rows], d, kappa, self.scale)
            density[rows] = np.where(beyond[rows], exact, density[rows])
        return np.where(np.isnan(z), np.nan, density)

    def noise(self, generator: np.random.Generator, sigma: float, log_sizes: Floats, n_editions: int) -> Floats:
        """Draw Laplace noise of each cell plus a normal deviation at the changed size; see `Variant.noise`."""
        blunder = generator.laplace(0.0, self.scale, (len(log_sizes), n_editions))
        variance = np.logaddexp(0.0, log_dispersion(sigma) - log_sizes[:, None] - blunder)
        return blunder + 0.5 * (sigma**2 - variance) + self.deviations(generator, variance)

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw normal deviations given the Laplace noise; see `Variant.deviations`."""
        return np.sqrt(variance) * generator.standard_normal(variance.shape)

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the standard normal distribution; see `Variant.quantiles`."""
        return ndtri(shares)


def _marginal_by_cell(z: Floats, m: Floats, d: Floats, kappa: float, b: float) -> Floats:
    """Return the log-density of every cell with ν integrated out, NaN where z is missing."""
    rows, columns = np.nonzero(~np.isnan(z))
    centred, sizes = z[rows, columns] - d[columns], m[rows]
    density = np.full(z.shape, np.nan)
    for start in range(0, len(rows), CELLS_WITH_DENSITIES):
        some = slice(start, start + CELLS_WITH_DENSITIES)
        density[rows[some], columns[some]] = _marginal(centred[some], sizes[some], kappa, b)
    return density


class _Side(NamedTuple):
    """Joint log-density of z and ν as a function of s = |ν|, for one sign of ν."""

    log_joint: Callable[[Floats], Floats]  # (cells, nodes) to (cells, nodes)
    peaks: tuple[Floats, Floats]  # where it is highest in the near and in the far half, shape (cells,) each
    reach: Floats  # beyond it is negligible, shape (cells,)
    scale: Callable[[Floats], Floats]  # on which it varies there, (cells,) to (cells,)


def _side(z: Floats, m: Floats, kappa: float, b: float, sign: int) -> _Side:
    sigma2 = np.log1p(kappa)

    def log_joint(s: Floats) -> Floats:
        size = m[:, None] + sign * s
        v = variance_of(size, kappa)
        r = z[:, None] - size - 0.5 * (sigma2 - v)
        density: Floats = -s / b - np.log(2 * b) - 0.5 * (np.log(2 * np.pi * v) + r**2 / v)
        return density

    def scale(s: Floats) -> Floats:
        v = variance_of(m + sign * s, kappa)
        steepness = 1 / b + np.abs(z - m - sign * s) / v
        return 0.5 * np.minimum(np.sqrt(v), 1 / steepness)

    exact = z - 0.5 * sigma2  # the m + ν whose mean is z less v/2
    v = variance_of(exact, kappa)
    reach = np.abs(exact - m) + v + np.minimum(NEGLIGIBLE * b, 100 + 10 * np.sqrt(v))
    # below its exact explanation (ν < 0) a cell too large for its intent may be put down to a huge variance
    farthest = np.maximum(exact + 2 * v - m, 0.0) if sign > 0 else np.where(exact < m, m - exact, reach)
    near = peak_between(log_joint, np.zeros_like(reach), 0.5 * farthest)
    far = peak_between(log_joint, 0.5 * farthest, farthest)
    return _Side(log_joint, (near, far), reach, scale)


def _marginal(z: Floats, m: Floats, kappa: float, b: float) -> Floats:
    total = np.full(z.shape, -np.inf)
    for sign in (1, -1):
        side = _side(z, m, kappa, b, sign)
        anchors = [np.zeros_like(z), *side.peaks]  # there may be three peaks: at ν = 0 and one in each half
        ends = [0.5 * (one + other) for one, other in pairwise(anchors)] + [side.reach]
        pieces = list(zip(anchors, ends, strict=True)) + list(zip(anchors[1:], ends, strict=False))
        for start, end in pieces:  # from each anchor half-way to the next, on either hand
            total = np.logaddexp(total, log_integral(side.log_joint, start, end - start, side.scale(start)))
    return total


@lru_cache(maxsize=8)
def _table(laplace_scale: float, low: float, high: float) -> RectBivariateSpline:
    mu = np.linspace(low, high, round((high - low) / STEP_OF_SIZE) + 1)
    residual = np.linspace(-FARTHEST, FARTHEST, round(2 * FARTHEST / STEP_OF_RESIDUAL) + 1)
    v = np.logaddexp(0.0, -mu)[:, None]
    # κ = 1, for which x = z - ln(2) / 2
    z = mu[:, None] - 0.5 * v + np.sqrt(v) * np.sinh(residual) + 0.5 * np.log(2)
    values = _marginal_by_cell(z, mu, np.zeros(len(residual)), 1.0, laplace_scale)
    return RectBivariateSpline(mu, residual, values)
