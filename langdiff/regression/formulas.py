"""Formulas without Python: read by a grammar of their own, and written anew for formulaic, which evaluates them.

Formulaic hands whatever stands in a call to Python, and a formula may come from a file that a stranger made. It never
sees the formula that was given, but only what `checked_formula` writes: terms, a few functions, and literals.
"""

import keyword
import math
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype

from langdiff.base.cells import CONTROLS
from langdiff.errors import ConfigError, listing

LONGEST = 1000  # characters
MOST_PARTS = 300  # names, numbers and operators
DEEPEST = 30  # parentheses in parentheses
REFUSED = "#;{}\\|~%@!&<>$"

_TOKEN = re.compile(
    r"(?P<space>\ +)|(?P<quoted>`[^`]*`)|(?P<text>\"[^\"']*\"|'[^\"']*')"
    r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<name>\w+(?:\.\w+)*)|(?P<sign>\*\*|[-+*/:^()\[\],=.])"
)
MOST_TERMS = 1000  # when the operators are carried out, each basis counting with its columns
MOST_PRODUCTS = 20_000  # of terms, on the way there; formulaic makes all of them
MOST_IN_LIST = 200
LARGEST_NUMBER = 1e15
LARGEST_EXPONENT = 10
LARGEST_POWER = 5  # of terms
LARGEST_LITERAL = 1e6
BOUNDS = MappingProxyType({"degree": 10, "df": 50})

PLAIN = ("log", "log2", "log10", "log1p", "exp", "sqrt", "abs", "center", "I")  # take no options
OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(  # in the order in which they may be given without names
    {
        **dict.fromkeys(PLAIN, ()),
        "scale": ("center", "scale"),
        "poly": ("degree", "raw"),
        "bs": ("df", "knots", "degree", "include_intercept"),
        "cs": ("df", "knots"),
        "cr": ("df", "knots"),
        "cc": ("df", "knots"),
        "C": ("levels",),  # by name only: without a name it takes a contrast
    }
)
BASES = ("poly", "bs", "cs", "cr", "cc")
CONTRASTS = ("contr.treatment", "contr.sum", "contr.helmert", "contr.diff", "contr.poly")
OWN = MappingProxyType({"log1p": np.log1p, "sqrt": np.sqrt, "abs": np.abs})  # formulaic has none of them
ADVICE = MappingProxyType({"ns": "write cr(x, df=…)", "hashed": "give the column fewer values", "Q": "write `a name`"})

_METHOD = re.compile(r"\([^()]*\)\.[\w.]+(?=\()")

Terms = frozenset[frozenset[str]]


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


def checked_formula(formula: str, columns: Collection[object] | None) -> str:
    """Return a formula as formulaic may read it: written anew from what it says, if it says nothing but terms.

    Examples
    --------
    >>> checked_formula("(length+size)^2 - length:size", ["length", "size"])
    '(length + size)**2 - length:size'
    >>> checked_formula("__import__('os').getcwd()", ["length"])
    Traceback (most recent call last):
    ...
    langdiff.errors.ConfigError: formula "__import__('os').getcwd()": '__import__('os').getcwd' is not a function of ...
    """
    return _Reader(formula, columns).read()


def columns_named(formula: str, columns: Collection[object]) -> list[str]:
    """Return the columns that a formula names, in their order; for errors see `checked_formula`."""
    reader = _Reader(formula, columns)
    reader.read()
    return [str(name) for name in columns if name in reader.named]


def matrix_of(formula: str, info: pd.DataFrame) -> Any:
    """Return formulaic's matrix of a formula, with its specification, which `matrix_again` takes."""
    from formulaic import model_matrix  # slow to import, and seldom needed

    checked, named = _values(formula, info)
    return model_matrix(checked, named, na_action="raise", context=dict(OWN))


def matrix_again(matrix: Any, formula: str, info: pd.DataFrame) -> Any:
    """Return the matrix of other values, coded as `matrix_of` has coded its own; for errors see there."""
    return matrix.model_spec.get_model_matrix(_values(formula, info)[1], context=dict(OWN))


