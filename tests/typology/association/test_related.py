"""Tests along a family tree and over distance: levels on drawn trees, published figures, reasons and errors."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from numpy.testing import assert_allclose

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.typology import compare_relatedness, correlate, propagate_errors, read_glottolog, read_tree, regress
from langdiff.typology.association.correlation import correlation
from langdiff.typology.association.related import related_slope
from langdiff.typology.family_tree import parse_newick, plant
from tests.helpers import refused

FAMILIES, DEPTH = 4, 3  # four families of eight languages


def names():
    return [f"f{f}l{i}" for f in range(FAMILIES) for i in range(2**DEPTH)]


def family_tree():
    """Return four trees in which every branch splits three times."""

    def branch(family, level, first):
        if level == DEPTH:
            return f"f{family}l{first}"
        step = 2 ** (DEPTH - level - 1)
        return f"({branch(family, level + 1, first)},{branch(family, level + 1, first + step)})"

    return plant(parse_newick(branch(family, 0, 0) + ";") for family in range(FAMILIES))


TREE = family_tree()
P = TREE.covariance(names()).to_numpy()


def drawn(seed, share=0.9, slope=0.0):
    rng = np.random.default_rng(seed)
    root = np.linalg.cholesky(share * P + (1 - share) * np.eye(len(P)) + 1e-12 * np.eye(len(P)))
    x, y = root @ rng.normal(size=(len(P), 2)).T.reshape(2, -1).T[:, 0], root @ rng.normal(size=len(P))
    index = pd.Index(names(), name="edition")
    return pd.Series(x, index, name="x"), pd.Series(0.05 * (y + slope * x), index, name="lm")


def places():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"latitude": rng.uniform(-40, 60, len(P)), "longitude": rng.uniform(-170, 170, len(P))}, index=names()
    )


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_level_holds_on_trees_where_pearsons_does_not(share):
    tables, found, naive = 300, 0, 0
    for seed in range(tables):
        x, y = (column.to_numpy() for column in drawn(seed, share))
        found += related_slope(x, y, P, None)[0].p <= 0.05
        naive += correlation(x, y, "pearson").p <= 0.05
    error = np.sqrt(0.05 * 0.95 / tables)
    assert abs(found / tables - 0.05) < 3.5 * error  # .044
    if share == 0.9:
        assert naive / tables > 0.05 + 6 * error


def test_an_effect_is_found_and_its_interval_holds_it():
    held = []
    for seed in range(60):
        x, y = drawn(seed, slope=0.6)
        row = correlate(y, x, tests="phylo", tree=TREE).to_frame().iloc[0]
        held.append(row["low"] < 0.6 * 0.05 * x.std() < row["high"])
        assert row["statistic"] == "nats per SD"
    assert 0.95 - 4 * np.sqrt(0.95 * 0.05 / 60) < np.mean(held)


def test_regress_and_correlate_agree_and_equal_statsmodels_at_their_share():
    x, y = drawn(1, slope=0.5)
    z = pd.Series(np.random.default_rng(3).normal(size=len(x)), x.index, name="z")
    table = pd.concat([x, z], axis=1)
    tests = ("independent", "phylo", "area", "phylo+area")
    result = regress(y, table, tests=tests, tree=TREE, coordinates=places())
    terms = result.terms.set_index("test", append=True)
    one = correlate(y, table, tests=tests[1:], only="x", given="z", tree=TREE, coordinates=places()).to_frame()
    for _, row in one.iterrows():
        assert_allclose(row["estimate"], terms.loc[("x", row["test"]), "estimate"], rtol=1e-9)
        assert_allclose(row["p"], terms.loc[("x", row["test"]), "p"], rtol=1e-6)
    models = result.relatedness.set_index("model")
    share = models.loc["phylo", "phylo_share"]
    standard = sm.add_constant((table - table.mean()) / table.std())
    fitted = sm.GLS(y, standard, sigma=share * P + (1 - share) * np.eye(len(P))).fit()
    for name in ("x", "z"):
        assert_allclose(terms.loc[(name, "phylo"), "estimate"], fitted.params[name], rtol=1e-6)
        assert_allclose(terms.loc[(name, "phylo"), "std_error"], fitted.bse[name], rtol=1e-6)
        independent = sm.OLS(y, standard).fit()
        assert_allclose(terms.loc[(name, "independent"), "p"], independent.pvalues[name], rtol=1e-9)
    assert models.index.tolist() == list(tests)
    assert models["log_likelihood"].max() == pytest.approx(models.loc["phylo+area", "log_likelihood"], abs=1e-6)
    assert "Shares of the variance" in result.summary()


def test_order_of_languages_and_unit_of_the_predictor_do_not_matter():
    x, y = drawn(2)
    first = correlate(y, x, tests="phylo", tree=TREE).to_frame().iloc[0]
    order = np.random.default_rng(0).permutation(len(x))
    second = correlate(y.iloc[order], 7 * x.iloc[::-1] - 3, tests="phylo", tree=TREE).to_frame().iloc[0]
    assert_allclose([second["estimate"], second["p"]], [first["estimate"], first["p"]], rtol=1e-6)


def test_languages_without_what_a_test_needs_are_named_and_counted():
    x, y = drawn(3)
    extra = pd.Series({"eus": 0.1, "kor": 0.2})
    x, y = pd.concat([x, extra]).rename("x"), pd.concat([y, extra]).rename("lm")
    where = places().drop(index="f0l1")
    result = correlate(y, x, tests=["pearson", "phylo", "area"], tree=TREE, coordinates=where)
    rows = result.to_frame().set_index("test")
    assert rows["n"].to_dict() == {"pearson": 34, "phylo": 32, "area": 31}
    assert rows["missing"].to_dict() == {"pearson": 0, "phylo": 2, "area": 3}
    assert rows.loc["phylo", "reason"].split("; ")[-1] == "2 left out, not in the tree: 'eus', 'kor'"
    assert rows.loc["area", "reason"] == "3 left out, without coordinates: 'eus', 'f0l1', 'kor'"
    assert set(result.relatedness["n"]) == {31}
    assert "phylo share" in result.summary()
    assert ld.adjust([result]).relatedness.equals(result.relatedness)


def test_coordinates_come_from_the_table_else_from_edition_info():
    x, y = drawn(4)
    info = places().assign(language=[name[:3] + name[3:] for name in names()])
    from_info = correlate(y, x, tests="area", edition_info=info).to_frame().iloc[0]
    from_table = correlate(y, x, tests="area", coordinates=places()).to_frame().iloc[0]
    assert from_info["p"] == from_table["p"]
    some = places().iloc[:5] * 0.5
    mixed = correlate(y, x, tests="area", edition_info=info, coordinates=some).to_frame().iloc[0]
    expected = correlate(y, x, tests="area", coordinates=pd.concat([some, places().iloc[5:]])).to_frame().iloc[0]
    assert mixed["p"] == expected["p"]


def test_bad_input_is_named():
    x, y = drawn(5)
    refused(ConfigError, "test 'phylo' needs a family tree", correlate, y, x, tests="phylo")
    refused(ConfigError, "test 'area' needs places", correlate, y, x, tests="phylo+area", tree=TREE)
    with pytest.raises(DataError, match="none of 32 languages is in the tree: 'x-f0l0'"):
        correlate(y.rename("x-{}".format), x.rename("x-{}".format), tests="phylo", tree=TREE)
    twice = pd.concat([places(), places().iloc[:1] + 1])
    with pytest.raises(DataError, match=r"1 language\(s\) have several coordinates: 'f0l0'"):
        correlate(y, x, tests="area", coordinates=twice)
    with pytest.raises(DataError, match=r"coordinates of 'f0l0', .* are not degrees"):
        correlate(y, x, tests="area", coordinates=places() + 200)
    with pytest.raises(DataError, match=r"coordinates lacks column\(s\) 'latitude', 'longitude'"):
        correlate(y, x, tests="area", coordinates=pd.DataFrame({"lat": 1.0}, index=names()))
    with pytest.raises(DataError, match="none of 32 languages has coordinates"):
        correlate(y, x, tests="area", coordinates=places().iloc[:0])
    refused(ConfigError, r"name tests=.mixed. alone", correlate, y, x, tests="phylo", tree=TREE, average=None)
    refused(ConfigError, r"tests=.*must be among 'independent'", regress, y, x, tests="tree", tree=TREE)
    with pytest.raises(DataError, match="tests='phylo': no two languages are related"):
        regress(y, x, tests="phylo", tree=plant(parse_newick(f"({name},other{name});") for name in names()))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda x, y: (x, 2 * x + 1), "the predictor explains all of difficulty"),
        (lambda x, y: (x[x.index.isin(x.index[:4])], y), "4 languages are too few for 2 coefficients"),
        (lambda x, y: (x[x.index.str.endswith("l0")], y), "4 languages are too few"),
    ],
)
def test_reasons(change, reason):
    x, y = change(*drawn(6))
    assert reason in correlate(y.rename("lm"), x.rename("x"), tests="phylo", tree=TREE).to_frame().iloc[0]["reason"]


def test_comparison_of_models_finds_the_tree_and_nothing_where_there_is_nothing():
    wins = {"tree": 0, "nothing": 0}
    for seed in range(10):
        for what, share in (("tree", 0.95), ("nothing", 0.0)):
            models = compare_relatedness(drawn(seed, share)[1], tree=TREE).to_frame().set_index("model")
            wins[what] += models["aic"].idxmin() == ("phylo" if what == "tree" else "independent")
            low, estimate, high = models.loc["phylo", ["phylo_low", "phylo_share", "phylo_high"]]
            assert low <= estimate <= high
    assert wins["tree"] >= 8
    assert wins["nothing"] >= 7
    both = compare_relatedness(drawn(0)[1], drawn(0)[0], tree=TREE, coordinates=places())
    assert both.models["model"].tolist() == ["independent", "phylo", "area", "phylo+area"]
    assert "relatedness:phylo,area,phylo+area" in both.summary()
    refused(ConfigError, "are categories", compare_relatedness, drawn(0)[1], drawn(0)[0].map(str), tree=TREE)


def test_errors_of_difficulties_in_regressions():
    x, y = drawn(7, slope=0.5)
    exact = ld.Effects.from_covariance(y, covariance=pd.DataFrame(1e-12 * np.eye(len(y)), y.index, y.index), title="lm")
    row = propagate_errors(exact, x, tests="phylo", tree=TREE, seed=0).to_frame().iloc[0]
    plain = correlate(y, x, tests="phylo", tree=TREE).to_frame().iloc[0]
    assert_allclose(row[["estimate", "low", "high"]].tolist(), plain[["estimate", "low", "high"]].tolist(), rtol=1e-3)
    assert row["measurement_high"] - row["measurement_low"] < 1e-4
    # errors enlarge the residual, not the share of the tree among what is left
    rng = np.random.default_rng(0)
    error = 0.03
    noisy = y + error * rng.normal(size=len(y))
    effects = ld.Effects.from_covariance(
        noisy, covariance=pd.DataFrame(error**2 * np.eye(len(y)), y.index, y.index), title="n"
    )
    found = propagate_errors(effects, x, tests=["phylo"], tree=TREE, seed=0).to_frame().iloc[0]
    naive = compare_relatedness(noisy.rename("n"), x, tree=TREE).to_frame().set_index("model").loc["phylo"]
    assert found["phylo_share"] > naive["phylo_share"]
    assert found["reliability"] < 0.95
    assert found["measurement_high"] - found["measurement_low"] > 0.01


def test_slopes_with_known_errors_cover_the_truth():
    held, tables = 0, 60
    for seed in range(tables):
        x, y = drawn(seed, slope=0.5)
        error = np.random.default_rng(seed).uniform(0.01, 0.06, len(y))
        noisy = (y + error * np.random.default_rng(seed + 1000).normal(size=len(y))).to_numpy()
        outcome, _ = related_slope(x.to_numpy(), noisy, P, None, known=np.diag(error**2))
        held += outcome.low < 0.025 * x.std() < outcome.high
    assert held / tables > 0.95 - 3.5 * np.sqrt(0.95 * 0.05 / tables)


@pytest.mark.real_data
def test_published_difficulties_with_the_real_tree(real_data):
    figures = mielke2019()
    glottolog = read_glottolog(real_data / "glottolog")
    # the figures to be met divide by n, and have Esperanto and Klingon as a family
    with_artificial = replace(glottolog, tree=read_tree(real_data / "glottolog" / "classification.nex.gz"))
    per_population_sd = np.sqrt(60 / 61)
    for tree, expected in (
        (with_artificial, {("word_types", "bpe"): (0.062, 0.008, 0.41), ("characters", "char"): (0.038, 0.008, 0.59)}),
        (glottolog, {("word_types", "bpe"): (0.062, 0.008, 0.34), ("characters", "char"): (0.038, 0.008, 0.57)}),
    ):
        for (name, lm), (slope, std_error, share) in expected.items():
            result = regress(
                figures.difficulties("bibles")[lm].drop("cmn-sf_ncv-zefania"),
                figures.predictors("bibles"),
                edition_info=figures.edition_info("bibles"),
                tests="phylo",
                only=name,
                tree=tree,
            )
            assert result.n == 61
            found = result.terms.loc[name, ["estimate", "std_error"]].astype(float) * per_population_sd
            assert_allclose(found, [slope, std_error], atol=0.0005)
            assert_allclose(result.relatedness.set_index("model").loc["phylo", "phylo_share"], share, atol=0.005)
