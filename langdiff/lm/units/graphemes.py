"""Grapheme clusters as units, which readers perceive as single characters."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import regex

from langdiff.errors import CheckpointError
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.characters import StringUnits

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
                f"the grapheme clusters are damaged or of another text: {len(wrong)} of {len(self.clusters)} are no "
                "strings of two or more characters over the alphabet, or some occur twice."
            )

    @classmethod
    def train(cls, texts: Sequence[str], alphabet: Alphabet, *, min_count: int) -> "GraphemeUnits":
        """Return the units of the clusters that occur often enough.

        Parameters
        ----------
        texts : sequence of str
            Over the alphabet.
        alphabet : Alphabet
            The symbols of the texts.
        min_count : int
            Occurrences that a cluster needs.
        """
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_CLUSTER.findall(text))
        return cls(alphabet, tuple(sorted(c for c, count in counts.items() if len(c) > 1 and count >= min_count)))

    @classmethod
    def from_model(cls, alphabet: Alphabet, model: bytes) -> "GraphemeUnits":
        """Read the bytes of `model`.

        Raises
        ------
        CheckpointError
            If it is damaged.
        """
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
