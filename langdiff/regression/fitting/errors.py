"""Standard errors of a fit: from the information, a sandwich, the bootstrap or the jackknife."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from scipy.linalg import LinAlgError
from scipy.special import softmax

from langdiff.base.signature import name_of_seed
from langdiff.base.types import ROUNDING_OF_SINGLES, Floats, check_choice, check_resamples, generator
from langdiff.errors import ConfigError, ConvergenceWarning, DataError, option, warn
from langdiff.regression.clustering import OneClustering
from langdiff.regression.fitting.fixed import Fixed, Settings
from langdiff.regression.fitting.sample import (
    Refit,
    Sample,
    Uncertainty,
    bootstrap_draws,
    cluster_jackknife,
    jackknife_inflation,
)
from langdiff.regression.kernel.clusters import (
    Clusters,
    Kind,
    adjusted_influences,
    covariance_of_clusters,
    crossed_covariance,
    design_effect,
    freedom_of_pairs,
    nested_covariance,
    nested_freedom,
    sums_by_cluster,
)
from langdiff.regression.kernel.two_way import edition_components, normalized_covariance
from langdiff.regression.records import ErrorsKind, ErrorSource
from langdiff.tables.rule import FEW, freedom_of
from langdiff.tables.simultaneous import MOST_MEMBERS

Correction = Literal["CR0", "CR1", "CR2", "CR3"]
USUAL_CORRECTION: Correction = "CR2"
USUAL_RESAMPLES = 500
LARGEST = 10_000_000  # cells of a table up to which the scores of rows are held in memory
FEWEST_INTENTS = 50  # from which the plain sandwich is the default, of each edition where sizes are random
BLOCK = "block of rows"  # which the fit has chosen, and its audit tells
FEW_OF_KINKS = 50  # clusters up to which a model with kinks is fitted without each
FEWEST_DEVIATIONS = 20  # from which an inflation is known to about 30 %, 16 % of a standard error


@dataclass(frozen=True)
class Errors(ABC):
    """Source of the standard errors of `langdiff.fit`."""

    kind: ClassVar[ErrorsKind]

    @abstractmethod
    def check(self, settings: Settings, *, clustered: bool) -> None:
        """Check that these standard errors exist for a model and a kind of sample.

        Parameters
        ----------
        settings : Settings
            Settings of the fit: the model, its options and the seed.
        clustered : bool
            Whether clusters of intents were given.

        Raises
        ------
        ConfigError
            If these standard errors do not exist for that model, or need clusters or their absence.
        """

    @abstractmethod
    def covariance(self, sample: Sample) -> Uncertainty:
        """Estimate the covariance of the units' normalized difficulties.

        Parameters
        ----------
        sample : Sample
            Fit with the intents behind it, and their clusters and strata.

        Returns
        -------
        Uncertainty
            Covariance of the difficulties, shape (U, U), in nats², with degrees of freedom and a description of the
            source.

        Raises
        ------
        DataError
            If editions cannot be compared without one of the clusters, or in one of the samples of intents.
        """


@dataclass(frozen=True)
class Information(Errors):
    """Standard errors from the inverse information, which assumes the right model and independent intents."""

    kind: ClassVar[ErrorsKind] = "information"

    def check(self, settings: Settings, *, clustered: bool) -> None:
        """Check that there are no clusters and that the likelihood has an information; see `Errors.check`."""
        if clustered:
            raise ConfigError(
                f"{option('errors', 'information')} takes intents to be independent; with {option('clusters')} use "
                f"{option('errors', 'sandwich')}."
            )
        if not settings.variant.has_information and settings.random is None:
            raise ConfigError(
                f"{option('errors', 'information')} needs a smooth likelihood, which model {settings.variant.name!r} "
                f"lacks; use {option('errors', 'sandwich')}."
            )

    def covariance(self, sample: Sample) -> Uncertainty:
        """Return the inverse information of the estimate; see `Errors.covariance`."""
        source = ErrorSource(n_clusters=len(sample.observed))
        covariance = sample.fitting.estimate.covariance
        if covariance is None:
            return sample.unknown(source)
        freedom = float(max(sample.fitting.residual_freedom, 1))
        return Uncertainty(sample.of_units(covariance), freedom, source, None, covariance)


@dataclass(frozen=True, eq=False)
class Sandwich(Errors):
    """Standard errors from a sandwich estimator, which assumes only that clusters of intents are independent.

    Parameters
    ----------
    correction : {"CR2", "CR0", "CR1", "CR3"}, optional
        Small-sample correction; by default CR2, and CR1 without clusters where sizes of intents are integrated out.
    strata : str, mapping or Series, optional
        Groups of whole clusters that a claim is about as they are, such as ``"book"`` for clusters by ``"chapter"``:
        errors then say what other chapters of the same books would give, not what other books would.

    Raises
    ------
    ConfigError
        If the correction is unknown.

    References
    ----------
    Bell and McCaffrey (2002), "Bias reduction in standard errors for linear regression with multi-stage samples".

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=1).surprisals
    >>> ld.fit(surprisals, errors=Sandwich(correction="CR3")).errors.words
    'a sandwich (CR3) over 100 intents'
    """

    kind: ClassVar[ErrorsKind] = "sandwich"

    correction: Correction | None = None
    strata: OneClustering | None = None

    def __post_init__(self) -> None:
        check_choice("correction", self.correction, (*get_args(Correction), None))

    def check(self, settings: Settings, *, clustered: bool) -> None:
        """Check for kinks, for strata without clusters, and for corrections that need clusters; see `Errors.check`."""
        integrated = settings.random is not None or settings.own_dispersions
        if settings.variant.kinked and settings.random is None and self.correction in ("CR2", "CR3"):
            raise ConfigError(
                f"{option('correction', self.correction)} is not for model {settings.variant.name!r}, whose clusters "
                f"have no information of their own at its kinks: use {option('correction', 'CR1')}."
            )
        if settings.variant.kinked and settings.random is None and self.strata is not None:
            raise ConfigError(f"strata are not for model {settings.variant.name!r}: leave them out.")
        if self.correction in ("CR2", "CR3") and not clustered and integrated:
            raise ConfigError(
                f"{option('correction', self.correction)} with random intents or dispersions of editions needs "
                "clusters; without them there are 'CR0' and 'CR1'."
            )
        if self.strata is not None and not clustered:
            raise ConfigError(
                f"strata are groups of clusters: add {option('clusters', 'chapter')} beside {option('strata', 'book')}."
            )

    def covariance(self, sample: Sample) -> Uncertainty:
        """Estimate the covariance by the sandwich of the clusters' scores; see `Errors.covariance`."""
        kinked = sample.fitting.settings.variant.kinked and not sample.fitting.integrated
        correction = self.correction or ("CR1" if kinked else USUAL_CORRECTION)
        if kept_by_columns(sample):
            return _of_columns(sample, correction)
        if kinked:
            return _of_kinks(sample, correction)
        return self._of_information(sample, correction)

    def _of_information(self, sample: Sample, correction: Correction) -> Uncertainty:
        """Return the sandwich of a model whose clusters have an information."""
        if not sample.kinds and sample.fitting.integrated:
            return _plain(sample, "CR0" if correction == "CR0" else "CR1")
        if correction in ("CR2", "CR3"):
            sample.check()
        fitting, n_clusters = sample.fitting, sample.n_clusters
        parts, editions = [fitting.clusters(code) for code in sample.codes], len(fitting.estimate.c)
        influence = raw = None
        try:
            freedom = np.min([freedom_of_units(sample, part) for part in parts[:2]], axis=0)
            if correction == USUAL_CORRECTION and len(parts) == 1 and sample.stratum is None and sample.kinds:
                influence = adjusted_influences(parts[0], correction)[:, :editions]
                covariance = influence.T @ influence
                raw = adjusted_influences(parts[0], "CR0")[:, :editions]
            else:
                covariance = _of_clusters(sample, parts, correction)[:editions, :editions]
        except DataError:
            if not fitting.integrated:
                raise
            # a parameter of sizes or dispersions rests on one cluster, which CR2 and CR3 cannot leave out
            influence = None
            units = len(sample.design.first)
            correction, freedom = "CR1", np.full((units, units), n_clusters - 1.0)
            covariance = _of_clusters(sample, parts, correction)[:editions, :editions]
        if sample.stratum is not None:
            freedom = np.maximum(nested_freedom(freedom, sample.stratum), 1.0)
        effect = float("nan")
        if sample.kinds:
            effect = design_effect(_of_clusters(sample, parts, "CR0")[:editions, :editions], fitting.plain())
        source = ErrorSource(
            kind="sandwich",
            correction=correction,
            clusters=sample.name,
            strata=sample.strata,
            n_clusters=n_clusters,
            design_effect=effect,
        )
        of_all = [part for part in map(fitting.joint, sample.codes) if part is not None]
        joint = _of_clusters(sample, of_all, correction) if of_all else None
        of_units = sample.of_units(covariance)
        of_rows = None if influence is None else normalized(sample, influence, out=influence)
        of_raw = None if raw is None else normalized(sample, raw)
        return Uncertainty(of_units, freedom, source, joint, covariance, None, of_rows, of_raw)


