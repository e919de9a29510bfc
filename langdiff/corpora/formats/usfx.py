"""USFX, the XML of eBible.org and the World English Bible: one file per edition.

A verse goes from ``<v id="1"/>`` to ``<ve/>``, or to where the next verse or chapter begins. Most elements have the
names of the markers of USFM, or name one (``<p sfm="pi">``), and mean the same: see `langdiff.corpora.formats.usfm`.
"""

from functools import partial

from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.format import Format, begins_as_xml
from langdiff.corpora.formats.verse_xml import BookEvents, catalogue_verse_xml

SUFFIXES = suffixes_of(".usfx", ".xml")
_NO_MARKERS = frozenset(["usfx", "table", "milestone", "wtp", "periph"])  # which mark nothing by themselves


class UsfxEvents(BookEvents):
    """Handler of the elements of USFX."""

    signs = ("<book>", "<c>", "<v>")

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""
        match tag:
            case "languageCode" | "id":
                self.hide()
            case "book":
                self.content.begin_book(attributes.get("id", ""), self.where())
            case "c":
                self.content.begin_chapter(attributes.get("id", ""), self.where())
            case "v":
                self.content.begin_verse(attributes.get("id", ""), self.where())
            case "ve" | "ce":
                self.content.end_verse()
            case "optionalLineBreak" | "sectionBoundary":
                self.content.add(" ")
            case "generated" | "rem":
                self.hide()
            case _ if tag not in _NO_MARKERS:
                self.begin_style(attributes.get("sfm") or tag, is_paragraph=tag in ("p", "q"))

    def data(self, text: str) -> None:
        """Process text."""
        super().data(text)
        if self.open[-1:] == ["languageCode"]:
            self.said.setdefault("language", []).append(text)


FORMAT = Format(
    name="usfx",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_verse_xml, suffixes=SUFFIXES, events=UsfxEvents),
    options=("ranges", "markers"),
    beginning=begins_as_xml(r"usfx\b"),
)
