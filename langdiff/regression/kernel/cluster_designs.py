"""Clusters that cross one another, clusters within groups that stay, and what clusters do to variances."""

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.clusters import Clusters, Kind, adjusted


def crossed_covariance(one: Floats, other: Floats, both: Floats) -> Floats:
    """Return the covariance with two kinds of clusters, such as documents and translators.

    Cells vary together if they share either cluster: those that share both are counted once. The
    difference of matrices may have negative eigenvalues, which are set to 0 (Cameron, Gelbach and Miller
    2011). Its degrees of freedom are the smaller of the two kinds'.

    Parameters
    ----------
    one, other, both : ndarray, shape (J, J)
        Covariances with clusters of one kind, of the other, and with the intersections as clusters.
    """
    values, axes = np.linalg.eigh(one + other - both)
    positive: Floats = (axes * np.maximum(values, 0.0)) @ axes.T
    return positive


def nested_covariance(clusters: Clusters, group: Integers, kind: Kind = "CR2") -> Floats:
    """Return the covariance of a claim on the same groups with other clusters in them: these books, other chapters.

    What a whole group shares is not an error of such a claim: the scores of its n clusters are taken
    less their mean, and their products times n/(n − 1). A group of one cluster does not show how much its
    clusters vary; its score stays whole, which is cautious.

    Parameters
    ----------
    clusters : Clusters
        The clusters, each within a group.
    group : ndarray of int, shape (G,)
        The group of each cluster, in the order of `clusters.numbers`.
    kind : {"CR0", "CR1", "CR2", "CR3"}
        Adjustment of the scores; see `langdiff.regression.kernel.clusters`. CR1 is CR0 here, as n/(n − 1)
        is there already.
    """
    scores = adjusted(clusters, clusters.scores, kind)
    _, code, size = np.unique(group, return_inverse=True, return_counts=True)
    mean = np.zeros((len(size), scores.shape[1]))
    np.add.at(mean, code, scores)
    mean /= size[:, None]
    mean[size == 1] = 0.0
    factor = size / np.maximum(size - 1, 1)
    root = clusters.root @ ((scores - mean[code]) * np.sqrt(factor[code])[:, None]).T
    covariance: Floats = root @ root.T
    return covariance


def nested_freedom(freedom: Floats, group: Integers) -> Floats:
    """Return the degrees of freedom left by the means of the groups, from those of the clusters.

    Each group of several clusters costs one, where one mean in all would: with equal clusters in complete
    tables G − 1 becomes G less the number of such groups.

    Parameters
    ----------
    freedom : ndarray
        Degrees of freedom with these clusters, without groups.
    group : ndarray of int, shape (G,)
        The group of each cluster.
    """
    _, size = np.unique(group, return_counts=True)
    means = max(1, int((size > 1).sum()))
    left: Floats = freedom * (len(group) - means) / (len(group) - 1)
    return left


def design_effect(clustered: Floats, plain: Floats) -> float:
    """Return how much larger clusters make the variances of differences, pooled over all pairs.

    Parameters
    ----------
    clustered, plain : ndarray, shape (J, J)
        Covariances of difficulties with clusters, and without: of the plain sandwich, or from the
        information.

    Examples
    --------
    >>> design_effect(np.diag([4.0, 8.0]), np.eye(2))
    6.0
    """
    return _of_all_pairs(clustered) / _of_all_pairs(plain)


def _of_all_pairs(covariance: Floats) -> float:
    """Return the mean variance of the difference of two, times a constant."""
    return float(np.trace(covariance) - covariance.sum() / len(covariance))
