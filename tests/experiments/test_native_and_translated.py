"""Native less translated difficulty, against answers found otherwise."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy import stats

import langdiff as ld
from langdiff.errors import ConfigError, LangdiffWarning
from langdiff.experiments import split_by_origin, translationese

SAME_ALGEBRA = 1e-7  # least squares by another route
LANGUAGES = [f"e{j}" for j in range(1, 5)]


def native_texts(effect, intents=600, missing=0.0, seed=0, sources=("e1", "e2", "e3", "xxx"), model="1"):
    """Draw surprisals in which native cells have `effect` nats more (by edition)."""
    rng = np.random.default_rng(seed)
    drawn = ld.simulate(intents, 4, model=model, missing=missing, seed=rng).surprisals
    origin = pd.Series(rng.choice(list(sources), intents), index=drawn.intents)
    native = np.array([origin == edition for edition in LANGUAGES]).T
    return ld.Surprisals(bits=drawn.bits * np.exp(effect * native), lm="mine"), origin


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_model_1_agrees_with_regression_on_dummies(missing):
    """Statsmodels is given intent, edition and native × edition, and gives contrasts with their covariance.

    Forty-eight intents: below fifty, errors come from the information, as those of least squares do.
    """
    surprisals, origin = native_texts(0.05, intents=48, missing=missing)
    result = translationese(surprisals, origin, min_native=1, model="1")
    long = surprisals.to_frame()
    for edition in ("e1", "e2", "e3"):
        long[f"native_{edition}"] = ((long["edition"] == edition) & (long["intent"].map(origin) == edition)).astype(int)
    ols = smf.ols("np.log(bits) ~ C(intent) + C(edition) + native_e1 + native_e2 + native_e3", long).fit()
    frame = result.to_frame()
    names = [f"native_{edition}" for edition in frame.index]
    assert_allclose(frame["difference"], ols.params[names], atol=SAME_ALGEBRA)
    assert_allclose(frame["std_error"], ols.bse[names], atol=SAME_ALGEBRA)
    mean = ols.t_test([[1 / 3 if name in names else 0 for name in ols.params.index]])
    assert result.mean.estimate == pytest.approx(mean.effect[0], abs=SAME_ALGEBRA)
    assert result.mean.std_error == pytest.approx(mean.sd[0, 0], abs=SAME_ALGEBRA)
    assert result.standard_deviation == pytest.approx(np.std(ols.params[names], ddof=1), abs=SAME_ALGEBRA)


@pytest.mark.parametrize("model", ["1", "2"])
def test_planted_difference_is_found_whatever_natives_talk_about(model):
    """Native intents of e1 are made twice as large: that does not make e1 hard."""
    effect = np.array([0.06, 0.0, -0.04, 0.0])
    surprisals, origin = native_texts(effect, intents=4000, seed=3, model=model)
    larger = surprisals.bits.mul(np.where(origin == "e1", 2.0, 1.0), axis=0)
    result = translationese(ld.Surprisals(bits=larger), origin, min_native=100, model=model)
    frame = result.to_frame()
    assert list(frame.index) == ["e1", "e2", "e3"]
    assert ((frame["difference"] - effect[:3]).abs() < 3.5 * frame["std_error"]).all()
    assert frame["std_error"].max() < 0.012
    assert frame["low"]["e1"] > 0
    assert frame["high"]["e3"] < 0


def test_an_edition_left_whole_biases_the_others_as_the_notes_say():
    """Native e1 is half as long again; e2 does not differ, and comes out so only if e1 is divided, too."""
    surprisals, origin = native_texts(np.array([np.log(1.5), 0, 0, 0]), intents=4000, seed=7)
    message = r"2 edition\(s\) with native .* as they are not named: 'e1' \(1,002\), 'e3' \(989\)\. This is a bias"
    with pytest.warns(LangdiffWarning, match=message):
        alone = (
            translationese(surprisals, origin, languages=["e2"], model="1", dispersion="common").to_frame().loc["e2"]
        )
    together = translationese(surprisals, origin, model="1", dispersion="common").to_frame().loc["e2"]
    of_e1 = (origin[origin != "e2"] == "e1").mean()
    bias = of_e1 * np.log(1.5) / 3
    assert bias > 4 * alone["std_error"]
    # the same noise is in both, but for what e1 and e3 say of intents native there
    assert abs(alone["difference"] - together["difference"] - bias) < alone["std_error"]
    assert abs(together["difference"]) < 3 * together["std_error"]


def test_table_counts_and_measures():
    surprisals, origin = native_texts(0.0, missing=0.1, seed=5)
    origin.iloc[:7] = "und"
    result = translationese(surprisals, origin, min_native=1)
    frame = result.to_frame()
    for edition in frame.index:
        have = surprisals.bits[edition].notna()
        assert frame.loc[edition, "native"] == (have & (origin == edition)).sum()
        assert frame.loc[edition, "translated"] == (have & (origin != edition) & (origin != "und")).sum()
    assert result.unknown_intents == 7
    assert list(frame["language"]) == list(frame.index)
    freedom = [result.fit.contrast(f"{e}:native", f"{e}:translated").degrees_of_freedom for e in frame.index]
    half = stats.t.ppf(0.975, freedom) * frame["std_error"]
    assert_allclose(frame["high"] - frame["low"], 2 * half, rtol=1e-6)
    assert_allclose(frame["percent"], 100 * (np.exp(frame["difference"]) - 1))
    assert_allclose(frame["detectable"], 2.801585 * frame["std_error"], rtol=1e-6)  # 80 % power, normal tables
    fit = ld.fit(split_by_origin(surprisals, origin, min_native=1))
    assert frame.loc["e2", "difference"] == fit.difficulty["e2:native"] - fit.difficulty["e2:translated"]


def test_min_native_names_what_it_leaves_whole():
    surprisals, origin = native_texts(0.0)
    native = {edition: int((origin == edition).sum()) for edition in ("e1", "e2", "e3")}
    least = min(native, key=native.get)
    with pytest.warns(
        LangdiffWarning, match=rf"1 .* fewer than \d+ native intents: '{least}' \(\d+\)\..* min_native to 1"
    ):
        result = translationese(surprisals, origin, min_native=native[least] + 1)
    assert result.whole.to_dict() == {least: native[least]}
    assert f"Left whole, which biases the differences (native intents): '{least}'" in result.summary()


@pytest.mark.filterwarnings("ignore:. edition.s. with native intents are left whole")
def test_editions_named_like_parts_are_not_taken_for_them():
    surprisals, origin = native_texts(0.0)
    named = ld.Surprisals(bits=surprisals.bits.rename(columns={"e4": "e2:native"}))
    plain = translationese(surprisals, origin, languages=["e1"]).to_frame()
    assert list(plain.index) == ["e1"]
    pd.testing.assert_frame_equal(translationese(named, origin, languages=["e1"]).to_frame(), plain)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"groups": {"e1:native": "n"}}, "translationese cannot take 'groups'"),
        ({"formula": "part", "groups": ["part"]}, "cannot take 'groups', 'formula'"),
    ],
)
def test_difficulties_cannot_be_tied(settings, message):
    with pytest.raises(ConfigError, match=message):
        translationese(*native_texts(0.0, intents=60), min_native=1, **settings)
