"""Shared by the formats of Bibles: books, verse ids, ranges of verses, the catalogue."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from langdiff._archives import File
from langdiff._progress import progress_bar
from langdiff.corpora.formats.format import FormatText, Reading
from langdiff.errors import DataError
from langdiff.multitext import Multitext, multitext_from_sources

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
# BB 01-99, CCC 001-151 (Psalm 151 of the Septuagint), VVV 000-176 (0 a title; Psalm 119:176)
VERSE_ID = re.compile(r"(?!00)[0-9]{2}(?:0(?!00)[0-9]{2}|1[0-4][0-9]|15[01])(?:0[0-9]{2}|1[0-6][0-9]|17[0-6])")


def verse_id(book: str, chapter: int, verse: int) -> str | None:
    """Return ``BBCCCVVV``; None if a number is out of range or the book has none.

    Examples
    --------
    >>> verse_id("PSA", 119, 176), verse_id("GEN", 0, 1)
    ('19119176', None)
    """
    if not (book in NUMBERS and 1 <= chapter <= 151 and 0 <= verse <= 176):
        return None
    return f"{NUMBERS[book]:02d}{chapter:03d}{verse:03d}"


def book_of(verse: str) -> str:
    """Return the book's three-letter code in USFM, or the two digits of a book that has none here.

    Examples
    --------
    >>> book_of("40001001"), book_of("99001001")
    ('MAT', '99')
    """
    number = int(verse[:2])
    return BOOKS[number - 1] if number <= len(BOOKS) else verse[:2]


def chapter_of(verse: str) -> str:
    """Return the five digits of book and chapter, by which chapters of different books differ.

    Examples
    --------
    >>> chapter_of("40001001")
    '40001'
    """
    return verse[:5]


def are_verse_ids(intents: pd.Index) -> bool:
    """Whether every intent is a verse id, ``BBCCCVVV``.

    Examples
    --------
    >>> are_verse_ids(pd.Index(["01001001", "66022021"])), are_verse_ids(pd.Index(["1", "2"]))
    (True, False)
    """
    return all(isinstance(intent, str) and VERSE_ID.fullmatch(intent) for intent in intents)


def one_spaced(text: str) -> str:
    r"""Reduce every run of ASCII white space to one space, and remove it at the ends.

    Examples
    --------
    >>> one_spaced(" a\n\tb ")
    'a b'
    """
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")


@dataclass
class Verses:
    """Collects the verses of marked-up text, and resolves ranges and parts.

    Attributes
    ----------
    ranges : {"missing", "merge"}
        Whether verses with one text for several of them are all missing, or the first has all of the text.
    """

    ranges: str
    _found: dict[str, tuple[str | None, str, bool]] = field(default_factory=dict)  # text, where, is a part

    def add(self, verses: Sequence[str], text: str, where: str, *, part: bool = False) -> None:
        """Add a text.

        Parameters
        ----------
        verses : sequence of str
            Ids of the verses that it covers, at least one.
        text : str
            The text; white space is made single.
        where : str
            File and line, for messages.
        part : bool
            Whether it is a part of a verse (2a), so that others of the same verse may follow.

        Raises
        ------
        DataError
            If a verse is there already and one of the two is not a part.
        """
        clean = one_spaced(text) if text.strip() else None  # a no-break space alone is not text
        range_is_missing = len(verses) > 1 and self.ranges == "missing"
        for verse in verses:
            before, first, was_part = self._found.get(verse, ("", where, True))
            if verse in self._found and not (part and was_part):
                raise DataError(f"{first} and {where}: verse {verse} is there twice.")
            if range_is_missing or before is None:
                self._found[verse] = (
                    None,
                    first,
                    part,
                )  # a part of the verse is in a range, so that the verse is missing
            elif verse == verses[0]:
                self._found[verse] = (" ".join(filter(None, (before, clean))), first, part)
            else:
                self._found.setdefault(verse, ("", first, part))

    def items(self) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing) in the order found."""
        for verse, (text, _, _) in self._found.items():
            yield verse, text or None


@dataclass(frozen=True)
class VerseText(FormatText):
    """The verses of one edition, read when asked for.

    Attributes
    ----------
    file : Path or Member
        The file, or the folder or archive that the edition's files are in.
    """

    file: File

    @abstractmethod
    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); put what is said of the edition into `header`."""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (id, text) of the verses that are not missing."""
        return ((verse, text) for verse, text in self.verses({}) if text is not None)


def catalogue_verses(reading: Reading, files: Mapping[str, File], text_of: Callable[..., VerseText]) -> Multitext:
    """Read every edition once and note which verses it has.

    Parameters
    ----------
    reading : Reading
        Options of the request.
    files : mapping from edition to Path or Member
        The editions.
    text_of : callable
        Makes the `VerseText` of a file; takes `nfc` and `errors`, too.

    Returns
    -------
    Multitext
        The intents are the verses that any edition lists, in the order of their ids; `intent_info` has the columns
        ``book`` and ``chapter``.

    Raises
    ------
    DataError
        If a file cannot be used.
    """
    files, known = reading.ordered(files)
    texts = {edition: text_of(file, nfc=reading.nfc, errors=reading.errors) for edition, file in files.items()}
    headers: dict[str, dict[str, str]] = {edition: {} for edition in texts}
    listed: set[int] = set()
    present: dict[str, np.ndarray] = {}  # numbers, not strings: a thousand editions must fit into memory
    with progress_bar(progress=reading.progress) as bar:
        task = bar.add_task("cataloguing", total=len(texts), note="")
        for edition, text in texts.items():
            bar.update(task, note=edition)
            present[edition] = _numbers(text, headers[edition], listed)
            bar.advance(task)
    numbers = np.array(sorted(listed))
    verses = [f"{number:08d}" for number in numbers]
    return multitext_from_sources(
        texts,
        {edition: map(verses.__getitem__, numbers.searchsorted(have)) for edition, have in present.items()},
        intents=verses,
        edition_info=reading.describe(files, known, headers),
        intent_info=pd.DataFrame(
            {"book": [book_of(verse) for verse in verses], "chapter": [chapter_of(verse) for verse in verses]},
            index=verses,
        ),
    )


def _numbers(text: VerseText, header: dict[str, str], listed: set[int]) -> np.ndarray:
    numbers = []
    for verse, words in text.verses(header):
        number = int(verse)
        listed.add(number)
        if words is not None:
            numbers.append(number)
    if not numbers:
        raise DataError(f"{text.file}: holds no verse; is this the right format? See read_multitext(format=...).")
    return np.array(numbers, dtype=np.int32)
