"""Which files a path, directory or glob means, and what their names say."""

import glob
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from langdiff.errors import DataError, listing

Paths = str | Path | Sequence[str | Path]


def find_files(path: Paths, suffixes: Sequence[str], editions: Iterable[str] | None) -> dict[str, Path]:
    """Find the file of every edition.

    Parameters
    ----------
    path : str, Path or sequence of these
        Files, directories (their files with one of the suffixes) or globs.
    suffixes : sequence of str
        Endings of the format's file names, such as ``.txt.gz``; case does not matter.
    editions : str or iterable of str, optional
        Editions to keep, in the order wanted; by default all, by name.

    Returns
    -------
    dict from edition to Path
        The edition is the file's name without its suffix.

    Raises
    ------
    DataError
        If nothing is found, two files are the same edition, or an edition asked for has no file.
    """
    paths = [path] if isinstance(path, (str, Path)) else list(path)
    if not paths:
        raise DataError("no path given: the list of paths is empty.")
    found: dict[str, Path] = {}
    for one in paths:
        for file in _expand(Path(one).expanduser(), suffixes):
            edition = edition_of(file, suffixes)
            if found.setdefault(edition, file) != file:
                raise DataError(
                    f"two files are edition {edition!r}: {found[edition]} and {file}. "
                    "Rename one, or name the files to read."
                )
    if editions is None:
        return dict(sorted(found.items()))
    wanted = [editions] if isinstance(editions, str) else list(dict.fromkeys(editions))
    unknown = [edition for edition in wanted if edition not in found]
    if unknown:
        raise DataError(f"no file for {len(unknown)} edition(s): {listing(unknown)}. Found: {listing(sorted(found))}.")
    if not wanted:
        raise DataError("no edition asked for: editions is empty.")
    return {edition: found[edition] for edition in wanted}


def edition_of(file: Path, suffixes: Sequence[str]) -> str:
    """Return the file's name without its suffix.

    Examples
    --------
    >>> edition_of(Path("bible/deu-luther1912.txt.gz"), [".txt", ".txt.gz"])
    'deu-luther1912'
    """
    for suffix in sorted(suffixes, key=len, reverse=True):
        if file.name.lower().endswith(suffix) and len(file.name) > len(suffix):
            return file.name[: -len(suffix)]
    return file.stem


def language_of(edition: str) -> str | None:
    """Return the ISO 639-3 code that begins an edition's name, if one does.

    Examples
    --------
    >>> language_of("deu-x-bible-luther1912-v1"), language_of("luther")
    ('deu', None)
    """
    match = re.match(r"[a-z]{3}(?=-|\Z)", edition)
    return match[0] if match else None


def _expand(path: Path, suffixes: Sequence[str]) -> list[Path]:
    if path.is_dir():
        try:
            files = [file for file in path.iterdir() if _belongs(file, suffixes)]
        except OSError as error:
            raise DataError(f"{path}: this directory cannot be read: {error.strerror}.") from error
        if not files:
            raise DataError(f"{path}: no file in this directory is called *{' or *'.join(suffixes)}.")
    elif path.exists():
        files = [path]
    elif glob.has_magic(str(path)):
        names = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
        files = [Path(name) for name in names if Path(name).is_file()]
        if not files:
            raise DataError(f"{path}: no file matches this pattern (looked in {Path.cwd()}).")
    else:
        raise DataError(f"{path}: no such file or directory.")
    return sorted(file.absolute() for file in files)


def _belongs(file: Path, suffixes: Sequence[str]) -> bool:
    return file.is_file() and not file.name.startswith(".") and file.name.lower().endswith(tuple(suffixes))
