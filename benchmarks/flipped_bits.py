"""Flip single bits in the files of a run: ``python benchmarks/flipped_bits.py [--flips N] [--seed S]``.

A small experiment is run once. Then, N times, one bit of one file (kinds of file take turns) is flipped, and the
files are read as they are in use: those of a run by `read_run`, those of a job by the surprisals of the cache,
another text scored by its models and the training logs, the state of an unfinished training by going on from it,
tables of surprisals beside their provenance by `read_surprisals`.
A flip is *detected* if an error or a warning of the package names the file, or the folder of its job;
*harmless* if nothing is said and all that is returned is bit-identical; else it is *silent*. `verify_run` must name
every flipped file but those that are checked otherwise (``preparation.json``, and states, which carry their hash in
their name). Prints counts by kind of file; the exit code is 1 if a flip was silent or escaped `verify_run`.
"""

import argparse
import logging
import shutil
import sys
import tempfile
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import langdiff as ld
from langdiff.base.signature import full_hash
from langdiff.errors import LangdiffError
from langdiff.lm import RECIPES, compute_surprisals, read_training_logs, score_multitext
from langdiff.lm.lstm.resume import StateFolder
from langdiff.lm.texts import note_preparation, read_preparation
from langdiff.run import Experiment, read_run, run_experiment, verify_run

RUN = {
    "name": "flips",
    "corpus": {"format": "synthetic", "n_intents": 120, "n_languages": 2},
    "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
}
NETWORK = replace(RECIPES["bpe-tiny"], epochs=2, embedding_size=8, hidden_size=8, layers=1, name="flipped", min_count=2)


class Killed(BaseException):
    """What ends a training in the middle."""


def digest_of_table(table: ld.Surprisals) -> str:
    """Return a hash of all numbers of a table and of its record."""
    beside = [table.eos_bits, table.characters, table.bytes, table.replaced]
    return full_hash(table.bits, *beside, str(table.provenance))


def read_results(directory: Path) -> str:
    """Read a run back."""
    run = read_run(directory)
    fits = [full_hash(fit.difficulty, fit.covariance, fit.intent_size, fit.signature) for fit in run.fits.values()]
    tables = list(map(digest_of_table, run.surprisals.values()))
    return full_hash(fits, tables, run.editions, run.truth, str(run.manifest), str(run.experiment))


class Cache:
    """A cache of a network and n-grams, and what is read from it."""

    def __init__(self, parts: ld.Parts) -> None:
        self.parts = parts

    def __call__(self, directory: Path) -> str:
        """Return a hash of surprisals, logs, and of what the models say of another text."""
        found = []
        for lm in (NETWORK, "kneser-ney-2"):
            options: dict[str, Any] = {"lm": lm, "max_replaced": 1.0, "progress": False}
            found.append(digest_of_table(compute_surprisals(self.parts, cache=directory, seed=0, **options)))
            found.append(digest_of_table(score_multitext(self.parts.dev, directory, **options)))
        logs = read_training_logs(directory).drop(columns=["seconds", "characters_per_second"])
        return full_hash(found, logs)

    def interrupted(self, directory: Path) -> None:
        """Train until two states are kept, of a network that is not finished."""
        write = StateFolder.write

        def written(states: StateFolder, state: Any) -> None:
            write(states, state)
            if state.epoch == 2:
                raise Killed

        StateFolder.write = written  # type: ignore[method-assign]
        try:
            self.resumed(directory)
        except Killed:
            pass
        finally:
            StateFolder.write = write  # type: ignore[method-assign]

    def resumed(self, directory: Path) -> str:
        """Go on with the training; return a hash of its surprisals."""
        one = ld.Parts(**{p: getattr(self.parts, p).sel(editions=self.parts.train.editions[:1]) for p in PARTS})
        recipe = replace(NETWORK, epochs=3, name="state")
        table = compute_surprisals(one, lm=recipe, cache=directory, seed=0, max_replaced=1.0, progress=False)
        return digest_of_table(table)


PARTS = ("train", "dev", "test")


def read_note(directory: Path) -> str:
    """Return what the note on tokenization says."""
    return read_preparation(directory / "jobs")


def read_tables(directory: Path) -> str:
    """Read tables of surprisals."""
    return full_hash([digest_of_table(ld.read_surprisals(directory / f"s.{kind}")) for kind in ("csv", "parquet")])


