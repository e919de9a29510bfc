"""The XML of Beblia, a collection of a thousand Bibles: one file per edition.

``<book number="40">``, ``<chapter number="1">`` and ``<verse number="1">`` hold the verses; an empty one is missing.
Books with a number above 66 are left out. The first element gives title and licence.
"""

from functools import partial

from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.format import Format, begins_as_xml
from langdiff.corpora.formats.verse_xml import BookEvents, catalogue_verse_xml

SUFFIXES = suffixes_of(".xml")


class BebliaEvents(BookEvents):
    """Handler of the elements of Beblia's XML."""

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""
        number = attributes.get("number", "")
        match tag:
            case "bible":
                given = {"title": attributes.get("translation"), "licence": attributes.get("status")}
                self.said |= {column: [value] for column, value in given.items() if value}
            case "book":
                self.begin_numbered_book(number, "")
            case "chapter":
                self.content.begin_chapter(number, self.where())
            case "verse":
                self.begin_verse_element(partial(self.content.begin_verse, number))
            case _ if self.content.in_verse:
                self.unknown_element(tag)

    def finish(self, tag: str) -> None:
        """Process the end of an element."""
        if tag == "verse" and not self._hidden:
            self.content.end_verse()
        super().finish(tag)


FORMAT = Format(
    name="beblia",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_verse_xml, suffixes=SUFFIXES, events=BebliaEvents),
    options=("ranges",),
    beginning=begins_as_xml(r"book\s+number="),
)
