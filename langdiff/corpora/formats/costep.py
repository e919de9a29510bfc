"""CoStEP, the Corrected & Structured Europarl Corpus (Graën, Batinic & Volk 2014): one XML file per day.

A day is a session, with chapters, in which speakers take turns. What a speaker says is there in up to 21 languages,
in paragraphs, each of which is an intent: ``DATE.CHAPTER.TURN.PARAGRAPH``. Comments of those who wrote the minutes
are left out; of the markup within paragraphs only the text is kept, an ellipsis as ``…`` and a quotation with its
quotation marks. A turn whose languages have different numbers of paragraphs does not fit, since it is not known
which of them say the same: it is left out. To read the texts of one language, all files are parsed.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.iso639 import iso639_3
from langdiff.base.progress import followed
from langdiff.base.types import OnError
from langdiff.corpora.edition_info import edition_info_of, find_edition_info
from langdiff.corpora.faults import Events, Faults, Place, read_corpus_xml
from langdiff.corpora.files import Paths, files_in, keep, suffixes_of
from langdiff.corpora.formats.format import Format, FormatText, Reading, begins_as_xml
from langdiff.corpora.origin import CostepStatistics
from langdiff.errors import ConfigError, DataError, warn
from langdiff.tables.multitext import Multitext, multitext_from_sources
from langdiff.tables.text_features import Measured, Measuring

UNKNOWN = "und"  # ISO 639-2: undetermined
_XML_SPACE = re.compile(r"[ \t\r\n]+")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
SUFFIXES = suffixes_of(".xml")


class Turn(NamedTuple):
    """Uninterrupted speech of one speaker, in all languages."""

    line: int  # on which it begins
    name: str  # DATE.CHAPTER.TURN; a second speaker in a turn, if there is one, is DATE.CHAPTER.TURN-2
    president: bool  # whether the president speaks; who that is is not noted
    language: str  # the speaker's native language, "und" if it is not known, as for presidents
    speaker: str | None  # None if no name is given
    paragraphs: dict[str, list[str]]  # by language, without comments; languages without any are not in it

    @property
    def intents(self) -> int:
        """Number of paragraphs; where languages differ, the largest."""
        return max(map(len, self.paragraphs.values()), default=0)

    @property
    def fits(self) -> bool:
        """Return whether all languages have equally many paragraphs."""
        return len(set(map(len, self.paragraphs.values()))) <= 1


def read_day(file: File, *, errors: str, faults: Faults) -> list[Turn]:
    """Return the turns of a file, in order; faulty parts are left out and added to `faults`."""
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


@dataclass(frozen=True)
class CostepText(FormatText):
    """Source of the paragraphs of one language, which are spread over all files.

    Attributes
    ----------
    files : tuple of Path or Member
        The days, in order.
    language : str
        Code of two letters.
    """

    files: tuple[File, ...]
    language: str

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the nonempty paragraphs, in the order of the files."""
        for file in self.files:
            for turn in read_day(file, errors=self.decode_errors, faults=faults):
                if turn.fits and self.language in turn.paragraphs:
                    paragraphs = zip(_intents(turn), turn.paragraphs[self.language], strict=True)
                    yield from ((intent, text) for intent, text in paragraphs if text)


def costep_statistics(
    path: Paths,
    *,
    edition_info: str | Path | pd.DataFrame | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    decode_errors: str = "strict",
    on_error: OnError = "raise",
    trust: Iterable[str] = (),
    progress: bool | None = None,
) -> CostepStatistics:
    """Read CoStEP and count the turns lost, the native share of each language, and the turns of unknown origin.

    Parameters
    ----------
    path : str, Path or sequence of these
        Files, directories (their ``.xml`` files, plain or compressed), zip archives or globs.
    edition_info : str, Path or DataFrame, optional
        Information on the editions, which are called by the code of their language: a CSV file with a column
        ``edition``, or a frame indexed by edition.
    editions : str or iterable of str, optional
        Languages to keep, in the order wanted; by default all, by code. Whether a turn fits is judged by all its
        languages.
    nfc : bool
        Whether to normalize texts to Unicode NFC.
    decode_errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are a fault or become U+FFFD.
    on_error : {"raise", "skip"}
        Treatment of faults; see `langdiff.read_multitext`. Turns that do not fit are not faults.
    trust : iterable of str
        Kinds of doubts that are not raised; see `langdiff.read_multitext`.
    progress : bool, optional
        Whether to draw a progress bar on stderr; by default only if stderr is a terminal.

    Returns
    -------
    CostepStatistics
        The multitext and the figures. Turns that do not fit are counted there, not warned of.

    Raises
    ------
    DataError
        If nothing is found; a file is damaged, not XML, not UTF-8, not a session or holds entities; two files have the
        same turn (a `langdiff.errors.FaultsError` with all faults); or no turn fits.
    ConfigError
        If `decode_errors` or `on_error` has an unknown value, or `path` is a mapping.

    Warns
    -----
    LangdiffWarning
        If there are faults and `on_error` is ``"skip"``.

    Examples
    --------
    >>> import tempfile
    >>> day = '''<session date="1999-07-20"><chapter id="1"><turn id="1"><speaker president="no" language="de">
    ...   <text language="de"><p type="speech">Vielen Dank<ellipsis/></p></text>
    ...   <text language="en"><p type="speech">Thank you very much.</p><p type="comment">(Applause)</p></text>
    ... </speaker></turn></chapter></session>'''
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = Path(directory, "1999-07-20.xml").write_text(day)
    ...     statistics = costep_statistics(directory)
    >>> statistics
    CostepStatistics of 1 day(s): Multitext: 1 intents × 2 editions (2 languages), 0 of 2 cells missing. 0 of 1 turns \
are left out, their languages having different numbers of paragraphs: 0 of 1 intents (0.0 %).
    """
    reading = Reading(
        path=path,
        edition_info=edition_info,
        editions=editions,
        nfc=nfc,
        decode_errors=decode_errors,
        on_error=on_error,
        trust=trust,
        progress=progress,
    )
    statistics = _statistics(reading)
    return replace(statistics, multitext=reading.faults.applied(statistics.multitext))


