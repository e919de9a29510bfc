"""Names in pictures: fonts for every script, without formulas, long names shortened."""

import unicodedata
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate

import regex
from fontTools.unicodedata import script, script_name  # Matplotlib needs fontTools, too
from matplotlib import font_manager
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.ft2font import FT2Font
from matplotlib.text import Text
from matplotlib.ticker import FixedFormatter, FuncFormatter

from langdiff.errors import warn

ODD = ("Last Resort", "cm", "STIX")  # fonts of boxes, and of formulas, whose letters have other numbers
TOGETHER = {"Hani": "CJK", "Hira": "CJK", "Kana": "CJK", "Bopo": "CJK", "Hang": "CJK"}  # Noto fonts of several scripts
warned: set[str] = set()  # scripts that a warning has named


def show_names(ax: Axes) -> None:
    """Draw texts of axes literally: with fonts that have their letters, and ``$`` as ``$``."""
    legend = ax.get_legend()
    # the title in the middle is the user's, ours stands on the left
    texts = [child for child in ax.get_children() if isinstance(child, Text) and child is not ax.title]
    texts += [ax.xaxis.label, ax.yaxis.label, *([] if legend is None else [legend.get_title(), *legend.get_texts()])]
    for axis in (ax.xaxis, ax.yaxis):
        texts += tick_names(axis)
    for text in texts:
        if "$" in text.get_text():
            text.set_parse_math(False)
    choose_fonts(texts)


def tick_names(axis: Axis) -> list[Text]:
    """Return the labels of ticks that were given as words, not made of numbers."""
    named: list[Text] = []
    for minor, formatter in ((False, axis.get_major_formatter()), (True, axis.get_minor_formatter())):
        if isinstance(formatter, FixedFormatter | FuncFormatter):
            named += axis.get_ticklabels(minor=minor)
    return named


def choose_fonts(texts: Iterable[Text]) -> None:
    """Add to texts the installed fonts with letters that their own fonts lack.

    Warns
    -----
    LangdiffWarning
        If no installed font has the letters of a script; once per script.
    """
    for text in texts:
        name = text.get_text()
        if name.isascii():
            continue
        families = list(text.get_fontfamily())
        lacking = {letter for letter in name if unicodedata.category(letter)[0] not in "CZ"}
        lacking -= {letter for family in families for letter in _letters(_file_of(family)) & lacking}
        for family, file in _installed() if lacking else ():
            if found := _letters(file) & lacking:
                families.append(family)
                lacking -= found
            if not lacking:
                break
        text.set_fontfamily(families)
        _warn(lacking, name)


def _file_of(family: str) -> str:
    return str(font_manager.findfont(font_manager.FontProperties(family=[family])))


@cache
def _letters(file: str) -> frozenset[str]:
    """Return the characters that a font has."""
    return frozenset(map(chr, FT2Font(file).get_charmap()))


def _installed() -> list[tuple[str, str]]:
    """Return the families of installed fonts with their files, those without serifs first, Noto's before others."""
    files = {
        font.name: font.fname
        for font in font_manager.fontManager.ttflist
        if font.style == "normal" and font.weight in (400, "normal") and not font.name.startswith(ODD)
    }
    return sorted(files.items(), key=lambda font: ("Sans" not in font[0], "Noto" not in font[0], font[0]))


def _warn(lacking: Iterable[str], name: str) -> None:
    for code in sorted({script(letter) for letter in lacking} - warned):
        warned.add(code)
        words = "symbols" if code in ("Zyyy", "Zinh", "Zzzz") else f"{script_name(code)} letters"
        font = "Symbols" if words == "symbols" else TOGETHER.get(code) or script_name(code).replace("_", " ")
        warn(
            f"no installed font has the {words.replace('_', ' ')} of {name!r}, which are drawn as boxes. Install one, "
            f"such as Noto Sans {font}, or save pictures as .svg with the setting svg.fonttype none, so that the fonts "
            "of who reads them are used (as the commands of langdiff do)."
        )


def shorten(names: Sequence[str], most: int) -> list[str]:
    """Shorten long names at the end, or in the middle where they begin alike, keeping different names different.

    Examples
    --------
    >>> shorten(["deu-elberfelder1905", "deu-elberfelder1871", "fra-darby"], 10)
    ['deu-e…1905', 'deu-e…1871', 'fra-darby']
    """
    letters = [regex.findall(r"\X", name) for name in names]  # with their accents and vowel signs
    shown = [_cut(parts, most) for parts in letters]
    lengths = [most] * len(names)
    while clashing := _clashing(names, shown):
        for k in clashing:
            shown[k] = _without_middle(letters[k], lengths[k])
            lengths[k] += 1
    return shown


def breadth(name: str) -> int:
    """Return the width of a name in letters; Chinese, Japanese and Korean ones, and those with signs, are two.

    Examples
    --------
    >>> breadth("eng-web"), breadth("日本語")
    (7, 6)
    """
    return sum(map(_breadth_of_letter, regex.findall(r"\X", name)))


def _breadth_of_letter(letter: str) -> int:
    # a letter of the scripts of India with its signs is about as wide as a Chinese one
    together = len(letter) > 1 and unicodedata.category(letter[0]) == "Lo"
    return 2 if together or unicodedata.east_asian_width(letter[0]) in "WF" else 1


def with_note(name: str, note: str) -> str:
    """Return a name and a note, which is read from left to right also after names in Arabic or Hebrew.

    Without the marks of direction (U+200E), ``(20 + 130)`` after such a name is drawn as ``(130 + 20)``.

    Examples
    --------
    >>> with_note("eng", " (20 + 130)")
    'eng (20 + 130)'
    """
    if any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in name):
        name = f"\u200e{name}\u200e"
    return name + note


def _cut(letters: list[str], most: int) -> str:
    ends = list(accumulate(map(_breadth_of_letter, letters)))
    if not ends or ends[-1] <= most:
        return "".join(letters)
    return "".join(letters[: bisect_right(ends, most - 1)]).rstrip() + "…"


def _without_middle(letters: list[str], most: int) -> str:
    ends = list(accumulate(map(_breadth_of_letter, letters)))
    if ends[-1] <= most:
        return "".join(letters)
    first = bisect_right(ends, most // 2)
    last = bisect_left(ends, ends[-1] - (most - 1 - (ends[first - 1] if first else 0)))
    return f"{''.join(letters[:first]).rstrip()}…{''.join(letters[last + 1 :]).lstrip()}"


def _clashing(names: Sequence[str], shown: Sequence[str]) -> list[int]:
    """Return the places of names that look like a different one."""
    full: dict[str, set[str]] = defaultdict(set)
    for name, short in zip(names, shown, strict=True):
        full[short].add(name)
    return [k for k, short in enumerate(shown) if len(full[short]) > 1 and short != names[k]]
