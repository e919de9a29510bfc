"""OSIS 2.1, the XML in which Bible societies and SWORD exchange Bibles: one file per edition.

A verse is an element, ``<verse osisID="Gen.1.1">…</verse>``, or what stands between ``<verse sID="Gen.1.1"
osisID="Gen.1.1"/>`` and ``<verse eID="Gen.1.1"/>``; one with several ids is several verses that were translated
together. Titles (but not verses that begin in one), notes, figures and variant readings are left out; words, added
words, names and poetry are kept. The ``marker`` of a ``<q>`` or ``<milestone type="cQuote">`` is a quotation mark;
that of other milestones (a paragraph's ``¶``) is not text. White space becomes single.
"""

import re
from typing import Any

from langdiff.base.iso639 import iso639_3
from langdiff.corpora.faults import LANGUAGE
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.bible import verse_id
from langdiff.corpora.formats.format import Format, Reading, begins_as_xml
from langdiff.corpora.formats.usfm_markers import Verse
from langdiff.corpora.formats.verse_xml import BookEvents, catalogue_verse_xml
from langdiff.corpora.versifications import BOOKS
from langdiff.errors import listing, warn
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".xml", ".osis")
_NAMES = (  # the books of BOOKS, in the same order
    "Gen Exod Lev Num Deut Josh Judg Ruth 1Sam 2Sam 1Kgs 2Kgs 1Chr 2Chr Ezra Neh Esth Job Ps Prov Eccl Song Isa Jer "
    "Lam Ezek Dan Hos Joel Amos Obad Jonah Mic Nah Hab Zeph Hag Zech Mal Matt Mark Luke John Acts Rom 1Cor 2Cor Gal "
    "Eph Phil Col 1Thess 2Thess 1Tim 2Tim Titus Phlm Heb Jas 1Pet 2Pet 1John 2John 3John Jude Rev "
    "Tob Jdt EsthGr Wis Sir Bar EpJer SgThree Sus Bel 1Macc 2Macc 3Macc 4Macc 1Esd 2Esd PrMan AddPs Odes PssSol"
)
# books of OSIS that have no number of two digits
_OTHER = "4Ezra 5Ezra 6Ezra DanGr AddDan AddEsth 5ApocSyrPss 2Bar 4Bar EpBar Jub 1En 1Meq 2Meq 3Meq Reproof EpLao"
_UNNUMBERED = frozenset(_OTHER.split())
_BOOK = dict(zip(_NAMES.split(), BOOKS, strict=True)) | {"PrAzar": "S3Y"}
# [work:]Book.chapter.verse[!part]
_ID = re.compile(r"(?:[\w.]+:)?([0-9A-Za-z]+)\.([0-9]{1,3})\.([0-9]{1,3})(![\w.]+)?")
_SAID = {"title": "title", "rights": "licence", "date": "year"}
_NOT_TEXT = frozenset({"note", "title", "figure", "header", "speaker", "rdg", "del"})
_BREAKS = frozenset({"p", "l", "lg", "lb", "div", "chapter", "list", "item", "table", "row", "cell"})


def catalogue(reading: Reading) -> Multitext:
    """Catalogue Bibles in OSIS, and warn of books that OSIS does not know."""
    multitext = catalogue_verse_xml(reading, SUFFIXES, OsisEvents)
    if "left_out" in multitext.edition_info:
        left_out = multitext.edition_info["left_out"].dropna().str.split()
        unknown = {edition: [book for book in books if book not in _UNNUMBERED] for edition, books in left_out.items()}
        if said := [f"{edition} has {listing(books)}" for edition, books in unknown.items() if books]:
            warn(
                f"books of {len(said)} edition(s) are left out because their names are not those of OSIS: "
                f"{'; '.join(said[:5])}. Rename them to Gen, Exod, Matt, …."
            )
    return multitext


