"""Which cells of a table are held out together."""

import numpy as np

from langdiff.base.types import Booleans, Integers
from langdiff.regression.kernel.connected import edition_components

LEAST_LEFT = 2  # cells of an intent that stay: one alone says nothing of difficulties
NEVER = -1


def assign_folds(observed: Booleans, k: int, rng: np.random.Generator, clusters: Integers | None = None) -> Integers:
    """Spread the cells of a table over k folds.

    The cells that a cluster has in an edition are held out together or never. Whichever fold is held out, every intent
    keeps at least two cells, all editions stay connected, and so many cells are left that I intents and J editions can
    be fitted.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Which cells are observed; connected, and at least I + J of them.
    k : int
        Number of folds.
    rng : numpy.random.Generator
        Source of the random assignment.
    clusters : ndarray of int, shape (I,), optional
        Number of the cluster of each intent, from 0; by default each intent is a cluster.

    Returns
    -------
    ndarray of int, shape (I, J)
        Fold of each cell, from 0; -1 for a cell that is never held out or is missing. In a small table some
        folds have no cell.

    Examples
    --------
    >>> observed = np.array([[True, True, True], [True, True, True], [True, True, False]])
    >>> assign_folds(observed, 3, np.random.default_rng(0))
    array([[ 0,  2, -1],
           [ 2,  0,  1],
           [-1, -1, -1]])
    >>> observed = np.array([[True] * 4, [True] * 4, [True, True, True, False], [True] * 4])
    >>> assign_folds(observed, 3, np.random.default_rng(0), clusters=np.array([0, 0, 1, 1]))
    array([[ 1,  0,  2,  1],
           [ 1,  0,  2,  1],
           [ 0,  2,  1, -1],
           [ 0,  2,  1,  2]])
    """
    if clusters is None:
        clusters = np.arange(len(observed))
    blocks = clusters[:, None] * observed.shape[1] + np.arange(observed.shape[1])  # (I, J): cells that go together
    folds = _deal(observed, k, rng, clusters)
    for fold in range(k):
        _reconnect(folds, fold, observed, blocks)
        _leave_enough(folds, fold, observed, blocks, rng)
    return folds


def _deal(observed: Booleans, k: int, rng: np.random.Generator, clusters: Integers) -> Integers:
    """Deal out the editions of each cluster one by one, as long as every intent keeps enough cells."""
    editions = observed.shape[1]
    by_cluster = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[by_cluster], np.arange(int(clusters.max()) + 1))

    def any_of_cluster(rows: Booleans) -> Booleans:  # (I, K) -> (G, K)
        found: Booleans = np.logical_or.reduceat(rows[by_cluster], starts, axis=0)
        return found

    seen, groups = any_of_cluster(observed), len(starts)
    order = np.argsort(rng.random((groups, editions)) + ~seen, axis=1)  # random, editions without the cluster last
    first = rng.integers(k, size=(groups, 1))  # the fold of the first edition
    spare = observed.sum(axis=1, keepdims=True) - LEAST_LEFT
    held_out = np.zeros((len(observed), k), dtype=np.int_)  # cells of each intent in each fold
    folds = np.full(observed.shape, NEVER)
    for turn in range(editions):
        edition = order[clusters, turn]  # (I,)
        has_cell = np.take_along_axis(observed, edition[:, None], axis=1)  # (I, 1)
        full = any_of_cluster(has_cell & (held_out >= spare))
        preferred = (first + turn + np.arange(k)) % k  # (G, k): the next fold, and those after it
        free = ~np.take_along_axis(full, preferred, axis=1)
        place = np.arange(groups), free.argmax(axis=1)
        chosen, fits = preferred[place], free[place]  # (G,)
        rows = np.flatnonzero(has_cell[:, 0] & fits[clusters])
        folds[rows, edition[rows]] = chosen[clusters[rows]]
        held_out[rows, chosen[clusters[rows]]] += 1
    return folds


def _leave_enough(folds: Integers, fold: int, observed: Booleans, blocks: Integers, rng: np.random.Generator) -> None:
    """Take cells out of a fold, in place, until one more than connects them all stays for each intent and edition."""
    out = blocks[folds == fold]
    short = sum(observed.shape) - (int(observed.sum()) - len(out))
    if short > 0:
        found, first, sizes = np.unique(out, return_index=True, return_counts=True)
        in_order = np.argsort(first)  # of rows, so that without clusters cells are permuted as they lie
        shuffled = in_order[rng.permutation(len(found))]
        needed = 1 + int(np.searchsorted(np.cumsum(sizes[shuffled]), short))
        folds[(folds == fold) & np.isin(blocks, found[shuffled[:needed]])] = NEVER


def _reconnect(folds: Integers, fold: int, observed: Booleans, blocks: Integers) -> None:
    """Take cells out of a fold, in place, until what stays is connected."""
    while True:
        left = observed & (folds != fold)
        component = edition_components(left)
        if component.max() == 0:
            return
        own = component[left.argmax(axis=1)]  # of each intent: that of its first edition left
        rows, columns = np.nonzero((folds == fold) & (component[None, :] != own[:, None]))
        # joins two components; there is one, as all cells together connect
        folds[(folds == fold) & (blocks == blocks[rows[0], columns[0]])] = NEVER
