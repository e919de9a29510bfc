"""Whether every two editions can be compared: the bipartite graph of intents and editions."""

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def edition_components(observed: npt.NDArray[np.bool_]) -> npt.NDArray[np.int_]:
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
    if observed.all():  # the usual table; no graph is needed
        return np.zeros(observed.shape[1], dtype=int)
    rows, columns = np.nonzero(observed)
    size = sum(observed.shape)
    graph = coo_array((np.ones(len(rows)), (rows, observed.shape[0] + columns)), shape=(size, size))
    _, labels = connected_components(graph, directed=False)
    editions = labels[observed.shape[0] :]
    names, first, inverse, sizes = np.unique(editions, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(names), dtype=int)
    rank[np.lexsort((first, -sizes))] = np.arange(len(names))
    return rank[inverse]
