"""Maximum likelihood of the models of outcomes: Newton's method, with variances at zero as results."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logit

from langdiff.base.types import ROUNDING_OF_LIKELIHOODS, TOLERANCE_OF_ROWS, Floats
from langdiff.errors import warn
from langdiff.regression.outcomes.evaluation import Point, Value, evaluate, totals_suffice
from langdiff.regression.outcomes.integrals import Rows, collapse
from langdiff.regression.outcomes.likelihoods import Structure

FIRST, NODES, LAST = 7, 15, 30  # nodes of the quadrature: on the way, near the end, and at the end
MOST = 200  # nodes of a search that these do not end
STEEPEST = 20.0  # spread of difficulties of a system, log odds, up to which it is searched with so many
SHORT = 1e-3  # squared length of a Newton step, in standard errors, from which on more nodes are taken
CONVERGED = 1e-6  # the same at which a search that no step improves counts as ended
LONGEST = 4.0  # change of a parameter in one step, log odds
FLAT = 1e-10  # of the largest eigenvalue of the Hessian: smaller ones are raised to this
LEAST_GAIN = 1e-4  # of what the gradient promises, for a step to be taken whole
HALVINGS, EARLY_HALVINGS = 30, 4
MAX_ITERATIONS = 100
START_TRANSLATION = 0.5  # τ, log odds, from which it is searched
LARGEST_SPREAD = 10.0  # log odds; beyond, items are as good as right or wrong for all
ZERO_SPREAD = 1e-4  # a standard deviation, log odds, that is none


@dataclass(frozen=True, kw_only=True, eq=False)
class Optimum:
    """Final point of a search.

    Attributes
    ----------
    point : Point
        Estimates.
    value : Value
        Log-likelihood, gradient and Hessian there.
    free : ndarray, shape (P, F)
        Directions in which the parameters are free.
    converged : bool
        Whether the Newton step is short enough, and the Hessian negative definite.
    n_iterations : int
        Number of Newton steps.
    step : float
        Length of the last Newton step, in standard errors.
    """

    point: Point
    value: Value
    free: Floats
    converged: bool
    n_iterations: int
    step: float

    @property
    def covariance(self) -> Floats:
        """Inverse information of all parameters, shape (P, P): 0 where they are fixed, NaN if it is not positive."""
        information = -self.free.T @ self.value.hessian @ self.free
        if not (np.linalg.eigvalsh(information) > 0).all():  # where the search ended on the way to infinity
            return np.full((len(self.free), len(self.free)), np.nan)
        inverse = np.linalg.inv(information)
        found: Floats = self.free @ ((inverse + inverse.T) / 2) @ self.free.T
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """A fit, with the log-likelihoods of the model without variation between items and without its parameter.

    Attributes
    ----------
    optimum : Optimum
        The fit; σ is 0, and d at its bound, exactly where the likelihood is largest there.
    without_spread : float
        Log-likelihood at σ = 0; NaN of the conditional model.
    without_parameter : float
        Log-likelihood with d at its lower bound; NaN of likelihoods without a parameter.
    without_translation : float
        Log-likelihood at τ = 0; NaN where τ is not estimated.
    """

    optimum: Optimum
    without_spread: float = np.nan
    without_parameter: float = np.nan
    without_translation: float = np.nan


def centring(count: int) -> Floats:
    """Return an orthonormal basis of vectors of mean 0, shape (count, count − 1)."""
    basis: Floats = np.linalg.qr(np.column_stack([np.ones(count), np.eye(count)[:, 1:]]))[0]
    return basis[:, 1:]


def free_directions(point: Point, structure: Structure, *, spread: bool, translation: bool = False) -> Floats:
    """Return the directions in which parameters are free, shape (P, F); d is free where the point has one."""
    blocks, systems = point.level.shape
    levels, slopes = blocks * systems, len(point.slope)
    size = len(point.to_vector())
    if structure.conditional:
        free = np.zeros((size, blocks * (systems - 1)))
        free[:levels] = np.kron(np.eye(blocks), centring(systems))
        return free
    of_tau = levels + slopes
    plain = [*range(levels, of_tau), *([of_tau] if translation else []), *([of_tau + 1] if spread else [])]
    of_levels = np.eye(size)[:, :levels]
    if structure.additive:
        of_levels = of_levels @ additive_levels(structure)
    columns = [of_levels, np.eye(size)[:, plain]]
    if spread and structure.loadings == "free":
        of_loadings = np.zeros((size, systems - 1))
        of_loadings[of_tau + 2 : size - 1] = centring(systems)
        columns.append(of_loadings)
    if point.d is not None:
        columns.append(np.eye(size)[:, -1:])
    return np.column_stack(columns)


def additive_levels(structure: Structure) -> Floats:
    """Return a basis of levels that are sums of effects of languages and systems, shape (J, F)."""
    language, system = np.array(structure.languages), np.array(structure.additive)
    basis: Floats = np.column_stack(
        [language[:, None] == np.unique(language), system[:, None] == np.unique(system)[1:]]
    ).astype(float)
    return basis


def maximize(
    rows: Rows, start: Point, structure: Structure, free: Floats, *, nodes: tuple[int, ...] = (FIRST, NODES, LAST)
) -> Optimum:
    """Maximize the likelihood in some directions from a start.

    Newton's method; eigenvalues of the Hessian are taken by their absolute values, steps are halved until they
    improve, and a parameter of the likelihood that would leave its bounds stays there as long as the likelihood falls.
    """
    stages, last = list(nodes), TOLERANCE_OF_ROWS * len(rows.s)
    bounds = _bounds(structure)

    def at(point: Point) -> Value:
        return evaluate(rows, point, structure, nodes=stages[0], coarse=len(stages) > 1)

    point, value = start, at(start)
    for iteration in range(MAX_ITERATIONS + 1):
        moving = _moving(point, value, free, bounds)
        gradient = moving.T @ value.gradient
        eigenvalues, vectors = np.linalg.eigh(-moving.T @ value.hessian @ moving)
        raised = np.maximum(np.abs(eigenvalues), FLAT * np.abs(eigenvalues).max(initial=1e-300))
        step = vectors @ ((vectors.T @ gradient) / raised)
        promise = float(gradient @ step)
        definite = bool((eigenvalues > 0).all())
        if iteration == MAX_ITERATIONS:
            break
        if definite and promise < (SHORT if len(stages) > 1 else last):  # such a step needs no check
            point = _moved(point, moving @ step, bounds)
            if len(stages) == 1:
                value = replace(value, log_likelihood=value.log_likelihood + promise / 2)
                break
            stages.pop(0)
            value = at(point)
            continue
        whole = moving @ (step * min(1.0, LONGEST / np.abs(step).max()))
        halvings = HALVINGS if len(stages) == 1 else EARLY_HALVINGS
        moved = improved(partial(_moved, point, whole, bounds), at, value, promise, halvings)
        if moved is None and len(stages) > 1:  # with few nodes, values may not agree with gradients
            stages.pop(0)
            value = at(point)
            continue
        if moved is None:
            break
        point, value = moved
        if max(point.spread, point.translation) > 2 * LARGEST_SPREAD:  # each step takes longer than the one before
            break
    return Optimum(
        point=point,
        value=value,
        free=moving,
        converged=definite and promise < CONVERGED,
        n_iterations=iteration,
        step=float(np.sqrt(max(promise, 0.0))),
    )


def _bounds(structure: Structure) -> tuple[float, float]:
    """Return the bounds of the last parameter, that of the likelihood."""
    for parameter in structure.likelihood.parameters:
        return parameter.low, parameter.high
    return 0.0, np.inf


def _moving(point: Point, value: Value, free: Floats, bounds: tuple[float, float]) -> Floats:
    """Return the free directions without a parameter of the likelihood that is to stay at a bound."""
    slope = value.gradient[-1]
    stays = (point.d == bounds[0] and slope <= 0) or (point.d == bounds[1] and slope >= 0)
    return free[:, free[-1] == 0] if stays else free


def _moved(point: Point, step: Floats, bounds: tuple[float, float], share: float = 1.0) -> Point:
    vector = point.to_vector() + share * step
    vector[-1] = min(max(vector[-1], bounds[0]), bounds[1])
    return point.from_vector(vector)


def improved(
    move: Callable[[float], Any], at: Callable[[Any], Any], value: Any, promise: float, halvings: int
) -> tuple[Any, Any] | None:
    """Return the first point along a step, halved, that improves; None if there is none."""
    share = 1.0
    for _ in range(halvings):
        moved = move(share)
        found = at(moved)
        gain = found.log_likelihood - value.log_likelihood
        if gain >= LEAST_GAIN * share * min(promise, 1.0) - ROUNDING_OF_LIKELIHOODS * abs(value.log_likelihood):
            return moved, found
        share /= 2
    return None


def estimate(rows: Rows, structure: Structure, *, start: Point | None = None) -> Estimate:
    """Maximize the likelihood of a model."""
    if structure.conditional:
        return _estimate_conditional(rows, structure, start)
    if start is not None:
        free = free_directions(start, structure, spread=start.spread > 0, translation=start.translation > 0)
        merged = collapse(rows) if totals_suffice(rows, start, structure) else rows
        return Estimate(optimum=maximize(merged, start, structure, free, nodes=(NODES,)))
    equal = structure._replace(loadings="equal")
    first, without_parameter = starting_point(rows, structure), np.nan
    for parameter in structure.likelihood.parameters:
        plain = equal._replace(likelihood=structure.likelihood.without())
        without_parameter = estimate(rows, plain).optimum.value.log_likelihood
        simple = collapse(rows) if totals_suffice(rows, first, plain) else rows
        first = _without_spread(simple, first, plain).point
        first = replace(first, d=parameter.start)
    merged = collapse(rows) if totals_suffice(rows, first, equal) else rows
    null = _without_spread(merged, first, equal)
    zero = {"without_spread": null.value.log_likelihood, "without_parameter": without_parameter}
    full = replace(null.point, spread=1.0)
    found = maximize(merged, full, equal, free_directions(full, equal, spread=True))
    vanished = found.point.spread < ZERO_SPREAD or found.value.log_likelihood < null.value.log_likelihood
    found = null if vanished else found
    if structure.translated:
        zero["without_translation"] = found.value.log_likelihood
        found = _with_translations(rows, found, structure)
    if found.point.spread == 0:
        return Estimate(optimum=found, **zero)
    if structure.loadings == "free":
        found = maximize(rows, found.point, structure, free_directions(found.point, structure, spread=True))
        steepest = found.point.spread * float(np.exp(found.point.log_loading.max()))
        if not found.converged and steepest < STEEPEST:  # with few nodes, its likelihood and gradient do not agree
            free = free_directions(found.point, structure, spread=True)
            found = maximize(rows, found.point, structure, free, nodes=(MOST,))
    return Estimate(optimum=found, **zero)


def _with_translations(rows: Rows, without: Optimum, structure: Structure) -> Optimum:
    """Return the fit with a spread of translations, or the one without if there is none."""
    start = replace(without.point, spread=max(without.point.spread, START_TRANSLATION), translation=START_TRANSLATION)
    free = free_directions(start, structure, spread=True, translation=True)
    found = maximize(rows, start, structure, free, nodes=(NODES, LAST))
    if found.point.spread < ZERO_SPREAD:
        start = replace(found.point, spread=0.0)
        free = free_directions(start, structure, spread=False, translation=True)
        found = maximize(rows, start, structure, free, nodes=(LAST,))
    if max(found.point.spread, found.point.translation) > LARGEST_SPREAD:
        warn(
            "variation between translations of an item grows without bound in the fit, and is left out: too few items "
            "or systems tell of it."
        )
        return without
    some = found.point.translation >= ZERO_SPREAD and found.value.log_likelihood > without.value.log_likelihood
    return found if some else without


def _without_spread(rows: Rows, start: Point, structure: Structure) -> Optimum:
    return maximize(rows, start, structure, free_directions(start, structure, spread=False), nodes=(3,))


def _estimate_conditional(rows: Rows, structure: Structure, start: Point | None) -> Estimate:
    """Maximize the likelihood given the totals of rows; rows of only successes or failures are uninformative."""
    total, trials = rows.s.sum(axis=1), rows.t.sum(axis=1)
    mixed = collapse(replace(rows, x=rows.x[:, :0]).take((total > 0) & (total < trials)))
    if start is None:
        start = starting_point(rows, structure)
        start = replace(start, slope=np.zeros(0), level=start.level - start.level.mean(axis=1, keepdims=True))
    free = free_directions(start, structure, spread=False)
    return Estimate(optimum=maximize(mixed, start, structure, free, nodes=(NODES,)))


def starting_point(rows: Rows, structure: Structure) -> Point:
    """Return the log odds of each system's successes, each block's by itself, and no variation between items."""
    blocks, systems = int(rows.block.max(initial=0)) + 1, rows.s.shape[1]
    s, t = (
        np.stack([rows.weight[rows.block == b] @ counts[rows.block == b] for b in range(blocks)])
        for counts in (rows.s, rows.t)
    )
    share = (s + 0.5) / (t + 1)
    if rows.constant is not None and structure.likelihood.constant is None:
        chance = rows.constant.mean(axis=0)
        share = np.clip((share - chance) / (1 - chance), 0.5 / (t + 1), 1 - 0.5 / (t + 1))
    level = logit(share)
    if structure.additive:
        basis = additive_levels(structure)
        level = level @ basis @ np.linalg.pinv(basis)
    return Point(
        level=level,
        slope=np.zeros(rows.x.shape[1]),
        spread=0.0,
        log_loading=np.zeros(systems),
    )
