"""Rows of all files as one table, with the system and the language of each."""

import re
from collections.abc import Iterable, Mapping, Sequence
from os.path import commonprefix
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.errors import ConfigError, DataError, Fault, FaultsError, listing, option, warn
from langdiff.tables.logs.doubts import without_marks
from langdiff.tables.logs.files import kind_of, languages_of, sources_of, to_fill, unknown
from langdiff.tables.logs.flat import END
from langdiff.tables.logs.kind import ROLES, About, Asked, Kind, Row, Source

WITHOUT_END = ("lm-eval", "openai", "vllm")  # kinds that never score the end of a text
NUMBERS = ("bits", "eos_bits", "characters", "bytes", "units", "trials", "chance")
NAMELESS = "unknown"  # system of logs that do not tell it


class Files(NamedTuple):
    """Rows of all files, and one row per file."""

    rows: pd.DataFrame
    sources: pd.DataFrame
    notes: list[str]


def read_files(paths: Iterable[Path] | Mapping[str, Path], tables: Iterable[pd.DataFrame], asked: Asked) -> Files:
    """Read all files."""
    given = paths if isinstance(paths, Mapping) else {}
    found: list[tuple[Source, Kind, str | None]] = []
    for language, path in given.items():
        found += [(source, kind, str(language)) for source, kind in sources_of([path])]
    if not isinstance(paths, Mapping):
        found = [(source, kind, None) for source, kind in sources_of(paths)]
    for table in tables:
        source = Source(Path("the table"), table)
        kind = kind_of(source)
        if kind is None:
            raise unknown(source)
        found.append((source, kind, None))
    parts, about, notes = [], [], []
    noted: dict[str, list[Source]] = {}
    for number, (source, kind, language) in enumerate(found):
        read, told = kind.read(source, asked)
        of_lines = kind.name in ("flat", "minicons")
        read = without_marks(read, source, told.unit or "bits", asked.doubts, of_lines=of_lines)
        notes += _empty(source, kind) if not read and len(found) > 1 and not asked.faults else []
        for note in told.notes:
            noted.setdefault(note, []).append(source)
        about.append(_described(source, kind, told, read))
        frame = _named_alike(_framed(read), source, asked, given=language is not None)
        frame["source"], frame["kind"] = number, kind.name
        if language is not None:
            frame["language"] = language
        parts.append(frame)
    if asked.faults and asked.on_error == "raise":
        raise FaultsError(asked.faults)
    notes += [f"{of[0]}{f' and {len(of) - 1} more' * (len(of) > 1)}: {note}" for note, of in noted.items()]
    _check_signs(about)
    sources = pd.DataFrame(about)
    rows = pd.concat([part for part in parts if len(part)], ignore_index=True) if any(map(len, parts)) else parts[0]
    if not len(rows):
        raise DataError(f"{listing(map(str, sources['file']))}: no sample, no text and no answer.")
    places = [
        f"{one['file']}, {'sample' if one['kind'] == 'inspect' else 'line'}" for one in about
    ]  # of the rows of each file
    rows["where"] = [f"{places[number]} {line}" for number, line in zip(rows["source"], rows["line"], strict=True)]
    return Files(rows, sources, notes)


def _empty(source: Source, kind: Kind) -> list[str]:
    """Return a note on a file without samples, or raise an error."""
    if kind.name != "inspect":
        raise DataError(f"{source}: no sample and no text. Leave the file out.")
    return [f"{source}: no sample"]


