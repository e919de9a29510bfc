"""Tied difficulties: against statsmodels, against fits of what they stand for, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression._density import cell_log_density

OPTIMISERS = 1e-6
LEAST_SQUARES = 1e-8

INFO = pd.DataFrame(
    {"language": ["eng", "eng", "deu", "deu", "fin", "fin"], "lm": ["char", "bpe"] * 3, "year": [1, 2, 3, 4, 5, 7.0]},
    index=[f"e{j}" for j in range(1, 7)],
)


@pytest.fixture(scope="module")
def surprisals():
    difficulties = [0.00, 0.03, 0.10, 0.13, -0.08, -0.05]
    return ld.simulate(120, 6, difficulties=difficulties, missing=0.2, seed=1)[1]


def long_frame(surprisals):
    return surprisals.to_frame().merge(INFO, left_on="edition", right_index=True).assign(z=lambda f: np.log(f["bits"]))


def test_groups_of_model_1_are_those_of_least_squares(surprisals):
    ols = smf.ols("z ~ C(intent) + C(language)", long_frame(surprisals)).fit()
    fit = ld.fit(surprisals, model="1", groups="language", edition_info=INFO)
    assert fit.difficulty.index.name == "language"
    ours = fit.difficulty - fit.difficulty["deu"]
    for language in ("eng", "fin"):
        assert ours[language] == pytest.approx(ols.params[f"C(language)[T.{language}]"], abs=LEAST_SQUARES)
        assert fit.contrast(language, "deu").std_error == pytest.approx(ols.bse[f"C(language)[T.{language}]"], rel=1e-6)
    assert np.exp(fit.difficulty).mean() == pytest.approx(1)


def test_terms_of_model_1_are_those_of_least_squares(surprisals):
    ols = smf.ols("z ~ C(intent) + C(language) + C(lm) + year", long_frame(surprisals)).fit()
    fit = ld.fit(surprisals, model="1", formula="language + lm + year", edition_info=INFO)
    for ours, theirs in {
        "language[T.eng]": "C(language)[T.eng]",
        "language[T.fin]": "C(language)[T.fin]",
        "lm[T.char]": "C(lm)[T.char]",
        "year": "year",
    }.items():
        assert fit.terms.loc[ours, "estimate"] == pytest.approx(ols.params[theirs], abs=LEAST_SQUARES)
        assert fit.terms.loc[ours, "std_error"] == pytest.approx(ols.bse[theirs], rel=1e-6)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_groups_of_model_2_are_what_another_optimiser_finds(method):
    _, surprisals = ld.simulate(8, 4, sigma=1.0, difficulties=[0, 0, 0.2, 0.2], missing=0.2, seed=3)
    z = np.log(surprisals.bits.to_numpy())
    n_intents = len(z)
    groups = {"e1": "a", "e2": "a", "e3": "b", "e4": "b"}

    def minus(x):
        d = np.array([0.0, 0.0, x[n_intents], x[n_intents]])
        return -np.nansum(cell_log_density(z, x[:n_intents], d, np.exp(x[-1]), model="2"))

    fit = ld.fit(surprisals, method=method, groups=groups)
    assert fit.single_cell_intents == 0
    start = np.concatenate([np.nanmean(z, axis=1), [0.0, 0.0]])
    found = minimize(minus, start, method="trust-constr", options={"maxiter": 3000, "gtol": 1e-8, "xtol": 1e-12})
    assert fit.contrast("b", "a").estimate == pytest.approx(found.x[n_intents], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)


@pytest.mark.parametrize("model", ["1", "2", "2L", "2C"])
def test_a_group_an_edition_is_no_grouping(surprisals, model):
    free = ld.fit(surprisals, model=model)
    grouped = ld.fit(surprisals, model=model, groups={e: f"of {e}" for e in surprisals.editions})
    tolerance = OPTIMISERS if model in ("1", "2") else 1e-4
    assert_allclose(grouped.difficulty, free.difficulty, atol=tolerance)
    assert_allclose(grouped.std_error, free.std_error, rtol=1e-3)


@pytest.mark.parametrize("restricted", [False, True])
def test_a_formula_with_a_term_an_edition_is_free(surprisals, restricted):
    info = pd.DataFrame({"edition": surprisals.editions}, index=surprisals.editions)
    free = ld.fit(surprisals, restricted=restricted)
    formula = ld.fit(surprisals, formula="edition", edition_info=info, restricted=restricted)
    assert_allclose(formula.difficulty, free.difficulty, atol=OPTIMISERS)
    assert_allclose(formula.covariance, free.covariance, atol=1e-7)


def test_difficulties_of_a_formula_are_sums_of_its_terms(surprisals):
    fit = ld.fit(surprisals, formula="language + lm", edition_info=INFO)
    d = fit.difficulty
    assert d["e2"] - d["e1"] == pytest.approx(d["e6"] - d["e5"], abs=1e-12)
    assert d["e1"] - d["e2"] == pytest.approx(fit.terms.loc["lm[T.char]", "estimate"], abs=1e-12)
    assert "lm[T.char]" in fit.summary()


def test_groups_connect_what_intents_do_not():
    bits = pd.DataFrame({"a": [10.0, 20, 31, np.nan, np.nan, np.nan], "b": [11, 25, 30, np.nan, np.nan, np.nan],
                         "c": [np.nan, np.nan, np.nan, 12, 24, 36], "d": [np.nan, np.nan, np.nan, 14, 22, 31]})  # fmt: skip
    with pytest.raises(DataError, match=r"the editions fall into 2 groups \(of 2, 2 editions\)"):
        ld.fit(bits)
    fit = ld.fit(bits, groups={"a": "x", "b": "y", "c": "x", "d": "y"})
    assert list(fit.difficulty.index) == ["x", "y"]
    with pytest.raises(DataError, match=r"the groups fall into 2 groups.*'x' to 'y'"):
        ld.fit(bits, groups={"a": "x", "b": "x", "c": "y", "d": "y"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": "language"}, "needs edition_info"),
        ({"groups": "family", "edition_info": INFO}, "no column 'family'; it has 'language', 'lm', 'year'"),
        ({"groups": {"e1": "a", "e2": "b"}}, r"4 edition\(s\) without a group: 'e3', 'e4', 'e5', 'e6'"),
        ({"groups": dict.fromkeys(INFO.index, "a")}, "all editions are of one group"),
        ({"groups": "lm", "formula": "lm", "edition_info": INFO}, "not both"),
        ({"formula": "lm"}, "needs edition_info"),
        ({"formula": "lm", "edition_info": INFO.iloc[:3]}, r"3 edition\(s\) are not in edition_info: 'e4'"),
        ({"formula": "lm + typo", "edition_info": INFO}, "cannot be used with edition_info.*typo"),
        ({"formula": "lm +", "edition_info": INFO}, "cannot be used"),
        ({"formula": "year ~ lm", "edition_info": INFO}, "two sides"),
        (
            {"formula": "language + lm + half", "edition_info": INFO.assign(half=[1.0, 0, 1, 0, 1, 0])},
            r"1 term\(s\).*follow from the constant and the terms before them: 'half'",
        ),
        ({"formula": "lm", "edition_info": INFO.assign(lm=["char", None] * 3)}, "cannot be used"),
    ],
)
def test_designs_that_cannot_be(surprisals, arguments, message):
    with pytest.raises(ConfigError, match=message):
        ld.fit(surprisals, **arguments)


def test_arrays_and_tensors_are_taken(surprisals):
    torch = pytest.importorskip("torch")
    named = ld.fit(surprisals).difficulty.to_numpy()
    assert_allclose(ld.fit(surprisals.bits.to_numpy()).difficulty, named, atol=OPTIMISERS)
    assert_allclose(ld.fit(torch.tensor(surprisals.bits.to_numpy())).difficulty, named, atol=OPTIMISERS)
