"""Advice on files that are not UTF-8, for messages; no data are decoded by a guess."""

import codecs
import shlex
from contextlib import suppress
from pathlib import Path

from langdiff.base.archives import COMPRESSED, File
from langdiff.errors import option

USUAL = "WINDOWS-1252"  # what Western European files that are not UTF-8 mostly are
SAMPLE = 4096  # bytes that are enough for a guess
SHOWN = 40  # characters of the text decoded by a guess
_MARKS = {  # UTF-32 first: its little-endian mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


def marked(raw: bytes) -> str | None:
    r"""Return the encoding given by a byte order mark; None without a mark or for UTF-8.

    Examples
    --------
    >>> marked(b"\xff\xfea\0"), marked(b"\xef\xbb\xbfa")
    ('UTF-16', None)
    """
    return next((name for mark, name in _MARKS.items() if raw.startswith(mark)), None)


def conversion(encoding: str, file: File) -> str:
    """Return the command that converts a file to UTF-8.

    Examples
    --------
    >>> conversion("UTF-16", Path("a b.txt.gz"))
    "gzip -dc 'a b.txt.gz' | iconv -f UTF-16 -t UTF-8"
    """
    if not isinstance(file, Path):
        return f"iconv -f {encoding} -t UTF-8 {shlex.quote(file.name)}, once it is unpacked"
    unpack = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz"}.get(file.suffix.lower())
    if file.suffix.lower() in COMPRESSED:
        return f"{unpack} -dc {shlex.quote(str(file))} | iconv -f {encoding} -t UTF-8"
    return f"iconv -f {encoding} -t UTF-8 {shlex.quote(str(file))}"


def remedy(line: bytes, block: bytes, file: File, *, replaceable: bool) -> str:
    """Return advice on a line that is not UTF-8: its text in likely encodings, and how to convert or read the file."""
    as_it_is = f"{option('decode_errors', 'replace')} reads it with U+FFFD in such places"
    if any(_is_utf8(other) and not other.isascii() for other in block.split(b"\n")):
        return f"Other lines are UTF-8: correct this one{f'; {as_it_is}' if replaceable else ''}."
    texts: dict[str, list[str]] = {}
    for encoding in dict.fromkeys(filter(None, [USUAL, _guess(block)])):
        with suppress(UnicodeDecodeError):
            texts.setdefault(_shown(line.decode(encoding)), []).append(encoding)
    if not texts:
        return f"Convert the file{f'; {as_it_is}' if replaceable else ''}."
    guesses = "; ".join(f"as {' or '.join(map(_name, each))}: {text!r}" for text, each in texts.items())
    first = next(iter(texts.values()))[0]
    one = "this is right" if len(texts) == 1 else "one is right"
    also = f" ({as_it_is})" if replaceable else ""
    return f"{guesses[:1].upper()}{guesses[1:]}. If {one}: {conversion(first.upper().replace('_', '-'), file)}{also}."


def _guess(block: bytes) -> str | None:
    """Return the likeliest encoding by charset-normalizer, often a close relative of the true one."""
    from charset_normalizer import from_bytes  # only for files that are at fault

    sample = block[:SAMPLE]
    best = from_bytes(sample[: sample.rfind(b"\n") + 1] or sample).best()
    if best is None or codecs.lookup(best.encoding).name in ("ascii", "utf-8", codecs.lookup(USUAL).name):
        return None
    return best.encoding


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _shown(text: str) -> str:
    """Return an excerpt around the first letter that is not ASCII."""
    text = text.strip()
    place = next((place for place, letter in enumerate(text) if not letter.isascii()), 0)
    start = max(0, min(place - SHOWN // 2, len(text) - SHOWN))
    return text[start : start + SHOWN]


def _name(encoding: str) -> str:
    return "Windows-1252" if encoding == USUAL else encoding
