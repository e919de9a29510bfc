"""Verses of Bibles in XML with the attributes of the edition; those before a fault are kept."""

from dataclasses import dataclass, field

from langdiff.base.archives import File
from langdiff.base.xml import NotWellFormedError
from langdiff.corpora.faults import Events, Faults, Place, read_corpus_xml
from langdiff.corpora.formats.bible import Verses
from langdiff.corpora.versifications import reference


@dataclass
class OpenVerse:
    """A verse whose end has not been met.

    Attributes
    ----------
    ids : list of str
        Its verse ids; none if its book has no number, or its id is at fault.
    part : bool
        Whether it is a part of a verse.
    where : Place
        Where it begins.
    end : str or None
        What its end is called; None if it is an element.
    pieces : list of str
        Its text so far.
    is_usable : bool
        Whether it can be used.
    """

    ids: list[str]
    part: bool
    where: Place
    end: str | None = None
    pieces: list[str] = field(default_factory=list)
    is_usable: bool = True


class PlacedEvents(Events):
    """Handler of the XML events of a Bible that knows its place in it."""

    def open_ids(self) -> list[str]:
        """Return the ids of the verse that is open."""
        raise NotImplementedError

    def last_ids(self) -> list[str]:
        """Return the ids of the last verse that has ended."""
        raise NotImplementedError

    def place(self) -> str:
        """Return from where on the verses are lost if the file can be read no further."""
        if ids := self.open_ids():
            return f"from {reference(int(ids[0]))} on"
        return f"after {reference(int(self.last_ids()[-1]))}"


class VerseEvents(PlacedEvents):
    """Handler of the XML events of a Bible, which collects its verses and the attributes of the edition.

    Attributes
    ----------
    verses : Verses
        The verses found.
    verse : OpenVerse or None
        The verse that is open.
    left_out : dict of str
        Books that have no number, as its keys.
    language : str
        Code of the language that the header gives.
    said : dict of str to list of str
        By column, the pieces of what the header says.
    """

    def __init__(self, file: File, ranges: str, faults: Faults) -> None:
        super().__init__(file, faults)
        self.verses = Verses(ranges, faults)
        self.verse: OpenVerse | None = None
        self.left_out: dict[str, None] = {}
        self.language = ""
        self.said: dict[str, list[str]] = {}
        self._last: list[str] = []  # ids of the last verse that has ended

    def header(self) -> dict[str, str]:
        """Return the attributes of the edition."""
        said = {column: " ".join("".join(pieces).split()) for column, pieces in self.said.items()}
        said |= {"language": self.language, "left_out": " ".join(self.left_out)}
        return {column: value for column, value in said.items() if value}

    def begin_verse(self, verse: OpenVerse) -> None:
        """Begin a verse; one that is still open cannot be used, and neither can this one."""
        if (outer := self.verse) is not None:
            what = f"this verse begins inside the verse of line {outer.where.line}. End that verse first."
            self.fault(what, *verse.ids[:1])
            self.faults.add(
                self.file,
                outer.where.line,
                f"this verse has no end before line {verse.where.line}.",
                intent=_first(outer),
            )
            outer.is_usable = verse.is_usable = False
            self.end_verse()
        self.verse = verse

    def end_verse(self) -> None:
        """End the verse that is open, if one is."""
        if (verse := self.verse) is not None and verse.ids:
            text = "".join(verse.pieces)
            damaged = self.damage.is_in(text, verse.where, verse.ids[0])
            is_used = verse.is_usable and not damaged
            self.verses.add(verse.ids, text if is_used else None, verse.where, part=verse.part)
            self._last = verse.ids
        self.verse = None

    def open_ids(self) -> list[str]:
        """Return the ids of the verse that is open."""
        return [] if self.verse is None else self.verse.ids

    def last_ids(self) -> list[str]:
        """Return the ids of the last verse that has ended."""
        return self._last


def _first(verse: OpenVerse) -> str | None:
    return verse.ids[0] if verse.ids else None


def read_verses(file: File, events: PlacedEvents, *, errors: str) -> None:
    """Read the verses of an XML file; of one that is not well-formed from some place on, those before are kept.

    Raises
    ------
    FaultsError
        If the file cannot be read, or nothing in it can be used.
    """
    try:
        read_corpus_xml(file, events, errors=errors)
    except NotWellFormedError as error:
        if not events.last_ids():
            raise
        (fault,) = error.faults
        lost = "" if events.has_ended else f" The verses {events.place()} are lost."
        events.faults.add(file, fault.line, fault.fault + lost, level="rest")
