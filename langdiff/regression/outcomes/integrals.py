r"""Nodes and moments of the integrals behind a row: over its difficulty, or around a circle.

The marginal likelihood of a row is an integral over its difficulty v, taken by adaptive Gauss–Hermite quadrature
(Naylor and Smith 1982; Liu and Pierce 1994). The conditional likelihood given the row's total S has as denominator the
coefficient of :math:`x^S` in :math:`\prod_j (1 + x e^{\theta_j})^{t_j}`: by Cauchy's formula an integral over a circle
in the complex plane, for which equidistant nodes, more of them than the degree, are exact. Its radius is chosen so
that the total is the expected one, where the coefficient is largest and nothing cancels. Derivatives of both are
moments of the same kind (Fisher, Louis).
"""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from langdiff.base.types import Floats
from langdiff.regression.outcomes.cells import MODERATE, CellTerms, beta_binomial, binomial, binomial_outer

AT_MODE = 1e-9  # of a difficulty, in its standard deviations
MODE_STEPS = 60


class Nodes(NamedTuple):
    """Nodes of every row and logarithms of what its integrand is multiplied by there, both of shape (n, Q)."""

    v: Any
    log_weight: Floats


def cells_at(level: Floats, loading: Floats, v: Any, s: Floats, t: Floats, d: float | None) -> CellTerms:
    """Return the terms of cells with log odds level − loading v, beta-binomial ones or, if `d` is None, binomial ones.

    Parameters
    ----------
    level, s, t : ndarray, shape (n, J)
        Log odds at v = 0, successes, trials.
    loading : ndarray, shape (J,)
        Decrease of the log odds per unit of v.
    v : ndarray of float or complex, shape (n, Q)
        Nodes; complex ones are at moderate log odds, and loadings are then equal.
    d : float or None
        Overdispersion.
    """
    common = d is None and bool((loading == loading[0]).all())
    if common and np.abs(level).max(initial=0) + np.abs(loading[0] * v.real).max(initial=0) < MODERATE:
        return binomial_outer(level, -loading[0] * v, s, t)
    eta = level[:, None, :] - v[:, :, None] * loading
    if np.iscomplexobj(v):
        odds = np.exp(eta)
        p = odds / (1 + odds)
        value = (s[:, None, :] * eta - t[:, None, :] * np.log1p(odds)).sum(axis=2)
        return CellTerms(value, s[:, None, :] - t[:, None, :] * p, t[:, None, :] * p * (1 - p))
    s, t = s[:, None, :], t[:, None, :]
    return binomial(eta, s, t) if d is None else beta_binomial(eta, s, t, d)


def modes(level: Floats, loading: Floats, s: Floats, t: Floats, d: float | None) -> tuple[Floats, Floats]:
    """Find the most probable v of every row, and the curvature there.

    Parameters
    ----------
    level : ndarray, shape (n, J)
        Log odds at v = 0.
    loading : ndarray, shape (J,)
        Decrease of the log odds per unit of v.
    s, t : ndarray, shape (n, J)
        Successes and trials.
    d : float or None
        Overdispersion of beta-binomial cells.

    Returns
    -------
    ndarray, shape (n,)
        v, the root of Σ_j loading_j (t p − s) − v by Newton's method, halving an interval where that leads astray.
    ndarray, shape (n,)
        Curvature, at least 1.
    """
    high = np.abs(loading) @ t.T + 1e-12
    low, v = -high, np.zeros(len(s))
    h = np.ones(len(s))
    for _ in range(MODE_STEPS):
        terms = cells_at(level, loading, v[:, None], s, t, d)
        slope = -(terms.of_eta[:, 0] @ loading) - v
        h = 1 + np.maximum(terms.curvature[:, 0] @ loading**2, 0)
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
        terms = binomial(level + v[:, None], s, t)  # whatever the size of θ
        slope = terms.of_eta.sum(axis=1)
        low, high = np.where(slope > 0, v, low), np.where(slope > 0, high, v)
        moved = v + slope / np.maximum(terms.curvature.sum(axis=1), 1e-300)
        moved = np.where((moved >= low) & (moved <= high), moved, (low + high) / 2)
        shift, v = np.abs(moved - v), moved
        if shift.max(initial=0) < AT_MODE:
            break
    angle = np.pi * (np.arange(half) + 0.5) / half
    return Nodes(v[:, None] + 1j * angle, np.full((len(s), half), -np.log(half)))
