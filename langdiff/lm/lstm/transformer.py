"""A Transformer language model: normalization before each sublayer, positions by rotation."""

from math import sqrt
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langdiff.lm.lstm.network import Activations, Masks, Network, State, dropped

_LONGEST_WAVE = 10_000.0  # positions, as published


class _BlockWeights(nn.Module):
    """The weights of one block: attention, then a layer of GELU units, each with a scale of its normalization."""

    def __init__(self, size: int, n_hidden: int) -> None:
        super().__init__()
        self.before_attention = nn.Parameter(torch.ones(size))
        self.attention_input = nn.Parameter(torch.empty(3 * size, size))  # queries, keys, values
        self.attention_output = nn.Parameter(torch.empty(size, size))
        self.before_hidden = nn.Parameter(torch.ones(size))
        self.hidden_input = nn.Parameter(torch.empty(n_hidden, size))
        self.hidden_bias = nn.Parameter(torch.zeros(n_hidden))
        self.hidden_output = nn.Parameter(torch.empty(size, n_hidden))


class Transformer(Network):
    """Causal Transformer with a softmax tied to the embedding.

    Each of `layers` blocks adds causal self-attention and then a layer of GELU units to its input, both computed from
    the normalized input. Positions enter as rotations of queries and keys, so that attention depends on
    distances only. Every intent starts from nothing; there is no state to carry.

    Parameters
    ----------
    vocabulary_size : int
        Symbols that can be predicted, the end-of-intent symbol included.
    embedding_size, hidden_size, layers, heads : int
        Width of the blocks, GELU units of each, number of blocks, and attention heads, which divide the width.
    dropout_embedding : float
        Probability with which all of a symbol's embedding is dropped, one mask a batch.
    dropout_input, dropout_hidden, dropout_output : float
        Dropout of embeddings, of what each sublayer adds, and of the output; one mask for all time steps.
    generator : torch.Generator, optional
        Where the initial weights are drawn from (CPU).

    References
    ----------
    Vaswani et al. (2017), Attention Is All You Need. Xiong et al. (2020), On Layer Normalization in the Transformer
    Architecture. Su et al. (2021), RoFormer: Enhanced Transformer with Rotary Position Embedding.

    Examples
    --------
    >>> network = Transformer(67, embedding_size=64, hidden_size=128, layers=2, heads=4)
    >>> network(torch.zeros(9, 5, dtype=torch.int64)).output.shape
    torch.Size([9, 5, 64])
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        embedding_size: int,
        hidden_size: int,
        layers: int,
        heads: int,
        generator: torch.Generator | None = None,
        **dropout: float,
    ) -> None:
        super().__init__(vocabulary_size, embedding_size=embedding_size, **dropout)
        self.heads = heads
        self.blocks = nn.ModuleList(_BlockWeights(embedding_size, hidden_size) for _ in range(layers))
        self.before_softmax = nn.Parameter(torch.ones(embedding_size))
        self._initialize(generator)

    def _initialize(self, generator: torch.Generator | None) -> None:
        """Draw the weights; what sublayers add is small at first, the less the more of them there are."""
        nn.init.normal_(self.embedding, std=self.embedding.shape[1] ** -0.5, generator=generator)
        for block in self._blocks():
            for weights in (block.attention_input, block.hidden_input, block.attention_output, block.hidden_output):
                nn.init.normal_(weights, std=weights.shape[1] ** -0.5, generator=generator)
            with torch.no_grad():
                for weights in (block.attention_output, block.hidden_output):
                    weights.div_(sqrt(2 * len(self.blocks)))

    def _blocks(self) -> list[_BlockWeights]:
        return cast(list[_BlockWeights], list(self.blocks))

    def forward(
        self,
        inputs: Tensor,
        generator: torch.Generator | None = None,
        state: State | None = None,
        masks: Masks | None = None,
    ) -> Activations:
        """Run over a batch of shape (T, B); parameters as for `AWDLSTM.forward`, but there is no state.

        Raises
        ------
        ValueError
            If a state is given.
        """
        if state is not None:
            raise ValueError("a Transformer has no state to begin from")
        masks = masks or self.draw_masks(inputs.shape[1], generator)
        x = F.embedding(inputs, dropped(self.embedding, masks.embedding)) * sqrt(self.embedding.shape[1])  # (T, B, E)
        x = dropped(x, masks.locked[0])
        rotation = self._rotation(len(inputs), x)
        for number, block in enumerate(self._blocks()):
            attention, hidden = masks.locked[1 + 2 * number : 3 + 2 * number]
            x = x + dropped(self._attend(block, x, rotation), attention)
            inner = F.gelu(F.linear(_normalized(x, block.before_hidden), block.hidden_input, block.hidden_bias))
            x = x + dropped(F.linear(inner, block.hidden_output), hidden)
        raw = _normalized(x, self.before_softmax)
        return Activations(dropped(raw, masks.locked[-1]), raw, [])

    def draw_masks(self, batch_size: int, generator: torch.Generator | None) -> Masks:
        """Draw the masks of a pass over so many intents, always in the same order; none while evaluating."""
        size = self.embedding.shape[1]
        embedding = self.mask(self.dropout_embedding, generator, len(self.embedding), 1)
        rates = [self.dropout_input, *([self.dropout_hidden] * 2 * len(self.blocks)), self.dropout_output]
        return Masks(embedding, [], [self.mask(p, generator, 1, batch_size, size) for p in rates])

    def _attend(self, block: _BlockWeights, x: Tensor, rotation: Tensor) -> Tensor:
        """Return what causal self-attention adds, (T, B, E)."""
        steps, intents, size = x.shape
        mixed = F.linear(_normalized(x, block.before_attention), block.attention_input)  # (T, B, 3 E)
        parts = mixed.view(steps, intents, 3, self.heads, size // self.heads).permute(2, 1, 3, 0, 4)  # (3, B, h, T, d)
        queries, keys, values = parts
        found = F.scaled_dot_product_attention(
            _rotated(queries, rotation), _rotated(keys, rotation), values, is_causal=True
        )
        return F.linear(found.permute(2, 0, 1, 3).reshape(steps, intents, size), block.attention_output)

    def _rotation(self, steps: int, like: Tensor) -> Tensor:
        """Return cosine and sine of the angle of each position and pair of dimensions, (2, T, d / 2)."""
        half = self.embedding.shape[1] // self.heads // 2
        speed = _LONGEST_WAVE ** (-torch.arange(half, device=like.device, dtype=torch.float64) / half)
        angle = torch.arange(steps, device=like.device, dtype=torch.float64)[:, None] * speed
        return torch.stack([angle.cos(), angle.sin()]).to(like.dtype)


def _normalized(x: Tensor, scale: Tensor) -> Tensor:
    """Normalize the last dimension to mean 0 and variance 1, then scale it."""
    return F.layer_norm(x, scale.shape, scale)


def _rotated(x: Tensor, rotation: Tensor) -> Tensor:
    """Rotate the two halves of the last dimension, as pairs, by the angles of the positions."""
    cosine, sine = rotation.to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