def normalized(sample: Sample, of_c: Floats, out: Floats | None = None) -> Floats:
    """Return influences on difficulties whose factors average 1 from those up to a constant, (G, J) → (G, U)."""
    first = sample.design.first
    if not np.array_equal(first, np.arange(of_c.shape[1])):
        of_c, out = of_c[:, first], None
    mean: Floats = of_c @ softmax(sample.fitting.difficulties)
    return np.subtract(of_c, mean[:, None], out=out)


def _of_kinks(sample: Sample, correction: Correction) -> Uncertainty:
    """Return the sandwich of a model with kinks from the influences of intents, or a jackknife where there are none."""
    fitting, n_clusters = sample.fitting, sample.n_clusters
    sample.check()
    if not sample.kinds and len(sample.joining):
        raise DataError(f"single intents{sample.named_joining} have all the information on some difference.")
    try:
        rows = fitting.row_influence()
    except LinAlgError:
        warn("the scores of the intents give no second derivative: standard errors come from a jackknife.")
        return Jackknife().covariance(sample)
    sums = [sums_by_cluster(rows, code) for code in sample.codes]
    scaled = [each if correction == "CR0" else np.sqrt(len(each) / (len(each) - 1)) * each for each in sums]
    parts = [each.T @ each for each in scaled]
    covariance = parts[0] if len(parts) == 1 else crossed_covariance(*parts)
    effect = design_effect(covariance, fitting.plain()) if sample.kinds else float("nan")
    source = ErrorSource(
        kind="sandwich", correction=correction, clusters=sample.name, n_clusters=n_clusters, design_effect=effect
    )
    of_units = [normalized(sample, each) for each in (scaled[0], sums[0])] if len(parts) == 1 and sample.kinds else []
    freedom = freedom_by_shares(sample) if sample.kinds else n_clusters - 1.0
    return Uncertainty(sample.of_units(covariance), freedom, source, None, covariance, None, *of_units)


