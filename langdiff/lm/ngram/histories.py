"""Distributions of the next symbol under n-grams, after all histories of a text, without the zeros."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Integers
from langdiff.lm.ngram.kneser_ney import Level, lay_out
from langdiff.lm.units.characters import Ids

Singles = npt.NDArray[np.float32]


class Change(NamedTuple):
    """How the distributions of an order follow from those of the order before: multiplied, then added to.

    Attributes
    ----------
    factor : ndarray of float32, shape (N,)
        Weight of the distribution of the lower order.
    places : ndarray of int64, shape (E,)
        Row · vocabulary size + symbol; a place may occur more than once.
    added : ndarray of float32, shape (E,)
        What is added there.
    """

    factor: Singles
    places: Ids
    added: Singles


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
        count = last - first
        begin = np.cumsum(count) - count
        grams = np.repeat(first - begin, count) + np.arange(count.sum())
        self.history[places] = self._known + of_place
        self._parts.append(
            (
                (self._grams + begin).astype(np.int32),
                count.astype(np.min_scalar_type(size)),
                level.backoff[used].astype(np.float32),
                (level.keys[grams] % size).astype(np.min_scalar_type(size)),
                level.direct[grams].astype(np.float32),
            )
        )
        self._known += len(used)
        self._grams += len(grams)

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
        known, rows, n = self.known[places], np.arange(len(places)), len(places)
        weights: list[Singles] = []  # of the lower order, by row, for each order since the last change
        grams_of: list[tuple[Ids, Ids, Singles]] = []  # row, place and share of the grams of these orders
        for k in range(1, self.orders[-1] + 1):
            if k > 1:
                order = self._others[k - 2]
                rows = rows[known[rows] >= k]
                first, count, backoff, symbols, direct = order.join()
                history = order.history[places[rows]]
                weight = np.ones(n, dtype=np.float32)
                weight[rows] = backoff[history]
                weights.append(weight)
                counts = count[history].astype(np.int64)
                row = np.repeat(rows, counts)
                grams = np.repeat(first[history] - np.cumsum(counts) + counts, counts) + np.arange(len(row))
                grams_of.append((row, row * self.vocabulary_size + symbols[grams], direct[grams]))
            if k in self.orders:
                yield _joined(n, weights, grams_of)
                weights, grams_of = [], []


def _joined(n: int, weights: Sequence[Singles], grams_of: Sequence[tuple[Ids, Ids, Singles]]) -> Change:
    """Return what several orders, the lowest first, make of the distribution before them."""
    factor = np.ones(n, dtype=np.float32)
    places, added = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.float32)]
    for weight, (row, place, share) in zip(reversed(weights), reversed(grams_of), strict=True):
        places.append(place)
        added.append(share * factor[row])
        factor *= weight
    return Change(factor, np.concatenate(places), np.concatenate(added))
