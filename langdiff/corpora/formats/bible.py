"""Shared by the formats of Bibles: books, verse ids, ranges of verses, the catalogue."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff._archives import File
from langdiff._progress import progress_bar
from langdiff._wording import option
from langdiff.corpora.faults import Faults, Place
from langdiff.corpora.formats.format import FormatText, Reading
from langdiff.errors import DataError
from langdiff.multitext import Multitext
from langdiff.multitext_building import multitext_from_matrix

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


def twice(verse: str, first: object) -> str:
    """Say that a verse is there for the second time.

    Examples
    --------
    >>> twice("01001001", "line 7")
    'verse 01001001 is there twice, first in line 7; it is not known which text is right, and neither is used.'
    """
    return f"verse {verse} is there twice, first in {first}; it is not known which text is right, and neither is used."


@dataclass
class Verses:
    """Collects the verses of marked-up text, and resolves ranges and parts.

    Attributes
    ----------
    ranges : {"missing", "merge"}
        Whether verses with one text for several of them are all missing, or the first has all of the text.
    faults : Faults
        What is wrong with the file.
    """

    ranges: str
    faults: Faults
    _found: dict[str, tuple[str | None, Place, bool]] = field(default_factory=dict)  # text, where, is a part

    def add(self, verses: Sequence[str], text: str | None, where: Place, *, part: bool = False) -> None:
        """Add a text.

        If a verse is there already and one of the two is not a part, that is a fault: which of the texts is the
        verse is not known, and the verse is missing.

        Parameters
        ----------
        verses : sequence of str
            Ids of the verses that it covers, at least one.
        text : str or None
            The text; white space is made single. None if it cannot be used.
        where : Place
            File and line, for messages.
        part : bool
            Whether it is a part of a verse (2a), so that others of the same verse may follow.
        """
        clean = one_spaced(text) if text and text.strip() else None  # a no-break space alone is not text
        range_is_missing = len(verses) > 1 and self.ranges == "missing"
        for verse in verses:
            before, first, was_part = self._found.get(verse, ("", where, True))
            if verse in self._found and not (part and was_part):
                place = first if first.file != where.file else f"line {first.line}"
                self.faults.add(where.file, where.line, twice(verse, place), intent=verse)
                before = None
            if range_is_missing or before is None or text is None:
                self._found[verse] = None, first, part  # also if only a part of the verse is in a range
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
    def verses(self, header: dict[str, str], faults: Faults) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing), each id once; put what is said of the edition into `header`."""

    def numbers(self, header: dict[str, str], faults: Faults) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the ids of the verses listed and of those present, as numbers."""
        listed, present = [], []
        for verse, text in self.verses(header, faults):
            listed.append(int(verse))
            if text is not None:
                present.append(int(verse))
        return np.array(listed, dtype=np.int32), np.array(present, dtype=np.int32)

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (id, text) of the verses that are not missing."""
        return ((verse, text) for verse, text in self.verses({}, faults) if text is not None)


def catalogue_verses(reading: Reading, files: Mapping[str, File], text_of: Callable[..., VerseText]) -> Multitext:
    """Read every edition once and note which verses it has.

    Parameters
    ----------
    reading : Reading
        Options of the request.
    files : mapping from edition to Path or Member
        The editions.
    text_of : callable
        Makes the `VerseText` of a file; takes `Reading.how`, too.

    Returns
    -------
    Multitext
        The intents are the verses that any edition lists, in the order of their ids; `intent_info` has the columns
        ``book`` and ``chapter``.

    Raises
    ------
    FaultsError
        If none of the files can be used.
    """
    files, known = reading.ordered(files)
    texts = {edition: text_of(file, **reading.how) for edition, file in files.items()}
    headers: dict[str, dict[str, str]] = {edition: {} for edition in texts}
    every: NDArray[np.int32] = np.zeros(0, dtype=np.int32)  # all verses listed, in order
    present: dict[str, NDArray[np.int32]] = {}  # numbers, not strings: a thousand editions must fit into memory
    with progress_bar(progress=reading.progress) as bar:
        task = bar.add_task("cataloguing", total=len(texts), note="")
        for edition, text in texts.items():
            bar.update(task, note=edition)
            with reading.faults.of(edition, text.file):
                listed, have = text.numbers(headers[edition], reading.faults)
                if not len(have):
                    raise DataError(
                        f"{text.file}: holds no verse that can be used. If this is not the right format, name it: "
                        f"{option('format')}."
                    )
                every, present[edition] = _united(every, listed), have
            bar.advance(task)
    if not present:
        reading.faults.check()
    texts = {edition: texts[edition] for edition in present}
    verses = [f"{number:08d}" for number in every.tolist()]
    matrix = np.zeros((len(every), len(present)), dtype=bool)
    for j, have in enumerate(present.values()):
        matrix[every.searchsorted(have), j] = True
    return multitext_from_matrix(
        texts,
        matrix,
        intents=verses,
        edition_info=reading.describe({edition: files[edition] for edition in present}, known, headers),
        intent_info=pd.DataFrame(
            {"book": [book_of(verse) for verse in verses], "chapter": [chapter_of(verse) for verse in verses]},
            index=verses,
        ),
    )


def _united(every: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the sorted union of sorted numbers and others, which are mostly among them."""
    places = np.minimum(every.searchsorted(others), max(len(every) - 1, 0))
    new = others if not len(every) else others[every[places] != others]
    return np.sort(np.concatenate([every, np.unique(new)])) if len(new) else every
