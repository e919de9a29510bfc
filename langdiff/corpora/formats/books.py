"""Editions that are several files, one per book, as in USFM, USX and USJ."""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langdiff.base.archives import ARCHIVES, File, Member, is_archive
from langdiff.base.types import OwnKind, Ranges
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import Paths, edition_of, files_in, keep
from langdiff.corpora.formats.bible import Collected, Verses, VerseText, catalogue_verses, collected
from langdiff.corpora.formats.format import Reading
from langdiff.corpora.formats.usfm_markers import BookText, check_own_markers
from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext


@dataclass(frozen=True)
class BooksText(VerseText):
    """Source of the verses in the books of an edition.

    Attributes
    ----------
    books : tuple of Path or Member
        The files of the books; `file` is the folder or archive that they are in, or the only one of them.
    ranges : {"missing", "merge"}
        Treatment of a text that stands for several verses.
    markers : mapping from str to {"char", "note", "para", "skip"}
        Markers that the user has declared.
    """

    books: tuple[File, ...]
    ranges: Ranges = "missing"
    markers: Mapping[str, OwnKind] = field(default_factory=dict)

    @abstractmethod
    def read_book(self, file: File, verses: Verses, faults: Faults) -> BookText:
        """Read one file and add its verses; return the content of the book."""

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the books; a book that cannot be read is left out."""
        verses = Verses(self.ranges, faults)
        left_out: dict[str, None] = {}
        for file in self.books:
            with verses.of_book(file):
                left_out |= dict.fromkeys(self.read_book(file, verses, faults).left_out)
        if left_out:
            header["left_out"] = " ".join(left_out)
        return collected(verses.items(), with_texts=with_texts)


def catalogue_books(reading: Reading, suffixes: Sequence[str], source: type[BooksText]) -> Multitext:
    """Catalogue editions whose books are files.

    Parameters
    ----------
    reading : Reading
        Options of the request.
    suffixes : sequence of str
        Endings of the names of books.
    source : type
        Kind of `BooksText` that reads an edition.
    """
    check_own_markers(reading.markers)
    groups = keep(_groups(reading.path, suffixes), reading.editions)
    books = {place: tuple(files) for place, files in groups.values()}

    def text_of(place: File, **how: Any) -> BooksText:
        return source(place, books[place], reading.ranges, reading.markers, **how)

    return catalogue_verses(reading, {edition: place for edition, (place, _) in groups.items()}, text_of)


def _groups(path: Paths, suffixes: Sequence[str]) -> dict[str, tuple[File, list[File]]]:
    """Return the place and the books of every edition."""
    if isinstance(path, Mapping):
        named = {str(edition): files_in(one, suffixes) for edition, one in path.items()}
        return {edition: (Path(path[edition]).absolute(), files) for edition, files in named.items()}
    together: dict[Path, list[File]] = {}
    for file in dict.fromkeys(files_in(path, suffixes)):
        together.setdefault(file.archive if isinstance(file, Member) else file.parent, []).append(file)
    groups: dict[str, tuple[File, list[File]]] = {}
    lone = Counter(files[0].name for files in together.values() if len(files) == 1)
    for folder, files in sorted(together.items()):
        alone = len(files) == 1 and lone[files[0].name] == 1 and not isinstance(files[0], Member)
        place = files[0] if alone else folder
        name = edition_of(place, (*suffixes, *ARCHIVES)) if alone or is_archive(place) else folder.name
        edition = name
        for ending in ("_usfm", "_usx", "_usj"):
            edition = edition.removesuffix(ending)
        if edition in groups:
            raise DataError(
                f"two places are edition {edition!r}: {groups[edition][0]} and {place}. "
                "Rename one, or give the places by edition, as a mapping."
            )
        groups[edition] = place, files
    return dict(sorted(groups.items()))
