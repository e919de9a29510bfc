"""Covariances and degrees of freedom from clusters: worked numbers, statsmodels, and dense algebra on dummies."""

import numpy as np
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose
from scipy.optimize import root

from langdiff.errors import DataError
from langdiff.regression.fitting.sample import cluster_jackknife
from langdiff.regression.kernel import clusters as clusters_module
from langdiff.regression.kernel.clusters import RowClusters, SummedClusters, covariance_of_clusters, freedom_of_pairs
from langdiff.regression.kernel.two_way import normalized_covariance, solve_two_way
from langdiff.regression.variants import find_variant
from tests.regression.kernel.exact_clusters import cluster_covariance, satterthwaite

ALGEBRA = 1e-8  # two ways to the same sums
PRINTED = 6e-7  # numbers given to six digits after the point

A = np.log([[100.0, 120, 90], [40, 52, 50], [220, 230, 180], [75, 70, 88], [150, 190, 140]])
NO = np.nan
B = np.log(
    [[100, 120, 90, 110], [40, 52, NO, 61], [220, NO, 180, NO], [75, 70, 88, NO], [NO, 190, 140, 150], [60, NO, NO, 66]]
)


def rows_of(z, model="1", **options):
    two_way, restricted = solve_two_way(z), options.pop("restricted", False)
    variant = find_variant(model, **options)
    found = variant.estimate(two_way, restricted=restricted)
    assert found.converged
    return variant.rows(two_way, found, restricted=restricted)


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


MODELS = [
    ("1", {}),
    ("2", {}),
    ("2", {"restricted": True}),
    ("2L-rounded", {}),
    ("2C", {}),
    ("3", {"laplace_scale": 0.03}),
]


def summed(rows, cluster):
    """Scores and information summed by cluster, shapes (G, J) and (G, J, J)."""
    members = [cluster == g for g in np.unique(cluster)]
    parts = [rows.of(m) for m in members]
    information = [np.diag(part.weight.sum(axis=0)) - part.mixed.T @ part.mixed for part in parts]
    return np.array([part.score.sum(axis=0) for part in parts]), np.array(information)


def longer(seed=0, intents=400, editions=6):
    """A table with a rare edition and clusters of one to many rows."""
    rng = np.random.default_rng(seed)
    mu = rng.normal(3, 0.6, intents)
    v = np.logaddexp(0.0, -mu)
    z = (
        (mu - v / 2)[:, None]
        + rng.normal(0, 0.1, editions)
        + np.sqrt(v)[:, None] * rng.normal(size=(intents, editions))
    )
    gone = rng.random(z.shape) < 0.2
    gone[:, -1] = rng.random(intents) < 0.9
    z[gone] = np.nan
    z = z[(~np.isnan(z)).sum(axis=1) > 1]
    return z, rng.permutation(np.minimum(rng.geometric(0.05, len(z)), 60))


@pytest.mark.parametrize(("model", "options"), MODELS)
def test_the_order_of_rows_changes_no_standard_error(model, options):
    z, cluster = longer()
    order = np.random.default_rng(1).permutation(len(z))
    for kind in ("CR0", "CR2"):
        one = cluster_covariance(rows_of(z, model, **options), cluster, kind=kind)
        other = cluster_covariance(rows_of(z[order], model, **options), cluster[order], kind=kind)
        assert_allclose(of_differences(other), of_differences(one), atol=1e-9, rtol=0)


@pytest.mark.parametrize(("model", "options"), [MODELS[0], MODELS[1], MODELS[3], MODELS[4]])
@pytest.mark.parametrize("kind", ["CR2", "CR3"])
def test_series_eigenvalues_and_sums_agree(monkeypatch, model, options, kind):
    """Some clusters have nearly all cells of the rare edition, so that their series is left for eigenvalues."""
    z, cluster = longer()
    rows = rows_of(z, model, **options)
    by_eigenvalue = cluster_covariance(rows, cluster, kind=kind)
    freedom = satterthwaite(RowClusters(rows, cluster), np.eye(6)[1:2] - np.eye(6)[:1])
    monkeypatch.setattr(clusters_module, "FEW_CLUSTERS", 0)
    monkeypatch.setattr(clusters_module, "CELLS_AT_A_TIME", 300)
    by_series = cluster_covariance(rows, cluster, kind=kind)
    sums = SummedClusters(*summed(rows, cluster))
    by_sums = covariance_of_clusters(sums, kind)
    contrasts = np.eye(6) - 1 / 6
    for other in (by_series, by_sums):
        assert_allclose(contrasts @ other @ contrasts, contrasts @ by_eigenvalue @ contrasts, rtol=1e-9, atol=1e-14)
    assert_allclose(satterthwaite(RowClusters(rows, cluster), np.eye(6)[1:2] - np.eye(6)[:1]), freedom, rtol=1e-9)
    assert_allclose(satterthwaite(sums, np.eye(6)[1:2] - np.eye(6)[:1]), freedom, rtol=1e-9)


