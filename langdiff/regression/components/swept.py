r"""Variance components of several tables, from rows from which all is taken that their editions share.

A row r holds the ln bits of an intent under one training of a language model. What the cells of a row share (its
intent, the language model, the corpus) is taken out by :math:`P_r = \mathrm{diag}\,M_r - M_r M_r^\top / J_r` (M the
mask, :math:`J_r` cells), so that it cannot reach the components of the editions, whichever cells are missing because of
it. For a grouping h of rows (all, by language model, by intent, …) with groups a,
:math:`S_a = \sum_{r \in a} P_r z_r`, :math:`B_{ab} = \sum_{r \in a \cap b} P_r` and

.. math:: E \sum_a \|S_a\|^2 = \sum_{h'} \sigma^2_{h'} \sum_{a,b} \mathrm{tr}\,B_{ab}^2
          + \sigma^2 \sum_a \mathrm{tr}\,B_a

where :math:`\sigma^2_{h'}` is the variance of edition × h' (Henderson 1953, method 1, on swept rows). What all editions
share is estimated in the same way from the effects of rows in :math:`z_{rj} = m_r + d_j`. In complete tables both are
the estimators of the analysis of variance.
"""

from collections.abc import Sequence

import numpy as np

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError

SINGULAR = 1e10  # condition beyond which effects cannot be told apart
ROUNDING = 1e-10  # share of the largest eigenvalue of a matrix, below which one is 0
CELLS_AT_A_TIME = 2**20


def swept_components(z: Floats, groupings: Sequence[Integers]) -> Floats:
    """Return the variance of edition × each grouping of rows and, last, of the residual; estimates may be negative.

    Parameters
    ----------
    z : ndarray, shape (R, J)
        Rows of log surprisals, NaN where missing.
    groupings : sequence of ndarray of int, shape (R,)
        Groups of rows, from 0 up; all 0 for the editions themselves.

    Raises
    ------
    DataError
        If the observations do not tell the effects apart.

    Examples
    --------
    >>> swept_components(np.array([[1.0, 2.0], [3.0, 6.0]]), [np.array([0, 0])]).tolist()
    [1.5, 1.0]
    """
    mask = ~np.isnan(z)
    within = centred_rows(z, mask)
    codes = [*groupings, np.arange(len(z))]
    sums = np.array([float(np.square(sum_by(within, each)).sum()) for each in codes])
    system = np.empty((len(codes), len(codes)))
    for row, one in enumerate(codes):
        for column in range(row, len(codes)):
            system[row, column] = system[column, row] = _trace_of_squares(mask, crossed(one, codes[column]))
    return solve_moments(system, sums)


def shared_components(
    z: Floats,
    effects: Sequence[Integers],
    groupings: Sequence[Integers],
    variances: Sequence[float],
    residual: float,
) -> Floats:
    r"""Return the variances of what all editions share: of effects of rows, each the same in all cells of a row.

    The effects :math:`m_r = \bar z_r - w_r^\top \hat d`, :math:`w_r = M_r / J_r`, come from two-way least squares.
    Their errors are the means of the interactions and of the noise in the row; the error of :math:`\hat d` itself,
    which is smaller by the number of rows, is counted for the noise and left out for the interactions.

    Parameters
    ----------
    z : ndarray, shape (R, J)
        Rows of log surprisals, NaN where missing.
    effects : sequence of ndarray of int, shape (R,)
        Level of each row, from 0 up, for each effect.
    groupings, variances
        Groupings of rows, the first that of all, and the variances of their interactions with the edition.
    residual : float
        Variance of the residual.

    Raises
    ------
    DataError
        If the observations do not tell the effects apart.
    """
    mask = ~np.isnan(z)
    weights = mask / mask.sum(axis=1, keepdims=True)
    laplacian = np.diag(mask.sum(axis=0).astype(float)) - weights.T @ mask
    inverse = np.linalg.pinv(laplacian, rcond=ROUNDING, hermitian=True)
    rows = np.where(mask, z - inverse @ centred_rows(z, mask).sum(axis=0), 0.0).sum(axis=1) / mask.sum(axis=1)
    rows -= rows.mean()
    unlinked = weights @ (np.eye(z.shape[1]) - laplacian @ inverse)  # the same in all rows if the table is connected
    of_all = np.zeros(len(rows), dtype=int)

    def noise(codes: Integers) -> Floats:
        """Return what the variances add to the sum of squares: variances of sums over groups, divided by counts."""
        counts = np.bincount(codes)
        found = []
        for grouping in groupings:
            both = crossed(codes, grouping)
            of_group = codes[np.unique(both, return_index=True)[1]]
            parts = sum_by(weights if grouping.any() else unlinked, both)
            found.append(float((np.square(parts).sum(axis=1) / counts[of_group]).sum()))
        of_rows = sum_by(weights, codes)
        own = np.bincount(codes, 1 / mask.sum(axis=1)) + (of_rows @ inverse * of_rows).sum(axis=1)
        return np.array([*found, float((own / counts).sum())])

    known = np.array([*variances, residual])
    base = noise(of_all)
    sums = np.array(
        [
            float((np.bincount(each, rows) ** 2 / np.bincount(each)).sum()) - (noise(each) - base) @ known
            for each in effects
        ]
    )
    system = np.array(
        [[_coefficient(one, other) - _coefficient(of_all, other) for other in effects] for one in effects]
    )
    return solve_moments(system, sums)


