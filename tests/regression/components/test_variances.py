"""Variance components of one table and of several against dense algebra, other estimators and known truth."""

import numpy as np
import pytest
from scipy.optimize import minimize

from langdiff.errors import DataError
from langdiff.regression.components.variances import (
    _Search,
    centred_rows,
    restricted_components,
    shared_components,
    swept_components,
)

NAN = np.nan
COMPLETE = np.log(
    [
        [100, 120, 90, 104],
        [40, 52, 50, 47],
        [220, 230, 180, 215],
        [75, 70, 88, 71],
        [150, 190, 140, 168],
        [60, 63, 49, 66],
        [310, 355, 300, 298],
        [95, 110, 92, 101],
    ]
)
MISSING = COMPLETE.copy()
MISSING[[0, 1, 4, 5, 6, 7], [1, 2, 3, 0, 2, 1]] = NAN
CLUSTERS = np.array([1, 3, 1, 3, 1, 1, 2, 2])
SPARSE = np.log(
    [
        [100, 120, 90, 110],
        [40, 52, NAN, 61],
        [220, NAN, 180, NAN],
        [75, 70, 88, NAN],
        [NAN, 190, 140, 150],
        [60, NAN, NAN, 66],
    ]
)
PRINTED = 6e-10  # nine digits, and the search of lme4


# lme4 1.1-31: lmer(z ~ 0 + intent + (1 | edition) [+ (1 | edition:cluster)], REML = TRUE)
@pytest.mark.parametrize(
    ("z", "clusters", "expected"),
    [
        (COMPLETE, None, (0.003456020, 0, 0.008804842)),
        (MISSING, None, (0.003343419, 0, 0.010087662)),
        (COMPLETE, CLUSTERS, (0.000538210, 0.006814183, 0.003936065)),
        (MISSING, CLUSTERS, (0, 0.006742151, 0.005677292)),
        (SPARSE, None, (0.000104277, 0, 0.021745003)),
    ],
)
def test_variances_are_those_of_lme4(z, clusters, expected):
    np.testing.assert_allclose(restricted_components(z, clusters), expected, rtol=0, atol=PRINTED)


def drawn(seed, intents=16, editions=5, n_clusters=4):
    rng = np.random.default_rng(seed)
    clusters = rng.integers(0, n_clusters, intents)
    z = rng.normal(0, 0.6, (intents, 1)) + rng.normal(0, 0.1, editions) + rng.normal(0, 0.14, (intents, editions))
    z += rng.normal(0, 0.1, (n_clusters, editions))[clusters]
    z[rng.random(z.shape) < 0.3] = NAN
    z[np.isnan(z).all(axis=1), 0] = 5.0
    return z, clusters


def dense_cost(variances, z, clusters):
    """Return −2 times the restricted log-likelihood from the covariance of all cells."""
    rows, columns = np.nonzero(~np.isnan(z))
    y, x = z[rows, columns], np.eye(len(z))[rows]
    same = columns[:, None] == columns
    v = variances[0] * same + variances[1] * (same & (clusters[rows][:, None] == clusters[rows]))
    v = v + variances[2] * np.eye(len(y))
    inverse = np.linalg.inv(v)
    information = x.T @ inverse @ x
    residual = y - x @ np.linalg.solve(information, x.T @ inverse @ y)
    return np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1] + residual @ inverse @ residual


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_no_variances_are_likelier_by_the_dense_likelihood(seed):
    z, clusters = drawn(seed)
    found = np.array(restricted_components(z, clusters))
    best = minimize(
        lambda logs: dense_cost(np.exp(logs), z, clusters),
        np.log([0.01, 0.01, 0.02]),
        method="Nelder-Mead",
        options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 4000},
    )
    assert dense_cost(found, z, clusters) <= best.fun + 1e-9  # of the search without derivatives
    np.testing.assert_allclose(found, np.exp(best.x), rtol=1e-4, atol=1e-6)


def test_the_likelihood_is_the_dense_one_and_its_derivatives_are_its_own():
    z, clusters = drawn(4)
    search, at = _Search(centred_rows(z, ~np.isnan(z)), ~np.isnan(z), clusters), np.array([0.7, 1.3])
    constants = []
    for ratios in (at, at * [2, 0.5], at * [0, 30]):
        variance = search._squares(ratios)[0] / search.freedom
        dense = dense_cost([ratios[1] * variance, ratios[0] * variance, variance], z, clusters)
        constants.append(search.cost(ratios)[0] - dense)
    np.testing.assert_allclose(constants, constants[0], atol=1e-9)  # sums of some hundred terms
    step = 1e-6
    differences = [(search.cost(at + e)[0] - search.cost(at - e)[0]) / (2 * step) for e in step * np.eye(2)]
    np.testing.assert_allclose(search.cost(at)[1], differences, rtol=1e-6)


def test_a_complete_table_has_the_estimators_of_the_analysis_of_variance():
    z = np.random.default_rng(0).normal(size=(7, 5)) + 3 * np.arange(7)[:, None]
    residual = z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean()
    error = (residual**2).sum() / 24
    for shifts in (np.arange(5), np.zeros(5)):
        of_columns = (7 * (z + shifts).mean(axis=0).var(ddof=1) - error) / 7
        np.testing.assert_allclose(restricted_components(z + shifts), [of_columns, 0, error])
    assert restricted_components(z - residual.mean(axis=0) - z.mean(axis=0)).edition < 0