def _plain(sample: Sample, correction: Kind) -> Uncertainty:
    """Return the sandwich CR0 or CR1 with intents as clusters.

    CR2 and CR3 are left out, since they would hold the information of every single intent in memory.
    """
    fitting, n_clusters = sample.fitting, sample.n_clusters
    factor = 1.0 if correction == "CR0" else n_clusters / (n_clusters - 1)
    source = ErrorSource(kind="sandwich", correction=correction, n_clusters=n_clusters)
    covariance = factor * fitting.plain()
    return Uncertainty(sample.of_units(covariance), float(n_clusters - 1), source, fitting.joint_plain(), covariance)


def kept_by_columns(sample: Sample) -> bool:
    """Return whether errors are kept as influences of clusters, in place of a covariance."""
    fitting = sample.fitting
    return isinstance(fitting, Fixed) and fitting.by_columns and sample.stratum is None and len(sample.kinds) < 2


def _of_columns(sample: Sample, correction: Correction) -> Uncertainty:
    """Return the sandwich of a crossed table as influences of clusters, with the covariance of up to 200 columns."""
    fitting, n_clusters = sample.fitting, sample.n_clusters
    if not isinstance(fitting, Fixed):
        raise TypeError("sizes must be fixed")
    if correction in ("CR2", "CR3"):
        sample.check()
    code = sample.codes[0]
    factor = fitting.column_influences(code, correction)
    if correction == "CR1":
        factor *= np.sqrt(n_clusters / (n_clusters - 1))
    effect, raw, mean = float("nan"), None, softmax(fitting.estimate.c)
    if sample.kinds:
        raw, plain = (fitting.column_influences(each, "CR0") for each in (code, np.arange(len(code))))
        clustered, alone = (
            np.vdot(part, part) - np.sum(part.sum(axis=1) ** 2) / part.shape[1] for part in (raw, plain)
        )
        effect = float(clustered / alone)
        raw = raw - (raw @ mean)[:, None]
    source = ErrorSource(
        kind="sandwich", correction=correction, clusters=sample.name, n_clusters=n_clusters, design_effect=effect
    )
    factor -= (factor @ mean)[:, None]  # of normalized difficulties
    share = fitting.unit_shares(code)
    if factor.shape[1] > MOST_MEMBERS:
        return Uncertainty(np.zeros((0, 0)), float(freedom_of(share).min()), source, influence=factor, raw=raw)
    own = np.broadcast_to(freedom_of(share), factor.shape[1:])
    freedom = np.minimum(own[:, None], own)
    return Uncertainty(factor.T @ factor, freedom, source, influence=factor, raw=raw)


