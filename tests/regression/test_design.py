"""Tied difficulties: against statsmodels, against fits of what they stand for, and what is refused."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.regression import Optimizer
from langdiff.regression.variants.normal import Normal
from tests.helpers import refused

OPTIMIZERS = 1e-6
LEAST_SQUARES = 1e-8

COLUMNS = [  # of the table of a result
    *("difficulty", "std_error", "low", "high", "factor"),
    *("percent", "percent_std_error", "percent_low", "percent_high", "rank"),
]
INFO = pd.DataFrame(
    {"language": ["eng", "eng", "deu", "deu", "fin", "fin"], "lm": ["char", "bpe"] * 3, "year": [1, 2, 3, 4, 5, 7.0]},
    index=[f"e{j}" for j in range(1, 7)],
)


@pytest.fixture(scope="module")
def surprisals():
    difficulties = [0.00, 0.03, 0.10, 0.13, -0.08, -0.05]
    return ld.simulate(120, 6, difficulties=difficulties, missing=0.2, seed=1).surprisals


def long_frame(surprisals):
    return surprisals.to_frame().merge(INFO, left_on="edition", right_index=True).assign(z=lambda f: np.log(f["bits"]))


def test_groups_of_model_1_are_those_of_least_squares(surprisals):
    ols = smf.ols("z ~ C(intent) + C(language)", long_frame(surprisals)).fit()
    fit = ld.fit(surprisals, model="1", errors="information", groups="language", edition_info=INFO)
    assert fit.difficulty.index.name == "language"
    ours = fit.difficulty - fit.difficulty["deu"]
    for language in ("eng", "fin"):
        assert ours[language] == pytest.approx(ols.params[f"C(language)[T.{language}]"], abs=LEAST_SQUARES)
        assert fit.contrast(language, "deu").std_error == pytest.approx(ols.bse[f"C(language)[T.{language}]"], rel=1e-6)
    assert np.exp(fit.difficulty).mean() == pytest.approx(1)


def test_terms_of_model_1_are_those_of_least_squares(surprisals):
    ols = smf.ols("z ~ C(intent) + C(language) + C(lm) + year", long_frame(surprisals)).fit()
    fit = ld.fit(surprisals, model="1", errors="information", formula="language + lm + year", edition_info=INFO)
    for ours, theirs in {
        "language[T.eng]": "C(language)[T.eng]",
        "language[T.fin]": "C(language)[T.fin]",
        "lm[T.char]": "C(lm)[T.char]",
        "year": "year",
    }.items():
        assert fit.terms.loc[ours, "estimate"] == pytest.approx(ols.params[theirs], abs=LEAST_SQUARES)
        assert fit.terms.loc[ours, "std_error"] == pytest.approx(ols.bse[theirs], rel=1e-6)


@pytest.mark.parametrize("method", ["newton", "lbfgs"])
def test_groups_of_model_2_are_what_another_optimizer_finds(method):
    surprisals = ld.simulate(8, 4, sigma=1.0, difficulties=[0, 0, 0.2, 0.2], missing=0.2, seed=3).surprisals
    z = np.log(surprisals.bits.to_numpy())
    n_intents = len(z)
    groups = {"e1": "a", "e2": "a", "e3": "b", "e4": "b"}

    def minus(x):
        d = np.array([0.0, 0.0, x[n_intents], x[n_intents]])
        return -np.nansum(Normal().log_density_of_cells(z, x[:n_intents], d, np.exp(x[-1])))

    fit = ld.fit(surprisals, optimizer=Optimizer(method), groups=groups, restricted=False)
    assert fit.single_cell_intents == 0
    start = np.concatenate([np.nanmean(z, axis=1), [0.0, 0.0]])
    found = minimize(minus, start, method="trust-constr", options={"maxiter": 3000, "gtol": 1e-8, "xtol": 1e-12})
    assert fit.contrast("b", "a").estimate == pytest.approx(found.x[n_intents], abs=1e-4)
    assert fit.log_likelihood == pytest.approx(-found.fun, abs=1e-6)


@pytest.mark.parametrize("model", ["1", "2", "2L", "2C"])
def test_a_group_an_edition_is_no_grouping(surprisals, model):
    free = ld.fit(surprisals, model=model)
    grouped = ld.fit(surprisals, model=model, groups={e: f"of {e}" for e in surprisals.editions})
    tolerance = OPTIMIZERS if model in ("1", "2") else 1e-4
    assert_allclose(grouped.difficulty, free.difficulty, atol=tolerance)
    assert_allclose(grouped.std_error, free.std_error, rtol=1e-3)


@pytest.mark.parametrize("restricted", [False, True])
def test_a_formula_with_a_term_an_edition_is_free(surprisals, restricted):
    info = pd.DataFrame({"edition": surprisals.editions}, index=surprisals.editions)
    free = ld.fit(surprisals, restricted=restricted)
    formula = ld.fit(surprisals, formula="edition", edition_info=info, restricted=restricted)
    assert_allclose(formula.difficulty, free.difficulty, atol=OPTIMIZERS)
    assert_allclose(formula.covariance, free.covariance, atol=1e-7)


def test_difficulties_of_a_formula_are_sums_of_its_terms(surprisals):
    fit = ld.fit(surprisals, formula="language + lm", edition_info=INFO)
    d = fit.difficulty
    assert d["e2"] - d["e1"] == pytest.approx(d["e6"] - d["e5"], abs=1e-12)
    assert d["e1"] - d["e2"] == pytest.approx(fit.terms.loc["lm[T.char]", "estimate"], abs=1e-12)
    assert "lm[T.char]" in fit.summary()


def test_groups_connect_what_intents_do_not():
    none = [np.nan] * 3
    columns = {"a": [10.0, 20, 31, *none], "b": [11.0, 25, 30, *none]}
    bits = pd.DataFrame(columns | {"c": [*none, 12.0, 24, 36], "d": [*none, 14.0, 22, 31]})
    refused(DataError, r"the editions fall into 2 groups \(of 2, 2 editions\)", ld.fit, bits)
    fit = ld.fit(bits, groups={"a": "x", "b": "y", "c": "x", "d": "y"})
    assert list(fit.difficulty.index) == ["x", "y"]
    with pytest.raises(DataError, match=r"the groups fall into 2 groups.*'x' to 'y'"):
        ld.fit(bits, groups={"a": "x", "b": "x", "c": "y", "d": "y"})


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"groups": "language"}, "needs edition_info"),
        ({"groups": "family", "edition_info": INFO}, "no column 'family'; it has 'language', 'lm', 'year'"),
        ({"groups": {"e1": "a", "e2": "b"}}, r"4 edition\(s\) without a group in groups: 'e3', 'e4', 'e5', 'e6'"),
        ({"groups": dict.fromkeys(INFO.index, "a")}, "all editions are of one group"),
        ({"groups": "lm", "formula": "lm", "edition_info": INFO}, "not both"),
        ({"formula": "lm"}, "needs edition_info"),
        ({"formula": "lm", "edition_info": INFO.iloc[:3]}, r"3 edition\(s\) are not in edition_info: 'e4'"),
        ({"formula": "lm + typo", "edition_info": INFO}, "'typo' is not a column; there are 'language', 'lm', 'year'"),
        ({"formula": "lm +", "edition_info": INFO}, "it ends too early"),
        ({"formula": "year ~ lm", "edition_info": INFO}, "two sides"),
        (
            {"formula": "language + lm + half", "edition_info": INFO.assign(half=[1.0, 0, 1, 0, 1, 0])},
            r"1 term\(s\).*follow from the constant and the terms before them: 'half'",
        ),
        ({"formula": "lm", "edition_info": INFO.assign(lm=["char", None] * 3)}, "cannot be used .*Missing are 'lm'"),
        ({"formula": "langage + lm", "edition_info": INFO}, "'langage' is not a column; there are 'language'"),
        ({"formula": "lm + (1 | language)", "edition_info": INFO}, "random effects such as .* are not offered"),
        ({"groups": "lm", "edition_info": pd.concat([INFO, INFO.iloc[:1]])}, r"1 edition\(s\) are in edition_info"),
        ({"formula": "lm", "edition_info": pd.concat([INFO, INFO.iloc[:1]])}, "edition_info more than once: 'e1'"),
        ({"groups": pd.concat([INFO["lm"], INFO["lm"].iloc[2:]])}, r"4 edition\(s\) are in groups more than once"),
        ({"groups": "lm", "edition_info": {}}, "edition_info must be a DataFrame indexed by edition, not dict"),
        ({"groups": ["a", "b"] * 3}, "groups must be a column of edition_info, or a mapping or Series .* not list"),
        ({"groups": {e: [e] for e in INFO.index}}, r"named by text or numbers, not by \['e1'\], \['e2'\]"),
        ({"formula": "log(year - 1)", "edition_info": INFO}, r"1 term\(s\) of .* not finite .*: 'log\(year - 1\)'"),
        ({"formula": "lm + I(1 / (year - 2))", "edition_info": INFO}, r"1 term\(s\) of .* are not finite .*: 'I\(1 /"),
        ({"formula": "log(year - 3)", "edition_info": INFO}, "cannot be used .*contains null values"),
        ({"formula": "bs(year, df=2)", "edition_info": INFO}, "cannot be used with edition_info: .*bs"),
        ({"formula": "log(lm)", "edition_info": INFO}, "column 'lm' is not of numbers"),
        ({"formula": "{[][0]}", "edition_info": INFO}, "'{' is not used in formulas"),
        (
            {"formula": "two_years + year", "edition_info": INFO.assign(two_years=2e9 + 0.2 * INFO.year)},
            "before them: 'year'",
        ),
        ({"formula": "level", "edition_info": INFO.assign(level=0.1)}, "follow from the constant .*: 'level'"),
    ],
)
def test_designs_that_cannot_be(surprisals, arguments, message):
    refused(ConfigError, message, ld.fit, surprisals, **arguments)


def test_arrays_and_tensors_are_taken(surprisals):
    torch = pytest.importorskip("torch")
    named = ld.fit(surprisals).difficulty.to_numpy()
    assert_allclose(ld.fit(surprisals.bits.to_numpy()).difficulty, named, atol=OPTIMIZERS)
    assert_allclose(ld.fit(torch.tensor(surprisals.bits.to_numpy())).difficulty, named, atol=OPTIMIZERS)


@pytest.mark.parametrize("formula", ["lm +", "(lm", "lm ++ * year"])
def test_errors_of_formulas_are_a_plain_line(surprisals, formula):
    with pytest.raises(ConfigError) as caught:
        ld.fit(surprisals, formula=formula, edition_info=INFO)
    assert str(caught.value).startswith(f"formula {formula!r}: ")
    assert all(character.isprintable() and character not in "⧛⧚" for character in str(caught.value))


def test_offset_of_a_covariate_changes_nothing(surprisals):
    """Seconds since 1970 are as good as years: the constant takes what is common."""
    near = ld.fit(surprisals, model="1", formula="year + lm", edition_info=INFO)
    far = ld.fit(surprisals, model="1", formula="year + lm", edition_info=INFO.assign(year=1.7e9 + INFO["year"]))
    assert_allclose(far.terms, near.terms, rtol=LEAST_SQUARES)
    assert_allclose(far.difficulty, near.difficulty, atol=LEAST_SQUARES)


def test_groups_named_true_and_false_can_be_saved(surprisals, tmp_path):
    info = INFO.assign(modern=INFO["year"] > 3)
    for groups, settings in (("modern", {"edition_info": info}), (info["modern"].to_dict(), {})):
        fit = ld.fit(surprisals, model="1", groups=groups, dispersion="common", **settings)
        fit.save(tmp_path / "fit.json")
        loaded = ld.read(tmp_path / "fit.json")
        assert sorted(loaded.difficulty.index) == ["False", "True"]
        assert loaded.contrast("True", "False").estimate == fit.contrast("True", "False").estimate


@pytest.mark.parametrize("name", [*COLUMNS, "edition", 7])
def test_a_grouping_may_have_any_name(surprisals, tmp_path, name):
    fit = ld.fit(surprisals, model="1", groups=INFO["lm"].rename(name), dispersion="common")
    assert list(fit.to_frame().columns) == [*COLUMNS, "rank_low", "rank_high"]
    frame = fit.to_frame().reset_index()
    assert frame.columns[0] == ("7" if name == 7 else "group")
    fit.save(tmp_path / "fit.json")
    assert ld.read(tmp_path / "fit.json").difficulty.equals(fit.difficulty)
    assert f"2 {frame.columns[0]}s" in fit.summary()
