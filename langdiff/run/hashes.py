"""Hashes of the files that a run reads."""

import hashlib
from collections.abc import Hashable
from pathlib import Path

from langdiff.errors import DataError
from langdiff.tables.multitext import Multitext


def hash_editions(multitext: Multitext) -> dict[Hashable, str]:
    """Return the SHA-256 of each edition's file, of its zip archive, or of all files in its folder.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
    if "path" not in multitext.edition_info:
        return {}
    paths = multitext.edition_info["path"].dropna()
    return {edition: hash_files(_archive_of(Path(path))) for edition, path in paths.items()}


def hash_files(path: Path) -> str:
    """Return the SHA-256 of a file, or of the names and contents of all files in a folder.

    Raises
    ------
    DataError
        If a file cannot be read.
    """
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


def _archive_of(path: Path) -> Path:
    return next((folder for folder in path.parents if folder.suffix.lower() == ".zip" and folder.is_file()), path)
