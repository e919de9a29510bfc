"""Safe access to files that are plain, compressed or in a zip or tar archive."""

import bz2
import gzip
import io
import lzma
import os
import zipfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, NamedTuple, cast

from langdiff.base.tars import TARS, entries_of, is_packed, open_entry
from langdiff.errors import DataError, listing

ARCHIVES = (".zip", *TARS)
COMPRESSED = (".gz", ".bz2", ".xz")
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
