import gzip
import os
from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from langdiff.errors import CheckpointError, ConfigError, DataError
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPEUnits, caution_about_words
from langdiff.lm.units.characters import CharacterUnits
from tests.helpers import refused

SCRIPTS = {
    "latin": "abcdeé.,-'\"",
    "greek": "αβγάώς·",
    "cyrillic": "абвгёйЯ",
    "hebrew": "אבגשׁםְ",
    "arabic": "ابتثلإ\u200c",
    "devanagari": "कखगिीर्",
    "thai": "กขคเาั",
    "han": "天地人之𠀀",
    "hangul": "한국말가",
    "emoji": "😀👍🏽\u200d❤\ufe0f",
    "reserved": "▁▅\0<unk>s/0x41",
    "private": "\ue000\ue001\ue003ab",
}


def over(alphabet_text):
    return st.text(st.sampled_from(alphabet_text + "  "), max_size=24)


@pytest.mark.parametrize("script", SCRIPTS)
@settings(max_examples=25, deadline=None)  # SentencePiece is trained in each
@given(data=st.data())
def test_subwords_are_reversible_over_the_whole_alphabet(script, data):
    letters = SCRIPTS[script]
    train = data.draw(st.lists(over(letters), min_size=1, max_size=12), label="train")
    assume(any(text.strip() for text in train))
    alphabet = Alphabet.from_texts([*train, letters], min_count=1)
    units = BPEUnits.train(train, alphabet, ratio=data.draw(st.sampled_from([0.0, 0.4, 50.0]), label="ratio"))
    for text in [*train, *data.draw(st.lists(over(letters + alphabet.replacement), max_size=6), label="new")]:
        ids = units.encode(text)
        assert units.decode(ids) == text
        assert all(0 <= i < units.size for i in ids)


@given(st.text())
@example("")
@example("  a ")
def test_characters_are_reversible(text):
    alphabet = Alphabet.from_texts([text], min_count=1)
    units = CharacterUnits(alphabet)
    seen = alphabet.apply(text)
    ids = units.encode(seen)
    assert len(ids) == len(text)
    assert units.decode(ids) == seen
    assert units.size == len(set(seen) | {" ", alphabet.replacement})


def test_number_of_merges_is_the_ratio_of_distinct_words():
    texts = [f"{a}{b}{c} {c}{a}" for a in "abcdef" for b in "ghij" for c in "klm"] * 3
    words = {word for text in texts for word in text.split()}
    for ratio in (0.1, 0.4, 0.75):
        units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=ratio)
        assert units.merges == int(ratio * len(words))


def merge_counts(texts, merges):
    """Learn byte-pair merges the slow way; return how often each was applied."""
    words = [("▁", *word) for text in texts for word in text.split(" ")]
    counts = []
    for _ in range(merges):
        pairs = Counter(pair for word in words for pair in pairwise(word))
        if not pairs:
            break
        (left, right), _ = pairs.most_common(1)[0]
        merged = []
        for word in words:
            out = []
            for piece in word:
                if out and (out[-1], piece) == (left, right):
                    out[-1] = left + right
                else:
                    out.append(piece)
            merged.append(tuple(out))
        counts.append(sum(map(len, words)) - sum(map(len, merged)))
        words = merged
    return counts


def test_merges_stop_where_no_pair_occurs_twice():
    texts = ["abc abd", "xyz", "ab"]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    counts = merge_counts(texts, merges=30)
    frequent = sum(count >= 2 for count in counts)
    assert 0 < frequent < len(counts)  # else the test would not test
    assert BPEUnits.train(texts, alphabet, ratio=30.0).merges == frequent


def test_the_first_merges_are_those_of_a_slow_implementation():
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("aaabbc "), 30)).strip() or "a" for _ in range(40)]
    alphabet = Alphabet.from_texts(texts, min_count=1)
    units = BPEUnits.train(texts, alphabet, ratio=0.1)
    slow = merge_counts(texts, units.merges)
    total = sum(len(units.encode(text)) for text in texts)
    symbols = sum(1 + len(word) for text in texts for word in text.split(" "))
    # each merge shortens the text by its count; ties may be broken otherwise
    assert total == pytest.approx(symbols - sum(slow), rel=0.01)


def test_merges_never_cross_white_space():
    texts = ["of the"] * 50
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=99.0)
    assert [units.decode([i]).strip() for i in units.encode("of the")] == ["of", "the"]


def test_the_name_of_the_unknown_piece_is_a_text_like_any_other():
    texts = ["<unk> <unk> a <unk>"] * 20
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=9.0)
    assert units.decode(units.encode("<unk> a<unk>")) == "<unk> a<unk>"
    assert len(units.encode("<unk>")) == 1  # it was merged, not taken for unknown


def test_a_long_line_is_not_skipped():
    long = "ab" * 5_000  # beyond SentencePiece's default limit of 4192 bytes
    texts = [long, "cd cd"]
    units = BPEUnits.train(texts, Alphabet.from_texts(texts, min_count=1), ratio=2.0)
    assert len(units.encode(long)) < 5_000
    assert units.decode(units.encode(long)) == long


@pytest.mark.parametrize("kind", [CharacterUnits, lambda a: BPEUnits.train(["ab"], a)])
def test_a_character_outside_the_alphabet_is_an_error(kind):
    units = kind(Alphabet("ab"))
    refused(DataError, r"'é' \(U\+00E9\) is outside the alphabet", units.encode, "abé")


def test_a_damaged_or_foreign_model_is_an_error():
    units = BPEUnits.train(["ab ab"], Alphabet("ab"))
    refused(CheckpointError, "damaged", BPEUnits, units.alphabet, b"this is no model")
    refused(CheckpointError, "lacks 1 of 5 symbols", BPEUnits, Alphabet("abc"), units.model)


def test_caution_where_words_are_not_separated():
    assert caution_about_words(["起初神创造天地地是空虚混沌渊面黑暗"]) is not None
    assert caution_about_words(["in the beginning God created the heaven and the earth"]) is None
    assert caution_about_words([]) is None


DATA = Path(os.environ.get("LANGDIFF_DATA", Path(__file__).parents[4] / "shared" / "data")) / "bible"


@pytest.mark.real_data
@pytest.mark.skipif(not DATA.is_dir(), reason=f"no Bibles in {DATA}; set LANGDIFF_DATA")
@pytest.mark.parametrize("language", ["eng", "cop", "heb", "hin", "mya", "cmn", "jpn"])
def test_real_verses_are_reversible(language):
    path = sorted(DATA.glob(f"{language}-*.txt.gz"))[0]
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        verses = [line.rstrip("\n").partition("\t")[2] for line in lines if line[:1] in "456"][:1500]
    alphabet = Alphabet.from_texts(verses, min_count=3)
    texts = [alphabet.apply(verse) for verse in verses]
    units = BPEUnits.train(texts[:1000], alphabet)
    assert units.merges == int(0.4 * len({word for text in texts[:1000] for word in text.split()}))
    assert [units.decode(units.encode(text)) for text in texts] == texts


@pytest.mark.parametrize(
    ("texts", "ratio", "error", "message"),
    [
        (["abc"], 0.4, DataError, "'c'.*outside the alphabet"),
        (["", " "], 0.4, DataError, "no words"),
        (["ab"], -0.1, ConfigError, "bpe_ratio"),
        (["ab"], float("nan"), ConfigError, "bpe_ratio"),
    ],
)
def test_subwords_that_cannot_be_learned(texts, ratio, error, message):
    refused(error, message, BPEUnits.train, texts, Alphabet("ab"), ratio=ratio)
