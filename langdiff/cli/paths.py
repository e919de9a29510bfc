"""Paths that commands read: a mistyped one is refused before anything slow is imported."""

import glob
from pathlib import Path
from typing import TypeVar

from langdiff.errors import DataError

Given = TypeVar("Given", bound=str | Path | list[str] | list[Path] | None)


def existing(given: Given) -> Given:
    """Refuse paths that do not exist; a pattern may match none, which is told where it is read.

    Parameters
    ----------
    given : str, Path, list of these, or None
        What an argument or option names.

    Raises
    ------
    DataError
        If there is no such file or folder.
    """
    for path in given if isinstance(given, list) else [given]:
        if path is None or glob.has_magic(str(path)):
            continue
        try:
            Path(path).expanduser().lstat()
        except FileNotFoundError:
            raise DataError(f"{path}: no such file or directory.") from None
        except OSError:  # told where it is read
            continue
    return given


def existing_named(given: list[str] | None) -> list[str] | None:
    """Refuse NAME=PATH or PATH where there is no such path.

    Parameters
    ----------
    given : list of str or None
        What the argument names.

    Raises
    ------
    DataError
        If there is no such file or folder.
    """
    for each in given or []:
        name, equals, path = each.partition("=")
        existing(path if name and equals else each)
    return given


def existing_after_name(given: list[str] | None) -> list[str] | None:
    """Refuse NAME=FILE where there is no such file; an option in another form is told where it is read.

    Parameters
    ----------
    given : list of str or None
        What the options name; ``tiktoken:ENCODING`` is no file.

    Raises
    ------
    DataError
        If there is no such file or folder.
    """
    for each in given or []:
        name, _, path = each.partition("=")
        if name and path and not path.startswith("tiktoken:"):
            existing(path)
    return given
