"""The format of the eBible corpus: one file an edition, one line a verse, named by ``vref.txt``."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from langdiff._archives import File
from langdiff._io import read_lines
from langdiff.corpora.files import Paths, find_files, keep, suffixes_of
from langdiff.corpora.formats.bible import (
    NUMBERS,
    UNNUMBERED,
    Ranges,
    VerseFile,
    catalogue_verses,
    check_options,
    verse_id,
)
from langdiff.corpora.metadata import find_metadata
from langdiff.errors import DataError
from langdiff.multitext import Multitext

SUFFIXES = suffixes_of(".txt")
VREF = "vref.txt"
_RANGE = "<range>"
_REFERENCE = re.compile(r"([0-9A-Z]{3}) ([0-9]{1,3}):([0-9]{1,3})")


@dataclass(frozen=True)
class EbibleText(VerseFile):
    """The verses of one file.

    Attributes
    ----------
    vref : File
        The list of verses.
    ranges : {"missing", "merge"}
        What becomes of a text that stands for several verses.
    """

    vref: File
    ranges: str = "missing"

    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); verses with an empty line are not yielded."""
        left_out: dict[str, None] = {}
        pending: tuple[str, str | None] | None = None  # held back until the next line tells whether it is a range
        for verse, line in self._lines(left_out):
            if line.strip() == _RANGE:
                if pending is not None:
                    yield pending[0], pending[1] if self.ranges == "merge" else None
                pending = (verse, None) if verse else None
            else:
                if pending is not None:
                    yield pending
                pending = (verse, line) if verse and line.strip() else None
        if pending is not None:
            yield pending
        if left_out:
            header["left_out"] = " ".join(left_out)

    def _lines(self, left_out: dict[str, None]) -> Iterator[tuple[str | None, str]]:
        """Yield (id or None if its book has no number, line)."""
        number = 0
        texts = read_lines(self.file, errors=self.errors)
        for number, (verse, line) in enumerate(zip_longest(references(self.vref), texts), start=1):
            if verse is None or line is None:
                which, other = (self.vref, self.file) if verse is None else (self.file, self.vref)
                raise DataError(
                    f"{which} ends after line {number - 1}, {other} does not: line k of a file must be the verse on "
                    f"line k of {self.vref.name}. Pass the list that belongs to these files as vref=."
                )
            book = verse[:3]
            if book in NUMBERS:
                yield verse[4:], line[1]
            else:
                if line[1].strip():
                    left_out[book] = None
                yield None, line[1]


def references(vref: File) -> Iterator[str]:
    """Yield ``"BOOK BBCCCVVV"`` of each line of a list of verses, ``"BOOK"`` alone of a book without number.

    Raises
    ------
    DataError
        If the list cannot be read, or a line is no verse or there twice.
    """
    lines: dict[str, int] = {}
    for number, line in read_lines(vref):
        match = _REFERENCE.fullmatch(line.strip())
        if not match or not (match[1] in NUMBERS or match[1] in UNNUMBERED):
            raise DataError(f"{vref}, line {number}: expected a verse as 'GEN 1:1', got {line[:40]!r}.")
        if lines.setdefault(match[0], number) != number:
            raise DataError(f"{vref}, lines {lines[match[0]]} and {number}: {match[0]} is there twice.")
        if match[1] in UNNUMBERED:
            yield match[1]
            continue
        verse = verse_id(match[1], int(match[2]), int(match[3]))
        if verse is None:
            raise DataError(f"{vref}, line {number}: {match[0]} is out of range (chapter 1-151, verse 0-176).")
        yield f"{match[1]} {verse}"


def find_vref(files: Iterable[File]) -> Path | None:
    """Return the list of verses beside the files, or where the eBible corpus keeps it: in ``../metadata``."""
    for folder in dict.fromkeys(file.parent for file in files):
        for place in (folder, folder.parent, folder.parent / "metadata"):
            if (place / VREF).is_file():
                return place / VREF
    return None


def read_ebible(
    path: Paths,
    *,
    vref: str | Path | None = None,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    ranges: Ranges = "missing",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue files of the eBible corpus; the texts stay there until asked for.

    Line k of a file is the verse on line k of ``vref.txt``, such as ``GEN 1:1``. An empty line is a
    missing verse; a line ``<range>`` says that the text of this verse is part of the one before.
    File names such as ``deu-deu1912.txt`` give language and edition.

    Parameters
    ----------
    path, metadata, editions, nfc, errors, progress
        As for `read_pbc`.
    vref : str or Path, optional
        The list of verses; by default ``vref.txt`` among the files, in their folder, the one above, or
        its ``metadata`` folder.
    ranges : {"missing", "merge"}
        All verses of a range are missing, or the first has the text and the others are missing.

    Returns
    -------
    Multitext
        Its intents are those verses, as ids of `read_pbc`, that any edition has, alone or in a range.
        Verses of books that have no number there (Daniel in Greek, Jubilees, Enoch …) are left out;
        the column ``left_out`` of `edition_info` names these books.

    Raises
    ------
    DataError
        If there is no list of verses, it is malformed, or a file has more or fewer lines; otherwise
        as `read_pbc`.
    ConfigError
        If an option is unknown.

    References
    ----------
    Akerman et al. (2023), "The eBible corpus: data and model benchmarks for Bible translation for
    low-resource languages", arXiv:2304.09919.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "vref.txt").write_text("GEN 1:1\nGEN 1:2\nGEN 1:3\n")
    ...     _ = Path(folder, "deu-a.txt").write_text("eins\nzwei und drei\n<range>\n")
    ...     print(read_ebible(folder).text("deu-a").to_dict())
    ...     print(read_ebible(folder, ranges="merge").text("deu-a").to_dict())
    {'01001001': 'eins'}
    {'01001001': 'eins', '01001002': 'zwei und drei'}
    """
    check_options(errors, ranges)
    found = find_files(path, SUFFIXES, None)
    lists = [found.pop(edition) for edition, file in list(found.items()) if file.name == VREF]
    verses = Path(vref).expanduser() if vref is not None else lists[0] if lists else find_vref(found.values())
    if verses is None:
        raise DataError(
            f"no {VREF} beside the files, in the folder above or its folder 'metadata'. It is the eBible "
            "corpus's list of verses; pass it as vref=."
        )
    if not found:
        raise DataError(f"{path}: no edition beside {verses}.")
    files = keep(found, editions)
    texts = {e: EbibleText(file, verses, ranges, nfc=nfc, errors=errors) for e, file in files.items()}
    table = find_metadata(files, metadata)
    return catalogue_verses(texts, table, in_order_of_metadata=editions is None, progress=progress)
