r"""Depth: how probable the chains from root words to leaves are (Zykova, section 2)."""

from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.treebanks.shape import combine, depths, siblings

Levels = Literal["separate", "pooled", "context"]
NOTHING = -1  # stands where there is no sibling or no ancestor


def edge_keys(parents: npt.ArrayLike, labels: Integers, ancestors: int) -> tuple[Integers, Integers]:
    r"""Return the number of the key of the edge into every word, among distinct keys.

    The triple of a word is :math:`\tau(v)` = (label of its left sibling, its own, that of its right sibling),
    where siblings are neighbours among the children of one head in text order. The key of the edge into v is
    :math:`\kappa(v)` = (τ(v), τ(parent), τ(grandparent)).

    Parameters
    ----------
    parents : ndarray, shape (V,)
        Number of every word's head; -1 for root words.
    labels : ndarray, shape (V,)
        Label of every word, as a number that is not negative.
    ancestors : {0, 1, 2}
        Triples of how many words above v the key holds.

    Returns
    -------
    keys, contexts : ndarray, shape (V,)
        Equal for equal keys, and for keys with equal triples above v. Of root words they have no meaning.

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


def chain_costs(
    parents: npt.ArrayLike, labels: Integers, learn: Booleans, *, ancestors: int = 2, levels: Levels = "separate"
) -> Floats:
    r"""Cost of the chain from the root word to every word, in decimal digits.

    .. math:: L(v) = -\sum_{i=1}^{\ell} \log_{10} \frac{n_i(\kappa(v_i))}{N_i}

    over the words v_1 … v_l = v below the root word; n_i counts keys among words of depth i, N_i is the
    number of words of depth i.

    Parameters
    ----------
    parents, labels, ancestors
        Heads, labels and size of keys; see `edge_keys`.
    learn : ndarray of bool, shape (V,)
        Words that are counted in n and N.
    levels : {"separate", "pooled", "context"}
        Count each depth separately; or all depths together; or each depth separately, with N the number of words
        whose triples above them are the same, so that n / N is a probability of transition.

    Returns
    -------
    ndarray, shape (V,)
        0 for root words; inf where a key of the chain is among none of the words counted.
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
