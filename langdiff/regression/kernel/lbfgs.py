"""Maximization of likelihoods by L-BFGS in scaled variables."""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.optimize import minimize

from langdiff.base.types import Floats
from langdiff.regression.kernel.likelihood import Gradient, Scales
from langdiff.regression.kernel.two_way import TwoWay

GRADIENT_TOLERANCE = 1e-5  # in scaled variables: every parameter within about 1e-5 of its standard error
ROUND = 40  # iterations before the scales are taken anew; well-behaved tables need fewer
CORRECTIONS = 20  # pairs kept by L-BFGS; more memory saves evaluations, which cost far more


class Likelihood(Protocol):
    """Interface of a likelihood that L-BFGS can maximize, such as `ScaleFreeLikelihood`."""

    @property
    def two_way(self) -> TwoWay:
        """Model 1 fitted to the same table."""

    def start(self) -> tuple[Floats, Floats]:
        """Return starting values of μ and c."""

    def scales(self, mu: Floats, c: Floats) -> Scales:
        """Return the scales in which the curvature is about 1."""

    def intent_values(self, mu: Floats, c: Floats) -> Floats:
        """Return minus the log-likelihood of each row, shape (I,)."""

    def value_and_gradient(self, mu: Floats, c: Floats, baseline: Floats) -> Gradient:
        """Return minus the log-likelihood, less a baseline, and its gradient."""

    def best_intents(self, mu: Floats, c: Floats) -> Floats:
        """Return the mode of each μ for a given c, shape (I,)."""


class Optimum(NamedTuple):
    """Final point of an optimizer, with its log-likelihood and convergence."""

    mu: Floats
    c: Floats
    log_likelihood: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str


def maximize_lbfgs(
    likelihood: Likelihood,
    start: tuple[Floats, Floats] | None = None,
    *,
    max_iterations: int,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Optimum:
    """Maximize the likelihood with SciPy's L-BFGS and the analytic gradient.

    Where an intent has a second, likelier mode (`ScaleFreeLikelihood.best_intents`), it is moved there
    and the search goes on.

    Parameters
    ----------
    likelihood : Likelihood
        Likelihood to maximize.
    start : pair of ndarray, shapes (I,) and (J,), optional
        μ and c; by default those with the means of model 1.
    max_iterations : int
        Largest number of iterations.
    tolerance : float
        Largest component of the scaled gradient at which it is done.

    Returns
    -------
    Optimum
        `grad_norm` is the largest component of the gradient in the scaled variables.
    """
    mu, c = likelihood.start() if start is None else start
    scale = likelihood.scales(mu, c)
    iterations = evaluations = 0
    while True:
        optimum = _climb(likelihood, mu, c, scale, min(ROUND, max_iterations - iterations), tolerance)
        iterations += optimum.n_iterations
        evaluations += optimum.n_evaluations
        mu, c = optimum.mu, optimum.c
        if optimum.converged:
            mu = likelihood.best_intents(mu, c)
        done = optimum.converged and (mu == optimum.mu).all()
        if done or iterations >= max_iterations or optimum.n_iterations == 0:
            return optimum._replace(n_iterations=iterations, n_evaluations=evaluations)
        scale = likelihood.scales(mu, c)


def _climb(
    likelihood: Likelihood, mu_0: Floats, c_0: Floats, scale: Scales, max_iterations: int, tolerance: float
) -> Optimum:
    r"""Return the mode that L-BFGS reaches from a starting point.

    The variables are x, y, k in :math:`\mu = \mu_0 + s_x x - s_k k` and :math:`c = c_0 + s_y y + s_k k`, the s
    being inverse square roots of the curvature. The direction k, which trades all intent sizes against
    all difficulties and is seen only through the variances, is already in the span of x and y; as a
    variable of its own it has a step of its own, without which the problem is ill-conditioned.
    """
    n, table = len(mu_0), likelihood.two_way
    baseline = likelihood.intent_values(mu_0, c_0)

    def at(variables: Floats) -> tuple[Floats, Floats]:
        shift = scale.k * variables[-1]
        return mu_0 + scale.mu * variables[:n] - shift, c_0 + table.spread(scale.c * variables[n:-1]) + shift

    def objective(variables: Floats) -> tuple[float, Floats]:
        value, of_mu, of_c = likelihood.value_and_gradient(*at(variables), baseline)
        of_k = scale.k * (of_c.sum() - of_mu.sum())
        return value, np.concatenate([scale.mu * of_mu, scale.c * table.gather(of_c), [of_k]])

    found = minimize(
        objective,
        np.zeros(n + len(scale.c) + 1),
        jac=True,
        method="L-BFGS-B",
        options={
            "maxiter": max_iterations,
            "maxfun": 20 * max_iterations,
            "maxcor": CORRECTIONS,
            "gtol": tolerance,
            "ftol": 0.0,  # convergence is judged on the gradient alone
        },
    )
    mu, c = at(found.x)
    if not (np.isfinite(mu).all() and np.isfinite(c).all()):  # a step left the range of numbers
        mu, c, found.fun = mu_0, c_0, np.nan
    grad_norm = float(np.abs(found.jac).max())
    return Optimum(
        mu=mu,
        c=c,
        log_likelihood=-float(found.fun) - float(baseline.sum()),
        converged=bool(grad_norm <= tolerance),  # False for NaN too
        n_iterations=int(found.nit),
        n_evaluations=int(found.nfev),
        grad_norm=grad_norm,
        message=str(found.message),
    )
