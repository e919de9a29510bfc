"""Interpolated, modified Kneser-Ney n-grams in sorted arrays, and the distributions of the next symbol under them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Integers
from langdiff.lm.units.characters import Ids

Floats = npt.NDArray[np.float64]

ORDER = 6
FALLBACK = (0.5, 1.0, 1.5)  # discounts where counts of counts give none, as for the few single characters

_NO_GRAM = np.iinfo(np.int64).max  # stands after the keys, so that a search always ends inside

Singles = npt.NDArray[np.float32]


class Grams(NamedTuple):
    """The k-grams of a training text.

    Attributes
    ----------
    keys : ndarray of int64, shape (K,)
        (index of the first k - 1 symbols among the (k-1)-grams) · vocabulary size + last symbol,
        sorted, each once.
    counts : ndarray of int64, shape (K,)
        Occurrences at the highest order and where a gram begins with the start of an intent,
        otherwise the number of different symbols seen before it.
    """

    keys: Ids
    counts: Ids


class Level(NamedTuple):
    """Contribution of an order to a probability."""

    keys: Ids  # (K + 1,), the last is `_NO_GRAM`
    direct: Floats  # (K + 1,): discounted relative frequency; 0 for no gram, which has index -1
    backoff: Floats  # (contexts,): weight of the next lower order

    def find(self, keys: Ids) -> Ids:
        """Return the index of each key, or -1."""
        nearest = np.searchsorted(self.keys, keys)
        return np.where(self.keys[nearest] == keys, nearest, -1)


@dataclass(frozen=True, eq=False, repr=False)
class KneserNey:
    r"""An interpolated n-gram model with modified Kneser-Ney smoothing.

    With h the k - 1 symbols before w, h' the same without the first, and a the count of `Grams`,

    .. math::
        p_k(w \mid h) = \frac{a(hw) - D_k(a(hw))}{\sum_v a(hv)}
            + \frac{\sum_v D_k(a(hv))}{\sum_v a(hv)}\, p_{k-1}(w \mid h')

    down to :math:`p_0 = 1/V`; where h was never seen, :math:`p_k = p_{k-1}`. So every symbol has a
    positive probability after every history, and they sum to one.

    An intent is read from its start, which is a symbol of the history but is never predicted, to its
    end symbol, which is; nothing is remembered from one intent to the next.

    Parameters
    ----------
    vocabulary_size : int
        V, the end symbol included, which has the id V - 1.
    grams : tuple of Grams
        n-grams of the orders 1, 2, …; see `fit`.

    Notes
    -----
    Kneser & Ney (1995); discounts and interpolation of Chen & Goodman (1999). That a gram which
    nothing can precede keeps its occurrences for count follows Heafield et al. (2013).

    Examples
    --------
    >>> text = [np.array([0, 1, 0, 1, 0, 1])] * 9
    >>> model = KneserNey.fit(text, vocabulary_size=3, order=3)
    >>> bits, eos_bits = model.score([np.array([0, 1, 0, 1]), np.array([1, 1, 0, 0])])
    >>> bits.round(1), eos_bits.round(1)
    (array([ 2.5, 16.9]), array([1.6, 2.8]))
    """

    vocabulary_size: int
    grams: tuple[Grams, ...]

    @classmethod
    def fit(cls, intents: Sequence[Ids], vocabulary_size: int, *, order: int = ORDER) -> "KneserNey":
        """Count the grams of a training text.

        Parameters
        ----------
        intents : sequence of ndarray of int64
            Symbols of each intent, 0 to vocabulary_size - 2, without end symbol; may be empty.
        vocabulary_size : int
            The end symbol included.
        order : int
            n, positive: the history is n - 1 symbols.
        """
        symbols, place = lay_out(intents, vocabulary_size - 1)
        counts = np.bincount(symbols[place > 0], minlength=vocabulary_size)
        grams = [Grams(np.arange(vocabulary_size, dtype=np.int64), counts)]
        ending = symbols  # index of the k-gram that ends at each position; now k = 1
        for k in range(2, order + 1):
            at = np.flatnonzero(place >= k - 1)
            keys, first, index, counts = np.unique(
                ending[at - 1] * vocabulary_size + symbols[at],
                return_index=True,
                return_inverse=True,
                return_counts=True,
            )
            shorter = grams[-1]
            seen_before = np.bincount(ending[at[first]], minlength=len(shorter.keys))
            # nothing precedes the start of an intent: such a gram, seen before nothing, keeps its occurrences
            grams[-1] = Grams(shorter.keys, np.where(seen_before > 0, seen_before, shorter.counts))
            grams.append(Grams(keys, counts))
            ending = np.full(len(symbols), -1, dtype=np.int64)
            ending[at] = index
        return cls(vocabulary_size, tuple(grams))

    @property
    def order(self) -> int:
        """Order of the model, the n of n-grams."""
        return len(self.grams)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Contributions of the orders to probabilities, the lowest first."""
        contexts = (1, *(len(grams.keys) for grams in self.grams[:-1]))
        return tuple(_smooth(grams, n, self.vocabulary_size) for grams, n in zip(self.grams, contexts, strict=True))

    def score(self, intents: Sequence[Ids]) -> tuple[Floats, Floats]:
        r"""Return the bits of intents, and of their end symbols alone.

        .. math:: -\sum_{t=1}^{T} \log_2 p(u_t \mid u_1 \dots u_{t-1}), \quad u_T = \text{end}

        Parameters
        ----------
        intents : sequence of ndarray of int64, length I
            Symbols of each intent, without end symbol; may be empty.

        Returns
        -------
        bits, eos_bits : ndarray of float64, shape (I,)
            They depend on no other intent.
        """
        bits = self._bits(intents)
        lengths = np.array([len(ids) + 1 for ids in intents], dtype=np.int64)
        ends = np.cumsum(lengths)
        totals: Floats = np.add.reduceat(bits, ends - lengths)
        return totals, bits[ends - 1]

    def score_symbols(self, intents: Sequence[Ids], others: Ids | None = None) -> list[Floats]:
        """Return the bits of each symbol of intents, their end symbols last; see `score`.

        Parameters
        ----------
        intents : sequence of ndarray of int64, length I
            Symbols of each intent, without end symbol; may be empty.
        others : ndarray of int64, optional
            Symbols of which the bits are returned that one of them stands there, instead.
        """
        ends = np.cumsum([len(ids) + 1 for ids in intents])
        return np.split(self._bits(intents, others), ends[:-1]) if intents else []

    def _bits(self, intents: Sequence[Ids], others: Ids | None = None) -> Floats:
        """Return the surprisal of each symbol, ends included, or of the `others` in the same contexts."""
        symbols, place = lay_out(intents, self.vocabulary_size - 1)
        asked = [symbols] if others is None else [np.full_like(symbols, other) for other in others]
        total = sum(self._probabilities(symbols, place, each) for each in asked)
        bits: Floats = -np.log2(np.asarray(total)[place > 0])
        return bits

    def _probabilities(self, symbols: Ids, place: Ids, asked: Ids) -> Floats:
        """Return the probability of `asked` in the context of each symbol; undefined at a start."""
        lowest, *others = self.levels
        probability: Floats = lowest.direct[asked] + lowest.backoff[0] / self.vocabulary_size
        ending = symbols  # index of the k-gram that ends at each position, -1 if it was never seen; now k = 1
        for k, level in enumerate(others, start=2):
            at = np.flatnonzero(place >= k - 1)
            at = at[ending[at - 1] >= 0]
            context = ending[at - 1]
            seen = level.find(context * self.vocabulary_size + symbols[at])
            found = seen if asked is symbols else level.find(context * self.vocabulary_size + asked[at])
            probability[at] = level.direct[found] + level.backoff[context] * probability[at]
            ending = np.full(len(symbols), -1, dtype=np.int64)
            ending[at] = seen
        return probability


def chen_goodman_discounts(counts: Ids) -> Floats:
    r"""Return the discounts of counts 0, 1, 2 and 3 or more.

    .. math::
        Y = \frac{n_1}{n_1 + 2 n_2}, \quad D_c = c - (c + 1)\, Y\, \frac{n_{c+1}}{n_c}

    with n_c the number of grams of count c; D_0 = 0. Where one of n_1 … n_4 is zero or a discount
    is not between 0 and c, no estimate can be had, and all are ``FALLBACK``.

    Parameters
    ----------
    counts : ndarray of int64, shape (K,)
        Counts of the n-grams of one order.

    Returns
    -------
    ndarray of float64, shape (4,)
        D_0, D_1, D_2 and D_3.

    Notes
    -----
    Chen & Goodman (1999), "An empirical study of smoothing techniques for language modeling".

    Examples
    --------
    >>> chen_goodman_discounts(np.array([1] * 8 + [2] * 4 + [3] * 2 + [4])).tolist()
    [0.0, 0.5, 1.25, 2.0]
    >>> chen_goodman_discounts(np.array([1, 90])).tolist()
    [0.0, 0.5, 1.0, 1.5]
    """
    n = np.bincount(counts[counts <= 4], minlength=5).astype(np.float64)  # n[c] grams of count c
    c = np.arange(1, 4)
    if n[1:].all():
        discounts = c - (c + 1) * (n[1] / (n[1] + 2 * n[2])) * n[2:] / n[1:4]
        if ((discounts > 0) & (discounts <= c)).all():
            return np.array([0.0, *discounts])
    return np.array([0.0, *FALLBACK])


def _smooth(grams: Grams, contexts: int, vocabulary_size: int) -> Level:
    """Return shares of probability from counts; `contexts` is the number of (k-1)-grams."""
    context = grams.keys // vocabulary_size
    taken = chen_goodman_discounts(grams.counts)[np.minimum(grams.counts, 3)]
    total = np.bincount(context, weights=grams.counts, minlength=contexts)
    freed = np.bincount(context, weights=taken, minlength=contexts)
    backoff = np.ones(contexts)  # after a context that only ever stood at the end
    np.divide(freed, total, out=backoff, where=total > 0)
    direct = (grams.counts - taken) / np.maximum(total, 1)[context]  # the maximum matters to no text at all
    return Level(np.append(grams.keys, _NO_GRAM), np.append(direct, 0.0), backoff)


def lay_out(intents: Sequence[Ids], end: int) -> tuple[Ids, Ids]:
    """Return intents as one sequence, each between two end symbols, of which the first is its start.

    Returns
    -------
    symbols, place : ndarray of int64, shape (N,)
        Place 0 is the start of an intent.
    """
    lengths = np.array([len(ids) + 2 for ids in intents], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    place = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    symbols = np.full(len(place), end, dtype=np.int64)
    inner = (place > 0) & (place < np.repeat(lengths - 1, lengths))
    symbols[inner] = np.concatenate([*intents, np.empty(0, dtype=np.int64)])
    return symbols, place


class _Order:
    """Contribution of one order for N symbols: grams that continue their histories, and the lower order's weight."""

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
        """Add the distributions of a model of the highest order for some intents; every intent needs one."""
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
        """Return the probabilities of all symbols at some positions of the text, by all orders.

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
