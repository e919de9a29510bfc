"""The models on plain arrays: from the exact fit of model 1 to estimates with their covariance."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.special import logsumexp, softmax

from langdiff.regression._lbfgs import maximise_lbfgs
from langdiff.regression._likelihood import ScaleFreeLikelihood, mu_at_mean, normalise
from langdiff.regression._two_way import TwoWay

Floats = npt.NDArray[np.float64]


class Estimate(NamedTuple):
    """What a model says of a table; the fields are those of `DifficultyFit`, without names."""

    method: str
    difficulty: Floats
    covariance: Floats
    log_intent_size: Floats
    dispersion: float
    log_likelihood: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str


def normalised_covariance(information: Floats, c: Floats) -> Floats:
    r"""Return the covariance of :math:`\delta_j = c_j - \ln\frac1J\sum_k e^{c_k}` by the delta method.

    Parameters
    ----------
    information : ndarray, shape (J, J)
        Information on c, positive definite.
    c : ndarray, shape (J,)
        Difficulties up to a constant.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information is not positive definite.
    """
    jacobian = np.eye(len(c)) - softmax(c)  # rows: δ_j, columns: c_k
    root = solve_triangular(cholesky(information, lower=True), jacobian.T, lower=True)
    covariance: Floats = root.T @ root
    return covariance


def estimate_model_1(two_way: TwoWay) -> Estimate:
    """Read model 1 off the exact least-squares fit."""
    d = two_way.edition_effect
    level = float(logsumexp(d) - np.log(len(d)))
    variance = two_way.sum_of_squares / two_way.degrees_of_freedom
    most_likely = two_way.sum_of_squares / two_way.cells
    # the constant direction, in which the Laplacian vanishes, is lost in normalising: any weight there will do
    information = two_way.laplacian + two_way.cells_per_edition.mean() / len(d)
    gradient = np.concatenate(
        [
            two_way.residual.sum(axis=0) / np.sqrt(two_way.cells_per_edition),
            two_way.residual.sum(axis=1) / np.sqrt(two_way.cells_per_intent),
        ]
    ) / np.sqrt(variance)
    return Estimate(
        method="exact",
        difficulty=d - level,
        covariance=variance * normalised_covariance(information, d),
        log_intent_size=two_way.intent_effect + level,
        dispersion=float(np.expm1(variance)),
        log_likelihood=-0.5 * two_way.cells * float(np.log(2 * np.pi * most_likely) + 1),
        converged=True,
        n_iterations=0,
        n_evaluations=0,
        grad_norm=float(np.abs(gradient).max()),
        message="solved exactly",
    )


def estimate_model_2(two_way: TwoWay, *, max_iterations: int) -> Estimate:
    """Maximise the likelihood of model 2, starting from model 1."""
    likelihood = ScaleFreeLikelihood(two_way)
    with np.errstate(all="ignore"):  # numbers out of range show in the gradient, which is checked
        optimum = maximise_lbfgs(likelihood, max_iterations=max_iterations)
        converged, message = optimum.converged, optimum.message
        try:
            covariance = normalised_covariance(likelihood.information(optimum.mu, optimum.c), optimum.c)
        except (LinAlgError, ValueError):  # not positive definite; not finite
            covariance = np.full_like(two_way.laplacian, np.nan)
            if converged:
                converged, message = False, "a stationary point that is no maximum"
    normalised = normalise(optimum.mu, optimum.c)
    return Estimate(
        method="lbfgs",
        difficulty=normalised.difficulty,
        covariance=covariance * (two_way.cells / two_way.degrees_of_freedom),
        log_intent_size=normalised.log_intent_size,
        dispersion=float(np.exp(normalised.log_kappa)),
        log_likelihood=optimum.log_likelihood,
        converged=converged,
        n_iterations=optimum.n_iterations,
        n_evaluations=optimum.n_evaluations,
        grad_norm=optimum.grad_norm,
        message=message,
    )


def size_of_single_cells(z: Floats, estimate: Estimate, model: str) -> Floats:
    """Return ln n of intents with one cell each, as that cell and the estimated difficulties have it.

    Such intents say nothing of difficulties, and are kept out of the likelihood. In model 2 they would
    bias it: their size explains their cell exactly, so that only −½ ln v is left, which grows with the
    intent and so pulls down the difficulty of their edition.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals of such intents; NaN in all cells of a row but one.
    estimate : Estimate
        From the other intents.
    model : str
        ``"1"`` or ``"2"``.

    Returns
    -------
    ndarray, shape (I,)
    """
    mean: Floats = np.nanmax(z - estimate.difficulty, axis=1)
    if model == "1":
        return mean
    log_kappa = float(np.log(estimate.dispersion))
    mu = mu_at_mean(mean - 0.5 * np.log1p(estimate.dispersion) - log_kappa)
    return mu + log_kappa
