"""JSON Lines: one object per line, which is a row; see `langdiff.corpora.formats.records`."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from langdiff.base.archives import File
from langdiff.base.io import read_lines, strict_json
from langdiff.corpora.edition_info import FILE_NAME
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import suffixes_of
from langdiff.corpora.formats.format import Format, begins_with, write_files
from langdiff.corpora.formats.records import Columns, RecordsText, Row, catalogue_records, files_to_write, records
from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext

SUFFIXES = suffixes_of(".jsonl", ".ndjson")


@dataclass(frozen=True)
class JsonlText(RecordsText):
    """Source of the texts of one edition in JSON Lines."""

    def columns(self, file: File) -> Columns:
        """Return the names of the columns of all rows, of which the last may have a language that no other has."""
        columns: dict[str, dict[str, None]] = {}
        for row in self.rows(file, Faults("skip"), only=False):
            for name, value in (row.cells or {}).items():
                columns.setdefault(name, {}).update(dict.fromkeys(value if isinstance(value, dict) else ()))
        if not columns:
            raise DataError(f"{file}: none of its lines is an object in JSON.")
        return {name: tuple(inside) for name, inside in columns.items()}

    def rows(self, file: File, faults: Faults, *, only: bool) -> Iterator[Row]:
        """Yield the rows of a file; lines that are not objects are faults."""
        damaged: dict[int, str] = {}
        for number, line in read_lines(file, errors=self.decode_errors, on_fault=damaged.__setitem__):
            if not line.strip() and number not in damaged:
                continue
            if only and number not in damaged and "\\" not in line and not all(one in line for one in self.values):
                continue  # of another edition
            cells: object = None
            what = damaged.pop(number, None)
            if what is None:
                try:
                    cells = strict_json(line)
                    what = None if isinstance(cells, dict) else "this line is not an object in JSON."
                except ValueError as error:
                    what = f"this line is not an object in JSON: {error}."
            if what is not None:
                faults.add(file, number, what)
            yield Row(number, cells if isinstance(cells, dict) else None)


def write(multitext: Multitext, directory: Path) -> list[Path]:
    """Write one file per edition; see `langdiff.write_multitext`."""
    files, about = files_to_write(multitext, directory, SUFFIXES, ".jsonl")

    def content(edition: str) -> str:
        columns = records(multitext, edition)
        rows = (dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True))
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)

    contents = ((file, content(edition)) for edition, file in files.items())
    return write_files(directory, (*contents, (FILE_NAME, about)))


FORMAT = Format(
    name="jsonl",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_records, suffixes=SUFFIXES, source=JsonlText),
    options=("columns", "split"),
    beginning=begins_with(r"\{[^\n]*\}[^\S\n]*(?:\n|\Z)"),
    named=True,
    write=write,
)
