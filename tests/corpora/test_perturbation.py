"""Texts changed in one exact way: what each kind keeps, its inverse, and what language models make of it."""

import math
import unicodedata
from collections import Counter
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

import langdiff as ld
from langdiff.corpora.perturbation import Perturbation, added_bits, characters
from langdiff.errors import ConfigError, DataError, LangdiffWarning

ROUNDING = 1e-9  # bits; sums of the same numbers in another order
BIJECTIONS = ("reverse", "reverse-words", "shuffle-local", "shuffle-by-length", "scramble")
ENGLISH = ["the dog saw the cat", "a cat saw a dog run", "the old dog ran off"]
ALPHABET = "abcdeé AEIÖøñ 一ß αειώ абыя 한글 กา ابت הכל ,.'-↹ 12 नमस्ते 👩‍👩‍👧 ɔ̃"


def texts():
    """Return strategy for texts of several scripts, tidy as `perturb` makes them."""
    words = st.lists(st.text(st.sampled_from(ALPHABET.replace(" ", "")), min_size=1, max_size=9), min_size=1)
    return words.map(lambda some: unicodedata.normalize("NFC", " ".join(some)))


def change(kind, text, **options):
    return Perturbation("eng", **options).function(kind)(text, "1")


def frame(**editions):
    return ld.read_frame(pd.DataFrame(editions, index=[str(k + 1) for k in range(len(next(iter(editions.values()))))]))


@given(text=texts(), window=st.integers(2, 5))
def test_words_are_kept_exactly(text, window):
    for kind in ("reverse-words", "shuffle-local", "shuffle-by-length", "shuffle"):
        assert Counter(change(kind, text, window=window).split(" ")) == Counter(text.split(" "))


@given(text=texts())
def test_code_points_are_kept_exactly(text):
    assert Counter(change("reverse", text)) == Counter(text)
    changed = change("scramble", text).split(" ")
    assert [Counter(word) for word in changed] == [Counter(word) for word in text.split(" ")]


@given(text=texts())
def test_scrambled_words_keep_their_marks_of_punctuation_in_place(text):
    assert regex.sub(r"[\p{L}\p{M}\p{Nd}]+", "", change("scramble", text)) == regex.sub(
        r"[\p{L}\p{M}\p{Nd}]+", "", text
    ) or regex.search("\u200d", text)  # joined pictures are one character with what joins them


@given(text=texts())
def test_inverses(text):
    assert change("reverse-words", change("reverse-words", text)) == text
    assert unicodedata.normalize("NFC", change("decompose", text)) == text
    back = "".join(reversed(characters(change("reverse", text))))
    assert back == text or characters(change("reverse", text)) != characters(text)[::-1]
    for kind in ("shuffle-local", "shuffle-by-length"):
        changing = Perturbation("eng", window=3)
        words, moved = text.split(" "), changing.function(kind)(text, "1").split(" ")
        size = 3 if kind == "shuffle-local" else len(words)
        restored = []
        for start in range(0, len(words), size):
            some = moved[start : start + size]
            order = changing.orders[kind, len(some)]
            restored += [some[order.index(place)] for place in range(len(some))]
        assert restored == words


@given(text=texts())
def test_spaces_and_vowels_removed_leave_the_rest_in_order(text):
    assert change("no-spaces", text) == text.replace(" ", "")
    rest = iter(text)
    assert all(character in rest for character in change("no-vowels", text))  # a subsequence


def test_vowels():
    assert change("no-vowels", "eau idée Äpfel 'aid étés йод α-ά") == "e id Äpfl 'ad éts йд α-"
    assert change("no-vowels", "Ἀθῆναι") == "Ἀθν"
    assert change("no-vowels", "май МАЙ воўк её йёлка") == "мй МЙ вўк е йлк"
    assert change("no-vowels", "көл гүл құс әнә кӱӧн") == "кл гл қс ән кн"
    assert change("no-vowels", "bɨk sʊn BƗK kɪt mǝn") == "bk sn BK kt mn"