def _values(formula: str, info: pd.DataFrame) -> tuple[str, pd.DataFrame]:
    """Return a checked formula and the columns that it names, no others, which could hide a function."""
    reader = _Reader(formula, info.columns, info)
    checked = reader.read()
    named = info[[name for name in info.columns if name in reader.named]].copy()
    for name in sorted(reader.numbers):  # times a number, text and the whole numbers of objects fill the memory
        if not is_numeric_dtype(info[name]):
            raise reader.tokens.error(f"the column {name!r} is not of numbers, with which functions calculate")
        if is_integer_dtype(info[name]):
            named[name] = info[name].astype(float)  # whole numbers of NumPy overflow without a word
    return checked, named


class _Piece(NamedTuple):
    text: str
    terms: Terms  # that it stands for; each is a set of factors


class _Reader:
    """Recursive descent: each method reads one kind of expression, and returns it as it is to be written."""

    def __init__(self, formula: str, columns: Collection[object] | None, info: pd.DataFrame | None = None) -> None:
        self.tokens = Tokens(formula)
        self.info = info  # values of the columns, where they are known
        self.columns = None if columns is None else {name: None for name in columns if isinstance(name, str)}
        self.named: set[str] = set()
        self.numbers: set[str] = set()  # of these, what is calculated with
        self.widths: dict[str, int] = {}  # columns of each basis and category
        self.products = 0

    def read(self) -> str:
        whole = self._sum()
        if self.tokens.next != END:
            raise self.tokens.unexpected()
        return whole.text

    # -- terms

    def _sum(self) -> _Piece:
        first = self.tokens.signs()
        text, terms = "", frozenset[frozenset[str]]()
        while True:
            part = self._number_or_product()
            text += f"{first}{part.text}"
            terms = self._checked(terms | part.terms)
            if self.tokens.next.text not in ("+", "-"):
                return _Piece(text, terms)
            first = f" {self.tokens.signs()} "

    def _number_or_product(self) -> _Piece:
        if self.tokens.next.kind != "number":
            return self._product()
        number = self.tokens.next.text
        if number not in ("0", "1"):
            raise self.tokens.error(f"{number} is not a term; the numbers 0 and 1 are, which stand for the constant")
        self.tokens.skip()
        if self.tokens.next.text in ("*", ":", "**", "^"):
            raise self.tokens.error(f"{number} stands for the constant, and is not multiplied")
        return _Piece(number, frozenset({frozenset()}))

    def _product(self) -> _Piece:
        text, terms = self._interaction()
        while self.tokens.take("*"):
            other = self._interaction()
            text = f"{text} * {other.text}"
            terms = self._checked(terms | other.terms | self._crossed(terms, other.terms))
        return _Piece(text, terms)

    def _interaction(self) -> _Piece:
        text, terms = self._power()
        while self.tokens.take(":"):
            other = self._power()
            text, terms = f"{text}:{other.text}", self._crossed(terms, other.terms)
        return _Piece(text, terms)

    def _power(self) -> _Piece:
        text, terms = self._atom()
        if not self.tokens.take("**", "^"):
            return _Piece(text, terms)
        number = self.tokens.next.text
        if not re.fullmatch("[0-9]+", number) or not 1 <= int(number) <= LARGEST_POWER:
            raise self.tokens.error(f"terms are raised to a whole number from 1 to {LARGEST_POWER}, not to {number}")
        self.tokens.skip()
        self._work(len(terms) ** int(number))
        raised = terms
        for _ in range(int(number) - 1):
            raised = self._checked({a | b for a in raised for b in terms})
        return _Piece(f"{text}**{int(number)}", raised)

    def _crossed(self, one: Terms, other: Terms) -> Terms:
        self._work(len(one) * len(other))
        return self._checked({a | b for a in one for b in other})

    def _work(self, products: int) -> None:
        self.products += products
        if self.products > MOST_PRODUCTS:
            raise self.tokens.error(f"it stands for more than {MOST_TERMS:,} terms")

    def _checked(self, terms: Iterable[frozenset[str]]) -> Terms:
        found = frozenset(terms)
        if sum(math.prod(self.widths.get(factor, 1) for factor in term) for term in found) > MOST_TERMS:
            raise self.tokens.error(f"it stands for more than {MOST_TERMS:,} terms")
        return found

    def _atom(self) -> _Piece:
        if self.tokens.take("("):
            self.tokens.open()
            inner = self._sum()
            self.tokens.close()
            return _Piece(f"({inner.text})", inner.terms)
        if self.tokens.next.kind == "text":
            raise self.tokens.error(f"the text {self.tokens.next.text} is not a term; names stand between backticks")
        if self._is_call():
            text = self._call()
        else:
            text = self._column(inside=False)
            self._count_categories(text, text)
        return _Piece(text, frozenset({frozenset({text})}))

    # -- columns and calls

    def _is_call(self) -> bool:
        return self.tokens.next.kind == "name" and self.tokens.ahead(1).text == "("

    def _column(self, *, inside: bool) -> str:
        """Read a name; `inside` a call formulaic makes a name of Python of it, which must not be another one's."""
        if self.tokens.next.kind not in ("name", "quoted"):
            raise self.tokens.unexpected()
        name = self.tokens.next.text.strip("`")
        if self.columns is not None and name not in self.columns:
            known = f"there are {listing(self.columns)}" if self.columns else "the table has none"
            raise self.tokens.error(f"{name!r} is not a column; {known}")
        misread = inside and (keyword.iskeyword(name) or unicodedata.normalize("NFKC", name) != name)
        if misread or '"' in name or "'" in name or not any(character.isalnum() for character in name):
            raise self.tokens.error(f"the column {name!r} cannot be named in a formula; rename it")
        self.tokens.skip()
        self.named.add(name)
        return name if re.fullmatch(r"[^\W\d]\w*", name) and not keyword.iskeyword(name) else f"`{name}`"

    def _call(self) -> str:
        name = self.tokens.next.text
        if name not in OPTIONS:
            raise self._unknown_function(self.tokens.next)
        if self.columns is not None and name in self.columns:
            raise self.tokens.error(f"the column {name!r} has the name of a function; rename it")
        self.tokens.skip(2)
        self.tokens.open()
        parts = [self._arithmetic()[0]]
        given: dict[str, Any] = {}
        while self.tokens.take(","):
            parts.append(self._option(name, given))
        self.tokens.close()
        text = f"{name}({', '.join(parts)})"
        if name in BASES:
            size = given.get("df") or given.get("degree", 1) + len(given.get("knots", ())) + 1
            self.widths[text] = int(size)
        if name == "C":
            self._count_categories(text, parts[0], given.get("levels"))
        return text

    def _count_categories(self, text: str, column: str, levels: list[Any] | None = None) -> None:
        """Note how many columns a category stands for, and refuse levels that lack some of its values."""
        name = column.strip("`")
        if self.info is None or name not in self.info or (text == column and is_numeric_dtype(self.info[name])):
            return
        values = self.info[name].dropna().drop_duplicates()
        self.widths[text] = max(len(values), 1)
        if levels is not None and len(lacking := values[~values.isin(levels)]):
            raise self.tokens.error(f"levels of C({column}) lack {listing(lacking)}, which the column has")

    def _unknown_function(self, token: Token) -> ConfigError:
        name, end = token.text, token.place + len(token.text)
        if found := _METHOD.match(self.tokens.formula, end):
            name += found[0]
        if name.startswith("np.") and name.removeprefix("np.") in OPTIONS:
            advice = f"write {name.removeprefix('np.')}(x)"
        else:
            advice = ADVICE.get(name, f"allowed are {', '.join(OPTIONS)}")
        return self.tokens.error(f"'{name}' is not a function of formulas; {advice}")

    def _option(self, function: str, given: dict[str, Any]) -> str:
        """Read what follows the first argument of a function; add its value to those given."""
        known = OPTIONS[function]
        if self.tokens.next.kind == "name" and self.tokens.ahead(1).text == "=":
            name, prefix = self.tokens.next.text, f"{self.tokens.next.text}="
            self.tokens.skip(2)
        elif function == "C":
            return self._contrast()
        else:
            name, prefix = known[len(given)] if len(given) < len(known) else "", ""
        if name not in known or name in given:
            offered = f"it takes {', '.join(known)}" if known else "it takes a column and no options"
            raise self.tokens.error(f"{function} has no option {name or self.tokens.next.text!r} here; {offered}")
        given[name] = value = self._literal(text=function == "C")
        if name == "knots" and not isinstance(value, list):
            raise self.tokens.error("knots is a list of numbers, such as [1, 2]")
        if name in BOUNDS and not (type(value) is int and 0 <= value <= BOUNDS[name]):
            raise self.tokens.error(f"{name} is a whole number up to {BOUNDS[name]}, not {value!r}")
        return prefix + written(value)

    def _contrast(self) -> str:
        name = self.tokens.next.text
        if not (self._is_call() and name in CONTRASTS):
            raise self.tokens.error(f"C takes a column, {', '.join(CONTRASTS)} and levels=[…], not {name!r}")
        if self.columns is not None and "contr" in self.columns:
            raise self.tokens.error("the column 'contr' has the name of a function; rename it")
        self.tokens.skip(2)
        parts: list[str] = []
        while not self.tokens.take(")"):
            if parts:
                self.tokens.expect(",")
            parts.append(written(self._literal(text=True)))
        return f"{name}({', '.join(parts)})"

    def _literal(self, *, text: bool, in_list: bool = False) -> Any:
        """Read a number, True, False, a text where it may be, or a list of them."""
        if word := self.tokens.take("True", "False"):
            return word == "True"
        if text and self.tokens.next.kind == "text":
            self.tokens.skip()
            return self.tokens.ahead(-1).text[1:-1]
        if not in_list and self.tokens.take("["):
            values: list[Any] = []
            while not self.tokens.take("]"):
                if values:
                    self.tokens.expect(",")
                values.append(self._literal(text=text, in_list=True))
            if len(values) > MOST_IN_LIST:
                raise self.tokens.error(f"a list has {len(values)} values; at most {MOST_IN_LIST} are read")
            return values
        return self._signed(LARGEST_LITERAL)

    def _signed(self, largest: float) -> int | float:
        sign = self.tokens.signs()
        if self.tokens.next.kind != "number":
            raise self.tokens.error(f"{self.tokens.next.text!r} is not a number; options and exponents are written out")
        value = self._number(largest)
        return -value if sign == "-" else value

    def _number(self, largest: float) -> int | float:
        text = self.tokens.next.text
        value = int(text) if text.isdigit() else float(text)
        if not abs(value) <= largest:
            raise self.tokens.error(f"{text} is too large; here numbers go up to {largest:g}")
        self.tokens.skip()
        return value

    # -- arithmetic of a first argument: as written, and whether a column is in it

    def _arithmetic(self) -> tuple[str, bool]:
        text, column = self._fraction()
        while sign := self.tokens.take("+", "-"):
            other, more = self._fraction()
            text, column = f"{text} {sign} {other}", column or more
        return text, column

    def _fraction(self) -> tuple[str, bool]:
        text, column = self._negative()
        while sign := self.tokens.take("*", "/"):
            other, more = self._negative()
            text, column = f"{text} {sign} {other}", column or more
        return text, column

    def _negative(self) -> tuple[str, bool]:
        sign = self.tokens.signs()
        text, column = self._value()
        if self.tokens.take("**", "^"):
            if not column:  # Python's whole numbers grow without end, as in 10**10**10
                raise self.tokens.error(f"{text!r} is raised to a power; only columns are")
            exponent = self._signed(LARGEST_EXPONENT)
            if self.tokens.next.text in ("**", "^"):
                raise self.tokens.error("a power of a power; use parentheses")
            text = f"{text} ** {exponent!r}"
        return f"{sign}{text}", column

    def _value(self) -> tuple[str, bool]:
        if self.tokens.take("("):
            self.tokens.open()
            text, column = self._arithmetic()
            self.tokens.close()
            return f"({text})", column
        if self.tokens.next.kind == "number":
            return repr(self._number(LARGEST_NUMBER)), False
        if self.tokens.next.text == "C" and self._is_call():
            raise self.tokens.error("C is not a number; it stands outside other functions")
        if self._is_call():
            return self._call(), True
        alone = self.tokens.ahead(-2).text == "C" and self.tokens.ahead(1).text in (")", ",")
        text = self._column(inside=True)
        if not alone:
            self.numbers.add(self.tokens.ahead(-1).text.strip("`"))
        return text, True
