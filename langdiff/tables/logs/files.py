"""Files of logs: what paths, folders, globs and archives stand for, and the languages that their tasks name."""

import glob
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from langdiff.base.archives import COMPRESSED, is_archive, members_of
from langdiff.errors import DataError, listing, warn
from langdiff.tables.logs.codes import KNOWN
from langdiff.tables.logs.kind import Kind, Source
from langdiff.tables.logs.registry import kind_of, unknown

ENDINGS = (".jsonl", ".json", ".eval", ".csv", ".tsv", ".parquet")  # files of a folder that may be logs
BESIDE = re.compile(r"results_.*\.json|.*\.(provenance|logs)\.json")  # what lies beside logs, and is read with them
CODE = re.compile(r"[A-Za-z]{2,3}")  # of a language, as tasks and files name it
REGION = re.compile(r"[A-Z]{2}|[0-9]{3}")  # after the code
SCRIPTS = """arab armn beng cans cher cyrl deva ethi geor grek gujr guru hang hani hans hant hebr jpan khmr knda kore
laoo latn limb mlym mong mtei mymr nkoo olck orya sinh sund syrc taml telu tfng thaa thai tibt vaii yiii"""  # ISO 15924


def sources_of(paths: Iterable[Path]) -> list[tuple[Source, Kind]]:
    """Return the logs that paths stand for, with their kinds.

    Parameters
    ----------
    paths : iterable of Path
        Files, folders (with all below them), zip archives or glob patterns.

    Raises
    ------
    DataError
        If a path stands for no file, or a file that was named is of no known kind.

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


def pieces_of(name: str) -> list[str]:
    """Return the parts of the name of a task or file; a script or region stays with the code of its language.

    Examples
    --------
    >>> pieces_of("belebele_deu_Latn")
    ['belebele', 'deu_Latn']
    """
    parts = re.split(r"([_\-.])", name)
    pieces = [parts[0]]
    for separator, part in zip(parts[1::2], parts[2::2], strict=True):
        tells_script = (len(part) == 4 and part.lower() in SCRIPTS) or REGION.fullmatch(part)
        if tells_script and CODE.fullmatch(pieces[-1]):
            pieces[-1] += separator + part
        else:
            pieces.append(part)
    return pieces


def families_of(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the families of tasks, ``PREFIX_*_SUFFIX``, each with the language of its tasks.

    The star is the part by which most others differ; names that differ from no other in one part are families of one,
    without a language.

    Examples
    --------
    >>> families_of(["belebele_deu_Latn", "belebele_fin_Latn", "arc_easy"])
    {'belebele_*': {'belebele_deu_Latn': 'deu_Latn', 'belebele_fin_Latn': 'fin_Latn'}, 'arc_easy': {}}
    """
    pieces = {name: pieces_of(name) for name in dict.fromkeys(names)}
    counts: Counter[tuple[str, ...]] = Counter()
    for parts in pieces.values():
        counts.update(pattern for _, pattern in _patterns(parts))
    families: dict[str, dict[str, str]] = {}
    for name, parts in pieces.items():
        best = max(_patterns(parts), key=lambda each: counts[each[1]], default=None)
        if best is None or counts[best[1]] < 2:
            families[name] = {}
        else:
            families.setdefault("_".join(best[1]), {})[name] = parts[best[0]]
    return families


def _patterns(parts: Sequence[str]) -> list[tuple[int, tuple[str, ...]]]:
    """Return the places of parts that may be languages, with the rest of the name."""
    return [
        (place, (*parts[:place], "*", *parts[place + 1 :]))
        for place, part in enumerate(parts)
        if CODE.fullmatch(part.split("_")[0].split("-")[0])
    ]


def _of_languages(codes: Mapping[str, str]) -> bool:
    """Return whether most tasks of a family are told by codes of languages, not by names such as art, bio and law."""
    known = [code for code in codes.values() if re.search("[_-]", code) or code.lower() in KNOWN]
    return 2 * len(known) > len(codes)


def languages_of(
    names: Sequence[str], given: Mapping[str, str] | None, facts: Mapping[str, str], *, tasks: bool = False
) -> dict[str, str]:
    """Return the language of each task or file; empty where their names tell none.

    Parameters
    ----------
    names : sequence of str
        Names of tasks, or of files where there are no tasks.
    given : mapping or None
        Languages that the user gave.
    facts : mapping from str to str
        What an error tells of each task: its size and metrics.
    tasks : bool
        Whether the names are of tasks, which have codes of languages that are widely known, or with a script or region.

    Raises
    ------
    DataError
        If tasks are of several families, or one of the tasks has no language in the mapping.
    """
    if given is not None:
        absent = [name for name in names if name not in given]
        if absent:
            raise DataError(f"no language is given for {len(absent)} task(s) or file(s): {listing(absent)}.")
        return {name: str(given[name]) for name in names}
    families = families_of(names)
    if tasks:
        families = {family: found if _of_languages(found) else {} for family, found in families.items()}
    told = {family: found for family, found in families.items() if found}
    if not told:
        return {}
    if len(families) > 1:
        lines = [
            f"{family}: {len(tasks) or 1} task(s), {facts.get(next(iter(tasks), family), '')}"
            for family, tasks in families.items()
        ]
        raise DataError(
            f"{len(families)} families of tasks, and one table is of one: {'; '.join(lines)}. Give the files of one, "
            "choose a metric that only one has (metric=…), or say which language a task is of (language={task: code})."
        )
    return next(iter(told.values()))
