"""Standard errors: three ways to the same number, and contrasts from the joint covariance."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.regression import Bootstrap
from langdiff.regression.fitting.sample import bootstrap_draws, cluster_jackknife, jackknife_inflation
from tests.helpers import refused

AGREEMENT = 0.10  # of a standard error; 500 samples leave 3 % of each, and their mean over editions less


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "restricted", "missing"),
    [
        ("1", False, 0.2),
        ("2", False, 0.0),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("1", False, 0.0), ("2", False, 0.2), ("2", True, 0.2))
        ),
    ],
)
def test_bootstrap_and_information_agree(model, restricted, missing):
    surprisals = ld.simulate(600, 8, model=model, missing=missing, seed=2).surprisals
    information = ld.fit(surprisals, model=model, restricted=restricted, errors="information")
    bootstrap = ld.fit(surprisals, model=model, restricted=restricted, errors=Bootstrap(500), seed=1)
    ratio = bootstrap.std_error / information.std_error
    assert abs(ratio.mean() - 1) < AGREEMENT
    assert_allclose(bootstrap.difficulty, information.difficulty, atol=1e-12)
    assert (bootstrap.errors.kind, bootstrap.errors.n_resamples) == ("bootstrap", 500)
    assert "bootstrap-500" in bootstrap.signature
    assert f"500 samples of {600 - bootstrap.single_cell_intents} intents" in bootstrap.summary()


@pytest.mark.parametrize(
    ("truth", "model"),
    [("2", "2L"), ("2L", "2L"), *(pytest.param(*pair, marks=pytest.mark.slow) for pair in (("2C", "2C"), ("2", "2C")))],
)
@pytest.mark.filterwarnings("ignore:.*over 20 times")  # as model 2C draws them
def test_the_sandwich_sees_what_the_bootstrap_sees(truth, model):
    """Medians of few cells, of normal residuals too; 100 samples leave 7 % of each standard error."""
    surprisals = ld.simulate(400, 6, model=truth, seed=3).surprisals
    fit = ld.fit(surprisals, model=model)
    honest = ld.fit(surprisals, model=model, errors=Bootstrap(100), seed=1).std_error.mean()
    assert fit.std_error.mean() == pytest.approx(honest, rel=0.15)
    assert fit.errors.kind == "sandwich"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:standard errors from 150 intents")  # of which the rare edition has six
def test_a_rare_edition_does_not_spoil_the_others():
    """An edition of six cells has nothing to do with the difference of two that are complete."""
    ratios = []
    for seed in range(12):
        surprisals = ld.simulate(150, 4, model="2L", seed=seed).surprisals
        bits = surprisals.bits.copy()
        whole = ld.fit(bits.drop(columns="e4"), model="2L").contrast("e2", "e1").std_error
        bits.iloc[6:, 3] = np.nan
        ratios.append(ld.fit(bits, model="2L").contrast("e2", "e1").std_error / whole)
    assert np.exp(np.mean(np.log(ratios))) == pytest.approx(1, abs=0.25)


def test_an_intent_that_cannot_be_spared_has_no_sandwich():
    """Models 1 and 2 fall back on the information, after a warning; 2L has none and says why."""
    surprisals = ld.simulate(150, 4, seed=1).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[1:, 3] = np.nan
    with (
        pytest.warns(LangdiffWarning, match="joined to the others by single intents only: 'e4'"),
        pytest.warns(LangdiffWarning, match=r"^single intents \('1'\) decide how some editions compare"),
    ):
        assert ld.fit(bits).errors.kind == "information"
    with pytest.warns(LangdiffWarning), pytest.raises(DataError, match="have all the information on some difference"):
        ld.fit(bits, model="2L", errors="sandwich")


def test_too_few_intents_for_a_jackknife():
    surprisals = ld.simulate(8, 3, model="2L", seed=1).surprisals
    with pytest.warns(LangdiffWarning, match=r"too few intents \(8\) to find standard errors by leaving some out"):
        ld.fit(surprisals, model="2L", errors="jackknife", seed=1)


def test_bootstrap_of_groups_and_robust_models_is_repeated_by_its_seed(monkeypatch):
    monkeypatch.setattr(Bootstrap, "__post_init__", lambda _: None)  # few samples, which take no time
    surprisals = ld.simulate(100, 4, missing=0.1, seed=4).surprisals
    groups = {"e1": "a", "e2": "a", "e3": "b", "e4": "b"}
    one = ld.fit(surprisals, groups=groups, errors=Bootstrap(20), seed=7)
    same = ld.fit(surprisals, groups=groups, errors=Bootstrap(20), seed=np.random.default_rng(7))
    other = ld.fit(surprisals, groups=groups, errors=Bootstrap(20), seed=8)
    assert_allclose(one.covariance, same.covariance)
    assert not np.allclose(one.covariance, other.covariance, rtol=1e-3)
    robust = ld.fit(surprisals, model="2C", errors=Bootstrap(10), seed=1)
    assert (robust.std_error > 0).all()


def test_a_table_too_sparse_for_a_bootstrap():
    surprisals = ld.simulate(30, 3, seed=1).surprisals
    bits = surprisals.bits.copy()
    bits.iloc[1:, 2] = np.nan
    with pytest.warns(LangdiffWarning, match="single intents only"):
        ld.fit(bits)
    with pytest.warns(LangdiffWarning), pytest.raises(DataError, match="some editions had no intent in common"):
        ld.fit(bits, errors=Bootstrap(99), seed=1)
    with pytest.raises(DataError, match="or no residuals"):  # two of the same intent leave none
        ld.fit(surprisals.bits.iloc[:2, :2], errors=Bootstrap(99), seed=1)


@pytest.mark.parametrize("samples", [0, 98, 500.0, True])
def test_a_bootstrap_takes_99_samples_or_more(samples):
    refused(ConfigError, f"n_resamples={samples}: give a whole number, at least 99", Bootstrap, samples)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"errors": Bootstrap(99), "seed": None}, r"bootstrap samples are drawn at random\); got None"),
        ({"errors": Bootstrap(99), "seed": -1}, "bootstrap samples .* got -1"),
        ({"errors": Bootstrap(99), "seed": "x"}, "bootstrap samples .* got 'x'"),
    ],
)
def test_bad_bootstraps(setting, message):
    surprisals = ld.simulate(30, 3, seed=1).surprisals
    refused(ConfigError, message, ld.fit, surprisals, **setting)


@pytest.fixture(scope="module")
def fit():
    return ld.fit(ld.simulate(200, 5, missing=0.2, seed=5).surprisals)


def test_contrast_is_that_of_draws_from_the_joint_distribution(fit):
    draws = pd.DataFrame(
        np.random.default_rng(0).multivariate_normal(fit.difficulty, fit.covariance, size=200_000),
        columns=fit.difficulty.index,
    )
    pair, sets = fit.contrast("e1", "e2"), fit.contrast(["e1", "e3"], ["e2", "e4", "e5"])
    assert pair.estimate == pytest.approx(fit.difficulty["e1"] - fit.difficulty["e2"])
    assert pair.std_error == pytest.approx((draws["e1"] - draws["e2"]).std(), rel=0.01)
    means = draws[["e1", "e3"]].mean(axis=1) - draws[["e2", "e4", "e5"]].mean(axis=1)
    assert sets.std_error == pytest.approx(means.std(), rel=0.01)
    assert sets.high - sets.low == pytest.approx(2 * stats.t.ppf(0.975, sets.degrees_of_freedom) * sets.std_error)
    assert pair.percent == pytest.approx(100 * (np.exp(pair.estimate) - 1))
    p = 2 * min((draws["e1"] - draws["e2"] < 0).mean(), (draws["e1"] - draws["e2"] > 0).mean())
    assert pair.p_value == pytest.approx(p, abs=0.01)
    assert str(sets).startswith("mean(e1, e3) - mean(e2, e4, e5): ")


@pytest.mark.parametrize(
    ("sides", "message"),
    [
        (("e1", "e9"), "not in this fit: 'e9'; it has 'e1'"),
        (("e1", ["e2", "e1"]), "on both sides of the contrast: 'e1'"),
        (([], "e1"), "needs a name on both sides"),
    ],
)
def test_contrasts_that_cannot_be(fit, sides, message):
    refused(ConfigError, message, fit.contrast, *sides)


def means(table):
    """The difficulties of model 1 in a complete table, as the bootstrap and the jackknife ask for them."""

    def estimate(rows):
        columns = table[rows].mean(axis=0)
        return columns - columns.mean()

    return estimate


def clustered_noise(intents=200, editions=3, n_clusters=20, seed=0):
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.arange(intents) % n_clusters)
    return rng.normal(size=(intents, editions)) + rng.normal(size=(n_clusters, editions))[cluster], cluster


def test_a_bootstrap_of_clusters_sees_what_they_share():
    z, cluster = clustered_noise()
    observed = np.ones(z.shape, dtype=bool)
    spreads = []
    for given in (None, cluster):
        rng = np.random.default_rng(1)
        draws = bootstrap_draws(observed, means(z), replicates=2000, rng=rng, cluster=given)
        spreads.append((draws[:, 1] - draws[:, 0]).std())
    differences = z[:, 1] - z[:, 0]
    of_clusters = np.array([differences[cluster == g].mean() for g in range(20)])
    assert spreads[0] == pytest.approx(differences.std() / np.sqrt(200), rel=0.06)
    assert spreads[1] == pytest.approx(of_clusters.std() / np.sqrt(20), rel=0.06)


def test_whole_clusters_are_drawn():
    cluster = np.array([3, 1, 1, 3, 7])
    samples = []

    def estimate(rows):
        samples.append(rows)
        return np.zeros(2)

    bootstrap_draws(np.ones((5, 2), dtype=bool), estimate, replicates=50, rng=np.random.default_rng(0), cluster=cluster)
    for rows in samples:
        count = np.bincount(rows, minlength=5)
        assert count[0] == count[3]
        assert count[1] == count[2]
        assert count[0] + count[1] + count[4] == 3
    assert len({tuple(sorted(rows)) for rows in samples}) > 5


def test_a_jackknife_names_the_cluster_it_cannot_spare():
    z, cluster = clustered_noise()
    observed = np.ones(z.shape, dtype=bool)
    observed[cluster != 4, 2] = False
    with pytest.raises(DataError, match="without the 10 intents of cluster 4 some editions"):
        cluster_jackknife(observed, means(z), means(z)(np.arange(200)), cluster)
    with pytest.raises(DataError, match="all intents are in one cluster"):
        cluster_jackknife(observed, means(z), means(z)(np.arange(200)), np.zeros(200, dtype=int))


def test_group_jackknife_follows_the_names_and_not_the_table():
    """The groups are drawn of the sorted names: the same table in another order has the same inflation."""
    z, _ = clustered_noise()
    observed, names = np.ones(z.shape, dtype=bool), np.arange(200)
    permutation = np.random.default_rng(5).permutation(200)
    found = [
        jackknife_inflation(
            observed, means(table), np.eye(3), order=np.argsort(order), rng=np.random.default_rng(2)
        ).of_units
        for table, order in ((z, names), (z[permutation], names[permutation]))
    ]
    assert_allclose(found[0], found[1], rtol=1e-12)


def test_partitions_are_averaged_to_the_variance_of_means():
    """Of means of 200 rows, 50 groups five times over know a variance as well as the 200 rows do."""
    z, _ = clustered_noise()
    observed = np.ones(z.shape, dtype=bool)
    exact = np.cov(z - z.mean(axis=1, keepdims=True), rowvar=False) / 200
    ratios = [
        jackknife_inflation(observed, means(z), exact, order=np.arange(200), rng=np.random.default_rng(seed)).pooled
        for seed in range(40)
    ]
    assert np.mean(ratios) == pytest.approx(1, abs=0.03)
    assert np.std(ratios) < 0.12
