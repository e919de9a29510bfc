"""What a fit tells beside its difficulties: the source of their errors, and the distribution of intent sizes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Literal, Self

import numpy as np
import pandas as pd

ErrorsKind = Literal["information", "sandwich", "bootstrap", "jackknife"]


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
    strata : str
        Name of the groups of clusters that are taken as they are; empty if there are none.
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

    kind: ErrorsKind = "information"
    correction: str = ""
    clusters: str = "intent"
    strata: str = ""
    n_clusters: int = 0
    n_resamples: int = 0
    seed: str = ""
    design_effect: float = float("nan")

    @property
    def words(self) -> str:
        """The source in words, as `DifficultyFit.summary` prints it."""
        clustered = self.clusters != "intent"
        of = f"{self.n_clusters:,} clusters by {self.clusters}" if clustered else f"{self.n_clusters:,} intents"
        of += f" within {self.strata}" if self.strata else ""
        match self.kind:
            case "information":
                return "the information"
            case "sandwich":
                found = f"a sandwich ({self.correction}) over {of}"
            case "bootstrap":
                found = f"{self.n_resamples:,} samples of {of}"
            case _:
                found = f"the jackknife over {of}" if clustered else f"the jackknife over groups of {of}"
        return found if self.design_effect != self.design_effect else f"{found}, design effect {self.design_effect:.2f}"

    @property
    def signature(self) -> str:
        """The source as signatures have it."""
        parts = [self.kind, self.correction, str(self.n_resamples or ""), self.seed and f"seed:{self.seed}"]
        return ",".join(filter(None, ["-".join(filter(None, parts[:3])), parts[3]]))


@dataclass(frozen=True, kw_only=True, eq=False)
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


@dataclass(frozen=True, kw_only=True, eq=False)
class IntentsCompared:
    """The distance between the difficulties with fixed and those with random intents.

    The two agree where cells are missing completely at random. Where they differ, what is missing depends on the
    intents' sizes or on the bits, and one of the two is biased; the test cannot tell which.

    Attributes
    ----------
    difference : Series, shape (J,)
        Difficulty with fixed intents (in model 2 by the restricted likelihood) less that with random ones, nats,
        averaging 0.
    statistic : float
        The squared distance in units of its sampling error; with many intents χ² of `degrees_of_freedom`.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a distance where both kinds of intents are right, by Hotelling's distribution. Too small
        where there are fewer than some fifty intents per edition.

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


@dataclass(frozen=True)
class LaterRecord:
    """A number as files hold it."""

    value: float


class Later:
    """A number that is computed when it is first read, or saved."""

    def __init__(self, compute: Callable[[], float]) -> None:
        self._compute = compute

    def __eq__(self, other: object) -> bool:
        """Return whether the numbers are equal."""
        return isinstance(other, Later) and self.value == other.value

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def value(self) -> float:
        """The number."""
        return self._compute()

    def to_record(self) -> LaterRecord:
        """Return the number as files hold it."""
        return LaterRecord(self.value)

    @classmethod
    def from_record(cls, record: LaterRecord) -> Self:
        """Return the number that a file holds."""
        return cls(partial(float, record.value))


@dataclass(frozen=True, kw_only=True, eq=False)
class Dispersions:
    """Dispersions of editions, or of groups of them, where they are not taken to be equal.

    Attributes
    ----------
    group : Series of str, shape (J,)
        Group of each edition.
    value : Series, shape (G,)
        Dispersion of each group, as `DifficultyFit.dispersion`.
    level : Series, shape (J,)
        Model 1: logarithm of the median bits; model 2: of the expected bits. Nats, up to a constant.
    covariance : DataFrame, shape (J + G, J + G)
        Joint covariance of `level` and of the logarithms of σ² (model 1) or κ (model 2) of the groups.
    wald, p_value : float
        Robust test of equal dispersions: χ² with G − 1 degrees of freedom, and its p; NaN at the boundary.
    test : {"robust", "bootstrap"}
        Source of `p_value`: Hotelling's distribution, or samples of intents where errors come from the bootstrap,
        which holds with a hundred intents, too.
    likelihood_ratio : Later
        p of the likelihood-ratio test, which takes another fit, computed when it is read.
    boundary : tuple of str
        Groups whose dispersion is at the boundary, below 1e-4 of their mean; their errors are not known.

    Examples
    --------
    >>> import langdiff as ld
    >>> fit = ld.fit(ld.simulate(300, 3, model="1", seed=1).surprisals, model="1", dispersion="edition")
    >>> fit.dispersions.value.index.tolist(), bool(fit.dispersions.p_value > 0.001)
    (['e1', 'e2', 'e3'], True)
    """

    group: pd.Series
    value: pd.Series
    level: pd.Series
    covariance: pd.DataFrame
    wald: float
    p_value: float
    likelihood_ratio: Later
    test: Literal["robust", "bootstrap"] = "robust"
    boundary: tuple[str, ...] = ()

    @property
    def likelihood_ratio_p(self) -> float:
        """P of the likelihood-ratio test, which noise with heavy tails makes far too small."""
        return self.likelihood_ratio.value

    @property
    def words(self) -> str:
        """The dispersions in words, as `DifficultyFit.summary` prints them."""
        low, high = self.value.idxmin(), self.value.idxmax()
        found = (
            f"dispersions from {self.value.min():.4g} ({low}) to {self.value.max():.4g} ({high}); equal: "
            f"p = {self.p_value:.2g} ({self.test})"
        )
        return f"{found}; AT THE BOUNDARY: {', '.join(self.boundary)}" if self.boundary else found

    def median(self, model: str, size: float) -> tuple[pd.Series, pd.DataFrame]:
        """Return the logarithms of median bits up to a constant, shape (J,), and their covariance, shape (J, J)."""
        editions, groups = len(self.level), len(self.value)
        jacobian = np.eye(editions, editions + groups)
        level = self.level.to_numpy(dtype=float)
        if model == "2":
            code, kappa = self.value.index.get_indexer(pd.Index(self.group)), self.value.to_numpy(dtype=float)
            level = level - 0.5 * np.log1p(kappa / size)[code]
            jacobian[np.arange(editions), editions + code] = -0.5 * (kappa / (kappa + size))[code]
        covariance = jacobian @ self.covariance.to_numpy() @ jacobian.T
        names = self.level.index
        return pd.Series(level, names), pd.DataFrame(covariance, names, names)
