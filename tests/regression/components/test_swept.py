"""Moments of swept rows against published figures, Henderson's method on complete tables, and simulated truth."""

import numpy as np
import pytest

from langdiff.errors import DataError
from langdiff.regression.components.variances import shared_components, swept_components
from tests.regression.components.test_restricted import CLUSTERS, COMPLETE, MISSING

PRINTED = 6e-10


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
