"""Where a file has lost a line or has one too many: planted in made-up and in published translations."""

import gzip
import re

import numpy as np
import pytest

from langdiff.corpora import read_multitext
from langdiff.corpora.alignment.lengths import LEAST_LINES, advice
from langdiff.errors import FaultsError

LENGTHS = np.exp(np.random.default_rng(3).normal(4, 0.6, 400)).round()


def others(n):
    rng = np.random.default_rng(4)
    return [(LENGTHS * np.exp(rng.normal(0.1, 0.15, 400))).round() for _ in range(n)]


def named(text):
    """Return the first and the last line that a sentence names."""
    found = re.search(r"(?:lines? )([\d,]+)(?: to ([\d,]+))? seems", text)
    numbers = [int(number.replace(",", "")) for number in found.groups() if number]
    return numbers[0], numbers[-1]


@pytest.mark.parametrize("n", [1, 2, 6])
@pytest.mark.parametrize("line", [1, 2, 57, 200, 399, 400])
@pytest.mark.parametrize("is_missing", [True, False])
def test_the_line_is_found(line, n, is_missing):
    changed = np.delete(LENGTHS, line - 1) if is_missing else np.insert(LENGTHS, line - 1, 55.0)
    text = advice(changed, others(n))
    first, last = named(text)
    assert first <= line <= last
    assert last - first < 25
    assert ("missing" in text, "too many" in text) == (is_missing, not is_missing)


def test_empty_lines_tell_nothing():
    empty = LENGTHS.copy()
    empty[[3, 100, 101, 250]] = 0
    first, last = named(advice(np.delete(empty, 149), [np.where(one > 200, 0, one) for one in others(3)]))
    assert first <= 150 <= last


@pytest.mark.parametrize(
    "lengths",
    [LENGTHS[:-2], LENGTHS, np.random.default_rng(5).permutation(LENGTHS)[1:], np.full(399, 7.0), np.zeros(399)],
)
def test_nothing_is_said_of_other_files(lengths):
    assert advice(lengths, others(3)) == ""


def test_nothing_is_said_where_lengths_repeat():
    alike = np.repeat([20.0, 40, 30], 200)
    assert advice(np.delete(alike, 77), [alike, alike + 1]) == ""


def test_nothing_is_said_of_few_lines_or_alone():
    assert advice(LENGTHS[: LEAST_LINES - 1], [one[:LEAST_LINES] for one in others(3)]) == ""
    assert advice(LENGTHS, []) == ""


@pytest.mark.real_data
def test_lines_of_published_translations(real_data, tmp_path):
    languages = ("deu", "fra", "zho-CN", "fin", "swa", "heb")
    lines = {
        each: gzip.decompress((real_data / "ntrex" / f"{each}.txt.gz").read_bytes()).split(b"\n")[:-1]
        for each in languages
    }
    rng = np.random.default_rng(0)
    for language in languages:
        line = int(rng.integers(1, 1998))
        for each, texts in lines.items():
            kept = texts[: line - 1] + texts[line:] if each == language else texts
            (tmp_path / f"{each}.txt").write_bytes(b"\n".join(kept) + b"\n")
        with pytest.raises(
            FaultsError, match=rf"{language}.txt: has 1,996 lines, .* has 1,997: .* missing\.$"
        ) as caught:
            read_multitext(tmp_path, format="moses")
        first, last = named(str(caught.value))
        assert first <= line <= last < first + 20
