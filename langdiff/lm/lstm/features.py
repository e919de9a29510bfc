"""Distributions of n-grams after all histories of a text, as input of a network, and networks that correct them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.lm.device import to_device
from langdiff.lm.lstm.network import AWDLSTM, Network, Transformer, linear
from langdiff.lm.ngram.kneser_ney import (
    Fold,
    Level,
    chen_goodman_discounts,
    count_grams,
    count_in_folds,
    discounted,
    lay_out,
    ranges,
    smooth,
)
from langdiff.lm.units.characters import Ids

Singles = npt.NDArray[np.float32]
FOLDS = 10
MOST_OF_FOLD = 0.5  # of a text in one fold, beyond which the others know too little of it
RUN = 5  # neighbouring intents that share a fold, as those of a dev or test block do
MANY = 2048  # symbols beyond which only those are held that n-grams tell from the lowest order's
GATE = 32  # hidden units of what weighs the n-grams


class Change(NamedTuple):
    """How the distributions of an order follow from those of the order before: multiplied, then added to."""

    factor: Singles  # (N,): weight of the distribution of the lower order
    places: Ids  # (E,): row · vocabulary size + symbol; a place may occur more than once
    added: Singles  # (E,): what is added there


class _Order:
    """Contribution of one order: grams that continue each history of the text, and the lower order's weight.

    A history that a model knows is kept once, however often it occurs.
    """

    def __init__(self, n: int) -> None:
        self.history = np.empty(n, dtype=np.int32)  # of each symbol to predict, undefined where it is not known
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []
        self._known = self._grams = 0

    def keep(self, level: Level, context: Ids, size: int, places: Ids) -> None:
        """Keep the grams that continue some histories; `places` are the symbols after these histories."""
        used, of_place = np.unique(context, return_inverse=True)
        first, last = np.searchsorted(level.keys, [used * size, (used + 1) * size])
        grams = ranges(first, last - first)
        self._add(
            places, of_place, last - first, level.backoff[used], level.keys[grams] % size, level.direct[grams], size
        )

    def keep_others(self, fold: Fold, context: Ids, size: int, places: Ids) -> None:
        """Do the same with the grams of all folds but one."""
        used, of_place = np.unique(context, return_inverse=True)
        first, last = np.searchsorted(fold.keys, [used * size, (used + 1) * size])
        grams, of_used = ranges(first, last - first), np.repeat(np.arange(len(used)), last - first)
        there = fold.counts[grams] > 0
        grams, of_used = grams[there], of_used[there]
        direct, backoff = discounted(fold.counts[grams], of_used, len(used), chen_goodman_discounts(fold.counts))
        count = np.bincount(of_used, minlength=len(used))
        self._add(places, of_place, count, backoff, fold.keys[grams] % size, direct, size)

    def _add(
        self, places: Ids, of_place: Ids, count: Ids, backoff: Floats, symbols: Ids, direct: Floats, size: int
    ) -> None:
        """Add histories, of each the number of its grams, and these, and which of them precedes each place."""
        self.history[places] = self._known + of_place
        small = np.min_scalar_type(size)
        begin = (self._grams + np.cumsum(count) - count).astype(np.int32)
        shares = backoff.astype(np.float32), symbols.astype(small), direct.astype(np.float32)
        self._parts.append((begin, count.astype(small), *shares))
        self._known += len(count)
        self._grams += len(symbols)

    def join(self) -> tuple[npt.NDArray[Any], ...]:
        """Return first gram, number of grams and weight of each history, then symbol and share of each gram."""
        if len(self._parts) > 1:
            parts, self._parts = self._parts, []
            self._parts = [tuple(map(np.concatenate, zip(*parts, strict=True)))]
        return self._parts[0]


class Histories:
    """Distributions before each symbol of a text, by n-gram models that may differ from intent to intent.

    Of each model only the grams are kept that continue a history of its own intents, so that ten models take
    little more memory than one.

    Parameters
    ----------
    intents : sequence of ndarray of int64, length I
        Units of each intent, without end symbol.
    vocabulary_size : int
        V, the end symbol included.
    orders : sequence of int, length K
        Orders of the distributions, rising, at least 1.

    Attributes
    ----------
    lengths, starts : ndarray of int64, shape (I,)
        Symbols to predict in each intent, and the place of its first among those of the text.
    known : ndarray, shape (N,)
        Of each symbol to predict, the highest order whose history occurs in training; single symbols count as known.
    asked : ndarray, shape (N,)
        Of each symbol to predict, which model was asked, in their order.
    lowest : list of ndarray of float32, shape (V,)
        Distribution of order 1 of each model.

    Examples
    --------
    >>> from langdiff.lm.ngram.kneser_ney import KneserNey
    >>> text = [np.array([0, 1, 0, 1])] * 9
    >>> histories = Histories([np.array([0, 1])], 3, [1, 3])
    >>> histories.ask(KneserNey.fit(text, 3, order=3).levels, np.array([0]))
    >>> [len(change.places) for change in histories.changes(np.arange(3))]
    [0, 7]
    """

    def __init__(self, intents: Sequence[Ids], vocabulary_size: int, orders: Sequence[int]) -> None:
        self.orders, self._intents, self.vocabulary_size = tuple(orders), intents, vocabulary_size
        self.lengths = np.array([len(ids) + 1 for ids in intents], dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        n = int(self.lengths.sum())
        self.known = np.ones(n, dtype=np.int16)
        self.asked = np.zeros(n, dtype=np.int16)
        self.lowest: list[Singles] = []
        self._others = [_Order(n) for _ in range(2, orders[-1] + 1)]

    def ask(self, levels: Iterable[Level], rows: Integers) -> None:
        """Add the distributions of a model for some intents; every intent needs one.

        Parameters
        ----------
        levels : iterable of Level
            The model, up to the highest of the orders.
        rows : ndarray of int64
            Which intents.
        """
        size = self.vocabulary_size
        others = iter(levels)
        first = next(others)
        places = np.concatenate([np.arange(self.starts[row], self.starts[row] + self.lengths[row]) for row in rows])
        self.asked[places] = len(self.lowest)
        self.lowest.append((first.direct[:size] + first.backoff[0] / size).astype(np.float32))
        symbols, place = lay_out([self._intents[row] for row in rows], size - 1)
        where = np.cumsum(place > 0) - 1  # of each symbol to predict among the places
        ending = symbols
        for k, kept in enumerate(self._others, start=2):
            level = next(others)  # the only one in memory; zip would hold two
            at = np.flatnonzero(place >= k - 1)
            at = at[ending[at - 1] >= 0]
            context = ending[at - 1]
            kept.keep(level, context, size, places[where[at]])
            self.known[places[where[at]]] = k
            found = level.find(context * size + symbols[at])
            del level
            ending = np.full(len(symbols), -1, dtype=np.int64)
            ending[at] = found

    def ask_others(self, fold: Ids) -> None:
        """Add, for the intents of each fold, the distributions of a model of all other folds.

        A text longer than most folds is divided among them.

        Shapes: fold (I,).
        """
        size, orders = self.vocabulary_size, self.orders[-1]
        _, place = lay_out(self._intents, size - 1)
        own = np.repeat(fold, self.lengths + 1)
        if np.bincount(own).max() > MOST_OF_FOLD * len(own):
            own = np.arange(len(own)) * FOLDS // len(own)
        numbers, own = np.unique(own, return_inverse=True)
        self.asked[:] = own[place > 0]
        where = np.cumsum(place > 0) - 1
        for k, ending, folds in count_in_folds(self._intents, size, own, len(numbers), order=orders):
            for number, one in enumerate(folds):
                if k == 1:
                    direct, backoff = discounted(
                        one.counts, np.zeros_like(one.counts), 1, chen_goodman_discounts(one.counts)
                    )
                    self.lowest.append((direct + backoff[0] / size).astype(np.float32))
                    continue
                at = np.flatnonzero((place >= k - 1) & (own == number))
                at = at[one.known[ending[at - 1]]]
                self._others[k - 2].keep_others(one, ending[at - 1].astype(np.int64), size, where[at])
                self.known[where[at]] = k

    def changes(self, places: Integers) -> Iterator[Change]:
        """Yield how each distribution at some positions of the text follows from the one before.

        Parameters
        ----------
        places : ndarray of int64, shape (N,)
            Symbols to predict, counted through the text, each intent with its end symbol.

        Yields
        ------
        Change
            One per order; the first begins from the distribution of order 1 of the model that was asked. Where a
            history is not known, nothing changes.
        """
        n = len(places)
        weights: list[Singles] = []  # of the lower order, by row, for each order since the last change
        grams_of: list[Grams] = []  # of these orders
        if self.orders[0] == 1:
            yield _joined(n, weights, grams_of)
        for k, weight, grams in self._grams(places):
            weights.append(weight)
            grams_of.append(grams)
            if k in self.orders:
                yield _joined(n, weights, grams_of)
                weights, grams_of = [], []

    def few(self, places: Integers) -> "Few":
        """Return the distributions at some positions by the symbols that n-grams tell from the lowest order's.

        Whatever continues a history continues the shorter ones, so that these are the grams of order 2.
        """
        factor = np.ones((len(self.orders) + 1, len(places)))  # the last after the present order
        rows = at = np.empty(0, dtype=np.int64)
        shares: list[tuple[int, Ids, Grams, Floats]] = []
        for k, weight, grams in self._grams(places):
            if k == 2:
                rows, at = grams.rows, grams.places
            first = int(np.searchsorted(self.orders, k))  # this order is a part of these
            factor[first:] *= weight
            shares.append((first, np.searchsorted(at, grams.places), grams, factor[-1].copy()))
        found = np.zeros((len(self.orders), len(at)), dtype=np.float32)
        for first, where, grams, until in shares:
            found[first:, where] += grams.shares * (factor[first:-1] / until)[:, grams.rows]
        return Few(factor[:-1].astype(np.float32), rows, at, found)

    def _grams(self, places: Integers) -> Iterator[tuple[int, Singles, "Grams"]]:
        """Yield, of each order from 2 on, the weight of the lower one, (N,), and the grams after known histories."""
        known, rows, n = self.known[places], np.arange(len(places)), len(places)
        for k, order in enumerate(self._others, start=2):
            rows = rows[known[rows] >= k]
            first, count, backoff, symbols, direct = order.join()
            history = order.history[places[rows]]
            weight = np.ones(n, dtype=np.float32)
            weight[rows] = backoff[history]
            counts = count[history].astype(np.int64)
            row = np.repeat(rows, counts)
            grams = ranges(first[history], counts)
            yield k, weight, Grams(row, row * self.vocabulary_size + symbols[grams], direct[grams])


class Grams(NamedTuple):
    """Grams that continue the histories of some positions; shapes (E,)."""

    rows: Ids
    places: Ids  # row · vocabulary size + symbol, rising
    shares: Singles


class Few(NamedTuple):
    r"""Distributions of K orders where they differ from that of order 1, but for a factor of each row.

    .. math:: p_k(v) = c_k \, p_1(v) + s_k(v)
    """

    factor: Singles  # (K, N): c
    rows: Ids  # (E,)
    places: Ids  # (E,): row · vocabulary size + symbol; s is 0 at all others
    shares: Singles  # (K, E): s


def _joined(n: int, weights: Sequence[Singles], grams_of: Sequence[Grams]) -> Change:
    """Return what several orders, the lowest first, make of the distribution before them."""
    factor = np.ones(n, dtype=np.float32)
    places, added = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float32)]
    for weight, (row, place, share) in zip(reversed(weights), reversed(grams_of), strict=True):
        places.append(place)
        added.append(share * factor[row])
        factor *= weight
    return Change(factor, np.concatenate(places), np.concatenate(added))


class Features(NamedTuple):
    """Distributions of K n-gram models for N symbols to predict, of few symbols or of all.

    Attributes
    ----------
    log_probability : Tensor, shape (N, K, V), or (E, K)
        Natural logarithms; of few symbols, without that of c p_1 (`Few`), which is 0 for all others.
    summary : Tensor, shape (N, 2 K + 1)
        Entropy and highest log-probability of each distribution, in units of ln V, and the share of the longest
        history that is known.
    """

    log_probability: Tensor
    summary: Tensor
    few: "FewPlaces | None" = None

    def combine(self, a: Tensor, output: Tensor, decoder: Tensor, bias: Tensor) -> Tensor:
        """Return the logits of a softmax with the log-probabilities added, whose weights a are (N, K).

        Of few symbols, a number that differs from row to row is missing in all logits of a row.
        """
        if self.few is None:
            return linear(output, decoder, bias) + torch.einsum("nk,nkv->nv", a, self.log_probability)
        rows, places, asked, lowest = self.few
        of_model = (asked[:, None] == torch.arange(len(lowest), device=a.device)) * a.sum(dim=1, keepdim=True)
        # one product, as every pass over (N, V) counts
        logits = F.linear(torch.cat([output.to(a.dtype), of_model], 1), torch.cat([decoder, lowest.T], 1), bias)
        added = (a[rows] * self.log_probability).sum(dim=1)
        return cast(Tensor, _Added.apply(logits, places, added))  # type: ignore[no-untyped-call]


class _Added(torch.autograd.Function):
    """Numbers added in place, whose gradient autograd would copy twice."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, places: Tensor, added: Tensor) -> Tensor:
        ctx.mark_dirty(logits)
        ctx.save_for_backward(places)
        logits.view(-1).index_add_(0, places, added)
        return logits

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, Tensor]:
        return gradient, None, gradient.view(-1)[ctx.saved_tensors[0]]


