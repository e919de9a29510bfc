"""Tables of texts, such as spreadsheets: one row per intent, with its id in the first column, and a column per edition.

The first line names the columns. Cells are separated by commas or semicolons (``.csv``) or by tabs (``.tsv``), and
one that holds a separator, a quotation mark or a line break is in quotation marks. An empty cell is a missing text.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import ESCAPED, SAVE_AS, read_table
from langdiff.corpora.edition_info import FILE_NAME
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import files_in, keep, suffixes_of
from langdiff.corpora.formats.format import Format, FormatText, Reading
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.long_tables import separator_of
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".csv", ".tsv")
_NUMBER = re.compile(r"\s*([-+]?[.,]?\d[\d.,]*([eE][-+]?\d+)?|NA|NaN|nan)\s*")  # or a missing one


@dataclass(frozen=True)
class TableText(FormatText):
    """Source of the texts of one column, read on demand.

    Attributes
    ----------
    file : Path or Member
        The table.
    edition : str
        Name of the column.
    """

    file: File
    edition: str

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the nonempty cells."""
        _, texts = read_texts(self.file, self.decode_errors, faults)
        if self.edition not in texts:
            raise DataError(f"{self.file}: column {self.edition!r} is gone. The file has changed; read it again.")
        yield from texts[self.edition].items()


def read_texts(file: File, errors: str, faults: Faults) -> tuple[list[str], dict[str, dict[str, str]]]:
    """Return the intents, and the nonempty texts of each edition by intent.

    Cells with NUL or bytes that are not UTF-8, rows without id or with more or fewer cells than the first, and all rows
    of an id that is there twice are added to `faults` and left out.
    """
    header, rows = read_table(
        file,
        separator_of(file, "\t" if ".tsv" in file.name.lower() else ","),
        errors="surrogateescape" if errors == "strict" else errors,
        guarded=False,
        on_fault=lambda line, what: faults.add(file, line, what),
    )
    _check(header, f"{file}, line 1")
    found: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    for line, (intent, *cells) in rows:
        if not intent.strip():
            if any(cell.strip() for cell in cells):
                faults.add(file, line, f"column {header[0]!r}: the id of this row is missing.")
        elif what := _damage(intent):
            faults.add(file, line, f"column {header[0]!r}: {what}")
        elif lines.setdefault(intent, line) == line:
            found[intent] = cells
        else:
            what = f"column {header[0]!r}: {intent!r} is there twice, first in line {lines[intent]}; neither is used."
            faults.add(file, line, what, intent=intent)
            found.pop(intent, None)
    for intent, cells in found.items():
        for place, edition in enumerate(header[1:]):
            if what := _damage(cells[place]):
                what = f"column {edition!r}: {what}"
                faults.add(file, lines[intent], what, intent=intent, edition=edition)
                cells[place] = ""
    return list(found), {
        edition: {intent: cells[place] for intent, cells in found.items() if cells[place].strip()}
        for place, edition in enumerate(header[1:])
    }


def _damage(cell: str) -> str | None:
    """Return the fault of a cell that is not text; None if it is text."""
    if "\0" in cell:
        return "a NUL byte."
    return f"not UTF-8. {SAVE_AS}" if ESCAPED.search(cell) else None


def _check(header: list[str], where: str) -> None:
    """Check that the first line of a table has names of columns, and that the table has texts by column."""
    if len(header) < 2:
        raise DataError(
            f"{where}: names one column only, {header[0]!r:.40}; the first column has ids, each other the texts of an "
            "edition. Cells are separated by commas or semicolons in .csv, by tabs in .tsv."
        )
    if _NUMBER.fullmatch(header[0]):
        raise DataError(f"{where}: begins with {header[0]!r}, a number; the first line must name the columns.")
    if unnamed := [place for place, name in enumerate(header, start=1) if place > 1 and not name.strip()]:
        raise DataError(f"{where}: column {unnamed[0]} has no name; name its edition, or delete the column.")
    if {"intent", "edition"} <= {*header}:
        raise DataError(
            f"{where}: has columns 'intent' and 'edition', as a table with one row per cell; texts need one column per "
            "edition. Surprisals are read by `langdiff fit`."
        )


def catalogue(reading: Reading) -> Multitext:
    """Catalogue the columns of a table."""
    if isinstance(reading.path, Mapping):
        raise ConfigError("path: a table has all editions, one per column; give its file, not one per edition.")
    files = [file for file in files_in(reading.path, SUFFIXES) if file.name != FILE_NAME]
    if len(files) != 1:
        found = f" ({listing(str(file) for file in files)})" if files else ""
        raise DataError(f"{reading.path}: {len(files)} tables{found}; give one file, which has all editions.")
    intents, texts = read_texts(files[0], reading.decode_errors, reading.faults)
    texts_of = {}
    for edition, file in keep(dict.fromkeys(texts, files[0]), reading.editions).items():
        with reading.faults.of(edition, file):
            if texts[edition] and all(map(_NUMBER.fullmatch, texts[edition].values())):
                raise DataError(
                    f"{file}, line 1: column {edition!r} holds nothing but numbers. Surprisals are read by `langdiff "
                    f"fit`; of a table of texts with other columns, name the editions to read ({option('editions')})."
                )
            texts_of[edition] = TableText(file, edition, **reading.how), file, texts[edition]
    if not texts_of:
        reading.faults.check()
    return reading.multitext(texts_of, pd.DataFrame(index=intents))


def _is_one_table(files: Sequence[File]) -> bool:
    """Return whether there is one table, apart from attributes of editions; several may be line-aligned texts."""
    tables = [file for file in files if file.name != FILE_NAME]
    return len(tables) == 1 and tables[0].name.lower().endswith(SUFFIXES)


FORMAT = Format(
    name="table",
    suffixes=SUFFIXES,
    catalogue=catalogue,
    beside=_is_one_table,
)
