r"""Numbers of intents, or of documents, with their intervals, and the power of comparisons that they have.

With :math:`s^2` the variance of difficulties and :math:`\hat V =
\mathrm{tr}(PCP)/(J - 1)`, :math:`P = I - 11^\top/J` and C the covariance of a fit of model 1 to the same table,
:math:`\theta = \sigma^2_e/V` lies between :math:`s^2/(\hat V F_{.975}) - 1` and :math:`s^2/(\hat V F_{.025}) - 1`, with
F of J − 1 and :math:`\nu(J - 1)` degrees of freedom, :math:`\nu` those of the errors (Harville and Fenech 1985,
Biometrics 41); of n units :math:`n G / ((1 - G)\theta)` have the reliability G.

The power is the probability that a noncentral t exceeds the critical value:

.. math:: P(|t_\nu(\delta / SE)| > t_{\nu, 1 - \alpha/2}), \quad
          \frac1\nu = \frac{(C / SE^2)^2}{D - 1} + \frac{(2b / R / SE^2)^2}{(R - 1)(J - 1)}

with C the part of the variance that is of intents (Satterthwaite 1946). If all pairs of J editions are compared, the
critical value is that of the largest of all differences, each with a variance estimate of its own.
"""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from langdiff.base.result import Result
from langdiff.base.types import ROUNDING, Floats, generator
from langdiff.errors import ConfigError, LangdiffError, LangdiffWarning, option
from langdiff.regression.fitting.fit import fit
from langdiff.tables.rule import LEVEL, half_width, range_quantile, variance_ends
from langdiff.tables.surprisals import Surprisals

MOST_DOCUMENTS = 10**12
MOST_SEEDS = 10_000
NODES = 200
NORMAL = 1e6  # degrees of freedom from which t is normal
CERTAIN = 30.0  # standard errors at which the power is 1
MANY = 1000.0  # degrees of freedom from which errors of pairs are as good as known
DRAWS, FEWEST_DRAWS, MOST_NUMBERS = 20_000, 4_000, 5e7  # of the largest difference


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Number(Result):
    """Number of intents, or of documents, with its interval of 95 %.

    Attributes
    ----------
    estimate, low, high : float
        Not rounded; infinite if no number is enough. The ends are NaN where they are not known, of several tables.
    unit : str
        ``"intents"``, or for instance ``"documents of 8 intents"``.
    """

    estimate: float
    low: float
    high: float
    unit: str = "intents"

    def to_frame(self) -> pd.DataFrame:
        """Return one row with ``estimate``, ``low``, ``high`` and ``unit``."""
        row = {"estimate": self.estimate, "low": self.low, "high": self.high, "unit": self.unit}
        return pd.DataFrame([row], index=["number"])

    def __repr__(self) -> str:
        """Return the number with its interval.

        Examples
        --------
        >>> Number(estimate=48.41, low=2.64, high=1806.3)
        48.4 intents (95 % interval 2.6 to 1,806.3)
        >>> Number(estimate=48.41, low=2.64, high=np.inf, unit="documents of 8 intents")
        48.4 documents of 8 intents (95 % interval 2.6 to no number)
        """
        estimate, low, high = (f"{each:,.1f}" if each < np.inf else "no number" for each in self._all)
        interval = "" if np.isnan(self.low) else f" (95 % interval {low} to {high})"
        return f"{estimate} {'of ' if estimate == 'no number' else ''}{self.unit}{interval}"

    @property
    def _all(self) -> tuple[float, float, float]:
        return self.estimate, self.low, self.high


@dataclass(frozen=True)
class Spread:
    """Variances of difficulties that intervals of numbers are made of, nats squared.

    Attributes
    ----------
    variance : float
        Variance of the estimated difficulties, s².
    error : float
        Mean variance of their errors, V.
    freedom : float
        Degrees of freedom of `error`.
    """

    variance: float = float("nan")
    error: float = float("nan")
    freedom: float = float("nan")

    def intents_for(self, odds: float, n_editions: int, n_intents: int) -> Floats:
        """Return both ends of the number of intents with given odds G / (1 − G), from a table of some intents."""
        theta = self.variance / self.error * variance_ends(n_editions - 1, against=self.freedom)[::-1] - 1
        ends: Floats = np.where(theta <= 0, np.inf, n_intents * odds / np.where(theta > 0, theta, np.nan))
        return ends

    def intents_for_error(self, std_error: float, n_intents: int) -> Floats:
        """Return both ends of the number of intents with a standard error, from a table of some intents."""
        ends: Floats = n_intents * self.error * variance_ends(self.freedom) / std_error**2
        return ends


def mean_size(labels: pd.Series) -> float:
    """Return the mean size of the cluster of an intent, the sum of squared sizes over the sum of sizes.

    Examples
    --------
    >>> round(mean_size(pd.Series(["a", "a", "b"])), 4)
    1.6667
    """
    sizes = labels.value_counts().to_numpy(dtype=float)
    return float(sizes @ sizes / sizes.sum())


