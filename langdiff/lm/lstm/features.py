"""What n-grams say after all histories of a text, as input of a network, and networks that correct them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
    count_in_folds,
    discounted,
    lay_out,
    ranges,
)
from langdiff.lm.units.characters import Ids

Singles = npt.NDArray[np.float32]
FOLDS = 10
MOST_OF_FOLD = 0.5  # of a text in one fold, beyond which the others know too little of it
RUN = 5  # neighbouring intents that share a fold, as those of a dev or test block do
TABLE = 1 << 22  # elements of a table of whole distributions, 16 MB
AT_ONCE = 1 << 18  # symbols of a text whose gains are made together, which bounds memory
GATE = 32  # hidden units of what weighs the n-grams


class _Order:
    """Contribution of one order: grams that continue each history of the text, and the lower order's weight.

    A history that a model knows is kept once, however often it occurs.
    """

    def __init__(self, n: int) -> None:
        self.history = np.full(n, -1, dtype=np.int32)  # of each symbol to predict, where it is known
        self.known = self._grams = 0
        self._parts: list[tuple[npt.NDArray[Any], ...]] = []

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
        self.history[places] = self.known + of_place
        begin = (self._grams + np.cumsum(count) - count).astype(np.int32)
        shares = backoff.astype(np.float32), symbols.astype(_symbol_type(size)), direct.astype(np.float32)
        self._parts.append((begin, count.astype(np.min_scalar_type(size)), *shares))
        self.known += len(count)
        self._grams += len(symbols)

    def after(self, history: npt.NDArray[np.int32]) -> tuple[Floats, Ids, Ids, Floats]:
        """Return the weight of the lower order after each history, -1 if none, and row, symbol and share of grams."""
        if len(self._parts) > 1:
            parts, self._parts = self._parts, []
            self._parts = [tuple(map(np.concatenate, zip(*parts, strict=True)))]
        rows = np.flatnonzero(history >= 0)
        weight = np.ones(len(history))
        if not len(rows):
            return weight, rows, rows, np.empty(0)
        (first, count, backoff, symbols, direct), at = self._parts[0], history[rows]
        weight[rows] = backoff[at]
        counts = count[at].astype(np.int64)
        grams = ranges(first[at], counts)
        return weight, np.repeat(rows, counts), symbols[grams].astype(np.int64), direct[grams].astype(np.float64)


def _symbol_type(size: int) -> type[np.signedinteger[Any]]:
    """Return the smallest type of symbols that PyTorch has, too."""
    return np.int16 if size <= np.iinfo(np.int16).max else np.int32


def _distinct(orders: Sequence[_Order], places: Ids) -> tuple[Ids, Ids]:
    """Return of each distinct longest history one of the places, and which of these each place has, from 1; 0 if none.

    A longer history holds the shorter ones, which are therefore those of the place that is returned.
    """
    code, begin = np.zeros(len(places) + 1, dtype=np.int64), 1
    for order in orders:
        history = order.history[places]
        code[1:] = np.where(history >= 0, begin + history, code[1:])
        begin += order.known
    _, one, row = np.unique(code, return_index=True, return_inverse=True)
    number = np.empty_like(one)
    number[np.argsort(one)] = np.arange(len(one))  # as they come in the text, so that neighbours are near in memory
    return np.sort(one)[1:] - 1, number[row[1:]]


class _Distributions(NamedTuple):
    """Distributions after R histories, of E symbols or, in the tables from which orders begin, of all."""

    row: Ids  # (N,): of each place
    keys: Ids | None  # (E,): row · vocabulary size + symbol, rising; None if these are all
    probability: Floats  # (E,), or (R · vocabulary size,)
    entropy: Floats  # (R,), in nats
    highest: Floats  # (R,): ln of the largest probability

    @classmethod
    def tabulated(cls, lowest: Singles, orders: Sequence[_Order], places: Ids) -> "_Distributions":
        """Return the distributions of the highest of some orders after all longest histories, first after none."""
        one, row = _distinct(orders, places)
        table = np.tile(lowest.astype(np.float64), (1 + len(one), 1))
        for order in orders:
            weight, own, symbols, share = order.after(order.history[places[one]])
            table[1:] *= weight[:, None]
            table[1 + own, symbols] += share
        return cls(row, None, table.ravel(), -(table * np.log(table)).sum(axis=1), np.log(table.max(axis=1)))

    def of(self, keys: Ids) -> Floats:
        """Return some of the probabilities."""
        return self.probability[keys if self.keys is None else np.searchsorted(self.keys, keys)]


class _Gains(NamedTuple):
    """What the grams after R histories add: of each its number of grams, and symbols and gains of these."""

    counts: Ids
    symbols: Integers
    gain: Singles


def _continued(
    below: _Distributions, orders: Sequence[_Order], places: Ids, size: int
) -> tuple[_Distributions, _Gains, Ids]:
    r"""Return the distributions of the highest of some orders, the gains over those below, and the rows of places.

    .. math:: \ln p(v) = \ln c + \ln p_{\text{below}}(v) + g(v)

    with one c for each history, and a gain g other than 0 where a gram continues it. Rows are counted from 1; where no
    history is known the row is 0, and the distribution is that below.
    """
    one, row = _distinct(orders, places)
    under, factor = below.row[one], np.ones(len(one))
    rest = p = np.empty(0)
    rows = symbols = keys = np.empty(0, dtype=np.int64)
    for number, order in enumerate(orders):
        weight, own, symbol, share = order.after(order.history[places[one]])
        if number == 0:  # grams that continue longer histories are among these
            rows, symbols, keys = own, symbol, own * size + symbol
            p = rest = below.of(under[own] * size + symbol)
        p = p * weight[rows]
        p[np.searchsorted(keys, own * size + symbol)] += share
        factor *= weight
    rest = rest * factor[rows]
    changed = np.bincount(rows, p * np.log(p) - rest * np.log(rest), len(one))
    entropy = factor * (below.entropy[under] - np.log(factor)) - changed
    highest = np.log(factor) + below.highest[under]
    np.maximum.at(highest, rows, np.log(p))
    gain = np.log(p / rest).astype(np.float32)
    gains = _Gains(np.bincount(rows, minlength=len(one)), symbols.astype(_symbol_type(size)), gain)
    known = _Distributions(row - 1, keys, p, entropy, highest)
    return known, gains, row


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
    >>> histories.known.tolist()
    [2, 3, 3]
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

    def take(self) -> tuple[tuple[int, ...], list[tuple[int, list[_Order]]], list[_Order]]:
        """Return the orders, their layers, and what goes into a table; the grams are forgotten here.

        A layer has the first of `orders` that it changes, and what lies between this and the one before.
        """
        (lowest, *_), others = self.orders, self._others
        self._others = []
        in_table, bounds = others[: lowest - 1], list(pairwise(self.orders))
        layers = [(number, others[a - 1 : b - 1]) for number, (a, b) in enumerate(bounds, start=1)]
        if (len(self.lowest) + sum(order.known for order in in_table)) * self.vocabulary_size > TABLE:
            # one by one, as of a large alphabet all grams of a short history are many after each longer one
            layers, in_table = [(0, [order]) for order in in_table] + layers, []
        return self.orders, layers, in_table


class Features(NamedTuple):
    """What K n-gram models say of N symbols to predict.

    Attributes
    ----------
    summary : Tensor, shape (N, 2 K + 1)
        Entropy and highest log-probability of each distribution, in units of ln V, and the share of the longest
        history that is known.
    row, table : Tensor, shapes (N,) and (R, V)
        Log-probabilities from which the gains are counted, and which of them each symbol has.
    slots, places, gain : Tensor, shape (E,)
        Gains of the layers: number in layers × symbols to predict, place in the logits, and how much is gained.
    numbers : Tensor, shape (layers,)
        Which of the K orders is the first to gain by each layer.
    """

    summary: Tensor
    row: Tensor
    table: Tensor
    slots: Tensor
    places: Tensor
    gain: Tensor
    numbers: Tensor

    def combine(self, a: Tensor, output: Tensor, decoder: Tensor, bias: Tensor) -> Tensor:
        r"""Return the logits of a softmax with weighted log-probabilities of the orders added.

        Order k has the weight :math:`a_k - a_{k+1}`, with a of shape (N, K). A number that differs from row to row is
        missing in all logits of a row.
        """
        if len(self.table) <= FOLDS:  # one product, as every pass over (N, V) counts
            own = (self.row[:, None] == torch.arange(len(self.table), device=a.device)) * a[:, :1]
            logits = F.linear(torch.cat([output.to(a.dtype), own], 1), torch.cat([decoder, self.table.T], 1), bias)
        else:
            logits = torch.addcmul(linear(output, decoder, bias), a[:, :1], self.table.index_select(0, self.row))
        weights = a.T.index_select(0, self.numbers).flatten()
        added = weights.index_select(0, self.slots) * self.gain
        return cast(Tensor, _Added.apply(logits, self.places, added))  # type: ignore[no-untyped-call]


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
        return gradient, None, gradient.view(-1).index_select(0, ctx.saved_tensors[0])


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
    r"""Features of all intents of a part.

    .. math:: \ln p_k(v) = \text{constant} + \ln p(v) + \sum_{l \le k} g_l(v)

    with p from a table of whole distributions, where that is small those of the lowest order, and gains g where grams
    continue a history. A constant changes no softmax.

    Parameters
    ----------
    histories : Histories
        What n-grams say of each symbol; its grams are taken.
    """

    def __init__(self, histories: Histories) -> None:
        self._lengths, self._starts, self._size = histories.lengths, histories.starts, histories.vocabulary_size
        orders, layers, in_table = histories.take()
        n, k, size = len(histories.known), len(orders), self._size
        self._base, self._rows = np.zeros(n, dtype=np.int32), np.zeros((len(layers), n), dtype=np.int32)
        self._summary = np.empty((n, 2 * k + 1), dtype=np.float32)
        self._summary[:, -1] = histories.known / orders[-1] * np.log(size)
        tables: list[Singles] = []
        found = [_Gains(np.zeros(1, dtype=np.int64), np.empty(0, _symbol_type(size)), np.empty(0, dtype=np.float32))]
        bases, n_rows = 0, 1  # the first row stands for unknown histories, which gain nothing
        parts = [(lowest, np.flatnonzero(histories.asked == model)) for model, lowest in enumerate(histories.lowest)]
        for lowest, places in [(one, few) for one, of in parts for few in np.array_split(of, 1 + len(of) // AT_ONCE)]:
            below = _Distributions.tabulated(lowest, in_table, places)
            self._base[places] = bases + below.row
            tables.append(np.log(below.probability).astype(np.float32).reshape(-1, size))
            bases += len(tables[-1])
            self._summarize(below, places, below.row, 0, k)
            for layer, (number, between) in enumerate(layers):
                below, gains, row = _continued(below, between, places, size)
                known = np.flatnonzero(row)
                self._rows[layer, places[known]] = row[known] + (n_rows - 1)
                self._summarize(below, places[known], below.row[known], number, k)
                n_rows += len(gains.counts)
                found.append(gains)
        self._summary /= np.log(size)
        count, symbols, gain = (np.concatenate(each) for each in zip(*found, strict=True))
        self._first = np.append(0, np.cumsum(count)).astype(np.int32)
        self._arrays = np.concatenate(tables), symbols, gain, np.array([number for number, _ in layers], dtype=np.int64)
        self._on: tuple[Tensor, ...] = ()  # these, where they were last needed

    def _summarize(self, found: _Distributions, places: Ids, row: Ids, number: int, k: int) -> None:
        """Note entropies and highest log-probabilities of an order, which are those of higher ones unless known."""
        self._summary[places, number:k] = found.entropy[row, None]
        self._summary[places, k + number : 2 * k] = found.highest[row, None]

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
        lengths = self._lengths[rows] if lengths is None else lengths
        times = np.arange(lengths.max())[:, None]
        return Asked(self, (self._starts[rows] + begins + times)[times < lengths], device)  # time by time

    def at(self, places: Ids, device: torch.device) -> Features:
        """Return the features of some symbols to predict."""
        if not self._on or self._on[0].device != device:
            self._on = tuple(to_device(device, array) for array in self._arrays)
        table, symbols, gain, numbers = self._on
        rows, slots = self._rows[:, places].ravel(), np.arange(len(numbers) * len(places), dtype=np.int32)
        first = self._first[rows]
        count = self._first[rows + 1] - first
        logits = slots % len(places) * self._size  # where those of the same symbol begin
        host = (ranges(first, count), np.repeat(slots, count), np.repeat(logits, count))
        grams, slot, begin = (to_device(device, each) for each in host)
        summary, row = to_device(device, self._summary[places]), to_device(device, self._base[places])
        found = begin + symbols.index_select(0, grams), gain.index_select(0, grams)
        return Features(summary, row, table, slot, *found, numbers)


class LongFeatures(NgramFeatures):
    """Features of one long intent, of which those of a stretch are held, with the history before it.

    Symbols are to be asked for in their order, more or less.
    """

    def __init__(self, levels: Sequence[Level], ids: Ids, vocabulary_size: int, orders: Sequence[int]) -> None:
        self._lengths, self._starts = np.array([len(ids) + 1]), np.zeros(1, dtype=np.int64)
        self._model, self._ids = (levels, vocabulary_size, orders), ids
        self._history = self._begin = self._end = 0
        self._part: NgramFeatures | None = None

    def at(self, places: Ids, device: torch.device) -> Features:
        """Return the features of some symbols to predict."""
        begin, end = int(places.min()), int(places.max()) + 1
        if self._part is None or begin < self._begin or end > self._end:
            self._part = None  # there is one at a time
            levels, size, orders = self._model
            self._begin, self._end = begin, max(end, begin + AT_ONCE)
            self._history = max(0, begin - orders[-1] + 1)
            self._part = NgramFeatures.by(levels, [self._ids[self._history : self._end - 1]], size, orders)
        return self._part.at(places - self._history, device)


def in_parts(
    levels: Sequence[Level], intents: Sequence[Ids], vocabulary_size: int, orders: Sequence[int]
) -> Iterator[tuple[Sequence[Ids], NgramFeatures]]:
    """Yield intents, as many as features are held of at once, and their features; a longer one comes alone."""
    ends, sizes = np.cumsum([0, *(len(ids) + 1 for ids in intents)]), (vocabulary_size, orders)
    first = 0
    while first == 0 or first < len(intents):
        last = max(first + 1, int(np.searchsorted(ends, ends[first] + AT_ONCE, side="right")) - 1)
        own = intents[first:last]
        long = ends[min(last, len(intents))] - ends[first] > AT_ONCE
        yield own, LongFeatures(levels, own[0], *sizes) if long else NgramFeatures.by(levels, own, *sizes)
        first = last


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
        tails = torch.ones(len(self.weights), len(self.weights), device=output.device).triu()  # sums of a_k, a_k+1, …
        weights = F.linear(gate, tails @ self.gate_output, tails @ self.weights)  # (N, K)
        return found.combine(weights, output, self.decoder, self.decoder_bias)


class ResidualLSTM(Residual, AWDLSTM):
    """LSTM that corrects n-grams; see `Residual`."""


class ResidualTransformer(Residual, Transformer):
    """Transformer that corrects n-grams; see `Residual`."""
