import lzma

import numpy as np
import pytest

from langdiff.lm import lzma_bits
from tests.lm.conftest import verses


def test_against_the_sizes_of_xz_streams():
    train, test = verses("eng", 400, 0), verses("eng", 200, 1)

    def size(texts):
        return len(lzma.compress(("\n".join(texts) + "\n").encode(), preset=9 | lzma.PRESET_EXTREME))

    by_xz = 8 * (size(train + test) - size(train))  # headers cancel; other settings of LZMA
    assert lzma_bits(train, test) == pytest.approx(by_xz, rel=0.05)


def test_what_was_seen_is_nearly_free_and_noise_costs_its_entropy():
    rng = np.random.default_rng(0)
    noise = ["".join(rng.choice(list("abcdefgh"), 100)) for _ in range(400)]  # 3 bits per character
    train, test = noise[:200], noise[200:]
    characters = sum(map(len, test))
    assert lzma_bits(train, train[:100]) < 0.05 * lzma_bits(train, test[:100])
    assert 3.0 <= lzma_bits(train, test) / characters < 3.3


def test_the_window_sees_all_of_a_long_text():
    rng = np.random.default_rng(0)
    first, *others = ["".join(map(chr, rng.integers(0x4E00, 0x9F00, 1000))) for _ in range(600)]  # 1.8 MB
    assert lzma_bits([first, *others], [first]) < 8 * 50


def test_no_text():
    assert lzma_bits([], []) == lzma_bits(["abc"], []) == 0
    assert lzma_bits([], ["abc"]) > 0
