"""Warnings name the line outside of the package that called it, however deep the function that warns."""

import threading
import warnings
from inspect import currentframe
from pathlib import Path

import pytest

import langdiff as ld
from langdiff.errors import ConvergenceWarning, EditionWarning, LangdiffWarning, warn, warns_caller

PACKAGE = Path(ld.__file__).parent
# as if it were a file of the package
WITHIN = """
from contextlib import contextmanager
from functools import cache
import pandas as pd
from langdiff.errors import warn

def shallow(*_):
    warn("too few.")

def deep(depth=20):
    shallow() if depth == 0 else deep(depth - 1)

def generate():
    shallow()
    yield 1

def through_pandas():
    pd.Series([1]).apply(shallow)

@contextmanager
def block():
    yield

@block()
def decorated():
    deep()

@cache
def cached():
    deep()

def calls(function):
    function()
"""


@pytest.fixture(scope="module")
def within():
    space = {"__name__": "langdiff.toy"}
    exec(compile(WITHIN, str(PACKAGE / "toy.py"), "exec"), space)
    return space


def place_of(function, *arguments):
    """Return file and line of the only warning, and the line of the call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = currentframe().f_lineno + 1
        function(*arguments)
    [warning] = caught
    return warning.filename, warning.lineno, line


@pytest.mark.parametrize("name", ["shallow", "deep", "through_pandas", "decorated", "cached"])
def test_the_line_of_the_call_is_named_from_any_depth(within, name):
    file, line, called = place_of(within[name])
    assert (file, line) == (__file__, called)


def test_a_generator_warns_where_it_is_read(within):
    file, line, called = place_of(list, within["generate"]())
    assert (file, line) == (__file__, called)


def test_a_function_of_the_caller_that_the_package_calls_is_named_itself(within):
    def own():
        inner.append(currentframe().f_lineno + 1)
        within["deep"]()

    inner = []
    file, line, _ = place_of(within["calls"], own)
    assert (file, line) == (__file__, inner[0])


def test_merged_warnings_are_at_the_call_of_the_decorated_function(within):
    file, line, called = place_of(warns_caller(within["deep"]))
    assert (file, line) == (__file__, called)


def test_a_thread_without_a_line_of_the_caller_still_warns(within):
    def run():
        thread = threading.Thread(target=within["deep"])
        thread.start()
        thread.join()

    file, _, _ = place_of(run)
    assert Path(file).name == "threading.py"


def test_text_category_and_warnings_made_before_are_given_as_they_are():
    made = EditionWarning(("deu", "2 rare characters."))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn("few.")
        warn("not converged.", ConvergenceWarning)
        warn(made)
    assert [warning.category for warning in caught] == [LangdiffWarning, ConvergenceWarning, EditionWarning]
    assert caught[2].message is made
    assert [str(warning.message) for warning in caught][:2] == ["few.", "not converged."]


def test_only_one_function_of_the_package_issues_warnings():
    found = [
        f"{path.relative_to(PACKAGE)}, line {number}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if "warnings.warn(" in line or "stacklevel" in line
    ]
    assert found == []
