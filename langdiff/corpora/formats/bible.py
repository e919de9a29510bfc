"""Functions shared by the formats of Bibles: verse ids, ranges of verses, nonexistent verses, the catalogue."""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.archives import File
from langdiff.base.progress import followed
from langdiff.base.types import Booleans
from langdiff.corpora.faults import Faults, Place
from langdiff.corpora.formats.format import FormatText, Reading
from langdiff.corpora.versifications import BOOKS, NUMBERS, Existing, Repaired, existing, versification_of
from langdiff.errors import DataError, listing, option, warn
from langdiff.tables.multitext import Multitext, multitext_from_matrix
from langdiff.tables.text_features import Measured, measure

VERSE_ID = re.compile(r"(?!00)[0-9]{8}")  # BB from 01, CCC, VVV (000 is a title)


def verse_id(book: str, chapter: int, verse: int) -> str | None:
    """Return the id ``BBCCCVVV`` of a verse, existing or not; None if the book has no number.

    Examples
    --------
    >>> verse_id("PSA", 119, 176), verse_id("DAG", 1, 1)
    ('19119176', None)
    """
    return f"{NUMBERS[book]:02d}{chapter:03d}{verse:03d}" if book in NUMBERS else None


def book_of(verse: str) -> str:
    """Return the book's three-letter code in USFM, or its two digits if it has no code.

    Examples
    --------
    >>> book_of("40001001"), book_of("99001001")
    ('MAT', '99')
    """
    number = int(verse[:2])
    return BOOKS[number - 1] if number <= len(BOOKS) else verse[:2]


def chapter_of(verse: str) -> str:
    """Return the five digits of book and chapter, which distinguish the chapters of different books.

    Examples
    --------
    >>> chapter_of("40001001")
    '40001'
    """
    return verse[:5]


def are_verse_ids(intents: pd.Index) -> bool:
    """Return whether every intent is a possible verse id of a Bible, ``BBCCCVVV``.

    Examples
    --------
    >>> are_verse_ids(pd.Index(["01001001", "66022021"])), are_verse_ids(pd.Index(["1", "2"]))
    (True, False)
    >>> are_verse_ids(pd.Index(["20240131"]))  # a day: the Proverbs have 31 chapters
    False
    """
    if not all(isinstance(intent, str) and VERSE_ID.fullmatch(intent) for intent in intents):
        return False
    numbers = np.array([int(intent) for intent in intents], dtype=np.int32)
    found = existing(numbers, np.ones(len(numbers), dtype=bool))
    return bool(found.kept.all()) and not found.repaired


def one_spaced(text: str) -> str:
    r"""Return the text with every run of ASCII white space reduced to one space and none at the ends.

    Examples
    --------
    >>> one_spaced(" a\n\tb ")
    'a b'
    """
    return re.sub(r"[ \t\r\n]+", " ", text).strip(" ")


def twice(verse: str, first: object) -> str:
    """Return the message that a verse occurs twice.

    Examples
    --------
    >>> twice("01001001", "line 7")
    'verse 01001001 is there twice, first in line 7; it is not known which text is right, and neither is used.'
    """
    return f"verse {verse} is there twice, first in {first}; it is not known which text is right, and neither is used."


class FoundVerse(NamedTuple):
    """Text found in a file for a verse, with its place.

    Attributes
    ----------
    verse : str
        The id.
    text : str or None
        The text; empty where there is none, None where what is there cannot be used.
    where : Place
        File and line.
    """

    verse: str
    text: str | None
    where: Place


@dataclass(frozen=True)
class Collected:
    """Verses found in the files of an edition, before it is known which of them exist.

    Attributes
    ----------
    numbers : ndarray of int, shape (V,)
        The ids of the verses, each once, in the order found.
    filled : ndarray of bool, shape (V,)
        Whether there is anything in place of a text, even if it cannot be used.
    present : ndarray of bool, shape (V,)
        Whether there is a text.
    where : callable
        Returns file and line of a verse, given its place among the numbers.
    texts : sequence of str or None
        The texts, where they are asked for; those that are not present are anything.
    measured : Measured, optional
        Features of the texts, where texts are not asked for.
    """

    numbers: NDArray[np.int32]
    filled: Booleans
    present: Booleans
    where: Callable[[int], Place]
    texts: Sequence[str | None]
    measured: Measured | None = None


