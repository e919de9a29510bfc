"""The format of the eBible corpus (Akerman et al. 2023): one file per edition, one line per verse.

Line k of a file is the verse on line k of ``vref.txt``, such as ``GEN 1:1``. An empty line is a missing verse; a
line ``<range>`` says that the text of this verse is part of the one before.
"""

import re
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from pathlib import Path

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.types import Ranges
from langdiff.corpora.faults import Faults, Place
from langdiff.corpora.files import find_files, keep, suffixes_of
from langdiff.corpora.formats.bible import Collected, FoundVerse, VerseText, catalogue_verses, collected, verse_id
from langdiff.corpora.formats.format import Format, Reading
from langdiff.corpora.versifications import NUMBERS, UNNUMBERED
from langdiff.errors import DataError, Fault, FaultsError, option
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".txt")
VREF = "vref.txt"
_RANGE = "<range>"
_REFERENCE = re.compile(r"([0-9A-Z]{3}) ([0-9]{1,3}):([0-9]{1,3})")


@dataclass(frozen=True)
class EbibleText(VerseText):
    """Source of the verses of one file.

    Attributes
    ----------
    vref : File
        The list of verses.
    ranges : {"missing", "merge"}
        Treatment of a text that stands for several verses.
    """

    vref: File
    ranges: Ranges = "missing"

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the file; those with an empty line are left out."""
        left_out: dict[str, None] = {}
        read = collected(self._verses(left_out, faults), with_texts=with_texts)
        if left_out:
            header["left_out"] = " ".join(left_out)
        return read

    def _verses(self, left_out: dict[str, None], faults: Faults) -> Iterator[FoundVerse]:
        pending: FoundVerse | None = None  # held back until the next line tells whether it is a range
        for number, (verse, line) in enumerate(self._lines(left_out, faults), start=1):
            is_range = line.strip() == _RANGE
            if pending is not None:
                yield pending._replace(text=None) if is_range and self.ranges == "missing" else pending
            pending = None
            if verse is not None and line.strip():
                pending = FoundVerse(verse, None if is_range else line, Place(self.file, number))
        if pending is not None:
            yield pending

    def _lines(self, left_out: dict[str, None], faults: Faults) -> Iterator[tuple[str | None, str]]:
        """Yield (id or None if the book has no number, line)."""
        number = 0
        damaged: dict[int, str] = {}
        texts = read_lines(self.file, errors=self.decode_errors, on_fault=damaged.__setitem__)
        for number, (verse, line) in enumerate(zip_longest(references(self.vref), texts), start=1):
            if verse is None or line is None:
                which, other = (self.vref, self.file) if verse is None else (self.file, self.vref)
                what = (
                    f"{which} ends after line {number - 1}, {other} does not: line k of a file must be the verse on "
                    f"line k of {self.vref.name}. Pass the list that belongs to these files as {option('vref')}."
                )
                raise FaultsError([Fault(str(self.file), None, what)])
            book, text = verse[:3], line[1]
            if number in damaged:
                faults.add(self.file, number, damaged.pop(number), intent=verse[4:] or None)
                text = ""
            if book in NUMBERS:
                yield verse[4:], text
            else:
                if text.strip():
                    left_out[book] = None
                yield None, text


def references(vref: File) -> Iterator[str]:
    """Yield ``"BOOK BBCCCVVV"`` for each line of a list of verses, ``"BOOK"`` for books without a number."""
    faults = Faults()
    lines: dict[str, int] = {}
    for number, line in read_lines(vref):
        match = _REFERENCE.fullmatch(line.strip())
        if not match or not (match[1] in NUMBERS or match[1] in UNNUMBERED):
            faults.add(vref, number, f"expected a verse as 'GEN 1:1', got {line[:40]!r}.")
            continue
        if lines.setdefault(match[0], number) != number:
            faults.add(vref, number, f"{match[0]} is there twice, first in line {lines[match[0]]}.")
        verse = verse_id(match[1], int(match[2]), int(match[3]))
        yield match[1] if verse is None else f"{match[1]} {verse}"
    faults.check()


def find_vref(files: Iterable[File]) -> Path | None:
    """Return the list of verses in the folder of the files or, as in the eBible corpus, in ``../metadata``."""
    for folder in dict.fromkeys(file.parent for file in files):
        for place in (folder, folder.parent, folder.parent / "metadata"):
            if (place / VREF).is_file():
                return place / VREF
    return None


def catalogue(reading: Reading) -> Multitext:
    """Catalogue files of the eBible corpus, with their list of verses."""
    found = find_files(reading.path, SUFFIXES, None)
    lists = [found.pop(edition) for edition, file in list(found.items()) if file.name == VREF]
    if reading.vref is not None:
        vref: File | None = Path(reading.vref).expanduser()
    else:
        vref = lists[0] if lists else find_vref(found.values())
    if vref is None:
        raise DataError(
            f"there is no {VREF} in the folder of the files, in the folder above or in its folder 'metadata'. It is "
            f"the list of verses of the eBible corpus; pass it as {option('vref')}."
        )
    if not found:
        raise DataError(f"{reading.path}: there is no edition, only {vref}. Add the files of the editions.")
    deque(references(vref), maxlen=0)  # its faults are not those of every edition
    text_of = partial(EbibleText, vref=vref, ranges=reading.ranges)
    return catalogue_verses(reading, keep(found, reading.editions), text_of)


FORMAT = Format(
    name="ebible",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    options=("ranges", "vref"),
    beside=lambda files: any(file.name == VREF for file in files) or find_vref(files[:1]) is not None,
)
