"""The format of the Parallel Bible Corpus (Mayer & Cysouw 2014): one file per edition, one line per verse.

A file is UTF-8 text. Lines that begin with ``#`` are comments; those above the first verse, ``# key: value``,
describe the edition. Every other line is ``BBCCCVVV<TAB>text``: book 01-99 (66 is the Revelation), chapter, verse
(000 is a title). A verse is missing if it has no line, or a text that is empty, white space or
``BLANK``. Empty lines are ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, compress
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.io import read_blocks
from langdiff.base.types import Booleans, Integers
from langdiff.corpora.edition_info import FILE_NAME, edition_info_csv
from langdiff.corpora.faults import Faults, Place
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import VERSE_ID, Collected, VerseText, are_verse_ids, catalogue_verses, twice
from langdiff.corpora.formats.format import Format, Reading, begins_with, text_files, writable_texts, write_files
from langdiff.errors import DataError, Fault, FaultsError, listing, option
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_features import Measuring

_TEXT = 9  # place of the text in a line, after BBCCCVVV and a tab
_WIDTH = _TEXT + 3  # bytes looked at: the first character of the text, too
_POWERS = 10 ** np.arange(7, -1, -1, dtype=np.int32)
# White space, by the number of its bytes in UTF-8, as numbers to the base 256.
_SPACES = [
    np.array([int.from_bytes(c.encode()) for c in map(chr, range(0x3001)) if c.isspace() and len(c.encode()) == n])
    for n in (1, 2, 3)
]


def is_missing(text: str) -> bool:
    """Return whether a text marks a missing verse.

    Examples
    --------
    >>> is_missing(" BLANK "), is_missing("BLANKET")
    (True, False)
    """
    return text.strip() in ("", "BLANK")


@dataclass(frozen=True)
class Scan:
    """Verse ids at the beginnings of lines, with the lines' positions.

    Attributes
    ----------
    numbers : ndarray of int, shape (L,)
        The verse ids.
    is_verse : ndarray of bool, shape (L,)
        Whether the line begins with an id, of any book but 00, and a tab, or is an id alone.
    is_missing : ndarray of bool, shape (L,)
        Whether the text after the id is missing, where there is an id.
    is_empty : ndarray of bool, shape (L,)
        Whether there is nothing in the line.
    """

    numbers: NDArray[np.int32]
    is_verse: Booleans
    is_missing: Booleans
    is_empty: Booleans
    _raw: bytes
    _starts: Integers
    _ends: Integers

    def line(self, place: int) -> str:
        """Return a line, counted from 0, without its end."""
        return self._raw[self._starts[place] : self._ends[place]].decode()

    def measure(self, places: Integers, measuring: Measuring) -> None:
        """Measure the texts of lines that are verses."""
        ends = self._ends[places]
        measuring.add_block(self._raw, np.minimum(self._starts[places] + _TEXT, ends), ends)


def scan_lines(raw: bytes) -> Scan:
    r"""Return the verse ids at the beginnings of lines.

    Examples
    --------
    >>> scan = scan_lines(b"# title: a\n01001001\tIn the\n01001002\n")
    >>> scan.numbers[scan.is_verse], scan.is_missing[scan.is_verse], scan.line(0)
    (array([1001001, 1001002], dtype=int32), array([False,  True]), '# title: a')
    """
    codes = np.frombuffer(raw + b"\n" * _WIDTH, np.uint8)
    ends = np.flatnonzero(codes[: len(raw)] == ord("\n"))
    if not raw.endswith(b"\n"):
        ends = np.append(ends, len(raw))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    heads = codes[starts[:, None] + np.arange(_WIDTH)]  # (L, 12)
    digits = heads[:, :8] - np.uint8(ord("0"))  # what stands before 0 wraps around and is large
    numbers = digits @ _POWERS
    is_id = (digits <= 9).all(axis=1) & (numbers >= 1_000_000) & ((lengths == 8) | (heads[:, 8] == ord("\t")))
    scan = Scan(numbers, is_id, lengths <= _TEXT, lengths == 0, raw, starts, ends)
    for place in np.flatnonzero(is_id & (lengths > _TEXT) & _may_be_missing(heads[:, _TEXT:])).tolist():
        scan.is_missing[place] = is_missing(scan.line(place)[_TEXT:])
    return scan


def _may_be_missing(first: NDArray[np.uint8]) -> Booleans:
    """Return whether a text begins with white space or BL, given its first three bytes."""
    one = first[:, 0].astype(np.int64)
    two = one << 8 | first[:, 1]
    three = two << 8 | first[:, 2]
    found: Booleans = np.isin(one, _SPACES[0]) | np.isin(two, _SPACES[1]) | np.isin(three, _SPACES[2])
    found |= two == int.from_bytes(b"BL")
    return found


SUFFIXES = suffixes_of(".txt")
_NEXT = re.compile(r"\r[0-9]{8}\t")  # what would be the next line
_UNWRITABLE = re.compile(r"[\t\n\r\0\ud800-\udfff]")
_HEADER = {  # what header lines call it, in lower case: the column of edition_info
    "closest iso 639-3": "language",
    "iso-639-3": "language",
    "language_name": "language_name",
    "iso 15924": "script",
    "title": "title",
    "english_title": "title",
    "vernacular_title": "title",
    "year_short": "year",
    "licence": "licence",
    "copyright_short": "licence",
}
_WRITTEN_HEADER = ("language_name", "closest ISO 639-3", "year_short", "title", "licence")


class _Verses(NamedTuple):
    """Lines of a file, or of a part of it, that are verses."""

    numbers: NDArray[np.int32]  # the ids
    lines: Integers  # numbers of the lines
    missing: Booleans


@dataclass(frozen=True)
class PbcText(VerseText):
    """Source of the verses of one file."""

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the file; store attributes from the lines above the first verse in `header`."""
        texts: list[str] | Measuring = [] if with_texts else Measuring()
        verses, once = self._read(header, faults, texts)
        present, lines = ~verses.missing[once], verses.lines[once]

        def where(place: int) -> Place:
            return Place(self.file, int(lines[place]))

        # damaged lines and ids that are there twice count as empty: they are faults already
        found = Collected(verses.numbers[once], present, present, where, ())
        if isinstance(texts, Measuring):
            return replace(found, measured=texts.finish().take(np.flatnonzero(once)))
        return replace(found, texts=list(compress(texts, once.tolist())))

    def _read(self, header: dict[str, str], faults: Faults, texts: list[str] | Measuring) -> tuple[_Verses, Booleans]:
        """Return the verses and an indicator of the first with each id; add the texts to `texts`, or measure them.

        All verses of an id that is there twice are missing.
        """
        parts = list(self._blocks(header, faults, texts))
        nothing = _Verses(np.zeros(0, np.int32), np.zeros(0, int), np.zeros(0, bool))
        verses = _Verses(*map(np.concatenate, zip(nothing, *parts, strict=True)))
        numbers, places = verses.numbers, np.arange(len(verses.numbers))
        if (numbers[1:] > numbers[:-1]).all():  # as in most files
            return verses, np.ones(len(numbers), dtype=bool)
        _, first, which = np.unique(numbers, return_index=True, return_inverse=True)
        first = first[which]  # of each verse, the place of the first with its id
        repeated = np.flatnonzero(first != places)
        for later in repeated:
            verse = f"{numbers[later]:08d}"
            what = twice(verse, f"line {verses.lines[first[later]]}")
            faults.add(self.file, int(verses.lines[later]), what, intent=verse)
        verses.missing[repeated] = verses.missing[first[repeated]] = True
        return verses, first == places

    def _blocks(self, header: dict[str, str], faults: Faults, texts: list[str] | Measuring) -> Iterator[_Verses]:
        """Yield the verses in blocks of many lines, duplicates included."""
        damaged: dict[int, str] = {}
        is_header = True
        for start, text, raw in read_blocks(self.file, errors=self.decode_errors, on_fault=damaged.__setitem__):
            if "\r" in text:
                text = self._with_newlines(start, text)
                raw = text.encode()
            scan = scan_lines(raw)
            kept = np.flatnonzero(scan.is_verse)
            end = int(kept[0]) if len(kept) else len(scan.is_verse)
            for place in np.flatnonzero(~scan.is_verse & ~scan.is_empty).tolist():
                line, number = scan.line(place), start + place
                if number in damaged:
                    faults.add(self.file, number, damaged.pop(number))
                elif line.startswith("#"):
                    if is_header and place < end:
                        _read_header(line, header)
                elif line.strip():
                    verse = line.partition("\t")[0]
                    faults.add(self.file, number, _complaint(verse), intent=verse[:20])
            is_header = is_header and not len(kept)
            missing = scan.is_missing[kept]
            for number, what in damaged.items():
                faults.add(self.file, number, what, intent=f"{scan.numbers[number - start]:08d}")
                missing[np.searchsorted(kept, number - start)] = True
            damaged.clear()
            if isinstance(texts, Measuring):
                scan.measure(kept, texts)
            else:
                lines = text.split("\n")
                texts += [lines[place][_TEXT:] for place in kept.tolist()]
            yield _Verses(scan.numbers[kept], kept + start, missing)

    def _with_newlines(self, start: int, block: str) -> str:
        r"""Return the lines without the \r before their \n, if some end so and none ends in \r alone."""
        if (next_line := _NEXT.search(block)) is not None:
            line = start + block.count("\n", 0, next_line.start())
            what = "lines end in \\r alone, as on old Macintoshes; convert them to \\n."
            raise FaultsError([Fault(str(self.file), line, what)])
        return re.sub(r"\r+(?=\n|\Z)", "", block)


