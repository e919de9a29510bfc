"""Which cells of a table are held out together."""

import numpy as np

from langdiff._types import Booleans, Integers
from langdiff.regression.kernel.connected import edition_components

LEAST_LEFT = 2  # cells of an intent that stay: one alone says nothing of difficulties
NEVER = -1


def assign_folds(observed: Booleans, k: int, rng: np.random.Generator) -> Integers:
    """Spread the cells of a table over k folds.

    Whichever fold is held out, every intent keeps at least two cells, all editions stay connected, and so many
    cells are left that I intents and J editions can be fitted.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Which cells are observed; connected, and at least I + J of them.
    k : int
        Number of folds.
    rng : numpy.random.Generator
        Source of the random assignment.

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
    """
    intents, editions = observed.shape
    # cells of a row in random order, missing ones last; dealt out one by one from a random fold on
    order = np.argsort(rng.random((intents, editions)) + ~observed, axis=1)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(editions)[None, :], axis=1)
    spare = observed.sum(axis=1, keepdims=True) - LEAST_LEFT
    # of each round of k cells a fold takes one: so many rounds leave at least two cells
    takes_part = observed & (rank < np.maximum(spare, 0) * k)
    folds = np.where(takes_part, (rank + rng.integers(k, size=(intents, 1))) % k, NEVER)
    for fold in range(k):
        _reconnect(folds, fold, observed)
        _leave_enough(folds, fold, observed, rng)
    return folds


def _leave_enough(folds: Integers, fold: int, observed: Booleans, rng: np.random.Generator) -> None:
    """Take cells out of a fold, in place, until one more than connects them all stays for each intent and edition."""
    rows, columns = np.nonzero(folds == fold)
    short = sum(observed.shape) - (int(observed.sum()) - len(rows))
    if short > 0:
        kept = rng.permutation(len(rows))[:short]
        folds[rows[kept], columns[kept]] = NEVER


def _reconnect(folds: Integers, fold: int, observed: Booleans) -> None:
    """Take cells out of a fold, in place, until what stays is connected."""
    while True:
        left = observed & (folds != fold)
        component = edition_components(left)
        if component.max() == 0:
            return
        own = component[left.argmax(axis=1)]  # of each intent: that of its first edition left
        rows, columns = np.nonzero((folds == fold) & (component[None, :] != own[:, None]))
        folds[rows[0], columns[0]] = NEVER  # joins two components; there is one, as all cells together connect
