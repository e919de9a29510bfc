"""The training step of the published AWD-LSTM, written with torch's own modules: what ours is timed against.

One nn.LSTM a layer whose recurrent matrix is dropped by putting a tensor in the place of the module's weight, dropout
by masks, a text cut into columns and read in stretches of the same length, the state carried on; cross-entropy over
all of a stretch at once. (Merity, Keskar & Socher 2018; that the recurrent weight is replaced before every call is how
they publish it.)
"""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def locked(x: Tensor, p: float) -> Tensor:
    """Drop the same features at all time steps."""
    return x * x.new_empty(1, *x.shape[1:]).bernoulli_(1 - p).div_(1 - p) if p else x


class WeightDropped(nn.Module):
    """An LSTM layer whose recurrent matrix is dropped anew at every call."""

    def __init__(self, n_in: int, n_out: int, p: float) -> None:
        super().__init__()
        self.lstm = nn.LSTM(n_in, n_out)
        self.raw = nn.Parameter(self.lstm.weight_hh_l0.data)
        del self.lstm._parameters["weight_hh_l0"]
        self.p = p

    def forward(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """Read a stretch."""
        self.lstm.weight_hh_l0 = F.dropout(self.raw, self.p, training=True)
        return self.lstm(x, state)


class Reference(nn.Module):
    """The published network; the softmax is tied to the embedding."""

    def __init__(self, vocabulary: int, recipe) -> None:
        super().__init__()
        self.recipe = recipe
        embedding, hidden, layers = recipe.embedding_size, recipe.hidden_size, recipe.layers
        sizes = [embedding, *[hidden] * (layers - 1), embedding]
        self.embedding = nn.Embedding(vocabulary, embedding)
        self.layers = nn.ModuleList(WeightDropped(*pair, recipe.weight_drop) for pair in pairwise(sizes))
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def begin(self, streams: int) -> list[tuple[Tensor, Tensor]]:
        """Return the zero state."""
        return [(torch.zeros(1, streams, layer.lstm.hidden_size),) * 2 for layer in self.layers]

    def forward(self, inputs: Tensor, state: list[tuple[Tensor, Tensor]]):
        """Return the last output after and before dropout, and the state."""
        x = locked(self.embedding(inputs), self.recipe.dropout_input)
        after = []
        for number, layer in enumerate(self.layers):
            raw, end = layer(x, state[number])
            after.append(end)
            last = number == len(self.layers) - 1
            x = locked(raw, self.recipe.dropout_output if last else self.recipe.dropout_hidden)
        return x, raw, after


class ReferenceTraining:
    """Steps through a text laid out as columns, shape (T + 1, B)."""

    def __init__(self, streams: Tensor, bptt: int, vocabulary: int, recipe) -> None:
        self.streams, self.bptt, self.recipe = streams, bptt, recipe
        self.network = Reference(vocabulary, recipe)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=1e-3, weight_decay=1.2e-6)
        self.place, self.state = 0, self.network.begin(streams.shape[1])

    def step(self) -> int:
        """Learn from the next stretch; return the symbols predicted."""
        if self.place + self.bptt >= len(self.streams):
            self.place, self.state = 0, self.network.begin(self.streams.shape[1])
        piece = self.streams[self.place : self.place + self.bptt + 1]
        self.place += self.bptt
        state = [(h.detach(), c.detach()) for h, c in self.state]
        self.optimizer.zero_grad()
        output, raw, self.state = self.network(piece[:-1], state)
        logits = F.linear(output.flatten(0, 1), self.network.embedding.weight, self.network.bias)
        loss = F.cross_entropy(logits, piece[1:].flatten())
        if self.recipe.activation_penalty or self.recipe.change_penalty:
            loss = loss + self.recipe.activation_penalty * output.pow(2).mean()
            loss = loss + self.recipe.change_penalty * (raw[1:] - raw[:-1]).pow(2).mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.recipe.gradient_clip)
        self.optimizer.step()
        loss.item()
        return piece[1:].numel()
