"""Interface of the units that language models predict, and units that are characters, bytes or grapheme clusters."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import regex

from langdiff.errors import CheckpointError, DataError
from langdiff.lm.units.alphabet import SPACE, Alphabet

Ids = npt.NDArray[np.int64]


class Units(Protocol):
    """Reversible segmentation of strings over an alphabet into the units that a model predicts."""

    @property
    def alphabet(self) -> Alphabet:
        """Symbols of the strings."""

    @property
    def model(self) -> bytes | None:
        """Bytes saved with the alphabet, from which the units are restored."""

    @property
    def size(self) -> int:
        """Number of units; their ids are 0 to size - 1."""

    def encode(self, text: str) -> Ids:
        """Return the ids of the units of a string over the alphabet; ``decode(encode(text)) == text``."""

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of some units."""

    def spell(self, ids: Ids) -> tuple[list[str], Ids]:
        """Return the spelling of each unit of a text, and the character of the text at which it ends."""

    @property
    def after_space(self) -> Ids:
        """Ids of units that begin with a space."""


@dataclass(frozen=True)
class StringUnits:
    """Units that are strings; each kind defines the strings (`strings`) and the segmentation (`cut`)."""

    alphabet: Alphabet

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """String of each unit, in the order of their ids: the symbols of the alphabet."""
        return tuple(self.alphabet.symbols)

    def cut(self, text: str) -> Iterable[str]:
        """Return the units of a string over the alphabet."""
        return text

    @property
    def size(self) -> int:
        """Number of units."""
        return len(self.strings)

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {string: number for number, string in enumerate(self.strings)}

    def encode(self, text: str) -> Ids:
        """Return the ids of the units of a string."""
        refuse_outside(text, self.alphabet)
        return np.fromiter(map(self._id_of.__getitem__, self.cut(text)), dtype=np.int64)

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids."""
        return "".join(self.strings[number] for number in ids)

    def spell(self, ids: Ids) -> tuple[list[str], Ids]:
        """Return the string of each unit, and the position of its end in the text."""
        strings = [self.strings[number] for number in ids]
        return strings, np.cumsum([len(string) for string in strings], dtype=np.int64)

    @property
    def after_space(self) -> Ids:
        """Ids of units that begin with a space."""
        return np.array([number for number, string in enumerate(self.strings) if string.startswith(SPACE)])


@dataclass(frozen=True)
class CharacterUnits(StringUnits):
    """Units that are the symbols of the alphabet.

    Parameters
    ----------
    alphabet : Alphabet
        Alphabet, whose `symbols` have the ids 0, 1, …, in their order.

    Examples
    --------
    >>> units = CharacterUnits(Alphabet("abc"))
    >>> units.encode("cab a")
    array([3, 1, 2, 0, 1])
    >>> units.decode([3, 1, 2])
    'cab'
    """

    @property
    def model(self) -> None:
        """Empty: the alphabet determines the units."""
        return None


def refuse_outside(text: str, alphabet: Alphabet) -> None:
    """Check that all characters are in the alphabet."""
    unknown = set(text).difference(alphabet.symbols)
    if unknown:
        raise DataError(
            f"{min(unknown)!r} (U+{ord(min(unknown)):04X}) is outside the alphabet; apply the alphabet first."
        )


@dataclass(frozen=True)
class ByteUnits(CharacterUnits):
    """Bytes of strings over the alphabet in UTF-8.

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
        """Bytes that occur, in order; shape (size,)."""
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
        """Return one id per byte."""
        refuse_outside(text, self.alphabet)  # its bytes may well all be there
        return self._numbers[np.frombuffer(text.encode(), dtype=np.uint8)]

    def spell(self, ids: Ids) -> tuple[list[str], Ids]:
        """Return ASCII bytes as they are and others as ``<0xE9>``; a character ends with its last byte."""
        codes = self._bytes[ids]
        names = [chr(code) if code < 128 else f"<0x{code:02X}>" for code in codes]
        follows = (codes & 0xC0) == 0x80  # a byte that does not begin a character
        return names, np.cumsum(np.append(~follows[1:], True), dtype=np.int64)

    @property
    def after_space(self) -> Ids:
        """Id of the space."""
        return self._numbers[[ord(SPACE)]]

    def decode(self, ids: Sequence[int] | Ids) -> str:
        """Return the string of these ids; bytes that are not UTF-8 become U+FFFD."""
        return self._bytes[np.asarray(ids, dtype=np.int64)].astype(np.uint8).tobytes().decode(errors="replace")


_CLUSTER = regex.compile(r"\X")


@dataclass(frozen=True)
class GraphemeUnits(StringUnits):
    r"""Extended grapheme clusters (Unicode Standard Annex 29), such as a letter with its marks.

    Clusters of several code points that are frequent in training are units of their own; the others
    are spelt code point by code point, so that no string over the alphabet has an unknown unit.

    Parameters
    ----------
    alphabet : Alphabet
        Alphabet, whose `symbols` have the first ids, in their order.
    clusters : tuple of str
        Clusters of two code points or more; they have the ids that follow.

    Raises
    ------
    CheckpointError
        If a cluster is a single code point, occurs twice or is not over the alphabet.

    Examples
    --------
    >>> texts = ["नि नि नि ति"]
    >>> units = GraphemeUnits.train(texts, Alphabet.from_texts(texts, min_count=1), min_count=2)
    >>> units.clusters
    ('नि',)
    >>> [units.decode([number]) for number in units.encode("नि ति")]
    ['नि', ' ', 'त', 'ि']
    """

    clusters: tuple[str, ...]

    def __post_init__(self) -> None:
        """Check that the clusters are those of this alphabet."""
        wrong = [cluster for cluster in self.clusters if len(cluster) < 2 or set(cluster) - set(self.alphabet.symbols)]
        if wrong or len(set(self.clusters)) < len(self.clusters):
            raise CheckpointError(
                f"the grapheme clusters are damaged or of another text: {len(wrong)} of {len(self.clusters)} are not "
                "strings of two or more characters over the alphabet, or some occur twice."
            )

    @classmethod
    def train(cls, texts: Sequence[str], alphabet: Alphabet, *, min_count: int) -> "GraphemeUnits":
        """Return the units of the clusters that occur often enough."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_CLUSTER.findall(text))
        return cls(alphabet, tuple(sorted(c for c, count in counts.items() if len(c) > 1 and count >= min_count)))

    @classmethod
    def from_model(cls, alphabet: Alphabet, model: bytes) -> "GraphemeUnits":
        """Read the bytes of `model`."""
        try:
            return cls(alphabet, tuple(model.decode().split("\n")) if model else ())
        except UnicodeDecodeError as error:
            raise CheckpointError("the grapheme clusters are damaged: they are not UTF-8.") from error

    @property
    def model(self) -> bytes:
        """Clusters, one per line; the plain space is the only white space of an alphabet."""
        return "\n".join(self.clusters).encode()

    @cached_property
    def strings(self) -> tuple[str, ...]:
        """Symbols of the alphabet, then the clusters."""
        return (*self.alphabet.symbols, *self.clusters)

    def cut(self, text: str) -> Iterator[str]:
        """Yield frequent clusters whole, and the code points of others."""
        for cluster in _CLUSTER.findall(text):
            if cluster in self._id_of:
                yield cluster
            else:
                yield from cluster
