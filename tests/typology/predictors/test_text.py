import gzip
import lzma
import math
import tracemalloc
import zlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy

import langdiff as ld
from langdiff.errors import ConfigError, DataError
from langdiff.tables.text_features import separates_words
from langdiff.typology.predictors.table import (
    _numbered,
    compressed_bits,
    count_words,
    entropy_rate,
    type_token_ratio,
    unigram_entropy,
)
from tests.helpers import refused

ROUNDING = 1e-12  # the same sums in another order
ESTIMATORS = ["plug-in", "miller-madow", "chao-shen"]
COUNTS = st.lists(st.integers(1, 30), min_size=1, max_size=40).map(lambda n: {f"w{i}": k for i, k in enumerate(n)})


@given(COUNTS)
def test_plug_in_entropy_is_scipys(counts):
    assert unigram_entropy(counts) == pytest.approx(entropy(list(counts.values()), base=2), abs=ROUNDING)


def slow_entropy_rate(words):
    """Every match looked for at every place before."""
    total = 0.0
    for here in range(len(words)):
        lengths = [0]
        for there in range(here):
            most = min(here - there, len(words) - here)  # all of it stands before
            same = [words[there + k] == words[here + k] for k in range(most)]
            lengths.append(same.index(False) if False in same else most)
        total += math.log2(here + 1) / (max(lengths) + 1)
    return total / len(words)


@pytest.mark.parametrize(
    ("words", "rate"), [("abracadabra", 1.294203), ("abababab", 0.717675), ("ab" * 10, 0.647454), ("a", 0)]
)
def test_entropy_rate_of_short_texts(words, rate):
    """Matches do not reach into what follows: with overlap, the second would be 0.638271."""
    assert entropy_rate(words) == pytest.approx(rate, abs=1e-6)


@given(st.lists(st.sampled_from("abc"), min_size=1, max_size=40))
def test_entropy_rate_is_that_of_matches_looked_for_one_by_one(words):
    assert entropy_rate(words) == pytest.approx(slow_entropy_rate(words), abs=ROUNDING)


def test_entropy_rate_of_coins_is_near_their_entropy():
    rng = np.random.default_rng(0)
    for chance, bits in ((0.5, 1), (0.11, 0.5)):  # the estimator is some 8 % low at 20,000 flips
        assert entropy_rate((rng.random(20_000) < chance).tolist()) == pytest.approx(bits, rel=0.1)
    refused(DataError, "no word", entropy_rate, [])


# infomeasure 0.6.3: entropy(numpy.repeat(range(K), counts), approach=..., base=2)
@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([4, 2, 3, 2, 4, 2, 1, 1], [2.839775539645508, 3.1055351524408437, 3.1755695803327653]),
        ([1, 1, 5, 13], [1.3361602543738118, 1.444362382440484, 1.6087177745987453]),
    ],
)
def test_entropies_of_another_package(counts, expected):
    words = dict(enumerate(counts))
    found = [unigram_entropy(words, estimator) for estimator in ESTIMATORS]
    assert found == pytest.approx(expected, abs=ROUNDING)


def test_chao_shen_where_every_word_is_seen_once():  # infomeasure, too: one of them counts as seen twice
    words = dict.fromkeys(range(6), 1)
    assert unigram_entropy(words, "chao-shen") == pytest.approx(5.540741444412964, abs=ROUNDING)


@given(COUNTS)
def test_chao_shen_is_the_sum_over_exact_chances_of_being_seen(counts):
    tokens = sum(counts.values())
    once = list(counts.values()).count(1)
    if tokens == 1 or len(counts) == 1:
        return
    coverage = 1 - Fraction(min(once, tokens - 1), tokens)
    total = 0.0
    for count in counts.values():
        share = coverage * Fraction(count, tokens)
        total -= float(share) * math.log2(share) / float(1 - (1 - share) ** tokens)
    assert unigram_entropy(counts, "chao-shen") == pytest.approx(total, rel=1e-10)


def test_corrections_bring_small_samples_nearer_to_the_truth():
    shares = 1 / np.arange(1, 2001)
    shares /= shares.sum()
    truth = entropy(shares, base=2)
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        drawn = rng.multinomial(1500, shares)
        words = dict(enumerate(drawn[drawn > 0]))
        errors.append([unigram_entropy(words, estimator) - truth for estimator in ESTIMATORS])
    plug_in, miller_madow, chao_shen = np.mean(errors, axis=0)
    assert plug_in < -0.5
    assert plug_in < 1.5 * miller_madow < -0.5  # corrects a third of it
    assert miller_madow < chao_shen < 0.15


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_one_word_has_no_entropy(estimator):
    assert unigram_entropy({"a": 5}, estimator) == 0
    assert unigram_entropy({"a": 1}, estimator) == 0


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_bad_counts_and_estimators(estimator):
    refused(DataError, "no word to count", unigram_entropy, {}, estimator)
    refused(DataError, "0 times or fewer", unigram_entropy, {"a": 1, "b": 0}, estimator)
    refused(ConfigError, "unknown estimator 'jackknife'", unigram_entropy, {"a": 1}, "jackknife")
    refused(DataError, "no word to count", type_token_ratio, {})


