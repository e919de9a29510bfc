"""Test sets of machine translation: NIST's and WMT's SGML, and the XML of WMT since 2021.

Sources (``<srcset>``, ``<src>``) and references (``<refset>``, ``<ref>``) are read; what systems translated
(``<tstset>``, ``<hyp>``) is not. All files are one multitext, whose intents are segments: ``DOCUMENT/SEGMENT``, or
``SET/DOCUMENT/SEGMENT`` if there are several sets, so that documents of the same name in two sets are two documents. So
are two of the same name in one set if they were first written in different languages, or if most of the texts that two
files have of them in one language differ; the second is then ``DOCUMENT#2``.

An edition is a language: its sources, and the first reference of each document by the translators' names. Every further
reference is an edition ``LANGUAGE-TRANSLATOR``. NIST's references, whose refsets have a ``refid``, are editions of that
name instead: all those of a set must have equal documents and segments, and the set's sources are not read.
"""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.iso639 import iso639_3
from langdiff.base.progress import followed
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import files_in, keep, suffixes_of
from langdiff.corpora.formats.format import Format, FormatText, Reading, begins_as_xml
from langdiff.corpora.formats.mteval_documents import Document, read_documents
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.tables.multitext import Multitext, multitext_from_sources
from langdiff.tables.text_features import Measured, Measuring

