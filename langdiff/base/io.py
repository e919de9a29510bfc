"""Reading of text, compressed or not, and atomic writing of files."""

import codecs
import csv
import io
import json
import lzma
import os
import re
import secrets
import shutil
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from filelock import FileLock, Timeout

from langdiff.base.addresses import refuse_address
from langdiff.base.archives import File, open_bytes, refuse_special
from langdiff.base.cells import check_names, unguard
from langdiff.base.charsets import conversion, marked, remedy
from langdiff.errors import DataError, Fault, FaultsError, OutputError, listing

DAMAGED = "\ufdd0"  # what stands for bytes that are not text: a code point that is never a character
BLOCK = 1 << 20  # bytes read at once
LOCK = ".lock"
RELEASED_BY = 1.0  # seconds; whoever only asks whether a folder is owned holds its lock for less

SAVE_AS = "Save it as UTF-8; spreadsheet programs call it 'CSV UTF-8'."
SEPARATOR = re.compile(r'"?sep=([,;|\t])"?\s*')  # a first line for spreadsheet programs
ESCAPED = re.compile("[\udc80-\udcff]")  # bytes that are not UTF-8, as "surrogateescape" decodes them

UNREADABLE = (
    OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile,
    KeyError, MemoryError, NotImplementedError, RuntimeError,
)  # fmt: skip
DEVICE = re.compile(r"(con|prn|aux|nul|con(in|out)\$|(com|lpt)[0-9¹²³]) *(\..*)?", re.IGNORECASE)  # on Windows
MAX_LINE = 64 << 20  # bytes; a longer line is not text, and would have to be held in memory


def as_path(path: object) -> Path:
    """Return a user's argument as a path, after checking that it is one.

    Examples
    --------
    >>> as_path("a.csv").name
    'a.csv'
    >>> as_path(None)
    Traceback (most recent call last):
    ...
    langdiff.errors.DataError: a path must be a str or Path, not NoneType.
    """
    if not isinstance(path, str | os.PathLike):
        raise DataError(f"a path must be a str or Path, not {type(path).__name__}.")
    refuse_address(path)
    refuse_special(Path(path))
    return Path(path)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file that was not named by the user itself, such as one in a folder that was."""
    refuse_special(path)
    return path.read_bytes()


def as_paths(paths: object) -> list[Path]:
    """Return one path or several as a list, after checking that they are paths; see `as_path`."""
    if isinstance(paths, str | os.PathLike) or not isinstance(paths, Iterable):
        return [as_path(paths)]
    return [as_path(path) for path in paths]


def files_of(paths: object, *, wanted: Callable[[Path], bool]) -> list[Path]:
    """Return the files given and, of folders, those inside that are wanted and not hidden."""
    files: list[Path] = []
    for path in as_paths(paths):
        if not path.exists():
            raise DataError(f"{path}: no such file or folder.")
        inside = sorted(path.iterdir()) if path.is_dir() else []
        files += [file for file in inside if file.is_file() and not file.name.startswith(".") and wanted(file)]
        files += [] if path.is_dir() else [path]
    return files


def read_lines(
    path: File, *, errors: str | None = None, on_fault: Callable[[int, str], None] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield (line number from 1, line without its end) of a file, decoded from UTF-8 and decompressed."""
    for block in read_blocks(path, errors=errors, on_fault=on_fault):
        lines = block.text.removesuffix("\n").split("\n")
        if "\r" in block.text:
            lines = [line.rstrip("\r") for line in lines]
        yield from enumerate(lines, block.first)


class Block(NamedTuple):
    """A block of whole lines of a file: number of the first from 1, text, and the text in UTF-8."""

    first: int
    text: str
    raw: bytes


