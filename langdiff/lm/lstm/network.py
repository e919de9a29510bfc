"""Networks of language models: the AWD-LSTM (Merity, Keskar & Socher 2018) and a Transformer, on padded batches."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from langdiff.lm.lstm.features import Asked

State = list[tuple[Tensor, Tensor]]  # hidden and cell state of each layer, (1, B, H)

_LONGEST_WAVE = 10_000.0  # positions, as published


class Activations(NamedTuple):
    """Output of `AWDLSTM.forward` for a batch.

    Attributes
    ----------
    output : Tensor, shape (T, B, embedding_size)
        Output of the last layer after dropout; the softmax is computed from it.
    raw : Tensor, shape (T, B, embedding_size)
        The same before dropout.
    state : State
        State of the layers after the last time step.
    """

    output: Tensor
    raw: Tensor
    state: State


class Masks(NamedTuple):
    """Dropout masks of one pass: 0 where dropped, 1 / (1 - p) elsewhere; None where nothing is dropped.

    Attributes
    ----------
    embedding : Tensor, shape (vocabulary_size, 1)
    recurrent : list of Tensor, shapes (4 H, H)
        One mask per layer, for its recurrent weights.
    locked : list of Tensor, shapes (1, B, ·)
        Masks of the embeddings, then of the output of each layer.
    """

    embedding: Tensor | None
    recurrent: list[Tensor | None]
    locked: list[Tensor | None]


class Network(nn.Module, ABC):
    """Interface of a network for training and scoring: causal, over padded batches, with its own softmax.

    Parameters
    ----------
    vocabulary_size : int
        Symbols that can be predicted, the end-of-intent symbol included.
    embedding_size : int
        Width of the embedding, and of the output.
    dropout_embedding, dropout_input, dropout_hidden, dropout_output : float
        Probabilities of dropout; what is dropped where, the network says.

    Attributes
    ----------
    embedding : Parameter, shape (vocabulary_size, embedding_size)
        One row per symbol, its place among the inputs and, unless overridden, in the softmax.
    decoder_bias : Parameter, shape (vocabulary_size,)
        Bias of the softmax.
    has_state : bool
        Whether what came before can be carried on as a state.
    """

    has_state: ClassVar[bool]

    def __init__(
        self,
        vocabulary_size: int,
        *,
        embedding_size: int,
        dropout_embedding: float = 0.0,
        dropout_input: float = 0.0,
        dropout_hidden: float = 0.0,
        dropout_output: float = 0.0,
    ) -> None:
        super().__init__()
        self.dropout_embedding = dropout_embedding
        self.dropout_input = dropout_input
        self.dropout_hidden = dropout_hidden
        self.dropout_output = dropout_output
        self.embedding = nn.Parameter(torch.empty(vocabulary_size, embedding_size))
        self.decoder_bias = nn.Parameter(torch.zeros(vocabulary_size))

    @abstractmethod
    def forward(
        self,
        inputs: Tensor,
        generator: torch.Generator | None = None,
        state: State | None = None,
        masks: Masks | None = None,
        dtype: torch.dtype | None = None,
    ) -> Activations:
        """Run over a batch, (T, B) symbols before the symbols to predict; see `AWDLSTM.forward`."""

    @abstractmethod
    def draw_masks(self, batch_size: int, generator: torch.Generator | None) -> Masks:
        """Draw the masks of a pass over a batch of intents, always in the same order; none while evaluating."""

    def logits(self, output: Tensor, features: "Asked | None" = None) -> Tensor:  # noqa: ARG002
        """Return unnormalized log-probabilities of the next symbol, shape (..., vocabulary_size).

        They are computed in the precision of the output; `features` are those of `langdiff.lm.lstm.features`.
        """
        return linear(output, self.embedding, self.decoder_bias)

    def mask(self, p: float, generator: torch.Generator | None, *shape: int) -> Tensor | None:
        """Draw a dropout mask while training: 0 with probability p, else 1 / (1 - p)."""
        if not (self.training and p):
            return None
        return self.embedding.new_empty(shape).bernoulli_(1 - p, generator=generator).div_(1 - p)


class _LSTMWeights(nn.Module):
    """The weights of one LSTM layer, gates in the order input, forget, cell, output."""

    def __init__(self, n_in: int, n_out: int) -> None:
        super().__init__()
        self.size = n_out
        self.input = nn.Parameter(torch.empty(4 * n_out, n_in))
        self.recurrent = nn.Parameter(torch.empty(4 * n_out, n_out))
        self.input_bias = nn.Parameter(torch.empty(4 * n_out))
        self.recurrent_bias = nn.Parameter(torch.empty(4 * n_out))


class AWDLSTM(Network):
    """LSTM language model with dropped recurrent weights and a softmax tied to the embedding.

    An embedding is followed by `layers` LSTMs of sizes embedding → hidden → … → embedding. Batches
    are padded on the right: as the model is causal, padding changes nothing that comes before it.

    Parameters
    ----------
    vocabulary_size : int
        Symbols that can be predicted, the end-of-intent symbol included.
    embedding_size, hidden_size, layers : int
        Sizes of the network.
    dropout_embedding : float
        Probability with which all of a symbol's embedding is dropped, one mask a batch.
    dropout_input, dropout_hidden, dropout_output : float
        Dropout of embeddings, between layers and of the last output; one mask for all time steps.
    weight_drop : float
        Dropout of the recurrent matrices' elements, one mask a batch.
    generator : torch.Generator, optional
        Where the initial weights are drawn from (CPU).

    References
    ----------
    Merity, Keskar & Socher (2018), Regularizing and Optimizing LSTM Language Models, section 2-4.

    Examples
    --------
    >>> network = AWDLSTM(67, embedding_size=200, hidden_size=1000, layers=3)
    >>> sum(weights.numel() for weights in network.parameters())
    13791067
    """

    has_state = True

    def __init__(
        self,
        vocabulary_size: int,
        *,
        embedding_size: int,
        hidden_size: int,
        layers: int,
        weight_drop: float = 0.0,
        generator: torch.Generator | None = None,
        **dropout: float,
    ) -> None:
        super().__init__(vocabulary_size, embedding_size=embedding_size, **dropout)
        self.weight_drop = weight_drop
        sizes = [embedding_size] + [hidden_size] * (layers - 1) + [embedding_size]
        self.lstms = nn.ModuleList(_LSTMWeights(*pair) for pair in pairwise(sizes))
        self._initialize(generator)

    def _initialize(self, generator: torch.Generator | None) -> None:
        nn.init.uniform_(self.embedding, -0.1, 0.1, generator=generator)
        for lstm in self._layers():
            bound = lstm.size**-0.5
            for weights in lstm.parameters():
                nn.init.uniform_(weights, -bound, bound, generator=generator)

    def _layers(self) -> list[_LSTMWeights]:
        return cast(list[_LSTMWeights], list(self.lstms))

    def forward(
        self,
        inputs: Tensor,
        generator: torch.Generator | None = None,
        state: State | None = None,
        masks: Masks | None = None,
        dtype: torch.dtype | None = None,
    ) -> Activations:
        """Run over a batch.

        Parameters
        ----------
        inputs : Tensor of int64, shape (T, B)
            The symbols before those to predict, padded on the right with any symbol.
        generator : torch.Generator, optional
            Where dropout masks are drawn from while training, on the device of the inputs.
        state : State, optional
            Where each layer begins; the zero state by default.
        masks : Masks, optional
            Dropout masks to use instead of drawing new ones.
        dtype : torch.dtype, optional
            Precision in which layers compute, and of their output; that of the weights by default. The state has that
            of the output.
        """
        masks = masks or self.draw_masks(inputs.shape[1], generator)
        x = F.embedding(inputs, dropped(self.embedding, masks.embedding))  # (T, B, E)
        raw = x = dropped(x, masks.locked[0]).to(dtype or self.embedding.dtype)
        ends: State = []
        for number, lstm in enumerate(self._layers()):
            begin = None if state is None else state[number]
            # (T, B, H), the last (T, B, E)
            raw, end = self._run(lstm, x, dropped(lstm.recurrent, masks.recurrent[number]), begin)
            ends.append(end)
            x = dropped(raw, masks.locked[number + 1])
        return Activations(x, raw, ends)

    def draw_masks(self, batch_size: int, generator: torch.Generator | None) -> Masks:
        """Draw the masks of a pass over a batch of intents, always in the same order; none while evaluating."""
        *_, last = layers = self._layers()
        embedding = self.mask(self.dropout_embedding, generator, len(self.embedding), 1)
        locked = [self.mask(self.dropout_input, generator, 1, batch_size, self.embedding.shape[1])]
        recurrent = []
        for lstm in layers:
            recurrent.append(self.mask(self.weight_drop, generator, *lstm.recurrent.shape))
            p = self.dropout_output if lstm is last else self.dropout_hidden
            locked.append(self.mask(p, generator, 1, batch_size, lstm.size))
        return Masks(embedding, recurrent, locked)

    def _run(
        self, lstm: _LSTMWeights, x: Tensor, recurrent: Tensor, begin: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        if begin is None:
            zero = x.new_zeros(1, x.shape[1], lstm.size)
            begin = zero, zero
        # by hand: autocast adds operators of its own to every step, and on CUDA nothing must differ in type
        begin = begin[0].to(x.dtype), begin[1].to(x.dtype)
        weights = [each.to(x.dtype) for each in (lstm.input, recurrent, lstm.input_bias, lstm.recurrent_bias)]
        # the function below nn.LSTM, as it takes weights that were just dropped:
        # biases, one layer, no dropout between layers, training, one direction, time first
        with _no_advice_on_layout() if x.is_cuda else nullcontext():
            output, hidden, cell = torch._VF.lstm(x, begin, weights, True, 1, 0.0, self.training, False, False)
        return output, (hidden, cell)


@contextmanager
def _no_advice_on_layout() -> Iterator[None]:
    """Suppress cuDNN's warning that weights are not contiguous, as dropped weights never are."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "RNN module weights are not part of single contiguous chunk")
        yield


