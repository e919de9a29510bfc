r"""Tests of residuals: whether neighbouring rows are alike, and whether editions have equal noise.

Both take the fit as it is and need no other. Residuals are those within rows,
:math:`r_{ij} = z_{ij} - \hat d_j - \bar r_i`, so that the sizes of intents need not be known.

Order. Rows :math:`u_i` of the first k left singular vectors of the residuals, times √I, are alike in length whatever
the noise and its correlation between editions. If rows are exchangeable, the products :math:`u_i \cdot u_{i-l}` are
uncorrelated with mean −k/I; so with :math:`D_i = \sum_{l=1}^5 (u_i \cdot u_{i-l} + k/I)` the statistic
:math:`\sum D_i / \sqrt{\sum D_i^2}` is close to normal in any order.

Noise. The score test of equal variances compares the mean squared residual of each edition with the others', by what
independent units contribute (White 1982, "Maximum likelihood estimation of misspecified models"), which needs no
distribution of the noise.

Columns. If errors are alike within the values of a column that are not the units, their sums by value vary more than
those by units, and more than where values change places.
"""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.linalg import blas, lapack
from scipy.sparse import csr_array

from langdiff.base.types import Booleans, Floats, Integers, generator
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.kernel.two_way import add_products, blocks_of, whole
from langdiff.tables.rule import drawn_p, t_p

LAGS = 5
PERMUTATIONS, COMPONENTS = 199, 10
DOUBTED_EFFECT = 1.25  # times the variance by units, from which a column is doubted
FEWEST_OF_EDITION = 20  # cells; residuals of an edition with fewer are nearly fitted to 0
FEWEST_CELLS = 3  # of a row whose squared residuals say which edition has more noise
RANK_TOLERANCE, CERTAIN = 1e-10, 1e-8  # of the largest eigenvalue; of a condition from which the rank is full


class Residuals(Protocol):
    """Residuals within rows, 0 in missing cells, an array or made for the rows that are asked for."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and editions."""

    def __getitem__(self, rows: slice, /) -> Floats:
        """Return the residuals of some rows, shape (R, J)."""


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


