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

from langdiff.errors import ConfigError

SPACE = " "
MIN_COUNT = 25  # at most; Mielke et al. (2019, footnote 6)
ONE_IN = 1000  # running characters of the training text that may be replaced: large scripts have many rare ones

_CODE_POINTS = 0x110000 - 0x800  # surrogates are not characters
# assigned code points, from Scripts.txt of the Unicode Character Database, version 18; fixed here, so that bits do
# not depend on which version is installed
_ASSIGNED = """
    Hani 103352, Hangul 11739, Seal 11328, Common 9276, Tangut 7061, Egyptianhieroglyphs 5105, Latin 1653, Arabic
    1452, Cuneiform 1393, Yiii 1220, Jurchen 965, Canadianaboriginal 726, Inherited 695, Signwriting 672, Bamum 657,
    Anatolianhieroglyphs 583, Ethiopic 523, Greek 520, Cyrillic 508, Khitansmallscript 477, Nushu 397, Hiragana 382,
    Lineara 341, Katakana 327, Vaii 300, Braille 256, Myanmar 243, Mendekikakui 213, Linearb 211, Tibetan 207,
    Georgian 173, Cherokee 172, Mongolian 168, Devanagari 165, Protocuneiform 164, Miao 149, Khmer 146, Duployan
    143, Coptic 137, Hebrew 136, Glagolitic 134, Balinese 127, Pahawhhmong 127, Taitham 127, Tamil 123, Malayalam
    118, Brahmi 115, Sinhala 111, Oldhungarian 108, Sharada 104, Telugu 101, Armenian 99, Cyprominoan 99, Bengali
    98, Bhaiksuki 97, Newa 97, Oriya 93, Kannada 92, Siddham 92, Gujarati 91, Medefaidrin 91, Javanese 90,
    Meroiticcursive 90, Tangsa 89, Adlam 88, Syriac 88, Kawi 87, Runic 86, Thai 86, Grantha 85, Warangciti 84, Cham
    83, Laoo 83, Newtailue 83, Soyombo 83, Saurashtra 82, Tirhuta 82, Deseret 80, Gurmukhi 80, Tulutigalari 80,
    Meeteimayek 79, Modi 79, Bopomofo 77, Masaramgondi 75, Lepcha 74, Oldturkic 73, Divesakuru 72, Osage 72,
    Sundanese 72, Taiviet 72, Zanabazarsquare 72, Chakma 71, Nyiakengpuachuehmong 71, Vithkuqi 70, Garay 69,
    Khudawadi 69, Kaithi 68, Kharoshthi 68, Limbu 68, Marchen 68, Takri 68, Ahom 65, Khojki 65, Nandinagari 65,
    Gunjalagondi 63, Nkoo 62, Avestan 61, Samaritan 61, Dogra 60, Tifinagh 59, Wancho 59, Gurungkhema 58, Kiratrai
    58, Paucinhau 57, Batak 56, Phagspa 56, Cypriot 55, Taiyo 55, Tolongsiki 54, Caucasianalbanian 53, Todhri 52,
    Manichaean 51, Beriaerfe 50, Hanifirohingya 50, Oldpersian 50, Thaana 50, Carian 49, Lisu 49, Olchiki 48,
    Shavian 48, Kayahli 47, Yezidi 47, Sylotinagri 45, Olonal 44, Sunuwar 44, Mroo 43, Oldpermic 43, Nagmundari 42,
    Sogdian 42, Elbasan 40, Nabataean 40, Oldsogdian 40, Osmanya 40, Mahajani 39, Olditalic 39, Multani 38, Rejang
    37, Bassavah 36, Sorasompeng 35, Taile 35, Meroitichieroglyphs 32, Oldnortharabian 32, Oldsoutharabian 32,
    Palmyrene 32, Imperialaramaic 31, Toto 31, Ugaritic 31, Buginese 30, Inscriptionalparthian 30, Lycian 29,
    Mandaic 29, Ogham 29, Phoenician 29, Psalterpahlavi 29, Chorasmian 28, Gothic 27, Inscriptionalpahlavi 27,
    Lydian 27, Hatran 26, Olduyghur 26, Sidetic 26, Makasar 25, Elymaic 23, Tagalog 23, Hanunoo 21, Buhid 20,
    Tagbanwa 18
"""


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
        own, others = len(self._scripts), len(_counts()) + 1 - len(self._scripts)
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
def _counts() -> dict[str, int]:
    pairs = (entry.split() for entry in _ASSIGNED.split(","))
    return {name: int(count) for name, count in pairs}


@cache
def _patterns() -> dict[str, regex.Pattern[str]]:
    """Return a pattern of each script's characters, large scripts first."""
    found = {}
    for name in _counts():
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
    counts = _counts()
    return log2(counts.get(script_of(character)) or _CODE_POINTS - sum(counts.values()))
