"""What training leaves behind epoch by epoch: lines of JSON beside the model."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.base.checksums import CHECKSUMS, read_checksums
from langdiff.base.io import as_path, parse_json
from langdiff.errors import DataError
from langdiff.lm.jobs.folder import KEY, LOG

_COLUMNS = [
    "edition",
    "lm",
    "seed",
    "epoch",
    "train_bits_per_unit",
    "dev_bits_per_character",
    "characters_per_second",
    "seconds",
]


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the epochs of a log, of which a last line without its end was cut by a kill.

    Raises
    ------
    DataError
        If another line is damaged; the message names it.
    """
    return _epochs(path.read_bytes(), path) if path.is_file() else []


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
    """Return the epochs of one job, as `read_training_logs` does for all.

    Raises
    ------
    DataError
        If key or log is damaged, which is known for certain only once training is finished.
    """
    if (folder / CHECKSUMS).exists():
        kept = read_checksums(folder)
        logged = kept.read(LOG) if LOG in kept.files else b""  # not every kind of model has epochs to tell of
        key, epochs = kept.read(KEY), _epochs(logged, folder / LOG)
    else:
        key, epochs = (folder / KEY).read_bytes(), read_log(folder / LOG)
    try:
        known = parse_json(key)
        model = {"edition": known["edition"], "lm": known["recipe"]["name"], "seed": known["seed"]}
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{folder / KEY}: damaged ({error}). Train again, or remove the folder.") from error
    return pd.DataFrame([model | epoch for epoch in epochs], columns=_COLUMNS)


def read_training_logs(cache: str | Path) -> pd.DataFrame:
    """Read how the models in a cache of `langdiff.compute_surprisals` learned, finished or not.

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
    patterns = (f"*/*/{KEY}", f"seed-*/*/*/{KEY}", f"fold-*/*/*/{KEY}", f"seed-*/fold-*/*/*/{KEY}")
    folders = [key.parent for pattern in patterns for key in sorted(as_path(cache).glob(pattern))]
    return join_logs(map(read_job_log, folders))


def join_logs(logs: Iterable[pd.DataFrame]) -> pd.DataFrame:
    """Return the epochs of several jobs as one frame."""
    found = [log for log in logs if len(log)]
    return pd.concat(found, ignore_index=True) if found else pd.DataFrame(columns=_COLUMNS)
