r"""Covariance of difficulties when rows of a cluster (a book, a document) vary together, and degrees of freedom.

With the scores :math:`S_g` and the information :math:`B_g` summed over cluster g, :math:`B = \sum_g B_g`, the
sandwich is

.. math:: V = B^+ \Bigl(\sum_g \tilde S_g \tilde S_g^\top\Bigr) B^+, \quad \tilde S_g = f(B_g B^+) S_g

* CR0: f = 1; CR1: V times G/(G − 1);
* CR2: :math:`f(x) = (1 - x)^{-1/2}`, which is right on average if errors are independent and alike
  (Bell and McCaffrey 2002): the :math:`A_g R_g A_g^+` of the literature does not depend on the roots taken;
* CR3: :math:`f(x) = (1 - x)^{-1}`: in model 1 the jackknife that leaves out each cluster.

All is done in coordinates in which B is the identity: with :math:`B^+ = W W^\top` the shares
:math:`C_g = W^\top B_g W` are symmetric and sum to the identity, and :math:`W^\top \tilde S_g = f(C_g) W^\top S_g`.
With many clusters f is a power series, whose terms need no J × J matrix of a cluster; where that converges too
slowly, and with few clusters, f is taken of the eigenvalues of :math:`C_g`.
"""

from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError

from langdiff.base.types import CELLS_AT_A_TIME, CELLS_OF_WINDOWS, Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.kernel.likelihood import RowInformation, Rows
from langdiff.regression.kernel.two_way import EliminatedInformation, add_products, blocks_of, whole

Kind = Literal["CR0", "CR1", "CR2", "CR3"]
POWER = {"CR2": 0.5, "CR3": 1.0}  # of 1 / (1 − x)

NO_INFORMATION = 1e-12  # of the largest eigenvalue: the constant, of which model 1 knows nothing
WHOLE = 1 - 1e-9  # a share from which a cluster has all the information on some difference
MOST_TERMS = 30  # of the series: enough for shares up to a third
MANY_PARAMETERS, MORE_TERMS = 300, 300  # parameters from which a decomposition takes longer than that many terms
SERIES_TOLERANCE = 1e-12  # of the sum
GROWTH = 10.0  # of the ratio of one term to the last from term to term, at most, for the next to be foreseen
LEAST = np.finfo(float).tiny  # instead of 0, where a cluster has no score
FEW_CLUSTERS = 50  # up to which eigenvalues are taken at once: some of so few are too large for the series
MANY_ROWS = 2000  # as clusters, from which the adjustment is minute
ROUGH = 1e-6  # of an influence, to which it is then summed
EXACT_COST = 3e8  # G² × (J³ + 100 J²) up to which the freedom of all pairs is exact: a tenth of a second
SHARES_COST = 5e8  # G × J³ up to which every pair's own shares are known
NUMBERS_AT_A_TIME = 2**20

Source = Literal["exact", "shares", "shares of editions"]
ROWS = 256  # multiplied at once