def test_a_series_is_left_for_eigenvalues_where_it_converges_slowly(monkeypatch):
    z, cluster = longer()
    rows = rows_of(z)
    exact = cluster_covariance(rows, cluster)
    monkeypatch.setattr(clusters_module, "FEW_CLUSTERS", 0)
    monkeypatch.setattr(clusters_module, "MOST_TERMS", 1)
    assert_allclose(cluster_covariance(rows, cluster), exact, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("seed", range(5))
def test_cr3_is_the_jackknife_of_clusters(seed):
    z, cluster = incomplete(seed)
    found = solve_two_way(z).edition_effect
    jackknife = cluster_jackknife(~np.isnan(z), lambda rows: solve_two_way(z[rows]).edition_effect, found, cluster)
    ours = of_differences(cluster_covariance(rows_of(z), cluster, kind="CR3"))
    assert_allclose(of_differences(jackknife.T @ jackknife), ours, atol=1e-12)


def test_cr3_comes_near_the_jackknife_of_model_2():
    z, cluster = longer()
    two_way, variant = solve_two_way(z), find_variant("2")
    found = variant.estimate(two_way)

    def again(rows):
        start = found.sizes[rows], found.c
        return variant.estimate(solve_two_way(z[rows]), start=start, with_covariance=False).c

    jackknife = cluster_jackknife(~np.isnan(z), again, found.c, cluster)
    ours = cluster_covariance(variant.rows(two_way, found), cluster, kind="CR3")
    assert_allclose(of_differences(jackknife.T @ jackknife), of_differences(ours), rtol=0.1)


@pytest.mark.parametrize(("model", "options"), [MODELS[0], MODELS[1], MODELS[3]])
def test_editions_that_share_a_difficulty(model, options):
    """Groups as a basis: difficulties and errors of a table in which each edition of a group is the group."""
    z, cluster = longer(editions=4)
    basis = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    two_way, restricted = solve_two_way(z, basis), options.get("restricted", False)
    variant = find_variant(model, laplace_scale=options.get("laplace_scale"))
    found = variant.estimate(two_way, restricted=restricted)
    rows = variant.rows(two_way, found, restricted=restricted)
    clusters = RowClusters(rows, cluster, basis)
    covariance = covariance_of_clusters(clusters, "CR2")
    scores, information = summed(rows, cluster)
    tied = SummedClusters(scores @ basis, basis.T @ information @ basis)
    assert_allclose(of_differences(covariance)[1:], of_differences(covariance_of_clusters(tied, "CR2")), rtol=1e-9)
    freedom = freedom_of_pairs(clusters, np.array([1 / 6, 1 / 6, 1 / 3, 1 / 3])).values
    assert np.isnan(freedom[0, 1])
    theirs = freedom_of_pairs(tied, np.full(3, 1 / 3)).values
    assert_allclose(freedom[1:, 1:], theirs, rtol=1e-9)


def test_freedom_by_shares_is_exact_in_complete_tables_and_near_in_others(monkeypatch):
    z, cluster = longer()
    mean = np.full(6, 1 / 6)
    complete = np.nan_to_num(z, nan=3.0)
    for table, tolerance in ((complete, 1e-9), (z, 0.1)):
        clusters = RowClusters(rows_of(table), cluster)
        with monkeypatch.context() as patch:
            exact = freedom_of_pairs(clusters, mean)
            patch.setattr(clusters_module, "EXACT_COST", 0)
            shares = freedom_of_pairs(clusters, mean)
            patch.setattr(clusters_module, "SHARES_COST", 0)
            of_editions = freedom_of_pairs(clusters, mean)
        assert [exact.source, shares.source, of_editions.source] == ["exact", "shares", "shares of editions"]
        assert_allclose(shares.values, exact.values, rtol=tolerance)
        assert_allclose(np.diag(of_editions.values), np.diag(shares.values), rtol=1e-9)
        assert_allclose(of_editions.values, exact.values, rtol=max(tolerance, 2.5 * tolerance))
        contrasts = np.array([np.eye(6)[1] - np.eye(6)[4], np.eye(6)[5] - mean])
        assert_allclose(satterthwaite(clusters, contrasts), [exact.values[1, 4], exact.values[5, 5]], rtol=1e-9)


def test_equal_clusters_of_complete_tables_have_one_degree_of_freedom_less_than_clusters():
    rng = np.random.default_rng(0)
    z, cluster = rng.normal(size=(60, 4)), np.arange(60) % 12
    clusters = RowClusters(rows_of(z), cluster)
    assert_allclose(freedom_of_pairs(clusters, np.full(4, 0.25)).values, 11, rtol=1e-9)
    assert_allclose(covariance_of_clusters(clusters, "CR1"), covariance_of_clusters(clusters, "CR2"), atol=1e-14)


def test_one_cluster_is_refused():
    with pytest.raises(DataError, match="all intents are in one cluster"):
        cluster_covariance(rows_of(B), np.zeros(6, dtype=int))


def test_a_cluster_that_alone_has_an_edition_is_refused():
    z, cluster = longer()
    cluster = np.minimum(cluster, 40)
    z[cluster != 7, 5] = np.nan
    z[np.flatnonzero(cluster == 7)[0], :] = 3.0
    kept = (~np.isnan(z)).sum(axis=1) > 1
    z, cluster = z[kept], cluster[kept]
    with pytest.raises(DataError, match=r"1 of \d+ clusters \(number 7\) have all the information"):
        cluster_covariance(rows_of(z), cluster, kind="CR2")
    assert (of_differences(cluster_covariance(rows_of(z), cluster, kind="CR0")) > 0).all()