SUFFIXES = suffixes_of(".xml", ".sgm", ".sgml", ".mteval")

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class MtevalText(FormatText):
    """Source of the segments of one edition, read on demand.

    Attributes
    ----------
    names : tuple of (File, tuple of (tuple of str, str))
        For every file, the keys of the edition's documents in it, and what each document is called.
    """

    names: tuple[tuple[File, tuple[tuple[tuple[str, ...], str], ...]], ...]

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the nonempty segments."""
        found: list[_Found] = []
        for file, pairs in self.names:
            named = dict(pairs)
            documents = read_documents(file, faults, errors=self.decode_errors)
            found += [_Found(file, one, named[one.key]) for one in documents if one.key in named]
        texts: dict[str, str] = {}
        for one in _by_precedence(found):
            for segment, (text, _) in one.document.segments.items():
                if text:
                    texts.setdefault(f"{one.name}/{segment}", text)
        yield from texts.items()


@dataclass
class _Found:
    """Document with its file and its name in the whole collection."""

    file: File
    document: Document
    name: str = ""
    places: dict[str, int] = field(default_factory=dict)  # of the texts among those of its kind; see `_Texts`


@dataclass
class _Content:
    """Content of a document as known from all files so far."""

    name: str
    original_language: str = ""
    texts: dict[tuple[str, ...], str] = field(default_factory=dict)  # by language, translator and segment

    def agrees(self, original_language: str, texts: Mapping[tuple[str, ...], str]) -> bool:
        """Return whether a document of the same name agrees in language and in most shared texts."""
        same = [self.texts[key] == text for key, text in texts.items() if key in self.texts]
        known = {self.original_language, original_language} - {""}
        return len(known) < 2 and 2 * sum(same) >= len(same)

    def add(self, original_language: str, texts: Mapping[tuple[str, ...], str]) -> None:
        """Add the content of the document in another file."""
        self.original_language = self.original_language or original_language
        self.texts = {**texts, **self.texts}


def catalogue(reading: Reading) -> Multitext:
    """Catalogue test sets; every language and every further reference is an edition."""
    if isinstance(reading.path, Mapping):
        raise ConfigError("path: an edition is not a file, but a language or reference; give a directory or a list.")
    texts = _Texts()
    found = _read_all(files_in(reading.path, SUFFIXES), reading, texts)
    sets_of_named = {one.document.test_set for one in found if one.document.refid}
    found = [one for one in found if one.document.refid or one.document.test_set not in sets_of_named]
    found = _without_unequal(found, reading.faults)
    contents = _identify(found)
    parts = keep(_by_edition(found), reading.editions)
    files, known = reading.ordered({edition: own[0].file for edition, own in parts.items()})
    parts = {edition: parts[edition] for edition in files}
    present = _present(parts)
    intent_info = _intent_info([one for own in parts.values() for one in own], contents)
    return multitext_from_sources(
        {edition: MtevalText(_names(own), **reading.how) for edition, own in parts.items()},
        {edition: list(own) for edition, own in present.items()},
        intents=intent_info.index,
        edition_info=_edition_info(reading, files, known, parts),
        intent_info=intent_info,
        measured={edition: texts.measured(own.values()) for edition, own in present.items()},
    )


class _Texts:
    """Features of all texts, by the language, translator and reference that the documents have."""

    def __init__(self) -> None:
        self._measuring: dict[tuple[str, ...], tuple[Measuring, list[int]]] = {}
        self._measured: dict[tuple[str, ...], Measured] = {}

    def add(self, document: Document) -> dict[str, int]:
        """Measure the texts of a document; return their places by segment."""
        measuring, count = self._measuring.setdefault(_kind(document), (Measuring(), [0]))
        places = {}
        for segment, (text, _) in document.segments.items():
            if text:
                measuring.add(text)
                places[segment] = count[0]
                count[0] += 1
        return places

    def measured(self, chosen: Iterable[tuple[_Found, str]]) -> Measured:
        """Return the features of some segments, in their order."""
        first: dict[tuple[str, ...], int] = {}
        parts: list[Measured] = []
        places = []
        for one, segment in chosen:
            kind = _kind(one.document)
            if kind not in first:
                if kind not in self._measured:
                    self._measured[kind] = self._measuring[kind][0].finish()
                first[kind] = sum(len(part.lengths) for part in parts)
                parts.append(self._measured[kind])
            places.append(first[kind] + one.places[segment])
        return Measured.joined(parts).take(np.array(places, dtype=int))


def _kind(document: Document) -> tuple[str, ...]:
    return document.language, document.translator, document.refid


def _read_all(files: Sequence[File], reading: Reading, texts: _Texts) -> list[_Found]:
    """Return the documents of all files, with numbers in place of texts to save memory."""
    found = []
    for file in followed(files, "cataloguing", progress=reading.progress, note=lambda file: file.name):
        with reading.faults.of(None, file):
            for document in read_documents(file, reading.faults, errors=reading.decode_errors):
                marks = {name: (text and f"{hash(text)}", at) for name, (text, at) in document.segments.items()}
                found.append(_Found(file, replace(document, segments=marks), "", texts.add(document)))
    if not found:
        reading.faults.check()
        raise DataError(f"{listing(map(str, files))}: no document of a source or a reference.")
    return found


def _identify(found: Sequence[_Found]) -> dict[str, _Content]:
    """Return the content of each document under its name, numbered where documents of a set share a name."""
    with_sets = len({one.document.test_set for one in found}) > 1
    in_file: dict[tuple[object, ...], list[_Found]] = {}  # what a file has of a document
    for one in found:
        in_file.setdefault((one.file, *one.document.key[:3]), []).append(one)
    of_name: dict[str, list[_Content]] = {}
    for (_, test_set, document, *_), own in in_file.items():
        original = own[0].document.original_language
        texts = {
            (*one.document.key[3:], segment): mark
            for one in own
            for segment, (mark, _) in one.document.segments.items()
            if mark
        }
        name = f"{test_set}/{document}" if with_sets else str(document)
        others = of_name.setdefault(name, [])
        content = next((other for other in others if other.agrees(original, texts)), None)
        if content is None:
            content = _Content(f"{name}#{len(others) + 1}" if others else name)
            others.append(content)
        content.add(original, texts)
        for one in own:
            one.name = content.name
    if numbered := [other.name for others in of_name.values() for other in others[1:]]:
        log.info("%d documents have the name of another in their set: %s", len(numbered), listing(numbered))
    return {content.name: content for contents in of_name.values() for content in contents}


def _by_edition(found: Sequence[_Found]) -> dict[str, list[_Found]]:
    """Assign documents to editions: a language, a further reference in it, or NIST's name of a reference."""
    translators: dict[tuple[str, str], set[str]] = {}
    for one in found:
        translators.setdefault((one.name, one.document.language), set()).add(one.document.translator)
    parts: dict[str, list[_Found]] = {}
    for one in found:
        first = min(translators[one.name, one.document.language] - {""}, default="")
        edition = one.document.language
        if one.document.refid:
            edition = one.document.refid
        elif one.document.translator not in ("", first):
            edition = f"{edition}-{one.document.translator}"
        parts.setdefault(edition, []).append(one)
    return parts


def _by_precedence(found: Iterable[_Found]) -> list[_Found]:
    """Sort documents so that of two texts of a segment the first is used: an author's, then a source, then others."""
    return sorted(found, key=lambda one: (one.document.translator != "", not one.document.is_source))


def _names(own: Sequence[_Found]) -> tuple[tuple[File, tuple[tuple[tuple[str, ...], str], ...]], ...]:
    names: dict[File, dict[tuple[str, ...], str]] = {}
    for one in own:
        names.setdefault(one.file, {})[one.document.key] = one.name
    return tuple((file, tuple(of_file.items())) for file, of_file in names.items())


