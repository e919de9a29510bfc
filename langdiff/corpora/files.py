"""Files of a path, directory, glob or archive, and the editions and languages in their names."""

import glob
import logging
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import TypeVar

from langdiff.base.archives import ARCHIVES, COMPRESSED, File, is_archive, members_of
from langdiff.base.io import name_of_file
from langdiff.base.iso639 import code_of
from langdiff.errors import DataError, listing

Paths = str | Path | Sequence[str | Path] | Mapping[str, str | Path]
T = TypeVar("T")

NO_CODES = ("csv", "ids", "md", "tsv", "txt", "xml")  # endings of files, although codes of languages, too
DOCUMENTS = ("README", "LICENSE", "LICENCE", "COPYING", "CITATION")

logger = logging.getLogger(__name__)


def suffixes_of(*plain: str) -> tuple[str, ...]:
    """Return the endings of file names, both plain and compressed.

    Examples
    --------
    >>> suffixes_of(".txt")
    ('.txt', '.txt.gz', '.txt.bz2', '.txt.xz')
    """
    return tuple(suffix + packed for suffix in plain for packed in ("", *COMPRESSED))


def find_files(
    path: Paths, suffixes: Sequence[str], editions: Iterable[str] | None, beside: Sequence[str] = ()
) -> dict[str, File]:
    """Return the file of every edition."""
    found: dict[str, File] = {}
    if isinstance(path, Mapping):
        for edition, one in path.items():
            files = files_in(one, suffixes)
            if len(files) > 1:
                raise DataError(f"edition {edition!r}: {one} is {len(files)} files; name one.")
            found[str(edition)] = files[0]
        return keep(found, editions)
    files = files_in(path, suffixes, coded=bool(beside))
    if beside:
        others = [file for file in files if edition_of(file, suffixes) not in beside]
        found = by_language_ending(others, suffixes)
        files = [file for file in files if file not in others] if found else files
    for file in files:
        edition = edition_of(file, suffixes)
        if found.setdefault(edition, file) != file:
            raise DataError(
                f"two files are edition {edition!r}: {found[edition]} and {file}. "
                "Rename one, or give the files by edition, as a mapping."
            )
    return keep(dict(sorted(found.items())), editions)


def files_in(
    path: str | Path | Sequence[str | Path], suffixes: Sequence[str], *, tell: bool = True, coded: bool = False
) -> list[File]:
    """Return the files that paths, directories, archives and globs stand for.

    Other files of a directory whose names end in the code of a language are named in the log if `tell` is true. With
    `coded`, such files are read where there are two or more and none with one of the suffixes, and documents and XML
    beside them never are.
    """
    paths = [path] if isinstance(path, (str, Path)) or not isinstance(path, Iterable) else list(path)
    if not paths:
        raise DataError("no path given: the list of paths is empty.")
    if bad := [one for one in paths if not isinstance(one, (str, Path))]:
        raise DataError(f"a path must be a str or Path, got {bad[0]!r}.")
    found: list[File] = []
    for one in paths:
        given = Path(one).expanduser()
        files = _expand(given, suffixes, tell, coded)
        for file in _texts_of(files, suffixes, coded and not given.exists()):
            found += _in_archive(file, suffixes, coded) if is_archive(file) else [file]
    return found


def _texts_of(files: Sequence[T], suffixes: Sequence[str], coded: bool) -> list[T]:
    """Return the files that may be line-aligned texts, if `coded` is true: with a suffix, else with a code at the end.

    Where neither is there, all files are returned.
    """
    if not coded:
        return list(files)
    names = {file: str(getattr(file, "name", "")) for file in files}
    texts = [file for file in files if not names[file].startswith(DOCUMENTS)]
    named = [file for file in texts if names[file].lower().endswith((*suffixes, *ARCHIVES))]
    ending = [file for file in texts if _ends_in_code(names[file])]
    return named or (ending if len(ending) > 1 else []) or list(files)


def _ends_in_code(name: str) -> bool:
    stem = name[: -len(Path(name).suffix)] if name.lower().endswith(COMPRESSED) else name
    rest, _, last = stem.rpartition(".")
    return bool(rest) and last.lower() not in NO_CODES and language_of(last) is not None


def keep(found: dict[str, T], editions: Iterable[str] | None) -> dict[str, T]:
    """Return the requested editions in the requested order; by default all."""
    if editions is None:
        return found
    wanted = [editions] if isinstance(editions, str) else list(dict.fromkeys(editions))
    unknown = [edition for edition in wanted if edition not in found]
    if unknown:
        raise DataError(f"no file for {len(unknown)} edition(s): {listing(unknown)}. Found: {listing(sorted(found))}.")
    if not wanted:
        raise DataError("no edition asked for: editions is empty.")
    return {edition: found[edition] for edition in wanted}


def edition_of(file: File, suffixes: Sequence[str]) -> str:
    """Return the edition's name: the file's name without its suffix.

    Examples
    --------
    >>> edition_of(Path("bible/deu-luther1912.txt.gz"), [".txt", ".txt.gz"])
    'deu-luther1912'
    """
    for suffix in sorted(suffixes, key=len, reverse=True):
        if file.name.lower().endswith(suffix) and len(file.name) > len(suffix):
            return name_of_file(file.name[: -len(suffix)])
    return name_of_file(Path(file.name).stem)


