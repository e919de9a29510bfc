"""The format of the Parallel Bible Corpus (Mayer & Cysouw 2014): one file per edition, one line per verse.

A file is UTF-8 text. Lines that begin with ``#`` are comments; those above the first verse, ``# key: value``,
describe the edition. Every other line is ``BBCCCVVV<TAB>text``: book 01-99 (66 is the Revelation), chapter 001-151,
verse 000-176 (000 is a title). A verse is missing if it has no line, or a text that is empty, white space or
``BLANK``. Empty lines are ignored.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import pandas as pd

from langdiff._io import read_lines
from langdiff.corpora.edition_info import FILE_NAME, edition_info_csv
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import VERSE_ID, VerseText, are_verse_ids, catalogue_verses
from langdiff.corpora.formats.format import Format, Reading, begins_with
from langdiff.corpora.writing import text_files, writable_texts, write_files
from langdiff.errors import DataError, listing
from langdiff.multitext import Multitext

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


@dataclass(frozen=True)
class PbcText(VerseText):
    """The verses of one file."""

    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); put what lines above the first verse say into `header`."""
        lines: dict[str, int] = {}
        for number, line in read_lines(self.file, errors=self.errors):
            if line.startswith("#"):
                if not lines:
                    _read_header(line, header)
                continue
            verse, _, text = line.partition("\t")
            if not VERSE_ID.fullmatch(verse):
                if line.isspace() or not line:
                    continue
                raise DataError(f"{self.file}, line {number}: {_complaint(verse)}")
            if "\r" in text and _NEXT.search(text):
                raise DataError(
                    f"{self.file}, line {number}: lines end in \\r alone, as on old Macintoshes; convert them to \\n."
                )
            if lines.setdefault(verse, number) != number:
                raise DataError(f"{self.file}, lines {lines[verse]} and {number}: verse {verse} is there twice.")
            yield verse, None if _is_missing(text) else text


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
    return not text or text.isspace() or text.strip() == "BLANK"


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
