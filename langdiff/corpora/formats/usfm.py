r"""USFM (2 or 3), the format of Bible translators: one folder or archive per edition, one file per book.

The files of one folder, or of one zip archive, are one edition and named after it (``_usfm`` at the end is cut
off); a file that is alone in its folder is named after itself, or after the folder where another folder has a lone
file of the same name (``deu/MRK.usfm``, ``fin/MRK.usfm``). In a book, the text of a verse goes from its ``\v``
to the next, over as many paragraphs and lines of poetry as there are; parts of a verse (``2a``, ``2b``) are joined,
and ``\v 3-5`` is three verses that were translated together. Headings, titles, notes, cross-references, figures,
sidebars, introductions, alternative numbers and attributes of words are left out, and so are Psalm titles (``\d``,
unless a verse begins in them), the names of letters in acrostics (``\qa``) and markers of the user's own (``\z…``)
with what they hold. White space becomes single, ``~`` a no-break space and ``//`` a space.
"""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langdiff.base.archives import File, Member, is_archive
from langdiff.base.io import read_lines
from langdiff.base.types import Ranges
from langdiff.corpora.faults import Damage, Faults, Place
from langdiff.corpora.files import Paths, edition_of, files_in, keep, suffixes_of
from langdiff.corpora.formats.bible import Collected, Verses, VerseText, catalogue_verses, collected, verse_id
from langdiff.corpora.formats.format import Format, Reading, begins_with
from langdiff.corpora.versifications import NUMBERS, UNNUMBERED
from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext

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
PARAGRAPHS = frozenset(_TEXT.split())
HEADINGS = frozenset(_HEADING.split())
STYLES = frozenset(_STYLE.split())
NOTES = frozenset(_NOTE.split())
IN_NOTES = frozenset(_IN_NOTE.split())
SIDEBARS = {"esb": "esbe", "erq": "erqe"}  # hidden from the one to the other, with the paragraphs between
_LEVEL = re.compile(r"[0-9]+(?:-[0-9]+)?(e?)\Z")
# a milestone, \ts\* or \qt-s |who="P"\*; a marker; a backslash that is neither
_TOKEN = re.compile(
    r"\\[a-z][a-z0-9]*(?:-[se])?[ \t\n]*(?:\|[^\\]*)?\\\*"
    r"|\\(?P<nested>\+?)(?P<name>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)?)(?P<end>\*)?"
    r"|\\"
)
_MARKS = "[\u200e\u200f]*"  # of direction: right-to-left texts have them around the hyphen
_NUMBER = rf"{_MARKS}([0-9]{{1,3}})([a-z]?){_MARKS}"
_VERSE = re.compile(rf"[ \t\n]*((?:{_NUMBER}[-\u2010-\u2013,])*{_NUMBER})(?=[ \t\n\u00a0~\\]|\Z)")
_CHAPTER = re.compile(r"[ \t\n]*([0-9]{1,3})(?=[ \t\n\\]|\Z)")
_ATTRIBUTES = re.compile(r"[ \t]*\|[^\\\n]*")
_STOP = re.compile(r"\\[vc][ \t\n]")
_MAX_OWN = 10_000  # characters in a style of the user's own
_BOOK = re.compile(r"[ \t]*([0-9A-Za-z]{3})(?=[^0-9A-Za-z]|\Z)")


@dataclass
class _Verse:
    ids: list[str]  # empty if the book has no number
    part: bool
    where: Place
    pieces: list[str]


