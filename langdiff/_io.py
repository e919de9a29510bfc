"""Reading text whatever its compression, and writing files so that none is ever half-written."""

import csv
import json
import lzma
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from langdiff._archives import File, open_bytes
from langdiff.errors import DataError, OutputError

LOCK = ".lock"
RELEASED_BY = 1.0  # seconds; whoever only asks whether a folder is owned holds its lock for less

MAX_LINE = 64 << 20  # bytes; a longer line is not text, and would have to be held in memory


def read_lines(path: File, *, errors: str = "strict") -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end), decoding UTF-8 and undoing compression.

    Parameters
    ----------
    path : Path or Member
        Plain, ``.gz``, ``.bz2`` or ``.xz`` text, or such a member of a zip archive.
    errors : str
        ``"strict"`` or ``"replace"``, as for ``bytes.decode``.

    Raises
    ------
    DataError
        If the file cannot be read, is damaged, holds NUL bytes (it is binary), is not UTF-8, expands
        to more than a hundred times its size (and 64 MiB) or has a line of more than 64 MiB; the
        message names file, line and byte.
    """
    number = size = 0
    try:
        with open_bytes(path) as (stream, allowed):
            while raw := stream.readline(MAX_LINE + 1):  # only \n ends a line
                number += 1
                size += len(raw)
                if len(raw) > MAX_LINE:
                    raise DataError(
                        f"{path}, line {number}: longer than {MAX_LINE >> 20} MiB; this is not text in lines."
                    )
                if allowed is not None and size > allowed:
                    raise DataError(
                        f"{path}, line {number}: expands to more than {allowed:,} bytes, a hundred times its size; "
                        "it may be made to fill memory or disk. If you trust it, decompress it yourself."
                    )
                if b"\0" in raw:
                    raise DataError(
                        f"{path}, line {number}: a NUL byte; this is a binary file or UTF-16, not text in UTF-8."
                    )
                if number == 1:
                    raw = raw.removeprefix(b"\xef\xbb\xbf")  # byte order mark
                yield number, _decode(raw, path, number, errors)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise DataError(f"{path}: cannot be read after line {number}: {reason}.") from error
    except (KeyError, MemoryError, NotImplementedError, RuntimeError) as error:
        # zipfile: gone, compressed in a way or with a password that it cannot undo; lzma: wants gigabytes
        raise DataError(f"{path}: cannot be read after line {number}: {error or 'not enough memory'}.") from error


def _decode(raw: bytes, path: File, number: int, errors: str) -> str:
    try:
        return raw.decode("utf-8", errors).rstrip("\r\n")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}, byte {error.start + 1}: not UTF-8 (0x{raw[error.start]:02x}). "
            "Convert the file, or pass errors='replace' to read it with U+FFFD in such places."
        ) from error


def read_table(path: Path, delimiter: str = ",") -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header of a table and its rows as (line number, cells), all as text.

    Raises
    ------
    DataError
        If the file cannot be read, two columns have one name, or a row has more or fewer cells
        than the header; the message names the line.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream, delimiter=delimiter, strict=True)
            header = next(reader, [])
            rows = [(reader.line_num, row) for row in reader if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read as a table: {getattr(error, 'strerror', None) or error}.") from error
    if not header:
        raise DataError(f"{path}: cannot be read as a table: its first line is empty.")
    if len(set(header)) < len(header):
        raise DataError(f"{path}, line 1: two columns have the same name: {', '.join(header)}.")
    for line, row in rows:
        if len(row) != len(header):
            raise DataError(f"{path}, line {line}: {len(row)} cells, but line 1 names {len(header)} columns.")
    return header, rows


class LockedError(OutputError):
    """Another process owns a folder."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give a temporary name beside `path`; rename it to `path` if the block succeeds, else remove it.

    Raises
    ------
    OutputError
        If the folder cannot be made or written to, or the disk is full.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise OutputError(f"{path}: cannot be written: {error.strerror or error}.") from error
    finally:
        with suppress(OSError):  # gone already, or its folder never was
            temporary.unlink()


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically; see `atomic_path`."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; see `atomic_path`."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


@contextmanager
def locked(folder: Path, use: str) -> Iterator[None]:
    """Make a folder if it is missing, and keep other processes out of it inside the block.

    Parameters
    ----------
    folder : Path
        Folder to own.
    use : str
        What another process does with it, and what to do then, for the error.

    Raises
    ------
    LockedError
        If another process owns the folder.
    OutputError
        If the folder cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=RELEASED_BY)
    except Timeout as error:
        raise LockedError(f"{folder}: another process is {use}") from error
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written: {error.strerror or error}.") from error
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Return whether a process owns a folder; False where this process may not ask."""
    if not (folder / LOCK).is_file():
        return False
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    except OSError:
        return False
    lock.release()
    return False
