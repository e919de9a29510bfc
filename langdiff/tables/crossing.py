"""Columns of crossed tables: one system in one language, named ``language@system``; how their figures are printed."""

import importlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import check_names
from langdiff.base.grids import MISSING, Cell, Column, Grid, Line, signed
from langdiff.base.types import Booleans
from langdiff.errors import DataError, listing
from langdiff.tables.rule import Scale

SIGN = "@"  # between language and system, so that names of either must not have it
LEVELS = ("language", "system")
PREFIX = "column_"  # of the two in a long table


def column_name(language: str, system: str) -> str:
    """Return the name of the column of one system in one language.

    Examples
    --------
    >>> column_name("fin", "llama")
    'fin@llama'
    """
    return f"{language}{SIGN}{system}"


def make_columns(pairs: Iterable[tuple[object, object]]) -> pd.DataFrame:
    """Return the languages and systems of columns, indexed by the names of the columns.

    Examples
    --------
    >>> make_columns([("fin", "llama"), ("eng", "llama")])
              language system
    column
    fin@llama      fin  llama
    eng@llama      eng  llama
    """
    frame = pd.DataFrame([(str(language), str(system)) for language, system in pairs], columns=list(LEVELS))
    for what in LEVELS:
        check_names(frame[what], what)
        signed = [name for name in frame[what].unique() if SIGN in name]
        if signed:
            raise DataError(
                f"{len(signed)} {what}(s) have the sign {SIGN!r} in their names, which stands between language and "
                f"system in the names of columns: {listing(signed)}. Rename them."
            )
    names = pd.Index([column_name(*pair) for pair in frame.itertuples(index=False)], name="column")
    if names.has_duplicates:
        raise DataError(f"columns given twice: {listing(names[names.duplicated()].unique())}.")
    return frame.set_index(names)


def check_axes(table: pd.DataFrame, row: str, column: str) -> None:
    """Check that rows and columns of a table have one name each, and that no two share one."""
    for what, names in ((row, table.index), (column, table.columns)):
        if isinstance(names, pd.MultiIndex):
            raise DataError(
                f"{what}s have names in {names.nlevels} levels, such as {listing(names[:1].tolist())}; give each "
                "one name, for instance by names.map(str)."
            )
        twice = names[names.duplicated()].unique()
        if len(twice):
            raise DataError(f"{len(twice)} {what}(s) named twice: {listing(twice)}. Names must be unique.")
    check_names(table.columns, column)


