"""Tests of one predictor (correlations, Mood's test of categories), and the power of correlations."""

import warnings
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy import optimize, stats

from langdiff.base.types import Floats, generator
from langdiff.errors import ConfigError, listing, option
from langdiff.tables.rule import half_width, t_interval, t_p

RelatedTest = Literal["phylo", "area", "phylo+area"]
NumericTest = Literal["pearson", "spearman", "kendall", "mixed", "permutation", RelatedTest]
Test = Literal[NumericTest, "mood", "kruskal"]

RELATED = ("phylo", "area", "phylo+area")  # regressions whose residuals relatives, neighbours or both share
NAN = float("nan")
MIN_LANGUAGES = 4  # with fewer, no correlation can be distinguished from 0


class Outcome(NamedTuple):
    """An estimate with its interval and p.

    Attributes
    ----------
    statistic : str
        Name of the estimate: ``"r"``, ``"rho"``, ``"tau"``, ``"chi2"``, ``"H"`` …
    n : int
        Number of languages (or editions) tested.
    estimate, low, high : float
        The estimate and its 95 % interval; NaN where the test has none.
    p : float
        Two-sided p-value; NaN only with a `reason`.
    reason : str
        Why there is no p-value, or what limits it; else empty.
    df, df_residual : float
        Degrees of freedom of F or, `df` being 1, of a slope's t; NaN for other tests.
    phylo_share, area_share : float
        Shares of the variance that follow tree and distance; NaN for tests that do not estimate them.

    Examples
    --------
    >>> Outcome("r", 21, estimate=0.5, p=0.02).reason
    ''
    """

    statistic: str
    n: int
    estimate: float = NAN
    low: float = NAN
    high: float = NAN
    p: float = NAN
    reason: str = ""
    df: float = NAN
    df_residual: float = NAN
    phylo_share: float = NAN
    area_share: float = NAN


def is_constant(values: Floats) -> bool:
    """Return whether all values are equal up to rounding.

    Examples
    --------
    >>> is_constant(np.array([0.1 + 0.2, 0.3])), is_constant(np.array([1.0, 2.0]))
    (True, False)
    """
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())


SYMBOL = {"pearson": "r", "spearman": "rho", "kendall": "tau"}
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

    Shapes: x, y (n,); given (n, k).

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
        p = float(t_p(t, 1.0, degrees))
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
    low, high = np.tanh(t_interval(np.arctanh(estimate), np.sqrt(scale / free), np.inf))
    return float(low), float(high)


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


STATISTIC = {"mood": "chi2", "kruskal": "H"}


def compare_categories(values: pd.Series, categories: pd.Series, test: str) -> Outcome:
    """Test whether values of all categories have one median (Mood) or one distribution (Kruskal–Wallis).

    Shapes: values (n,); categories (n,).

    Examples
    --------
    >>> values = pd.Series([1.0, 2, 3, 7, 8, 9])
    >>> out = compare_categories(values, pd.Series(list("aaabbb")), "kruskal")
    >>> round(out.estimate, 3), round(out.p, 3)
    (3.857, 0.05)
    """
    groups = {str(name): part.to_numpy(dtype=float) for name, part in values.groupby(categories.array, observed=True)}
    symbol, n = STATISTIC[test], len(values)
    if len(groups) < 2:
        return Outcome(symbol, n, reason=f"one category only: {listing(groups)}")
    if len(groups) == n:
        return Outcome(symbol, n, reason="every category has one language; of numbers, make a column of numbers")
    single = [name for name, members in groups.items() if len(members) < 2]
    reason = f"categories with one language: {listing(single)}" if single else ""
    if test == "kruskal":
        ranks = stats.kruskal(*groups.values())
        return Outcome(symbol, n, estimate=float(ranks.statistic), p=float(ranks.pvalue), reason=reason)
    if not (values > np.median(values)).any():
        return Outcome(symbol, n, reason="no difficulty is above the median: too many are equal")
    medians = stats.median_test(*groups.values())
    return Outcome(symbol, n, estimate=float(medians.statistic), p=float(medians.pvalue), reason=reason)


def category_means(values: pd.Series, categories: pd.Series) -> pd.DataFrame:
    """Return n, mean and sample standard deviation of each category (Mielke et al. 2019, Table 2).

    Shapes: values (n,); categories (n,).

    Examples
    --------
    >>> category_means(pd.Series([1.0, 3, 5]), pd.Series(["SVO", "SVO", "SOV"]))
              n  mean        sd
    category
    SOV       1   5.0       NaN
    SVO       2   2.0  1.414214
    """
    grouped = values.groupby(categories.array, observed=True)
    table = pd.DataFrame({"n": grouped.size(), "mean": grouped.mean(), "sd": grouped.std(ddof=1)})
    return table.rename_axis("category")


def power_of_correlation(r: float, n: int, *, alpha: float = 0.05, n_tests: int = 1) -> float:
    r"""Return the probability that a correlation is significant.

    Fisher's approximation with its correction for bias (Cohen 1988, section 12.4.1): artanh of the estimate is
    normal with mean :math:`\operatorname{artanh} r + r/(2(n-1))` and standard deviation
    :math:`1/\sqrt{n-3}`; it is held against the critical value of Student's t.

    Examples
    --------
    >>> round(power_of_correlation(0.5, 21), 2), round(power_of_correlation(0.5, 61), 2)
    (0.66, 0.99)
    """
    _check(n, alpha, n_tests)
    if not -1 < r < 1:
        raise ConfigError(f"{option('r', r)}: a true correlation must lie between -1 and 1.")
    t = float(half_width(1.0, n - 2, 1 - alpha / n_tests))
    critical = np.arctanh(t / np.sqrt(t**2 + n - 2))
    center = np.arctanh(abs(r)) + abs(r) / (2 * (n - 1))
    root = np.sqrt(n - 3)
    return float(stats.norm.cdf((center - critical) * root) + stats.norm.cdf((-center - critical) * root))


def detectable_correlation(n: int, *, power: float = 0.8, alpha: float = 0.05, n_tests: int = 1) -> float:
    """Return the smallest correlation that `n` languages show with a given power; see `power_of_correlation`.

    Examples
    --------
    >>> [round(detectable_correlation(n), 2) for n in (21, 61)]
    [0.57, 0.35]
    >>> [round(detectable_correlation(n, n_tests=36), 2) for n in (21, 61)]
    [0.74, 0.49]
    """
    _check(n, alpha, n_tests)
    if not alpha / n_tests < power < 1:
        raise ConfigError(f"{option('power', power)} must lie between the level ({alpha / n_tests:g}) and 1.")
    return float(
        optimize.brentq(lambda r: power_of_correlation(r, n, alpha=alpha, n_tests=n_tests) - power, 0.0, 1 - 1e-12)
    )


def _check(n: int, alpha: float, n_tests: int) -> None:
    if n < 4:
        raise ConfigError(f"{option('n', n)}: at least 4 languages are needed.")
    if not 0 < alpha < 1:
        raise ConfigError(f"{option('alpha', alpha)} must lie between 0 and 1.")
    if n_tests < 1:
        raise ConfigError(f"{option('n_tests', n_tests)}: at least one is needed.")
