"""The symbols a language model of an edition knows: its frequent characters and a stand-in for the rest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import ClassVar

from langdiff.errors import ConfigError
from langdiff.lm.units.scripts import identity_bits

SPACE = " "
MIN_COUNT = 25  # at most; Mielke et al. (2019, footnote 6)
ONE_IN = 1000  # running characters of the training text that may be replaced: large scripts have many rare ones


@dataclass(frozen=True)
class Alphabet:
    r"""The characters of an edition that are frequent enough to be learned.

    Every white-space character counts as one plain space, which always belongs to the alphabet. A
    character seen too rarely in training is replaced everywhere by one symbol, so that character
    and subword models predict exactly the same string.

    Parameters
    ----------
    characters : str
        The characters kept, sorted, without space and replacement symbol.
    replacement : str
        The symbol that stands for every other character.
    min_count : int, optional
        Occurrences that a character needed in training to be kept, if the alphabet is that of a training text.

    Raises
    ------
    ConfigError
        If the replacement is not one character, is white space or is among the characters.

    Examples
    --------
    >>> alphabet = Alphabet.from_texts(["abba\tba", "ab é"], min_count=2)
    >>> alphabet.symbols
    ' ab◊'
    >>> alphabet.apply("a\nbé")
    'a b◊'
    """

    characters: str
    replacement: str = "◊"
    min_count: int | None = field(default=None, compare=False)

    REPLACEMENTS: ClassVar[str] = "◊□¤�"  # the first that the training text does not have is taken

    def __post_init__(self) -> None:
        """Refuse a replacement symbol that could be mistaken for a character of the text."""
        symbol = self.replacement
        if len(symbol) != 1 or symbol.isspace() or symbol in self.characters:
            raise ConfigError(f"the replacement symbol must be one character outside the alphabet, got {symbol!r}.")

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, min_count: int | None = None) -> "Alphabet":
        """Count the characters of the training texts and keep the frequent ones.

        Parameters
        ----------
        texts : iterable of str
            Training texts, in Unicode normal form C.
        min_count : int, optional
            Occurrences that a character needs, at least 1. By default the largest count up to 25 at which at
            least 99.9 % of all characters of the texts, white space included, are kept: 25 in most alphabets,
            1 or 2 where a short text is written with thousands of different characters.

        Raises
        ------
        ConfigError
            If `min_count` is not positive.

        Examples
        --------
        >>> Alphabet.from_texts(["ab" * 5000 + "c" * 9]).min_count
        25
        >>> Alphabet.from_texts(["ab" * 500 + "c" * 9]).min_count
        9
        """
        if min_count is not None and min_count < 1:
            raise ConfigError(f"min_count must be at least 1, got {min_count}.")
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        if min_count is None:
            min_count = _threshold(counts)
        candidates = chain(cls.REPLACEMENTS, map(chr, range(0xE000, 0xF900)))  # at worst a private one
        replacement = next(symbol for symbol in candidates if symbol not in counts)
        kept = (c for c, count in counts.items() if count >= min_count and not c.isspace())
        return cls("".join(sorted(kept)), replacement, min_count)

    @cached_property
    def symbols(self) -> str:
        """All symbols that `apply` can give: space, the characters kept, the replacement."""
        return SPACE + self.characters + self.replacement

    @cached_property
    def _kept(self) -> frozenset[str]:
        return frozenset(self.characters)

    def apply(self, text: str) -> str:
        """Replace white space by a space and what is outside the alphabet by the replacement symbol.

        Parameters
        ----------
        text : str
            In Unicode normal form C.

        Returns
        -------
        str
            String over `symbols` of the same length as `text`.
        """
        # a table of the text's own few distinct characters: str.translate does the rest in C
        table = {ord(c): self._image(c) for c in set(text)}
        return text.translate(table)

    def _image(self, character: str) -> str:
        if character in self._kept:
            return character
        return SPACE if character.isspace() else self.replacement

    def replaced_bits(self, text: str) -> float:
        """Return the bits that say which characters `apply` replaced, each told from all others of its script.

        That every white-space character becomes a plain space is not priced.

        Parameters
        ----------
        text : str
            Before `apply`.

        Examples
        --------
        >>> round(Alphabet("ab").replaced_bits("ab жé"), 2)  # log2(508) + log2(1653)
        19.68
        """
        return sum(identity_bits(text[place]) for place in self.replaced_at(text))

    def replaced_at(self, text: str) -> list[int]:
        """Return the places of the characters of a text that `apply` replaces by the symbol.

        Examples
        --------
        >>> Alphabet("ab").replaced_at("ab xé")
        [3, 4]
        """
        return [place for place, c in enumerate(text) if c not in self._kept and not c.isspace()]

    def out_of_alphabet_rate(self, texts: Sequence[str]) -> float:
        """Return the fraction of characters (white space counted) that `apply` replaces by the symbol.

        Examples
        --------
        >>> Alphabet("ab").out_of_alphabet_rate(["ab x", "abab"])
        0.125
        """
        total = sum(map(len, texts))
        return sum(map(self.count_replaced, texts)) / total if total else 0.0

    def count_replaced(self, text: str) -> int:
        """Return how many characters of a text `apply` replaces by the symbol.

        Examples
        --------
        >>> Alphabet("ab").count_replaced("ab xé")
        2
        """
        return self.apply(text).count(self.replacement)


def _threshold(counts: Mapping[str, int]) -> int:
    """Return the largest count up to 25 at which enough of the running characters are kept."""
    total = sum(counts.values())
    by_count = Counter[int]()  # running characters, by how often each character occurs
    for character, count in counts.items():
        if count < MIN_COUNT and not character.isspace():
            by_count[count] += count
    lost = 0
    for min_count in range(1, MIN_COUNT):
        lost += by_count[min_count]  # by a threshold above it
        if lost * ONE_IN > total:
            return min_count
    return MIN_COUNT
