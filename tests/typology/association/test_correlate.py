"""Tests of predictors against difficulties: SciPy's figures, averaging, missing values, bad input."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.errors import ConfigError, DataError
from langdiff.typology import correlate
from langdiff.typology.association.correlation import correlation

ROUNDING = 1e-12


def languages(n, seed=0):
    rng = np.random.default_rng(seed)
    names = [f"l{i:02d}" for i in range(n)]
    x = pd.Series(rng.normal(size=n), index=names, name="x")
    d = pd.Series(0.05 * x + rng.normal(0, 0.05, n), index=names, name="lm")
    return d, x, rng


@pytest.mark.parametrize(
    ("test", "oracle"), [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)]
)
def test_figures_are_those_of_scipy(test, oracle):
    d, x, _ = languages(15)
    row = correlate(d, x, tests=[test]).to_frame().iloc[0]
    expected = oracle(x, d)
    assert_allclose([row["estimate"], row["p"]], [expected.statistic, expected.pvalue], rtol=ROUNDING)
    assert (row["n"], row["missing"], row["language_model"], row["reason"]) == (15, 0, "lm", "")


def test_fisher_interval_is_scipys():
    d, x, _ = languages(15)
    row = correlate(d, x, tests=["pearson"]).to_frame().iloc[0]
    assert_allclose([row["low"], row["high"]], stats.pearsonr(x, d).confidence_interval(), rtol=1e-6)


def test_spearman_and_kendall_intervals_worked_by_hand():
    # Bonett and Wright (2000): rho .5, n 28: artanh .5 = .54931, s = sqrt(1.125 / 25) = .21213
    low, high = np.tanh([0.54931 - 1.95996 * 0.21213, 0.54931 + 1.95996 * 0.21213])
    y = np.arange(28.0)
    found = correlation(y, y[::-1] + 0 * y, "spearman")
    assert np.isnan(found.low)  # perfect
    assert "perfect" in found.reason
    from langdiff.typology.association.correlation import fisher_interval

    assert_allclose(fisher_interval(0.5, 28, "spearman"), [low, high], atol=1e-4)
    # tau .5, n 24: s = sqrt(.437 / 20) = .14782
    low, high = np.tanh([0.54931 - 1.95996 * 0.14782, 0.54931 + 1.95996 * 0.14782])
    assert_allclose(fisher_interval(0.5, 24, "kendall"), [low, high], atol=1e-4)


@pytest.mark.parametrize("test", ["pearson", "spearman"])
def test_intervals_hold_the_truth_as_often_as_they_say(test):
    rng, n, rho = np.random.default_rng(0), 20, 0.6
    truth = rho if test == "pearson" else 6 / np.pi * np.arcsin(rho / 2)  # of a bivariate normal distribution
    held = 0
    for _ in range(1000):
        x = rng.normal(size=n)
        out = correlation(x, rho * x + 0.8 * rng.normal(size=n), test)
        held += out.low < truth < out.high
    assert abs(held / 1000 - 0.95) < 4 * np.sqrt(0.95 * 0.05 / 1000)


@pytest.mark.parametrize("test", ["pearson", "spearman", "kendall"])
def test_bootstrap_interval_is_near_fishers(test):
    rng = np.random.default_rng(3)
    x = rng.normal(size=80)
    y = x + rng.normal(size=80)
    fisher = correlation(x, y, test)
    drawn = correlation(x, y, test, n_resamples=999, seed=rng)
    assert_allclose([drawn.low, drawn.high], [fisher.low, fisher.high], atol=0.08)
    assert (drawn.low, drawn.high) != (fisher.low, fisher.high)
    assert (drawn.estimate, drawn.p) == (fisher.estimate, fisher.p)


def test_bootstrap_of_four_languages_does_not_break():
    result = correlate(
        *(pd.Series(v, index=list("abcd")) for v in ([1.0, 2, 3, 5], [2.0, 1, 4, 3])), interval="bootstrap", seed=0
    )
    row = result.to_frame().iloc[1]
    assert row["reason"] == "resamples of so few languages are degenerate: no interval"
    assert row["p"] > 0.05


def test_partial_correlation_of_one_control_is_the_textbook_formula():
    d, x, rng = languages(25)
    z = pd.Series(rng.normal(size=25) + x, index=x.index, name="z")
    row = correlate(d, pd.concat([x, z], axis=1), given=["z"], tests=["pearson"]).to_frame().iloc[0]
    xy, xz, yz = np.corrcoef(x, d)[0, 1], np.corrcoef(x, z)[0, 1], np.corrcoef(d, z)[0, 1]
    r = (xy - xz * yz) / np.sqrt((1 - xz**2) * (1 - yz**2))
    t = r * np.sqrt(22 / (1 - r**2))
    assert_allclose([row["estimate"], row["p"]], [r, 2 * stats.t.sf(abs(t), 22)], rtol=1e-9)
    assert row["given"] == "z"
    assert_allclose(np.arctanh([row["low"], row["high"]]).mean(), np.arctanh(r))
    assert_allclose(np.ptp(np.arctanh([row["low"], row["high"]])), 2 * 1.959964 / np.sqrt(25 - 1 - 3), rtol=1e-6)


def test_partial_p_is_that_of_the_slope_in_least_squares():
    import statsmodels.api as sm

    d, x, rng = languages(30)
    z = pd.DataFrame(rng.normal(size=(30, 3)), index=x.index, columns=list("uvw"))
    found = correlate(d, z.assign(x=x), given=list("uvw"), tests=["pearson"]).to_frame()
    assert found["predictor"].tolist() == ["x"]
    assert_allclose(found["p"], sm.OLS(d, sm.add_constant(z.assign(x=x))).fit().pvalues["x"], rtol=1e-9)


def test_partial_spearman_is_pearson_of_ranks():
    d, x, rng = languages(30)
    z = pd.Series(rng.normal(size=30) + x, index=x.index, name="z")
    spearman = correlate(d, pd.concat([x, z], axis=1), given=["z"], tests=["spearman"]).to_frame()
    ranks = correlate(d.rank(), pd.concat([x.rank(), z.rank()], axis=1), given=["z"], tests=["pearson"]).to_frame()
    assert_allclose(spearman[["estimate", "p"]], ranks[["estimate", "p"]], rtol=1e-9)


def test_what_is_held_fixed_may_leave_nothing():
    d, x, _ = languages(12)
    table = pd.DataFrame({"x": x, "twice": 2 * x + 1})
    row = correlate(d, table, given=["twice"], tests=["pearson"]).to_frame().iloc[0]
    assert np.isnan(row["p"])
    assert "leaves nothing" in row["reason"]
    assert not row["significant"]


def test_editions_of_a_language_are_averaged():
    info = pd.DataFrame({"language": list("aabbcdee")}, index=[f"e{i}" for i in range(8)])
    d = pd.Series([0.1, 0.3, 0.0, 0.2, -0.1, 0.5, -0.2, 0.2], index=info.index)
    x = pd.Series([1.0, 3, 5, 5, 2, 9, np.nan, 4], index=info.index, name="x")
    expected = stats.pearsonr([2, 5, 2, 9, 4], [0.2, 0.1, -0.1, 0.5, 0.0])
    row = correlate(d, x, edition_info=info, tests=["pearson"]).to_frame().iloc[0]
    assert_allclose([row["estimate"], row["p"]], [expected.statistic, expected.pvalue], rtol=1e-9)
    # predictors may be by language, and difficulties averaged as factors
    by_language = pd.Series([2.0, 5, 2, 9, 4], index=list("abcde"), name="x")
    again = correlate(d, by_language, edition_info=info, tests=["pearson"]).to_frame().iloc[0]
    assert_allclose(again["estimate"], row["estimate"], rtol=ROUNDING)
    factors = np.log([np.exp([0.1, 0.3]).mean(), np.exp([0.0, 0.2]).mean(), np.exp(-0.1), np.exp(0.5)])
    factors = [*factors, np.log(np.exp([-0.2, 0.2]).mean())]
    other = correlate(d, by_language, edition_info=info, tests=["pearson"], averaging="factor").to_frame().iloc[0]
    assert_allclose(other["estimate"], stats.pearsonr([2, 5, 2, 9, 4], factors).statistic, rtol=1e-9)


def test_a_fit_several_fits_and_predictors_of_a_multitext_are_taken():
    surprisals = ld.simulate(200, 6, seed=0).surprisals
    fit = ld.fit(surprisals)
    x = pd.Series(np.arange(6.0), index=surprisals.editions, name="x")
    one = correlate(fit, x)
    assert one.to_frame()["language_model"].unique() == [fit.lm]
    two = correlate({"small": fit, "large": fit.difficulty}, SimpleNamespace(to_frame=lambda: x.to_frame()))
    assert two.to_frame()["language_model"].tolist() == ["small"] * 2 + ["large"] * 2
    assert_allclose(one.to_frame()["p"], two.to_frame()["p"].iloc[:2])


def test_languages_without_a_value_are_counted():
    d, x, _ = languages(10)
    x.iloc[:3] = np.nan
    row = correlate(d, x, tests=["pearson"]).to_frame().iloc[0]
    assert (row["n"], row["missing"]) == (7, 3)
    assert_allclose(row["estimate"], np.corrcoef(x[3:], d[3:])[0, 1])


@pytest.mark.parametrize(
    ("values", "reason"),
    [([1.0] * 6, "the predictor is constant: 1"), ([1.0, 2, 3] + [np.nan] * 3, "3 languages with a value")],
)
def test_what_cannot_be_tested_says_why_and_is_not_in_the_family(values, reason):
    d, x, _ = languages(6)
    table = pd.DataFrame({"x": x, "bad": values})
    result = correlate(d, table, tests=["pearson", "spearman", "kendall"])
    bad = result.tests[result.tests["predictor"] == "bad"]
    assert bad["p"].isna().all()
    assert bad["reason"].str.startswith(reason).all()
    assert not bad["significant"].any()
    assert result.family_size == 3


def test_no_nan_p_without_a_reason_whatever_comes():
    @settings(max_examples=25)
    @given(st.integers(0, 2**32 - 1))
    def check(seed):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 12))
        names = [f"l{i}" for i in range(n)]
        d = pd.Series(rng.choice([0.0, 0.1, 0.2], n), index=names)
        numbers = rng.choice([0.0, 1.0, 1e6, np.nan], n)
        words = rng.choice(["SOV", "SVO", None], n)
        family = pd.DataFrame({"language": names, "family": rng.choice(list("abcde"), n)}, index=names)
        table = pd.DataFrame({"x": numbers, "c": pd.Series(words, dtype=object).to_numpy()}, index=names)
        tests = ["pearson", "spearman", "kendall", "mood", "kruskal", "mixed", "permutation"]
        frame = correlate(d, table, edition_info=family, tests=tests, n_resamples=99, seed=0).to_frame()
        assert (frame["p"].notna() | (frame["reason"] != "")).all()
        assert frame["p"].dropna().between(0, 1).all()
        inside = frame.dropna(subset=["low"])
        assert ((inside["low"] <= inside["estimate"] + 1e-9) & (inside["estimate"] <= inside["high"] + 1e-9)).all()
        assert (frame["p_adjusted"].isna() == frame["p"].isna()).all()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check()


def test_order_of_rows_and_scale_of_predictors_do_not_matter():
    d, x, rng = languages(12)
    table = pd.DataFrame({"x": x, "y": rng.normal(size=12)})
    first = correlate(d, table).to_frame()
    shuffled = correlate(d.sample(frac=1, random_state=1), (table * 1e9 + 5).sample(frac=1, random_state=2)).to_frame()
    assert_allclose(first[["estimate", "low", "high", "p"]], shuffled[["estimate", "low", "high", "p"]], rtol=1e-6)


D, X, _ = languages(6)


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "message"),
    [
        ((D, X), {"only": ["y"]}, ConfigError, "unknown predictor 'y'; there are 'x'"),
        ((D, X.rename("word_types")), {"only": ["word_type"]}, ConfigError, "did you mean 'word_types'"),
        ((D, X), {"given": ["z"]}, ConfigError, "unknown predictor 'z'"),
        ((D, X), {"tests": ["pearsn"]}, ConfigError, "unknown test.*'pearsn'"),
        ((D, X), {"tests": []}, ConfigError, "at least one test"),
        ((D, X), {"tests": ["mood"]}, ConfigError, "no test to make"),
        ((D, X), {"tests": ["kendall"], "given": ["x"]}, ConfigError, "held fixed"),
        ((D, X), {"averaging": "median"}, ConfigError, "averaging"),
        ((D, X), {"average": "family"}, ConfigError, "average=.family.: must be .language. or None"),
        ((D, X), {"average": None}, ConfigError, "name tests=.mixed. alone"),
        ((D, X), {"interval": "exact"}, ConfigError, "interval"),
        ((D, X), {"n_resamples": 10}, ConfigError, "at least 99"),
        ((D.iloc[:3], X), {}, DataError, "3 languages have both"),
        ((D, X.rename(lambda name: name.upper())), {}, DataError, "0 languages have both.*'l00'.*'L00'"),
        ((D.where(D.index != "l01"), X), {}, DataError, "1 of 6 are not finite numbers: 'l01'"),
        ((D, X.where(X.index != "l02", np.inf)), {}, DataError, r"predictor 'x': 1 value\(s\) are infinite: 'l02'"),
        ((pd.concat([D, D]), X), {}, DataError, "named twice"),
        ((D, pd.concat([X, X])), {}, DataError, "rows of the same name"),
        ((D, pd.concat([X, X], axis=1)), {}, DataError, "columns of the same name"),
        (([1, 2], X), {}, ConfigError, "must be effects, a fit"),
        (({}, X), {}, DataError, "no difficulties"),
        ((D, None), {}, ConfigError, "predictors must be a table"),
        ((D, X), {"tests": "mood"}, ConfigError, "no test to make: 'mood'"),
        ((D, X), {"edition_info": pd.DataFrame({"family": ["f"] * 6}, index=D.index)}, DataError, "'language'"),
        (
            (D, X),
            {"edition_info": pd.DataFrame({"language": list("abcd")}, index=D.index[:4])},
            DataError,
            "2 of 6 editions have no language: 'l04', 'l05'",
        ),
        (
            (D, X),
            {"edition_info": pd.DataFrame({"language": list("aabcde"), "family": list("xyxxxx")}, index=D.index)},
            DataError,
            "more than one family: 'a'",
        ),
    ],
)
def test_bad_input_is_named(arguments, settings, error, message):
    with pytest.raises(error, match=message):
        correlate(*arguments, **settings)


def test_summary_says_p_only_beside_the_adjusted_one_and_warns_of_relatives():
    figures = mielke2019()
    result = correlate(
        figures.difficulties("bibles"),
        figures.predictors("bibles").assign(order=figures.bibles["language"].map(figures.wals_features()["81A"])),
        edition_info=figures.edition_info("bibles"),
        corpus="bibles",
    )
    text = result.summary()
    assert "26 tests with a p" in text
    assert "p_adjusted" in text
    assert "62 of bibles are in 13 families, the largest of 22" in text
    assert "SOV" in text
    assert repr(result).startswith("Correlations: 26 tests (bibles)")
    assert "<table" in result._repr_html_()
    assert result.strongest() == "word_types"


def test_columns_of_the_predictors_serve_as_edition_info():
    info = pd.DataFrame({"language": list("aabcde"), "family": list("xxxyyz")}, index=D.index)
    row = correlate(D, pd.concat([X, info], axis=1), tests=["pearson"]).to_frame().iloc[0]
    expected = correlate(D, X, edition_info=info, tests=["pearson"]).to_frame().iloc[0]
    assert row["n"] == 5
    assert_allclose(row["p"], expected["p"])


def test_families_of_a_table_of_languages_serve_and_no_language_is_lost():
    table = X.to_frame().assign(family=list("xxxyyz"))
    info = pd.DataFrame({"language": D.index, "family": list("xxxyyz")}, index=D.index)
    rows = correlate(D, table, tests=["pearson", "permutation"], seed=0).to_frame()
    expected = correlate(D, X, edition_info=info, tests=["pearson", "permutation"], seed=0).to_frame()
    pd.testing.assert_frame_equal(rows, expected)
    row = correlate(D, table.iloc[1:], tests=["pearson"]).to_frame().iloc[0]
    assert (row["n"], row["missing"]) == (5, 1)


def test_numbers_among_which_none_stands_for_a_missing_one_are_numbers():
    objects = pd.DataFrame({"x": [None, *X.iloc[1:]]}, index=X.index, dtype=object)
    expected = correlate(D, X.where(X.index != "l00")).to_frame()
    pd.testing.assert_frame_equal(correlate(D, objects).to_frame(), expected)


def test_errors_beside_the_difficulties_of_a_fit_are_no_language_models():
    frame = pd.DataFrame({"difficulty": D, "std_error": X, "low": D - X})
    rows = correlate(frame, X, tests="pearson").to_frame()
    assert rows["language_model"].tolist() == ["unknown"]
    assert_allclose(rows["p"], correlate(D, X, tests="pearson").to_frame()["p"])


def test_an_edition_told_of_twice_is_refused():
    info = pd.DataFrame({"language": list("abcdef")}, index=D.index)
    with pytest.raises(DataError, match=r"1 edition.*in more than one row: 'l03'"):
        correlate(D, X, edition_info=pd.concat([info, info.iloc[3:4]]))
    others = pd.DataFrame({"language": ["q", "q"]}, index=["other", "other"])  # not among the difficulties
    assert correlate(D, X, edition_info=pd.concat([info, others])).family_size == 2
