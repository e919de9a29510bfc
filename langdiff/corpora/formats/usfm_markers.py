"""Books of Bibles: their content under the markers of USFM, and editions that have one file per book.

A `BookText` gets events (a book, chapter, verse or paragraph begins, text) from the reader of a form of USFM, and gives
whole verses to `Verses`. A fault makes only the verse unusable that is open, up to the next verse or chapter.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from langdiff.base.archives import ARCHIVES, File, Member, is_archive
from langdiff.base.suspicion import Doubts
from langdiff.base.types import OwnKind, Ranges
from langdiff.corpora.faults import Damage, Faults, Place
from langdiff.corpora.files import Paths, edition_of, files_in, keep
from langdiff.corpora.formats.bible import Collected, Verses, VerseText, catalogue_verses, collected, verse_id
from langdiff.corpora.formats.format import Reading
from langdiff.corpora.versifications import NUMBERS, UNNUMBERED
from langdiff.errors import ConfigError, DataError, FaultsError, option
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_features import unspaced_letter

# Markers without their levels (q for q1, se for s1e, th for th1-2), by what becomes of the text after them
_TEXT = "p m po pr cls pmo pm pmc pmr pi mi nb pc ph phi ps psi b q qr qc qm lh li lf lim tr th thr thc tc tcr tcc pb"
_HEADING = (
    "ide usfm sts rem h toc toca imt is ip ipc ipi im imi imq ipq ipr iq ib ili ilit io iot iex imte ie mt mte ms mse "
    "mr s se sr r d sp sd cl cp cd qa qd lit restore periph ts "
    "pub pref intro conc glo idx maps cov spine pubinfo"  # of files that are not books of the Bible
)
_STYLE = (  # what they mark is text; attributes after | are not
    "add addpn bk dc em bd it bdit k nd no ord pn png qac qs qt rb ref sc sig sls sup ta tl w wa wg wh wj wl wr jmp "
    "lik liv litl ndx xt ior iqt"
)
_NOTE = "f fe ef efe x ex fig va vp ca cat rq fm efm pl pro"  # with all they hold until their end
_IN_NOTE = "fr ft fk fq fqa fl fw fp fs fv fdc xo xop xta xk xq xot xnt xdc xtSee xtSeeAlso"
SIDEBARS = {"esb": "esbe", "erq": "erqe"}  # hidden from the one to the other, with the paragraphs between
FEW_TOUCHING = 3  # joins of elements and other text that touch, at least
_LEVEL = re.compile(r"[0-9]+(?:-[0-9]+)?(e?)\Z")
_MARKS = "[\u200e\u200f]*"  # of direction: right-to-left texts have them around the hyphen
_NUMBER = rf"{_MARKS}[0-9]{{1,3}}[a-z]?{_MARKS}"
VERSE_NUMBERS = rf"(?:{_NUMBER}[-\u2010-\u2013,])*{_NUMBER}"

Kind = Literal["text", "heading", "char", "note", "sidebar", "in note", "skip"]
_KINDS: dict[str, Kind] = {
    **dict.fromkeys(_IN_NOTE.split(), "in note"),
    **dict.fromkeys(SIDEBARS, "sidebar"),
    **dict.fromkeys(_NOTE.split(), "note"),
    **dict.fromkeys(_HEADING.split(), "heading"),
    **dict.fromkeys(_TEXT.split(), "text"),
    **dict.fromkeys(_STYLE.split(), "char"),
}
_OWN: dict[str, Kind] = {"char": "char", "note": "note", "para": "text", "skip": "skip"}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)?")


def base_of(marker: str) -> str:
    """Return a marker without its level.

    Examples
    --------
    >>> base_of("q2"), base_of("s1e"), base_of("th1-2")
    ('q', 'se', 'th')
    """
    return _LEVEL.sub(r"\1", marker)


def kind_of(marker: str, own: Mapping[str, OwnKind]) -> Kind | None:
    r"""Return what a marker is; None if it is unknown.

    Examples
    --------
    >>> kind_of("q1", {}), kind_of("untr", {}), kind_of("untr", {"untr": "char"}), kind_of("zmine", {})
    ('text', None, 'char', 'skip')
    """
    base = base_of(marker)
    if declared := own.get(marker, own.get(base)):
        return _OWN[declared]
    if found := _KINDS.get(base):
        return found
    return "skip" if marker.startswith("z") or marker.endswith(("-s", "-e")) else None


def check_own_markers(own: Mapping[str, str]) -> None:
    """Check the markers that a user has declared."""
    for marker, kind in own.items():
        if not _NAME.fullmatch(marker):
            raise ConfigError(f"{option('markers')}: {marker!r} is not a marker; write it without its backslash.")
        if marker in ("id", "c", "v"):
            raise ConfigError(f"{option('markers')}: \\{marker} begins a book, chapter or verse, and stays what it is.")
        if kind not in get_args(OwnKind):
            raise ConfigError(
                f"{option('markers')}: \\{marker} must be one of {', '.join(get_args(OwnKind))}, got {kind!r}."
            )


class Joins:
    """Counter of the places where marked words or other text meet in a file, and of those where letters touch there."""

    def __init__(self) -> None:
        self._counts = [0, 0], [0, 0]  # joins and touching ones: of two elements, of all
        self._example, self._line = "", 0
        self.new_line()

    def new_line(self) -> None:
        """Begin a verse or paragraph, where nothing is joined to what stands before."""
        self._before, self._marks, self._is_apart = "", "", False

    def mark(self, side: str) -> None:
        """Meet the beginning (``<``) or the end (``>``) of an element within a verse."""
        self._marks += side

    def add(self, text: str, line: int) -> None:
        """Meet text."""
        if not text.strip():
            self._is_apart = self._is_apart or bool(text)
            return
        ends = self._before[-1:] + text.lstrip()[0]
        if self._marks and len(ends) == 2 and ends.isalpha() and not unspaced_letter().search(ends):
            touches = not (self._is_apart or text[0].isspace())
            for counts in self._counts if "><" in self._marks else self._counts[1:]:
                counts[0] += 1
                counts[1] += touches
            if touches and not self._example:
                self._example, self._line = self._before[-12:] + text[:12], line
        self._before, self._marks, self._is_apart = text.rstrip(), "", text[-1].isspace()

    def check(self, file: File | str, trust: tuple[str, ...]) -> None:
        """Raise an error if the text has been written without its spaces."""
        doubts = Doubts(trust)
        (joins, touching), (all_joins, all_touching) = self._counts
        if 2 * touching <= joins:
            joins, touching = all_joins, all_touching if all_touching >= FEW_TOUCHING else 0
        doubts.see("touching", str(file), touching, joins, self._example, self._line)
        for one in doubts.judged():
            raise FaultsError([one.fault()])


@dataclass
class Verse:
    """A verse whose end has not been met."""

    ids: list[str]  # empty if the book has no number, or the verse's own is not known
    part: bool
    where: Place
    end: str | None = None  # what its end is called; None if it is an element, or the next verse ends it
    pieces: list[str] = field(default_factory=list)
    faults: set[str] = field(default_factory=set)


class BookText:
    r"""Verses of one file, from the markers met in it.

    Parameters
    ----------
    file : Path or Member
        The file, for messages.
    verses : Verses
        Collection to which whole verses are added, with the faults.
    damage : Damage
        Lines of the file that are not text.
    signs : (str, str, str)
        What begins a book, a chapter and a verse, for messages.

    Attributes
    ----------
    book : str or None
        Code of the book.
    is_text : bool
        Whether the paragraph has text of verses.
    left_out : list of str
        Books with verses but without number.
    last_ids : list of str
        Ids of the last verse that has ended.
    verse : Verse or None
        The verse that is open.
    """

    def __init__(
        self, file: File | str, verses: Verses, damage: Damage, signs: tuple[str, str, str] = ("\\id", "\\c", "\\v")
    ) -> None:
        self.book: str | None = None
        self.is_text = False
        self.left_out: list[str] = []
        self.last_ids: list[str] = []
        self._file, self._verses, self._damage, self._signs = file, verses, damage, signs
        self._chapter: int | None = None
        self._is_without_chapter = False  # and that has been said
        self.verse: Verse | None = None
        self._joins = Joins()

    def mark(self, side: str) -> None:
        """Meet the beginning (``<``) or the end (``>``) of a style of characters."""
        self._joins.mark(side)

    def end_file(self) -> None:
        """End the file."""
        self.end_verse()
        self._joins.check(self._file, self._verses.faults.doubts.trust)

    @property
    def in_verse(self) -> bool:
        """Whether a verse is open."""
        return self.verse is not None

    @property
    def open_ids(self) -> list[str]:
        """Ids of the verse that is open."""
        return [] if self.verse is None else self.verse.ids

    def begin_book(self, code: str, where: Place) -> None:
        """Begin a book."""
        self.end_verse()
        self.book, self._chapter, self.is_text, self._is_without_chapter = None, None, False, False
        if code.upper() not in NUMBERS and code.upper() not in UNNUMBERED:
            raise DataError(f"{where}: {self._signs[0]} without the code of a book, such as GEN.")
        self.book = code.upper()

    def begin_chapter(self, number: str, where: Place) -> None:
        """Begin a chapter."""
        if self.book is None:
            raise DataError(f"{where}: a chapter before {self._signs[0]}, so that its book is not known.")
        self.end_verse()
        self.is_text = True  # some files have no \p before \v
        self._chapter = int(number) if re.fullmatch("[0-9]{1,3}", number) else None
        self._is_without_chapter = self._chapter is None
        if self._chapter is None:
            self._fault(f"{self._signs[1]} without a number.", where, level="chapter")

    def begin_verse(self, numbers: str, where: Place) -> None:
        """Begin a verse, or several with one text (``3-5``), or a part of one (``3a``)."""
        if self.book is None:
            raise DataError(f"{where}: a verse before {self._signs[0]}, so that its book and chapter are not known.")
        verse = self.open(Verse([], bool(re.search("[a-z]", numbers)), where))
        if self._chapter is None:
            if not self._is_without_chapter:
                what = f"a verse before {self._signs[1]}, so that its book and chapter are not known."
                self._fault(what, where, level="chapter")
            self._is_without_chapter = True
        elif not re.fullmatch(VERSE_NUMBERS, numbers):
            self.fault(f"expected the number of a verse after {self._signs[2]}, got {numbers!r}.", where)
        elif self.book in UNNUMBERED:
            self.left_out.append(self.book)
        else:
            verse.ids = self._ids(numbers, where)

    def open(self, verse: Verse) -> Verse:
        """Open a verse, which ends the one before."""
        self.end_verse()
        self._joins.new_line()
        self.verse, self.is_text = verse, True
        return verse

    def begin_paragraph(self, *, is_text: bool) -> None:
        """Begin a paragraph, of text of verses or of a heading."""
        self.is_text = is_text
        self._joins.new_line()
        if self.verse is not None:
            self.verse.pieces.append(" ")

    def add(self, text: str) -> None:
        """Add text to the verse that is open, in a paragraph of text."""
        if self.verse is not None and self.is_text:
            self.verse.pieces.append(text)
            self._joins.add(text, self.verse.where.line)

    def fault(self, what: str, where: Place) -> None:
        """Add a fault, because of which the verse that is open is left out; the same is said once of one verse."""
        if self.verse is None:
            self._fault(what, where)
        elif what not in self.verse.faults:
            self.verse.faults.add(what)
            self._fault(what, where, intent=self.verse.ids[0] if self.verse.ids else None)

    def end_verse(self) -> None:
        """End the verse that is open, if one is."""
        if self.verse is not None and self.verse.ids:
            verse, text = self.verse, "".join(self.verse.pieces)
            damaged = self._damage.is_in(text, verse.where, verse.ids[0]) or bool(verse.faults)
            self._verses.add(verse.ids, None if damaged else text, verse.where, part=verse.part)
            self.last_ids = verse.ids
        self.verse = None

    def _fault(self, what: str, where: Place, intent: str | None = None, level: str = "text") -> None:
        self._verses.faults.add(where.file, where.line, what, intent=intent, level=level)

    def _ids(self, numbers: str, where: Place) -> list[str]:
        """Return the ids that ``3``, ``3a``, ``3-5`` or ``3,5`` denote."""
        found: dict[str, None] = {}
        for stretch in numbers.split(","):
            ends = [int(number) for number in re.findall("[0-9]+", stretch)]
            if len(ends) > 2 or ends[-1] < ends[0]:
                self.fault(f"{numbers!r} is not a range of verses.", where)
                return []
            ids = (verse_id(str(self.book), int(self._chapter or 0), v) for v in range(ends[0], ends[-1] + 1))
            found |= dict.fromkeys(verse for verse in ids if verse)
        return list(found)


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
    """Catalogue editions whose books are files."""
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
