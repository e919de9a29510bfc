"""Whole clusters held out, and standard errors whose sample is clusters."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression.check.cross_validate import LEAST_LEFT, NEVER, assign_folds, cross_validate
from langdiff.regression.check.held_out import held_out_log_likelihood, mean_per_cell
from langdiff.regression.kernel.two_way import edition_components
from langdiff.tables.surprisals import Surprisals
from tests.helpers import refused


@st.composite
def tables(draw):
    """Observed cells, connected, and enough of them to be fitted; clusters of their rows."""
    intents, editions = draw(st.integers(2, 20)), draw(st.integers(2, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    observed = rng.random((intents, editions)) >= draw(st.sampled_from([0.0, 0.2, 0.5]))
    observed[0] = True
    observed[np.arange(editions) % intents, np.arange(editions)] = True
    clusters = pd.factorize(rng.integers(draw(st.integers(1, intents)), size=intents))[0]
    return observed, clusters


@given(table=tables(), k=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
def test_a_cluster_leaves_an_edition_whole_or_not_at_all(table, k, seed):
    observed, clusters = table
    folds = assign_folds(observed, k, np.random.default_rng(seed), clusters)
    assert (folds[~observed] == NEVER).all()
    for cluster in np.unique(clusters):
        rows = clusters == cluster
        for edition in range(observed.shape[1]):
            assert len(np.unique(folds[rows, edition][observed[rows, edition]])) <= 1
    enough = observed.sum() >= sum(observed.shape)
    for fold in range(k):
        left = observed & (folds != fold)
        assert (left.sum(axis=1)[(folds == fold).any(axis=1)] >= LEAST_LEFT).all()
        assert edition_components(left).max() == 0
        assert left.sum() >= sum(observed.shape) or not enough


@given(table=tables(), k=st.integers(2, 7), seed=st.integers(0, 2**32 - 1))
def test_clusters_of_one_intent_are_as_none(table, k, seed):
    observed, _ = table
    alone = assign_folds(observed, k, np.random.default_rng(seed), np.arange(len(observed)))
    assert np.array_equal(alone, assign_folds(observed, k, np.random.default_rng(seed)))


def test_all_cells_of_a_complete_table_are_held_out_in_folds_of_like_size():
    clusters = np.repeat(np.arange(50), 8)
    folds = assign_folds(np.ones((400, 8), dtype=bool), 5, np.random.default_rng(0), clusters)
    assert (folds != NEVER).all()
    sizes = np.bincount(folds.ravel(), minlength=5)
    assert sizes.min() > 0.7 * sizes.max()


def test_an_intent_that_cannot_spare_a_cell_keeps_those_of_its_cluster_too():
    observed = np.ones((6, 4), dtype=bool)
    observed[1, 2:] = False  # has two cells only, in the first two editions
    folds = assign_folds(observed, 3, np.random.default_rng(0), np.array([0, 0, 0, 1, 1, 1]))
    assert (folds[:3, :2] == NEVER).all()
    assert (folds[[0, 2], 2:] != NEVER).all()


def clustered(seed, clusters=16, intents=8, editions=4, shared=0.5):
    """Draw from model 1 with errors of which a share is common to a cluster in an edition."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(clusters), intents)
    common = rng.normal(size=(clusters, editions))[cluster]
    own = rng.normal(size=common.shape)
    noise = 0.2 * (np.sqrt(shared) * common + np.sqrt(1 - shared) * own)
    names = [f"s{i}" for i in range(len(cluster))]
    z = rng.normal(5, 0.6, (len(cluster), 1)) + rng.normal(0, 0.05, editions) + noise
    bits = pd.DataFrame(np.exp(z), index=names, columns=[f"e{j}" for j in range(editions)])
    return Surprisals(bits=bits, intent_info=pd.DataFrame({"document": cluster}, index=names))


@pytest.mark.slow
def test_errors_that_are_shared_do_not_leak():
    """With cells held out one by one, the editions' difficulties know the errors of the cluster."""
    leaks, errors = [], []
    for seed in range(6):
        table = clustered(seed)
        one, whole = (cross_validate(table, "1", n_folds=4, clusters=c, seed=seed) for c in (None, "document"))
        assert whole.held_out.sum() == one.held_out.sum() == table.bits.size
        leaks.append(one.to_frame()["log_density"].iloc[0] - whole.to_frame()["log_density"].iloc[0])
        errors.append(whole.to_frame()["std_error"].iloc[0] / one.to_frame()["std_error"].iloc[0])
    assert np.mean(leaks) > 3 * np.std(leaks, ddof=1) / np.sqrt(len(leaks))
    assert np.mean(errors) > 1.4


