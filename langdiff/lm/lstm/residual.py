"""Networks that correct n-grams instead of starting from nothing."""

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langdiff.lm.lstm.features import Features
from langdiff.lm.lstm.network import AWDLSTM, Network
from langdiff.lm.lstm.transformer import Transformer

GATE = 32  # hidden units of what weighs the n-grams


class Residual(Network):
    r"""Network, the base class beside this one, whose logits are added to log-probabilities of n-grams.

    .. math:: \ell_t = W h_t + b + \sum_k a_k(h_t, f_t) \ln p_k(\cdot \mid \text{history})

    with f the summary of `Features` and a the output of a layer of 32 tanh units. At the start W, b and the output
    weights of a are 0, and a is 1 for the highest order and 0 for the others: training begins at the n-gram model.
    The logits are normalized over all symbols as those of any network.

    Parameters
    ----------
    vocabulary_size : int
        Symbols that can be predicted, the end-of-intent symbol included.
    orders : sequence of int
        Orders of the n-gram distributions.
    **settings
        Sizes and dropout of the network. Embedding and softmax are not tied.

    References
    ----------
    Neubig & Dyer (2016), Generalizing and Hybridizing Count-based and Neural Language Models. Li et al. (2022), N-gram
    Is Back: Residual Learning of Neural Text Generation with n-gram Language Model.
    """

    def __init__(self, vocabulary_size: int, *, orders: Sequence[int], **settings: Any) -> None:
        super().__init__(vocabulary_size, **settings)
        size, count = self.embedding.shape[1], len(orders)
        self.decoder = nn.Parameter(torch.zeros(vocabulary_size, size))
        self.gate_input = nn.Parameter(torch.empty(GATE, size + 2 * count + 1))
        self.gate_bias = nn.Parameter(torch.zeros(GATE))
        self.gate_output = nn.Parameter(torch.zeros(count, GATE))
        self.weights = nn.Parameter(torch.tensor([0.0] * (count - 1) + [1.0]))
        bound = self.gate_input.shape[1] ** -0.5
        nn.init.uniform_(self.gate_input, -bound, bound, generator=settings.get("generator"))

    def logits(self, output: Tensor, features: Features | None = None) -> Tensor:
        """Return unnormalized log-probabilities of the next symbol, shape (N, vocabulary_size)."""
        if features is None:
            raise ValueError("a residual network needs the features of the n-grams")
        gate = torch.tanh(F.linear(torch.cat([output, features.summary], dim=1), self.gate_input, self.gate_bias))
        a = F.linear(gate, self.gate_output, self.weights)  # (N, K)
        of_ngrams = torch.einsum("nk,nkv->nv", a, features.log_probability)
        return F.linear(output, self.decoder, self.decoder_bias) + of_ngrams


class ResidualLSTM(Residual, AWDLSTM):
    """LSTM that corrects n-grams; see `Residual`."""


class ResidualTransformer(Residual, Transformer):
    """Transformer that corrects n-grams; see `Residual`."""