def linear(x: Tensor, weights: Tensor, bias: Tensor | None = None) -> Tensor:
    """Multiply by weights, in the precision of `x`."""
    return F.linear(x, weights.to(x.dtype), None if bias is None else bias.to(x.dtype))


def dropped(x: Tensor, mask: Tensor | None) -> Tensor:
    """Multiply by a dropout mask, if there is one."""
    return x if mask is None else x * mask.to(x.dtype)


def activation_regularization(activations: Activations, real: Tensor, *, alpha: float, beta: float) -> Tensor:
    r"""Penalize large and fast-changing activations of the last layer.

    .. math:: \alpha \operatorname{mean}(\tilde h_t^2) + \beta \operatorname{mean}((h_{t+1} - h_t)^2)

    with h̃ the output after and h before dropout (Merity, Keskar & Socher 2018, section 4.6).

    Parameters
    ----------
    activations : Activations
        Activations of a batch of shape (T, B).
    real : Tensor of bool, shape (T, B)
        False at padding, which counts in neither mean.
    alpha, beta : float
        Strengths of the activation (AR) and the temporal (TAR) penalty.

    Returns
    -------
    Tensor, shape ()
        In nats, to be added to the mean loss a symbol.
    """
    raw = activations.raw.to(torch.promote_types(activations.raw.dtype, torch.float32))
    penalty = alpha * _mean_square(activations.output.to(raw.dtype), real)
    if beta:  # padding is on the right: where the later of two is real, both are
        penalty = penalty + beta * _mean_square(raw[1:] - raw[:-1], real[1:])
    return penalty


