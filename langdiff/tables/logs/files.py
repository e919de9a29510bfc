"""Files of logs: their kinds, what paths, folders, globs and archives stand for, and languages told by names."""

import glob
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from langdiff.base.archives import COMPRESSED, is_archive, members_of
from langdiff.base.iso639 import iso639_3, with_english_names
from langdiff.base.toml import read_packaged
from langdiff.errors import DataError, listing, option, warn
from langdiff.tables.logs import flat, inspect, lm_eval, openai
from langdiff.tables.logs.kind import HEAD, Kind, Source

KINDS: tuple[Kind, ...] = (  # the first that a file's beginning tells is taken
    lm_eval.KIND,
    openai.VLLM,
    openai.KIND,
    openai.LLAMA,
    inspect.KIND,
    flat.NESTED,
    flat.OUTCOMES,
    flat.MINICONS,
    flat.FLAT,
    flat.NUMBERS,
)


def kind_of(source: Source) -> Kind | None:
    """Return the kind of a file, told by its beginning; None if it is of no kind."""
    return next((kind for kind in KINDS if kind.tells(source)), None)


def unknown(source: Source) -> DataError:
    """Return the error for a file that is of no kind, with its beginning and the kinds that there are."""
    begins = f"columns {', '.join(source.header)}" if source.is_table else source.head
    kinds = "; ".join(f"{kind.name} ({kind.told})" for kind in KINDS)
    return DataError(f"{source}: not a log of a known kind; it begins with {begins[:HEAD]!r}. Kinds: {kinds}.")


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
            by_name = f"Give files of one number per line by name, such as {path / '*.txt'}."
            raise DataError(f"{path}: no log there; names end in {', '.join(ENDINGS)}. {by_name}")
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


_LANGUAGES: dict[str, dict[str, str]] = read_packaged("langdiff.tables.logs", "languages.toml")
KNOWN = frozenset(_LANGUAGES["codes"]["known"].split())
SCRIPTS = frozenset(_LANGUAGES["codes"]["scripts"].split())
REGION = re.compile(r"[a-z]{2}|[0-9]{3}")  # ISO 3166, or UN M49
OF_CHINESE = {"simplified": "Hans", "traditional": "Hant"}
MOST = 4  # parts of a name that tell a language


class Told(NamedTuple):
    """Language that parts of a name tell, by a code or a name; with a script or region, and its code again, or bare."""

    language: str
    written: str
    named: bool = False
    bare: bool = True
    region: str = ""
    again: bool = False


def _plain(part: str) -> str:
    return re.sub(r"^[\W_]+", "", part).lower()


def told_by(parts: Sequence[str]) -> Told | None:
    """Return the language that parts of a name tell together; None if they tell none.

    A code of ISO 639 may be followed by a script, a region and the same code again. An English name may have several
    words.

    Examples
    --------
    >>> [told_by(parts).language for parts in (["deu", "_Latn"], ["de", "_de"], ["EN"], ["chinese", "_simplified"])]
    ['deu_Latn', 'de', 'en', 'zho_Hans']
    >>> told_by(["easy"])
    """
    first, *rest = words = list(map(_plain, parts))
    code = iso639_3(first)
    if code is None:
        scripts = [OF_CHINESE[word] for word in words if word in OF_CHINESE]
        named = _codes_by_name().get(" ".join(word for word in words if word not in OF_CHINESE))
        return None if named is None or len(scripts) > 1 else Told("_".join([named, *scripts]), named, named=True)
    kept, region, script = [first], "", ""
    for word, part in zip(rest, parts[1:], strict=True):
        if iso639_3(word) == code:
            continue
        if word in SCRIPTS and not script:
            script = word
        elif REGION.fullmatch(word) and not region:
            region = word
        else:
            return None
        kept.append(part)
    return Told("".join(kept), first, bare=len(kept) == 1, region=region, again=len(kept) < len(parts))


