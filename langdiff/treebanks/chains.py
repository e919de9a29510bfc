r"""Shapes of all trees of a corpus: depths, children, and probabilities of their chains (Zykova, section 2)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr

from langdiff.base.types import Booleans, Floats, Integers

CONSTANT = 1e-12  # relative variance below which a table does not vary but for rounding
Kind = Literal["kl", "js", "symmetric", "correlation"]


class Counts(NamedTuple):
    """Bins that occur, whole numbers or floats, sorted, and how often; both of shape (B,)."""

    bins: npt.NDArray[Any]
    counts: Integers

    @classmethod
    def of(cls, values: npt.NDArray[Any]) -> "Counts":
        """Count equal values."""
        bins, counts = np.unique(values, return_counts=True)
        return cls(bins, counts.astype(np.int64))

    @classmethod
    def total(cls, several: Sequence["Counts"]) -> "Counts":
        """Add counts up.

        Examples
        --------
        >>> Counts.total([Counts.of(np.array([3, 3])), Counts.of(np.array([1, 3]))])
        Counts(bins=array([1, 3]), counts=array([1, 3]))
        """
        bins, place = np.unique(np.concatenate([one.bins for one in several]), return_inverse=True)
        counts = np.zeros(len(bins), dtype=np.int64)
        np.add.at(counts, place, np.concatenate([one.counts for one in several]))
        return cls(bins, counts)

    def at(self, bins: npt.NDArray[Any]) -> Integers:
        """Return how often each of some bins occurs."""
        if not len(self.bins):
            return np.zeros(len(bins), dtype=np.int64)
        place = np.minimum(np.searchsorted(self.bins, bins), len(self.bins) - 1)
        return np.where(self.bins[place] == bins, self.counts[place], 0)


def divergence(
    reference: Counts,
    compared: Counts,
    *,
    kind: Kind = "kl",
    alpha: float = 0.5,
    base: float = np.e,
    box: int | None = None,
) -> float:
    r"""Return the divergence of `compared` from `reference`, over the bins S that occur in either.

    .. math:: D(R \| C) = \sum_{s \in S} p_s \log \frac{p_s}{q_s}, \quad
        p_s = \frac{r_s + \alpha}{\sum_{t \in S} (r_t + \alpha)}, \quad
        q_s = \frac{c_s + \alpha}{\sum_{t \in S} (c_t + \alpha)}

    Examples
    --------
    >>> one, other = Counts.of(np.array([26, 12])), Counts.of(np.array([26, 14]))
    >>> round(divergence(one, other), 6), divergence(one, other, alpha=0)
    (0.313889, inf)
    """
    bins = np.union1d(reference.bins, compared.bins)
    r, c = reference.at(bins).astype(float), compared.at(bins).astype(float)
    if not len(bins):
        return 0.0
    if not (r.any() and c.any()) and (kind == "correlation" or alpha == 0):
        return 1.0 if kind == "correlation" else np.inf
    if kind == "correlation":
        return _one_less_correlation(r / r.sum(), c / c.sum(), box or len(bins))
    p, q = (r + alpha) / (r + alpha).sum(), (c + alpha) / (c + alpha).sum()
    if kind == "js":
        middle = (p + q) / 2
        nats = (rel_entr(p, middle).sum() + rel_entr(q, middle).sum()) / 2
    elif kind == "symmetric":
        nats = (rel_entr(p, q).sum() + rel_entr(q, p).sum()) / 2
    else:
        nats = rel_entr(p, q).sum()
    return max(float(nats / np.log(base)), 0.0)  # of tables that are almost equal, rounding may go below 0


def _one_less_correlation(p: Floats, q: Floats, box: int) -> float:
    """Return 1 - Pearson's r of proportions over a box; bins that are not given are 0 in both."""
    if np.array_equal(p, q):
        return 0.0
    # both have mean 1 / box, so that empty bins need not be written out
    pp, qq, pq = (box * float(np.dot(*pair)) - 1 for pair in ((p, p), (q, q), (p, q)))
    if min(pp, qq) < CONSTANT:
        return 1.0
    return 1 - pq / float(np.sqrt(pp * qq))


Levels = Literal["separate", "pooled", "context"]
NOTHING = -1  # stands where there is no sibling or no ancestor
Normalizer = Literal["columns", "rows"]


class Siblings(NamedTuple):
    """Siblings: words under the same head, in text order.

    Attributes
    ----------
    order : ndarray, shape (V,)
        Words sorted by head, then in text order; root words first.
    rank : ndarray, shape (V,)
        Place of each word of `order` among the children of its head, from 0; 0 for root words.
    """

    order: Integers
    rank: Integers