def spread_of(table: Surprisals, labels: pd.Series | None) -> Spread:
    """Return the variance of difficulties and of their errors, by a fit of model 1; NaN where it has no errors."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)  # of difficulties, which are not shown here
            fitted = fit(table, model="1", dispersion="common", clusters=labels)
    except LangdiffError:
        return Spread()
    editions, freedom = len(fitted.difficulty), np.asarray(fitted.degrees_of_freedom, dtype=float)
    if fitted.covariance.empty and fitted.influence is not None:  # of many columns
        rows = fitted.influence.values
        error = float(np.sum((rows - rows.mean(axis=1, keepdims=True)) ** 2)) / (editions - 1)
    else:
        covariance = fitted.covariance.to_numpy()
        error = float(np.trace(covariance - covariance.mean(axis=0))) / (editions - 1)
    if fitted.errors.kind != "information":
        of_pairs = np.broadcast_to(freedom, (editions, editions))[np.triu_indices(editions, 1)]
        freedom = np.median(of_pairs) * (editions - 1)
    return Spread(float(fitted.difficulty.var(ddof=1)), error, float(np.min(freedom)))


@dataclass(frozen=True)
class Setting:
    """Variances, seeds, level and number of compared editions, which with D and the difference determine the power."""

    variance: float
    per_document: float
    icc: float
    seed_variance: float = 0.0
    n_seeds: int = 1
    pooled: int = 0  # degrees of freedom of the variance between seeds
    level: float = LEVEL
    compared: int = 0  # editions whose pairs are all compared; 0 for one pair


RANGES = {  # least value, whether it may be taken, whether it is whole, upper end, and words
    **dict.fromkeys(["percent", "noise", "difference", "sd"], (0, False, False, np.inf, "positive")),
    **dict.fromkeys(["languages", "n_answers"], (1, True, True, np.inf, "a whole number from 1")),
    **dict.fromkeys(["per_document", "n_seeds"], (1, True, False, np.inf, "at least 1")),
    **dict.fromkeys(["shared", "repeat_share"], (0, True, False, 1 + 1e-12, "from 0 to 1")),
    "n_editions": (2, True, False, np.inf, "at least 2"),
    "icc": (0, True, False, 1, "from 0 to below 1"),
    "seed_sd": (0, True, False, np.inf, "0 or positive"),
    "level": (0.5, False, False, 1, "between 0.5 and 1"),
}


def check_ranges(given: Mapping[str, float | None], power: float) -> None:
    """Check that all numbers of a plan are in their range."""
    for name, value in given.items():
        least, reached, whole, most, words = RANGES[name]
        if value is None or (reached and value == least):
            continue
        if not least < value < most or (whole and value % 1):
            raise ConfigError(f"{option(name)} must be {words}, got {value!r}.")
    chance = 1 - (given["level"] or 0)
    if not chance + ROUNDING < power < 1:
        raise ConfigError(
            f"{option('power')} must be between {chance:.3g}, which chance reaches, and 1, got {power!r}."
        )


def fewest_documents(setting: Setting, difference: float, wanted: float) -> float:
    """Return the smallest number of documents with a power; infinite if none has."""
    return _smallest(lambda count: power_of(setting, count, difference) >= wanted, 2, MOST_DOCUMENTS)


def fewest_seeds(setting: Setting, difference: float, wanted: float) -> float:
    """Return the smallest number of seeds with which some number of documents has a power."""
    each = setting.pooled // (setting.n_seeds - 1)

    def enough(seeds: int) -> bool:
        more = replace(setting, n_seeds=seeds, pooled=each * (seeds - 1))
        return power_of(more, np.inf, difference) > wanted

    return _smallest(enough, setting.n_seeds, MOST_SEEDS)


def _smallest(enough: Callable[[int], bool], least: int, most: int) -> float:
    """Return the smallest number from which a condition holds, by doubling and halving; infinite if it never does."""
    low, high = least - 1, least
    while not enough(high):
        if high >= most:
            return np.inf
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def power_of(setting: Setting, n_documents: float, difference: float) -> float:
    """Return the probability that the interval of a difference, in the unit of the variances, excludes 0."""
    of_document = setting.variance * (1 + (setting.per_document - 1) * setting.icc) / setting.per_document
    of_intents, of_seeds = of_document / n_documents, 2 * setting.seed_variance / setting.n_seeds
    total = of_intents + of_seeds
    if total == 0:
        return 1.0
    inverse = (of_intents / total) ** 2 / (n_documents - 1)
    if of_seeds:
        inverse += (of_seeds / total) ** 2 / setting.pooled
    freedom, away = 1 / inverse if inverse else np.inf, difference / np.sqrt(total)
    critical = _critical(freedom, setting.level, setting.compared)
    if away > critical + CERTAIN:
        return 1.0
    if freedom > NORMAL:
        return float(norm.sf(critical - away) + norm.cdf(-critical - away))
    shares, weights = _nodes()
    scale = np.sqrt(chi2.ppf(shares, freedom) / freedom)  # an integral, as SciPy's noncentral t is NaN at some points
    return float(weights @ (norm.sf(critical * scale - away) + norm.cdf(-critical * scale - away)))


@cache
def _nodes() -> tuple[Floats, Floats]:
    """Return the nodes and weights of an integral from 0 to 1."""
    nodes, weights = np.polynomial.legendre.leggauss(NODES)
    return (nodes + 1) / 2, weights / 2


@cache
def _critical(freedom: float, level: float, compared: int) -> float:
    """Return the critical value of one difference, or of the largest of all pairs of some editions."""
    if compared <= 2:
        return float(half_width(1.0, freedom, level))
    if freedom > MANY:
        return range_quantile(compared, np.inf, level) / 2**0.5
    one, other = np.triu_indices(compared, 1)
    draws = int(np.clip(MOST_NUMBERS / len(one), FEWEST_DRAWS, DRAWS))
    rng, largest = generator(0), np.empty(draws)
    for start in range(0, draws, 500):
        x = rng.standard_normal((min(500, draws - start), compared))
        errors = np.sqrt(rng.chisquare(freedom, (len(x), len(one))) / freedom)
        largest[start : start + len(x)] = (np.abs(x[:, one] - x[:, other]) / errors).max(axis=1)
    return float(np.quantile(largest, level)) / 2**0.5
