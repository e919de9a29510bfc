"""Estimates on plain arrays: options of the search, the estimate, and the parameters of the published models."""

from dataclasses import dataclass
from numbers import Integral
from typing import Literal, NamedTuple, get_args

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, listing, option
from langdiff.regression.kernel.likelihood import mu_at_mean, normalize
from langdiff.regression.kernel.optimizers import Optimum

Method = Literal["auto", "newton", "lbfgs"]
USUAL_ITERATIONS = 1000


@dataclass(frozen=True)
class Optimizer:
    """Options of the numerical search for the estimates of `langdiff.fit`.

    Parameters
    ----------
    method : {"auto", "newton", "lbfgs"}
        Optimizer of models 1 and 2: ``"auto"`` solves model 1 exactly and model 2 by Newton's method, with L-BFGS
        if that fails. Model 2L is fitted at its kinks; ``"lbfgs"`` is the published route there, which stops short.
        The other models are fitted by L-BFGS.
    max_iterations : int
        Number of iterations after which the optimizer stops, with a warning.

    Raises
    ------
    ConfigError
        If the method is unknown or the number is less than 1.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=1).surprisals
    >>> ld.fit(surprisals, optimizer=Optimizer("lbfgs")).method
    'lbfgs'
    """

    method: Method = "auto"
    max_iterations: int = USUAL_ITERATIONS

    def __post_init__(self) -> None:
        if self.method not in get_args(Method):
            raise ConfigError(f"unknown method {self.method!r}; use one of {listing(get_args(Method))}.")
        most: object = self.max_iterations
        if not isinstance(most, Integral) or most < 1:
            raise ConfigError(f"{option('max_iterations')} must be at least 1, got {most!r}.")
        object.__setattr__(self, "max_iterations", int(most))


USUAL_OPTIMIZER = Optimizer()


class Estimate(NamedTuple):
    """Estimate of a model from a table, before difficulties are normalized.

    `c` are the difficulties up to a constant, shape (J,), and `covariance` theirs, shape (J, J), of
    which only differences have a meaning. `sizes` are μ for models of the family of 2 and ln n + a
    constant for model 1, shape (I,).
    """

    method: str
    c: Floats
    sizes: Floats
    covariance: Floats | None
    dispersion: float | None  # of model 1; in the others it follows from c
    log_likelihood: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    kinks: int | None = None  # cells at their kinks


def estimate_of(optimum: Optimum, method: str, covariance: Floats | None) -> Estimate:
    """Return an optimum as an estimate."""
    return Estimate(
        method=method,
        c=optimum.c,
        sizes=optimum.mu,
        covariance=covariance,
        dispersion=None,
        log_likelihood=optimum.log_likelihood,
        converged=optimum.converged,
        n_iterations=optimum.n_iterations,
        n_evaluations=optimum.n_evaluations,
        grad_norm=optimum.grad_norm,
        message=optimum.message,
    )


class Parameters(NamedTuple):
    """An estimate in the parameters of the published models, whose factors average 1 over the units."""

    difficulty: Floats  # of the units
    log_intent_size: Floats
    dispersion: float


def published_parameters(estimate: Estimate, first: Integers) -> Parameters:
    """Return normalized difficulties, intent sizes and dispersion.

    Parameters
    ----------
    estimate : Estimate
        An estimate under any of the models.
    first : ndarray of int, shape (U,)
        An edition of each unit; the factors of the units average 1.
    """
    c = estimate.c[first]
    if estimate.dispersion is not None:
        level = float(np.log(np.mean(np.exp(c - c.max())))) + c.max()
        return Parameters(c - level, estimate.sizes + level, estimate.dispersion)
    normalized = normalize(estimate.sizes, c)
    log_kappa = normalized.log_kappa
    dispersion = float(np.exp(log_kappa)) if log_kappa < np.log(np.finfo(float).max) else np.inf
    return Parameters(normalized.difficulty, normalized.log_intent_size, dispersion)


def size_of_single_cells(z: Floats, c: Floats, estimate: Estimate) -> Floats:
    """Return the sizes of intents with one cell each that fit this cell exactly.

    Such intents say nothing of difficulties, and are kept out of the likelihood. In model 2 they would
    bias it: their size explains their cell exactly, so that only −½ ln v is left, which grows with the
    intent and so pulls down the difficulty of their edition.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals of such intents; NaN in all cells of a row but one.
    c : ndarray, shape (J,)
        Difficulties up to a constant.
    estimate : Estimate
        Estimate from the other intents.
    """
    mean: Floats = np.nanmax(z - c, axis=1)
    return mean if estimate.dispersion is not None else mu_at_mean(mean)
