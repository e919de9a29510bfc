"""Correlations of two variables, others held fixed, with intervals."""

import warnings
from typing import Any

import numpy as np
from scipy import stats

from langdiff.base.seeds import generator
from langdiff.base.types import Floats
from langdiff.typology.association.outcome import NAN, Outcome

SYMBOL = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
NINETY_FIVE = float(stats.norm.ppf(0.975))
PERFECT = 1 - 1e-12


def correlation(
    x: Floats,
    y: Floats,
    test: str,
    *,
    given: Floats | None = None,
    n_resamples: int = 0,
    seed: int | np.random.Generator | None = None,
) -> Outcome:
    r"""Correlate two variables, with a two-sided p and a 95 % interval.

    The interval is Fisher's,

    .. math:: \tanh(\operatorname{artanh} r \pm 1.96\, s), \quad s^2 = \frac{c}{n - k - e},

    with k variables held fixed; c = 1 and e = 3 for Pearson's r (Fisher 1921), :math:`c = 1 + \rho^2/2` and
    e = 3 for Spearman's rho, c = 0.437 and e = 4 for Kendall's tau (Bonett and Wright 2000); or the
    bias-corrected and accelerated bootstrap over pairs (Efron 1987).

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        The two variables; neither may be constant.
    test : str
        ``"pearson"``, ``"spearman"`` or ``"kendall"``.
    given : ndarray, shape (n, k), optional
        Variables held fixed: the correlation is that of what is left of x and y (of their ranks, for
        Spearman) after least squares on them. Not available for Kendall's tau.
    n_resamples : int
        Number of bootstrap samples; 0 for Fisher's interval.
    seed : int or numpy.random.Generator, optional
        Seed of the bootstrap; required if `n_resamples` is positive.

    Returns
    -------
    Outcome
        The coefficient, its p and its interval.

    Raises
    ------
    ConfigError
        If the bootstrap has no seed.

    Examples
    --------
    >>> out = correlation(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 1, 4, 3, 5]), "pearson")
    >>> round(out.estimate, 3), round(out.p, 3)
    (0.8, 0.104)
    """
    if n_resamples:
        seed = generator(seed, "bootstrap samples")
    n, k = len(x), 0 if given is None else given.shape[1]
    symbol = SYMBOL[test]
    if n - k < 4:
        return Outcome(symbol, n, reason=f"{n} languages are too few with {k} predictor(s) held fixed")
    if given is None:
        test_of: dict[str, Any] = {
            "pearson": stats.pearsonr,
            "spearman": stats.spearmanr,
            "kendall": stats.kendalltau,
        }
        found, p = map(float, test_of[test](x, y))
    else:
        left = [residuals(column, given, test) for column in (x, y)]
        if not all(column.any() for column in left):
            return Outcome(symbol, n, reason="what is held fixed leaves nothing of the predictor or the difficulty")
        found = float(np.clip(_pearson(left[0], left[1]), -1, 1))
        degrees = n - 2 - k
        t = found * np.sqrt(degrees / max(1 - found**2, 1e-300))
        p = float(2 * stats.t.sf(abs(t), degrees))
    if n_resamples and abs(found) <= PERFECT:
        low, high = _bootstrap(x, y, test, given, n_resamples, generator(seed))
    else:
        low, high = fisher_interval(found, n, test, k)
    reason = ""
    if np.isnan(low):
        reason = (
            "the correlation is perfect" if abs(found) > PERFECT else "resamples of so few languages are degenerate"
        )
        reason += ": no interval"
    return Outcome(symbol, n, found, low, high, p, reason)


def fisher_interval(estimate: float, n: int, test: str, given: int = 0) -> tuple[float, float]:
    """Return the 95 % interval of a correlation; NaN if it is perfect. See `correlation`.

    Examples
    --------
    >>> np.round(fisher_interval(0.5, 28, "pearson"), 3)
    array([0.156, 0.736])
    """
    if abs(estimate) > PERFECT:
        return NAN, NAN
    scale, less = {"pearson": (1.0, 3), "spearman": (1 + estimate**2 / 2, 3), "kendall": (0.437, 4)}[test]
    free = n - given - less
    if free <= 0:
        return -1.0, 1.0
    half = NINETY_FIVE * np.sqrt(scale / free)
    center = np.arctanh(estimate)
    return float(np.tanh(center - half)), float(np.tanh(center + half))


def residuals(values: Floats, given: Floats, test: str) -> Floats:
    """Return the residuals of `values` after least squares on an intercept and `given` (Spearman: ranks of both).

    Exactly 0 where only rounding is left.
    """
    if test == "spearman":
        values, given = stats.rankdata(values), stats.rankdata(given, axis=0)
    given = (given - given.mean(axis=0)) / np.where(np.ptp(given, axis=0) > 0, np.ptp(given, axis=0), 1)
    design = np.column_stack([np.ones(len(values)), given])
    left: Floats = values - design @ np.linalg.lstsq(design, values, rcond=None)[0]
    return left if np.abs(left).max() > 1e-10 * np.ptp(values) else np.zeros_like(left)


def _pearson(x: Floats, y: Floats, axis: int = -1) -> Floats:
    """Pearson's r along an axis; 0 where a variable does not vary, as in a resample of a few languages."""
    x = x - x.mean(axis=axis, keepdims=True)
    y = y - y.mean(axis=axis, keepdims=True)
    norms = np.sqrt((x * x).sum(axis=axis) * (y * y).sum(axis=axis))
    product = (x * y).sum(axis=axis)
    r: Floats = np.divide(product, norms, out=np.zeros_like(product), where=norms > 0)
    return r


def _bootstrap(
    x: Floats, y: Floats, test: str, given: Floats | None, n_resamples: int, rng: np.random.Generator
) -> tuple[float, float]:
    def simple(x: Floats, y: Floats, axis: int = -1) -> Floats:
        if test == "spearman":
            x, y = stats.rankdata(x, axis=axis), stats.rankdata(y, axis=axis)
        return _pearson(x, y, axis)

    def one(x: Floats, y: Floats, *controls: Floats) -> float:
        if not controls:  # Kendall's tau
            return 0.0 if np.ptp(x) == 0 or np.ptp(y) == 0 else float(stats.kendalltau(x, y).statistic)
        held = np.column_stack(controls)
        return float(_pearson(residuals(x, held, test), residuals(y, held, test)))

    columns = (x, y) if given is None else (x, y, *given.T)
    vectorized = given is None and test != "kendall"
    with np.errstate(invalid="ignore", divide="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)  # few languages: told by NaN
        found = stats.bootstrap(
            columns,
            simple if vectorized else one,
            n_resamples=n_resamples,
            paired=True,
            vectorized=vectorized,
            batch=500 if vectorized else None,
            method="BCa",
            random_state=rng,
        ).confidence_interval
    return float(found.low), float(found.high)
