"""Interpolated, modified Kneser-Ney n-grams in sorted arrays."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Integers
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
        return cls(vocabulary_size, tuple(count_grams(intents, vocabulary_size, order=order)))

    @property
    def order(self) -> int:
        """Order of the model, the n of n-grams."""
        return len(self.grams)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Contributions of the orders to probabilities, the lowest first."""
        return tuple(smooth(self.grams, self.vocabulary_size))

    def score(self, intents: Sequence[Ids]) -> tuple[Floats, Floats]:
        r"""Return the bits of intents, and of their end symbols alone.

        .. math:: -\sum_{t=1}^{T} \log_2 p(u_t \mid u_1 \dots u_{t-1}), \quad u_T = \text{end}
        """
        bits = self._bits(intents)
        lengths = np.array([len(ids) + 1 for ids in intents], dtype=np.int64)
        ends = np.cumsum(lengths)
        totals: Floats = np.add.reduceat(bits, ends - lengths)
        return totals, bits[ends - 1]

    def score_symbols(self, intents: Sequence[Ids], others: Ids | None = None) -> list[Floats]:
        """Return the bits of each symbol of intents, their end symbols last; see `score`."""
        ends = np.cumsum([len(ids) + 1 for ids in intents])
        return np.split(self._bits(intents, others), ends[:-1]) if intents else []

    def _bits(self, intents: Sequence[Ids], others: Ids | None = None) -> Floats:
        """Return the surprisal of each symbol, ends included, or of the `others` in the same contexts."""
        symbols, place = lay_out(intents, self.vocabulary_size - 1)
        asked = [symbols] if others is None else [np.full_like(symbols, other) for other in others]
        total = sum(self._probabilities(symbols, place, each) for each in asked)
        bits: Floats = -np.log2(np.asarray(total)[place > 0])
        return bits

    def _probabilities(self, symbols: Ids, place: npt.NDArray[np.int32], asked: Ids) -> Floats:
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


class Counted(NamedTuple):
    """The k-grams of a text, K, and which of them ends at each position, N; -1 where an intent is too short."""

    keys: Ids  # (K,)
    counts: Ids  # (K,): occurrences
    ending: npt.NDArray[np.int32]  # (N,)
    suffix: npt.NDArray[np.int32]  # (K,): the gram without its first symbol, among the (k-1)-grams


def _count(intents: Sequence[Ids], vocabulary_size: int, order: int) -> Iterator[Counted]:
    """Yield the grams of a text, the lowest order first."""
    laid_out, place = lay_out(intents, vocabulary_size - 1)
    counts = np.bincount(laid_out[place > 0], minlength=vocabulary_size)
    # there are many positions: as few bytes as will do
    ending, symbols = laid_out.astype(np.int32), laid_out.astype(np.min_scalar_type(vocabulary_size))
    del laid_out
    yield Counted(np.arange(vocabulary_size, dtype=np.int64), counts, ending, np.empty(0, dtype=np.int32))
    for k in range(2, order + 1):
        at = np.flatnonzero(place >= k - 1)
        last = ending[at]  # all but the first symbol of the longer gram
        keys, first, index, counts = _distinct(_keys(ending[at - 1], symbols[at], vocabulary_size))
        ending = np.full(len(place), -1, dtype=np.int32)
        ending[at] = index
        yield Counted(keys, counts, ending, last[first])


def count_grams(intents: Sequence[Ids], vocabulary_size: int, *, order: int) -> Iterator[Grams]:
    """Yield the grams of a training text, the lowest order first; only two orders are in memory at once."""
    shorter: Counted | None = None
    for longer in _count(intents, vocabulary_size, order):
        if shorter is not None:
            seen_before = np.bincount(longer.suffix, minlength=len(shorter.keys))
            # nothing precedes the start of an intent: such a gram, seen before nothing, keeps its occurrences
            yield Grams(shorter.keys, np.where(seen_before > 0, seen_before, shorter.counts))
        shorter = longer
        del longer
    if shorter is not None:
        yield Grams(shorter.keys, shorter.counts)


class Fold(NamedTuple):
    """What an order of a text without one fold knows, of the k-grams of all of the text."""

    keys: Ids  # (K,)
    counts: Ids  # (K,): as those of `Grams`, 0 where all occurrences are in the fold
    known: npt.NDArray[np.bool_]  # of each (k-1)-gram, whether it occurs