def _present(parts: Mapping[str, Sequence[_Found]]) -> dict[str, dict[str, tuple[_Found, str]]]:
    """Return the intents present in every edition, with document and segment; warn of intents with two texts."""
    present: dict[str, dict[str, tuple[_Found, str]]] = {}
    different: list[str] = []
    for edition, own in parts.items():
        first: dict[str, tuple[str, str]] = {}  # mark of the text, and where it is
        present[edition] = {}
        for one in _by_precedence(own):
            for segment, (mark, line) in one.document.segments.items():
                intent, where = f"{one.name}/{segment}", f"{one.file}, line {line}"
                if mark and first.setdefault(intent, (mark, where))[0] != mark:
                    different.append(f"{intent!r} ({first[intent][1]} and {where})")
                elif mark:
                    present[edition].setdefault(intent, (one, segment))
    if different:
        warn(
            f"{len(different):,} segments have two texts where there should be one, such as {different[0]}. "
            "Sources count more than references, and the first file more than others."
        )
    return present


def _intent_info(own: Iterable[_Found], contents: Mapping[str, _Content]) -> pd.DataFrame:
    """Return document and original language of the segments, documents in the order of the files."""
    documents: dict[str, dict[str, None]] = {}
    for one in own:
        documents.setdefault(one.name, {}).update(dict.fromkeys(one.document.segments))
    rows = [
        (f"{name}/{segment}", name, contents[name].original_language)
        for name, segments in documents.items()
        for segment in segments
    ]
    info = pd.DataFrame(rows, columns=["intent", "document", "original_language"], dtype=object).set_index("intent")
    if info.index.has_duplicates:
        twice = info.index[info.index.duplicated()]
        raise DataError(f"segments of two documents have the same name: {listing(twice)}. Rename a set or document.")
    return info


def _edition_info(
    reading: Reading, files: Mapping[str, File], known: pd.DataFrame, parts: Mapping[str, Sequence[_Found]]
) -> pd.DataFrame:
    """Return the attributes of editions; the name of a reference (``ahb``) is not a language code."""
    said = pd.Series({edition: own[0].document.language for edition, own in parts.items()}, dtype=object)
    codes = said.map(iso639_3)
    names = {str(edition): {"language_name": name} for edition, name in said[codes.isna()].items() if name}
    info = reading.describe(files, known, names)
    given = known["language"].reindex(info.index) if "language" in known else pd.Series(dtype=object, index=info.index)
    return info.assign(language=given.fillna(codes).fillna(np.nan))


def _without_unequal(found: Sequence[_Found], faults: Faults) -> list[_Found]:
    """Remove named references whose documents or segments differ from those of the first reference of their set."""
    refsets: dict[tuple[str, str], list[_Found]] = {}
    for one in found:
        if one.document.refid:
            refsets.setdefault((one.document.test_set, one.document.refid), []).append(one)
    first_of: dict[str, list[_Found]] = {}
    unequal = set()
    for (test_set, refid), own in refsets.items():
        where = own[0].document.where
        again = next((one.document.where for one in own if one.document.where != where), None)
        if again is not None:
            faults.add(again.file, again.line, f"refset {refid!r} is there twice, first in {where}.")
            unequal |= {one.document.where for one in own[1:]} - {where}
            own = [one for one in own if one.document.where == where]
        first = first_of.setdefault(test_set, own)
        if difference := _difference(first, own):
            faults.add(where.file, where.line, difference)
            unequal.add(where)
    return [one for one in found if one.document.where not in unequal]


def _difference(one: Sequence[_Found], other: Sequence[_Found]) -> str | None:
    """Return a description of the first difference between the segments of two references; None if there is none."""
    first, second = one[0].document, other[0].document
    left, right = _segments(one), _segments(other)
    for (a, a_where), (b, b_where) in zip([*left, ("", "")], [*right, ("", "")], strict=False):
        if a != b:
            said = [f"{a_where}: {a!r}" if a else f"{first.where}: nothing more"]
            said += [f"{b_where}: {b!r}" if b else f"{second.where}: nothing more"]
            return (
                f"refsets {first.refid!r} and {second.refid!r} have different segments, the first {said[0]} and "
                f"{said[1]} (of {len(left):,} and {len(right):,}). All refsets of a set must have the same documents "
                "and segments in the same order; an untranslated segment is empty, not left out."
            )
    return None


def _segments(found: Sequence[_Found]) -> list[tuple[str, str]]:
    """Yield name and place of every segment."""
    return [
        (f"{one.document.name}/{name}", f"{one.file}, line {line}")
        for one in found
        for name, (_, line) in one.document.segments.items()
    ]


FORMAT = Format(
    name="mteval",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_as_xml(r"(?i:mteval|refset|srcset|tstset)\b|dataset\s+id="),
)
