"""Models 2L and 2C: log surprisals have a Laplace distribution, which resists outliers, or a Cauchy distribution."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError

from langdiff.base.signature import name_of_number
from langdiff.base.types import TOLERANCE, Floats
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
from langdiff.regression.kernel.estimate import USUAL_OPTIMIZER, Estimate, Optimizer, estimate_of
from langdiff.regression.kernel.kink_errors import influences_at_kinks
from langdiff.regression.kernel.kinks import Kinks
from langdiff.regression.kernel.likelihood import RowInformation, ScaleFreeLikelihood
from langdiff.regression.kernel.optimizers import maximize_model_2
from langdiff.regression.kernel.two_way import TwoWay
from langdiff.regression.variants.variant import STAGE_TOLERANCE, Start, Variant

KINK_ROUNDING = 0.3  # of the kink, in standard deviations of residuals: what a sandwich has information for
FIRST_WIDTHS = (0.3, 0.1, 0.03)  # of kinks, from which a search starts: the likelihood may have several maxima
FARTHEST = 600.0  # nats from its location that a draw may lie; e**710 is more than a float holds


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
                return estimate_of(search.near(*start), "newton", None)
            normal = ScaleFreeLikelihood(two_way, restricted)
            model_2 = maximize_model_2(normal, "newton", optimizer.max_iterations, None)[0]
            found = search.maximize([start or (model_2.mu, model_2.c), search.medians()])
            optimum, method, kinks = found.optimum, "newton", found.kinks
            if optimizer.method == "lbfgs":
                optimum, method, kinks = search.published(optimum, optimizer.max_iterations), "lbfgs", 0
            elif restricted:  # of both kinds of fit the same likelihood is given, at its maximum
                full = Kinks(two_way, LaplaceCells, restricted=False, max_iterations=optimizer.max_iterations)
                value = full.maximize([(optimum.mu, optimum.c)]).optimum.log_likelihood
                optimum = optimum._replace(log_likelihood=value)
            try:
                covariance = None if two_way.wide else self.covariance(two_way, optimum, restricted=restricted)
            except (LinAlgError, ValueError):
                covariance, optimum = np.full_like(two_way.laplacian, np.nan), optimum._replace(converged=False)
        return estimate_of(optimum, method, covariance)._replace(kinks=kinks)

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
        density: Floats = -0.5 * np.log(2 * variance) - np.abs(z - location) / np.sqrt(variance / 2)
        return density

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations from a Laplace distribution; see `Variant.deviations`."""
        drawn: Floats = generator.laplace(0.0, np.sqrt(variance) / np.sqrt(2))
        return drawn

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of a Laplace distribution of variance 1; see `Variant.quantiles`."""
        from scipy.stats import laplace

        quantiles: Floats = laplace(scale=np.sqrt(0.5)).ppf(shares)
        return quantiles


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
        curvature: Floats = 2 / (1 + t * t) / v  # of the parabola above: that of iterated weighted least squares
        return curvature

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
        draw: Floats = scale * np.tan(2 * np.arctan(FARTHEST / scale) * (generator.random(scale.shape) - 0.5))
        return draw

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the standard Cauchy distribution; see `Variant.quantiles`."""
        from scipy.stats import cauchy

        quantiles: Floats = cauchy().ppf(shares)
        return quantiles
