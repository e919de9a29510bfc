"""Whole distributions of n-gram models over the next symbol, of several orders at once."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Integers
from langdiff.lm.ngram.kneser_ney import KneserNey, Level, lay_out
from langdiff.lm.units.characters import Ids

Singles = npt.NDArray[np.float32]


class _Order:
    """What one order says of N symbols: grams that continue their histories, and the weight of the next lower order."""

    def __init__(self, n: int) -> None:
        self.first = np.zeros(n, dtype=np.int64)  # place of the first gram of each symbol to predict
        self.count = np.zeros(n, dtype=np.int32)
        self.backoff = np.ones(n, dtype=np.float32)
        self.symbols = np.empty(0, dtype=np.int32)  # (E,), the last of each gram
        self.direct = np.empty(0, dtype=np.float32)  # (E,), discounted relative frequencies

    def keep(self, level: Level, context: Ids, size: int, places: Ids) -> None:
        """Keep the grams that continue some histories, each once; `places` are the symbols after these histories."""
        used, of_place = np.unique(context, return_inverse=True)
        first, last = np.searchsorted(level.keys, [used * size, (used + 1) * size])
        count = last - first
        begin = np.cumsum(count) - count
        grams = np.repeat(first - begin, count) + np.arange(count.sum())
        self.first[places] = len(self.symbols) + begin[of_place]
        self.count[places] = count[of_place]
        self.backoff[places] = level.backoff[used][of_place]
        self.symbols = np.append(self.symbols, (level.keys[grams] % size).astype(np.int32))
        self.direct = np.append(self.direct, level.direct[grams].astype(np.float32))


class Histories:
    """The distributions before each symbol of a text, by n-gram models that may differ from intent to intent.

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

    Examples
    --------
    >>> text = [np.array([0, 1, 0, 1])] * 9
    >>> histories = Histories([np.array([0, 1])], 3, [1, 3])
    >>> histories.ask(KneserNey.fit(text, 3, order=3), np.array([0]))
    >>> found = histories.distributions(np.arange(3))
    >>> found.shape, bool(np.allclose(found.sum(axis=2), 1))
    ((3, 2, 3), True)
    """

    def __init__(self, intents: Sequence[Ids], vocabulary_size: int, orders: Sequence[int]) -> None:
        self.orders, self._intents, self._size = tuple(orders), intents, vocabulary_size
        self.lengths = np.array([len(ids) + 1 for ids in intents], dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        n = int(self.lengths.sum())
        self.known = np.ones(n, dtype=np.int16)
        self._asked = np.zeros(n, dtype=np.int16)  # which model
        self._lowest: list[Singles] = []  # of each model, (V,)
        self._others = [_Order(n) for _ in range(2, orders[-1] + 1)]

    def ask(self, model: KneserNey, rows: Integers) -> None:
        """Let a model of the highest order speak of some intents; every intent needs one."""
        lowest, *others = model.levels
        places = np.concatenate([np.arange(self.starts[row], self.starts[row] + self.lengths[row]) for row in rows])
        self._asked[places] = len(self._lowest)
        self._lowest.append((lowest.direct[: self._size] + lowest.backoff[0] / self._size).astype(np.float32))
        symbols, place = lay_out([self._intents[row] for row in rows], self._size - 1)
        where = np.cumsum(place > 0) - 1  # of each symbol to predict among the places
        ending = symbols
        for k, (level, kept) in enumerate(zip(others, self._others, strict=True), start=2):
            at = np.flatnonzero(place >= k - 1)
            at = at[ending[at - 1] >= 0]
            context = ending[at - 1]
            kept.keep(level, context, self._size, places[where[at]])
            self.known[places[where[at]]] = k
            found = level.find(context * self._size + symbols[at])
            ending = np.full(len(symbols), -1, dtype=np.int64)
            ending[at] = found

    def distributions(self, places: Integers) -> Singles:
        """Return the probabilities of all symbols at some places of the text, by all orders.

        Parameters
        ----------
        places : ndarray of int64, shape (N,)
            Symbols to predict, counted through the text, each intent with its end symbol.

        Returns
        -------
        ndarray of float32, shape (N, K, V)
            Each row sums to 1. Where a history is not known, the distribution is that of the longest known one.
        """
        result = np.empty((len(places), len(self.orders), self._size), dtype=np.float32)
        probability = np.array(self._lowest)[self._asked[places]]
        known, rows = self.known[places], np.arange(len(places))
        for k in range(1, self.orders[-1] + 1):
            if k > 1:
                order = self._others[k - 2]
                rows = rows[known[rows] >= k]
                own, count = places[rows], order.count[places[rows]]
                probability[rows] *= order.backoff[own][:, None]
                grams = np.repeat(order.first[own] - np.cumsum(count) + count, count) + np.arange(count.sum())
                probability[np.repeat(rows, count), order.symbols[grams]] += order.direct[grams]
            if k in self.orders:
                result[:, self.orders.index(k)] = probability
        return result
