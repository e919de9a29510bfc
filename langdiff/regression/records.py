"""What a fit tells beside its difficulties: the source of their errors, and the distribution of intent sizes."""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

Kind = Literal["information", "sandwich", "bootstrap", "jackknife"]


@dataclass(frozen=True, kw_only=True)
class ErrorSource:
    """Where the standard errors of a fit come from.

    Attributes
    ----------
    kind : {"information", "sandwich", "bootstrap", "jackknife"}
        Method behind the covariance; see `langdiff.fit`.
    correction : str
        Small-sample correction of the sandwich, ``"CR0"`` to ``"CR3"``; empty with other methods.
    clusters : str
        Name of what was taken to be independent: ``"intent"``, or the clusters that intents belong to.
    n_clusters : int
        Number of clusters.
    n_resamples : int
        Number of samples of the bootstrap; 0 with other methods.
    seed : str
        Seed of the samples or of the partitions of the jackknife; empty if nothing was drawn.
    design_effect : float
        Factor by which clusters multiply variances, pooled over editions: over the sandwich that takes intents to
        be independent. NaN where intents are the clusters or there is no sandwich.

    Examples
    --------
    >>> ErrorSource(kind="sandwich", correction="CR2", clusters="chapter", n_clusters=260, design_effect=1.44).words
    'a sandwich (CR2) over 260 clusters by chapter, design effect 1.44'
    """

    kind: Kind = "information"
    correction: str = ""
    clusters: str = "intent"
    n_clusters: int = 0
    n_resamples: int = 0
    seed: str = ""
    design_effect: float = float("nan")

    @property
    def words(self) -> str:
        """The source in words, as `DifficultyFit.summary` prints it."""
        clustered = self.clusters != "intent"
        of = f"{self.n_clusters:,} clusters by {self.clusters}" if clustered else f"{self.n_clusters:,} intents"
        match self.kind:
            case "information":
                return "the information"
            case "sandwich":
                found = f"a sandwich ({self.correction}) over {of}"
            case "bootstrap":
                found = f"{self.n_resamples:,} samples of {of}"
            case _:
                found = f"the jackknife over {of}"
        return found if self.design_effect != self.design_effect else f"{found}, design effect {self.design_effect:.2f}"

    @property
    def signature(self) -> str:
        """The source as signatures have it."""
        parts = [self.kind, self.correction, str(self.n_resamples or ""), self.seed and f"seed:{self.seed}"]
        return ",".join(filter(None, ["-".join(filter(None, parts[:3])), parts[3]]))


@dataclass(frozen=True, kw_only=True)
class SizeDistribution:
    """The distribution of intent sizes that a fit with random intents estimates.

    Attributes
    ----------
    kind : {"normal", "free"}
        Family of distributions of ln n.
    mean, sd : float
        Mean and standard deviation of ln n, n in the bits of `DifficultyFit.intent_size`; of the residuals where
        there are `slopes`.
    slopes : Series or None
        Coefficients of a formula of sizes; None without one.

    Examples
    --------
    >>> SizeDistribution(mean=4.6, sd=0.6).words
    'sizes: ln n normal, mean 4.600, s.d. 0.600'
    """

    kind: Literal["normal", "free"] = "normal"
    mean: float
    sd: float
    slopes: pd.Series | None = None

    @property
    def words(self) -> str:
        """The distribution in words, as `DifficultyFit.summary` prints it."""
        if self.sd == 0:
            return f"sizes: no variation between intents, ln n {self.mean:.3f}"
        given = "" if self.slopes is None else f" around {', '.join(map(str, self.slopes.index))}"
        return f"sizes: ln n {self.kind}{given}, mean {self.mean:.3f}, s.d. {self.sd:.3f}"


@dataclass(frozen=True, kw_only=True)
class IntentsCompared:
    """The distance between the difficulties with fixed and those with random intents.

    The two agree where cells are missing completely at random. Where they differ, what is missing depends on the
    intents' sizes or on the bits, and one of the two is biased; the test cannot tell which.

    Attributes
    ----------
    difference : Series, shape (J,)
        Difficulty with fixed intents less that with random ones, nats, averaging 0.
    statistic : float
        The squared distance in units of its sampling error: χ² of `degrees_of_freedom`.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a distance where both kinds of intents are right.

    Examples
    --------
    >>> difference = pd.Series({"eng": 0.011, "deu": -0.011})
    >>> IntentsCompared(difference=difference, statistic=30.0, degrees_of_freedom=1, p_value=4.3e-8).words
    'fixed and random intents differ by up to 0.0110 nats (eng), p = 4.3e-08'
    """

    difference: pd.Series
    statistic: float
    degrees_of_freedom: int
    p_value: float

    @property
    def words(self) -> str:
        """The distance in words, as `DifficultyFit.summary` prints it."""
        worst = self.difference.abs().idxmax()
        return (
            f"fixed and random intents differ by up to {self.difference.abs().max():.4f} nats ({worst}), "
            f"p = {self.p_value:.2g}"
        )
