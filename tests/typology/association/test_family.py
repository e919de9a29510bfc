"""Tests that allow for families: statsmodels and brute force as oracles, false positives on simulated families."""

import warnings
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy import stats

from langdiff.typology import correlate
from langdiff.typology.association.correlation import correlation
from langdiff.typology.association.related import mixed_slope, permute_within_families
from langdiff.typology.association.variance import reml_variances

SIZES = (8, 6, 6, 4, 4, 3, 3, 2, 2, 1, 1)


def families(seed, sizes=SIZES, shared=0.7, slope=0.0):
    rng = np.random.default_rng(seed)
    family = np.repeat(np.arange(len(sizes)), sizes)
    n = len(family)
    x = np.sqrt(shared) * rng.normal(size=len(sizes))[family] + np.sqrt(1 - shared) * rng.normal(size=n)
    y = slope * x + np.sqrt(shared) * rng.normal(size=len(sizes))[family] + np.sqrt(1 - shared) * rng.normal(size=n)
    return x, 0.05 * y, pd.Series(family).map("f{}".format)


@pytest.mark.parametrize("seed", range(4))
def test_mixed_model_is_that_of_statsmodels(seed):
    x, y, family = families(seed, slope=0.5)
    z = (x - x.mean()) / x.std(ddof=1)
    frame = pd.DataFrame({"y": y / y.std(ddof=1), "x": z, "family": family})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = smf.mixedlm("y ~ x", frame, groups="family").fit(reml=True)
    out = mixed_slope(x, y, family)
    assert_allclose(out.estimate, fitted.params["x"] * y.std(ddof=1), rtol=1e-3)
    same = np.equal.outer(family.to_numpy(), family.to_numpy()).astype(float)
    design = np.column_stack([np.ones(len(x)), z])
    variances = reml_variances(design, frame["y"].to_numpy(), [same])
    assert_allclose(variances, [fitted.cov_re.iloc[0, 0], fitted.scale], rtol=5e-3, atol=1e-3)


def test_editions_inside_languages_inside_families_are_those_of_statsmodels():
    x, y, family = families(1, sizes=(4, 3, 3, 2, 2))
    rng = np.random.default_rng(2)
    rows = np.repeat(np.arange(len(x)), 2)
    editions = pd.DataFrame(
        {"y": y[rows] / 0.05 + rng.normal(0, 0.4, len(rows)), "x": (x - x.mean())[rows] / x[rows].std(ddof=1)}
    ).assign(family=family.to_numpy()[rows], language=[f"l{i}" for i in rows])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = smf.mixedlm(
            "y ~ x", editions, groups="family", re_formula="1", vc_formula={"language": "0 + C(language)"}
        ).fit(reml=True)
    out = mixed_slope(x[rows], editions["y"].to_numpy(), editions["family"], editions["language"])
    assert_allclose(out.estimate, fitted.params["x"], rtol=2e-3)
    info = editions[["language", "family"]].set_axis([f"e{i}" for i in range(len(rows))])
    d = pd.Series(editions["y"].to_numpy(), index=info.index)
    predictor = pd.Series(x[rows], index=info.index, name="x")
    row = correlate(d, predictor, edition_info=info, average=None, tests=["mixed"]).to_frame().iloc[0]
    assert_allclose([row["estimate"], row["p"]], [out.estimate, out.p], rtol=1e-6)
    assert row["n"] == len(rows)


def test_balanced_families_that_share_the_predictor_have_one_degree_each():
    # the exact test is that of the families' means: t with families - 2 degrees of freedom
    rng = np.random.default_rng(0)
    family = np.repeat(np.arange(9), 4)
    x, y = rng.normal(size=9), rng.normal(size=9)[family] + 0.5 * rng.normal(size=36)
    out = mixed_slope(x[family], y, pd.Series(family))
    expected = stats.linregress(x, pd.Series(y).groupby(family).mean())
    assert_allclose(out.p, expected.pvalue, rtol=1e-4)
    assert_allclose(out.estimate, expected.slope * x[family].std(ddof=1), rtol=1e-6)


def test_without_family_effects_the_mixed_model_is_least_squares():
    # deviations inside families so large that the variance between them is estimated as 0
    family = pd.Series(np.repeat(np.arange(6), 2))
    y = np.array([1.0, -1.0] * 6) + 0.01 * np.arange(12)
    x = np.random.default_rng(1).normal(size=12)
    out = mixed_slope(x, y, family)
    expected = stats.linregress(x, y)
    assert_allclose(out.estimate, expected.slope * x.std(ddof=1), rtol=1e-6)


