from collections import Counter
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.errors import ConfigError
from langdiff.lm import train_kneser_ney
from langdiff.lm.units.alphabet import Alphabet

ROUNDING = 1e-12  # of one division
TEXTS = st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=8)


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
        assert alphabet.count_replaced(text) == sum(counts[c] < min_count and not c.isspace() for c in text)
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


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_texts_get_the_normal_form_of_training_if_that_is_c(form):
    train = [normalize(form, text) for text in ["é è ô", "한국 é"] * 9]
    alphabet = Alphabet.from_texts(train, min_count=1)
    assert alphabet.composed == (form == "NFC")
    found = [alphabet.apply(normalize(other, "é한")) for other in ("NFC", "NFD")]
    assert found[form == "NFD"] == normalize(form, "é한")
    assert (found[0] == found[1]) == (form == "NFC")
    model = train_kneser_ney(train, train[:3], recipe="kneser-ney-2")
    bits, again = (model.surprisal([normalize(other, "ô é")])["bits"][0] for other in ("NFC", "NFD"))
    assert (bits == again) == (form == "NFC")


@given(st.lists(st.text(st.sampled_from("abcdefgh 猫犬"), max_size=60), max_size=8), st.integers(1, 400))
def test_threshold_against_trying_all(texts, repeat):
    texts = [*texts, "a" * repeat * 10]
    kept = {m: 1 - Alphabet.from_texts(texts, min_count=m).out_of_alphabet_rate(texts) for m in range(1, 26)}
    enough = [m for m in kept if kept[m] >= 0.999 - ROUNDING]
    assert Alphabet.from_texts(texts).min_count == max(enough)


def test_threshold_of_one_in_a_thousand_exactly():
    common = "ab" * 4995  # 9,990 of 10,000
    assert Alphabet.from_texts([common, "c" * 10]).min_count == 25  # loses 1 in 1,000, which may be
    assert Alphabet.from_texts([common, "c" * 11]).min_count == 11
    assert Alphabet.from_texts([common, "c" * 10, " " * 24]).min_count == 25  # white space is never lost


def test_a_script_of_thousands_keeps_what_an_alphabet_would_lose():
    """1,500 Han characters that occur three times each among 12,000; 25 occurrences would lose three of eight."""
    rare = "".join(chr(0x4E00 + i) for i in range(1500)) * 3
    alphabet = Alphabet.from_texts([rare, "的是" * 3750])
    assert alphabet.min_count == 3
    assert alphabet.count_replaced(rare) == 0


@pytest.mark.parametrize("symbol", ["", "ab", " ", "a"])
def test_bad_replacement(symbol):
    with pytest.raises(ConfigError, match="one character outside"):
        Alphabet("abc", symbol)