def collected(verses: Iterable[FoundVerse], *, with_texts: bool) -> Collected:
    """Return the verses of a reader as one table.

    Examples
    --------
    >>> collected([FoundVerse("01001001", "", Place("a", 1))], with_texts=True).filled
    array([False])
    """
    found = list(verses)
    return Collected(
        np.array([int(one.verse) for one in found], dtype=np.int32),
        np.array([one.text != "" for one in found], dtype=bool),
        np.array([bool(one.text) for one in found], dtype=bool),
        [one.where for one in found].__getitem__,
        [one.text for one in found] if with_texts else (),
        None if with_texts else measure(one.text or "" for one in found),
    )


class Listed(NamedTuple):
    """Verses of an edition, as numbers.

    Attributes
    ----------
    listed, present : ndarray of int
        Ids of the verses that the edition lists, and of those that it has.
    found : Existing
        Which of the verses in its files exist.
    measured : Measured or None
        Features of the texts present, in the order of the ids.
    """

    listed: NDArray[np.int32]
    present: NDArray[np.int32]
    found: Existing
    measured: Measured | None


@dataclass
class Verses:
    """Collector of the verses of marked-up text, which resolves ranges and parts.

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
        """Add a text to a verse.

        If a verse is there already and one of the two is not a part, that is a fault: which of the texts is the
        verse is not known, and the verse is missing.
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

    def spoil(self, verses: Iterable[str]) -> None:
        """Mark verses found before as missing, because of a fault that was met after them."""
        for verse in verses:
            if verse in self._found:
                _, where, part = self._found[verse]
                self._found[verse] = None, where, part

    @contextmanager
    def of_book(self, file: File) -> Iterator[None]:
        """Leave out a file of one book, and add that to the faults, if it raises a `DataError` in the block."""
        with self.faults.of_part(file, "book"):
            try:
                yield
            except DataError:
                self._found = {verse: found for verse, found in self._found.items() if found[1].file != file}
                raise

    def items(self) -> Iterator[FoundVerse]:
        """Yield the verses in the order of the file."""
        for verse, (text, where, _) in self._found.items():
            yield FoundVerse(verse, text, where)


