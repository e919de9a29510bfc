"""Running text with branches: the stand-off annotation of brat, and XML (ASP, untokenised)."""

import re
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from langdiff.base.archives import COMPRESSED, File, unpacked
from langdiff.base.io import read_blocks, read_lines
from langdiff.base.suspicion import Doubts
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.errors import DataError, listing, warn
from langdiff.parallelism.branches import (
    MarkedText,
    Word,
    check_characters,
    check_plain,
    checked_document,
    fault,
    split_words,
)
from langdiff.parallelism.documents import Document, Parallelism, Section, enclosing_first, strata

_NUMBER = re.compile("[0-9]{1,9}")
CHIASM = ("ChiasmA", "ChiasmB")
BRANCHES = ("ParallelArm", "Branch", *CHIASM)
FINISHED = "Finished"  # the mark of a paragraph that an annotator has done
RELATIONS = ("Parallel", "Parallelism", "Chiasm")
_OTHER = re.compile(r"([AEMN])[0-9]+\s|(\*)\s")  # attributes, events, modifications, normalizations, equivalences
_HEADER = re.compile(r"<(?:[0-9]+|Paragraph) ([0-9]+)>\s*")
_MARKED_LINE = re.compile(r">>>\s")  # a sentence that is parallel to others, in the essays
_ENTITY = re.compile(r"(T[0-9]+)\t(\S+) ([0-9]{1,9} [0-9]{1,9}(?:;[0-9]{1,9} [0-9]{1,9})*)(?:\t(.*))?", re.DOTALL)
_RELATION = re.compile(r"(R[0-9]+)\t(\S+) Arg1:(T[0-9]+) Arg2:(T[0-9]+)\s*")


@dataclass
class _Branch:
    """A branch as the file has it: identifiers, characters of the text, and the line of the file."""

    parallelism: int
    part: int
    start: int
    end: int
    line: int


def read_text_xml(file: File, name: str, *, predicted: bool) -> Document:
    """Return the document of a file."""
    events = _Text(file)
    read_xml(file, events, errors=None)
    text = "".join(events.pieces)
    words: list[Word] = []
    sections = []
    for called, start, end in events.sections:
        begin = len(words)
        words += split_words(text, start, end)
        if len(words) > begin:
            sections.append(Section(called, begin, len(words)))
    marked = MarkedText(str(file), words)
    groups = []
    events.branches.sort(key=lambda one: one.parallelism)
    for number, own in groupby(events.branches, key=lambda one: one.parallelism):
        members = list(own)
        called = f"parallelism {number}"
        spans = [marked.branch(one.start, one.end, one.line, f"part {one.part} of {called}") for one in members]
        groups.append((Parallelism(tuple(spans)), members[0].line, called))
    marked.warn()
    return checked_document(str(file), name, [word.token for word in words], groups, sections, predicted=predicted)


