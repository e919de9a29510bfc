"""Warnings of several trainings come once each, at the line of the user's call."""

import warnings

import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConvergenceWarning, DataError, EditionWarning, LangdiffWarning, warns_caller
from langdiff.experiments import replicate, sweep_merges
from langdiff.lm import Compute


@warns_caller
def train(fail=False):
    """Warn as trainings of three editions do."""
    warnings.warn("other", RuntimeWarning, stacklevel=1)
    for edition, text in (("eng", "12 rare"), ("fra", "12 rare"), ("deu", "few merges")):
        warnings.warn(EditionWarning((edition, text)), stacklevel=1)
    warnings.warn("not converged", ConvergenceWarning, stacklevel=1)
    if fail:
        raise DataError("the last edition is empty.")


EXPECTED = ["other", "2 editions, 'eng', 'fra': 12 rare", "edition 'deu': few merges", "not converged"]


def test_other_warnings_come_as_they_are_and_different_ones_apart():
    with pytest.warns(LangdiffWarning) as caught, pytest.warns(RuntimeWarning):
        train()
    assert [str(warning.message) for warning in caught] == EXPECTED[1:]
    assert [warning.category for warning in caught] == [EditionWarning, EditionWarning, ConvergenceWarning]
    assert {warning.filename for warning in caught} == {__file__}


def test_warnings_of_what_was_done_come_also_before_an_error():
    with pytest.warns() as caught, pytest.raises(DataError, match="the last edition is empty"):
        train(fail=True)
    assert [str(warning.message) for warning in caught] == EXPECTED


@pytest.fixture(scope="module")
def strange():
    """Texts in which many characters are too rare to be learned."""
    texts = {
        "deu": [f"ein{' sehr' * (number % 3)} kurzer Satz {chr(0x4E00 + 7 * number)}" for number in range(160)],
        "eng": [f"a{' very' * (number % 3)} short sentence {chr(0x6E00 + 7 * number)}" for number in range(160)],
    }
    bible = ld.read_frame(pd.DataFrame(texts))
    train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 120), (120, 140), (140, 160)))
    return ld.Parts(train=train, dev=dev, test=test)


@pytest.mark.parametrize(
    "experiment",
    [
        lambda parts, **given: replicate(parts, lm="kneser-ney-2", n_seeds=2, model="1", **given),
        lambda parts, **given: sweep_merges(parts, lm="bpe-tiny", ratios=[0, 0.5], **given),
    ],
    ids=["replicate", "sweep_merges"],
)
def test_one_warning_for_all_models_points_to_the_caller(strange, experiment):
    with pytest.warns(LangdiffWarning, match=r"^2 editions, 'deu', 'eng'.*too rare") as caught:
        experiment(strange, seed=0, max_replaced=1, compute=Compute(progress=False))
    kinds = [str(warning.message) for warning in caught]
    assert len(kinds) == 2, kinds  # characters too rare in training and dev, and characters replaced in the test part
    assert all(kind.startswith("2 editions, 'deu', 'eng'") for kind in kinds), kinds
    assert {warning.filename for warning in caught} == {__file__}


def test_trainings_are_one_warning_that_has_the_editions_of_all():
    trainings = (("e0", "e1"), ("e0", "e2", "e: 3"), ("o'b",), ("e1",))

    @warns_caller
    def sizes():
        for number, editions in enumerate(trainings):
            of = "train 1%, " if number else ""  # figures of more than one part are no other kind
            cautions = [(edition, f"many are rare ({of}dev 0.{number}%). Add text.") for edition in editions]
            warnings.warn(EditionWarning(*cautions), stacklevel=1)
        warnings.warn("standard errors from 20 intents", LangdiffWarning, stacklevel=1)
        warnings.warn("standard errors from 30 intents", LangdiffWarning, stacklevel=1)

    with pytest.warns(LangdiffWarning) as caught:
        sizes()
    rare, few = (warning.message for warning in caught)
    assert [edition for edition, _ in rare.cautions] == [name for editions in trainings for name in editions]
    expected = "5 editions, 'e0', 'e1', 'e2', 'e: 3', \"o'b\" (the figures are those of 'e0'): many are rare (dev 0.0%)"
    assert str(rare) == f"{expected}. Add text."
    assert str(few) == "standard errors from 20 intents"
    assert {warning.filename for warning in caught} == {__file__}
