r"""The rule of the floor of inference: scales and contrasts of effects, their intervals, p-values and joint tests.

Intervals and p-values are by Student's t, joint tests by F or sign flips.

With the shares :math:`\pi_g` of units in the information on a contrast, its degrees of freedom are (Bell and McCaffrey
2002; Satterthwaite 1946)

.. math:: 1/\nu = \sum_g \pi_g^2 + \Bigl(\sum_g x_g\Bigr)^2 - \sum_g x_g^2, \quad x_g = \pi_g^2 / (1 - \pi_g)

That q estimates are equal is tested by F where :math:`\nu \ge 20q`. Otherwise units change sign: with
:math:`u_{gk} = \psi_{gk} + \pi_g \hat\theta_k`, whose sums are the estimates, p is the share of sign vectors s with
:math:`\sum_k w_k (\sum_g s_g u_{gk})^2` as large as :math:`\sum_k w_k \hat\theta_k^2`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import chdtrc, chdtri, fdtrc, fdtri, logsumexp, stdtr, stdtrit

from langdiff.base.types import Floats, Integers, generator
from langdiff.errors import DataError

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
    """Return p-values from the number of draws as large as the observed one, which counts as one of them."""
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
    """Return p-values by Student's t, two-sided or for estimates `above` 0; NaN where an error is 0 or not known."""
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


@dataclass(frozen=True, kw_only=True)
class Scale:
    """Quantity and unit of effects.

    Attributes
    ----------
    quantity : str
        Quantity that is estimated, such as ``"difficulty"`` or ``"f1"``; the name of its column in tables.
    unit : str
        Unit of the estimates: ``"nats"``, ``"log odds"``, ``"share"``, or what is counted, such as ``"words"``.
    first : {"hardest", "ablest"}
        Meaning of rank 1, the highest estimate.
    centre : {"factors", "mean"}
        Reference of the estimates: ``"factors"`` if their exponentials average 1,
        ``"mean"`` if they themselves average 0.
    ends : {"identity", "log", "logit"}
        Scale on which intervals of single estimates are made: logarithms for ratios, logits for shares.
    estimand : str
        Bits whose logarithm the estimates are, such as ``"expected bits"``, where others would give another result;
        empty otherwise.

    Examples
    --------
    >>> Scale().read(0.0953)
    '+10.0 %'
    >>> Scale(quantity="ability", unit="log odds", first="ablest", centre="mean").read(0.6931)
    'odds × 2.00'
    """

    quantity: str = "difficulty"
    unit: str = "nats"
    first: str = "hardest"
    centre: Literal["factors", "mean"] = "factors"
    ends: Ends = field(default="identity", repr=False)
    estimand: str = field(default="", compare=False, repr=False)

    @property
    def label(self) -> str:
        """Quantity, its estimand and its unit, for axes: ``"difficulty, ln expected bits (nats)"``."""
        unit = "" if self.unit == self.quantity else f" ({self.unit})"
        return f"{self.quantity}{f', ln {self.estimand}' if self.estimand else ''}{unit}"

    def center(self, values: Floats) -> Floats:
        """Return estimates relative to their average, column by column.

        Shapes: values (J,).

        Examples
        --------
        >>> np.exp(Scale().center(np.array([0.0, 1.0]))).mean().round(12)
        np.float64(1.0)
        """
        level = logsumexp(values, axis=0) - np.log(len(values)) if self.centre == "factors" else values.mean(axis=0)
        centered: Floats = values - level
        return centered

    def read(self, difference: float) -> str:
        """Return a difference of two effects as percent or as an odds ratio.

        Parameters
        ----------
        difference : float
            Difference in the unit of the scale.

        Returns
        -------
        str
            Percent for nats, a ratio of odds for log odds, points for shares; otherwise the difference itself.

        Examples
        --------
        >>> Scale().read(-0.0513)
        '-5.0 %'
        """
        if self.unit == "nats":
            return f"{100 * np.expm1(difference):+z.1f} %"
        if self.unit == "log odds":
            return f"odds × {np.exp(difference):.2f}"
        return f"{100 * difference:+z.1f} points" if self.unit == "share" else f"{difference:+z.3g} {self.unit}"


def shares(quantity: str) -> Scale:
    """Return the scale of shares, such as F1 or a recall, whose intervals are made on logits."""
    return Scale(quantity=quantity, unit="share", first="highest", centre="mean", ends="logit")


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """Difference between two effects, or between the means of two sets.

    Attributes
    ----------
    name : str
        Names of the effects compared.
    estimate, std_error, low, high : float
        The difference, its standard error and its 95 % interval, in the unit of the scale. The standard error
        is 0 where a formula ties the effects, and NaN where their covariance is not known.
    scale : Scale
        Quantity and unit of the effects.
    degrees_of_freedom : float
        Degrees of freedom of Student's t distribution behind the interval and `p_value`; infinite for the normal
        distribution.

    Examples
    --------
    >>> contrast = Contrast(name="fin - eng", estimate=0.1, std_error=0.02, low=0.06, high=0.14)
    >>> print(contrast)
    fin - eng: 0.1000 ± 0.0200 nats (+10.5 %), 95 % interval 0.0600 to 0.1400, p = 5.7e-07
    """

    name: str
    estimate: float
    std_error: float
    low: float
    high: float
    scale: Scale = field(default_factory=Scale)
    degrees_of_freedom: float = np.inf

    @property
    def percent(self) -> float:
        """Difference in percent, 100·(exp(estimate) − 1): additional bits for nats, higher odds for log odds."""
        return float(100 * np.expm1(self.estimate))

    @property
    def p_value(self) -> float:
        """Two-sided p-value of no difference, by the t distribution; NaN if a formula makes the two equal."""
        return float(t_p(self.estimate, self.std_error, self.degrees_of_freedom))

    def __str__(self) -> str:
        """Return the difference, its interval and its p-value in one line."""
        return (
            f"{self.name}: {self.estimate:.4f} ± {self.std_error:.4f} {self.scale.unit} "
            f"({self.scale.read(self.estimate)}), 95 % interval {self.low:.4f} to {self.high:.4f}, "
            f"p = {self.p_value:.2g}{f'; {self.scale.estimand}' if self.scale.estimand else ''}"
        )


def count_ranks(draws: pd.DataFrame) -> pd.DataFrame:
    """Return the share of draws in which each edition has each rank; see `rank_probabilities`.

    Shapes: draws (draws, J).

    Examples
    --------
    >>> count_ranks(pd.DataFrame({"eng": [0.0, 0.1], "fin": [0.2, 0.1]})).loc["fin"].to_dict()
    {1: 0.75, 2: 0.25}
    """
    values = draws.to_numpy(dtype=float)
    if not values.size or np.isnan(values).any():
        raise DataError("draws of difficulties are missing or not numbers; give a complete frame, draws × editions.")
    count = values.shape[1]
    falling = pd.DataFrame(-values)
    first, last = (falling.rank(axis=1, method=method).to_numpy(dtype=int) for method in ("min", "max"))
    shares = np.zeros((count, count))
    for further in range(int((last - first).max()) + 1):  # ranks that ties share; usually there are none
        place, edition = np.nonzero(first + further <= last)
        rank = first[place, edition] + further
        np.add.at(shares, (edition, rank - 1), 1 / (last - first + 1)[place, edition])
    shares /= len(values)
    order = np.argsort((first + last).sum(axis=0), kind="stable")
    names = draws.columns[order].rename("edition" if draws.columns.name is None else draws.columns.name)
    return pd.DataFrame(shares[order], index=names, columns=pd.RangeIndex(1, count + 1, name="rank"))
