"""First experiment file for a folder of texts: what was found, what was guessed, and what could not be known."""

import json
import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from langdiff.base.iso639 import code_named, english_names
from langdiff.corpora import read_multitext
from langdiff.corpora.formats.registry import guess_format, known_formats
from langdiff.errors import DataError, LangdiffError
from langdiff.tables.logs.reading import read_logs
from langdiff.tables.multitext import Multitext

TABLES = ("*.csv", "*.tsv", "*.csv.gz", "*.tsv.gz")
LOGS = ("*.jsonl", "*.json", "*.eval")
BLOCK = (30, 5, 5)  # intents, of these for tuning and for measuring
SMALL = 3000  # intents, below which folds are worth their time
START = 7  # processor seconds of a run besides its models
PER_MILLION = {"kneser-ney-6": 1.5, "char-residual": 250}  # processor seconds per million characters


@dataclass(frozen=True)
class Draft:
    """Text of an experiment file; empty for logs, for which `found` says what to do."""

    found: str
    text: str = ""


def draft_experiment(folder: Path, out: Path) -> Draft:
    """Return the experiment file for a folder, with paths relative to the folder of `out`."""
    texts, reasons = _read(folder)
    if texts is not None:
        multitext, format, path = texts
        return Draft(repr(multitext), "\n".join(_lines(multitext, format, path, out)) + "\n")
    if systems := _systems(folder):
        then = "outcomes fit logs.parquet" if " answers" in systems else "table logs.parquet --pairs"
        return Draft(
            f"{folder} holds logs of evaluations: {systems}. They need no experiment file:\n"
            f"  langdiff import {quote(str(folder))} --out logs.parquet\n  langdiff {then}"
        )
    tried = "\n".join(f"  as {name}: {why}" for name, why in reasons.items())
    raise DataError(f"{folder}: neither texts nor logs that can be read.\n{tried}")


def _read(folder: Path) -> tuple[tuple[Multitext, str, Path] | None, dict[str, str]]:
    """Return the texts, their format and their path; or why each trial failed. A format that is recognized is final."""
    tables = [path for pattern in TABLES for path in sorted(folder.glob(pattern))]
    reasons: dict[str, str] = {}
    try:
        trials = [(guess_format(folder, list(known_formats().values())).name, folder)]
    except LangdiffError as error:
        reasons["a format by its beginning"] = str(error)
        trials = [("moses", folder), *(("table", path) for path in tables)]
    for name, path in trials:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the file says it
            try:
                multitext = read_multitext(path, format=name, on_error="skip")
            except LangdiffError as error:
                reasons[f"{name} ({path.name})"] = str(error)
                continue
        if len(multitext.editions) > 1:
            return (multitext, name, path), reasons
        reasons[f"{name} ({path.name})"] = "fewer than two editions."
    return None, reasons


def _systems(folder: Path) -> str:
    files = [path for pattern in LOGS for path in sorted(folder.rglob(pattern))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return repr(read_logs(files, on_error="skip"))
        except LangdiffError:
            return ""


def _lines(multitext: Multitext, format: str, path: Path, out: Path) -> Iterator[str]:
    """Yield the lines of the file, with question marks where a person should look."""
    intents, editions = len(multitext.intents), len(multitext.editions)
    where = Path(os.path.relpath(path, out.absolute().parent)).as_posix()
    yield f"# Written by `langdiff init`. Look at the lines with a question mark, then: langdiff run {quote(str(out))}"
    yield f"name = {json.dumps(out.stem)}\nseed = 0\n\n[corpus] # {intents:,} texts in {editions} editions"
    yield f"format = {json.dumps(format)}\npath = {json.dumps(where)}"
    rows = [
        (row.level, f"{row.edition!s}: {' '.join(str(row.why).split())}") for row in multitext.left_out.itertuples()
    ]
    named = ("doubted", "repaired")
    if any(level not in named for level, _ in rows):
        yield 'on_error = "skip" # ? what cannot be read is left out; without this line it is an error:'
    yield from (f"#   {why}" for level, why in rows if level not in named)
    yield from (f"# ? {level!s}: {why}" for level, why in rows if level in named)
    yield from _languages(multitext)
    presence = multitext.presence.to_numpy()
    if not presence.all():
        least = int(presence.all(axis=1).sum())
        missing = f"{100 * (1 - presence.mean()):.1f} % of texts are missing"
        yield f"\n[selection] # {missing}; all editions have {least:,}"
        yield f"min_intents = {max(1, least)} # ? more texts leave fewer editions"
    block, dev, test = BLOCK
    yield f"\n[split] # of {block} texts {block - dev - test} train, {dev} tune, {test} are measured"
    yield f"block = {block}\ndev = {dev}\ntest = {test}"
    if intents < SMALL:
        yield "# folds = 5 # ? in place of the three lines: all texts are measured, in five times the time"
    if "document" in multitext.intent_info:
        yield '# groups = "document" # ? documents are not divided: the test is of other documents'
    yield from _models(multitext)
    clusters = [name for name in ("document", "book", "chapter") if name in multitext.intent_info]
    why = f"by {clusters[0]}, which is known" if clusters else "? no documents are known: texts count as independent"
    yield f'\n[fit]\nmodel = "2"\nclusters = "auto" # {why}'
    yield "# Not known: from which language each text was translated, and under which licence the texts are."


def _languages(multitext: Multitext) -> Iterator[str]:
    languages = multitext.edition_info["language"].dropna()
    names = english_names(map(str, languages))
    shown = ", ".join(f"{edition} = {names[code]}" for edition, code in languages.items() if code in names)
    yield 'tokenization = "reversible" # ? "as-is" for texts whose words are parted already'
    yield f"# ? languages, by the names of editions: {shown or 'none'}"
    unknown = [str(name) for name in multitext.editions if languages.get(name) not in names]
    if guessed := {name: code for name in unknown if (code := code_named(name))}:
        yield f"# ? these may be, by their English names: {', '.join(map(' = '.join, guessed.items()))}."
        yield "#   A run knows codes only: name the files by them, or write a table, edition_info: edition, iso639_3."
    if others := [name for name in unknown if name not in guessed]:
        yield f"# ? language not known: {', '.join(others)}. Name the files by codes, or give a table as edition_info."


def _models(multitext: Multitext) -> Iterator[str]:
    """Yield the section of language models, with the time that they take on one core."""
    millions = multitext.edition_sizes()["characters"].sum() / 1e6
    grams, networks = (_duration(START + millions * seconds) for seconds in PER_MILLION.values())
    yield f'\n[lm] # {millions:.1f} million characters\nmodels = ["kneser-ney-6"] # {grams} of one core'
    yield f'# models = ["kneser-ney-6", "char-residual"] # ? networks: {networks}; they need langdiff[lm]'
    yield "workers = 1"


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"about {seconds:.0f} seconds"
    return f"about {seconds / 60:.0f} minutes" if seconds < 5400 else f"about {seconds / 3600:.0f} hours"
