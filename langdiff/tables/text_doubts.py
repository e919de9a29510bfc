"""Doubts of texts, found while they are measured: escapes, markup, lost letters, letters encoded twice.

Blocks of texts are searched for bytes that none or few texts have, which takes a fraction of the time of decoding; only
what is found is looked at as text. The kinds are those of `langdiff.base.suspicion`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from langdiff.base.suspicion import Doubts
from langdiff.base.types import Integers

SHOWN = 60  # characters of an example
# Texts given again: one of them so often and with this share, or so many with fewer or more editions to compare.
ALIKE, ALIKE_SHARE = 5, 0.01
FEW, FEW_SHARE, SHARE = 3, 0.05, 0.03
_SLICES, _SLICE = 64, 128  # of a block, which tell whether letters were encoded twice: their number and their bytes
_INVISIBLE = "\ufeff\u200b\u2060"
_AT_START = re.compile(rf"\A\s*[{_INVISIBLE}][{_INVISIBLE}\s]*")
_RETURN = re.compile(r"\r+(\n?)")

# First the byte that candidates begin with, then what is one, then whether the text is doubted.
_LOST = re.compile(r"(?<=[^\W\d_])\?(?=[^\W\d_])|\ufffd|锟斤拷")
# what spreadsheets write in place of a value, in English and in the languages of other versions
_ERRORS = (
    "NULL! DIV/0! VALUE! REF! NAME? NUM! N/A SPILL! CALC! FIELD! BLOCKED! CONNECT! UNKNOWN! BUSY! GETTING_DATA ERROR! "
    "WERT! BEZUG! ZAHL! NV ÜBERLAUF! NUL! VALEUR! NOM? NOMBRE! ¡NULO! ¡DIV/0! ¡VALOR! ¡REF! ¿NOMBRE? ¡NUM! NULLO! "
    "VALORE! RIF! NOME? N/D NULO! VALOR! NÚM! LEEG! DEEL/0! WAARDE! VERW! NAAM? GETAL! N/B ПУСТО! ДЕЛ/0! ЗНАЧ! "
    "ССЫЛКА! ИМЯ? ЧИСЛО! Н/Д ZERO! ARG! ADR! NAZWA? LICZBA! VÄRDEFEL! REFERENS! NAMN? OGILTIGT! SAKNAS! HODNOTA! "
    "ODKAZ! NÁZEV? ČÍSLO! DEĞER! BAŞV! AD? SAYI! SAYI/0! ÉRTÉK! HIV! NÉV? SZÁM! HIÁNYZIK"
)
_FORMULA = re.compile(rf"\A\s*#(?:{'|'.join(map(re.escape, _ERRORS.split()))})\s*\Z")
# what programs write for a missing value, as a whole text
PLACEHOLDERS = frozenset(b"nan NaN NaT None none NULL null NA <NA> N/A n/a undefined -999 -9999 9999".split())
_LONGEST = max(map(len, PLACEHOLDERS))
_TAG = rb"</?[A-Za-z][A-Za-z0-9:_-]{0,20}(?: [^<>\n]{0,200})?/?>|<!--|<[?!][A-Za-z]"
_KINDS: tuple[tuple[str, bytes, re.Pattern[bytes], re.Pattern[str] | None], ...] = (
    ("escaped", b"&", re.compile(rb"&(?:apos|quot|amp|lt|gt|nbsp|#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6});"), None),
    ("markup", b"<", re.compile(_TAG + rb"|<[HG][0-9]{1,5}>"), None),
    ("markup", b"{", re.compile(rb"\{[HG][0-9]{1,5}\}"), None),
    ("markup", b"\\", re.compile(rb"\\\+?[a-z]{1,8}[0-9]?\*"), None),  # of USFM
    ("lost", b"?", re.compile(rb"\?[A-Za-z\x80-\xff]"), _LOST),
    ("lost", b"\xef", re.compile("\ufffd".encode()), _LOST),
    ("lost", b"\xe9", re.compile("锟斤拷".encode()), _LOST),  # U+FFFD as it comes out of an encoding of Chinese
    ("formula", b"#", re.compile(rb"#"), _FORMULA),
)


def _characters(codec: str) -> list[str]:
    """Return the characters of all bytes; where a byte has none, that of Latin-1."""
    return [bytes([byte]).decode(codec, "ignore") or chr(byte) for byte in range(256)]


def _unit(characters: list[str]) -> str:
    """Return a pattern of the characters that one letter in UTF-8 becomes if its bytes are read in another encoding."""
    bounds = ((0xC2, 0xE0), (0xE0, 0xF0), (0xF0, 0xF5))
    leads = ["".join(map(re.escape, characters[first:last])) for first, last in bounds]
    rest = "".join(re.escape(one) for one in characters[0x80:0xC0] if not one.isspace())
    return "|".join(f"[{lead}][{rest}]{{{more}}}" for more, lead in enumerate(leads, start=1))


def _run(codec: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return what finds letters of UTF-8 read in an encoding, and the bytes of its characters.

    One letter is enough where it begins with a character that stands before no other of them: in the encoding of
    Western texts, or if it is a letter of Latin-1 or Latin Extended-A; else there are two side by side.
    """
    characters = _characters(codec)
    found = {chr(byte): byte for byte in range(0x80, 0xA0)} | {one: byte for byte, one in enumerate(characters)}
    unit = _unit(characters)
    if codec != "cp1252":
        two, *_ = unit.split("|", maxsplit=1)
        latin = (
            "" if codec in ("cp1251", "cp1253") else f"|[{''.join(characters[0xC3:0xC6])}]{two[two.index('][') + 1 :]}"
        )
        unit = f"(?:{unit}){{2}}{latin}"
    return re.compile(unit), found


