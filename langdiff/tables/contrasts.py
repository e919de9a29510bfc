"""Scales of effects, contrasts between effects, and ranks."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from langdiff.base.types import Floats
from langdiff.errors import DataError
from langdiff.tables.rule import Ends, t_p


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
