"""Maximization of likelihoods, by L-BFGS in scaled variables and Newton's method near the optimum, and estimates."""

import contextlib
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal, NamedTuple, Protocol, get_args

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import minimize

from langdiff.base.types import ROUNDING_OF_SUMS, Floats, Integers, check_choice
from langdiff.errors import ConfigError, option
from langdiff.regression.kernel.cells import CellLikelihood, second_order
from langdiff.regression.kernel.likelihood import Gradient, Profile, ScaleFreeLikelihood, Scales, mu_at_mean, normalize
from langdiff.regression.kernel.two_way import TwoWay

GRADIENT_TOLERANCE = 1e-5  # in scaled variables: every parameter within about 1e-5 of its standard error
ROUND = 40  # iterations before the scales are taken anew; well-behaved tables need fewer
CORRECTIONS = 20  # pairs kept by L-BFGS; more memory saves evaluations, which cost far more
NEWTON_TOLERANCE = 1e-8  # the Newton step, in standard errors
INTENT_TOLERANCE = 1e-6  # the derivative in an intent's size, in its standard errors; rounding is far below
SLOW = 0.2  # a step that leaves more of the gradient than this asks for the Hessian where it now is
LEAST_DECREASE = 1e-4  # of what the gradient promises, for a step to be taken whole (Armijo)
SHORTEST = 2.0**-20
LEAST_GAIN = 1e-3  # of log-likelihood, for a second optimum to be preferred
SAME_MODE = 1e-3  # of ln n: two modes are several times their width apart, which with a hundred cells is .1 or less
MANY_TIMES = 20.0  # as much as a quadratic gain may be exceeded; see `_may_gain`
NEWTON_STEPS = 100  # more than it ever needs; then L-BFGS takes over
MOST_POLISHING_STEPS = 12  # from where L-BFGS stops, three or four do; kinks of derivatives may ask for more
POLISHED = 1e-11  # length of a step in standard errors
Method = Literal["auto", "newton", "lbfgs"]
USUAL_ITERATIONS = 1000


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


class Estimate(NamedTuple):
    """Estimate of a model from a table, before difficulties are normalized: the final point of an optimizer.

    `c` are the difficulties up to a constant, shape (J,), and `covariance` theirs, shape (J, J), of
    which only differences have a meaning. `sizes` are μ for models of the family of 2 and ln n + a
    constant for model 1, shape (I,).
    """

    sizes: Floats
    c: Floats
    log_likelihood: float
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    method: str = ""
    covariance: Floats | None = None
    dispersion: float | None = None  # of model 1; in the others it follows from c
    kinks: int | None = None  # cells at their kinks


