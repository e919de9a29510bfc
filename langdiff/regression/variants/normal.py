"""Model 2: log surprisals are normal, with less variance for larger intents; fitted by Newton's method."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.stats import norm

from langdiff.base.types import Floats
from langdiff.regression.kernel.cells import CellModel, NormalCells
from langdiff.regression.kernel.estimate import USUAL_OPTIMIZER, Estimate, Optimizer, estimate_of
from langdiff.regression.kernel.lbfgs import NEWTON_STEPS, maximize_model_2, maximize_newton
from langdiff.regression.kernel.likelihood import RowInformation, ScaleFreeLikelihood
from langdiff.regression.kernel.two_way import TwoWay, inverse_information
from langdiff.regression.variants.variant import Start, Variant


@dataclass(frozen=True, kw_only=True)
class Normal(Variant):
    """Model 2: log surprisals are normal with variance ln(1 + κ/n).

    Examples
    --------
    >>> import langdiff as ld
    >>> ld.fit(ld.simulate(100, 3, model=Normal(), seed=1).surprisals, model=Normal()).method
    'newton'
    """

    name: ClassVar[str] = "2"
    has_information: ClassVar[bool] = True
    restricted_usually: ClassVar[bool] = True
    random_sizes: ClassVar[bool] = True
    stan: ClassVar[bool] = True

    def cells(self) -> CellModel:
        """Return the costs of cells; see `Variant.cells`."""
        return NormalCells()

    def estimate(
        self,
        two_way: TwoWay,
        *,
        restricted: bool = False,
        optimizer: Optimizer = USUAL_OPTIMIZER,
        start: Start | None = None,
        with_covariance: bool = True,
    ) -> Estimate:
        """Fit the model by Newton's method, or by L-BFGS if that fails or is asked for; see `Variant.estimate`."""
        with np.errstate(all="ignore"):  # numbers out of range show in the gradient, which is checked
            likelihood = ScaleFreeLikelihood(two_way, restricted)
            optimum, method = maximize_model_2(likelihood, optimizer.method, optimizer.max_iterations, start)
            converged, message = optimum.converged, optimum.message
            covariance = None
            if with_covariance and not two_way.wide:
                # the restricted likelihood has made up for the intents' share of the variation already
                inflation = 1.0 if restricted else two_way.cells / two_way.degrees_of_freedom
                try:
                    information = likelihood.information(optimum.mu, optimum.c)
                    covariance = inflation * inverse_information(two_way, information)
                except (LinAlgError, ValueError):  # not positive definite; not finite
                    covariance = np.full_like(two_way.laplacian, np.nan)
                    if converged:
                        converged, message = False, "a stationary point that is not a maximum"
            value = optimum.log_likelihood
            if restricted and with_covariance:  # of both kinds of fit the same likelihood is given, at its maximum
                near, full = (optimum.mu, optimum.c), ScaleFreeLikelihood(two_way)
                value = maximize_newton(full, near, max_iterations=NEWTON_STEPS).log_likelihood
        found = optimum._replace(converged=converged, message=message, log_likelihood=value)
        return estimate_of(found, method, covariance)

    def rows(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> RowInformation:
        """Return the scores and the information of the rows; see `Variant.rows`."""
        return ScaleFreeLikelihood(two_way, restricted).row_information(found.sizes, found.c)

    def log_density(self, z: Floats, location: Floats, variance: Floats) -> Floats:
        """Return the log-density of normal variables; see `Variant.log_density`."""
        density: Floats = -0.5 * (np.log(2 * np.pi * variance) + (z - location) ** 2 / variance)
        return density

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations from a normal distribution; see `Variant.deviations`."""
        draw: Floats = np.sqrt(variance) * generator.standard_normal(variance.shape)
        return draw

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the standard normal distribution; see `Variant.quantiles`."""
        quantiles: Floats = norm().ppf(shares)
        return quantiles
