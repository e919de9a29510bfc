"""What training leaves behind epoch by epoch: lines of JSON beside the model."""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.errors import DataError

LOG = "log.jsonl"
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
    if not path.is_file():
        return []
    *lines, _ = path.read_bytes().split(b"\n")
    epochs = []
    for number, line in enumerate(lines, 1):
        try:
            epochs.append(json.loads(line))
        except ValueError as error:  # no JSON, or no UTF-8
            raise DataError(f"{path}, line {number}: damaged. Train again, or remove the file.") from error
    return epochs


def read_training_logs(cache: str | Path) -> pd.DataFrame:
    """Read how the models in a cache of `langdiff.compute_surprisals` learned, finished or not.

    Parameters
    ----------
    cache : str or Path
        Folder of the cache, or the one that `langdiff.replicate` was given, with one cache per seed in it; it
        may be empty or not exist yet.

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
    rows = []
    for pattern in ("*/*/key.json", "seed-*/*/*/key.json"):
        for key in sorted(Path(cache).glob(pattern)):
            folder = key.parent
            known = json.loads(key.read_text(encoding="utf-8"))
            model = {"edition": known["edition"], "lm": known["recipe"]["name"], "seed": known["seed"]}
            rows += [model | epoch for epoch in read_log(folder / LOG)]
    return pd.DataFrame(rows, columns=_COLUMNS)