def siblings(parents: npt.ArrayLike) -> Siblings:
    """Sort words by head.

    Shapes: parents (V,).

    Examples
    --------
    >>> siblings([2, 2, -1, 2])
    Siblings(order=array([2, 0, 1, 3]), rank=array([0, 0, 1, 2]))
    """
    parents = np.asarray(parents)
    order = np.argsort(parents, kind="stable")
    heads = parents[order]
    first = np.flatnonzero(np.append(True, (heads[1:] != heads[:-1]) | (heads[1:] < 0)))
    lengths = np.diff(np.append(first, len(order)))
    return Siblings(order, np.arange(len(order)) - np.repeat(first, lengths))


def depths(parents: npt.ArrayLike) -> Integers:
    """Return the number of edges from the root word to every word, shape (V,).

    Examples
    --------
    >>> depths([1, 2, -1, 2])
    array([2, 1, 0, 1])
    """
    parents = np.asarray(parents)
    depth = np.zeros(len(parents), dtype=np.int64)
    words = np.flatnonzero(parents >= 0)
    above = parents[words]
    while len(words):
        depth[words] += 1
        above = parents[above]
        below_root = above >= 0
        words, above = words[below_root], above[below_root]
    return depth


def leaves(parents: npt.ArrayLike) -> Booleans:
    """Return whether each word has no children, shape (V,)."""
    parents = np.asarray(parents)
    leaf = np.ones(len(parents), dtype=np.bool_)
    leaf[parents[parents >= 0]] = False
    return leaf


def combine(*columns: Integers) -> Integers:
    """Return the number of every row of a table among its distinct rows, sorted, from 0.

    Examples
    --------
    >>> combine(np.array([5, 5, 7]), np.array([0, 1, 0]))
    array([0, 1, 2])
    """
    codes = np.unique(columns[0], return_inverse=True)[1]
    for column in columns[1:]:
        values, inverse = np.unique(column, return_inverse=True)
        # two columns at a time, so that codes never outgrow an int64
        codes = np.unique(codes * len(values) + inverse, return_inverse=True)[1]
    return codes


def edge_keys(parents: npt.ArrayLike, labels: Integers, ancestors: int) -> tuple[Integers, Integers]:
    r"""Return the number of the key of the edge into every word, among distinct keys.

    The triple of a word is :math:`\tau(v)` = (label of its left sibling, its own, that of its right sibling),
    where siblings are neighbours among the children of one head in text order. The key of the edge into v is
    :math:`\kappa(v)` = (τ(v), τ(parent), τ(grandparent)).

    Shapes: parents (V,); labels (V,).

    Examples
    --------
    >>> keys, _ = edge_keys([1, -1, 1, 4, -1, 4], np.array([7, 8, 9, 7, 8, 9]), ancestors=2)
    >>> keys[[0, 2]] == keys[[3, 5]]
    array([ True,  True])
    """
    parents = np.asarray(parents)
    order, rank = siblings(parents)
    left = np.full(len(parents), NOTHING)
    right = left.copy()
    later = np.flatnonzero(rank > 0)
    left[order[later]] = labels[order[later - 1]]
    right[order[later - 1]] = labels[order[later]]
    triples = combine(left, labels, right)
    contexts = np.zeros(len(parents), dtype=np.int64)
    above = parents
    for _ in range(ancestors):
        exists = above >= 0
        contexts = combine(contexts, np.where(exists, triples[above], NOTHING))
        above = np.where(exists, parents[above], NOTHING)
    return combine(contexts, triples), contexts


def depth_costs(
    parents: npt.ArrayLike, labels: Integers, learn: Booleans, *, ancestors: int = 2, levels: Levels = "separate"
) -> Floats:
    r"""Return the cost of the chain from the root word to every word, in decimal digits.

    .. math:: L(v) = -\sum_{i=1}^{\ell} \log_{10} \frac{n_i(\kappa(v_i))}{N_i}

    over the words v_1 … v_l = v below the root word; n_i counts keys among words of depth i, N_i is the
    number of words of depth i.

    Shapes: learn (V,).
    """
    parents = np.asarray(parents)
    depth = depths(parents)
    keys, contexts = edge_keys(parents, labels, ancestors)
    level = np.zeros_like(depth) if levels == "pooled" else depth
    cells = combine(level, keys)
    sums = combine(level, contexts) if levels == "context" else level
    counted = learn & (parents >= 0)
    n = np.bincount(cells[counted], minlength=cells.max() + 1)[cells]
    total = np.bincount(sums[counted], minlength=sums.max() + 1)[sums]
    edge = np.zeros(len(parents))
    below = parents >= 0
    with np.errstate(divide="ignore"):
        edge[below] = np.log10(np.maximum(total[below], 1)) - np.log10(n[below])
    return _sum_from_root(edge, parents, depth)


