"""Tables of the chapters and verses of six versifications, and the comparison of verse ids with them.

A versification says how many verses each chapter of each book has. `versifications.txt` has those of Paratext: ``org``
(Hebrew and Greek), ``eng`` (most English Bibles), ``vul`` (Vulgate), ``lxx`` (Septuagint), ``rso`` and ``rsc`` (Russian
Bibles, Orthodox and Protestant). An id beyond all six is not that of a verse: its text belongs elsewhere.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from langdiff.base.types import Booleans

# In the order of Paratext, which the Parallel Bible Corpus and eBible follow: 1 is Genesis, 66 the Revelation.
_NUMBERED = (
    "GEN EXO LEV NUM DEU JOS JDG RUT 1SA 2SA 1KI 2KI 1CH 2CH EZR NEH EST JOB PSA PRO ECC SNG ISA JER LAM EZK "
    "DAN HOS JOL AMO OBA JON MIC NAM HAB ZEP HAG ZEC MAL MAT MRK LUK JHN ACT ROM 1CO 2CO GAL EPH PHP COL 1TH "
    "2TH 1TI 2TI TIT PHM HEB JAS 1PE 2PE 1JN 2JN 3JN JUD REV "
    "TOB JDT ESG WIS SIR BAR LJE S3Y SUS BEL 1MA 2MA 3MA 4MA 1ES 2ES MAN PS2 ODA PSS"
)
# Front matter and books of few canons, which have no number of two digits.
_OTHER = (
    "FRT BAK OTH INT CNC GLO TDX NDX XXA XXB XXC XXD XXE XXF XXG DAG LAO EZA 5EZ 6EZ 3ES PS3 2BA LBA JUB ENO "
    "1MQ 2MQ 3MQ REP 4BA JSA JDB TBS SST DNT BLT"
)
BOOKS = tuple(_NUMBERED.split())
UNNUMBERED = frozenset(_OTHER.split())
NUMBERS = {book: number for number, book in enumerate(BOOKS, start=1)}


Repaired = Mapping[str, tuple[str, str]]  # by book, its first verse as it was and as it is
VERSIFICATIONS = ("org", "eng", "vul", "lxx", "rso", "rsc")
_CHAPTERS = 100_000  # as many numbers BBCCC
_UNCHECKED = 999  # last verse of every chapter of a book that no table has
# The Clementine Vulgate numbers the additions to Esther 10:4 to 16:24, which no table does.
_ADDITIONS_TO_ESTHER = {10: 13, 11: 24, 12: 24, 13: 24, 14: 24, 15: 24, 16: 24}
_NEAR = 2  # verses beyond the last of any versification that may be another way of counting,
_FEW = 2  # if so many of a chapter are beyond it
_LEAST_SHARE, _LEAST_LEAD = 0.9, 0.03  # of an edition's chapters, for it to have a versification


@cache
def tables() -> NDArray[np.int16]:
    """Return the last verse of every chapter in every versification.

    Examples
    --------
    >>> tables()[:, 39003].tolist()  # Malachi 3
    [24, 18, 18, 24, 18, 18]
    """
    found = np.zeros((len(VERSIFICATIONS), _CHAPTERS), dtype=np.int16)
    has = np.zeros((len(VERSIFICATIONS), _CHAPTERS // 1000), dtype=bool)
    for line in Path(__file__).with_name("versifications.txt").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, book, *verses = line.split()
            row, start = VERSIFICATIONS.index(name), NUMBERS[book] * 1000 + 1
            found[row, start : start + len(verses)] = [int(verse) for verse in verses]
            has[row, NUMBERS[book]] = True
    found[~np.repeat(has, 1000, axis=1)] = -1
    return found


@cache
def last_verses() -> NDArray[np.int16]:
    """Return the largest verse number of every chapter in any versification.

    Examples
    --------
    >>> last_verses()[[39003, 39004, 39005]].tolist()  # Malachi 3, 4 and 5
    [24, 6, 0]
    """
    last: NDArray[np.int16] = tables().max(axis=0)
    for book in ("EST", "ESG"):
        for chapter, verse in _ADDITIONS_TO_ESTHER.items():
            last[NUMBERS[book] * 1000 + chapter] = verse
    last[last < 0] = _UNCHECKED
    return last


def are_beyond(numbers: NDArray[np.int32]) -> Booleans:
    """Return whether each verse id is beyond its book or chapter in every versification.

    Examples
    --------
    >>> are_beyond(np.array([46016024, 46016025, 46017000], dtype=np.int32))  # 1 Corinthians 16:24, 16:25, 17:0
    array([False,  True,  True])
    """
    last = last_verses()[numbers // 1000]
    beyond: Booleans = (numbers % 1000 > last) | (last == 0)
    return beyond


@dataclass(frozen=True)
class Existing:
    """Verses of an edition that exist.

    Attributes
    ----------
    numbers : ndarray of int, shape (V,)
        The ids; without the book's number in books where it stood before the chapter.
    kept : ndarray of bool, shape (V,)
        Whether the id is that of a verse, or may be: a chapter may have a verse or two more than in any versification.
    n_extra : int
        Number of such verses more.
    faults : list of (int, str)
        For every verse and chapter that cannot be used, the place of its first id among the numbers, and why.
    repaired : mapping from str to (str, str)
        For every book whose number stood before the chapter, its first verse as it was and as it is.
    """

    numbers: NDArray[np.int32]
    kept: Booleans
    n_extra: int = 0
    faults: list[tuple[int, str]] = field(default_factory=list)
    repaired: Repaired = field(default_factory=dict)


def existing(numbers: NDArray[np.int32], filled: Booleans) -> Existing:
    """Return which of an edition's verses exist.

    A numbered book whose number stands before every chapter, so that some are beyond its last one, is read without it:
    of the chapters alone, 11 to 16 of 1 Corinthians could be right.

    Shapes: numbers (V,); filled (V,).

    Examples
    --------
    >>> numbers = np.array([43009040, 43009091, 47021001, 47028002], dtype=np.int32)
    >>> found = existing(numbers, np.ones(4, dtype=bool))
    >>> found.numbers[found.kept], found.repaired
    (array([43009040, 47001001, 47008002], dtype=int32), {'2CO': ('2CO 21:1', '2CO 1:1')})
    >>> found.faults
    [(1, 'JHN 9 has at most 41 verses in any versification, here 91.')]
    """
    beyond = are_beyond(numbers)
    if not beyond.any():  # as in most editions
        return Existing(numbers, ~beyond)
    numbers, repaired = _without_book_numbers(numbers, beyond)
    beyond = are_beyond(numbers)
    kept, faults, n_extra = ~beyond, [], 0
    for chapter in np.unique(numbers[beyond] // 1000).tolist():
        last = int(last_verses()[chapter])
        places = np.flatnonzero(beyond & (numbers // 1000 == chapter))
        near = places[numbers[places] % 1000 <= last + _NEAR] if last else places[:0]
        wrong = places[filled[places]]
        if last and len(wrong) <= _FEW:
            kept[near] = True
            n_extra += int(filled[near].sum())
            faults += [(place, _at_most(int(numbers[place]), last)) for place in np.setdiff1d(wrong, near).tolist()]
        elif len(wrong):
            kept[numbers // 1000 == chapter] = False
            faults.append((int(wrong[0]), _not_this_chapter(chapter, last, int(numbers[wrong].max() % 1000))))
    return Existing(numbers, kept, n_extra, faults, repaired)


def versification_of(numbers: NDArray[np.int32]) -> str | None:
    """Return the versification that agrees with the edition's last verses in the largest share of chapters.

    Shapes: numbers (V,).

    Examples
    --------
    >>> versification_of(np.array([4029040, 4030016, 19003008], dtype=np.int32))  # Numbers 29:40, 30:16; Psalm 3:8
    'eng'
    """
    numbers = np.sort(numbers)
    chapters = numbers // 1000
    is_last = np.append(chapters[1:] != chapters[:-1], True)[: len(chapters)]
    theirs = tables()[:, chapters[is_last]]
    n_known = (theirs >= 0).sum(axis=1)  # chapters of books that the table lacks are not held against it
    shares = (theirs == numbers[is_last] % 1000).sum(axis=1) / np.maximum(n_known, 1)
    *_, second, first = np.argsort(shares, kind="stable").tolist()
    if shares[first] < _LEAST_SHARE or shares[first] - shares[second] < _LEAST_LEAD:
        return None
    return VERSIFICATIONS[first]


def _without_book_numbers(
    numbers: NDArray[np.int32], beyond: Booleans
) -> tuple[NDArray[np.int32], dict[str, tuple[str, str]]]:
    """Remove the book's number where it precedes every chapter; return the books for which that was done."""
    repaired = {}
    for book in np.unique(numbers[beyond] // 1_000_000).tolist():
        code = BOOKS[book - 1]
        own = np.flatnonzero(numbers // 1_000_000 == book)
        chapters = numbers[own] // 1000 % 1000
        if not code[0].isdigit() or book > NUMBERS["REV"] or last_verses()[numbers[own] // 1000].all():
            continue
        shorter = {chapter: _without(code[0], str(chapter)) for chapter in np.unique(chapters).tolist()}
        read = book * 1_000_000 + np.array([shorter[c] for c in chapters.tolist()]) * 1000 + numbers[own] % 1000
        if not all(shorter.values()) or are_beyond(read).any():
            continue
        repaired[code] = reference(int(numbers[own[0]])), reference(int(read[0]))
        numbers = numbers.copy()
        numbers[own] = read
    return numbers, repaired


def _without(digit: str, chapter: str) -> int:
    """Return the chapter without the digit before it; 0 if there is none or the rest is not a chapter."""
    rest = chapter.removeprefix(digit)
    return int(rest) if rest not in ("", chapter) and not rest.startswith("0") else 0


def reference(number: int) -> str:
    """Return the reference of a verse id.

    Examples
    --------
    >>> reference(43004012)
    'JHN 4:12'
    """
    return f"{BOOKS[number // 1_000_000 - 1]} {number // 1000 % 1000}:{number % 1000}"


def _at_most(number: int, last: int) -> str:
    chapter, verse = reference(number).split(":")
    return f"{chapter} has at most {last} verses in any versification, here {verse}."


def _not_this_chapter(chapter: int, last: int, largest: int) -> str:
    """Return the message that a chapter does not exist or has too many verses."""
    book = BOOKS[chapter // 1000 - 1]
    if last:
        return (
            f"{book} {chapter % 1000} has verses to {largest}; no versification has more than {last}: is this the text "
            "of another chapter?"
        )
    n_chapters = int(np.flatnonzero(last_verses()[chapter // 1000 * 1000 :][:1000])[-1])
    return f"{book} has {n_chapters} chapter{'s' * (n_chapters > 1)}, here {chapter % 1000}."