def test_windows_of_given_orders():
    """The permutations behind the figures of the documentation, positions in the original."""
    orders = {("shuffle-local", 3): [1, 0, 2], ("shuffle-local", 2): [1, 0], ("shuffle-local", 1): [0]}
    changed = Perturbation("eng", window=3, orders=orders).function("shuffle-local")("a b c d e f g h", "1")
    assert changed == "b a c e d f h g"
    ten = [6, 9, 1, 3, 2, 8, 7, 4, 5, 0]
    changed = Perturbation("eng", window=10, orders={("shuffle-local", 10): ten}).function("shuffle-local")
    assert changed("a b c d e f g h i j", "1") == "g j b d c i h e f a"


@pytest.mark.parametrize("seed", range(20))
def test_windows_are_never_left_as_they_are(seed):
    assert change("shuffle-local", "a b c d", window=2, seed=seed) == "b a d c"


def test_added_bits_by_enumeration():
    for words in ("a", "ab", "aab", "abcab", "aaa"):
        assert added_bits(words) == pytest.approx(math.log2(len(set(permutations(words)))), abs=ROUNDING)


def test_all_orders_are_as_frequent():
    """Shuffled orders of three words are uniform: 6,000 draws by chi-squared, 5 degrees of freedom."""
    drawn = Counter(Perturbation("eng")._shuffled("a b c", number) for number in range(6000))
    assert len(drawn) == 6
    assert sum((count - 1000) ** 2 / 1000 for count in drawn.values()) < 20.5  # p = .001


def test_changes_do_not_depend_on_what_else_is_there():
    both = ld.corpora.perturb(frame(eng=ENGLISH, deu=ENGLISH[::-1]), ["shuffle", "scramble"], seed=3)
    one = ld.corpora.perturb(frame(eng=ENGLISH).sel(intents=["3", "1"]), ["scramble", "shuffle"], seed=3)
    for edition in ("eng|shuffle", "eng|scramble"):
        assert both.text(edition)[["3", "1"]].tolist() == one.text(edition).tolist()
    other = ld.corpora.perturb(frame(eng=ENGLISH), ["shuffle"], seed=4)
    assert other.text("eng|shuffle").tolist() != both.text("eng|shuffle").tolist()


def test_draws_stay_as_they_are():
    """A change of the way numbers are drawn would change every published figure."""
    changed = ld.corpora.perturb(frame(eng=ENGLISH), ["shuffle", "scramble", "shuffle-local"], keep_base=False)
    assert changed.to_frame().loc["1"].tolist() == ["cat saw dog the the", "eht ogd saw eht tca", "saw dog the cat the"]


def test_tables():
    texts = frame(eng=[" the  dog\tsaw\n", None, "a cat"], ell=["ένα", "δύο", "η γάτα"])
    changed = ld.corpora.perturb(texts, ["shuffle", "no-vowels"])
    assert list(changed.editions) == [
        "eng",
        "ell",
        *(f"{e}|{k}" for e in ("eng", "ell") for k in ("shuffle", "no-vowels")),
    ]
    assert changed.text("eng").tolist() == ["the dog saw", "a cat"]
    assert changed.edition_info.loc["ell|no-vowels", ["base", "perturbation"]].tolist() == ["ell", "no-vowels"]
    assert changed.edition_info["perturbation"].isna().sum() == 2
    bits = changed.intent_info["added_bits|eng"]
    np.testing.assert_allclose(bits, [math.log2(6), np.nan, 1.0])


def test_decomposed_texts_stay_so(tmp_path):
    changed = ld.corpora.perturb(frame(kor=["한국어 말", "다른 말", "또 하나", "그리고", "끝 말"]), ["decompose"])
    parts = ld.split(changed, dev=1, test=1)
    assert all(unicodedata.is_normalized("NFD", text) for text in parts.train.text("kor|decompose"))
    ld.write_multitext(changed, tmp_path)
    back = ld.read_multitext(tmp_path, format="moses", nfc=False)
    assert back.text("kor|decompose").tolist() == changed.text("kor|decompose").tolist()
    assert not unicodedata.is_normalized("NFC", back.text("kor|decompose").iloc[0])


