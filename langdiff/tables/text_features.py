"""Lengths and hashes of texts, kept while files are catalogued so that alignment is checked without reading them again.

A text takes twelve bytes: the logarithm of its length and a hash. Beside these there are the few texts that are
striking by themselves: those as long as the longest of the edition, those without words, and those in another script.
Texts are measured as they are in their files, before Unicode normalization, which takes longer than everything else.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import regex
from fontTools.unicodedata import script
from numpy.typing import NDArray

from langdiff.base.types import Integers
from langdiff.tables.text_doubts import Doubtful, find_doubtful, repaired

CUT, NO_WORDS, SCRIPT = "cut", "no words", "script"  # what a text may be striking for
_BLOCK = 10_000  # texts measured at once
_SHORT = 8  # characters of a text that may have no word although it is not ASCII
_SAMPLED = 50  # every so many texts tell the scripts of an edition:
_USUAL = 0.1  # those with this share of their letters
_LETTERS, _OWN = 15, 0.1  # of other scripts, at least; share of letters in scripts of the edition, less than this
_LONG, _FEW = 50, 3  # characters of texts that may be cut off; so many of the greatest length
_ONE_SCRIPT = dict.fromkeys(("Hira", "Kana"), "Hani")  # used together
# Letters per token: 1.7, 1.8 and 3.4 in the segmented Chinese, Japanese and Thai of PUD; from 5.1 (a Burmese Bible) to
# 28.8 (Thai) in 34 texts without spaces.
LONGEST_MEAN_WORD = 4.5
_UNSPACED_SCRIPTS = ("Han", "Hiragana", "Katakana", "Thai", "Lao", "Khmer", "Myanmar")


def _kinds_of_bytes() -> NDArray[np.uint64]:
    """Return numbers whose sums over bytes count, in 16 bits each, what these are.

    From the lowest: bytes that continue a character of UTF-8, ASCII letters and digits, bytes that begin a character
    beyond ASCII, white space.
    """
    kinds = np.zeros(256, dtype=np.uint64)
    kinds[0x80:0xC0] = 1
    kinds[[code for code in range(128) if chr(code).isalnum()]] = 1 << 16
    kinds[0xC0:] = 1 << 32
    kinds[[code for code in range(128) if chr(code).isspace()]] = 1 << 48
    return kinds


_KINDS = _kinds_of_bytes()
_WIDE = [character.encode() for character in map(chr, range(0x80, 0x3001)) if character.isspace()]
_WIDE_SPACES = [int.from_bytes(space.ljust(3, b"\0")) for space in _WIDE]
_SPACE_BEGINNINGS = sorted({(space[0], space[1]) for space in _WIDE})
_WINDOW = 1 << 18  # bytes measured at once
_MOST = 0xFFFF  # bytes of a text whose counts fit into 16 bits
_BASE = 0x9E3779B97F4A7C15  # of the hash: odd, without pattern in its bits


class Measured(NamedTuple):
    """Features of the texts of an edition.

    Attributes
    ----------
    lengths : ndarray of float32, shape (n,)
        Logarithms of the numbers of characters that are not white space.
    hashes : ndarray of uint64, shape (n,)
        Hashes of the texts, the same on every machine.
    striking : list of (int, str)
        Places of texts that are cut off, without words or in another script, and which of these.
    n_beyond : int
        Number of texts beyond ASCII.
    doubtful : list of Doubtful
        Texts that are doubted.
    """

    lengths: NDArray[np.float32]
    hashes: NDArray[np.uint64]
    striking: list[tuple[int, str]]
    n_beyond: int
    doubtful: list[Doubtful]

    def take(self, places: Integers) -> "Measured":
        """Return the features of the texts at some places, in this order."""
        if len(places) == len(self.lengths) and (np.diff(places) > 0).all():
            return self
        at = {int(old): new for new, old in enumerate(places)}
        striking = [(at[place], what) for place, what in self.striking if place in at]
        doubtful = [one._replace(place=at[one.place]) for one in self.doubtful if one.place in at]
        return Measured(self.lengths[places], self.hashes[places], striking, self.n_beyond, doubtful)

    @classmethod
    def joined(cls, parts: "Sequence[Measured]") -> "Measured":
        """Return the features of the texts of several parts, one after another."""
        before = np.cumsum([0, *(len(part.lengths) for part in parts)]).tolist()
        return cls(
            np.concatenate([np.zeros(0, np.float32), *(part.lengths for part in parts)]),
            np.concatenate([np.zeros(0, np.uint64), *(part.hashes for part in parts)]),
            [(n + place, what) for n, part in zip(before, parts, strict=False) for place, what in part.striking],
            sum(part.n_beyond for part in parts),
            [
                one._replace(place=n + one.place)
                for n, part in zip(before, parts, strict=False)
                for one in part.doubtful
            ],
        )


class Measuring:
    """Collector of the features of the texts of an edition, of which it holds a block at a time.

    Examples
    --------
    >>> measuring = Measuring()
    >>> for text in ("a dog", "a cat", "a dog"):
    ...     measuring.add(text)
    >>> found = measuring.finish()
    >>> np.exp(found.lengths).round(), found.hashes[0] == found.hashes[2]
    (array([4., 4., 4.], dtype=float32), np.True_)
    """

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._blocks: list[tuple[Integers, Integers, Integers, NDArray[np.uint64]]] = []
        self._striking: list[tuple[int, str]] = []
        self._scripts: frozenset[str] | None = None
        self._n_measured = self._n_beyond = 0
        self._doubtful: list[Doubtful] = []

    def add(self, text: str) -> None:
        """Measure a further text."""
        self._texts.append(text)
        if len(self._texts) == _BLOCK:
            self._flush()

    def _flush(self) -> None:
        texts, self._texts = [text.encode() for text in self._texts], []
        ends = np.cumsum([len(text) + 1 for text in texts], dtype=int) - 1
        starts = np.concatenate([[0], ends[:-1] + 1]).astype(int)[: len(texts)]
        self.add_block(b"\n".join(texts), starts, ends)

    def add_block(self, raw: bytes, starts: Integers, ends: Integers) -> None:
        """Measure further texts, given in UTF-8 as parts of one text."""
        if self._texts:
            self._flush()
        size = ends - starts
        found = [_measure_bytes(raw, starts[part], ends[part]) for part in _windows(starts, ends)]
        counts = np.concatenate([counts for counts, _ in found], axis=1) if found else np.zeros((4, 0), dtype=int)
        hashes = np.concatenate([hashes for _, hashes in found]) if found else np.zeros(0, dtype=np.uint64)
        for one in find_doubtful(raw, starts, ends):
            self._doubtful.append(one._replace(place=self._n_measured + one.place))
            if one.kind == "invisible" and (text := repaired(raw[starts[one.place] : ends[one.place]].decode())):
                part, at = text.encode(), slice(one.place, one.place + 1)
                counts[:, at], hashes[at] = _measure_bytes(part, np.zeros(1, dtype=int), np.array([len(part)]))
                size[at] = len(part)
        within, words, beyond, spaces = counts
        self._n_beyond += int((beyond > 0).sum())
        characters = size - within
        solid = characters - spaces
        for place in np.flatnonzero((words == 0) & ((beyond == 0) | (solid <= _SHORT)) & (solid > 0)).tolist():
            if not any(map(str.isalnum, raw[starts[place] : ends[place]].decode())):
                self._striking.append((self._n_measured + place, NO_WORDS))
        for place in self._in_other_scripts(lambda place: raw[starts[place] : ends[place]], words, beyond):
            self._striking.append((self._n_measured + place, SCRIPT))
        self._blocks.append((solid, characters, size, hashes))
        self._n_measured += len(size)

    def finish(self) -> Measured:
        """Return the features of all texts."""
        if self._texts or not self._blocks:
            self._flush()
        parts = [np.concatenate(part) for part in zip(*self._blocks, strict=True)]
        solid, characters, size, hashes = parts
        cut = np.zeros(len(solid), dtype=bool)
        for lengths in (characters, size):
            longest = lengths == lengths.max(initial=_LONG)
            cut |= longest & (longest.sum() >= _FEW)
        striking = [*self._striking, *((place, CUT) for place in np.flatnonzero(cut).tolist())]
        logs = np.log(np.maximum(solid, 1)).astype(np.float32)
        return Measured(logs, hashes, striking, self._n_beyond, self._doubtful)

    def _in_other_scripts(self, text: Callable[[int], bytes], words: Integers, beyond: Integers) -> list[int]:
        """Return the places of texts in scripts that the edition does not have.

        Only texts whose share of ASCII letters is far from that of others are looked at letter by letter.
        """
        letters = words + beyond
        enough = letters >= _LETTERS
        if not enough.any():
            return []
        if self._scripts is None:
            self._scripts = _scripts_of(b"".join(map(text, range(0, len(words), _SAMPLED))))
        share = words / np.maximum(letters, 1)
        unlike = share < 0.5 * np.median(share[enough]) if "Latn" in self._scripts else share > 0.5
        found = []
        for place in np.flatnonzero(enough & unlike).tolist():
            scripts = _letters_by_script(text(place).decode())
            own = sum(scripts[code] for code in self._scripts)
            if scripts.total() - own >= _LETTERS and own < _OWN * scripts.total():
                found.append(place)
        return found


def _windows(starts: Integers, ends: Integers) -> Iterator[slice]:
    """Yield parts of a list of texts that are small enough to be measured at once, and long texts by themselves."""
    is_long = np.append(np.flatnonzero(ends - starts > _MOST), len(starts))
    first = 0
    while first < len(starts):
        until = is_long[is_long.searchsorted(first)]
        last = min(int(ends.searchsorted(starts[first] + _WINDOW, side="right")), int(until))
        yield slice(first, max(last, first + 1))
        first = max(last, first + 1)


def _measure_bytes(raw: bytes, starts: Integers, ends: Integers) -> tuple[Integers, NDArray[np.uint64]]:
    """Return four counts of each text, and its hash.

    The counts are those of `_kinds_of_bytes`, white space beyond ASCII included. The hash is a polynomial of the
    bytes modulo 2^64, whose bits are then mixed as in SplitMix64.
    """
    if ends[0] - starts[0] > _MOST:
        return _measure_long(raw[starts[0] : ends[0]])
    codes = np.frombuffer(raw, np.uint8, ends[-1] - starts[0], starts[0])
    codes = np.append(codes, np.zeros(2, dtype=np.uint8))  # for a text that begins where the last one ends
    begin = starts - starts[0]
    bounds = np.column_stack([begin, ends - starts[0]]).ravel()
    powers, inverse = _powers()
    kinds = np.take(_KINDS, codes, mode="clip")  # all are in range; this is fast
    kinds[_wide_spaces(codes)] += np.uint64(1 << 48)
    filled = ends > starts  # the sum of an empty part is not 0
    sums = np.where(filled, np.add.reduceat(kinds, bounds)[::2], np.uint64(0))
    kinds = np.add(codes, np.uint64(1), out=kinds)  # in the same memory
    kinds *= powers[: len(codes)]
    hashes = np.add.reduceat(kinds, bounds)[::2] * inverse[begin]
    hashes = np.where(filled, hashes, np.uint64(0))
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes = (hashes ^ hashes >> np.uint64(shift)) * np.uint64(factor)
    counts = np.array([sums >> np.uint64(16 * k) & np.uint64(0xFFFF) for k in range(4)], dtype=int)
    return counts, hashes


def _measure_long(raw: bytes) -> tuple[Integers, NDArray[np.uint64]]:
    """Return the counts and the hash of a text whose counts may not fit into 16 bits."""
    kinds = _KINDS[np.frombuffer(raw, np.uint8)]
    counts = [[int((kinds == np.uint64(1 << (16 * k))).sum())] for k in range(3)]
    text = raw.decode()
    counts.append([len(text) - sum(map(len, text.split()))])
    digest = hashlib.blake2b(raw, digest_size=8).digest()
    return np.array(counts), np.array([int.from_bytes(digest)], dtype=np.uint64)


def _wide_spaces(codes: NDArray[np.uint8]) -> Integers:
    """Return the places in UTF-8 where characters of white space beyond ASCII begin."""
    found = [np.zeros(0, dtype=int)]
    for lead, second in _SPACE_BEGINNINGS:
        at = np.flatnonzero(codes[:-2] == lead)
        at = at[codes[at + 1] == second]
        if len(at):
            whole = codes[at].astype(int) << 16 | codes[at + 1].astype(int) << 8
            whole |= np.where(codes[at] < 0xE0, 0, codes[at + 2])
            found.append(at[np.isin(whole, _WIDE_SPACES)])
    return np.concatenate(found)


@cache
def _powers() -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return the powers of an odd number modulo 2^64, and their inverses."""
    bases = _BASE, pow(_BASE, -1, 1 << 64)
    powers = np.ones((2, _WINDOW + _MOST + 2), dtype=np.uint64)
    powers[:, 1:] = np.array(bases, dtype=np.uint64)[:, None]
    np.multiply.accumulate(powers, axis=1, out=powers)
    return powers[0], powers[1]


