r"""Variance components of tables, the intents being taken out or fixed.

Several tables: a row r holds the ln bits of an intent under one training of a language model. What the cells of a row
share (its intent, the language model, the corpus) is taken out by :math:`P_r = \mathrm{diag}\,M_r - M_r M_r^\top / J_r`
(M the mask, :math:`J_r` cells), so that it cannot reach the components of the editions, whichever cells are missing
because of it. For a grouping h of rows (all, by language model, by intent, …) with groups a, :math:`S_a = \sum_{r \in
a} P_r z_r`, :math:`B_{ab} = \sum_{r \in a \cap b} P_r` and

.. math:: E \sum_a \|S_a\|^2 = \sum_{h'} \sigma^2_{h'} \sum_{a,b} \mathrm{tr}\,B_{ab}^2
          + \sigma^2 \sum_a \mathrm{tr}\,B_a

where :math:`\sigma^2_{h'}` is the variance of edition × h' (Henderson 1953, method 1, on swept rows). What all editions
share is estimated in the same way from the effects of rows in :math:`z_{rj} = m_r + d_j`. In complete tables both are
the estimators of the analysis of variance.

One table, by restricted maximum likelihood: in :math:`z_{ij} = m_i + a_j + u_{j,g(i)} + \epsilon_{ij}` the intents are
fixed; the editions a, their interactions u with clusters of intents and the noise are random. Intents vary some fifty
times as much as editions; as each row is only compared with itself, none of that variance can reach the editions,
whichever cells are missing because of their intent. With :math:`P_i = \mathrm{diag}\,M_i - M_i M_i^\top / J_i` (M the
mask, :math:`J_i` cells in row i) cluster g is known by

.. math:: S_g = \sum_{i \in g} P_i z_i, \quad B_g = \sum_{i \in g} P_i = Q \Lambda Q^\top, \quad
          y_g = \Lambda^{-1/2} Q^\top S_g, \quad SSE = \sum_i z_i^\top P_i z_i - \sum_g y_g^\top y_g

(positive part). With the ratios :math:`\lambda_u, \lambda_e` of the variances to that of the noise,
:math:`D = (1 + \lambda_u \Lambda)^{-1}`, :math:`A = \sum_g Q \Lambda D Q^\top`, :math:`b = \sum_g Q D Q^\top S_g` and
:math:`K = I + \lambda_e A`,

.. math:: -2\ell = (N - I) \ln \sigma^2 + \sum_g \sum \ln(1 + \lambda_u \Lambda) + \ln |K|, \quad
          \sigma^2 (N - I) = SSE + \sum_g \sum \frac{y_g^2}{1 + \lambda_u \Lambda} - \lambda_e b^\top K^{-1} b

(Harville 1977; Searle, Casella and McCulloch 1992, "Variance Components", chapter 6).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from langdiff.base.types import CELLS_OF_PRODUCTS, ROUNDING_OF_EIGENVALUES, Booleans, Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.kernel.two_way import weighted_gram

SINGULAR = 1e10  # condition beyond which effects cannot be told apart
POSITIVE = 1e-10  # share of the largest eigenvalue of B_g, from which on one is not 0
STARTS = np.array([0.0, *np.geomspace(1e-2, 1e6, 9)])  # of λ times the mean eigenvalue of all B_g
VANISHING = 1e-12  # share of the squares within rows that is rounding
SLOPE = 1e-9  # of −2ℓ at its least, in units of the logarithm of a ratio


def swept_components(z: Floats, groupings: Sequence[Integers]) -> Floats:
    """Return the variance of edition × each grouping of rows and, last, of the residual; estimates may be negative.

    Shapes: z (R, J); groupings (R,).

    Examples
    --------
    >>> swept_components(np.array([[1.0, 2.0], [3.0, 6.0]]), [np.array([0, 0])]).tolist()
    [1.5, 1.0]
    """
    mask = ~np.isnan(z)
    within = centred_rows(z, mask)
    codes = [np.unique(each, return_inverse=True)[1] for each in (*groupings, np.arange(len(z)))]
    sums = np.array([float(np.square(sums_by_cluster(within, each)).sum()) for each in codes])
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
    r"""Return the variances of row effects, which all editions share.

    The effects :math:`m_r = \bar z_r - w_r^\top \hat d`, :math:`w_r = M_r / J_r`, come from two-way least squares.
    Their errors are the means of the interactions and of the noise in the row; the error of :math:`\hat d` itself,
    which is smaller by the number of rows, is counted for the noise and left out for the interactions.

    Shapes: z (R, J); effects (R,).
    """
    mask = ~np.isnan(z)
    weights = mask / mask.sum(axis=1, keepdims=True)
    laplacian = np.diag(mask.sum(axis=0).astype(float)) - weights.T @ mask
    inverse = np.linalg.pinv(laplacian, rcond=ROUNDING_OF_EIGENVALUES, hermitian=True)
    rows = np.where(mask, z - inverse @ centred_rows(z, mask).sum(axis=0), 0.0).sum(axis=1) / mask.sum(axis=1)
    rows -= rows.mean()
    unlinked = weights @ (np.eye(z.shape[1]) - laplacian @ inverse)  # the same in all rows if the table is connected
    of_all = np.zeros(len(rows), dtype=int)

    def noise(codes: Integers) -> Floats:
        """Return the expected contribution of the variances to a sum of squares."""
        counts = np.bincount(codes)
        found = []
        for grouping in groupings:
            both = crossed(codes, grouping)
            of_group = codes[np.unique(both, return_index=True)[1]]
            parts = sums_by_cluster(weights if grouping.any() else unlinked, both)
            found.append(float((np.square(parts).sum(axis=1) / counts[of_group]).sum()))
        of_rows = sums_by_cluster(weights, codes)
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
    """Return the variances that make expected sums of squares those found."""
    scale = np.sqrt(np.abs(np.diag(system)))
    if not scale.all() or np.linalg.cond(system / scale[:, None] / scale) > SINGULAR:
        raise DataError("the variance components cannot be told apart: some effects have the same levels.")
    found: Floats = np.asarray(np.linalg.solve(system, sums), dtype=float)
    return found


def crossed(one: Integers, other: Integers) -> Integers:
    """Return the group of each row in the common refinement of two groupings, from 0 up."""
    codes: Integers = np.unique(one.astype(np.int64) * (int(other.max()) + 1) + other, return_inverse=True)[1]
    return codes


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
        at_a_time = max(1, CELLS_OF_PRODUCTS // (int(size) * mask.shape[1]))
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


class Components(NamedTuple):
    """Variances of one table, nats squared."""

    edition: float
    edition_cluster: float
    residual: float


class _Cluster(NamedTuple):
    axes: Floats  # Q, (J, k)
    values: Floats  # Λ, (k,)
    sums: Floats  # QᵀS, (k,)


def restricted_components(z: Floats, clusters: Integers | None = None) -> Components:
    """Estimate the variances of editions, of their interaction with clusters of intents and of the noise.

    Shapes: z (I, J); clusters (I,).

    Examples
    --------
    >>> restricted_components(np.array([[1.0, 2.0], [3.0, 6.0]]))
    Components(edition=1.5, edition_cluster=0.0, residual=1.0)
    """
    mask = ~np.isnan(z)
    within = centred_rows(z, mask)
    codes = np.zeros(len(z), dtype=int) if clusters is None else np.unique(clusters, return_inverse=True)[1]
    if not codes.any() and mask.all():
        return _analysis_of_variance(within)
    return _Search(within, mask, codes).estimate()


def _analysis_of_variance(within: Floats) -> Components:
    intents, editions = within.shape
    means = within.mean(axis=0)
    residual = float(np.square(within - means).sum()) / ((intents - 1) * (editions - 1))
    return Components(float(means @ means) / (editions - 1) - residual / intents, 0.0, residual)


class _Search:
    """The restricted likelihood of a table, and its greatest value over ratios that are not negative."""

    def __init__(self, within: Floats, mask: Booleans, codes: Integers) -> None:
        self.clusters = [_swept(within[codes == g], mask[codes == g]) for g in range(codes.max() + 1)]
        explained = sum(float(np.square(each.sums) @ (1 / each.values)) for each in self.clusters)
        self.total = float(np.vdot(within, within))
        self.unexplained = max(self.total - explained, 0.0)
        self.freedom = int(mask.sum() - mask.any(axis=1).sum())
        self.scale = sum(len(each.values) for each in self.clusters) / sum(each.values.sum() for each in self.clusters)
        self.interaction = bool(codes.any())

    def estimate(self) -> Components:
        """Return the variances of greatest restricted likelihood; NaN if the table has no more cells than effects."""
        spare = self.freedom - sum(len(each.values) for each in self.clusters)
        if spare <= 0:
            return Components(np.nan, np.nan, np.nan)
        if self.unexplained <= VANISHING * self.total:  # the likelihood grows without end
            return Components(np.nan, np.nan, self.unexplained / spare)
        grid, start = self.scale * STARTS, np.zeros(2)
        for place in (1, 0, 1) if self.interaction else (1,):  # one ratio after the other
            tried = [np.where(np.arange(2) == place, ratio, start) for ratio in grid]
            start = min(tried, key=lambda ratios: self.cost(ratios)[0])
        size = np.maximum(start, grid[1])

        def scaled(x: Floats) -> tuple[float, Floats]:
            value, slope = self.cost(x * size)
            return value, slope * size

        most = None if self.interaction else 0.0
        found = minimize(
            scaled,
            start / size,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, most), (0.0, None)],
            options={"ftol": 0.0, "gtol": SLOPE, "maxiter": 200},
        )
        ratios = found.x * size
        residual = self._squares(ratios)[0] / self.freedom
        return Components(float(ratios[1] * residual), float(ratios[0] * residual), residual)

    def cost(self, ratios: Floats) -> tuple[float, Floats]:
        """Return −2ℓ but for a constant, and its derivatives, at (λ_u, λ_e)."""
        squares, of_squares, determinant, of_determinant = self._squares(ratios)
        value = self.freedom * np.log(squares) + determinant
        return float(value), self.freedom * of_squares / squares + of_determinant

    def _squares(self, ratios: Floats) -> tuple[float, Floats, float, Floats]:
        """Return σ²(N − I) and the logarithm of the determinants, each with its derivatives."""
        of_cluster, of_edition = ratios
        editions = len(self.clusters[0].axes)
        a, a_slope = np.zeros((editions, editions)), np.zeros((editions, editions))
        b, b_slope = np.zeros(editions), np.zeros(editions)
        squares, determinant, of_squares, of_determinant = self.unexplained, 0.0, 0.0, 0.0
        for axes, values, sums in self.clusters:
            shrunken = 1 / (1 + of_cluster * values)
            squares += float(sums**2 @ (shrunken / values))
            of_squares -= float(sums**2 @ shrunken**2)
            determinant -= float(np.log(shrunken).sum())
            of_determinant += float(values @ shrunken)
            a += (axes * (values * shrunken)) @ axes.T
            b += axes @ (shrunken * sums)
            if self.interaction:
                a_slope -= (axes * (values * shrunken) ** 2) @ axes.T
                b_slope -= axes @ (values * shrunken**2 * sums)
        factor = cho_factor(np.eye(editions) + of_edition * a)
        v = cho_solve(factor, b)
        inverse = cho_solve(factor, np.eye(editions))
        squares -= of_edition * float(b @ v)
        determinant += 2 * float(np.log(np.diag(factor[0])).sum())
        of_squares += float(-2 * of_edition * (b_slope @ v) + of_edition**2 * (v @ a_slope @ v))
        of_determinant += of_edition * float(np.vdot(inverse, a_slope))
        return (
            squares,
            np.array([of_squares, -float(v @ v)]),
            determinant,
            np.array([of_determinant, float(np.vdot(inverse, a))]),
        )


def _swept(within: Floats, mask: Booleans) -> _Cluster:
    """Return the positive part of B_g, and S_g along its axes."""
    per_intent = np.maximum(mask.sum(axis=1), 1.0)
    values, axes = np.linalg.eigh(np.diag(mask.sum(axis=0)) - weighted_gram(mask, 1 / per_intent))
    kept = values > POSITIVE * max(values[-1], 1.0)
    return _Cluster(axes[:, kept], values[kept], axes[:, kept].T @ within.sum(axis=0))
