"""Formulas: those that are allowed mean what formulaic says, and none of the others is executed, on any route."""

import builtins
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from formulaic import model_matrix
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from typer.testing import CliRunner

import langdiff as ld
from langdiff.base.checksums import seal
from langdiff.cli.app import app
from langdiff.errors import ConfigError, DataError
from langdiff.regression import Random
from langdiff.regression.formulas import checked_formula, columns_named, matrix_of
from langdiff.run.experiment_file import read_experiment
from tests.helpers import refused

N = 48
_rng = np.random.default_rng(0)
TABLE = pd.DataFrame(
    {
        "length": _rng.uniform(1, 9, N),
        "size": _rng.uniform(1, 5, N),
        "count": np.tile([1, 2, 3], N // 3),
        "family": np.tile(["a", "b", "c", "d"], N // 4),
        "word order": np.repeat(["SVO", "SOV", "free (V2)"], N // 3),
        "1st": _rng.normal(size=N),
        "a.b": _rng.uniform(1, 2, N),
        "größe": _rng.uniform(1, 2, N),
        "in": _rng.normal(size=N),
        "class": _rng.normal(size=N),
        "0": _rng.normal(size=N),
        "(x) 'y'": _rng.normal(size=N),
    }
)
GOOD = [
    "1", "length", "length + size", "+length", "length + family", "0 + family", "-1 + family", "family - 1",
    "family + 0", "(0 + family)", "(0 + family) + length", "length:size", "length * size", "family * length:size",
    "(family*length):size", "length - -size", "(length + size)**2 - length:size", "(length + size)^2",
    "family:C(count) - 1", "length + (size - length)", "a.b + 1st", "`word order` + length", "`in` + `class` + `0`",
    "größe:family", "log(length)", "log2(length) + log10(size)", "log1p(length)", "exp(-length/2)", "sqrt(length)",
    "abs(`1st`)", "log(`a.b`)", "log(größe + `a.b`)", "center(length)", "scale(length)",
    "scale(length, center=False)", "scale(length, False, True)", "center(log(length))**2", "poly(length, 2)",
    "poly(length, degree=3, raw=True)", "bs(length, df=4)",
    "bs(length, knots=[3, 5.5], degree=2, include_intercept=True)", "cs(length, df=5)", "cr(length, df=4)",
    "cc(length, df=4)", "C(count)", "C(count):length", 'C(family, contr.treatment("b"))', "C(family, contr.sum())",
    "C(count, contr.helmert())", "C(count, contr.diff())", "C(count, contr.poly([1, 2, 4]))",
    "C(family, levels=['d', 'c', 'b', 'a'])", "C(`word order`, contr.treatment('free (V2)')) * log(length + 1)",
    "I(length**2)", "I(length / size - 3*count)", "I(-length**-2)", "I((length + size) * (size - 1e1))", "I(+length)",
]  # fmt: skip
CALL = "__import__('builtins').SENTINEL()"
HOSTILE = [
    f"I(length + 0*{CALL})", CALL, f"{{{CALL}}}", f"length + {{{CALL}}}", f"C(family, levels={CALL})",
    f"C(family, contr.treatment({CALL}))", f"bs(length, df={CALL})", f"bs(length, knots=[{CALL}])",
    f"log(length, {CALL})", f"log({CALL})", f"`{CALL}`", f"log(`{CALL}`)", f"[{CALL}]", f"({CALL})",
    f"I([{CALL} for x in [1]])", f"I((lambda: {CALL})())", f"I(x := {CALL})", f"I(f'{{{CALL}}}')",
    f"I(length if {CALL} else size)", f"not {CALL}", f"length ~ {CALL}", f"length | {CALL}", f"length % {CALL}",
    f"length\n{CALL}", f"length; {CALL}", f"length # {CALL}", f"I(length)({CALL})", f"length[{CALL}]",
    f"length({CALL})", f"length.apply({CALL})", f"poly(length, 2, raw={CALL})",
    f"scale(length, **{{'center': {CALL}}})", f"I(*[{CALL}])", f"center({CALL})", f"Q({CALL})",
    "__import__('builtins').SENTINEL", "SENTINEL()", "builtins.SENTINEL()", "I(SENTINEL())", "I(length.__class__)",
    "length.__class__", "I(().__class__.__base__.__subclasses__())", "I(length.to_pickle('PWNED'))",
    "I(np.save('PWNED', length))", "np.log(length)", "I(10**10**10)", "I((10**10)**10)", "I(length**(10**10))",
    "I(length ** 11)", "I(length * 1e16)", "poly(length, 11)", "bs(length, df=51)", "(length + size)**6", "(" * 400,
    "(" * 31 + "length" + ")" * 31, "+".join(["length"] * 151), "length " * 200, "(length + size", "length)",
    "length +", "'length'", "2", "2:length", "0:length", "length / size", "length in family", "length @ size",
    "length & size", "length == size", "length = size", "log(x=length)", "log()", "log", "contr.treatment('a')",
    "C(family, contr.custom([1]))", "I(C(family))", "ns(length, df=3)", "hashed(family, levels=3)", "lag(length)",
    ".", "length + .", "`nothing`", "", " ", "length\x1b[31m", "length + \u202esize", "I('a' * 1000000000)",
    "I(family * 1000000000)", "bs(length, df=True)", "bs(length, 5):bs(size, 50):bs(`1st`, 50)",
    "C(family, contr.treatment('a\\')')) + length", 'C(family, levels=["`"]) + `',
    "(((length + size + count + family)**5)**5)**5", "I(length and size)", "I(...)", "I(None)", "I(length, size)",
    f"C(family, contr.treatment(')) + {CALL} + C(family, levels=[(')", f"""bs(length, knots=['"{CALL}"'])""",
]  # fmt: skip


@pytest.fixture
def executed(monkeypatch, tmp_path):
    """What was called, if anything was; the folder is empty but for what the test itself writes."""
    calls = []
    monkeypatch.setattr(builtins, "SENTINEL", lambda *_: calls.append("called") or 0, raising=False)
    monkeypatch.chdir(tmp_path)
    yield calls
    assert not calls
    assert not Path("PWNED").exists()


def matrices_are_equal(one, other):
    pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other), check_exact=True)


@pytest.mark.parametrize("formula", GOOD)
def test_good_formulas_are_those_of_formulaic(formula):
    own = {"log1p": np.log1p, "sqrt": np.sqrt, "abs": np.abs}  # which formulaic does not have
    expected = model_matrix(formula, TABLE.copy(), na_action="raise", context=own)
    matrices_are_equal(matrix_of(formula, TABLE), expected)


def test_lists_are_as_long_as_promised():
    assert len(GOOD) >= 26
    assert len(HOSTILE) >= 48


@pytest.mark.parametrize("formula", HOSTILE)
def test_hostile_formulas_are_refused_as_an_argument(formula, executed):
    refused(ConfigError, r"^formula ", matrix_of, formula, TABLE)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("I(__import__('os').system('x'))", "'__import__('os').system' is not a function of formulas; allowed are "),
        ("__import__('os')", "'__import__' is not a function of formulas; allowed are log, "),
        ("ns(length, df=3)", "'ns' is not a function of formulas; write cr(x, df=…)."),
        ("np.log(length)", "'np.log' is not a function of formulas; write log(x)."),
        ("lenght", "'lenght' is not a column; there are 'length', 'size', 'count', 'family', 'word order', …."),
        ("length + (1 | family)", "random effects such as (1 | language) are not offered"),
        ("length ~ size", "it has two sides; give the right-hand side only"),
        ("I(family * 3)", "the column 'family' is not of numbers"),
        ("poly(length, 99)", "degree is a whole number up to 10, not 99"),
        ("scale(length, ddof=0)", "scale has no option 'ddof' here; it takes center, scale"),
        ("(length + size)**9", "terms are raised to a whole number from 1 to 5, not to 9"),
        ("x" * 2000, "it has 2,000 characters; at most 1,000 are read"),
        ("length\x1b", "the control character U+001B is not used in formulas"),
    ],
)  # fmt: skip
def test_messages_say_what_is_wrong(formula, message):
    with pytest.raises(ConfigError) as caught:
        matrix_of(formula, TABLE)
    assert message in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_column_that_hides_a_function_is_refused():
    for formula, name in (("log(length)", "log"), ("C(family, contr.sum())", "contr")):
        with pytest.raises(ConfigError, match=f"column '{name}' has the name of a function; rename it"):
            matrix_of(formula, TABLE.assign(**{name: 1.0}))
    table = TABLE.assign(log=TABLE["length"], SENTINEL=1.0)
    matrices_are_equal(matrix_of("log + exp(length)", table), model_matrix("log + exp(length)", table))