def _scripts_of(texts: bytes) -> frozenset[str]:
    """Return the scripts with a tenth or more of the letters of some texts."""
    counts = _letters_by_script(texts.decode())
    return frozenset(code for code, count in counts.items() if count >= _USUAL * counts.total())


def _letters_by_script(text: str) -> Counter[str]:
    counts: Counter[str] = Counter()
    for character, count in Counter(text).items():
        counts[_script(character)] += count
    del counts[""]
    return counts


@cache
def _script(character: str) -> str:
    """Return the script of a letter, or an empty string for another character or a letter of all scripts."""
    if not character.isalpha():
        return ""
    code = script(character)
    return "" if code in ("Zyyy", "Zinh", "Zzzz") else _ONE_SCRIPT.get(code, code)


@dataclass(frozen=True, eq=False)
class TextFeatures:
    """Features of the texts of a multitext; multitexts made of a part of it share them.

    Attributes
    ----------
    intents, editions : Index
        Rows and columns.
    lengths : ndarray of float32, shape (I, J)
        See `Measured`; NaN where a text is missing.
    hashes : ndarray of uint64, shape (I, J)
        See `Measured`; 0 where a text is missing.
    striking : tuple of (int, int, str)
        Row and column of striking texts, and what they are striking for.
    doubtful : tuple of (int, int, Doubtful)
        Row and column of texts that are doubted; smaller tables have none.
    n_beyond : tuple of int
        By column, the number of texts beyond ASCII.
    """

    intents: pd.Index
    editions: pd.Index
    lengths: NDArray[np.float32] = field(repr=False)
    hashes: NDArray[np.uint64] = field(repr=False)
    striking: tuple[tuple[int, int, str], ...] = field(default=(), repr=False)
    doubtful: tuple[tuple[int, int, Doubtful], ...] = field(default=(), repr=False)
    n_beyond: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, present: pd.DataFrame, measured: Mapping[str, Measured]) -> "TextFeatures":
        """Return the features of a table, given those of every edition in the order of its rows.

        Examples
        --------
        >>> present = pd.DataFrame({"eng": [False, True]}, index=["1", "2"])
        >>> TextFeatures.of(present, {"eng": measure(["a dog"])}).lengths.astype(float).round(2).tolist()
        [[nan], [1.39]]
        """
        lengths = np.full(present.shape, np.nan, dtype=np.float32, order="F")
        hashes = np.zeros(present.shape, dtype=np.uint64, order="F")
        striking, doubtful = [], []
        for column, edition in enumerate(map(str, present)):
            rows = np.flatnonzero(present[edition].to_numpy())
            own = measured[edition]
            lengths[rows, column], hashes[rows, column] = own.lengths, own.hashes
            striking += [(int(rows[place]), column, what) for place, what in own.striking]
            doubtful += [(int(rows[one.place]), column, one) for one in own.doubtful]
        n_beyond = tuple(measured[edition].n_beyond for edition in map(str, present))
        return cls(present.index, present.columns, lengths, hashes, tuple(striking), tuple(doubtful), n_beyond)

    def sel(self, present: pd.DataFrame) -> "TextFeatures":
        """Return the features of those texts that a smaller table still has."""
        if present.index is self.intents and present.columns is self.editions:
            rows, columns = np.arange(len(self.intents)), np.arange(len(self.editions))
        else:
            rows, columns = self.intents.get_indexer(present.index), self.editions.get_indexer(present.columns)
        has = present.to_numpy()
        lengths = np.full(has.shape, np.nan, dtype=np.float32, order="F")
        hashes = np.zeros(has.shape, dtype=np.uint64, order="F")
        for new, old in enumerate(columns):  # by column, to need no copy of the whole
            lengths[:, new] = np.where(has[:, new], self.lengths[rows, old], np.nan)
            hashes[:, new] = np.where(has[:, new], self.hashes[rows, old], 0)
        at = {int(old): new for new, old in enumerate(rows)}, {int(old): new for new, old in enumerate(columns)}
        moved = [(at[0].get(i), at[1].get(j), what) for i, j, what in self.striking]
        striking = [(i, j, what) for i, j, what in moved if i is not None and j is not None and has[i, j]]
        return TextFeatures(present.index, present.columns, lengths, hashes, tuple(striking))