def test_standard_errors_are_those_of_sums_by_cluster():
    """A dense computation of the same ratio, from the record's own frames."""
    table = clustered(2)
    found = cross_validate(table, ["1", "2"], n_folds=3, clusters="document", seed=0)
    frame = found.to_frame()
    groups = table.intent_info["document"]
    counts = found.held_out.groupby(groups).sum()
    for name, column in found.per_intent.items():
        sums = column.groupby(groups).sum()
        mean = sums.sum() / counts.sum()
        variance = len(sums) * np.var(sums - mean * counts, ddof=1) / counts.sum() ** 2  # the deviations sum to 0
        assert_allclose(frame.loc[name, ["log_density", "std_error"]].astype(float), [mean, np.sqrt(variance)])


def test_clustered_errors_have_the_spread_of_repeated_samples():
    rng = np.random.default_rng(0)
    clusters = pd.Series(np.repeat(np.arange(40), 5))
    counts = rng.integers(1, 9, 200)
    estimates, clustered_errors, naive = [], [], []
    for _ in range(300):
        rows = counts * (rng.normal(1, 1, 40)[clusters] + rng.normal(0, 1, 200))
        mean, error = mean_per_cell(rows, counts, clusters)[["per_cell", "std_error"]]
        alone = mean_per_cell(rows, counts)
        assert mean == pytest.approx(alone["per_cell"])
        estimates.append(mean)
        clustered_errors.append(error)
        naive.append(alone["std_error"])
    spread = np.std(estimates)
    assert np.mean(clustered_errors) == pytest.approx(spread, rel=0.13)  # 300 samples: 4.1 %; a ratio's own bias
    assert np.mean(naive) < 0.7 * spread


def test_a_single_cluster_has_no_standard_error():
    mean, error = mean_per_cell(np.array([1.0, 3.0]), np.array([1, 1]), pd.Series(["x", "x"]))[
        ["per_cell", "std_error"]
    ]
    assert (mean, np.isnan(error)) == (2.0, True)


def test_held_out_intents_may_have_clusters():
    table = clustered(3)
    fit = ld.fit(table.sel(intents=table.intents[:64]), model="1", clusters=None)
    rest = table.sel(intents=table.intents[64:])
    plain = held_out_log_likelihood(fit, rest, n="posterior", clusters=None, seed=0)
    whole = held_out_log_likelihood(fit, rest, n="posterior", clusters="document", seed=0)
    assert whole.total == plain.total
    sums = whole.per_intent.groupby(rest.intent_info["document"]).sum()
    assert whole.std_error == pytest.approx(np.std(sums, ddof=1) / np.sqrt(len(sums)) / 32)  # 8 intents × 4 editions
    assert whole.std_error > 1.2 * plain.std_error
    assert "|clusters:document#" in whole.signature
    assert whole.signature != plain.signature


def test_an_intent_without_cells_needs_no_cluster_where_it_is_not_scored():
    table = clustered(3)
    bits = table.bits.copy()
    bits.iloc[-1] = np.nan
    clusters = table.intent_info["document"].drop(table.intents[-1])
    fit = ld.fit(table.sel(intents=table.intents[:64]), model="1", clusters=None)
    assert held_out_log_likelihood(fit, bits.iloc[64:], clusters=clusters, seed=0).cells == 63 * 4


def test_clusters_that_cannot_be_used():
    table = clustered(1, clusters=4, intents=3)
    with pytest.raises(ConfigError, match="clusters='book': intent_info has no such column"):
        cross_validate(table, clusters="book", seed=0)
    crossed = ["document", pd.Series(np.arange(12) % 3, index=table.intents, name="translator")]
    with pytest.raises(ConfigError, match=r"'document' and 'translator' are crossed, .* Give one of them"):
        cross_validate(table, clusters=crossed, seed=0)
    refused(DataError, "intents have no cluster", cross_validate, table, clusters={"s0": 1, "s1": 2}, seed=0)
    fit = ld.fit(table, model="1", clusters=None)
    with pytest.raises(DataError, match="all intents are in one cluster"):
        held_out_log_likelihood(fit, table, clusters=dict.fromkeys(table.intents, 1), seed=0)
