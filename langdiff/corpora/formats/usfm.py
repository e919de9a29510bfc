r"""USFM (2 or 3), the format of Bible translators: one folder or archive per edition, one file per book.

The files of one folder, or of one zip archive, are one edition and named after it (``_usfm`` at the end is cut
off); a file that is alone in its folder is named after itself, or after the folder where another folder has a lone
file of the same name (``deu/MRK.usfm``, ``fin/MRK.usfm``). In a book, the text of a verse goes from its ``\v``
to the next, over as many paragraphs and lines of poetry as there are; parts of a verse (``2a``, ``2b``) are joined,
and ``\v 3-5`` is three verses that were translated together. Headings, titles, notes, cross-references, figures,
sidebars, introductions, alternative numbers and attributes of words are left out, and so are Psalm titles (``\d``,
unless a verse begins in them), the names of letters in acrostics (``\qa``) and markers of the user's own (``\z…``;
others are what the option ``markers`` says) with what they hold. White space becomes single, ``~`` a no-break space and
``//`` a space.
"""

import re
from bisect import bisect_left
from collections.abc import Mapping
from functools import partial

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.types import OwnKind
from langdiff.corpora.faults import Damage, Faults, Place
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.formats.format import Format, begins_with
from langdiff.corpora.formats.usfm_markers import (
    SIDEBARS,
    VERSE_NUMBERS,
    BooksText,
    BookText,
    base_of,
    catalogue_books,
    kind_of,
)
from langdiff.errors import DataError, option

# a milestone, \\ts\\* or \\qt-s |who="P"\\*; a marker; a backslash that is neither
_TOKEN = re.compile(
    r"\\[a-z][a-z0-9]*(?:-[se])?[ \t\n]*(?:\|[^\\]*)?\\\*"
    r"|\\(?P<nested>\+?)(?P<name>[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)?)(?P<end>\*)?"
    r"|\\"
)
_VERSE = re.compile(rf"[ \t\n]*({VERSE_NUMBERS})(?=[ \t\n\u00a0~\\]|\Z)")
_CHAPTER = re.compile(r"[ \t\n]*([0-9]{1,3})(?=[ \t\n\\]|\Z)")
_ATTRIBUTES = re.compile(r"[ \t]*\|[^\\\n]*")
_STOP = re.compile(r"\\[vc][ \t\n]")
_MAX_OWN = 10_000  # characters in a style of the user's own
_BOOK = re.compile(r"[ \t]*([0-9A-Za-z]{3})(?=[^0-9A-Za-z]|\Z)")


