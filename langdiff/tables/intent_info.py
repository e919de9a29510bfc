"""Attributes of intents, such as the document, book or chapter of each."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.cells import check_names
from langdiff.base.io import as_path, read_table
from langdiff.errors import ConfigError, DataError, UnknownColumnError, listing, option, words

PREFIX = "intent_"  # of attributes in a long table, where no other column begins so
USUAL = ("document", "book", "chapter")  # attributes that need no prefix in a table made elsewhere
ONE = {"clusters": "cluster", "strata": "stratum", "groups": "group", "folds": "fold"}  # what an argument gives each
IN_CORPORA = (
    "'book' and 'chapter' are known of Bibles, and 'document' of CoStEP, test sets of machine translation and "
    "line-aligned text with a file documents.tsv."
)
_VERSE_ID = re.compile(r"[0-9]{8}")  # BBCCCVVV
_DIGITS = {"book": 2, "chapter": 5}  # of a verse id, which name the book, and book and chapter


def check_intent_info(info: object, intents: pd.Index) -> pd.DataFrame | None:
    """Return a table of attributes of intents after checking its rows and names.

    Examples
    --------
    >>> check_intent_info(pd.DataFrame({"book": ["GEN"]}, index=["01001001"]), pd.Index(["01001001"]))
             book
    intent
    01001001  GEN
    """
    if info is None:
        return None
    known = check_attributes(info, intents, "intent", "intent_info", "use intent_info.loc[bits.index]")
    return known if known.shape[1] else None


def check_attributes(info: object, names: pd.Index, of: str, what: str, advice: str) -> pd.DataFrame:
    """Return attributes of intents, items or systems, named by text, after checking their rows and names."""
    if not isinstance(info, pd.DataFrame):
        raise DataError(f"{what} must be a DataFrame indexed by {of}, not {type(info).__name__}.")
    if list(info.index) != list(names):
        raise DataError(f"{what} must have one row per {of} of the table, in the same order; {advice}.")
    columns = pd.Index([str(name) for name in info.columns])
    if columns.has_duplicates:
        raise DataError(f"{what} has several columns {listing(columns[columns.duplicated()].unique())}; keep one.")
    check_names(columns, "column")
    return info.set_axis(columns, axis=1).rename_axis(index=of)


def select_info(info: pd.DataFrame | str | Path, names: pd.Index, of: str = "intent", what: str = "") -> pd.DataFrame:
    """Return the attributes of some intents, editions, items or systems, in their order."""
    what = (what or option(f"{of}_info")) if isinstance(info, pd.DataFrame) else str(info)
    table = info if isinstance(info, pd.DataFrame) else read_intent_info(info)
    without = names.difference(table.index, sort=False)
    if len(without):
        raise DataError(
            f"{what}: no row for {len(without):,} of {len(names):,} {of}s: {listing(without)}. {of.capitalize()}s "
            f"there are called {listing(table.index, most=2)}; give each {of} a row, and leave a cell empty where "
            "nothing is known."
        )
    twice = table.index[table.index.duplicated()].unique().intersection(names, sort=False)
    if len(twice):
        raise DataError(f"{what}: several rows for {len(twice):,} {of}(s): {listing(twice)}. Give each one row.")
    return table.loc[names]


def join_info(known: pd.DataFrame, info: pd.DataFrame | str | Path, of: str = "intent", what: str = "") -> pd.DataFrame:
    """Return attributes with others, which replace those of the same name."""
    given = select_info(info, known.index, of, what)
    return known.drop(columns=given.columns, errors="ignore").join(given)


def read_intent_info(path: str | Path) -> pd.DataFrame:
    r"""Read a table of attributes of intents.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "documents.csv")
    ...     _ = path.write_text("line,document\n1,x\n2,x\n3,\n")
    ...     read_intent_info(path)["document"].tolist()
    ['x', 'x', nan]
    """
    path = as_path(path)
    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    intents = pd.Index([cells[0] for _, cells in rows], name="intent", dtype=object)
    table = pd.DataFrame([cells[1:] for _, cells in rows], index=intents, columns=header[1:], dtype=object)
    return table.mask(table == "", np.nan)


def attributes_of_long(frame: pd.DataFrame, path: Path) -> pd.DataFrame | None:
    """Return the attributes of intents in the columns of a long table, one row per intent in order of appearance."""
    columns = dict(_attribute_columns(frame.columns, path))
    if not columns:
        return None
    return attributes_of(frame, "intent", list(columns.values()), path).set_axis(list(columns), axis=1)


def attributes_of(frame: pd.DataFrame, what: str, columns: Sequence[str], where: str | Path) -> pd.DataFrame:
    """Return attributes in the columns of a long table, one row per intent, item or system in order of appearance."""
    codes, names = pd.factorize(frame[what])
    first = np.unique(codes, return_index=True)[1]
    table = {}
    for column in columns:
        values = frame[column].mask(frame[column].isin([""]))
        kinds = pd.factorize(values)[0]  # -1 where missing
        differ = np.flatnonzero(kinds != kinds[first][codes])
        if len(differ):
            one, other = values.iloc[first[codes[differ[0]]]], values.iloc[differ[0]]
            raise DataError(
                f"{where}, column {column!r}: {what} {frame[what].iloc[differ[0]]!r} has several values, {one!r} and "
                f"{other!r}. The column is about {what}s, so that all rows of one must have the same; rename it, or "
                "leave it out, if it is about something else."
            )
        table[column] = values.iloc[first].to_numpy()
    return pd.DataFrame(table, index=pd.Index(names, name=what))


def _attribute_columns(columns: Iterable[str], path: Path) -> list[tuple[str, str]]:
    known = [name for name in map(str, columns) if name in USUAL or name.startswith(PREFIX)]
    found = [(name.removeprefix(PREFIX), name) for name in known]
    names = [name for name, _ in found]
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise DataError(f"{path}: two columns {twice[0]!r} and {PREFIX + twice[0]!r} for one attribute; leave one out.")
    return found


def label_intents(intents: pd.Index, intent_info: pd.DataFrame | None, labels: object, what: str) -> pd.Series:
    """Return the group of each intent, from an attribute or from given labels.

    Examples
    --------
    >>> label_intents(pd.Index(["40001001", "41001001"]), None, "book", "groups").tolist()
    ['40', '41']
    """
    found = _labels(intents, intent_info, labels, what)
    unusable = [label for label in found.tolist() if not isinstance(label, str | Hashable)]
    if unusable:
        raise ConfigError(f"{what} are named by text or numbers, not by {listing(unusable)}.")
    missing = found.index[found.isna()]
    if len(missing):
        raise DataError(
            f"{len(missing):,} of {len(intents):,} intents have no {ONE[what]} ({found.name}): {listing(missing)}. "
            "Give each one, or leave these intents out."
        )
    return found


def _labels(intents: pd.Index, intent_info: pd.DataFrame | None, labels: object, what: str) -> pd.Series:
    if isinstance(labels, str):
        return _column(intents, intent_info, labels, what)
    if not isinstance(labels, Mapping | pd.Series):
        raise ConfigError(
            f"{option(what)} must be a column of {option('intent_info')}, or a mapping or a Series from intent to "
            f"{ONE[what]}, not {type(labels).__name__}."
        )
    given = pd.Series(labels, dtype=object)
    if given.index.equals(intents) and given.index.is_unique:
        return given.rename(ONE[what] if given.name is None else str(given.name))
    twice = given.index[given.index.duplicated()].unique().intersection(intents, sort=False)
    if len(twice):
        raise DataError(f"{what}: {len(twice):,} intent(s) have several: {listing(twice)}. Give each one.")
    if not given.index.isin(intents).any():
        raise DataError(
            f"{what} are of other intents: {listing(given.index, most=2)}, and the table has "
            f"{listing(intents, most=2)}. Give a Series indexed by intent."
        )
    return given.reindex(intents).rename(ONE[what] if given.name is None else str(given.name))


def _column(intents: pd.Index, intent_info: pd.DataFrame | None, name: str, what: str) -> pd.Series:
    """Return an attribute of intents, or the book or chapter given by verse ids."""
    if intent_info is not None and name in intent_info:
        return intent_info[name].astype(object)
    names = intents.tolist()
    are_verses = all(isinstance(intent, str) and _VERSE_ID.fullmatch(intent) for intent in names)
    if are_verses and name in _DIGITS:
        return pd.Series([intent[: _DIGITS[name]] for intent in names], index=intents, name=name, dtype=object)
    known = [*([] if intent_info is None else intent_info.columns), *(_DIGITS if are_verses else ())]
    raise UnknownColumnError(f"{option(what, name)}: {_without_column(known, what)}")


def _without_column(known: Sequence[str], what: str) -> str:
    """Return the message on a column that is missing, with the columns that there are and what to do."""
    there = f"There are {listing(dict.fromkeys(known))}" if known else "There is none"
    adding = "" if what == "groups" else "`Surprisals.with_intent_info` adds columns, and "  # groups are of a multitext
    table, name_one = option("intent_info"), "name one of them" if known else ""
    if table != "intent_info":  # the command has the option
        choices = " or ".join(
            filter(None, [name_one and f"{name_one},", f"give a table of intents that has it as {table}"])
        )
        command = f"{table} has no such column. {there}; {choices}."
    else:
        long = " Long tables of surprisals may have columns intent_NAME." if option("unit") != "unit" else ""
        command = f"no such column about intents. {there}; {f'{name_one}.' if known else IN_CORPORA}{long}"
    python = f"intent_info has no such column. {there}; {adding}a Series from intent to {ONE[what]} serves as well."
    return words(python=python, command=command)
