"""Columns of crossed tables: one system in one language, named ``language@system``."""

from collections.abc import Iterable, Mapping

import pandas as pd

from langdiff.base.cells import check_names
from langdiff.errors import DataError, listing

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
