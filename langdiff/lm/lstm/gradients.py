"""The loss of one batch and its gradients."""

import logging
from collections.abc import Iterator, Sequence
from functools import cache
from math import ceil
from typing import TYPE_CHECKING, NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from langdiff.base.types import generator
from langdiff.errors import ConfigError, option
from langdiff.lm.device import empty_cache, single_precision, torch_generator
from langdiff.lm.lstm.batches import Batch
from langdiff.lm.lstm.network import AWDLSTM, Masks, Network, State, activation_regularization
from langdiff.lm.lstm.scoring import SCORED_ON_CPU, Judging, MemoryLimit, slices

if TYPE_CHECKING:
    from langdiff.lm.lstm.recipe import Recipe

logger = logging.getLogger(__name__)

BF16, FP16, TF32, SINGLE = "bfloat16", "float16", "tf32", "float32"  # as caches and records of provenance name them
HALF = {BF16: torch.bfloat16, FP16: torch.float16}
SCALE = 1024.0  # of the loss in float16, whose smallest numbers are as large as gradients of a mean over a batch

JUDGED_AT_ONCE = 1 << 17  # units of a GPU, where its memory holds them
_TRIED = 64  # rows and columns: torch multiplies smaller matrices without the library that decides


class BatchLoss(NamedTuple):
    """Loss of a batch, as `accumulate_gradients` returns it.

    Attributes
    ----------
    nats : Tensor, shape (), float64, where it was computed
        Sum over the symbols to predict, penalties not included.
    state : State
        State of the layers after the last time step, without gradients, from which a stream goes on.
    """

    nats: Tensor
    state: State


def accumulate_gradients(
    network: Network,
    batch: Batch,
    recipe: "Recipe",
    generator: torch.Generator | None,
    state: State | None = None,
    *,
    limit: MemoryLimit | None = None,
) -> BatchLoss:
    """Compute the gradients of the mean nats per symbol, penalties included.

    If the memory of a GPU runs out, the intents of the batch go in two halves, and so on; the gradients are the
    same but for the order of sums. Products are computed as `training_precision` says.

    Parameters
    ----------
    network : Network
        In training mode, without gradients.
    batch : Batch
        What to predict.
    recipe : Recipe
        Recipe whose penalties and precision are used.
    generator : torch.Generator, optional
        Where dropout masks are drawn from, on the device of the network.
    state : State, optional
        Where the layers begin; the zero state by default. No gradient flows into it.
    limit : MemoryLimit, optional
        Kept between batches, so that what did not fit once is not tried again.
    """
    limit = limit or MemoryLimit()
    steps, intents = batch.inputs.shape
    intents -= batch.padding
    masks = network.draw_masks(intents, generator)  # once: a second try must not draw others
    if batch.padding:
        locked = [None if mask is None else F.pad(mask, (0, 0, 0, batch.padding)) for mask in masks.locked]
        masks = masks._replace(locked=locked)
    whole = _Piece(batch, masks, state)
    precision = training_precision(recipe, batch.inputs.device.type)
    while True:
        parts = 1 if limit.units is None else min(intents, ceil(steps * intents / limit.units))
        try:
            with single_precision(tf32=precision == TF32):
                pieces = [_accumulate(network, piece, whole, recipe, precision) for piece in _cut(whole, parts)]
            for weights in network.parameters() if precision == FP16 else ():
                if weights.grad is not None:
                    weights.grad /= SCALE
            return _joined(pieces)
        except torch.cuda.OutOfMemoryError as error:
            if parts == intents:
                raise
            reason = str(error).partition("\n")[0]
        # outside of the handler, which keeps the tensors of what failed
        limit.units = steps * ceil(intents / parts) // 2
        network.zero_grad(set_to_none=True)
        empty_cache(batch.inputs.device)
        logger.warning("out of memory (%s): going on with at most %d units at once", reason, limit.units)


class _Piece(NamedTuple):
    """Some intents of a batch, with their masks and states."""

    batch: Batch
    masks: Masks
    state: State | None

    @property
    def symbols(self) -> int:
        """Symbols to predict."""
        return self.batch.inputs.numel() if self.batch.rows is None else len(self.batch.rows)

    @property
    def pairs(self) -> int:
        """Pairs of successive symbols to predict in the same intent."""
        return self.symbols - self.batch.inputs.shape[1] + self.batch.padding


def _cut(whole: _Piece, parts: int) -> Iterator[_Piece]:
    """Divide the intents of a batch."""
    if parts == 1:
        yield whole
        return
    batch, masks, state = whole
    end = batch.inputs.shape[1] - batch.padding
    for places in torch.arange(end).tensor_split(parts):
        padding = batch.padding if places[-1] + 1 == end else 0
        own = slice(int(places[0]), int(places[-1]) + 1 + padding)
        rows = None if batch.rows is None else batch.real[:, own].flatten().nonzero()[:, 0]
        features = None
        if batch.features is not None:
            column = torch.arange(batch.inputs.shape[1], device=batch.inputs.device).expand(batch.inputs.shape)
            column = column[batch.real]
            features = batch.features.of(((column >= own.start) & (column < own.stop)).cpu().numpy())
        yield _Piece(
            Batch(batch.inputs[:, own], batch.targets[:, own], batch.lengths[own], rows, features, padding),
            masks._replace(locked=[None if mask is None else mask[:, own] for mask in masks.locked]),
            None if state is None else [(h[:, own].contiguous(), c[:, own].contiguous()) for h, c in state],
        )