def test_names_that_formulaic_would_misread_are_refused():
    """``ﬁt`` is one letter fewer than ``fit``, which Python would take for it; ``+`` would be an operator."""
    table = TABLE.assign(**{"ﬁt": 1.0, "fit": 2.0, "+": 1.0, ".": 1.0, "True": 1.0, 'a"b': 1.0})
    assert matrix_of("ﬁt - 1", table)["ﬁt"].eq(1.0).all()
    for formula in ("log(ﬁt)", "`+`", "`.`", "log(`True`)", 'log(`a"b`)'):
        refused(ConfigError, "cannot be named in a formula; rename it", matrix_of, formula, table)


def test_names_of_columns_are_not_executed(executed):
    """A stranger's table may have such columns."""
    for name in ("SENTINEL()", "SENTINEL(length)", "length) + SENTINEL(", "(SENTINEL())", "[SENTINEL() for x in y]"):
        table = TABLE.assign(**{name: TABLE["size"]})
        for formula in ("`{}`", "log(`{}`)", "center(`{}` + length)", "C(`{}`)", "poly(`{}`, 2):family", "`{}`**2 - 1"):
            found = matrix_of(formula.format(name), table)
            assert_allclose(found, matrix_of(formula.format("size"), table))


def test_whole_numbers_of_any_length_are_not_raised():
    """Python's own would grow without end; formulaic keeps those that 64 bits cannot hold."""
    table = pd.DataFrame({"huge": [10**30, 10**31, 10**32]}, dtype=object)
    refused(ConfigError, "'huge' is not of numbers", matrix_of, "I(((huge**10)**10)**10)", table)


