"""Interpolated, modified Kneser-Ney n-grams in sorted arrays: no loop over the symbols of the text."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.lm.units.characters import Ids

Floats = npt.NDArray[np.float64]

ORDER = 6
FALLBACK = (0.5, 1.0, 1.5)  # discounts where counts of counts give none, as for the few single characters

_NO_GRAM = np.iinfo(np.int64).max  # stands after the keys, so that a search always ends inside


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
    """What an order contributes to a probability."""

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
        """The n of the n-grams."""
        return len(self.grams)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """What each order contributes to probabilities, the lowest first."""
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
        """Return the bits of all symbols, intent by intent, each with its end symbol; or of others in their place."""
        symbols, place = lay_out(intents, self.vocabulary_size - 1)
        asked = [symbols] if others is None else [np.full_like(symbols, other) for other in others]
        total = sum(self._probabilities(symbols, place, each) for each in asked)
        bits: Floats = -np.log2(np.asarray(total)[place > 0])
        return bits

    def _probabilities(self, symbols: Ids, place: Ids, asked: Ids) -> Floats:
        """Return the probability of what is asked for in place of each symbol; without meaning at a start."""
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
    """Turn counts into shares of probability; `contexts` is the number of (k-1)-grams."""
    context = grams.keys // vocabulary_size
    taken = chen_goodman_discounts(grams.counts)[np.minimum(grams.counts, 3)]
    total = np.bincount(context, weights=grams.counts, minlength=contexts)
    freed = np.bincount(context, weights=taken, minlength=contexts)
    backoff = np.ones(contexts)  # after a context that only ever stood at the end
    np.divide(freed, total, out=backoff, where=total > 0)
    direct = (grams.counts - taken) / np.maximum(total, 1)[context]  # the maximum matters to no text at all
    return Level(np.append(grams.keys, _NO_GRAM), np.append(direct, 0.0), backoff)


def lay_out(intents: Sequence[Ids], end: int) -> tuple[Ids, Ids]:
    """Write intents one after another, each between two end symbols, of which the first is its start.

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