@cache
def _codes_by_name() -> dict[str, str]:
    return with_english_names() | _LANGUAGES["names"]


class Reading(NamedTuple):
    """A way to read a name: the parts before and after the language, its place, and the language told."""

    before: tuple[str, ...]
    after: tuple[str, ...]
    begin: int
    end: int
    told: Told

    @property
    def pattern(self) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
        """What the names of a family share."""
        return self.before, self.after, self.told.named


def _readings(name: str) -> list[Reading]:
    parts = re.findall(r"[\W_]*[^\W_]+", name)
    words = list(map(_plain, parts))
    spans = [(begin, end) for begin in range(len(parts)) for end in range(begin + 1, min(begin + MOST, len(parts)) + 1)]
    found = [(begin, end, told_by([words[begin], *parts[begin + 1 : end]])) for begin, end in spans]
    return [Reading(tuple(words[:b]), tuple(words[e:]), b, e, told) for b, e, told in found if told is not None]


def families_of(names: Iterable[str], *, wide: bool = True) -> dict[str, dict[str, str]]:
    """Return the families of tasks, ``PREFIX_*_SUFFIX``, each with the language of its tasks.

    The star is the part by which most others differ; names that differ from no other in a language are families of one,
    without a language. Unless `wide` is false, most languages are in wide use, or have a script or region.

    Examples
    --------
    >>> families_of(["belebele_deu_Latn", "belebele_fin_Latn", "arc_easy"])
    {'belebele_*': {'belebele_deu_Latn': 'deu_Latn', 'belebele_fin_Latn': 'fin_Latn'}, 'arc_easy': {}}
    >>> families_of(["wic", "wsc", "rte"]), families_of(["mlqa_ar_de", "mlqa_de_ar"])
    ({'wic': {}, 'wsc': {}, 'rte': {}}, {'mlqa_ar_de': {}, 'mlqa_de_ar': {}})
    """
    readings = {name: _readings(name) for name in dict.fromkeys(names)}
    members: dict[Any, list[Told]] = defaultdict(list)
    for each in readings.values():
        for reading in each:
            members[reading.pattern].append(reading.told)
    ranks = {
        pattern: (len(told), 2 * sum(one.again for one in told) >= len(told))
        for pattern, told in members.items()
        if _is_family(told, wide=wide)
    }
    families: dict[str, dict[str, str]] = {}
    for name, each in readings.items():
        there = [reading for reading in each if reading.pattern in ranks]
        best = max(there, key=lambda one: (*ranks[one.pattern], one.begin, one.end), default=None)
        if best is None:
            families[name] = {}
        else:
            families.setdefault("_".join([*best.before, "*", *best.after]), {})[name] = best.told.language
    return families


def _is_family(told: Sequence[Told], *, wide: bool) -> bool:
    """Return whether names differ in their languages: each has another, most a known one, and none has two."""
    known = sum(not one.bare or one.written in KNOWN for one in told)
    distinct = len({one.language for one in told}) == len(told) > 1
    return distinct and (2 * known > len(told) or not wide) and not _are_pairs(told)


def _are_pairs(told: Sequence[Told]) -> bool:
    """Return whether regions are second languages, as in ``ar_de`` and ``de_ar``, or ``mt_de`` and ``mt_fr``."""
    pairs = [(one.written, one.region) for one in told if one.region]
    firsts, seconds = {one.written for one in told}, {second for _, second in pairs}
    crossed = sum(first in seconds and second in firsts for first, second in pairs)
    if 2 * crossed > max(len(pairs), 1) or (len(seconds) > 1 and 2 * len(pairs) > len(told) and seconds <= KNOWN):
        return True
    with_itself = {one.written for one in told if one.again}
    of_first = {first: {second for one, second in pairs if one == first} for first in firsts - with_itself}
    return any(len(others) > 1 and others <= KNOWN for others in of_first.values())
