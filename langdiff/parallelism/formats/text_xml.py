"""XML of running text (ASP, untokenised): ``parallelism`` elements, which may be nested, are the branches."""

import re
from dataclasses import dataclass
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from langdiff.base.archives import File
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.errors import DataError
from langdiff.parallelism.documents import Document, Parallelism, Section, enclosing_first, strata
from langdiff.parallelism.formats.branches import (
    MarkedText,
    Word,
    check_characters,
    check_plain,
    checked_document,
    split_words,
)

_NUMBER = re.compile("[0-9]{1,9}")


@dataclass
class _Branch:
    """A branch as the file has it: identifiers, characters of the text, and the line of the file."""

    parallelism: int
    part: int
    start: int
    end: int
    line: int


def read_text_xml(file: File, name: str, *, predicted: bool) -> Document:
    """Return the document of a file.

    Raises
    ------
    FaultsError
        If the file cannot be used; the message names file and line.
    """
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
    """Return the XML of a document.

    Raises
    ------
    DataError
        If a token is not a word of plain text, or branches overlap without being nested or cross the end of a section.
    """
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
