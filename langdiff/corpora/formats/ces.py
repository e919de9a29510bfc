"""The XML Bibles of Christodoulopoulos & Steedman (2015): one file per edition, one ``<seg>`` per verse.

A file is XML in UTF-8 with one ``<seg id="b.GEN.1.1" type="verse">`` per verse. Its header gives language
(``<language iso639="deu">``), title and licence. Books have the codes of USFM, or those of this corpus where they
differ (``b.MAR`` is Mark). White space, which the files use for indentation, becomes single. Notes are left out.
"""

import re
from functools import partial

from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import verse_id
from langdiff.corpora.formats.format import Format, begins_as_xml
from langdiff.corpora.formats.usfm_markers import Verse
from langdiff.corpora.formats.verse_xml import BookEvents, catalogue_verse_xml
from langdiff.corpora.versifications import UNNUMBERED

SUFFIXES = suffixes_of(".xml")
_ID = re.compile(r"b\.([A-Za-z0-9]{3})\.([0-9]{1,3})\.([0-9]{1,3})")
_SAID = {"h.title": "title", "availability": "licence", "language": "language_name"}
_USFM = {  # the corpus's own codes: those of USFM
    "SON": "SNG", "EZE": "EZK", "JOE": "JOL", "NAH": "NAM", "MAR": "MRK", "JOH": "JHN", "PHI": "PHP", "PHL": "PHP",
    "PLM": "PHM", "JAM": "JAS", "1JO": "1JN", "2JO": "2JN", "3JO": "3JN",
}  # fmt: skip


class CesEvents(BookEvents):
    """Handler of XML events that collects the verses and the attributes of the edition in the header."""

    _depth = 0  # of the verse

    def meet(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element that is not hidden."""
        if tag == "language" and "cesHeader" in self.open:
            self.said.setdefault("language", [attributes.get("iso639", "")])
        elif tag == "note":
            self.hide()
        elif tag == "seg" and attributes.get("type") == "verse":
            verse = self._id(attributes.get("id", ""))
            self.begin_verse_element(lambda where: self.content.open(Verse([verse] if verse else [], False, where)))
            self._depth = len(self.open)

    def data(self, text: str) -> None:
        """Process text."""
        super().data(text)
        if self.open and self.open[-1] in _SAID and "cesHeader" in self.open and not self.content.in_verse:
            self.said.setdefault(_SAID[self.open[-1]], []).append(text)

    def finish(self, tag: str) -> None:
        """Process the end of an element."""
        super().finish(tag)
        if len(self.open) == self._depth:
            self.content.end_verse()

    def _id(self, given: str) -> str | None:
        match = _ID.fullmatch(given)
        if not match:
            self.fault(f"expected the id of a verse as 'b.GEN.1.1', got {given[:40]!r}.", given[:40] or None)
            return None
        book = _USFM.get(match[1].upper(), match[1].upper())
        if book in UNNUMBERED:
            self.content.left_out.append(book)
            return None
        verse = verse_id(book, int(match[2]), int(match[3]))
        if verse is None:
            self.fault(f"verse {given!r} is of an unknown book.", given)
        return verse


FORMAT = Format(
    name="ces",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_verse_xml, suffixes=SUFFIXES, events=CesEvents),
    beginning=begins_as_xml(r"cesDoc\b|seg\b[^>]*\btype=.verse"),
)