def catalogue(reading: Reading) -> Multitext:
    """Catalogue the days of CoStEP, and warn of turns whose languages differ in paragraphs."""
    statistics = _statistics(reading)
    reading.faults.refuse()  # before the warning
    if statistics.lost_intents:
        warn(statistics.loss())
    return statistics.multitext


def _statistics(reading: Reading) -> CostepStatistics:
    if isinstance(reading.path, Mapping):
        raise ConfigError("path: CoStEP has one file per day, not one per edition; give a directory, a glob or a list.")
    files = tuple(sorted(files_in(reading.path, SUFFIXES), key=lambda file: (file.name, str(file))))
    found = _Catalogue(reading.faults)
    readable = []
    for file in followed(files, "cataloguing", progress=reading.progress, note=lambda file: file.name):
        with reading.faults.of(None, file):
            found.add(read_day(file, errors=reading.decode_errors, faults=reading.faults), file)
            readable.append(file)
    measured = found.leave_out_repeated()
    turns = found.table()
    if not found.intents:
        reading.faults.check()
        raise DataError(f"{files[0]}{f' and {len(files) - 1} other(s)' if files[1:] else ''}: no turn with text fits.")
    kept = keep(dict(sorted(found.present.items())), reading.editions)
    known = pd.DataFrame(index=pd.Index([], dtype=object))
    if reading.edition_info is not None:
        known = find_edition_info(
            {language: Path(language) for language in kept}, reading.edition_info, reading.edition_columns
        )
    info = edition_info_of(kept, known, {code: {"language": iso639_3(code) or code} for code in kept})
    multitext = multitext_from_sources(
        {language: CostepText(tuple(readable), language, **reading.how) for language in kept},
        kept,
        intents=found.intents,
        edition_info=info.assign(normalization="NFC" if reading.nfc else "as is"),
        intent_info=_intent_info(found.intents, turns),
        measured=measured,
    )
    return CostepStatistics(multitext=multitext, turns=turns, days=len(readable))


class _Catalogue:
    """Turns read so far."""

    def __init__(self, faults: Faults) -> None:
        self.intents: list[str] = []
        self.present: dict[str, list[str]] = {}
        self._measuring: dict[str, Measuring] = {}
        self._faults = faults
        self._turns: dict[str, tuple[bool, str, str | None, int, int, bool]] = {}
        self._places: dict[str, Place] = {}
        self._twice: set[str] = set()

    def add(self, turns: list[Turn], file: File) -> None:
        """Add the turns of a file, and the intents of aligned turns."""
        names: dict[str, Place] = {}
        for turn in turns:
            place = Place(file, turn.line)
            first = self._places.get(turn.name) or names.setdefault(turn.name, place)
            if first is not place:
                where = first if first.file != file else f"line {first.line}"
                what = f"turn {turn.name} is there twice, first in {where}; neither is used."
                self._faults.add(file, turn.line, what, intent=turn.name)
                self._twice.add(turn.name)
        for turn in turns:
            if turn.name not in self._twice:
                self._add(turn)
        self._places |= names

    def _add(self, turn: Turn) -> None:
        sizes = len(turn.paragraphs), turn.intents
        self._turns[turn.name] = (turn.president, turn.language, turn.speaker, *sizes, turn.fits)
        intents = _intents(turn)  # once, because the names take more memory than everything else
        for language, paragraphs in turn.paragraphs.items():
            have, measuring = self.present.setdefault(language, []), self._measuring.setdefault(language, Measuring())
            if turn.fits:
                for intent, text in zip(intents, paragraphs, strict=True):
                    if text:
                        have.append(intent)
                        measuring.add(text)
        if turn.fits:
            self.intents += intents

    def leave_out_repeated(self) -> dict[str, Measured]:
        """Remove the turns that a later file repeats; return the features of the texts that remain, by language."""
        measured = {language: measuring.finish() for language, measuring in self._measuring.items()}
        if self._twice:
            for language, features in measured.items():
                kept = [intent.rpartition(".")[0] not in self._twice for intent in self.present[language]]
                measured[language] = features.take(np.flatnonzero(kept))
            self._turns = {name: turn for name, turn in self._turns.items() if name not in self._twice}
            self.intents = self._once(self.intents)
            self.present = {language: self._once(have) for language, have in self.present.items()}
        return measured

    def _once(self, intents: list[str]) -> list[str]:
        return [intent for intent in intents if intent.rpartition(".")[0] not in self._twice]

    def table(self) -> pd.DataFrame:
        """Return one row per turn."""
        columns = ["president", "original_language", "speaker", "languages", "intents", "fits"]
        return pd.DataFrame.from_dict(self._turns, orient="index", columns=columns).rename_axis("turn")


def _intents(turn: Turn) -> list[str]:
    return [f"{turn.name}.{number}" for number in range(1, turn.intents + 1)]


def _intent_info(intents: list[str], turns: pd.DataFrame) -> pd.DataFrame:
    names = [intent.rsplit(".", 1)[0] for intent in intents]
    document = [name.rsplit(".", 1)[0] for name in names]
    session = [name.rsplit(".", 1)[0] for name in document]
    said = turns.loc[names, ["speaker", "president", "original_language"]].set_axis(intents)
    return pd.DataFrame({"session": session, "document": document, "turn": names}, index=intents).join(said)


FORMAT = Format(
    name="costep",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_as_xml(r"session\b"),
)
