"""Folder of a job: its name in a cache, its files, tables of surprisals and logs of training.

A model lies in ``CACHE/EDITION/RECIPE/DIGITS``, where the digits are the first of the hash of its key: one of another
seed, text or setting lies beside it and replaces nothing.
"""

import io
import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pandas as pd

from langdiff.base.checksums import CHECKSUMS, Checksums, read_checksums, write_checksums
from langdiff.base.io import DEVICE, LOCK, as_path, atomic_path, parse_json, read_bytes, remove, write_json
from langdiff.base.signature import full_hash
from langdiff.errors import DataError
from langdiff.lm.checkpoint import is_state
from langdiff.lm.language_model import LanguageModelRecipe
from langdiff.lm.scoring import Scoring
from langdiff.lm.texts import sizes_of

KEY = "key.json"
LOG = "log.jsonl"
TRAINED = "cautions.json"  # cautions about a model, written when it is trained
MODEL = "model"
COMPUTE = "compute.json"  # device and versions, not in the key: results that differ by it only are taken for the same

DIGITS = 12  # of the hash of a key, in the name of a folder

_STEM = "surprisals"
_COLUMNS = ["bits", "eos_bits", "units", "replaced"]  # what cannot be counted again from the text alone
_EPOCH_COLUMNS = [
    "edition",
    "lm",
    "seed",
    "epoch",
    "train_bits_per_unit",
    "dev_bits_per_character",
    "characters_per_second",
    "seconds",
]


def job_folder(cache: Path, edition: str, recipe: str) -> Path:
    """Return the folder of all models of an edition and a recipe."""
    return cache / folder_name(edition) / folder_name(recipe)


def model_folder(folder: Path, key: Mapping[str, Any]) -> Path:
    """Return the folder of the model with a key, inside that of the job."""
    return folder / full_hash(key)[:DIGITS]


def kept_models(cache: Path, edition: str, recipe: LanguageModelRecipe | str, seed: int | None = None) -> list[Path]:
    """Return the folders of an edition's models by a recipe, or its name, and a seed; the one used last is the last."""
    found = []
    name, fields = (recipe, None) if isinstance(recipe, str) else (recipe.name, json.loads(json.dumps(asdict(recipe))))
    of_seed = None if isinstance(recipe, str) or not recipe.stochastic else seed
    for path in job_folder(cache, edition, name).glob(f"*/{KEY}"):
        with suppress(OSError, ValueError, KeyError, TypeError):  # not begun, or damaged: it is done again
            key = read_json(path)
            if fields in (None, key["recipe"]) and of_seed in (None, key["seed"]):
                found.append((path.stat().st_mtime_ns, path.parent))
    return [folder for _, folder in sorted(found)]


def mark_used(folder: Path) -> None:
    """Mark a model as used last."""
    with suppress(OSError):  # of a folder that may only be read
        os.utime(folder / KEY)


def fold_cache(cache: Path, fold: int) -> Path:
    """Return the part of a cache with the models of one fold, counted from 1."""
    return cache / f"fold-{fold}"


def folder_name(name: str) -> str:
    """Return the name of the folder of an edition or recipe, valid and unique on every file system.

    Characters that some file system forbids are percent-encoded, and so are upper-case letters, as some file
    systems do not tell them from lower-case ones; the other characters stay as they are.

    Examples
    --------
    >>> folder_name("deu-x-bible"), folder_name("Deu"), folder_name("nul.txt"), folder_name("a/b.")
    ('deu-x-bible', '%44eu', '%6Eul.txt', 'a%2Fb%2E')
    """
    quoted = "".join(f"%{ord(c):02X}" if "A" <= c <= "Z" else quote(c, safe=" ()+,=@") for c in name)
    if quoted[-1:] in (".", " "):  # Windows drops them
        quoted = f"{quoted[:-1]}%{ord(quoted[-1]):02X}"
    if DEVICE.fullmatch(quoted):
        quoted = f"%{ord(quoted[0]):02X}{quoted[1:]}"
    return quoted


def read_json(path: Path) -> Any:
    """Return the content of a JSON file."""
    return parse_json(read_bytes(path))


def record_files(folder: Path) -> Checksums:
    """Record the checksums of the files of a finished job, which marks it as finished."""
    found = (path for path in folder.glob("**/*") if path.is_file() and not is_state(path))
    names = (path.relative_to(folder) for path in found if path.name not in (LOCK, CHECKSUMS))
    return write_checksums(folder, [name.as_posix() for name in names if not name.name.startswith(".")])


def make_ready(folder: Path, key: dict[str, Any]) -> None:
    """Remove damaged and half-written files; then write the key."""
    remove(folder / CHECKSUMS)  # first: what it names is about to go
    stale = [folder / TRAINED, *folder.glob("surprisals*"), *folder.glob("**/.*.part")]
    stale += [path for path in folder.glob("**/*.*") if path.is_dir()]  # in the place of files
    for path in stale:
        remove(path)
    write_json(folder / KEY, key)


