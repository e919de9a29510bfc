"""The models on plain arrays: from the exact fit of model 1 to estimates with their covariance."""

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.information import inverse_information
from langdiff.regression.kernel.lbfgs import Optimum, maximize_lbfgs
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood, mu_at_mean, normalize
from langdiff.regression.kernel.newton import maximize_newton
from langdiff.regression.kernel.robust import ROUNDING, is_degenerate, maximize_robust, robust_covariance
from langdiff.regression.kernel.squares import Squares
from langdiff.regression.kernel.two_way import TwoWay

LEAST_GAIN = 1e-3  # of log-likelihood, for a second optimum to be preferred
NEWTON_STEPS = 100  # more than it ever needs; then L-BFGS takes over


class Settings(NamedTuple):
    """What is to be fitted, and how; see `langdiff.fit`.

    `rounding` is the width to which the kink of model 2L is rounded off, in standard deviations of the
    residuals; 0 fits the kink itself.
    """

    model: str
    method: str
    restricted: bool
    laplace_scale: float | None
    max_iterations: int
    rounding: float = ROUNDING


class Estimate(NamedTuple):
    """What a model says of a table, before difficulties are normalized.

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


def estimate(
    two_way: TwoWay, settings: Settings, *, start: tuple[Floats, Floats] | None = None, with_covariance: bool = True
) -> Estimate:
    """Fit the model of the settings.

    Parameters
    ----------
    two_way : TwoWay
        Model 1 fitted to the table, intents with one cell left out.
    settings : Settings
        The model to fit, and how.
    start : pair of ndarray, shapes (I,) and (J,), optional
        `sizes` and `c` of an estimate of a like table.
    with_covariance : bool
        Without it `Estimate.covariance` is None, and 2L is fitted as exactly as a bootstrap needs.
    """
    if settings.model == "1":
        exact = _estimate_model_1(two_way)
        return exact if settings.method != "lbfgs" else _estimate_model_1_by_lbfgs(two_way, exact, settings)
    with np.errstate(all="ignore"):  # numbers out of range show in the gradient, which is checked
        if settings.model == "2":
            return _estimate_model_2(two_way, settings, start, with_covariance)
        return _estimate_robust(two_way, settings, start, with_covariance)


def _estimate_model_1(two_way: TwoWay) -> Estimate:
    """Read model 1 off the exact least-squares fit."""
    d = two_way.edition_effect
    variance = two_way.sum_of_squares / two_way.degrees_of_freedom
    most_likely = two_way.sum_of_squares / two_way.cells
    # the constant direction, in which the Laplacian vanishes, is lost in normalizing: any weight there will do
    information = two_way.laplacian + two_way.cells_per_edition.mean() / len(d)
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
        covariance=variance * inverse_information(two_way, information),
        dispersion=float(np.expm1(variance)) if variance < np.log(np.finfo(float).max) else np.inf,
        log_likelihood=-0.5 * two_way.cells * float(np.log(2 * np.pi * most_likely) + 1),
        converged=True,
        n_iterations=0,
        n_evaluations=0,
        grad_norm=float(np.abs(gradient).max()),
        message="solved exactly",
    )


def _estimate_model_1_by_lbfgs(two_way: TwoWay, exact: Estimate, settings: Settings) -> Estimate:
    """Minimize the squares by L-BFGS from zero, as an independent check of the exact solution.

    Squares do not depend on the variance, which therefore is that of the residuals, as in the exact fit.
    """
    unit = float(np.sqrt(two_way.sum_of_squares / two_way.degrees_of_freedom))
    optimum = maximize_lbfgs(Squares(two_way, unit), max_iterations=settings.max_iterations)
    level = float(optimum.c.mean())
    return exact._replace(
        method="lbfgs",
        c=optimum.c - level,
        sizes=optimum.mu + level,
        converged=optimum.converged,
        n_iterations=optimum.n_iterations,
        n_evaluations=optimum.n_evaluations,
        grad_norm=optimum.grad_norm,
        message=optimum.message,
    )


def _estimate_model_2(
    two_way: TwoWay, settings: Settings, start: tuple[Floats, Floats] | None, with_covariance: bool
) -> Estimate:
    likelihood = ScaleFreeLikelihood(two_way, settings.restricted)
    optimum, method = maximize_model_2(likelihood, settings.method, settings.max_iterations, start)
    converged, message = optimum.converged, optimum.message
    covariance = None
    if with_covariance:
        # the restricted likelihood has made up for the intents' share of the variation already
        inflation = 1.0 if settings.restricted else two_way.cells / two_way.degrees_of_freedom
        try:
            covariance = inflation * inverse_information(two_way, likelihood.information(optimum.mu, optimum.c))
        except (LinAlgError, ValueError):  # not positive definite; not finite
            covariance = np.full_like(two_way.laplacian, np.nan)
            if converged:
                converged, message = False, "a stationary point that is not a maximum"
    plain = ScaleFreeLikelihood(two_way)
    return _of_optimum(
        optimum._replace(
            converged=converged,
            message=message,
            log_likelihood=-float(plain.intent_values(optimum.mu, optimum.c).sum()),
        ),
        method,
        covariance,
    )


def maximize_model_2(
    likelihood: ScaleFreeLikelihood, method: str, max_iterations: int, start: tuple[Floats, Floats] | None
) -> tuple[Optimum, str]:
    """Return the best optimum that was found and the method that found it.

    If some intents vary much too much, the search starts a second time with these at their far modes.
    """
    found = _search(likelihood, method, max_iterations, start)
    optimum = found[0]
    moved = likelihood.without_wild_intents(optimum.mu, optimum.c) if optimum.converged else None
    if moved is None:
        return found
    other = _search(likelihood, method, max_iterations, (moved, optimum.c))
    better = other[0].converged and other[0].log_likelihood > optimum.log_likelihood + LEAST_GAIN
    return other if better else found


def _search(
    likelihood: ScaleFreeLikelihood, method: str, max_iterations: int, start: tuple[Floats, Floats] | None
) -> tuple[Optimum, str]:
    """Return an optimum and the method that found it: L-BFGS takes over where Newton's fails."""
    if method != "lbfgs":
        optimum = maximize_newton(likelihood, start, max_iterations=min(NEWTON_STEPS, max_iterations))
        if optimum.converged or optimum.n_iterations == max_iterations:
            return optimum, "newton"
        method = "newton, then lbfgs"
    return maximize_lbfgs(likelihood, start, max_iterations=max_iterations), method