class RowClusters:
    """Clusters of rows with one fixed intent size each, which is eliminated; scores and information of each.

    All is in coordinates in which the total information is the identity. `numbers` (G,) are those of the caller.

    Parameters
    ----------
    rows : RowInformation
        Scores and information of the rows.
    cluster : ndarray of int, shape (I,)
        The cluster of each row.
    basis : ndarray, shape (J, K), optional
        Full rank: c was sought among its combinations.
    inverse : ndarray, shape (J, J), optional
        Inverse of the information, where it is known.

    Raises
    ------
    DataError
        If all rows are in one cluster.
    numpy.linalg.LinAlgError
        If the information is not positive definite.
    """

    cells_at_a_time = CELLS_AT_A_TIME

    def __init__(
        self, rows: RowInformation, cluster: Integers, basis: Floats | None = None, inverse: Floats | None = None
    ) -> None:
        self._sort(rows, cluster)
        self._basis, self._inverse = basis, inverse

    @cached_property
    def root(self) -> Floats:
        """W, shape (P, r), here (J, r): the inverse of the information is W Wᵀ."""
        total, basis = self._rows.total, self._basis
        return inverse_root(total) if basis is None else basis @ inverse_root(basis.T @ total @ basis)

    @cached_property
    def _across(self) -> Floats:
        return np.asarray(self.root @ self.root.T) if self._inverse is None else self._inverse

    def influences(self, block: slice) -> Floats:
        """Return A Wᵀ S_g of some clusters, (n, Q): influences without an adjustment, in the coordinates of `times`."""
        rows, starts = self._of(np.arange(block.start, block.stop))
        return sums_of(rows.score, starts) @ self._across

    @property
    def editions(self) -> int:
        """Number of editions, J."""
        return self._rows.shape[1]

    @property
    def many(self) -> bool:
        """Whether clusters are single rows and many, each with a minute share."""
        return self._basis is None and len(self.numbers) == self._rows.shape[0] >= MANY_ROWS

    @property
    def tolerance(self) -> float:
        """Part of an influence at which the sum of its adjustment ends."""
        return ROUGH if self.many else SERIES_TOLERANCE

    @property
    def freedom(self) -> Floats | None:
        """Degrees of freedom of each edition from the weights of its cells, (J,); None where rows are few."""
        if not self.many:
            return None
        total, squares = np.zeros((2, self._rows.shape[1]))
        for rows in blocks_of(*self._rows.shape):
            weight = self._rows.of(rows).weight
            total += weight.sum(axis=0)
            squares += np.einsum("ij,ij->j", weight, weight)
        return total**2 / squares

    def at_once(self, block: slice, power: float) -> Floats:
        """Return scores of some rows with the first term of the adjustment by the diagonal of the information, (n, J).

        Shares of thousands of single rows are minute, and a product with a J × J matrix for each term is not.
        """
        score, weight, mixed = self._rows.of(block)
        part = score / self._own
        across = np.einsum("ij,ij->i", mixed, part)
        part *= weight
        part -= mixed * across[:, None]
        part *= power
        part += score
        return part

    @cached_property
    def _own(self) -> Floats:
        own = np.zeros(self._rows.shape[1])
        for block in blocks_of(*self._rows.shape):
            own += self._rows.of(block).weight.sum(axis=0)
        return own

    def products(self, kind: Kind) -> Floats:
        """Return the sum of the products of adjusted influences, shape (J, J), of which none is kept."""
        editions = self._rows.shape[1]
        gram = np.zeros((editions, editions), order="F")
        if kind in POWER and self.many and editions > MANY_PARAMETERS:
            for block in blocks_of(*self._rows.shape):
                gram = add_products(gram, self.at_once(block, POWER[kind]))
            return np.asarray(self._across @ whole(gram) @ self._across)
        for block in self.blocks():
            gram = add_products(gram, adjusted(self, block, self.influences(block), kind))
        return whole(gram)

    def _sort(self, rows: RowInformation, cluster: Integers) -> None:
        """Sort the rows by cluster."""
        self.numbers, code = np.unique(cluster, return_inverse=True)
        _check_number(self.numbers)
        if (np.diff(code) < 0).any():
            order = np.argsort(code, kind="stable")
            of = rows.of
            rows, code = RowInformation(rows.shape, lambda part: of(order[part])), code[order]
        self._rows = rows
        self._starts = np.searchsorted(code, np.arange(len(self.numbers) + 1))

    def across(self, vectors: Floats) -> Floats:
        """Return vectors times A Aᵀ, here the pseudo-inverse of the information, (n, Q) → (n, Q)."""
        return vectors @ self._across

    def blocks(self) -> list[slice]:
        """Return slices of clusters that are computed together."""
        most = max(1, self.cells_at_a_time // self._rows.shape[1])
        first, blocks = 0, []
        while first < len(self.numbers):
            last = int(np.searchsorted(self._starts, self._starts[first] + most, side="right")) - 1
            blocks.append(slice(first, max(last, first + 1)))
            first = blocks[-1].stop
        return blocks

    @property
    def axes(self) -> Floats:
        """A, shape (Q, r), with C_g = Aᵀ K_g A for the K_g by which `times` multiplies: the root, as K_g = B_g."""
        return self.root

    def _of(self, which: Integers) -> tuple[Rows, Integers]:
        """Return the rows of some clusters, and the first row of each cluster."""
        first, size = self._starts[which], self._starts[which + 1] - self._starts[which]
        starts = np.append(0, np.cumsum(size))
        rows: slice | Integers
        if which[-1] - which[0] == len(which) - 1:
            rows = slice(int(first[0]), int(first[0] + starts[-1]))  # no copy
        else:
            rows = np.arange(starts[-1]) + np.repeat(first - starts[:-1], size)
        return self._rows.of(rows), starts

    def shares(self, which: Integers) -> Floats:
        """Return the share C_g of the information of some clusters, shape (n, r, r)."""
        half = len(which) // 2
        if half and (self._starts[which + 1] - self._starts[which]).sum() * self.editions > CELLS_OF_WINDOWS:
            return np.concatenate([self.shares(which[:half]), self.shares(which[half:])])
        rows, starts = self._of(which)
        shares = (self.root.T * sums_of(rows.weight, starts)[:, None, :]) @ self.root
        across, single = rows.mixed @ self.root, np.diff(starts) == 1
        alone = across[starts[:-1][single]]
        shares[single] -= alone[:, :, None] * alone[:, None, :]
        for place in np.flatnonzero(~single):
            part = across[starts[place] : starts[place + 1]]
            shares[place] -= part.T @ part
        return shares

    def eigen(self, which: Integers) -> tuple[Floats, Floats]:
        """Return the eigenvalues (n, r) and eigenvectors (n, r, r) of the share C_g of some clusters."""
        return np.linalg.eigh(self.shares(which))

    def times(self, which: Integers, vectors: Floats) -> Floats:
        """Return the product of K_g and a vector of each of some clusters, (n, Q) → (n, Q)."""
        (_, weight, mixed), starts = self._of(which)
        of_rows = vectors if len(weight) == len(vectors) else np.repeat(vectors, np.diff(starts), axis=0)
        products = weight * of_rows
        products -= mixed * np.einsum("ij,ij->i", mixed, of_rows)[:, None]
        return sums_of(products, starts)

    def of_parameters(self, influences: Floats) -> Floats:
        """Return W v from A v, (n, Q) → (n, P): here the same."""
        return influences

    def shares_along(self, directions: Floats) -> Floats:
        """Return xᵀ C_g x for each direction x, (n, r) → (G, n)."""
        along = directions @ self.root.T
        shares = np.empty((len(self.numbers), len(along)))
        for block in self.blocks():
            (_, weight, mixed), starts = self._of(np.arange(block.start, block.stop))
            shares[block] = sums_of(weight @ (along**2).T - (mixed @ along.T) ** 2, starts)
        return shares


class SummedClusters:
    """Clusters given by their sums of scores and information.

    Parameters
    ----------
    scores : ndarray, shape (G, P)
        Scores in all parameters, summed over each cluster.
    information : ndarray, shape (G, P, P)
        Information on them, summed over each cluster.
    """

    tolerance = SERIES_TOLERANCE
    many, freedom = False, None

    def __init__(self, scores: Floats, information: Floats) -> None:
        self.numbers, self.scores = np.arange(len(scores)), scores
        _check_number(self.numbers)
        self.root = inverse_root(information.sum(axis=0))
        self._influences = scores @ self.root
        self._shares = self.root.T @ information @ self.root
        self._eigen: list[Floats] = []  # of all shares, which copies with another root have, too

    def influences(self, block: slice) -> Floats:
        """Return the influences of some clusters without an adjustment; see `RowClusters`."""
        return self._influences[block]

    def blocks(self) -> list[slice]:
        """Return one slice with all clusters; see `RowClusters`."""
        return [slice(0, len(self.numbers))]

    def shares(self, which: Integers) -> Floats:
        """Return the share C_g of the information of some clusters; see `RowClusters`."""
        return self._shares[which]

    def eigen(self, which: Integers) -> tuple[Floats, Floats]:
        """Return eigenvalues and eigenvectors of some shares; see `RowClusters`."""
        if not self._eigen:
            self._eigen += np.linalg.eigh(self._shares)
        part = slice(None) if len(which) == len(self.numbers) else which  # no copy of all
        return self._eigen[0][part], self._eigen[1][part]

    @property
    def axes(self) -> Floats:
        """The identity: K_g is C_g itself; see `RowClusters`."""
        return np.eye(self.root.shape[1])

    def times(self, which: Integers, vectors: Floats) -> Floats:
        """Return the product of C_g and a vector of each of some clusters; see `RowClusters`."""
        result: Floats = np.einsum("gpq,gq->gp", self._shares[which], vectors)
        return result

    def across(self, vectors: Floats) -> Floats:
        """Return the vectors; see `RowClusters`."""
        return vectors

    def of_parameters(self, influences: Floats) -> Floats:
        """Return influences on the parameters; see `RowClusters`."""
        return influences @ self.root.T

    def shares_along(self, directions: Floats) -> Floats:
        """Return xᵀ C_g x for each direction x; see `RowClusters`."""
        along: Floats = np.einsum("np,gpq,nq->gn", directions, self._shares, directions, optimize=True)
        return along


Clusters = RowClusters | SummedClusters


def sums_by_cluster(rows: Floats, cluster: Integers) -> Floats:
    """Sum rows by cluster, each numbered from 0 to G − 1, (I, P) → (G, P)."""
    count = np.bincount(cluster)
    ordered = rows if (np.diff(cluster) >= 0).all() else rows[np.argsort(cluster, kind="stable")]
    return sums_of(ordered, np.append(0, np.cumsum(count)))


def sums_of(rows: Floats, starts: Integers) -> Floats:
    """Sum the rows of each cluster, (I, …) → (G, …)."""
    if len(starts) - 1 == len(rows):
        return rows
    return np.add.reduceat(rows, starts[:-1], axis=0)


def _check_number(numbers: Integers) -> None:
    if len(numbers) < 2:
        raise DataError("all intents are in one cluster; at least 2 are needed, and about 10 to be trusted.")


def inverse_root(information: Floats) -> Floats:
    """Return W with W Wᵀ the pseudo-inverse of the information, (P, P) → (P, r).

    Raises
    ------
    numpy.linalg.LinAlgError
        If the information has a negative eigenvalue.
    """
    own = np.diag(information)
    if not np.isfinite(information).all() or (own < -NO_INFORMATION * np.abs(own).max()).any():
        raise LinAlgError("the information is not positive definite")
    known = own > NO_INFORMATION * own.max(initial=0.0)  # of the constant alone model 1 knows nothing
    scale = np.zeros(len(own))
    scale[known] = 1 / np.sqrt(own[known])
    values, vectors = np.linalg.eigh(information * scale[:, None] * scale)
    if values[0] < -NO_INFORMATION * values[-1]:
        raise LinAlgError("the information is not positive definite")
    known = values > NO_INFORMATION * values[-1]
    root: Floats = scale[:, None] * vectors[:, known] / np.sqrt(values[known])
    return root


def covariance_of_clusters(clusters: Clusters, kind: Kind = "CR2") -> Floats:
    """Estimate the covariance of the parameters from clusters, shape (P, P); only contrasts of c have a meaning.

    With one row per cluster this is the plain sandwich. A cluster without which editions could not be compared has no
    error of its own to show: let `langdiff.regression.kernel.two_way.check_clusters` look for such clusters first.
    """
    factor = len(clusters.numbers) / (len(clusters.numbers) - 1) if kind == "CR1" else 1.0
    if isinstance(clusters, RowClusters):
        return factor * clusters.products(kind)
    influences = adjusted_influences(clusters, kind)
    return factor * (influences.T @ influences)


def adjusted_influences(clusters: Clusters, kind: Kind) -> Floats:
    """Return the influence W f(C_g) Wᵀ S_g of each cluster on the parameters, shape (G, P)."""
    parts = clusters.blocks()
    if kind in POWER and isinstance(clusters, RowClusters) and clusters.many and clusters.editions > MANY_PARAMETERS:
        return np.concatenate([clusters.across(clusters.at_once(block, POWER[kind])) for block in parts])
    return clusters.of_parameters(
        np.concatenate([adjusted(clusters, block, clusters.influences(block), kind) for block in parts])
    )


def adjusted(clusters: Clusters, block: slice, vectors: Floats, kind: Kind) -> Floats:
    """Return A f(C_g) v for a vector A v of each cluster of a block, (n, Q) → (n, Q); see `RowClusters.axes`."""
    if kind not in POWER:
        return vectors
    power, width, slow = POWER[kind], vectors.shape[1], np.ones(len(vectors), dtype=bool)
    result = np.empty_like(vectors)
    if len(clusters.numbers) > FEW_CLUSTERS or width > MANY_PARAMETERS:
        most = MOST_TERMS if width <= MANY_PARAMETERS else MORE_TERMS
        result, slow = _series(clusters, block, vectors, power, most)
    if not slow.any():
        return result
    rank = clusters.axes.shape[1]
    for some in np.array_split(np.flatnonzero(slow), 1 + slow.sum() * rank**2 // CELLS_AT_A_TIME):
        if not len(some):
            continue
        # f(C) v = v + Σ_k a_k (f(λ_k) − 1)/λ_k a_kᵀ C v, for eigenvectors a_k; at λ = 0 the ratio is the power
        g = block.start + some
        values, along = shares_by_axis(clusters, g)
        none = np.abs(values) < NO_INFORMATION
        ratio = np.where(none, power, np.expm1(-power * np.log1p(-values)) / np.where(none, 1.0, values))
        parts = ratio * np.einsum("gpr,gp->gr", along, clusters.times(g, vectors[some]) @ clusters.axes)
        result[some] = vectors[some] + np.einsum("gpr,gr->gp", along, parts) @ clusters.axes.T
    return result


def _series(clusters: Clusters, block: slice, vectors: Floats, power: float, most: int) -> tuple[Floats, np.ndarray]:
    """Return the sums of the series of f, and an indicator of clusters for which it has not converged.

    With C = AᵀKA each term, A C v = A Aᵀ K (A v), follows from the last by one product with a matrix. Clusters whose
    next term is foreseen to be small are left out of those that follow.
    """
    total, left = vectors.copy(), np.arange(len(vectors))
    term, before = vectors, np.ones(len(vectors))
    least = before  # of the squared length of v: (vᵀ C v)² / vᵀ C² v
    for k in range(1, most + 1):
        product = clusters.times(block.start + left, term) * ((k - 1 + power) / k)
        next_term = clusters.across(product)
        square = np.einsum("gp,gp->g", product, next_term)  # of the length of the term
        if k == 1:
            before = least = np.einsum("gp,gp->g", product, term) ** 2 / np.maximum(square, LEAST)
        term, growth = next_term, square / np.maximum(before, LEAST)
        slow = square * np.minimum(1, GROWTH**2 * growth) > clusters.tolerance**2 * least
        if len(left) == len(total):
            total += term
        else:
            total[left] += term
        before = square
        if not slow.all():
            left, term, before, least = left[slow], term[slow], before[slow], least[slow]
        if not len(left):
            break
    unfinished = np.zeros(len(vectors), dtype=bool)
    unfinished[left] = True
    return total, unfinished


def shares_by_axis(clusters: Clusters, which: Integers) -> tuple[Floats, Floats]:
    """Return the eigenvalues (n, r) and eigenvectors (n, r, r) of C_g.

    Raises
    ------
    DataError
        If a cluster has all the information on some difference.
    """
    values, axes = clusters.eigen(which)
    whole = clusters.numbers[which][values[:, -1] > WHOLE]
    if len(whole):
        first = ", ".join(str(number) for number in whole[:5])
        raise DataError(
            f"{len(whole)} of {len(clusters.numbers)} clusters (number {first}) have all the information on some "
            "difference between editions, so that nothing says how much it varies between clusters. Merge them with "
            "others, or leave out the editions that only they have."
        )
    return values, axes


def crossed_covariance(one: Floats, other: Floats, both: Floats) -> Floats:
    """Return the covariance with two crossed kinds of clusters, such as documents and translators.

    Cells vary together if they share either cluster: those that share both are counted once. The difference of matrices
    may have negative eigenvalues, which are set to 0 (Cameron, Gelbach and Miller 2011). The degrees of freedom are the
    smaller of the two kinds'.

    Parameters
    ----------
    one, other, both : ndarray, shape (J, J)
        Covariances with clusters of one kind, of the other, and with the intersections as clusters.
    """
    values, axes = np.linalg.eigh(one + other - both)
    positive: Floats = (axes * np.maximum(values, 0.0)) @ axes.T
    return positive


def nested_covariance(clusters: Clusters, group: Integers, kind: Kind = "CR2") -> Floats:
    """Estimate the covariance given the groups, with new clusters within them: the same books, other chapters.

    Variation between groups is not part of this covariance: the scores of the n clusters of a group are taken less
    their mean, and their products times n/(n − 1). A group of one cluster does not show how much its clusters vary; its
    score stays whole, which is cautious.

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
    influences = adjusted_influences(clusters, kind)
    _, code, size = np.unique(group, return_inverse=True, return_counts=True)
    mean = sums_by_cluster(influences, code) / size[:, None]
    mean[size == 1] = 0.0
    factor = size / np.maximum(size - 1, 1)
    within = (influences - mean[code]) * np.sqrt(factor[code])[:, None]
    return within.T @ within


def nested_freedom(freedom: Floats, group: Integers) -> Floats:
    """Return the degrees of freedom after subtracting the means of the groups.

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
    return freedom * (len(group) - means) / (len(group) - 1)


def design_effect(clustered: Floats, plain: Floats) -> float:
    """Return the ratio of the variances of differences with and without clusters, pooled over all pairs.

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
    """Return the mean variance of differences over all pairs, up to a constant factor."""
    return float(np.trace(covariance) - covariance.sum() / len(covariance))


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
    r"""Return the degrees of freedom of all differences, and of each edition against the mean.

    The variance of a contrast l is a quadratic form of the cells, with matrix P for independent and alike errors: with
    :math:`\lambda = W^\top l`, :math:`u_g = f(C_g)\lambda` and :math:`y_g = C_g u_g`,

    .. math:: P_{gk} = \delta_{gk}\, u_g^\top y_g - y_g^\top y_k, \quad
              \nu = (\mathrm{tr}\,P)^2 / \textstyle\sum_{gk} P_{gk}^2

    (Bell and McCaffrey 2002; Satterthwaite 1946). If all editions have all intents, :math:`C_g` is a number, the share
    :math:`\pi_g`, and

    .. math:: 1/\nu = \sum_g \pi_g^2 + \sum_{g \ne k} \frac{\pi_g^2 \pi_k^2}{(1 - \pi_g)(1 - \pi_k)}

    which with :math:`\pi_g = \lambda^\top C_g \lambda / \lambda^\top\lambda` comes close in other tables.

    Parameters
    ----------
    clusters : Clusters
        Clusters of the fit; c are the first J parameters.
    mean : ndarray, shape (J,)
        Weights of the editions in the mean, with sum 1.
    """
    own = clusters.freedom
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
        """Return the influences of some clusters without an adjustment; see `RowClusters`."""
        rows, starts = self._of(np.arange(block.start, block.stop))
        return self._information.solve(sums_of(rows.score, starts))

    def across(self, vectors: Floats) -> Floats:
        """Return vectors times the inverse information; see `RowClusters`."""
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
    return sums_by_cluster(residual, number) * scale[:, None]
