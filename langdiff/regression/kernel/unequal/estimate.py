"""Estimates under unequal noise: levels and dispersions with their joint covariance."""

from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import block_diag
from scipy.special import softmax

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.regression.kernel.unequal.checks import check_table
from langdiff.regression.kernel.unequal.linear import LinearLikelihood
from langdiff.regression.kernel.unequal.rows import RowLikelihood
from langdiff.regression.kernel.unequal.search import Found, Problem, maximize_rows
from langdiff.regression.kernel.unequal.sizes import SizeLikelihood
from langdiff.regression.kernel.unequal.start import start_of_model_1, start_of_model_2

Intents = Literal["flat", "normal"]

BOUNDARY = 1e-4  # of the mean dispersion; below it lies the boundary
SINGULAR = 1e-12  # of the largest eigenvalue of an information; below it lies rounding
FLOOR = 1e-6  # of the mean dispersion at the start; no dispersion goes below


class UnequalEstimate(NamedTuple):
    r"""What model 1 or 2 says of a table if each group of editions has its own dispersion.

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
        Regression model; see `langdiff.regression.kernel.unequal.linear` and `sizes` beside it.
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
    """Shift the estimate to its conventions, and give it its covariance."""
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
    """Return the projector (P, P) on what the likelihood depends on, parameters at their floor left out.

    Derivatives in the other directions are 0 but for the error of a quadrature, which no inverse should see.
    """
    moving = np.where(found.held, 0.0, 1.0)
    invariant = problem.invariant * moving
    projector: Floats = np.diag(moving) - np.outer(invariant, invariant) / (invariant @ invariant)
    return projector


def _information(
    problem: Problem, found: Found, projector: Floats, clusters: Integers | None
) -> tuple[Floats, Floats | None]:
    """Return the information on the free parameters, and its parts by cluster."""
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
    """Return the inverse of an information in the directions in which it is not 0.

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
