"""Safe access to files that are plain, compressed or in a zip or tar archive; all are read in place."""

import bz2
import gzip
import io
import lzma
import os
import tarfile
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple, cast

from langdiff.errors import DataError, listing

TARS = (".tar", ".tgz", ".tar.gz")
_UNREADABLE = (
    tarfile.TarError, OSError, EOFError, zlib.error, ValueError, OverflowError, RecursionError, MemoryError,
)  # fmt: skip


class Entry(NamedTuple):
    """A file in an archive: its name, and the place and number of its bytes once the archive is decompressed."""

    name: str
    start: int
    size: int


def is_packed(archive: Path) -> bool:
    """Return whether the name of a tar archive says that it is compressed."""
    return not archive.name.lower().endswith(".tar")


def entries_of(archive: Path, most: int) -> tuple[Entry, ...]:
    """Return the files in a tar archive, without directories."""
    try:
        status = archive.stat()
    except OSError as error:
        raise DataError(f"{archive}: cannot be read as a tar archive: {error.strerror}.") from error
    return _entries_of(archive, most, (status.st_mtime_ns, status.st_size))


@lru_cache(maxsize=8)
def _entries_of(archive: Path, most: int, _stamp: tuple[int, int]) -> tuple[Entry, ...]:
    try:
        with _expanded_tar(archive, most) as stream, tarfile.open(fileobj=stream, mode="r:") as opened:
            found = opened.getmembers()
            stream.seek(opened.offset)  # where tarfile has stopped: also at a damaged header, of which it says nothing
            _check_end(stream, len(found))
    except DataError:
        raise
    except _UNREADABLE as error:
        raise DataError(f"{archive}: cannot be read as a tar archive: {str(error) or 'it ends too early'}.") from error
    for one in found:
        if not one.isdir() and (not one.isreg() or one.issparse()):
            raise DataError(
                f"{archive}: the member {one.name!r:.80} is a link, a device or a sparse file. Such an archive is not "
                "read; create it again with plain files."
            )
    return tuple(Entry(one.name.removeprefix("./"), one.offset_data, one.size) for one in found if not one.isdir())


def _check_end(stream: Any, members: int) -> None:
    """Check that an archive ends where its last member does: with a block of zeros, after which are only zeros."""
    block = stream.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE:
        raise EOFError("it ends too early")
    if any(block):
        raise tarfile.ReadError(f"a header is damaged after {members} member(s)")
    while block := stream.read(tarfile.BLOCKSIZE):
        if any(block):
            raise tarfile.ReadError(
                f"there is more data after its end, which comes after {members} member(s). If archives were joined, "
                "create one of all files"
            )


@contextmanager
def open_entry(archive: Path, name: str, most: int) -> Iterator[IO[bytes]]:
    """Open a file in a tar archive; see `entries_of` for the parameters."""
    entry = next((entry for entry in entries_of(archive, most) if entry.name == name), None)
    if entry is None:
        raise KeyError(f"there is no {name} in the archive; it has changed")
    with _expanded_tar(archive, most) as stream:
        stream.seek(entry.start)
        with io.BufferedReader(_Part(stream, entry.size)) as part:
            yield part


@contextmanager
def _expanded_tar(archive: Path, most: int) -> Iterator[Any]:
    with archive.open("rb") as raw:
        if not is_packed(archive):
            yield raw
            return
        with gzip.GzipFile(fileobj=raw) as unpacked:
            yield _Bounded(unpacked, most, archive)


class _Bounded:
    """A compressed stream that may be read up to a limit."""

    def __init__(self, stream: gzip.GzipFile, most: int, archive: Path) -> None:
        self._stream, self._most, self._archive = stream, most, archive
        self.tell = stream.tell

    def read(self, size: int = -1) -> bytes:
        self._check(self.tell() + max(size, 0))
        return self._stream.read(size)

    def seek(self, place: int, whence: int = io.SEEK_SET) -> int:
        self._check(place + (self.tell() if whence == io.SEEK_CUR else 0))
        return self._stream.seek(place, whence)

    def _check(self, end: int) -> None:
        if end > self._most:
            raise DataError(
                f"{self._archive}: expands to more than {self._most:,} bytes, far more than texts of its size do; it "
                "may be made to fill memory or disk. If you trust it, unpack it yourself."
            )


class _Part(io.RawIOBase):
    """A number of bytes of a stream from where it is."""

    def __init__(self, stream: Any, size: int) -> None:
        self._stream, self._left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._left)
        piece = cast(bytes, self._stream.read(wanted)) if wanted else b""
        if wanted and not piece:
            raise EOFError("it ends too early")
        self._left -= len(piece)
        buffer[: len(piece)] = piece
        return len(piece)


ARCHIVES = (".zip", *TARS)
COMPRESSED = (".gz", ".bz2", ".xz")


def unpacked(path: Path) -> Path:
    """Return a path without the ending of its compression.

    Examples
    --------
    >>> unpacked(Path("ud/en_ewt.conllu.gz")).name
    'en_ewt.conllu'
    """
    return path.with_suffix("") if path.suffix.lower() in COMPRESSED else path


# What a compressed file may expand to: real text shrinks to a tenth, lists of empty lines to a few kilobytes.
MAX_RATIO = 100
MAX_SMALL = 64 << 20  # bytes; files that expand to less than this may do so at any ratio
MAX_FEW = 1_000_000  # lines; a compressed file with more lines than that has fewer lines than bytes


