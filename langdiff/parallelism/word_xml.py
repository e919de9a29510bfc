"""Formats of words with identifiers of parallelisms: XML of words, and the exchange table of pyrallelism.

Words carry ``parallelism_id_k`` and ``branch_id_k`` for stratum k, from 1; -1 stands for none. A word is the attribute
``cont`` or, where that is missing, the text of the element. Sections are ``section`` and ``para``.
"""

import re
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.parallelism.branches import MAX_STRATA, NONE, TokenList, check_characters, identifiers
from langdiff.parallelism.documents import Document

_IDENTIFIER = re.compile(r"(parallelism|branch)_id_(.*)", re.DOTALL)
_WHOLE = re.compile(r"-1|[0-9]{1,9}")
SECTIONS = ("section", "para")
_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>'


def read_word_xml(file: File, name: str, *, predicted: bool) -> Document:
    """Return the document of a file."""
    events = _Words(file)
    read_xml(file, events, errors=None)
    return events.found.document(name, predicted=predicted)


class _Words(XmlEvents):
    """Collects words."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.found = TokenList(str(file))
        self._section = ""
        self._strata = MAX_STRATA
        self._text: list[str] | None = None  # of the open word
        self._attributes: dict[str, str] = {}

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if self._text is not None and tag in (*SECTIONS, "word"):
            raise self.unusable(f"<{tag}> inside of a <word>.")
        if len(self.open) == 1 and (count := attributes.get("stratum_count")) is not None:
            if not _WHOLE.fullmatch(count) or not 0 <= int(count) <= MAX_STRATA:
                raise self.unusable(f"stratum_count is a number from 0 to {MAX_STRATA}; got {count!r}.")
            self._strata = int(count)
        if tag in SECTIONS:
            self.found.end_section("")  # of words before the first section
            self._section = attributes.get("id", "")
        elif tag == "word":
            self._text, self._attributes = [], attributes
        elif tag == "parallelism":
            raise self.unusable("<parallelism> in a file of words; branches are attributes of the words there.")

    def data(self, text: str) -> None:
        if self._text is not None and self.open[-1] == "word":
            self._text.append(text)

    def finish(self, tag: str) -> None:
        if tag in SECTIONS:
            self.found.end_section(self._section)
        elif tag == "word":
            token = self._attributes.get("cont", "".join(self._text or ()).strip())
            self.found.add(token, self._identifiers(), self.line)
            self._text = None

    def _identifiers(self) -> dict[int, tuple[int, int]]:
        """Return the identifiers of parallelism and branch by stratum."""
        found: dict[int, dict[str, int]] = {}
        for key, value in self._attributes.items():
            if not (match := _IDENTIFIER.fullmatch(key)):
                continue
            unit, stratum = match.groups()
            if not _WHOLE.fullmatch(stratum) or not 1 <= int(stratum) <= self._strata:
                raise self.unusable(f"the attribute {key!r} does not name a stratum from 1 to {self._strata}.")
            if not _WHOLE.fullmatch(value):
                raise self.unusable(f"{key} is a whole number, or -1 for none; got {value!r}.")
            found.setdefault(int(stratum), {})[unit] = int(value)
        return {
            stratum: (units.get("parallelism", NONE), units.get("branch", NONE)) for stratum, units in found.items()
        }


def write_word_xml(document: Document) -> str:
    """Return the XML of a document as a tokenised sermon, or for pyrallelism, which needs the number of strata."""
    n_strata, by_token = identifiers(document)
    check_characters(document)
    lines = [_DECLARATION, f'<sermon id={quoteattr(document.name)} stratum_count="{n_strata}">']
    for section in document.sections:
        lines.append(f"\t<section id={quoteattr(section.name)}>")
        for number, place in enumerate(range(section.start, section.end), 1):
            cont = quoteattr(document.tokens[place])
            lines.append(f'\t\t<word id="{number}" cont={cont}{_attributes(by_token[place])}/>')
        lines.append("\t</section>")
    return "\n".join([*lines, "</sermon>", ""])


def write_essay_xml(document: Document) -> str:
    """Return the XML of a document as an essay; every paragraph is written as one sentence."""
    _, by_token = identifiers(document)
    check_characters(document)
    lines = [_DECLARATION, "<doc>"]
    for section in document.sections:
        cont = quoteattr("".join(document.tokens[section.start : section.end]))
        lines += [f"\t<para id={quoteattr(section.name)}>", f'\t\t<sent id="0" cont={cont}>']
        for number, place in enumerate(range(section.start, section.end)):
            attributes = _attributes(by_token[place], first=0)
            lines.append(f'\t\t\t<word id="{number}"{attributes}>{escape(document.tokens[place])}</word>')
        lines += ["\t\t</sent>", "\t</para>"]
    return "\n".join([*lines, "</doc>", ""])


def _attributes(own: dict[int, tuple[int, int]], *, first: int = 1) -> str:
    return "".join(
        f' parallelism_id_{stratum + 1}="{number - 1 + first}" branch_id_{stratum + 1}="{branch}"'
        for stratum, (number, branch) in sorted(own.items())
    )


def read_token_table(path: Path, name: str, *, predicted: bool) -> Document:
    """Return the document of a file; the table has no sections."""
    found = TokenList(str(path))
    columns = 0
    for line, row in read_lines(path):
        token, *cells = row.split("\t")
        if line == 1:
            columns = len(cells)
            if columns % 2 or columns > 2 * MAX_STRATA:
                what = (
                    f"{columns} columns besides the token; there are two per stratum, of at most {MAX_STRATA} strata."
                )
                raise found.fault(line, what)
            continue
        if len(cells) != columns:
            what = f"{len(cells)} identifiers, but line 1 names {columns} (two per stratum)."
            raise found.fault(line, what)
        if odd := [cell for cell in cells if not _WHOLE.fullmatch(cell)]:
            raise found.fault(line, f"identifiers are whole numbers, or {NONE} for none; got {odd[0]!r}.")
        numbers = [int(cell) for cell in cells]
        pairs = zip(numbers[::2], numbers[1::2], strict=True)
        found.add(token, dict(enumerate(pairs, 1)), line)
    return found.document(name, predicted=predicted)


def write_token_table(document: Document) -> str:
    """Return the table of a document."""
    n_strata, by_token = identifiers(document)
    names = [f"{unit}_id_{k}" for k in range(1, n_strata + 1) for unit in ("parallelism", "branch")]
    lines = ["\t".join(["token", *names])]
    for token, own in zip(document.tokens, by_token, strict=True):
        cells = [str(one) for k in range(n_strata) for one in own.get(k, (NONE, NONE))]
        lines.append("\t".join([token, *cells]))
    return "\n".join([*lines, ""])