def test_columns_that_a_formula_names():
    assert columns_named("log(`a.b` + 1) + C(family)*length", TABLE.columns) == ["length", "family", "a.b"]


# --- random formulas

PIECES = [
    "length", "size", "family", "`word order`", "(", ")", "+", "-", "*", ":", "**", "^", "0", "1", "2", "3.5", "1e3",
    "log(", "I(", "C(", "poly(", "bs(", "df=4", "degree=", "levels=[", "]", ",", "contr.treatment(", "'a'", '"b"',
    "=", "SENTINEL()", "__import__('builtins').SENTINEL()", ".", "lambda:", "{", "}", "`", "'", '"', "\\", "~", "|",
    "/", "True", "if", "else", "for x in", "[", "\n", "#", "é", "\u200d",
]  # fmt: skip
SOUP = st.lists(st.sampled_from(PIECES), max_size=12).flatmap(
    lambda p: st.sampled_from(["", " "]).map(lambda s: s.join(p))
)


@given(formula=SOUP | st.text(max_size=30))
@settings(max_examples=400, deadline=None)
def test_no_soup_of_tokens_is_executed(formula):
    calls = []
    builtins.SENTINEL = lambda *_: calls.append("called")
    try:
        ld.regression.design.columns_of_formula(formula, TABLE, "item")
    except (ConfigError, DataError):
        pass
    finally:
        del builtins.SENTINEL
    assert not calls


FACTORS = st.sampled_from(
    ["length", "size", "count", "family", "`word order`", "C(count)", "log(size)", "poly(length, 2)"]
)
TERMS = st.recursive(
    FACTORS,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from([" + ", "-", "*", ":", " : "]), inner).map("".join),
        st.tuples(st.just("("), inner, st.sampled_from([")", ")**2", ")^2", " + 0)", " - 1)"])).map("".join),
    ),
    max_leaves=5,
)


@given(formula=TERMS)
@settings(max_examples=120, deadline=None)
def test_random_terms_are_those_of_formulaic(formula):
    expected = model_matrix(formula.replace("^", "**"), TABLE.copy(), na_action="raise")
    matrices_are_equal(matrix_of(formula, TABLE), expected)
    again = checked_formula(formula, TABLE.columns)
    assert checked_formula(again, TABLE.columns) == again


# --- routes


@pytest.fixture(scope="module")
def outcomes():
    truth = ld.simulate_outcomes(N, 6, seed=2).outcomes
    sizes = pd.DataFrame({"size": [1.0, 2, 3, 5, 8, 13]}, index=truth.systems.index)
    return truth.with_items(TABLE.set_axis(truth.items.index)).with_systems(sizes)


@pytest.fixture(scope="module")
def surprisals():
    table = ld.simulate(60, 8, model="1", seed=0).surprisals
    return table.with_intent_info(pd.DataFrame({"length": np.arange(60.0)}, index=table.intents))


@pytest.fixture(scope="module")
def document(outcomes, tmp_path_factory):
    """A saved fit, in which a formula can be changed."""
    path = tmp_path_factory.mktemp("fit") / "fit.json"
    ld.fit_outcomes(outcomes, formula="length").save(path)
    return json.loads(path.read_text())


