"""Estimates of heteroscedastic models: levels and dispersions with their joint covariance."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.special import softmax

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.kernel.connected import edition_components
from langdiff.regression.kernel.integrated.unequal_rows import (
    Found,
    LinearLikelihood,
    Problem,
    RowLikelihood,
    SizeLikelihood,
    maximize_rows,
)
from langdiff.regression.kernel.two_way import solve_two_way

Intents = Literal["flat", "normal"]

BOUNDARY = 1e-4  # of the mean dispersion; below it lies the boundary
SINGULAR = 1e-12  # of the largest eigenvalue of an information; below it lies rounding
FLOOR = 1e-6  # of the mean dispersion at the start; no dispersion goes below


class UnequalEstimate(NamedTuple):
    r"""Estimate of model 1 or 2 with one dispersion per group of editions.

    Parameters are J levels, then the logarithms of G dispersions. `scores` and `information` are in free
    parameters: levels (K combinations of a design, otherwise J), G log-dispersions and, with a normal prior
    of sizes, its mean and the logarithm of its standard deviation; P in all. They have no component in the
    direction in which the likelihood does not change (see the conventions below) nor in that of parameters held
    at their floor, so that a covariance of the free parameters is to be made with a pseudo-inverse
    (`pseudo_inverse`); `jacobian` takes it to that of the parameters.

    Attributes
    ----------
    model : str
        Model that was fitted, ``"1"`` or ``"2"``.
    group : ndarray of int, shape (J,)
        Group of each edition.
    c : ndarray, shape (J,)
        Levels, nats. Model 1: logarithm of the median bits; model 2: of the expected bits, D. By convention
        :math:`\sum_j e^{c_j} = J`.
    log_variance : ndarray, shape (G,)
        Model 1: ln s²; model 2: ln κ, κ being that at sizes in expected bits of an edition of factor 1.
    covariance : ndarray, shape (J + G, J + G)
        Joint covariance of `c` and `log_variance` by observed information. Rows of dispersions at the
        floor are 0: the others are as if these were known.
    scores : ndarray, shape (I, P)
        Derivatives of the log-likelihood of each row.
    information : ndarray, shape (P, P)
        Observed information.
    information_by_cluster : ndarray, shape (clusters, P, P), or None
        Its parts by cluster, which sum to it; None without clusters. A part need not be positive semidefinite.
    jacobian : ndarray, shape (J + G, P)
        Derivatives of `c` and `log_variance`, which obey the conventions, in the free parameters; 0 for a
        dispersion at the floor.
    sizes : ndarray, shape (I,)
        Posterior means of ln n.
    mean, tau : float
        Mean and standard deviation of the prior of ln n; NaN for a flat one.
    log_likelihood : float
        Logarithm of the density of z, sizes integrated out.
    converged : bool
        Whether the search met its criterion, and the covariance exists.
    n_iterations : int
        Number of steps of the search.
    message : str
        Why the search stopped.
    boundary : ndarray of bool, shape (G,)
        Whether a dispersion is below 1e-4 of their mean: at the boundary, so that its logarithm has no
        normal distribution.
    """

    model: str
    group: Integers
    c: Floats
    log_variance: Floats
    covariance: Floats
    scores: Floats
    information: Floats
    information_by_cluster: Floats | None
    jacobian: Floats
    sizes: Floats
    mean: float
    tau: float
    log_likelihood: float
    converged: bool
    n_iterations: int
    message: str
    boundary: Booleans


def estimate_unequal(
    z: Floats,
    *,
    model: Literal["1", "2"],
    group: Integers,
    intents: Intents = "flat",
    design: Floats | None = None,
    clusters: Integers | None = None,
    nodes: int = 15,
    max_iterations: int = 100,
) -> UnequalEstimate:
    r"""Fit model 1 or 2 with one dispersion per group of editions.

    With fixed sizes the likelihood is unbounded, as that of an edition whose every cell equals the
    size of its intent. Here sizes are integrated out, over a flat or a normal prior.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing. With a flat prior every row needs two cells or more.
    model : {"1", "2"}
        Regression model; see `langdiff.regression.kernel.integrated.unequal_rows` and `sizes` beside it.
    group : ndarray of int, shape (J,)
        Dispersion group of each edition, numbered from 0 without gaps.
    intents : {"flat", "normal"}
        Prior distribution of the sizes ln n. The normal one is estimated.
    design : ndarray, shape (J, K), optional
        Full rank, the constant in its span: levels are its combinations. None: each level is free.
    clusters : ndarray of int, shape (I,), optional
        Cluster of each row, numbered from 0 without gaps, for `UnequalEstimate.information_by_cluster`.
    nodes : int
        Number of nodes of the quadrature of model 2.
    max_iterations : int
        Largest number of steps of the search.

    Returns
    -------
    UnequalEstimate

    Raises
    ------
    ConfigError
        If a setting is not one of those offered, or `group` or `clusters` is not numbered from 0 without gaps.
    DataError
        If the table does not identify the dispersions, has a row with too few cells, or is not connected.

    References
    ----------
    Grubbs (1948), "On estimating precision of measuring instruments and product variability".

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> z = rng.normal(4.0, 0.6, (1000, 1)) + rng.normal(0, [0.1, 0.2, 0.4], (1000, 3))
    >>> found = estimate_unequal(z, model="1", group=np.arange(3))
    >>> np.exp(found.log_variance / 2).round(1)
    array([0.1, 0.2, 0.4])
    """
    check_table(z, model, group, intents, clusters, nodes, max_iterations)
    normal = intents == "normal"
    start = start_of_model_1(z, group, normal, design)
    likelihood: RowLikelihood = LinearLikelihood(z, normal=normal)
    problem = _problem(likelihood, "1", group, normal, design, start)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is out of range is refused by the search
        found = maximize_rows(problem, start, max_iterations=max_iterations)
        if model == "2":
            start = start_of_model_2(problem, found, group)
            likelihood = SizeLikelihood(z, normal=normal, nodes=nodes)
            problem = _problem(likelihood, "2", group, normal, design, start)
            found = maximize_rows(problem, start, max_iterations=max_iterations)
    return _describe(problem, found, model, group, clusters)


def _problem(
    likelihood: RowLikelihood, model: str, group: Integers, normal: bool, design: Floats | None, start: Floats
) -> Problem:
    editions, n_groups = len(group), int(group.max()) + 1
    levels = np.eye(editions) if design is None else design
    members = (group[:, None] == np.arange(n_groups)).astype(float)
    spread = block_diag(levels, members, np.eye(2)) if normal else block_diag(levels, members)
    constant = np.linalg.lstsq(levels, np.ones(editions))[0]
    # sizes rise, levels fall, and in model 2, where n is in bits, dispersions rise with them
    invariant = np.concatenate([-constant, np.full(n_groups, float(model == "2")), [1.0, 0.0] if normal else []])
    floor = np.full(len(start), -np.inf)
    dispersions = slice(levels.shape[1], levels.shape[1] + n_groups)
    floor[dispersions] = np.log(FLOOR * np.mean(np.exp(start[dispersions])))
    if normal:
        floor[-1] = start[-1] + 0.5 * np.log(FLOOR)
    return Problem(likelihood, spread, invariant, floor)


def _describe(
    problem: Problem, found: Found, model: str, group: Integers, clusters: Integers | None
) -> UnequalEstimate:
    """Return the estimate normalized by its conventions, with its covariance."""
    editions, n_groups = len(group), int(group.max()) + 1
    normal = problem.spread.shape[0] > 2 * editions
    by_edition = problem.spread @ found.free
    c, log_variance = by_edition[:editions], found.free[len(found.free) - n_groups - 2 * normal :][:n_groups]
    level = float(np.log(np.mean(np.exp(c - c.max())))) + c.max()
    moved = level * (model == "2")
    jacobian = _jacobian(problem, found, c, n_groups, model)
    projector = _projector(problem, found)
    information, parts = _information(problem, found, projector, clusters)
    covariance, exists = _covariance(information, projector, jacobian)
    dispersion = np.exp(log_variance - log_variance.max())
    return UnequalEstimate(
        model=model,
        group=group,
        c=c - level,
        log_variance=log_variance + moved,
        covariance=covariance,
        scores=found.rows.scores @ problem.spread @ projector,
        information=information,
        information_by_cluster=parts,
        jacobian=jacobian,
        sizes=found.rows.sizes + level,
        mean=float(by_edition[-2]) + level if normal else float("nan"),
        tau=float(np.exp(by_edition[-1])) if normal else float("nan"),
        log_likelihood=float(found.rows.values.sum()),
        converged=found.converged and exists,
        n_iterations=found.n_iterations,
        message=found.message if exists or not found.converged else "a stationary point that is not a maximum",
        boundary=dispersion < BOUNDARY * dispersion.mean(),
    )


def _jacobian(problem: Problem, found: Found, c: Floats, n_groups: int, model: str) -> Floats:
    """Return the derivatives of normalized levels and log-dispersions in the free parameters."""
    editions, free = len(c), len(found.free)
    dispersions = np.flatnonzero(np.isfinite(problem.floor))[:n_groups]
    of_levels = problem.spread[:editions]
    weights = softmax(c) @ of_levels
    of_dispersions = np.zeros((n_groups, free))
    of_dispersions[np.arange(n_groups), dispersions] = 1
    if model == "2":
        of_dispersions += weights
    of_dispersions[found.held[dispersions]] = 0
    return np.vstack([of_levels - weights, of_dispersions])


def _projector(problem: Problem, found: Found) -> Floats:
    """Return the projector (P, P) on the identified parameters, except those held at their floor.

    Derivatives in the other directions are 0 but for the error of a quadrature, which no inverse should see.
    """
    moving = np.where(found.held, 0.0, 1.0)
    invariant = problem.invariant * moving
    projector: Floats = np.diag(moving) - np.outer(invariant, invariant) / (invariant @ invariant)
    return projector


def _information(
    problem: Problem, found: Found, projector: Floats, clusters: Integers | None
) -> tuple[Floats, Floats | None]:
    """Return the information on the free parameters, in total and by cluster."""
    parameters = problem.spread @ found.free
    onto = problem.spread @ projector
    if clusters is None:
        return onto.T @ problem.likelihood.information(parameters, slice(None)) @ onto, None
    n_clusters = int(clusters.max()) + 1
    parts = np.empty((n_clusters, len(projector), len(projector)))
    for g in range(n_clusters):
        parts[g] = onto.T @ problem.likelihood.information(parameters, np.flatnonzero(clusters == g)) @ onto
    return parts.sum(axis=0), parts


def _covariance(information: Floats, projector: Floats, jacobian: Floats) -> tuple[Floats, bool]:
    """Return the covariance of the parameters, and whether the information is positive definite."""
    left = np.eye(len(projector)) - projector  # its weight does not matter: the jacobian takes these directions to 0
    try:
        root = np.linalg.cholesky(information + left * np.trace(information))
    except np.linalg.LinAlgError:
        return np.full((len(jacobian), len(jacobian)), np.nan), False
    half = np.linalg.solve(root, (jacobian @ projector).T)
    covariance: Floats = half.T @ half
    return covariance, True


def pseudo_inverse(information: Floats) -> Floats:
    """Return the pseudo-inverse of an information matrix.

    Parameters
    ----------
    information : ndarray, shape (P, P)
        Information, symmetric; its other eigenvalues are 0 but for rounding.

    Returns
    -------
    ndarray, shape (P, P)

    Examples
    --------
    >>> pseudo_inverse(np.array([[1.0, -1.0], [-1.0, 1.0]])).round(12)
    array([[ 0.25, -0.25],
           [-0.25,  0.25]])
    """
    return np.asarray(np.linalg.pinv(information, rcond=SINGULAR, hermitian=True), dtype=np.float64)


def check_table(
    z: Floats, model: str, group: Integers, intents: str, clusters: Integers | None, nodes: int, max_iterations: int
) -> None:
    """Check the arguments of `estimate_unequal`.

    Parameters
    ----------
    z, model, group, intents, clusters, nodes, max_iterations
        The same as for `langdiff.regression.kernel.integrated.unequal.estimate_unequal`.

    Raises
    ------
    ConfigError, DataError
        As there.
    """
    if model not in ("1", "2"):
        raise ConfigError(f"one dispersion per edition is offered for models '1' and '2', not {model!r}.")
    if intents not in ("flat", "normal"):
        raise ConfigError(f"unknown distribution of intents {intents!r}; use 'flat' or 'normal'.")
    if nodes < 1 or max_iterations < 1:
        raise ConfigError(f"nodes and {option('max_iterations')} must be at least 1, got {nodes} and {max_iterations}.")
    numbered = [("group", "edition", group, z.shape[1])]
    if clusters is not None:
        numbered.append(("clusters", "intent", clusters, z.shape[0]))
    for what, of, labels, length in numbered:
        if labels.shape != (length,) or set(np.unique(labels)) != set(range(int(labels.max()) + 1)):
            raise ConfigError(f"{what} must number each of {length} {of}s from 0 without gaps.")
    observed = ~np.isnan(z)
    least = 1 if intents == "normal" else 2
    few = int((observed.sum(axis=1) < least).sum())
    if few:
        raise DataError(
            f"{few} of {len(z)} intents have fewer than {least} cell(s), and say nothing under a {intents} prior of "
            "sizes: leave them out."
        )
    if edition_components(observed).max() > 0:
        raise DataError("some editions have no chain of shared intents between them: fit each part on its own.")
    _check_identified(observed, group, intents)


def _check_identified(observed: Booleans, group: Integers, intents: str) -> None:
    """Check that the table identifies the dispersions.

    A flat prior leaves differences of cells, whose variances are sums of two dispersions; a normal one
    identifies its own variance too, as soon as two editions share an intent.
    """
    if intents == "normal":
        return  # connected, so that two editions share an intent
    shared = observed.T.astype(float) @ observed > 0
    first, second = np.nonzero(np.triu(shared, 1))
    n_groups = int(group.max()) + 1
    sums = np.zeros((len(first), n_groups))
    np.add.at(sums, (np.arange(len(first)), group[first]), 1)
    np.add.at(sums, (np.arange(len(first)), group[second]), 1)
    if np.linalg.matrix_rank(np.unique(sums, axis=0)) < n_groups:
        raise DataError(
            f"{len(group)} editions do not identify {n_groups} dispersions under a flat prior of sizes: only sums of "
            "two dispersions can be estimated. Add a third edition that shares intents with both, or give sizes a "
            f"normal prior ({option('intents', 'random')}), or take one common dispersion."
        )


LEAST_START = 0.1  # of the mean variance, so that a search does not begin near the boundary


def start_of_model_1(z: Floats, group: Integers, normal: bool, design: Floats | None) -> Floats:
    """Return starting values from least squares, with distinct variances away from the boundary, shape (P,).

    Raises
    ------
    DataError
        If least squares leave no residuals.
    """
    two_way = solve_two_way(z, design)
    if two_way.sum_of_squares <= 0:
        raise DataError("the residuals vanish: every edition is an exact multiple of every other. Are they copies?")
    pooled = two_way.sum_of_squares / max(two_way.degrees_of_freedom, 1)
    squares = np.bincount(group, (two_way.residual**2).sum(axis=0))
    own = squares / np.bincount(group, two_way.cells_per_edition)
    variance = pooled * np.maximum(own / own.mean(), LEAST_START)
    c = two_way.edition_effect
    levels = c if design is None else np.linalg.lstsq(design, c)[0]
    prior = np.empty(0)
    if normal:
        m = two_way.intent_effect
        total = float(np.var(m))
        between = total - pooled * float(np.mean(1 / two_way.cells_per_intent))
        prior = np.array([m.mean(), 0.5 * np.log(max(between, LEAST_START * total, pooled * LEAST_START))])
    return np.concatenate([levels, np.log(variance), prior])


def start_of_model_2(problem: Problem, found: Found, group: Integers) -> Floats:
    """Return starting values of model 2 with the variances of model 1 at the median row."""
    n_groups = int(group.max()) + 1
    levels = problem.spread.shape[1] - n_groups - 2 * (problem.spread.shape[0] > 2 * len(group))
    variance = np.exp(found.free[levels : levels + n_groups])
    variance = np.maximum(variance, LEAST_START * variance.mean())
    start = found.free.copy()
    # c + s²/2 is D; under a design, the nearest to it
    spread = problem.spread[: len(group), :levels]
    start[:levels] += np.linalg.lstsq(spread, 0.5 * variance[group])[0]
    start[levels : levels + n_groups] = np.median(found.rows.sizes) + np.log(np.expm1(variance))
    return start
