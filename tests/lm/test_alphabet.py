from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import ConfigError
from langdiff.lm import RECIPES, Alphabet

TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=8)


def test_rare_characters_become_one_symbol_and_frequent_ones_stay():
    alphabet = Alphabet.from_texts(["aaa bb", "a b c"], min_count=3)
    assert alphabet.symbols == " ab◊"
    assert alphabet.apply("abcd é a") == "ab◊◊ ◊ a"


@pytest.mark.parametrize("space", ["\t", "\n", "\u00a0", "\u3000", "\u2028", "\x1f"])
def test_white_space_is_one_symbol_however_rare(space):
    alphabet = Alphabet.from_texts([f"ab{space}ab"], min_count=2)
    assert alphabet.apply(f"a{space}b{space}{space}") == "a b  "
    assert alphabet.out_of_alphabet_rate([f"a{space}b"]) == 0


def test_the_replacement_does_not_occur_in_the_training_text():
    assert Alphabet.from_texts(["a◊a"], min_count=2).replacement == "□"
    assert Alphabet.from_texts(["a□a"], min_count=2).replacement == "◊"
    # frequent in training, so a character of its own
    assert Alphabet.from_texts(["◊◊"], min_count=2).characters == "◊"


def test_a_private_replacement_where_all_others_are_taken():
    alphabet = Alphabet.from_texts([Alphabet.REPLACEMENTS + "\ue000"], min_count=2)
    assert alphabet.apply(Alphabet.REPLACEMENTS) == "\ue001" * len(Alphabet.REPLACEMENTS)


@given(TEXTS, st.integers(1, 4))
def test_apply_against_a_character_by_character_count(texts, min_count):
    counts = Counter("".join(texts))
    alphabet = Alphabet.from_texts(texts, min_count=min_count)
    for text in texts:
        expected = [" " if c.isspace() else c if counts[c] >= min_count else alphabet.replacement for c in text]
        assert alphabet.apply(text) == "".join(expected)
    replaced = sum(n for c, n in counts.items() if n < min_count and not c.isspace())
    total = sum(counts.values())
    assert alphabet.out_of_alphabet_rate(texts) == (replaced / total if total else 0)


@given(TEXTS)
def test_apply_is_idempotent_and_keeps_length(texts):
    alphabet = Alphabet.from_texts(texts, min_count=2)
    for text in texts:
        once = alphabet.apply(text)
        assert alphabet.apply(once) == once
        assert len(once) == len(text)
        assert set(once) <= set(alphabet.symbols)


def test_threshold_by_language():
    recipe = RECIPES["char-small"]
    assert [recipe.minimum_count(code) for code in ("eng", "cmn", "jpn", None)] == [25, 2, 2, 25]
    assert RECIPES["char-tiny"].minimum_count("cmn") == 5  # the recipe's own wins


@pytest.mark.parametrize("symbol", ["", "ab", " ", "a"])
def test_bad_replacement(symbol):
    with pytest.raises(ConfigError, match="one character outside"):
        Alphabet("abc", symbol)


def test_bad_threshold():
    with pytest.raises(ConfigError, match="at least 1"):
        Alphabet.from_texts(["a"], min_count=0)
