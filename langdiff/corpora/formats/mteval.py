"""NIST's XML for evaluating machine translation: several reference translations of the same segments.

Every ``<refset>`` is an edition, named by its ``refid``: four references of one test set are four editions of
English. Segments, ``<seg id>`` in ``<hl>`` or ``<p>`` of a ``<doc docid>``, are the intents, ``DOCID/SEGID``; one
without text is missing. White space becomes single. What stands in ``<srcset>`` and ``<tstset>`` is not read.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd

from langdiff._archives import File
from langdiff._progress import progress_bar
from langdiff.corpora.faults import Faults, Place
from langdiff.corpora.files import files_in, keep, suffixes_of
from langdiff.corpora.formats.bible import one_spaced
from langdiff.corpora.formats.format import Format, FormatText, Reading, begins_as_xml
from langdiff.corpora.formats.xml import Events, read_xml
from langdiff.corpora.iso639 import iso639_3
from langdiff.errors import ConfigError, DataError
from langdiff.multitext import Multitext, multitext_from_sources

SUFFIXES = suffixes_of(".xml", ".sgm", ".mteval")


@dataclass
class _RefSet:
    """What one ``<refset>`` holds."""

    where: Place
    language: str
    source_language: str
    segments: dict[str, str] = field(default_factory=dict)  # text by intent, "" if missing
    documents: list[str] = field(default_factory=list)  # of each segment
    lines: dict[str, Place] = field(default_factory=dict)  # where each segment is


@dataclass(frozen=True)
class MtevalText(FormatText):
    """The segments of one ``<refset>``, read when asked for.

    Attributes
    ----------
    file : Path or Member
        The file.
    refid : str
        The name of the refset in the file.
    """

    file: File
    refid: str

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the segments that are not empty."""
        segments = _read(self.file, self.errors, faults)[self.refid].segments
        return ((intent, text) for intent, text in segments.items() if text)


def catalogue(reading: Reading) -> Multitext:
    """Catalogue reference translations; every refset is an edition."""
    if isinstance(reading.path, Mapping):
        raise ConfigError("path: an edition is a <refset>, not a file; give a directory, a glob or a list.")
    found = _catalogue(files_in(reading.path, SUFFIXES), reading)
    files, known = reading.ordered({refid: file for refid, (file, _) in keep(found, reading.editions).items()})
    refsets = {refid: found[refid][1] for refid in files}
    first, *others = refsets
    for other in others:
        _check_equal(first, refsets[first], other, refsets[other])
    said = {refid: iso639_3(refset.language) or refset.language for refid, refset in refsets.items()}
    headers = {refid: {"language": language} if language else {} for refid, language in said.items()}
    pattern = refsets[first]
    return multitext_from_sources(
        {refid: MtevalText(file, refid, **reading.how) for refid, file in files.items()},
        {refid: [i for i, text in refset.segments.items() if text] for refid, refset in refsets.items()},
        intents=pattern.segments,
        edition_info=reading.describe(files, known, headers),
        intent_info=pd.DataFrame(
            {"document": pattern.documents, "original_language": pattern.source_language},
            index=list(pattern.segments),
            dtype=object,
        ),
    )


def _catalogue(files: Sequence[File], reading: Reading) -> dict[str, tuple[File, _RefSet]]:
    found: dict[str, tuple[File, _RefSet]] = {}
    with progress_bar(progress=reading.progress) as bar:
        for file in bar.track(files, description="cataloguing"):
            with reading.faults.of(None, file):
                for refid, refset in _read(file, reading.errors, reading.faults).items():
                    if refid in found:
                        raise DataError(f"{found[refid][1].where} and {refset.where}: refset {refid!r} is there twice.")
                    found[refid] = file, refset
    if not found:
        reading.faults.check()
    return found


def _read(file: File, errors: str, faults: Faults) -> dict[str, _RefSet]:
    events = _MtevalEvents(file, faults)
    read_xml(file, events, errors=errors)
    if not events.refsets:
        raise DataError(
            f"{file}: holds no <refset>; reference translations are expected, several of the same segments."
        )
    return events.refsets


def _check_equal(first: str, one: _RefSet, second: str, other: _RefSet) -> None:
    """Raise at the first document or segment that differs."""
    pairs = zip([*one.segments, None], [*other.segments, None], strict=False)
    for left, right in pairs:
        if left != right:
            said = [f"{one.lines[left]}: {left!r}" if left else f"{one.where}: nothing more"]
            said += [f"{other.lines[right]}: {right!r}" if right else f"{other.where}: nothing more"]
            raise DataError(
                f"refsets {first!r} and {second!r} have different segments, the first {said[0]} and {said[1]} "
                f"(of {len(one.segments):,} and {len(other.segments):,}). All refsets must have the same documents "
                "and segments in the same order; an untranslated segment is empty, not left out."
            )


class _MtevalEvents(Events):
    """Collects the segments of each refset."""

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file, faults)
        self.refsets: dict[str, _RefSet] = {}
        self._refset: _RefSet | None = None
        self._document: str | None = None
        self._segment: str | None = None
        self._segment_where = Place(file, 0)
        self._text: list[str] = []

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        tag = tag.lower()
        if tag == "refset":
            self._begin_refset(attributes)
        elif self._refset is not None and tag == "doc":
            self._document = self._given(tag, attributes, "docid")
        elif self._refset is not None and tag == "seg":
            if self._document is None or self._segment is not None:
                raise DataError(f"{self.where()}: a <seg> outside of <doc>, or in another <seg>.")
            self._segment = f"{self._document}/{self._given(tag, attributes, 'id')}"
            self._segment_where, self._text = self.where(), []

    def data(self, text: str) -> None:
        if self._segment is not None:
            self._text.append(text)

    def finish(self, tag: str) -> None:
        tag = tag.lower()
        if tag == "refset":
            self._refset = None
        elif tag == "doc":
            self._document = None
        elif tag == "seg" and self._refset is not None and self._segment is not None:
            self._end_segment(self._refset, self._segment)

    def _begin_refset(self, attributes: dict[str, str]) -> None:
        if self._refset is not None:
            raise DataError(f"{self.where()}: a refset in the one of {self._refset.where}.")
        refid = self._given("refset", attributes, "refid")
        if refid in self.refsets:
            raise DataError(f"{self.refsets[refid].where} and {self.where()}: refset {refid!r} is there twice.")
        self._refset = _RefSet(self.where(), attributes.get("trglang", ""), attributes.get("srclang", ""))
        self.refsets[refid] = self._refset

    def _end_segment(self, refset: _RefSet, segment: str) -> None:
        if segment in refset.segments:
            raise DataError(f"{refset.lines[segment]} and {self._segment_where}: segment {segment!r} is there twice.")
        text = "".join(self._text)
        if self.damage.is_in(text, self._segment_where, segment):
            text = ""
        refset.segments[segment] = one_spaced(text) if text.strip() else ""
        refset.documents.append(str(self._document))
        refset.lines[segment] = self._segment_where
        self._segment = None

    def _given(self, tag: str, attributes: dict[str, str], name: str) -> str:
        value = attributes.get(name, "").strip()
        if not value:
            raise DataError(f"{self.where()}: a <{tag}> without {name}.")
        return value


FORMAT = Format(
    name="mteval",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_as_xml(r"(?i:mteval|refset)\b"),
)