def maximize_lbfgs(
    likelihood: Likelihood,
    start: tuple[Floats, Floats] | None = None,
    *,
    max_iterations: int,
    tolerance: float = GRADIENT_TOLERANCE,
) -> Estimate:
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
    Estimate
        `grad_norm` is the largest component of the gradient in the scaled variables.
    """
    mu, c = likelihood.start() if start is None else start
    scale = likelihood.scales(mu, c)
    iterations = evaluations = 0
    while True:
        optimum = _climb(likelihood, mu, c, scale, min(ROUND, max_iterations - iterations), tolerance)
        iterations += optimum.n_iterations
        evaluations += optimum.n_evaluations
        mu, c = optimum.sizes, optimum.c
        if optimum.converged:
            mu = likelihood.best_intents(mu, c)
        done = optimum.converged and (mu == optimum.sizes).all()
        if done or iterations >= max_iterations or optimum.n_iterations == 0:
            return optimum._replace(n_iterations=iterations, n_evaluations=evaluations)
        scale = likelihood.scales(mu, c)


def _climb(
    likelihood: Likelihood, mu_0: Floats, c_0: Floats, scale: Scales, max_iterations: int, tolerance: float
) -> Estimate:
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
    return Estimate(
        sizes=mu,
        c=c,
        log_likelihood=-float(found.fun) - float(baseline.sum()),
        converged=bool(grad_norm <= tolerance),  # False for NaN too
        n_iterations=int(found.nit),
        n_evaluations=int(found.nfev),
        grad_norm=grad_norm,
        message=str(found.message),
    )


class _Point(NamedTuple):
    c: Floats
    profile: Profile


def maximize_newton(
    likelihood: ScaleFreeLikelihood,
    start: tuple[Floats, Floats] | None = None,
    *,
    max_iterations: int,
    information: Floats | None = None,
) -> Estimate:
    r"""Maximize the likelihood of model 2 by Newton's method with an arrow-shaped Hessian.

    Given c the intents do not know of one another, so that each finds its mode on its own
    (`ScaleFreeLikelihood.profile`), and the Hessian in c of what is left is a Schur complement. Its
    expectation is cheaper and does as well from a start near the optimum; where steps with it do
    little, the observed one takes its place. Either is kept as long as steps with it do well.

    Parameters
    ----------
    likelihood : ScaleFreeLikelihood
        Likelihood of model 2 to maximize.
    start : pair of ndarray, shapes (I,) and (J,), optional
        μ and c; by default those with the means of model 1.
    max_iterations : int
        Largest number of iterations.
    information : ndarray, shape (J, J), optional
        Information of a likelihood alike, for the first steps.

    Returns
    -------
    Estimate
        `grad_norm` is the larger of the gradient in c in the metric of the inverse Hessian (the length of
        the Newton step, in standard errors) and what is left of that in any μ. Not converged if the
        Hessian is not positive definite on the way, or no step improves.
    """
    mu, c = likelihood.start() if start is None else start
    search = _Search(likelihood, _Point(c, likelihood.profile(mu, c)))
    if information is not None:
        with contextlib.suppress(LinAlgError):  # then the first step makes one of its own
            search.take(information)
    message = "too many iterations"
    while search.iterations < max_iterations:
        search.iterations += 1
        try:
            step = search.step()
        except (LinAlgError, ValueError):  # not positive definite; not finite
            message = "the Hessian is not positive definite"
            break
        if search.length <= NEWTON_TOLERANCE:
            moved = likelihood.best_intents(search.point.profile.mu, search.point.c)
            if (moved == search.point.profile.mu).all():
                message = "the Newton step is shorter than the tolerance"
                break
            search.restart(moved)
        elif not search.descend(step):
            message = "no step along the Newton direction improves"
            break
    return search.optimum(message)


class _Search:
    """State of a search by Newton's method: the current point and its Hessian."""

    def __init__(self, likelihood: ScaleFreeLikelihood, point: _Point) -> None:
        self.likelihood, self.table = likelihood, likelihood.two_way
        self.point = point
        self.factor: Any = None
        self.length = np.inf  # of the Newton step, in standard errors
        self.observed = False
        self.iterations, self.evaluations = 0, 1

    def step(self) -> Floats:
        """Return the Newton step in the free parameters of c, with a new Hessian if the last step gained little."""
        gradient = self.table.gather(self.point.profile.of_c)
        before = self.length
        if self.factor is not None:
            step = self._solve(gradient)
            if self.length <= max(SLOW * before, NEWTON_TOLERANCE):
                return step
            self.observed = True
        information = self.likelihood.information if self.observed else self.likelihood.expected_information
        self.take(information(self.point.profile.mu, self.point.c))
        return self._solve(gradient)

    def take(self, hessian: Floats) -> None:
        """Use a Hessian in c for the next steps."""
        self.factor = cho_factor(self.table.gather(self.table.gather(hessian).T))

    def _solve(self, gradient: Floats) -> Floats:
        step: Floats = -cho_solve(self.factor, gradient)
        self.length = float(np.sqrt(np.maximum(-(gradient @ step), 0.0)))
        return step

    def descend(self, step: Floats) -> bool:
        """Move by a backtracking line search along the step; return whether any length improves."""
        promise = float(self.table.gather(self.point.profile.of_c) @ step)
        direction = self.table.spread(step)
        share = 1.0
        while share >= SHORTEST:
            c = self.point.c + share * direction
            profile = self.likelihood.profile(self.point.profile.mu, c)
            self.evaluations += 1
            change = float(np.sum(profile.values - self.point.profile.values))
            if change <= LEAST_DECREASE * share * promise + ROUNDING_OF_SUMS:
                self.point = _Point(c, profile)
                return True
            share /= 2
        return False

    def restart(self, mu: Floats) -> None:
        """Continue from intents moved to other modes."""
        self.point = _Point(self.point.c, self.likelihood.profile(mu, self.point.c))
        self.evaluations += 1
        self.factor, self.length, self.observed = None, np.inf, True

    def optimum(self, message: str) -> Estimate:
        mu, values, _, excess = self.point.profile
        return Estimate(
            sizes=mu,
            c=self.point.c,
            log_likelihood=-float(values.sum()),
            converged=self.length <= NEWTON_TOLERANCE and excess <= INTENT_TOLERANCE,
            n_iterations=self.iterations,
            n_evaluations=self.evaluations,
            grad_norm=max(self.length, excess),
            message=message,
        )


