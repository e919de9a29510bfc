"""Earlier names of arguments are refused with the present ones: every row of the table of changed names."""

import inspect
import pickle
import re

import pytest

import langdiff as ld
import langdiff.corpora
import langdiff.experiments
import langdiff.lm
import langdiff.parity
import langdiff.regression
from langdiff.base.renamed import renamed
from langdiff.errors import ConfigError

PLACES = (ld, ld.regression, ld.experiments, ld.corpora, ld.lm, ld.parity)
IN_COMPUTE = ["device", "cache", "workers", "executor", "progress"]
IN_MODEL = ["laplace_scale", "rounding"]
IN_SAMPLER = ["engine", "chains", "iter_warmup", "iter_sampling", "target_accept", "max_treedepth", "inits"]
CHANGED = {  # by function, the names that its arguments had during development
    "approximate": IN_MODEL,
    "correlate": ["unit"],
    "costep_statistics": ["errors"],
    "cross_validate": ["k", *IN_MODEL],
    "cross_validate_outcomes": ["cluster", "k"],
    "difficulty_curve": ["sizes", *IN_COMPUTE],
    "fit": ["bootstrap", "correction", "strata", "sizes", "size_formula", "method", "max_iterations", *IN_MODEL],
    "fit_outcomes": ["cluster"],
    "goodness": IN_MODEL,
    "intent_stability": ["sizes"],
    "measure_parity": ["bootstrap"],
    "read_multitext": ["errors"],
    "replicate": IN_COMPUTE,
    "run_balanced": IN_COMPUTE,
    "sample": [*IN_SAMPLER, *IN_MODEL],
    "sample_outcomes": ["cluster", *IN_SAMPLER],
    "short_form": ["k"],
    "simulate": IN_MODEL,
    "sweep_merges": IN_COMPUTE,
}
ROWS = [(name, function) for function, names in CHANGED.items() for name in names]


def public(name):
    """Return a public function or class by its name."""
    return next((found for place in PLACES if (found := getattr(place, name, None)) is not None), None)


@pytest.mark.parametrize(("name", "function"), ROWS)
def test_an_earlier_name_is_told_the_present_one(name, function):
    asked = public(function)
    with pytest.raises(ConfigError) as raised:
        asked(**{name: None})
    told = re.fullmatch(rf"{function} has no argument '{name}': write (.+)\.", str(raised.value))
    parameter, _, value = told[1].partition("=")
    assert name not in inspect.signature(asked).parameters
    assert parameter in inspect.signature(asked).parameters
    if made := re.fullmatch(r"(?:langdiff\.lm\.)?(\w+)\((\w+)=…\)", value):
        assert made[2] in inspect.signature(public(made[1])).parameters


def test_fits_inside_of_a_longer_study_are_refused_before_any_training():
    with pytest.raises(ConfigError, match=r"run_balanced has no argument 'bootstrap': write errors=Bootstrap\(n\)"):
        ld.run_balanced(None, ["deu"], bootstrap=200)


def test_the_earlier_name_of_sandwich_errors_is_refused_with_the_present_one():
    outcomes = ld.simulate_outcomes(20, 3).outcomes
    with pytest.raises(ConfigError, match="sandwich"):
        ld.fit_outcomes(outcomes, errors="robust")


def test_other_unknown_names_stay_errors_of_python():
    with pytest.raises(TypeError, match="colour"):
        ld.fit(None, colour="red")


def test_a_function_stays_as_it_was_to_readers_and_tools():
    @renamed(k="n_folds")
    def split(table: list[int], *, n_folds: int = 10) -> int:
        """Return the size of a fold."""
        return len(table) // n_folds

    assert split([1, 2, 3, 4], n_folds=2) == 2
    assert str(inspect.signature(split)) == "(table: list[int], *, n_folds: int = 10) -> int"
    assert (split.__name__, split.__doc__) == ("split", "Return the size of a fold.")
    assert pickle.loads(pickle.dumps(ld.fit)) is ld.fit
    assert inspect.getsourcefile(inspect.unwrap(ld.fit)).endswith("fit.py")
