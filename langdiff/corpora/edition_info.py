"""What is known of editions: from a CSV file or frame, from headers of files, from names."""

import csv
import io
import re
from collections.abc import Hashable, Iterable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff._archives import File
from langdiff._io import read_table
from langdiff.corpora.files import language_of
from langdiff.errors import DataError, listing

FILE_NAME = "metadata.csv"
EditionInfo = pd.DataFrame | pd.Series | Mapping[str, str]  # where only languages are needed; see `languages_of`
_RESERVED = ("file", "edition", "iso639_3")


def find_edition_info(files: Mapping[str, File], edition_info: str | Path | pd.DataFrame | None) -> pd.DataFrame:
    """Return what a CSV file or a frame says of the editions.

    Parameters
    ----------
    files : mapping from edition to Path or Member
        The editions and their files.
    edition_info : str, Path or DataFrame, optional
        The CSV file, or a frame indexed by edition; by default ``metadata.csv`` in each file's folder, where there
        is one.

    Returns
    -------
    DataFrame
        Rows of the editions that are known, in the order of the CSV file or frame. From a CSV file, cells are str,
        NaN where empty; the column ``language`` is the file's ``iso639_3``, if it has one, and then
        ``language_name`` its ``language``.

    Raises
    ------
    DataError
        If the CSV file cannot be read or has neither column ``file`` nor ``edition``, or if an edition is there
        twice, or none is there although `edition_info` was given.
    """
    if edition_info is None:
        tables = [
            _read(folder / FILE_NAME, {edition: file for edition, file in files.items() if file.parent == folder})
            for folder in dict.fromkeys(file.parent for file in files.values())
            if (folder / FILE_NAME).is_file()
        ]
        return pd.concat(tables) if tables else pd.DataFrame(index=pd.Index([], dtype=object))
    if isinstance(edition_info, pd.DataFrame):
        twice = edition_info.index[edition_info.index.duplicated()]
        if len(twice):
            raise DataError(f"edition_info has several rows for {listing(twice)}; give one.")
        what, table = "edition_info", edition_info.loc[edition_info.index.isin(files)]
        advice = "Its index must hold names of editions."
    else:
        what, table = str(edition_info), _read(Path(edition_info).expanduser(), files)
        advice = "Its column 'file' holds names of files, its column 'edition' names of editions."
    if not len(table):
        raise DataError(f"{what}: no row is about any of the {len(files)} editions read, {listing(files)}. {advice}")
    return table


