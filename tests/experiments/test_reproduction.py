"""The published figures give what they gave SciPy, and the paper's claims what an independent count found."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import stats

import langdiff as ld
from langdiff.datasets import mielke2019
from langdiff.experiments import claims as claims_module
from langdiff.experiments.claims import judge

DATA = Path(__file__).parents[1] / "data"
KEY = ["corpus", "language_model", "predictor"]


@pytest.fixture
def result(reproduction):
    return reproduction


def test_tests_give_what_scipy_gave(result):
    tests = pd.concat([result.pearson.tests, result.spearman.tests])
    expected = pd.read_csv(DATA / "mielke2019_expected_correlations.csv").set_index(KEY)
    for test, symbol in (("pearson", "r"), ("spearman", "rho")):
        found = tests[tests["test"] == test].set_index(KEY)
        theirs = expected.loc[found.index]
        assert len(found) == 32
        assert_allclose(found["estimate"], theirs[f"{test}_{symbol}"], rtol=0, atol=1e-11)
        assert_allclose(found["p"], theirs[f"{test}_p"], rtol=0, atol=1e-11)
        assert (found["significant"] == theirs[f"{test}_rejected_m32"].astype(bool)).all()


@pytest.mark.parametrize("languages", ["iso_join", "iso_join_without_cmn", "reconstruction"])
@pytest.mark.parametrize("averaging", ["difficulty", "factor"])
def test_medians_and_means_of_categories_are_those_of_scipy(languages, averaging):
    figures = mielke2019()
    found = ld.correlate(
        figures.difficulties("bibles"),
        figures.wals_features(languages),
        edition_info=figures.edition_info("bibles"),
        corpus="bibles",
        tests=["mood"],
        averaging=averaging,
    )
    chosen = f"language_set == '{languages}' and averaging == '{averaging}'"
    mood = pd.read_csv(DATA / "mielke2019_expected_mood.csv").query(chosen).set_index(["feature", "language_model"])
    ours = found.tests.set_index(["predictor", "language_model"]).loc[mood.index]
    assert len(mood) == 4
    assert_allclose(ours[["n", "estimate", "p"]], mood[["n", "statistic", "p"]], rtol=0, atol=1e-11)
    means = pd.read_csv(DATA / "mielke2019_expected_categories.csv").query(chosen).set_index(["feature", "value_name"])
    for lm, ours in found.categories().groupby("language_model"):
        ours = ours.set_index(["predictor", "category"]).loc[means.index]
        assert_allclose(ours[["n", "mean", "sd"]], means[["n", f"mean_{lm}", f"sd_{lm}"]], rtol=0, atol=1e-11)


def test_families_and_decisions_are_those_of_the_paper(result):
    for family in (result.pearson, result.spearman):
        assert family.family_size == 32
    assert int(result.pearson.tests["significant"].sum()) == 8
    assert int(result.spearman.tests["significant"].sum()) == 9


@pytest.mark.real_data
def test_agreement_is_what_was_found_independently(result, real_data):
    table = pd.read_csv(real_data / "mielke2019" / "published_vs_recomputed.csv", dtype=str)
    ours = result.claims.iloc[: len(table)]  # the first 62, in the same order
    assert ours["agreement"].tolist() == table["agrees"].tolist()
    numbers = 0
    for theirs, recomputed in zip(table["recomputed"], ours["recomputed"], strict=True):
        if re.fullmatch(r"-?[\d.]+( \([\d.]+\))?", theirs):
            values = ([float(v) for v in re.findall(r"-?[\d.]+", text)] for text in (theirs, recomputed))
            assert_allclose(*values, rtol=1e-5)
            numbers += 1
    assert numbers >= 40


def test_the_paper_is_contradicted_where_it_should_be(result):
    claims = result.claims.set_index("claim")
    wrong = claims.loc["Europarl, dependency length, bpe: Pearson r"]
    assert (wrong["published"], wrong["recomputed"], wrong["agreement"]) == (".486", "0.468482", "no")
    # the p that was printed beside it is that of the recomputed r
    t = 0.468482 * np.sqrt(19 / (1 - 0.468482**2))
    assert round(2 * stats.t.sf(t, 19), 3) == 0.032
    assert (claims.loc[claims["agreement"] != "yes", "note"] != "").all()
    counts = {"yes": 62, "nearly": 2, "no": 3, "in part": 1, "cannot be recomputed": 8}
    assert result.claims["agreement"].value_counts().to_dict() == counts


def test_german_is_not_the_hardest_everywhere(result):
    claims = result.claims.set_index("claim")
    figures = mielke2019()
    shared = set(figures.bibles["language"]) & set(figures.europarl["language"])
    assert len(shared) == 14
    for corpus, name in (("europarl", "language of Europarl"), ("bibles", "of the 14 shared languages in the Bibles")):
        table = figures.editions(corpus)
        for lm in ("bpe", "char"):
            factors = {}
            for language, factor in zip(table["language"], table[f"factor_{lm}"], strict=True):
                if corpus == "europarl" or language in shared:
                    factors.setdefault(language, []).append(np.log(factor))
            harder = [name for name in factors if np.mean(factors[name]) > np.mean(factors["deu"])]
            row = claims.loc[f"Hardest {name}, {lm}"]
            assert set(row["recomputed"].split(", ")) == {*harder, "deu"}
            assert row["agreement"] == ("no" if harder else "yes")
    assert claims.loc["Hardest of the 14 shared languages in the Bibles, bpe", "recomputed"] == "hun, ces, fin, deu"


def test_style_is_under_half_of_the_variance(result):
    claims = result.claims.set_index("claim")
    bibles = mielke2019().bibles
    for lm, share in (("bpe", 0.34), ("char", 0.41)):
        logs = np.log(bibles[f"factor_{lm}"])
        parts = [logs[bibles["language"] == language] for language in ("deu", "fra", "eng")]
        # the residual mean square of a one-way analysis of variance of these 26 Bibles
        residuals = np.concatenate([part - part.mean() for part in parts])
        expected = (residuals**2).sum() / (26 - 3) / logs.var(ddof=1)
        row = claims.loc[f"Bibles, share of the variance within German, French and English, {lm}"]
        assert float(row["recomputed"]) == pytest.approx(expected, rel=1e-5)  # six digits are given
        assert round(expected, 2) == share
        assert (row["published"], row["agreement"]) == ("< .5", "yes")


def test_what_cannot_be_recomputed_says_why(result):
    rows = result.claims[result.claims["agreement"] == "cannot be recomputed"]
    assert rows["where"].value_counts().to_dict() == {"appendix D": 3, "section 4": 2, "section 6": 2, "Table 1": 1}
    assert (rows["note"] != "").all()
    assert (rows["recomputed"] == "").all()
    assert "62 of 68 claims agree, 8 more cannot be recomputed" in repr(result)
    assert "counted in the corpus itself" in result.summary()


@pytest.mark.parametrize(
    ("published", "value", "verdict"),
    [
        (".004", 0.0038961, "yes"),
        ("-.045", -0.0454545, "yes"),
        (".486", 0.468482, "no"),
        (".0009", 0.000975728, "nearly"),
        ("-0.0252", -0.02528, "nearly"),
        ("-0.0252", 0.02528, "no"),
        ("> .9", 0.9866, "yes"),
        ("> .9", 0.9, "no"),
        ("< 1e-11", 7.5e-12, "yes"),
        ("< .001", 0.0026, "no"),
    ],
)
def test_judgement(published, value, verdict):
    assert judge(published, value) == verdict


def test_every_kind_of_claim_is_used_and_known(result):
    claims = mielke2019().claims
    assert set(claims["kind"]) == set(claims_module.KINDS)
    assert set(claims.loc[claims["kind"] == "named", "about"]) == set(claims_module.NAMED)
    assert result.to_frame()["agreement"].notna().all()