@pytest.mark.parametrize(
    ("edition", "lines"),
    [
        ("eng", ENGLISH),
        ("kor", ["나는 고양이를 보았다", "개가 고양이를 보았다", "나는 개를"]),
        ("arb", ["الكلب رأى القط", "القط رأى الكلب", "الكلب القط هنا"]),
        ("emoji", ["👩‍👩‍👧 a 👍🏽 b", "b 👩‍👩‍👧 c", "c 👍🏽 a"]),
        ("tha", ["แมวกินปลา", "ปลากินแมว", "แมวไป"]),
    ],
)
def test_single_characters_cost_what_they_did(edition, lines):
    """A model of single characters, trained on changed texts, gives each of them the bits it had."""
    kinds = ["reverse"] if edition == "tha" else ["reverse", "reverse-words", "shuffle-local", "shuffle"]
    kinds += ["scramble"] if edition not in ("tha", "emoji") else []  # which have no words of several letters
    changed = ld.corpora.perturb(frame(**{edition: lines * 8}), kinds)
    found = ld.compute_surprisals(ld.split(changed), lm="kneser-ney-1", max_replaced=1.0, progress=False).bits
    assert len(found.columns) > 1
    for name in found.columns:
        np.testing.assert_allclose(found[name], found[edition], rtol=0, atol=ROUNDING)


def test_languages_without_spaces():
    lines = ["狗看见了那只猫然后跑到了很远的地方去了", "猫也看见了那只狗然后也跑到了别的地方去"]
    with pytest.raises(ConfigError, match=r"1 edition.* have less than one space in 25 characters: 'cmn'"):
        ld.corpora.perturb(frame(cmn=lines), ["reverse", "shuffle"])
    changed = ld.corpora.perturb(frame(cmn=lines), ["reverse", "shuffle"], unit="characters")
    assert changed.text("cmn|reverse").iloc[0] == lines[0][::-1]
    assert sorted(changed.text("cmn|shuffle").iloc[0]) == sorted(lines[0])


def test_what_changes_nothing_is_left_out():
    texts = frame(eng=ENGLISH, heb=["הכלב ראה את החתול"] * 3)
    with pytest.warns(LangdiffWarning) as told:
        changed = ld.corpora.perturb(texts, ["decompose", "no-vowels"])
    assert sorted(str(each.message).split(" is left out")[0] for each in told) == [
        "eng|decompose", "heb|decompose", "heb|no-vowels",
    ]  # fmt: skip
    assert list(changed.editions) == ["eng", "heb", "eng|no-vowels"]


def test_characters_that_join_when_reversed_are_named():
    with pytest.warns(LangdiffWarning, match=r"1 of 2 texts join .*: '2'"):
        ld.corpora.perturb(frame(kor=["개 a", "ᅡᄀ b"]), ["reverse"])  # conjoining letters in an unusual order


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kinds": "reverse"}, "must be a list"),
        ({"kinds": []}, "name at least one"),
        ({"kinds": ["reverse", "reverse"]}, "each once"),
        ({"kinds": ["backwards"]}, "'backwards' is not known"),
        ({"kinds": ["shuffle-local"], "window": 1}, "from 2 up"),
        ({"kinds": ["shuffle"], "unit": "letters"}, "one of words, characters"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ConfigError, match=message):
        ld.corpora.perturb(frame(eng=ENGLISH), **options)


def test_names_that_are_taken():
    with pytest.raises(DataError, match=r"there already: .eng.reverse"):
        ld.corpora.perturb(frame(**{"eng": ENGLISH, "eng|reverse": ENGLISH}), ["reverse"])
