"""Alphabet of an edition's language model, its replacement symbol, and the bits to identify replaced characters."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import chain
from math import log2
from typing import ClassVar
from unicodedata import is_normalized, normalize

import regex

from langdiff.base.toml import read_packaged
from langdiff.errors import ConfigError

SPACE = " "
MIN_COUNT = 25  # at most; Mielke et al. (2019, footnote 6)
ONE_IN = 1000  # running characters of the training text that may be replaced: large scripts have many rare ones

_ALL_POINTS = 0x110000 - 0x800  # surrogates are not characters
CODE_POINTS: dict[str, int] = read_packaged("langdiff.lm.units", "scripts.toml")["assigned"]


@dataclass(frozen=True)
class Alphabet:
    r"""Characters of an edition that are frequent enough to be learned.

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
    composed : bool
        Whether texts are brought to Unicode normal form C first, as all of the training text was: e with a combining
        acute is é.

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
    >>> Alphabet("aé").apply("ae\u0301")
    'aé'
    """

    characters: str
    replacement: str = "◊"
    min_count: int | None = field(default=None, compare=False)
    composed: bool = True

    REPLACEMENTS: ClassVar[str] = "◊□¤�"  # the first that the training text does not have is taken

    def __post_init__(self) -> None:
        """Check that the replacement symbol cannot be mistaken for a character of the text."""
        symbol = self.replacement
        if len(symbol) != 1 or symbol.isspace() or symbol in self.characters:
            raise ConfigError(f"the replacement symbol must be one character outside the alphabet, got {symbol!r}.")

    @classmethod
    def from_texts(cls, texts: Iterable[str], *, min_count: int | None = None) -> "Alphabet":
        """Return the alphabet of the frequent characters of the training texts.

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
        composed = True
        for text in texts:
            counts.update(text)
            composed = composed and is_normalized("NFC", text)
        if min_count is None:
            min_count = _threshold(counts)
        candidates = chain(cls.REPLACEMENTS, map(chr, range(0xE000, 0xF900)))  # at worst a private one
        replacement = next(symbol for symbol in candidates if symbol not in counts)
        kept = (c for c, count in counts.items() if count >= min_count and not c.isspace())
        return cls("".join(sorted(kept)), replacement, min_count, composed)

    @cached_property
    def symbols(self) -> str:
        """Symbols in texts written in the alphabet: space, the characters kept, the replacement."""
        return SPACE + self.characters + self.replacement

    @cached_property
    def _kept(self) -> frozenset[str]:
        return frozenset(self.characters)

    def apply(self, text: str) -> str:
        """Replace white space by a space and characters outside the alphabet by the replacement symbol."""
        text = self.normal(text)
        # a table of the text's own few distinct characters: str.translate does the rest in C
        return text.translate({ord(c): self._image(c) for c in set(text)})

    def normal(self, text: str) -> str:
        """Return a text in the normal form of the training text."""
        return normalize("NFC", text) if self.composed else text

    def _image(self, character: str) -> str:
        if character in self._kept:
            return character
        return SPACE if character.isspace() else self.replacement

    def replaced_bits(self, text: str, *, scripts: bool = False) -> float:
        """Return the bits that identify the characters replaced by `apply`, each among the others of its script.

        That every white-space character becomes a plain space is not priced.

        Examples
        --------
        >>> round(Alphabet("ab").replaced_bits("ab жé"), 2)  # log2(508) + log2(1653)
        19.68
        """
        text = self.normal(text)
        return sum(self.price(text[place], scripts=scripts) for place in self.replaced_at(text))

    def price(self, character: str, *, scripts: bool = False) -> float:
        r"""Return the bits that identify a replaced character.

        .. math:: \log_2 |\{c : \text{script}(c) = s\}| - \log_2 p(s)

        With `scripts`, half of p is shared equally by the scripts of the characters kept, half by all others; without,
        p = 1.

        Examples
        --------
        >>> alphabet = Alphabet("ab,")  # Latin letters, and what all scripts share
        >>> [round(alphabet.price(c, scripts=True) - alphabet.price(c), 2) for c in "éж"]
        [2.0, 8.46]
        """
        bits = identity_bits(character)
        if not scripts:
            return bits
        own, others = len(self._scripts), len(CODE_POINTS) + 1 - len(self._scripts)
        if not own:
            return bits + log2(others)
        return bits + 1 + log2(own if script_of(character) in self._scripts else others)

    @cached_property
    def _scripts(self) -> frozenset[str]:
        """Scripts of the characters kept."""
        return frozenset(map(script_of, self.characters))

    def replaced_at(self, text: str) -> list[int]:
        """Return the positions of the characters of a text, in its `normal` form, that `apply` replaces by the symbol.

        Examples
        --------
        >>> Alphabet("ab").replaced_at("ab xé")
        [3, 4]
        """
        return [place for place, c in enumerate(self.normal(text)) if c not in self._kept and not c.isspace()]

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
        """Count the characters of a text that `apply` replaces by the symbol.

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


@cache
def _patterns() -> dict[str, regex.Pattern[str]]:
    """Return a pattern of each script's characters, large scripts first."""
    found = {}
    for name in CODE_POINTS:
        with suppress(regex.error):  # a script younger than the installed Unicode tables
            found[name] = regex.compile(rf"\p{{Script={name}}}")
    return found


@cache
def script_of(character: str) -> str:
    r"""Return the name of the script of a character; "" if it has none (private use, unassigned).

    Examples
    --------
    >>> script_of("ж"), script_of(","), script_of("\ue000")
    ('Cyrillic', 'Common', '')
    """
    return next((name for name, pattern in _patterns().items() if pattern.match(character)), "")


@cache
def identity_bits(character: str) -> float:
    r"""Return the bits that identify a character among the others of its script.

    .. math:: \log_2 |\{c : \text{script}(c) = s\}|

    over assigned code points. What has no script (private use, unassigned) is told from everything
    else that has none.

    Examples
    --------
    >>> round(identity_bits("ж"), 2)  # one of 508 Cyrillic characters
    8.99
    """
    return log2(CODE_POINTS.get(script_of(character)) or _ALL_POINTS - sum(CODE_POINTS.values()))