_RUNS = [_run(codec) for codec in ("cp1252", "cp1250", "cp1251", "cp1253", "mac_roman", "cp437")]


# In UTF-8, how such letters begin: from C3 to F4 in Latin-1; Р and С; √; ├; Ă, Ä and Ĺ.
_BEGINNINGS = [
    re.compile(rb"\xc3[\x82-\xb4][\xc2\xc5\xc6\xcb\xe2]"),
    re.compile(rb"\xd0[\xa0\xa1](?:\xc2|[\xd0-\xd2].|\xe2..)."),
    re.compile("√".encode()),
    re.compile("├".encode()),
    re.compile(rb"\xc4[\x82\xb9]|\xc3\x84"),
]
_AROUND = 24  # bytes beside a beginning that are looked at


class Doubtful(NamedTuple):
    """A text that is doubted: its place, the kind, an example, and whether the text is missing if the kind applies."""

    place: int
    kind: str
    example: str
    is_missing: bool = False


def recoded(text: str) -> str | None:
    """Return the first letters of a text that were encoded twice, as they are and as they should be.

    Examples
    --------
    >>> recoded("fÃ¼r"), recoded("für"), recoded("f√ºr"), recoded("РїСЂРё")
    ('Ã¼ for ü', None, '√º for ü', 'РїСЂ for пр')
    """
    for pattern, codes in _RUNS:
        for run in pattern.finditer(text):
            try:
                read = bytes(codes[one] for one in run[0]).decode()
            except (UnicodeDecodeError, KeyError):
                continue
            if all(one.isalpha() or one in "«»„“”‘’–—…\ufffd" for one in read):
                return f"{run[0]} for {read}"
    return None


def repaired(text: str) -> str:
    r"""Return a text without invisible characters at its start and without carriage returns; empty if nothing is left.

    Examples
    --------
    >>> repaired("\ufeffone"), repaired("one\rtwo"), repaired("\u200b \u2060"), repaired("o\u200bne")
    ('one', 'one two', '', 'o\u200bne')
    """
    return _RETURN.sub(lambda end: end[1] or " ", _AT_START.sub("", text))


