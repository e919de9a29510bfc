"""Names of passages in words: of Bibles with books, chapters and verses, of other texts with their intents."""

import re
from collections.abc import Iterator
from typing import Any

import pandas as pd

from langdiff.corpora.versifications import BOOKS

_VERSE = re.compile(r"[0-9]{8}")
_NAMES = (
    "Genesis,Exodus,Leviticus,Numbers,Deuteronomy,Joshua,Judges,Ruth,1 Samuel,2 Samuel,1 Kings,2 Kings,1 Chronicles,"
    "2 Chronicles,Ezra,Nehemiah,Esther,Job,Psalm,Proverbs,Ecclesiastes,Song of Songs,Isaiah,Jeremiah,Lamentations,"
    "Ezekiel,Daniel,Hosea,Joel,Amos,Obadiah,Jonah,Micah,Nahum,Habakkuk,Zephaniah,Haggai,Zechariah,Malachi,Matthew,Mark,"
    "Luke,John,Acts,Romans,1 Corinthians,2 Corinthians,Galatians,Ephesians,Philippians,Colossians,1 Thessalonians,"
    "2 Thessalonians,1 Timothy,2 Timothy,Titus,Philemon,Hebrews,James,1 Peter,2 Peter,1 John,2 John,3 John,Jude,"
    "Revelation"
)
_BOOKS = dict(enumerate(_NAMES.split(","), start=1))


def are_verses(intents: pd.Index) -> bool:
    """Return whether names of intents are verse ids, judged by the first and the last."""
    ends = [str(intent) for intent in (*intents[:1], *intents[-1:])]
    return all(_VERSE.fullmatch(end) and int(end[:2]) <= len(BOOKS) for end in ends)


def rows_of(table: pd.DataFrame) -> Iterator[Any]:
    """Yield the rows of a table, whose cells are attributes of any type."""
    return iter(table.itertuples())


def in_words(first: object, last: object) -> str:
    """Return the name of a passage.

    Examples
    --------
    >>> in_words("45008020", "45008038"), in_words("19050022", "19055001"), in_words("42024040", "43001001")
    ('Romans 8:20–38', 'Psalm 50:22–55:1', 'Luke 24:40 – John 1:1')
    >>> in_words("411", "431"), in_words("7", "7")
    ('411–431', '7')
    """
    one, other = str(first), str(last)
    if not (_VERSE.fullmatch(one) and _VERSE.fullmatch(other)):
        between = "–" if len(one) + len(other) < 12 else " – "
        return one if one == other else f"{one}{between}{other}"
    begin, end = _verse(one), _verse(other)
    if one == other:
        return begin
    if one[:2] != other[:2]:
        return f"{begin} – {end}"
    return f"{begin}–{int(other[5:])}" if one[:5] == other[:5] else f"{begin}–{int(other[2:5])}:{int(other[5:])}"


def _verse(verse: str) -> str:
    number = int(verse[:2])
    book = _BOOKS.get(number) or (BOOKS[number - 1] if number <= len(BOOKS) else verse[:2])
    return f"{book} {int(verse[2:5])}:{int(verse[5:])}"
