"""Zefania XML, in which some two hundred Bibles were published: one file per edition.

``<BIBLEBOOK bnumber="40">``, ``<CHAPTER cnumber="1">`` and ``<VERS vnumber="1">`` hold the verses. Styles and words
with grammar are text, ``BR`` is a space; notes, captions, cross-references and the like are left out, and so are
books with a number above 66, which differs between files. The language in the header is often wrong: it counts less
than the name of the file.
"""

from functools import partial

from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.format import Format, begins_as_xml
from langdiff.corpora.formats.verse_xml import BookEvents, catalogue_verse_xml

SUFFIXES = suffixes_of(".xml")
_HIDDEN = frozenset(["note", "div", "caption", "xref", "reflink", "prolog", "remark", "media"])
_SAID = {"title": "title", "rights": "licence", "date": "year", "language": "supposed_language"}
_TEXT = frozenset(["style", "gr", "gram", "em", "sup", "xmlbible", "appinfo"])


class ZefaniaEvents(BookEvents):
    """Handler of the elements of Zefania XML."""

    signs = ("<BIBLEBOOK>", "<CHAPTER>", "<VERS>")

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""
        match tag.lower():
            case "biblebook":
                number = attributes.get("bnumber", "")
                self.begin_numbered_book(number, attributes.get("bname", ""))
            case "chapter":
                self.content.begin_chapter(attributes.get("cnumber", ""), self.where())
            case "vers":
                self.begin_verse_element(partial(self.content.begin_verse, attributes.get("vnumber", "")))
            case "br":
                self.content.add(" ")
            case "information":
                self.hide()
            case name if name in _HIDDEN:
                self.hide()
            case name if name not in _TEXT and self.content.in_verse:
                self.unknown_element(tag)

    def data(self, text: str) -> None:
        """Process text."""
        super().data(text)
        if [name.lower() for name in self.open[-2:-1]] == ["information"] and self.open[-1] in _SAID:
            self.said.setdefault(_SAID[self.open[-1]], []).append(text)

    def finish(self, tag: str) -> None:
        """Process the end of an element."""
        if tag.lower() == "vers" and not self._hidden:
            self.content.end_verse()
        super().finish(tag)


FORMAT = Format(
    name="zefania",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_verse_xml, suffixes=SUFFIXES, events=ZefaniaEvents),
    options=("ranges",),
    beginning=begins_as_xml(r"(?i:xmlbible)\b"),
)