class FewPlaces(NamedTuple):
    """Rows and places of few symbols, (E,), the model of each row, (N,), and ln p_1 of each model, (models, V)."""

    rows: Tensor
    places: Tensor
    asked: Tensor
    lowest: Tensor


@dataclass(frozen=True, eq=False)
class Asked:
    """Symbols to predict of which features are asked; they are computed where few are needed, as they are large.

    Attributes
    ----------
    part : NgramFeatures
        Features of the part.
    places : ndarray of int64, shape (N,)
        Symbols to predict, counted through the part.
    device : torch.device
        Where they are computed.
    """

    part: "NgramFeatures"
    places: Ids
    device: torch.device

    def of(self, symbols: slice | Booleans) -> "Asked":
        """Return some of the symbols."""
        return Asked(self.part, self.places[symbols], self.device)

    def compute(self) -> Features:
        """Compute the features."""
        return self.part.at(self.places, self.device)


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
        histories.ask_others(np.arange(len(intents)) // RUN % FOLDS)
        return cls(histories)

    def of(
        self, rows: Integers, device: torch.device, begins: Integers | int = 0, lengths: Integers | None = None
    ) -> Asked:
        """Return the symbols of some intents side by side, or of stretches, in the order of `Batch.rows`."""
        lengths = self._histories.lengths[rows] if lengths is None else lengths
        times = np.arange(lengths.max())[:, None]
        return Asked(self, (self._histories.starts[rows] + begins + times)[times < lengths], device)  # time by time

    def at(self, places: Ids, device: torch.device) -> Features:
        """Return the features of some symbols to predict."""
        histories = self._histories
        known = to_device(device, (histories.known[places] / histories.orders[-1]).astype(np.float32))
        scale = float(np.log(histories.vocabulary_size))
        few = None
        if histories.vocabulary_size > MANY:
            log_probability, entropy, highest, few = self._few(places, device)
        else:
            log_probability = self._distributions(places, device).log_()
            entropy = -(log_probability.exp() * log_probability).sum(dim=2)
            highest = log_probability.amax(dim=2)
        return Features(log_probability, torch.cat([entropy / scale, highest / scale, known[:, None]], dim=1), few)

    def _few(self, places: Ids, device: torch.device) -> tuple[Tensor, Tensor, Tensor, FewPlaces]:
        """Return log-probabilities of few symbols, (E, K), and entropy and highest log-probability of all, (N, K)."""
        histories = self._histories
        factor, rows, at, shares = histories.few(places)
        c, row, place, s = (to_device(device, each) for each in (factor.T.copy(), rows, at, shares.T.copy()))
        asked = to_device(device, histories.asked[places].astype(np.int64))
        p_1, ln_c = self._lowest_at(device), c.log()
        of_symbol = p_1.view(-1)[asked[row] * histories.vocabulary_size + place % histories.vocabulary_size][:, None]
        rest = c[row] * of_symbol  # (E, K)
        p = rest + s
        ln_p, ln_rest = p.log(), rest.log()
        # of all symbols as if there were no grams, and what grams change of it
        all_rest = ln_c + (p_1 * p_1.log()).sum(dim=1)[asked][:, None]
        entropy = -(c * all_rest).index_add(0, row, p * ln_p - rest * ln_rest)
        highest = ln_c + p_1.amax(dim=1).log()[asked][:, None]
        highest = highest.scatter_reduce(0, row[:, None].expand_as(ln_p), ln_p, "amax")
        return ln_p - ln_rest, entropy, highest, FewPlaces(row, place, asked, p_1.log())

    def _lowest_at(self, device: torch.device) -> Tensor:
        """Return the distribution of order 1 of each model, (models, V)."""
        if self._lowest is None or self._lowest.device != device:
            self._lowest = to_device(device, np.array(self._histories.lowest))
        return self._lowest

    def _distributions(self, places: Ids, device: torch.device) -> Tensor:
        """Return the probabilities of all symbols at some positions of the text, by all orders, (N, K, V).

        Only what n-grams add is copied to the device, a small part of the numbers.
        """
        histories = self._histories
        probability = self._lowest_at(device)[to_device(device, histories.asked[places].astype(np.int64))]  # (N, V)
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

    def logits(self, output: Tensor, features: Asked | None = None) -> Tensor:
        """Return unnormalized log-probabilities of the next symbol, shape (N, vocabulary_size)."""
        if features is None:
            raise ValueError("a residual network needs the features of the n-grams")
        found = features.compute()
        summary = found.summary
        gate = torch.tanh(F.linear(torch.cat([output.to(summary.dtype), summary], 1), self.gate_input, self.gate_bias))
        a = F.linear(gate, self.gate_output, self.weights)  # (N, K)
        return found.combine(a, output, self.decoder, self.decoder_bias)


class ResidualLSTM(Residual, AWDLSTM):
    """LSTM that corrects n-grams; see `Residual`."""


class ResidualTransformer(Residual, Transformer):
    """Transformer that corrects n-grams; see `Residual`."""