def _framed(rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a table; texts stay objects, since some are not Unicode."""
    columns = zip(*rows, strict=True) if len(rows) else ([] for _ in Row._fields)
    found = {name: pd.Series(list(values), dtype=object) for name, values in zip(Row._fields, columns, strict=True)}
    return pd.DataFrame({name: part.astype(float) if name in NUMBERS else part for name, part in found.items()})


def _named_alike(frame: pd.DataFrame, source: Source, asked: Asked, *, given: bool) -> pd.DataFrame:
    """Return the rows of a file that have the names which others have; rows without them become faults."""
    for name in ROLES:
        lacks = frame[name].isna() & (not (given and name == "language"))
        if lacks.any() and not lacks.all():
            said = f"has no {name}, which {int((~lacks).sum()):,} other records of the file have."
            asked.faults.extend(Fault(str(source), int(line), said) for line in frame.loc[lacks, "line"])
            frame = frame[~lacks]
    return frame.reset_index(drop=True)


def _described(source: Source, kind: Kind, told: About, rows: Any) -> dict[str, Any]:
    return {
        "file": str(source),
        "sha256": source.digest(),
        "kind": kind.name,
        "version": told.version,
        "unit": told.unit,
        "start": told.start,
        "shots": told.shots,
        "rows": len(rows),
        "counted": told.rows,
        "below": told.below,
    }


def _check_signs(about: list[dict[str, Any]]) -> None:
    """Check that log-probabilities and their negatives are not mixed."""
    first: dict[bool, str] = {}
    for one in about:
        if one["below"] is not None:
            first.setdefault(bool(one["below"]), one["file"])
    if len(first) > 1:
        raise DataError(
            f"{first[True]} has log-probabilities, and {first[False]} their negatives: give log-probabilities in all "
            "files, or surprisals in all."
        )


def shortest_ends(names: Iterable[str]) -> dict[str, str]:
    """Return the shortest ends of names that are paths, which tell them from all others; other names as they are.

    Examples
    --------
    >>> list(shortest_ends(["/a/llama/base/", "/a/gpt2/base", "./mine", "org/model"]).values())
    ['llama/base', 'gpt2/base', 'mine', 'org/model']
    """
    parts = {name: [part for part in re.split(r"[/\\]", name) if part] for name in names}
    paths = {name for name in parts if name.startswith((".", "~")) or len(re.findall(r"[/\\]", name)) > 1}
    paths |= {name for name in parts if name.startswith("/") and parts[name]}
    found = {name: name for name in parts}
    for name in paths:
        for count in range(1, len(parts[name]) + 1):
            found[name] = "/".join(parts[name][-count:])
            others = [parts[other][-count:] if other in paths else [other] for other in parts if other != name]
            if parts[name][-count:] not in others:
                break
    return found


def with_systems(rows: pd.DataFrame, system: str | Mapping[str, str] | None) -> pd.DataFrame:
    """Return rows with the names of their systems."""
    ends = shortest_ends(map(str, rows["system"].dropna().unique()))
    rows = rows.assign(system=rows["system"].map(ends, na_action="ignore"))
    if isinstance(system, Mapping):
        folder = rows["folder"]
        known = [
            system.get(str(name), system.get(place, name)) for name, place in zip(rows["system"], folder, strict=True)
        ]
        unused = set(map(str, system)) - set(map(str, rows["system"])) - set(folder)
        if unused:
            there = listing(dict.fromkeys([*rows["system"].dropna(), *folder]))
            raise ConfigError(f"{option('system')}: no system or folder {listing(sorted(unused))}; there are {there}.")
        rows["system"] = known
    elif system is not None:
        inside = [document.get(system) for document in rows["document"]]
        if all(value is not None for value in inside):
            rows["system"] = list(map(str, inside))
        elif not (rows["kind"].isin(["flat", "outcomes"]) & rows["system"].notna()).all():
            rows["system"] = system
        else:
            there = listing(pd.unique(rows["system"]))
            warn(f"{option('system', system)} is not used, since the logs name their systems: {there}.")
    rows["system"] = rows["system"].where(rows["system"].notna(), NAMELESS).astype(str)
    return rows


def with_languages(
    rows: pd.DataFrame, language: str | Mapping[str, str] | None, *, alone: bool, facts: Mapping[str, str]
) -> pd.DataFrame:
    """Return rows with their languages, empty where these are not known."""
    rows = rows.copy()
    if isinstance(language, str):
        key = language.removeprefix("doc ")
        inside = [document.get(key) for document in rows["document"]]
        told = [own if value is None else str(value) for value, own in zip(inside, rows["language"], strict=True)]
        absent = [where for value, where in zip(told, rows["where"], strict=True) if value is None]
        if absent:
            raise DataError(
                f"{absent[0]}: no key {key!r}. {option('language')} is a key of the documents, or a mapping from tasks "
                "or files to languages."
            )
        return rows.assign(language=told)
    missing = rows["language"].isna()
    if not missing.any():
        return rows
    names = rows["task"].where(rows["task"].notna(), rows["stem"])
    of_names = languages_of(
        list(pd.unique(names[missing])), language, facts, tasks=bool(rows.loc[missing, "task"].notna().all())
    )
    unnamed = pd.unique(names[missing])
    if not of_names and alone and len(unnamed) == 1:
        of_names = {unnamed[0]: str(unnamed[0])}
    if not of_names and len(unnamed) > 1:
        said = "; ".join(f"{name}: {facts[name]}" for name in unnamed[:5] if name in facts)
        pattern = f"{commonprefix(list(unnamed))}*"  # noqa: RUF071 what the names begin with, letter by letter
        raise DataError(
            f"{len(unnamed)} tasks or files, and neither a field nor their names tell of which languages they are "
            f"({said}). Say so: {to_fill(unnamed)}; a name may be a pattern: {option('language', {pattern: '…'})}."
        )
    rows["language"] = rows["language"].where(~missing, names.map(of_names))
    return rows


def ended(rows: pd.DataFrame) -> list[bool | None]:
    """Return whether the end of each text was scored; None where this is not known."""
    found: list[bool | None] = []
    for tokens, eos, kind in zip(rows["tokens"], rows["eos_bits"], rows["kind"], strict=True):
        if tokens is not None:
            found.append(bool(tokens.names) and tokens.names[-1] == END)
        elif not np.isnan(eos):
            found.append(True)
        else:
            found.append(False if kind in WITHOUT_END else None)
    return found


def with_places(rows: pd.DataFrame, sources: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the name of their file without its endings, ``stem``, and of its ``folder``."""
    stems = {number: Path(file).name.split(".")[0] for number, file in sources["file"].items()}
    folders = {number: Path(file).absolute().parent.name for number, file in sources["file"].items()}
    return rows.assign(stem=rows["source"].map(stems), folder=rows["source"].map(folders))