@dataclass(frozen=True, order=True)
class Member:
    """A file in a zip or tar archive; it is read from there and never unpacked to disk.

    Attributes
    ----------
    archive : Path
        The archive.
    inner : str
        The member's name in it.

    Examples
    --------
    >>> member = Member(Path("bibles.zip"), "corpus/deu-luther.txt")
    >>> member.name, member.suffix, str(member.parent), str(member)
    ('deu-luther.txt', '.txt', '.', 'bibles.zip/corpus/deu-luther.txt')
    """

    archive: Path
    inner: str

    @property
    def name(self) -> str:
        """Last part of the member's path."""
        return PurePosixPath(self.inner).name

    @property
    def suffix(self) -> str:
        """Suffix of the member's name."""
        return PurePosixPath(self.inner).suffix

    @property
    def parent(self) -> Path:
        """Folder that contains the archive."""
        return self.archive.parent

    def __str__(self) -> str:
        """Return the path of archive and member, as in ``bibles.zip/deu.txt``."""
        return f"{self.archive}/{self.inner}"


File = Path | Member


class Allowance(NamedTuple):
    """Limits on the bytes and lines to which a compressed file may expand."""

    size: int
    lines: int


def is_archive(file: File) -> bool:
    """Return whether a file's name is that of a zip or tar archive."""
    return isinstance(file, Path) and file.name.lower().endswith(ARCHIVES)


def members_of(archive: Path) -> list[Member]:
    """Return the files in an archive, without hidden ones."""
    refuse_special(archive)
    if _is_tar(archive):
        names = [entry.name for entry in entries_of(archive, _allowed(_size(archive)).size)]
    else:
        names = _names_in_zip(archive)
    unsafe = [name for name in names if _is_unsafe(name)]
    if unsafe:
        raise DataError(
            f"{archive}: {len(unsafe)} member(s) have names that point outside of it or cannot be shown: "
            f"{listing(unsafe)}. Such an archive is not read; create it again."
        )
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataError(f"{archive}: {len(twice)} name(s) are there twice: {listing(twice)}. Create the archive again.")
    return sorted(Member(archive, name) for name in names if not PurePosixPath(name).name.startswith("."))


def _is_tar(archive: Path) -> bool:
    return archive.name.lower().endswith(TARS)  # all others are zip, also with names of their own, such as .eval


def _size(archive: Path) -> int:
    return archive.stat().st_size if archive.exists() else 0


def _names_in_zip(archive: Path) -> list[str]:
    try:
        with zipfile.ZipFile(archive) as opened:
            names = [info.filename.replace("\\", "/") for info in opened.infolist()]  # of programs of Windows
            return [name for name in names if not name.endswith("/")]
    except (OSError, zipfile.BadZipFile, MemoryError, NotImplementedError, ValueError) as error:
        raise DataError(f"{archive}: cannot be read as a zip archive: {error}.") from error


@contextmanager
def open_bytes(file: File) -> Iterator[tuple[IO[bytes], Allowance | None]]:
    """Open a file, decompressing it; yield the stream and the limits of its size.

    The limits are None for a file that is not compressed. Since a small file can expand to any size, the reader must
    count and stop at the limits.
    """
    refuse_special(file)
    if isinstance(file, Member) and _is_tar(file.archive):
        packed = _size(file.archive)
        with open_entry(file.archive, file.inner, _allowed(packed).size) as stream, _expanded(stream, file) as out:
            yield out, _allowed(packed) if out is not stream or is_packed(file.archive) else None
        return
    if isinstance(file, Member):
        with zipfile.ZipFile(file.archive) as opened:
            # no more than there is, whatever the archive says
            info = {one.filename.replace("\\", "/"): one for one in opened.infolist()}[file.inner]
            packed = min(info.compress_size, file.archive.stat().st_size)
            with (
                opened.open(info) as member,
                io.BufferedReader(cast(io.RawIOBase, member)) as buffered,
                _expanded(buffered, file) as out,
            ):
                yield out, _allowed(packed)
        return
    with file.open("rb") as stream, _expanded(stream, file) as out:
        yield out, _allowed(file.stat().st_size) if out is not stream else None


def refuse_special(file: File) -> None:
    """Check that a file is not a pipe, a socket or a device, from which reading might never end."""
    path = file.archive if isinstance(file, Member) else file
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):  # noqa: PTH110, PTH112, PTH113
        raise DataError(f"{file}: cannot be read: it is a pipe, a socket or a device. Copy its content into a file.")


def _allowed(packed: int) -> Allowance:
    return Allowance(max(MAX_SMALL, MAX_RATIO * packed), max(MAX_FEW, packed))


@contextmanager
def _expanded(stream: IO[bytes], file: File) -> Iterator[IO[bytes]]:
    suffix = file.suffix.lower()
    if suffix == ".gz":
        with gzip.GzipFile(fileobj=stream) as out:
            yield out  # type: ignore[misc]  # typeshed does not count GzipFile as IO[bytes]
    elif suffix == ".bz2":
        with bz2.BZ2File(stream) as out:
            yield out
    elif suffix == ".xz":
        with lzma.LZMAFile(stream) as out:
            yield out
    else:
        yield stream


def _is_unsafe(name: str) -> bool:
    parts = name.replace("\\", "/").split("/")
    return not name.isprintable() or ":" in name or "" in parts or ".." in parts or "." in parts
