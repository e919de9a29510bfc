r"""Degrees of freedom of variances from clusters (Bell and McCaffrey 2002), and influences on many difficulties.

The variance of a contrast l is a quadratic form of the cells, with matrix P for independent and alike errors:
in the coordinates of `langdiff.regression.kernel.clusters`, with :math:`\lambda = W^\top l`,
:math:`u_g = f(C_g)\lambda` and :math:`y_g = C_g u_g`,

.. math:: P_{gk} = \delta_{gk}\, u_g^\top y_g - y_g^\top y_k, \quad
          \nu = (\mathrm{tr}\,P)^2 / \textstyle\sum_{gk} P_{gk}^2

(Satterthwaite 1946). If all editions have all intents, :math:`C_g` is a number, the share
:math:`\pi_g`, and

.. math:: 1/\nu = \sum_g \pi_g^2 + \sum_{g \ne k} \frac{\pi_g^2 \pi_k^2}{(1 - \pi_g)(1 - \pi_k)}

which with :math:`\pi_g = \lambda^\top C_g \lambda / \lambda^\top\lambda` comes close in other tables.
"""

from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.kernel.clusters import (
    POWER,
    ROUGH,
    SERIES_TOLERANCE,
    Clusters,
    Kind,
    RowClusters,
    inverse_root,
    shares_by_axis,
    sums_by_cluster,
    sums_of,
)
from langdiff.regression.kernel.likelihood import RowInformation
from langdiff.regression.kernel.two_way import EliminatedInformation

EXACT_COST = 3e8  # G² × (J³ + 100 J²) up to which the freedom of all pairs is exact: a tenth of a second
SHARES_COST = 5e8  # G × J³ up to which every pair's own shares are known
NUMBERS_AT_A_TIME = 2**20

Source = Literal["exact", "shares", "shares of editions"]
ROWS = 256  # multiplied at once


class Freedom(NamedTuple):
    """Degrees of freedom of difficulties and of their differences.

    Attributes
    ----------
    values : ndarray, shape (J, J)
        Of the difference between j and k; on the diagonal of j against the mean. NaN for editions that share
        one difficulty.
    source : {"exact", "shares", "shares of editions"}
        How they were computed: "shares" is the formula for complete tables with each contrast's own
        shares; "shares of editions" has that for each edition against the mean only, and for a pair the
        smaller of the two.
    """

    values: Floats
    source: Source


def freedom_of_pairs(clusters: Clusters, mean: Floats) -> Freedom:
    """Return the degrees of freedom of all differences, and of each edition against the mean.

    Parameters
    ----------
    clusters : Clusters
        Clusters of the fit; c are the first J parameters.
    mean : ndarray, shape (J,)
        Weights of the editions in the mean, with sum 1.
    """
    own = clusters.freedom if isinstance(clusters, RowClusters) else None
    if own is not None and len(clusters.numbers) * len(own) ** 3 > SHARES_COST:
        return Freedom(np.minimum(own[:, None], own), "shares of editions")
    root = clusters.root[: len(mean)]
    directions = root - mean @ root  # differences of these rows are those of editions, whatever the mean
    n_clusters, size = len(clusters.numbers), len(clusters.root)
    with np.errstate(invalid="ignore", divide="ignore"):  # editions that share one difficulty: 0/0
        if n_clusters**2 * (size**3 + 100 * size**2) <= EXACT_COST:
            return Freedom(_exact(clusters, directions), "exact")
        if n_clusters * size**3 <= SHARES_COST:
            return Freedom(_of_shares(clusters, directions), "shares")
        shares = clusters.shares_along(directions) / np.einsum("jr,jr->j", directions, directions)
        own = 1 / _inverse_freedom(shares)
        values = np.minimum(own[:, None], own)
    values[_equal(directions)] = np.nan
    np.fill_diagonal(values, own)
    return Freedom(values, "shares of editions")


