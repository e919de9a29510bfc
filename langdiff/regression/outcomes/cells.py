r"""Log-likelihoods of cells, binomial and beta-binomial, with their derivatives in the log odds η of a success.

Binomial coefficients are left out; see `log_coefficients`.
"""

from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import bernoulli, gammaln

from langdiff.base.types import Floats

FARTHEST = 300.0  # log odds beyond which p, of a beta-binomial cell, would underflow
MODERATE = 30.0  # log odds up to which as many as FACTORS of 1 + odds can be multiplied
FACTORS = 20
SINGLE = 64  # terms of a sum over trials that are taken one by one
LEGENDRE = 24  # nodes of the integral that stands for the others
OFFSETS = (-4, -3, -2, -1, 0, 1, 2, 3, 4)  # from its ends, where it is corrected
LEAST_RATIO = 1e-9


class CellTerms(NamedTuple):
    """Log-likelihoods of rows and derivatives of their cells; η stands for log odds, d for ρ/(1 − ρ).

    `value` is the sum over the last axis, the systems; the others are by cell: `of_eta`, `curvature`, which is
    −∂²/∂η², and `of_d`, `of_d2` and `of_eta_d`, None for binomial cells.
    """

    value: Any
    of_eta: Any
    curvature: Any
    of_d: Any = None
    of_d2: Any = None
    of_eta_d: Any = None


def binomial(eta: Floats, s: Floats, t: Floats) -> CellTerms:
    """Return the terms of binomial cells, whatever the size of η."""
    e = np.exp(-np.abs(eta))
    value = s * eta - t * (np.maximum(eta, 0) + np.log1p(e))
    q = 1 / (1 + e)
    return CellTerms(value.sum(axis=-1), s - t * np.where(eta >= 0, q, e * q), t * e * q**2)


def binomial_outer(level: Floats, along: Any, s: Floats, t: Floats) -> CellTerms:
    """Return the terms of binomial cells with log odds level + along, of moduli within `MODERATE`.

    Parameters
    ----------
    level : ndarray, shape (n, J)
        Log odds of each cell at 0.
    along : ndarray of float or complex, shape (n, Q)
        What each node adds to the log odds of all cells of a row.
    s, t : ndarray, shape (n, J)
        Successes and trials.

    Returns
    -------
    CellTerms
        Shapes (n, Q) and (n, Q, J): no exponential or logarithm is taken for each of the cells at each of the nodes.
    """
    single = t.max(initial=0) <= 1
    at_zero = np.exp(level) * t if single else np.exp(level)
    odds = at_zero[:, None, :] * np.exp(along)[:, :, None]
    whole = 1 + odds
    odds /= whole  # p, or 0 where there is no trial
    if single:
        expected = odds
        curvature = odds * (1 - odds)
        logs = sum(np.log(whole[:, :, j : j + FACTORS].prod(axis=2)) for j in range(0, level.shape[1], FACTORS))
    else:
        expected = t[:, None, :] * odds
        curvature = expected * (1 - odds)
        logs = (t[:, None, :] * np.log(whole)).sum(axis=2)
    value = (s * level).sum(axis=1)[:, None] + s.sum(axis=1)[:, None] * along - logs
    return CellTerms(value, s[:, None, :] - expected, curvature)


def beta_binomial(eta: Floats, s: Floats, t: Floats, d: float) -> CellTerms:
    r"""Return the terms of beta-binomial cells with mean p = logistic(η) and correlation ρ = d/(1 + d) of trials.

    .. math:: \sum_{k<s} \ln(p + kd) + \sum_{k<t-s} \ln(1 - p + kd) - \sum_{k<t} \ln(1 + kd)

    The sums need no gamma functions, so that nothing is lost where d is small or 0 (binomial cells). Their cost
    does not grow with the trials beyond `SINGLE`.
    """
    eta = np.clip(eta, -FARTHEST, FARTHEST)
    e = np.exp(-np.abs(eta))
    small, large = e / (1 + e), 1 / (1 + e)
    p, q = np.where(eta >= 0, large, small), np.where(eta >= 0, small, large)
    pq = p * q
    value, of_p, of_p2, of_d, of_d2, of_pd = (np.zeros(np.broadcast_shapes(eta.shape, s.shape)) for _ in range(6))
    for count, share, sign in ((s, p, 1.0), (t - s, q, -1.0)):
        for k, weight in _terms(count, share, d):
            inverse = 1 / (share + k * d)
            value += weight * np.log(share + k * d)
            of_p += sign * weight * (pq * inverse)  # times dp/dη = pq, which keeps 1/p in range
            of_p2 += weight * (pq * inverse) ** 2
            of_d += weight * (k * inverse)
            of_d2 -= weight * (k * inverse) ** 2
            of_pd -= sign * weight * (pq * inverse) * (k * inverse)
    for k, weight in _terms(t, 1.0, d):
        inverse = 1 / (1 + k * d)
        value -= weight * np.log1p(k * d)
        of_d -= weight * (k * inverse)
        of_d2 += weight * (k * inverse) ** 2
    return CellTerms(value.sum(axis=-1), of_p, of_p2 - of_p * (q - p), of_d, of_d2, of_pd)


def _terms(count: Floats, share: Any, d: float) -> Iterator[tuple[Any, Any]]:
    r"""Yield k and weights by which a function of share + kd, smooth in ln k, is summed over k < count.

    The first `SINGLE` terms are taken as they are. From K = `SINGLE` on the sum is an integral and a correction at each
    of its ends (Euler and Maclaurin), with values at neighbouring k in place of derivatives. The integral is by
    Gauss–Legendre over ln(share + kd), so that nothing is lost where d is small, however many trials there are.
    """
    for k in range(int(min(count.max(initial=0), SINGLE))):
        yield float(k), (count > k).astype(float)
    if count.max(initial=0) <= SINGLE:
        return
    rest = np.maximum(count - SINGLE, 0)
    ratio = np.maximum(rest * d / (share + SINGLE * d), LEAST_RATIO)
    length = np.log1p(ratio)
    x, legendre = np.polynomial.legendre.leggauss(LEGENDRE)
    for tau, weight in zip((x + 1) / 2, legendre / 2, strict=True):
        grown = np.expm1(length * tau)
        yield SINGLE + rest * (grown / ratio), weight * rest * (length / ratio) * (1 + grown)
    for offset, weight in zip(OFFSETS, _end_weights(), strict=True):
        yield SINGLE + offset, weight * (rest > 0)
        yield SINGLE + rest + offset, -weight * (rest > 0)


@lru_cache(maxsize=1)
def _end_weights() -> Floats:
    """Return weights of values at `OFFSETS` from where a sum starts, which make an integral from there the sum."""
    powers = np.arange(len(OFFSETS))
    corrections = -bernoulli(len(OFFSETS))[1:] / (powers + 1)  # of 1, k, k², …
    return np.asarray(np.linalg.solve(np.array(OFFSETS, dtype=float) ** powers[:, None], corrections), dtype=float)


def log_coefficients(s: Floats, t: Floats) -> Floats:
    """Return ln C(t, s), by which counts are more probable than one order of their trials."""
    coefficients: Floats = gammaln(t + 1) - gammaln(s + 1) - gammaln(t - s + 1)
    return coefficients
