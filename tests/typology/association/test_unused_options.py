"""Options that no test would use: they are used, or refused by name, and never ignored."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.errors import ConfigError, DataError, LangdiffWarning
from langdiff.typology import compare_relatedness, correlate, propagate_errors, regress
from langdiff.typology.family_tree import parse_newick, plant
from tests.helpers import refused

TREE = plant(
    [parse_newick("(((a,b),(c,d)),(e,f));"), parse_newick("((g,h),(i,j));"), parse_newick("((k,l),(m,(n,o)));")]
)
LANGUAGES = list("abcdefghijklmno")
SAME_COVARIANCE = 1e-6  # λ is found by a search that stops at a relative change of this size


@pytest.fixture
def drawn():
    rng = np.random.default_rng(7)
    root = np.linalg.cholesky(0.9 * TREE.covariance(LANGUAGES).to_numpy() + 0.1 * np.eye(15))
    x = pd.Series(root @ rng.normal(size=15), LANGUAGES, name="x")
    y = pd.Series(0.05 * (root @ rng.normal(size=15) + 0.5 * x), LANGUAGES, name="lm")
    table = pd.DataFrame({"x": x, "z": rng.normal(size=15), "order": list("sososososososos")})
    return y, table


def places():
    return pd.DataFrame({"latitude": np.linspace(-40, 60, 15), "longitude": np.linspace(0, 90, 15)}, index=LANGUAGES)


def test_a_tree_without_tests_is_the_test_along_it(drawn):
    y, table = drawn
    result = correlate(y, table, tree=TREE)
    made = result.tests.groupby("predictor")["test"].agg(list).to_dict()
    assert made == {
        "x": ["pearson", "spearman", "phylo"],
        "z": ["pearson", "spearman", "phylo"],
        "order": ["phylo", "mood"],
    }
    assert "tests:pearson,spearman,phylo,mood|" in result.signature
    assert "relatives:" in result.signature
    row = result.tests.set_index(["predictor", "test"]).loc[("x", "phylo")]
    share = result.relatedness.set_index(["predictor", "model"]).loc[("x", "phylo"), "phylo_share"]
    covariance = share * TREE.covariance(LANGUAGES).to_numpy() + (1 - share) * np.eye(15)
    standard = sm.add_constant((table["x"] - table["x"].mean()) / table["x"].std())
    expected = sm.GLS(y, standard, sigma=covariance).fit()  # knows nothing of our solver
    assert_allclose(row["estimate"], expected.params["x"], rtol=SAME_COVARIANCE)
    assert correlate(y, table).tests["test"].isin(["pearson", "spearman", "mood"]).all()
    held = correlate(y, table[["x", "z"]], given="z", tree=TREE)
    assert held.tests["test"].tolist() == ["pearson", "spearman", "phylo"]


def test_a_tree_without_tests_is_used_by_regressions_and_draws(drawn):
    y, table = drawn
    terms = regress(y, table, only=["x", "z"], tree=TREE).terms
    assert terms["test"].tolist() == ["independent", "independent", "phylo", "phylo"]
    assert regress(y, table, only=["x", "z"]).terms["test"].tolist() == ["independent", "independent"]
    draws = pd.DataFrame(np.random.default_rng(1).normal(y, 0.001, (200, 15)), columns=LANGUAGES)
    assert propagate_errors(draws, table, only="x", tree=TREE, seed=0).estimates["test"].tolist() == [
        "pearson",
        "spearman",
        "phylo",
    ]
    for call in (
        lambda **more: regress(y, table, only="x", tests="independent", **more),
        lambda **more: propagate_errors(draws, table, only="x", tests="pearson", seed=0, **more),
    ):
        refused(ConfigError, "tree is used by tests 'phylo'", call, tree=TREE)
        refused(ConfigError, "coordinates are given, and none of the tests uses them", call, coordinates=places())


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tests": "pearson", "tree": TREE}, r"tree is used by tests 'phylo' .*, and tests are 'pearson': add"),
        ({"tests": ["mixed", "mood"], "tree": TREE}, "tree is used by tests"),
        # a tree in Newick's format has no places, which the test over distance would take from Glottolog
        ({"coordinates": places()}, "coordinates are given, and none of the tests uses them: 'pearson', 'spearman'"),
        ({"tests": "phylo", "tree": TREE, "coordinates": places()}, "coordinates are given"),
        ({"tests": "mood", "interval": "bootstrap", "seed": 1}, r"interval='bootstrap' is for .* tests are 'mood'"),
        ({"n_resamples": 999}, r"n_resamples=999: nothing is drawn .*tests='permutation' or interval='bootstrap'"),
        ({"average": None, "tests": "mixed", "averaging": "factor"}, "averaging='factor' is for average='language'"),
        ({"tests": ["pearson", "mood"], "only": ["x", "z"]}, "tests='mood' cannot be made: no predictor of 'x', 'z'"),
        ({"tests": ["pearson", "mood"], "only": "order"}, "tests='pearson' cannot be made: .* 'order' is a number"),
        ({"tests": "pearson", "only": ["x", "order"]}, "predictor 'order' fits none of the tests 'pearson'"),
        ({"only": ["x", "z"], "given": "z"}, "'z' cannot be tested and held fixed"),
    ],
)
def test_what_no_test_would_use_is_refused(drawn, settings, message):
    refused(ConfigError, message, correlate, *drawn, **settings)


def test_what_a_test_uses_is_taken(drawn):
    y, table = drawn
    assert len(correlate(y, table["x"], tests=["pearson", "phylo+area"], tree=TREE, coordinates=places()).tests) == 2
    drawn_again = correlate(y, table["x"], tests="permutation", n_resamples=199, seed=1, edition_info=info())
    assert "resamples:199" in drawn_again.signature


def info():
    return pd.DataFrame({"language": LANGUAGES, "family": list("aaaaaabbbbccccc")}, index=LANGUAGES)


def test_predictors_of_no_test_are_named(drawn):
    y, table = drawn
    with pytest.warns(LangdiffWarning, match=r"1 of 3 predictors fit none of the tests 'pearson'") as caught:
        result = correlate(y, table, tests="pearson")
    assert result.tests["predictor"].tolist() == ["x", "z"]
    assert caught[0].filename == __file__


def test_half_a_place_is_not_passed_over(drawn):
    y, table = drawn
    with pytest.raises(DataError, match=r"edition_info lacks column\(s\) 'longitude'"):
        correlate(y, table["x"], tests="area", edition_info=info().assign(latitude=1.0), coordinates=places())


def test_languages_out_of_the_tree_are_named_where_too_few_are_left(drawn):
    y, table = drawn
    small = plant([parse_newick("((a,b),c);")])
    row = correlate(y, table["x"], tests="phylo", tree=small).tests.iloc[0]
    assert row["n"] == 3
    assert row["reason"].startswith(
        "3 languages with a value; at least 4 are needed; 12 left out, not in the tree: 'd'"
    )


def test_a_choice_among_no_predictors_is_refused(drawn):
    refused(ConfigError, "only chooses among predictors", compare_relatedness, drawn[0], tree=TREE, only="x")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"features": "81A"}, "features '81A' are of WALS: give the folder of its tables as wals"),
        ({"syncretism": "merge"}, "syncretism='merge' is for lexicons, and none are given"),
        ({"wals": "wals", "features": []}, "no features are named"),
    ],
)
def test_options_of_sources_need_the_source(settings, message):
    multitext = ld.read_frame(pd.DataFrame({"eng": ["two dogs"], "deu": ["zwei Hunde"]}))
    refused(ConfigError, message, ld.predictors, multitext, progress=False, **settings)