def _exact(clusters: Clusters, directions: Floats) -> Floats:
    n_clusters, editions = len(clusters.numbers), len(directions)
    values, axes = shares_by_axis(clusters, np.arange(n_clusters))
    along = directions @ axes  # (G, J, r)
    own = _of_pairs((along * (values / (1 - values))[:, None, :]) @ along.transpose(0, 2, 1))
    y = (along * (values / np.sqrt(1 - values))[:, None, :]) @ axes.transpose(0, 2, 1)
    trace, sum_of_squares = np.zeros((editions, editions)), np.zeros((editions, editions))
    for g in range(n_clusters):
        p = _of_pairs(y[g] @ y[: g + 1].transpose(0, 2, 1))
        p[g] -= own[g]
        trace -= p[g]
        sum_of_squares += 2 * np.einsum("gjk,gjk->jk", p[:g], p[:g]) + p[g] ** 2
    freedom: Floats = trace**2 / sum_of_squares
    freedom[_equal(directions)] = np.nan
    return freedom


def _of_shares(clusters: Clusters, directions: Floats) -> Floats:
    n_clusters, editions = len(clusters.numbers), len(directions)
    shares = np.empty((n_clusters, editions, editions))
    for g in np.array_split(np.arange(n_clusters), 1 + n_clusters * editions**2 // NUMBERS_AT_A_TIME):
        shares[g] = directions @ clusters.shares(g) @ directions.T
    shares = _of_pairs(shares) / _of_pairs((directions @ directions.T)[None])
    freedom: Floats = 1 / _inverse_freedom(shares)
    freedom[_equal(directions)] = np.nan
    return freedom


def _of_pairs(forms: Floats) -> Floats:
    """Return the quadratic forms M of all differences of pairs, with single editions on the diagonal, (n, J, J)."""
    own = np.diagonal(forms, axis1=1, axis2=2)
    of_pairs: Floats = own[:, :, None] + own[:, None, :] - forms - forms.transpose(0, 2, 1)
    j = np.arange(forms.shape[1])
    of_pairs[:, j, j] = own
    return of_pairs


def _inverse_freedom(shares: Floats) -> Floats:
    """Return 1/ν by the formula for complete tables from the shares of clusters, (G, …) → (…)."""
    squares = shares**2
    inverse: Floats = squares.sum(axis=0)
    ratio = np.divide(squares, 1 - shares, out=squares)
    inverse += ratio.sum(axis=0) ** 2
    inverse -= np.square(ratio, out=ratio).sum(axis=0)
    return inverse


def _equal(directions: Floats) -> np.ndarray:
    """Return an indicator of pairs of editions that share one difficulty, shape (J, J)."""
    square = np.einsum("jr,jr->j", directions, directions)
    distance = square[:, None] + square - 2 * directions @ directions.T
    equal: np.ndarray = distance <= 1e-12 * (square[:, None] + square)
    np.fill_diagonal(equal, False)
    return equal


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
        if information is None:
            _, weight, mixed = rows.of(slice(None))
            information = EliminatedInformation(weight.sum(axis=0), mixed)
        self._information = information
        if self._information.by_intents:
            self.cells_at_a_time = ROWS * rows.shape[1]

    @property
    def many(self) -> bool:
        """Whether no J × J matrix is wanted: here there is none."""
        return False

    @property
    def tolerance(self) -> float:
        """Part of an influence at which the sum of its adjustment ends."""
        return ROUGH if self._information.by_intents else SERIES_TOLERANCE

    @cached_property
    def root(self) -> Floats:
        """The root of the inverse, which few and large clusters need."""
        return inverse_root(self._rows.total)

    def influences(self, block: slice) -> Floats:
        """Return the influences of some clusters without an adjustment; see `Clusters`."""
        rows, starts = self._of(np.arange(block.start, block.stop))
        return self._information.solve(sums_of(rows.score, starts))

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
