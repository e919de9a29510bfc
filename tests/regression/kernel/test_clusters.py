"""Covariances and degrees of freedom from clusters: worked numbers, statsmodels, and dense algebra on dummies."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.optimize import root

from langdiff.regression.kernel.clusters import RowClusters, SummedClusters, cluster_covariance, covariance_of_clusters
from langdiff.regression.kernel.freedom import freedom_of_pairs
from langdiff.regression.kernel.information import normalized_covariance
from langdiff.regression.kernel.models import Settings, estimate
from langdiff.regression.kernel.row_information import row_information
from langdiff.regression.kernel.two_way import solve_two_way

ALGEBRA = 1e-8  # two ways to the same sums
PRINTED = 6e-7  # numbers given to six digits after the point

A = np.log([[100.0, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]])
NO = np.nan
B = np.log(
    [[100, 120, 90, 110], [40, 52, NO, 61], [220, NO, 180, NO], [75, 70, 88, NO], [NO, 190, 140, 150], [60, NO, NO, 66]]
)


def settings(model, **options):
    return Settings(model, "auto", options.pop("restricted", False), options.pop("laplace_scale", None), 1000)


def rows_of(z, model="1", **options):
    two_way, chosen = solve_two_way(z), settings(model, **options)
    found = estimate(two_way, chosen)
    assert found.converged
    return row_information(two_way, chosen, found)


def of_differences(covariance):
    """Standard errors of d_j − d_1."""
    return np.sqrt(np.diag(covariance) + covariance[0, 0] - 2 * covariance[0])[1:]


def incomplete(seed, intents=24, editions=5, missing=0.3):
    rng = np.random.default_rng(seed)
    z = rng.normal(4, 0.6, (intents, 1)) + rng.normal(0, 0.1, editions) + rng.normal(0, 0.2, (intents, editions))
    gone = rng.random(z.shape) < missing
    gone[np.arange(intents), rng.integers(editions, size=intents)] = False
    z[gone] = np.nan
    z = z[(~np.isnan(z)).sum(axis=1) > 1]
    return z, rng.permutation(np.arange(len(z)) % 6)


WORKED = {
    ("A", "rows"): (
        {"CR0": [0.056030, 0.072515], "CR2": [0.062644, 0.081075], "CR3": [0.070038, 0.090644]},
        [4.0, 4.0],
    ),
    ("B", "rows"): (
        {
            "CR0": [0.079386, 0.077669, 0.083503],
            "CR2": [0.092951, 0.090706, 0.097293],
            "CR3": [0.108854, 0.105952, 0.113387],
        },
        [3.454839, 3.448381, 3.448381],
    ),
    ("A", "pairs"): (
        {"CR0": [0.071176, 0.028321], "CR2": [0.090881, 0.035408], "CR3": [0.116342, 0.044562]},
        [1.8, 1.8],
    ),
    ("B", "pairs"): (
        {
            "CR0": [0.096829, 0.008460, 0.082174],
            "CR2": [0.118056, 0.014842, 0.116060],
            "CR3": [0.146234, 0.025174, 0.164772],
        },
        [1.605244, 1.599285, 1.326102],
    ),
}


@pytest.mark.parametrize(("table", "grouping"), list(WORKED))
def test_worked_numbers(table, grouping):
    z = {"A": A, "B": B}[table]
    cluster = np.arange(len(z)) // (1 if grouping == "rows" else 2)
    rows = rows_of(z)
    errors, freedom = WORKED[table, grouping]
    for kind, expected in errors.items():
        assert_allclose(of_differences(cluster_covariance(rows, cluster, kind=kind)), expected, atol=PRINTED)
    mean = np.full(z.shape[1], 1 / z.shape[1])
    found = freedom_of_pairs(RowClusters(rows, cluster), mean)
    assert found.source == "exact"
    assert_allclose(found.values[0, 1:], freedom, atol=PRINTED)


def random_intent_scores(z, parameters):
    """Row scores in (c, a, ln τ) of model 2 with random intents, by the trapezoidal rule; see the specification."""
    c, a, log_tau = parameters[:-2], parameters[-2], parameters[-1]
    tau = np.exp(log_tau)
    mu = a + tau * np.linspace(-10, 10, 2001)
    v = np.logaddexp(0.0, -mu)
    h = mu - v / 2
    x = z - c
    log_density = -0.5 * np.nansum(np.log(v) + (x[..., None] - h) ** 2 / v, axis=1) - 0.5 * ((mu - a) / tau) ** 2
    posterior = np.exp(log_density - log_density.max(axis=1, keepdims=True))
    posterior /= posterior.sum(axis=1, keepdims=True)
    statistics = np.array([1 / v, h / v, (mu - a) / tau**2, ((mu - a) / tau) ** 2 - 1])
    mean = posterior @ statistics.T
    return np.column_stack([np.nan_to_num(x * mean[:, :1] - mean[:, 1:2]), mean[:, 2:]])


def test_worked_sandwich_of_random_intents():
    """CR0 of table B, model 2: scores and information of six parameters, summed by cluster beforehand."""
    start = np.append(np.nanmean(B - np.nanmean(B, axis=1, keepdims=True), axis=0), [4.5, -0.7])
    optimum = root(lambda at: random_intent_scores(B, at).sum(axis=0), start, tol=1e-12).x
    step = 1e-5
    information = np.array(
        [random_intent_scores(B, optimum - h) - random_intent_scores(B, optimum + h) for h in step * np.eye(6)]
    ).transpose(1, 2, 0) / (2 * step)
    covariance = covariance_of_clusters(SummedClusters(random_intent_scores(B, optimum), information), "CR0")
    errors = np.sqrt(np.diag(normalized_covariance(covariance[:4, :4], optimum[:4])))
    assert_allclose(errors, [0.040638, 0.059976, 0.055136, 0.046317], atol=PRINTED)


def dummies(z):
    """Response, dummies of editions but the first and of intents, and the row of each cell."""
    row, column = np.nonzero(~np.isnan(z))
    design = np.column_stack([column[:, None] == np.arange(1, z.shape[1]), row[:, None] == np.arange(len(z))])
    return z[row, column], design.astype(float), row


@pytest.mark.parametrize("seed", range(20))
def test_cr0_is_that_of_least_squares_on_dummies(seed):
    z, cluster = incomplete(seed)
    y, x, row = dummies(z)
    theirs = sm.OLS(y, x).fit(cov_type="cluster", cov_kwds={"groups": cluster[row], "use_correction": False})
    ours = cluster_covariance(rows_of(z), cluster, kind="CR0")
    assert_allclose(of_differences(ours), theirs.bse[: z.shape[1] - 1], atol=ALGEBRA, rtol=0)


def dense(z, cluster, contrast):
    """Variances CR2, CR3 and the freedom of CR2 with N × N matrices, as Bell and McCaffrey write them."""
    y, x, row = dummies(z)
    hat = x @ np.linalg.pinv(x)
    residual, bread = y - hat @ y, np.linalg.pinv(x.T @ x)
    maker = np.eye(len(y)) - hat
    weights = bread[:, : z.shape[1] - 1] @ contrast
    variances, columns = {"CR2": 0.0, "CR3": 0.0}, []
    for g in np.unique(cluster):
        cells = np.flatnonzero(cluster[row] == g)
        values, axes = np.linalg.eigh(maker[np.ix_(cells, cells)])
        kept = values > 1e-9
        for kind, power in (("CR2", -0.5), ("CR3", -1.0)):
            adjust = (axes[:, kept] * values[kept] ** power) @ axes[:, kept].T
            variances[kind] += (weights @ x[cells].T @ adjust @ residual[cells]) ** 2
            if kind == "CR2":
                columns.append(maker[:, cells] @ adjust @ x[cells] @ weights)
    p = np.array(columns) @ np.array(columns).T
    return variances["CR2"], variances["CR3"], np.trace(p) ** 2 / np.sum(p**2)


@pytest.mark.parametrize("seed", range(20))
def test_adjustments_and_freedom_are_those_of_dense_algebra(seed):
    z, cluster = incomplete(seed)
    rows = rows_of(z)
    clusters = RowClusters(rows, cluster)
    freedom = freedom_of_pairs(clusters, np.full(5, 0.2)).values
    errors = {kind: of_differences(covariance_of_clusters(clusters, kind)) for kind in ("CR2", "CR3")}
    for j in range(1, 5):
        cr2, cr3, nu = dense(z, cluster, np.eye(4)[j - 1])
        assert errors["CR2"][j - 1] == pytest.approx(np.sqrt(cr2), abs=ALGEBRA)
        assert errors["CR3"][j - 1] == pytest.approx(np.sqrt(cr3), abs=ALGEBRA)
        assert freedom[0, j] == pytest.approx(nu, rel=ALGEBRA)
    against_mean = dense(z, cluster, np.array([0.8, -0.2, -0.2, -0.2]))[2]
    assert freedom[1, 1] == pytest.approx(against_mean, rel=ALGEBRA)
