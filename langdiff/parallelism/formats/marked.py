"""Words of plain text, punctuation apart, and branches of them that characters of the text mark."""

import re
import string
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from langdiff.errors import DataError, listing, warn
from langdiff.parallelism.documents import Branch, Document
from langdiff.parallelism.formats.branches import fault

_ADVICE = "Write a format that keeps tokens: word-xml, essay-xml or tsv."
_CHUNK = re.compile(r"\S+")
_WITHOUT_SPACES = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")


class Word(NamedTuple):
    """A word of a text: the word in lower case, and the half-open span of characters it was."""

    token: str
    start: int
    end: int


def split_words(text: str, start: int = 0, end: int | None = None) -> list[Word]:
    """Return the words of a text in lower case; punctuation marks and symbols are words of their own.

    Han characters and kana, which are written without spaces, are one word each.

    Parameters
    ----------
    text : str
        The text.
    start, end : int
        Half-open span of characters to read.

    Returns
    -------
    list of Word
        Words in text order.

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
    """Check that formats without tokens can hold a document.

    Raises
    ------
    DataError
        If reading the text back would give other tokens, or a branch ends in punctuation, which would be moved out.
    """
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
        """Return the words of a branch; punctuation at its end is moved out, and a word that is cut belongs to it.

        Parameters
        ----------
        start, end : int
            Half-open span of characters.
        line : int
            Line of the file, for messages.
        called : str
            What the file calls the branch.

        Returns
        -------
        (int, int)
            Half-open span of words.

        Raises
        ------
        FaultsError
            If no word is left.
        """
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