def _mean_square(x: Tensor, real: Tensor) -> Tensor:
    """Return the mean over real places, 0 if there are none; a GPU need not tell how many there are."""
    return (x * real[..., None]).square().sum() / (real.sum() * x.shape[-1]).clamp(min=1)


class _BlockWeights(nn.Module):
    """Weights of one block: attention, then a layer of GELU units, each with the scale of its normalization."""

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

    has_state = False

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
        """Draw the weights; the output of sublayers is small at first, in inverse relation to their number."""
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
        dtype: torch.dtype | None = None,
    ) -> Activations:
        """Run over a batch of shape (T, B); parameters as for `AWDLSTM.forward`, but without a state.

        Products are computed in `dtype`; what blocks add up, and normalize, has the precision of the weights.

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
        dtype = dtype or x.dtype
        rotation = self._rotation(len(inputs), x).to(dtype)
        for number, block in enumerate(self._blocks()):
            attention, hidden = masks.locked[1 + 2 * number : 3 + 2 * number]
            x = x + dropped(self._attend(block, x, rotation), attention)
            inner = F.gelu(linear(_normalized(x, block.before_hidden).to(dtype), block.hidden_input, block.hidden_bias))
            x = x + dropped(linear(inner, block.hidden_output), hidden)
        raw = _normalized(x, self.before_softmax).to(dtype)
        return Activations(dropped(raw, masks.locked[-1]), raw, [])

    def draw_masks(self, batch_size: int, generator: torch.Generator | None) -> Masks:
        """Draw the masks of a pass over a batch of intents, always in the same order; none while evaluating."""
        size = self.embedding.shape[1]
        embedding = self.mask(self.dropout_embedding, generator, len(self.embedding), 1)
        rates = [self.dropout_input, *([self.dropout_hidden] * 2 * len(self.blocks)), self.dropout_output]
        return Masks(embedding, [], [self.mask(p, generator, 1, batch_size, size) for p in rates])

    def _attend(self, block: _BlockWeights, x: Tensor, rotation: Tensor) -> Tensor:
        """Return the output of causal self-attention, (T, B, E), in the precision of the rotation."""
        steps, intents, size = x.shape
        mixed = linear(_normalized(x, block.before_attention).to(rotation.dtype), block.attention_input)  # (T, B, 3 E)
        parts = mixed.view(steps, intents, 3, self.heads, size // self.heads).permute(2, 1, 3, 0, 4)  # (3, B, h, T, d)
        queries, keys, values = parts
        found = F.scaled_dot_product_attention(
            _rotated(queries, rotation), _rotated(keys, rotation), values, is_causal=True
        )
        return linear(found.permute(2, 0, 1, 3).reshape(steps, intents, size), block.attention_output)

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
    cosine, sine = rotation
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cosine - second * sine, first * sine + second * cosine], dim=-1)
