"""Comparability of editions: connected components of the bipartite graph of intents and editions."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError, listing

ROWS_AT_A_TIME = 2**10
REACHING = 64  # editions whose neighbours are sought at once


def edition_components(observed: Booleans) -> Integers:
    """Return the connected component of each edition, linking editions that share an intent.

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
    """Return the component of each edition, linking editions that share at least two intents.

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
    labels = np.full(observed.shape[1], -1)
    while (labels < 0).any():
        edge = np.flatnonzero(labels < 0)[:1]
        labels[edge] = number = labels.max() + 1
        while len(edge) and (labels < 0).any():  # a few editions at first, which in most tables reach all others
            common = np.zeros((len(edge[:REACHING]), len(labels)), np.float32)
            for start in range(0, len(observed), ROWS_AT_A_TIME):
                cells = observed[start : start + ROWS_AT_A_TIME].astype(np.float32)
                common += cells[:, edge[:REACHING]].T @ cells
            joined = (common > 1).any(axis=0) & (labels < 0)
            edge = np.concatenate([edge[REACHING:], np.flatnonzero(joined)])
            labels[joined] = number
    return labels


class PairInformation(NamedTuple):
    """What an incomplete table tells of each pair of editions, j < k, in the order of ``numpy.triu_indices``.

    Attributes
    ----------
    intents : ndarray, shape (M,)
        Number of intents in both that would tell as much.
    per_cluster : ndarray, shape (M,)
        Their number in a cluster, weighted by clusters' shares.
    """

    intents: Floats
    per_cluster: Floats


def information_on_pairs(observed: Booleans, variance: Floats, cluster: Integers | None = None) -> PairInformation:
    r"""Return how many intents tell of the difference of each pair of editions, and in what clusters they are.

    The information on differences is :math:`L = \sum_i (\mathrm{diag} M_i - M_i M_i^\top / J_i) / v_i`. With
    :math:`b = L^+(e_j - e_k)` as many intents as :math:`n = 2 / (e_j - e_k)^\top b` in both would tell as much, a
    cluster has the share :math:`\pi_g = b^\top L_g b / b^\top L b`, and :math:`n \sum_g \pi_g^2` are in a cluster.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Whether the table has each cell.
    variance : ndarray, shape (I,)
        Variance of a cell of each row, up to a constant.
    cluster : ndarray of int, shape (I,), optional
        Cluster of each row, numbered from 0; by default each is its own.

    Examples
    --------
    >>> whole = np.ones((6, 3), dtype=bool)
    >>> information_on_pairs(whole, np.ones(6), np.array([0, 0, 1, 1, 2, 2]))
    PairInformation(intents=array([6., 6., 6.]), per_cluster=array([2., 2., 2.]))
    """
    cells, weight = observed.astype(float), (1 / variance) / np.mean(1 / variance)
    cells *= np.sqrt(weight / np.maximum(observed.sum(axis=1), 1))[:, None]
    own = weight[:, None] * observed

    def laplacian(rows: slice | Integers) -> Floats:
        result: Floats = np.diag(own[rows].sum(axis=0)) - cells[rows].T @ cells[rows]
        return result

    def of_pairs(form: Floats) -> Floats:
        one, other = np.triu_indices(len(form), 1)
        result: Floats = form[one, one] + form[other, other] - 2 * form[one, other]
        return result

    inverse = np.asarray(np.linalg.pinv(laplacian(slice(None)), hermitian=True), dtype=float)
    whole = of_pairs(inverse)
    if cluster is None:
        return PairInformation(2 / whole, np.ones(len(whole)))
    squares = np.zeros(len(whole))
    order = np.argsort(cluster, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(cluster))[:-1]):
        squares += (of_pairs(inverse @ laplacian(rows) @ inverse) / whole) ** 2
    return PairInformation(2 / whole, 2 / whole * squares)


MOST_NAMED = 5


def disconnecting_clusters(observed: Booleans, cluster: Integers, *, most: int | None = MOST_NAMED) -> Integers:
    """Return the clusters whose removal disconnects the editions.

    A cluster can be spared if the rows outside of a set of clusters that it belongs to connect all
    editions. Sets are halved until that shows or one cluster is left, so that a table with two rows in all
    editions takes three looks.

    Parameters
    ----------
    observed : ndarray of bool, shape (I, J)
        Whether intent i is observed in edition j.
    cluster : ndarray of int, shape (I,)
        The cluster of each intent.

    Examples
    --------
    >>> observed = np.array([[True, True, False], [True, True, False], [False, True, True]])
    >>> disconnecting_clusters(observed, np.array([4, 7, 9]))
    array([9])
    """
    found: list[int] = []
    pending = [np.unique(cluster)]
    while pending and (most is None or len(found) < most):
        suspects = pending.pop()
        others = observed[~np.isin(cluster, suspects)]
        if others.any(axis=0).all() and edition_components(others).max() == 0:
            continue
        if len(suspects) == 1:
            found.append(int(suspects[0]))
        else:
            half = len(suspects) // 2
            pending += [suspects[half:], suspects[:half]]
    return np.array(found, dtype=int)


def check_clusters(observed: Booleans, cluster: Integers, names: Sequence[str] | None = None) -> None:
    """Check that the editions stay connected without any single cluster, as CR2, CR3 and the jackknife require.

    Parameters
    ----------
    observed, cluster
        See `disconnecting_clusters`.
    names : sequence of str, optional
        Name of cluster 0, 1, …; the numbers by default.

    Raises
    ------
    DataError
        If all intents are in one cluster, or without one of them some editions had no chain of shared
        intents.
    """
    if (cluster == cluster[0]).all():
        name = cluster[0] if names is None else repr(names[cluster[0]])
        raise DataError(
            f"all intents are in one cluster ({name}): how much clusters differ can be seen from at least 2, and be "
            "trusted from about 10. Give smaller clusters, such as chapters for books."
        )
    found = disconnecting_clusters(observed, cluster)
    if len(found):
        which = ", ".join(str(g) for g in found) if names is None else listing([names[g] for g in found])
        first = observed[cluster != found[0]]
        raise DataError(
            f"without the intents of one cluster ({which}{', …' if len(found) == MOST_NAMED else ''}) some editions "
            f"have no chain of shared intents ({_apart(first)}): nothing says how much their difference varies "
            "between clusters. Merge that cluster with others, or leave out the editions that depend on it."
        )


def _apart(observed: Booleans) -> str:
    """Return a description of the components into which the editions fall."""
    sizes = np.bincount(edition_components(observed)) if observed.any() else np.ones(observed.shape[1], dtype=int)
    return (
        f"{len(sizes)} parts, of {sizes[0]} and {sizes[1:].sum()} editions"
        if len(sizes) == 2
        else (f"{len(sizes)} parts, the largest of {sizes[0]} editions")
    )
