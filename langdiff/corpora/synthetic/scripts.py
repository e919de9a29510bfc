"""Inventories of syllables in the letters of several scripts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Script:
    """What syllables are made of, and the marks between and after clauses.

    Attributes
    ----------
    onsets, nuclei, codas : tuple of str
        Beginnings, middles and ends of syllables; in Unicode NFC once put together.
    comma, stop : str
        The marks.
    """

    onsets: tuple[str, ...]
    nuclei: tuple[str, ...]
    codas: tuple[str, ...]
    comma: str = ","
    stop: str = "."


def _characters(first: int, last: int) -> tuple[str, ...]:
    return tuple(map(chr, range(first, last + 1)))


SCRIPTS = {
    "latin": Script(tuple("ptkbdgmnslrfvzh"), tuple("aeiou"), tuple("nsrlk")),
    "greek": Script(tuple("πτκβδγμνσλρφθχ"), tuple("αεηιοωυ"), tuple("νσρλ"), stop="·"),
    "cyrillic": Script(tuple("птквдгмнслрзжшч"), tuple("аеиоуыя"), tuple("нсрлкй")),
    "hebrew": Script(tuple("בגדהזחטכלמנסעפצקרשת"), tuple("אוי"), tuple("נרסלת")),  # right to left
    "devanagari": Script(  # vowels and virama are combining marks
        tuple("कगचजटतदनपबमरलवसह"), ("\u093e", "\u093f", "\u0941", "\u0947", "\u094b"), ("ं", "र्", "न्"), stop="।"
    ),
    "hangul": Script(  # conjoining jamo: NFC makes one block of each syllable
        _characters(0x1100, 0x1112), ("\u1161", "\u1165", "\u1169", "\u116e", "\u1175"), ("\u11ab", "\u11af", "\u11bc")
    ),
    "deseret": Script(  # beyond the Basic Multilingual Plane
        _characters(0x10439, 0x10448), _characters(0x10428, 0x1042D), _characters(0x1044A, 0x1044D)
    ),
}
