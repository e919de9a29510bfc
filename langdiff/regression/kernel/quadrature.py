"""Maxima and integrals of many peaked functions of one variable, computed together."""

from collections.abc import Callable

import numpy as np

from langdiff.base.types import Floats

GRID = 17  # points per round: each round narrows the search eightfold
ROUNDS = 10  # to a 10^-9 of the interval
PANELS, NODES = 16, 10
MOST_STEPS = 100


def peak_between(log_f: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Find the maxima of functions in an interval by successively finer grids.

    Parameters
    ----------
    log_f : function
        Takes points, shape (K, P), row k being arguments of function k; returns the values there.
    low, high : ndarray, shape (K,)
        Ends of the intervals.

    Returns
    -------
    ndarray, shape (K,)
        To about 1e-9 of the interval; of several peaks one that the first, coarse grid finds highest.

    Examples
    --------
    >>> peak_between(lambda x: -((x - 1) ** 2), np.array([-5.0, 2.0]), np.array([9.0, 3.0])).round(6)
    array([1., 2.])
    """
    unit = np.linspace(0, 1, GRID)
    first, last = low, high
    best = low
    for _ in range(ROUNDS):
        points = low[:, None] + (high - low)[:, None] * unit
        chosen = np.argmax(log_f(points), axis=1)
        best = points[np.arange(len(points)), chosen]
        step = (high - low) / (GRID - 1)
        low, high = np.maximum(first, best - step), np.minimum(last, best + step)
    return best


def log_integral(log_f: Callable[[Floats], Floats], start: Floats, length: Floats, finest: Floats) -> Floats:
    r"""Return the logarithm of :math:`\int e^{f}` from a peak outwards.

    The rule is composite Gauss–Legendre: the first panel is as long as the finest scale at the start, those that follow
    grow geometrically, so that a narrow peak and a long tail are both resolved.

    Parameters
    ----------
    log_f : function
        Takes points, shape (K, P), row k being arguments of function k; returns f there.
    start : ndarray, shape (K,)
        Points where f is highest, or nearly so.
    length : ndarray, shape (K,)
        Length of the interval of integration; if negative, it lies to the left. The result is positive either way.
    finest : ndarray, shape (K,)
        Length of the first panel, positive.

    Returns
    -------
    ndarray, shape (K,)
        Minus infinity where the length is 0.

    Examples
    --------
    >>> half = log_integral(lambda x: -0.5 * x**2, np.zeros(1), np.array([40.0]), np.array([0.5]))
    >>> (np.exp(half) / np.sqrt(np.pi / 2)).round(10)
    array([1.])
    """
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    far = np.abs(length)
    finest = np.minimum(finest, far)
    with np.errstate(divide="ignore", invalid="ignore"):  # intervals without length have no panels
        ratio = np.where(far > 0, far / finest, 1.0)
    edges = finest[:, None] * ratio[:, None] ** (np.arange(PANELS) / (PANELS - 1))
    edges = np.concatenate([np.zeros((len(far), 1)), edges], axis=1)  # (K, PANELS + 1)
    half = 0.5 * np.diff(edges, axis=1)[:, :, None]
    points = (edges[:, :-1, None] + half * (1 + nodes)).reshape(len(far), -1)  # (K, PANELS · NODES)
    with np.errstate(divide="ignore"):
        log_weights = np.log(half * weights).reshape(len(far), -1)
    terms = log_f(start[:, None] + np.sign(length)[:, None] * points) + log_weights
    highest = terms.max(axis=1)
    highest = np.where(np.isfinite(highest), highest, 0.0)
    with np.errstate(divide="ignore"):
        total: Floats = highest + np.log(np.exp(terms - highest[:, None]).sum(axis=1))
    return total


def climb(f: Callable[[Floats], Floats], start: Floats, *, step: float = 0.5, finest: float = 1e-6) -> Floats:
    """Find a local maximum of each of many functions near its start.

    Steps to either side, then to the top of the parabola through the three points; smaller steps where
    nothing is gained. Kinks slow it down and do not mislead it.

    Parameters
    ----------
    f : function
        Takes points, shape (K,), and returns values, shape (K,).
    start : ndarray, shape (K,)
        Points at which the search begins.
    step, finest : float
        The first step, and that at which to stop.

    Returns
    -------
    ndarray, shape (K,)

    Examples
    --------
    >>> climb(lambda x: -np.abs(x - np.array([1.0, -4.0])), np.zeros(2)).round(5)
    array([ 1., -4.])
    """
    best, value = start.copy(), f(start)
    size = np.full_like(start, step)
    for _ in range(MOST_STEPS):
        below, above = f(best - size), f(best + size)
        bend = below + above - 2 * value
        with np.errstate(divide="ignore", invalid="ignore"):
            top = best + np.clip(np.where(bend < 0, 0.5 * size * (below - above) / bend, 0.0), -size, size)
        candidates = np.stack([best, best - size, best + size, top])
        values = np.stack([value, below, above, f(top)])
        chosen = values.argmax(axis=0)
        best, value = candidates[chosen, np.arange(len(best))], values.max(axis=0)
        size = np.where((chosen == 1) | (chosen == 2), 2 * size, 0.25 * size)
        if size.max() < finest:
            break
    return best
