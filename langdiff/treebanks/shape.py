"""Depths, siblings and leaves of all trees of a corpus at once, and counts of label combinations."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from langdiff.base.types import Booleans, Integers


class Siblings(NamedTuple):
    """Who stands beside whom under the same head.

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

    Parameters
    ----------
    parents : ndarray, shape (V,)
        Number of every word's head; -1 for root words.

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
    """Say of every word whether it has no children, shape (V,)."""
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