def _of_clusters(sample: Sample, parts: list[Clusters], correction: Kind) -> Floats:
    """Return the covariance of all parameters from one kind of clusters, or from two crossed kinds."""
    if sample.stratum is not None:
        return nested_covariance(parts[0], sample.stratum, correction)
    covariances = [covariance_of_clusters(part, correction) for part in parts]
    return covariances[0] if len(parts) == 1 else crossed_covariance(*covariances)


def freedom_by_shares(sample: Sample) -> Floats:
    """Return degrees of freedom of the units and of their differences by the shares of clusters, shape (U, U).

    Of clusters of unequal size there are fewer than their number less one; of single intents hardly.
    """
    fitting, first, most = sample.fitting, sample.design.first, sample.n_clusters - 1.0
    own = np.full(sample.observed.shape[1], most)
    if isinstance(fitting, Fixed):
        for code in sample.kinds:
            own = np.fmin(own, np.nan_to_num(freedom_of(fitting.unit_shares(code)), nan=1.0))
    own = np.maximum(own[first], 1.0)
    of_pairs: Floats = np.minimum(own[:, None], own)
    return of_pairs


def freedom_of_units(sample: Sample, clusters: Clusters) -> Floats:
    """Return degrees of freedom of the units and of their differences, shape (U, U)."""
    first, most = sample.design.first, len(clusters.numbers) - 1.0
    if not sample.fitting.settings.variant.concave:
        return freedom_by_shares(sample)
    mean = np.zeros(len(sample.fitting.estimate.c))
    mean[first] = 1 / len(first)
    freedom = freedom_of_pairs(clusters, mean).values[np.ix_(first, first)]
    known = freedom[np.isfinite(freedom)]  # not of pairs that cannot differ
    freedom = np.where(np.isfinite(freedom), freedom, known.min(initial=most))
    return np.clip(freedom, 1.0, max(most, 1.0))  # where information is negative the formula leaves this range


@dataclass(frozen=True)
class Bootstrap(Errors):
    """Standard errors from a bootstrap of intents, or of clusters of intents.

    Parameters
    ----------
    n_resamples : int
        Number of samples.

    Raises
    ------
    ConfigError
        If there are fewer than 99.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=1).surprisals
    >>> ld.fit(surprisals, model="1", errors=Bootstrap(99), seed=1).errors.words
    '99 samples of 100 intents'
    """

    kind: ClassVar[ErrorsKind] = "bootstrap"

    n_resamples: int = USUAL_RESAMPLES

    def __post_init__(self) -> None:
        check_resamples("n_resamples", self.n_resamples)

    def check(self, settings: Settings, *, clustered: bool) -> None:  # noqa: ARG002
        """Check that a valid seed was given; see `Errors.check`."""
        generator(settings.seed, "bootstrap samples")

    def covariance(self, sample: Sample) -> Uncertainty:
        """Estimate the covariance by a cluster bootstrap; see `Errors.covariance`."""
        seed = sample.fitting.settings.seed
        rng = generator(seed)
        named = name_of_seed(seed, rng)
        refit, n_resamples = Refit(sample.fitting), int(self.n_resamples)
        draws = bootstrap_draws(
            sample.units, refit, replicates=n_resamples, rng=rng, cluster=sample.kinds[0] if sample.kinds else None
        )
        refit.warn("bootstrap samples")
        source = ErrorSource(
            kind="bootstrap", clusters=sample.name, n_clusters=sample.n_clusters, n_resamples=n_resamples, seed=named
        )
        freedom = freedom_by_shares(sample) if sample.kinds else sample.n_clusters - 1.0
        return Uncertainty(np.cov(draws, rowvar=False), freedom, source)


