"""The network of a tagger: vectors of words, an encoder, scores of tags, and a conditional random field."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from langdiff.errors import ConfigError
from langdiff.parallelism.taggers.crf import LinearChainCRF
from langdiff.parallelism.taggers.encoders import make_encoder
from langdiff.parallelism.taggers.inputs import Batch, blend
from langdiff.parallelism.taggers.settings import TaggerSettings, check_sizes


class TaggerNetwork(nn.Module):
    """Scores sequences of tags of sections.

    Parameters
    ----------
    settings : TaggerSettings
        What it is made of.
    n_tags : int
        Number of tags.
    size : int or None
        Number of words or subwords whose vectors are learned.
    width : int or None
        Width of vectors that are not learned.

    Raises
    ------
    ConfigError
        If the encoder does not fit the width of its input.
    """

    def __init__(self, settings: TaggerSettings, n_tags: int, size: int | None, width: int | None) -> None:
        super().__init__()
        inner = width if settings.input_size is None else settings.input_size
        if inner is None:
            raise ConfigError("the width of a tagger's input is known neither from settings nor from vectors.")
        check_sizes(settings, inner)
        self._blending = settings.blending
        self.embedding = None if size is None else nn.Embedding(size, inner)
        self.encoder = make_encoder(
            settings.encoder, inner, settings.hidden_size, settings.depth, settings.heads, settings.activation
        )
        self.scores = nn.Linear(self.encoder.width, n_tags)
        self.crf = LinearChainCRF(n_tags)

    def emissions(self, batch: Batch) -> Tensor:
        """Return the scores of the tags of each word, shape (B, T, K); anything after the end of a section."""
        vectors = batch.vectors  # (N, D), of all words
        if self.embedding is not None:
            vectors = self.embedding(batch.ids)
            if batch.owners is not None:
                vectors = blend(vectors, batch.owners, int(batch.lengths.sum()), self._blending or "mean")
        if vectors is None:
            raise ValueError("a batch has ids or vectors")
        padded = pad_sequence(list(torch.split(vectors, batch.lengths.tolist())), batch_first=True)  # (B, T, D)
        found: Tensor = self.scores(self.encoder(padded, batch.lengths))
        return found

    def forward(self, batch: Batch, tags: Tensor) -> Tensor:
        """Return the negative log-likelihood of the tags of each section in nats, shape (B,)."""
        loss: Tensor = self.crf(self.emissions(batch), tags, batch.lengths)
        return loss

    @torch.no_grad()
    def best(self, batch: Batch) -> list[list[int]]:
        """Return the best tags of each section."""
        return self.crf.decode(self.emissions(batch), batch.lengths)
