import numpy as np
import pandas as pd
import pytest

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.lm import SurprisalModel

MULTITEXT = ld.read_frame(
    pd.DataFrame({"eng": ["a dog", "a cat", None], "deu": ["ein Hund", None, "eine Maus"]}, index=["i", "j", "k"])
)


class PerCharacter:
    def __init__(self, bits=2.0):
        self.bits = bits

    def surprisal(self, texts):
        return [self.bits * len(text) for text in texts]


class Framed(PerCharacter):
    def surprisal(self, texts):
        bits = np.array(super().surprisal(texts))
        characters = texts.str.len().to_numpy()
        return pd.DataFrame({"bits": bits, "eos_bits": 1.0, "characters": characters, "bytes": 2 * characters})


class Given:
    def __init__(self, answer):
        self.answer = answer

    def surprisal(self, texts):
        return self.answer


def test_one_model_for_all_editions():
    table = ld.surprisals_of(PerCharacter(), MULTITEXT)
    expected = pd.DataFrame({"eng": [10.0, 10.0, np.nan], "deu": [16.0, np.nan, 18.0]}, index=["i", "j", "k"])
    pd.testing.assert_frame_equal(table.bits, expected, check_names=False)
    assert table.lm == "PerCharacter"
    assert table.eos_bits is None
    assert table.characters is None


def test_a_model_an_edition():
    table = ld.surprisals_of({"deu": Framed(1.0), "eng": Framed(3.0)}, MULTITEXT, lm="mine")
    assert table.bits.loc["i"].to_dict() == {"eng": 15.0, "deu": 8.0}
    assert table.bits_per_character()["bits_per_character"].tolist() == [3.0, 1.0]
    assert table.eos_bits.loc["k"].isna().tolist() == [True, False]
    assert table.bytes.equals(2 * table.characters)
    assert table.lm == "mine"


def test_what_only_some_models_know_is_left_out():
    table = ld.surprisals_of({"deu": Framed(), "eng": PerCharacter()}, MULTITEXT)
    assert table.characters is None
    assert table.lm == "PerCharacter+Framed"


def test_our_own_models_are_such_models(model):
    assert isinstance(model, SurprisalModel)
    multitext = ld.read_frame(pd.DataFrame({"eng": ["the cat sat", "a dog ran"]}))
    table = ld.surprisals_of(model, multitext)
    assert table.bits["eng"].tolist() == model.surprisal(["the cat sat", "a dog ran"])["bits"].tolist()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0], "'eng': the model gave 1 surprisals for 2 texts"),
        ([1.0, np.nan], "1 of 2 surprisals are not positive finite bits, the first nan for intent 'j'"),
        ([-3.0, 1.0], "the first -3 for intent 'i'. Give minus log2"),
        (pd.DataFrame({"nats": [1.0, 2.0]}), "no column 'bits', but 'nats'"),
    ],
)
def test_answers_that_are_no_surprisals(answer, message):
    with pytest.raises(DataError, match=message):
        ld.surprisals_of(Given(answer), MULTITEXT)


def test_what_is_no_model():
    with pytest.raises(ConfigError, match=r"no language model for 1 edition\(s\): 'deu'"):
        ld.surprisals_of({"eng": PerCharacter()}, MULTITEXT)
    with pytest.raises(ConfigError, match=r"needs a method surprisal.*; str has none"):
        ld.surprisals_of("bpe-small", MULTITEXT)
