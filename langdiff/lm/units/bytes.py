"""Predict the bytes of UTF-8."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from langdiff.lm.units.alphabet import SPACE
from langdiff.lm.units.characters import CharacterUnits, Ids, refuse_outside


@dataclass(frozen=True)
class ByteUnits(CharacterUnits):
    """The bytes of a string in UTF-8, those that the alphabet needs.

    A string has one sequence of bytes, so that its probability is that of the sequence: nothing is
    summed over. What the model gives to sequences that are not UTF-8 is lost; it learns to give little.

    Parameters
    ----------
    alphabet : Alphabet
        The symbols of the strings.

    Examples
    --------
    >>> from langdiff.lm.units.alphabet import Alphabet
    >>> units = ByteUnits(Alphabet("abéж"))
    >>> len(units.encode("abéж")), units.decode(units.encode("é ж"))
    (6, 'é ж')
    >>> units.size  # space, a, b, two for é, two for ж, three for ◊
    10
    """

    @cached_property
    def _bytes(self) -> Ids:
        """The bytes that occur, in order; shape (size,)."""
        return np.array(sorted(set(self.alphabet.symbols.encode())), dtype=np.int64)

    @cached_property
    def _numbers(self) -> Ids:
        numbers = np.full(256, -1, dtype=np.int64)
        numbers[self._bytes] = np.arange(len(self._bytes))
        return numbers

    @property
    def size(self) -> int:
        """Number of different bytes in the symbols of the alphabet."""
        return len(self._bytes)

    def encode(self, text: str) -> Ids:
        """Return one id per byte.

        Raises
        ------
        DataError
            If a character is outside the alphabet; see `Alphabet.apply`.
        """
        refuse_outside(text, self.alphabet)  # its bytes may well all be there
        return self._numbers[np.frombuffer(text.encode(), dtype=np.uint8)]

    def spell(self, ids: Ids) -> tuple[list[str], Ids]:
        """Return ASCII as it is and other bytes as ``<0xE9>``; a character ends with its last byte."""
        codes = self._bytes[ids]
        names = [chr(code) if code < 128 else f"<0x{code:02X}>" for code in codes]
        follows = (codes & 0xC0) == 0x80  # a byte that does not begin a character
        return names, np.cumsum(np.append(~follows[1:], True), dtype=np.int64)

    @property
    def after_space(self) -> Ids:
        """The id of the space."""
        return self._numbers[[ord(SPACE)]]

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids; bytes that are not UTF-8 become U+FFFD."""
        return self._bytes[np.asarray(ids, dtype=np.int64)].astype(np.uint8).tobytes().decode(errors="replace")
