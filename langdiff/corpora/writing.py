"""What writers share: names and folders that are safe to write to."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from langdiff.errors import DataError, OutputError, listing


def checked_name(edition: object) -> str:
    """Return the edition's name if a file can have it.

    Raises
    ------
    DataError
        If it cannot.
    """
    name = str(edition)
    if not name or name.startswith(".") or not name.isprintable() or "/" in name or "\\" in name:
        raise DataError(f"edition {edition!r} cannot be the name of a file. Rename it.")
    return name


def check_empty(folder: Path, files: Iterable[str], suffixes: Sequence[str]) -> None:
    """Refuse a folder with files, other than those to write, that would be read with them.

    Raises
    ------
    OutputError
        If there are any.
    """
    ours = set(files)
    there = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in there if name.lower().endswith(tuple(suffixes)) and name not in ours]
    if others:
        raise OutputError(
            f"{folder}: holds {len(others)} other file(s) that would be read with the ones to write: "
            f"{listing(others)}. Choose an empty directory."
        )
