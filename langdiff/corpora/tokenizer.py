"""The reversible tokeniser of Mielke & Eisner (2018): punctuation split off, and put back exactly."""

import re
import sys
import unicodedata
from functools import cache

MERGE = "↹"
ESCAPE = "␛"
_ESCAPED_MERGE = "⇥"  # after ESCAPE; all three are weird, so what they stand for stays one


def tokenize(text: str) -> str:
    """Split off every character that is no letter, mark, number or white space.

    Such a *weird* character gets a space and the merge symbol ``↹`` before it if something other
    than white space stood there, and the merge symbol and a space after it if a character follows
    that is neither weird nor white space. White space of the text itself is left as it is.

    Parameters
    ----------
    text : str
        Any text. A merge symbol of its own is written ``␛⇥`` and an escape symbol ``␛␛``, so that
        every text comes back.

    Returns
    -------
    str
        Tokens separated by white space; ``detokenize(tokenize(text)) == text``.

    References
    ----------
    Mielke & Eisner (2018), "Spell once, summon anywhere", AAAI 2019, on tokenisation.

    Examples
    --------
    >>> tokenize('"Go," she said.')
    '"↹ Go ↹, ↹" she said ↹.'
    >>> detokenize('"↹ Go ↹, ↹" she said ↹.')
    '"Go," she said.'
    """
    if MERGE in text or ESCAPE in text:
        text = text.replace(ESCAPE, ESCAPE + ESCAPE).replace(MERGE, ESCAPE + _ESCAPED_MERGE)
    pieces = _weird_character().split(text)  # plain, weird, plain, ..., weird, plain
    tokens, previous = pieces[:1], pieces[0][-1:]
    for symbol, plain in zip(pieces[1::2], pieces[2::2], strict=True):
        if previous and not previous.isspace():
            tokens.append(f" {MERGE}")
        tokens.append(symbol)
        if plain and not plain[0].isspace():
            tokens.append(f"{MERGE} ")
        tokens.append(plain)
        previous = plain[-1:] or symbol
    return "".join(tokens)


def detokenize(text: str) -> str:
    """Undo `tokenize`; the same in linear time.

    Parameters
    ----------
    text : str
        What `tokenize` returned.

    Returns
    -------
    str
        The text it was given.
    """
    if MERGE in text:  # each stands for one inserted space, before it or after it
        text = _MERGED.sub("", text)
    return _ESCAPED.sub(_unescape, text) if ESCAPE in text else text


_MERGED = re.compile(f" {MERGE}|{MERGE} ")
_ESCAPED = re.compile(f"{ESCAPE}[{ESCAPE}{_ESCAPED_MERGE}]")


def _unescape(match: re.Match[str]) -> str:
    return ESCAPE if match[0][1] == ESCAPE else MERGE


@cache
def _weird_character() -> re.Pattern[str]:
    # `re` looks characters below U+10000 up in a table but walks through the ranges above, so the
    # search first takes any character from there, and walks only if there is one
    low, high = _plain_ranges(0, 0xFFFF), _plain_ranges(0x10000, sys.maxunicode)
    return re.compile(rf"([^\s{low}](?:(?<=[\0-\uffff])|(?<![{high}])))")


def _plain_ranges(first: int, last: int) -> str:
    """List letters, marks and numbers as ranges for a regular expression's brackets."""
    ranges: list[list[int]] = []
    for code in range(first, last + 1):
        if unicodedata.category(chr(code))[0] in "LMN":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(rf"\U{start:08x}-\U{end:08x}" for start, end in ranges)
