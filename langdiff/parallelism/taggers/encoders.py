"""Encoders: what lets the tag of a word depend on the words around it."""

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

_DROPOUT = 0.1  # of the Transformer
_LONGEST_WAVE = 10_000.0  # positions, as published


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