def _joined(losses: Sequence[BatchLoss]) -> BatchLoss:
    """Return the joint loss of the pieces of a batch."""
    if len(losses) == 1:
        return losses[0]
    layers = zip(*(loss.state for loss in losses), strict=True)
    state = [(torch.cat([h for h, _ in each], dim=1), torch.cat([c for _, c in each], dim=1)) for each in layers]
    return BatchLoss(torch.stack([loss.nats for loss in losses]).sum(), state)


def _accumulate(network: Network, piece: _Piece, whole: _Piece, recipe: "Recipe", precision: str) -> BatchLoss:
    """Add the gradients of a piece, weighted by its share of the batch, to those of the weights.

    The softmax goes in slices, forward and backward at once, so that its memory does not grow with
    the batch; the gradients are the same.
    """
    batch = piece.batch
    dtype, scale = HALF.get(precision), SCALE if precision == FP16 else 1.0
    activations = network(batch.inputs, None, piece.state, piece.masks, dtype)
    output = activations.output.flatten(0, 1)  # (T B, E)
    seen, targets = output.detach(), batch.targets.flatten()
    if batch.rows is not None:
        seen, targets = seen[batch.rows], targets[batch.rows]  # (N, E), (N,)
    gradients_seen: list[Tensor] = []
    total = torch.zeros((), dtype=torch.float64, device=output.device)
    for part in slices(seen, len(network.embedding)):
        leaf = seen[part].requires_grad_()  # (n, E)
        features = None if batch.features is None else batch.features.of(part)
        logits = network.logits(leaf, features).to(network.embedding.dtype)
        nats = F.cross_entropy(logits, targets[part], reduction="sum")
        (nats * scale / whole.symbols).backward()  # type: ignore[no-untyped-call]
        gradients_seen.append(cast(Tensor, leaf.grad))
        total += nats.detach().double()
    gradient = torch.cat(gradients_seen)
    if batch.rows is not None:  # ours to fill: autograd would add to it place by place
        gradient = torch.zeros_like(output).index_copy_(0, batch.rows, gradient)
    heads, gradients = [output], [gradient]
    if recipe.activation_penalty or recipe.change_penalty:
        penalty = activation_regularization(
            activations,
            batch.real,
            alpha=recipe.activation_penalty * (piece.symbols / whole.symbols),
            beta=recipe.change_penalty * (piece.pairs / max(1, whole.pairs)),
        )
        heads, gradients = [*heads, penalty], [*gradients, torch.full_like(penalty, scale)]
    torch.autograd.backward(heads, gradients)
    return BatchLoss(total, [(h.detach(), c.detach()) for h, c in activations.state])


def training_precision(recipe: "Recipe", device: str) -> str:
    """Return the precision in which a kind of device trains a recipe: `BF16`, `FP16`, `TF32` or `SINGLE`.

    On CUDA what is not trained in half precision is trained in TF32, single precision whose products have factors with
    11 bits. Scoring has neither.
    """
    if recipe.half == FP16 and device != "cuda":
        raise ConfigError(
            f"recipe {recipe.name!r}: float16 is for CUDA devices, not for {device!r}. Take "
            f"{option('half', BF16)}, or None."
        )
    if recipe.half == FP16 or (recipe.half == BF16 and has_bf16(device)):
        return recipe.half
    return TF32 if device == "cuda" and torch.cuda.is_tf32_supported() else SINGLE


def judging(precision: str, device: str) -> Judging:
    """Return how a kind of device judges epochs of a training: on CUDA in its precision, on CPUs as it scores."""
    if device == "cpu":
        return Judging(None, tf32=False, most_units=SCORED_ON_CPU)
    return Judging(HALF.get(precision), precision == TF32, JUDGED_AT_ONCE)


@cache
@single_precision()
def has_bf16(device: str) -> bool:
    """Return whether a kind of device has instructions for training in bfloat16, tested once per process.

    A step alone does not show it: where the processor, or the limit that ONEDNN_MAX_CPU_ISA sets, lacks such
    instructions, a step raises (AVX2) or is emulated several times slower than single precision (AVX-512).
    """
    if device not in ("cpu", "cuda"):
        return False
    if device == "cuda" and not torch.cuda.is_bf16_supported(including_emulation=False):
        return False
    try:
        _step_in_bf16(device)
        return device == "cuda" or _multiplies_in_bf16()
    except torch.cuda.OutOfMemoryError:
        raise
    except RuntimeError:
        return False


def _step_in_bf16(device: str) -> None:
    """Compute the gradients of one small batch, as training in bfloat16 does."""
    sizes = {"embedding_size": _TRIED, "hidden_size": _TRIED, "layers": 1}
    network = AWDLSTM(_TRIED, **sizes, generator=torch_generator(generator(0))).to(device)
    symbols = torch.zeros(2, _TRIED, dtype=torch.int64, device=device)
    logits = network.logits(network(symbols, dtype=torch.bfloat16).output)
    loss = F.cross_entropy(logits.flatten(0, 1).float(), symbols.flatten())
    loss.backward()  # type: ignore[no-untyped-call]


def _multiplies_in_bf16() -> bool:
    """Return whether the CPU multiplies bfloat16 matrices by its own instructions.

    These (VDPBF16PS and AMX on x86-64, BFMMLA on ARM) take subnormal numbers for zero; an emulation by single
    precision does not, unless torch was told to flush them there too, when the emulation is assumed.
    """
    subnormal = torch.full((_TRIED, _TRIED), 2.0**-130)
    large = torch.full((_TRIED, _TRIED), 2.0**126)  # a product is 1/16
    single = F.linear(subnormal, large)
    return bool(single.any()) and not bool(F.linear(subnormal.bfloat16(), large.bfloat16()).any())
