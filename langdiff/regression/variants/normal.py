"""Model 2, log surprisals are normal with less variance for larger intents; model 1, one variance for all sizes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import ndtri

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.cells import CellModel, NormalCells
from langdiff.regression.kernel.likelihood import Gradient, RowInformation, Rows, ScaleFreeLikelihood, Scales
from langdiff.regression.kernel.optimizers import (
    NEWTON_STEPS,
    USUAL_OPTIMIZER,
    Estimate,
    Optimizer,
    maximize_lbfgs,
    maximize_model_2,
    maximize_newton,
)
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
            covariance = information = None
            if with_covariance and not two_way.wide:
                try:
                    information = likelihood.information(optimum.sizes, optimum.c)
                    covariance = two_way.inflation(restricted) * inverse_information(two_way, information)
                except (LinAlgError, ValueError):  # not positive definite; not finite
                    covariance, information = np.full_like(two_way.laplacian, np.nan), None
                    if converged:
                        converged, message = False, "a stationary point that is not a maximum"
            value = optimum.log_likelihood
            if restricted and with_covariance:  # of both kinds of fit the same likelihood is given, at its maximum
                near, full = (optimum.sizes, optimum.c), ScaleFreeLikelihood(two_way)
                found = maximize_newton(full, near, max_iterations=NEWTON_STEPS, information=information)
                value = found.log_likelihood
        return optimum._replace(
            converged=converged, message=message, log_likelihood=value, method=method, covariance=covariance
        )

    def rows(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> RowInformation:
        """Return the scores and the information of the rows; see `Variant.rows`."""
        return ScaleFreeLikelihood(two_way, restricted).row_information(found.sizes, found.c)

    def log_density(self, z: Floats, location: Floats, variance: Floats) -> Floats:
        """Return the log-density of normal variables; see `Variant.log_density`."""
        return -0.5 * (np.log(2 * np.pi * variance) + (z - location) ** 2 / variance)

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations from a normal distribution; see `Variant.deviations`."""
        return np.sqrt(variance) * generator.standard_normal(variance.shape)

    def quantiles(self, shares: Floats) -> Floats:
        """Return quantiles of the standard normal distribution; see `Variant.quantiles`."""
        return ndtri(shares)


