"""Reversible tokenizer of Mielke & Eisner (2018), which separates punctuation and restores it exactly."""

import re
import unicodedata
from functools import cache

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Tokenization
from langdiff.tables.multitext import Multitext

MERGE = "↹"
ESCAPE = "␛"
_ESCAPED_MERGE = "⇥"  # after ESCAPE; all three are weird, so that what they stand for is tokenized alike
_PLAIN, _SPACE, _WEIRD = range(3)


def tokenize(text: str) -> str:
    """Separate every character that is not a letter, mark, number or white space.

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
    Mielke & Eisner (2018), "Spell once, summon anywhere", AAAI 2019, on tokenization.

    Examples
    --------
    >>> tokenize('"Go," she said.')
    '"↹ Go ↹, ↹" she said ↹.'
    >>> detokenize('"↹ Go ↹, ↹" she said ↹.')
    '"Go," she said.'
    """
    if MERGE in text or ESCAPE in text:
        text = text.replace(ESCAPE, ESCAPE + ESCAPE).replace(MERGE, ESCAPE + _ESCAPED_MERGE)
    pieces = _weird_run().split(text)  # plain, weird, plain, ..., weird, plain
    tokens, spaced = pieces[:1], not pieces[0] or pieces[0][-1].isspace()
    pieces[-1] += " "  # so that none but the first is empty; taken off below
    for run, plain in zip(pieces[1::2], pieces[2::2], strict=True):
        weird = run if len(run) == 1 else f" {MERGE}".join(run)
        if plain[0].isspace():
            tokens.append(f"{weird}{plain}" if spaced else f" {MERGE}{weird}{plain}")
        else:
            tokens.append(f"{weird}{MERGE} {plain}" if spaced else f" {MERGE}{weird}{MERGE} {plain}")
        spaced = plain[-1].isspace()
    return "".join(tokens)[:-1] if len(pieces) > 1 else text


def prepare_text(multitext: Multitext, tokenization: Tokenization) -> Multitext:
    """Return the multitext with texts prepared for language models.

    Examples
    --------
    >>> import langdiff as ld, pandas as pd
    >>> multitext = ld.read_frame(pd.DataFrame({"eng": ["Go!"]}, index=["1"]))
    >>> prepare_text(multitext, "reversible").text("eng").tolist()
    ['Go ↹!']
    """
    return multitext.map_text(tokenize) if tokenization == "reversible" else multitext


def detokenize(text: str) -> str:
    """Restore the text that `tokenize` tokenized, in linear time.

    Parameters
    ----------
    text : str
        Text that `tokenize` returned.

    Returns
    -------
    str
        The text that `tokenize` was given.

    Examples
    --------
    >>> detokenize("she said ↹.")
    'she said.'
    """
    if MERGE in text:  # each stands for one inserted space, before it or after it
        text = _MERGED.sub("", text)
    return _ESCAPED.sub(_unescape, text) if ESCAPE in text else text


_MERGED = re.compile(f" {MERGE}|{MERGE} ")
_ESCAPED = re.compile(f"{ESCAPE}[{ESCAPE}{_ESCAPED_MERGE}]")


def _unescape(match: re.Match[str]) -> str:
    return ESCAPE if match[0][1] == ESCAPE else MERGE


@cache
def _kinds() -> npt.NDArray[np.uint8]:
    """Return the kind of every code point, shape (0x110000,)."""
    kinds = np.full(0x110000, _WEIRD, dtype=np.uint8)
    for code in range(len(kinds)):
        character = chr(code)
        if unicodedata.category(character)[0] in "LMN":
            kinds[code] = _PLAIN
        elif character.isspace():
            kinds[code] = _SPACE
    return kinds


@cache
def _weird_run() -> re.Pattern[str]:
    # `re` looks characters below U+10000 up in a table but walks through the ranges above, so the
    # search first takes any character from there, and walks only if there is one that is not a pictograph
    low, high = _plain_ranges(0, 0x10000), _plain_ranges(0x10000, 0x110000)
    one = rf"[^\s{low}](?:(?<=[\0-\uffff\U0001f300-\U0001faff])|(?<![{high}]))"
    return re.compile(f"({one}(?:{one})*+)")  # written out, as `re` searches fast for a first character only


def _plain_ranges(first: int, end: int) -> str:
    """Return letters, marks and numbers as ranges for the brackets of a regular expression."""
    plain = np.pad(_kinds()[first:end] == _PLAIN, 1)
    edges = np.flatnonzero(plain[1:] != plain[:-1]) + first
    return "".join(rf"\U{start:08x}-\U{stop - 1:08x}" for start, stop in edges.reshape(-1, 2))
