"""Files of logs: what paths, folders, globs and archives stand for, and the languages that their tasks name."""

import glob
import re
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from langdiff.base.archives import COMPRESSED, is_archive, members_of
from langdiff.errors import DataError, listing, option, warn
from langdiff.tables.logs.codes import families_of
from langdiff.tables.logs.kind import Kind, Source
from langdiff.tables.logs.registry import kind_of, unknown

ENDINGS = (".jsonl", ".json", ".eval", ".csv", ".tsv", ".parquet")  # files of a folder that may be logs
BESIDE = re.compile(r"results_.*\.json|.*\.(provenance|logs)\.json")  # what lies beside logs, and is read with them
MOST_FAMILIES = 8  # that a message lists


def sources_of(paths: Iterable[Path]) -> list[tuple[Source, Kind]]:
    """Return the logs that paths stand for, with their kinds.

    Warns
    -----
    LangdiffWarning
        If other files in a folder or archive are of no known kind.
    """
    found: dict[Source, Kind] = {}
    for path in paths:
        named, sources = _expanded(path)
        kinds = {source: kind_of(source) for source in sources}
        others = [source for source, kind in kinds.items() if kind is None]
        if others and (named or len(others) == len(kinds)):
            raise unknown(others[0])
        if others:
            warn(f"{path}: not read, since of no known kind of log: {listing(str(each) for each in others)}.")
        found |= {source: kind for source, kind in kinds.items() if kind is not None}
    return list(found.items())


def _expanded(path: Path) -> tuple[bool, list[Source]]:
    """Return whether single files were named, and the files."""
    path = path.expanduser()
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file() and _may_be(each.name))
        if not inside:
            raise DataError(f"{path}: no log there; names end in {', '.join(ENDINGS)}.")
        return False, [Source(each) for each in inside]
    if is_archive(path) and path.is_file():
        members = [Source(each) for each in members_of(path) if _may_be(each.name)]
        if not members:
            raise DataError(f"{path}: no log in this archive; names end in {', '.join(ENDINGS)}.")
        return False, members
    if not path.exists() and glob.has_magic(str(path)):
        names = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (Path.glob takes no absolute pattern)
        inside = [Path(name) for name in names if Path(name).is_file() and not BESIDE.fullmatch(Path(name).name)]
        if not inside:
            raise DataError(f"{path}: no file matches this pattern.")
        return True, [Source(each) for each in inside]
    return True, [Source(path)]


def _may_be(name: str) -> bool:
    plain = name.lower()
    for packed in COMPRESSED:
        plain = plain.removesuffix(packed)
    return plain.endswith(ENDINGS) and not name.startswith(".") and not BESIDE.fullmatch(name)


def languages_of(
    names: Sequence[str], given: Mapping[str, str] | None, facts: Mapping[str, str], *, tasks: bool = False
) -> dict[str, str]:
    """Return the language of each task or file; empty where their names tell none."""
    if given is not None:
        told = {name: _given(name, given) for name in names}
        if absent := [name for name, language in told.items() if language is None]:
            raise DataError(f"no language is given for {len(absent)} task(s) or file(s): {listing(absent)}.")
        return {name: str(language) for name, language in told.items()}
    families = families_of(names, wide=tasks)
    found = [members for members in families.values() if members]
    if found and len(families) > 1:
        lines = [
            f"{family}: {len(members) or 1} task(s), {facts.get(next(iter(members), family), '')}"
            for family, members in families.items()
        ]
        more = f"; and {len(lines) - MOST_FAMILIES} more" if len(lines) > MOST_FAMILIES else ""
        raise DataError(
            f"{len(families)} families of tasks, and one table is of one: {'; '.join(lines[:MOST_FAMILIES])}{more}. "
            f"Give the files of one, choose a metric that only one has ({option('metric')}), or say which language a "
            f"task is of: {to_fill(names)}."
        )
    return found[0] if found else {}


def _given(name: str, given: Mapping[str, str]) -> str | None:
    return given.get(name, next((one for pattern, one in given.items() if fnmatchcase(name, pattern)), None))


def to_fill(names: Iterable[str]) -> str:
    """Return the option that tells the languages of tasks or files, to be filled in; long lists are cut."""
    return option("language", dict.fromkeys(list(names)[:MOST_FAMILIES], "…"))
