"""Cells of CSV that spreadsheet programs would take for formulas: written with an apostrophe before them."""

import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# after any apostrophes, one of the characters that begin a formula; digits, points and commas alone are numbers
_FORMULA = re.compile(r"'*(?![+-]?[0-9.,]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?\Z)[=+\-@\t\r]")


def guard(cell: str) -> str:
    """Return the text of a cell as it is written.

    Examples
    --------
    >>> guard("=1+1"), guard("-5"), guard("eng")
    ("'=1+1", '-5', 'eng')
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguard(cell: str) -> str:
    """Return the text of a cell that was read; `guard` gives another apostrophe to what begins as it writes.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def guarded(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose texts, names of columns and rows included, are as they are to be written into CSV or TSV."""
    return _changed(frame, guard)


def unguarded(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame of CSV or TSV with texts as they were before `guarded`."""
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
    """Return the texts that change, and into what."""
    texts = {value for value in values if isinstance(value, str)}
    return {text: new for text in texts if (new := change(text)) != text}