def likeness_of_neighbours(residual: Residuals, variance: Floats | None = None) -> Tested:
    """Test whether neighbouring rows have residuals that are more alike than those of distant ones.

    Parameters
    ----------
    residual : ndarray, shape (I, J)
        Residuals within rows, in the order of the text; 0 in missing cells.
    variance : ndarray, shape (I,), optional
        Their variance, up to a constant; by default equal.

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
    n_rows, n_editions = residual.shape
    most, scale = min(n_editions - 1, n_rows // 10), 1 / np.sqrt(np.ones(n_rows) if variance is None else variance)
    total, gram = np.zeros(n_editions), np.zeros((n_editions, n_editions), order="F")
    for rows in blocks_of(n_rows, n_editions):
        part = residual[rows] * scale[rows, None]
        total += part.sum(axis=0)
        gram = add_products(gram, part)
    mean = total / n_rows
    axes, rank = _leading_axes(whole(gram) - n_rows * np.outer(mean, mean), most)
    if not rank:
        return Tested(float("nan"), float("nan"))
    axes *= np.sqrt(n_rows)
    width = axes.shape[1]
    products, before = np.minimum(np.arange(n_rows), LAGS) * rank / n_rows, np.zeros((LAGS, width))
    for rows in blocks_of(n_rows, n_editions):
        part = residual[rows] * scale[rows, None] - mean
        # products of all axes need no more than a triangle
        vectors = np.vstack([before, part @ axes if width < n_editions else blas.dtrmm(1.0, axes, part, side=1)])
        last = len(vectors) - LAGS
        for lag in range(1, LAGS + 1):
            products[rows] += np.einsum("ik,ik->i", vectors[LAGS:], vectors[LAGS - lag : LAGS - lag + last])
        before = vectors[last:]
    statistic = float(products.sum() / np.sqrt(products @ products))
    return Tested(statistic, float(t_p(statistic, 1.0, np.inf, above=True)))


def _leading_axes(gram: Floats, most: int) -> tuple[Floats, int]:
    """Return leading eigenvectors over the roots of their eigenvalues, (J, k), with their number, at most some.

    In their place is a triangle, (J, J), whose products are theirs, where all but that of the constant are leading.
    """
    level = np.trace(gram) / len(gram) ** 2
    if most == len(gram) - 1 and np.abs(gram.sum(axis=0)).max() <= RANK_TOLERANCE * len(gram) * level:
        factor, failed = lapack.dpotrf(gram + level, clean=1)
        if not failed and lapack.dpocon(factor, np.abs(gram + level).sum(axis=0).max())[0] > CERTAIN:
            return np.asarray(lapack.dtrtri(factor)[0]), most
    squares, axes = np.linalg.eigh(gram)
    squares, axes = squares[::-1][:most], axes[:, ::-1][:, :most]
    known = squares > RANK_TOLERANCE * squares.max(initial=0.0)
    return axes[:, known] / np.sqrt(squares[known]), int(known.sum())


def likeness_within(rows: Floats, units: Integers | None, column: Integers) -> tuple[float, float]:
    """Return by how much the variance by the values of a column exceeds that by units, and the p of so much.

    Rows are what intents add to the estimates, (I, J); units and column are numbered from 0, (I,). What a unit adds
    under one value is a piece. Values change places among pieces, as they may if pieces of several units are
    independent; p is known only where the variance is larger than by units.

    Examples
    --------
    >>> each = np.repeat(np.random.default_rng(1).normal(size=(10, 3)), 8, axis=0)
    >>> effect, p = likeness_within(each - each.mean(axis=0), None, np.arange(80) // 8)
    >>> round(effect, 1), p
    (8.8, 0.005)
    """
    units = np.arange(len(rows)) if units is None else units
    by_units = sums_by_cluster(rows, units)
    code = np.unique(units * np.int64(column.max() + 1) + column, return_inverse=True)[1]
    values = np.zeros(code.max() + 1, dtype=np.int_)
    values[code] = column
    order = np.argsort(values, kind="stable")
    ends = np.append(0, np.cumsum(np.bincount(values)))
    pieces = sums_by_cluster(rows, code)[order]
    by_column = np.add.reduceat(pieces, ends[:-1], axis=0)
    few = [count / max(count - 1, 1) for count in (len(by_column), len(by_units))]  # as they are around their mean
    effect = float(few[0] * np.sum(by_column**2) / max(few[1] * np.sum(by_units**2), np.finfo(float).tiny))
    if not effect > DOUBTED_EFFECT:
        return effect, float("nan")
    leading = np.linalg.eigh(by_units.T @ by_units)[1][:, -COMPONENTS:]
    projected, observed = pieces @ leading, float(np.sum((by_column @ leading) ** 2))
    # pieces by their size, and values by their number of pieces: neither the order of rows nor names change p
    projected, ends = projected[np.argsort(np.sum(pieces**2, axis=1))], np.append(0, np.cumsum(np.sort(np.diff(ends))))
    rng, beyond, ones = generator(0), 0, np.ones(len(pieces))
    for _ in range(PERMUTATIONS):
        drawn = csr_array((ones, rng.permutation(len(pieces)), ends)) @ projected
        beyond += bool(np.sum(drawn**2) >= observed * (1 - 1e-9))
    return effect, float(drawn_p(beyond, PERMUTATIONS))


class NoiseParts(NamedTuple):
    """Squared residuals of each edition against the others' in its rows, as sums over units.

    Attributes
    ----------
    mean : ndarray, shape (K,)
        Their mean by edition; 0 on average over cells if all have the same noise.
    parts, share : ndarray, shape (U, K) or (U, 1)
        Parts of the units in these means, whose sums they are, and shares of the units in their cells.
    cells : ndarray, shape (K,)
        Number of cells.
    units : ndarray of int, shape (U,)
        Number of each unit.
    """

    mean: Floats
    parts: Floats
    share: Floats
    cells: Floats
    units: Integers


def noise_parts(
    residual: Residuals,
    observed: Booleans | None,
    variance: Floats,
    cluster: Integers | None,
    group: Integers | None = None,
) -> NoiseParts | None:
    r"""Return what tells whether all editions, or groups of editions, have the same noise; None if nothing does.

    Editions with fewer than twenty cells in rows of three cells or more are left out; nothing tells with fewer than
    three others.

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

    Examples
    --------
    >>> noise = np.random.default_rng(1).normal(0, [1.0, 1.0, 1.0, 2.0], (300, 4))
    >>> noise -= noise.mean(axis=1, keepdims=True)
    >>> noise_parts(noise, None, np.ones(300), None).mean.round(1).tolist()
    [-0.5, -0.6, -0.3, 1.4]
    """
    member = None if group is None else np.eye(group.max() + 1)[group]
    units, code = np.unique(np.arange(residual.shape[0]) if cluster is None else cluster, return_inverse=True)
    width = residual.shape[1] if member is None else member.shape[1]
    squared, there_are = np.zeros((len(units), width)), np.zeros((len(units), 1 if observed is None else width))
    if member is not None and observed is None:
        there_are = np.zeros_like(squared)
    for rows in blocks_of(*residual.shape):
        part, there = _squared(residual, observed, variance, rows)
        if member is not None:
            part, there = part @ member, there * member.sum(axis=0) if observed is None else there @ member
        found, of_rows = np.unique(code[rows], return_inverse=True)
        squared[found] += sums_by_cluster(part, of_rows)
        there_are[found] += sums_by_cluster(there, of_rows)
    cells = there_are.sum(axis=0)
    there = np.broadcast_to(cells >= FEWEST_OF_EDITION, squared.shape[1:])
    if there.sum() <= (FEWEST_CELLS - 1 if group is None else 1) or not squared.any():
        return None
    if len(cells) > 1 and not there.all():
        squared, there_are, cells = squared[:, there], there_are[:, there], cells[there]
    parts = squared / cells
    every = np.broadcast_to(cells, parts.shape[1:])
    return NoiseParts(parts.sum(axis=0), parts, there_are / cells, every, units)


def _squared(residual: Residuals, observed: Booleans | None, variance: Floats, rows: slice) -> tuple[Floats, Floats]:
    """Return squared residuals of rows against the others' in each row, and their cells, (R, J) or (R, 1).

    Rows with fewer than three cells, whose squared residuals are alike, have none.
    """
    squared = residual[rows] ** 2
    there: Floats = np.ones((len(squared), 1)) if observed is None else observed[rows].astype(float)
    counts = there.sum(axis=1) * (squared.shape[1] if observed is None else 1)
    told = counts >= FEWEST_CELLS
    squared *= (told / (variance[rows] * (1 - 1 / np.maximum(counts, 2))))[:, None]
    squared -= (squared.sum(axis=1) / np.maximum(counts, 1))[:, None]
    if not told.all():
        there *= told[:, None]
    return (squared if observed is None else squared * there), there


class NoiseOfRows(NamedTuple):
    """Mean squared residual of each edition less the mean of all, its covariance, and the number of its cells."""

    mean: Floats
    covariance: Floats
    cells: Floats


def noise_of_rows(residual: Residuals, observed: Booleans | None, variance: Floats) -> NoiseOfRows:
    """Return what `noise_parts` tells of independent rows without keeping their parts."""
    intents, editions = residual.shape
    total, cells = np.zeros((2, editions))
    for rows in blocks_of(intents, editions):
        squared, there = _squared(residual, observed, variance, rows)
        total += squared.sum(axis=0)
        cells += there.sum(axis=0)
    enough = (cells >= FEWEST_OF_EDITION).all()
    mean, gram = total / np.where(enough, cells, np.nan), np.zeros((editions, editions), order="F")
    for rows in blocks_of(intents, editions) if enough else ():
        part, there = _squared(residual, observed, variance, rows)
        part -= mean * there
        part /= cells
        part -= (part @ (cells / cells.sum()))[:, None]
        part *= 1 + there * (1 / np.sqrt(1 - 1 / cells) - 1)  # the share of a row in an edition
        gram = add_products(gram, part)
    return NoiseOfRows(mean - mean @ cells / cells.sum(), whole(gram), cells)
