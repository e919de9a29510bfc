"""Files of tables: CSV, TSV and Parquet, with the record of provenance in them or beside them."""

import csv
import re
import warnings
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.control_characters import check_names
from langdiff.base.csv_cells import guarded
from langdiff.base.io import atomic_path, read_lines, read_table, write_text
from langdiff.base.numbers import exact_numbers
from langdiff.errors import ConfigError, DataError, LangdiffWarning, OutputError
from langdiff.tables.intent_info import PREFIX
from langdiff.tables.provenance import Record, from_document

_METADATA = b"langdiff.provenance"  # of a Parquet file
_INDEX = re.compile("__index_level_[0-9]+__")  # a column that pandas adds, of rows without names


def table_kind(path: Path) -> str:
    """Return ``","``, a tab or ``"parquet"``, by the ending of a name.

    Raises
    ------
    ConfigError
        If the name does not end in .csv, .tsv or .parquet.
    """
    kinds = {".csv": ",", ".tsv": "\t", ".parquet": "parquet"}
    if path.suffix not in kinds:
        raise ConfigError(f"{path}: unknown kind of table {path.suffix!r}; use .csv, .tsv or .parquet.")
    return kinds[path.suffix]


def write_table_file(frame: pd.DataFrame, path: Path, record: str | None = None) -> None:
    """Write a long table in the format that its name says, and the record of its provenance.

    Raises
    ------
    ConfigError
        If the name has another ending.
    OutputError
        If a file cannot be written.
    """
    with atomic_path(path) as temporary:
        match table_kind(path):
            case "parquet":
                _write_parquet(frame, temporary, record)
            case separator:
                guarded(frame).to_csv(temporary, index=False, sep=separator, quoting=_quoting(frame))
    if path.suffix != ".parquet":
        _write_beside(path, record)


def read_table_file(path: Path) -> pd.DataFrame:
    """Read a table; of CSV and TSV all cells are text, indexed by line.

    Raises
    ------
    DataError
        If it cannot be read as a table.
    ConfigError
        If the name has another ending.
    """
    kind = table_kind(path)
    if kind == "parquet":
        try:
            frame = _read_parquet(path)
        except Exception as error:  # of a damaged file pyarrow and pandas raise errors of any class
            raise DataError(f"{path}: cannot be read as a table: {str(error) or type(error).__name__}") from error
        check_names(frame, "column", str(path))
        return frame
    header, rows = read_table(path, separator_of(path, kind))  # names such as "nan" (Min Nan) are not missing values
    lines = pd.Index([line for line, _ in rows], dtype=int)
    return pd.DataFrame([cells for _, cells in rows], index=lines, columns=header, dtype=object)


def separator_of(path: File, kind: str) -> str:
    """Return what separates the cells of a CSV file: a semicolon, if its first line has some and no comma."""
    try:
        header = next((line for _, line in read_lines(path, errors="replace")), "")
    except DataError:
        return kind  # an error where the file is read
    return ";" if kind == "," and ";" in header and "," not in header else kind


def read_record(path: Path) -> Record | None:
    """Return the record of the provenance of a table; warn, and return None, if it is damaged."""
    where = str(place_of_record(path))
    try:
        if path.suffix == ".parquet":
            from pyarrow import parquet

            text = (parquet.read_schema(path).metadata or {}).get(_METADATA)
        else:
            text = _beside(path).read_bytes() if _beside(path).is_file() else None
        return None if text is None else from_document(text, where)
    except (DataError, OSError) as error:
        reason = f"{where}: {error.strerror or error}." if isinstance(error, OSError) else str(error)
        warnings.warn(f"the provenance of {path} is not known. {reason}", LangdiffWarning, stacklevel=4)
        return None


def numbers_of(column: pd.Series, path: Path) -> pd.Series:
    """Turn the cells of a column into numbers; an empty one, NA or NaN is missing.

    Commas are taken as decimal commas if no cell has a point and some comma is not before exactly three digits.

    Raises
    ------
    DataError
        If a cell is something else; the message names line and column.
    """
    missing = column.isna()
    if not pd.api.types.is_numeric_dtype(column):
        missing |= column.isin(["", "NA", "NaN", "nan"])
        text = column[~missing].astype(str)
        commas = text.str.contains(",", regex=False)
        if commas.any() and not text.str.contains(".", regex=False).any():
            if not text[commas].str.fullmatch(r"[+-]?\d{1,3}(,\d{3})+").all():
                column = column.astype(object).mask(~missing, column.astype(str).str.replace(",", ".", regex=False))
            else:
                first = text.index[int(commas.to_numpy().argmax())]
                raise DataError(
                    f"{path}, line {first}, column {column.name!r}: {text[first]!r} has either a decimal comma or a "
                    "comma between thousands. Write a decimal point, or no comma."
                )
    numbers = exact_numbers(column.mask(missing)).astype(float)
    bad = numbers.isna() & ~missing
    if bad.any():
        first = int(np.flatnonzero(bad)[0])
        raise DataError(
            f"{path}, line {column.index[first]}, column {column.name!r}: {column.iloc[first]!r} is not a number. "
            "Leave the cell empty for a missing translation."
        )
    return numbers


def _quoting(frame: pd.DataFrame) -> Literal[0, 2]:
    """Return how to quote text: where needed, but all of it if some holds a carriage return, which ends a line."""
    texts = (frame[name].unique() for name in frame if not pd.api.types.is_numeric_dtype(frame[name]))
    has_return = any("\r" in str(text) for column in texts for text in column)
    return csv.QUOTE_NONNUMERIC if has_return else csv.QUOTE_MINIMAL


def place_of_record(path: Path) -> Path:
    """Return the file that holds the record of a table: the table itself, or a file beside it."""
    return path if path.suffix == ".parquet" else _beside(path)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.provenance.json")


def _read_parquet(path: Path) -> pd.DataFrame:
    """Read the columns that the file itself describes, not those of the notes that pandas left in it.

    A flipped bit in these notes renames a column, or is an error deep within pandas.
    """
    from pyarrow import parquet  # slow to import

    frame: pd.DataFrame = parquet.read_table(path, page_checksum_verification=True).to_pandas(ignore_metadata=True)
    return frame.drop(columns=[name for name in frame if _INDEX.fullmatch(str(name))])


def _write_parquet(frame: pd.DataFrame, path: Path, record: str | None) -> None:
    import pyarrow as pa  # slow to import
    from pyarrow import parquet

    for name in frame.columns[frame.columns.str.startswith(PREFIX)]:
        if pd.api.types.infer_dtype(frame[name]).startswith("mixed"):  # a column of Parquet has one type
            frame[name] = frame[name].map(str, na_action="ignore")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    if record is not None:
        table = table.replace_schema_metadata({**(table.schema.metadata or {}), _METADATA: record.encode()})
    parquet.write_table(table, path, write_page_checksum=True)  # a flipped bit is an error, not another number


def _write_beside(path: Path, record: str | None) -> None:
    """Write the record beside a table of text, or remove that of the table that was there before."""
    if record is not None:
        write_text(_beside(path), record)
        return
    try:
        _beside(path).unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"{_beside(path)}: cannot be removed: {error.strerror or error}.") from error
