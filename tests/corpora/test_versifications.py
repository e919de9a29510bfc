"""Tables of chapters and verses against published sums, and what they say of ids against a slow reading."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from langdiff.corpora.versifications import (
    BOOKS,
    NUMBERS,
    VERSIFICATIONS,
    are_beyond,
    existing,
    last_verses,
    tables,
    versification_of,
)

# chapters and verses of the 66 books, verses of the New Testament: counted from Paratext's own files
SUMS = {
    "org": (1189, 31170, 7957),
    "eng": (1189, 31104, 7959),
    "vul": (1181, 31182, 7954),  # no Esther
    "lxx": (1168, 30603, 7957),  # no Nehemiah, Esther, Daniel
    "rso": (1193, 31361, 7955),
    "rsc": (1189, 31163, 7955),
}
# the largest chapter of any of the six; of Esther with its additions in the Clementine Vulgate
CHAPTERS = """
GEN 50 EXO 40 LEV 27 NUM 36 DEU 34 JOS 24 JDG 21 RUT 4 1SA 31 2SA 24 1KI 22 2KI 25 1CH 29 2CH 37 EZR 23 NEH 13 EST 16
JOB 42 PSA 151 PRO 31 ECC 12 SNG 8 ISA 66 JER 52 LAM 5 EZK 48 DAN 14 HOS 14 JOL 4 AMO 9 OBA 1 JON 4 MIC 7 NAM 3 HAB 3
ZEP 3 HAG 2 ZEC 14 MAL 4 MAT 28 MRK 16 LUK 24 JHN 21 ACT 28 ROM 16 1CO 16 2CO 13 GAL 6 EPH 6 PHP 4 COL 4 1TH 5 2TH 3
1TI 6 2TI 4 TIT 3 PHM 1 HEB 13 JAS 5 1PE 5 2PE 3 1JN 5 2JN 1 3JN 1 JUD 1 REV 22 TOB 14 JDT 16 ESG 16 WIS 19 SIR 52
BAR 6 LJE 1 S3Y 1 SUS 1 BEL 1 1MA 16 2MA 15 3MA 7 4MA 18 1ES 9 2ES 16 MAN 1 PS2 1 ODA 14 PSS 18
"""


def ids(*references):
    """Return the numbers of ``1CO 11:1``."""
    parts = [reference.replace(":", " ").split() for reference in references]
    return np.array([NUMBERS[b] * 1_000_000 + int(c) * 1000 + int(v) for b, c, v in parts], dtype=np.int32)


def check(*references):
    numbers = ids(*references)
    return existing(numbers, np.ones(len(numbers), dtype=bool))


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_the_tables(name):
    last = tables()[VERSIFICATIONS.index(name)].clip(0)
    bible, new = last[: 67 * 1000], last[40 * 1000 : 67 * 1000]
    assert ((bible > 0).sum(), bible.sum(), new.sum()) == SUMS[name]


def test_books_that_a_table_lacks():
    lacks = {
        name: {BOOKS[book - 1] for book in range(1, 67) if (row[book * 1000 : book * 1000 + 1000] < 0).all()}
        for name, row in zip(VERSIFICATIONS, tables(), strict=True)
    }
    assert {name: books for name, books in lacks.items() if books} == {"vul": {"EST"}, "lxx": {"NEH", "EST", "DAN"}}


def test_the_largest_chapter_of_any():
    of_each = last_verses()[: 87 * 1000].reshape(87, 1000)
    largest = {book: int(np.flatnonzero(of_each[number])[-1]) for book, number in NUMBERS.items()}
    words = CHAPTERS.split()
    assert largest == {book: int(chapter) for book, chapter in zip(words[::2], words[1::2], strict=True)}
    assert (last_verses()[87 * 1000 :] == 999).all()  # books that no table has


def test_the_largest_verse_of_any():
    assert last_verses()[ids("MAL 3:0", "DAN 3:0", "3JN 1:0", "EST 10:0", "EST 16:0", "ESG 16:0") // 1000].tolist() == [
        24, 100, 15, 13, 24, 24,
    ]  # fmt: skip
    beyond = are_beyond(ids("PSA 119:176", "PSA 119:177", "PSA 151:0", "PSA 152:0", "GEN 0:1"))
    assert beyond.tolist() == [False, True, False, True, True]


def test_one_or_two_verses_more_are_kept_and_others_are_not():
    one = check("2PE 2:22", "2PE 2:23")
    assert one.kept.all()
    assert (one.n_extra, one.faults) == (1, [])
    two = check("EPH 3:22", "EPH 3:23")
    assert two.kept.all()
    assert two.n_extra == 2
    far = check("JHN 9:1", "JHN 9:42", "JHN 9:91")
    assert far.kept.tolist() == [True, True, False]
    assert far.n_extra == 1
    assert far.faults == [(2, "JHN 9 has at most 41 verses in any versification, here 91.")]


def test_of_three_verses_more_the_chapter_is_not_believed():
    found = check("ROM 11:36", "ROM 12:1", *(f"ROM 12:{verse}" for verse in range(22, 37)), "ROM 13:1")
    assert found.kept.tolist() == [True, *[False] * 16, True]
    assert found.n_extra == 0
    what = "ROM 12 has verses to 36; no versification has more than 21: is this the text of another chapter?"
    assert found.faults == [(2, what)]


def test_chapters_that_no_book_has():
    found = check("1CO 1:1", "1CO 21:1", "1CO 21:2", "2JN 3:0", "GEN 1:0")
    assert found.kept.tolist() == [True, False, False, False, True]
    assert found.faults == [(1, "1CO has 16 chapters, here 21."), (3, "2JN has 1 chapter, here 3.")]
    assert not found.repaired


def test_ids_that_stand_for_nothing_are_no_fault_and_no_intent():
    numbers = ids("ROM 12:21", "ROM 12:22", "ROM 12:23", "ROM 12:24", "ROM 17:1")
    found = existing(numbers, np.array([True, False, False, False, False]))
    assert found.kept.tolist() == [True, True, True, False, False]
    assert (found.n_extra, found.faults) == (0, [])


def test_the_number_of_the_book_is_taken_from_its_chapters():
    found = check("ROM 1:1", "1CO 11:1", "1CO 116:24", "3JN 31:15", "2CO 21:1", "2CO 213:13")
    assert found.kept.all()
    assert found.numbers.tolist() == ids("ROM 1:1", "1CO 1:1", "1CO 16:24", "3JN 1:15", "2CO 1:1", "2CO 13:13").tolist()
    assert found.repaired == {
        "1CO": ("1CO 11:1", "1CO 1:1"), "2CO": ("2CO 21:1", "2CO 1:1"), "3JN": ("3JN 31:15", "3JN 1:15"),
    }  # fmt: skip


@pytest.mark.parametrize(
    "references",
    [
        ("1CO 11:1", "1CO 12:1", "1CO 13:1", "1CO 14:1", "1CO 15:58", "1CO 16:24"),  # nothing is beyond the book
        ("1CO 11:1", "1CO 13:14"),  # nor is a verse more, though chapter 3 has it
        ("1CO 2:1", "1CO 12:1", "1CO 17:1"),  # a chapter without the number
        ("1CO 1:1", "1CO 17:1"),  # the number alone
        ("1CO 11:1", "1CO 101:1"),  # 1 Corinthians 01
        ("1CO 11:1", "1CO 117:1"),  # without it, chapter 17
        ("1CO 11:1", "1CO 17:41"),  # without it, verse 41 of 40
        ("1MA 11:1", "1MA 17:1"),  # after 3 John
        ("GEN 11:1", "GEN 51:1"),  # not a numbered book
    ],
)
def test_chapters_that_are_left_as_they_are(references):
    found = check(*references)
    assert not found.repaired
    assert found.numbers.tolist() == ids(*references).tolist()
    assert all(what.split()[1] == "has" and " chapters, here " in what for _, what in found.faults)
    assert len(found.faults) == int((last_verses()[found.numbers // 1000] == 0).sum())


def slowly(numbers, filled):
    """Return the ids kept by the rules, verse by verse and chapter by chapter, without repair."""
    kept = set()
    for chapter in {number // 1000 for number in numbers}:
        own = [number for number in numbers if number // 1000 == chapter]
        last = max(0, *(int(row[chapter]) for row in tables()))
        wrong = [number for number in own if filled[number] and (number % 1000 > last or not last)]
        if last and len(wrong) < 3:
            kept |= {number for number in own if number % 1000 <= last + 2}
    return kept


numbered = st.builds(
    "{} {}:{}".format, st.sampled_from(["ROM", "JUD", "PHM", "REV"]), st.integers(0, 30), st.integers(0, 40)
)


@given(st.lists(numbered, min_size=1, max_size=30, unique=True), st.data())
def test_against_a_slow_reading(references, data):
    numbers = ids(*references)
    filled = np.array([data.draw(st.booleans()) for _ in references])
    found = existing(numbers, filled)
    assert set(found.numbers[found.kept].tolist()) == slowly(
        numbers.tolist(), dict(zip(numbers.tolist(), filled, strict=True))
    )


@pytest.mark.parametrize("name", VERSIFICATIONS)
def test_the_last_verses_of_a_whole_bible_tell_its_versification(name):
    row = tables()[VERSIFICATIONS.index(name)]
    chapters = np.flatnonzero(row > 0)
    whole = (chapters * 1000 + row[chapters]).astype(np.int32)
    # the Russian ones differ in 10 of 1,193 chapters: too little to tell
    assert versification_of(whole) == (None if name in ("rso", "rsc") else name)
    new = whole[(whole >= 40_000_000) & (whole < 67_000_000)]
    assert versification_of(new) is None  # three chapters of 260 tell org, eng and lxx apart


def test_most_chapters_must_fit_and_no_other_versification_as_well():
    row = tables()[VERSIFICATIONS.index("eng")]
    chapters = np.flatnonzero(row[:67_000] > 0)
    last = row[chapters].copy()
    last[::11] -= 1  # 109 of 1,189 chapters lack a verse: 0.908
    assert versification_of((chapters * 1000 + last).astype(np.int32)) == "eng"
    last[5::55] -= 1  # 22 more: 0.89
    assert versification_of((chapters * 1000 + last).astype(np.int32)) is None
    assert versification_of(ids("GEN 1:31")) is None  # as in all
    assert versification_of(np.array([99001001], dtype=np.int32)) is None  # as in none
