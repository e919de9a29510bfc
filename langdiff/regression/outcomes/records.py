"""What a fit of outcomes tells beside its parameters: the source of their errors, and tests."""

from dataclasses import dataclass

DOUBTFUL = 0.05  # p of the comparison of marginal and conditional estimates from which on its advice is given


@dataclass(frozen=True, kw_only=True)
class ErrorRecord:
    """Where the standard errors of a fit come from.

    Attributes
    ----------
    kind : {"information", "robust", "bootstrap"}
        Method behind the covariance; see `langdiff.fit_outcomes`.
    clusters : str
        What was taken to be independent: ``"item"``, or the attribute that items share in a cluster.
    n_clusters : int
        Number of clusters.
    n_resamples : int
        Number of samples of the bootstrap that could be fitted; 0 with other methods.
    seed : str
        Seed of the samples; empty if nothing was drawn.
    ratio : float
        Median over systems of the standard error over that from the information.

    Examples
    --------
    >>> ErrorRecord(kind="robust", clusters="document", n_clusters=40, ratio=1.21).words
    'scores of 40 clusters by document (1.21 × those of the information)'
    """

    kind: str = "information"
    clusters: str = "item"
    n_clusters: int = 0
    n_resamples: int = 0
    seed: str = ""
    ratio: float = 1.0

    @property
    def words(self) -> str:
        """The source in words, as `OutcomeFit.summary` prints it."""
        if self.kind == "information":
            return "the information"
        of = (
            f"{self.n_clusters:,} items"
            if self.clusters == "item"
            else f"{self.n_clusters:,} clusters by {self.clusters}"
        )
        found = f"scores of {of}" if self.kind == "robust" else f"{self.n_resamples:,} samples of {of}"
        return f"{found} ({self.ratio:.2f} × those of the information)"


@dataclass(frozen=True, kw_only=True)
class LikelihoodRatio:
    """A likelihood-ratio test.

    Attributes
    ----------
    statistic : float
        Twice the difference of log-likelihoods.
    degrees_of_freedom : int
        Number of parameters that are tested; 1 for a variance, half of whose null distribution is at 0.
    p_value : float
        Probability of such a statistic if they are 0.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float


@dataclass(frozen=True, kw_only=True)
class ProfileTest:
    """A test that systems have no levels of their own in groups of items.

    Attributes
    ----------
    kind : {"likelihood ratio", "Wald"}
        Method: the likelihood ratio takes items to be independent; Wald's test is from the covariance of the fit, that
        of clusters.
    statistic : float
        Twice the difference of log-likelihoods, or the squared distance of the profile from 0 in standard errors.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a statistic if the profile is flat; of Wald's by Hotelling's distribution.
    """

    statistic: float
    degrees_of_freedom: int
    p_value: float
    kind: str = "likelihood ratio"


@dataclass(frozen=True, kw_only=True)
class LikelihoodsCompared:
    """The distance between abilities by the marginal and by the conditional likelihood (after Hausman 1978).

    Attributes
    ----------
    largest : float
        Largest difference of an ability, marginal less conditional, log odds.
    system : str
        System that has it.
    statistic : float
        Squared distance in units of its sampling error, which is that of the difference of influences of items.
    degrees_of_freedom : int
        Number of differences that are free.
    p_value : float
        Probability of such a distance, by Hotelling's distribution, if items are missing independently of their
        difficulty.
    """

    largest: float
    system: str
    statistic: float
    degrees_of_freedom: int
    p_value: float

    @property
    def words(self) -> str:
        """The distance in words and, if it is more than chance, the advice."""
        found = (
            f"marginal and conditional abilities differ by up to {self.largest:+.3f} ({self.system}), "
            f"p = {self.p_value:.2g}"
        )
        if self.p_value >= DOUBTFUL:
            return found
        return f"{found}: items seem to be missing by their difficulty; trust model='conditional'"
