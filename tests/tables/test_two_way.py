"""Languages, systems and their interaction from the levels of columns."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2, t

from langdiff.errors import ConfigError, DataError
from langdiff.tables.column_levels import MEAN
from langdiff.tables.crossing import make_columns
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, Units
from langdiff.tables.rule import JointTest, Scale
from langdiff.tables.two_way import TwoWay, factor_of
from tests.helpers import refused

LANGUAGES, SYSTEMS = ("deu", "eng", "fin", "zho"), ("a", "b", "c")


def make(missing=(), seed=0, clusters=60, scale=MEAN, by=None, **options):
    """Return levels of columns with a factor of random influences."""
    rng = np.random.default_rng(seed)
    pairs = [pair for pair in itertools.product(LANGUAGES, SYSTEMS) if pair not in missing]
    columns = make_columns(pairs)
    factor = rng.normal(0, 0.02, (clusters, len(columns)))
    levels = pd.Series(rng.normal(0, 0.1, len(columns)), columns.index)
    names = pd.Index([f"u{k}" for k in range(clusters)])
    influence = Influence(factor, np.full(clusters, 1 / clusters), Units("unit", names), corrected=True)
    known = {"covariance": Effects.from_covariance(levels, pd.DataFrame(factor.T @ factor, levels.index, levels.index))}
    cells = Effects(estimate=levels, influence=known[by].influence if by else influence, scale=scale)
    return TwoWay(cells=cells, columns=columns, **options)


def factor_of_levels(two_way):
    return two_way.cells.influence.adjusted


def least_squares(two_way, weight=None):
    """Return the matrix from levels to centred languages and centred systems, by least squares on dummies."""
    columns = two_way.columns
    dummies = np.column_stack(
        [np.ones(len(columns))]
        + [(columns["language"] == name).astype(float) for name in LANGUAGES]
        + [(columns["system"] == name).astype(float) for name in SYSTEMS]
    )
    root = np.sqrt(np.ones(len(columns)) if weight is None else weight)[:, None]
    solve = np.linalg.pinv(dummies * root) * root.T
    languages, systems = solve[1:5], solve[5:]
    return languages - languages.mean(axis=0), systems - systems.mean(axis=0), np.eye(len(columns)) - dummies @ solve


@pytest.mark.parametrize("missing", [(), (("eng", "a"), ("zho", "b"), ("fin", "c"))])
def test_effects_are_those_of_least_squares_with_errors_of_the_same_weights(missing):
    two_way = make(missing)
    covariance = factor_of_levels(two_way).T @ factor_of_levels(two_way)
    for effects, weights in zip((two_way.languages, two_way.systems), least_squares(two_way)[:2], strict=True):
        np.testing.assert_allclose(effects.estimate, weights @ two_way.levels, atol=1e-14)
        np.testing.assert_allclose(effects.covariance, weights @ covariance @ weights.T, atol=1e-15)
    rest = least_squares(two_way)[2]
    np.testing.assert_allclose(two_way.interaction.estimate, rest @ two_way.levels, atol=1e-14)
    np.testing.assert_allclose(two_way.interaction.covariance, rest @ covariance @ rest.T, atol=1e-15)
    np.testing.assert_allclose(two_way.flags().sort_index()["std_error"], two_way.interaction.std_error.sort_index())


def test_means_over_some_languages_and_with_weights():
    two_way = make()
    square = two_way.levels.to_numpy().reshape(4, 3)
    some = square[[0, 2]].mean(axis=0)
    np.testing.assert_allclose(two_way.effects("systems", over=["deu", "fin"]).estimate, some - some.mean())
    speakers = {"deu": 1, "eng": 5, "fin": 0.1, "zho": 10}
    weighted = np.average(square, axis=0, weights=list(speakers.values()))
    np.testing.assert_allclose(two_way.effects("systems", weights=speakers).estimate, weighted - weighted.mean())
    missing = make([("eng", "a"), ("zho", "b")])
    weight = missing.columns["language"].map(speakers).to_numpy()
    expected = least_squares(missing, weight)[1] @ missing.levels
    np.testing.assert_allclose(missing.effects("systems", weights=speakers).estimate, expected, atol=1e-13)


def test_levels_of_one_system_are_compared_by_their_own_covariance():
    two_way = make()
    contrast = two_way.effects("b").contrast("fin", "eng")
    weights = two_way.columns.index.map({"fin@b": 1.0, "eng@b": -1.0}).fillna(0).to_numpy()
    assert contrast.estimate == pytest.approx(weights @ two_way.levels)
    assert contrast.std_error == pytest.approx(np.linalg.norm(factor_of_levels(two_way) @ weights))
    assert two_way.effects("zho").estimate.index.tolist() == list(SYSTEMS)
    assert two_way.pairs("b").frame.shape[0] == 6


def test_contrasts_of_languages_systems_and_both():
    two_way = make()
    square = two_way.levels
    assert two_way.contrast(["fin", "eng"]).estimate == pytest.approx(
        square[[f"fin@{s}" for s in SYSTEMS]].mean() - square[[f"eng@{s}" for s in SYSTEMS]].mean()
    )
    both = two_way.contrast(["fin", "eng"], ["c", "a"])
    assert both.estimate == pytest.approx(square["fin@c"] - square["eng@c"] - square["fin@a"] + square["eng@a"])
    weights = pd.Series(0.0, square.index)
    weights[["fin@c", "eng@c", "fin@a", "eng@a"]] = 1, -1, -1, 1
    assert both.std_error == pytest.approx(np.linalg.norm(factor_of_levels(two_way) @ weights))


def test_abilities_are_minus_the_means_and_the_ablest_comes_first():
    ability = Scale(quantity="ability", unit="log odds", first="ablest", centre="mean")
    difficulty = Scale(unit="log odds", centre="mean")
    plain, turned = make(), make(system_scale=ability, scale=difficulty)
    np.testing.assert_allclose(turned.systems.estimate, -plain.systems.estimate)
    assert turned.leaderboard().index.tolist() == plain.leaderboard().index.tolist()
    assert turned.leaderboard()["ranks"].tolist() == plain.leaderboard()["ranks"].tolist()
    assert "percent" not in turned.leaderboard()
    np.testing.assert_allclose(turned.languages.estimate, plain.languages.estimate)


def test_wald_statistics_equal_those_of_free_contrasts():
    two_way = make([("deu", "a")], by="covariance")
    covariance = two_way.cells.covariance.to_numpy()
    for name, weights in zip(("languages", "systems", "interaction"), least_squares(two_way), strict=True):
        v = weights @ covariance @ weights.T
        rank = np.linalg.matrix_rank(weights)
        e = weights @ two_way.levels
        expected = e @ np.linalg.pinv(v, rcond=1e-10) @ e
        row = two_way.test().loc[name]
        assert row["df"] == rank
        assert row["by"] == "chi-squared"
        assert row["statistic"] == pytest.approx(expected, rel=1e-8)
        assert row["p"] == pytest.approx(chi2.sf(expected, rank), rel=1e-8)


def test_few_units_change_signs_and_fewer_have_bonferroni():
    found = [make(clusters=count).test() for count in (300, 60, 20, 5)]
    assert [table["by"].to_list() for table in found] == [
        ["F", "F", "F"],
        ["sign flips", "F", "sign flips"],
        ["sign flips", "sign flips", "sign flips"],
        ["Bonferroni", "Bonferroni", "Bonferroni"],
    ]
    assert all(((table["p"] > 0) & (table["p"] <= 1)).all() for table in found)
    assert 0 < found[-1].loc["interaction", "p_largest"] <= 1


def test_the_critical_value_of_cells_is_the_quantile_of_the_largest_of_normal_draws():
    two_way = make()
    flags = two_way.flags(level=0.95)
    half = ((flags["high"] - flags["low"]) / 2 / flags["std_error"]).to_numpy()
    rest = least_squares(two_way)[2]
    error = np.sqrt(np.diag(rest @ factor_of_levels(two_way).T @ factor_of_levels(two_way) @ rest.T))
    draws = np.random.default_rng(5).normal(size=(200_000, 60)) @ factor_of_levels(two_way) @ rest.T / error
    chi = np.sqrt(np.random.default_rng(6).chisquare(59, draws.shape) / 59)  # each cell has a variance of its own
    expected = np.quantile(np.abs(draws / chi).max(axis=1), 0.95)
    assert half == pytest.approx(expected, rel=0.015)
    assert flags["p"].to_numpy() == pytest.approx(2 * t.sf(np.abs(flags["estimate"] / flags["std_error"]), 59))


def test_parts_without_a_common_column_are_named():
    missing = [("deu", "b"), ("eng", "b"), ("fin", "a"), ("zho", "a"), *itertools.product(LANGUAGES, "c")]
    refused(DataError, r"2 parts .* 'deu', 'eng' under 'a'; 'fin', 'zho' under 'b'", make, missing)
    joined = make([("deu", "b"), ("eng", "b"), ("fin", "c"), ("zho", "c")])  # by system a, which has all languages
    refused(DataError, "2 parts that no column connects", joined.effects, "languages", over=["b", "c"])


def test_what_cannot_be_asked_is_refused():
    two_way = make()
    for call, part in [
        (lambda: two_way.effects("x"), "neither a language nor a system"),
        (lambda: two_way.effects("a", over=["deu"]), "not for one system"),
        (lambda: two_way.effects("systems", over=["xxx"]), "unknown language"),
        (lambda: two_way.effects("systems", weights={"deu": 1}), "no weight of 3 language"),
        (lambda: two_way.effects("languages", weights={"a": 1, "b": 1, "c": -1}), "positive numbers"),
        (lambda: two_way.flags(q=2), "q must be between 0 and 1"),
        (lambda: two_way.contrast(), "needs a pair"),
        (lambda: two_way.contrast(["fin"]), "pair of names"),
        (lambda: make([("deu", "a")]).contrast(["fin", "deu"], ["a", "b"]), "no column 'deu under a'"),
    ]:
        refused(ConfigError, part, call)


def test_a_cell_that_is_alone_in_its_language_has_no_interaction():
    two_way = make((("zho", "a"), ("zho", "b")))
    flags = two_way.flags()
    assert flags.loc[("zho", "c")].drop("flag").isna().all()
    assert flags.drop(index=[("zho", "c")]).notna().all(axis=None)
    shown = two_way.tables()[-1]
    assert {line.name: line.cells[0].text for line in shown.grid.lines}["zho"] == "–"
    assert "–: no interaction can be told" in shown.text()


def test_an_additive_fit_has_no_interaction_but_a_test_of_it_by_scores():
    two_way = make(additive=True)
    assert "interaction" not in two_way.test().index
    refused(DataError, "additive fit, without interaction", two_way.flags)
    test = JointTest("sign flips", 2.5, 6, float("nan"), 0.04, 4096)
    tested = make(additive=True, interacts=test)
    assert tested.test().loc["interaction", ["by", "p", "flips"]].tolist() == ["sign flips", 0.04, 4096]
    assert f"Interaction: {test.words}." in tested.summary().splitlines()


def test_a_factor_gives_its_covariance():
    covariance = np.cov(np.random.default_rng(1).normal(size=(3, 8)), rowvar=False)
    root = factor_of(covariance)
    np.testing.assert_allclose(root.T @ root, covariance, atol=1e-14)