class OsisEvents(BookEvents):
    """Handler of XML events that collects the verses and the attributes of the edition in the header."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._work: str | None = None  # the work whose header is used
        self._is_own_work = False
        self._titles = 0  # of these, the titles that the verse began in: a psalm's title may be its first verse
        self._late: set[str | None] = set()  # ends of verses that others began in
        self._n_ends = self._n_fitting = 0

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element."""
        self._meet_mark("<", tag)
        if tag in _NOT_TEXT:
            self._hidden += 1
        if tag == "osisText":
            self._work = attributes.get("osisIDWork")
            self.said["language"] = [iso639_3(attributes.get(LANGUAGE, "").partition("-")[0]) or ""]
        elif tag == "work":
            self._is_own_work = attributes.get("osisWork") == self._work
        elif tag == "verse" and "eID" in attributes:
            self._end_milestone(attributes["eID"])
        elif tag == "verse":
            self._begin_verse(attributes)
        elif tag == "q" or (tag == "milestone" and attributes.get("type") == "cQuote"):  # quotation marks
            self.data(attributes.get("marker", ""))
        elif tag in _BREAKS:
            self.data(" ")

    def data(self, text: str) -> None:
        """Process text."""
        if self.content.in_verse and self._hidden <= self._titles:
            self.content.add(text)
        elif self._is_own_work and self.open[-2:-1] == ["work"] and self.open[-1] in _SAID:
            self.said.setdefault(_SAID[self.open[-1]], []).append(text)

    def _meet_mark(self, side: str, tag: str) -> None:
        if not self._hidden and tag not in _NOT_TEXT:
            self.content.mark(side)

    def finish(self, tag: str) -> None:
        """Process the end of an element."""
        self._meet_mark(">", tag)
        if tag in _NOT_TEXT:
            self._hidden -= 1
            self._titles = min(self._titles, self._hidden)
        elif tag == "work":
            self._is_own_work = False
        elif tag in _BREAKS:
            self.data(" ")
        elif tag == "verse" and (verse := self.content.verse) is not None and verse.end is None:
            self.content.end_verse()

    def close(self) -> None:
        """Process the end of the file."""
        if (verse := self.content.verse) is not None:
            self.content.fault(f"this verse has no end (no <verse eID={verse.end!r}/>).", verse.where)
        super().close()
        if self._n_ends and not self._n_fitting:
            raise self.unusable(f"none of the {self._n_ends:,} ends of verses (eID) fits the beginning (sID) of one.")

    def _begin_verse(self, attributes: dict[str, str]) -> None:
        given = (attributes.get("osisID") or attributes.get("sID") or "").split()
        ids: dict[str, None] = {}
        faults, part = set() if given else {"osisID"}, False
        if not given:
            self.fault("this verse has no osisID. Add one, such as 'Gen.1.1'.")
        for one in given:
            is_id, verse, is_part = self._id(one)
            if verse:
                ids[verse] = None
            elif not is_id:
                self.fault(f"expected the id of a verse as 'Gen.1.1', got {one[:40]!r}.", one[:40])
                faults.add(one)
            part = part or is_part
        if (outer := self.content.verse) is not None:
            self._late.add(outer.end)
        end = attributes.get("sID")
        self.begin_verse_element(lambda where: self.content.open(Verse(list(ids), part, where, end, faults=faults)))
        self._titles = self.open.count("title")

    def _end_milestone(self, end: str) -> None:
        """End a verse; an end that is not that of the open verse makes both verses unusable."""
        self._n_ends += 1
        verse = self.content.verse
        if verse is not None and verse.end == end:
            self._n_fitting += 1
            self.content.end_verse()
        elif end in self._late:  # said where the other verse began
            self._late.discard(end)
        else:
            _, its, _ = self._id(end)
            self.fault(f"the end of verse {end[:40]!r}, which is not open.", its or end[:40])
            if its:
                self.verses.spoil([its])
            if verse is not None:
                what = f"this verse ends in line {self.line} as {end[:40]!r}, which is not its sID."
                self.content.fault(what, verse.where)
                if verse.end is not None:
                    self.content.end_verse()

    def _id(self, given: str) -> tuple[bool, str | None, bool]:
        """Return whether it is an id, that of the verse (None if its book has no number), and whether it is a part."""
        match = _ID.fullmatch(given)
        if not match:
            return False, None, False
        book = _BOOK.get(match[1])
        if book is None:
            self.content.left_out.append(match[1])
            return True, None, False
        return True, verse_id(book, int(match[2]), int(match[3])), match[4] is not None


FORMAT = Format(
    name="osis",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    options=("ranges",),
    beginning=begins_as_xml(r"osis\b"),
)