def read_blocks(
    path: File,
    *,
    errors: str | None = None,
    on_fault: Callable[[int, str], None] | None = None,
    encoding: str = "utf-8",
) -> Iterator[Block]:
    r"""Yield a file in blocks of lines, decoded and decompressed.

    Only ``\n`` ends a line.
    """
    explained = False
    for first, raw in _raw_blocks(path):
        try:
            if b"\0" not in raw:
                text = raw.decode(encoding, errors or "strict")
                yield Block(first, text, text.encode() if errors == "replace" else raw)
                continue
        except UnicodeDecodeError:
            pass  # said line by line
        if encoding != "utf-8":
            raise _fault(path, None, f"not text in {encoding}.")
        lines = []
        place = 0  # of the line in the block
        for number, line in enumerate(raw.split(b"\n"), first):
            decoded, fault = _decode(line, errors)
            if fault is not None:
                if b"\0" not in line and not explained:  # once per file: all of it is in one encoding
                    fault += " " + remedy(line, raw[place:], path, replaceable=errors is not None)
                    explained = True
                if on_fault is None:
                    raise _fault(path, number, fault)
                on_fault(number, fault)
            lines.append(decoded)
            place += len(line) + 1
        text = "\n".join(lines)
        yield Block(first, text, text.encode())


def is_utf16(path: File) -> bool:
    """Return whether a file can be read and has the byte order mark of UTF-16."""
    try:
        with open_bytes(path) as (stream, _):
            return marked(stream.read(4)) == "UTF-16"
    except UNREADABLE:
        return False


def read_utf16(path: File) -> Iterator[Block]:
    """Yield the text of a file in UTF-16 with a byte order mark, in blocks that may end within a line."""
    decoder = codecs.getincrementaldecoder("utf-16")()
    line, size = 1, 0
    try:
        with open_bytes(path) as (stream, allowed):
            while piece := stream.read(BLOCK):
                size += len(piece)
                if allowed is not None and size > allowed.size:
                    raise _fault(path, line, f"expands to more than {allowed.size:,} bytes. Decompress it yourself.")
                text = decoder.decode(piece)
                yield Block(line, text, b"")
                line += text.count("\n")
            decoder.decode(b"", final=True)
    except UnicodeError as error:
        raise _fault(path, line, "not UTF-16, although its byte order mark says so.") from error
    except UNREADABLE as error:
        raise _fault(path, line, f"cannot be read: {str(error) or 'it ends too early'}.") from error