def _sum_from_root(edge: Floats, parents: npt.NDArray[np.integer], depth: Integers) -> Floats:
    total = edge
    words = np.argsort(depth, kind="stable")
    ends = np.cumsum(np.bincount(depth))
    for start, end in pairwise(ends):
        deeper = words[start:end]
        total[deeper] += total[parents[deeper]]
    return total


def cooccurrences(parents: npt.ArrayLike, deprels: npt.ArrayLike, relations: int, *, adjacent: bool = False) -> Counts:
    r"""Count sequences of two relations among the children of a head, by the relation of the head.

    The chain of a head of relation t is BOS, d_1, …, d_k, EOS: the relations of its children in text order.
    For every place b and every *distinct* x among BOS, d_1, …, d_{b-1}, one is added to C_t[x, d_b]; for
    every place a, one is added to C_t[d_a, EOS]. So C_t[BOS, y] and C_t[y, EOS] are how often y occurs.

    Shapes: parents (V,); deprels (V,).

    Examples
    --------
    >>> counts = cooccurrences([2, 2, -1], [0, 1, 2], relations=3)  # nsubj and obj under a root word
    >>> [divmod(int(cell), 4) for cell in counts.bins if cell // 16 == 2]  # (4 t + x, y) for t = root
    [(8, 1), (8, 3), (9, 3), (11, 0), (11, 1)]
    """
    parents, deprels = np.asarray(parents), np.asarray(deprels, dtype=np.int64)
    order, rank = siblings(parents)
    child = deprels[order]
    head = np.where(parents[order] < 0, relations, deprels[parents[order]])
    last = np.append(rank[1:] == 0, True)
    size = relations + 1

    def cells(t: Integers, x: Integers | int, y: Integers | int) -> Integers:
        return (t * size + x) * size + y

    at_start, at_end = (rank == 0, last) if adjacent else (slice(None), slice(None))
    found = [
        cells(head[at_start], relations, child[at_start]),
        cells(head[at_end], child[at_end], relations),
    ]
    counts = [Counts.of(codes) for codes in found]
    x_counts = np.ones(len(order), dtype=np.bool_) if adjacent else _first_of_relation(parents[order], child)
    later = np.flatnonzero(rank >= 1)
    lag = 1
    while len(later):
        pairs = later[x_counts[later - lag]]
        counts.append(Counts.of(cells(head[pairs], child[pairs - lag], child[pairs])))
        lag += 1
        later = later[:0] if adjacent else later[rank[later] >= lag]
    return Counts.total(counts)


def _first_of_relation(heads: npt.NDArray[np.integer], child: Integers) -> Booleans:
    """Return whether each child is the first of its relation under its head."""
    codes = heads.astype(np.int64) * (int(child.max()) + 1) + child
    first = np.zeros(len(child), dtype=np.bool_)
    first[np.unique(codes, return_index=True)[1]] = True
    return first


def width_costs(
    parents: npt.ArrayLike,
    deprels: npt.ArrayLike,
    relations: int,
    counts: Counts,
    *,
    normalize: Normalizer = "columns",
) -> Floats:
    r"""Return the cost of the chain of children of every head, in decimal digits.

    .. math:: L = -\sum_{j=1}^{k-1} \log_{10} M_t[d_j, d_k]

    where M_t[x, y] is C_t[x, y] / C_t[BOS, y] (by columns) or C_t[x, y] / C_t[x, EOS] (by rows, which may
    exceed 1).
    """
    parents, deprels = np.asarray(parents), np.asarray(deprels, dtype=np.int64)
    order, rank = siblings(parents)
    below = parents[order] >= 0
    order, rank = order[below], rank[below]
    first = np.flatnonzero(rank == 0)
    lengths = np.diff(np.append(first, len(order)))
    chain = np.repeat(np.arange(len(first)), lengths)
    child = deprels[order]
    final = np.repeat(child[first + lengths - 1], lengths)
    row = (deprels[parents[order]] * (relations + 1) + child) * (relations + 1)
    if normalize == "columns":
        whole = (deprels[parents[order]] * (relations + 1) + relations) * (relations + 1) + final
    else:
        whole = row + relations
    with np.errstate(divide="ignore"):
        cost = np.log10(np.maximum(counts.at(whole), 1)) - np.log10(counts.at(row + final))
    earlier = rank < np.repeat(lengths - 1, lengths)
    return np.bincount(chain[earlier], weights=cost[earlier], minlength=len(first)).astype(float)


def chain_lengths(parents: npt.ArrayLike) -> Integers:
    """Return the number of children of every word that has any, in the order of words.

    Examples
    --------
    >>> chain_lengths([2, 2, -1, 2, 3])
    array([3, 1])
    """
    parents = np.asarray(parents)
    children = np.bincount(parents[parents >= 0], minlength=1)
    return children[children > 0]