@dataclass(frozen=True)
class Jackknife(Errors):
    """Standard errors from a jackknife over clusters, or over random groups of intents if there are no clusters.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=1).surprisals
    >>> ld.fit(surprisals, model="1", errors=Jackknife(), seed=1).errors.words
    'the jackknife over groups of 100 intents'
    """

    kind: ClassVar[ErrorsKind] = "jackknife"

    def check(self, settings: Settings, *, clustered: bool) -> None:
        """Check that a valid seed was given if groups of intents are drawn; see `Errors.check`."""
        if not clustered:
            generator(settings.seed, "groups of intents to leave out")

    def covariance(self, sample: Sample) -> Uncertainty:
        """Estimate the covariance by leaving out clusters or groups of intents; see `Errors.covariance`."""
        refit = Refit(sample.fitting)
        if not sample.kinds:
            return self._of_groups(sample, refit)
        sample.check()
        found = cluster_jackknife(sample.units, refit, sample.fitting.difficulties, sample.kinds[0])
        refit.warn("parts of the table")
        source = ErrorSource(kind="jackknife", clusters=sample.name, n_clusters=sample.n_clusters)
        influence = found if sample.fitting.settings.variant.kinked else None  # others have CR2
        return Uncertainty(found.T @ found, freedom_by_shares(sample), source, influence=influence)

    def _of_groups(self, sample: Sample, refit: "Refit") -> Uncertainty:
        seed = sample.fitting.settings.seed
        rng = generator(seed)
        source = ErrorSource(kind="jackknife", n_clusters=len(sample.observed), seed=name_of_seed(seed, rng))
        base = Information().covariance(sample)
        order = np.argsort(sample.intents.astype(str), kind="stable")
        of_units, _, deviations = jackknife_inflation(sample.units, refit, base.covariance, order=order, rng=rng)
        refit.warn("parts of the table")
        if deviations < FEWEST_DEVIATIONS:
            of_units = np.maximum(1.0, of_units)
            warn(
                f"too few intents ({len(sample.observed)}) to find standard errors by leaving some out; they may be "
                "far too small. Use more intents."
            )
        first, root = sample.fitting.estimate.c[sample.design.first], np.sqrt(of_units)
        covariance = normalized_covariance(root[:, None] * base.covariance * root, first)
        return Uncertainty(covariance, base.freedom, source)


KINDS: tuple[type[Errors], ...] = (Information, Sandwich, Bootstrap, Jackknife)


def as_errors(errors: object) -> Errors | None:
    """Return the source of standard errors of a given name; None, for the default, is returned unchanged.

    Examples
    --------
    >>> as_errors("bootstrap")
    Bootstrap(n_resamples=500)
    """
    if errors is None or isinstance(errors, Errors):
        return errors
    if isinstance(errors, type) and issubclass(errors, Errors):
        raise ConfigError(f"errors is the class {errors.__name__}: write {errors.__name__}().")
    check_choice("errors", errors, get_args(ErrorsKind))
    return next(kind() for kind in KINDS if errors == kind.kind)


