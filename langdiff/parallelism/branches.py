"""Branches of tokens or of marked plain text, combined to parallelisms and checked."""

import re
import string
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from langdiff.base.xml import check_writable
from langdiff.errors import DataError, Fault, FaultsError, listing, warn
from langdiff.parallelism.documents import Branch, Document, Parallelism, Section, make_document, strata

NONE = -1  # identifier of a token in no branch
MAX_STRATA = 50  # real data have two
_ADVICE = "Write a format that keeps tokens: word-xml, essay-xml or tsv."
_CHUNK = re.compile(r"\S+")
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


@dataclass
class TokenList:
    """Tokens of a file with the branches they are in, in text order.

    Attributes
    ----------
    file : str
        The file, for messages.
    tokens : list of str
        Tokens read so far.
    sections : list of Section
        Sections that have ended.
    """

    file: str
    tokens: list[str] = field(default_factory=list)
    sections: list[Section] = field(default_factory=list)
    _spans: dict[tuple[int, int], dict[int, tuple[int, int]]] = field(default_factory=dict)  # by stratum, parallelism
    _lines: dict[tuple[int, int], int] = field(default_factory=dict)  # where a parallelism begins

    def add(self, token: str, identifiers: dict[int, tuple[int, int]], line: int) -> None:
        """Add a token."""
        place = len(self.tokens)
        if not token or token != "".join(token.split()):
            raise self.fault(line, f"a token is not empty and has no spaces in it; got {token!r}.")
        for stratum, (parallelism, branch) in identifiers.items():
            if (parallelism == NONE) != (branch == NONE):
                have, lack = ("parallelism", "branch") if branch == NONE else ("branch", "parallelism")
                raise self.fault(
                    line, f"token {token!r} has the id of a {have} but not of a {lack} (stratum {stratum})."
                )
            if parallelism == NONE:
                continue
            spans = self._spans.setdefault((stratum, parallelism), {})
            self._lines.setdefault((stratum, parallelism), line)
            start, end = spans.get(branch, (place, place))
            if end != place:
                where = f"branch {branch} of parallelism {parallelism}"
                raise self.fault(line, f"token {token!r} continues {where} after a gap; a branch has no gaps.")
            spans[branch] = (start, place + 1)
        self.tokens.append(token)

    def end_section(self, name: str) -> None:
        """Add the section that began where the last one ended; one without tokens is left out."""
        start = self.sections[-1].end if self.sections else 0
        if len(self.tokens) > start:
            self.sections.append(Section(name, start, len(self.tokens)))

    def document(self, name: str, *, predicted: bool) -> Document:
        """Return the document; see `checked_document`."""
        if self.sections:
            self.end_section("")
        groups = [
            (Parallelism(tuple(spans.values())), self._lines[key], f"parallelism {key[1]}")
            for key, spans in self._spans.items()
        ]
        return checked_document(self.file, name, self.tokens, groups, self.sections, predicted=predicted)

    def fault(self, line: int | None, what: str) -> FaultsError:
        """Return the error to raise in a line."""
        return fault(self.file, line, what)


def checked_document(
    file: str,
    name: str,
    tokens: list[str],
    parallelisms: list[tuple[Parallelism, int, str]],
    sections: list[Section],
    *,
    predicted: bool,
) -> Document:
    """Return a checked document from parallelisms with their lines and their names in the file."""
    if not tokens:
        raise fault(file, None, "the file has no tokens.")
    for one, line, called in parallelisms:
        if len(one.branches) < 2 and not predicted:
            what = f"{called} has one branch only. Mend it, or read it as a prediction (predicted=True)."
            raise fault(file, line, what)
    try:
        return make_document(name, tokens, [one for one, _, _ in parallelisms], sections)
    except DataError as error:
        raise fault(file, None, str(error)) from error


def fault(file: str, line: int | None, what: str) -> FaultsError:
    """Return the error to raise in a line of a file."""
    return FaultsError([Fault(file, line, what)])