def table_names(scoring: Scoring) -> tuple[str, str]:
    """Return the names of a table and of the file with its key."""
    return f"{_STEM}{scoring.ending}.parquet", f"{_STEM}{scoring.ending}.json"


def read_table(kept: Checksums, scoring: Scoring, key: Mapping[str, Any], texts: pd.Series) -> pd.DataFrame | None:
    """Return the surprisals of texts from an earlier run; None if there are none of this key."""
    table, beside = table_names(scoring)
    if not {table, beside} <= kept.files.keys() or json.loads(kept.read(beside)) != key:
        return None
    frame = pd.read_parquet(io.BytesIO(kept.read(table)))
    return frame[_COLUMNS].set_axis(texts.index).assign(**sizes_of(texts))


def write_table(folder: Path, scoring: Scoring, key: Mapping[str, Any], frame: pd.DataFrame) -> None:
    """Write surprisals with their key."""
    table, beside = table_names(scoring)
    write_json(folder / beside, key)
    intents = pd.Series(frame.index.map(str), name="intent")
    with atomic_path(folder / table) as temporary:
        pd.concat([intents, frame.reset_index(drop=True)], axis=1).to_parquet(temporary, index=False)


def remove_tables(kept: Checksums, damaged: Iterable[str]) -> Checksums:
    """Remove the tables to which damaged files belong, and record the other files."""
    stems = {Path(name).stem for name in damaged if is_of_table(name)}
    if not stems:
        return kept
    gone = [name for name in kept.files if is_of_table(name) and Path(name).stem in stems]
    for name in gone:
        remove(kept.folder / name)
    return write_checksums(kept.folder, [], {name: hash for name, hash in kept.files.items() if name not in gone})


def is_of_table(name: str) -> bool:
    """Return whether a file of a job belongs to a table."""
    return name.startswith(_STEM) and "/" not in name


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the epochs of a log, without an incomplete last line."""
    return _epochs(read_bytes(path), path) if path.is_file() else []


def _epochs(content: bytes, path: Path) -> list[dict[str, Any]]:
    *lines, _ = content.split(b"\n")
    epochs = []
    for number, line in enumerate(lines, 1):
        try:
            epochs.append(parse_json(line))
        except ValueError as error:  # no JSON, or no UTF-8
            raise DataError(f"{path}, line {number}: damaged. Train again, or remove the file.") from error
    return epochs


def read_job_log(folder: Path) -> pd.DataFrame:
    """Return the epochs of one job, as `read_training_logs` does for all."""
    if (folder / CHECKSUMS).exists():
        kept = read_checksums(folder)
        logged = kept.read(LOG) if LOG in kept.files else b""  # not every kind of model has epochs to tell of
        key, epochs = kept.read(KEY), _epochs(logged, folder / LOG)
    else:
        key, epochs = read_bytes(folder / KEY), read_log(folder / LOG)
    try:
        known = parse_json(key)
        model = {"edition": known["edition"], "lm": known["recipe"]["name"], "seed": known["seed"]}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / KEY}: damaged ({error}). Train again, or remove the folder.") from error
    return pd.DataFrame([model | epoch for epoch in epochs], columns=_EPOCH_COLUMNS)


def read_training_logs(cache: str | Path) -> pd.DataFrame:
    """Read the logs of finished and unfinished trainings in a cache of `langdiff.compute_surprisals`.

    Parameters
    ----------
    cache : str or Path
        Folder of the cache, with one cache per fold in it if there are folds, or the one that `langdiff.replicate` was
        given, with one cache per seed in it; it may be empty or not exist yet.

    Returns
    -------
    DataFrame, one row per epoch
        ``edition``, ``lm``, ``seed``, ``epoch``, ``train_bits_per_unit`` (dropout on; NaN for n-grams),
        ``dev_bits_per_character``, ``characters_per_second`` and ``seconds``.

    Raises
    ------
    DataError
        If a log is damaged.

    Examples
    --------
    >>> import tempfile
    >>> import langdiff as ld
    >>> bible = ld.read_frame(pd.DataFrame({"eng": ["the cat sat", "a dog ran"] * 70}))
    >>> train, dev, test = (bible.sel(intents=bible.intents[a:b]) for a, b in ((0, 120), (120, 130), (130, 140)))
    >>> parts = ld.Parts(train=train, dev=dev, test=test)
    >>> with tempfile.TemporaryDirectory() as cache:
    ...     trained = ld.compute_surprisals(parts, lm="char-tiny", seed=0, cache=cache, progress=False)
    ...     read_training_logs(cache)["epoch"].tolist()
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    folds = ("", "seed-*/", "fold-*/", "seed-*/fold-*/")
    folders = [key.parent for fold in folds for key in sorted(as_path(cache).glob(f"{fold}*/*/*/{KEY}"))]
    return join_logs(map(read_job_log, folders))


def join_logs(logs: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the epochs of several jobs as one frame."""
    found = [log for log in logs if len(log)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_EPOCH_COLUMNS)
