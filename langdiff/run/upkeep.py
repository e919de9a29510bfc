"""Progress of a run, verification of its files, and removal of files not needed any more."""

import shutil
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from langdiff.base.cells import unguarded
from langdiff.base.checksums import CHECKSUMS, DamageError, read_checksums
from langdiff.base.io import as_path, is_locked, read_bytes
from langdiff.errors import DataError, OutputError
from langdiff.lm.checkpoint import is_state
from langdiff.lm.jobs.folder import KEY, LOG, job_folder, kept_models, read_log
from langdiff.lm.scoring import split_name
from langdiff.lm.texts import NOTE
from langdiff.run.analysis import KEPT
from langdiff.run.directory import (
    EXPERIMENT,
    JOBS,
    KEPT_BASELINES,
    SCORED,
    STAGE,
    caches,
    own_directory,
    read_run_log,
    superfluous,
)
from langdiff.run.directory import LOG as RUN_LOG
from langdiff.run.experiment import Core
from langdiff.run.experiment_file import parse_settings
from langdiff.run.language_models import trainings
from langdiff.run.settings import Training

COLUMNS = ["edition", "lm", "state", "epoch", "epochs", "bits_per_character", "seconds", "seconds_left"]


def read_status(directory: str | Path) -> pd.DataFrame:
    """Read the progress of the jobs of a run, which may be running, interrupted or finished.

    One row per edition × recipe, or × fold, and × size and seed of a curve. ``state`` is ``"done"``, ``"training"``,
    ``"interrupted"``, ``"failed"`` or ``"waiting"`` (not begun, or to be done again with other settings);
    ``bits_per_character`` are the fewest on the dev part so far; ``seconds_left`` are estimated from the epochs of the
    same job, or else from other jobs of the same recipe, and NaN where there are none.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment, run_experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_experiment(Experiment.model_validate(settings), folder, progress=False)
    ...     read_status(folder)["state"].tolist()
    ['done', 'done']
    """
    directory = as_path(directory)
    current = next((folder for folder in attempts(directory)), None)
    if current is None:
        raise DataError(f"{directory}: not a run directory, since it has no {EXPERIMENT}. Name the directory of a run.")
    experiment = read_settings(current)
    editions = read_editions(current)
    chosen = editions is not None  # else nobody knows how many jobs there will be
    if editions is None:
        keys = [
            key for cache in caches(directory, experiment.split.folds) for key in sorted(cache.glob(f"*/*/*/{KEY}"))
        ]
        editions = list(dict.fromkeys(unquote(key.parents[2].name) for key in keys))
    failed = _failures(directory)
    jobs = trainings(experiment, directory)
    same_but_fold = groupby(jobs, lambda each: (each.table, each.recipe.name, {**each.labels, "fold": None}))
    rows = [
        _job(each, edition, failed) | dict(each.labels)
        for folds in [list(of_one) for _, of_one in same_but_fold]
        for edition in editions
        for each in folds
    ]
    columns = COLUMNS if experiment.split.folds is None else [COLUMNS[0], "fold", *COLUMNS[1:]]
    sizes = [name for name in ("size", "seed") if any(name in each.labels for each in jobs)]
    table = pd.DataFrame(rows, columns=[*columns[:2], *sizes, *columns[2:]]).astype(dict.fromkeys(sizes, "Int64"))
    alike = ["lm", *sizes[:1]]
    total = table.assign(total=table["seconds"] + table["seconds_left"])  # NaN of jobs that have no epoch yet
    usual = total.groupby(alike, dropna=False)["total"].transform("mean")
    left = table["seconds_left"].mask(table["seconds_left"].isna() & (table["state"] != "failed"), usual)
    return table.assign(seconds_left=left.where(chosen | (table["state"] == "done")))


def attempts(directory: Path) -> list[Path]:
    """Return the folders with settings: of a running or interrupted run, then of the last finished one."""
    return [folder for folder in (directory / STAGE, directory) if (folder / EXPERIMENT).is_file()]


def read_settings(folder: Path) -> Core:
    """Return the settings in a folder of `attempts`.

    Raises
    ------
    DataError
        If they are damaged.
    """
    try:
        return parse_settings(read_bytes(folder / EXPERIMENT))
    except (OSError, ValueError) as error:
        raise DataError(f"{folder / EXPERIMENT}: damaged ({error}).") from error


def read_editions(folder: Path) -> list[str] | None:
    """Return the editions in a folder of `attempts`; None if they were not chosen yet."""
    path = folder / "tables" / "editions.csv"
    if not path.is_file():
        return None
    return unguarded(pd.read_csv(path, keep_default_na=False, dtype=str))["edition"].tolist()