def maximize_model_2(
    likelihood: ScaleFreeLikelihood, method: str, max_iterations: int, start: tuple[Floats, Floats] | None
) -> tuple[Estimate, str]:
    """Fit model 2 and return the best optimum with the name of the method that found it.

    If some intents vary far more than the model allows, the search starts a second time with these at their far modes.
    """
    found = _search(likelihood, method, max_iterations, start)
    optimum = found[0]
    moved = likelihood.without_wild_intents(optimum.sizes, optimum.c) if optimum.converged else None
    if moved is None or not _may_gain(likelihood, optimum, moved):
        return found
    other = _search(likelihood, method, max_iterations, (moved, optimum.c))
    better = other[0].converged and other[0].log_likelihood > optimum.log_likelihood + LEAST_GAIN
    return other if better else found


def _may_gain(likelihood: ScaleFreeLikelihood, optimum: Estimate, moved: Floats) -> bool:
    """Return whether the likelihood may have a higher maximum with some intents at another mode.

    At the c of the optimum each intent i costs Δ_i more there, and changes the gradient in c by g_i, of length
    h_i in standard errors. If those of a set S move together, c gains about ½|Σ g_i|² ≤ ½ Σ h_i Σ_S h_i, which is less
    than Σ_S Δ_i for every set if Δ_i > ½ h_i Σ h for each. As the gain is not exactly quadratic, many times that is
    asked for.
    """
    table = likelihood.two_way
    rows = np.flatnonzero(moved != optimum.sizes)
    part, near = likelihood.of_rows(rows), optimum.sizes[rows]
    profile = part.profile(moved[rows], optimum.c)
    other = np.abs(profile.mu - near) > SAME_MODE  # the others have one mode
    loss = (profile.values - part.intent_values(near, optimum.c))[other]
    change = table.gather((part.scores(profile.mu, optimum.c) - part.scores(near, optimum.c))[other].T)
    try:
        information = likelihood.expected_information(optimum.sizes, optimum.c)
        factor = cho_factor(table.gather(table.gather(information).T))
    except (LinAlgError, ValueError):  # not positive definite; not finite
        return True
    length = np.sqrt(np.maximum(np.einsum("ki,ki->i", change, cho_solve(factor, change)), 0.0))
    return not bool((loss > MANY_TIMES * 0.5 * length * length.sum()).all())


def _search(
    likelihood: ScaleFreeLikelihood, method: str, max_iterations: int, start: tuple[Floats, Floats] | None
) -> tuple[Estimate, str]:
    """Return an optimum and the name of its method: L-BFGS is used if Newton's method fails."""
    if method != "lbfgs":
        optimum = maximize_newton(likelihood, start, max_iterations=min(NEWTON_STEPS, max_iterations))
        if optimum.converged or optimum.n_iterations == max_iterations:
            return optimum, "newton"
        method = "newton, then lbfgs"
    return maximize_lbfgs(likelihood, start, max_iterations=max_iterations), method


def polish(likelihood: CellLikelihood, mu: Floats, c: Floats) -> tuple[Floats, Floats]:
    """Return μ and c refined to the optimum by Newton's method, or the best point reached.

    L-BFGS stops where every parameter is within a small part of its standard error; where exactly depends on the order
    of the rows. Scores and information, and with them standard errors, would depend on it too.

    The Hessian is diagonal in μ, so that a step needs one J × J system. A point is taken only if its
    gradient, in standard errors, is less than that of the last; where the likelihood is not concave,
    the search ends.

    Parameters
    ----------
    likelihood : CellLikelihood
        Likelihood with second derivatives.
    mu, c : ndarray, shapes (I,) and (J,)
        A point near the optimum.
    """
    table, best, least = likelihood.two_way, (mu, c), np.inf
    for _ in range(MOST_POLISHING_STEPS):
        try:
            information, root = second_order(likelihood, mu, c)
            rows = information.of(slice(None))
            factor = cho_factor(table.gather(table.gather(information.total).T))
        except (LinAlgError, ValueError):  # not concave; not finite
            break
        slope = likelihood.value_and_gradient(mu, c, np.zeros(len(mu))).mu
        of_c = table.gather(rows.mixed.T @ (slope / root) - rows.score.sum(axis=0))
        step = cho_solve(factor, of_c)
        length = max(float(np.sqrt(np.maximum(of_c @ step, 0.0))), float(np.abs(slope / root).max()))
        if not length < least:
            break
        best, least = (mu, c), length
        if length < POLISHED:
            break
        step = table.spread(step)
        mu, c = mu - (slope / root + rows.mixed @ step) / root, c - step
    return best


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
        check_choice("method", self.method, get_args(Method))
        most: object = self.max_iterations
        if not isinstance(most, Integral) or most < 1:
            raise ConfigError(f"{option('max_iterations')} must be at least 1, got {most!r}.")
        object.__setattr__(self, "max_iterations", int(most))


USUAL_OPTIMIZER = Optimizer()


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
