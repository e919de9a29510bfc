"""Plain text into words, punctuation apart."""

import re
import string
import unicodedata
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple

from langdiff.errors import DataError
from langdiff.parallelism.documents import Document

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
