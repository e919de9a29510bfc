"""Saved language models of any kind: a JSON index with the names and hashes of the files of weights and subwords.

Those files carry their hash in the name and the JSON is renamed into place last, so that a
checkpoint is replaced in one step; what the old JSON named is removed after.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load, save

from langdiff import __version__
from langdiff.base.checksums import is_whole, seal
from langdiff.base.io import as_path, atomic_path, parse_json, read_bytes, write_text
from langdiff.errors import CheckpointError, LangdiffError
from langdiff.lm.language_model import LanguageModelRecipe, Model, known_kinds

FORMAT = 1
INDEX = "model.json"
STATE = ".safetensors"  # ending of the states of unfinished trainings
_UNNAMED = "network"  # kind of checkpoints that do not name theirs


@dataclass(frozen=True, kw_only=True, eq=False)
class Checkpoint:
    """The saved parts of a language model.

    Attributes
    ----------
    settings : mapping
        All that fits in JSON.
    weights : mapping from str to ndarray
        Parameters of the network, or counts of n-grams.
    subwords : bytes or None
        The SentencePiece model.
    """

    settings: Mapping[str, Any]
    weights: Mapping[str, npt.NDArray[Any]]
    subwords: bytes | None


def write_checkpoint(directory: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, replacing an earlier one."""
    weights = {name: np.ascontiguousarray(array) for name, array in checkpoint.weights.items()}
    blobs = {"weights": (save(weights), ".safetensors")}
    if checkpoint.subwords is not None:
        blobs["subwords"] = (checkpoint.subwords, ".model")
    files = {}
    for what, (blob, ending) in blobs.items():
        digest = hashlib.sha256(blob).hexdigest()
        files[what] = {"name": f"{what}-{digest[:12]}{ending}", "sha256": digest}
        with atomic_path(directory / files[what]["name"]) as temporary:
            temporary.write_bytes(blob)
    versions = {"langdiff": __version__}
    with suppress(PackageNotFoundError):  # n-grams do without
        versions["torch"] = version("torch")
    index = {
        "format": FORMAT,
        "versions": versions,
        "files": files,
        **checkpoint.settings,
    }
    write_text(directory / INDEX, json.dumps(seal(index), ensure_ascii=False, indent=1))
    current = {entry["name"] for entry in files.values()}
    written = (*directory.glob("weights-*.safetensors"), *directory.glob("subwords-*.model"))
    remove_all(path for path in written if path.name not in current)


def read_index(directory: Path) -> dict[str, Any]:
    """Read the settings of a checkpoint, without its weights."""
    path = directory / INDEX
    try:
        index = parse_json(read_bytes(path))
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}); there is no model.") from error
    except ValueError as error:  # JSON and UTF-8 alike
        raise CheckpointError(f"{path}: damaged or truncated ({error}). Train the model again.") from error
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        raise CheckpointError(f"{path}: not a language model of format {FORMAT}, which this version reads.")
    if not is_whole(index):
        raise CheckpointError(
            f"{path}: damaged: the content differs from what was saved. Restore the file or train the model again."
        )
    return index


def read_checkpoint(directory: Path) -> Checkpoint:
    """Read the checkpoint written by `write_checkpoint`, checking every file's hash."""
    index, path = read_index(directory), directory / INDEX
    try:
        files = {what: (str(entry["name"]), entry["sha256"]) for what, entry in index["files"].items()}
        weights_file = files.pop("weights")
    except (KeyError, TypeError, AttributeError) as error:
        raise CheckpointError(f"{path}: damaged: its list of files is incomplete ({error}).") from error
    blob = _read(directory, *weights_file)
    try:
        weights = load(blob)
    except (SafetensorError, ValueError) as error:
        raise CheckpointError(f"{directory / weights_file[0]}: not a safetensors file ({error}).") from error
    subwords = _read(directory, *files["subwords"]) if "subwords" in files else None
    return Checkpoint(settings=index, weights=weights, subwords=subwords)


def _read(directory: Path, name: str, sha256: str) -> bytes:
    path = directory / Path(name).name  # never outside the directory
    try:
        blob = read_bytes(path)
    except OSError as error:
        raise CheckpointError(f"{path}: cannot be read ({error.strerror}); the model is incomplete.") from error
    if hashlib.sha256(blob).hexdigest() != sha256:
        raise CheckpointError(
            f"{path}: damaged or truncated: its {len(blob):,} bytes are not those that were saved. "
            "Restore the file or train the model again."
        )
    return blob


def read_model(directory: str | Path, *, device: str = "auto") -> Model:
    """Read a saved language model of any kind.

    Examples
    --------
    >>> import tempfile
    >>> from langdiff.lm import train_kneser_ney
    >>> texts = ["the cat sat on the mat", "the dog lay on the log"] * 40
    >>> model = train_kneser_ney(texts, texts[:9])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(folder)
    ...     again = read_model(folder)
    >>> again.surprisal(texts[:2]).equals(model.surprisal(texts[:2]))
    True
    """
    directory = as_path(directory)
    return read_recipe(directory).read(directory, device=device)


def read_recipe(directory: Path, kind: str | None = None) -> LanguageModelRecipe:
    """Return the recipe of a saved language model, after checking its kind."""
    settings = read_index(directory)
    found = settings.get("kind", _UNNAMED)
    known = {each.kind: each for each in known_kinds()}
    if found not in known:
        raise CheckpointError(
            f"{directory}: a model of the kind {found!r}, which is not known here. Read a mixture with "
            "langdiff.read, and import the module that defines a kind of your own."
        )
    if kind not in (None, found):
        raise CheckpointError(f"{directory}: a model of the kind {found!r}; read it with langdiff.read.")
    try:
        return known[found](**settings["recipe"])
    except (LangdiffError, KeyError, TypeError) as error:
        raise CheckpointError(
            f"{directory}: damaged, or saved by an incompatible version: {type(error).__name__}: {error}"
        ) from error


def remove_states(directory: Path) -> None:
    """Remove the states of a finished training, and incomplete files of interrupted writes."""
    remove_all([*states(directory), *directory.glob(f".training-*{STATE}.*.part")])


def is_state(path: Path) -> bool:
    """Return whether a file is a state of a training."""
    return path.match(f"training-*{STATE}")


def states(directory: Path) -> list[Path]:
    """Return the states in a folder, the last epoch last."""
    return sorted(directory.glob(f"training-*{STATE}"))


def remove_all(paths: Iterable[Path]) -> None:
    """Remove files as far as possible."""
    for path in paths:
        with suppress(OSError):  # a stale file takes room, no more
            path.unlink()