def _estimate_robust(
    two_way: TwoWay, settings: Settings, start: tuple[Floats, Floats] | None, with_covariance: bool
) -> Estimate:
    model, b, restricted = settings.model, settings.laplace_scale, settings.restricted
    if start is None:
        near, _ = maximize_model_2(ScaleFreeLikelihood(two_way, restricted), "newton", settings.max_iterations, None)
        start = near.mu, near.c
    optimum = maximize_robust(
        two_way,
        model,
        b,
        restricted,
        start,
        rough=not with_covariance,
        max_iterations=settings.max_iterations,
        rounding=settings.rounding,
    )
    if b is not None and (not np.isfinite(optimum.log_likelihood) or is_degenerate(two_way, b, optimum)):
        message = (
            f"no maximum with noise in few cells was found: laplace_scale={b:g} is too large beside the "
            "standard deviation of log bits, and the density grows without bound as the dispersion vanishes"
        )
        optimum = optimum._replace(converged=False, message=message)
    covariance = None
    if with_covariance:
        try:
            covariance = robust_covariance(two_way, model, b, restricted, optimum)
        except (LinAlgError, ValueError):
            covariance = np.full_like(two_way.laplacian, np.nan)
    if covariance is not None and not np.isfinite(covariance).all():
        optimum = optimum._replace(converged=False)
    return _of_optimum(optimum, "lbfgs", covariance)


def _of_optimum(optimum: Optimum, method: str, covariance: Floats | None) -> Estimate:
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
    """An estimate in the parameters of the published models, factors averaging 1 over the units."""

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
    """Return `sizes` of intents with one cell each, as that cell and the estimated difficulties have it.

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
