"""Paths that commands read, alone or as NAME=PATH: a mistyped one is refused before anything slow is imported."""

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


def split_name(given: str) -> tuple[str, str]:
    """Return the name and the path of NAME=PATH; an empty name where there is none.

    The name ends at the first equals sign: paths may have more of them, names none. So a path with an equals sign
    needs a name before it.

    Examples
    --------
    >>> split_name("small=runs/lr=0.1/out.conllu"), split_name("out.conllu")
    (('small', 'runs/lr=0.1/out.conllu'), ('', 'out.conllu'))
    """
    name, equals, path = given.partition("=")
    return (name, path) if name and equals else ("", given)


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
        name, path = split_name(each)
        try:
            existing(path)
        except DataError as error:
            if name and Path(each).exists():
                raise DataError(
                    f"{each}: read as the name {name!r} and the path {path}, which does not exist. Give a name before "
                    f"a path that contains '=': NAME={each}."
                ) from error
            raise
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
        name, path = split_name(each)
        if name and path and not path.startswith("tiktoken:"):
            existing(path)
    return given
