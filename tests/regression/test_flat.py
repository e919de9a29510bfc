"""Options that lie side by side, as those of commands: what they stand for, and which contradict one another."""

import pytest

from langdiff.errors import ConfigError
from langdiff.regression import Blunders, Bootstrap, Optimizer, Random
from langdiff.regression.variants import find_variant
from langdiff.run.experiment import flat_arguments
from tests.helpers import refused


def test_options_become_objects():
    found = flat_arguments(model="3", laplace_scale=0.02, method="newton", max_iterations=7, n_resamples=99, seed=1)
    assert found.pop("intents") == "fixed"
    assert found == {
        "model": Blunders(scale=0.02),
        "optimizer": Optimizer("newton", 7),
        "errors": Bootstrap(99),
        "seed": 1,
    }
    sandwich = flat_arguments(correction="CR3", strata="book")["errors"]
    assert (sandwich.correction, sandwich.strata) == ("CR3", "book")
    assert flat_arguments(intents="random", size_formula="book")["intents"] == Random(formula="book")
    assert flat_arguments(model="2C")["model"] == find_variant("2C")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"errors": "sandwich", "n_resamples": 99}, "^n_resamples=99 contradicts errors='sandwich'"),
        ({"n_resamples": 98}, "^n_resamples=98: give a whole number, at least 99"),
        ({"sizes": "free"}, "describe random intents: add intents="),
        ({"size_formula": "genre"}, "describe random intents"),
        ({"correction": "CR3", "errors": "information"}, "^correction is for errors='sandwich', not 'information'"),
        ({"strata": "genre", "n_resamples": 99}, "^strata is for errors='sandwich', not 'bootstrap'"),
        ({"correction": "CR4"}, "^correction is one of .*'CR4'"),
        ({"intents": "random", "sizes": "x"}, "^sizes is one of .*'x'"),
        ({"method": "adam"}, "^method is one of .*'adam'"),
        ({"max_iterations": 0}, "^max_iterations must be at least 1, got 0"),
        ({"model": "2", "laplace_scale": 0.1}, "^laplace_scale is for model '3', not '2'"),
    ],
)
def test_contradictions_are_refused(options, message):
    refused(ConfigError, message, flat_arguments, **options)
