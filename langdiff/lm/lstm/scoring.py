"""The surprisal of encoded intents under a network: single precision, summed in double."""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor

from langdiff.lm.device import empty_cache, single_precision
from langdiff.lm.lstm.batches import STRETCH, WINDOW, Batch, Pieces, Text, rows_by_length
from langdiff.lm.lstm.features import Asked, NgramFeatures
from langdiff.lm.lstm.network import Network, State
from langdiff.lm.units.characters import Ids

Floats = npt.NDArray[np.float64]

logger = logging.getLogger(__name__)

_SCORED_AT_ONCE = 1 << 14  # units in a batch
SCORED_ON_CPU = 1 << 12  # which stay nearer to the processor: a sixth faster
_LOGITS_AT_ONCE = 1 << 22  # elements, 16 MB: a large softmax over long intents goes in slices


@dataclass
class MemoryLimit:
    """Units computed at once, padding included, which shrink when the memory of a GPU runs out; no limit if None."""

    units: int | None = None


class Judging(NamedTuple):
    """How epochs are judged: precision of the layers, whether products are in TF32, and units in a batch."""

    dtype: torch.dtype | None
    tf32: bool
    most_units: int


def slices(rows: Tensor, vocabulary_size: int) -> Iterator[slice]:
    """Divide rows into slices with few logits, and fewer where they can stay near to the processor."""
    most = _LOGITS_AT_ONCE // 2 if rows.device.type == "cpu" else _LOGITS_AT_ONCE
    step = max(1, most // vocabulary_size)
    for start in range(0, len(rows), step):
        yield slice(start, start + step)


@torch.no_grad()
@single_precision()
def score(
    network: Network,
    intents: Sequence[Ids],
    *,
    features: NgramFeatures | None = None,
    batch_size: int | None = None,
) -> tuple[Floats, Floats]:
    r"""Return the bits of intents, and of their end symbols alone.

    .. math:: -\sum_{t=1}^{T} \log_2 p(u_t \mid u_1 \dots u_{t-1}), \quad u_T = \text{end}

    Parameters
    ----------
    network : Network
        In evaluation mode; its last symbol is the end symbol. Every intent starts from the zero
        state with the end symbol as input. Of a long intent a network with a state carries it on from stretch to
        stretch, which changes nothing but rounding; one without reads windows that begin with the end symbol and have
        half of their units in common with the one before.
    intents : sequence of ndarray of int64, length I
        Units of each intent, without end symbol; may be empty.
    features : NgramFeatures, optional
        What n-grams say of the intents, for a residual network.
    batch_size : int, optional
        Intents scored at once; by default as many as fit about 16,000 units, 4,000 on the CPU.

    Returns
    -------
    bits, eos_bits : ndarray of float64, shape (I,)
        They depend on no other intent, but for rounding in the seventh digit.
    """
    most_units = SCORED_ON_CPU if network.embedding.device.type == "cpu" else _SCORED_AT_ONCE
    return summed(intents, _in_batches(network, intents, features, most_units, batch_size))


@torch.no_grad()
def judge(network: Network, intents: Sequence[Ids], features: NgramFeatures | None, judging: Judging) -> float:
    """Return the bits of the dev part, by which epochs are chosen; see `score`."""
    with single_precision(tf32=judging.tf32):
        batches = _in_batches(network, intents, features, judging.most_units, dtype=judging.dtype)
        return float(summed(intents, batches)[0].sum())


def summed(intents: Sequence[Sized], batches: Iterable[tuple[Pieces, Floats]]) -> tuple[Floats, Floats]:
    """Return the bits of intents and of their ends."""
    bits, eos_bits = np.zeros(len(intents)), np.zeros(len(intents))
    for pieces, (each,) in batches:
        for column in np.flatnonzero(pieces.scored):
            each[: pieces.scored[column], column] = 0
        np.add.at(bits, pieces.rows, each.sum(axis=0))
        last = [begin + length == len(intents[row]) + 1 for row, begin, length, _ in zip(*pieces, strict=True)]
        eos_bits[pieces.rows[last]] = each[pieces.lengths - 1, np.arange(len(last))][last]
    return bits, eos_bits


@torch.no_grad()
@single_precision()
def score_symbols(
    network: Network, intents: Sequence[Ids], *, features: NgramFeatures | None = None, others: Ids | None = None
) -> list[Floats]:
    """Return the bits of each symbol of intents, their end symbols last; see `score`.

    Parameters
    ----------
    network, intents, features
        As for `score`.
    others : ndarray of int64, optional
        Symbols of which the bits are returned that one of them stands there; the arrays then have the shape (2, T).
    """
    most_units = SCORED_ON_CPU if network.embedding.device.type == "cpu" else _SCORED_AT_ONCE
    batches = _in_batches(network, intents, features, most_units, others=others)
    return [each[0] for each in by_symbol(intents, batches, 1)] if others is None else by_symbol(intents, batches, 2)


def by_symbol(intents: Sequence[Sized], batches: Iterable[tuple[Pieces, Floats]], count: int) -> list[Floats]:
    """Return the bits of the symbols of each intent, (count, T)."""
    found = [np.empty((count, len(ids) + 1)) for ids in intents]
    for pieces, each in batches:
        for column, (row, begin, length, first) in enumerate(zip(*pieces, strict=True)):
            found[row][:, begin + first : begin + length] = each[:, first:length, column]
    return found


def _in_batches(
    network: Network,
    intents: Sequence[Ids],
    features: NgramFeatures | None,
    most_units: int,
    batch_size: int | None = None,
    others: Ids | None = None,
    dtype: torch.dtype | None = None,
) -> Iterator[tuple[Pieces, Floats]]:
    """Score intents, or windows of them; see `in_batches`."""
    device = network.embedding.device
    text = Text(intents, len(network.embedding) - 1, features)
    pieces = text.pieces() if network.has_state else text.pieces(WINDOW, WINDOW // 2)

    def bits(own: Pieces) -> Floats:
        return _bits(network, text.batches(own, device, steps=STRETCH), others, dtype)

    return in_batches(pieces, bits, MemoryLimit(most_units), device, batch_size)


def in_batches(
    pieces: Pieces,
    bits: Callable[[Pieces], Floats],
    limit: MemoryLimit,
    device: torch.device,
    most_pieces: int | None = None,
) -> Iterator[tuple[Pieces, Floats]]:
    """Score pieces of like length in parallel; yield them and the bits of their symbols, (1 or 2, T, B).

    If the memory of a GPU runs out, this and all further batches are halved. `bits` returns those of the N symbols of
    some pieces, time by time, (1 or 2, N).
    """
    waiting = rows_by_length(pieces.lengths, most_units=limit.units, most_intents=most_pieces)
    while waiting:
        rows, *waiting = waiting
        own = pieces.of(rows)
        try:
            found = bits(own)
        except torch.cuda.OutOfMemoryError as error:
            if len(rows) == 1:
                raise
            reason = str(error).partition("\n")[0]
        else:
            real = np.arange(own.lengths.max())[:, None] < own.lengths  # (T, B)
            each = np.zeros((len(found), *real.shape))
            each[:, real] = found
            yield own, each
            continue
        # outside of the handler, which keeps the tensors of what failed
        empty_cache(device)
        limit.units = int(own.lengths.max()) * (len(rows) // 2)
        logger.warning("out of memory (%s): scoring at most %d units at once", reason, limit.units)
        left = np.concatenate([rows, *waiting])
        by_length = rows_by_length(pieces.lengths[left], most_units=limit.units, most_intents=most_pieces)
        waiting = [left[each] for each in by_length]


def _bits(network: Network, stretches: Iterable[Batch], others: Ids | None, dtype: torch.dtype | None = None) -> Floats:
    """Return the bits of the N symbols to predict and, if given, of others, (1 or 2, N), stretch by stretch."""
    state: State | None = None
    found = []
    for batch in stretches:
        activations = network(batch.inputs, None, state, None, dtype)
        state = activations.state or None
        # the softmax is never in half precision
        output, targets = activations.output.flatten(0, 1).to(network.embedding.dtype), batch.targets.flatten()
        if batch.rows is not None:
            output, targets = output[batch.rows], targets[batch.rows]
        found.append(_bits_of(network, output, targets, batch.features, others).numpy())
    return np.concatenate(found, axis=1)


def _bits_of(
    network: Network, output: Tensor, targets: Tensor, features: Asked | None = None, others: Ids | None = None
) -> Tensor:
    """Return the bits of symbols and, if given, of others, (1 or 2, N), float64 on the CPU, from output (N, E)."""
    found = []
    for part in slices(output, len(network.embedding)):
        logits = network.logits(output[part], None if features is None else features.of(part))
        found.append(bits_of_logits(logits, targets[part], others))
    return torch.cat(found, dim=1)


def bits_of_logits(logits: Tensor, targets: Tensor, others: Ids | None = None) -> Tensor:
    """Return the bits of symbols and, if given, that one of the others stands there, (1 or 2, N), float64, CPU.

    Shapes: logits (N, V); targets (N,).
    """
    rows = [F.cross_entropy(logits, targets, reduction="none")]
    if others is not None:
        chosen = logits[:, torch.from_numpy(others).to(logits.device)]
        # sums of a few symbols and of all are rounded in different ways
        rows.append((logits.logsumexp(dim=1) - chosen.logsumexp(dim=1)).clamp(min=0))
    return torch.stack(rows).cpu().double() / log(2)


@torch.no_grad()
@single_precision()
def score_in_order(network: Network, intents: Sequence[Ids]) -> tuple[Floats, Floats]:
    r"""Return the bits of intents as one text, with the state carried from each to the next.

    .. math:: -\sum_{t} \log_2 p(u_{it} \mid u_{11} \dots u_{i,t-1})

    The network reads one symbol at a time, with no other intent beside it, which is many times slower than `score`.

    Parameters
    ----------
    network, intents
        Network and intents as for `score`; the first intent starts from the zero state with the end symbol as input.

    Returns
    -------
    bits, eos_bits : ndarray of float64, shape (I,)
        Those of an intent depend on all before it.
    """
    if not intents:
        return np.zeros(0), np.zeros(0)
    end, device = len(network.embedding) - 1, network.embedding.device
    joined = np.concatenate([[end], *(np.append(ids, end) for ids in intents)]).astype(np.int64)
    symbols = torch.from_numpy(joined).to(device)
    each = np.empty(len(joined) - 1)
    state: State | None = None
    for start in range(0, len(each), STRETCH):
        inputs = symbols[start : start + STRETCH + 1]
        activations = network(inputs[:-1, None], None, state)
        state = activations.state
        each[start : start + STRETCH] = _bits_of(network, activations.output[:, 0], inputs[1:])[0].numpy()
    ends = np.cumsum([len(ids) + 1 for ids in intents])
    return np.add.reduceat(each, np.append(0, ends[:-1])), each[ends - 1]