class UsfmBook:
    """Reader of the text of one file into verses.

    Parameters
    ----------
    file : Path or Member
        The file, for messages.
    text : str
        Text in USFM.
    verses : Verses
        Collection to which the verses are added.
    damage : Damage
        Lines of the file that are not text.
    own : mapping from str to {"char", "note", "para", "skip"}
        Markers that the user has declared.

    Attributes
    ----------
    content : BookText
        The book that the markers make.
    """

    def __init__(
        self, file: File | str, text: str, verses: Verses, damage: Damage, own: Mapping[str, OwnKind] | None = None
    ) -> None:
        self.content = BookText(file, verses, damage)
        self._file, self._text, self._own = file, text, own or {}
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._styles = 0  # number of open ones; only in them does | begin attributes
        self._note: tuple[str, int] | None = None  # name and place of an open note or sidebar

    def read(self) -> None:
        """Read the whole text.

        Raises
        ------
        DataError
            If it is not USFM, or not known of which book; the message names file and line.
        """
        after = 0  # where the text after the marker before begins
        for token in _TOKEN.finditer(self._text):
            if token.start() < after or self._escapes_a_quote(token, after):
                continue
            self._add(self._text[after : token.start()])
            after = self._meet(token)
        self._add(self._text[after:])
        self._close_note()
        self.content.end_file()
        if self.content.book is None and self._text.strip():
            raise DataError(f"{self._file}: has no \\id, so that it is not a book in USFM.")

    def _escapes_a_quote(self, token: re.Match[str], after: int) -> bool:
        r"""Return whether a token is the backslash of ``\"`` in attributes, which begin after a text's ``|``."""
        return self._text[token.start() : token.end() + 1] == '\\"' and "|" in self._text[after : token.start()]

    def _where(self, place: int) -> Place:
        return Place(self._file, bisect_left(self._line_ends, place) + 1)

    def _fault(self, place: int, what: str) -> None:
        self.content.fault(what, self._where(place))

    def _add(self, text: str) -> None:
        if not self._note:
            shown = text.partition("|")[0] if self._styles else text
            self.content.add(shown.replace("//", " ").replace("~", "\u00a0"))

    def _meet(self, token: re.Match[str]) -> int:
        """Process a marker; return the position of the text after it."""
        name = token["name"]
        if name is None:
            if len(token[0]) == 1:
                self._fault(token.start(), "a backslash that begins no marker.")
            return token.end()  # a milestone
        if self._note and self._is_in_note(token, name, self._note[0]):
            return token.end()
        if begin := {"v": self._begin_verse, "c": self._begin_chapter, "id": self._begin_book}.get(name):
            return begin(token)
        return self._meet_other(token, name)

    def _meet_other(self, token: re.Match[str], name: str) -> int:
        match kind_of(name, self._own):
            case "char":
                return self._meet_style(token)
            case "text" | "heading" as kind:
                self._styles = 0
                if name == "periph":
                    self.content.end_verse()
                self.content.begin_paragraph(is_text=kind == "text")
            case "note" | "sidebar":
                if not token["end"]:  # an end without beginning hides nothing
                    self._note = name, token.start()
            case "skip":
                return self._meet_own(token, name)
            case "in note" if self.content.in_verse:
                what = (
                    f"\\{name} belongs into a note, so that it is not known whether what follows is part of a verse. "
                    "Put it between \\f and \\f*, or remove it."
                )
                self._fault(token.start(), what)
            case None if self.content.in_verse:  # elsewhere it hides nothing and adds nothing
                what = (
                    f"unknown marker \\{name}, so that it is not known whether what follows is part of a verse. Say "
                    f"what it is, {option('markers', {name: 'char'})}, remove it or replace it by a marker of USFM 3.1."
                )
                self._fault(token.start(), what)
        return token.end()

    def _is_in_note(self, token: re.Match[str], name: str, note: str) -> bool:
        """Return whether a marker met in a note or sidebar belongs to it; close the note where it ends."""
        if name == SIDEBARS.get(note, note) and (token["end"] or note in SIDEBARS):
            self._note = None
        elif name in ("v", "c", "id") or (note not in SIDEBARS and name == base_of(name) and self._is_text(name)):
            self._close_note()
            return False
        return True

    def _is_text(self, name: str) -> bool:
        return kind_of(name, self._own) == "text"

    def _close_note(self) -> None:
        """Close a note that has no end: the verse that it begins in is left out."""
        if self._note:
            name, place = self._note
            self._note = None
            end = f"\\{SIDEBARS.get(name, f'{name}*')}"
            self._fault(place, f"\\{name} has no end {end}, so that it would hide the text below.")

    def _meet_style(self, token: re.Match[str]) -> int:
        self.content.mark(">" if token["end"] else "<")
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
            self._fault(place, f"\\{name} has no end \\{name}*.")
            return after
        self._styles = 0
        self.content.begin_paragraph(is_text=False)  # a paragraph of their own: not known to be text
        return after

    def _begin_book(self, token: re.Match[str]) -> int:
        match = _BOOK.match(self._text, token.end())
        self._styles = 0
        self.content.begin_book(match[1] if match else "", self._where(token.start()))
        return token.end()

    def _begin_chapter(self, token: re.Match[str]) -> int:
        match = _CHAPTER.match(self._text, token.end())
        self._styles = 0
        self.content.begin_chapter(match[1] if match else "", self._where(token.start()))
        return match.end() if match else token.end()

    def _begin_verse(self, token: re.Match[str]) -> int:
        match = _VERSE.match(self._text, token.end())
        self._styles = 0
        shown = self._text[token.end() : token.end() + 12].split(maxsplit=1)
        numbers = match[1] if match else f"{shown[0] if shown else ''}…"  # … is in no number
        self.content.begin_verse(numbers, self._where(token.start()))
        return match.end() if match else token.end()


SUFFIXES = suffixes_of(".usfm", ".sfm", ".esfm", ".ptx")


class UsfmText(BooksText):
    """Source of the verses in the books of an edition."""

    def read_book(self, file: File, verses: Verses, faults: Faults) -> BookText:
        """Read one file and add its verses; return the content of the book."""
        damage = Damage(file, faults)
        text = "\n".join(line for _, line in read_lines(file, errors=self.decode_errors, on_fault=damage.note))
        book = UsfmBook(file, text, verses, damage, self.markers)
        book.read()
        damage.close()
        return book.content


FORMAT = Format(
    name="usfm",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_books, suffixes=SUFFIXES, source=UsfmText),
    options=("ranges", "markers"),
    beginning=begins_with(r"\\"),
)
