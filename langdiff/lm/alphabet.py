"""The symbols a language model of an edition knows: its frequent characters and a stand-in for the rest."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import ClassVar

from langdiff.errors import ConfigError
from langdiff.lm._scripts import identity_bits

SPACE = " "
MIN_COUNT = 25
# thousands of characters, each rare: Mandarin (Mielke et al. 2019, footnote 6); we add its like
MIN_COUNT_BY_LANGUAGE = {"cmn": 2, "lzh": 2, "jpn": 2}


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

    REPLACEMENTS: ClassVar[str] = "◊□¤�"  # the first that the training text does not have is taken

    def __post_init__(self) -> None:
        """Refuse a replacement symbol that could be mistaken for a character of the text."""
        symbol = self.replacement
        if len(symbol) != 1 or symbol.isspace() or symbol in self.characters:
            raise ConfigError(f"the replacement symbol must be one character outside the alphabet, got {symbol!r}.")

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, min_count: int = MIN_COUNT) -> "Alphabet":
        """Count the characters of the training texts and keep the frequent ones.

        Parameters
        ----------
        texts : iterable of str
            Training texts, in Unicode normal form C.
        min_count : int
            Occurrences that a character needs, at least 1.

        Raises
        ------
        ConfigError
            If `min_count` is not positive.
        """
        if min_count < 1:
            raise ConfigError(f"min_count must be at least 1, got {min_count}.")
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(text)
        candidates = chain(cls.REPLACEMENTS, map(chr, range(0xE000, 0xF900)))  # at worst a private one
        replacement = next(symbol for symbol in candidates if symbol not in counts)
        kept = (c for c, count in counts.items() if count >= min_count and not c.isspace())
        return cls("".join(sorted(kept)), replacement)

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
            As long as `text`, over `symbols`.
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
        return sum(identity_bits(c) for c in text if c not in self._kept and not c.isspace())

    def out_of_alphabet_rate(self, texts: Sequence[str]) -> float:
        """Return the fraction of characters (white space counted) that `apply` replaces by the symbol.

        Examples
        --------
        >>> Alphabet("ab").out_of_alphabet_rate(["ab x", "abab"])
        0.125
        """
        total = sum(map(len, texts))
        replaced = sum(self.apply(text).count(self.replacement) for text in texts)
        return replaced / total if total else 0.0
