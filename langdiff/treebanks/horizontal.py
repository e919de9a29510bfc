r"""Matrix, Width and Length: which children follow which under one head (Zykova, section 2)."""

from typing import Literal

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.treebanks.counts import Counts
from langdiff.treebanks.shape import siblings

Normalizer = Literal["columns", "rows"]


def cooccurrences(parents: npt.ArrayLike, deprels: npt.ArrayLike, relations: int, *, adjacent: bool = False) -> Counts:
    r"""Count which relations follow which among the children of a head, by the relation of the head.

    The chain of a head of relation t is BOS, d_1, …, d_k, EOS: the relations of its children in text order.
    For every place b and every *distinct* x among BOS, d_1, …, d_{b-1}, one is added to C_t[x, d_b]; for
    every place a, one is added to C_t[d_a, EOS]. So C_t[BOS, y] and C_t[y, EOS] are how often y occurs.

    Parameters
    ----------
    parents : ndarray, shape (V,)
        Number of every word's head; -1 for root words, which are children of an artificial one of type BOS.
    deprels : ndarray, shape (V,)
        Relation of every word, in 0 … R - 1.
    relations : int
        R, which stands for BOS and for EOS.
    adjacent : bool
        Count immediate neighbours only.

    Returns
    -------
    Counts
        Bins ``(t * (R + 1) + x) * (R + 1) + y``.

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
    """Say of every child whether it is the first of its relation under its head."""
    codes = heads.astype(np.int64) * (int(child.max()) + 1) + child
    first = np.zeros(len(child), dtype=np.bool_)
    first[np.unique(codes, return_index=True)[1]] = True
    return first


def chain_costs(
    parents: npt.ArrayLike,
    deprels: npt.ArrayLike,
    relations: int,
    counts: Counts,
    *,
    normalize: Normalizer = "columns",
) -> Floats:
    r"""Cost of the chain of children of every head, in decimal digits.

    .. math:: L = -\sum_{j=1}^{k-1} \log_{10} M_t[d_j, d_k]

    where M_t[x, y] is C_t[x, y] / C_t[BOS, y] (by columns) or C_t[x, y] / C_t[x, EOS] (by rows, which may
    exceed 1).

    Parameters
    ----------
    parents, deprels, relations
        Heads, relations and number of relations; see `cooccurrences`.
    counts : Counts
        Result of `cooccurrences` for this corpus or for a reference.
    normalize : {"columns", "rows"}
        Divisor of the counts, see above.

    Returns
    -------
    ndarray, shape (chains,)
        One value per head, in the order of heads; 0 for an only child, inf where `counts` lacks a cell.
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
