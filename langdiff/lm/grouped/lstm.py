"""One LSTM layer of several networks at once: one matrix product and one pointwise kernel a time step."""

from collections.abc import Callable
from functools import cache
from typing import Any, cast

import torch
from torch import Tensor


def cell_forward(gates: Tensor, cell: Tensor) -> tuple[Tensor, Tensor]:
    r"""Return the hidden and the cell state after a time step.

    .. math:: c_t = \sigma(f) \odot c_{t-1} + \sigma(i) \odot \tanh(g), \quad h_t = \sigma(o) \odot \tanh(c_t)

    Parameters
    ----------
    gates : Tensor, shape (K, B, 4 H)
        i, f, g, o before their nonlinearities.
    cell : Tensor, shape (K, B, H)
        The cell state before; its type is that of the arithmetic.
    """
    i, f, g, o = gates.to(cell.dtype).chunk(4, dim=-1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return (o.sigmoid() * cell.tanh()).to(gates.dtype), cell


def cell_backward(
    gates: Tensor, before: Tensor, after: Tensor, d_output: Tensor, d_hidden: Tensor, d_cell: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the gradients of a time step's gates, (K, B, 4 H), and of the cell state before it.

    Parameters
    ----------
    gates, before, after : Tensor
        The step's gates, and the cell states around it, as in `cell_forward`.
    d_output, d_hidden : Tensor, shape (K, B, H)
        Gradients of the hidden state from the layer above and from the next time step.
    d_cell : Tensor, shape (K, B, H)
        Gradient of the cell state from the next time step.
    """
    wide = before.dtype
    i, f, g, o = gates.to(wide).chunk(4, dim=-1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    squashed = after.tanh()
    d_hidden = d_output.to(wide) + d_hidden.to(wide)
    d_cell = d_cell + d_hidden * o * (1 - squashed * squashed)
    d_gates = torch.cat(
        (
            d_cell * g * i * (1 - i),
            d_cell * before * f * (1 - f),
            d_cell * i * (1 - g * g),
            d_hidden * squashed * o * (1 - o),
        ),
        dim=-1,
    )
    return d_gates.to(gates.dtype), d_cell * f


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    # of any shape: a kernel for every shape would soon meet torch's limit on recompilation
    return torch.compile(cell_forward, dynamic=True), torch.compile(cell_backward, dynamic=True)


def _cells(fused: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    return _compiled() if fused else (cell_forward, cell_backward)


class _Layer(torch.autograd.Function):
    """See `run_layer`; the gradient is written out, as that of a loop would keep every step's kernels apart."""

    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        incoming: Tensor,
        recurrent: Tensor,
        bias: Tensor,
        hidden: Tensor,
        cell: Tensor,
        fused: bool,
    ) -> tuple[Tensor, Tensor]:
        advance, _ = _cells(fused)
        K, T, B, _ = x.shape
        gates = torch.baddbmm(bias[:, None], x.flatten(1, 2), incoming.mT).view(K, T, B, -1)
        hiddens, cells = [hidden], [cell]
        for t in range(T):
            gates[:, t].baddbmm_(hidden, recurrent.mT)
            hidden, cell = advance(gates[:, t], cell)
            hiddens.append(hidden)
            cells.append(cell)
        along = torch.stack(hiddens, dim=1)  # (K, T + 1, B, H)
        ctx.save_for_backward(x, incoming, recurrent, gates, along, *cells)
        ctx.fused = fused
        states = torch.stack(cells[1:], dim=1)
        ctx.mark_non_differentiable(states)
        return along[:, 1:], states

    @staticmethod
    def backward(ctx: Any, d_output: Tensor, _d_cells: Tensor) -> tuple[Tensor | None, ...]:
        _, retreat = _cells(ctx.fused)
        x, incoming, recurrent, gates, along, *cells = ctx.saved_tensors
        d_hidden = torch.zeros_like(along[:, 0])
        d_cell = torch.zeros_like(cells[0])
        backwards = []
        for t in reversed(range(gates.shape[1])):
            d_gates, d_cell = retreat(gates[:, t], cells[t], cells[t + 1], d_output[:, t], d_hidden, d_cell)
            d_hidden = torch.bmm(d_gates, recurrent)
            backwards.append(d_gates)
        d_gates = torch.stack(backwards[::-1], dim=1).flatten(1, 2)  # (K, T B, 4 H)
        d_x = torch.bmm(d_gates, incoming).view_as(x)
        d_incoming = torch.bmm(d_gates.mT, x.flatten(1, 2))
        d_recurrent = torch.bmm(d_gates.mT, along[:, :-1].flatten(1, 2))
        return d_x, d_incoming, d_recurrent, d_gates.sum(1), None, None, None


def run_layer(
    x: Tensor, incoming: Tensor, recurrent: Tensor, bias: Tensor, state: tuple[Tensor, Tensor], *, fused: bool = False
) -> tuple[Tensor, Tensor]:
    """Run an LSTM layer of K networks, each over a batch of its own.

    Parameters
    ----------
    x : Tensor, shape (K, T, B, I)
        Inputs of each network.
    incoming, recurrent : Tensor, shapes (K, 4 H, I) and (K, 4 H, H)
        Weights, gates in the order input, forget, cell, output.
    bias : Tensor, shape (K, 4 H)
        Both biases of the layer together.
    state : pair of Tensor, shape (K, B, H)
        Hidden and cell state to begin with, without gradients. The cell state may be of a wider type
        than the rest, and stays so.
    fused : bool
        Let torch.compile make one kernel of what is done to the gates of a time step.

    Returns
    -------
    output, cells : Tensor, shape (K, T, B, H)
        Hidden states, and cell states (without gradients), after each time step.
    """
    both = _Layer.apply(x, incoming, recurrent, bias, *state, fused)  # type: ignore[no-untyped-call]
    return cast(tuple[Tensor, Tensor], both)