def test_arguments(outcomes, surprisals, executed):
    info = TABLE.iloc[:8].set_axis(surprisals.editions)
    fit = ld.fit_outcomes(outcomes)
    for formula in HOSTILE:
        for use in (
            lambda f: ld.fit(surprisals, formula=f, edition_info=info),
            lambda f: ld.fit(surprisals, model="1", intents=Random(formula=f)),
            lambda f: ld.fit_outcomes(outcomes, formula=f),
            lambda f: ld.explain(fit.abilities, f, fit.systems),
            lambda f: ld.cross_validate_outcomes(outcomes, models="rasch", formula=f, seed=0),
        ):
            with pytest.raises((ConfigError, DataError)):
                use(formula)


def evil(document, path, formula):
    changed = {name: value for name, value in document.items() if name != "sha256"} | {"formula": formula}
    path.write_text(json.dumps(seal(changed)))
    return path


def test_loaded_fits(document, executed, tmp_path):
    for formula in HOSTILE:
        refused(DataError, r"evil\.json: formula ", ld.read, evil(document, tmp_path / "evil.json", formula))
    fine = ld.read(evil(document, tmp_path / "fine.json", "length + 0"))
    assert fine.formula == "length + 0"


def test_a_fit_made_by_hand(document, outcomes, executed, tmp_path):
    """Not read from a file: the formula is checked again where it is used."""
    fit = ld.read(evil(document, tmp_path / "fine.json", "length"))
    for formula in HOSTILE:
        with pytest.raises((ConfigError, DataError)):
            replace(fit, formula=formula).predict(outcomes)


def test_experiment_files(executed, tmp_path):
    """Columns, and whether they are numbers, are known only when there is a corpus; all else is said at once."""
    path = tmp_path / "e.toml"
    head = 'name = "e"\ncorpus = {format = "synthetic"}\n[fit]\nmodel = "1"\n'
    keys = {"formula": "", "size_formula": 'intents = "random"\n'}
    unknown = ["`nothing`", "I(family * 1000000000)", "log", "length.__class__", "I(length.__class__)"]
    refused = [formula for formula in HOSTILE if formula not in unknown]
    for key, others in keys.items():
        for formula in refused:
            path.write_text(f"{head}{others}{key} = {json.dumps(formula)}\n")
            with pytest.raises(ConfigError) as caught:
                read_experiment(path)
            assert str(caught.value).startswith(f"{path}: 'fit.{key}': formula ")
        path.write_text(f"{head}{others}{key} = 'log(length + 1):family'\n")
        assert getattr(read_experiment(path).fit, key) == "log(length + 1):family"


def test_the_command(document, outcomes, surprisals, executed, tmp_path):
    outcomes.save(tmp_path / "o.csv")
    surprisals.save(tmp_path / "s.csv")
    TABLE.iloc[:8].set_axis(surprisals.editions).to_csv(tmp_path / "info.csv")
    for formula in HOSTILE[:12] + HOSTILE[34:40]:
        for arguments in (
            ["fit", "s.csv", "--formula", formula, "--edition-info", "info.csv"],
            ["fit", "s.csv", "--model", "1", "--intents", "random", "--size-formula", formula],
            ["outcomes", "fit", "o.csv", "--formula", formula],
            ["outcomes", "check", "o.csv", "--formula", formula],
        ):
            done = CliRunner().invoke(app, arguments)
            assert done.exit_code == 1, (arguments, done.output)
            assert "formula " in done.output, done.output


def test_categories_count_with_their_values():
    info = pd.DataFrame({name: [f"{name}{k}" for k in range(24)] for name in "abc"})
    assert matrix_of("a + b", info).shape == (24, 1 + 23 + 23)
    refused(ConfigError, "it stands for more than 1,000 terms", matrix_of, "a:b:c", info)
    refused(ConfigError, "it stands for more than 1,000 terms", matrix_of, "C(a):C(b):c", info)


def test_levels_that_lack_a_value_are_refused():
    info = pd.DataFrame({"a": ["x", "y", "z"]})
    assert matrix_of('C(a, levels=["z", "y", "x"])', info).shape == (3, 3)
    refused(ConfigError, r"levels of C\(a\) lack 'z', which the column has", matrix_of, 'C(a, levels=["x", "y"])', info)


def test_whole_numbers_do_not_overflow():
    info = pd.DataFrame({"i": [1, 3_000_000]})
    assert matrix_of("I(i**3)", info)["I(i ** 3)"].tolist() == [1.0, 2.7e19]