def test_one_cluster_has_no_interaction():
    z, _ = drawn(5)
    assert restricted_components(z, np.full(len(z), 3)) == restricted_components(z)


def test_figures_worked_by_another_program():
    everything = np.zeros(8, dtype=int)
    np.testing.assert_allclose(
        swept_components(MISSING, [everything]), [0.002636618, 0.010581764], rtol=0, atol=PRINTED
    )
    np.testing.assert_allclose(
        swept_components(COMPLETE, [everything, CLUSTERS]),
        [0.000717805, 0.009583751, 0.001959306],
        rtol=0,
        atol=PRINTED,
    )


def henderson(z, effects):
    """Return the estimates of Henderson's method 1 on raw cells, slowly: E T = Σ σ² Σ_ab n_ab² / n_a."""
    effects = [*effects, np.arange(len(z))]
    indicators = [np.eye(codes.max() + 1)[codes] for codes in effects]
    mean = np.ones((len(z), 1))
    forms = [x @ np.diag(1 / x.sum(axis=0)) @ x.T - mean @ mean.T / len(z) for x in indicators]
    system = np.array([[np.trace(other.T @ form @ other) for other in indicators] for form in forms])
    return np.linalg.solve(system, [z @ form @ z for form in forms])


def test_complete_tables_have_the_estimates_of_hendersons_method():
    rng = np.random.default_rng(1)
    intent, lm, seed = (axis.ravel() for axis in np.indices((9, 3, 2)))
    row, run, edition = np.arange(54), 2 * lm + seed, np.arange(5)
    z = rng.normal(size=(54, 5)) + rng.normal(size=(9, 1))[intent] + rng.normal(size=(3, 5))[lm] + 2 * edition
    shared = [intent, lm, run, 3 * intent + lm]
    groupings = [np.zeros(54, dtype=int), lm, run, intent]
    cells = [codes.repeat(5) for codes in [*shared, row]]
    interactions = [(5 * codes[:, None] + edition).ravel() for codes in groupings]
    # the last of the shared effects is that of the row, which sweeping takes out and no component is printed for
    expected = henderson(z.ravel(), [*cells, *interactions])
    found = swept_components(z, groupings)
    np.testing.assert_allclose(found, expected[5:], atol=1e-10)  # the same algebra in another order
    of_rows = shared_components(z, [*shared, row], groupings, found[:-1], found[-1])
    np.testing.assert_allclose(of_rows, expected[:5], atol=1e-10)


def test_estimates_are_unbiased_where_editions_lose_small_intents_at_unequal_rates():
    rng, found, shared = np.random.default_rng(1), [], []
    intents, editions = 30, 8
    intent, lm = (axis.ravel() for axis in np.indices((intents, 3)))
    groupings = [np.zeros(3 * intents, dtype=int), lm, intent]
    spread = []
    for _ in range(300):
        size = rng.normal(0, 1, intents)
        z = size[intent][:, None] + rng.normal(0, 0.3, editions) + rng.normal(0, 0.2, (3, editions))[lm]
        z += rng.normal(0, 0.3, (intents, editions))[intent] + rng.normal(0, 0.2, z.shape)
        lost = rng.random((intents, editions)) < 1 / (1 + np.exp(1 + np.linspace(0, 3, editions) * size[:, None]))
        lost[:, -3:] = False
        z[lost[intent]] = np.nan
        found.append(swept_components(z, groupings))
        shared.append(shared_components(z, [intent, lm], groupings, found[-1][:-1], found[-1][-1]))
        spread.append(size.var(ddof=1))
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(300)
    assert (np.abs(mean - [0.09, 0.04, 0.09, 0.04]) < 4 * error).all()
    difference = np.array(shared)[:, 0] - spread
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(300)


def test_the_intents_of_one_table_have_the_variance_that_they_have():
    rng = np.random.default_rng(2)
    size = rng.normal(0, 1, 400)
    differences = []
    for _ in range(100):
        z = size[:, None] + rng.normal(0, 0.3, 6) + rng.normal(0, 0.5, (400, 6))
        z[rng.random(z.shape) < 1 / (1 + np.exp(size + 1))[:, None]] = np.nan
        z[:, 0] = np.where(np.isnan(z).all(axis=1), size, z[:, 0])
        kept = ~np.isnan(z).all(axis=1)
        everything = np.zeros(kept.sum(), dtype=int)
        found = shared_components(z[kept], [np.arange(kept.sum())], [everything], [0.09], 0.25)
        differences.append(found[0] - size[kept].var(ddof=1))
    assert abs(np.mean(differences)) < 4 * np.std(differences) / 10


def test_effects_with_the_same_levels_are_refused():
    z = np.random.default_rng(0).normal(size=(6, 4))
    with pytest.raises(DataError, match="cannot be told apart"):
        swept_components(z, [np.zeros(6, dtype=int), np.arange(6)])