def test_permutation_p_is_that_of_all_permutations():
    x, y, family = families(3, sizes=(3, 3, 2))
    frame = pd.DataFrame({"x": x, "y": y, "family": family})
    inside = frame[["x", "y"]] - frame.groupby("family")[["x", "y"]].transform("mean")
    observed = abs(inside["x"] @ inside["y"])
    rows = [np.flatnonzero(family == name) for name in family.unique()]
    values = inside["y"].to_numpy()
    every = []
    for orders in product(*(list(permutations(r)) for r in rows)):
        shuffled = values.copy()
        for r, order in zip(rows, orders, strict=True):
            shuffled[r] = values[list(order)]
        every.append(abs(inside["x"] @ shuffled) >= observed - 1e-12)
    out = permute_within_families(x, y, family, n_resamples=20_000, seed=np.random.default_rng(0))
    assert abs(out.p - np.mean(every)) < 4 * np.sqrt(0.25 / 20_000)
    assert_allclose(out.estimate, np.corrcoef(inside["x"], inside["y"])[0, 1], rtol=1e-9)


def test_categories_within_families_are_tested_too():
    x, y, family = families(5)
    order = pd.Series(np.where(x > 0, "SOV", "SVO"))
    out = permute_within_families(order, y, family, n_resamples=999, seed=np.random.default_rng(0))
    number = permute_within_families((x > 0).astype(float), y, family, n_resamples=999, seed=np.random.default_rng(0))
    assert_allclose(out.estimate, number.estimate**2, rtol=1e-9)  # two categories are one 0/1 variable
    assert out.p == number.p


def test_a_shift_of_a_whole_family_changes_no_permutation():
    x, y, family = families(6)
    moved = y + family.map({name: i for i, name in enumerate(family.unique())}).to_numpy()
    first, second = (
        permute_within_families(x, v, family, n_resamples=499, seed=np.random.default_rng(0)) for v in (y, moved)
    )
    assert_allclose([first.estimate, first.p], [second.estimate, second.p], rtol=1e-9)


@pytest.mark.parametrize(
    ("sizes", "test", "reason"),
    [
        ((4, 4, 4), "mixed", "3 families; at least 4"),
        ((1,) * 8, "mixed", "no two rows share a group"),
        ((1,) * 8, "permutation", "no two languages share a family"),
        ((2, 2, 1, 1), "permutation", "only 4 permutations"),
        ((3, 3, 3, 1), "permutation", "1 languages alone in their family"),
    ],
)
def test_reasons(sizes, test, reason):
    x, y, family = families(0, sizes=sizes)
    if test == "mixed":
        assert reason in mixed_slope(x, y, family).reason
    else:
        assert reason in permute_within_families(x, y, family, n_resamples=99, seed=np.random.default_rng(0)).reason


def test_what_families_share_entirely_cannot_be_permuted_and_unknown_families_are_named():
    x, y, family = families(0, shared=1.0)
    out = permute_within_families(x, y + np.arange(len(y)), family, n_resamples=99, seed=np.random.default_rng(0))
    assert out.reason == "the predictor does not vary within any family"
    names = [f"l{i}" for i in range(len(y))]
    row = correlate(pd.Series(y, index=names), pd.Series(x, index=names, name="x"), tests=["mixed"]).to_frame().iloc[0]
    assert "families are not known" in row["reason"]


def test_relatives_make_false_positives_only_of_tests_that_take_them_as_independent():
    rng, tables = np.random.default_rng(0), 120
    rejected = np.zeros(3)
    for seed in range(tables):
        x, y, family = families(seed, shared=0.8)
        ps = (
            correlation(x, y, "pearson").p,
            mixed_slope(x, y, family).p,
            permute_within_families(x, y, family, n_resamples=199, seed=rng).p,
        )
        rejected += np.array(ps) <= 0.05
    naive, mixed, permuted = rejected / tables
    error = 4 * np.sqrt(0.05 * 0.95 / tables)  # four Monte-Carlo errors: 0.08
    assert naive > 0.2
    assert abs(mixed - 0.05) < error
    assert abs(permuted - 0.05) < error


def test_an_effect_is_found_despite_families():
    x, y, family = families(1, slope=1.5)
    assert mixed_slope(x, y, family).p < 0.001
    assert permute_within_families(x, y, family, n_resamples=1999, seed=np.random.default_rng(0)).p < 0.005