def test_words_are_counted_after_tokenization():
    texts = ['"Go," she said.', "go, GO"]
    assert count_words(texts, tokenized=True) == {'"Go,"': 1, "she": 1, "said.": 1, "go,": 1, "GO": 1}
    counts = count_words(texts)
    assert counts["Go"] == counts["go"] == counts["GO"] == 1
    assert counts.total() == 10
    assert type_token_ratio(counts) == 9 / 10


@given(st.lists(st.text("abä,.'’ -", max_size=20), max_size=5))
def test_text_with_spaces_around_punctuation_needs_no_tokenizing(texts):
    spaced = ["".join(f" {c} " if not c.isalpha() else c for c in text) for text in texts]
    assert count_words(spaced) == count_words(spaced, tokenized=True)


OF_BYTES = {"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "pb": 0, "lp": 0}


@given(st.lists(st.text("".join(map(chr, range(128))).replace("\n", ""), max_size=60), max_size=30))
def test_compressed_sizes_are_those_of_the_standard_library(texts):
    text = "".join(f"{text}\n" for text in texts)
    number = {character: rank for rank, character in enumerate(sorted(set(text)))}
    data = bytes(number[character] for character in text)
    if data:
        assert compressed_bits(texts, "zlib") == 8 * (len(zlib.compress(data, 9)) - 6)  # header 2, check sum 4
    alone, nothing = (lzma.compress(d, lzma.FORMAT_ALONE, filters=[OF_BYTES]) for d in (data, b""))
    assert compressed_bits(texts, "lzma") == 8 * (len(alone) - len(nothing))


@pytest.mark.parametrize("compressor", ["lzma", "zlib"])
def test_the_script_costs_nothing(compressor):
    latin = ["the cat sat on the mat", "the dog lay on the log"] * 30
    letters = sorted(set("".join(latin)) - {" "})
    for first in (0x430, 0x905, 0x1401, 0x1F600):  # Cyrillic, Devanagari, syllabics, beyond 16 bits
        written = str.maketrans({letter: chr(first + place) for place, letter in enumerate(letters)})
        other = [text.translate(written) for text in latin]
        assert compressed_bits(other, compressor) == compressed_bits(latin, compressor)


def test_large_alphabets_take_two_bytes():
    drawn = np.random.default_rng(0).integers(0x4E00, 0x4E00 + 4096, 20_000)
    text = "".join(map(chr, drawn))
    assert 12 * 20_000 <= compressed_bits([text]) < 13.5 * 20_000
    assert compressed_bits([]) == compressed_bits([], "zlib") == 0


def test_random_letters_cannot_be_compressed_below_their_entropy():
    letters = "".join(np.random.default_rng(0).choice(list("abcdefgh"), 20_000))
    for compressor in ("lzma", "zlib"):
        assert 3 <= compressed_bits([letters], compressor) / 20_000 < 3.7  # matches found by chance cost more


def test_zlib_forgets_what_is_far():
    far = "".join(np.random.default_rng(0).choice(list("abcdefghijklmnop"), 40_000))  # beyond 32 KiB
    assert compressed_bits([far, far], "lzma") < 1.01 * compressed_bits([far], "lzma")
    assert compressed_bits([far, far], "zlib") > 1.95 * compressed_bits([far], "zlib")


def test_unknown_compressor():
    refused(ConfigError, "unknown compressor 'zip'", compressed_bits, ["a"], "zip")


@pytest.mark.parametrize(
    ("text", "separated"),
    [
        ("In the beginning God created the heaven and the earth .", True),
        ("起初神创造天地。地是空虚混沌,渊面黑暗;神的灵运行在水面上。", False),
        ("起初 神 创造 天 地 。", True),
        ("ในปฐมกาลพระเจ้าทรงเนรมิตสร้างฟ้าและแผ่นดิน", False),
        ("태초에 하나님이 천지를 창조하시니라", True),  # Hangul has spaces
        ("Apple und Microsoft in 日本国中国韓国台湾香港 heute", True),
        ("1 2 3 !", True),
    ],
)
def test_scripts_without_spaces_are_recognized(text, separated):
    assert separates_words(count_words([text])) is separated


@pytest.mark.real_data
def test_counts_of_a_real_bible_are_those_of_its_words(real_data):
    with gzip.open(real_data / "bible" / "eng-kjv.txt.gz", "rt", encoding="utf-8") as stream:
        verses = [line.rstrip("\n").split("\t")[1] for line in stream if line[:1].isdigit()]
    counts = count_words(verses)
    assert counts.total() == sum(len(ld.tokenize(verse).split()) for verse in verses)
    assert counts["LORD"] + counts["Lord"] > 6000


def test_numbering_characters_needs_little_memory():
    text = "Ελλάς " * 200_000
    tracemalloc.start()
    _numbered(text)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * len(text)  # of which 4 are UTF-32; sorting them takes 37
