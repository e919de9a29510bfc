"""Model 2C: log surprisals have a Cauchy distribution, whose tails are so heavy that it has no variance."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.stats import cauchy

from langdiff.base.types import Floats
from langdiff.regression.kernel.cells import (
    CellModel,
    Cells,
    SecondDerivatives,
    chain,
    chain_twice,
    scale_of_cells,
    standardized,
)
from langdiff.regression.variants.laplace import LaplaceCells
from langdiff.regression.variants.variant import STAGE_TOLERANCE, TOLERANCE, Variant

WIDTHS = (0.3, 0.1, 0.03)  # of the kinks of 2L, from which the search starts: the likelihood may have several maxima
FARTHEST = 600.0  # nats from its location that a draw may lie; e**710 is more than a float holds


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
    >>> ld.fit(ld.simulate(100, 3, model=Cauchy(), seed=1).surprisals, model=Cauchy()).model
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
        return [*((LaplaceCells(width), STAGE_TOLERANCE) for width in WIDTHS), (CauchyCells(), TOLERANCE)]

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
        quantiles: Floats = cauchy().ppf(shares)
        return quantiles