def identifiers(document: Document) -> tuple[int, list[dict[int, tuple[int, int]]]]:
    """Return the number of strata (at least 1), and parallelism and branch, from 1, of each token by stratum, from 0.

    Raises
    ------
    DataError
        If branches of one stratum share a token.
    """
    found: list[dict[int, tuple[int, int]]] = [{} for _ in document.tokens]
    levels = strata(document)
    for number, (one, stratum) in enumerate(zip(document.parallelisms, levels, strict=True), 1):
        for branch, (start, end) in enumerate(one.branches, 1):
            for place in range(start, end):
                found[place][stratum] = (number, branch)
    return max(levels, default=0) + 1, found


def check_characters(document: Document) -> None:
    """Check that XML can hold a document."""
    names = [section.name for section in document.sections]
    held = (document.name, *names, *document.tokens)
    check_writable((f"Document {document.name}: {text!r}", text) for text in held)


class Word(NamedTuple):
    """A word of a text: the word in lower case, and the half-open span of characters it was."""

    token: str
    start: int
    end: int


def split_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Return the words of a text in lower case; punctuation marks and symbols are words of their own.

    Han characters and kana, which are written without spaces, are one word each.

    Examples
    --------
    >>> [word.token for word in split_words("Non uidit, non audiuit!")]
    ['non', 'uidit', ',', 'non', 'audiuit', '!']
    """
    found = []
    for chunk in _CHUNK.finditer(text, start, len(text) if end is None else end):
        place = chunk.start()
        for piece in _pieces(chunk[0]):
            found.append(Word(piece.lower(), place, place + len(piece)))
            place += len(piece)
    return found


@lru_cache(maxsize=1 << 16)
def _pieces(chunk: str) -> tuple[str, ...]:
    """Return the words of a text without spaces."""
    if chunk.isalpha() and not _WITHOUT_SPACES.search(chunk):
        return (chunk,)
    pieces: list[str] = []
    for alone, characters in groupby(chunk, key=_stands_alone):
        piece = "".join(characters)
        pieces += piece if alone else (piece,)
    return tuple(pieces)


def _stands_alone(character: str) -> bool:
    return unicodedata.category(character)[0] in "PS" or _WITHOUT_SPACES.match(character) is not None


def check_plain(document: Document) -> None:
    """Check that formats without tokens can hold a document."""
    for place, token in enumerate(document.tokens):
        if _pieces(token) != (token,):
            raise DataError(
                f"Document {document.name}: token {place} ({token!r}) would be read back as other tokens. {_ADVICE}"
            )
    for number, one in enumerate(document.parallelisms, 1):
        for start, end in one.branches:
            if document.tokens[end - 1] in string.punctuation:
                what = f"branch ({start}, {end}) of parallelism {number} ends in punctuation, which would be moved out."
                raise DataError(f"Document {document.name}: {what} {_ADVICE}")


@dataclass
class MarkedText:
    """Words of a text, and warnings about its branches.

    Attributes
    ----------
    file : str
        The file that marks the branches, for messages.
    words : list of Word
        Words of the text.
    """

    file: str
    words: list[Word]
    _cut: list[str] = field(default_factory=list)

    def branch(self, start: int, end: int, line: int, called: str) -> Branch:
        """Return the words of a branch; punctuation at its end is moved out, and a word that is cut belongs to it."""
        first = bisect_left(self.words, start, key=lambda word: word.end - 1)
        last = bisect_left(self.words, end, key=lambda word: word.start)
        while last > first and self.words[last - 1].token in string.punctuation:
            last -= 1
        if first >= last:
            raise fault(self.file, line, f"{called} has no words besides the punctuation at its end.")
        if self.words[first].start < start:
            self._cut.append(self.words[first].token)
        if self.words[last - 1].end > end:
            self._cut.append(self.words[last - 1].token)
        return first, last

    def warn(self) -> None:
        """Warn about branch boundaries inside words."""
        if self._cut:
            what = f"{self.file}: {len(self._cut)} word(s) are cut by the end of a branch: {listing(self._cut)}."
            warn(f"{what} They count as words of the branch.")
