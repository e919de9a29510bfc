"""The training text as a few long streams, cut into segments through which the state is carried."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from langdiff.errors import DataError
from langdiff.lm.lstm.batches import Batch
from langdiff.lm.units.characters import Ids

# of the length of segments (Merity, Keskar & Socher 2018, section 4.1)
FULL_LENGTH = 0.95  # probability that bptt is meant, and not half of it
SPREAD = 5.0  # standard deviation
SHORTEST = 5


class Segment(NamedTuple):
    """A stretch of the streams that is one batch.

    Attributes
    ----------
    start, stop : int
        Time steps.
    rate : float
        Factor of the learning rate, so that a long segment counts for more than a short one.
    """

    start: int
    stop: int
    rate: float


def lay_out(intents: Sequence[Ids], end: int, streams: int) -> Tensor:
    """Join intents in their order and cut them into streams of the same length.

    Parameters
    ----------
    intents : sequence of ndarray of int64
        Units of each intent, without end symbol; one follows each of them.
    end : int
        Id of the end symbol.
    streams : int
        B, how many.

    Returns
    -------
    Tensor of int64, shape (T + 1, B)
        Each row is to be predicted from those above it. The end symbol stands before the first
        stream; what does not fill a row, less than B units, is left out.

    Raises
    ------
    DataError
        If there are fewer units than streams.

    Examples
    --------
    >>> lay_out([np.array([0, 1]), np.array([2, 3])], end=9, streams=2).T
    tensor([[9, 0, 1, 9],
            [9, 2, 3, 9]])
    """
    joined = np.concatenate([np.append(ids, end) for ids in intents])
    length = len(joined) // streams
    if not length:
        raise DataError(
            f"training part: {len(joined):,} units are too few for {streams} streams side by side. "
            "Add text, or take a recipe with smaller batches."
        )
    targets = joined[: length * streams].reshape(streams, length)
    before = np.append(end, joined)[: length * streams : length]  # what precedes each stream
    return torch.from_numpy(np.column_stack([before, targets]).T.copy())


def draw_segments(length: int, bptt: int, rng: np.random.Generator) -> list[Segment]:
    r"""Cut time into segments of random length, so that not every epoch cuts at the same places.

    .. math:: \max(5, \lfloor x \rfloor), \quad
        x \sim \mathcal N(\text{bptt}, 5) \text{ or, in 5 % of cases, } \mathcal N(\text{bptt} / 2, 5)

    Parameters
    ----------
    length : int
        T, time steps in a stream.
    bptt : int
        Length through which gradients usually flow.

    References
    ----------
    Merity, Keskar & Socher (2018), Regularizing and Optimizing LSTM Language Models, section 4.1.
    """
    segments = []
    start = 0
    while start < length:
        mean = bptt if rng.random() < FULL_LENGTH else bptt / 2
        drawn = max(SHORTEST, int(rng.normal(mean, SPREAD)))
        segments.append(Segment(start, min(start + drawn, length), drawn / bptt))
        start += drawn
    return segments


def cut(streams: Tensor, segment: Segment) -> Batch:
    """Return a segment of the streams as a batch without padding.

    Parameters
    ----------
    streams : Tensor of int64, shape (T + 1, B)
        Streams from `lay_out`.
    """
    symbols = streams[segment.start : segment.stop + 1]
    lengths = torch.full((symbols.shape[1],), len(symbols) - 1, device=symbols.device)
    return Batch(symbols[:-1], symbols[1:], lengths, rows=None)
