"""What a language model predicts one by one, whatever its kind, and the simplest kind: characters."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from langdiff.errors import DataError
from langdiff.lm.units.alphabet import Alphabet

Ids = npt.NDArray[np.int64]


class Units(Protocol):
    """A reversible way to cut strings over an alphabet into the units that a model predicts."""

    @property
    def alphabet(self) -> Alphabet:
        """The symbols of the strings."""
        ...

    @property
    def model(self) -> bytes | None:
        """What must be saved beside the alphabet to have the same units again."""
        ...

    @property
    def size(self) -> int:
        """Number of units; their ids are 0 to size - 1."""
        ...

    def encode(self, text: str) -> Ids:
        """Cut a string over the alphabet; ``decode(encode(text)) == text``."""
        ...

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Put units together again."""
        ...


@dataclass(frozen=True)
class CharacterUnits:
    """Each symbol of the alphabet is a unit.

    Parameters
    ----------
    alphabet : Alphabet
        Its `symbols`, in order, have the ids 0, 1, ….

    Examples
    --------
    >>> units = CharacterUnits(Alphabet("abc"))
    >>> units.encode("cab a")
    array([3, 1, 2, 0, 1])
    >>> units.decode([3, 1, 2])
    'cab'
    """

    alphabet: Alphabet

    @property
    def model(self) -> None:
        """Nothing: the alphabet is all there is."""
        return None

    @property
    def size(self) -> int:
        """Number of symbols of the alphabet."""
        return len(self.alphabet.symbols)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {symbol: number for number, symbol in enumerate(self.alphabet.symbols)}

    def encode(self, text: str) -> Ids:
        """Return one id a character.

        Raises
        ------
        DataError
            If a character is outside the alphabet; see `Alphabet.apply`.
        """
        try:
            return np.fromiter(map(self._id_of.__getitem__, text), dtype=np.int64, count=len(text))
        except KeyError as error:
            raise outside(error.args[0]) from None

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids."""
        return "".join(self.alphabet.symbols[number] for number in ids)


def outside(character: str) -> DataError:
    """Return the error of a character that is not in the alphabet."""
    return DataError(f"{character!r} (U+{ord(character):04X}) is outside the alphabet; apply the alphabet first.")
