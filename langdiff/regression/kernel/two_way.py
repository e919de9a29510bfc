r"""Model 1, solved exactly: two-way fixed effects on log surprisals with missing cells, and what connects editions.

With one size per intent eliminated, the information on c is :math:`B = D - M^\top M` with a diagonal D and one row of M
for each intent. Vectors are multiplied by its inverse with a Cholesky factor of B, or, of many editions and
fewer intents, with one of :math:`K = 1 - M D^{-1} M^\top` (Woodbury):

.. math:: B^{-1} = D^{-1} + D^{-1} M^\top K^{-1} M D^{-1}

Where B vanishes along the constant, as in model 1, the products are right up to a constant, which contrasts do not see.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, blas, cho_factor, cho_solve, cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from langdiff.base.types import CELLS_AT_A_TIME, TOLERANCE_OF_ROOTS, Booleans, Floats, Integers
from langdiff.errors import DataError, listing

WIDE = 2000  # editions above which no matrix of editions × editions is made
MANY_CELLS = 2**20  # of a table with holes, from which L is made in single precision and steps are refined
REFINED, MOST_REFINEMENTS = 1e-14, 12  # part of an effect that the last refinement adds; their number
MOST_STEPS = 100  # of a search
SINGULAR = 1e-10  # of the information on one edition, below which the constant has none
ROWS_AT_A_TIME = 2**10
REACHING = 64  # editions whose neighbours are sought at once


class EliminatedInformation:
    """Information on difficulties with the sizes of intents eliminated, as an operator.

    Parameters
    ----------
    own : ndarray, shape (J,)
        D.
    mixed : ndarray, shape (I, J)
        M.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information is not positive definite.

    Examples
    --------
    >>> mixed = np.full((4, 3), 3**-0.5)  # four intents in three editions
    >>> found = EliminatedInformation(np.full(3, 4.0), mixed).solve(np.array([[1.0, -1.0, 0.0]]))
    >>> found.round(12).tolist()
    [[0.25, -0.25, 0.0]]
    """

    def __init__(self, own: Floats, mixed: Floats) -> None:
        self._own, self.mixed = own, mixed
        intents, editions = mixed.shape
        along = mixed.sum(axis=1)
        constant = bool(np.abs(own - mixed.T @ along).max() <= SINGULAR * own.max())
        self.by_intents = editions > WIDE and intents < editions
        if not (own > 0).all():
            raise LinAlgError("some edition has no information")
        if self.by_intents:
            matrix = -((mixed / own) @ mixed.T)
            matrix[np.diag_indices(intents)] += 1.0
            null = along / np.linalg.norm(along)
            if constant:
                matrix += np.outer(null, null)
        else:
            matrix = -(mixed.T @ mixed)
            matrix[np.diag_indices(editions)] += own
            if constant:
                matrix += own.mean() / editions
        self._factor = cho_factor(matrix, lower=True, overwrite_a=True)

    @cached_property
    def _inverse(self) -> Floats:
        """The inverse, shape (J, J) or (I, I): of many vectors one product is quicker than solving twice."""
        factor, lower = self._factor
        return cho_solve((factor, lower), np.eye(len(factor)))

    def solve(self, vectors: Floats) -> Floats:
        """Return each vector times the inverse, (n, J) → (n, J)."""
        if not self.by_intents:
            return vectors @ self._inverse
        found = vectors / self._own
        found += (((found @ self.mixed.T) @ self._inverse) @ self.mixed) / self._own
        return found


@dataclass(frozen=True, eq=False, repr=False)
class TwoWay:
    r"""Least-squares fit of :math:`z_{ij} = m_i + d_j`, over the observed cells.

    Attributes
    ----------
    intent_effect : ndarray, shape (I,)
        m, ln bits.
    edition_effect : ndarray, shape (J,)
        d, nats, with mean 0.
    residual : ndarray, shape (I, J)
        z − m − d; 0 in missing cells.
    mask : ndarray of bool, shape (I, J), or None
        Observed cells; None if all are.
    cells_per_intent, cells_per_edition : ndarray, shapes (I,) and (J,)
        Counts of observed cells.
    sum_of_squares : float
        Sum of the squared residuals.
    design : ndarray, shape (J, K), or None
        Full rank, the constant in its span: d was sought among its combinations. None: each d is free.
    wide : bool
        Whether estimates go without a covariance from the information, for which editions are too many.
    information : EliminatedInformation or None
        The Laplacian as an operator, where cells are missing and no matrix of editions × editions is made.
    """

    intent_effect: Floats
    edition_effect: Floats
    residual: Floats
    mask: Booleans | None
    cells_per_intent: Floats
    cells_per_edition: Floats
    sum_of_squares: float
    design: Floats | None = None
    wide: bool = False
    information: EliminatedInformation | None = None

    @property
    def laplacian(self) -> Floats:
        """Information on d in units of 1/σ², the intents eliminated, shape (J, J); its null space is the constant."""
        if self.mask is None:
            return len(self.residual) * (np.eye(len(self.edition_effect)) - 1 / len(self.edition_effect))
        return np.diag(self.cells_per_edition) - weighted_gram(self.mask, 1 / self.cells_per_intent)

    def spread(self, free: Floats) -> Floats:
        """Return parameters by edition from the free parameters, (K,) → (J,)."""
        return free if self.design is None else self.design @ free

    def gather(self, by_edition: Floats) -> Floats:
        """Return derivatives in the free parameters from those by edition, (J, …) → (K, …)."""
        return by_edition if self.design is None else self.design.T @ by_edition

    def less(self, rows: slice | Integers, c: Floats) -> Floats:
        """Return z − c of some rows, shape (R, J); any number in missing cells."""
        return self.residual[rows] + self.intent_effect[rows, None] + (self.edition_effect - c)

    @property
    def total(self) -> float:
        """Sum of the log surprisals, Σz."""
        return float(self.cells_per_intent @ self.intent_effect + self.cells_per_edition @ self.edition_effect)

    def z(self, rows: slice | Integers) -> Floats:
        """Return the log surprisals of some rows, NaN where missing, shape (R, J)."""
        z = self.less(rows, np.zeros(len(self.edition_effect)))
        if self.mask is not None:
            z[~self.mask[rows]] = np.nan
        return z

    def within(self, rows: slice | Integers, c: Floats) -> Floats:
        """Return z − c of some rows less their means, 0 where missing, shape (R, J)."""
        b = c - self.edition_effect
        residual: Floats = self.residual[rows] - (b - b.mean())
        if self.mask is not None:
            residual *= self.mask[rows]
            residual -= (residual.sum(axis=1) / self.cells_per_intent[rows])[:, None]
            residual *= self.mask[rows]
        return residual

    def over_rows(self, by_edition: Floats) -> Floats:
        """Return sums of quantities by edition over each row's observed cells, (J, …) → (I, …)."""
        count = len(self.residual)
        if self.mask is None:
            return np.broadcast_to(by_edition.sum(axis=0), (count, *by_edition.shape[1:])).copy()
        sums = np.empty((count, *by_edition.shape[1:]))
        for rows in blocks(self.residual):
            sums[rows] = self.mask[rows].astype(float) @ by_edition
        return sums

    def over_columns(self, by_intent: Floats) -> Floats:
        """Return sums of quantities by intent over each column's observed cells, (I, …) → (J, …)."""
        sums = np.zeros((len(self.edition_effect), *by_intent.shape[1:]))
        if self.mask is None:
            sums += by_intent.sum(axis=0)
            return sums
        for rows in blocks(self.residual):
            sums += self.mask[rows].T.astype(float) @ by_intent[rows]
        return sums

    @property
    def cells(self) -> int:
        """Number of observed cells, N."""
        return int(self.cells_per_intent.sum())

    @property
    def degrees_of_freedom(self) -> int:
        """Number of cells less free parameters, N − I − J + 1 (K for J with a design)."""
        intents, free = self.residual.shape if self.design is None else (len(self.residual), self.design.shape[1])
        return int(self.cells - intents - free + 1)

    def inflation(self, restricted: bool) -> float:
        """Return by what the inverse information is multiplied: a restricted likelihood has made up for sizes."""
        return 1.0 if restricted else self.cells / self.degrees_of_freedom


