"""The losses and gradients of several networks as one computation over tensors that stay in place.

It waits for nothing that was computed, so that it can be captured as a CUDA graph.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from langdiff.lm.grouped.lstm import run_layer
from langdiff.lm.lstm.scoring import slices
from langdiff.lm.recipes import Recipe

Weights = dict[str, Tensor]  # by the name of the parameter, (K, …)
States = list[tuple[Tensor, Tensor]]  # hidden and cell states of each layer, (K, B, H)


class Shape(NamedTuple):
    """Of the batches of several networks side by side: K networks, T time steps, B intents."""

    networks: int
    steps: int
    intents: int


@dataclass(frozen=True, kw_only=True)
class GroupBatch:
    """The batches of K networks, padded to one shape; what is padding weighs nothing.

    Attributes
    ----------
    inputs, targets : Tensor of int64, shape (K, T, B)
        Symbols of each network's `Batch`, padded with any of its own symbols.
    real : Tensor of bool, shape (K, T, B)
        Where there is something to predict.
    share : Tensor, shape (K, T, B)
        Weight of each symbol in its network's mean loss; 0 at padding.
    pair_share : Tensor, shape (K, T - 1, B)
        Weight of each pair of successive outputs in the mean of their squared changes.
    last : Tensor of int64, shape (K,)
        The last time step of each network's batch.
    embedding_mask : Tensor, shape (K, V, 1), or None
    recurrent_masks : list of Tensor, shapes (K, 4 H, H)
    locked_masks : list of Tensor, shapes (K, 1, B, ·)
        Dropout masks of each network (`Masks`); None where nothing is dropped.
    begin : States
        Where the layers begin.
    """

    inputs: Tensor
    targets: Tensor
    real: Tensor
    share: Tensor
    pair_share: Tensor
    last: Tensor
    embedding_mask: Tensor | None
    recurrent_masks: list[Tensor | None]
    locked_masks: list[Tensor | None]
    begin: States


class GroupLoss(NamedTuple):
    """What a group gives: nats of each network, (K,), float64, and the states after its last step."""

    nats: Tensor
    end: States


def compute_gradients(
    weights: Mapping[str, Tensor],
    batch: GroupBatch,
    recipe: Recipe,
    into: Mapping[str, Tensor],
    *,
    precision: torch.dtype,
    fused: bool,
) -> GroupLoss:
    """Do for K networks what `accumulate_gradients` does for one.

    Parameters
    ----------
    weights : mapping from str to Tensor, shapes (K, …)
        The parameters of `AWDLSTM`. Rows of the embedding beyond a network's vocabulary are zero
        and its decoder bias there is minus infinity, so that they have no probability.
    batch : GroupBatch
        What to predict.
    recipe : Recipe
        Recipe whose penalties are used.
    into : mapping from str to Tensor
        The gradients are written here, in place of what is there.
    precision : torch.dtype
        Type of matrix products; sums, softmax and cell states are in the type of the weights.
    fused : bool
        See `run_layer`.
    """
    # tensors of their own, without history, as a captured graph must not know of earlier runs
    leaves = {name: value.detach().requires_grad_() for name, value in weights.items()}
    output, raw, end = _run_network(leaves, batch, precision, fused)
    nats, d_output, d_softmax = _softmax(output, leaves, batch, precision)
    heads: list[Tensor] = [output]
    gradients: list[Tensor | None] = [d_output]
    if recipe.activation_penalty or recipe.change_penalty:
        heads.append(_penalty(output, raw, batch, recipe))
        gradients.append(None)
    through = [name for name in leaves if name != "decoder_bias"]
    found = torch.autograd.grad(heads, [leaves[name] for name in through], gradients)
    for name, gradient in zip(through, found, strict=True):
        into[name].copy_(gradient)
    into["embedding"].add_(d_softmax[0])
    into["decoder_bias"].copy_(d_softmax[1])
    return GroupLoss(nats, [(h.detach(), c.detach()) for h, c in end])


def _run_network(
    leaves: Weights, batch: GroupBatch, precision: torch.dtype, fused: bool
) -> tuple[Tensor, Tensor, States]:
    """Return the last output after and before dropout, (K, T, B, E), and the states at the end."""
    table = _dropped(leaves["embedding"], batch.embedding_mask)  # (K, V, E)
    K, V, _ = table.shape
    rows = batch.inputs + V * torch.arange(K, device=table.device)[:, None, None]
    x = _dropped(F.embedding(rows, table.flatten(0, 1)), batch.locked_masks[0])  # (K, T, B, E)
    raw = x
    ends: States = []
    for number, (hidden, cell) in enumerate(batch.begin):
        own = {name: leaves[f"lstms.{number}.{name}"] for name in ("input", "recurrent")}
        bias = leaves[f"lstms.{number}.input_bias"] + leaves[f"lstms.{number}.recurrent_bias"]
        raw, cells = run_layer(
            x.to(precision),
            own["input"].to(precision),
            _dropped(own["recurrent"], batch.recurrent_masks[number]).to(precision),
            bias.to(precision),
            (hidden.to(precision), cell),
            fused=fused,
        )
        networks = torch.arange(K, device=raw.device)
        ends.append((raw[networks, batch.last].to(cell.dtype), cells[networks, batch.last]))
        x = _dropped(raw, batch.locked_masks[number + 1])
    return x, raw, ends


def _dropped(x: Tensor, mask: Tensor | None) -> Tensor:
    return x if mask is None else x * mask.to(x.dtype)


def _softmax(
    output: Tensor, leaves: Weights, batch: GroupBatch, precision: torch.dtype
) -> tuple[Tensor, Tensor, tuple[Tensor, Tensor]]:
    """Return nats, and the gradients of the output, (K, T, B, E), the embedding and the decoder bias.

    In slices, forward and backward at once, so that the memory does not grow with the batch.
    """
    own = leaves["embedding"], leaves["decoder_bias"]
    wide = own[0].dtype
    K, V, _ = own[0].shape
    out = output.detach().flatten(1, 2)  # (K, N, E)
    targets, share, real = (x.flatten(1, 2) for x in (batch.targets, batch.share, batch.real))
    nats = torch.zeros(K, dtype=torch.float64, device=out.device)
    d_out = torch.empty_like(out)
    d_own = torch.zeros_like(own[0]), torch.zeros_like(own[1])
    for part in slices(out.shape[1], K * V):
        leaf = out[:, part].clone().requires_grad_()
        logits = torch.baddbmm(own[1].to(precision)[:, None], leaf, own[0].to(precision).mT).to(wide)
        each = F.cross_entropy(logits.flatten(0, 1), targets[:, part].flatten(), reduction="none").view(K, -1)
        found = torch.autograd.grad((each * share[:, part]).sum(), (leaf, *own))
        d_out[:, part] = found[0]
        d_own[0].add_(found[1])
        d_own[1].add_(found[2])
        nats += (each.detach().double() * real[:, part]).sum(1)
    return nats, d_out.view_as(output), d_own


def _penalty(output: Tensor, raw: Tensor, batch: GroupBatch, recipe: Recipe) -> Tensor:
    """Return the penalties of all networks together; see `activation_regularization`."""
    wide = batch.share.dtype
    penalty = recipe.activation_penalty * (output.to(wide).square().mean(-1) * batch.share).sum()
    changes = (raw[:, 1:] - raw[:, :-1]).to(wide)
    return penalty + recipe.change_penalty * (changes.square().mean(-1) * batch.pair_share).sum()
