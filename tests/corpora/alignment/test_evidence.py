"""Evidence and paths against SciPy, enumeration and simple loops."""

import itertools

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from langdiff.corpora.alignment.lengths import (
    WORST,
    consensus_of,
    correlations,
    evidence,
    log_ratio,
    normal_scores,
    shifted,
)
from langdiff.corpora.alignment.passages import BACK, best_paths, cost_of_leaving


@pytest.mark.parametrize(
    ("correlation", "z", "c", "expected"),
    [(0.9, 1, 1, 1.304050), (0.9, 0, 0, 0.830366), (0.95, 2, 1.5, 1.468439), (0.8, -0.5, 0.3, -0.124730)],
)
def test_the_log_ratio_of_two_densities(correlation, z, c, expected):
    found = float(log_ratio(np.array(z), np.array(c), correlation))
    joint = multivariate_normal([0, 0], [[1, correlation], [correlation, 1]]).logpdf([z, c])
    assert found == pytest.approx(expected, abs=1e-6)
    assert found == pytest.approx(joint - norm.logpdf(z) - norm.logpdf(c), abs=1e-12)


def test_the_log_ratio_is_bounded_and_nothing_where_a_text_is_missing():
    joint = multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]]).logpdf([1, -1]) - 2 * norm.logpdf(1)
    assert joint == pytest.approx(-8.169634, abs=1e-6)
    assert log_ratio(np.array([1.0, np.nan]), np.array([-1.0, 1.0]), 0.9).tolist() == [WORST, 0]


@pytest.mark.parametrize(
    ("n_intents", "n_editions", "cost"), [(31104, 74, 19.5908), (1997, 98, 17.1260), (2009, 164, 17.6469)]
)
def test_the_cost_of_leaving_a_state(n_intents, n_editions, cost):
    assert cost_of_leaving(n_intents, n_editions, 3, 0.05) == pytest.approx(cost, abs=5e-5)


def price(path, table, cost):
    """Return the sum of a path: its evidence less the costs of its changes."""
    zero = (len(table) - 2) // 2
    total = table[path[0], 0] - (0 if path[0] == zero else cost)
    for i in range(1, len(path)):
        change = 0 if path[i] == path[i - 1] else BACK if path[i] == zero else cost
        total += table[path[i], i] - change
    return total


def test_the_best_path_is_that_of_enumeration():
    random = np.random.default_rng(0)
    tables = random.normal(0, 4, (20, 4, 7))  # 4 states, 7 intents
    found = best_paths(tables.transpose(1, 2, 0), 5.0)
    for k, table in enumerate(tables):
        best = max(price(path, table, 5.0) for path in itertools.product(range(4), repeat=7))
        assert price(found[:, k], table, 5.0) == pytest.approx(best, abs=1e-12)
    assert len(np.unique(found)) == 4  # all states are used, or nothing would be tested


def test_the_content_of_others_is_a_weighted_mean_of_clipped_lengths():
    random = np.random.default_rng(1)
    lengths = random.normal(4, 0.5, (60, 1)) + random.normal(0, 0.2, (60, 5)) + random.normal(0, 1, 5)
    lengths[random.random(lengths.shape) < 0.2] = np.nan
    found = consensus_of(lengths)
    b = np.nanmedian(lengths, axis=0)
    a = np.nanmedian(lengths - b, axis=1)
    b = b + np.nanmedian(lengths - b - a[:, None], axis=0)
    r = lengths - b
    a = np.nanmedian(r, axis=1)
    s = 1.4826 * np.nanmedian(np.abs(r - a[:, None]), axis=0)
    w = np.minimum(s**-2, 3 * np.median(s**-2))
    content = found.content(slice(0, 5))
    for i, j in itertools.product(range(60), range(5)):
        others = [k for k in range(5) if k != j and np.isfinite(r[i, k])]
        if others:
            clipped = [np.clip(r[i, k], a[i] - 3 * s[k], a[i] + 3 * s[k]) for k in others]
            assert content[i, j] == pytest.approx(np.average(clipped, weights=w[others]), abs=1e-9)
        else:
            assert np.isnan(content[i, j])


def test_shifts_and_correlations_of_an_edition_that_is_one_line_late():
    random = np.random.default_rng(3)
    c = normal_scores(random.normal(size=(800, 1)))
    z = normal_scores(shifted(c, 2) + 0.3 * random.normal(size=(800, 1)))
    assert correlations(z, c, 3)[0] == pytest.approx(1 / np.sqrt(1.09), abs=0.02)
    assert correlations(z, c, 1)[0] == 0.5  # not found, but never less
    table = evidence(z, c, np.array([0.95]), 3)
    assert table[:, 10:-10, 0].sum(axis=1).argmax() == 5  # offset 2 of -3 to 3
    assert np.unique(best_paths(table, 10.0)[5:-5]).tolist() == [5]
