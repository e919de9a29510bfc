"""A conditional random field over chains of tags."""

from typing import Any

import torch
from torch import Tensor, nn

_SPREAD = 0.1  # of the initial scores of transitions


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

        Parameters
        ----------
        emissions : Tensor, shape (B, T, K)
            Scores of the tags.
        lengths : Tensor of int, shape (B,)
            Lengths of the sequences, from 1 to T.

        Returns
        -------
        Tensor, shape (B,)
        """
        found: Tensor = _LogPartition.apply(  # type: ignore[no-untyped-call]
            emissions, self.transitions, self.start, self.stop, lengths
        )
        return found

    def score(self, emissions: Tensor, tags: Tensor, lengths: Tensor) -> Tensor:
        """Return the score of one sequence of tags per row, shape (B,).

        Parameters
        ----------
        emissions, lengths : Tensor
            As for `log_partition`.
        tags : Tensor of int, shape (B, T)
            Tags; those after the end of a sequence may be any number from 0 to K - 1.
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