def solve_two_way(z: Floats, design: Floats | None = None, *, wide: bool = False, overwrite: bool = False) -> TwoWay:
    r"""Fit intent and edition effects by ordinary least squares, exactly.

    Eliminating m from the normal equations leaves the Laplacian of the graph of editions, in which
    every intent links the editions that have it:

    .. math:: L d = b, \quad L = \mathrm{diag}(I_j) - M^\top \mathrm{diag}(1/J_i) M, \quad
              b = M^\top (z - \bar z_{i\cdot})

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals, NaN where missing; every row and column has a cell and the graph is connected.
    design : ndarray, shape (J, K), optional
        See `TwoWay`.
    wide : bool
        See `TwoWay`.
    overwrite : bool
        Whether the residuals may take the place of z.

    Returns
    -------
    TwoWay

    Examples
    --------
    >>> fit = solve_two_way(np.log([[10.0, 20.0], [30.0, 60.0]]))
    >>> (fit.edition_effect / np.log(2)).round(12)
    array([-0.5,  0.5])
    """
    (intents, editions), parts = z.shape, blocks(z)
    residual = z if overwrite else z.copy()
    observed = np.isnan(residual)
    np.logical_not(observed, out=observed)
    mask = None if observed.all() else observed
    per_intent, per_edition = np.full(intents, float(editions)), np.full(editions, float(intents))
    if mask is not None:
        for rows in parts:
            residual[rows][~mask[rows]] = 0.0
        per_intent, per_edition = mask.sum(axis=1, dtype=float), _column_sums(mask)
    information = None
    if wide and mask is not None and design is None and editions > WIDE:
        information = EliminatedInformation(per_edition, mask / np.sqrt(per_intent)[:, None])
    rough = mask is not None and z.size > MANY_CELLS
    solve = _solver(mask, per_intent, per_edition, design, information, np.float32 if rough else np.float64)
    m, d = np.zeros(intents), np.zeros(editions)

    def take_out(of_editions: Floats) -> Floats:
        """Remove an effect of editions, and then the mean of each row, from the residuals; sum them."""
        sums = np.zeros(editions)
        for rows in parts:
            part = residual[rows]
            part -= of_editions if mask is None else of_editions * mask[rows]
            step = part.sum(axis=1) / per_intent[rows]
            m[rows] += step
            part -= step[:, None] if mask is None else step[:, None] * mask[rows]
            sums += part.sum(axis=0)
        return sums

    sums = take_out(np.zeros(editions))
    for _ in range(MOST_REFINEMENTS if rough else 2):  # the second round removes the rounding of the first
        step = solve(sums)
        step -= step.mean()
        d += step
        sums = take_out(step)
        if rough and np.abs(step).max() <= REFINED * np.abs(d).max():
            break
    square = float(np.vdot(residual, residual))
    return TwoWay(m, d, residual, mask, per_intent, per_edition, square, design, wide, information)


