"""Characters that are not seen: they command terminals and turn the direction of writing, so that no name has them."""

import re
import unicodedata
from collections.abc import Iterable

from langdiff.errors import DataError

JOINERS = "\u200c\u200d"  # of letters, as Persian and Hindi need them
CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
_PLAIN = re.compile(r"[ -~]*")


def control_character(text: str, but: str = "") -> str | None:
    r"""Return the first control character of a text, other than joiners and those of `but`; None if it has none.

    Examples
    --------
    >>> control_character("a\x1b[31m")
    '\x1b'
    """
    if _PLAIN.fullmatch(text):
        return None
    found = (c for c in text if unicodedata.category(c) in CATEGORIES and c not in JOINERS and c not in but)
    return next(found, None)


def check_names(names: Iterable[object], what: str) -> None:
    """Refuse names that hold control characters.

    Parameters
    ----------
    names : iterable
        Names; those that are not text are not looked at.
    what : str
        What they name: ``"edition"``.

    Raises
    ------
    DataError
        If a name has one; the message shows it escaped.
    """
    for name in names:
        if isinstance(name, str) and (found := control_character(name)) is not None:
            advice = "rename the file or give a mapping" if what == "edition" else "rename it"
            raise DataError(
                f"{what} name '{escape_controls(name)}' has control characters (U+{ord(found):04X}); {advice}."
            )


def escape_controls(text: str, but: str = "") -> str:
    r"""Return a text with control characters, other than joiners and those of `but`, as Python writes them.

    Examples
    --------
    >>> escape_controls("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    if control_character(text, but) is None:
        return text
    return "".join(c if control_character(c, but) is None else c.encode("unicode_escape").decode() for c in text)


def drop_controls(text: str, but: str = "") -> str:
    """Return a text without control characters, other than joiners and those of `but`."""
    return text if control_character(text, but) is None else "".join(c for c in text if not control_character(c, but))