def _failures(directory: Path) -> set[tuple[str, str]]:
    """Return edition and recipe of the failures of the last run."""
    found: set[tuple[str, str]] = set()
    for entry in read_run_log(directory):
        if entry.get("event") == "begin":
            found.clear()
        elif entry.get("event") == "failure":
            found.add((entry["edition"], split_name(entry["lm"])[0]))
    return found


def _job(training: Training, edition: str, failures: set[tuple[str, str]]) -> dict[str, Any]:
    recipe = training.recipe
    failed = training.table == "difficulties" and (edition, recipe.name) in failures
    row: dict[str, Any] = {"edition": edition, "lm": recipe.name, "state": "waiting", "epoch": 0}
    row |= {"epochs": recipe.max_epochs, "bits_per_character": np.nan, "seconds": 0.0, "seconds_left": np.nan}
    if not (found := kept_models(training.cache, edition, recipe, training.seed)):
        return row | {"state": "failed" if failed else "waiting"}
    folder = found[-1]
    try:
        log = read_log(folder / LOG)
    except ValueError:  # damaged: it is done again
        return row | {"state": "failed" if failed else "waiting"}
    row["epoch"], row["seconds"] = len(log), float(sum(epoch["seconds"] for epoch in log))
    row["bits_per_character"] = min((epoch["dev_bits_per_character"] for epoch in log), default=np.nan)
    if (folder / CHECKSUMS).is_file():
        return row | {"state": "done", "seconds_left": 0.0}
    if failed:
        return row | {"state": "failed"}
    left = np.nan if not log else row["seconds"] / len(log) * max(0, recipe.max_epochs - len(log))
    return row | {"state": "training" if is_locked(folder) else "interrupted", "seconds_left": left}


# read as they are, and checked otherwise
_FREE = {CHECKSUMS, RUN_LOG, KEPT_BASELINES, f"{JOBS}/{NOTE}", NOTE}


def verify_run(directory: str | Path) -> pd.DataFrame:
    """Compare the files of a run, or of a cache of language models, with the checksums written with them.

    Parameters
    ----------
    directory : str or Path
        Directory of `langdiff.run_experiment`, finished or not, or cache of `langdiff.compute_surprisals`.

    Returns
    -------
    DataFrame
        One row per file: ``file``, its path relative to the directory; ``state``: ``"whole"``, ``"damaged"``,
        ``"missing"``, ``"unrecorded"`` (written by something else) or ``"unfinished"`` (the folder of a job whose
        training is not finished); and ``reason``, in words.

    Raises
    ------
    DataError
        If the directory holds neither a run nor finished language models.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment, run_experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_experiment(Experiment.model_validate(settings), folder, progress=False)
    ...     table = Path(folder, "surprisals", "kneser-ney-2.csv")
    ...     _ = table.write_text(table.read_text().replace("1", "2", 1))
    ...     found = verify_run(folder)
    >>> found.loc[found["state"] != "whole", ["file", "state"]].to_numpy().tolist()
    [['surprisals/kneser-ney-2.csv', 'damaged']]
    """
    directory = as_path(directory)
    records = [path for path in directory.rglob(CHECKSUMS) if STAGE not in path.relative_to(directory).parts]
    if not records and not (directory / EXPERIMENT).is_file():
        raise DataError(
            f"{directory}: neither a run directory (it has no {EXPERIMENT}) nor a folder of finished language models."
        )
    rows: dict[str, tuple[str, str]] = {}
    unknown = []  # folders whose record cannot be read
    for record in sorted(records):
        folder = record.parent.relative_to(directory)
        try:
            kept = read_checksums(record.parent)
        except DamageError as error:
            rows[(folder / CHECKSUMS).as_posix()] = ("damaged", str(error))
            unknown.append(record.parent)
            continue
        damage = kept.damage()
        for name in kept.files:
            state = "whole" if name not in damage else "damaged" if (record.parent / name).exists() else "missing"
            rows[(folder / name).as_posix()] = (state, damage.get(name, ""))
    rows |= _missing_jobs(directory, rows)
    rows |= _unrecorded(directory, rows, unknown)
    return pd.DataFrame([(name, *what) for name, what in sorted(rows.items())], columns=["file", "state", "reason"])


