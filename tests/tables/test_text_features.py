"""Features of texts against plain Python."""

import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from langdiff.tables.text_features import CUT, NO_WORDS, SCRIPT, measure

LETTERS = st.sampled_from([*"ab 7é\n\t.", "\u00a0", "\u2009", "\u3000", "\u1680", "漢", "か", "ж", "𐌰", "\u0301", "\0"])


@given(st.lists(st.text(LETTERS, max_size=40), max_size=30))
def test_lengths_and_hashes(texts):
    found = measure(texts)
    expected = [max(len("".join(text.split())), 1) for text in texts]
    np.testing.assert_allclose(np.exp(found.lengths.astype(float)), expected, rtol=1e-5)
    by_hash = {}
    for text, code in zip(texts, found.hashes.tolist(), strict=True):
        assert by_hash.setdefault(code, text) == text
    np.testing.assert_array_equal(measure(texts[::-1]).hashes, found.hashes[::-1])


def test_long_texts_and_blocks():
    long = "é a" * 40_000
    texts = ["a dog", long, "", *(f"text {number}" for number in range(25_000)), "a dog"]
    found = measure(texts)
    assert abs(np.exp(float(found.lengths[1])) - 80_000) < 1
    assert found.hashes[0] == found.hashes[-1]
    assert len(set(found.hashes.tolist())) == len(set(texts))


def test_hashes_are_the_same_everywhere():
    assert measure(["a dog"]).hashes.tolist() == measure(["x" * 99, "a dog"]).hashes[1:].tolist()
    assert measure(["", "a dog", "ein Hund"]).hashes.tolist() == [0, 3665446772349605700, 12544457656016194285]


def test_striking_texts():
    plain = [f"the quick brown fox number {number} jumps over a dog" for number in range(100)]
    texts = [*plain, "…!?", "это не на этом языке", "x" * 300, "y" * 300, "z" * 300, "BBC это News"]
    found = {(place - 100, what) for place, what in measure(texts).striking}
    assert found == {(0, NO_WORDS), (1, SCRIPT), (2, CUT), (3, CUT), (4, CUT)}


def test_marks_that_combine_are_characters_as_in_the_file():
    text = unicodedata.normalize("NFD", "é")
    assert np.exp(measure([text]).lengths[0]).round() == 2
