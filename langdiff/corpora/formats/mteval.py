"""Test sets of machine translation: NIST's and WMT's SGML, and the XML of WMT since 2021.

Sources (``<srcset>``, ``<src>``) and references (``<refset>``, ``<ref>``) are read; translations by systems (``<tstset>``,
``<hyp>``) are not. All files are one multitext. Its intents are segments, ``DOCUMENT/SEGMENT``, or
``SET/DOCUMENT/SEGMENT`` if there are several sets, so that documents of the same name in two sets are two documents. An
edition is a language: its sources, and the first reference of each document, by the translators' names. Every further
reference is an edition ``LANGUAGE-TRANSLATOR``. NIST's references, whose refsets have a ``refid``, are editions of this
name instead; all those of a set must have equal documents and segments, and the set's sources are not read.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from langdiff._archives import File
from langdiff._progress import progress_bar
from langdiff.corpora.files import files_in, keep, suffixes_of
from langdiff.corpora.formats.format import Format, FormatText, Reading, begins_as_xml
from langdiff.corpora.formats.mteval_documents import Document, read_documents
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing
from langdiff.multitext import Multitext, multitext_from_sources

SUFFIXES = suffixes_of(".xml", ".sgm", ".sgml", ".mteval")
Found = tuple[File, Document]


@dataclass(frozen=True)
class MtevalText(FormatText):
    """The segments of one edition, read when asked for.

    Attributes
    ----------
    files : tuple of Path or Member
        The files that hold some of them.
    documents : frozenset of tuples of str
        The edition's documents, as `Document.key` names them.
    with_sets : bool
        Whether the names of intents begin with that of the set.
    """

    files: tuple[File, ...]
    documents: frozenset[tuple[str, ...]]
    with_sets: bool

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the segments that are not empty."""
        read = [(file, document) for file in self.files for document in read_documents(file, errors=self.errors)]
        own = [(file, document) for file, document in read if document.key in self.documents]
        texts: dict[str, str] = {}
        for _, document in _by_precedence(own):
            for segment, (text, _) in document.segments.items():
                if text:
                    texts.setdefault(document.intent(segment, self.with_sets), text)
        yield from texts.items()


def catalogue(reading: Reading) -> Multitext:
    """Catalogue test sets; every language or further reference is an edition."""
    if isinstance(reading.path, Mapping):
        raise ConfigError("path: an edition is not a file, but a language or reference; give a directory or a list.")
    found = _read_all(files_in(reading.path, SUFFIXES), reading.errors, reading.progress)
    named = [(file, document) for file, document in found if document.refid]
    _check_references(named)
    sets_of_named = {document.test_set for _, document in named}
    used = [one for one in found if one[1].refid or one[1].test_set not in sets_of_named]
    parts = keep(_by_edition(used), reading.editions)
    files, known = reading.ordered({edition: own[0][0] for edition, own in parts.items()})
    with_sets = len({document.test_set for _, document in used}) > 1
    own = [one for edition in files for one in parts[edition]]
    return multitext_from_sources(
        {
            edition: MtevalText(
                tuple(dict.fromkeys(file for file, _ in parts[edition])),
                frozenset(document.key for _, document in parts[edition]),
                with_sets,
                nfc=reading.nfc,
                errors=reading.errors,
            )
            for edition in files
        },
        _present({edition: parts[edition] for edition in files}, with_sets),
        intents=(intent_info := _intent_info(used, own, with_sets)).index,
        edition_info=reading.describe(files, known, {edition: _language(parts[edition]) for edition in files}),
        intent_info=intent_info,
    )


def _read_all(files: Sequence[File], errors: str, progress: bool | None) -> list[Found]:
    """Return the documents of all files, with numbers in place of texts, which need not fit into memory together."""
    found: list[Found] = []
    with progress_bar(progress=progress) as bar:
        for file in bar.track(files, description="cataloguing"):
            for document in read_documents(file, errors=errors):
                marks = {name: (f"{hash(text)}" if text else "", at) for name, (text, at) in document.segments.items()}
                found.append((file, replace(document, segments=marks)))
    if not found:
        raise DataError(f"{listing(str(file) for file in files)}: no source and no reference, only what systems wrote.")
    return found


def _by_edition(found: Iterable[Found]) -> dict[str, list[Found]]:
    """Divide documents among editions: a language, one more reference in it, or NIST's name of a reference."""
    found = list(found)
    translators: dict[tuple[str, ...], set[str]] = {}
    for _, document in found:
        translators.setdefault(document.key[:3], set()).add(document.translator)
    parts: dict[str, list[Found]] = {}
    for file, document in found:
        first = min(translators[document.key[:3]] - {""}, default="")
        edition = document.language
        if document.refid:
            edition = document.refid
        elif document.translator not in ("", first):
            edition = f"{edition}-{document.translator}"
        parts.setdefault(edition, []).append((file, document))
    return parts