def centred_rows(z: Floats, mask: Booleans) -> Floats:
    """Return rows less the mean of their cells, 0 where missing."""
    mean = np.where(mask, z, 0.0).sum(axis=1, keepdims=True) / np.maximum(mask.sum(axis=1, keepdims=True), 1)
    centred: Floats = np.where(mask, z - mean, 0.0)
    return centred


def solve_moments(system: Floats, sums: Floats) -> Floats:
    """Return the variances that make expected sums of squares those found.

    Raises
    ------
    DataError
        If they are not determined.
    """
    scale = np.sqrt(np.abs(np.diag(system)))
    if not scale.all() or np.linalg.cond(system / scale[:, None] / scale) > SINGULAR:
        raise DataError("the variance components cannot be told apart: some effects have the same levels.")
    found: Floats = np.asarray(np.linalg.solve(system, sums), dtype=float)
    return found


def crossed(one: Integers, other: Integers) -> Integers:
    """Return the group of each row in the common refinement of two groupings, from 0 up."""
    codes: Integers = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return codes


def sum_by(rows: Floats, codes: Integers) -> Floats:
    """Return the sums of rows by group, (R, J) → (groups, J)."""
    order = np.argsort(codes, kind="stable")
    first = np.flatnonzero(np.diff(codes[order], prepend=-1))
    sums = np.zeros((len(first), rows.shape[1]))
    np.add.reduceat(rows[order], first, axis=0, out=sums)
    return sums


def _coefficient(one: Integers, other: Integers) -> float:
    """Return the sum over levels a and b of n_ab² / n_a."""
    joint, counts = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other, return_counts=True)
    of_one = np.bincount(one)[joint // (int(other.max()) + 1)]
    return float((counts**2 / of_one).sum())


def _trace_of_squares(mask: Booleans, codes: Integers) -> float:
    r"""Return the sum over groups of tr B², B the sum of the group's P_r.

    A group with few rows has :math:`\mathrm{tr}\,P_r P_s = n_{rs} - n_{rs}/J_r - n_{rs}/J_s + n_{rs}^2/(J_r J_s)` with
    :math:`n_{rs}` editions in both rows, one with many its J × J matrix.
    """
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    first = np.cumsum(sizes) - sizes
    total = 0.0
    for size in np.unique(sizes):
        members = order[first[sizes == size][:, None] + np.arange(size)]  # (groups, size)
        at_a_time = max(1, CELLS_AT_A_TIME // (int(size) * mask.shape[1]))
        for start in range(0, len(members), at_a_time):
            some = mask[members[start : start + at_a_time]].astype(float)  # (groups, size, J)
            cells = np.maximum(some.sum(axis=2), 1.0)
            if size <= mask.shape[1]:
                both = some @ some.transpose(0, 2, 1)
                total += float((both * (1 - 1 / cells[:, :, None] - 1 / cells[:, None, :])).sum())
                total += float((both**2 / cells[:, :, None] / cells[:, None, :]).sum())
            else:
                b = -(some / cells[:, :, None]).transpose(0, 2, 1) @ some
                b[:, np.arange(mask.shape[1]), np.arange(mask.shape[1])] += some.sum(axis=1)
                total += float(np.square(b).sum())
    return total