def usual_errors(sample: Sample) -> Errors:
    """Return the default source of standard errors for a fit."""
    fitting, settings = sample.fitting, sample.fitting.settings
    if settings.variant.kinked and settings.random is None:
        few = len(sample.kinds) == 1 and sample.n_clusters <= FEW_OF_KINKS and not kept_by_columns(sample)
        return Jackknife() if few else Sandwich()
    if sample.kinds or (not settings.variant.has_information and settings.random is None):
        return Sandwich()
    cells = fitting.observed
    n_intents = int(fitting.used.sum())
    if fitting.integrated:
        # their sandwich takes scores as they are, and those of an edition with few cells are fitted to nearly 0
        n_intents = min(n_intents, int(sample.design.observed(cells).sum(axis=0).min()))
    if kept_by_columns(sample) and n_intents > 1:
        return Sandwich()  # noise of a translation is shared by all systems
    differ = sample.design.free > 1  # one difficulty alone cannot
    return Sandwich() if differ and n_intents >= FEWEST_INTENTS and cells.sum() <= LARGEST else Information()


def find_errors(sample: Sample) -> Uncertainty:
    """Estimate the covariance of the difficulties by the source of errors asked for, or the default.

    Warns
    -----
    LangdiffWarning
        If few clusters or intents are all that the errors come from.
    ConvergenceWarning
        If the information is not positive definite, so that the errors are not known.
    """
    fitting, asked = sample.fitting, sample.fitting.settings.errors
    errors = asked or usual_errors(sample)
    if not fitting.estimate.converged:
        return Information().covariance(sample)
    usual = errors.kind == "sandwich" and asked is None and not sample.kinds
    if usual and fitting.integrated and fitting.settings.random is None and len(sample.joining):
        # their sandwich takes the scores of intents as they are, and does not notice that one of them is fitted exactly
        return _joined_by_one(sample)
    try:
        found = errors.covariance(sample)
    except LinAlgError:
        warn(
            "standard errors are not known: the information at the estimate is not positive definite. Try "
            f"{option('errors', 'bootstrap')}.",
            ConvergenceWarning,
        )
        correction = getattr(errors, "correction", None) or USUAL_CORRECTION
        return sample.unknown(ErrorSource(kind=errors.kind, correction=correction, n_clusters=sample.n_clusters))
    except DataError as error:
        if not usual:
            raise
        if not fitting.settings.variant.has_information:
            raise DataError(
                f"model {fitting.settings.variant.name!r} has standard errors from how intents vary, and here some "
                f"editions depend on one of {sample.n_clusters} intents{sample.named_joining}. Use "
                f"{option('model', '2')}, or more intents."
            ) from error
        return _joined_by_one(sample)
    _warn_of_few(found)
    if errors.kind == "information" or not found.covariance.size:
        return found
    return found._replace(reference=_reference(sample))


def _reference(sample: Sample) -> Floats | None:
    """Return a covariance of full rank however few the clusters: the information's, or CR0 over intents without it."""
    settings, covariance = sample.fitting.settings, sample.fitting.estimate.covariance
    informed = settings.variant.has_information or settings.variant.kinked or settings.random is not None
    try:
        found = sample.of_units(covariance if informed and covariance is not None else sample.fitting.plain())
    except (DataError, LinAlgError):
        return None
    return found if np.isfinite(found).all() else None


def _joined_by_one(sample: Sample) -> Uncertainty:
    """Return information-based errors, with one degree of freedom for differences decided by a single intent.

    The variation between intents carries no information on a difference that a single intent decides, since its
    residual is 0 whatever its noise.
    """
    found, observed = Information().covariance(sample), sample.units
    units = len(sample.design.first)
    apart = np.full((units, units), not len(sample.joining))
    for intent in sample.joining:
        part = edition_components(np.delete(observed, intent, axis=0))
        apart |= part[:, None] != part
    np.fill_diagonal(apart, True)  # the mean is over all of them
    warn(
        f"single intents{sample.named_joining} decide how some editions compare: standard errors come from the "
        "information, which takes the model to be right, and intervals of such comparisons have one degree of freedom."
    )
    return found._replace(freedom=np.where(apart, 1.0, found.freedom), reference=found.covariance)


def _warn_of_few(found: Uncertainty) -> None:
    least, source = float(np.min(found.freedom)), found.source
    if source.kind != "information" and source.clusters != BLOCK and least < FEW - ROUNDING_OF_SINGLES:
        of = "intents" if source.clusters == "intent" else f"clusters by {source.clusters}"
        warn(
            f"standard errors from {source.n_clusters} {of} have as few as {least:.1f} degrees of freedom: intervals "
            "are long, and hang on single ones."
        )
