"""Whether every two editions can be compared: the bipartite graph of intents and editions."""

import numpy as np
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Booleans, Integers


def edition_components(observed: Booleans) -> Integers:
    """Label the connected component of each edition, linking editions that share an intent.

    Differences of difficulty are estimable only within a component.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Whether the surprisal of intent i in edition j is known.

    Returns
    -------
    ndarray of int, shape (J,)
        Components numbered from 0, the largest (most editions) first.

    Examples
    --------
    >>> edition_components(np.array([[True, True, False], [False, False, True]]))
    array([0, 0, 1])
    """
    labels = np.full(observed.shape[1], -1)
    while (labels < 0).any():
        reached = np.zeros(len(labels), dtype=bool)
        grown = np.arange(len(labels)) == np.argmax(labels < 0)
        while (grown != reached).any():
            reached = grown
            shared = observed[:, reached].any(axis=1)
            grown = reached | observed[shared].any(axis=0)
        labels[reached] = labels.max() + 1
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    rank = np.empty(len(sizes), dtype=int)
    rank[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    numbered: Integers = rank[labels]
    return numbered


def weakly_joined(observed: Booleans) -> Integers:
    """Return the component of each edition where editions are joined only if they share two intents or more.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Which cells are observed.

    Returns
    -------
    ndarray of int, shape (J,)
        Components are numbered from 0; all are 0 if no single intent is needed to connect editions.

    Examples
    --------
    >>> weakly_joined(np.array([[True, True, False], [True, True, False], [False, True, True]]))
    array([0, 0, 1])
    """
    cells = observed.astype(np.float32)
    _, component = connected_components(csr_matrix((cells.T @ cells > 1).astype(float)), directed=False)
    labels: Integers = component.astype(int)
    return labels