class _Text(XmlEvents):
    """Collects text, sections and branches."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.pieces: list[str] = []
        self.sections: list[tuple[str, int, int]] = []
        self.branches: list[_Branch] = []
        self._open: list[_Branch] = []  # branches around the current text
        self._parts: dict[tuple[int, int], int] = {}  # lines
        self._place = 0
        self._section: tuple[str, int] | None = None

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "section":
            if self._section is not None or self._open:
                raise self.unusable("a <section> inside of a section or of a branch.")
            self._section = (attributes.get("id", ""), self._place)
        elif tag == "parallelism":
            number, part = attributes.get("id", ""), attributes.get("part", "")
            if not _NUMBER.fullmatch(number) or not _NUMBER.fullmatch(part):
                raise self.unusable(f"id and part of a branch are whole numbers; got {number!r} and {part!r}.")
            key = (int(number), int(part))
            if key in self._parts:
                what = f"part {part} of parallelism {number} is there already, in line {self._parts[key]}."
                raise self.unusable(what + " A branch has no gaps.")
            self._parts[key] = self.line
            self._open.append(_Branch(*key, self._place, self._place, self.line))

    def data(self, text: str) -> None:
        if self._section is None:
            if not text.isspace():
                raise self.unusable(f"text outside of a <section>: {text.strip()[:40]!r}.")
            return
        self.pieces.append(text)
        self._place += len(text)

    def finish(self, tag: str) -> None:
        if tag == "parallelism":
            branch = self._open.pop()
            branch.end = self._place
            self.branches.append(branch)
        elif tag == "section" and self._section is not None:
            name, start = self._section
            self.sections.append((name, start, self._place))
            self.pieces.append("\n")  # a word does not go on in the next section
            self._place += 1
            self._section = None


def write_text_xml(document: Document) -> str:
    """Return the XML of a document."""
    check_plain(document)
    check_characters(document)
    strata(document)  # refuses branches that share tokens in one stratum
    opening: dict[int, str] = {}
    closing: dict[int, int] = {}
    ends: list[int] = []  # of the branches that are open
    for start, end, number in enclosing_first(document.parallelisms):
        while ends and ends[-1] <= start:
            ends.pop()
        if ends and end > ends[-1]:
            what = f"branch ({start}, {end}) of parallelism {number + 1} overlaps another without being nested."
            raise DataError(f"Document {document.name}: {what} This format can only nest them.")
        ends.append(end)
        part = document.parallelisms[number].branches.index((start, end)) + 1
        opening[start] = f'{opening.get(start, "")}<parallelism id="{number + 1}" part="{part}">'
        closing[end] = closing.get(end, 0) + 1
    _check_sections(document)
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<sermon id={quoteattr(document.name)}>"]
    for section in document.sections:
        pieces = [
            opening.get(place, "") + escape(document.tokens[place]) + "</parallelism>" * closing.get(place + 1, 0)
            for place in range(section.start, section.end)
        ]
        lines += [f"\t<section id={quoteattr(section.name)}>", f"\t\t{' '.join(pieces)}", "\t</section>"]
    return "\n".join([*lines, "</sermon>", ""])


def _check_sections(document: Document) -> None:
    ends = {section.end for section in document.sections}
    for number, one in enumerate(document.parallelisms, 1):
        for start, end in one.branches:
            if crossed := ends.intersection(range(start + 1, end)):
                what = f"branch ({start}, {end}) of parallelism {number} crosses the section's end at {min(crossed)}."
                raise DataError(f"Document {document.name}: {what}")


@dataclass
class _Entity:
    """A branch as it is marked: label, characters, the words they are, and the line of the file."""

    label: str
    start: int
    end: int
    line: int


def read_brat(path: Path, name: str, *, predicted: bool, doubts: Doubts) -> Document:
    """Read the document of an annotation (``.ann``) and of the text (``.txt``) in the same folder.

    Warns
    -----
    LangdiffWarning
        If branches are in no relation; they are left out.
    """
    annotation, text_file = brat_pair(path)
    text = "".join(block.text for block in read_blocks(text_file, errors=None))
    words, sections = _words(text)
    entities, relations = _records(annotation, text, doubts)
    groups, alone = _components(entities, relations)
    marked = MarkedText(str(annotation), words)
    parallelisms = [_parallelism(marked, entities, group) for group in groups]
    if alone:
        warn(f"{annotation}: {len(alone)} branch(es) are in no relation and are left out: {listing(alone)}.")
    marked.warn()
    return checked_document(
        marked.file, name, [word.token for word in words], parallelisms, sections, predicted=predicted
    )


def brat_pair(path: Path) -> tuple[Path, Path]:
    """Return the annotation and the text of a document of which one file is given."""
    bare = unpacked(path)
    wanted = ".txt" if bare.suffix == ".ann" else ".ann"
    for compression in ("", *COMPRESSED):
        other = bare.with_name(f"{bare.stem}{wanted}{compression}")
        if other.is_file():
            return (path, other) if wanted == ".txt" else (other, path)
    raise fault(str(path), None, f"{bare.stem}{wanted} is missing in the folder; brat annotation is a pair of files.")


def _words(text: str) -> tuple[list[Word], list[Section]]:
    """Return the words of a text and its sections, both without the lines that open sections."""
    words: list[Word] = []
    sections: list[Section] = []
    name, begin, place = "", 0, 0
    for line in text.split("\n"):
        if header := _HEADER.fullmatch(line):
            if len(words) > begin:
                sections.append(Section(name, begin, len(words)))
            name, begin = header[1], len(words)
        else:
            marked = _MARKED_LINE.match(line)
            words += split_words(text, place + (marked.end() if marked else 0), place + len(line))
        place += len(line) + 1
    if len(words) > begin and (sections or name):
        sections.append(Section(name, begin, len(words)))
    return words, sections


def _records(path: Path, text: str, doubts: Doubts) -> tuple[dict[str, _Entity], list[tuple[str, str]]]:
    """Return the branches by identifier and the pairs that are related, after checks."""
    entities: dict[str, _Entity] = {}
    relations: dict[str, tuple[int, str, str, str]] = {}
    skipped: Counter[str] = Counter()
    line = 0
    for line, record in read_lines(path):
        if record.startswith("#") or not record.strip():
            continue
        if other := _OTHER.match(record):
            skipped[other[1] or other[2]] += 1
        elif entity := _ENTITY.fullmatch(record):
            _add_entity(path, line, entity, entities, text)
        elif relation := _RELATION.fullmatch(record):
            _add_relation(path, line, relation, relations)
        else:
            what = f"neither a branch, a relation nor a note of brat: {record[:60]!r}."
            raise fault(str(path), line, what)
    doubts.see("brat_lines", str(path), skipped.total(), line, ", ".join(f"{n} {kind}" for kind, n in skipped.items()))
    for line, name, *ends in relations.values():
        if unknown := [end for end in ends if end not in entities or entities[end].label == FINISHED]:
            raise fault(str(path), line, f"{name} relates {unknown[0]}, but there is no such branch.")
        if ends[0] == ends[1]:
            raise fault(str(path), line, f"{name} relates {ends[0]} to itself.")
    found = [(one, other) for _, _, one, other in relations.values()]
    return {name: entity for name, entity in entities.items() if entity.label != FINISHED}, found


def _add_relation(
    path: Path, line: int, record: re.Match[str], relations: dict[str, tuple[int, str, str, str]]
) -> None:
    name, kind, *ends = record.groups()
    if name in relations:
        raise fault(str(path), line, f"{name} is there already, in line {relations[name][0]}.")
    if kind not in RELATIONS:
        raise fault(str(path), line, f"relations are {', '.join(RELATIONS)}; got {kind!r}.")
    relations[name] = (line, name, ends[0], ends[1])


def _add_entity(path: Path, line: int, record: re.Match[str], entities: dict[str, _Entity], text: str) -> None:
    name, label, offsets, covered = record.groups()
    if name in entities:
        raise fault(str(path), line, f"{name} is there already, in line {entities[name].line}.")
    if label not in (*BRANCHES, FINISHED):
        raise fault(str(path), line, f"branches are labelled {', '.join(BRANCHES)}; got {label!r}.")
    fragments = [tuple(map(int, fragment.split(" "))) for fragment in offsets.split(";")]
    start, end = fragments[0][0], fragments[-1][1]
    if any(first >= last for first, last in fragments) or start >= end:
        raise fault(str(path), line, f"{name} has no characters: {offsets!r}.")
    if max(last for _, last in fragments) > len(text):
        raise fault(str(path), line, f"{name} ends outside of the text, which has {len(text):,} characters.")
    marked = " ".join(text[first:last] for first, last in fragments)
    if covered is not None and covered.split() != marked.split():
        what = (
            f"{name} is {marked[:40]!r} in the text, but {covered[:40]!r} here. Offsets count characters of the text."
        )
        raise fault(str(path), line, what)
    entities[name] = _Entity(label, start, end, line)


def _components(entities: dict[str, _Entity], relations: list[tuple[str, str]]) -> tuple[list[list[str]], list[str]]:
    """Return groups of branches that relations join, directly or indirectly, and branches without relations."""
    place = {name: number for number, name in enumerate(entities)}
    one, other = np.array([[place[name] for name in pair] for pair in relations], int).reshape(-1, 2).T
    joined = coo_array((np.ones(len(one)), (one, other)), shape=(len(place), len(place)))
    groups: dict[int, list[str]] = {}
    for name, label in zip(entities, connected_components(joined, directed=False)[1].tolist(), strict=True):
        groups.setdefault(label, []).append(name)
    return [own for own in groups.values() if len(own) > 1], [own[0] for own in groups.values() if len(own) == 1]


def _parallelism(marked: MarkedText, entities: dict[str, _Entity], group: list[str]) -> tuple[Parallelism, int, str]:
    own = [entities[name] for name in group]
    spans = [marked.branch(one.start, one.end, one.line, name) for name, one in zip(group, own, strict=True)]
    kind = "chiastic" if any(one.label in CHIASM for one in own) else "synchystic"
    return Parallelism(tuple(spans), kind), own[0].line, f"the parallelism of {', '.join(group[:5])}"


def brat_texts(document: Document) -> tuple[str, str]:
    """Return the text and the annotation of a document; a parallelism of no known kind counts as synchystic."""
    check_plain(document)
    text, starts = _text(document)
    entities: list[str] = []
    relations: list[str] = []
    for number, one in enumerate(document.parallelisms, 1):
        if len(one.branches) < 2:
            raise DataError(f"Document {document.name}, parallelism {number} has one branch, which brat cannot relate.")
        chiastic = one.kind == "chiastic"
        for k, (start, end) in enumerate(one.branches):
            first, last = starts[start], starts[end - 1] + len(document.tokens[end - 1])
            label = CHIASM[k > 0] if chiastic else "ParallelArm"
            entities.append(f"T{len(entities) + 1}\t{label} {first} {last}\t{text[first:last]}")
            if k > 0:
                ends = f"Arg1:T{len(entities) - 1} Arg2:T{len(entities)}"
                relations.append(f"R{len(relations) + 1}\t{'Chiasm' if chiastic else 'Parallel'} {ends}\t")
    return text, "".join(f"{record}\n" for record in entities + relations)


def _text(document: Document) -> tuple[str, list[int]]:
    """Return the text, one line per section, and the offset of each token."""
    sections = document.sections
    headers = len(sections) > 1 or sections[0].name != "1"
    if headers and (odd := [one.name for one in sections if not re.fullmatch("[0-9]+", one.name)]):
        what = f"brat texts number their sections, but there are others: {listing(odd)}."
        raise DataError(f"Document {document.name}: {what}")
    first = document.name if re.fullmatch("[0-9]+", document.name) else "Paragraph"
    text = ""
    starts: list[int] = []
    for section in sections:
        if headers:
            text += f"<{first} {section.name}>\n"
        place = len(text)
        tokens = document.tokens[section.start : section.end]
        for token in tokens:
            starts.append(place)
            place += len(token) + 1
        text += " ".join(tokens) + "\n"
    return text, starts
