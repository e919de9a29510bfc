"""The verse ids of many lines at once, as arrays: lines one by one would take four times as long."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langdiff.base.types import Booleans, Integers

_TEXT = 9  # place of the text in a line, after BBCCCVVV and a tab
_WIDTH = _TEXT + 3  # bytes looked at: the first character of the text, too
_POWERS = 10 ** np.arange(7, -1, -1, dtype=np.int32)
# White space, by the number of its bytes in UTF-8, as numbers to the base 256.
_SPACES = [
    np.array([int.from_bytes(c.encode()) for c in map(chr, range(0x3001)) if c.isspace() and len(c.encode()) == n])
    for n in (1, 2, 3)
]


def is_missing(text: str) -> bool:
    """Whether a text says that there is none.

    Examples
    --------
    >>> is_missing(" BLANK "), is_missing("BLANKET")
    (True, False)
    """
    return text.strip() in ("", "BLANK")


@dataclass(frozen=True)
class Scan:
    """What lines begin with.

    Attributes
    ----------
    numbers : ndarray of int, shape (L,)
        The verse ids.
    is_verse : ndarray of bool, shape (L,)
        Whether the line begins with an id, of any book but 00, and a tab, or is an id alone.
    is_missing : ndarray of bool, shape (L,)
        Whether the text after the id is missing, where there is an id.
    is_empty : ndarray of bool, shape (L,)
        Whether there is nothing in the line.
    """

    numbers: NDArray[np.int32]
    is_verse: Booleans
    is_missing: Booleans
    is_empty: Booleans
    _raw: bytes
    _starts: Integers
    _ends: Integers

    def line(self, place: int) -> str:
        """Return a line, counted from 0, without its end."""
        return self._raw[self._starts[place] : self._ends[place]].decode()


def scan_lines(raw: bytes) -> Scan:
    r"""Find the verse ids that lines begin with.

    Parameters
    ----------
    raw : bytes
        Lines in UTF-8 that end in ``\n``; the last one may lack it.

    Returns
    -------
    Scan
        One element per line.

    Examples
    --------
    >>> scan = scan_lines(b"# title: a\n01001001\tIn the\n01001002\n")
    >>> scan.numbers[scan.is_verse], scan.is_missing[scan.is_verse], scan.line(0)
    (array([1001001, 1001002], dtype=int32), array([False,  True]), '# title: a')
    """
    codes = np.frombuffer(raw + b"\n" * _WIDTH, np.uint8)
    ends = np.flatnonzero(codes[: len(raw)] == ord("\n"))
    if not raw.endswith(b"\n"):
        ends = np.append(ends, len(raw))
    starts = np.concatenate([[0], ends[:-1] + 1])
    lengths = ends - starts
    heads = codes[starts[:, None] + np.arange(_WIDTH)]  # (L, 12)
    digits = heads[:, :8] - np.uint8(ord("0"))  # what stands before 0 wraps around and is large
    numbers = digits @ _POWERS
    is_id = (digits <= 9).all(axis=1) & (numbers >= 1_000_000) & ((lengths == 8) | (heads[:, 8] == ord("\t")))
    scan = Scan(numbers, is_id, lengths <= _TEXT, lengths == 0, raw, starts, ends)
    for place in np.flatnonzero(is_id & (lengths > _TEXT) & _may_be_missing(heads[:, _TEXT:])).tolist():
        scan.is_missing[place] = is_missing(scan.line(place)[_TEXT:])
    return scan


def _may_be_missing(first: NDArray[np.uint8]) -> Booleans:
    """Whether a text begins with white space or BL, given its first three bytes."""
    one = first[:, 0].astype(np.int64)
    two = one << 8 | first[:, 1]
    three = two << 8 | first[:, 2]
    found: Booleans = np.isin(one, _SPACES[0]) | np.isin(two, _SPACES[1]) | np.isin(three, _SPACES[2])
    found |= two == int.from_bytes(b"BL")
    return found
