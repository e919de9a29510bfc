"""USX (2 or 3), the XML of USFM: one folder or archive per edition, one file per book.

Its elements have the markers of USFM as their styles, and mean the same: see `langdiff.corpora.formats.usfm`. A verse
begins at ``<verse number="1"/>`` and ends at ``<verse eid="…"/>`` or, in USX 2, where the next verse or chapter
begins. Notes, figures and sidebars are left out.
"""

from dataclasses import dataclass
from functools import partial

from langdiff.base.archives import File
from langdiff.base.suspicion import SUSPICIONS
from langdiff.corpora.faults import Faults, read_corpus_xml
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.formats.format import Format, begins_as_xml
from langdiff.corpora.formats.usfm_markers import BooksText, BookText, catalogue_books
from langdiff.corpora.formats.verse_xml import BookEvents

SUFFIXES = suffixes_of(".usx", ".xml")


class UsxEvents(BookEvents):
    """Handler of the elements of USX."""

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""
        style, status = attributes.get("style", ""), attributes.get("status", "")
        if (status or tag == "unmatched" or (tag in ("para", "char") and style.endswith(("-s", "-e")))) and (
            self.content.in_verse and self.faults.doubts.applies("unread")
        ):
            shown = f"status={status!r}" if status else style or f"<{tag}>"
            self.content.fault(
                SUSPICIONS["unread"].sentence.format(n=1, seen=1, where=tag, example=shown), self.where()
            )
        if tag in ("chapter", "verse") and "eid" in attributes and "number" not in attributes:
            self.content.end_verse()
        elif tag in ("para", "cell", "char"):
            self.begin_style(attributes.get("style", ""), is_paragraph=tag != "char")
        elif tag in ("note", "figure", "sidebar"):
            self.hide()
        elif tag in ("book", "chapter", "verse"):
            self._begin_part(tag, attributes)
        elif tag not in ("usx", "table", "row", "ms", "ref"):
            self._begin_other(tag, attributes)

    def _begin_part(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "book":
            self.content.begin_book(attributes.get("code", ""), self.where())
            self.hide()  # what stands there is not text
        elif tag == "chapter":
            self.content.begin_chapter(attributes.get("number", ""), self.where())
        else:
            self.content.begin_verse(attributes.get("number", ""), self.where())

    def _begin_other(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "optbreak":
            self.content.add(" ")
        elif tag == "periph":
            self.content.end_verse()
            self.content.begin_paragraph(is_text=False)
        elif tag == "unmatched":  # an end without a beginning
            self.begin_style(attributes.get("marker", "").rstrip("*"))
            self.hide()
        elif self.content.in_verse:
            self.unknown_element(tag)


@dataclass(frozen=True)
class UsxText(BooksText):
    """Source of the verses in the books of an edition."""

    def read_book(self, file: File, verses: Verses, faults: Faults) -> BookText:
        """Read one file and add its verses; return the content of the book."""
        events = UsxEvents(file, verses, faults, self.markers)
        read_corpus_xml(file, events, errors=self.decode_errors)
        return events.content


FORMAT = Format(
    name="usx",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_books, suffixes=SUFFIXES, source=UsxText),
    options=("ranges", "markers"),
    beginning=begins_as_xml(r"usx\b"),
)
