"""What a model of others said of each edition, kept on disk, so that an interrupted scoring goes on."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import parse_json, remove, write_json
from langdiff.base.signature import full_hash
from langdiff.errors import LangdiffWarning

KIND = "surprisals of an edition"
FORMAT_VERSION = 1


def cached(
    folder: Path, identity: str, edition: str, texts: pd.Series, score: Callable[[], pd.DataFrame]
) -> pd.DataFrame:
    """Return what was kept of a model and the texts of an edition; else score them and keep it.

    Parameters
    ----------
    folder : Path
        Folder of one file per model and edition, made if missing.
    identity : str
        What tells the model from others.
    edition : str
        Name of the edition.
    texts : Series of str, length I
        Texts of the edition, by intent.
    score : callable
        Scores the texts: a frame of numbers with one row per text. Numbers are kept to the last bit.

    Warns
    -----
    LangdiffWarning
        As `score` does, also if what it gave was kept; or if a folder is where it would be kept.
    """
    key = full_hash(identity, edition, texts)
    path = folder / f"{key[:32]}.json"
    if path.is_dir():
        warnings.warn(f"{path}: is a directory. The texts are scored again.", LangdiffWarning, stacklevel=3)
        remove(path)
    kept = _read(path, key)
    if kept is not None:
        for message in kept.get("warnings", []):
            warnings.warn(message, LangdiffWarning, stacklevel=3)
        return pd.DataFrame(kept["columns"]).set_axis(texts.index, axis=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", LangdiffWarning)
        frame = score()
    for each in caught:
        warnings.warn_explicit(each.message, each.category, each.filename, each.lineno)
    messages = [str(each.message) for each in caught if issubclass(each.category, LangdiffWarning)]
    columns = {str(name): [float(number) for number in column] for name, column in frame.items()}
    document = {"format": KIND, "format_version": FORMAT_VERSION, "edition": edition, "key": key, "columns": columns}
    write_json(path, seal(document | {"warnings": messages}))
    return frame.astype(float)


def _read(path: Path, key: str) -> dict[str, Any] | None:
    """Return what is in a file, or None if it is missing, damaged or of something else: it is made again."""
    try:
        document = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    if (
        not isinstance(document, dict)
        or "sha256" not in document
        or not is_whole(document)
        or document.get("key") != key
    ):
        return None
    return document
