from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, Alphabet, find_lm, find_recipe, train_kneser_ney, train_language_model
from langdiff.lm._scripts import _counts, identity_bits

ALL = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
SCRIPTS = ["Latin", "Greek", "Cyrillic", "Hebrew", "Arabic", "Devanagari", "Cherokee", "Hiragana", "Ethiopic"]
GROWS = 1.2  # a script gains characters from one version of Unicode to the next, seldom many


@pytest.mark.parametrize("script", SCRIPTS)
def test_numbers_of_characters_are_those_of_unicode(script):
    installed = len(regex.findall(rf"\p{{Script={script}}}", ALL))
    assert installed / GROWS <= _counts()[script] <= installed * GROWS


def test_all_scripts_together_leave_room_for_what_has_none():
    assert 140_000 < sum(_counts().values()) < 0x110000


@pytest.mark.parametrize(
    ("character", "script"),
    [("q", "Latin"), ("ж", "Cyrillic"), ("語", "Hani"), (",", "Common"), ("\u0301", "Inherited")],
)
def test_a_character_is_told_from_all_of_its_script(character, script):
    assert identity_bits(character) == log2(_counts()[script])


def test_what_has_no_script_costs_most():
    assert identity_bits("\ue000") == identity_bits("\U000e0fff") > identity_bits("語")


@given(texts=st.lists(st.text(max_size=20), min_size=1, max_size=4), min_count=st.integers(1, 3))
def test_price_of_a_text_is_that_of_its_replaced_characters(texts, min_count):
    alphabet = Alphabet.from_texts(texts, min_count=min_count)
    counts = Counter("".join(texts))
    for text in texts:
        rare = [c for c in text if counts[c] < min_count and not c.isspace()]
        assert alphabet.replaced_bits(text) == pytest.approx(sum(map(identity_bits, rare)))
        assert (alphabet.replaced_bits(text) > 0) == (alphabet.apply(text).count(alphabet.replacement) > 0)


TEXTS = ["ab ba ab", "ba ab ba ab"] * 80
NEW = ["ab ж ba", "ab", "éж◊"]
PRICES = np.array([log2(508), 0, log2(1653) + log2(508) + identity_bits("◊")])


@pytest.mark.parametrize("name", ["char-tiny", "kneser-ney-3"])
def test_a_strict_model_prices_the_same_and_adds_what_replaced_characters_are(name):
    def train(name):
        if name.startswith("kneser"):
            return train_kneser_ney(TEXTS, TEXTS[:4], recipe=name)
        recipe = replace(find_recipe(name), embedding_size=8, epochs=1)
        return train_language_model(TEXTS, TEXTS[:4], recipe=recipe, progress=False, seed=0)

    usual, strict = train(name), train(f"{name}-strict")
    assert strict.dev_bits_per_character == usual.dev_bits_per_character
    before, after = usual.surprisal(NEW), strict.surprisal(NEW)
    assert_allclose(after["bits"] - before["bits"], PRICES, rtol=1e-12, atol=1e-9)
    assert after.drop(columns="bits").equals(before.drop(columns="bits"))


def test_names_of_strict_recipes():
    assert find_lm("kneser-ney-6-strict").price_replaced
    assert find_recipe("bpe-small-strict") == replace(
        RECIPES["bpe-small"], name="bpe-small-strict", price_replaced=True
    )
    with pytest.raises(ConfigError, match="unknown language model"):
        find_recipe("char-smal-strict")
    with pytest.raises(ConfigError, match="unknown language model"):
        find_lm("kneser-ney-6-carried")
