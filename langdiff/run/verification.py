"""Comparing the files of a run, or of a cache of language models, with their checksums."""

from pathlib import Path

import pandas as pd

from langdiff.base.cells import unguarded
from langdiff.base.checksums import CHECKSUMS, DamageError, read_checksums
from langdiff.base.io import as_path
from langdiff.errors import DataError
from langdiff.lm.jobs.folder import KEY, job_folder
from langdiff.lm.scoring import split_name
from langdiff.lm.texts import NOTE
from langdiff.run.analysis import KEPT as KEPT_ANALYSES
from langdiff.run.baselines import KEPT
from langdiff.run.directory import EXPERIMENT, JOBS, SCORED, STAGE, caches, curve_caches
from langdiff.run.log import LOG
from langdiff.run.sections import SECTIONS
from langdiff.run.status import read_settings

# read as they are, and checked otherwise
_FREE = {CHECKSUMS, LOG, KEPT, f"{JOBS}/{NOTE}", NOTE, *(f"{KEPT_ANALYSES}/{name}.json" for name in SECTIONS)}


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
        raise DataError(f"{directory}: neither a run nor finished language models are here (no {EXPERIMENT}).")
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
    """Return the jobs of a finished run that are gone, or have no record any more."""
    if rows.get(EXPERIMENT, ("missing",))[0] != "whole":
        return {}
    experiment = read_settings(directory)
    if experiment.lm.hf is not None:  # nothing was trained
        return {}
    jobs = [
        job_folder(cache, edition, split_name(lm)[0])
        for cache in caches(directory, experiment.split.folds)
        for edition, lm in _columns(directory, rows, "difficulties", ["edition", "lm"])
    ]
    if experiment.curve is not None:
        editions = dict.fromkeys(edition for (edition,) in _columns(directory, rows, "curve", ["edition"]))
        recipe = split_name(experiment.curve.lm)[0]
        sizes = curve_caches(directory, experiment)
        jobs += [job_folder(cache.folder, edition, recipe) for cache in sizes for edition in editions]
    gone = (job / CHECKSUMS for job in jobs if not (job / CHECKSUMS).is_file())
    return {path.relative_to(directory).as_posix(): ("missing", f"{path}: missing.") for path in gone}


def _columns(directory: Path, rows: dict[str, tuple[str, str]], name: str, columns: list[str]) -> list[list[str]]:
    """Return columns of a table of the run, row by row; nothing if the table is not whole."""
    path = f"tables/{name}.csv"
    if rows.get(path, ("missing",))[0] != "whole":
        return []
    table = unguarded(pd.read_csv(directory / path, keep_default_na=False, dtype=str))
    found: list[list[str]] = table[columns].to_numpy().tolist()
    return found


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
        if name in _FREE or path.name in (CHECKSUMS, NOTE) or any(folder in path.parents for folder in unknown):
            continue
        job = next((folder for folder in path.parents if (folder / KEY).is_file()), None)
        if job is not None and not (job / CHECKSUMS).is_file():
            place = job.relative_to(directory).as_posix()
            if f"{place}/{CHECKSUMS}" not in rows:
                found[place] = ("unfinished", f"{job}: training is not finished.")
        elif job is not None or is_run:
            found[name] = ("unrecorded", f"{path}: not written by the run.")
    return found