def _by_precedence(found: Iterable[Found]) -> list[Found]:
    """Sort documents so that of two texts of one segment the first counts: an author's, then a source, then others."""
    return sorted(found, key=lambda one: (one[1].translator != "", not one[1].is_source))


def _present(parts: Mapping[str, Sequence[Found]], with_sets: bool) -> dict[str, list[str]]:
    """Return the intents that every edition has; warn if it has two texts of some."""
    present: dict[str, list[str]] = {}
    different: list[str] = []
    for edition, found in parts.items():
        first: dict[str, tuple[str, str]] = {}  # mark of the text, and where it is
        for file, document in _by_precedence(found):
            for segment, (mark, line) in document.segments.items():
                intent, where = document.intent(segment, with_sets), f"{file}, line {line}"
                if mark and first.setdefault(intent, (mark, where))[0] != mark:
                    different.append(f"{intent!r} ({first[intent][1]} and {where})")
        present[edition] = list(first)
    if different:
        warnings.warn(
            f"{len(different):,} segments differ between two files where they should be the same text, such as "
            f"{different[0]}. Sources count more than references, and the first file more than others.",
            LangdiffWarning,
            stacklevel=4,
        )
    return present


def _intent_info(used: Iterable[Found], own: Iterable[Found], with_sets: bool) -> pd.DataFrame:
    """Return document and original language of the segments of editions, in the order of the files."""
    origins: dict[str, set[str]] = {}
    for _, document in used:
        known = origins.setdefault(document.full_name(with_sets), set())
        known |= {document.original_language} - {""}
    segments: dict[tuple[str, str], dict[str, str]] = {}
    for _, document in own:
        of_document = segments.setdefault(document.key[:2], {})
        of_document |= {document.intent(name, with_sets): document.full_name(with_sets) for name in document.segments}
    intents = {intent: name for of_document in segments.values() for intent, name in of_document.items()}
    if len(intents) < sum(map(len, segments.values())):
        raise DataError("two segments of different sets or documents have the same SET/DOCUMENT/SEGMENT; rename a set.")
    contradicted = [name for name, known in origins.items() if len(known) > 1]
    if contradicted:
        warnings.warn(
            f"{len(contradicted):,} documents have two original languages, so that none is known: "
            f"{listing(contradicted)}.",
            LangdiffWarning,
            stacklevel=4,
        )
    original = {name: next(iter(known)) if len(known) == 1 else "" for name, known in origins.items()}
    return pd.DataFrame(
        {"document": list(intents.values()), "original_language": [original[name] for name in intents.values()]},
        index=list(intents),
        dtype=object,
    )


def _language(found: Sequence[Found]) -> dict[str, str]:
    language = found[0][1].language
    return {"language": language} if language else {}


def _check_references(found: Sequence[Found]) -> None:
    """Raise at the first document or segment in which two references of a set with names differ."""
    refsets: dict[tuple[str, str], list[Found]] = {}
    for file, document in found:
        others = refsets.setdefault((document.test_set, document.refid), [])
        if others and others[0][1].where != document.where:
            raise DataError(f"{others[0][1].where} and {document.where}: refset {document.refid!r} is there twice.")
        others.append((file, document))
    first_of: dict[str, str] = {}
    for test_set, refid in refsets:
        first = first_of.setdefault(test_set, refid)
        _check_equal(first, refsets[test_set, first], refid, refsets[test_set, refid])


def _check_equal(first: str, one: Sequence[Found], second: str, other: Sequence[Found]) -> None:
    left, right = _segments(one), _segments(other)
    for (a, a_where), (b, b_where) in zip([*left, ("", "")], [*right, ("", "")], strict=False):
        if a != b:
            said = [f"{a_where}: {a!r}" if a else f"{one[0][1].where}: nothing more"]
            said += [f"{b_where}: {b!r}" if b else f"{other[0][1].where}: nothing more"]
            raise DataError(
                f"refsets {first!r} and {second!r} have different segments, the first {said[0]} and {said[1]} "
                f"(of {len(left):,} and {len(right):,}). All refsets of a set must have the same documents and "
                "segments in the same order; an untranslated segment is empty, not left out."
            )


def _segments(found: Sequence[Found]) -> list[tuple[str, str]]:
    """Return name and place of every segment."""
    return [
        (f"{document.name}/{name}", f"{file}, line {line}")
        for file, document in found
        for name, (_, line) in document.segments.items()
    ]


FORMAT = Format(
    name="mteval",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beginning=begins_as_xml(r"(?i:mteval|refset|srcset|tstset)\b|dataset\s+id="),
)
