"""Tables of documents: the document of each intent of line-aligned text, in a file next to the texts.

``documents.tsv`` (or ``segments.tsv``; plain or compressed) has a line of tab-separated names, then one line per
intent. Of its columns, those named ``session``, ``document``, ``book``, ``chapter``, ``turn`` and ``speaker`` are
read. Where there are a session and a chapter but no document, as in Europarl, chapters are counted anew in each
session, and speakers in each chapter: the document is then SESSION.CHAPTER, the turn SESSION.CHAPTER.SPEAKER.
"""

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.corpora.files import suffixes_of
from langdiff.errors import DataError, listing, option

COLUMNS = ("session", "document", "book", "chapter", "turn", "speaker")
NAMES = ("documents", "segments")
SUFFIXES = suffixes_of(".tsv")
_UNWRITABLE = re.compile("[\t\n\r\0\ud800-\udfff]")


def find_documents(files: Iterable[File]) -> File | None:
    """Return the path of the table of documents in the folder of one of the files; None without one."""
    for folder in dict.fromkeys(file.parent for file in files):
        for name in NAMES:
            for suffix in SUFFIXES:
                if (folder / f"{name}{suffix}").is_file():
                    return folder / f"{name}{suffix}"
    return None


def read_documents(file: File | None, intents: Sequence[str]) -> pd.DataFrame:
    """Read the attributes of intents from a table of documents.

    Parameters
    ----------
    file : File or None
        The table; None if there is none.
    intents : sequence of str
        Names of the intents, in the order of the lines.

    Returns
    -------
    DataFrame of str, I rows
        Columns as the module says, NaN where a cell is empty; no column if there is no table.

    Raises
    ------
    DataError
        If the table cannot be read, has none of the columns, or another number of lines than there are intents.
    """
    if file is None:
        return pd.DataFrame(index=list(intents))
    header, *rows = [line.split("\t") for _, line in read_lines(file)] or [[]]
    known = [name for name in COLUMNS if name in header]
    if not known:
        raise DataError(
            f"{file}: none of the columns {listing(COLUMNS, most=len(COLUMNS))} in its first line, which has "
            f"{listing(header)}. Name them there, or rename the file if it is about something else."
        )
    if len(rows) != len(intents):
        raise DataError(
            f"{file} has {len(rows):,} lines after the first for {len(intents):,} intents: line k + 1 must be about "
            "line k of the texts."
        )
    uneven = next((number for number, row in enumerate(rows, start=2) if len(row) != len(header)), None)
    if uneven is not None:
        raise DataError(
            f"{file}, line {uneven}: {len(rows[uneven - 2])} cells, but line 1 names {len(header)} columns."
        )
    table = pd.DataFrame(rows, columns=header, index=list(intents), dtype=object)[known]
    return _with_unique_names(table.mask(table == "", np.nan))


def _with_unique_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return the attributes with names of documents and turns that include their session and chapter."""
    if not {"session", "chapter"} <= set(table) or "document" in table:
        return table
    document = table["session"] + "." + table["chapter"]
    columns = {"session": table["session"], "document": document}
    if "speaker" in table:
        columns["turn"] = document + "." + table["speaker"]
    return pd.DataFrame(columns)


def documents_tsv(intent_info: pd.DataFrame) -> dict[str, str]:
    """Return name and content of the table that `read_documents` reads; an empty mapping if no attribute belongs in it.

    Raises
    ------
    DataError
        If a value holds a tab or a line break.
    """
    known = [name for name in COLUMNS if name in intent_info]
    if not known:
        return {}
    table = intent_info[known].astype(object)
    lines = [known]
    for intent, row in zip(table.index, table.where(table.notna(), "").to_numpy(), strict=True):
        lines.append([str(value) for value in row])
        bad = [value for value in lines[-1] if _UNWRITABLE.search(value)]
        if bad:
            raise DataError(
                f"{option('intent_info')}: {bad[0]!r} of intent {intent!r} holds a tab, a line break or another "
                "character that cannot stand in a table. Rename it."
            )
    return {f"{NAMES[0]}.tsv": "".join("\t".join(line) + "\n" for line in lines)}
