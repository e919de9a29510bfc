from collections import Counter
from dataclasses import replace
from math import log2

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from langdiff.errors import LangdiffWarning
from langdiff.lm import RECIPES, Scoring, train_kneser_ney, train_language_model
from langdiff.lm.units.alphabet import CODE_POINTS, Alphabet, _patterns, identity_bits

ALL = "".join(chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000)
ASSIGNED = "".join(regex.findall(r"\P{Script=Unknown}+", ALL))
SCRIPTS = ["Latin", "Greek", "Cyrillic", "Hebrew", "Arabic", "Devanagari", "Cherokee", "Hiragana", "Ethiopic"]
FOUND = [regex.findall(rf"\p{{Script={script}}}", ASSIGNED) for script in _patterns()]
NONE = len(ALL) - sum(map(len, FOUND))  # with the characters of scripts that are younger than the installed tables
FIRST_OF_SCRIPT = [*((found[0], len(found)) for found in FOUND), ("\ue000", NONE)]
GROWS = 1.2  # a script gains characters from one version of Unicode to the next, seldom many


@pytest.mark.parametrize("script", SCRIPTS)
def test_numbers_of_characters_are_those_of_unicode(script):
    installed = len(regex.findall(rf"\p{{Script={script}}}", ASSIGNED))
    assert installed / GROWS <= CODE_POINTS[script] <= installed * GROWS


def test_all_scripts_together_leave_room_for_what_has_none():
    assert 140_000 < sum(CODE_POINTS.values()) < 0x110000


@pytest.mark.parametrize(
    ("character", "script"),
    [("q", "Latin"), ("ж", "Cyrillic"), ("語", "Hani"), (",", "Common"), ("\u0301", "Inherited")],
)
def test_a_character_is_told_from_all_of_its_script(character, script):
    assert identity_bits(character) == log2(CODE_POINTS[script])


def test_what_has_no_script_costs_most():
    assert identity_bits("\ue000") == identity_bits("\U000e0fff") > identity_bits("語")


@pytest.mark.parametrize("kept", ["", "ab", "ab,é", "жñ.語"])
def test_with_scripts_all_replaced_characters_share_one(kept):
    """Probabilities sum to 1 but for characters that are kept, and those that this or the other table lacks."""
    alphabet = Alphabet(kept)
    for priced, least, most in ((True, 0.9, 1.05), (False, 100, 200)):
        total = sum(n * 2.0 ** -alphabet.price(c, scripts=priced) for c, n in FIRST_OF_SCRIPT)
        assert least < total < most  # without scripts, the total is their number


def test_a_script_of_the_alphabet_is_likelier():
    alphabet = Alphabet("ab,")
    added = {c: alphabet.price(c, scripts=True) - alphabet.price(c) for c in "é;ж語"}
    assert added["é"] == added[";"] == 2
    assert added["ж"] == pytest.approx(added["語"])
    assert added["ж"] > 8


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
def test_one_model_scores_with_prices_and_without(name):
    if name.startswith("kneser"):
        model = train_kneser_ney(TEXTS, TEXTS[:4], recipe=name)
    else:
        recipe = replace(RECIPES[name], embedding_size=8, epochs=1)
        model = train_language_model(TEXTS, TEXTS[:4], recipe=recipe, progress=False, seed=0)
    priced, free = model.surprisal(NEW), model.surprisal(NEW, scoring="unpriced")
    assert_allclose(priced["bits"] - free["bits"], PRICES, rtol=1e-12, atol=1e-9)
    assert priced.drop(columns="bits").equals(free.drop(columns="bits"))
    assert priced["replaced"].tolist() == [1, 0, 3]
    scripts = model.surprisal(NEW, scoring="scripts")["bits"] - priced["bits"]
    added = [model.alphabet.replaced_bits(text, scripts=True) - model.alphabet.replaced_bits(text) for text in NEW]
    assert_allclose(scripts, added, rtol=1e-12, atol=1e-9)
    assert added[1] == 0 < added[0]
    assert free["bits"].equals(model.surprisal(NEW, scoring=Scoring(price_replaced=False))["bits"])


@pytest.mark.parametrize("scoring", ["unpriced", "priced"])
def test_dev_bits_of_training_have_no_price(scoring):
    recipe = replace(RECIPES["char-tiny"], embedding_size=8, epochs=1)
    with pytest.warns(LangdiffWarning, match="dev"):
        model = train_language_model(TEXTS, NEW, recipe=recipe, progress=False, seed=0)
    frame = model.surprisal(NEW, scoring=scoring)
    same = frame["bits"].sum() / frame["characters"].sum() == pytest.approx(model.dev_bits_per_character, rel=1e-6)
    assert same == (scoring == "unpriced")