def count_in_folds(
    intents: Sequence[Ids], vocabulary_size: int, fold: Ids, folds: int, *, order: int
) -> Iterator[tuple[int, npt.NDArray[np.int32], Iterator[Fold]]]:
    """Count the grams of a text once; yield k, the (k-1)-gram that ends at each position, and what each fold lacks.

    Shapes: fold (N,), of each position as `lay_out` lays them out, from 0 to folds - 1.
    """
    predicted = lay_out(intents, vocabulary_size - 1)[1] > 0
    rows = [np.flatnonzero((fold == number) & predicted) for number in range(folds)]
    known = [np.zeros(0, dtype=np.bool_)] * folds

    def others(grams: Counted, number: int) -> Ids:
        """Return the occurrences in all other folds."""
        own = grams.ending[rows[number]]
        left: Ids = grams.counts - np.bincount(own[own >= 0], minlength=len(grams.keys))
        return left

    def fold_of(number: int, grams: Counted, longer: Counted | None) -> Fold:
        counts = others(grams, number)
        last, known[number] = known[number], (counts > 0) | (len(grams.suffix) == 0)  # single symbols count as known
        if longer is not None:
            seen_before = np.bincount(longer.suffix[others(longer, number) > 0], minlength=len(counts))
            counts = np.where(seen_before > 0, seen_before, counts)
        return Fold(grams.keys, counts, last)

    before = np.empty(0, dtype=np.int32)
    shorter: Counted | None = None
    for k, longer in enumerate(chain(_count(intents, vocabulary_size, order), [None])):
        if shorter is not None:
            yield k, before, (fold_of(number, shorter, longer) for number in range(folds))
            before = shorter.ending
        shorter = longer


def _keys(first: npt.NDArray[np.int32], last: Integers, vocabulary_size: int) -> Ids:
    """Return the keys of grams from all but their last symbol, as an index, and that symbol; see `Grams`."""
    keys = first.astype(np.int64)
    keys *= vocabulary_size
    keys += last
    return keys


def _distinct(keys: Ids) -> tuple[Ids, Ids, npt.NDArray[np.int32], Ids]:
    """Return what `numpy.unique` returns of keys with index, inverse and counts, in half of the memory."""
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.ones(len(keys), dtype=np.bool_)
    np.not_equal(keys[1:], keys[:-1], out=new[1:])
    at = np.flatnonzero(new)
    counts = np.diff(at, append=len(keys))
    index = np.empty(len(keys), dtype=np.int32)
    index[order] = np.repeat(np.arange(len(at), dtype=np.int32), counts)
    return keys[at], order[at], index, counts


def smooth(grams: Iterable[Grams], vocabulary_size: int) -> Iterator[Level]:
    """Yield the contributions of orders to probabilities, the lowest first, as their grams come."""
    contexts = 1
    for each in grams:
        level = _smooth(each, contexts, vocabulary_size)
        contexts = len(each.keys)
        del each
        yield level
        del level  # before the next order is counted, which takes much memory


def chen_goodman_discounts(counts: Ids) -> Floats:
    r"""Return the discounts of counts 0, 1, 2 and 3 or more.

    .. math::
        Y = \frac{n_1}{n_1 + 2 n_2}, \quad D_c = c - (c + 1)\, Y\, \frac{n_{c+1}}{n_c}

    with n_c the number of grams of count c; D_0 = 0. Where one of n_1 … n_4 is zero or a discount
    is not between 0 and c, no estimate can be had, and all are ``FALLBACK``.

    Shapes: counts (K,).

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
    discounts = chen_goodman_discounts(grams.counts)
    direct, backoff = discounted(grams.counts, grams.keys // vocabulary_size, contexts, discounts)
    return Level(np.append(grams.keys, _NO_GRAM), np.append(direct, 0.0), backoff)


def discounted(counts: Ids, context: Ids, contexts: int, discounts: Floats) -> tuple[Floats, Floats]:
    """Return the share of each gram after its context, (K,), and what each context leaves, (contexts,)."""
    taken = discounts[np.minimum(counts, 3)]
    total = np.bincount(context, weights=counts, minlength=contexts)
    freed = np.bincount(context, weights=taken, minlength=contexts)
    backoff = np.ones(contexts)  # after a context that only ever stood at the end
    np.divide(freed, total, out=backoff, where=total > 0)
    return (counts - taken) / np.maximum(total, 1)[context], backoff  # the maximum matters to no text at all


def ranges(starts: npt.NDArray[Any], counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return starts[0], starts[0] + 1, …, for each start as many numbers as it counts."""
    begins = np.cumsum(counts) - counts
    found: Integers = np.repeat(starts - begins.astype(starts.dtype), counts) + np.arange(
        counts.sum(), dtype=starts.dtype
    )
    return found


def lay_out(intents: Sequence[Ids], end: int) -> tuple[Ids, npt.NDArray[np.int32]]:
    """Return intents as one sequence, each between two end symbols, of which the first is its start."""
    lengths = np.array([len(ids) + 2 for ids in intents], dtype=np.int64)
    starts = np.cumsum(lengths) - lengths
    place = np.arange(lengths.sum(), dtype=np.int32) - np.repeat(starts.astype(np.int32), lengths)
    symbols = np.full(len(place), end, dtype=np.int64)
    inner = place > 0
    inner[starts + lengths - 1] = False
    symbols[inner] = np.concatenate([*intents, np.empty(0, dtype=np.int64)])
    return symbols, place
