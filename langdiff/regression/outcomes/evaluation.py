r"""Log-likelihood of a table of outcomes, marginal or conditional, with gradient, Hessian and scores of rows.

.. math:: \eta_{ij} = m_{b(i)j} - x_i^\top\beta - \lambda_j \sigma v_i - \tau u_{il(j)},
    \qquad v_i, u_{il} \sim \mathcal{N}(0, 1)

Parameters are kept as one vector: levels m (block by block), β, τ, σ, ln λ, and the parameter d of the likelihood.
Without languages τ is 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.outcomes import nested
from langdiff.regression.outcomes.integrals import (
    FEWEST_ROWS,
    Nodes,
    Rows,
    circle_nodes,
    hermite_nodes,
    kinds,
    modes,
    shared_moments,
    sharing,
    sharing_a_circle,
)
from langdiff.regression.outcomes.likelihoods import CellTerms, Structure

RASCH = Structure()
AT_ONCE = 100_000  # numbers of an array, so that few megabytes are in use


@dataclass(frozen=True, kw_only=True, eq=False)
class Point:
    """Parameters of the models; with conditional levels only `level` is estimated.

    Attributes
    ----------
    level : ndarray, shape (B, J)
        m, log odds.
    slope : ndarray, shape (K,)
        β, log odds per unit of a covariate.
    spread : float
        σ, the spread of items, log odds; not negative.
    log_loading : ndarray, shape (J,)
        ln λ.
    d : float or None
        The parameter of the likelihood; None if it has none.
    translation : float
        τ, the spread of an item in one language about the item, log odds; not negative.
    """

    level: Floats
    slope: Floats
    spread: float
    log_loading: Floats
    d: float | None = None
    translation: float = 0.0

    def to_vector(self) -> Floats:
        """Return all parameters."""
        d = 0.0 if self.d is None else self.d
        return np.concatenate([self.level.ravel(), self.slope, [self.translation, self.spread], self.log_loading, [d]])

    def from_vector(self, vector: Floats) -> "Point":
        """Return the point of these parameters, of the same model."""
        blocks, systems = self.level.shape
        level, slope, translation, spread, log_loading, d = np.split(
            vector, np.cumsum([blocks * systems, len(self.slope), 1, 1, systems])
        )
        return replace(
            self,
            level=level.reshape(blocks, systems),
            slope=slope,
            translation=abs(float(translation[0])),  # the likelihood is even in both
            spread=abs(float(spread[0])),
            log_loading=log_loading,
            d=None if self.d is None else float(d[0]),
        )


@dataclass(frozen=True, eq=False)
class Value:
    """Log-likelihood at a point (without binomial coefficients), gradient and Hessian; scores of rows if asked for."""

    log_likelihood: float
    gradient: Floats
    hessian: Floats
    row_log_likelihoods: Floats
    scores: Floats


@dataclass(frozen=True, eq=False)
class _Moments:
    """Integrals of the rows of a block, as logarithms, (n,), and moments over the nodes of u, the derivatives by node.

    u has the columns m (J), τ, σ, ln λ (J) and d, as far as they are wanted. `cross` is the Hessian between a shift of
    all m and u.
    """

    log_integral: Floats  # (n,)
    mean: Floats  # (n, D)
    hessian: Floats  # (D, D), weighted sum over rows
    cross: Floats  # (n, D)


def evaluate(
    rows: Rows,
    point: Point,
    structure: Structure = RASCH,
    *,
    nodes: int = 15,
    coarse: bool = False,
    scores: bool = False,
) -> Value:
    """Return the log-likelihood of rows and its derivatives in all parameters.

    Parameters
    ----------
    rows : Rows
        Outcomes; for the conditional likelihood without rows that are all right or all wrong.
    point : Point
        Where to evaluate.
    structure : Structure
        The model; derivatives in ln λ are 0 unless loadings are free.
    nodes : int
        Number of nodes of the quadrature, where rows share none; the conditional likelihood has as many as it needs.
    coarse : bool
        Whether nodes that rows share may be farther apart, as is good enough on the way.
    scores : bool
        Whether to return the gradient of each row as well.
    """
    systems, covariates = rows.s.shape[1], rows.x.shape[1]
    blocks = len(point.level)
    n_m = blocks * systems
    size = n_m + covariates + systems + 3
    of_tau = n_m + covariates
    wanted = np.array([], dtype=int)  # of τ, σ, ln λ and d
    within = nests(rows, point, structure)
    if not structure.conditional:
        of_d = [] if point.d is None else [size - 1]
        of_loadings = range(of_tau + 2, size - 1) if structure.loadings == "free" else []
        wanted = np.array([*([of_tau] if within else []), of_tau + 1, *of_loadings, *of_d])
    slope = np.arange(n_m, n_m + covariates)
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    log_integrals = np.zeros(len(rows.s))
    all_scores = np.zeros((len(rows.s) if scores else 0, size))
    for part, shared in parts(rows, point, structure, nodes, coarse=coarse):
        some = rows.take(part)
        m = np.arange(systems) + systems * int(some.block[0])
        u = np.concatenate([m, wanted])
        if within:
            moments = _nested(some, point, structure, coarse=coarse)
        else:
            moments = _moments(some, point, structure, nodes) if shared is None else _shared(some, point, shared)
        w = some.weight
        log_integrals[part] = moments.log_integral
        gradient[u] += w @ moments.mean
        hessian[np.ix_(u, u)] += moments.hessian
        shift = moments.mean[:, :systems].sum(axis=1)
        if covariates:
            weighted = some.x * w[:, None]
            gradient[slope] -= shift @ weighted
            between = -weighted.T @ moments.cross
            hessian[np.ix_(slope, u)] += between
            hessian[np.ix_(u, slope)] += between.T
            hessian[np.ix_(slope, slope)] += weighted.T @ (some.x * moments.cross[:, :systems].sum(axis=1)[:, None])
        if scores:
            all_scores[np.ix_(part, u)] = moments.mean
            all_scores[np.ix_(part, slope)] = -some.x * shift[:, None]
    return Value(float(rows.weight @ log_integrals), gradient, hessian, log_integrals, all_scores)


def parts(
    rows: Rows, point: Point, structure: Structure, nodes: int, *, coarse: bool = False
) -> Iterator[tuple[Integers, Nodes | None]]:
    """Yield places of rows of one block, and the nodes they share; None if each row has its own.

    Those without common nodes are few enough for arrays of rows × nodes × systems; nested integrals are of as many
    rows as may share tables, and have nodes of their own.
    """
    alike = totals_suffice(rows, point, structure)
    within = nests(rows, point, structure)
    for block in np.unique(rows.block):
        places = np.flatnonzero(rows.block == block)
        if within:
            step = nested.items_at_once(len(places), structure.groups(rows.s.shape[1]))
            yield from ((places[start : start + step], None) for start in range(0, len(places), step))
            continue
        left = np.ones(len(places), dtype=bool)
        if alike and len(places) >= FEWEST_ROWS:
            kind = kinds(rows.x[places])
            for one in np.flatnonzero(np.bincount(kind) >= FEWEST_ROWS):
                inside = places[kind == one]
                level = row_levels(rows.take(inside[:1]), point)[0]
                found = (
                    sharing_a_circle(rows, inside, level)
                    if structure.conditional
                    else sharing(rows, inside, level, point.spread, coarse=coarse)
                )
                for part in found:
                    left[kind == one] = False
                    yield part
        places = places[left]
        if structure.conditional and len(places):  # with as many nodes as trials need
            trials = rows.t[places].sum(axis=1)
            places = places[np.argsort(trials, kind="stable")]
            nodes = int(trials.max()) // 2 + 1
        step = max(1, AT_ONCE // (nodes * rows.s.shape[1]))
        for start in range(0, len(places), step):
            yield places[start : start + step], None


def totals_suffice(rows: Rows, point: Point, structure: Structure) -> bool:
    """Return whether rows of equal covariates and totals differ by a linear term only."""
    return structure.totals_suffice and rows.constant is None and point.translation == 0 and not point.log_loading.any()


def nests(rows: Rows, point: Point, structure: Structure) -> bool:
    """Return whether integrals over translations are within those over items, or rows share patterns of guesses."""
    if not structure.totals_suffice or structure.conditional:
        return False
    return point.translation > 0 or rows.constant is not None


def make_nest(
    some: Rows,
    point: Point,
    structure: Structure,
    *,
    coarse: bool = False,
    shifting: bool = False,
    bare: bool = False,
) -> nested.Nest:
    """Return the nested integrals of rows of one block."""
    return nested.make_nest(
        some,
        row_levels(some, point),
        structure.groups(some.s.shape[1]),
        point.spread,
        point.translation,
        coarse=coarse,
        shifting=shifting,
        bare=bare,
    )


def _nested(some: Rows, point: Point, structure: Structure, *, coarse: bool) -> _Moments:
    """Return the moments of rows of one block by nested integrals; u has the columns m, τ and σ."""
    covariates, (count, systems), w = some.x.shape[1] > 0, some.s.shape, some.weight
    nest = make_nest(some, point, structure, coarse=coarse, shifting=covariates)
    mean, cross = (np.zeros((count, systems + 2)) for _ in range(2))
    hessian = nested.inner_hessian(nest, w)
    for places, start, width in nested.windows(nest):
        share = nest.share[places[:, None], start[:, None] + np.arange(width)]
        slopes = nested.gather(nest, places, start, width)
        mean[places] = (share[:, None] @ slopes)[:, 0]
        flat = (np.sqrt(share * w[places, None])[:, :, None] * slopes).reshape(-1, systems + 2)
        hessian += flat.T @ flat
        if covariates:
            shift = slopes[:, :, :systems].sum(axis=2)
            second = nested.gather(nest, places, start, width, along=True)
            cross[places] = ((share * shift)[:, None] @ slopes + share[:, None] @ second)[:, 0]
    hessian -= (w[:, None] * mean).T @ mean
    cross -= mean[:, :systems].sum(axis=1)[:, None] * mean
    return _Moments(nest.log_integral, mean, hessian, cross)


def place_nodes(some: Rows, point: Point, structure: Structure, nodes: int) -> Nodes:
    """Return the nodes of rows of one block."""
    if structure.conditional:
        return circle_nodes(row_levels(some, point), some.s, some.t, int(some.t.sum(axis=1).max()) // 2 + 1)
    loading = point.spread * np.exp(point.log_loading)
    return hermite_nodes(*modes(lambda v: cells_at(some, point, structure, v), loading, some.t), nodes)


def cells_at(some: Rows, point: Point, structure: Structure, v: Any) -> CellTerms:
    """Return the terms of rows at nodes, shape (n, Q)."""
    conditional = structure.conditional
    loading = -np.ones(some.s.shape[1]) if conditional else point.spread * np.exp(point.log_loading)
    return structure.likelihood.at_nodes(row_levels(some, point), loading, v, some.s, some.t, point.d, some.constant)


def row_levels(some: Rows, point: Point) -> Floats:
    """Return log odds of success at v = 0, shape (n, J)."""
    levels: Floats = point.level[some.block] - (some.x @ point.slope)[:, None]
    return levels


def _shared(some: Rows, point: Point, nodes: Nodes) -> _Moments:
    """Return the moments of rows of equal covariates: a shift of all m is one vector for all of them."""
    systems = some.s.shape[1]
    loading = -1.0 if np.iscomplexobj(nodes.v) else point.spread
    found = shared_moments(some, row_levels(some.take(slice(1)), point)[0], loading, nodes)
    shift = found.hessian[:systems].sum(axis=0) / some.weight.sum()
    return _Moments(*found, cross=np.broadcast_to(shift, found.mean.shape))


def _moments(some: Rows, point: Point, structure: Structure, nodes: int) -> _Moments:
    v, log_weight = place_nodes(some, point, structure, nodes)
    systems, sign = some.s.shape[1], -1.0 if structure.conditional else 1.0
    cells = cells_at(some, point, structure, v)
    log_f = sign * cells.value + log_weight
    highest = log_f.real.max(axis=1, keepdims=True)
    f = np.exp(log_f - highest)
    total = f.real.sum(axis=1, keepdims=True)
    share = f / total  # (n, Q)
    u = _derivatives(cells, v, point, structure)  # (n, Q, D)
    mean = (share[:, None, :] @ u)[:, 0].real
    weighted = ((share * some.weight[:, None])[:, :, None] * u).reshape(-1, u.shape[2])
    covariance = (weighted.T @ u.reshape(-1, u.shape[2])).real - (mean * some.weight[:, None]).T @ mean
    second = _second_derivatives(cells, v, share, structure)
    hessian, cross = _assemble(second, some.weight, point, structure, u.shape[2])
    if some.x.shape[1]:
        shift = cells.of_eta.sum(axis=2)
        expected = ((share * shift)[:, None, :] @ u)[:, 0].real
        cross += sign * (expected - mean[:, :systems].sum(axis=1)[:, None] * mean)
    return _Moments(
        log_integral=sign * (np.log(total) + highest)[:, 0],
        mean=mean,
        hessian=hessian + sign * covariance,
        cross=cross,
    )


def _derivatives(cells: CellTerms, v: Any, point: Point, structure: Structure) -> Any:
    """Return ∂/∂(m, σ, ln λ, d) of the log-likelihood of each row at each node, shape (n, Q, D); see `_Moments`."""
    r = cells.of_eta
    if structure.conditional:
        return r
    systems, loading = r.shape[2], np.exp(point.log_loading)
    free = structure.loadings == "free"
    u = np.empty((*r.shape[:2], systems + 1 + systems * free + (point.d is not None)))
    u[:, :, :systems] = r
    u[:, :, systems] = -v * (r @ loading)
    if free:
        u[:, :, systems + 1 : 2 * systems + 1] = -v[:, :, None] * (point.spread * loading) * r
    if cells.of_d is not None:
        u[:, :, -1] = cells.of_d.sum(axis=2)
    return u


@dataclass(frozen=True, eq=False)
class _Second:
    """Expected second derivatives of each row, shape (n, J), by cell; None where not needed."""

    eta: Floats
    eta_v: Floats | None = None  # times −v
    eta_v2: Floats | None = None  # times v²
    r_v: Floats | None = None  # first derivative times −v
    eta_d: Floats | None = None
    eta_d_v: Floats | None = None  # times −v
    d: Floats | None = None


def _second_derivatives(cells: CellTerms, v: Any, share: Any, structure: Structure) -> _Second:
    if structure.conditional:
        return _Second(-(share[:, None, :] @ cells.curvature)[:, 0].real)
    by_v = np.stack([-share, share * v, -share * v**2], axis=1) @ cells.curvature  # (n, 3, J)
    r_v = (-(share * v)[:, None, :] @ cells.of_eta)[:, 0]
    if cells.of_d is None:
        return _Second(by_v[:, 0], by_v[:, 1], by_v[:, 2], r_v)
    eta_d = np.stack([share, -share * v], axis=1) @ cells.of_eta_d
    d = (share[:, None, :] @ cells.of_d2)[:, 0]
    return _Second(by_v[:, 0], by_v[:, 1], by_v[:, 2], r_v, eta_d[:, 0], eta_d[:, 1], d)


def _assemble(second: _Second, weight: Floats, point: Point, structure: Structure, size: int) -> tuple[Floats, Floats]:
    """Return the weighted sum of second derivatives in u, shape (D, D), and those with a shift, (n, D)."""
    loading, sigma, free = np.exp(point.log_loading), point.spread, structure.loadings == "free"
    J = len(loading)
    m, s = np.arange(J), J
    cross, hessian = np.zeros((len(weight), size)), np.zeros((size, size))
    cross[:, m] = second.eta
    hessian[m, m] = weight @ second.eta
    if second.eta_v is None or second.eta_v2 is None or second.r_v is None:
        return hessian, cross

    def pair(one: Any, other: Any, values: Any) -> None:
        hessian[one, other] = values
        hessian[other, one] = values

    by_sigma = second.eta_v * loading
    cross[:, s] = by_sigma.sum(axis=1)
    pair(m, s, weight @ by_sigma)
    squares, pulls = weight @ (second.eta_v2 * loading**2), weight @ (second.r_v * loading)
    hessian[s, s] = squares.sum()
    if free:
        log_l = np.arange(J + 1, 2 * J + 1)
        cross[:, log_l] = sigma * by_sigma
        pair(m, log_l, sigma * (weight @ by_sigma))
        pair(s, log_l, sigma * squares + pulls)
        hessian[log_l, log_l] = sigma**2 * squares + sigma * pulls
    if second.eta_d is not None and second.eta_d_v is not None and second.d is not None:
        d = size - 1
        by_v_d = weight @ (second.eta_d_v * loading)
        cross[:, d] = second.eta_d.sum(axis=1)
        pair(m, d, weight @ second.eta_d)
        pair(s, d, by_v_d.sum())
        if free:
            pair(log_l, d, sigma * by_v_d)
        hessian[d, d] = (weight @ second.d).sum()
    return hessian, cross