def _raw_blocks(path: File, kind: str = "") -> Iterator[tuple[int, bytes]]:
    r"""Yield (number of the first line, whole lines) of a file; `kind` completes the message "cannot be read"."""
    number = 1
    size = 0
    rest: list[bytes] = []  # the beginning of a line
    try:
        with open_bytes(path) as (stream, allowed):
            # one byte more than allowed is read, to know whether there is more
            while piece := stream.read(BLOCK if allowed is None else min(BLOCK, allowed.size - size) or 1):
                if size == 0:
                    piece = _without_mark(piece, path)
                size += len(piece)
                if sum(map(len, rest)) + (piece.find(b"\n") + 1 or len(piece)) > MAX_LINE:
                    raise _fault(path, number, f"longer than {MAX_LINE >> 20} MiB; this is not text in lines.")
                end = piece.rfind(b"\n") + 1
                lines = piece.count(b"\n")
                if allowed is not None and (size > allowed.size or number + lines > allowed.lines):
                    most = f"{allowed.size:,} bytes" if size > allowed.size else f"{allowed.lines:,} lines"
                    what = f"expands to more than {most}, far more than text of its size does; it may be made to fill "
                    raise _fault(path, number, what + "memory or disk. If you trust it, decompress it yourself.")
                if end:
                    yield number, b"".join([*rest, piece[:end]])
                    number, rest = number + lines, []
                if piece[end:]:
                    rest.append(piece[end:])
            if rest:
                yield number, b"".join(rest)
    except (OSError, EOFError, lzma.LZMAError, zlib.error, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or str(error) or "it ends too early"
        raise _fault(path, None, f"cannot be read{kind}{_after(number - 1)}: {reason}.") from error
    except (KeyError, MemoryError, NotImplementedError, RuntimeError) as error:
        # zipfile: gone, compressed in a way or with a password that it cannot undo; lzma: wants gigabytes
        reason = str(error) or "not enough memory"
        raise _fault(path, None, f"cannot be read{kind}{_after(number - 1)}: {reason}.") from error


def _without_mark(beginning: bytes, path: File) -> bytes:
    """Return the beginning of a file without its byte order mark, after checking that it is one of UTF-8."""
    if encoding := marked(beginning):
        what = f"{encoding}, as its byte order mark says, not UTF-8. Convert the file: {conversion(encoding, path)}."
        raise _fault(path, None, what)
    return beginning.removeprefix(codecs.BOM_UTF8)


def _after(line: int) -> str:
    return f" after line {line}" if line else ""


def _fault(path: File, line: int | None, what: str) -> FaultsError:
    return FaultsError([Fault(str(path), line, what)])


def _decode(raw: bytes, errors: str | None) -> tuple[str, str | None]:
    """Return a decoded line, with `DAMAGED` for undecodable bytes, and a description of the fault or None."""
    try:
        if b"\0" not in raw:
            return raw.decode("utf-8", errors or "strict"), None
        fault = "a NUL byte; this is a binary file or UTF-16, not text in UTF-8."
    except UnicodeDecodeError as error:
        fault = f"not UTF-8 in byte {error.start + 1} (0x{raw[error.start]:02x})."
    return re.sub("[\0\udc80-\udcff]+", DAMAGED, raw.decode("utf-8", "surrogateescape")), fault


_ESCAPE = re.compile(r"\\(?:u[dD][89abAB]..(?P<low>\\u[dD][c-fC-F])?|(?P<alone>u[dD][c-fC-F])|.)", re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def text_of(document: str | bytes) -> str:
    r"""Return a JSON document as text, after checking that all its strings are Unicode.

    Examples
    --------
    >>> text_of(b'"\\ud83d\\ude00"')
    '"\\ud83d\\ude00"'
    >>> text_of('["a",\n "\\ud83d"]')
    Traceback (most recent call last):
    ...
    ValueError: the lone surrogate \ud83d in line 2 is no character of Unicode
    """
    text = document.decode("utf-8-sig") if isinstance(document, bytes) else document
    for found in _ESCAPE.finditer(text) if _SURROGATE.search(text) else ():
        if found["alone"] or (found[0][1:3] in ("ud", "uD") and not found["low"]):
            line = text.count("\n", 0, found.start()) + 1
            raise ValueError(
                f"the lone surrogate {text[found.start() :][:6]} in line {line} is no character of Unicode"
            )
    return text


def parse_json(text: str | bytes) -> Any:
    """Return parsed JSON; every fault is a ValueError, including lone surrogates and nesting that is too deep.

    Examples
    --------
    >>> parse_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: nested too deeply
    """
    return _loads(text)


def strict_json(text: str) -> Any:
    """Return parsed JSON as `parse_json` does, but refuse names that are there twice, NaN and Infinity.

    Examples
    --------
    >>> strict_json('{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ...
    ValueError: the name 'a' is there twice in one object
    """
    return _loads(text, object_pairs_hook=_once, parse_constant=_no_constant)


def _loads(text: str | bytes, **hooks: Any) -> Any:
    try:
        return json.loads(text_of(text), **hooks)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the name {twice!r:.40} is there twice in one object")
    return found


def _no_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def read_table(
    path: File,
    delimiter: str = ",",
    *,
    errors: str = "strict",
    guarded: bool = True,
    on_fault: Callable[[int, str], None] | None = None,
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Return the header of a table, which may be compressed, and its rows as (line number, cells), all as text.

    The apostrophe is removed that `langdiff.base.cells` writes before what spreadsheets take for a formula, unless
    the table is not `guarded`, as one of texts.
    """
    lines = _table_lines(path, errors)
    first = next(lines, "")
    before = 0
    if named := SEPARATOR.fullmatch(first):
        delimiter, first, before = named[1], next(lines, ""), 1
    reader = csv.reader(chain([first] if first else [], lines), delimiter=delimiter, strict=True)
    try:
        read: Callable[[str], str] = unguard if guarded else str
        header = [read(cell) for cell in next(reader, [])]
        rows = [(reader.line_num + before, [read(cell) for cell in row]) for row in reader if row]
    except csv.Error as error:
        raise DataError(
            f"{path}: cannot be read as a table: in line {reader.line_num + before}, {error}. A cell that begins with "
            "a quotation mark ends with one, and those inside are doubled."
        ) from error
    if not header:
        raise DataError(f"{path}: cannot be read as a table: its first line is empty.")
    if ESCAPED.search("".join(header)):
        raise DataError(f"{path}: cannot be read as a table: in line 1 it is not UTF-8. {SAVE_AS}")
    if len(header) > 1:  # else they are separated in another way, which callers tell
        check_names(header, "column", str(path))
    if len(set(header)) < len(header):
        raise DataError(f"{path}, line 1: two columns have the same name: {', '.join(header)}.")
    even = []
    for line, row in rows:
        what = f"{len(row)} cells, but line 1 names {len(header)} columns."
        if len(row) == len(header):
            even.append((line, row))
        elif on_fault is None:
            raise DataError(f"{path}, line {line}: {what}")
        else:
            on_fault(line, what)
    return header, even


def _table_lines(path: File, errors: str) -> Iterator[str]:
    """Yield the lines of a table with their ends, which may be part of quoted cells."""
    before = 0  # bytes
    for first, raw in _raw_blocks(path, " as a table"):
        try:
            text = raw.decode(errors=errors)
        except UnicodeDecodeError as error:
            line, place = first + raw.count(b"\n", 0, error.start), before + error.start
            raise DataError(
                f"{path}: cannot be read as a table: in line {line} it is not UTF-8 (the byte "
                f"{raw[error.start]:#04x} at {place:,}). {SAVE_AS}"
            ) from error
        yield from io.StringIO(text, newline="")
        before += len(raw)


def remove(path: Path) -> None:
    """Remove a file or folder if it exists."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class LockedError(OutputError):
    """Another process uses a folder."""


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to `path`, and rename it to `path` if the block succeeds; else remove it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if isinstance(error, OutputError):
            raise
        raise _unwritable(path, path.parent, error) from error
    finally:
        with suppress(OSError):  # gone already, or its folder never was
            temporary.unlink()


def _unwritable(path: Path, folder: Path, error: OSError) -> OutputError:
    file = next((above for above in (folder, *folder.parents) if above.is_file()), None)
    cause = "" if file is None else f" ({file} is a file, not a folder)"
    return OutputError(f"{path}: cannot be written: {error.strerror or error}{cause}.")


def file_names(names: Iterable[str], what: str) -> dict[str, str]:
    """Return beginnings of file names by names of editions or documents; Windows knows CON and NUL as devices.

    The first letter of such a name is percent-encoded, which `name_of_file` undoes.

    Examples
    --------
    >>> file_names(["eng", "con", "AUX.de", "a.con"], "editions")
    {'eng': 'eng', 'con': '%63on', 'AUX.de': '%41UX.de', 'a.con': 'a.con'}
    """
    names = [str(name) for name in names]
    if odd := [each for each in names if not each or each[0] == "." or not each.isprintable() or {*each} & {*"/\\"}]:
        raise DataError(f"{len(odd)} {what} cannot be names of files: {listing(odd)}. Rename them.")
    return {name: f"%{ord(name[0]):02X}{name[1:]}" if DEVICE.fullmatch(name) else name for name in names}


def name_of_file(stem: str) -> str:
    """Return the name of an edition or a document, of which `file_names` made the beginning of a file name."""
    name = unquote(stem[:3]) + stem[3:]
    return name if DEVICE.fullmatch(name) else stem


def write_json(path: Path, content: Any) -> None:
    """Write JSON atomically; see `atomic_path`."""
    write_text(path, json.dumps(content, indent=2, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write UTF-8 text atomically; see `atomic_path`."""
    with atomic_path(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")


def write_texts(directory: str | Path, texts: Mapping[str, str]) -> list[Path]:
    """Write the files of a folder, each after its name."""
    paths = [Path(directory) / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_text(path, text)
    return paths


@contextmanager
def locked(folder: Path, use: str) -> Iterator[None]:
    """Lock a folder against other processes within a block, creating it if it is missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK)
        lock.acquire(timeout=RELEASED_BY)
    except Timeout as error:
        raise LockedError(f"{folder}: another process is {use}") from error
    except OSError as error:
        raise _unwritable(folder, folder, error) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(folder: Path) -> bool:
    """Return whether a process uses a folder; False if this process may not check."""
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
