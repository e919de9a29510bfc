"""The XML Bibles of Christodoulopoulos & Steedman (2015): one file per edition, one ``<seg>`` per verse.

A file is XML in UTF-8 with one ``<seg id="b.GEN.1.1" type="verse">`` per verse. Its header gives language
(``<language iso639="deu">``), title and licence. Books have the codes of USFM, or those of this corpus where they
differ (``b.MAR`` is Mark). White space, which the files use for indentation, becomes single. Notes are left out.
"""

import re
from dataclasses import dataclass

from langdiff.base.archives import File
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import Collected, VerseText, catalogue_verses, collected, verse_id
from langdiff.corpora.formats.format import Format, Reading, begins_as_xml
from langdiff.corpora.formats.verse_xml import OpenVerse, VerseEvents, read_verses
from langdiff.corpora.versifications import UNNUMBERED
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".xml")
_ID = re.compile(r"b\.([A-Za-z0-9]{3})\.([0-9]{1,3})\.([0-9]{1,3})")
_SAID = {"h.title": "title", "availability": "licence", "language": "language_name"}
_USFM = {  # the corpus's own codes: those of USFM
    "SON": "SNG", "EZE": "EZK", "JOE": "JOL", "NAH": "NAM", "MAR": "MRK", "JOH": "JHN", "PHI": "PHP", "PHL": "PHP",
    "PLM": "PHM", "JAM": "JAS", "1JO": "1JN", "2JO": "2JN", "3JO": "3JN",
}  # fmt: skip


@dataclass(frozen=True)
class CesText(VerseText):
    """Source of the verses of one file."""

    def collect(self, header: dict[str, str], faults: Faults, *, with_texts: bool) -> Collected:
        """Return the verses of the file; store attributes from its header in `header`."""
        events = _CesEvents(self.file, faults)
        read_verses(self.file, events, errors=self.decode_errors)
        header.update(events.header())
        return collected(events.verses.items(), with_texts=with_texts)


def catalogue(reading: Reading) -> Multitext:
    """Catalogue Bibles in the Corpus Encoding Standard."""
    return catalogue_verses(reading, reading.files(SUFFIXES), CesText)


class _CesEvents(VerseEvents):
    """Handler of XML events that collects the verses and the attributes of the edition in the header."""

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file, "missing", faults)
        self._depth = 0  # of the verse

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "language" and "cesHeader" in self.open:
            self.language = self.language or attributes.get("iso639", "")
        if tag == "seg" and attributes.get("type") == "verse":
            verse = self._id(attributes.get("id", ""))
            self.begin_verse(OpenVerse([verse] if verse else [], False, self.where()))
            self._depth = len(self.open)

    def data(self, text: str) -> None:
        if self.verse is not None:
            if "note" not in self.open:
                self.verse.pieces.append(text)
        elif self.open and self.open[-1] in _SAID and "cesHeader" in self.open:
            self.said.setdefault(_SAID[self.open[-1]], []).append(text)

    def finish(self, _: str) -> None:
        if len(self.open) == self._depth:
            self.end_verse()

    def _id(self, given: str) -> str | None:
        match = _ID.fullmatch(given)
        if not match:
            self.fault(f"expected the id of a verse as 'b.GEN.1.1', got {given[:40]!r}.", given[:40] or None)
            return None
        book = _USFM.get(match[1].upper(), match[1].upper())
        if book in UNNUMBERED:
            self.left_out[book] = None
            return None
        verse = verse_id(book, int(match[2]), int(match[3]))
        if verse is None:
            self.fault(f"verse {given!r} is of an unknown book.", given)
        return verse


FORMAT = Format(
    name="ces",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_as_xml(r"cesDoc\b|seg\b[^>]*\btype=.verse"),
)