def find_doubtful(raw: bytes, starts: Integers, ends: Integers) -> Iterator[Doubtful]:
    """Yield the doubtful texts among some that are parts of a block in UTF-8, each kind at most once per text."""
    for kind, byte, pattern, test in _KINDS:
        last = -1
        for at in _places(raw, byte):
            match = pattern.match(raw, at)
            place = int(starts.searchsorted(at, side="right")) - 1 if match else -1
            if match and place > last and at < ends[place]:
                last = place
                if test is None:
                    yield Doubtful(place, kind, match[0][:SHOWN].decode(errors="ignore"))
                    continue
                text = raw[starts[place] : ends[place]].decode()
                if found := test.search(text):
                    begin = max(found.start() - SHOWN // 2, 0)
                    yield Doubtful(place, kind, text[begin : begin + SHOWN].strip(), kind == "formula")
    yield from _invisible(raw, starts, ends)
    yield from _placeholders(raw, starts, ends)
    if not raw.isascii() and _is_recoded(raw):
        for place, (start, end) in enumerate(zip(starts.tolist(), ends.tolist(), strict=True)):
            if not (part := raw[start:end]).isascii() and (example := recoded(part.decode())):
                yield Doubtful(place, "recoded", example)


def _places(raw: bytes, byte: bytes) -> Iterator[int]:
    """Yield where a byte is; question marks only if a letter follows, because they are frequent."""
    if byte == b"?":
        codes = np.frombuffer(raw, np.uint8)
        yield from np.flatnonzero((codes[:-1] == ord("?")) & (codes[1:] >= ord("A"))).tolist()
        return
    at = raw.find(byte)
    while at >= 0:
        yield at
        at = raw.find(byte, at + 1)


def _invisible(raw: bytes, starts: Integers, ends: Integers) -> Iterator[Doubtful]:
    """Yield the texts that begin with invisible characters, perhaps after white space, or hold carriage returns."""
    codes: NDArray[np.uint8] = np.frombuffer(raw + bytes(3), np.uint8)
    first, second, third = (codes[starts + k] for k in range(3))
    found = (first <= 0x20) | ((first == 0xEF) & (second == 0xBB))
    found |= (first == 0xE2) & (((second == 0x80) & (third == 0x8B)) | ((second == 0x81) & (third == 0xA0)))
    places = set(np.flatnonzero(found & (ends > starts)).tolist())
    returns = list(_places(raw, b"\r"))
    places |= set((starts.searchsorted(returns, side="right") - 1).tolist())
    for place in sorted(places):
        text = raw[starts[place] : ends[place]].decode() if place >= 0 else ""
        if text.strip() and (fixed := repaired(text)) != text:
            yield Doubtful(place, "invisible", text[:SHOWN], not fixed.strip())


def _placeholders(raw: bytes, starts: Integers, ends: Integers) -> Iterator[Doubtful]:
    """Yield the texts that are marks for missing values."""
    for place in np.flatnonzero(ends - starts <= _LONGEST).tolist():
        if (text := raw[starts[place] : ends[place]].strip()) in PLACEHOLDERS:
            yield Doubtful(place, "placeholder", text.decode(), is_missing=True)


def _is_recoded(raw: bytes) -> bool:
    """Return whether a block may have letters that were encoded twice, judged by parts of it."""
    step = max(len(raw) // _SLICES, _SLICE)
    parts = raw if step == _SLICE else b"\n".join(raw[at : at + _SLICE] for at in range(0, len(raw), step))
    return any(
        recoded(parts[max(at - _AROUND, 0) : at + _AROUND].decode(errors="ignore"))
        for beginning in _BEGINNINGS
        for at in (match.start() for match in beginning.finditer(parts))
    )


def see_texts(
    doubts: Doubts, found: Mapping[str, Iterable[tuple[str, Doubtful]]], seen: Mapping[str, tuple[str, int, int]]
) -> None:
    """Count doubts."""
    for edition, pairs in found.items():
        file, n_texts, n_beyond = seen[edition]
        kinds: dict[str, dict[str, Doubtful]] = {}
        for intent, one in pairs:
            kinds.setdefault(one.kind, {}).setdefault(intent, one)
        for kind, own in kinds.items():
            example = next((one.example for one in own.values() if one.example), "")
            doubts.see(kind, edition, len(own), n_beyond if kind == "recoded" else n_texts, example, None, own, file)


def see_repeated(doubts: Doubts, hashes: NDArray[np.uint64], intents: pd.Index, editions: pd.Index) -> None:
    """Count texts that are given again where most other editions differ: one text many times, or many texts.

    The hashes of the texts have the shape (I, J), and are 0 where one is missing. One edition has no others to differ.
    """
    if len(editions) < 2:
        return
    share = FEW_SHARE if len(editions) < FEW else SHARE
    for column, edition in enumerate(map(str, editions)):
        ordered = np.sort(hashes[:, column])
        ordered = ordered[ordered.searchsorted(1) :]
        n_texts, often = len(ordered), max(ALIKE, int(ALIKE_SHARE * len(ordered)) + 1)
        many = (ordered[1:] == ordered[:-1]).sum() > share * n_texts
        if not many and not (len(editions) >= FEW and (ordered[often - 1 :] == ordered[: 1 - often]).any()):
            continue
        groups = repeated(hashes, column)
        again = [row for rows in groups for row in rows[1:]]
        if len(editions) >= FEW and groups and len(groups[0]) >= often:
            doubts.see("repeated", edition, len(groups[0]), n_texts, "", None, map(str, intents[groups[0]]))
        elif len(again) > share * n_texts:
            doubts.see("repeated", edition, len(again), n_texts, "", None, map(str, intents[again]))


def repeated(hashes: NDArray[np.uint64], column: int) -> list[list[int]]:
    """Return the groups of rows in which an edition has one text and most others that have them differ, longest first.

    Examples
    --------
    >>> repeated(np.array([[1, 1, 1], [1, 2, 2], [3, 3, 3]], dtype=np.uint64), 0)
    [[0, 1]]
    """
    own = hashes[:, column]
    rows = np.flatnonzero(own)
    rows = rows[np.argsort(own[rows], kind="stable")]
    groups = []
    for alike in np.split(rows, np.flatnonzero(np.diff(own[rows])) + 1):
        one, others = hashes[alike[:1]], hashes[alike[1:]]
        both = (one > 0) & (others > 0)
        alone = 2 * (both & (one == others)).sum(axis=1) <= both.sum(axis=1)
        if len(kept := alike[1:][alone]):
            groups.append([int(alike[0]), *kept.tolist()])
    return sorted(groups, key=len, reverse=True)