def edition_info_of(
    editions: Iterable[str], known: pd.DataFrame, headers: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Join what is known of editions, what headers say and what names say; where they differ, the first one counts.

    Parameters
    ----------
    editions : iterable of str
        Rows of the result.
    known : DataFrame
        Table of editions, as `find_edition_info` returns it.
    headers : mapping from edition to mapping
        For each edition, column to value, from the header of its file.

    Returns
    -------
    DataFrame
        One row per edition; the first column is ``language``, NaN where nothing says it.
    """
    rows = pd.Index(list(editions), name="edition")
    info = known.reindex(rows).astype(object)
    above = pd.DataFrame.from_dict(dict(headers), orient="index").reindex(rows)
    for column in above:
        info[column] = info[column].fillna(above[column]) if column in info else above[column]
    info = with_language(info).astype(object)
    return info.where(info.notna(), np.nan)


def with_language(info: pd.DataFrame) -> pd.DataFrame:
    """Put the column ``language`` first and fill it, where it is missing, from the editions' names.

    Parameters
    ----------
    info : DataFrame
        Information on editions, indexed by edition; it is not changed.

    Returns
    -------
    DataFrame
        The column is NaN or None where nothing is known.
    """
    info = info.copy()
    named = pd.Series([language_of(str(edition)) for edition in info.index], index=info.index, dtype=object)
    language = info.pop("language").astype(object).fillna(named) if "language" in info else named
    info.insert(0, "language", language)
    return info


def languages_of(edition_info: EditionInfo | None, editions: pd.Index) -> dict[str, str]:
    """Return the languages that a caller gives for some editions.

    Parameters
    ----------
    edition_info : DataFrame, Series or mapping, optional
        A frame indexed by edition with a column ``language``, which may have more editions, or the languages of some
        of the editions.
    editions : Index
        The editions there are.

    Returns
    -------
    dict from edition to language
        Editions whose language is missing are left out.

    Raises
    ------
    DataError
        If a frame has no column ``language``, or another table names an unknown edition.

    Examples
    --------
    >>> languages_of(pd.Series({"Vulgate": "lat"}), pd.Index(["Vulgate", "Luther"]))
    {'Vulgate': 'lat'}
    """
    if isinstance(edition_info, pd.DataFrame):
        if "language" not in edition_info:
            raise DataError(f"edition_info needs a column 'language', has {listing(edition_info.columns)}.")
        edition_info = edition_info["language"][edition_info.index.isin(editions)]
    given = {} if edition_info is None else {str(e): code for e, code in edition_info.items() if pd.notna(code)}
    unknown = [edition for edition in given if edition not in editions]
    if unknown:
        raise DataError(f"edition_info: {len(unknown)} unknown edition(s): {listing(unknown)}.")
    return given


def edition_info_csv(edition_info: pd.DataFrame, files: Mapping[str, str]) -> str:
    """Format the CSV file that `find_edition_info` reads.

    Parameters
    ----------
    edition_info : DataFrame
        Information on editions, indexed by edition; the column ``path`` is left out.
    files : mapping from edition to str
        Name of the file of each edition.

    Returns
    -------
    str
        The file's content.

    Raises
    ------
    DataError
        If a column of `edition_info` has a name that means something else in the file, or a value
        holds NUL or half a surrogate pair.
    """
    taken = [column for column in _RESERVED if column in edition_info]
    if taken:
        raise DataError(f"edition_info has column(s) {listing(taken)}, reserved in {FILE_NAME}. Rename them.")
    table = edition_info.drop(columns="path", errors="ignore")
    renamed: dict[Hashable, str] = {"language": "iso639_3", "language_name": "language"}
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")  # quotes cells with either of the two
    writer.writerow(["file", *(renamed.get(column, column) for column in table)])
    for edition, row in zip(table.index, table.astype(object).where(table.notna(), "").to_numpy(), strict=True):
        writer.writerow([files[edition], *row])
    text = stream.getvalue()
    if unwritable := re.search(r"[\0\ud800-\udfff]", text):
        line = text.count("\n", 0, unwritable.start()) + 1
        raise DataError(f"edition_info: a value holds {unwritable[0]!r} (line {line} of {FILE_NAME}); take it out.")
    return text


def _read(path: Path, files: Mapping[str, File]) -> pd.DataFrame:
    header, rows = read_table(path)
    key = next((name for name in ("file", "edition") if name in header), None)
    if key is None:
        raise DataError(
            f"{path}: needs a column 'file' or 'edition', has {listing(header)}. If it is about something "
            "else, pass the right file as edition_info=."
        )
    editions_of: dict[str, list[str]] = {}  # a file may hold several
    for edition, file in files.items():
        editions_of.setdefault(file.name if key == "file" else edition, []).append(edition)
    position = header.index(key)
    known: dict[str, dict[str, str]] = {}
    lines: dict[str, int] = {}
    for line, row in rows:
        name = row[position]
        if lines.setdefault(name, line) != line:
            raise DataError(f"{path}, lines {lines[name]} and {line}: {name!r} is there twice.")
        cells = {column: cell for column, cell in zip(header, row, strict=True) if cell}
        known |= dict.fromkeys(editions_of.get(name, ()), cells)
    table = pd.DataFrame(list(known.values()), index=list(known), columns=header, dtype=object)
    table = table.drop(columns=key)
    if "iso639_3" in table:
        if {"language", "language_name"} <= set(table):
            raise DataError(f"{path}: beside 'iso639_3', give the name as 'language' or 'language_name', not both.")
        table = table.rename(columns={"language": "language_name"}).rename(columns={"iso639_3": "language"})
    return table