def _column_sums(mask: Booleans) -> Floats:
    """Return the numbers of observed cells by edition, shape (J,)."""
    sums = np.zeros(mask.shape[1])
    for rows in blocks(mask):
        sums += mask[rows].sum(axis=0)
    return sums


def _solver(
    mask: Booleans | None,
    per_intent: Floats,
    per_edition: Floats,
    design: Floats | None,
    information: EliminatedInformation | None,
    kind: type[np.floating],
) -> Callable[[Floats], Floats]:
    """Return the solution d of L d = b as a function of b, which sums to 0, with L in some precision."""
    editions = len(per_edition)
    if mask is None and design is None:
        return lambda sums: sums / per_edition
    if information is not None:
        return lambda sums: information.solve(sums[None])[0]
    laplacian = np.diag(per_edition) - (
        np.full((editions, editions), len(per_intent) / editions)
        if mask is None
        else weighted_gram(mask, 1 / per_intent, kind)
    )
    # L + c 11'/J is positive definite; as b sums to 0, its solution has mean 0 and solves L d = b
    definite = laplacian + per_edition.mean() / editions
    factor = cho_factor(definite if design is None else design.T @ definite @ design)
    if design is None:
        return lambda sums: np.asarray(cho_solve(factor, sums))
    return lambda sums: np.asarray(design @ cho_solve(factor, design.T @ sums))


def weighted_gram(mask: Booleans, weights: Floats, kind: type[np.floating] = np.float64) -> Floats:
    """Return Mᵀ diag(weights) M, shape (J, J), computed by blocks of rows in some precision."""
    gram = np.zeros((mask.shape[1], mask.shape[1]), kind, order="F")
    for rows in blocks(mask):
        gram = add_products(
            gram, np.multiply(mask[rows], np.sqrt(weights[rows])[:, None], dtype=kind, casting="same_kind")
        )
    return whole(gram).astype(float)


def add_products(gram: Floats, rows: Floats) -> Floats:
    """Return a matrix plus the products of rows, RᵀR, of which the upper half is computed, in place where it can be."""
    add = blas.ssyrk if gram.dtype == np.float32 else blas.dsyrk
    return np.asarray(add(1.0, rows.T, beta=1.0, c=gram, overwrite_c=1))


def whole(gram: Floats) -> Floats:
    """Return a symmetric matrix from its upper half."""
    upper = np.triu(gram)
    return upper + np.triu(upper, 1).T


