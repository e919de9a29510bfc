"""Models 2L and 2C: Laplace or Cauchy distributions, which resist outliers, and scores where a likelihood has kinks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from langdiff.base.signature import name_of_number
from langdiff.base.types import CELLS_OF_WINDOWS, TOLERANCE, Floats, Integers
from langdiff.errors import ConfigError, option
from langdiff.regression.kernel.cells import (
    CellModel,
    Cells,
    SecondDerivatives,
    chain,
    chain_twice,
    scale_of_cells,
    standardized,
)
from langdiff.regression.kernel.kinks import Kinks
from langdiff.regression.kernel.likelihood import RowInformation, ScaleFreeLikelihood, mu_at_mean
from langdiff.regression.kernel.optimizers import USUAL_OPTIMIZER, Estimate, Optimizer, maximize_model_2
from langdiff.regression.kernel.two_way import TwoWay
from langdiff.regression.variants.variant import STAGE_TOLERANCE, Start, Variant

KINK_ROUNDING = 0.3  # of the kink, in standard deviations of residuals: what a sandwich has information for
FIRST_WIDTHS = (0.3, 0.1, 0.03)  # of kinks, from which a search starts: the likelihood may have several maxima
FARTHEST = 600.0  # nats from its location that a draw may lie; e**710 is more than a float holds
STEP = 2.0  # of √v I^(−1/3)
TIE = 1e-10  # of the cost, by which of tied kinks that with the larger u is taken
SAME = 1e-9  # of x, at which cells are at one kink: their signs are the u of the certificate
MOST_STEPS = 30


@dataclass(frozen=True)
class LaplaceCells:
    r"""Cost of a cell in model 2L, :math:`\tfrac12\ln 2v + \sqrt2\,|t|`, with |t| smoothed near its kink.

    |t| is replaced by √(t² + width²) − width, so that a search can approach the kink through smaller and smaller
    widths.
    """

    width: float = 0.0

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        length = np.sqrt(t * t + self.width**2)
        with np.errstate(invalid="ignore"):  # 0/0 at the kink of an unrounded |t|, where any slope will do
            pull = np.sqrt(2) * np.nan_to_num(t / length)
        value = 0.5 * np.log(2 * v) + np.sqrt(2) * (length - self.width)
        return chain(value, pull, t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return the second derivative in x, which is not negative; see `CellModel`."""
        v, scale, _, _ = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        curvature: Floats = np.sqrt(2) * self.width**2 / (t * t + self.width**2) ** 1.5 / v
        return curvature

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs, which exist only for a positive width; see `CellModel`."""
        t = standardized(x, mu)
        length = np.sqrt(t * t + self.width**2)
        return chain_twice(np.sqrt(2) * t / length, np.sqrt(2) * self.width**2 / length**3, t, mu)

    def information(self) -> tuple[float, float]:
        """Return the information of a cell; see `CellModel`."""
        return 2.0, 1.0


@dataclass(frozen=True, kw_only=True)
class Laplace(Variant):
    """Model 2L: a Laplace distribution of the mean and variance of model 2 (Mielke et al. 2019, section 3).

    The kink of its density is fitted as it is, with a certificate of the maximum.

    Parameters
    ----------
    rounding : float
        Width, in standard deviations of the residuals, to which the kink is rounded off to a hyperbola: 0.3 is model
        ``"2L-rounded"``, which is not in the paper.

    Raises
    ------
    ConfigError
        If the width is not from 0 to 1.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, model="2L", seed=1).surprisals
    >>> ld.fit(surprisals, model=Laplace()).kinks
    102
    >>> Laplace(rounding=0.3).name
    '2L-rounded'
    """

    name: ClassVar[str] = "2L"
    random_sizes: ClassVar[bool] = True
    stan: ClassVar[bool] = True
    distribution: ClassVar[str] = "Laplace"

    rounded: ClassVar[str] = "2L-rounded"
    without: ClassVar[Mapping[str, str]] = {"random_sizes": "is for model '2L', whose density it has, not {name!r}"}

    rounding: float = 0.0

    def __post_init__(self) -> None:
        rounding: object = self.rounding
        if not isinstance(rounding, Real) or not 0 <= float(rounding) <= 1:
            raise ConfigError(f"rounding must be from 0 to 1 standard deviation, got {rounding!r}.")
        object.__setattr__(self, "rounding", float(rounding))
        if rounding:  # another model, which shares the code
            for name, value in {"name": self.rounded, "stan": False, "random_sizes": False}.items():
                object.__setattr__(self, name, value)

    @property
    def kinked(self) -> bool:
        """Whether the likelihood has a kink, so that no sandwich exists."""
        return self.rounding == 0

    def cells(self) -> CellModel:
        """Return the costs of cells with the smoothed kink; see `Variant.cells`."""
        return LaplaceCells(self.rounding)

    def exact(self) -> CellModel:
        """Return the costs of cells with the kink itself; see `Variant.exact`."""
        return LaplaceCells()

    def stages(self, *, rough: bool) -> Sequence[tuple[CellModel, float]]:
        """Return costs whose kinks become sharper from stage to stage; see `Variant.stages`."""
        if rough:
            return [(self.cells(), STAGE_TOLERANCE)]
        wider = [(LaplaceCells(width), STAGE_TOLERANCE) for width in FIRST_WIDTHS if width > self.rounding]
        return [*wider, (self.cells(), TOLERANCE)]

    def estimate(
        self,
        two_way: TwoWay,
        *,
        restricted: bool = False,
        optimizer: Optimizer = USUAL_OPTIMIZER,
        start: Start | None = None,
        with_covariance: bool = True,
    ) -> Estimate:
        """Fit the model at its kinks, by the published route if that is asked for; see `Variant.estimate`."""
        if not self.kinked:
            return super().estimate(
                two_way, restricted=restricted, optimizer=optimizer, start=start, with_covariance=with_covariance
            )
        search = Kinks(two_way, LaplaceCells, restricted=restricted, max_iterations=optimizer.max_iterations)
        with np.errstate(all="ignore"):  # numbers out of range show in the certificate
            if not with_covariance and start is not None:
                return search.near(*start)._replace(method="newton")
            normal = ScaleFreeLikelihood(two_way, restricted)
            model_2 = maximize_model_2(normal, "newton", optimizer.max_iterations, None)[0]
            found = search.maximize([start or (model_2.sizes, model_2.c), search.medians()])
            optimum, method, kinks = found.optimum, "newton", found.kinks
            if optimizer.method == "lbfgs":
                optimum, method, kinks = search.published(optimum, optimizer.max_iterations), "lbfgs", 0
            elif restricted:  # of both kinds of fit the same likelihood is given, at its maximum
                full = Kinks(two_way, LaplaceCells, restricted=False, max_iterations=optimizer.max_iterations)
                value = full.maximize([(optimum.sizes, optimum.c)]).optimum.log_likelihood
                optimum = optimum._replace(log_likelihood=value)
            try:
                covariance = None if two_way.wide else self.covariance(two_way, optimum, restricted=restricted)
            except (LinAlgError, ValueError):
                covariance, optimum = np.full_like(two_way.laplacian, np.nan), optimum._replace(converged=False)
        return optimum._replace(method=method, covariance=covariance, kinks=kinks)

    def influences(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> Floats:
        """Return the influences of the rows on c at the kinks, (I, J); see `Variant.influences`."""
        return influences_at_kinks(Kinks(two_way, LaplaceCells, restricted=restricted), found.sizes, found.c)

    def rows(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> RowInformation:
        """Return the scores and the information of the rows; see `Variant.rows`.

        Raises
        ------
        ConfigError
            If the kink itself was fitted, which has no second derivatives.
        """
        if self.kinked:
            raise ConfigError(
                f"model {self.name!r} has kinks, at which rows have no information: use "
                f"{option('model', self.rounded)}."
            )
        return super().rows(two_way, found, restricted=restricted)

    def signature(self) -> dict[str, str]:
        """Return the width of the smoothed kink; see `Variant.signature`."""
        return {"rounding": name_of_number(self.rounding)} if self.rounding else {}

    def log_density(self, z: Floats, location: Floats, variance: Floats) -> Floats:
        """Return the log-density of Laplace variables; see `Variant.log_density`."""
        return -0.5 * np.log(2 * variance) - np.abs(z - location) / np.sqrt(variance / 2)

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations from a Laplace distribution; see `Variant.deviations`."""
        drawn: Floats = generator.laplace(0.0, np.sqrt(variance) / np.sqrt(2))
        return drawn

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of a Laplace distribution of variance 1; see `Variant.quantiles`."""
        from scipy.stats import laplace

        return laplace(scale=np.sqrt(0.5)).ppf(shares)


@dataclass(frozen=True)
class CauchyCells:
    r"""Cost of a cell in model 2C, :math:`\tfrac12\ln v + \ln\pi + \ln(1 + t^2)`."""

    def cells(self, x: Floats, mu: Floats) -> Cells:
        """Return the cost of each cell and its derivatives; see `CellModel`."""
        v, scale, slope, narrowing = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        value = 0.5 * np.log(v) + np.log(np.pi) + np.log1p(t * t)
        return chain(value, 2 * t / (1 + t * t), t, scale, slope, narrowing)

    def curvature(self, x: Floats, mu: Floats) -> Floats:
        """Return an upper bound of the second derivative in x, which is positive; see `CellModel`."""
        v, scale, _, _ = scale_of_cells(mu)
        t = (x - (mu - 0.5 * v)) / scale
        return 2 / (1 + t * t) / v  # of the parabola above: that of iterated weighted least squares

    def second_derivatives(self, x: Floats, mu: Floats) -> SecondDerivatives:
        """Return the second derivatives of the costs; see `CellModel`."""
        t = standardized(x, mu)
        square = 1 + t * t
        return chain_twice(2 * t / square, 2 * (1 - t * t) / square**2, t, mu)

    def information(self) -> tuple[float, float]:
        """Return the information of a cell; see `CellModel`."""
        return 0.5, 0.5


@dataclass(frozen=True, kw_only=True)
class Cauchy(Variant):
    """Model 2C: a Cauchy distribution with the location of model 2 and scale √v (Mielke et al. 2019, footnote 14).

    Examples
    --------
    >>> import langdiff as ld
    >>> ld.fit(ld.simulate(100, 3, sigma=0.02, model=Cauchy(), seed=1).surprisals, model=Cauchy()).model
    '2C'
    """

    name: ClassVar[str] = "2C"
    concave: ClassVar[bool] = False
    unbounded_in_pairs: ClassVar[bool] = True
    has_variance: ClassVar[bool] = False
    distribution: ClassVar[str] = "Cauchy"

    def cells(self) -> CellModel:
        """Return the costs of cells; see `Variant.cells`."""
        return CauchyCells()

    def stages(self, *, rough: bool) -> Sequence[tuple[CellModel, float]]:
        """Return the costs of model 2L, then those of model 2C; see `Variant.stages`."""
        if rough:
            return [(CauchyCells(), STAGE_TOLERANCE)]
        return [*((LaplaceCells(width), STAGE_TOLERANCE) for width in FIRST_WIDTHS), (CauchyCells(), TOLERANCE)]

    def log_density(self, z: Floats, location: Floats, variance: Floats) -> Floats:
        """Return the log-density of Cauchy variables; see `Variant.log_density`."""
        density: Floats = -np.log(np.pi) - 0.5 * np.log(variance) - np.log1p((z - location) ** 2 / variance)
        return density

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations from a truncated Cauchy distribution by inversion; see `Variant.deviations`."""
        scale = np.sqrt(variance)
        return scale * np.tan(2 * np.arctan(FARTHEST / scale) * (generator.random(scale.shape) - 0.5))

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the standard Cauchy distribution; see `Variant.quantiles`."""
        from scipy.stats import cauchy

        return cauchy().ppf(shares)


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
