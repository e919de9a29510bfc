"""How many characters each script has: what it costs to name one."""

from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from math import log2

import regex

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


def _counts() -> dict[str, int]:
    pairs = (entry.split() for entry in _ASSIGNED.split(","))
    return {name: int(count) for name, count in pairs}


@cache
def _scripts() -> tuple[tuple[regex.Pattern[str], float], ...]:
    """Return a pattern of each script's characters and the bits to name one, large scripts first."""
    return tuple(_known())


def _known() -> Iterator[tuple[regex.Pattern[str], float]]:
    for name, count in _counts().items():
        with suppress(regex.error):  # a script younger than the installed Unicode tables
            yield regex.compile(rf"\p{{Script={name}}}"), log2(count)


@cache
def identity_bits(character: str) -> float:
    r"""Return the bits that tell a character from all others of its script.

    .. math:: \log_2 |\{c : \text{script}(c) = s\}|

    over assigned code points. What has no script (private use, unassigned) is told from everything
    else that has none.

    Examples
    --------
    >>> round(identity_bits("ж"), 2)  # one of 508 Cyrillic characters
    8.99
    """
    for pattern, bits in _scripts():
        if pattern.match(character):
            return bits
    return log2(_CODE_POINTS - sum(_counts().values()))
