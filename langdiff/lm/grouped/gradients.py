"""Gradients of several editions at once: their weights stacked, their batches padded to one shape."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple, cast

import torch
from torch import Tensor

from langdiff.lm.grouped.cuda import Captured
from langdiff.lm.grouped.program import GroupBatch, GroupLoss, Shape, Weights, compute_gradients
from langdiff.lm.lstm.batches import Batch
from langdiff.lm.lstm.gradients import BatchLoss, has_bf16
from langdiff.lm.lstm.loop import Demand
from langdiff.lm.lstm.network import AWDLSTM, Masks, State
from langdiff.lm.precision import single_precision
from langdiff.lm.recipes import Recipe

_EIGHT = 8  # tensor cores like multiples of it


class _Share(NamedTuple):
    """The batch of one network with what is drawn for it, its symbols, and the pairs of successive ones."""

    network: AWDLSTM
    batch: Batch
    masks: Masks
    state: State | None
    units: Tensor
    pairs: Tensor


class GroupedGradients:
    """Does what `accumulate_gradients` does, for several networks of one recipe at once.

    The gradients of a network are those that it has alone, but for the order of sums, whatever its
    neighbours.

    Parameters
    ----------
    networks : sequence of AWDLSTM
        All that may come, on one device; their vocabularies may differ.
    recipe : Recipe
        Recipe that all networks are trained by.
    size : int
        K, networks computed at once.
    """

    def __init__(self, networks: Sequence[AWDLSTM], recipe: Recipe, size: int) -> None:
        self.recipe = recipe
        self.size = min(size, len(networks))
        first = networks[0].embedding
        self._device = first.device
        on_cuda = self._device.type == "cuda"
        self._precision = torch.bfloat16 if recipe.bf16 and has_bf16(self._device.type) else first.dtype
        self._fused = on_cuda and find_spec("triton") is not None  # with which torch.compile makes kernels
        self._vocabulary = _vocabulary(networks)
        self._programs: dict[Shape, Callable[[], GroupLoss]] = {}
        self._buffers: dict[Shape, GroupBatch] = {}
        self._weights: Weights = {}
        self._gradients: Weights = {}
        self._recurrent_masks: list[Tensor | None] = []
        self._graphs: list[torch.cuda.CUDAGraph] = []

    @single_precision()
    def accumulate(self, demands: Sequence[Demand]) -> list[BatchLoss]:
        """Put the gradients of the mean nats per symbol, penalties included, in place; return each one's loss.

        Parameters
        ----------
        demands : sequence of Demand
            Demands of different networks, without gradients yet; at most `size`.
        """
        shares = [_draw(demand) for demand in demands]
        shape = Shape(
            min(self.size, 1 << (len(shares) - 1).bit_length()),  # with empty places, so that few sizes occur
            rounded_up(max(share.batch.inputs.shape[0] for share in shares)),
            rounded_up(max(share.batch.inputs.shape[1] for share in shares)),
        )
        self._make_buffers(shape, shares[0])
        self._load(shares, shape)
        result = self._program(shape)()
        losses = []
        for k, share in enumerate(shares):
            width = share.batch.inputs.shape[1]
            end = [(h[k : k + 1, :width].clone(), c[k : k + 1, :width].clone()) for h, c in result.end]
            losses.append(BatchLoss(result.nats[k].clone(), end))
            for name, parameter in share.network.named_parameters():
                parameter.grad = self._gradients[name][k, : len(parameter)]
        return losses

    def _make_buffers(self, shape: Shape, like: _Share) -> None:
        """Make the tensors that stay in place: of the weights and their masks once, of the batches for every shape."""
        if not self._weights:
            for name, parameter in like.network.named_parameters():
                size = (self._vocabulary, *parameter.shape[1:]) if _by_symbol(name) else parameter.shape
                self._weights[name] = parameter.new_zeros(self.size, *size)
                self._gradients[name] = torch.zeros_like(self._weights[name])
            self._recurrent_masks.extend(
                None if mask is None else mask.new_zeros(self.size, *mask.shape) for mask in like.masks.recurrent
            )
        if shape not in self._buffers:
            self._buffers[shape] = _empty_batch(shape, like, self._vocabulary, self._recurrent_masks)

    def _load(self, shares: list[_Share], shape: Shape) -> None:
        """Copy weights, batches and masks to where the program reads them."""
        to: list[Tensor] = []
        what: list[Tensor] = []
        for k, share in enumerate(shares):
            for name, parameter in share.network.named_parameters():
                place = self._weights[name][k]
                to.append(place[: len(parameter)])
                what.append(parameter.detach())
                if _by_symbol(name):  # symbols that this network has not
                    place[len(parameter) :].fill_(0.0 if name == "embedding" else -torch.inf)
        batch = self._buffers[shape]
        for tensor in (batch.inputs, batch.targets, batch.real, batch.share, batch.pair_share):
            tensor.zero_()
        for state in batch.begin:
            for tensor in state:
                tensor.zero_()
        for k, share in enumerate(shares):
            for place, value in _places(batch, k, share):
                to.append(place)
                what.append(value)
        _copy(to, what)

    def _program(self, shape: Shape) -> Callable[[], GroupLoss]:
        """Return what computes a shape: on CUDA, from its second use on, a captured graph."""
        if shape not in self._programs:
            run = partial(  # without self: what knew of it would keep graphs and memory when nobody uses it any more
                compute_gradients,
                {name: value[: shape.networks] for name, value in self._weights.items()},
                self._buffers[shape],
                self.recipe,
                {name: value[: shape.networks] for name, value in self._gradients.items()},
                precision=self._precision,
                fused=self._fused,
            )
            on_cuda = self._device.type == "cuda"
            self._programs[shape] = Captured(run, self._device, self._graphs) if on_cuda else run
        return self._programs[shape]


def rounded_up(n: int, step: int | None = None) -> int:
    """Round up to a multiple of a step, by default to one of eight sizes per octave.

    Examples
    --------
    >>> [rounded_up(n) for n in (1, 15, 17, 100, 150)]
    [1, 15, 18, 104, 160]
    """
    step = step or 1 << max(0, n.bit_length() - 4)
    return -(-n // step) * step


def _vocabulary(networks: Sequence[AWDLSTM]) -> int:
    return rounded_up(max(len(network.embedding) for network in networks), _EIGHT)


def _by_symbol(name: str) -> bool:
    return name in ("embedding", "decoder_bias")


def _draw(demand: Demand) -> _Share:
    """Draw the masks of a batch, as the network alone would."""
    masks = demand.network.draw_masks(demand.batch.inputs.shape[1], demand.generator)
    lengths = demand.batch.lengths
    network = cast(AWDLSTM, demand.network)
    return _Share(
        network, demand.batch, masks, demand.state, lengths.sum(), (lengths - 1).clamp(min=0).sum().clamp(min=1)
    )


def _empty_batch(shape: Shape, like: _Share, vocabulary: int, recurrent_masks: Sequence[Tensor | None]) -> GroupBatch:
    """Make the tensors of a batch; the masks of the weights, which are large, are views of those given."""
    K, T, B = shape
    weights, masks = like.network.embedding, like.masks
    sizes = [lstm.size for lstm in like.network._layers()]

    def symbols() -> Tensor:
        return torch.zeros(K, T, B, dtype=torch.int64, device=weights.device)

    return GroupBatch(
        inputs=symbols(),
        targets=symbols(),
        real=symbols().bool(),
        share=weights.new_zeros(K, T, B),
        pair_share=weights.new_zeros(K, T - 1, B),
        last=torch.zeros(K, dtype=torch.int64, device=weights.device),
        embedding_mask=None if masks.embedding is None else weights.new_zeros(K, vocabulary, 1),
        recurrent_masks=[None if mask is None else mask[:K] for mask in recurrent_masks],
        locked_masks=[None if mask is None else mask.new_zeros(K, 1, B, mask.shape[2]) for mask in masks.locked],
        begin=[(weights.new_zeros(K, B, size), weights.new_zeros(K, B, size)) for size in sizes],
    )


def _places(batch: GroupBatch, k: int, share: _Share) -> Iterator[tuple[Tensor, Tensor]]:
    """Yield where the parts of one network's batch go, and the parts."""
    steps, width = share.batch.inputs.shape
    real = share.batch.real
    yield batch.inputs[k, :steps, :width], share.batch.inputs
    yield batch.targets[k, :steps, :width], share.batch.targets
    yield batch.real[k, :steps, :width], real
    yield batch.share[k, :steps, :width], real.to(batch.share.dtype) / share.units
    yield batch.pair_share[k, : steps - 1, :width], real[1:].to(batch.share.dtype) / share.pairs
    yield batch.last[k], share.batch.lengths[0] - 1  # of a stream, whose columns are of one length
    masks = [(batch.embedding_mask, share.masks.embedding)]
    masks += zip(batch.recurrent_masks, share.masks.recurrent, strict=True)
    for place, mask in masks:
        if place is not None and mask is not None:
            yield place[k, : len(mask)], mask
    for place, mask in zip(batch.locked_masks, share.masks.locked, strict=True):
        if place is not None and mask is not None:
            yield place[k, :, :width], mask
    for places, values in zip(batch.begin, share.state or (), strict=False):
        for place, value in zip(places, values, strict=True):
            yield place[k, :width], value[0]


def _copy(to: list[Tensor], what: list[Tensor]) -> None:
    """Copy many tensors with few kernels: together with others of their types."""
    kinds: dict[tuple[torch.dtype, torch.dtype], tuple[list[Tensor], list[Tensor]]] = {}
    for place, value in zip(to, what, strict=True):
        places, values = kinds.setdefault((place.dtype, value.dtype), ([], []))
        places.append(place)
        values.append(value)
    for places, values in kinds.values():
        torch._foreach_copy_(places, values)
