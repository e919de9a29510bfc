"""What is known of editions: a CSV file beside the texts, their header lines, their names."""

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
_RESERVED = ("file", "edition", "iso639_3")


def find_metadata(files: Mapping[str, File], metadata: str | Path | None) -> pd.DataFrame:
    """Read what a CSV file says of the editions.

    Parameters
    ----------
    files : mapping from edition to Path or Member
        The editions and their files.
    metadata : str or Path, optional
        The CSV file; by default ``metadata.csv`` in each file's folder, where there is one.

    Returns
    -------
    DataFrame of str
        Rows of the editions that the CSV file knows, in its order; NaN where a cell is empty. The
        column ``language`` is the CSV's ``iso639_3``, if it has one, and then ``language_name`` its
        ``language``.

    Raises
    ------
    DataError
        If the file cannot be read, has neither column ``file`` nor ``edition``, names an edition
        twice, or was given and knows none of the editions.
    """
    if metadata is not None:
        table = _read(Path(metadata).expanduser(), files)
        if not len(table):
            raise DataError(
                f"{metadata}: no row is about any of the {len(files)} editions read, {listing(files)}. "
                "Its column 'file' holds names of files, its column 'edition' names of editions."
            )
        return table
    tables = []
    for folder in dict.fromkeys(file.parent for file in files.values()):
        if (folder / FILE_NAME).is_file():
            tables.append(_read(folder / FILE_NAME, {e: file for e, file in files.items() if file.parent == folder}))
    return pd.concat(tables) if tables else pd.DataFrame(index=pd.Index([], dtype=object))


def edition_info_of(
    editions: Iterable[str], metadata: pd.DataFrame, headers: Mapping[str, Mapping[str, str]]
) -> pd.DataFrame:
    """Join what metadata, header lines and names say; where they differ, the first of these is believed.

    Parameters
    ----------
    editions : iterable of str
        Rows of the result.
    metadata : DataFrame
        As `find_metadata` gives it.
    headers : mapping from edition to mapping
        Column to value, from the header lines.
    """
    rows = pd.Index(list(editions), name="edition")
    info = metadata.reindex(rows).astype(object)
    above = pd.DataFrame.from_dict(dict(headers), orient="index").reindex(rows)
    for column in above:
        info[column] = info[column].fillna(above[column]) if column in info else above[column]
    named = pd.Series([language_of(edition) for edition in rows], index=rows, dtype=object)
    language = info.pop("language").fillna(named) if "language" in info else named
    info.insert(0, "language", language)
    return info.astype(object).where(info.notna(), np.nan)


def metadata_csv(edition_info: pd.DataFrame, files: Mapping[str, str]) -> str:
    """Format the CSV file that `find_metadata` reads.

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
            "else, pass the right file as metadata=."
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