def chosen_names(what: str, names: Iterable[Any] | None, known: pd.Index) -> list[Any]:
    """Return names after checking that they are among those of a table, each once; all of these by default."""
    wanted = list(known if names is None else names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise DataError(f"{len(unknown)} unknown {what}(s): {listing(unknown)}. Known: {listing(known)}.")
    repeated = [name for name, count in Counter(wanted).items() if count > 1]
    if repeated:
        raise DataError(f"{len(repeated)} {what}(s) asked for twice: {listing(repeated)}.")
    return wanted


def first_cells(table: pd.DataFrame, wrong: Booleans, show: Callable[[int, int], str]) -> str:
    """Return the names and contents of the first few cells that are wrong, for messages."""
    places = list(zip(*np.nonzero(wrong), strict=True))[:5]
    return ", ".join(f"({table.index[i]}, {table.columns[j]}) = {show(i, j)}" for i, j in places)


def check_columns(columns: object, names: pd.Index) -> pd.DataFrame | None:
    """Return the languages and systems of the columns of a table, after checking that they are those of its names.

    Examples
    --------
    >>> columns = make_columns([("fin", "llama"), ("eng", "llama")])
    >>> check_columns(columns, pd.Index(["fin@llama"]))
    Traceback (most recent call last):
    langdiff.errors.DataError: columns must have one row per column of the table, in the same order; there are ...
    """
    if columns is None:
        return None
    if not isinstance(columns, pd.DataFrame) or not set(LEVELS) <= set(columns.columns):
        raise DataError("columns must be a DataFrame with the columns 'language' and 'system', or None.")
    if list(columns.index) != list(names):
        raise DataError(
            f"columns must have one row per column of the table, in the same order; there are rows for "
            f"{listing(columns.index)}, and columns {listing(names)}."
        )
    made = make_columns(columns[list(LEVELS)].itertuples(index=False, name=None))
    wrong = [name for name, own in zip(names, made.index, strict=True) if name != own]
    if wrong:
        raise DataError(f"{len(wrong)} column(s) are not named language{SIGN}system: {listing(wrong)}.")
    return made


def long_columns(columns: pd.DataFrame | None) -> Mapping[str, pd.Series]:
    """Return languages and systems under the names that they have in a long table; nothing without them."""
    return {} if columns is None else {f"{PREFIX}{name}": columns[name] for name in LEVELS}


def columns_of_long(frame: pd.DataFrame, name: str, names: Iterable[object]) -> pd.DataFrame | None:
    """Return the languages and systems that a long table has of its columns; None if it has none.

    Examples
    --------
    >>> long = {"edition": ["fin@a", "fin@a"], "column_language": ["fin", "fin"], "column_system": ["a", "a"]}
    >>> columns_of_long(pd.DataFrame(long), "edition", ["fin@a"]).to_numpy().tolist()
    [['fin', 'a']]
    """
    own = [f"{PREFIX}{level}" for level in LEVELS]
    if not set(own) <= set(frame.columns):
        return None
    known = frame.drop_duplicates([name, *own]).set_index(name)[own].set_axis(list(LEVELS), axis=1)
    twice = known.index[known.index.duplicated()].unique()
    if len(twice):
        raise DataError(f"{len(twice)} column(s) of several languages or systems: {listing(twice)}.")
    return known.loc[list(names)]


def table_of(fit: Any) -> Any:
    """Return `langdiff.table` of one fit or of effects, which few need, without a name in its sentences."""
    made: Any = importlib.import_module("langdiff.tables.table")
    return made.table(replace(fit, title="") if "title" in getattr(fit, "__dataclass_fields__", {}) else fit)


def digits_of(errors: pd.Series, unit: str) -> int:
    """Return the digits at which the median standard error has two significant ones, of percent and points one.

    Examples
    --------
    >>> digits_of(pd.Series([0.12, 0.15]), "log odds")
    2
    """
    known, short = errors[errors > 0], unit in ("percent", "points")
    if known.empty:
        return 1 if short else 2
    one = -np.floor(np.log10(float(known.median())))
    return int(np.clip(one, 1, 3) if short else np.clip(one + 1, 2, 12 if unit == "score" else 4))


def bound(low: float, high: float, digits: int) -> Cell:
    """Return the one end that is known of a quantity.

    Examples
    --------
    >>> bound(float("nan"), -2.41, 1).text
    '< −2.4'
    """
    ends = [f"{sign} {signed(end, digits)}" for sign, end in ((">", low), ("<", high)) if np.isfinite(end)]
    return Cell(ends[0] if ends else MISSING)


def grid_of_board(board: pd.DataFrame, scale: Scale) -> Grid:
    """Return a leaderboard as a grid: estimates with their errors, simultaneous intervals, and sets of ranks."""
    percent = scale.unit == "nats"
    unit = "percent" if percent else scale.unit
    frame = board.assign(estimate=board[scale.quantity])
    if percent:
        factor = np.exp(frame["estimate"])
        frame = frame.assign(std_error=100 * factor * frame["std_error"])
        frame[["estimate", "low", "high"]] = 100 * np.expm1(frame[["estimate", "low", "high"]])
    digits, lines = digits_of(frame["std_error"], unit), []
    for name, row in frame.iterrows():
        one = bound(row["low"], row["high"], digits)
        ends = [signed(row[end], digits) if np.isfinite(row[end]) else MISSING for end in ("low", "high")]
        measured = np.isfinite(row["estimate"])
        ranks = row.get("ranks", row["rank"])
        cells = (
            _measured(row, digits) if measured else one,
            Cell(" to ".join(ends) if measured else ""),
            Cell(str(ranks) if measured else MISSING),
        )
        lines.append(Line("row", str(name), cells))
    heads = [unit if unit == scale.quantity else f"{scale.quantity}, {unit}", "interval", "ranks"]
    return Grid([Column("", head) for head in heads], lines, "" if board.index.name is None else str(board.index.name))


def grid_of_cells(cells: pd.DataFrame, languages: pd.Index, systems: pd.Index, *, sign: int, unit: str) -> Grid:
    """Return cells of languages × systems as a grid; a sign of −1 turns difficulties into abilities."""
    frame = cells.assign(estimate=sign * cells["estimate"])
    low, high = (frame.get(end, pd.Series(np.nan, frame.index)) for end in ("low", "high"))
    frame = frame.assign(low=low, high=high) if sign > 0 else frame.assign(low=-high, high=-low)
    if unit == "percent":
        frame["std_error"] = 100 * np.exp(frame["estimate"]) * frame["std_error"]
        frame["estimate"] = 100 * np.expm1(frame["estimate"])
    digits = digits_of(frame["std_error"], unit)
    known: dict[Any, Cell] = {
        key: _measured(row, digits) if np.isfinite(row["estimate"]) else bound(row["low"], row["high"], digits)
        for key, row in frame.iterrows()
    }
    shown = [name for name in systems if any(system == name for _, system in known)]
    lines = [
        Line("row", str(language), tuple(known.get((language, name), Cell(MISSING)) for name in shown))
        for language in languages
    ]
    return Grid([Column("", str(name)) for name in shown], lines, "language")


def grid_of_contrasts(found: pd.DataFrame) -> Grid:
    """Return contrasts of outcomes as a grid."""
    quantity = str(found.columns[0])
    digits = digits_of(found["std_error"], "log odds")
    heads, lines = [quantity.replace("_", " "), "interval", "p"], []
    heads += ["points"] if "points" in found else []
    for name, row in found.assign(estimate=found[quantity]).iterrows():
        ends = " to ".join(signed(row[end], digits) for end in ("low", "high"))
        cells = [_measured(row, digits), Cell(ends), Cell(f"{row['p']:.2g}")]
        if "points" in found:
            cells.append(Cell(signed(row["points"], 1), f"{row['points_std_error']:.1f}"))
        lines.append(Line("row", str(name), tuple(cells)))
    return Grid([Column("", head) for head in heads], lines, "contrast")


def _measured(row: pd.Series, digits: int) -> Cell:
    error = row["std_error"]
    return Cell(signed(row["estimate"], digits), f"{error:.{digits}f}" if np.isfinite(error) else "")
