"""Files in tar archives, plain or compressed with gzip, which are read in place."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from langdiff.errors import DataError

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
        with _expanded(archive, most) as stream, tarfile.open(fileobj=stream, mode="r:") as opened:
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
    with _expanded(archive, most) as stream:
        stream.seek(entry.start)
        with io.BufferedReader(_Part(stream, entry.size)) as part:
            yield part


@contextmanager
def _expanded(archive: Path, most: int) -> Iterator[Any]:
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
