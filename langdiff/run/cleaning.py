"""Removing from a run directory what nothing needs any more."""

import shutil
from pathlib import Path
from urllib.parse import unquote

import pandas as pd

from langdiff.base.checksums import CHECKSUMS
from langdiff.base.io import as_path
from langdiff.errors import DataError, OutputError
from langdiff.lm.jobs.folder import KEY
from langdiff.lm.lstm.resume import is_state
from langdiff.lm.scoring import split_name
from langdiff.run.directory import (
    CURVE_JOBS,
    EXPERIMENT,
    JOBS,
    STAGE,
    caches,
    curve_caches,
    own_directory,
    superfluous,
)
from langdiff.run.status import attempts, read_editions, read_settings


def clean_run(directory: str | Path, *, dry_run: bool = False) -> pd.DataFrame:
    """Remove what a run does not need any more; results, and models that could still be scored, stay.

    Removed are the language models of editions, recipes and sizes of training data that the experiment does not name
    (any more), states of trainings that are finished, the output of an interrupted run that was to replace earlier
    results, and files that a kill left half-written. States of trainings that are not finished stay, so that the run
    can go on.

    Parameters
    ----------
    directory : str or Path
        Directory of `langdiff.run_experiment`.
    dry_run : bool
        Whether to only list what would be removed.

    Returns
    -------
    DataFrame
        One row per file or folder: ``path`` relative to the directory, ``bytes`` and ``why``.

    Raises
    ------
    DataError
        If the directory holds no run, or its settings are damaged.
    OutputError
        If a run is going on in the directory, or something cannot be removed.

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
        raise DataError(f"{directory}: no run is here (no {EXPERIMENT}).")
    with own_directory(directory):
        found = _superfluous(directory)
        rows = [(str(path.relative_to(directory)), _size(path), why) for path, why in found.items()]
        if not dry_run:
            for path in found:
                _remove(path)
    return pd.DataFrame(rows, columns=["path", "bytes", "why"])


def _superfluous(directory: Path) -> dict[Path, str]:
    """Return what can go, and why; nothing in it lies within another."""
    found = {}
    stage = directory / STAGE
    for path in superfluous(stage):
        found[path] = "output of an interrupted run"
    needed = []
    for folder in attempts(directory):
        experiment = read_settings(folder)
        recipes = {split_name(lm)[0] for lm in experiment.lm.names}
        editions = read_editions(folder)
        needed.append((caches(directory, experiment.split.folds), recipes, editions))
        if experiment.curve is not None:
            sizes = [each.folder for each in curve_caches(directory, experiment)]
            needed.append((sizes, {split_name(experiment.curve.lm)[0]}, editions))
    for key in sorted(key for jobs in (JOBS, CURVE_JOBS) for key in (directory / jobs).rglob(KEY)):
        job = key.parent
        cache, recipe, edition = job.parent.parent, unquote(job.name), unquote(job.parent.name)
        if not any(
            cache in known and recipe in recipes and (editions is None or edition in editions)
            for known, recipes, editions in needed
        ):
            found[job] = "language model that the experiment does not name"
        elif (job / CHECKSUMS).is_file():
            states = (path for path in job.rglob("training-*") if is_state(path))
            found |= dict.fromkeys(states, "state of a training that is finished")
    parts = (path for path in sorted(directory.rglob(".*.part")) if not any(p in found for p in path.parents))
    return found | dict.fromkeys(parts, "half-written file")


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
