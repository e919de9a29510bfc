"""Progress of a run, read from its directory during or after it."""

import json
from dataclasses import asdict
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
import pandas as pd

from langdiff.base.cells import unguarded
from langdiff.base.checksums import CHECKSUMS
from langdiff.base.io import as_path, is_locked
from langdiff.errors import DataError
from langdiff.lm.jobs.folder import KEY, LOG, job_folder, read_json, read_log
from langdiff.lm.scoring import split_name
from langdiff.run.directory import EXPERIMENT, STAGE, caches
from langdiff.run.experiment import Core
from langdiff.run.experiment_file import parse_settings
from langdiff.run.language_models import trainings
from langdiff.run.log import read_run_log
from langdiff.run.section import Training

COLUMNS = ["edition", "lm", "state", "epoch", "epochs", "bits_per_character", "seconds", "seconds_left"]


def read_status(directory: str | Path) -> pd.DataFrame:
    """Read the progress of the jobs of a run, which may be running, interrupted or finished.

    Parameters
    ----------
    directory : str or Path
        Directory of `langdiff.run_experiment`.

    Returns
    -------
    DataFrame, one row per edition × recipe, or × fold, and × size and seed of a curve
        ``edition``; ``fold``, its number, if the experiment has folds; ``lm``, the name of the recipe; ``size`` and
        ``seed`` of the language models of a curve, if the experiment has one, missing for the others; ``state``:
        ``"done"``, ``"training"``, ``"interrupted"``, ``"failed"`` or ``"waiting"`` (not begun, or to be done again
        with other settings); ``epoch``, the last finished one, and ``epochs``, the most there can be;
        ``bits_per_character``, the fewest on the dev part so far; ``seconds`` of training so far; and ``seconds_left``,
        estimated from the epochs of the same job, or else from the other jobs of the same recipe (and size). It is NaN
        where there are none, for jobs that failed, and for all that are not done before the editions are chosen.

    Raises
    ------
    DataError
        If the directory holds no run.

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
        keys = [key for cache in caches(directory, experiment.split.folds) for key in sorted(cache.glob(f"*/*/{KEY}"))]
        editions = list(dict.fromkeys(unquote(key.parent.parent.name) for key in keys))
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
        return parse_settings((folder / EXPERIMENT).read_text(encoding="utf-8"))
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
    folder = job_folder(training.cache, edition, recipe.name)
    failed = training.table == "difficulties" and (edition, recipe.name) in failures
    row: dict[str, Any] = {"edition": edition, "lm": recipe.name, "state": "waiting", "epoch": 0}
    row |= {"epochs": recipe.max_epochs, "bits_per_character": np.nan, "seconds": 0.0, "seconds_left": np.nan}
    try:
        key = read_json(folder / KEY)
        current = key["recipe"] == json.loads(json.dumps(asdict(recipe)))
        if current and (key["seed"] == training.seed or not recipe.stochastic):
            log = read_log(folder / LOG)
        else:
            return row
    except (OSError, ValueError, KeyError, TypeError):  # not begun, or damaged: it is done again
        return row | {"state": "failed" if failed else "waiting"}
    row["epoch"], row["seconds"] = len(log), float(sum(epoch["seconds"] for epoch in log))
    row["bits_per_character"] = min((epoch["dev_bits_per_character"] for epoch in log), default=np.nan)
    if (folder / CHECKSUMS).is_file():
        return row | {"state": "done", "seconds_left": 0.0}
    if failed:
        return row | {"state": "failed"}
    left = np.nan if not log else row["seconds"] / len(log) * max(0, recipe.max_epochs - len(log))
    return row | {"state": "training" if is_locked(folder) else "interrupted", "seconds_left": left}
