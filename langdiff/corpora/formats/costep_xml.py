"""Reading of one day of CoStEP: its turns, with the paragraphs of every language."""

import re
from typing import NamedTuple

from langdiff.base.archives import File
from langdiff.corpora.faults import Events, Faults, Place, read_corpus_xml

UNKNOWN = "und"  # ISO 639-2: undetermined
_XML_SPACE = re.compile(r"[ \t\r\n]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}")


class Turn(NamedTuple):
    """Uninterrupted speech of one speaker, in all languages.

    Attributes
    ----------
    line : int
        Number of the line on which it begins.
    name : str
        ``DATE.CHAPTER.TURN``; a second speaker in a turn, if there is one, is ``DATE.CHAPTER.TURN-2``.
    president : bool
        Whether the president speaks; who that is is not noted.
    language : str
        The speaker's native language, ``"und"`` if it is not known, as for presidents.
    speaker : str or None
        Name of the speaker; None if it is not given.
    paragraphs : dict from language to list of str
        Paragraphs of the turn in each language, without comments; languages without any are not in it.
    """

    line: int
    name: str
    president: bool
    language: str
    speaker: str | None
    paragraphs: dict[str, list[str]]

    @property
    def intents(self) -> int:
        """Number of paragraphs; where languages differ, the largest."""
        return max(map(len, self.paragraphs.values()), default=0)

    @property
    def fits(self) -> bool:
        """Return whether all languages have equally many paragraphs."""
        return len(set(map(len, self.paragraphs.values()))) <= 1


def read_day(file: File, *, errors: str, faults: Faults) -> list[Turn]:
    """Return the turns of a file, in order; faulty parts are left out and added to `faults`.

    Raises
    ------
    FaultsError
        If the file cannot be read, is not XML, holds entities or no session.
    """
    day = _Day(file, faults)
    read_corpus_xml(file, day, errors=errors)
    return day.turns


class _Day(Events):
    """Handler of XML events that collects turns: session > chapter > turn > speaker > text > p."""

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file, faults)
        self.turns: list[Turn] = []
        self._date = file.name.partition(".")[0]
        self._chapters = self._turns = self._speakers = 0  # counted so far, within the element around them
        self._chapter = self._turn = ""
        self._languages: set[str] = set()  # of the speaker's texts
        self._text: str | None = None  # language of the text that is open, if it is not marked as empty
        self._paragraph: list[str] | None = None  # pieces of the spoken paragraph that is open
        self._end_marks: list[str] = []  # of the quotations that are open
        self._place = Place(file, 0)  # of the paragraph

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        """Process the start of an element; of elements without a role, only the text is kept."""
        if len(self.open) == 1 and tag != "session":
            raise self.unusable(f"expected <session>, found <{tag}>; this is not a file of CoStEP.")
        match tag:
            case "session":
                self._date = attributes.get("date") or self._date
            case "chapter":
                self._chapters, self._turns = self._chapters + 1, 0
                self._chapter = attributes.get("id") or str(self._chapters)
            case "turn":
                self._turns, self._speakers = self._turns + 1, 0
                self._turn = attributes.get("id") or str(self._turns)
            case "speaker":
                self._speakers += 1
                self._begin_speaker(attributes)
            case "text":
                self._begin_text(attributes)
            case "p" if self._text is not None and attributes.get("type", "speech") == "speech":
                self._paragraph, self._end_marks, self._place = [], [], self.where()
            case "ellipsis":
                self._write("…")
            case "quote":
                self._write(attributes.get("start", ""))
                self._end_marks.append(attributes.get("end", ""))

    def finish(self, tag: str) -> None:
        """Process the end of an element."""
        match tag:
            case "quote" if self._end_marks:
                self._write(self._end_marks.pop())
            case "p" if self._paragraph is not None and self._text is not None:
                self._end_paragraph("".join(self._paragraph), self._text)
                self._paragraph = None
            case "text":
                self._text = None

    def data(self, text: str) -> None:
        """Add text, except within an ellipsis."""
        if self.open[-1] != "ellipsis":
            self._write(text)

    def _write(self, text: str) -> None:
        if self._paragraph is not None:
            self._paragraph.append(text)

    def _end_paragraph(self, text: str, language: str) -> None:
        """Add a paragraph to the turn; a damaged one is missing, so that later ones keep their positions."""
        turn = self.turns[-1]
        paragraphs = turn.paragraphs.setdefault(language, [])
        damaged = self.damage.is_in(text, self._place, f"{turn.name}.{len(paragraphs) + 1}")
        paragraphs.append("" if damaged else _XML_SPACE.sub(" ", text).strip(" "))

    def _begin_speaker(self, attributes: dict[str, str]) -> None:
        self._languages = set()
        president = attributes.get("president") == "yes"
        language = "" if president else attributes.get("language", "").strip().lower()
        others = f"-{self._speakers}" if self._speakers > 1 else ""
        turn = Turn(
            line=self.where().line,
            name=f"{self._date}.{self._chapter}.{self._turn}{others}",
            president=president,
            language=language if _LANGUAGE.fullmatch(language) else UNKNOWN,
            speaker=" ".join(attributes.get("name", "").split()) or None,
            paragraphs={},
        )
        self.turns.append(turn)

    def _begin_text(self, attributes: dict[str, str]) -> None:
        self._text = None
        if "headline" in self.open:
            return
        if "speaker" not in self.open:
            self.fault("a <text> outside a <speaker>, so that the speaker is not known.")
            return
        turn = self.turns[-1]
        language = attributes.get("language", "").strip().lower()
        if not language:
            self.fault(f"turn {turn.name} has a <text> without language.", turn.name)
            return
        if language in self._languages:
            self.fault(
                f"turn {turn.name} has a <text> in {language!r} again; it is not known which is right, and neither is "
                "used.",
                turn.name,
            )
            turn.paragraphs.pop(language, None)
            return
        self._languages.add(language)
        self._text = None if attributes.get("empty") == "yes" else language
