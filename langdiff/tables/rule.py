r"""The rule of the floor of inference: intervals and p-values by Student's t, joint tests by F or sign flips.

With the shares :math:`\pi_g` of units in the information on a contrast, its degrees of freedom are (Bell and McCaffrey
2002; Satterthwaite 1946)

.. math:: 1/\nu = \sum_g \pi_g^2 + \Bigl(\sum_g x_g\Bigr)^2 - \sum_g x_g^2, \quad x_g = \pi_g^2 / (1 - \pi_g)

That q estimates are equal is tested by F where :math:`\nu \ge 20q`. Otherwise units change sign: with
:math:`u_{gk} = \psi_{gk} + \pi_g \hat\theta_k`, whose sums are the estimates, p is the share of sign vectors s with
:math:`\sum_k w_k (\sum_g s_g u_{gk})^2` as large as :math:`\sum_k w_k \hat\theta_k^2`.
"""

from collections.abc import Iterable
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.special import chdtrc, chdtri, fdtrc, fdtri, stdtr, stdtrit

from langdiff.base.types import Floats, Integers, generator

FEW = 10.0  # degrees of freedom below which units are few: the only such threshold
ENOUGH = 50  # units whose covariance simultaneous inference draws from
WHOLE = 1 - 1e-9  # share of a unit that has all information, so that nothing tells its error
LEVEL = 0.95
DEVIANCE = float(chdtri(1, 1 - LEVEL))  # by which it falls to the ends of a profile interval
MANY = 20  # degrees of freedom for each equality, from which F is used
FEWEST_FLIPPED, ALL_SIGNS = 8, 14  # units; below it Bonferroni, up to it all sign vectors
MOST_FLIPS, FEWEST_FLIPS, FLIPPED_VALUES = 9_999, 999, 2e8
BLOCK_VALUES = 4_000_000  # products held in memory at once
SLACK = 1e-9  # by which a statistic may be below the observed one and count as as large
RANK = 1e-10  # of the largest eigenvalue, below which a covariance lacks rank

Ends = Literal["identity", "log", "logit"]  # scales on which intervals are made
By = Literal["F", "chi-squared", "sign flips", "Bonferroni", ""]


def half_width(std_error: Floats | float, freedom: Floats | float, level: float = LEVEL) -> Floats:
    """Return half the width of intervals by Student's t."""
    return np.asarray(stdtrit(freedom, (1 + level) / 2) * np.asarray(std_error, dtype=float))


def variance_ends(freedom: float, level: float = LEVEL, against: float = np.inf) -> Floats:
    """Return both ends of the interval of a variance, as multiples of its estimate, (2,).

    Of a quotient of two variances, `against` are the degrees of freedom of the other.

    Examples
    --------
    >>> variance_ends(9.0).round(3).tolist()
    [0.473, 3.333]
    """
    upper = np.array([(1 - level) / 2, (1 + level) / 2])
    tails = chdtri(freedom, upper) / freedom if np.isinf(against) else fdtri(freedom, against, 1 - upper)
    return np.asarray(1 / tails)


def range_quantile(members: int, freedom: float, level: float = LEVEL) -> float:
    """Return the quantile of the studentized range of some means."""
    from scipy.stats import studentized_range  # loading scipy.stats takes as long as a small fit

    return float(studentized_range.ppf(level, members, freedom))


def t_interval(
    estimate: Floats | float,
    std_error: Floats | float,
    freedom: Floats | float,
    *,
    ends: Ends = "identity",
    level: float = LEVEL,
) -> tuple[Floats, Floats]:
    """Return the ends of intervals by Student's t, made on a scale and turned back, each of the shape of `estimate`.

    Examples
    --------
    >>> t_interval(0.71, 0.0253, 3.21, ends="logit")[0].round(3)
    np.float64(0.627)
    """
    value, half = np.asarray(estimate, dtype=float), half_width(std_error, freedom, level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        if ends == "log":
            return value * np.exp(-half / value), value * np.exp(half / value)
        if ends == "logit":
            odds, factor = value / (1 - value), np.exp(half / (value * (1 - value)))
            low, high = odds / factor, odds * factor
            return low / (1 + low), np.where(np.isinf(high), 1.0, high / (1 + high))
    return value - half, value + half


def draw_interval(
    draws: Floats,
    level: float = LEVEL,
    method: Literal["linear", "nearest"] = "linear",
    *,
    around: Floats | None = None,
) -> tuple[Floats, Floats]:
    """Return the ends of intervals between quantiles of draws, (n, …) → (…); infinity does not spoil the nearest.

    Around an estimate they are reflected (basic bootstrap): what a draw is below it, the truth may be above it.
    """
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method=method)
    return (low, high) if around is None else (2 * around - high, 2 * around - low)


