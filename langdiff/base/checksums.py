"""Checksums (SHA-256) of files, recorded when they are written and checked when they are read."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from langdiff.base.io import parse_json, read_bytes, write_json
from langdiff.errors import DataError, OutputError

CHECKSUMS = "checksums.json"
FORMAT_VERSION = 1
_SEAL = "sha256"


class DamageError(DataError):
    """A file is missing, or its content has changed since it was written."""


def seal(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return a JSON document with a hash of its other members.

    Examples
    --------
    >>> sealed = seal({"epochs": 8})
    >>> is_whole(sealed), is_whole(sealed | {"epochs": 9})
    (True, False)
    """
    return {**document, _SEAL: _digest(document)}


def is_whole(document: Mapping[str, Any]) -> bool:
    """Return whether the content of a document agrees with its hash; true for one without a hash."""
    return _SEAL not in document or document[_SEAL] == _digest(document)


def format_of(path: Path, member: str = "format") -> str | None:
    """Return a member of a JSON file that is text; None if the file is not JSON or has no such member."""
    try:
        document = _parsed(path)
    except DataError:  # itself a ValueError
        raise
    except ValueError:  # broken JSON or UTF-8
        return None
    kind = document.get(member) if isinstance(document, dict) else None
    return kind if isinstance(kind, str) else None


def _parsed(path: Path) -> Any:
    try:
        return parse_json(read_bytes(path))
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror or error}.") from error


def read_sealed(path: Path, *, kind: str, version: int, what: str) -> dict[str, Any]:
    """Read a JSON document and check its format, version and hash."""
    try:
        document = _parsed(path)
    except DataError:  # itself a ValueError
        raise
    except ValueError as error:  # broken JSON or UTF-8
        raise DataError(f"{path}: not a {what}, or damaged: {error}.") from error
    if not isinstance(document, dict) or document.get("format") != kind:
        held = f", and it holds {document['format']!r}" if isinstance(document, dict) and "format" in document else ""
        raise DataError(f"{path}: not a {what}; expected JSON with format {kind!r}{held}.")
    if document.get("format_version") != version:
        raise DataError(
            f"{path}: format version {document.get('format_version')!r}; this langdiff reads {version}. Compute it "
            "again, or use the version that wrote it."
        )
    if not is_whole(document):
        raise DataError(f"{path}: damaged, or edited: the numbers differ from those saved. Compute it again.")
    return document


def _digest(document: Mapping[str, Any]) -> str:
    content = json.loads(json.dumps({name: value for name, value in document.items() if name != _SEAL}))
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def hash_files(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder."""
    digest = hashlib.sha256()
    is_folder = path.is_dir()
    try:
        for file in sorted(path.rglob("*")) if is_folder else [path]:
            if is_folder and not file.is_file():
                continue
            if is_folder:
                digest.update(file.relative_to(path).as_posix().encode() + b"\0")
            with file.open("rb") as stream:
                while piece := stream.read(1 << 20):
                    digest.update(piece)
    except OSError as error:
        raise DataError(f"{error.filename}: cannot be read: {error.strerror}.") from error
    return digest.hexdigest()


@dataclass(frozen=True, kw_only=True)
class Checksums:
    """Recorded checksums (SHA-256) of the files in a folder.

    Attributes
    ----------
    folder : Path
        Folder that the names are relative to.
    files : mapping from str to str
        Hash in hexadecimal digits, by path relative to the folder, with slashes.
    """

    folder: Path
    files: Mapping[str, str]

    def read(self, name: str) -> bytes:
        """Return the content of a file after comparing it with its checksum.

        Raises
        ------
        DamageError
            If it is not, or the file is missing or was not recorded.
        """
        path = self.folder / name
        if name not in self.files:
            raise DamageError(f"{path}: not recorded in {CHECKSUMS}.")
        try:
            content = read_bytes(path)
        except OSError as error:
            raise _unreadable(path, error) from error
        if hashlib.sha256(content).hexdigest() != self.files[name]:
            raise DamageError(f"{path}: damaged: its {len(content):,} bytes are not those that were written.")
        return content

    def damage(self) -> dict[str, str]:
        """Return the recorded files that are missing or changed, each with the reason."""
        found = {}
        for name in self.files:
            try:
                self.read(name)
            except DamageError as error:
                found[name] = str(error)
        return found


def write_checksums(folder: Path, names: Iterable[str], known: Mapping[str, str] = MappingProxyType({})) -> Checksums:
    """Write the checksums of files in a folder, atomically replacing an earlier record."""
    try:
        new = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    except OSError as error:
        raise OutputError(f"{error.filename}: cannot be read again: {error.strerror or error}.") from error
    files = dict(sorted({**known, **new}.items()))
    write_json(folder / CHECKSUMS, seal({"format_version": FORMAT_VERSION, "files": files}))
    return Checksums(folder=folder, files=files)


def read_checksums(folder: Path) -> Checksums:
    """Read the checksums that `write_checksums` wrote."""
    path = folder / CHECKSUMS
    try:
        document = parse_json(read_bytes(path))
        whole = _SEAL in document and is_whole(document)
        if whole and document["format_version"] == FORMAT_VERSION:
            if outside := [name for name in document["files"] if not _is_inside(name)]:
                raise DamageError(f"{path}: names {outside[0]!r}, which is not a file of this folder. Do not use it.")
            return Checksums(folder=folder, files=document["files"])
    except OSError as error:
        raise _unreadable(path, error) from error
    except DamageError:
        raise
    except (ValueError, TypeError, AttributeError) as error:  # of JSON that is not an object
        raise DamageError(f"{path}: damaged: {error}.") from error
    raise DamageError(
        f"{path}: {'of another version' if whole else 'damaged: the content differs from what was written'}."
    )


def _unreadable(path: Path, error: OSError) -> DamageError:
    if isinstance(error, FileNotFoundError):
        return DamageError(f"{path}: missing.")
    return DamageError(
        f"{path}: {'is a directory' if path.is_dir() else f'cannot be read: {error.strerror or error}'}."
    )


def _is_inside(name: str) -> bool:
    """Return whether a name refers to a file inside the folder; records may come from untrusted sources."""
    parts = name.split("/")
    return "\\" not in name and ":" not in parts[0] and not {"", ".", ".."} & set(parts)
