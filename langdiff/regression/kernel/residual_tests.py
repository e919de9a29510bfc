r"""Tests of residuals: whether neighbouring rows are alike, and whether editions have equal noise.

Both take the fit as it is and need no other. Residuals are those within rows,
:math:`r_{ij} = z_{ij} - \hat d_j - \bar r_i`, so that the sizes of intents need not be known.

Order. Rows :math:`u_i` of the first k left singular vectors of the residuals, times √I, are alike in length whatever
the noise and its correlation between editions. If rows are exchangeable, the products :math:`u_i \cdot u_{i-l}` are
uncorrelated with mean −k/I; so with :math:`D_i = \sum_{l=1}^5 (u_i \cdot u_{i-l} + k/I)` the statistic
:math:`\sum D_i / \sqrt{\sum D_i^2}` is close to normal in any order.

Noise. The score test of equal variances compares the mean squared residual of each edition with the others', by
Hotelling's T² with the covariance of what clusters contribute (White 1982, "Maximum likelihood estimation of
misspecified models"), which needs no distribution of the noise.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import f as fisher
from scipy.stats import norm
from scipy.stats import t as student

from langdiff.base.types import Booleans, Floats, Integers

LAGS = 5
FEWEST_OF_EDITION = 20  # cells; residuals of an edition with fewer are nearly fitted to 0
FEWEST_CELLS = 3  # of a row whose squared residuals say which edition has more noise
RANK_TOLERANCE = 1e-10


class Tested(NamedTuple):
    """A statistic with its p-value."""

    statistic: float
    p_value: float


def residuals_within_rows(z: Floats, c: Floats) -> Floats:
    """Return the residuals of log surprisals at difficulties c, less their row means; 0 in missing cells.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing.
    c : ndarray, shape (J,)
        Difficulties up to a constant.
    """
    residual: Floats = z - c
    missing = np.isnan(residual)
    if not missing.any():
        residual -= residual.mean(axis=1, keepdims=True)
        return residual
    residual[missing] = 0.0
    residual -= (residual.sum(axis=1) / np.maximum((~missing).sum(axis=1), 1))[:, None]
    residual[missing] = 0.0
    return residual


def likeness_of_neighbours(residual: Floats) -> Tested:
    """Test whether neighbouring rows have residuals that are more alike than those of distant ones.

    Parameters
    ----------
    residual : ndarray, shape (I, J)
        Residuals within rows, divided by their standard deviation, in the order of the text; 0 in missing cells.

    Returns
    -------
    Tested
        With a one-sided p-value: small where neighbours are alike. NaN where there are no residuals.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.normal(size=(300, 5))
    >>> noise -= noise.mean(axis=1, keepdims=True)
    >>> bool(likeness_of_neighbours(noise).p_value > 0.01)
    True
    >>> bool(likeness_of_neighbours(noise + np.repeat(noise[:60], 5, axis=0)).p_value < 1e-6)
    True
    """
    centred = residual - residual.mean(axis=0)
    n_rows, n_editions = centred.shape
    most = min(n_editions - 1, n_rows // 10)
    squares, axes = np.linalg.eigh(centred.T @ centred)  # leading vectors are all that is needed
    squares, axes = squares[::-1][:most], axes[:, ::-1][:, :most]
    known = squares > RANK_TOLERANCE * squares.max(initial=0.0)
    if not known.any():
        return Tested(float("nan"), float("nan"))
    vectors = centred @ (axes[:, known] * np.sqrt(n_rows / squares[known]))
    products = np.zeros(n_rows)
    for lag in range(1, LAGS + 1):
        products[lag:] += np.einsum("ik,ik->i", vectors[lag:], vectors[:-lag]) + int(known.sum()) / n_rows
    statistic = float(products.sum() / np.sqrt(products @ products))
    return Tested(statistic, float(norm.sf(statistic)))


def equality_of_noise(
    residual: Floats,
    observed: Booleans | None,
    variance: Floats,
    cluster: Integers | None,
    group: Integers | None = None,
) -> Tested:
    r"""Test whether all editions, or groups of editions, have the same noise, by the squares of their residuals.

    Parameters
    ----------
    residual : ndarray, shape (I, J)
        Residuals within rows; 0 in missing cells.
    observed : ndarray of bool, shape (I, J), or None
        Cells that there are; None if all are.
    variance : ndarray, shape (I,)
        Variance of a cell of each row under equal noise, up to a constant.
    cluster : ndarray of int, shape (I,), or None
        Cluster of each row, numbered from 0; None if rows are independent.
    group : ndarray of int, shape (J,), optional
        Group of each edition, numbered from 0, whose noise is compared; by default each edition is one.

    Returns
    -------
    Tested
        T² and the p of Hotelling's distribution. Where clusters are too few for that, rows are taken as independent;
        where these are too few, the largest log ratio of an edition's mean square to that of all, in units of a
        standard error pooled over editions, with the p of Bonferroni. Editions with fewer than twenty cells in rows of
        three cells or more are left out; NaN with fewer than three others.

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, [1.0, 1.0, 1.0, 2.0], (300, 4))
    >>> noise -= noise.mean(axis=1, keepdims=True)
    >>> bool(equality_of_noise(noise, None, np.ones(300), None).p_value < 1e-6)
    True
    """
    counts = np.full(len(residual), residual.shape[1]) if observed is None else observed.sum(axis=1)
    rows = counts >= FEWEST_CELLS
    if not rows.any():
        return Tested(float("nan"), float("nan"))
    if not rows.all():
        residual, counts, variance = residual[rows], counts[rows], variance[rows]
        observed = None if observed is None else observed[rows]
        cluster = None if cluster is None else np.unique(cluster[rows], return_inverse=True)[1]
    squared = residual**2 / (variance * (1 - 1 / counts))[:, None]
    level = float(squared.sum() / counts.sum())
    squared -= (squared.sum(axis=1) / counts)[:, None]
    if observed is not None:
        squared *= observed
    there_are: Floats = np.ones((1, residual.shape[1])) if observed is None else observed.astype(float)
    if group is not None:
        squared, there_are = squared @ np.eye(group.max() + 1)[group], there_are @ np.eye(group.max() + 1)[group]
    cells = there_are.sum(axis=0) * (len(squared) if observed is None else 1)
    there = cells >= FEWEST_OF_EDITION
    mean = squared.sum(axis=0)[there] / cells[there]
    influence = (squared[:, there] - there_are[:, there] * mean) / cells[there]
    fewest = FEWEST_CELLS - 1 if group is None else 1
    if there.sum() <= fewest:
        return Tested(float("nan"), float("nan"))
    contrasts = _contrasts(int(there.sum()))
    degrees = contrasts.shape[1]
    if cluster is not None and (n_clusters := int(cluster.max()) + 1) > 2 * degrees:
        sums = np.zeros((n_clusters, len(mean)))
        for edition in range(len(mean)):
            sums[:, edition] = np.bincount(cluster, influence[:, edition], n_clusters)
        influence = sums
    units = len(influence)
    covariance = units / (units - 1) * influence.T @ influence
    if units <= 2 * degrees:
        return _of_largest(mean / level, np.diag(covariance) / level**2, cells[there], units)
    values, axes = np.linalg.eigh(contrasts.T @ covariance @ contrasts)
    known = values > RANK_TOLERANCE * values[-1]
    if not known.any() or values[-1] <= 0:  # no noise at all
        return Tested(float("nan"), float("nan"))
    along = axes[:, known].T @ (contrasts.T @ mean)
    statistic, rank = float(np.sum(along**2 / values[known])), int(known.sum())
    scaled = statistic * (units - rank) / ((units - 1) * rank)
    return Tested(statistic, float(fisher.sf(scaled, rank, units - rank)))


def _of_largest(mean: Floats, variance: Floats, cells: Integers, units: int) -> Tested:
    """Return the largest log ratio of mean squares in standard errors, with the p of Bonferroni.

    Each edition's own standard error would vary with its mean: with 60 rows and 50 editions of normal noise, 22 % of
    tests at 1 % would reject, and this one 2 %; of t noise with 3 degrees of freedom, 78 and 0 %.
    """
    pooled = np.mean(variance * cells) / cells
    ratio = np.maximum(1 + mean, np.finfo(float).tiny)
    largest = float(np.max(np.abs(np.log(ratio)) / np.sqrt(pooled)))
    return Tested(largest, min(1.0, 2 * len(mean) * float(student.sf(largest, units - 1))))


def _contrasts(n: int) -> Floats:
    """Return an orthonormal basis of the differences of n numbers, shape (n, n − 1)."""
    basis: Floats = np.linalg.qr(np.column_stack([np.ones(n), np.eye(n)[:, : n - 1]]))[0][:, 1:]
    return basis
