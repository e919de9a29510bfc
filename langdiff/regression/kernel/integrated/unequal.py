"""Estimates of heteroscedastic models: levels and dispersions with their joint covariance."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import softmax

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError, option
from langdiff.regression.kernel.clusters import SummedClusters, inverse_root
from langdiff.regression.kernel.integrated.size_tables import SizeTables
from langdiff.regression.kernel.integrated.unequal_rows import (
    Found,
    LinearLikelihood,
    Problem,
    RowLikelihood,
    from_diagonals,
    maximize_rows,
)
from langdiff.regression.kernel.two_way import TwoWay, add_products, blocks_of, edition_components, solve_two_way, whole

Intents = Literal["flat", "normal"]

BOUNDARY = 1e-4  # of the mean dispersion; below it lies the boundary
SINGULAR = 1e-12  # of the largest eigenvalue of an information; below it lies rounding
MOST_OF_CLUSTERS = 10_000_000  # numbers of the parts of an information
NUMBERS_AT_A_TIME = 2**18
MOST_TERMS = 14  # roots of a row; fewer where the last adds nothing
FLOOR = 1e-6  # of the mean dispersion at the start; no dispersion goes below


@dataclass(frozen=True, eq=False)
class UnequalEstimate:
    r"""Estimate of model 1 or 2 with one dispersion per group of editions.

    Parameters are J levels, then the logarithms of G dispersions. Scores and information are in free
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
    information : ndarray, shape (P, P)
        Observed information.
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
    problem : Problem
        The likelihood, from which rows are computed on request.
    columns, onto : ndarray, shapes (2C,) and (2C, P)
        Its parameters, and the mapping of scores in them to those in free parameters.
    """

    model: str
    group: Integers
    c: Floats
    log_variance: Floats
    covariance: Floats
    information: Floats
    jacobian: Floats
    sizes: Floats
    mean: float
    tau: float
    log_likelihood: float
    converged: bool
    n_iterations: int
    message: str
    boundary: Booleans
    problem: Problem
    columns: Floats
    onto: Floats

    @property
    def n_rows(self) -> int:
        """Number of rows, I."""
        return len(self.sizes)

    def expected(self) -> tuple[Floats, Floats]:
        """Return levels of expected bits, (J,), and their derivatives in levels and log-dispersions, (J, J + G)."""
        editions = len(self.c)
        slope = 0.5 * np.exp(self.log_variance) * (self.model == "1")
        jacobian = np.eye(editions, editions + len(slope))
        jacobian[np.arange(editions), editions + self.group] = slope[self.group]
        return self.c + slope[self.group], jacobian

    def scores(self) -> Floats:
        """Return the derivatives of the log-likelihood of each row, (I, P)."""
        scores = np.empty((self.n_rows, self.onto.shape[1]))
        for block in self.problem.likelihood.blocks(self.columns):
            scores[block.rows] = block.scores @ self.onto
        return scores

    @cached_property
    def score_products(self) -> Floats:
        """Sum over rows of the products of their scores, shape (P, P)."""
        products = np.zeros((len(self.onto), len(self.onto)), order="F")
        for block in self.problem.likelihood.blocks(self.columns):
            products = add_products(products, block.scores)
        return self.onto.T @ whole(products) @ self.onto

    def by(self, cluster: Integers, *, matrices: bool = True) -> tuple[Floats, Floats]:
        """Return scores, (G, P), and parts of the information, (G, P, P) if asked for, summed by cluster.

        A part need not be positive semidefinite.
        """
        width, count = len(self.onto), int(cluster.max()) + 1
        sums, second = np.zeros((count, width)), np.zeros((count, 3, width // 2))
        grams = [np.zeros((width, width), order="F") for _ in range(count if matrices else 0)]
        products = np.zeros((width, width), order="F")
        for block in self.problem.likelihood.blocks(self.columns):
            order = np.argsort(cluster[block.rows], kind="stable")
            of, first = np.unique(cluster[block.rows][order], return_index=True)
            sums[of] += np.add.reduceat(block.scores[order], first, axis=0)
            products = add_products(products, block.scores)
            if not matrices:
                continue
            second[of] += np.add.reduceat(block.second[:, order], first, axis=1).transpose(1, 0, 2)
            for root in block.roots:
                for g, rows in zip(of, np.split(root[order], first[1:]), strict=True):
                    grams[g] = add_products(grams[g], rows)
        self.__dict__.setdefault("score_products", self.onto.T @ whole(products) @ self.onto)
        parts = np.empty((len(grams), self.onto.shape[1], self.onto.shape[1]))
        for g in range(len(grams)):
            parts[g] = self.onto.T @ (from_diagonals(second[g]) - whole(grams[g])) @ self.onto
            grams[g] = np.empty((0, 0))
        return sums @ self.onto, parts


def estimate_unequal(
    z: Floats | TwoWay,
    *,
    model: Literal["1", "2"],
    group: Integers,
    intents: Intents = "flat",
    design: Floats | None = None,
    nodes: int = 15,
    max_iterations: int = 100,
) -> UnequalEstimate:
    r"""Fit model 1 or 2 with one dispersion per group of editions.

    With fixed sizes the likelihood is unbounded, as that of an edition whose every cell equals the
    size of its intent. Here sizes are integrated out, over a flat or a normal prior.

    Parameters
    ----------
    z : ndarray, shape (I, J), or TwoWay
        Log surprisals, NaN where missing, or model 1 fitted to them. With a flat prior every row needs two cells or
        more.
    model : {"1", "2"}
        Regression model; see `langdiff.regression.kernel.integrated.unequal_rows` and `sizes` beside it.
    group : ndarray of int, shape (J,)
        Dispersion group of each edition, numbered from 0 without gaps.
    intents : {"flat", "normal"}
        Prior distribution of the sizes ln n. The normal one is estimated.
    design : ndarray, shape (J, K), optional
        Full rank, the constant in its span: levels are its combinations. None: each level is free.
    nodes : int
        Number of nodes of the quadrature of model 2.
    max_iterations : int
        Largest number of steps of the search.

    Returns
    -------
    UnequalEstimate

    Raises
    ------
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
    if isinstance(z, TwoWay):
        observed = np.broadcast_to(np.True_, z.residual.shape) if z.mask is None else z.mask
    else:
        observed = ~np.isnan(z)
    check_table(observed, group, intents)
    normal, table = intents == "normal", z if isinstance(z, TwoWay) else solve_two_way(z, design)
    start = starting_values(table, model, group, normal, design)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # what is out of range is refused by the search
        likelihood: RowLikelihood
        if model == "2":
            likelihood = SizeTables(table, normal=normal, nodes=nodes)
        else:
            likelihood = LinearLikelihood(table.z(slice(None)), normal=normal)
        problem = _problem(likelihood, model, group, normal, design, start)
        return _describe(problem, maximize_rows(problem, start, max_iterations=max_iterations), model, group)


