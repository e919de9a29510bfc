"""Distributions of n-grams as input of a network, and networks that correct them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langdiff.base.types import Integers
from langdiff.lm.device import to_device
from langdiff.lm.lstm.network import AWDLSTM, Network, Transformer, linear
from langdiff.lm.ngram.histories import Histories
from langdiff.lm.ngram.kneser_ney import Level, count_grams, smooth
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
        self._lowest: Tensor | None = None  # (models, V), where it was last needed

    @classmethod
    def by(
        cls, levels: Iterable[Level], intents: Sequence[Ids], vocabulary_size: int, orders: Sequence[int]
    ) -> "NgramFeatures":
        """Return the features of intents that a model has not seen."""
        histories = Histories(intents, vocabulary_size, orders)
        histories.ask(levels, np.arange(len(intents)))
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
            levels = smooth(count_grams(others, vocabulary_size, order=orders[-1]), vocabulary_size)
            histories.ask(levels, np.flatnonzero(fold == number))
        return cls(histories)

    def of(self, rows: Integers, device: torch.device) -> Features:
        """Return the features of the symbols of some intents side by side, in the order of `Batch.rows`."""
        histories = self._histories
        lengths = histories.lengths[rows]
        times = np.arange(lengths.max())[:, None]
        places = (histories.starts[rows] + times)[times < lengths]  # time by time
        log_probability = self._distributions(places, device).log_()
        entropy = -(log_probability.exp() * log_probability).sum(dim=2)
        known = to_device(device, (histories.known[places] / histories.orders[-1]).astype(np.float32))
        scale = float(np.log(log_probability.shape[2]))
        summary = [entropy / scale, log_probability.amax(dim=2) / scale, known[:, None]]
        return Features(log_probability, torch.cat(summary, dim=1))

    def _distributions(self, places: Ids, device: torch.device) -> Tensor:
        """Return the probabilities of all symbols at some positions of the text, by all orders, (N, K, V).

        Only what n-grams add is copied to the device, a small part of the numbers.
        """
        histories = self._histories
        if self._lowest is None or self._lowest.device != device:
            self._lowest = to_device(device, np.array(histories.lowest))
        probability = self._lowest[to_device(device, histories.asked[places].astype(np.int64))]  # (N, V)
        result = probability.new_empty(len(places), len(histories.orders), histories.vocabulary_size)
        for number, change in enumerate(histories.changes(places)):
            probability = probability * to_device(device, change.factor)[:, None]
            probability.view(-1).index_add_(0, to_device(device, change.places), to_device(device, change.added))
            result[:, number] = probability
        return result


@dataclass(frozen=True, eq=False, repr=False)
class Ngrams:
    """N-gram model as its training text, of which the grams are counted where they are needed.

    The text is saved, too, instead of the counts, which are a hundred times larger.

    Attributes
    ----------
    symbols : ndarray of int32, shape (N,)
        Units of all training intents, one after another.
    lengths : ndarray of int32, shape (I,)
        Units of each intent.
    vocabulary_size, order : int
        As for `KneserNey.fit`.
    """

    symbols: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    vocabulary_size: int
    order: int

    @classmethod
    def fit(cls, intents: Sequence[Ids], vocabulary_size: int, order: int) -> "Ngrams":
        """Return the model of a training text; see `KneserNey.fit`."""
        symbols = np.concatenate(intents).astype(np.int32)
        lengths = np.array([len(ids) for ids in intents], dtype=np.int32)
        return cls(symbols, lengths, vocabulary_size, order)

    def count(self) -> Iterator[Level]:
        """Yield the contributions of the orders, the lowest first; only two orders are in memory at once."""
        intents = np.split(self.symbols.astype(np.int64), np.cumsum(self.lengths)[:-1])
        return smooth(count_grams(intents, self.vocabulary_size, order=self.order), self.vocabulary_size)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The same, kept for texts that are scored later."""
        return tuple(
            Level(keys, direct.astype(np.float32), backoff.astype(np.float32)) for keys, direct, backoff in self.count()
        )

    def arrays(self) -> dict[str, npt.NDArray[np.int32]]:
        """Return the arrays that are saved with the weights of the network."""
        return {"ngrams.symbols": self.symbols, "ngrams.lengths": self.lengths}

    @classmethod
    def take(cls, weights: dict[str, npt.NDArray[Any]], vocabulary_size: int, order: int) -> "Ngrams":
        """Remove the text from the saved arrays.

        Raises
        ------
        KeyError
            If it is not there.
        """
        symbols, lengths = weights.pop("ngrams.symbols"), weights.pop("ngrams.lengths")
        return cls(symbols, lengths, vocabulary_size, order)


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
        summary = features.summary
        gate = torch.tanh(F.linear(torch.cat([output.to(summary.dtype), summary], 1), self.gate_input, self.gate_bias))
        a = F.linear(gate, self.gate_output, self.weights)  # (N, K)
        of_ngrams = torch.einsum("nk,nkv->nv", a, features.log_probability)
        return linear(output, self.decoder, self.decoder_bias) + of_ngrams


class ResidualLSTM(Residual, AWDLSTM):
    """LSTM that corrects n-grams; see `Residual`."""


class ResidualTransformer(Residual, Transformer):
    """Transformer that corrects n-grams; see `Residual`."""