@dataclass(frozen=True, kw_only=True)
class LogNormal(Normal):
    """Model 1: bits are log-normal with one variance for intents of all sizes.

    Examples
    --------
    >>> import langdiff as ld
    >>> ld.fit(ld.simulate(100, 3, model=LogNormal(), seed=1).surprisals, model=LogNormal()).method
    'exact'
    """

    name: ClassVar[str] = "1"
    common_variance: ClassVar[bool] = True
    restricted_usually: ClassVar[bool] = False
    restrictable: ClassVar[bool] = False
    usual_sigma: ClassVar[float] = 0.2  # of a sentence

    without: ClassVar[Mapping[str, str]] = {
        "restrictable": "is for models {those}; model '1' has an unbiased variance already"
    }

    def estimate(
        self,
        two_way: TwoWay,
        *,
        restricted: bool = False,  # noqa: ARG002 - the exact fit is both
        optimizer: Optimizer = USUAL_OPTIMIZER,
        start: Start | None = None,  # noqa: ARG002 - none is needed
        with_covariance: bool = True,  # noqa: ARG002 - it costs nothing
    ) -> Estimate:
        """Return the exact least-squares fit, or minimize by L-BFGS if that is asked for; see `Variant.estimate`."""
        exact = _exact(two_way)
        return _by_lbfgs(two_way, exact, optimizer) if optimizer.method == "lbfgs" else exact

    def rows(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> RowInformation:  # noqa: ARG002
        r"""Return the scores and the information of the rows in units of their common variance.

        The sandwich :math:`B^+ (\sum_i s_i s_i^\top) B^+` does not depend on that variance: scores are the residuals
        within rows and :math:`B_i = \mathrm{diag}(M_i) - M_i M_i^\top / J_i`.
        """
        residual, mask, root = two_way.residual, two_way.mask, np.sqrt(two_way.cells_per_intent)

        def of(rows: slice | Integers) -> Rows:
            there = np.ones_like(residual[rows]) if mask is None else mask[rows].astype(float)
            return Rows(residual[rows], there, there / root[rows, None])

        return RowInformation(residual.shape, of)


def _exact(two_way: TwoWay) -> Estimate:
    """Return the least-squares fit as an estimate."""
    d = two_way.edition_effect
    variance = two_way.sum_of_squares / two_way.degrees_of_freedom
    most_likely = two_way.sum_of_squares / two_way.cells
    # the constant direction, in which the Laplacian vanishes, is lost in normalizing: any weight there will do
    covariance = None
    if not two_way.wide:
        information = two_way.laplacian + two_way.cells_per_edition.mean() / len(d)
        covariance = variance * inverse_information(two_way, information)
    gradient = np.concatenate(
        [
            two_way.gather(two_way.residual.sum(axis=0) / np.sqrt(two_way.cells_per_edition)),
            two_way.residual.sum(axis=1) / np.sqrt(two_way.cells_per_intent),
        ]
    ) / np.sqrt(variance)
    return Estimate(
        method="exact",
        c=d,
        sizes=two_way.intent_effect,
        covariance=covariance,
        dispersion=float(np.expm1(variance)) if variance < np.log(np.finfo(float).max) else np.inf,
        log_likelihood=-0.5 * two_way.cells * float(np.log(2 * np.pi * most_likely) + 1),
        converged=True,
        n_iterations=0,
        n_evaluations=0,
        grad_norm=float(np.abs(gradient).max()),
        message="solved exactly",
    )


def _by_lbfgs(two_way: TwoWay, exact: Estimate, optimizer: Optimizer) -> Estimate:
    """Minimize the sum of squares by L-BFGS from zero, as an independent check of the exact solution.

    The variance does not affect the minimum; it is estimated from the residuals, as in the exact fit.
    """
    unit = float(np.sqrt(two_way.sum_of_squares / two_way.degrees_of_freedom))
    optimum = maximize_lbfgs(Squares(two_way, unit), max_iterations=optimizer.max_iterations)
    level = float(optimum.c.mean())
    return optimum._replace(
        c=optimum.c - level,
        sizes=optimum.sizes + level,
        log_likelihood=exact.log_likelihood,
        method="lbfgs",
        covariance=exact.covariance,
        dispersion=exact.dispersion,
    )


@dataclass(frozen=True, eq=False, repr=False)
class Squares:
    """Half the squared residuals z − μ − c divided by their variance, without the constants.

    Parameters
    ----------
    two_way : TwoWay
        The exact fit, from which z is had; it is not used otherwise.
    sd : float
        Standard deviation of the residuals, nats.
    """

    two_way: TwoWay
    sd: float

    def _residuals(self, mu: Floats, c: Floats) -> Floats:
        table = self.two_way
        mask = 1.0 if table.mask is None else table.mask
        residuals: Floats = table.residual + mask * (
            (table.intent_effect - mu)[:, None] + (table.edition_effect - c)[None, :]
        )
        return residuals / self.sd

    def start(self) -> tuple[Floats, Floats]:
        """Return starting values of μ and c: one size for all intents and equal difficulties."""
        table = self.two_way
        return np.full_like(table.intent_effect, table.intent_effect.mean()), np.zeros_like(table.edition_effect)

    def scales(self, mu: Floats, c: Floats) -> Scales:  # noqa: ARG002 (alike everywhere)
        """Return the scales in which the curvature is about 1; that of the unidentified level is arbitrary."""
        table = self.two_way
        of_c = table.cells_per_edition
        if table.design is not None:
            of_c = of_c @ table.design**2
        return Scales(self.sd / np.sqrt(table.cells_per_intent), self.sd / np.sqrt(of_c), self.sd)

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return half the sum of scaled squares of each row, shape (I,)."""
        residuals = self._residuals(mu, c)
        values: Floats = 0.5 * np.einsum("ij,ij->i", residuals, residuals)
        return values

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return half the sum of scaled squares, less a baseline, and its gradient."""
        residuals = self._residuals(mu, c)
        values = 0.5 * np.einsum("ij,ij->i", residuals, residuals)
        return Gradient(
            float(np.sum(values - baseline)), -residuals.sum(axis=1) / self.sd, -residuals.sum(axis=0) / self.sd
        )

    def best_intents(self, mu: Floats, c: Floats) -> Floats:  # noqa: ARG002 (one mode)
        """Return μ unchanged, since a sum of squares has one mode."""
        return mu