def by_language_ending(files: Iterable[File], suffixes: Sequence[str]) -> dict[str, File]:
    """Return files by the language codes that end their names; nothing if fewer than nine of ten names end so.

    Of two files of one language, the one with the shorter name has the code, the other the code and what its name has
    more.

    Examples
    --------
    >>> names = ["ref.deu.txt", "ref.spa.txt", "ref-2.spa.txt"]
    >>> {edition: file.name for edition, file in by_language_ending(map(Path, names), [".txt"]).items()}
    {'deu': 'ref.deu.txt', 'spa': 'ref.spa.txt', 'spa-2': 'ref-2.spa.txt'}
    >>> by_language_ending(map(Path, ["deu_Latn.dev", "eng_Latn.dev"]), [".txt"])
    {}
    """
    named: dict[str, list[tuple[str, File]]] = {}
    n_files = n_codes = 0
    for file in files:
        name = file.name
        suffix = next((one for one in sorted(suffixes, key=len, reverse=True) if name.lower().endswith(one)), "")
        rest, _, last = name.removesuffix(name[len(name) - len(suffix) :] if suffix else "").rpartition(".")
        if not rest:
            return {}
        n_files += 1
        n_codes += language_of(last) is not None
        named.setdefault(last, []).append((rest, file))
    if n_files < 2 or n_codes < 0.9 * n_files or len(named) <= 0.5 * n_files:
        return {}
    found: dict[str, File] = {}
    for code, own in named.items():
        (shortest, first), *others = sorted(own, key=lambda one: (len(one[0]), one[0]))
        found[code] = first
        for rest, file in others:
            same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shortest, rest, strict=False)))
            more = rest[same:].strip("-_. ")
            found[f"{code}-{more}"] = file
    return dict(sorted(found.items())) if len(found) == n_files else {}


def language_of(edition: str) -> str | None:
    """Return the ISO 639-3 code of the language code that an edition's name begins with; see `code_of`.

    Examples
    --------
    >>> language_of("deu-x-bible-luther1912-v1"), language_of("de_DE"), language_of("luther")
    ('deu', 'deu', None)
    """
    return code_of(edition)


def _expand(path: Path, suffixes: Sequence[str], tell: bool, coded: bool = False) -> list[Path]:
    try:
        if path.is_dir():
            # archives only where no file is beside them: if they were unpacked there, texts would be read twice
            files = _visible(path, suffixes)
            if coded:
                files = [file for file in files if not file.name.startswith(DOCUMENTS)]
                ending = [file for file in _visible(path, ("",)) if _ends_in_code(file.name)]
                files = files or (ending if len(ending) > 1 else [])
            files = files or _visible(path, ARCHIVES)
            if not files:
                inside = sorted(f"{one.name}/" for one in path.iterdir() if one.is_dir())
                deeper = f" For its directories ({', '.join(inside[:5])}), write {path}/*." if inside else ""
                called = f"{_called(suffixes)}, or *{', *'.join(ARCHIVES)}"
                raise DataError(f"{path}: no file in this directory is called {called}.{deeper}")
            if tell and (ignored := _texts_beside(path, files)):
                logger.warning("%s: not read, as not called %s: %s", path, _called(suffixes), listing(ignored))
        elif path.exists():
            files = [path]
        elif glob.has_magic(str(path)):
            names = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
            files = [Path(name) for name in names if Path(name).is_file()]
            if not files:  # directories of books
                files = [file for name in names for file in _expand(Path(name), suffixes, tell, coded)]
            if not files:
                raise DataError(f"{path}: no file matches this pattern (looked in {Path.cwd()}).")
        else:
            raise DataError(f"{path}: no such file or directory.")
    except OSError as error:
        raise DataError(f"{str(path)[:200]}: this path cannot be read: {error.strerror}.") from error
    return sorted(file.absolute() for file in files)


def _in_archive(archive: Path, suffixes: Sequence[str], coded: bool = False) -> Sequence[File]:
    members = members_of(archive)
    files = [one for one in _texts_of(members, suffixes, coded) if one.name.lower().endswith(tuple(suffixes))]
    files = files or [one for one in _texts_of(members, suffixes, coded) if coded and _ends_in_code(one.name)]
    if not files:
        raise DataError(f"{archive}: no file in this archive is called {_called(suffixes)}.")
    return files


def _visible(folder: Path, suffixes: Sequence[str]) -> list[Path]:
    files = (file for file in folder.iterdir() if not file.name.startswith("."))
    return [file for file in files if file.name.lower().endswith(tuple(suffixes)) and file.is_file()]


def _texts_beside(folder: Path, files: Sequence[Path]) -> list[str]:
    """Return the names of the other files in a folder that begin or end with the code of a language, as texts do."""
    names = [file.name for file in _visible(folder, ("",)) if file not in files]
    return sorted(name for name in names if language_of(Path(name).stem) or _ends_in_code(name))


def _called(suffixes: Sequence[str]) -> str:
    plain = [suffix for suffix in suffixes if not suffix.endswith(COMPRESSED)]
    return f"*{', *'.join(plain)} (or compressed)"