def drawn_p(beyond: Integers | int, draws: int) -> Floats:
    """Return p-values where some of the draws are as large as what is observed, which counts as one of them."""
    return np.asarray((1 + beyond) / (1 + draws))


def exact_freedom(directions: Floats, parts: Floats) -> Floats:
    """Return degrees of freedom of contrasts with errors CR2, exact where errors are independent and alike, (M,).

    Shapes: contrasts in the coordinates in which the information is the identity (M, r); shares of units (G, r, r).
    """
    values, axes = np.linalg.eigh(parts)
    if (values > WHOLE).any():
        return np.full(len(directions), np.nan)
    along = directions @ axes  # (G, M, r)
    y = (along * (values / np.sqrt(1 - values))[:, None]) @ axes.transpose(0, 2, 1)
    p = -np.einsum("gmr,kmr->mgk", y, y, optimize=True)
    g = np.arange(len(parts))
    p[:, g, g] = own = np.einsum("gmr,gr,gmr->mg", along, values, along)
    with np.errstate(invalid="ignore"):  # a contrast of nothing
        return np.asarray(own.sum(axis=1) ** 2 / np.einsum("mgk,mgk->m", p, p))


def t_p(estimate: Floats | float, std_error: Floats | float, freedom: Floats | float, *, above: bool = False) -> Floats:
    """Return two-sided p-values by Student's t, or of what is `above` 0; NaN where an error is 0 or not known."""
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.asarray(std_error, dtype=float)
        t = np.where(error > 0, np.asarray(estimate) / error, np.nan)
        return np.asarray(stdtr(freedom, -t) if above else 2 * stdtr(freedom, -np.abs(t)))


def f_p(statistic: float, df: float, freedom: float) -> float:
    """Return the p-value of a statistic that follows F."""
    return float(fdtrc(df, freedom, max(statistic, 0.0)))


def likelihood_ratio(full: float, null: float, df: int) -> "JointTest":
    """Test by two log-likelihoods that `df` parameters are 0."""
    statistic = max(2 * (full - null), 0.0)
    return JointTest("chi-squared", statistic, df, np.inf, float(chdtrc(df, statistic)))


def wilson(value: Floats, trials: Floats | float, level: float = LEVEL) -> tuple[Floats, Floats]:
    """Return Wilson's intervals of shares, for shares of which every unit has none or all.

    Examples
    --------
    >>> [end.round(4) for end in wilson(np.array(1.0), 10.0)]
    [np.float64(0.7225), np.float64(1.0)]
    """
    z = float(stdtrit(np.inf, (1 + level) / 2)) ** 2 / trials
    middle, half = value + z / 2, np.sqrt(z * value * (1 - value) + z**2 / 4)
    return np.maximum((middle - half) / (1 + z), 0.0), np.minimum((middle + half) / (1 + z), 1.0)


