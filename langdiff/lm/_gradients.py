"""The loss of one batch and its gradients."""

from functools import cache
from typing import NamedTuple, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from langdiff.lm._batches import Batch
from langdiff.lm._scoring import slices
from langdiff.lm.awd_lstm import AWDLSTM, State, activation_regularisation
from langdiff.lm.presets import Recipe

_TRIED = 64  # rows and columns: torch multiplies smaller matrices without the library that decides


class BatchLoss(NamedTuple):
    """What `accumulate_gradients` gives for a batch.

    Attributes
    ----------
    nats : Tensor, shape (), float64 on the CPU
        Sum over the symbols to predict, penalties not included.
    state : State
        Of the layers after the last time step, without gradients; where a stream goes on from.
    """

    nats: Tensor
    state: State


def accumulate_gradients(
    network: AWDLSTM,
    batch: Batch,
    recipe: Recipe,
    generator: torch.Generator | None,
    state: State | None = None,
) -> BatchLoss:
    """Add the gradients of the mean nats a symbol, penalties included, to those of the weights.

    The softmax goes in slices, forward and backward at once, so that its memory does not grow with
    the batch; the gradients are the same.

    Parameters
    ----------
    network : AWDLSTM
        In training mode.
    batch : Batch
        What to predict.
    recipe : Recipe
        Its penalties and its precision are used.
    generator : torch.Generator, optional
        Where dropout masks are drawn from, on the device of the network.
    state : State, optional
        Where the layers begin; the zero state by default. No gradient flows into it.
    """
    with _precision(recipe, batch):
        activations = network(batch.inputs, generator, state)
    output = activations.output.flatten(0, 1)  # (T B, E)
    seen, targets = output.detach(), batch.targets.flatten()
    rows = batch.real.flatten().nonzero()[:, 0]  # (N,), of those that are no padding
    padded = len(rows) < len(seen)
    if padded:
        seen, targets = seen[rows], targets[rows]
    gradients_seen: list[Tensor] = []
    total = torch.zeros((), dtype=torch.float64)
    for part in slices(len(seen), len(network.embedding)):
        leaf = seen[part].requires_grad_()  # (n, E)
        with _precision(recipe, batch):
            nats = F.cross_entropy(network.logits(leaf), targets[part], reduction="sum")
        (nats / len(seen)).backward()  # type: ignore[no-untyped-call]
        gradients_seen.append(cast(Tensor, leaf.grad))
        total += nats.detach().double().cpu()
    gradient = torch.cat(gradients_seen)
    if padded:  # ours to fill: autograd would add to it place by place
        gradient = torch.zeros_like(output).index_copy_(0, rows, gradient)
    heads, gradients = [output], [gradient]
    if recipe.activation_penalty or recipe.change_penalty:
        penalty = activation_regularisation(
            activations, batch.real, alpha=recipe.activation_penalty, beta=recipe.change_penalty
        )
        heads, gradients = [*heads, penalty], [*gradients, torch.ones_like(penalty)]
    torch.autograd.backward(heads, gradients)
    return BatchLoss(total, [(h.detach(), c.detach()) for h, c in activations.state])


def _precision(recipe: Recipe, batch: Batch) -> torch.autocast:
    """Compute in bfloat16 if the recipe says so and the device of the batch gains by it."""
    device = batch.inputs.device.type
    return torch.autocast(device, dtype=torch.bfloat16, enabled=recipe.bf16 and _has_bf16(device))


@cache
def _has_bf16(device: str) -> bool:
    """Return whether a kind of device trains in bfloat16 by instructions of its own, tried once per process.

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
    """Take the gradients of one small batch, as training in bfloat16 does."""
    sizes = {"embedding_size": _TRIED, "hidden_size": _TRIED, "layers": 1}
    network = AWDLSTM(_TRIED, **sizes, generator=torch.Generator().manual_seed(0)).to(device)
    symbols = torch.zeros(2, _TRIED, dtype=torch.int64, device=device)
    with torch.autocast(device, dtype=torch.bfloat16):
        loss = F.cross_entropy(network.logits(network(symbols).output).flatten(0, 1), symbols.flatten())
    loss.backward()  # type: ignore[no-untyped-call]


def _multiplies_in_bf16() -> bool:
    """Return whether products of bfloat16 matrices on the CPU are those of its own instructions.

    These (VDPBF16PS and AMX on x86-64, BFMMLA on ARM) take subnormal numbers for zero; an emulation by single
    precision does not, unless torch was told to flush them there too, when the emulation is assumed.
    """
    subnormal = torch.full((_TRIED, _TRIED), 2.0**-130)
    large = torch.full((_TRIED, _TRIED), 2.0**126)  # a product is 1/16
    single = F.linear(subnormal, large)
    half = F.linear(subnormal.bfloat16(), large.bfloat16())
    return bool(single.any()) and not bool(half.any())
