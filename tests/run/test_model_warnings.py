"""Warnings of several language models: once each, and whose they are."""

import warnings

import pytest

from langdiff.errors import ConvergenceWarning, DataError, EditionWarning
from langdiff.run.directory import warned_once


def told(of_models):
    """Give warnings as each model; return the messages that come through."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")  # Python's own rule, once a line, must not hide another model's
        with warned_once() as of_model:
            for lm, messages in of_models.items():
                with of_model(lm):
                    for message in messages:
                        warnings.warn(message, stacklevel=1)
    return [str(each.message) for each in caught]


def rare(rate):
    return EditionWarning(("jpn", f"many characters are too rare ({rate} %)."))


def test_what_all_models_share_is_said_once_without_names():
    assert told({"a": [rare(3)], "b": [rare(3)], "c": [rare(3)]}) == [str(rare(3))]
    assert told({"a": [rare(3)]}) == [str(rare(3))]


def test_other_figures_are_said_with_the_names_of_the_models():
    expected = [f"a, c: {rare(3)}", f"b: {rare(4)}"]
    assert told({"a": [rare(3)], "b": [rare(4)], "c": [rare(3)]}) == expected
    slow = [ConvergenceWarning(f"did not converge in {n} iterations.") for n in (1, 2)]
    assert told({"a": slow[:1], "b": slow[1:]}) == [
        "a: did not converge in 1 iterations.",
        "b: did not converge in 2 iterations.",
    ]


def test_an_error_hides_no_warning():
    def fail():
        with warned_once() as of_model, of_model("a"):
            warnings.warn(rare(3), stacklevel=1)
            raise DataError("no text")

    with pytest.warns(EditionWarning, match="too rare") as caught, pytest.raises(DataError):
        fail()
    assert [each.message.cautions for each in caught] == [rare(3).cautions]
