"""One door to all formats of files."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

from langdiff.corpora.files import Paths
from langdiff.corpora.pbc import read_pbc, write_pbc
from langdiff.errors import ConfigError
from langdiff.multitext import Multitext

_READERS: dict[str, Callable[..., Multitext]] = {"auto": read_pbc, "pbc": read_pbc}
_WRITERS = {"pbc": write_pbc}


def read_multitext(
    path: Paths,
    *,
    format: Literal["auto", "pbc"] = "auto",
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: Literal["strict", "replace"] = "strict",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue a multitext; texts stay in their files until asked for.

    Parameters
    ----------
    path : str, Path or sequence of these
        A file, a directory or a glob.
    format : {"auto", "pbc"}
        ``"pbc"``, also what ``"auto"`` stands for, is the format of the Parallel Bible Corpus: see
        `langdiff.corpora.read_pbc`, also for the other parameters and the errors.
    metadata, editions, nfc, errors, progress
        As for `langdiff.corpora.read_pbc`.

    Returns
    -------
    Multitext
        One edition a file.

    Raises
    ------
    ConfigError
        If the format is unknown.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eng-a.txt").write_text("01001001\tone\n01001002\ttwo\n")
    ...     _ = Path(folder, "deu-b.txt").write_text("01001001\teins\n")
    ...     read_multitext(f"{folder}/*.txt")
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing
    """
    if format not in _READERS:
        raise ConfigError(f"unknown format {format!r}; use one of {', '.join(_READERS)}.")
    return _READERS[format](path, metadata=metadata, editions=editions, nfc=nfc, errors=errors, progress=progress)


def write_multitext(multitext: Multitext, path: str | Path, *, format: Literal["pbc"] = "pbc") -> list[Path]:
    """Write a multitext so that `read_multitext` gives it back.

    Parameters
    ----------
    multitext : Multitext
        What to write.
    path : str or Path
        The directory, made if need be.
    format : {"pbc"}
        See `langdiff.corpora.write_pbc`, also for what the format cannot hold.

    Returns
    -------
    list of Path
        What was written; all of it, or nothing if an error occurs.

    Raises
    ------
    ConfigError
        If the format is unknown.
    """
    if format not in _WRITERS:
        raise ConfigError(f"unknown format {format!r}; use one of {', '.join(_WRITERS)}.")
    return _WRITERS[format](multitext, path)
