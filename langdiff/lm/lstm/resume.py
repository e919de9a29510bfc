"""State of an unfinished training on disk, from which it continues exactly.

One safetensors file after an epoch, its settings in JSON in the header and its hash in the name, renamed
into place when it is whole. The last two are kept, so that if one is damaged there is another.
"""

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from langdiff.base.io import atomic_path, parse_json, read_bytes
from langdiff.errors import CheckpointError
from langdiff.lm.checkpoint import STATE, remove_all, states
from langdiff.lm.lstm.gradients import training_precision
from langdiff.lm.units.characters import Ids

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

logger = logging.getLogger(__name__)

_KEPT = 2
_HASH = 16  # hexadecimal digits in the name


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingState:
    """State that determines the rest of a training between two epochs.

    Attributes
    ----------
    epoch : int
        The last finished one.
    settings : mapping
        What fits in JSON.
    tensors : mapping from str to Tensor
        Everything else; on the CPU after reading.
    """

    epoch: int
    settings: Mapping[str, Any]
    tensors: Mapping[str, Tensor]

    def copied(self) -> "TrainingState":
        """Return a copy on the CPU, which can be written while training goes on."""
        tensors = {name: tensor.detach().to("cpu", copy=True).contiguous() for name, tensor in self.tensors.items()}
        return replace(self, tensors=tensors)


def training_key(recipe: "Recipe", *, seed: int, device: torch.device, train: Sequence[Ids], dev: Sequence[Ids]) -> str:
    """Return a hash of everything that determines a training, so that only the same training continues a state."""
    settings = {
        "recipe": asdict(recipe),
        "seed": seed,
        "device": device.type,
        "precision": training_precision(recipe, device.type),
        "training_format": recipe.training_format,
        "intents": [len(train), len(dev)],
    }
    digest = hashlib.sha256(json.dumps(settings).encode())
    for ids in (*train, *dev):
        digest.update(len(ids).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(ids, dtype="<i8").tobytes())
    return digest.hexdigest()


class StateFolder:
    """Folder of the states of a training; nothing is stored if the folder is None.

    Parameters
    ----------
    directory : Path or None
        Other files in it are left alone.
    key : str
        Key of the training, see `training_key`; a state of another key is removed.
    """

    def __init__(self, directory: Path | None, key: str) -> None:
        self.directory = directory
        self.key = key
        self._kept: list[Path] = []  # the older first

    def read(self) -> TrainingState | None:
        """Return the last intact state; None if training begins anew."""
        if self.directory is None:
            return None
        found = states(self.directory)
        damaged = []
        for path in reversed(found):
            try:
                state, key = _read(path)
            except CheckpointError as error:
                logger.warning("%s", error)
                damaged.append(path)
                continue
            if key != self.key:
                logger.info("%s: of other texts, or another recipe, seed, device or format; training anew", path)
                break
            self._kept = [path]
            remove_all(damaged)
            return state
        if damaged:
            logger.warning("%s: no training state is whole; training from the beginning", self.directory)
        remove_all(found)
        return None

    def write(self, state: TrainingState) -> None:
        """Write a state on the CPU, and remove older ones except the last.

        Raises
        ------
        OutputError
            If it cannot be written.
        """
        if self.directory is None:
            return
        header = {"key": self.key, "epoch": str(state.epoch), "settings": json.dumps(state.settings)}
        blob = save(dict(state.tensors), metadata=header)
        path = self.directory / f"training-{state.epoch:06}-{_hash(blob)}{STATE}"
        with atomic_path(path) as temporary:
            temporary.write_bytes(blob)
        self._kept = [*self._kept, path][-_KEPT:]
        remove_all(other for other in states(self.directory) if other not in self._kept)


def _hash(blob: bytes) -> str:
    return hashlib.sha256(blob).hexdigest()[:_HASH]


def _read(path: Path) -> tuple[TrainingState, str]:
    """Return the state in a file, and its key.

    Raises
    ------
    CheckpointError
        If the file cannot be read or is not what was written.
    """
    try:
        blob = read_bytes(path)
        if path.name != f"{path.name.rpartition('-')[0]}-{_hash(blob)}{STATE}":
            raise ValueError(f"damaged or truncated, {len(blob):,} bytes")
        size = int.from_bytes(blob[:8], "little")  # of the header, which is JSON
        header = parse_json(blob[8 : 8 + size])["__metadata__"]
        settings = parse_json(header["settings"])
        state = TrainingState(epoch=int(header["epoch"]), settings=settings, tensors=load(blob))
    except (OSError, SafetensorError, ValueError, KeyError, TypeError) as error:
        raise CheckpointError(f"{path}: not a whole training state ({error}); trying the state before it") from error
    return state, header["key"]
