"""Vectors of words from a frozen BERT in a local folder."""

import copy
import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from langdiff.errors import CheckpointError
from langdiff.lm.external.huggingface import load_local
from langdiff.parallelism.taggers.cutting import find_cutter
from langdiff.parallelism.taggers.inputs import Inputs, blend

LONGEST = 512  # subwords read at once, the tokens before and after a text included
_WEIGHTS = ("*.safetensors", "*.bin")


class FrozenBert:
    """The last hidden layer of a BERT, blended into one vector per word.

    A section longer than the model reads is cut into consecutive pieces, each read on its own. Only the first begins
    with [CLS], and only the last ends with [SEP].

    Parameters
    ----------
    folder : Path
        Folder of configuration, weights and tokenizer; nothing is downloaded.
    blending : {"first", "mean", "sum"}
        How vectors of subwords become the vector of a word.
    device : torch.device or str
        Where the model computes.

    Raises
    ------
    CheckpointError
        If the folder holds no model or no tokenizer that can be loaded, or the two do not fit.
    MissingExtraError
        If Transformers is not installed.
    """

    size = None

    def __init__(self, folder: Path, blending: str, device: torch.device | str = "cpu") -> None:
        self.folder = folder
        self._blending = blending
        self._encoded: dict[tuple[int, ...], Tensor] | None = None  # vectors by subwords, while they are kept
        model: Any = load_local("AutoModel", folder, dtype=torch.float32)
        self.model = model.eval().requires_grad_(False).to(device)
        self.cutter = find_cutter(folder)
        if self.cutter.size > self.model.config.vocab_size:
            raise CheckpointError(
                f"{folder}: the tokenizer has {self.cutter.size:,} subwords, the model "
                f"{self.model.config.vocab_size:,}; they do not belong together."
            )
        self.width = int(self.model.config.hidden_size)
        self.longest = min(LONGEST, int(self.model.config.max_position_embeddings))

    def with_blending(self, blending: str) -> "FrozenBert":
        """Return the same model with another blending; the two share the vectors that are kept."""
        other = copy.copy(self)
        other._blending = blending
        return other

    def keep_encoded(self, keep: bool) -> None:
        """Keep the vectors of the subwords of every section in memory, so that it is encoded once; or let them go."""
        self._encoded = {} if keep else None

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the vectors of the words of each section, on the CPU."""
        found = []
        for words in sections:
            ids, owners = self.subwords(words)
            vectors = blend(self._vectors(ids), torch.tensor(owners), len(words), self._blending)
            found.append(Inputs(len(words), vectors=vectors))
        return found

    def subwords(self, words: Sequence[str]) -> tuple[list[int], list[int]]:
        """Return the ids of the subwords of a section and the number of the word of each; every word has one."""
        cut: list[list[int]] = [[] for _ in words]
        for number, owner in zip(*self.cutter.cut(words), strict=True):
            cut[owner].append(number)
        whole = [ids or [self.cutter.specials.unknown] for ids in cut]
        return [i for ids in whole for i in ids], [owner for owner, ids in enumerate(whole) for _ in ids]

    def _vectors(self, ids: list[int]) -> Tensor:
        if self._encoded is None:
            return self.encode(ids)
        key = tuple(ids)
        if key not in self._encoded:
            self._encoded[key] = self.encode(ids)
        return self._encoded[key]

    @torch.no_grad()
    def encode(self, ids: Sequence[int]) -> Tensor:
        """Return the vectors of the subwords of a section, shape (S, D), on the CPU."""
        row = torch.tensor([self.cutter.specials.first, *ids, self.cutter.specials.last], device=self.model.device)
        pieces = [self.model(input_ids=piece[None]).last_hidden_state[0] for piece in torch.split(row, self.longest)]
        found: Tensor = torch.cat(pieces)[1:-1].cpu()
        return found

    def digest(self) -> str:
        """Return a hash of the folder's configuration and weights, and of what cuts words."""
        digest = hashlib.sha256()
        patterns = ("config.json", *_WEIGHTS, "tokenizer.json", "vocab.txt", "*.subword.encoder", "*.subwords")
        for path in (path for pattern in patterns for path in sorted(self.folder.glob(pattern))):
            with path.open("rb") as stream:
                digest.update(path.name.encode() + hashlib.file_digest(stream, "sha256").digest())
        return digest.hexdigest()