@dataclass(frozen=True)
class VerseText(FormatText):
    """Source of the verses of one edition, read on demand.

    Attributes
    ----------
    file : Path or Member
        The file, or the folder or archive that the edition's files are in.
    """

    file: File

    @abstractmethod
    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the files, each id once; store attributes of the edition in `header`.

        With `with_texts`, they have their texts, else the features of these.
        """

    def verses(self, header: dict[str, str], faults: Faults) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing), each id once; store attributes of the edition in `header`."""
        read = self.collect(header, faults, with_texts=True)
        found = _checked(read, faults)
        columns = (found.numbers.tolist(), found.kept.tolist(), read.present.tolist(), read.texts)
        for number, kept, present, text in zip(*columns, strict=True):
            if kept:
                yield f"{number:08d}", text if present else None

    def numbers(self, header: dict[str, str], faults: Faults) -> Listed:
        """Return the ids of the verses listed and of those present, as numbers, with features of their texts."""
        read = self.collect(header, faults, with_texts=False)
        found = _checked(read, faults)
        have = np.flatnonzero(found.kept & read.present)
        have = have[np.argsort(found.numbers[have], kind="stable")]
        measured = None if read.measured is None else read.measured.take(have)
        return Listed(found.numbers[found.kept], found.numbers[have], found, measured)

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (id, text) of the verses that are present."""
        return ((verse, text) for verse, text in self.verses({}, faults) if text is not None)


def _checked(read: Collected, faults: Faults) -> Existing:
    """Return which verses exist, and add the others to the faults."""
    found = existing(read.numbers, read.filled)
    for place, what in found.faults:
        where = read.where(place)
        chapter = found.numbers // 1000 == found.numbers[place] // 1000
        level = "text" if found.kept[chapter].any() else "chapter"  # of which nothing is used
        faults.add(where.file, where.line, what, intent=f"{read.numbers[place]:08d}", level=level)
    return found


def catalogue_verses(reading: Reading, files: Mapping[str, File], text_of: Callable[..., VerseText]) -> Multitext:
    """Read every edition once and record the verses that it has.

    Warns
    -----
    LangdiffWarning
        If the number of a book stood before its chapters, or editions have different versifications.
    """
    files, known = reading.ordered(files)
    texts = {edition: text_of(file, **reading.how) for edition, file in files.items()}
    headers: dict[str, dict[str, str]] = {edition: {} for edition in texts}
    every: NDArray[np.int32] = np.zeros(0, dtype=np.int32)  # all verses listed, in order
    present: dict[str, NDArray[np.int32]] = {}  # numbers, not strings: a thousand editions must fit into memory
    n_extra: dict[str, int] = {}
    repaired: dict[str, Repaired] = {}
    measured: dict[str, Measured] = {}
    for edition in followed(texts, "cataloguing", progress=reading.progress):
        text = texts[edition]
        with reading.faults.of(edition, text.file):
            listed, have, found, features = text.numbers(headers[edition], reading.faults)
            n_extra[edition], repaired[edition] = found.n_extra, found.repaired
            if not len(have):
                raise DataError(f"{text.file}: holds no verse that can be used. {_advice(edition, reading.faults)}")
            every, present[edition] = _united(every, listed), have
            measured |= {} if features is None else {edition: features}
    if not present:
        reading.faults.check()
    _warn_of_repairs(repaired)
    texts = {edition: texts[edition] for edition in present}
    verses = [f"{number:08d}" for number in every.tolist()]
    matrix = np.zeros((len(every), len(present)), dtype=bool)
    for j, have in enumerate(present.values()):
        matrix[every.searchsorted(have), j] = True
    info = reading.describe({edition: files[edition] for edition in present}, known, headers)
    return multitext_from_matrix(
        texts,
        matrix,
        intents=verses,
        edition_info=_with_numbering(info, present, n_extra),
        intent_info=pd.DataFrame(
            {"book": [book_of(verse) for verse in verses], "chapter": [chapter_of(verse) for verse in verses]},
            index=verses,
        ),
        measured=measured if len(measured) == len(present) else None,
    )


def _advice(edition: str, faults: Faults) -> str:
    first = next((fault for fault in faults.found if fault.edition == edition), None)
    return f"If this is not the right format, name it: {option('format')}." if first is None else f"First: {first}"


def _united(every: NDArray[np.int32], others: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the sorted union of sorted numbers and others, most of which are among them."""
    places = np.minimum(every.searchsorted(others), max(len(every) - 1, 0))
    new = others if not len(every) else others[every[places] != others]
    return np.sort(np.concatenate([every, np.unique(new)])) if len(new) else every


def _warn_of_repairs(repaired: Mapping[str, Repaired]) -> None:
    for edition, books in repaired.items():
        if books:
            n_books, (was, now) = len(books), next(iter(books.values()))
            warn(
                f"{edition}: the book's number stands before the chapter in {n_books} book{'s' * (n_books > 1)} "
                f"({was} is {now}); read without it."
            )


def _with_numbering(
    info: pd.DataFrame, present: Mapping[str, NDArray[np.int32]], n_extra: Mapping[str, int]
) -> pd.DataFrame:
    """Add the columns ``versification`` (known values take precedence) and ``extra_verses``; warn of differences."""
    versification = pd.Series({edition: versification_of(have) for edition, have in present.items()}, dtype=object)
    groups = versification.groupby(versification)
    if groups.ngroups > 1:
        named = "; ".join(f"{name}: {listing(editions.index)}" for name, editions in groups)
        warn(
            f"the editions number chapters and verses in {groups.ngroups} ways, so that one id can be different verses "
            f"({named}). Compare editions of one versification, or books that all of them number alike."
        )
    if "versification" in info:
        versification = info["versification"].fillna(versification)
    return info.assign(
        versification=versification.where(versification.notna(), np.nan),
        extra_verses=[n_extra[edition] for edition in info.index],
    )
