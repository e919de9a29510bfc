"""Tests for languages that are not independent: relatives are alike in predictor and difficulty (Galton's problem)."""

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from scipy.special import gammaln

from langdiff.base.seeds import generator
from langdiff.base.types import Floats
from langdiff.typology.association.correlation import NAN, PERFECT, Outcome, fisher_interval
from langdiff.typology.association.variance import Coefficients, OneEffect, coefficients, reml_variances

MIN_FAMILIES = 4  # with fewer, how families differ can hardly be estimated
DISTINCT = 1e-12  # relative difference below which two permutations' statistics are one, but for rounding


def mixed_slope(x: Floats, y: Floats, family: pd.Series, language: pd.Series | None = None) -> Outcome:
    r"""Regress difficulty on a predictor, with a random intercept of family (and of language).

    .. math:: y_i = a + b\,x_i/s_x + u_{f(i)} [+ w_{l(i)}] + e_i

    with normal u, w, e, by restricted maximum likelihood. p and the 95 % interval of b are by Student's t with
    Satterthwaite's degrees of freedom (Giesbrecht and Burns 1985), which are near the number of families
    where relatives share the predictor's value, and near that of languages where they do not.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Predictor, and difficulty in nats; neither may be constant.
    family : Series, shape (n,)
        Language family of each row.
    language : Series, shape (n,), optional
        Languages of the rows, if rows are editions.

    Returns
    -------
    Outcome
        The estimate is b, the rise of difficulty in nats with one standard deviation of the predictor.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> family = pd.Series(np.repeat(list("abcdefgh"), 5))
    >>> x = rng.normal(size=40)
    >>> y = 0.1 * x + np.repeat(rng.normal(size=8), 5) + rng.normal(0, 0.01, size=40)  # families differ by much
    >>> bool(abs(mixed_slope(x, y, family).estimate - 0.1 * x.std(ddof=1)) < 0.01)
    True
    """
    symbol, n = "nats per SD", len(x)
    families = family.nunique()
    if families < MIN_FAMILIES:
        return Outcome(symbol, n, reason=f"{families} families; at least {MIN_FAMILIES} are needed")
    if (family if language is None else language).value_counts().max() < 2:
        return Outcome(symbol, n, reason="no two rows share a group: its effect cannot be told from the residual")
    scale = float(y.std(ddof=1))
    design = np.column_stack([np.ones(n), (x - x.mean()) / x.std(ddof=1)])
    if abs(np.corrcoef(x, y)[0, 1]) > PERFECT:
        return Outcome(symbol, n, reason="the predictor explains all of difficulty: nothing is left to judge it by")
    groups = [family] if language is None else [family, language]
    covers = [np.equal.outer(g.to_numpy(), g.to_numpy()).astype(float) for g in groups]
    if language is None:
        variances = OneEffect(design, y / scale, covers[0]).variances()
    else:
        variances = reml_variances(design, y / scale, covers)
    return slope_outcome(coefficients(design, y / scale, [*covers, np.eye(n)], variances), 1, scale, n)


def slope_outcome(found: Coefficients, place: int, scale: float, n: int) -> Outcome:
    """Return one coefficient with its t test and 95 % interval, times a scale."""
    slope, std_error, degrees = (float(column[place]) for column in found)
    p = float(2 * stats.t.sf(abs(slope) / std_error, degrees))
    half = float(stats.t.ppf(0.975, degrees)) * std_error * scale
    return Outcome("nats per SD", n, slope * scale, slope * scale - half, slope * scale + half, p)


