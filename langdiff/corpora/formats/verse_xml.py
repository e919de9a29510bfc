"""Bibles in XML: verses with the attributes of the edition, those before a fault kept, one after another."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from langdiff.base.archives import File
from langdiff.base.types import OwnKind, Ranges
from langdiff.base.xml import NotWellFormedError
from langdiff.corpora.faults import Events, Faults, Place, read_corpus_xml
from langdiff.corpora.formats.bible import Collected, Verses, VerseText, catalogue_verses, collected
from langdiff.corpora.formats.format import Reading
from langdiff.corpora.formats.usfm_markers import BookText, check_own_markers, kind_of
from langdiff.corpora.versifications import BOOKS, reference
from langdiff.errors import option
from langdiff.tables.multitext import Multitext

CANON = 66  # books; numbers above mean different books in different files


def read_verses(file: File, events: "BookEvents", *, errors: str) -> None:
    """Read the verses of an XML file; of one that is not well-formed from some place on, those before are kept."""
    try:
        read_corpus_xml(file, events, errors=errors)
    except NotWellFormedError as error:
        if not events.content.last_ids:
            raise
        (fault,) = error.faults
        lost = "" if events.has_ended else f" The verses {events.place()} are lost."
        events.faults.add(file, fault.line, fault.fault + lost, level="rest")


class BookEvents(Events):
    """Handler of XML events that gives books, chapters, verses and their text to a `BookText`.

    Parameters
    ----------
    file : Path or Member
        The file.
    verses : Verses
        Collection to which the verses are added.
    faults : Faults
        What is wrong with the file.
    own : mapping from str to {"char", "note", "para", "skip"}
        Markers of USFM that the user has declared.

    Attributes
    ----------
    content : BookText
        The book that is open.
    said : dict of str to list of str
        By column, the pieces of what the file says of the edition.
    """

    signs = ("<book>", "<chapter>", "<verse>")

    def __init__(self, file: File, verses: Verses, faults: Faults, own: Mapping[str, OwnKind] | None = None) -> None:
        super().__init__(file, faults)
        self.content, self.verses = BookText(file, verses, self.damage, self.signs), verses
        self.said: dict[str, list[str]] = {}
        self._own = own or {}
        self._hidden = 0  # depth of the element that hides what it holds; 0 if there is none
        self._heading = 0  # depth of the heading that is open

    def header(self) -> dict[str, str]:
        """Return the attributes of the edition."""
        said = {column: " ".join("".join(pieces).split()) for column, pieces in self.said.items()}
        said["left_out"] = " ".join(dict.fromkeys(self.content.left_out))
        return {column: value for column, value in said.items() if value}

    def place(self) -> str:
        """Return from where on the verses are lost if the file can be read no further."""
        if ids := self.content.open_ids:
            return f"from {reference(int(ids[0]))} on"
        return f"after {reference(int(self.content.last_ids[-1]))}"

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element, unless another hides it."""
        if not self._hidden:
            self.content.mark("<")
            self.meet(tag, attributes)

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""

    def data(self, text: str) -> None:
        """Process text."""
        if not self._hidden:
            self.content.add(text)

    def finish(self, _: str) -> None:
        """Process the end of an element."""
        if not self._hidden:
            self.content.mark(">")
        if self._hidden == len(self.open):
            self._hidden = 0
        if self._heading == len(self.open):
            self._heading = 0
            self.content.begin_paragraph(is_text=True)

    def close(self) -> None:
        """Process the end of the file."""
        self.content.end_file()

    def hide(self) -> None:
        """Leave out what the element holds that has just begun."""
        self._hidden = len(self.open)

    def unknown_element(self, tag: str) -> None:
        """Add the fault that an element in a verse is unknown."""
        what = f"unknown element <{tag[:40]}>, so that it is not known whether it is part of the verse."
        self.content.fault(what, self.where())

    def begin_numbered_book(self, number: str, name: str) -> None:
        """Begin a book that is known by its number, 1 to 66; others are left out, and their names kept."""
        if number.isascii() and number.isdigit() and 1 <= int(number[:9]) <= CANON:
            self.content.begin_book(BOOKS[int(number) - 1], self.where())
        else:
            self.content.end_verse()
            self.content.left_out.append("_".join(name.split())[:40] or number[:9])
            self.hide()

    def begin_verse_element(self, begin: Callable[[Place], Any]) -> None:
        """Begin a verse that is an element; where it is inside another one, neither can be used."""
        where, outer = self.where(), self.content.verse
        if outer is not None:
            self.content.fault(f"this verse has no end before line {where.line}.", outer.where)
        begin(where)
        if outer is not None:
            self.content.fault(
                f"a verse inside another verse, of line {outer.where.line}. End that verse first.", where
            )

    def begin_style(self, style: str, *, is_paragraph: bool = False) -> None:
        """Begin an element that is styled as a marker of USFM."""
        match kind_of(style, self._own):
            case "text":
                self.content.begin_paragraph(is_text=True)
            case "heading":
                self.content.begin_paragraph(is_text=False)
                self._heading = self._heading or len(self.open)
            case "char":
                if is_paragraph:
                    self.content.begin_paragraph(is_text=True)
            case "note" | "sidebar" | "skip":
                self.hide()
            case "in note" if self.content.in_verse:
                what = f"the style {style!r} belongs into a note, so that it is not known whether this is verse text."
                self.content.fault(what, self.where())
            case None if self.content.in_verse:
                what = (
                    f"unknown style {style!r:.40}, so that it is not known whether this is verse text. Say what it is, "
                    f"{option('markers', {style[:30]: 'char'})}, or replace it by a marker of USFM 3.1."
                )
                self.content.fault(what, self.where())


@dataclass(frozen=True)
class VerseXmlText(VerseText):
    """Source of the verses of one file that holds all books of an edition.

    Attributes
    ----------
    events : type of BookEvents
        Handler of its elements.
    ranges : {"missing", "merge"}
        Treatment of a text that stands for several verses.
    markers : mapping from str to {"char", "note", "para", "skip"}
        Markers of USFM that the user has declared.
    """

    events: type[BookEvents]
    ranges: Ranges = "missing"
    markers: Mapping[str, OwnKind] = field(default_factory=dict)

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the file; store attributes of the edition in `header`."""
        verses = Verses(self.ranges, faults)
        events = self.events(self.file, verses, faults, self.markers)
        read_verses(self.file, events, errors=self.decode_errors)
        header.update(events.header())
        return collected(verses.items(), with_texts=with_texts)


def catalogue_verse_xml(reading: Reading, suffixes: Sequence[str], events: type[BookEvents]) -> Multitext:
    """Catalogue Bibles that have one file per edition, whose elements are those of a handler."""
    check_own_markers(reading.markers)
    text_of = partial(VerseXmlText, events=events, ranges=reading.ranges, markers=reading.markers)
    return catalogue_verses(reading, reading.files(suffixes), text_of)
