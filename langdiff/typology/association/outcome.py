"""What one test of one predictor gives."""

from typing import Literal, NamedTuple

import numpy as np

from langdiff.base.types import Floats

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


def is_constant(values: Floats) -> bool:
    """Say whether all values are equal but for rounding.

    Examples
    --------
    >>> is_constant(np.array([0.1 + 0.2, 0.3])), is_constant(np.array([1.0, 2.0]))
    (True, False)
    """
    return bool(np.ptp(values) <= 1e-12 * np.abs(values).max())