def permute_within_families(
    x: Floats | pd.Series, y: Floats, family: pd.Series, *, n_resamples: int, seed: int | np.random.Generator
) -> Outcome:
    r"""Permute difficulties among the languages of each family.

    Whatever makes families differ is the same in all permutations, so that it cannot make a correlation; only
    differences between relatives count. p is (1 + permutations with at least the statistic) / (1 +
    permutations). Exact if, without an effect, relatives are exchangeable (Good 2005).

    Parameters
    ----------
    x : ndarray or Series, shape (n,)
        Predictor: numbers, or categories as a Series that is not numeric.
    y : ndarray, shape (n,)
        Difficulties, nats.
    family : Series, shape (n,)
        Language family of each row.
    n_resamples : int
        Number of random permutations.
    seed : int or numpy.random.Generator
        Seed of the permutations.

    Returns
    -------
    Outcome
        For numbers, the estimate is the correlation of deviations from the means of families, with Fisher's
        interval; for categories, the share of the variance within families that they explain, without an interval.

    Raises
    ------
    ConfigError
        If the seed is missing or not valid.

    Examples
    --------
    >>> x = np.array([1.0, 2, 3, 11, 12, 13])
    >>> y = np.array([3.0, 2, 1, 33, 32, 31])  # the families differ one way, their members the other
    >>> family = pd.Series(["a"] * 3 + ["b"] * 3)
    >>> round(permute_within_families(x, y, family, n_resamples=99, seed=0).estimate, 6)
    -1.0
    """
    rng = generator(seed)
    numeric = isinstance(x, np.ndarray)
    symbol, n = ("r within families" if numeric else "R2 within families"), len(y)
    codes = family.astype("category").cat.codes.to_numpy()
    members = [np.flatnonzero(codes == code) for code in range(codes.max() + 1)]
    several = [rows for rows in members if len(rows) > 1]
    if not several:
        return Outcome(symbol, n, reason="no two languages share a family")
    columns = x[:, None] if isinstance(x, np.ndarray) else pd.get_dummies(x, dtype=float).to_numpy()
    basis = _orthonormal(_centered(columns, members))
    deviations = _centered(y[:, None], members)[:, 0]
    if basis.shape[1] == 0:
        return Outcome(symbol, n, reason="the predictor does not vary within any family")
    if not deviations.any():
        return Outcome(symbol, n, reason="difficulty does not vary within any family")
    observed = basis.T @ deviations
    drawn = np.zeros((n_resamples, basis.shape[1]))
    for rows in several:
        shuffled = rng.permuted(np.broadcast_to(deviations[rows], (n_resamples, len(rows))), axis=1)
        drawn += shuffled @ basis[rows]
    size = float(observed @ observed)
    hits = int(np.sum((drawn**2).sum(axis=1) >= size * (1 - DISTINCT)))
    share = size / float(deviations @ deviations)
    used = sum(map(len, several))
    alone = n - used
    reason = f"{alone} languages alone in their family say nothing" if alone else ""
    if (least := np.exp(-sum(gammaln(len(rows) + 1) for rows in several))) > 0.025:
        reason = f"only {round(1 / least)} permutations: p cannot be below {least:.2g}"
    p = (1 + hits) / (1 + n_resamples)
    if not numeric:
        return Outcome(symbol, n, estimate=share, p=p, reason=reason)
    estimate = float(np.sign(_centered(columns, members)[:, 0] @ deviations) * np.sqrt(share))
    low, high = fisher_interval(estimate, used, "pearson", len(several) - 1)
    if np.isnan(low):
        low, high = NAN, NAN
    return Outcome(symbol, n, estimate, low, high, p, reason)


def _centered(columns: Floats, members: list[npt.NDArray[np.intp]]) -> Floats:
    left = columns.astype(float)
    for rows in members:
        left[rows] -= left[rows].mean(axis=0)
    rounding = 1e-12 * np.abs(columns).max(axis=0)
    left[np.abs(left) <= rounding] = 0.0
    return left


def _orthonormal(columns: Floats) -> Floats:
    """Return an orthonormal basis of the columns' space, shape (n, rank)."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    basis: Floats = left[:, sizes > 1e-10 * max(float(sizes.max()), 1e-300)]
    return basis
