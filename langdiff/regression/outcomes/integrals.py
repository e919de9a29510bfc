r"""Rows of outcomes as arrays, and the nodes and moments of the integrals behind them.

The marginal likelihood of a row is an integral over its difficulty v, taken by adaptive Gauss–Hermite quadrature
(Naylor and Smith 1982; Liu and Pierce 1994). The conditional likelihood given the row's total S has as denominator the
coefficient of :math:`x^S` in :math:`\prod_j (1 + x e^{\theta_j})^{t_j}`: by Cauchy's formula an integral over a circle
in the complex plane, for which equidistant nodes, more of them than the degree, are exact. Its radius is chosen so
that the total is the expected one, where the coefficient is largest and nothing cancels. Derivatives of both are
moments of the same kind (Fisher, Louis).

Where totals suffice, rows of equal covariates have the same log odds at a node, so that only their successes and trials
differ and products of matrices serve many of them:
:math:`\ln f_{iq} = \sum_j s_{ij} \eta_{qj} - \sum_j t_{ij} \ln(1 + e^{\eta_{qj}})`. Their nodes are equidistant, over
the real line for the marginal likelihood (the trapezoidal rule, whose error falls exponentially: Trefethen and Weideman
2014) and on half a circle for the conditional one. Rows are sorted, so that those of a part need the same few nodes.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from langdiff.base.types import Floats, Integers
from langdiff.regression.outcomes.likelihoods import Binomial, CellTerms

AT_MODE = 1e-9  # of a difficulty, in its standard deviations
MODE_STEPS = 60
FEWEST_ROWS = 100  # rows of equal covariates for which sharing nodes is worth while
LARGEST, FEWEST_AT_ONCE, MOST_AT_ONCE = 200_000, 50, 1000  # rows × systems² of a part, and rows
STEP = 0.8  # of nodes, in the least standard deviation that a row can have
COARSER = 1.6  # times that on the way
POLE_STEP = 0.55  # of nodes, log odds, since the logistic function has poles πi from the real line
SEARCH_STEP = 2  # steps between places at which a row is tried
NEGLIGIBLE = 30.0  # below the logarithm of the largest value of an integrand
MOST_PLACES = 400
SORTED = 20_000  # rows at a time
MOST_TRIALS = 64  # of a row, up to which rows may share a circle


@dataclass(frozen=True, kw_only=True, eq=False)
class Rows:
    """Items as arrays.

    Attributes
    ----------
    s, t : ndarray, shape (I, J)
        Successes and trials, both 0 where a cell is missing.
    x : ndarray, shape (I, K)
        Covariates of the items.
    block : ndarray of int, shape (I,)
        Which levels of the systems an item has: its group, where systems and groups interact; otherwise 0.
    weight : ndarray, shape (I,)
        How often each row counts.
    constant : ndarray, shape (I, J), or None
        Constants of the cells, where the likelihood has them.
    """

    s: Floats
    t: Floats
    x: Floats
    block: Integers
    weight: Floats
    constant: Floats | None = None

    def take(self, rows: object) -> "Rows":
        """Return some rows, in the order given."""
        arrays = {name: array for name, array in vars(self).items() if array is not None}
        return Rows(**{name: array[rows] for name, array in arrays.items()})

    def reweighted(self, weight: Floats) -> "Rows":
        """Return the rows with other weights, those of weight 0 left out."""
        return replace(self, weight=weight).take(weight > 0)


def collapse(rows: Rows) -> Rows:
    """Merge rows as `patterns` does."""
    return patterns(rows)[0]


def patterns(rows: Rows) -> tuple[Rows, Integers]:
    """Merge rows of equal trials, covariates and total of successes, which differ only by linear terms.

    Where all systems are alike in how items bear on them, the likelihood of a row depends on its successes through
    their total and a linear term; rows that share the rest become one of their mean successes and their number.
    """
    constants = [] if rows.constant is None else [rows.constant]
    place = kinds(np.column_stack([rows.s.sum(axis=1), rows.t, rows.x, rows.block, *constants]))
    first = np.zeros(place.max() + 1, dtype=int)
    first[place[::-1]] = np.arange(len(place))[::-1]
    weight: Floats = np.bincount(place, rows.weight).astype(float)
    s = np.column_stack([np.bincount(place, rows.weight * column) for column in rows.s.T]) / weight[:, None]
    return replace(rows.take(first), s=s, weight=weight), place


def kinds(values: Floats) -> Integers:
    """Return a number for each row of an array, shape (n,), the same for equal rows."""
    varying = values[:, np.ptp(values, axis=0) > 0]
    if not varying.shape[1]:
        return np.zeros(len(values), dtype=int)
    as_bytes = np.ascontiguousarray(varying + 0.0).view(np.dtype((np.void, varying.itemsize * varying.shape[1])))
    return np.unique(as_bytes.ravel(), return_inverse=True)[1].astype(int)  # numbers one by one sort ten times slower


class Nodes(NamedTuple):
    """Nodes of every row and the logarithms of their weights, both of shape (n, Q)."""

    v: Any
    log_weight: Floats


def modes(terms: Callable[[Floats], CellTerms], loading: Floats, t: Floats) -> tuple[Floats, Floats]:
    """Find the most probable v of every row, and the curvature there.

    Shapes: loading (J,); t (n, J).
    """
    high = np.abs(loading) @ t.T + 1e-12
    low, v = -high, np.zeros(len(t))
    h = np.ones(len(t))
    for _ in range(MODE_STEPS):
        at = terms(v[:, None])
        slope = -(at.of_eta[:, 0] @ loading) - v
        h = 1 + np.maximum(at.curvature[:, 0] @ loading**2, 0)
        low, high = np.where(slope > 0, v, low), np.where(slope > 0, high, v)
        moved = v + slope / h
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        shift, v = np.abs(moved - v) * np.sqrt(h), moved
        if shift.max(initial=0) < AT_MODE:
            break
    return v, h


@lru_cache(maxsize=8)
def _hermite(count: int) -> tuple[Floats, Floats]:
    x, weight = np.polynomial.hermite.hermgauss(count)
    return x, np.log(weight) + x**2


def hermite_nodes(v: Floats, h: Floats, count: int) -> Nodes:
    """Return adaptive Gauss–Hermite nodes for integrals over standard normal v, about modes of some curvature."""
    x, log_weight = _hermite(count)
    nodes = v[:, None] + np.sqrt(2 / h)[:, None] * x
    scale = 0.5 * np.log(2 / h)[:, None] - 0.5 * np.log(2 * np.pi)
    return Nodes(nodes, log_weight + scale - 0.5 * nodes**2)


def circle_nodes(level: Floats, s: Floats, t: Floats, half: int) -> Nodes:
    """Return nodes on half a circle, the other half being conjugate, for rows of less than 2 `half` trials in total.

    No node is on the negative axis, where factors may vanish.
    """
    total, trials = s.sum(axis=1), t.sum(axis=1)
    centre = np.log(total / (trials - total))
    low, high = centre - level.max(axis=1) - 1e-9, centre - level.min(axis=1) + 1e-9
    v = (low + high) / 2
    for _ in range(MODE_STEPS):
        terms = Binomial().terms(level + v[:, None], s, t)  # whatever the size of θ
        slope = terms.of_eta.sum(axis=1)
        low, high = np.where(slope > 0, v, low), np.where(slope > 0, high, v)
        moved = v + slope / np.maximum(terms.curvature.sum(axis=1), 1e-300)
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        shift, v = np.abs(moved - v), moved
        if shift.max(initial=0) < AT_MODE:
            break
    angle = np.pi * (np.arange(half) + 0.5) / half
    return Nodes(v[:, None] + 1j * angle, np.full((len(s), half), -np.log(half)))


class SharedPart(NamedTuple):
    """Places of rows of one block and equal covariates, and the nodes they share, both of shape (1, Q)."""

    places: Integers
    nodes: Nodes


class SharedMoments(NamedTuple):
    """Moments of rows that share nodes, without the Hessian of a shift, which equal covariates imply."""

    log_integral: Floats  # (n,)
    mean: Floats  # (n, D)
    hessian: Floats  # (D, D)


def sharing(rows: Rows, places: Integers, level: Floats, spread: float, *, coarse: bool) -> Iterator[SharedPart]:
    """Yield parts of rows that share nodes of the marginal likelihood; none if there would be too many nodes.

    Shapes: level (J,).
    """
    if spread == 0:  # outcomes say nothing of v
        nodes = hermite_nodes(np.zeros(1), np.ones(1), 3)
        yield from (SharedPart(places=part, nodes=nodes) for part in _slices(places, len(level)))
        return
    s, t = rows.s[places], rows.t[places]
    trials = float(t.sum(axis=1).max())
    step = min(STEP / np.sqrt(1 + spread**2 * trials / 4), POLE_STEP / spread) * (COARSER if coarse else 1)
    farthest = min(spread * trials, (np.abs(level).max() + np.log1p(spread**2 * trials) + 1) / spread)
    reach = int(np.ceil((farthest + np.sqrt(2 * NEGLIGIBLE)) / (SEARCH_STEP * step)))
    if 2 * reach + 1 > MOST_PLACES:
        return
    v = SEARCH_STEP * step * np.arange(-reach, reach + 1)
    for start in range(0, len(places), SORTED):
        some = slice(start, start + SORTED)
        log_f = _log_cells(level - spread * v[:, None], s[some], t[some]) - v**2 / 2
        telling = log_f > log_f.max(axis=1, keepdims=True) - NEGLIGIBLE
        first, last = telling.argmax(axis=1), len(v) - telling[:, ::-1].argmax(axis=1)
        order = np.argsort(first + last, kind="stable")
        for part in _slices(order, t.shape[1]):
            ends = SEARCH_STEP * (np.array([first[part].min() - 1, last[part].max()]) - reach)
            nodes = step * np.arange(ends[0], ends[1] + 1)[None]
            yield SharedPart(places[some][part], Nodes(nodes, -0.5 * nodes**2 + np.log(step / np.sqrt(2 * np.pi))))


def sharing_a_circle(rows: Rows, places: Integers, level: Floats) -> Iterator[SharedPart]:
    """Yield parts of rows that share nodes of the conditional likelihood; none if rows have too many trials."""
    total, trials = rows.s[places].sum(axis=1), rows.t[places].sum(axis=1)
    if trials.max() > MOST_TRIALS:
        return
    order = np.argsort(total / trials, kind="stable")
    for part in _slices(order, rows.s.shape[1]):
        s, t = (counts[places[part]].mean(axis=0, keepdims=True) for counts in (rows.s, rows.t))
        count = int(trials[part].max()) // 2 + 1
        yield SharedPart(places[part], circle_nodes(level[None], s, t, count))


def _slices(order: Integers, systems: int) -> Iterator[Integers]:
    step = int(np.clip(LARGEST // systems**2, FEWEST_AT_ONCE, MOST_AT_ONCE))
    return (order[start : start + step] for start in range(0, len(order), step))


def _log_cells(eta: Any, s: Floats, t: Floats) -> Any:
    """Return log-likelihoods of rows at nodes whose cells have log odds `eta`, (Q, J); shape (n, Q)."""
    if np.iscomplexobj(eta):
        whole = np.log1p(np.exp(eta))
        return s @ eta.real.T - t @ whole.real.T + 1j * (s @ eta.imag.T - t @ whole.imag.T)
    return s @ eta.T - t @ np.logaddexp(0, eta).T


def shared_posterior(some: Rows, level: Floats, loading: float, nodes: Nodes) -> tuple[Any, Any, Floats]:
    """Return log odds at the nodes, (Q, J), the share of each node in the integral of each row, and its logarithm.

    Shapes: level (J,).
    """
    eta = level - loading * nodes.v[0][:, None]
    log_f = _log_cells(eta, some.s, some.t)
    log_f = (-log_f if np.iscomplexobj(eta) else log_f) + nodes.log_weight
    highest = log_f.real.max(axis=1, keepdims=True)
    f = np.exp(log_f - highest)
    total = f.real.sum(axis=1, keepdims=True)
    return eta, f / total, (np.log(total) + highest)[:, 0]


def shared_moments(some: Rows, level: Floats, loading: float, nodes: Nodes) -> SharedMoments:
    """Return integrals of rows, and means and weighted second moments of derivatives in m and, if real, σ."""
    eta, share, log_integral = shared_posterior(some, level, loading, nodes)
    s, t, w = some.s, some.t, some.weight
    p = np.exp(eta) / (1 + np.exp(eta)) if np.iscomplexobj(eta) else 1 / (1 + np.exp(-eta))
    of_nodes, second = _real(share.T).T, _real(p * (1 - p), conjugate=True)
    mean = s - t * (of_nodes @ _real(p, conjugate=True))
    weighted = w[:, None] * of_nodes
    trials = weighted.T @ t  # (Q, J)
    covariance = _squares(weighted, t, p) - ((s - mean) * w[:, None]).T @ (s - mean)
    hessian = -np.diag((trials * second).sum(axis=0))
    if np.iscomplexobj(eta):
        return SharedMoments(-log_integral, mean, hessian - covariance)
    hessian += covariance
    v = nodes.v[0]
    of_sigma = -v * (s.sum(axis=1)[:, None] - t @ p.T)  # (n, Q)
    along = share * of_sigma
    mean_sigma = along.sum(axis=1)
    with_m = (w * mean_sigma) @ (s - mean) - (((w[:, None] * along).T @ t) * p).sum(axis=0) + v @ (trials * second)
    squared = w @ ((along * of_sigma).sum(axis=1) - mean_sigma**2) - v**2 @ (trials * second).sum(axis=1)
    return SharedMoments(
        log_integral,
        np.column_stack([mean, mean_sigma]),
        np.block([[hessian, with_m[:, None]], [with_m[None], np.array([[squared]])]]),
    )


def _squares(weighted: Floats, t: Floats, p: Any) -> Floats:
    """Return Σ_i Σ_q weighted_iq t_ij p_qj t_ik p_qk, shape (J, J); the lower triangle by symmetry."""
    systems = t.shape[1]
    if (t == t[0]).all():  # one product of matrices
        total = weighted.sum(axis=0)
        total = total[: len(p)] + 1j * total[len(p) :] if np.iscomplexobj(p) else total
        return np.asarray(np.outer(t[0], t[0]) * ((total[:, None] * p).T @ p).real)
    found = np.zeros((systems, systems))
    step = -(-systems // 4)
    for start in range(0, systems, step):
        some = slice(start, start + step)
        of_rows = (t[:, some, None] * t[:, None, start:]).reshape(len(t), -1)
        of_nodes = _real((p[:, some, None] * p[:, None, start:]).reshape(len(p), -1), conjugate=True)
        found[some, start:] = ((weighted.T @ of_rows) * of_nodes).sum(axis=0).reshape(-1, systems - start)
    return np.triu(found) + np.triu(found, 1).T


def _real(values: Any, *, conjugate: bool = False) -> Floats:
    """Return values as they are or, if complex, real above imaginary parts; the real part of a product is their sum."""
    if not np.iscomplexobj(values):
        return np.asarray(values)
    return np.concatenate([values.real, -values.imag if conjugate else values.imag])
