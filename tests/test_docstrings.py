"""Every public function and method documents its parameters, results and errors, with an example that runs."""

import ast
import importlib
import inspect
import re
from pathlib import Path

import pytest

import langdiff
from tests.test_public_names import PUBLIC, SUBMODULES

NOTHING_TO_REFUSE = {"section", "nesting", "tokenize", "detokenize"}  # any text
NOTHING_TO_REFUSE |= {
    "belebele2024",
    "bender2011",
    "bothwell2023",
    "byte_premium2024",
    "goldfish2024",
    "mielke2019",
    "morey2017",
}
NOTHING_TO_REFUSE |= {"edition_atlas", "ntrex10", "three_corpora", "tokenization_lengths2023", "xmi2020"}  # no argument
NOTHING_TO_REFUSE |= {"plot_difficulty_curves", "plot_rank_changes", "plot_size_correlations"}  # any curve
NOTHING_TO_REFUSE |= {"plot_within_languages"}  # a result of ours
NOTHING_TO_REFUSE |= {"profile_treebank"}  # a treebank and settings, which were checked when they were made
UNDERLINED = re.compile(r"^([A-Z][a-z]+(?: [A-Z][a-z]+)?)\n-{3,}$", re.M)
PLAIN = ["base", "cli", "constructions", "corpora", "datasets", "discourse", "experiments", "lm", "parallelism"]
PLAIN += ["parity", "plots", "run", "selection", "tables", "treebanks", "typology"]  # with plain first sentences
PLAIN += [f"regression/{part}" for part in ("check", "components", "curves", "kernel", "outcomes", "simulation")]
PLAIN += ["regression/stan"]
UNCLEAR = ["what it", "what is", "those that", "so many", "beside", "besides", "is no", "are no"]
UNCLEAR += ["of which alone", "which see"]
NOT_VERBS = ["say", "take", "make", "go", "tell", "give"]  # words with which no summary of a function begins
NOT_VERBS += ["the", "a", "an", "what", "which", "whether", "how", "all", "if", "where"]
RIDDLE = re.compile(r"^(Which|What|Where|Of|Its|As|If)\b.{0,25}$")


def _public():
    for package in sorted(PUBLIC):
        for name in sorted(PUBLIC[package] - SUBMODULES):
            thing = getattr(importlib.import_module(package), name)
            if callable(thing) and (package == "langdiff" or name not in PUBLIC["langdiff"]):
                yield package, name, thing


THINGS = list(_public())
FUNCTIONS = [pytest.param(thing, id=name) for _, name, thing in THINGS if inspect.isfunction(thing)]
CLASSES = [pytest.param(thing, id=name) for _, name, thing in THINGS if inspect.isclass(thing)]
METHODS = [
    pytest.param(thing, key, id=f"{name}.{key}")
    for _, name, thing in THINGS
    if inspect.isclass(thing)
    for key, function in vars(thing).items()
    if not key.startswith("_") and (inspect.isfunction(function) or isinstance(function, classmethod))
]


def _sections(thing):
    text = inspect.getdoc(thing) or ""
    parts = UNDERLINED.split(text)
    return dict(zip(["Summary", *parts[1::2]], [parts[0], *parts[2::2]], strict=True))


def _described(section):
    """Return the description of every name of a section of parameters."""
    described, names = {}, []
    for line in section.splitlines():
        if line.strip() and not line.startswith(" "):
            names = [name.strip().lstrip("*") for name in line.split(" : ")[0].split(",")]
            described |= dict.fromkeys(names, "")
        else:
            described |= {name: f"{described[name]} {line.strip()}".strip() for name in names}
    return described


def _documentation(thing, key):
    """Return the sections of a method, or those of the nearest method it overrides that explains parameters."""
    own = [base for base in thing.__mro__ if base.__module__.startswith("langdiff.") and key in vars(base)]
    sections = [_sections(getattr(vars(base)[key], "__func__", vars(base)[key])) for base in own]
    return next((found for found in sections if "Parameters" in found), sections[0])


def _explains_every_parameter(function, sections):
    wanted = [name for name in inspect.signature(function).parameters if name not in ("self", "cls")]
    described = _described(sections.get("Parameters", ""))
    assert sorted(set(wanted) - set(described)) == []
    assert sorted(set(described) - set(wanted)) == []
    riddles = {name: text for name, text in described.items() if len(text.split()) < 3 or RIDDLE.match(text)}
    assert riddles == {}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_public_function_has_all_sections(function):
    sections = _sections(function)
    assert sections["Summary"].strip().splitlines()[0].endswith(".")
    assert ">>> " in sections.get("Examples", ""), "no example"
    assert "Returns" in sections or inspect.signature(function).return_annotation in (None, "None"), "no Returns"
    assert "Raises" in sections or function.__name__ in NOTHING_TO_REFUSE, "no Raises"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_parameter_is_explained(function):
    _explains_every_parameter(function, _sections(function))


@pytest.mark.parametrize(("thing", "key"), METHODS)
def test_every_parameter_of_a_method_is_explained(thing, key):
    _explains_every_parameter(getattr(vars(thing)[key], "__func__", vars(thing)[key]), _documentation(thing, key))


@pytest.mark.parametrize("thing", CLASSES)
def test_a_public_class_has_a_summary(thing):
    assert _sections(thing)["Summary"].strip()


def _unclear(package):
    """Yield the first sentences in a package that have an unclear phrase or, of functions, begin with a wrong word."""
    phrases = re.compile(rf"\b({'|'.join(UNCLEAR)})\b", re.I)
    opening = re.compile(rf"({'|'.join(NOT_VERBS)})\b", re.I)
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for path in sorted((Path(langdiff.__file__).parent / package).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kinds) and (text := ast.get_docstring(node)):
                sentence = " ".join(text.split("\n\n")[0].split())
                values = {ast.unparse(each) for each in getattr(node, "decorator_list", [])}  # properties are nouns
                names_a_value = not isinstance(node, kinds[2:]) or bool(values & {"property", "cached_property"})
                if phrases.search(sentence) or (not names_a_value and opening.match(sentence)):
                    yield f"{path.name}:{getattr(node, 'lineno', 1)} {sentence}"


@pytest.mark.parametrize("package", PLAIN)
def test_first_sentences_are_plain(package):
    assert list(_unclear(package)) == []
