"""The network of a tagger: vectors of words, an encoder, scores of tags, and a conditional random field."""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

from langdiff.errors import ConfigError
from langdiff.parallelism.taggers.settings import TaggerSettings, check_sizes
from langdiff.parallelism.taggers.words import Batch, blend

_SPREAD = 0.1  # of the initial scores of transitions
_DROPOUT = 0.1  # of the Transformer
_LONGEST_WAVE = 10_000.0  # positions, as published


class LinearChainCRF(nn.Module):
    r"""Distribution over sequences of tags, given scores of the tags at each position.

    .. math:: \ln p(y \mid x) = a_{y_1} + \sum_{t=1}^T x_{t, y_t} + \sum_{t=1}^{T-1} A_{y_t, y_{t+1}} + b_{y_T} - \ln Z

    Sequences of different lengths are padded to one batch: what stands after a sequence's end changes nothing. No
    transition is excluded.

    Parameters
    ----------
    n_tags : int
        Number of tags, K.
    generator : torch.Generator, optional
        Generator of the initial scores of transitions, of a start and of a stop, which are small.

    References
    ----------
    Lafferty, McCallum & Pereira (2001), Conditional Random Fields.

    Examples
    --------
    >>> crf = LinearChainCRF(3)
    >>> emissions, lengths = torch.zeros(2, 5, 3), torch.tensor([5, 2])
    >>> [len(path) for path in crf.decode(emissions, lengths)]
    [5, 2]
    """

    def __init__(self, n_tags: int, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.transitions = nn.Parameter(torch.empty(n_tags, n_tags))  # from row to column
        self.start = nn.Parameter(torch.empty(n_tags))
        self.stop = nn.Parameter(torch.empty(n_tags))
        for weights in (self.transitions, self.start, self.stop):
            nn.init.uniform_(weights, -_SPREAD, _SPREAD, generator=generator)

    def log_partition(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Return the logarithm of the sum over all sequences of tags of their exponentiated scores.

        Shapes: emissions (B, T, K); lengths (B,).
        """
        found: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
            emissions, self.transitions, self.start, self.stop, lengths
        )
        return found

    def score(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Return the score of one sequence of tags per row, shape (B,).

        Shapes: tags (B, T).
        """
        real = _real(lengths, emissions.shape[1])
        at_tags = emissions.gather(2, tags[:, :, None])[:, :, 0]  # (B, T)
        moves = self.transitions[tags[:, :-1], tags[:, 1:]]  # (B, T - 1)
        last = tags.gather(1, lengths[:, None] - 1)[:, 0]
        within = (at_tags * real).sum(dim=1) + (moves * real[:, 1:]).sum(dim=1)
        return self.start[tags[:, 0]] + within + self.stop[last]

    def forward(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Return the negative log-likelihood of the tags in nats, shape (B,); parameters as for `score`."""
        return self.log_partition(emissions, lengths) - self.score(emissions, tags, lengths)

    @torch.enable_grad()
    def marginals(self, emissions: Tensor, lengths: Tensor) -> Tensor:
        """Return the probability of each tag at each position, shape (B, T, K); zero after the end of a sequence.

        It is the derivative of the log-partition by the emission. Parameters as for `log_partition`.
        """
        inputs = emissions.detach().requires_grad_()
        return torch.autograd.grad(self.log_partition(inputs, lengths).sum(), inputs)[0]

    @torch.no_grad()
    def decode(self, emissions: Tensor, lengths: Tensor) -> list[list[int]]:
        """Return the best sequence of tags of each row (Viterbi); parameters as for `log_partition`."""
        batch, longest, n_tags = emissions.shape
        best = self.start + emissions[:, 0]  # (B, K)
        stay = torch.arange(n_tags, device=emissions.device).expand(batch, n_tags)
        pointers = []
        for step in range(1, longest):
            scores, source = (best[:, :, None] + self.transitions).max(dim=1)
            alive = (lengths > step)[:, None]
            best = torch.where(alive, scores + emissions[:, step], best)
            pointers.append(torch.where(alive, source, stay))
        tags = [(best + self.stop).argmax(dim=1)]  # from the last position back
        for source in reversed(pointers):
            tags.append(source.gather(1, tags[-1][:, None])[:, 0])
        rows = torch.stack(tags[::-1], dim=1).tolist()
        return [row[:length] for row, length in zip(rows, lengths.tolist(), strict=True)]


class _LogPartition(torch.autograd.Function):
    """Forward recursion, and its derivative by the backward recursion: marginals of tags and of transitions.

    As automatic differentiation of the forward recursion gives, but without a graph of thousands of small steps.
    """

    @staticmethod
    def forward(
        ctx: Any, emissions: Tensor, transitions: Tensor, start: Tensor, stop: Tensor, lengths: Tensor
    ) -> Tensor:
        shortest = int(lengths.min())
        forward = [start + emissions[:, 0]]  # (B, K) each: log-sums over the tags before
        by_target = transitions.T.contiguous()
        for step in range(1, emissions.shape[1]):
            reached = torch.logsumexp(forward[-1][:, None, :] + by_target, dim=2) + emissions[:, step]
            forward.append(reached if step < shortest else torch.where((lengths > step)[:, None], reached, forward[-1]))
        total = torch.logsumexp(forward[-1] + stop, dim=1)
        ctx.save_for_backward(emissions, transitions, stop, lengths, torch.stack(forward, dim=1), total)
        return total

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, None]:
        emissions, transitions, stop, lengths, forward, total = ctx.saved_tensors
        steps = emissions.shape[1]
        shortest = int(lengths.min())
        backward = [stop.expand_as(total[:, None] + stop)]  # (B, K) each, the last position first
        for step in range(steps - 1, 0, -1):
            ahead = (emissions[:, step] + backward[-1])[:, None, :]
            reached = torch.logsumexp(transitions + ahead, dim=2)
            backward.append(
                reached if step < shortest else torch.where((lengths > step)[:, None], reached, backward[-1])
            )
        after = torch.stack(backward[::-1], dim=1)  # (B, T, K)
        real = _real(lengths, steps)[:, :, None]
        weight = gradient[:, None, None]
        tags = (forward + after - total[:, None, None]).exp() * real * weight  # (B, T, K)
        moves = forward[:, :-1, :, None] + transitions + (emissions + after)[:, 1:, None, :]
        moves = (moves - total[:, None, None, None]).exp() * (real[:, 1:] * weight)[..., None]  # (B, T - 1, K, K)
        last = tags[torch.arange(len(lengths), device=lengths.device), lengths - 1]
        return tags, moves.sum(dim=(0, 1)), tags[:, 0].sum(dim=0), last.sum(dim=0), None


def _real(lengths: Tensor, longest: int) -> Tensor:
    """Return 1 where a position is within its sequence and 0 after it, shape (B, T)."""
    return torch.arange(longest, device=lengths.device) < lengths[:, None]


class NoEncoder(nn.Module):
    """Leaves vectors as they are."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:  # noqa: ARG002 as the other encoders
        """Return the vectors, shape (B, T, D)."""
        return vectors


class BiLSTM(nn.Module):
    """Bidirectional LSTM without dropout.

    Parameters
    ----------
    width : int
        Width of the input, D.
    hidden_size : int
        Width of the output, H: one half for each direction.
    depth : int
        Number of layers.

    References
    ----------
    Huang, Xu & Yu (2015), Bidirectional LSTM-CRF Models for Sequence Tagging.
    """

    def __init__(self, width: int, hidden_size: int, depth: int) -> None:
        super().__init__()
        self.width = hidden_size
        self.lstm = nn.LSTM(width, hidden_size // 2, depth, batch_first=True, bidirectional=True)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return vectors of shape (B, T, H) for sequences of shape (B, T, D) and their lengths (B,)."""
        if len(lengths) == 1:  # nothing is padded
            found: Tensor = self.lstm(vectors)[0]
            return found
        packed = pack_padded_sequence(vectors, lengths.cpu(), batch_first=True, enforce_sorted=False)
        return pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=vectors.shape[1])[0]


class Transformer(nn.Module):
    r"""Transformer with sinusoidal positions that normalizes before each sublayer, and once after the last.

    .. math:: x \leftarrow x + \mathrm{Attention}(\mathrm{LayerNorm}(x)), \quad
              x \leftarrow x + \mathrm{FF}(\mathrm{LayerNorm}(x))

    Attention is over the positions of each sequence; padding is not seen.

    Parameters
    ----------
    width : int
        Width of input and output, D.
    hidden_size : int
        Width of the feed-forward layers.
    depth, heads : int
        Number of layers; attention heads, which divide the width.
    activation : {"relu", "gelu"}
        Activation of the feed-forward layers.

    References
    ----------
    Vaswani et al. (2017), Attention Is All You Need. Xiong et al. (2020), On Layer Normalization in the Transformer
    Architecture.
    """

    def __init__(self, width: int, hidden_size: int, depth: int, heads: int, activation: str) -> None:
        super().__init__()
        self.width = width
        layer = nn.TransformerEncoderLayer(
            width, heads, hidden_size, _DROPOUT, activation=activation, batch_first=True, norm_first=True
        )
        self.layers = nn.TransformerEncoder(layer, depth, nn.LayerNorm(width), enable_nested_tensor=False)

    def forward(self, vectors: Tensor, lengths: Tensor) -> Tensor:
        """Return vectors of shape (B, T, D) for sequences of shape (B, T, D) and their lengths (B,)."""
        steps = vectors.shape[1]
        padding = torch.arange(steps, device=vectors.device) >= lengths[:, None]  # (B, T)
        placed = vectors + sinusoids(steps, self.width).to(vectors)
        found: Tensor = self.layers(placed, src_key_padding_mask=padding)
        return found


def sinusoids(steps: int, width: int) -> Tensor:
    """Return sines (even columns) and cosines (odd columns) of positions, shape (T, D).

    Examples
    --------
    >>> sinusoids(2, 4)[1].numpy().round(4)
    array([0.8415, 0.5403, 0.01  , 1.    ])
    """
    speed = _LONGEST_WAVE ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angle = torch.arange(steps, dtype=torch.float64)[:, None] * speed
    return torch.stack([angle.sin(), angle.cos()], dim=2).flatten(1)[:, :width]


def make_encoder(
    kind: str, width: int, hidden_size: int | None, depth: int | None, heads: int | None, activation: str | None
) -> NoEncoder | BiLSTM | Transformer:
    """Return a new encoder of some kind for vectors of some width; parameters as for the encoders."""
    if kind == "bilstm" and hidden_size is not None and depth is not None:
        return BiLSTM(width, hidden_size, depth)
    if kind == "transformer" and None not in (hidden_size, depth, heads, activation):
        return Transformer(width, hidden_size, depth, heads, activation)  # type: ignore[arg-type]
    return NoEncoder(width)


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
