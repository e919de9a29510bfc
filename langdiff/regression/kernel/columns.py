"""Influences of clusters on many difficulties, without a decomposition of their information."""

from functools import cached_property

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.clusters import POWER, Kind, RowClusters, inverse_root, sums_by_cluster
from langdiff.regression.kernel.likelihood import RowInformation
from langdiff.regression.kernel.two_way import EliminatedInformation

ROWS = 256  # multiplied at once
ROUGH = 1e-6  # of the adjustment of an influence, of which only one term is then summed over thousands of intents


class ColumnClusters(RowClusters):
    """Clusters of rows with one fixed intent size each, for many editions; see `RowClusters`.

    Parameters
    ----------
    rows : RowInformation
        Scores and information of the rows.
    cluster : ndarray of int, shape (I,)
        The cluster of each row.
    information : EliminatedInformation, optional
        Information of all rows, where it is known.
    """

    def __init__(
        self, rows: RowInformation, cluster: Integers, information: EliminatedInformation | None = None
    ) -> None:
        self._sort(rows, cluster)
        self._information = information or EliminatedInformation(rows.weight.sum(axis=0), rows.mixed)
        if self._information.by_intents:
            self.tolerance, self.cells_at_a_time = ROUGH, ROWS * rows.score.shape[1]
        sums = self._sums_of(self._rows.score)
        for start in range(0, len(sums), ROWS):
            sums[start : start + ROWS] = self._information.solve(sums[start : start + ROWS])
        self.influences = sums

    @cached_property
    def root(self) -> Floats:  # type: ignore[override]  # an attribute there
        """The root of the inverse, which few and large clusters need."""
        return inverse_root(self._rows.total)

    @cached_property
    def _weights(self) -> Floats:  # type: ignore[override]
        return self._sums_of(self._rows.weight)

    def across(self, vectors: Floats) -> Floats:
        """Return vectors times the inverse information; see `Clusters`."""
        return self._information.solve(vectors)


def equal_influences(residual: Floats, cluster: Integers, kind: Kind) -> Floats:
    """Return adjusted influences in model 1 without missing cells, where a cluster has one share of all information.

    Parameters
    ----------
    residual : ndarray, shape (I, J)
        Residuals of model 1, whose rows and columns sum to 0.
    cluster : ndarray of int, shape (I,)
        The cluster of each row.
    kind : {"CR0", "CR1", "CR2", "CR3"}
        Adjustment; CR1 is CR0 here.

    Returns
    -------
    ndarray, shape (G, J)

    Examples
    --------
    >>> residual = np.array([[0.1, -0.1], [0.1, -0.1], [-0.2, 0.2]])
    >>> equal_influences(residual, np.arange(3), "CR2").round(4).tolist()
    [[0.0408, -0.0408], [0.0408, -0.0408], [-0.0816, 0.0816]]
    """
    number = np.unique(cluster, return_inverse=True)[1]
    share = np.bincount(number) / len(residual)
    scale = (1 - share) ** -POWER.get(kind, 0.0) / len(residual)
    influences: Floats = sums_by_cluster(residual, number) * scale[:, None]
    return influences


def own_freedom(weight: Floats, cluster: Integers) -> Floats:
    r"""Return degrees of freedom of the level of each edition, from the shares of clusters in its information.

    The formula is that of `langdiff.regression.kernel.freedom` for complete tables, with the share
    :math:`w_{gj}/\sum_k w_{kj}` of cluster g in the information on edition j.

    Parameters
    ----------
    weight : ndarray, shape (I, J) or (I, 1)
        Information of each cell; one column if it is the same in all.
    cluster : ndarray of int, shape (I,)
        The cluster of each row.

    Examples
    --------
    >>> own_freedom(np.ones((4, 1)), np.arange(4)).round(12).tolist()
    [3.0]
    """
    shares = sums_by_cluster(weight, np.unique(cluster, return_inverse=True)[1])
    shares = np.square(shares / shares.sum(axis=0), out=shares if shares is not weight else None)
    inverse = shares.sum(axis=0)
    ratio = shares / np.maximum(1 - np.sqrt(shares), np.finfo(float).tiny)
    inverse = inverse + ratio.sum(axis=0) ** 2 - (ratio**2).sum(axis=0)
    return np.asarray(np.clip(1 / inverse, 1.0, max(len(shares) - 1.0, 1.0)))
