"""Cells of tables: exact numbers, names without control characters, CSV without formulas for spreadsheet programs."""

import re
from collections.abc import Callable, Iterable
from importlib.resources.abc import Traversable
from io import BytesIO
from typing import TYPE_CHECKING, Any

from langdiff.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

# Unicode's categories Cc, Cf, Cs, Zl and Zp, without the two joiners of letters that Persian and Hindi need
CONTROLS = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u2064\u2066-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0001\U000e0020-\U000e007f]"
)
KEPT = "\n\t"  # of whole texts


def check_names(names: Iterable[object], what: str, where: str = "") -> None:
    r"""Check that names contain no control characters.

    Examples
    --------
    >>> check_names(["eng", "a\x1b[31m"], "edition")
    Traceback (most recent call last):
    ...
    langdiff.errors.DataError: edition name 'a\x1b[31m' has control characters (U+001B); rename the file or give a ...
    """
    for name in names:
        if isinstance(name, str) and (found := CONTROLS.search(name)):
            advice = "rename the file or give a mapping" if what == "edition" else "rename it"
            raise DataError(
                f"{where}{': ' if where else ''}{what} name '{escape_controls(name, '')}' has control characters "
                f"(U+{ord(found[0]):04X}); {advice}."
            )


def refuse_alike(names: Iterable[object], what: str, where: str) -> None:
    """Refuse names that differ in white space or capitals only, which are one thing written in two ways."""
    first: dict[str, object] = {}
    for name in names:
        other = first.setdefault(" ".join(str(name).split()).casefold(), name)
        if other != name:
            raise DataError(
                f"{where}: the {what}s {other!r} and {name!r} differ in white space or capitals only: spell them alike."
            )


def escape_controls(text: str, but: str = KEPT) -> str:
    r"""Return a text with control characters as escape sequences, except joiners and those in `but`.

    JSON text stays valid: it escapes characters below U+0020 itself, and the others in the same form.

    Examples
    --------
    >>> escape_controls("\x1b[31mred\u202e")
    '\\x1b[31mred\\u202e'
    """
    return CONTROLS.sub(lambda match: match[0] if match[0] in but else _escaped(match[0]), text)


def _escaped(character: str) -> str:
    if character < " ":
        return f"\\x{ord(character):02x}"
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def drop_controls(text: str) -> str:
    r"""Return a text without control characters, except joiners, line ends and tabs.

    Examples
    --------
    >>> drop_controls("<text>\x1b[31mred</text>\n")
    '<text>[31mred</text>\n'
    """
    return CONTROLS.sub(lambda match: match[0] if match[0] in KEPT else "", text)


# after any apostrophes, one of the characters that begin a formula; digits, points and commas alone are numbers
_FORMULA = re.compile(r"'*(?![+-]?[0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\Z)[=+\-@\t\r]")


def guard(cell: str) -> str:
    """Return a cell with an apostrophe before text that spreadsheet programs would run as a formula.

    Examples
    --------
    >>> guard("=1+1"), guard("-5"), guard("eng")
    ("'=1+1", '-5', 'eng')
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguard(cell: str) -> str:
    """Return a cell without the apostrophe that `guard` added.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def guarded(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame with all texts and names guarded for CSV or TSV; see `guard`."""
    return _changed(frame, guard)


def unguarded(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame read from CSV or TSV with all texts and names restored; see `unguard`."""
    return _changed(frame, unguard)


def _changed(frame: "pd.DataFrame", change: Callable[[str], str]) -> "pd.DataFrame":
    import pandas as pd  # slow to import

    frame = frame.copy(deep=False)
    for place in range(frame.shape[1]):
        column = frame.iloc[:, place]
        if not pd.api.types.is_numeric_dtype(column) and (others := _others(column, change)):
            values = [others[value] if isinstance(value, str) and value in others else value for value in column]
            kind: Any = object if isinstance(column.dtype, pd.CategoricalDtype) else column.dtype
            frame.isetitem(place, pd.array(values, dtype=kind))
    for axis in (0, 1):
        names = frame.axes[axis]
        levels = [names.get_level_values(level) for level in range(names.nlevels)]
        if others := {text: new for level in levels for text, new in _others(level, change).items()}:
            arrays = [[others.get(name, name) for name in level] for level in levels]
            renamed = pd.Index(arrays[0]) if len(arrays) == 1 else pd.MultiIndex.from_arrays(arrays)
            frame = frame.set_axis(renamed.set_names(names.names), axis=axis)
    return frame


def _others(values: Iterable[object], change: Callable[[str], str]) -> dict[str, str]:
    """Return the texts that a function changes, each with its new form."""
    texts = {value for value in values if isinstance(value, str)}
    return {text: new for text in texts if (new := change(text)) != text}


def pandas_is_exact() -> bool:
    """Return whether pandas reads each number as the float nearest to its text."""
    import pandas as pd  # slow to import

    return tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)


def exact_numbers(values: "pd.Series") -> "pd.Series":
    """Return texts as numbers, each the float nearest to its text, and NaN for other text.

    Before version 3.1, pandas reads one number in six wrong in its last bit; there, all are read again.

    Examples
    --------
    >>> import pandas as pd
    >>> exact_numbers(pd.Series(["0.12345678901234568", "x", " 1e3"])).tolist()
    [0.12345678901234568, nan, 1000.0]
    >>> exact_numbers(pd.Series(["1", "2"])).tolist()
    [1, 2]
    """
    import numpy as np  # slow to import, as pandas is
    import pandas as pd

    numbers = pd.to_numeric(values, errors="coerce")
    if np.iscomplexobj(numbers):
        name = "values" if values.name is None else values.name
        raise DataError(f"{name}: complex numbers are no measurements; give their real parts.")
    if pandas_is_exact() or pd.api.types.is_numeric_dtype(values) or not pd.api.types.is_float_dtype(numbers):
        return numbers
    known = numbers.notna().to_numpy()
    exact = numbers.to_numpy(dtype=np.float64, copy=True)
    exact[known] = values.to_numpy(dtype=object)[known].astype(np.float64)
    return pd.Series(exact, index=numbers.index, name=numbers.name)


def in_format(value: Any, template: str) -> str:
    """Return a formatted number, without a minus sign if it is rounded to zero.

    Examples
    --------
    >>> in_format(-0.04, "{:+.1f}"), in_format(-0.06, "{:+.1f}"), in_format(-1e-10, "{:.2g}"), in_format("-0", "{}")
    ('+0.0', '-0.1', '-1e-10', '-0')
    """
    text = template.format(value)
    return template.format(0.0) if text == template.format(-0.0) else text


def read_exact_csv(path: Traversable, **options: Any) -> "pd.DataFrame":
    """Read a CSV file with the options of `pandas.read_csv`, each number as the float nearest to its text."""
    import pandas as pd  # slow to import

    content = path.read_bytes()
    frame: pd.DataFrame = pd.read_csv(BytesIO(content), **options)
    floats = list(frame.select_dtypes("float"))
    if pandas_is_exact() or not floats:
        return frame
    text = pd.read_csv(BytesIO(content), **options | {"dtype": str})
    return frame.assign(**{str(name): exact_numbers(text[name]).astype(float) for name in floats})
