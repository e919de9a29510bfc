"""Batches of texts for networks: rows of like length, streams of segments, and windows of texts that are too long."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from langdiff.errors import DataError
from langdiff.lm.device import to_device
from langdiff.lm.lstm.features import Asked, NgramFeatures
from langdiff.lm.units.characters import Ids

# of the length of segments (Merity, Keskar & Socher 2018, section 4.1)
FULL_LENGTH = 0.95  # probability that bptt is meant, and not half of it
SPREAD = 5.0  # standard deviation
SHORTEST = 5
IN_PARALLEL = 8  # intents of which a GPU gets a multiple
STRETCH = 1 << 12  # units of a text after which its state is carried on: memory does not grow with the text
WINDOW = 1 << 11  # units of a text that a network without a state reads at once; half of them are scored


class Batch(NamedTuple):
    """Intents in parallel (columns), time in rows.

    Attributes
    ----------
    inputs, targets : Tensor of int64, shape (T, B)
        The symbols before those to predict, and those to predict. The end symbol stands at the
        beginning of the inputs, at the end of the targets, and in the padding.
    lengths : Tensor of int64, shape (B,)
        Symbols to predict in each intent, its end symbol included.
    rows : Tensor of int64, shape (N,), or None
        Places of the N symbols to predict in the flattened targets; None if nothing is padding. It is counted
        before the batch is on its device, as to count there lets a GPU wait.
    features : Asked or None
        What n-grams say of the N symbols to predict, time by time; None for networks that do not ask.
    padding : int
        Intents without symbols, the last ones: kernels of GPUs want multiples of 8.
    """

    inputs: Tensor
    targets: Tensor
    lengths: Tensor
    rows: Tensor | None
    features: Asked | None = None
    padding: int = 0

    @property
    def real(self) -> Tensor:
        """Indicator of the symbols to predict, shape (T, B)."""
        return torch.arange(len(self.targets), device=self.lengths.device)[:, None] < self.lengths


def pad(intents: Sequence[Ids], end: int, device: torch.device) -> Batch:
    """Return intents in parallel, with the end symbol around them and as padding.

    Parameters
    ----------
    intents : sequence of ndarray of int64
        Units of each intent, without end symbol.
    end : int
        Id of the end symbol.
    """
    text = Text(intents, end)
    (batch,) = text.batches(text.pieces(), device, steps=int(text.lengths.max()))
    return batch


class Pieces(NamedTuple):
    """Stretches of intents that are read from the start symbol on; shapes (P,)."""

    rows: Ids  # intents
    begins: Ids  # first symbol to predict
    lengths: Ids  # symbols to predict
    scored: Ids  # of these, the first that no piece before it has scored

    def of(self, which: Ids) -> "Pieces":
        """Return some of the pieces."""
        return Pieces(*(each[which] for each in self))


class Text:
    """Intents as they are cut into batches.

    Parameters
    ----------
    intents : sequence of ndarray of int64, length I
        Units of each intent, without end symbol.
    end : int
        Id of the end symbol.
    features : NgramFeatures, optional
        What n-grams say of the intents.
    """

    def __init__(self, intents: Sequence[Ids], end: int, features: NgramFeatures | None = None) -> None:
        self._intents, self._end, self._features = intents, end, features
        self.lengths = np.array([len(ids) + 1 for ids in intents], dtype=np.int64)

    def pieces(self, window: int | None = None, overlap: int = 0) -> Pieces:
        """Return all intents, whole or cut into windows, each with `overlap` symbols of the one before."""
        if window is None or self.lengths.max(initial=0) <= window:
            nothing = np.zeros_like(self.lengths)
            return Pieces(np.arange(len(self.lengths)), nothing, self.lengths, nothing)
        step = window - overlap
        counts = 1 + np.maximum(0, -(-(self.lengths - window) // step))
        rows = np.repeat(np.arange(len(counts)), counts)
        begins = step * (np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts))
        lengths = np.minimum(window, self.lengths[rows] - begins)
        return Pieces(rows, begins, lengths, np.where(begins > 0, overlap, 0))

    def batches(self, pieces: Pieces, device: torch.device, *, steps: int) -> Iterator[Batch]:
        """Yield batches of `steps` time steps of pieces in parallel, padded with the end symbol.

        Each goes on where the last one ends.
        """
        lengths, end = pieces.lengths, self._end
        padding = -len(lengths) % IN_PARALLEL if device.type == "cuda" else 0
        asked = None if self._features is None else self._features.of(pieces.rows, device, pieces.begins, lengths)
        lengths = np.append(lengths, np.zeros(padding, dtype=np.int64))
        padded = np.full((lengths.max() + 1, len(lengths)), end, dtype=np.int64)  # (T + 1, P)
        for column, (row, begin, length) in enumerate(zip(*pieces[:3], strict=True)):
            ids = self._intents[row][begin : begin + length]
            padded[1 : len(ids) + 1, column] = ids
        done = 0
        for start in range(0, len(padded) - 1, steps):
            symbols = padded[start : start + steps + 1]
            left = np.clip(lengths - start, 0, len(symbols) - 1)
            real = np.arange(len(symbols) - 1)[:, None] < left  # (T, P)
            rows = None if real.all() else to_device(device, np.flatnonzero(real))
            own = None if asked is None else asked.of(slice(done, done + int(left.sum())))
            done += int(left.sum())
            there = to_device(device, symbols)
            yield Batch(there[:-1], there[1:], to_device(device, left), rows, own, padding)


def rows_by_length(
    lengths: npt.NDArray[np.int64],
    *,
    most_units: int | None,
    most_intents: int | None = None,
    rng: np.random.Generator | None = None,
) -> list[npt.NDArray[np.int64]]:
    """Divide intents into batches of like length.

    Parameters
    ----------
    lengths : ndarray of int64, shape (I,)
        Symbols to predict in each intent.
    most_units : int or None
        Symbols in a batch, padding included; an intent longer than that is a batch of its own. No limit if None.
    most_intents : int, optional
        Intents in a batch; no limit by default.
    rng : Generator, optional
        If given, which intents of like length share a batch and the order of batches are random.

    Returns
    -------
    list of ndarray of int64
        The rows of each batch; each row occurs once.
    """
    # up to a tenth longer or shorter counts as like length: costs 3 to 6 % padding, mixes the batches
    keys = lengths if rng is None else lengths * rng.uniform(0.9, 1.1, len(lengths))
    batches: list[list[int]] = []
    longest = 0
    for row in np.argsort(keys, kind="stable"):
        longest = max(longest, int(lengths[row]))
        size = 1 + (len(batches[-1]) if batches else 0)
        if size == 1 or longest * size > (most_units or longest * size) or size > (most_intents or size):
            batches.append([])
            longest = int(lengths[row])
        batches[-1].append(int(row))
    if rng is not None:
        rng.shuffle(batches)
    return [np.array(rows) for rows in batches]


class Segment(NamedTuple):
    """Segment of the streams that forms one batch.

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
    """Return intents joined in their order and divided into streams of equal length.

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
    r"""Draw random lengths of segments, so that epochs are divided at different points.

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
