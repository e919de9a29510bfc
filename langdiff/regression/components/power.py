r"""Power of a comparison of two editions by numbers of documents and seeds, and the smallest numbers that have it.

The power is the probability that a noncentral t exceeds the critical value:

.. math:: P(|t_\nu(\delta / SE)| > t_{\nu, 1 - \alpha/2}), \quad
          \frac1\nu = \frac{(C / SE^2)^2}{D - 1} + \frac{(2b / R / SE^2)^2}{(R - 1)(J - 1)}

with C the part of the variance that is of intents (Satterthwaite 1946). If all pairs of J editions are compared, the
critical value is that of the largest of all differences, each with a variance estimate of its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.stats import chi2, norm, studentized_range
from scipy.stats import t as student

from langdiff.base.seeds import generator
from langdiff.base.types import Floats

MOST_DOCUMENTS = 10**12
MOST_SEEDS = 10_000
NODES = 200
NORMAL = 1e6  # degrees of freedom from which t is normal
CERTAIN = 30.0  # standard errors at which the power is 1
MANY = 1000.0  # degrees of freedom from which errors of pairs are as good as known
DRAWS, FEWEST_DRAWS, MOST_NUMBERS = 20_000, 4_000, 5e7  # of the largest difference


@dataclass(frozen=True)
class Setting:
    """Variances, seeds, level and number of compared editions, which with D and the difference determine the power."""

    variance: float
    per_document: float
    icc: float
    seed_variance: float
    n_seeds: int
    pooled: int  # degrees of freedom of the variance between seeds
    level: float
    compared: int  # editions whose pairs are all compared; 0 for one pair


def fewest_documents(setting: Setting, percent: float, wanted: float) -> float:
    """Return the smallest number of documents with a power; infinite if none has."""
    return _smallest(lambda count: power_of(setting, count, percent) >= wanted, 2, MOST_DOCUMENTS)


def fewest_seeds(setting: Setting, percent: float, wanted: float) -> float:
    """Return the smallest number of seeds with which some number of documents has a power."""
    each = setting.pooled // (setting.n_seeds - 1)

    def enough(seeds: int) -> bool:
        more = replace(setting, n_seeds=seeds, pooled=each * (seeds - 1))
        return power_of(more, np.inf, percent) > wanted

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


def power_of(setting: Setting, n_documents: float, percent: float) -> float:
    """Return the probability that the interval of a difference excludes 0."""
    of_document = setting.variance * (1 + (setting.per_document - 1) * setting.icc) / setting.per_document
    of_intents, of_seeds = of_document / n_documents, 2 * setting.seed_variance / setting.n_seeds
    total = of_intents + of_seeds
    if total == 0:
        return 1.0
    inverse = (of_intents / total) ** 2 / (n_documents - 1)
    if of_seeds:
        inverse += (of_seeds / total) ** 2 / setting.pooled
    freedom, away = 1 / inverse if inverse else np.inf, np.log1p(percent / 100) / np.sqrt(total)
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
        return float(student.ppf((1 + level) / 2, freedom))
    if freedom > MANY:
        return float(studentized_range.ppf(level, compared, np.inf)) / 2**0.5
    one, other = np.triu_indices(compared, 1)
    draws = int(np.clip(MOST_NUMBERS / len(one), FEWEST_DRAWS, DRAWS))
    rng, largest = generator(0), np.empty(draws)
    for start in range(0, draws, 500):
        x = rng.standard_normal((min(500, draws - start), compared))
        errors = np.sqrt(rng.chisquare(freedom, (len(x), len(one))) / freedom)
        largest[start : start + len(x)] = (np.abs(x[:, one] - x[:, other]) / errors).max(axis=1)
    return float(np.quantile(largest, level)) / 2**0.5
