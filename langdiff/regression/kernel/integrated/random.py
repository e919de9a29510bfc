"""Fits with random intents: estimates of difficulties, with their covariance and the scores of rows."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from langdiff.base.types import Floats, Integers
from langdiff.errors import ConfigError, DataError, option
from langdiff.regression.kernel.integrated.linear import (
    FreeRows,
    LinearRows,
    LinearSearch,
    free_basis,
    maximize_free,
    restricted_information,
)
from langdiff.regression.kernel.integrated.marginal import (
    IntentTable,
    MarginalRows,
    Total,
    maximize_marginal,
    rows_at_a_time,
    scores_of_rows,
)
from langdiff.regression.kernel.integrated.quadrature import HermiteRows, PanelRows
from langdiff.regression.kernel.likelihood import ScaleFreeLikelihood
from langdiff.regression.kernel.two_way import TwoWay

NODES = 15
NO_VARIATION = 1e-3  # of a cell's standard deviation, that sizes vary by
NOTHING_VARIES = "no variation between intents: their sizes have a standard deviation of 0"
NOTHING_BINDS = "intents vary so much that the fit is that of fixed intents"


class RandomEstimate(NamedTuple):
    """A fit with random intents.

    `theta` is all that was estimated, of shape (P,): the c of all editions (in model 1 with the mean size
    absorbed), the mean size a (models 2 and 2L), its slopes, ln τ and, in model 1, ln σ². Free sizes have θ = (c,
    [ln σ²,] logits of the weights) instead. `scores` and `information` are about these. `basis` maps those of
    them that are free to all; it is the identity unless there is a design or a parameter lies at its boundary.
    """

    method: str
    c: Floats  # difficulties up to a constant, shape (J,); in model 1 with mean 0
    covariance: Floats  # of c, shape (J, J), all other parameters eliminated; in model 1 of contrasts only
    sizes: Floats  # posterior means of μ (model 1: of m), shape (I,)
    mean: float  # of sizes, where all covariates are 0
    slopes: Floats  # of the mean of sizes in the covariates, shape (K,)
    tau: float  # standard deviation of sizes around their mean
    variance: float | None  # σ² of model 1
    log_likelihood: float  # marginal, of z; restricted: that with c and the slopes integrated out too
    converged: bool
    n_iterations: int
    n_evaluations: int
    grad_norm: float
    message: str
    theta: Floats  # (P,)
    scores: Floats  # of the rows, (I, P)
    information: Floats  # observed, on θ, (P, P)
    basis: Floats  # (P, P')
    information_by: Callable[[Integers], Floats]  # cluster of each row, 0 to G − 1, (I,) → (G, P, P)

    def influence(self) -> Floats:
        """Return the influence of each row on c, shape (I, J): its score times the inverse information."""
        editions = len(self.c)
        solved: Floats = self.scores @ _inverse(self.information, self.basis)[:, :editions]
        return solved if self.variance is None else solved - solved.mean(axis=1, keepdims=True)


def estimate_random(
    z: Floats,
    *,
    model: str,
    distribution: str = "normal",
    covariates: Floats | None = None,
    design: Floats | None = None,
    restricted: bool = False,
    sizes: str = "normal",
    nodes: int = NODES,
    max_iterations: int,
    start: Floats | None = None,
    two_way: TwoWay | None = None,
) -> RandomEstimate:
    r"""Fit a model whose intents have sizes from one distribution, by marginal maximum likelihood.

    Sizes are :math:`\mu_i \sim N(a + w_i^\top\alpha, \tau^2)` (in model 1 those of m), integrated out of each row.
    Rows of one cell are used: they say what sizes there are. If cells are missing, the fit is valid as long as this
    depends on observed cells and on w only; that with fixed intents, if it depends on the intent only.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing; every row and column has a cell, and shared rows connect all editions.
    model : {"1", "2"}
        Regression model; see `langdiff.fit`.
    distribution : {"normal", "Laplace"}
        Distribution of z; Laplace is that of model 2L, which has the mean and variance of model 2.
    covariates : ndarray, shape (I, K), optional
        Attributes of intents that their mean size depends on, without a constant.
    design : ndarray, shape (J, K'), optional
        Full rank, the constant in its span: c is sought among its combinations.
    restricted : bool
        Model 1 only: restricted maximum likelihood (REML).
    sizes : {"normal", "free"}
        Distribution of sizes: normal, or any on a grid of 60 points; see
        `langdiff.regression.kernel.integrated.linear`.
    nodes : int
        Number of quadrature nodes per row of model 2.
    max_iterations : int
        Largest number of iterations; model 1 with normal sizes needs none.
    start : ndarray, shape (P,), optional
        `RandomEstimate.theta` of a like table, for models 2 and 2L with normal sizes.
    two_way : TwoWay, optional
        Model 1 with fixed intents fitted to `z`, if that is known.

    Returns
    -------
    RandomEstimate
        The covariance is the inverse of the observed information on all parameters: with cells missing, those of c
        and of the distribution of sizes are not independent.

    Raises
    ------
    ConfigError
        If a setting is unknown or has no meaning with the others.
    DataError
        If covariates are not finite, or aliased with one another or the constant.

    Examples
    --------
    >>> z = np.log([[100.0, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]])
    >>> found = estimate_random(z, model="2", max_iterations=100)
    >>> (found.c - found.c.mean()).round(3), round(found.tau, 3), round(found.log_likelihood, 3)
    (array([-0.018,  0.104, -0.086]), 0.519, 1.269)
    """
    _check(z, model, distribution, covariates, restricted, sizes)
    table = IntentTable.build(z, covariates, design, two_way)
    with np.errstate(over="ignore", under="ignore"):  # a node far out has density 0
        if sizes == "free":
            return _estimate_free(table, model, max_iterations)
        if model == "1":
            return _estimate_linear(table, restricted)
        return _estimate_by_quadrature(table, distribution, nodes, max_iterations, start)


def _check(z: Floats, model: str, distribution: str, covariates: Floats | None, restricted: bool, sizes: str) -> None:
    if restricted and (model != "1" or sizes == "free"):
        raise ConfigError(
            f"{option('restricted', True)} has no meaning here: with random intents the sizes are integrated out, so "
            "that no likelihood has to make up for their number. Only model '1' with normal sizes has a restricted "
            f"likelihood (REML); leave it out."
        )
    if sizes == "free" and distribution == "Laplace":
        raise ConfigError(
            f"{option('sizes', 'free')} puts sizes on a grid, on which the likelihood of model '2L' has kinks; use "
            f"{option('sizes', 'normal')}, or {option('model', '2')}."
        )
    if covariates is None:
        return
    if sizes == "free":
        raise ConfigError(
            f"{option('sizes', 'free')} has no mean that could depend on covariates; use {option('sizes', 'normal')}."
        )
    if not np.isfinite(covariates).all():
        raise DataError(
            f"{(~np.isfinite(covariates)).sum()} covariates of intents are not finite: fill them, or leave the "
            "intents out."
        )
    columns = np.column_stack([np.ones(len(z)), covariates])
    rank = np.linalg.matrix_rank(columns / np.maximum(np.linalg.norm(columns, axis=0), np.finfo(float).tiny))
    if rank < columns.shape[1]:
        raise DataError(
            f"of {columns.shape[1]} attributes of intents (the constant among them) only {rank} are independent: "
            "leave out those that follow from others."
        )


def _estimate_linear(table: IntentTable, restricted: bool) -> RandomEstimate:
    fit = LinearSearch(table, restricted).maximize()
    theta = np.concatenate([fit.c, fit.alpha, [np.log(fit.tau) if fit.tau > 0 else -np.inf, np.log(fit.variance)]])
    free = np.ones(len(theta) - len(fit.c), dtype=bool)
    free[-2] = fit.boundary == 0  # at a boundary nothing is known of ln τ, and c does not depend on it
    rows = LinearRows(table)
    total, scores = scores_of_rows(rows, theta)
    if restricted and fit.boundary >= 0:
        total.information[-2:, -2:] += restricted_information(table, theta)
    level = float(fit.c.mean())
    found = _assemble(rows, total._replace(sizes=total.sizes + level), scores, table.basis(free))
    centre = np.eye(len(fit.c)) - 1 / len(fit.c)
    return found._replace(
        method="REML" if restricted else "exact",
        c=fit.c - level,
        covariance=centre @ found.covariance @ centre,
        mean=level,
        slopes=fit.alpha,
        tau=fit.tau,
        variance=fit.variance,
        log_likelihood=fit.criterion,
        converged=bool(np.isfinite(found.covariance).all()),
        n_evaluations=fit.n_evaluations,
        grad_norm=abs(fit.slope) if fit.boundary == 0 else 0.0,
        message={-1: NOTHING_VARIES, 0: "solved by a search over the ratio of variances", 1: NOTHING_BINDS}[
            fit.boundary
        ],
    )


def _estimate_by_quadrature(
    table: IntentTable, distribution: str, nodes: int, max_iterations: int, start: Floats | None
) -> RandomEstimate:
    editions, attributes = table.shape[1], table.attributes.shape[1]
    basis = table.basis(np.ones(attributes + 1, dtype=bool))
    theta = _start(table) if start is None else start
    iterations = evaluations = 0
    hermite = HermiteRows(table, nodes)
    if distribution == "Laplace" and start is None:
        near = maximize_marginal(hermite, theta, basis, max_iterations=max_iterations)
        iterations, evaluations = near.n_iterations, near.n_evaluations
        theta = near.total.theta if near.converged else theta
    rows = hermite if distribution == "normal" else PanelRows(table)
    typical = float(np.median(table.attributes @ theta[editions:-1]))
    least = float(np.log(NO_VARIATION) + 0.5 * np.log(np.logaddexp(0.0, -typical)))
    left = max(1, max_iterations - iterations)
    found = maximize_marginal(rows, theta, basis, max_iterations=left, least_spread=least)
    free, varies = np.ones(attributes + 1, dtype=bool), found.total.theta[-1] >= least
    if not varies:  # the rest is fitted with ln τ where it makes no difference any more
        free[-1] = False
        theta = np.append(found.total.theta[:-1], least)
        found = maximize_marginal(rows, theta, table.basis(free), max_iterations=left)
    theta = found.total.theta
    message = found.message if varies else NOTHING_VARIES
    total, scores = (found.total, found.scores) if found.scores is not None else scores_of_rows(rows, theta)
    result = _assemble(rows, total, scores, table.basis(free))
    converged = found.converged and bool(np.isfinite(result.covariance).all())
    if found.converged and not converged:
        message = "a stationary point that is not a maximum"
    return result._replace(
        method="newton",
        mean=float(theta[editions]),
        slopes=theta[editions + 1 : -1],
        tau=float(np.exp(theta[-1])) if varies else 0.0,
        converged=converged,
        n_iterations=iterations + found.n_iterations,
        n_evaluations=evaluations + found.n_evaluations,
        grad_norm=found.grad_norm,
        message=message,
    )


def _start(table: IntentTable) -> Floats:
    """Return starting values of θ from model 1 with fixed intents: the dispersion and the spread of sizes."""
    mu, c = ScaleFreeLikelihood(table.two_way, restricted=True).start()  # rows of one cell count for nothing there
    alpha = np.linalg.lstsq(table.attributes, mu, rcond=None)[0]
    spread = float(np.std(mu - table.attributes @ alpha))
    return np.concatenate([c, alpha, [np.log(max(spread, 1e-2))]])


def _estimate_free(table: IntentTable, model: str, max_iterations: int) -> RandomEstimate:
    editions = table.shape[1]
    if model == "1":
        fit = LinearSearch(table, restricted=False).maximize()
        start = np.append(fit.c - fit.c.mean(), np.log(fit.variance))
    else:
        basis = table.basis(np.ones(2, dtype=bool))
        near = maximize_marginal(HermiteRows(table, NODES), _start(table), basis, max_iterations=max_iterations)
        start = near.total.theta[:editions]
    found = maximize_free(table, model, start, max_iterations)
    rows, weights = FreeRows(table, model, found.grid), found.weights
    total, scores = scores_of_rows(rows, found.theta)
    result = _assemble(rows, total, scores, free_basis(table, model, found.counted))
    mean = float(weights @ found.grid)
    level = float(found.theta[:editions].mean()) if model == "1" else 0.0
    centre = np.eye(editions) - 1 / editions
    return result._replace(
        method="EM",
        c=result.c - level,
        covariance=centre @ result.covariance @ centre if model == "1" else result.covariance,
        sizes=result.sizes + level,
        mean=mean + level,
        tau=float(np.sqrt(weights @ (found.grid - mean) ** 2)),
        variance=float(np.exp(found.theta[editions])) if model == "1" else None,
        converged=found.converged and bool(np.isfinite(result.covariance).all()),
        n_iterations=found.n_iterations,
        n_evaluations=found.n_iterations,
        grad_norm=found.grad_norm,
        message=found.message,
    )


def _assemble(rows: MarginalRows, total: Total, scores: Floats, basis: Floats) -> RandomEstimate:
    """Return an estimate with all quantities that are computed from rows; the caller adds the others."""
    theta, editions = total.theta, rows.table.shape[1]
    return RandomEstimate(
        method="",
        c=theta[:editions],
        covariance=_inverse(total.information, basis)[:editions, :editions],
        sizes=total.sizes,
        mean=np.nan,
        slopes=np.empty(0),
        tau=np.nan,
        variance=None,
        log_likelihood=total.value,
        converged=False,
        n_iterations=0,
        n_evaluations=0,
        grad_norm=np.nan,
        message="",
        theta=theta,
        scores=scores,
        information=total.information,
        basis=basis,
        information_by=_InformationBy(rows, theta),
    )


class _InformationBy:
    """Observed information summed over the rows of each cluster."""

    def __init__(self, rows: MarginalRows, theta: Floats) -> None:
        self.rows, self.theta = rows, theta

    def __call__(self, clusters: Integers) -> Floats:
        """Return the information of clusters numbered from 0, (I,) → (G, P, P)."""
        step = rows_at_a_time(self.rows.table)
        size = len(self.theta)
        information = np.zeros((int(clusters.max()) + 1, size, size))
        order = np.argsort(clusters, kind="stable")
        for cluster, rows in enumerate(np.split(order, np.cumsum(np.bincount(clusters))[:-1])):
            for start in range(0, len(rows), step):
                part = self.rows.derivatives(self.theta, rows[start : start + step])
                information[cluster] += part.information
        return information


def _inverse(information: Floats, basis: Floats) -> Floats:
    """Return the covariance of θ; NaN if the information is not positive definite."""
    try:
        factor = cho_factor(basis.T @ information @ basis)
    except (LinAlgError, ValueError):
        return np.full_like(information, np.nan)
    return basis @ cho_solve(factor, basis.T)
