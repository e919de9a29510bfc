r"""Variance components of one table by restricted maximum likelihood, the intents being fixed.

In :math:`z_{ij} = m_i + a_j + u_{j,g(i)} + \epsilon_{ij}` the editions a, their interactions u with clusters of intents
and the noise are random. Intents vary some fifty times as much as editions; as each row is only compared with itself,
none of that variance can reach the editions, whichever cells are missing because of their intent. With
:math:`P_i = \mathrm{diag}\,M_i - M_i M_i^\top / J_i` (M the mask, :math:`J_i` cells in row i) cluster g is known by

.. math:: S_g = \sum_{i \in g} P_i z_i, \quad B_g = \sum_{i \in g} P_i = Q \Lambda Q^\top, \quad
          y_g = \Lambda^{-1/2} Q^\top S_g, \quad SSE = \sum_i z_i^\top P_i z_i - \sum_g y_g^\top y_g

(positive part). With the ratios :math:`\lambda_u, \lambda_e` of the variances to that of the noise,
:math:`D = (1 + \lambda_u \Lambda)^{-1}`, :math:`A = \sum_g Q \Lambda D Q^\top`, :math:`b = \sum_g Q D Q^\top S_g` and
:math:`K = I + \lambda_e A`,

.. math:: -2\ell = (N - I) \ln \sigma^2 + \sum_g \sum \ln(1 + \lambda_u \Lambda) + \ln |K|, \quad
          \sigma^2 (N - I) = SSE + \sum_g \sum \frac{y_g^2}{1 + \lambda_u \Lambda} - \lambda_e b^\top K^{-1} b

(Harville 1977; Searle, Casella and McCulloch 1992, "Variance Components", chapter 6).
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from langdiff.base.types import Floats, Integers
from langdiff.regression.components.swept import centred_rows
from langdiff.regression.kernel.two_way import weighted_gram

POSITIVE = 1e-10  # share of the largest eigenvalue of B_g, from which on one is not 0
STARTS = np.array([0.0, *np.geomspace(1e-2, 1e6, 9)])  # of λ times the mean eigenvalue of all B_g
VANISHING = 1e-12  # share of the squares within rows that is rounding
SLOPE = 1e-9  # of −2ℓ at its least, in units of the logarithm of a ratio


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

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    clusters : ndarray of int, shape (I,), optional
        Cluster of each intent. Without them, or with one, there is no interaction; then the estimates in a complete
        table are those of the analysis of variance, where that of the editions may be negative. Otherwise none is.

    Returns
    -------
    Components

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

    def __init__(self, within: Floats, mask: Floats, codes: Integers) -> None:
        self.clusters = [_swept(within[codes == g], mask[codes == g].astype(float)) for g in range(codes.max() + 1)]
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


def _swept(within: Floats, mask: Floats) -> _Cluster:
    """Return the positive part of B_g, and S_g along its axes."""
    per_intent = np.maximum(mask.sum(axis=1), 1.0)
    values, axes = np.linalg.eigh(np.diag(mask.sum(axis=0)) - weighted_gram(mask, 1 / per_intent))
    kept = values > POSITIVE * max(values[-1], 1.0)
    return _Cluster(axes[:, kept], values[kept], axes[:, kept].T @ within.sum(axis=0))