def blocks(table: Floats | Booleans, cells: int = CELLS_AT_A_TIME) -> list[slice]:
    """Return slices of rows, of about a number of cells each, so that temporary arrays stay small."""
    intents, editions = table.shape
    return blocks_of(intents, editions, cells)


def blocks_of(intents: int, editions: int, cells: int = CELLS_AT_A_TIME) -> list[slice]:
    """Return slices of rows of a table of some size; see `blocks`."""
    rows = max(1, cells // editions)
    return [slice(start, min(start + rows, intents)) for start in range(0, intents, rows)]


def eliminated_information(table: TwoWay, of_c: Floats, mixed: Floats, of_mu: Floats, *, rough: bool = False) -> Floats:
    """Compute the information on c with the intents eliminated, where it is equal in all cells of a row.

    Parameters
    ----------
    table : TwoWay
        Says which cells there are.
    of_c, mixed, of_mu : ndarray, shape (I,)
        Information of each cell of a row on c, of each cell on μ and c together, of the row on μ.
    rough : bool
        Whether it steers steps only, for which single precision is enough where the table is large.

    Returns
    -------
    ndarray, shape (J, J)
    """
    editions = len(table.edition_effect)
    if table.mask is None:
        complete: Floats = of_c.sum() * np.eye(editions) - float(np.sum(mixed**2 / of_mu))
        return complete
    kind = np.float32 if rough and table.mask.size > CELLS_AT_A_TIME else np.float64
    return np.diag(table.over_columns(of_c)) - weighted_gram(table.mask, mixed**2 / of_mu, kind)


def inverse_information(two_way: TwoWay, information: Floats) -> Floats:
    """Return the covariance of c from its information, with c restricted to the design.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information is not positive definite.
    """
    free = two_way.gather(two_way.gather(information).T)
    basis = np.eye(len(free)) if two_way.design is None else two_way.design.T
    root = solve_triangular(cholesky(free, lower=True), basis, lower=True)
    return root.T @ root


def normalized_covariance(covariance: Floats, c: Floats) -> Floats:
    r"""Return the covariance of :math:`\delta_j = c_j - \ln\frac1J\sum_k e^{c_k}` by the delta method.

    Parameters
    ----------
    covariance : ndarray, shape (J, J)
        Covariance of the estimates of c.
    c : ndarray, shape (J,)
        Difficulties up to a constant.
    """
    jacobian = np.eye(len(c)) - softmax(c)  # rows: δ_j, columns: c_k
    return jacobian @ covariance @ jacobian.T


class Premiums(NamedTuple):
    """Logarithms of rates, which average 0, the influence of every row on them, and expected counts."""

    logarithms: Floats  # (J,)
    influence: Floats  # (I, J)
    expected: Floats  # (I, J)


def two_way_premiums(counts: Floats, exposure: Floats) -> Premiums:
    """Fit logarithms of rates of columns to counts, given the totals of rows; exposure is 0 where a cell is missing.

    Shapes: counts (I, J); exposure (I, J).

    Examples
    --------
    >>> totals = two_way_premiums(np.array([[30.0, 36.0, 30.0]]), np.ones((1, 3)))
    >>> np.exp(totals.logarithms).round(7).tolist()
    [0.941036, 1.1292432, 0.941036]
    """
    count, totals = counts.shape[1], counts.sum(axis=0)
    if not (totals > 0).all():
        raise DataError("a column has no counts, so that it has no rate beside the others. Leave it out.")
    known = (exposure > 0).astype(float)
    parts, _ = connected_components(csr_array(known.T @ known), directed=False)
    if parts > 1:
        raise DataError(
            f"columns are in {parts} groups that share no rows: they have no common mean. Compare one group at a time."
        )
    of_rows = counts.sum(axis=1, keepdims=True)
    b = np.log(totals / exposure.sum(axis=0))
    b -= b.mean()
    for _ in range(MOST_STEPS):
        shares = exposure * np.exp(b)
        shares /= np.maximum(shares.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        scores = counts - of_rows * shares
        expected = of_rows * shares
        information = np.diag(expected.sum(axis=0)) - expected.T @ shares
        inverse = np.linalg.inv(information + totals.mean() / count) - 1 / (totals.mean() * count)
        step = scores.sum(axis=0) @ inverse
        b = b + step - step.mean()
        if np.abs(step).max() < TOLERANCE_OF_ROOTS:
            return Premiums(b, scores @ inverse, expected)
    raise DataError("rates beside the mean were not found: columns share too few rows with counts.")


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
        return form[one, one] + form[other, other] - 2 * form[one, other]

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
