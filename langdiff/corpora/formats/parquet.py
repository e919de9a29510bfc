"""Parquet, and Arrow's own files and streams: one row per record; see `langdiff.corpora.formats.records`.

Only the columns that are needed are read, batch by batch.
"""

import io
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from langdiff.base.archives import MAX_RATIO, MAX_SMALL, File, open_bytes
from langdiff.base.io import UNREADABLE, atomic_path
from langdiff.corpora.edition_info import FILE_NAME
from langdiff.corpora.faults import Faults
from langdiff.corpora.formats.format import Format, begins_with
from langdiff.corpora.formats.records import Columns, RecordsText, Row, catalogue_records, files_to_write, records
from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext

SUFFIXES = (".parquet", ".arrow")
_BATCH = 8192  # rows
_MAX_ROWS = 100_000_000  # a file of a kilobyte can claim to have any number


@dataclass(frozen=True)
class ParquetText(RecordsText):
    """Source of the texts of one edition in Parquet or Arrow."""

    def columns(self, file: File) -> Columns:
        """Return the names of the columns."""
        with _opened(file) as opened:
            return {
                one.name: tuple(inside.name for inside in one.type) if _is_struct(one.type) else ()
                for one in opened.schema
            }

    def rows(self, file: File, faults: Faults, *, only: bool) -> Iterator[Row]:  # noqa: ARG002 (none in its lines)
        """Yield the rows of a file."""
        import pyarrow as pa  # slow to import
        import pyarrow.compute as pc

        number = 0
        with _opened(file) as opened:
            names = [name for name in self.layout.columns() if name in opened.schema.names]
            for batch in opened.batches(names):
                batch.validate(full=True)
                kept = range(batch.num_rows)
                if only:
                    same = [
                        pc.fill_null(pc.equal(batch.column(name).cast(pa.string()), value), False)
                        for name, value in zip(self.layout.editions, self.values, strict=True)
                    ]
                    mask = same[0]
                    for one in same[1:]:
                        mask = pc.and_(mask, one)
                    kept = pc.indices_nonzero(mask).to_pylist()
                    batch = batch.filter(mask)
                for place, cells in zip(kept, batch.to_pylist(), strict=True):
                    yield Row(number + place + 1, cells)
                number += len(mask) if only else batch.num_rows


class _Opened:
    """A file of either kind: its schema, and its batches."""

    def __init__(self, raw: Any, size: int, where: str) -> None:
        import pyarrow as pa  # slow to import
        from pyarrow import parquet

        self._most = max(MAX_SMALL, MAX_RATIO * size)
        self._where = where
        magic = raw.read(6)
        raw.seek(0)
        self._parquet = None
        if magic.startswith(b"PAR1"):
            self._parquet = parquet.ParquetFile(raw, page_checksum_verification=True)
            self.schema = self._parquet.schema_arrow
            about = self._parquet.metadata
            groups = [about.row_group(number).total_byte_size for number in range(about.num_row_groups)]
            self._check(sum(groups), about.num_rows)
        else:
            self._ipc = pa.ipc.open_file(raw) if magic == b"ARROW1" else pa.ipc.open_stream(raw)
            self.schema = self._ipc.schema

    def batches(self, names: list[str]) -> Iterator[Any]:
        """Yield the batches with the columns asked for."""
        if self._parquet is not None:
            parts = self._parquet.iter_batches(batch_size=_BATCH, columns=names)
        elif hasattr(self._ipc, "num_record_batches"):
            parts = (self._ipc.get_batch(number) for number in range(self._ipc.num_record_batches))
        else:
            parts = iter(self._ipc)
        size = rows = 0
        for batch in parts:
            size, rows = size + batch.nbytes, rows + batch.num_rows
            self._check(size, rows)
            yield batch.select(names)

    def _check(self, size: int, rows: int) -> None:
        if size > self._most or not 0 <= rows <= _MAX_ROWS:
            raise DataError(
                f"{self._where}: expands to more than {self._most:,} bytes or {_MAX_ROWS:,} rows, far more than texts "
                "of its size do; it may be made to fill memory."
            )


@contextmanager
def _opened(file: File) -> Iterator[_Opened]:
    import pyarrow as pa  # slow to import

    try:
        with open_bytes(file) as (stream, allowed):
            raw = stream if allowed is None else _unpacked(stream, allowed.size, file)
            raw.seek(0, io.SEEK_END)
            size = raw.tell()
            raw.seek(0)
            yield _Opened(raw, size, str(file))
    except DataError:
        raise
    except (pa.ArrowException, *UNREADABLE, ValueError, IndexError, OverflowError) as error:
        first = str(error).partition("\n")[0][:200]
        raise DataError(f"{file}: cannot be read as Parquet or Arrow: {first}.") from error


def _unpacked(stream: Any, most: int, file: File) -> io.BytesIO:
    raw = stream.read(most + 1)
    if len(raw) > most:
        raise DataError(f"{file}: expands to more than {most:,} bytes. If you trust it, unpack it yourself.")
    return io.BytesIO(raw)


def _is_struct(kind: Any) -> bool:
    import pyarrow as pa  # slow to import

    return bool(pa.types.is_struct(kind))


def write(multitext: Multitext, directory: Path) -> list[Path]:
    """Write one file per edition; see `langdiff.write_multitext`."""
    import pyarrow as pa  # slow to import
    from pyarrow import parquet

    files, about = files_to_write(multitext, directory, SUFFIXES, ".parquet")
    with ExitStack() as stack:  # renames all files once every one is complete
        for edition, name in files.items():
            columns = records(multitext, edition)
            table = pa.table({column: pa.array(cells, pa.string()) for column, cells in columns.items()})
            temporary = stack.enter_context(atomic_path(directory / name))
            parquet.write_table(table, temporary, compression="zstd", write_page_checksum=True)
        stack.enter_context(atomic_path(directory / FILE_NAME)).write_text(about, encoding="utf-8", newline="\n")
    return [directory / name for name in (*files.values(), FILE_NAME)]


FORMAT = Format(
    name="parquet",
    suffixes=SUFFIXES,
    catalogue=partial(catalogue_records, suffixes=SUFFIXES, source=ParquetText),
    options=("columns", "split"),
    beginning=begins_with("PAR1|ARROW1|\ufdd0"),  # or a stream, which begins with bytes that are not text
    named=True,
    write=write,
)
