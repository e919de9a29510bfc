"""Sandwiches by clusters and their exact degrees of freedom, contrast by contrast, which tests compare with."""

import numpy as np

from langdiff.regression.kernel.clusters import RowClusters, adjusted, covariance_of_clusters


def cluster_covariance(rows, cluster, basis=None, kind="CR2"):
    """Estimate the covariance of c from clusters of rows, shape (J, J)."""
    return covariance_of_clusters(RowClusters(rows, cluster, basis), kind)


def satterthwaite(clusters, contrasts):
    """Return the exact Satterthwaite degrees of freedom of contrasts, shapes (L, P) → (L,)."""
    freedom = np.empty(len(contrasts))
    for place, direction in enumerate(contrasts @ clusters.root @ clusters.axes.T):
        every = np.broadcast_to(direction, (len(clusters.numbers), len(direction)))
        u = np.concatenate([adjusted(clusters, block, every[block], "CR2") for block in clusters.blocks()])
        product = clusters.times(np.arange(len(u)), u)
        y = product @ clusters.axes
        own, square = np.einsum("gr,gr->g", u, product), np.einsum("gr,gr->g", y, y)
        sum_of_squares = np.sum(own * (own - 2 * square)) + np.sum((y.T @ y) ** 2)
        freedom[place] = np.sum(own - square) ** 2 / sum_of_squares
    return freedom
