"""Fits of several systems: the worked numbers, the same table with plain editions, and noise by system."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import DataError, LangdiffWarning
from langdiff.regression.kernel import clusters as of_rows
from langdiff.regression.kernel.clusters import (
    ColumnClusters,
    RowClusters,
    adjusted_influences,
    covariance_of_clusters,
    equal_influences,
)
from langdiff.regression.kernel.likelihood import Rows
from langdiff.regression.kernel.two_way import solve_two_way
from langdiff.tables.rule import freedom_of
from langdiff.tables.simultaneous import MOST_MEMBERS

LANGUAGES = ["eng", "deu", "fin"]
A = pd.DataFrame([[40, 50, 44], [60, 66, 75], [30, 42, 33], [80, 90, 100], [55, 60, 61]], columns=LANGUAGES)
B = pd.DataFrame([[36, 47, 45], [55, 60, 74], [28, 36, 34], [70, 84, 96], [50, 58, 60]], columns=LANGUAGES)
SAME = 1e-8  # with the same table fitted as plain editions
TIES = pytest.mark.filterwarnings("ignore:standard errors from 5 intents")


def tables(intents=60, languages=4, systems=3, noise=(0.05,), missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    size = rng.normal(5, 0.5, (intents, 1))
    translation = rng.normal(0, 0.05, (intents, languages))
    found = {}
    for m in range(systems):
        z = size + translation + rng.normal(0, 0.1, languages) + rng.normal(0, noise[m % len(noise)], translation.shape)
        z[rng.random(z.shape) < missing] = np.nan
        bits = pd.DataFrame(
            np.exp(z), [f"doc{i // 6}_s{i}" for i in range(intents)], [f"l{j}" for j in range(languages)]
        )
        found[f"m{m}"] = ld.Surprisals(bits=bits)
    return found


def plain(stacked):
    """Return a stack as a table of one language model, as people wrote it before."""
    return ld.Surprisals(bits=stacked.bits)


@TIES
def test_worked_numbers_of_model_1():
    two_way = ld.fit({"A": ld.Surprisals(bits=A), "B": ld.Surprisals(bits=B)}, model="1", clusters=None).two_way
    assert_allclose(two_way.languages.estimate, [-0.12493568, 0.05460596, 0.07032973], atol=5e-9)
    contrasts = [
        (two_way.contrast(systems=["A", "B"]), 0.06152570, 0.00612275),
        (two_way.contrast(["fin", "eng"]), 0.19526541, 0.02853436),
        (two_way.contrast(["fin", "eng"], ["B", "A"]), 0.09435157, 0.00953280),
    ]
    for contrast, estimate, std_error in contrasts:
        assert_allclose([contrast.estimate, contrast.std_error], [estimate, std_error], atol=5e-9)
    assert_allclose(
        two_way.interaction.estimate.xs("A", level="system"), [0.01825778, 0.01066022, -0.02891800], atol=5e-9
    )


@TIES
def test_worked_numbers_of_model_2():
    fit = ld.fit({"A": ld.Surprisals(bits=A), "B": ld.Surprisals(bits=B)}, dispersion="common", clusters=None)
    contrasts = [
        (fit.two_way.contrast(["fin", "eng"]), 0.21037322, 0.03238209),
        (fit.two_way.contrast(systems=["B", "A"]), -0.06400123, 0.00760037),
        (fit.two_way.contrast(["fin", "eng"], ["B", "A"]), 0.09165802, 0.00856594),
    ]
    assert fit.errors.correction == "CR2"
    for contrast, estimate, std_error in contrasts:
        assert_allclose([contrast.estimate, contrast.std_error], [estimate, std_error], atol=5e-9)


@pytest.mark.parametrize("correction", ["CR0", "CR1", "CR2", "CR3"])
@pytest.mark.parametrize("model", ["1", "2", "2L-rounded"])
@pytest.mark.parametrize("missing", [0.0, 0.15])
@pytest.mark.parametrize("clusters", [None, "document"])
@pytest.mark.filterwarnings("ignore::langdiff.errors.LangdiffWarning")
def test_a_stack_is_fitted_as_the_same_table_of_plain_editions(model, missing, clusters, correction):
    stacked = ld.stack(tables(missing=missing))
    info = pd.DataFrame({"document": [name.split("_")[0] for name in stacked.intents]}, index=stacked.intents)
    stacked = stacked.with_intent_info(info)
    options = {"model": model, "dispersion": "common", "clusters": clusters, "errors": ld.Sandwich(correction)}
    crossed = ld.fit(stacked, **options)
    before = ld.fit(plain(stacked).with_intent_info(info), **options)
    assert_allclose(crossed.difficulty, before.difficulty, atol=SAME)
    assert_allclose(crossed.covariance, before.covariance, rtol=0, atol=SAME * before.covariance.max(axis=None))
    if clusters:
        assert crossed.errors.design_effect == pytest.approx(before.errors.design_effect, rel=SAME)


@pytest.mark.parametrize(("model", "missing"), [("1", 0.0), ("1", 0.1), ("2", 0.1)])
def test_many_columns_need_no_covariance(model, missing):
    stacked = ld.stack(tables(intents=80, languages=60, systems=4, missing=missing))
    assert len(stacked.editions) > MOST_MEMBERS
    options = {"model": model, "dispersion": "common", "clusters": None, "errors": "sandwich"}
    crossed, before = ld.fit(stacked, **options), ld.fit(plain(stacked), **options)
    assert crossed.covariance.empty
    assert_allclose(crossed.effects.covariance, before.covariance, rtol=0, atol=SAME * before.covariance.max(axis=None))
    assert_allclose(crossed.std_error, before.std_error, rtol=SAME)
    assert_allclose(crossed.difficulty, before.difficulty, atol=SAME)
    assert crossed.log_likelihood == pytest.approx(before.log_likelihood, rel=1e-9)


def test_clusters_without_a_matrix_of_editions_equal_those_with_one(monkeypatch):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(30, 50))
    z[rng.random(z.shape) < 0.2] = np.nan
    two_way = solve_two_way(z)
    mixed = two_way.mask / np.sqrt(two_way.cells_per_intent)[:, None]
    rows = Rows(two_way.residual, two_way.mask, mixed).kept()
    monkeypatch.setattr("langdiff.regression.kernel.two_way.WIDE", 40)
    monkeypatch.setattr(of_rows, "ROUGH", 1e-12)
    centre = np.eye(50) - 1 / 50
    for cluster in (np.arange(30), np.arange(30) // 3):
        expected = centre @ covariance_of_clusters(RowClusters(rows, cluster)) @ centre
        found = adjusted_influences(ColumnClusters(rows, cluster), "CR2") @ centre
        assert_allclose(found.T @ found, expected, atol=1e-12)
    wide = solve_two_way(z, wide=True)
    assert wide.information.by_intents
    assert_allclose(wide.edition_effect, two_way.edition_effect, atol=1e-12)
    assert_allclose(wide.residual, two_way.residual, atol=1e-12)


def test_complete_tables_have_the_influences_of_the_general_formula():
    rng = np.random.default_rng(4)
    two_way, cluster = solve_two_way(rng.normal(size=(20, 6))), np.repeat(np.arange(4), [2, 4, 6, 8])
    ones = np.ones((20, 6))
    rows = Rows(two_way.residual, ones, ones / np.sqrt(6)).kept()
    for kind in ("CR0", "CR2", "CR3"):
        expected = covariance_of_clusters(RowClusters(rows, cluster), kind)
        found = equal_influences(two_way.residual, cluster, kind)
        assert_allclose(found.T @ found, expected, atol=1e-14)
    shares = np.array([2, 4, 6, 8]) / 20
    apart = ~np.eye(4, dtype=bool)
    products = np.outer(shares**2 / (1 - shares), shares**2 / (1 - shares))[apart].sum()
    assert freedom_of(shares) == pytest.approx(1 / (np.sum(shares**2) + products))


def test_errors_of_few_intents_are_not_those_of_independent_cells():
    fit = ld.fit(tables(intents=30), clusters=None)
    assert fit.errors.kind == "sandwich"
    assert ld.fit(plain(ld.stack(tables(intents=30))), clusters=None).errors.kind == "information"


def test_systems_that_differ_in_noise_have_dispersions_of_their_own():
    differ = ld.fit(tables(intents=120, noise=(0.03, 0.15)), model="1", clusters=None)
    assert differ.audit.noise.of == "system"
    assert differ.audit.noise.p_value < 1e-6
    assert sorted(differ.dispersions.value.index) == ["m0", "m1", "m2"]
    asked = ld.fit(tables(intents=120, noise=(0.03, 0.15)), model="1", clusters=None, dispersion="system")
    assert_allclose(asked.difficulty, differ.difficulty, atol=SAME)
    assert "Noise, or how much of it systems share, differs" in differ.summary()
    assert differ.two_way.languages.std_error.gt(0).all()


def test_equal_noise_of_systems_is_seldom_rejected_and_unequal_noise_is_told_of_large_tables(monkeypatch):
    rejected = [
        ld.fit(tables(intents=60, seed=seed), model="1", clusters=None).audit.noise.unequal for seed in range(40)
    ]
    assert sum(rejected) <= 3
    monkeypatch.setattr("langdiff.regression.fitting.audit.MOST_COST", 100)
    with pytest.warns(LangdiffWarning, match="noise differs between systems .* the table is large"):
        fit = ld.fit(tables(intents=120, noise=(0.03, 0.15)), model="1", clusters=None)
    assert fit.dispersions is None


def test_the_summary_ranks_systems_and_a_saved_fit_is_the_same(tmp_path):
    fit = ld.fit(tables())
    assert "interval   ranks" in fit.summary()
    assert "Difficulty of languages ± standard error" in fit.summary()
    assert len(fit.to_frame()) == 12
    fit.save(tmp_path / "fit.json")
    read = ld.read(tmp_path / "fit.json")
    assert read.summary() == fit.summary()
    pd.testing.assert_frame_equal(read.two_way.flags(), fit.two_way.flags())
    with pytest.raises(DataError, match="one language model"):
        _ = ld.fit(tables()["m0"]).two_way


def test_more_columns_than_a_covariance_has(monkeypatch):
    monkeypatch.setattr("langdiff.regression.result.MOST_COLUMNS", 100)
    monkeypatch.setattr("langdiff.tables.column_levels.MOST_COLUMNS", 100)
    monkeypatch.setattr("langdiff.tables.two_way.MOST_COLUMNS", 100)
    fit = ld.fit(tables(languages=60, systems=4), model="1", dispersion="common", clusters=None)
    with pytest.raises(DataError, match="use two_way"):
        _ = fit.effects
    with pytest.raises(DataError, match="flags"):
        _ = fit.two_way.interaction
    assert len(fit.to_frame()) == len(fit.two_way.flags()) == 240
    assert fit.two_way.test().loc["interaction", "by"] == "sign flips"
    assert np.isfinite(fit.std_error).all()


def test_systems_in_one_language_have_a_summary():
    tables = {name: ld.simulate(100, 3, seed=seed).surprisals.sel(editions=["e1"]) for seed, name in enumerate("ab")}
    fit = ld.fit(tables)
    assert fit.two_way.leaderboard()["ranks"].tolist() == ["1–2", "1–2"]
    assert (fit.two_way.flags()["flag"] == "").all()
    assert "a" in fit.summary()
    assert fit.audit.order is None  # within an intent there is no other language to compare with