def catalogue(reading: Reading) -> Multitext:
    """Catalogue files of the Parallel Bible Corpus."""
    return catalogue_verses(reading, reading.files(SUFFIXES), PbcText)


def write(multitext: Multitext, directory: Path) -> list[Path]:
    """Write one file per edition and ``metadata.csv``; see `langdiff.write_multitext`."""
    _check_ids(multitext.intents)
    files = text_files(multitext, directory, SUFFIXES)
    table = edition_info_csv(multitext.edition_info, files)
    texts = ((file, _format(multitext, edition)) for edition, file in files.items())
    return write_files(directory, chain(texts, [(FILE_NAME, table)]))


def _complaint(verse: str) -> str:
    if re.fullmatch(r"[0-9]{8}", verse):
        return f"verse id {verse} is of book 00; books begin with 01, which is Genesis."
    shown = verse if len(verse) <= 20 else verse[:20] + "…"
    return f"expected BBCCCVVV<TAB>text, a verse id of eight digits, got {shown!r}."


def _read_header(line: str, header: dict[str, str]) -> None:
    key, _, value = line.lstrip("#").partition(":")
    column, value = _HEADER.get(key.strip().lower()), value.strip()
    if column is not None and value and value != "Not available":
        header.setdefault(column, value)


def _check_ids(intents: pd.Index) -> None:
    if not are_verse_ids(intents):
        bad = [intent for intent in intents if not are_verse_ids(pd.Index([intent]))]
        raise DataError(
            f"{len(bad):,} of {len(intents):,} intents are not verse ids BBCCCVVV of verses that exist, which this "
            f"format needs: {listing(bad)}. Pass {option('format', 'moses')}, which can name any."
        )


def _format(multitext: Multitext, edition: str) -> str:
    texts = writable_texts(multitext, edition, _UNWRITABLE, is_missing)
    known = multitext.edition_info.loc[[edition]].iloc[0].dropna()
    header = ""
    for key in _WRITTEN_HEADER:
        if (column := _HEADER[key.lower()]) in known:
            header += f"# {key + ':':<21} {' '.join(str(known[column]).split())}\n"
    return header + "".join(f"{intent}\t{texts.get(intent, '')}\n" for intent in sorted(multitext.intents))


FORMAT = Format(
    name="pbc",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_with(rf"(?:{VERSE_ID.pattern})(?=[\t\n]|\Z)"),
    write=write,
)