def freedom_of(share: Floats) -> Floats:
    """Return Satterthwaite's degrees of freedom from shares of units, (G, …) → (…); NaN where one has all.

    Examples
    --------
    >>> freedom_of(np.full(6, 1 / 6)).round(12), freedom_of(np.array([10, 20, 5, 40, 8, 17]) / 100).round(10)
    (np.float64(5.0), np.float64(3.2121339344))
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = share**2 / (1 - share)
        inverse = (share**2).sum(axis=0) + ratio.sum(axis=0) ** 2 - (ratio**2).sum(axis=0)
        return np.where((share >= WHOLE).any(axis=0), np.nan, 1 / inverse)


def falling(values: Floats, names: Iterable[object]) -> Integers:
    """Return the places of values in falling order, of equal ones by name, so that draws hang on no other order."""
    return np.lexsort((np.array([str(name) for name in names]), -np.round(values, 12)))


class JointTest(NamedTuple):
    """Test that all of several effects are 0, or equal.

    Attributes
    ----------
    by : {"F", "chi-squared", "sign flips", "Bonferroni", ""}
        How p was found; empty where it could not be.
    statistic : float
        F or χ²; for sign flips the sum of squared effects, for Bonferroni the largest t.
    df : int
        Number of equalities, q.
    freedom : float
        Degrees of freedom of the denominator of F, or of t; NaN for sign flips.
    p : float
        The p-value.
    flips : int
        Number of sign vectors; 0 for other tests.

    Examples
    --------
    >>> JointTest("F", 2.5, 3, 91.2, 0.0645).words
    'F(3, 91.2) = 2.50, p = 0.065'
    """

    by: By
    statistic: float
    df: int
    freedom: float
    p: float
    flips: int = 0

    @property
    def words(self) -> str:
        """Statistic, degrees of freedom or number of sign flips, and p."""
        equalities = "1 equality" if self.df == 1 else f"{self.df} equalities"
        match self.by:
            case "":
                return "not known"
            case "F":
                how = f"F({self.df}, {self.freedom:.4g}) = {self.statistic:.2f}"
            case "chi-squared":
                how = f"χ²({self.df}) = {self.statistic:.2f}"
            case "sign flips":
                how = f"{equalities}, {self.statistic:.4g} among {self.flips:,} sign flips of units"
            case "Bonferroni":
                how = f"{equalities}, largest t({self.freedom:.4g}) = {self.statistic:.2f}, Bonferroni"
        return f"{how}, p = {self.p:.2g}"


def joint_f(estimate: Floats, covariance: Floats, df: int, freedom: float, *, shared: bool = False) -> JointTest:
    """Test that effects of a covariance of rank `df` are 0, by Hotelling's T² as F, or by χ² where errors are known.

    Where one estimate of the variance is behind all errors (`shared`), T² over its rank is F itself. NaN where the rank
    is lower, or too few degrees of freedom are left.

    Examples
    --------
    >>> joint_f(np.array([0.1, -0.1]), np.array([[0.01, -0.01], [-0.01, 0.01]]), 1, 7.0)[:3]
    ('F', 1.0, 1)
    """
    rest = freedom if shared else freedom - df + 1
    unknown = JointTest("", float("nan"), df, rest, float("nan"))
    if df < 1 or not rest >= 1 or not np.isfinite(covariance).all():
        return unknown
    values, axes = np.linalg.eigh((covariance + covariance.T) / 2)
    values, axes = values[-df:], axes[:, -df:]
    if values[0] <= RANK * max(values[-1], np.finfo(float).tiny):
        return unknown
    square = round(float(np.sum((axes.T @ estimate) ** 2 / values)), 12)
    if not np.isfinite(freedom):
        return JointTest("chi-squared", square, df, rest, float(chdtrc(df, square)))
    if not shared:
        return hotelling(square, df, freedom)
    return JointTest("F", square / df, df, rest, f_p(square / df, df, rest))


def hotelling(square: float, df: int, freedom: float) -> JointTest:
    """Test effects by Hotelling's T² with degrees of freedom of their covariance; NaN where too few are left."""
    rest = freedom - df + 1
    if not rest >= 1:
        return JointTest("", float("nan"), df, rest, float("nan"))
    statistic = square * rest / (freedom * df)
    return JointTest("F", statistic, df, rest, f_p(statistic, df, rest))


def sign_flips(parts: Floats, names: list[str], weights: Floats | None = None) -> tuple[float, float, int]:
    """Test that sums over units, (G, P) → (P,), are 0, by changing their signs: statistic, p, number of sign vectors.

    Up to 14 units all sign vectors are taken, above that up to 9,999 drawn ones; names order units that are alike.

    Examples
    --------
    >>> sign_flips(np.array([[1.0], [2], [3], [4]]), list("abcd"))
    (100.0, 0.125, 16)
    """
    u = parts if weights is None else parts * np.sqrt(weights)
    u = u[(u != 0).any(axis=1)] if (u != 0).any() else u[:1]
    total = u.sum(axis=0)
    observed, count = float(total @ total), len(u)
    least = observed * (1 - SLACK)
    if count <= ALL_SIGNS:  # a vector and its opposite count alike
        signs = np.array([(1, *rest) for rest in product((1, -1), repeat=count - 1)], dtype=float)
        return observed, float(np.mean(np.square(signs @ u).sum(axis=1) >= least)), 2**count
    size = max(observed, float(np.square(u).sum()), np.finfo(float).tiny)
    keys = [np.round(key / size, 10) for key in (u @ total, np.square(u).sum(axis=1))]
    kept = [name for name, row in zip(names, (parts != 0).any(axis=1), strict=True) if row]
    u = u[np.lexsort([kept, *keys])]
    draws = int(min(MOST_FLIPS, max(FEWEST_FLIPS, FLIPPED_VALUES // u.size)))
    rng, beyond = generator(0), 0
    block = max(1, min(draws, BLOCK_VALUES // max(u.shape)))
    for start in range(0, draws, block):
        signs = 2.0 * rng.integers(0, 2, (min(block, draws - start), count)) - 1
        beyond += int((np.square(signs @ u).sum(axis=1) >= least).sum())
    return observed, float(drawn_p(beyond, draws)), draws


def bonferroni(estimate: Floats, std_error: Floats, freedom: Floats, df: int) -> JointTest:
    """Test that effects are 0 by the largest |t| among all of them."""
    p = t_p(estimate, std_error, freedom)
    if not np.isfinite(p).any():
        return JointTest("", float("nan"), df, float("nan"), float("nan"))
    first = int(np.nanargmin(p))
    t = float(abs(estimate[first]) / std_error[first])
    nu = float(np.broadcast_to(freedom, estimate.shape)[first])
    count = 1 if df == 1 else int(np.isfinite(p).sum())  # all are then one difference
    return JointTest("Bonferroni", t, df, nu, float(min(1.0, p[first] * count)))
