"""The difference between two difficulties, or two means of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from langdiff.errors import ConfigError, listing

Names = str | int | Sequence[str | int]

NINETY_FIVE = float(norm.ppf(0.975))
ROUNDING = 1e-12  # of the variances that cancel: what is left of difficulties that are tied


@dataclass(frozen=True, kw_only=True)
class Contrast:
    """A difference of difficulties.

    Attributes
    ----------
    name : str
        What was compared.
    estimate, std_error, low, high : float
        The difference, its standard error and its 95 % interval, nats; the standard error of difficulties
        that a formula ties is 0.
    """

    name: str
    estimate: float
    std_error: float
    low: float
    high: float

    @property
    def percent(self) -> float:
        """How many more bits the one takes than the other, percent: 100·(exp(estimate) − 1)."""
        return float(100 * np.expm1(self.estimate))

    @property
    def p_value(self) -> float:
        """Two-sided, of no difference, by the normal distribution; NaN if the two are tied, and cannot differ."""
        if self.std_error == 0:
            return float("nan")
        return float(2 * norm.sf(abs(self.estimate) / self.std_error))

    def __str__(self) -> str:
        """Say it in a line."""
        return (
            f"{self.name}: {self.estimate:.4f} ± {self.std_error:.4f} nats ({self.percent:+.1f} %), 95 % interval "
            f"{self.low:.4f} to {self.high:.4f}, p = {self.p_value:.2g}"
        )


def contrast(difficulty: pd.Series, covariance: pd.DataFrame, one: Names, other: Names) -> Contrast:
    """Compare means of difficulties; see `DifficultyFit.contrast`."""
    names = [[side] if isinstance(side, str | int | np.integer) else list(side) for side in (one, other)]
    if not all(names):
        raise ConfigError("a contrast needs a name on both sides.")
    unknown = [name for side in names for name in side if name not in difficulty.index]
    if unknown:
        raise ConfigError(f"not in this fit: {listing(unknown)}; it has {listing(difficulty.index)}.")
    both = set(names[0]) & set(names[1])
    if both:
        raise ConfigError(f"on both sides of the contrast: {listing(sorted(both, key=str))}.")
    twice = [name for side in names for name in dict.fromkeys(side) if side.count(name) > 1]
    if twice:
        raise ConfigError(f"named twice on a side of the contrast: {listing(twice)}.")
    weights = pd.Series(0.0, index=difficulty.index)
    for side, sign in zip(names, (1, -1), strict=True):
        weights[side] = sign / len(side)
    w = weights.to_numpy()
    estimate = float(w @ difficulty.to_numpy())
    variance = w @ covariance.to_numpy() @ w
    tied = variance <= ROUNDING * (np.abs(w) @ np.abs(covariance.to_numpy()) @ np.abs(w)) + ROUNDING**2
    std_error = 0.0 if tied else float(np.sqrt(variance))
    half = NINETY_FIVE * std_error
    return Contrast(
        name=" - ".join(str(side[0]) if len(side) == 1 else f"mean({', '.join(map(str, side))})" for side in names),
        estimate=estimate,
        std_error=std_error,
        low=estimate - half,
        high=estimate + half,
    )