def measure(texts: Iterable[str]) -> Measured:
    """Return the features of the texts of an edition; see `Measuring`."""
    measuring = Measuring()
    for text in texts:
        measuring.add(text)
    return measuring.finish()


def separates_words(counts: Mapping[str, int]) -> bool:
    """Return whether white space separates the words of a text, so that its tokens can be counted.

    It does not if most tokens with letters are of a script that is written without spaces (Han, Kana, Thai,
    Lao, Khmer, Myanmar) and have more than 4.5 letters on average: they are clauses. Segmented text of these
    scripts passes.

    Examples
    --------
    >>> separates_words({"起初神创造天地。": 1}), separates_words(dict.fromkeys("起初 神 创造 天地 。".split(), 1))
    (False, True)
    """
    tokens = unspaced = letters = 0
    for word, count in counts.items():
        found = len(unspaced_letter().findall(word))
        tokens += count if found or any(map(str.isalpha, word)) else 0
        unspaced += count if found else 0
        letters += count * found
    return unspaced <= tokens / 2 or letters <= LONGEST_MEAN_WORD * unspaced


@cache
def unspaced_letter() -> "regex.Pattern[str]":
    """Return what finds a letter of a script that is written without spaces."""
    scripts = "".join(rf"\p{{Script={name}}}" for name in _UNSPACED_SCRIPTS)
    return regex.compile(rf"(?V1)[[{scripts}]&&\p{{L}}]")
