"""Categories along the tree: R's figures, sums of squares by hand, and what is refused or left out."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy import optimize, stats

from langdiff.errors import ConfigError
from langdiff.typology import correlate, read_glottolog, regress
from langdiff.typology.association.comparison import compare_levels, expanded
from langdiff.typology.association.related import fit_related, related_slope
from langdiff.typology.association.variance import restricted_log_likelihood
from tests.helpers import refused

R = Path(__file__).parents[2] / "data" / "r" / "categories.txt"  # printed by categories.R beside it
PRINTED = 1.5e-6  # R's figures have six digits, and λ is found by a search
FAMILIES = np.kron(np.eye(10), np.full((4, 4), 0.8)) + 0.2 * np.eye(40)


def drawn(seed=0, effect=0.0):
    rng = np.random.default_rng(seed)
    names = [f"l{i:02}" for i in range(40)]
    order = pd.Series(rng.choice(["SOV", "SVO", "VSO"], 40), names)
    y = rng.multivariate_normal(np.zeros(40), FAMILIES) * 0.1 + effect * (order == "SOV")
    return order, pd.Series(y, names, name="lm")


def published(real_data):
    table = pd.read_csv(real_data / "mielke2019" / "wals_categories.csv").query("in_iso_join == 1")
    values = table.pivot(index="iso639_3", columns="feature", values="value_name")
    difficulties = table.drop_duplicates("iso639_3").set_index("iso639_3").filter(like="mean_log_difficulty_")
    return values, difficulties.rename(columns=lambda name: name.removeprefix("mean_log_difficulty_"))


@pytest.mark.real_data
def test_f_tests_are_those_of_r(real_data):
    values, difficulties = published(real_data)
    glottolog = read_glottolog(real_data / "glottolog")
    freedom = {
        ("81A", "bpe", 3): (31.681, 0.473037),
        ("81A", "char", 3): (31.380, 0.419482),
        ("81A", "bpe", 5): (28.078, 0.292058),
        ("81A", "char", 5): (25.869, 0.467457),
        ("26A", "bpe", 1): (26.105, 0.014516),
        ("26A", "bpe", 3): (22.200, 0.091242),
        ("26A", "char", 3): (28, 0.225373),
    }
    blocks = re.split(r"\n(?=\S)", R.read_text().strip())[1:]
    assert len(blocks) == len(freedom)
    for block in blocks:
        head, *means = block.splitlines()
        feature, lm, least, _, n, _, share, _, _, _, _, _, f, df, _, _, _ = head.split()
        result = correlate(difficulties[lm], values[[feature]], tests="phylo", tree=glottolog, min_level=int(least))
        row = result.tests.iloc[0]
        assert (row["n"], row["df"]) == (int(n), int(df))
        assert_allclose([row["estimate"], row["phylo_share"]], [float(f), float(share)], atol=PRINTED)
        assert_allclose([row["df_residual"], row["p"]], freedom[feature, lm, int(least)], atol=5e-4)
        levels = result.levels.set_index("level")
        for line in means:
            level, mean, std_error = re.fullmatch(r"  (.*): (\S+) (\S+)", line).groups()
            assert_allclose(
                levels.loc[level, ["mean", "std_error"]].astype(float), [float(mean), float(std_error)], atol=PRINTED
            )


@pytest.mark.real_data
@pytest.mark.parametrize(
    ("feature", "lm", "least", "f", "shares", "range_km"),
    [
        ("81A", "bpe", 5, 1.2529, (0.8729, 0.1271), 250),
        ("81A", "char", 5, 0.3451, (0, 1), 1000),
        ("26A", "bpe", 3, 3.3415, (0.9232, 0.0768), 2000),
    ],
)
def test_kinship_and_area_together_are_those_of_r(real_data, feature, lm, least, f, shares, range_km):
    values, difficulties = published(real_data)
    tree = real_data / "glottolog"
    result = correlate(difficulties[lm], values[[feature]], tests="phylo+area", tree=tree, min_level=least)
    row = result.tests.iloc[0]
    assert_allclose(row["estimate"], f, atol=1e-3)
    assert_allclose([row["phylo_share"], row["area_share"]], shares, atol=2e-3)
    assert result.relatedness["range_km"].iloc[-1] == range_km
    assert "tree:glottolog#" in result.signature


def test_without_relatedness_it_is_the_analysis_of_variance():
    order, y = drawn(1)
    outcome, levels = compare_levels(order, y.to_numpy(), None, None)
    expected = stats.f_oneway(*(part for _, part in y.groupby(order)))
    assert_allclose([outcome.estimate, outcome.p], expected, rtol=1e-9)
    assert_allclose([outcome.df, outcome.df_residual], [2, 37])
    assert_allclose(levels.estimate, y.groupby(order).mean(), rtol=1e-9)


def test_two_levels_are_the_slope_of_their_dummy():
    order, y = drawn(2)
    order = order.replace("VSO", "SVO")
    outcome, _ = compare_levels(order, y.to_numpy(), FAMILIES, None)
    slope, _ = related_slope(1.0 * (order == "SOV").to_numpy(), y.to_numpy(), FAMILIES, None)
    assert_allclose([outcome.p, outcome.df_residual], [slope.p, slope.df_residual], rtol=1e-5)


def test_the_search_over_shares_reaches_what_a_fine_grid_does():
    order, y = drawn(3)
    km = np.abs(np.subtract.outer(np.arange(40), np.arange(40))) * 300.0
    design = pd.get_dummies(order, dtype=float).to_numpy()
    scaled = y.to_numpy() / y.std()
    fit = fit_related(design, scaled, FAMILIES, km)
    starts = ([a, b, 0.0] for a in (-6, 0, 3) for b in (-6, 0, 3))

    def free(x):
        shares = np.exp(x)
        return -restricted_log_likelihood(design, scaled, np.tensordot(shares, fit.parts, axes=1))

    best = max(
        -optimize.minimize(
            free, start, method="Nelder-Mead", options={"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4000}
        ).fun
        for start in starts
    )
    assert fit.log_likelihood >= best - 1e-5


def test_small_levels_are_left_out_and_named():
    order, y = drawn(4, effect=0.3)
    order.iloc[:2] = "OVS"
    result = correlate(y, order.rename("81A"), tests="area", coordinates=places(order.index))
    row = result.tests.iloc[0]
    assert row["reason"] == "left out OVS ('l00', 'l01')"
    assert (row["n"], row["df"], row["missing"]) == (38, 2, 2)
    assert (
        correlate(y, order.rename("81A"), tests="area", coordinates=places(order.index), min_level=1).tests["df"][0]
        == 3
    )
    assert set(result.levels["level"]) == {"SOV", "SVO", "VSO"}
    assert result.contrast("SOV", "SVO").estimate > 0.15
    assert len(result.pairs().frame) == 3
    refused(ConfigError, "none fits; there are '81A lm area'", result.contrast, "SOV", "SVO", predictor="26A")
    with pytest.raises(ConfigError, match="min_level=0: at least 1"):
        correlate(y, order.rename("81A"), tests="area", coordinates=places(order.index), min_level=0)


def places(names):
    return pd.DataFrame(
        {"latitude": np.linspace(-40, 60, len(names)), "longitude": np.linspace(0, 90, len(names))}, names
    )


def test_categories_are_regressed_on_and_held_fixed():
    order, y = drawn(5, effect=0.2)
    x = pd.Series(np.random.default_rng(0).normal(size=40), order.index)
    table = pd.DataFrame({"x": x, "81A": order})
    terms = regress(y, table).terms
    data = pd.DataFrame({"y": y, "x": (x - x.mean()) / x.std(), "c": order})
    reference = order.value_counts().idxmax()
    expected = smf.ols(f"y ~ x + C(c, Treatment('{reference}'))", data).fit()
    assert_allclose(terms["estimate"].dropna(), [expected.params["x"], *expected.params.filter(like="C(c")])
    wald = expected.f_test(np.eye(4)[[place for place, name in enumerate(expected.params.index) if "C(c" in name]])
    assert_allclose(
        terms.loc["81A", ["f", "df", "p"]].astype(float), [float(wald.fvalue), 2, float(wald.pvalue)], rtol=1e-9
    )
    other = regress(y, table, reference={"81A": "SOV"}).terms
    assert "81A: SOV" not in other.index
    assert_allclose(other.loc["81A", "f"], terms.loc["81A", "f"])
    refused(ConfigError, "no such level; there are 'SOV', 'SVO', 'VSO'", regress, y, table, reference={"81A": "OSV"})
    held = correlate(y, table, only="x", given="81A", tests="area", coordinates=places(order.index)).tests.iloc[0]
    assert np.isfinite(held["p"])
    assert expanded(table).shape == (40, 3)


def test_a_test_of_numbers_says_which_one_takes_categories():
    order, y = drawn(6)
    with pytest.raises(ConfigError, match=r"pearson cannot test a category: use tests='phylo\+area'"):
        correlate(y, order.rename("81A"), tests="pearson")


def test_names_that_one_table_lacks_are_listed():
    _, y = drawn(8)
    x = pd.Series(np.arange(40.0), [*y.index[1:], "Deutsch"], name="x")
    summary = correlate(y, x, tests="pearson").summary()
    assert "difficulties without predictors: 'l00'; predictors without difficulties: 'Deutsch'" in summary
    assert "without" not in correlate(y, x.set_axis(y.index), tests="pearson").summary()


@pytest.mark.slow
def test_the_f_test_keeps_its_level_whatever_the_share_of_kinship():
    rng = np.random.default_rng(0)
    order, _ = drawn(7)
    for share in (0.0, 0.5, 0.9):
        root = np.linalg.cholesky(share * FAMILIES + (1 - share) * np.eye(40))
        p = [compare_levels(order, root @ rng.normal(size=40), FAMILIES, None)[0].p for _ in range(400)]
        assert 0.02 <= np.mean(np.array(p) <= 0.05) <= 0.09
