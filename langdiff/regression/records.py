"""What a fit tells beside its difficulties: the source of their errors, sizes, dispersions, and its audit."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from math import isnan, nan
from typing import Literal, Self

import numpy as np
import pandas as pd

from langdiff.tables.units import IndependentUnits

ErrorsKind = Literal["information", "sandwich", "bootstrap", "jackknife"]
ALIKE = 0.05  # p below which neighbouring rows are taken to be alike
UNEQUAL = 0.01  # p below which editions get dispersions of their own
DIFFERENT = 0.01  # p below which fixed and random intents are said to differ


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


@dataclass(frozen=True, kw_only=True)
class OrderTest:
    """Test whether neighbouring rows of the table are alike, as sentences of one document are.

    Attributes
    ----------
    statistic : float
        Standard normal where rows are independent; large where neighbours are alike.
    p_value : float
        One-sided.
    """

    statistic: float
    p_value: float

    @property
    def alike(self) -> bool:
        """Whether neighbouring rows are taken to be alike."""
        return self.p_value < ALIKE

    @property
    def words(self) -> str:
        """The outcome in words."""
        return f"neighbouring rows are {'alike' if self.alike else 'not alike'}, p = {self.p_value:.2g}"


@dataclass(frozen=True, kw_only=True)
class NoiseTest:
    """Test whether all editions have the same noise, and what was done if not.

    Attributes
    ----------
    statistic, p_value : float
        Statistic of the mean squared residuals by F, or by sign flips where units are few, with its p; NaN where it
        cannot be tested.
    fitted : {"common", "edition", "given"}
        Dispersions that were fitted: one, one per edition because of the test, or those that were asked for.
    why : str
        Why noise cannot be tested, or why unequal noise is not fitted, in words; empty otherwise.
    largest_change : float
        Where editions got dispersions because of the test: largest change of a difference between two editions, in
        percent. Otherwise NaN.
    totals : str
        Ratio of total bits of the pair of editions that the fit concerns most, in words; empty where that is not
        needed.
    """

    statistic: float = nan
    p_value: float = nan
    fitted: Literal["common", "edition", "given"] = "common"
    why: str = ""
    largest_change: float = nan
    totals: str = ""
    of: Literal["edition", "system"] = "edition"

    @property
    def tested(self) -> bool:
        """Whether noise could be tested."""
        return not isnan(self.p_value)

    @property
    def unequal(self) -> bool:
        """Whether editions are taken to differ in noise."""
        return self.p_value < UNEQUAL

    @property
    def words(self) -> str:
        """What was tested and done, in a sentence or two."""
        totals = f" {self.totals}" if self.totals else ""
        if self.fitted == "given":
            return f"Noise by edition or group was asked for.{totals}"
        if not self.tested:
            return f"Equal noise is not tested: {self.why}.{totals}"
        if not self.unequal:
            return f"Noise does not differ between {self.of}s (p = {self.p_value:.2g}).{totals}"
        found = f"Noise, or how much of it {self.of}s share, differs (p = {self.p_value:.2g})"
        if self.fitted == "edition":
            changed = f"; no difference changes by more than {self.largest_change:.2g} %"
            return f"{found}, so that each has its own and difficulties are about expected bits{changed}.{totals}"
        return f"{found}, but all have one dispersion: {self.why}.{totals}"


@dataclass(frozen=True, kw_only=True)
class MissingCells:
    """How much is missing, and whether difficulties depend on how sizes of intents are treated.

    Attributes
    ----------
    percent : float
        Share of the cells that are missing.
    p_value : float
        Probability of so large a distance between fixed and random intents where both are right; NaN where it is not
        known, as with fewer than fifty intents per edition.
    largest : float
        Largest difference in the difficulty of an edition, in percent; NaN where the two were not compared.
    edition : str
        That edition.
    """

    percent: float = 0.0
    p_value: float = nan
    largest: float = nan
    edition: str = ""

    @property
    def differ(self) -> bool:
        """Whether fixed and random intents are said to differ."""
        return self.p_value < DIFFERENT

    @property
    def words(self) -> str:
        """How much is missing and what that does, in a sentence."""
        if self.percent == 0:
            return "No cell is missing."
        number = f"{self.percent:.0f}" if self.percent >= 1 else f"{self.percent:.2g}"
        missing = f"{number} % of the cells are missing"
        if isnan(self.largest):
            return f"{missing}; fixed and random intents are not compared."
        by = f"by up to {self.largest:.2g} % ({self.edition})"
        if isnan(self.p_value):
            return f"{missing}; fixed and random intents differ {by}, p not known with so few intents."
        if self.differ:
            return f"{missing}; fixed and random intents differ {by}, p = {self.p_value:.2g}: see `intents`."
        return f"{missing}; fixed and random intents agree (p = {self.p_value:.2g})."


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """What a fit found out about its table, and what it did because of that.

    Attributes
    ----------
    clusters : IndependentUnits
        What errors take to be independent.
    order : OrderTest or None
        Whether neighbouring rows are alike; None where documents are known, or nothing was to be found.
    noise : NoiseTest
        Whether editions have the same noise.
    missing : MissingCells
        Share of missing cells, and what they do.
    errors : str
        Source of the standard errors, in words.
    design_effect : float
        Factor by which clusters multiply variances; NaN without clusters.
    taken : str
        What errors take to be independent though it was found not to be, in words; empty otherwise.
    also : str
        What errors are about beside other units, such as ``"other seeds"``; empty otherwise.

    Examples
    --------
    >>> units = IndependentUnits(kind="found", name="book", count=27, source="from verse ids")
    >>> errors = "sandwich CR2, 9.8 degrees of freedom or more"
    >>> audit = Audit(clusters=units, noise=NoiseTest(p_value=0.4), errors=errors, design_effect=3.4)
    >>> print(audit.words)
    Independent units: 27 books (from verse ids), design effect 3.4. Noise does not differ between editions (p = 0.4). \
No cell is missing. Errors: sandwich CR2, 9.8 degrees of freedom or more. They are about other books, not about other \
translations, seeds or training texts.
    """

    clusters: IndependentUnits
    order: OrderTest | None = None
    noise: NoiseTest = NoiseTest()
    missing: MissingCells = MissingCells()
    errors: str = ""
    design_effect: float = nan
    taken: str = ""
    also: str = ""

    @property
    def words(self) -> str:
        """The paragraph that tells what was found, a sentence or two for each step."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        effect = "" if isnan(self.design_effect) else f", design effect {self.design_effect:.1f}"
        yield f"Independent units: {self.clusters.words}{effect}."
        if self.order is not None and self.clusters.kind == "intents":
            yield f"{self.order.words[0].upper()}{self.order.words[1:]}."
        yield from self.clusters.notes
        yield self.noise.words
        yield self.missing.words
        yield f"Errors: {self.errors}.{f' {self.taken}.' if self.taken else ''}"
        yield f"They are about {self._about}."

    @property
    def _about(self) -> str:
        """What the errors are about, and what not."""
        units = self.clusters
        about = f"other {'rows of the text' if units.kind == 'blocks' else units.noun}"
        if units.strata is not None:
            about = f"{about} of the same {units.strata.nunique()} {units.strata.name}s"
        if self.also:
            return f"{about} and {self.also}, not about other translations or training texts"
        return f"{about}, not about other translations, seeds or training texts"
