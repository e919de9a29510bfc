"""Base class of the regression models: fitting, densities, simulation and supported options."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import expit

from langdiff.base.types import TOLERANCE, Floats
from langdiff.errors import ConfigError, DataError
from langdiff.regression.kernel.cells import CellLikelihood, CellModel, second_order
from langdiff.regression.kernel.likelihood import RowInformation, ScaleFreeLikelihood
from langdiff.regression.kernel.optimizers import (
    USUAL_OPTIMIZER,
    Estimate,
    Optimizer,
    maximize_lbfgs,
    maximize_model_2,
    polish,
)
from langdiff.regression.kernel.two_way import TwoWay, eliminated_information, inverse_information

STAGE_TOLERANCE = 1e-3  # of a stage that only leads to the next, and of samples of intents
LEAST_VARIANCE = 1e-100  # of an intent of 10^100 bits

Start = tuple[Floats, Floats]


@dataclass(frozen=True)
class VariantRecord:
    """The name and the numbers of a model, as files hold them."""

    name: str
    numbers: Mapping[str, float]


@dataclass(frozen=True, kw_only=True)
class Variant(ABC):
    r"""A regression model: the distribution of z = ln y around :math:`\ln n_i + d_j + \tfrac12(\sigma^2 - v_i)`.

    Its variance is :math:`v_i = \ln(1 + \kappa / n_i)`, :math:`\kappa = e^{\sigma^2} - 1`. A new model defines `name`,
    `cells` and, where more than a fit is wanted, `log_density`, `deviations` and `quantiles`. Its own numbers, such as
    the scale of `Blunders`, are its fields.

    Attributes
    ----------
    name : str
        Name of the model in tables and signatures.
    common_variance : bool
        Whether :math:`v_i = \sigma^2` for intents of all sizes.
    has_information : bool
        Whether errors can come from the information; then editions may have dispersions of their own.
    restrictable : bool
        Whether there is a restricted likelihood where every intent has a size of its own.
    restricted_usually : bool
        Whether the restricted likelihood is the default where cells are missing.
    random_sizes : bool
        Whether sizes of intents can be integrated out.
    concave : bool
        Whether the information is positive in all cells, so that degrees of freedom follow from it.
    unbounded_in_pairs : bool
        Whether the likelihood may have no maximum if intents have two cells only.
    has_variance : bool
        Whether deviations have a variance; where they have none, v is the square of their scale.
    second_modes : bool
        Whether likelier sizes of intents are looked for far from where the search is.
    stan : bool
        Whether there is a Stan program.
    usual_sigma : float
        σ of simulated tables, nats.
    distribution : str
        Name of the distribution of standardized deviations.
    without : mapping
        What follows the name of an option that the model lacks in the message that refuses it.

    Examples
    --------
    >>> from langdiff.regression import Laplace
    >>> Laplace().name, Laplace().restrictable
    ('2L', True)
    """

    name: ClassVar[str]
    common_variance: ClassVar[bool] = False
    has_information: ClassVar[bool] = False
    restrictable: ClassVar[bool] = True
    restricted_usually: ClassVar[bool] = False
    random_sizes: ClassVar[bool] = False
    concave: ClassVar[bool] = True
    unbounded_in_pairs: ClassVar[bool] = False
    has_variance: ClassVar[bool] = True
    second_modes: ClassVar[bool] = True
    stan: ClassVar[bool] = False
    usual_sigma: ClassVar[float] = 1.3  # of a unit of an intent; gives spreads alike to those of 0.2 at 100 units
    distribution: ClassVar[str] = "normal"
    without: ClassVar[Mapping[str, str]] = {}
    kinds: ClassVar[dict[str, type["Variant"]]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Register the class under its name, by which saved fits find it."""
        super().__init_subclass__(**options)
        if "name" in vars(cls):
            Variant.kinds |= dict.fromkeys((cls.name, getattr(cls, "rounded", cls.name)), cls)

    def to_record(self) -> VariantRecord:
        """Return the name and the numbers of the model, as a saved fit holds them."""
        return VariantRecord(self.name, {field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def from_record(cls, record: VariantRecord) -> "Variant":
        """Return the model that a saved fit holds.

        Parameters
        ----------
        record : VariantRecord
            Name and numbers of the model.

        Raises
        ------
        DataError
            If its class is not known here.
        """
        if record.name not in cls.kinds:
            raise DataError(f"the fit is of model {record.name!r}, of which no class is known here: import it first.")
        return cls.kinds[record.name](**record.numbers)

    @abstractmethod
    def cells(self) -> CellModel:
        """Return the cost of cells that is minimized, and from which the sandwich is computed."""

    def exact(self) -> CellModel:
        """Return the cost of cells that gives the reported log-likelihood; by default that of `cells`."""
        return self.cells()

    def stages(self, *, rough: bool) -> Sequence[tuple[CellModel, float]]:
        """Return the costs to minimize one after another, each with its tolerance.

        Each search starts from the optimum of the one before.

        Parameters
        ----------
        rough : bool
            Whether a lower precision is enough, as for samples of intents, which start from the fit to the whole table.

        Returns
        -------
        sequence of (CellModel, float)
            Cost of cells, and the tolerance of L-BFGS in standard errors of the parameters.
        """
        return [(self.cells(), STAGE_TOLERANCE if rough else TOLERANCE)]

    @property
    def kinked(self) -> bool:
        """Whether the likelihood has kinks, so that no sandwich exists."""
        return False

    @property
    def laplace_scale(self) -> float | None:
        """Scale of the Laplace noise of single cells, nats; None without such noise."""
        return None

    @property
    def is_usual(self) -> bool:
        """Whether all parameters of the model's own have their defaults."""
        return all(getattr(self, field.name) == field.default for field in fields(self))

    def signature(self) -> dict[str, str]:
        """Return the model's own parameters as parts of a signature.

        Returns
        -------
        dict from str to str
            Name and value of every part; empty if the model has no parameters of its own.
        """
        return {}

    def log_density(self, z: Floats, location: Floats, variance: Floats) -> Floats:
        r"""Return the log-density of log surprisals around their location.

        Parameters
        ----------
        z : ndarray, shape (I, J)
            Log surprisals, ln(bits); NaN where edition j lacks intent i.
        location : ndarray, shape (I, J)
            Location of z, nats: :math:`\ln n_i + d_j + \tfrac12(\sigma^2 - v_i)`.
        variance : ndarray, shape (I, J) or (I, 1)
            Variance v of z, nats²; the squared scale where `has_variance` is false.

        Returns
        -------
        ndarray, shape (I, J)
            Log-density of each cell with respect to z; NaN where z is.

        Raises
        ------
        ConfigError
            If the model has no density of new cells.
        """
        del z, location, variance
        raise ConfigError(f"model {self.name!r} has no density of new cells: define log_density.")

    def deviations(self, generator: np.random.Generator, variance: Floats) -> Floats:
        """Draw deviations of log surprisals from their location.

        Parameters
        ----------
        generator : Generator
            Source of random numbers.
        variance : ndarray, any shape
            Variance v of z, nats²; the squared scale where `has_variance` is false.

        Returns
        -------
        ndarray, shape of `variance`
            Independent deviations, nats.

        Raises
        ------
        ConfigError
            If the model cannot be simulated.
        """
        del generator, variance
        raise ConfigError(f"model {self.name!r} cannot be simulated: define deviations.")

    def quantiles(self, shares: Floats) -> Floats:
        r"""Return quantiles of the standardized deviations.

        Parameters
        ----------
        shares : ndarray, any shape
            Probabilities between 0 and 1.

        Returns
        -------
        ndarray, shape of `shares`
            Quantiles of :math:`(z - \mathrm{location}) / \sqrt v`.

        Raises
        ------
        ConfigError
            If the model has no quantiles.
        """
        del shares
        raise ConfigError(f"model {self.name!r} has no quantiles: define quantiles.")

    def log_density_of_cells(
        self,
        z: Floats,
        m: Floats,
        d: Floats,
        kappa: float | Floats,
        sizes: tuple[float, float] | None = None,  # noqa: ARG002 - for models whose density is an integral
    ) -> Floats:
        r"""Return the log-density of each log surprisal at given sizes and difficulties.

        Parameters
        ----------
        z : ndarray, shape (I, J)
            Log surprisals, ln(bits); NaN where edition j lacks intent i.
        m : ndarray, shape (I,)
            Log intent sizes, ln n.
        d : ndarray, shape (J,)
            Difficulties in nats; need not be normalized.
        kappa : float or ndarray, shape (J,)
            Dispersion, exp(σ²) − 1, positive; in models 1 and 2 possibly one of each edition.
        sizes : pair of float, optional
            A range of m to be expected, for a quicker density of `Blunders`.

        Returns
        -------
        ndarray, shape (I, J)
            NaN where z is. That of the bits y is less by z, the logarithm of the Jacobian dy/dz = y.

        Raises
        ------
        ValueError
            If kappa is not positive.

        References
        ----------
        Mielke, Cotterell, Gorman, Roark and Eisner (2019), "What Kind of Language Is Hard to Language-Model?":
        equations 1, 2, 5 and 6; section 3 and footnote 14.

        Examples
        --------
        >>> from langdiff.regression.variants.normal import Normal
        >>> z, m, d = np.array([[0.0, 0.5]]), np.zeros(1), np.zeros(2)
        >>> Normal().log_density_of_cells(z, m, d, 1.0).round(3)
        array([[-0.736, -0.916]])
        """
        check_dispersion(kappa)
        size, sigma2 = m[:, None], np.log1p(kappa)
        v = np.zeros_like(size) + sigma2 if self.common_variance else variance_of(size, kappa)
        return self.log_density(z, size + d + 0.5 * (sigma2 - v), v)

    def noise(self, generator: np.random.Generator, sigma: float, log_sizes: Floats, n_editions: int) -> Floats:
        """Draw the noise of simulated log surprisals, z − ln n − d.

        Parameters
        ----------
        generator : Generator
            Source of random numbers.
        sigma : float
            Standard deviation σ of z for an intent of one unit, nats; for all intents if `common_variance` is true.
        log_sizes : ndarray, shape (I,)
            Log intent sizes, ln n.
        n_editions : int
            Number of editions, J.

        Returns
        -------
        ndarray, shape (I, J)
            Independent noise of each cell, nats.

        Raises
        ------
        ConfigError
            If the model cannot be simulated.
        """
        shape = (len(log_sizes), n_editions)
        if self.common_variance:
            variance = np.full(shape, sigma**2)
        else:
            variance = np.logaddexp(0.0, log_dispersion(sigma) - log_sizes[:, None] - np.zeros(shape))
        return 0.5 * (sigma**2 - variance) + self.deviations(generator, variance)

    def estimate(
        self,
        two_way: TwoWay,
        *,
        restricted: bool = False,
        optimizer: Optimizer = USUAL_OPTIMIZER,
        start: Start | None = None,
        with_covariance: bool = True,
    ) -> Estimate:
        """Fit the model to a table, by default with L-BFGS from the fit of model 2.

        Parameters
        ----------
        two_way : TwoWay
            Model 1 fitted to the table, intents with one cell left out.
        restricted : bool
            Whether to maximize the restricted likelihood.
        optimizer : Optimizer
            Method, and the maximum number of iterations.
        start : pair of ndarray, shapes (I,) and (J,), optional
            `sizes` and `c` of an estimate from a similar table, at which the search starts; by default the fit of
            model 2.
        with_covariance : bool
            Whether to compute the covariance; without it, the fit has only the precision that a bootstrap needs.

        Returns
        -------
        Estimate
            Estimate with difficulties up to a constant, nats; `covariance` is None without `with_covariance`, and NaN
            if the information is not positive definite.
        """
        iterations = optimizer.max_iterations
        with np.errstate(all="ignore"):  # numbers out of range show in the gradient, which is checked
            if start is None:
                normal, _ = maximize_model_2(ScaleFreeLikelihood(two_way, restricted), "newton", iterations, None)
                start = normal.sizes, normal.c
            optimum = self.maximize(two_way, restricted, start, rough=not with_covariance, max_iterations=iterations)
            if restricted and with_covariance:  # of both kinds of fit the same likelihood is given, at its maximum
                best = optimum.sizes, optimum.c
                full = self.maximize(two_way, False, best, rough=False, max_iterations=iterations)
                optimum = optimum._replace(log_likelihood=full.log_likelihood)
            covariance = None
            if with_covariance and not two_way.wide:
                try:
                    covariance = self.covariance(two_way, optimum, restricted=restricted)
                except (LinAlgError, ValueError):
                    covariance = np.full_like(two_way.laplacian, np.nan)
            if covariance is not None and not np.isfinite(covariance).all():
                optimum = optimum._replace(converged=False)
        return optimum._replace(method="lbfgs", covariance=covariance)

    def maximize(
        self, two_way: TwoWay, restricted: bool, start: Start, *, rough: bool, max_iterations: int
    ) -> Estimate:
        """Maximize the likelihood in stages; see `stages`.

        Parameters
        ----------
        two_way : TwoWay
            Model 1 fitted to the table, intents with one cell left out.
        restricted : bool
            Whether to maximize the restricted likelihood.
        start : pair of ndarray, shapes (I,) and (J,)
            Values of μ and c at which the first stage starts.
        rough : bool
            Whether a lower precision is enough; see `stages`.
        max_iterations : int
            Maximum number of iterations of each stage.

        Returns
        -------
        Estimate
            The optimum of the last stage. `log_likelihood` is that of the costs `exact`, and `grad_norm` the norm of
            the gradient at which L-BFGS stopped.
        """
        stages = self.stages(rough=rough)
        iterations = evaluations = 0
        for stage, (cells, tolerance) in enumerate(stages):
            ends = stage in (0, len(stages) - 1)
            modes = self.second_modes and ends and not rough
            likelihood = CellLikelihood(two_way, cells, restricted, second_modes=modes)
            optimum = maximize_lbfgs(likelihood, start, max_iterations=max_iterations, tolerance=tolerance)
            iterations += optimum.n_iterations
            evaluations += optimum.n_evaluations
            start = optimum.sizes, optimum.c
        if not rough and not self.kinked and optimum.converged:
            mu, c = polish(likelihood, optimum.sizes, optimum.c)
            optimum = optimum._replace(sizes=mu, c=c)
        exact = CellLikelihood(two_way, self.exact())
        return optimum._replace(
            log_likelihood=-float(exact.intent_values(optimum.sizes, optimum.c).sum()),
            n_iterations=iterations,
            n_evaluations=evaluations,
        )

    def covariance(self, two_way: TwoWay, optimum: Estimate, *, restricted: bool) -> Floats:
        """Return the covariance of c from the expected information, with the intents eliminated.

        The observed information is not used, since a likelihood with kinks has none.

        Parameters
        ----------
        two_way : TwoWay
            Model 1 fitted to the table, intents with one cell left out.
        optimum : Estimate
            Estimate of the likelihood, from `maximize`.
        restricted : bool
            Whether the restricted likelihood was maximized; if not, variances are corrected for degrees of freedom.

        Returns
        -------
        ndarray, shape (J, J)
            Covariance of c, nats²; only differences of its entries have a meaning.
        """
        return covariance_of(two_way, optimum, *self.exact().information(), two_way.inflation(restricted))

    def influences(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> Floats:  # noqa: ARG002
        """Return the influence of each row on c up to a constant where no row has an information, shape (I, J).

        Parameters
        ----------
        two_way : TwoWay
            Table of log surprisals.
        found : Estimate
            Estimate at which influences are taken.
        restricted : bool
            Whether the likelihood is restricted.

        Raises
        ------
        ConfigError
            If that is not known of the model, whose rows have an information.
        """
        raise ConfigError(f"influences of model {self.name!r} come from its information.")

    def rows(self, two_way: TwoWay, found: Estimate, *, restricted: bool = False) -> RowInformation:
        """Return the scores and the information of the rows at an estimate.

        Parameters
        ----------
        two_way : TwoWay
            Model 1 fitted to the table, intents with one cell left out.
        found : Estimate
            Estimate of this model from the same table.
        restricted : bool
            Whether the restricted likelihood was maximized.

        Returns
        -------
        RowInformation
            Scores in c and information of each row, with μ eliminated.

        Raises
        ------
        numpy.linalg.LinAlgError
            If the log-likelihood is not concave in some μ there.
        """
        return second_order(CellLikelihood(two_way, self.cells(), restricted), found.sizes, found.c)[0]


def check_dispersion(kappa: float | Floats) -> None:
    """Check that a dispersion is positive, or several are."""
    if not np.all(np.asarray(kappa) > 0):  # catches NaN too
        raise ValueError(f"kappa must be positive, got {kappa!r}")


def variance_of(size: Floats, kappa: float | Floats) -> Floats:
    """Return v = ln(1 + κ/n) at ln n without overflow, and never 0."""
    return np.maximum(np.logaddexp(0.0, np.log(kappa) - size), LEAST_VARIANCE)


def log_dispersion(sigma: float) -> float:
    """Return ln κ, without overflow for large σ."""
    return float(sigma**2 + np.log(-np.expm1(-(sigma**2))))


def covariance_of(table: TwoWay, optimum: Estimate, of_location: float, of_scale: float, inflation: float) -> Floats:
    """Return the covariance of c from the information of a cell on its location and its log scale."""
    v, half_p = np.logaddexp(0.0, -optimum.sizes), 0.5 * expit(-optimum.sizes)
    slope, w = 1 + half_p, 1 / v
    of_mu = table.cells_per_intent * (of_location * slope**2 * w + of_scale * (half_p * w) ** 2)
    of_mu = np.maximum(of_mu, np.finfo(float).tiny)  # an intent of which nothing is kept says nothing
    information = eliminated_information(table, of_location * w, of_location * slope * w, of_mu)
    return inflation * inverse_information(table, information)
