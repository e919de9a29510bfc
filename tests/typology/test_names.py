"""A function and a package share the name `predictors`; importing the package must not hide the function."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("first", ["import langdiff.typology.predictors", "import langdiff.typology.predictors.table"])
def test_predictors_stays_a_function_after_the_package_of_that_name_is_imported(first):
    """In a fresh interpreter, since imports before this one would decide the outcome."""
    lines = [first, "import inspect, langdiff as ld", "assert inspect.isfunction(ld.predictors), ld.predictors"]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_predictors_stays_a_function_once_it_was_used():
    lines = [
        "import inspect, langdiff as ld",
        "function = ld.predictors",
        "import langdiff.typology.predictors",
        "assert ld.predictors is function and inspect.isfunction(function)",
        "assert inspect.ismodule(ld.typology.predictors)",
    ]
    done = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
