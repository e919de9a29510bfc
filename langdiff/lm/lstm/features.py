"""Distributions of n-grams as input of a network, and networks that correct them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langdiff.base.types import Integers
from langdiff.lm.lstm.network import AWDLSTM, Network, Transformer
from langdiff.lm.ngram.kneser_ney import Histories, KneserNey
from langdiff.lm.units.characters import Ids

FOLDS = 10
RUN = 5  # neighbouring intents that share a fold, as those of a dev or test block do

GATE = 32  # hidden units of what weighs the n-grams


class Features(NamedTuple):
    """Distributions of K n-gram models for N symbols to predict.

    Attributes
    ----------
    log_probability : Tensor, shape (N, K, V)
        Natural logarithms.
    summary : Tensor, shape (N, 2 K + 1)
        Entropy and highest log-probability of each distribution, in units of ln V, and the share of the longest
        history that is known.
    """

    log_probability: Tensor
    summary: Tensor

    def of(self, symbols: slice | Tensor) -> "Features":
        """Return the features of some symbols."""
        return Features(self.log_probability[symbols], self.summary[symbols])


class NgramFeatures:
    """Features of all intents of a part.

    Parameters
    ----------
    histories : Histories
        What n-grams say of each symbol.
    """

    def __init__(self, histories: Histories) -> None:
        self._histories = histories

    @classmethod
    def by(cls, model: KneserNey, intents: Sequence[Ids], orders: Sequence[int]) -> "NgramFeatures":
        """Return the features of intents that a model has not seen."""
        histories = Histories(intents, model.vocabulary_size, orders)
        histories.ask(model, np.arange(len(intents)))
        return cls(histories)

    @classmethod
    def out_of_fold(cls, intents: Sequence[Ids], vocabulary_size: int, orders: Sequence[int]) -> "NgramFeatures":
        """Return the features of training intents, each by n-grams of the other nine tenths.

        From n-grams that have seen an intent a network would learn to trust what they have memorized.
        """
        histories = Histories(intents, vocabulary_size, orders)
        fold = np.arange(len(intents)) // RUN % FOLDS
        for number in np.unique(fold):
            others = [ids for ids, own in zip(intents, fold, strict=True) if own != number]
            histories.ask(KneserNey.fit(others, vocabulary_size, order=orders[-1]), np.flatnonzero(fold == number))
        return cls(histories)

    def of(self, rows: Integers, device: torch.device) -> Features:
        """Return the features of the symbols of some intents side by side, in the order of `Batch.rows`."""
        histories = self._histories
        lengths = histories.lengths[rows]
        times = np.arange(lengths.max())[:, None]
        places = (histories.starts[rows] + times)[times < lengths]  # time by time
        log_probability = torch.from_numpy(histories.distributions(places)).to(device).log_()
        entropy = -(log_probability.exp() * log_probability).sum(dim=2)
        known = torch.from_numpy((histories.known[places] / histories.orders[-1]).astype(np.float32))
        scale = float(np.log(log_probability.shape[2]))
        summary = [entropy / scale, log_probability.amax(dim=2) / scale, known[:, None].to(device)]
        return Features(log_probability, torch.cat(summary, dim=1))


class Ngrams(NamedTuple):
    """N-gram model with its training text, which is saved instead of the counts, a hundred times larger.

    Attributes
    ----------
    model : KneserNey
        The model.
    symbols : ndarray of int32, shape (N,)
        Units of all training intents, one after another.
    lengths : ndarray of int32, shape (I,)
        Units of each intent.
    """

    model: KneserNey
    symbols: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]

    @classmethod
    def fit(cls, intents: Sequence[Ids], vocabulary_size: int, order: int) -> "Ngrams":
        """Count the grams of a training text; see `KneserNey.fit`."""
        symbols = np.concatenate(intents).astype(np.int32)
        lengths = np.array([len(ids) for ids in intents], dtype=np.int32)
        return cls(KneserNey.fit(intents, vocabulary_size, order=order), symbols, lengths)

    def arrays(self) -> dict[str, npt.NDArray[np.int32]]:
        """Return the arrays that are saved with the weights of the network."""
        return {"ngrams.symbols": self.symbols, "ngrams.lengths": self.lengths}

    @classmethod
    def take(cls, weights: dict[str, npt.NDArray[Any]], vocabulary_size: int, order: int) -> "Ngrams":
        """Remove the text from the saved arrays, and count its n-grams again.

        Raises
        ------
        KeyError
            If it is not there.
        """
        symbols, lengths = weights.pop("ngrams.symbols"), weights.pop("ngrams.lengths")
        intents = np.split(symbols.astype(np.int64), np.cumsum(lengths)[:-1])
        return cls.fit(intents, vocabulary_size, order)


class Residual(Network):
    r"""Network whose logits are added to log-probabilities of n-grams; the second base class is its architecture.

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
