"""The running mean of a network's weights."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    r"""Mean of the weights after every step since it began (Polyak & Juditsky 1992).

    .. math:: \bar w_n = \bar w_{n-1} + (w_n - \bar w_{n-1}) / n

    Parameters
    ----------
    steps : int
        n, steps averaged so far.
    weights : mapping from str to Tensor
        Their mean, by the name of the parameter; not looked at if there were no steps.

    References
    ----------
    Merity, Keskar & Socher (2018), Regularizing and Optimizing LSTM Language Models, section 3.

    Examples
    --------
    >>> layer, average = nn.Linear(1, 1, bias=False), WeightAverage()
    >>> for weight in (1.0, 2.0, 6.0):
    ...     _ = nn.init.constant_(layer.weight, weight)
    ...     average.add(layer)
    >>> with average.applied_to(layer):
    ...     print(layer.weight.item())
    3.0
    >>> layer.weight.item()
    6.0
    """

    def __init__(self, steps: int = 0, weights: Mapping[str, Tensor] | None = None) -> None:
        self.steps = steps
        self.weights = dict(weights or {})

    @torch.no_grad()
    def add(self, network: nn.Module) -> None:
        """Count in the weights that a network has now."""
        self.steps += 1
        for name, weights in network.named_parameters():
            if self.steps == 1:
                self.weights[name] = weights.detach().clone()
            else:
                mean = self.weights[name]
                mean += (weights - mean) / self.steps

    @contextmanager
    def applied_to(self, network: nn.Module) -> Iterator[None]:
        """Give the network the mean weights inside the block, and its own ones back after it."""
        own = {name: weights.detach().clone() for name, weights in network.named_parameters()}
        network.load_state_dict(self.weights)
        try:
            yield
        finally:
            network.load_state_dict(own)