class UsfmBook:
    """Reader of the text of one file into `verses`.

    Parameters
    ----------
    file : Path or Member
        The file, for messages.
    text : str
        Text in USFM.
    verses : Verses
        Collection to which the verses are added.

    Attributes
    ----------
    left_out : list of str
        Books with verses but without number.
    """

    def __init__(self, file: File, text: str, verses: Verses, damage: Damage) -> None:
        self.left_out: list[str] = []
        self._damage = damage
        self._file, self._text, self._verses = file, text, verses
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._book: str | None = None
        self._chapter: int | None = None
        self._verse: _Verse | None = None
        self._is_text = False  # whether the paragraph is
        self._styles = 0  # number of open ones; only in them does | begin attributes
        self._note: tuple[str, int] | None = None  # name and place of an open note or sidebar

    def read(self) -> None:
        """Read the whole text.

        Raises
        ------
        DataError
            If it is not USFM; the message names file and line.
        """
        after = 0  # where the text after the marker before begins
        for token in _TOKEN.finditer(self._text):
            if token.start() < after:
                continue
            self._add(self._text[after : token.start()])
            after = self._meet(token)
        self._add(self._text[after:])
        self._refuse_open_note()
        self._end_verse()
        if self._book is None and self._text.strip():
            raise DataError(f"{self._file}: has no \\id, so that it is not a book in USFM.")

    def _where(self, place: int) -> Place:
        return Place(self._file, bisect_left(self._line_ends, place) + 1)

    def _add(self, text: str) -> None:
        if self._verse is not None and self._is_text and not self._note:
            self._verse.pieces.append(text.partition("|")[0] if self._styles else text)

    def _meet(self, token: re.Match[str]) -> int:
        """Process a marker; return the position of the text after it."""
        name = token["name"]
        if name is None:
            if len(token[0]) == 1:
                raise DataError(f"{self._where(token.start())}: a backslash that begins no marker.")
            return token.end()  # a milestone
        if self._note:
            self._meet_in_note(token, name, self._note[0])
            return token.end()
        if begin := {"v": self._begin_verse, "c": self._begin_chapter, "id": self._begin_book}.get(name):
            return begin(token)
        return self._meet_other(token, name, _LEVEL.sub(r"\1", name))

    def _meet_other(self, token: re.Match[str], name: str, base: str) -> int:
        if base in STYLES:
            return self._meet_style(token)
        if base in PARAGRAPHS or base in HEADINGS:
            self._begin_paragraph(base)
        elif base in NOTES or name in SIDEBARS:
            if not token["end"]:  # an end without beginning hides nothing
                self._note = name, token.start()
        elif name.startswith("z") or name.endswith(("-s", "-e")):
            return self._meet_own(token, name)
        elif base in IN_NOTES and self._verse is not None:
            raise DataError(
                f"{self._where(token.start())}: \\{name} belongs into a note, so that it is not known whether what "
                "follows is part of a verse. Put it between \\f and \\f*, or remove it."
            )
        elif self._verse is not None:  # elsewhere it hides nothing and adds nothing
            raise DataError(
                f"{self._where(token.start())}: unknown marker \\{name}, so that it is not known whether what follows "
                "is part of a verse. Remove it or replace it by a marker of USFM 3.1."
            )
        return token.end()

    def _meet_in_note(self, token: re.Match[str], name: str, note: str) -> None:
        if name == SIDEBARS.get(note, note) and (token["end"] or note in SIDEBARS):
            self._note = None
        elif name in ("v", "c", "id") or (name in PARAGRAPHS and note not in SIDEBARS):
            self._refuse_open_note()

    def _refuse_open_note(self) -> None:
        if self._note:
            name, place = self._note
            end = f"\\{SIDEBARS.get(name, f'{name}*')}"
            raise DataError(f"{self._where(place)}: \\{name} has no end {end}, so that it would hide the text below.")

    def _begin_paragraph(self, base: str) -> None:
        self._styles = 0
        self._is_text = base in PARAGRAPHS
        if base == "periph":
            self._end_verse()
        if self._verse is not None:
            self._verse.pieces.append(" ")

    def _meet_style(self, token: re.Match[str]) -> int:
        if token["end"]:
            self._styles = max(0, self._styles - 1)
            return token.end()
        self._styles = self._styles + 1 if token["nested"] else 1
        # one space belongs to the marker
        return token.end() + (self._text[token.end() : token.end() + 1] in (" ", "\n"))

    def _meet_own(self, token: re.Match[str], name: str) -> int:
        r"""Skip a user-defined marker, ``\z...``, with its content."""
        place, after = token.span()
        if token["end"]:
            return after
        end = self._text.find(f"\\{name}*", after, after + _MAX_OWN)
        stop = _STOP.search(self._text, after, after + _MAX_OWN)
        if end >= 0 and (stop is None or end < stop.start()):
            return end + len(name) + 2
        if name.endswith(("-s", "-e")):  # a milestone of old, without its \*
            attributes = _ATTRIBUTES.match(self._text, after)
            return attributes.end() if attributes else after
        if self._text[self._text.rfind("\n", 0, place) + 1 : place].strip(" \t"):
            raise DataError(f"{self._where(place)}: \\{name} has no end \\{name}*.")
        self._begin_paragraph("rem")  # a paragraph of their own: not known to be text
        return after

    def _begin_book(self, token: re.Match[str]) -> int:
        match = _BOOK.match(self._text, token.end())
        code = match[1].upper() if match else ""
        if code not in NUMBERS and code not in UNNUMBERED:
            raise DataError(f"{self._where(token.start())}: \\id without the code of a book, such as GEN.")
        self._end_verse()
        self._book, self._chapter, self._is_text, self._styles = code, None, False, 0
        return token.end()

    def _begin_chapter(self, token: re.Match[str]) -> int:
        match = _CHAPTER.match(self._text, token.end())
        if not match:
            raise DataError(f"{self._where(token.start())}: \\c without a number.")
        if self._book is None:
            raise DataError(f"{self._where(token.start())}: a chapter before \\id, so that its book is not known.")
        self._end_verse()
        self._chapter, self._is_text, self._styles = int(match[1]), True, 0  # some files have no \p before \v
        return match.end()

    def _begin_verse(self, token: re.Match[str]) -> int:
        place = token.start()
        match = _VERSE.match(self._text, token.end())
        if not match:
            shown = self._text[token.end() : token.end() + 12].strip()
            raise DataError(f"{self._where(place)}: expected the number of a verse after \\v, got {shown!r}.")
        if self._book is None or self._chapter is None:
            missing = "\\id" if self._book is None else "\\c"
            raise DataError(
                f"{self._where(place)}: a verse before {missing}, so that its book and chapter are not known."
            )
        self._end_verse()
        if self._book in UNNUMBERED:
            self.left_out.append(self._book)
            ids: list[str] = []
        else:
            ids = self._ids(match[1], place)
        self._verse = _Verse(ids, bool(re.search("[a-z]", match[1])), self._where(place), [])
        self._is_text, self._styles = True, 0
        return match.end()

    def _ids(self, numbers: str, place: int) -> list[str]:
        """Return the ids that ``3``, ``3a``, ``3-5`` or ``3,5`` denote."""
        found: dict[str, None] = {}
        for stretch in numbers.split(","):
            ends = [int(number) for number in re.findall("[0-9]+", stretch)]
            if len(ends) > 2 or ends[-1] < ends[0]:
                raise DataError(f"{self._where(place)}: {numbers!r} is not a range of verses.")
            ids = (verse_id(str(self._book), int(self._chapter or 0), v) for v in range(ends[0], ends[-1] + 1))
            found |= dict.fromkeys(verse for verse in ids if verse)
        return list(found)

    def _end_verse(self) -> None:
        if self._verse is not None and self._verse.ids:
            text = "".join(self._verse.pieces).replace("//", " ").replace("~", "\u00a0")
            damaged = self._damage.is_in(text, self._verse.where, self._verse.ids[0])
            self._verses.add(self._verse.ids, None if damaged else text, self._verse.where, part=self._verse.part)
        self._verse = None


