"""One door to all formats of files."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from langdiff.corpora.files import Paths
from langdiff.corpora.formats.bible import Ranges
from langdiff.corpora.formats.ces import read_ces
from langdiff.corpora.formats.costep import read_costep
from langdiff.corpora.formats.ebible import read_ebible
from langdiff.corpora.formats.guess import guess_format
from langdiff.corpora.formats.moses import read_moses, write_moses
from langdiff.corpora.formats.mteval import read_mteval
from langdiff.corpora.formats.osis import read_osis
from langdiff.corpora.formats.pbc import are_verse_ids, read_pbc, write_pbc
from langdiff.corpora.formats.usfm import read_usfm
from langdiff.errors import ConfigError
from langdiff.multitext import Multitext

Format = Literal["auto", "pbc", "ebible", "usfm", "osis", "ces", "moses", "costep", "mteval"]
_READERS: dict[str, Callable[..., Multitext]] = {
    "pbc": read_pbc,
    "ebible": read_ebible,
    "usfm": read_usfm,
    "osis": read_osis,
    "ces": read_ces,
    "moses": read_moses,
    "costep": read_costep,
    "mteval": read_mteval,
}
_OPTIONS = {  # of some formats only
    "ranges": ("ebible", "usfm", "osis"),
    "vref": ("ebible",),
    "original_language": ("moses",),
}
_WRITERS = {"pbc": write_pbc, "moses": write_moses}


def check_format_options(format: str, options: Iterable[str]) -> None:
    """Refuse options that a format does not have.

    Parameters
    ----------
    format : str
        A format of `read_multitext`, not ``"auto"``.
    options : iterable of str
        Names of those given, of ``ranges``, ``vref`` and ``original_language``.

    Raises
    ------
    ConfigError
        At the first.
    """
    for name in options:
        if format not in _OPTIONS[name]:
            *others, last = _OPTIONS[name]
            have = f"{', '.join(others)} and {last} have" if others else f"{last} has"
            raise ConfigError(f"format {format!r} has no option {name}; {have}.")


def read_multitext(
    path: Paths,
    *,
    format: Format = "auto",
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: Literal["strict", "replace"] = "strict",
    ranges: Ranges | None = None,
    vref: str | Path | None = None,
    original_language: str | Path | None = None,
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue a multitext; texts stay in their files until asked for.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from edition to file
        Files, directories, globs or zip archives; files may be compressed (``.gz``, ``.bz2``, ``.xz``).
    format : str
        ``"pbc"`` (Parallel Bible Corpus), ``"ebible"``, ``"usfm"``, ``"osis"``, ``"ces"``, ``"moses"``
        (line-aligned text), ``"costep"`` or ``"mteval"``: the function ``langdiff.corpora.read_…`` of
        that name says more, also of errors. ``"auto"`` tells them by the first file's beginning, all
        but ``"moses"``, which any text could be.
    metadata, editions, nfc, errors, progress
        As for `langdiff.corpora.read_pbc`.
    ranges : {"missing", "merge"}, optional
        What becomes of verses translated together, in ``"ebible"``, ``"usfm"`` and ``"osis"``; by
        default they are missing.
    vref, original_language : str or Path, optional
        As for `langdiff.corpora.read_ebible` and `langdiff.corpora.read_moses`.

    Returns
    -------
    Multitext
        One edition a file, or what the format has for it.

    Raises
    ------
    ConfigError
        If the format is unknown, or has no such option.
    DataError
        If the format cannot be told, or the files cannot be used.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "eng-a.txt").write_text("01001001\tone\n01001002\ttwo\n")
    ...     _ = Path(folder, "deu-b.txt").write_text("01001001\teins\n")
    ...     read_multitext(f"{folder}/*.txt")
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing
    """
    if format != "auto" and format not in _READERS:
        raise ConfigError(f"unknown format {format!r}; use one of auto, {', '.join(_READERS)}.")
    if isinstance(path, Iterator):
        path = list(path)  # it is gone through twice
    given: dict[str, Any] = {"ranges": ranges, "vref": vref, "original_language": original_language}
    options = {name: value for name, value in given.items() if value is not None}
    found = guess_format(path) if format == "auto" else format
    check_format_options(found, options)
    return _READERS[found](
        path, metadata=metadata, editions=editions, nfc=nfc, errors=errors, progress=progress, **options
    )


def write_multitext(
    multitext: Multitext, path: str | Path, *, format: Literal["auto", "pbc", "moses"] = "auto"
) -> list[Path]:
    """Write a multitext so that `read_multitext` gives it back.

    Parameters
    ----------
    multitext : Multitext
        What to write.
    path : str or Path
        The directory, made if need be.
    format : {"auto", "pbc", "moses"}
        ``"pbc"`` for Bibles, ``"moses"`` for anything: see `langdiff.corpora.write_pbc` and
        `langdiff.corpora.write_moses`, also for what they cannot hold. ``"auto"`` is the first if
        every intent is a verse id, else the second.

    Returns
    -------
    list of Path
        What was written; all of it, or nothing if an error occurs.

    Raises
    ------
    ConfigError
        If the format is unknown.
    """
    if format == "auto":
        format = "pbc" if are_verse_ids(multitext.intents) else "moses"
    if format not in _WRITERS:
        raise ConfigError(f"unknown format {format!r}; use one of auto, {', '.join(_WRITERS)}.")
    return _WRITERS[format](multitext, path)
