"""Crossed and nested clusters, design effects, and clusters that cannot be spared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import DataError
from langdiff.regression.kernel.clusters import (
    RowClusters,
    covariance_of_clusters,
    crossed_covariance,
    design_effect,
    nested_covariance,
    nested_freedom,
)
from langdiff.regression.kernel.likelihood import Rows
from langdiff.regression.kernel.two_way import check_clusters, disconnecting_clusters, edition_components
from tests.helpers import refused
from tests.regression.kernel.exact_clusters import cluster_covariance


def rows(seed=0, intents=120, editions=4):
    """Model 1 of a complete table of noise."""
    z = np.random.default_rng(seed).normal(size=(intents, editions))
    residual = z - z.mean(axis=0) - z.mean(axis=1, keepdims=True) + z.mean()
    ones = np.ones_like(z)
    return Rows(residual, ones, ones / np.sqrt(editions))


def test_crossed_clusters_are_pairs_of_rows_that_share_either():
    info, rng = rows(), np.random.default_rng(1)
    one, other = rng.integers(30, size=120), rng.integers(40, size=120)
    both = np.unique(np.column_stack([one, other]), axis=0, return_inverse=True)[1].ravel()
    found = crossed_covariance(*(cluster_covariance(info.kept(), g, kind="CR0") for g in (one, other, both)))
    shared = (one[:, None] == one) | (other[:, None] == other)
    inverse = np.linalg.pinv(info.kept().total)
    direct = inverse @ info.score.T @ shared @ info.score @ inverse
    assert np.linalg.eigvalsh(direct)[0] > -1e-12  # nothing was set to 0 in this table
    assert_allclose(found, direct, atol=1e-12)


def test_negative_eigenvalues_are_set_to_0():
    one, other, both = np.diag([1.0, 4.0]), np.diag([1.0, 4.0]), np.diag([3.0, 1.0])
    assert_allclose(crossed_covariance(one, other, both), np.diag([0.0, 7.0]))


def test_nested_clusters_do_not_see_what_a_whole_group_shares():
    """A shift of one edition in a whole book, the same in all its chapters, is not an error of these books."""
    info = rows()
    chapter = np.arange(120) // 5
    book = np.arange(24) // 8
    shift = np.zeros_like(info.score)
    for b in range(3):
        shift[book[chapter] == b] = np.array([1.0, -1.0, 0.0, 0.0]) * (b - 1)
    plain = nested_covariance(RowClusters(info.kept(), chapter), book, "CR0")
    moved = nested_covariance(RowClusters(info._replace(score=info.score + shift).kept(), chapter), book, "CR0")
    assert_allclose(moved, plain, atol=1e-14)
    sums = np.array([info.score[chapter == g].sum(axis=0) for g in range(24)])
    inverse = np.linalg.pinv(info.kept().total)
    within = sum(8 * np.cov(sums[book == b], rowvar=False) for b in range(3))
    assert_allclose(plain, inverse @ within @ inverse, atol=1e-14)


def test_groups_of_one_cluster_stay_whole():
    clusters = RowClusters(rows().kept(), np.arange(120) // 5)
    assert_allclose(nested_covariance(clusters, np.arange(24)), covariance_of_clusters(clusters, "CR2"), atol=1e-14)
    assert nested_freedom(np.array(23.0), np.arange(24)) == pytest.approx(23)
    assert nested_freedom(np.array(23.0), np.arange(24) // 8) == pytest.approx(21)


def test_design_effect_is_that_of_the_differences():
    rng = np.random.default_rng(0)
    one, other = (a @ a.T for a in rng.normal(size=(2, 5, 5)))
    pairs = [np.eye(5)[j] - np.eye(5)[k] for j in range(5) for k in range(j)]
    ratio = sum(p @ one @ p for p in pairs) / sum(p @ other @ p for p in pairs)
    assert design_effect(one, other) == pytest.approx(ratio)


def is_connected(observed):
    return bool(observed.any(axis=0).all()) and edition_components(observed).max() == 0


@given(seed=st.integers(0, 10_000), n_clusters=st.integers(2, 8), share=st.floats(0.2, 0.7))
def test_disconnecting_clusters_are_those_found_one_by_one(seed, n_clusters, share):
    rng = np.random.default_rng(seed)
    observed, cluster = rng.random((12, 4)) < share, rng.integers(n_clusters, size=12)
    one_by_one = [g for g in np.unique(cluster) if not is_connected(observed[cluster != g])]
    assert disconnecting_clusters(observed, cluster).tolist() == one_by_one[:5]


def test_clusters_that_cannot_be_spared_are_named():
    observed = np.ones((30, 4), dtype=bool)
    cluster = np.arange(30) // 10
    check_clusters(observed, cluster)
    observed[:20, 3] = False
    with pytest.raises(DataError, match=r"one cluster \('Acts'\) some editions.*2 parts, of 3 and 1 editions"):
        check_clusters(observed, cluster, ["Mark", "Luke", "Acts"])
    refused(DataError, r"one cluster \(2\)", check_clusters, observed, cluster)
    with pytest.raises(DataError, match=r"all intents are in one cluster \('Mark'\)"):
        check_clusters(observed, np.zeros(30, dtype=int), ["Mark"])