def _problem(
    likelihood: RowLikelihood, model: str, group: Integers, normal: bool, design: Floats | None, start: Floats
) -> Problem:
    editions, n_groups = len(group), int(group.max()) + 1
    levels = np.eye(editions) if design is None else design
    constant: Floats = np.ones(editions)
    if design is not None:
        constant = np.asarray(np.linalg.lstsq(design, constant)[0])
    width, free = editions + normal, levels.shape[1]
    spread = np.zeros((2 * width, len(start)))
    spread[:editions, :free] = levels
    spread[width + np.arange(editions), free + group] = 1
    if normal:  # level and log-variance of the prior's column, from the mean and the log standard deviation
        spread[editions, -2], spread[-1, -1] = -1, 2
    # sizes rise, levels fall, and in model 2, where n is in bits, dispersions rise with them
    invariant = np.concatenate([-constant, np.full(n_groups, float(model == "2")), [1.0, 0.0] if normal else []])
    floor = np.full(len(start), -np.inf)
    floor[free : free + n_groups] = np.log(FLOOR * np.mean(np.exp(start[free : free + n_groups])))
    if normal:
        floor[-1] = start[-1] + 0.5 * np.log(FLOOR)
    return Problem(likelihood, spread, invariant, floor)


def _describe(problem: Problem, found: Found, model: str, group: Integers) -> UnequalEstimate:
    """Return the estimate normalized by its conventions, with its covariance."""
    editions, n_groups = len(group), int(group.max()) + 1
    columns = problem.spread @ found.free
    normal = len(columns) > 2 * editions
    c, log_variance = columns[:editions], found.free[len(found.free) - n_groups - 2 * normal :][:n_groups]
    level = float(np.log(np.mean(np.exp(c - c.max())))) + c.max()
    moved = level * (model == "2")
    jacobian = _jacobian(problem, found, c, n_groups, model)
    projector = _projector(problem, found)
    onto = problem.spread @ projector
    rows = problem.likelihood.rows(columns, terms=MOST_TERMS)
    information = onto.T @ np.asarray(rows.information) @ onto
    covariance, exists = _covariance(information, projector, jacobian)
    dispersion = np.exp(log_variance - log_variance.max())
    return UnequalEstimate(
        model=model,
        group=group,
        c=c - level,
        log_variance=log_variance + moved,
        covariance=covariance,
        information=information,
        jacobian=jacobian,
        sizes=rows.sizes + level,
        mean=float(found.free[-2]) + level if normal else float("nan"),
        tau=float(np.exp(found.free[-1])) if normal else float("nan"),
        log_likelihood=float(rows.values.sum()),
        converged=found.converged and exists,
        n_iterations=found.n_iterations,
        message=found.message if exists or not found.converged else "a stationary point that is not a maximum",
        boundary=dispersion < BOUNDARY * dispersion.mean(),
        problem=problem,
        columns=columns,
        onto=onto,
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
    return np.diag(moving) - np.outer(invariant, invariant) / (invariant @ invariant)


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


def check_table(observed: Booleans, group: Integers, intents: str) -> None:
    """Check which cells there are, (I, J), for `estimate_unequal`."""
    least = 1 if intents == "normal" else 2
    few = int((observed.sum(axis=1) < least).sum())
    if few:
        raise DataError(
            f"{few} of {len(observed)} intents have fewer than {least} cell(s), and say nothing under a {intents} "
            "prior of sizes: leave them out."
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
    member = group[:, None] == np.arange(int(group.max()) + 1)
    common = np.zeros((len(group), len(group)), np.float32)
    for rows in blocks_of(*observed.shape):
        cells = observed[rows].astype(np.float32)
        common += cells.T @ cells
    shared = np.triu(common > 0, 1)
    sums = member.T.astype(float) @ shared @ member  # pairs of editions by their groups
    sums = (sums + sums.T > 0).astype(float)
    # of e_g + e_h for all pairs of groups that share intents, the sum of outer products
    if np.linalg.matrix_rank(sums + np.diag(sums.sum(axis=1) + 2 * np.diag(sums)), hermitian=True) < len(sums):
        raise DataError(
            f"{len(group)} editions do not identify {len(sums)} dispersions under a flat prior of sizes: only sums of "
            "two dispersions can be estimated. Add a third edition that shares intents with both, or give sizes a "
            f"normal prior ({option('intents', 'random')}), or take one common dispersion."
        )


LEAST_START = 0.1  # of the mean variance, so that a search does not begin near the boundary


def starting_values(two_way: TwoWay, model: str, group: Integers, normal: bool, design: Floats | None) -> Floats:
    """Return starting values from least squares, with distinct variances away from the boundary, shape (P,).

    In model 2 they are the variances of the median row.

    Raises
    ------
    DataError
        If least squares leave no residuals.
    """
    if two_way.sum_of_squares <= 0:
        raise DataError("the residuals vanish: every edition is an exact multiple of every other. Are they copies?")
    pooled = two_way.sum_of_squares / max(two_way.degrees_of_freedom, 1)
    squares = np.bincount(group, np.einsum("ij,ij->j", two_way.residual, two_way.residual))
    own = squares / np.bincount(group, two_way.cells_per_edition)
    variance = pooled * np.maximum(own / own.mean(), LEAST_START)
    m, c = two_way.intent_effect, two_way.edition_effect
    prior = np.empty(0)
    if normal:
        total = float(np.var(m))
        between = total - pooled * float(np.mean(1 / two_way.cells_per_intent))
        prior = np.array([m.mean(), 0.5 * np.log(max(between, LEAST_START * total, pooled * LEAST_START))])
    dispersion = np.log(variance)
    if model == "2":
        c, dispersion = c + 0.5 * variance[group], np.median(m) + np.log(np.expm1(variance))
    levels = c if design is None else np.linalg.lstsq(design, c)[0]
    return np.concatenate([levels, dispersion, prior])


def clusters_of_unequal(found: UnequalEstimate, cluster: Integers) -> SummedClusters:
    """Return scores and information by cluster, whose parts are matrices where these are few."""
    if (int(cluster.max()) + 1) * found.onto.shape[1] ** 2 <= MOST_OF_CLUSTERS:
        return SummedClusters(*found.by(cluster))
    return UnequalClusters(found, cluster)


class UnequalClusters(SummedClusters):
    """Clusters of rows with dispersions of their own, as products with what the rows add to the information.

    Parameters
    ----------
    found : UnequalEstimate
        The estimate.
    cluster : ndarray of int, shape (I,)
        Cluster of each row, numbered from 0 without gaps.
    """

    def __init__(self, found: UnequalEstimate, cluster: Integers) -> None:
        self.numbers = np.arange(int(cluster.max()) + 1)
        self.root = inverse_root(found.information)
        self.scores, _ = found.by(cluster, matrices=False)
        self._influences = self.scores @ self.root
        self._onto = found.onto @ self.root  # (2C, r)
        self._second = np.zeros((len(self.numbers), 3, len(self._onto) // 2))
        roots, codes = [], []
        for block in found.problem.likelihood.blocks(found.columns):
            np.add.at(self._second, cluster[block.rows], block.second.transpose(1, 0, 2))
            of_block = [root @ self._onto for root in block.roots]
            roots += of_block
            codes += [cluster[block.rows]] * len(of_block)
        code = np.concatenate(codes)
        order = np.argsort(code, kind="stable")
        self._roots = np.concatenate(roots)[order]  # of all rows, by cluster
        self._starts = np.searchsorted(code[order], np.arange(len(self.numbers) + 1))

    def blocks(self) -> list[slice]:
        """Return slices of clusters that are computed together; see `RowClusters`."""
        most = max(1, NUMBERS_AT_A_TIME // len(self._onto))
        return [slice(first, min(first + most, len(self.numbers))) for first in range(0, len(self.numbers), most)]

    def shares(self, which: Integers) -> Floats:
        """Return the share C_g of the information of some clusters; see `RowClusters`."""
        shares = np.empty((len(which), self.root.shape[1], self.root.shape[1]))
        for share, g in zip(shares, which, strict=True):
            root = self._roots[self._starts[g] : self._starts[g + 1]]
            share[:] = self._onto.T @ from_diagonals(self._second[g]) @ self._onto - root.T @ root
        return shares

    def eigen(self, which: Integers) -> tuple[Floats, Floats]:
        """Return eigenvalues and eigenvectors of some shares; see `RowClusters`."""
        return np.linalg.eigh(self.shares(which))

    def times(self, which: Integers, vectors: Floats) -> Floats:
        """Return the product of C_g and a vector of each of some clusters; see `RowClusters`."""
        of_columns = (vectors @ self._onto.T).reshape(len(which), 2, -1)
        second = self._second[which]
        of_columns = np.einsum("gabj,gbj->gaj", second[:, [[0, 1], [1, 2]]], of_columns)
        products: Floats = of_columns.reshape(len(which), -1) @ self._onto
        for product, vector, g in zip(products, vectors, which, strict=True):
            root = self._roots[self._starts[g] : self._starts[g + 1]]
            product -= root.T @ (root @ vector)
        return products

    def shares_along(self, directions: Floats) -> Floats:
        """Return xᵀ C_g x for each direction x; see `RowClusters`."""
        level, dispersion = np.split(directions @ self._onto.T, 2, axis=1)
        both = np.stack([level**2, 2 * level * dispersion, dispersion**2])
        along: Floats = np.einsum("gaj,anj->gn", self._second, both)
        along -= np.add.reduceat((self._roots @ directions.T) ** 2, self._starts[:-1])
        return along