def kind_of(path: Path) -> str:
    """Return what a file is, for the table."""
    if path.parent.name == "saved":
        return f"table: {'*.provenance.json' if 'provenance' in path.name else '*' + path.suffix}"
    if path.name.startswith("training-"):
        return "state of a training"
    if path.parent.name in ("surprisals", "fits", "tables", "figures"):
        return f"{path.parent.name}/{'*.provenance.json' if 'provenance' in path.name else '*' + path.suffix}"
    stem = path.stem.split("-")[0] if path.suffix in (".safetensors", ".model") else path.stem
    return f"{'job' if 'jobs' in path.parts or 'cache' in path.parts else 'run'}: {stem}{path.suffix}"


def attempt(read: Callable[[Path], str], directory: Path) -> tuple[str, str]:
    """Return what was read, and all that was said: errors, warnings, and lines of the log."""
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("langdiff").addHandler(handler)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = read(directory)
    except LangdiffError as error:
        result = ""
        said.append(str(error))
    finally:
        logging.getLogger("langdiff").removeHandler(handler)
    return result, "\n".join([*said, *(str(w.message) for w in caught)])


def cases(folder: Path) -> Iterator[tuple[Path, Callable[[Path], str]]]:
    """Make the directories; yield each with what reads it."""
    run_experiment(Experiment.model_validate(RUN), folder / "run", progress=False)
    yield folder / "run", read_results
    made = ld.synthesize(120, 2, seed=1).multitext
    cache = Cache(ld.split(made))
    note_preparation(folder / "note" / "jobs", "reversible")
    yield folder / "note", read_note
    table = compute_surprisals(ld.split(made), lm="kneser-ney-2", max_replaced=1.0, seed=0, progress=False)
    for kind in ("csv", "parquet"):
        (folder / "saved").mkdir(exist_ok=True)
        table.save(folder / "saved" / f"s.{kind}")
    yield folder / "saved", read_tables
    cache(folder / "cache")
    yield folder / "cache", cache
    cache.interrupted(folder / "state")
    yield folder / "state", cache.resumed


def files_by_kind(directory: Path, read: Callable[[Path], str]) -> dict[str, list[Path]]:
    """Return the files that a reader reads, by kind."""
    found = defaultdict(list)
    for path in sorted(directory.rglob("*")):
        inside = path.relative_to(directory)
        jobs = inside.parts[0] == "jobs" and read is read_results  # those are of the cache's case
        state = directory.name == "state" and not path.name.startswith("training-")
        if path.is_file() and path.name not in (".lock", "run.jsonl") and not jobs and not state:
            found[kind_of(Path(directory.name) / inside)].append(inside)
    return found


def main() -> int:
    """Print the counts; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--flips", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    counts: dict[str, dict[str, int]] = {}
    with tempfile.TemporaryDirectory() as name:
        made = list(cases(Path(name)))
        expected = {}
        targets = []
        for directory, read in made:
            kept = shutil.copytree(directory, Path(name) / "kept" / directory.name)
            expected[directory] = attempt(read, directory)[0], kept
            targets += [(kind, directory, read, files) for kind, files in files_by_kind(kept, read).items()]
        for number in range(arguments.flips):
            kind, directory, read, files = targets[number % len(targets)]
            right, kept = expected[directory]
            shutil.rmtree(directory)
            shutil.copytree(kept, directory)
            path = directory / files[int(rng.integers(len(files)))]
            content = bytearray(path.read_bytes())
            place = int(rng.integers(8 * len(content)))
            content[place // 8] ^= 1 << (place % 8)
            path.write_bytes(content)
            escaped = directory.name in ("run", "cache") and not _verified(directory, path)
            result, said = attempt(read, directory)
            named = path.name in said or str(path.parent) in said or path.name.split(".")[0] in said
            outcome = "detected" if said and named else "harmless" if result == right else "silent"
            if outcome == "silent" or escaped:
                print(f"{path.relative_to(name)}, bit {place}: {outcome}{', not verified' * escaped}: {said}")
            row = counts.setdefault(kind, dict.fromkeys(("flips", "detected", "harmless", "silent", "escaped"), 0))
            row["flips"] += 1
            row[outcome] += 1
            row["escaped"] += escaped
    print(f"{'file':32} {'flips':>6} {'detected':>9} {'harmless':>9} {'silent':>7} {'escaped verify':>15}")
    for kind, row in sorted(counts.items()):
        print(
            f"{kind:32} {row['flips']:6} {row['detected']:9} {row['harmless']:9} {row['silent']:7} {row['escaped']:15}"
        )
    total = {what: sum(row[what] for row in counts.values()) for what in ("flips", "detected", "harmless", "silent")}
    print(total)
    return int(total["silent"] > 0 or any(row["escaped"] for row in counts.values()))


def _verified(directory: Path, path: Path) -> bool:
    table = verify_run(directory).set_index("file")
    return bool(table["state"].get(path.relative_to(directory).as_posix()) == "damaged")


if __name__ == "__main__":
    sys.exit(main())