def _missing_jobs(directory: Path, rows: dict[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the jobs of a finished run that are missing or have lost their record."""
    if rows.get(EXPERIMENT, ("missing",))[0] != "whole":
        return {}
    jobs = [
        (each, edition)
        for each in trainings(read_settings(directory), directory)
        for edition in _editions(directory, rows, each)
    ]
    gone = []
    for each, edition in jobs:
        models = kept_models(each.cache, edition, each.recipe, each.seed)
        if not any((one / CHECKSUMS).is_file() for one in models):
            gone.append((models or [job_folder(each.cache, edition, each.recipe.name)])[-1] / CHECKSUMS)
    return {path.relative_to(directory).as_posix(): ("missing", f"{path}: missing.") for path in gone}


def _editions(directory: Path, rows: dict[str, tuple[str, str]], training: Training) -> list[str]:
    """Return the editions in the table of a training's surprisals; none if the table is damaged."""
    path = f"tables/{training.table}.csv"
    if rows.get(path, ("missing",))[0] != "whole":
        return []
    table = unguarded(pd.read_csv(directory / path, keep_default_na=False, dtype=str))
    if "lm" in table:
        table = table[table["lm"].map(lambda lm: split_name(lm)[0]) == training.recipe.name]
    return list(dict.fromkeys(table["edition"]))


def _unrecorded(directory: Path, rows: dict[str, tuple[str, str]], unknown: list[Path]) -> dict[str, tuple[str, str]]:
    """Return the files that no record names; a job without a record is one row."""
    found = {}
    is_run = (directory / EXPERIMENT).is_file()  # in a cache of language models, tables may lie beside them
    for path in sorted(directory.rglob("*")):
        inside = path.relative_to(directory)
        name = inside.as_posix()
        if not path.is_file() or name in rows or any(part.startswith(".") for part in inside.parts):
            continue
        if inside.parts[0] == SCORED:  # each file has its own checksum, and is made again if it is damaged
            continue
        if (
            name in _FREE
            or name.startswith(f"{KEPT}/")
            or path.name in (CHECKSUMS, NOTE)
            or any(folder in path.parents for folder in unknown)
        ):
            continue
        job = next((folder for folder in path.parents if (folder / KEY).is_file()), None)
        if job is not None and not (job / CHECKSUMS).is_file():
            place = job.relative_to(directory).as_posix()
            if f"{place}/{CHECKSUMS}" not in rows:
                found[place] = ("unfinished", f"{job}: training is not finished.")
        elif job is not None or is_run:
            found[name] = ("unrecorded", f"{path}: not written by the run.")
    return found


def clean_run(directory: str | Path, *, dry_run: bool = False) -> pd.DataFrame:
    """Remove files that a run does not need any more; results, and models that could still be scored, stay.

    Removed are the language models of editions, recipes and sizes of training data that the experiment does not name
    (any more), states of trainings that are finished, the output of an interrupted run that was to replace earlier
    results, and files that a kill left half-written. States of trainings that are not finished stay, so that the run
    can go on.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.run import Experiment, run_experiment
    >>> settings = {
    ...     "name": "small",
    ...     "corpus": {"format": "synthetic", "n_intents": 60, "n_languages": 2},
    ...     "lm": {"models": ["kneser-ney-2"], "max_replaced": 1.0},
    ... }
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     run = run_experiment(Experiment.model_validate(settings), folder, progress=False)
    ...     len(clean_run(folder))
    0
    """
    directory = as_path(directory)
    if not (directory / EXPERIMENT).is_file():
        raise DataError(f"{directory}: not a run directory, since it has no {EXPERIMENT}. Name the directory of a run.")
    with own_directory(directory):
        found = _superfluous(directory)
        rows = [(str(path.relative_to(directory)), _size(path), why) for path, why in found.items()]
        if not dry_run:
            for path in found:
                _remove(path)
    return pd.DataFrame(rows, columns=["path", "bytes", "why"])


def _superfluous(directory: Path) -> dict[Path, str]:
    """Return files that can be removed, with the reason; none lies within another."""
    found = {}
    stage = directory / STAGE
    for path in superfluous(stage):
        found[path] = "output of an interrupted run"
    needed = {path for folder in attempts(directory) for path in _needed(folder, directory)}
    for job in sorted(key.parent for key in directory.rglob(KEY) if stage not in key.parents):
        if job not in needed:
            found[job] = "language model that the experiment does not name"
        elif (job / CHECKSUMS).is_file():
            states = (path for path in job.rglob("training-*") if is_state(path))
            found |= dict.fromkeys(states, "state of a training that is finished")
    parts = (path for path in sorted(directory.rglob(".*.part")) if not any(p in found for p in path.parents))
    return found | dict.fromkeys(parts, "half-written file")


def _needed(folder: Path, directory: Path) -> Iterator[Path]:
    """Yield the folders of the language models that the settings in a folder of `attempts` name."""
    editions = read_editions(folder)
    for each in trainings(read_settings(folder), directory):
        there = [unquote(path.name) for path in each.cache.glob("*/")] if editions is None else editions
        for edition in there:
            yield from kept_models(each.cache, edition, each.recipe, each.seed)


def _size(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files if file.is_file())


def _remove(path: Path) -> None:
    try:
        if path.is_dir():
            shutil.rmtree(path)
            while not any((path := path.parent).iterdir()):  # an edition without a job, or a size without editions
                path.rmdir()
        else:
            path.unlink()
    except OSError as error:
        raise OutputError(f"{path}: cannot be removed: {error.strerror or error}.") from error
