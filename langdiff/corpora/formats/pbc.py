"""The format of the Parallel Bible Corpus (Mayer & Cysouw 2014): one file per edition, one line per verse.

A file is UTF-8 text. Lines that begin with ``#`` are comments; those above the first verse, ``# key: value``,
describe the edition. Every other line is ``BBCCCVVV<TAB>text``: book 01-99 (66 is the Revelation), chapter 001-151,
verse 000-176 (000 is a title). A verse is missing if it has no line, or a text that is empty, white space or
``BLANK``. Empty lines are ignored.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff._io import read_blocks
from langdiff._types import Booleans, Integers
from langdiff.corpora.edition_info import FILE_NAME, edition_info_csv
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import VERSE_ID, VerseText, are_verse_ids, catalogue_verses, twice
from langdiff.corpora.formats.format import Format, Reading, begins_with
from langdiff.corpora.writing import text_files, writable_texts, write_files
from langdiff.errors import DataError, Fault, FaultsError, listing
from langdiff.multitext import Multitext

SUFFIXES = suffixes_of(".txt")
_NEXT = re.compile(r"\r[0-9]{8}\t")  # what would be the next line
_POWERS = 10 ** np.arange(7, -1, -1, dtype=np.int32)
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
    """The lines of a file, or of a part of it, that are verses."""

    numbers: NDArray[np.int32]  # the ids
    lines: Integers  # numbers of the lines
    missing: Booleans
    texts: list[str]


@dataclass(frozen=True)
class PbcText(VerseText):
    """The verses of one file."""

    def verses(self, header: dict[str, str], faults: Faults) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); put what lines above the first verse say into `header`."""
        blocks = list(self._blocks(header, faults))
        numbers, missing, once = self._joined(blocks, faults)
        texts = chain.from_iterable(block.texts for block in blocks)
        for number, is_missing, is_first, text in zip(
            numbers.tolist(), missing.tolist(), once.tolist(), texts, strict=True
        ):
            if is_first:
                yield f"{number:08d}", None if is_missing else text

    def numbers(self, header: dict[str, str], faults: Faults) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the ids of the verses listed and of those present, as numbers; no text is kept."""
        numbers, missing, once = self._joined((b._replace(texts=[]) for b in self._blocks(header, faults)), faults)
        return numbers[once], numbers[once & ~missing]

    def _joined(self, blocks: Iterable[_Verses], faults: Faults) -> tuple[NDArray[np.int32], Booleans, Booleans]:
        """Return ids, whether each is missing (all of an id that is there twice) and whether it is the first."""
        parts = [block[:3] for block in blocks]
        if not parts:
            return np.zeros(0, np.int32), np.zeros(0, bool), np.zeros(0, bool)
        numbers, lines, missing = map(np.concatenate, zip(*parts, strict=True))
        _, first, place = np.unique(numbers, return_index=True, return_inverse=True)
        first = first[place]  # of each verse, the place of the first with its id
        repeated = np.flatnonzero(first != np.arange(len(numbers)))
        for later in repeated:
            verse = f"{numbers[later]:08d}"
            faults.add(self.file, int(lines[later]), twice(verse, f"line {lines[first[later]]}"), intent=verse)
        missing[repeated] = missing[first[repeated]] = True
        return numbers, missing, first == np.arange(len(numbers))

    def _blocks(self, header: dict[str, str], faults: Faults) -> Iterator[_Verses]:
        """Yield the verses of many lines at once; duplicates are still there."""
        damaged: dict[int, str] = {}
        is_header = True
        for start, block in read_blocks(self.file, errors=self.errors, on_fault=damaged.__setitem__):
            if (next_line := _NEXT.search(block)) is not None:
                line = start + block.count("\n", 0, next_line.start())
                what = "lines end in \\r alone, as on old Macintoshes; convert them to \\n."
                raise FaultsError([Fault(str(self.file), line, what)])
            lines = block.removesuffix("\n").split("\n")
            numbers, is_verse = _ids(lines)
            end = int(is_verse.argmax()) if is_verse.any() else len(lines)
            for place in np.flatnonzero(~is_verse).tolist():
                if start + place in damaged:
                    faults.add(self.file, start + place, damaged.pop(start + place))
                elif lines[place].startswith("#"):
                    if is_header and place < end:
                        _read_header(lines[place], header)
                elif lines[place].strip():
                    verse = lines[place].partition("\t")[0].rstrip("\r")
                    faults.add(self.file, start + place, _complaint(verse), intent=verse[:20])
            is_header = is_header and end == len(lines)
            kept = np.flatnonzero(is_verse)
            texts = [line[9:].rstrip("\r") for line in lines] if "\r" in block else [line[9:] for line in lines]
            if len(kept) < len(lines):
                texts = [texts[place] for place in kept]
            missing = np.array([_is_missing(text) for text in texts], dtype=bool)
            for number, what in damaged.items():
                place = int(np.searchsorted(kept, number - start))
                faults.add(self.file, number, what, intent=f"{numbers[kept[place]]:08d}")
                missing[place] = True
            damaged.clear()
            yield _Verses(numbers[kept], kept + start, missing, texts)


def _ids(lines: list[str]) -> tuple[NDArray[np.int32], Booleans]:
    """Return the verse ids that lines begin with, as numbers, and whether each is one."""
    heads = [line[:9] for line in lines]
    joined = "".join(heads)
    if len(joined) < 9 * len(heads) or not joined.isascii():
        # an id may stand alone; what is shorter is none, whatever follows
        joined = "".join([head.rstrip("\r").ljust(9, "\t") if head.isascii() else " " * 9 for head in heads])
    bytes_of = np.frombuffer(joined.encode("ascii"), np.uint8).reshape(-1, 9)
    digits = bytes_of[:, :8] - np.uint8(ord("0"))  # what stands before 0 wraps around and is large
    numbers = digits @ _POWERS
    book, chapter, verse = numbers // 1_000_000, numbers // 1000 % 1000, numbers % 1000
    in_range = (book >= 1) & (chapter >= 1) & (chapter <= 151) & (verse <= 176)
    return numbers, (digits <= 9).all(axis=1) & (bytes_of[:, 8] == ord("\t")) & in_range


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


def _is_missing(text: str) -> bool:
    return text.strip() in ("", "BLANK")


def _complaint(verse: str) -> str:
    if re.fullmatch(r"[0-9]{8}", verse):
        return (
            f"verse id {verse} is out of range (book 01-99, chapter 001-151, verse 000-176): "
            f"book {verse[:2]}, chapter {verse[2:5]}, verse {verse[5:]}."
        )
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
            f"{len(bad):,} of {len(intents):,} intents are not verse ids BBCCCVVV, which this format "
            f"needs: {listing(bad)}. Pass format='moses', which can name any."
        )


def _format(multitext: Multitext, edition: str) -> str:
    texts = writable_texts(multitext, edition, _UNWRITABLE, _is_missing)
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