SUFFIXES = suffixes_of(".usfm", ".sfm", ".ptx")


@dataclass(frozen=True)
class UsfmText(VerseText):
    """Source of the verses in the books of an edition.

    Attributes
    ----------
    books : tuple of Path or Member
        The files of the books; `file` is the folder or archive that they are in, or the only one of them.
    ranges : {"missing", "merge"}
        Treatment of a text that stands for several verses.
    """

    books: tuple[File, ...]
    ranges: Ranges = "missing"

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the books."""
        verses = Verses(self.ranges, faults)
        left_out: dict[str, None] = {}
        for file in self.books:
            damage = Damage(file, faults)
            text = "\n".join(line for _, line in read_lines(file, errors=self.decode_errors, on_fault=damage.note))
            book = UsfmBook(file, text, verses, damage)
            book.read()
            damage.close()
            left_out |= dict.fromkeys(book.left_out)
        if left_out:
            header["left_out"] = " ".join(left_out)
        return collected(verses.items(), with_texts=with_texts)


def catalogue(reading: Reading) -> Multitext:
    """Catalogue Bibles in USFM."""
    groups = keep(_groups(reading.path), reading.editions)
    books = {place: tuple(files) for place, files in groups.values()}

    def text_of(place: File, **how: Any) -> UsfmText:
        return UsfmText(place, books[place], reading.ranges, **how)

    return catalogue_verses(reading, {edition: place for edition, (place, _) in groups.items()}, text_of)


def _groups(path: Paths) -> dict[str, tuple[File, list[File]]]:
    """Return the place and the books of every edition."""
    if isinstance(path, Mapping):
        named = {str(edition): files_in(one, SUFFIXES) for edition, one in path.items()}
        return {edition: (Path(path[edition]).absolute(), files) for edition, files in named.items()}
    together: dict[Path, list[File]] = {}
    for file in dict.fromkeys(files_in(path, SUFFIXES)):
        together.setdefault(file.archive if isinstance(file, Member) else file.parent, []).append(file)
    groups: dict[str, tuple[File, list[File]]] = {}
    lone = Counter(files[0].name for files in together.values() if len(files) == 1)
    for folder, files in sorted(together.items()):
        alone = len(files) == 1 and lone[files[0].name] == 1 and not isinstance(files[0], Member)
        place = files[0] if alone else folder
        name = edition_of(place, (*SUFFIXES, ".zip")) if alone or is_archive(place) else folder.name
        edition = name.removesuffix("_usfm")
        if edition in groups:
            raise DataError(
                f"two places are edition {edition!r}: {groups[edition][0]} and {place}. "
                "Rename one, or give the places by edition, as a mapping."
            )
        groups[edition] = place, files
    return dict(sorted(groups.items()))


FORMAT = Format(
    name="usfm",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    options=("ranges",),
    beginning=begins_with(r"\\"),
)
