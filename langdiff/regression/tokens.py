"""Tokens of formulas: names, numbers, texts and signs, one after the other; whatever else stands there is refused."""

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from langdiff.base.cells import CONTROLS
from langdiff.errors import ConfigError

LONGEST = 1000  # characters
MOST_PARTS = 300  # names, numbers and operators
DEEPEST = 30  # parentheses in parentheses
REFUSED = "#;{}\\|~%@!&<>$"

_TOKEN = re.compile(
    r"(?P<space>\ +)|(?P<quoted>`[^`]*`)|(?P<text>\"[^\"']*\"|'[^\"']*')"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<name>\w+(?:\.\w+)*)|(?P<sign>\*\*|[-+*/:^()\[\],=.])"
)


class Token(NamedTuple):
    """A token: its kind, its characters, and the place of the first."""

    kind: str
    text: str
    place: int


END = Token("end", "", -1)


class Tokens:
    """Tokens of a formula, and how far they have been read.

    Parameters
    ----------
    formula : str
        Formula as it was given.

    Raises
    ------
    ConfigError
        If it is not text, has a character that is not of formulas, or is too long.
    """

    def __init__(self, formula: str) -> None:
        if not isinstance(formula, str):
            raise ConfigError(f"a formula is text, not {type(formula).__name__}.")
        self.formula = formula
        self._depth = 0
        self._place = 0
        if len(formula) > LONGEST:
            raise self.error(f"it has {len(formula):,} characters; at most {LONGEST:,} are read")
        self._tokens = list(self._split())
        if not self._tokens:
            raise self.error("it is empty")
        if sum(token.text not in ("(", ")", ",") for token in self._tokens) > MOST_PARTS:
            raise self.error(f"it has more than {MOST_PARTS} names, numbers and operators")

    def _split(self) -> Iterator[Token]:
        place = 0
        while place < len(self.formula):
            found = _TOKEN.match(self.formula, place)
            piece = self.formula[place : place + 20] if found is None else found[0]
            for character in piece:
                if character in REFUSED or CONTROLS.match(character):
                    raise self.error(_reason(character))
            if found is None:
                raise self.error(f"{piece!r} is not a name, a number or an operator")
            if found.lastgroup != "space":
                yield Token(str(found.lastgroup), found[0], place)
            place = found.end()

    def error(self, reason: str) -> ConfigError:
        """Return the error that says what is wrong with the formula."""
        shown = self.formula if len(self.formula) <= LONGEST else f"{self.formula[:100]}…"
        return ConfigError(f"formula {shown!r}: {reason}.")

    @property
    def next(self) -> Token:
        """The token that comes next."""
        return self.ahead(0)

    def ahead(self, steps: int) -> Token:
        """Return the token some steps after the next."""
        place = self._place + steps
        return self._tokens[place] if place < len(self._tokens) else END

    def skip(self, steps: int = 1) -> None:
        """Go on."""
        self._place += steps

    def take(self, *texts: str) -> str | None:
        """Return the next token and go on, if it is one of these signs or words."""
        if self.next.kind not in ("sign", "name") or self.next.text not in texts:
            return None
        self.skip()
        return self.ahead(-1).text

    def signs(self) -> str:
        """Take signs, and return the one that they come to; nothing where there is none."""
        found = ""
        while sign := self.take("+", "-"):
            found = "-" if (found == "-") != (sign == "-") else "+"
        return found

    def expect(self, sign: str) -> None:
        """Take a sign."""
        if self.take(sign) is None:
            raise self.unexpected(f", where {sign!r} is missing")

    def unexpected(self, advice: str = "") -> ConfigError:
        """Return the error of a token that cannot be next."""
        if self.next == END:
            return self.error(f"it ends too early{advice}")
        if self.next.text == "=":
            return self.error("'=' is for options of functions")
        if self.next.text == "/":
            return self.error("'/' is not an operator of terms; write b within a as a + a:b")
        return self.error(f"cannot be read at {self.formula[self.next.place :][:20]!r}{advice}")

    def open(self) -> None:
        """Go into parentheses."""
        self._depth += 1
        if self._depth > DEEPEST:
            raise self.error(f"more than {DEEPEST} parentheses within one another")

    def close(self) -> None:
        """Come out of parentheses, which must end here."""
        self.expect(")")
        self._depth -= 1


def _reason(character: str) -> str:
    if character == "|":
        return "terms of formulas are fixed effects; random effects such as (1 | language) are not offered"
    if character == "~":
        return "it has two sides; give the right-hand side only"
    shown = repr(character) if character in REFUSED else f"the control character U+{ord(character):04X}"
    return f"{shown} is not used in formulas; rename columns that have it"


def written(value: Any) -> str:
    """Write a literal; of texts all but letters and digits by number, as formulaic takes brackets for its own."""
    match value:
        case str():
            return f'"{"".join(c if c.isalnum() or c in " _-.," else _escaped(c) for c in value)}"'
        case list():
            return f"[{', '.join(map(written, value))}]"
        case _:
            return repr(value)


def _escaped(character: str) -> str:
    return f"\\U{ord(character):08x}"
