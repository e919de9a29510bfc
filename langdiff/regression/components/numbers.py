r"""Numbers of intents, or of documents, with their intervals.

With :math:`s^2` the variance of difficulties and :math:`\hat V =
\mathrm{tr}(PCP)/(J - 1)`, :math:`P = I - 11^\top/J` and C the covariance of a fit of model 1 to the same table,
:math:`\theta = \sigma^2_e/V` lies between :math:`s^2/(\hat V F_{.975}) - 1` and :math:`s^2/(\hat V F_{.025}) - 1`, with
F of J − 1 and :math:`\nu(J - 1)` degrees of freedom, :math:`\nu` those of the errors (Harville and Fenech 1985,
Biometrics 41); of n units :math:`n G / ((1 - G)\theta)` have the reliability G.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import chi2
from scipy.stats import f as f_ratio

from langdiff.base.result import Result
from langdiff.base.types import Floats
from langdiff.errors import LangdiffError, LangdiffWarning
from langdiff.regression.fitting.fit import fit
from langdiff.tables.surprisals import Surprisals

LEVEL = 0.95  # of the intervals


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
        tails = np.asarray(f_ratio.ppf([(1 - LEVEL) / 2, (1 + LEVEL) / 2], n_editions - 1, self.freedom))
        theta = self.variance / (self.error * tails) - 1
        ends: Floats = np.where(theta <= 0, np.inf, n_intents * odds / np.where(theta > 0, theta, np.nan))
        return ends

    def intents_for_error(self, std_error: float, n_intents: int) -> Floats:
        """Return both ends of the number of intents with a standard error, from a table of some intents."""
        tails = np.asarray(chi2.ppf([(1 + LEVEL) / 2, (1 - LEVEL) / 2], self.freedom)) / self.freedom
        ends: Floats = n_intents * self.error / tails / std_error**2
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
    if fitted.covariance.empty and fitted.factor is not None:  # of many columns
        error = float(np.sum((fitted.factor - fitted.factor.mean(axis=1, keepdims=True)) ** 2)) / (editions - 1)
    else:
        covariance = fitted.covariance.to_numpy()
        error = float(np.trace(covariance - covariance.mean(axis=0))) / (editions - 1)
    if fitted.errors.kind != "information":
        of_pairs = np.broadcast_to(freedom, (editions, editions))[np.triu_indices(editions, 1)]
        freedom = np.median(of_pairs) * (editions - 1)
    return Spread(float(fitted.difficulty.var(ddof=1)), error, float(np.min(freedom)))
