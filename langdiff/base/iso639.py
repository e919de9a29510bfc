"""Language codes of ISO 639-3, their equivalents in other parts of the standard, and English names."""

import re
import tomllib
from collections.abc import Iterable
from functools import cache
from pathlib import Path

_CODES = tomllib.loads(Path(__file__).with_name("iso639.toml").read_text("utf-8"))
ISO_639_3: dict[str, str] = _CODES["two_letters"] | _CODES["former"] | _CODES["bibliographic"]
MACROLANGUAGES = frozenset(_CODES["groups"]["codes"])  # codes of ISO 639-3 for groups of languages


def iso639_3(code: object) -> str | None:
    """Return the ISO 639-3 code for a code of ISO 639-3, 639-1 or 639-2; None for anything else.

    Codes from ``qaa`` to ``qtz``, which the standard leaves to its users, count as languages; ``und``, ``mis``, ``mul``
    and ``zxx``, which are not languages, do not.

    Examples
    --------
    >>> iso639_3("deu"), iso639_3("de"), iso639_3("ger"), iso639_3("qaa")
    ('deu', 'deu', 'deu', 'qaa')
    >>> iso639_3("xyz"), iso639_3("und"), iso639_3("German"), iso639_3(float("nan"))
    (None, None, None, None)
    """
    if not isinstance(code, str):
        return None
    is_own = len(code) == 3 and code.isascii() and code.isalpha() and code.islower() and "qaa" <= code <= "qtz"
    return code if is_own or code in _names() else ISO_639_3.get(code)


def code_of(name: str) -> str | None:
    """Return the ISO 639-3 code of the language code that a name begins with, in small letters or in capitals.

    In capitals, codes of three letters are those of languages in wide use: others are abbreviations, such as ASV.

    Examples
    --------
    >>> code_of("deu-x-bible-luther1912-v1"), code_of("de_DE"), code_of("EN-GB"), code_of("DEU")
    ('deu', 'deu', 'eng', 'deu')
    >>> code_of("luther"), code_of("ASV"), code_of("My-text")
    (None, None, None)
    """
    match = re.match(r"(?:[a-z]{2,3}|[A-Z]{2,3})(?=[-_]|\Z)", name)
    code = iso639_3(match[0].lower()) if match else None
    is_sure = match is None or match[0].islower() or len(match[0]) == 2 or code in ISO_639_3.values()
    return code if is_sure else None


def spelled(code: str) -> str:
    """Return a code of a language as it is usually written, with hyphens; another name as it is.

    Examples
    --------
    >>> spelled("EN_gb"), spelled("zh-hant-TW"), spelled("sr_LATN"), spelled("Vulgate")
    ('en-GB', 'zh-Hant-TW', 'sr-Latn', 'Vulgate')
    """
    first, *more = re.split("[-_]", code)
    if iso639_3(first.lower()) is None:
        return code
    sizes = {2: str.upper, 4: str.title}
    return "-".join([first.lower(), *(sizes.get(len(part), str)(part) for part in more)])


def contradict(one: str, other: str) -> bool:
    """Return whether two ISO 639-3 codes denote different languages, neither being a group of languages.

    Examples
    --------
    >>> contradict("deu", "eng"), contradict("zho", "cmn")
    (True, False)
    """
    return one != other and not {one, other} & MACROLANGUAGES


def english_names(editions: Iterable[str]) -> dict[str, str]:
    """Return the English names of the languages of editions, which are called by codes of ISO 639 or begin with one.

    The code ends at the first hyphen, underscore or dot, as in ``eng-GB`` and ``deu_Latn``. Where several editions are
    of one language, the name is followed by that of the edition; editions without a code of a language are left out.

    Examples
    --------
    >>> english_names(["de", "fin", "eng-GB", "eng-US", "Vulgate"])
    {'de': 'German', 'fin': 'Finnish', 'eng-GB': 'English (eng-GB)', 'eng-US': 'English (eng-US)'}
    """
    found: dict[str, str] = {}
    for edition in dict.fromkeys(editions):
        codes = map(iso639_3, (edition, re.split(r"[-_.]", edition, maxsplit=1)[0]))
        if name := next((known for code in codes if code and (known := _names().get(code))), ""):
            found[edition] = name
    names = list(found.values())
    return {edition: name if names.count(name) == 1 else f"{name} ({edition})" for edition, name in found.items()}


def with_english_names() -> dict[str, str]:
    """Return codes by English name in small letters, without what stands in brackets, where one code has the name."""
    found: dict[str, str | None] = {}
    for code, name in _names().items():
        plain = re.sub(r"\s*\(.*?\)", "", name).lower()
        found[plain] = None if plain in found else code
    return {name: code for name, code in found.items() if name and code is not None}


def code_named(text: str) -> str | None:
    """Return the ISO 639-3 code of the one language whose English name a text is, or has as a word of four letters on.

    Examples
    --------
    >>> code_named("German"), code_named("german_deu"), code_named("Scottish Gaelic"), code_named("English-German")
    ('deu', 'deu', 'gla', None)
    """
    words = re.findall(r"[^\W\d_]+", text.lower())
    known, whole = with_english_names(), " ".join(words)
    found = {known[word] for word in words if len(word) > 3 and word in known}
    return known.get(whole) or (found.pop() if len(found) == 1 else None)


@cache
def _names() -> dict[str, str]:
    """Return all codes with their English names, "" where it is not known."""
    lines = Path(__file__).with_name("iso639_3.txt").read_text(encoding="utf-8").splitlines()
    return {line[:3]: line[4:] for line in lines if not line.startswith("#")}
