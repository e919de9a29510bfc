"""Standard errors of a fit: from the information, a sandwich, the bootstrap or the jackknife."""

import warnings
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.seeds import generator
from langdiff.base.signature import name_of_seed
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConvergenceWarning, DataError, LangdiffWarning, listing
from langdiff.regression.design import Design
from langdiff.regression.estimating import Fitted, normalized
from langdiff.regression.kernel.cluster_designs import (
    crossed_covariance,
    design_effect,
    nested_covariance,
    nested_freedom,
)
from langdiff.regression.kernel.clusters import Clusters, Kind, covariance_of_clusters
from langdiff.regression.kernel.connected import edition_components
from langdiff.regression.kernel.disconnecting import check_clusters, disconnecting_clusters
from langdiff.regression.kernel.freedom import freedom_of_pairs
from langdiff.regression.kernel.information import normalized_covariance
from langdiff.regression.kernel.resampling import bootstrap_draws, cluster_jackknife, jackknife_inflation
from langdiff.regression.kernel.unequal.wald import sandwich_covariance
from langdiff.regression.options import LARGEST, Options
from langdiff.regression.records import ErrorsKind, ErrorSource

FEWEST_INTENTS = 50  # from which the plain sandwich is the default, of each edition where sizes are random
FEWEST_DEVIATIONS = 20  # from which an inflation is known to about 30 %, 16 % of a standard error
ROUNDING = 1e-6
FEW_CLUSTERS = 10.0  # degrees of freedom below which intervals are long and hang on few clusters


class Uncertainty(NamedTuple):
    """The covariance of the units' normalized difficulties, and what is known of it."""

    covariance: Floats  # (U, U)
    freedom: float | Floats  # a number, or (U, U): of each unit on the diagonal, of differences elsewhere
    source: ErrorSource
    joint: Floats | None = None  # sandwich of levels and log-dispersions, (J + G, J + G)
    of_c: Floats | None = None  # (J, J), of difficulties up to a constant; None from resampling


def find_errors(
    z: Floats,
    intents: pd.Index,
    design: Design,
    options: Options,
    fitted: Fitted,
    clusters: list[pd.Series],
    strata: pd.Series | None = None,
) -> Uncertainty:
    """Return the covariance of the difficulties by the method that was asked for, or the usual one.

    Parameters
    ----------
    z : ndarray, shape (I, J)
        Log surprisals.
    intents : Index, shape (I,)
        Names of the intents.
    design : Design
        Which difficulties are free.
    options : Options
        The method, among other things.
    fitted : Fitted
        The fit.
    clusters : list of Series, shape (I,)
        Cluster of each intent; none, or one or two kinds.
    strata : Series, shape (I,), optional
        Stratum of each intent, in which its whole cluster is.

    Raises
    ------
    DataError
        If the clusters, or samples of intents, leave editions that cannot be compared.

    Warns
    -----
    LangdiffWarning
        If few clusters or intents are all that the errors come from.
    ConvergenceWarning
        If the information is not positive definite, so that the errors are not known.
    """
    kind = options.errors or _usual(options, design, fitted, clusters, ~np.isnan(z))
    work = _Work(z[fitted.used], intents[fitted.used], design, options, fitted, clusters, strata)
    if not fitted.found.converged:
        return work.information()
    usual = kind == "sandwich" and not options.errors and not clusters
    if usual and fitted.unequal is not None and options.intents == "fixed" and len(work.joining):
        # their sandwich takes the scores of intents as they are, and does not notice that one of them is fitted exactly
        return work.joined_by_one()
    try:
        found = {
            "information": work.information,
            "sandwich": work.sandwich,
            "bootstrap": work.bootstrap,
            "jackknife": work.jackknife,
        }[kind]()
    except LinAlgError:
        warnings.warn(
            "standard errors are not known: the information at the estimate is not positive definite. Try "
            "errors='bootstrap'.",
            ConvergenceWarning,
            stacklevel=3,
        )
        return _unknown(design, ErrorSource(kind=kind, correction=options.correction, n_clusters=work.n_clusters))
    except DataError as error:
        if not usual:
            raise
        if not options.settings.variant.has_information:
            raise DataError(
                f"model {options.settings.variant.name!r} has standard errors from how intents vary, and here some "
                f"editions depend on one of {work.n_clusters} intents{work.named_joining}. Use model='2', or more "
                "intents."
            ) from error
        return work.joined_by_one()
    _warn_of_few(found)
    return found


def _unknown(design: Design, source: ErrorSource) -> Uncertainty:
    units = len(design.first)
    return Uncertainty(np.full((units, units), np.nan), np.inf, source)


def _usual(options: Options, design: Design, fitted: Fitted, clusters: list[pd.Series], cells: Booleans) -> ErrorsKind:
    variant = options.settings.variant
    if options.bootstrap:
        return "bootstrap"
    if variant.kinked and options.intents == "fixed":
        return "jackknife"
    if clusters or (not variant.has_information and options.intents == "fixed"):
        return "sandwich"
    n_intents = int(fitted.used.sum())
    if options.intents != "fixed" or options.unequal:
        # their sandwich takes scores as they are, and those of an edition with few cells are fitted to nearly 0
        n_intents = min(n_intents, int(design.observed(cells).sum(axis=0).min()))
    differ = design.free > 1  # one difficulty alone cannot
    return "sandwich" if differ and n_intents >= FEWEST_INTENTS and cells.sum() <= LARGEST else "information"


class _Work:
    """All that the methods need."""

    def __init__(
        self,
        z: Floats,
        intents: pd.Index,
        design: Design,
        options: Options,
        fitted: Fitted,
        clusters: list[pd.Series],
        strata: pd.Series | None,
    ) -> None:
        self.observed = ~np.isnan(z)
        self.intents, self.design, self.options, self.fitted = intents, design, options, fitted
        self.name = " and ".join(str(column.name) for column in clusters) or "intent"
        self.kinds: list[Integers] = []  # the cluster of each intent, of one kind or of two that cross
        for column in clusters:
            code, labels = pd.factorize(column[fitted.used])
            if options.correction in ("CR2", "CR3") and options.errors != "bootstrap" and not options.bootstrap:
                check_clusters(design.observed(self.observed), code, [str(label) for label in labels])
            self.kinds.append(np.asarray(code))
        self.strata = "" if strata is None else str(strata.name)
        self.stratum: Integers | None = None  # of each cluster
        if strata is not None:
            first = np.unique(self.kinds[0], return_index=True)[1]
            self.stratum = pd.factorize(strata[fitted.used])[0][first]

    @property
    def n_clusters(self) -> int:
        """Number of clusters, the smaller of two kinds."""
        return min([int(code.max()) + 1 for code in self.kinds], default=len(self.observed))

    @cached_property
    def joining(self) -> Integers:
        """The intents without any one of which the editions fall apart."""
        return disconnecting_clusters(self.design.observed(self.observed), np.arange(len(self.observed)), most=None)

    @property
    def named_joining(self) -> str:
        """These intents in brackets; empty if there are none."""
        return f" ({listing(self.intents[self.joining])})" if len(self.joining) else ""

    def joined_by_one(self) -> Uncertainty:
        """Take the information, and one degree of freedom for what one intent alone decides.

        How intents vary says nothing of a difference that one of them decides, whose residual is 0 whatever its noise.
        """
        found, observed = self.information(), self.design.observed(self.observed)
        units = len(self.design.first)
        apart = np.full((units, units), not len(self.joining))
        for intent in self.joining:
            part = edition_components(np.delete(observed, intent, axis=0))
            apart |= part[:, None] != part
        np.fill_diagonal(apart, True)  # the mean is over all of them
        warnings.warn(
            f"single intents{self.named_joining} decide how some editions compare: standard errors come from the "
            "information, which takes the model to be right, and intervals of such comparisons have one degree of "
            "freedom.",
            LangdiffWarning,
            stacklevel=4,
        )
        return found._replace(freedom=np.where(apart, 1.0, found.freedom))

    def of_units(self, covariance: Floats) -> Floats:
        """Return the covariance of normalized difficulties from that of c."""
        first = self.design.first
        return normalized_covariance(covariance[np.ix_(first, first)], self.fitted.found.c[first])

    def information(self) -> Uncertainty:
        """Take the covariance of the estimate itself."""
        source, freedom = ErrorSource(n_clusters=len(self.observed)), float(max(self.fitted.residual_freedom, 1))
        covariance = self.fitted.found.covariance
        if covariance is None:
            return _unknown(self.design, source)
        return Uncertainty(self.of_units(covariance), freedom, source, None, covariance)

    def sandwich(self) -> Uncertainty:
        """Take how the scores of clusters vary."""
        fitted, n_clusters = self.fitted, self.n_clusters
        if not self.kinds and (fitted.random or fitted.unequal):
            # CR2 and CR3 need the information of every intent, which would fill the memory
            factor = 1.0 if self.options.correction == "CR0" else n_clusters / (n_clusters - 1)
            named: Kind = "CR0" if self.options.correction == "CR0" else "CR1"
            source = ErrorSource(kind="sandwich", correction=named, n_clusters=n_clusters)
            covariance = factor * fitted.plain()
            joint = None if fitted.unequal is None else sandwich_covariance(fitted.unequal)
            return Uncertainty(self.of_units(covariance), float(n_clusters - 1), source, joint, covariance)
        codes, correction = self.kinds or [np.arange(n_clusters)], self.options.correction
        if len(codes) == 2:
            codes = [*codes, np.unique(np.column_stack(codes), axis=0, return_inverse=True)[1].ravel()]
        parts, editions = [fitted.clusters(code) for code in codes], len(fitted.found.c)
        try:
            freedom = np.min([self._freedom(part) for part in parts[:2]], axis=0)
            covariance = self._of_clusters(parts, correction)[:editions, :editions]
        except DataError:
            if fitted.random is None and fitted.unequal is None:
                raise
            # a parameter of sizes or dispersions rests on one cluster, which CR2 and CR3 cannot leave out
            units = len(self.design.first)
            correction, freedom = "CR1", np.full((units, units), n_clusters - 1.0)
            covariance = self._of_clusters(parts, correction)[:editions, :editions]
        if self.stratum is not None:
            freedom = np.maximum(nested_freedom(freedom, self.stratum), 1.0)
        effect = float("nan")
        if self.kinds:
            effect = design_effect(self._of_clusters(parts, "CR0")[:editions, :editions], fitted.plain())
        source = ErrorSource(
            kind="sandwich",
            correction=correction,
            clusters=self.name,
            strata=self.strata,
            n_clusters=n_clusters,
            design_effect=effect,
        )
        joint = None if fitted.joint is None else self._of_clusters([fitted.joint(code) for code in codes], correction)
        return Uncertainty(self.of_units(covariance), freedom, source, joint, covariance)

    def _of_clusters(self, parts: list[Clusters], correction: Kind) -> Floats:
        """Return the covariance of all parameters; of two kinds that cross, their intersections are the third part."""
        if self.stratum is not None:
            return nested_covariance(parts[0], self.stratum, correction)
        covariances = [covariance_of_clusters(part, correction) for part in parts]
        return covariances[0] if len(parts) == 1 else crossed_covariance(*covariances)

    def _freedom(self, clusters: Clusters) -> Floats:
        """Return degrees of freedom of the units and of their differences, shape (U, U)."""
        first, most = self.design.first, len(clusters.numbers) - 1.0
        if not self.options.settings.variant.concave:  # their information is negative in cells far off
            return np.full((len(first), len(first)), most)
        mean = np.zeros(len(self.fitted.found.c))
        mean[first] = 1 / len(first)
        freedom = freedom_of_pairs(clusters, mean).values[np.ix_(first, first)]
        known = freedom[np.isfinite(freedom)]  # not of pairs that cannot differ
        freedom = np.where(np.isfinite(freedom), freedom, known.min(initial=most))
        return np.clip(freedom, 1.0, max(most, 1.0))  # where information is negative the formula leaves this range

    def bootstrap(self) -> Uncertainty:
        """Take how estimates from samples of clusters vary."""
        rng = generator(self.options.seed)
        named = name_of_seed(self.options.seed, rng)
        refit, n_resamples = _Refit(self.design, self.fitted), self.options.bootstrap
        draws = bootstrap_draws(
            self.design.observed(self.observed),
            refit,
            replicates=n_resamples,
            rng=rng,
            cluster=self.kinds[0] if self.kinds else None,
        )
        refit.warn("bootstrap samples")
        source = ErrorSource(
            kind="bootstrap", clusters=self.name, n_clusters=self.n_clusters, n_resamples=n_resamples, seed=named
        )
        return Uncertainty(np.cov(draws, rowvar=False), float(self.n_clusters - 1), source)

    def jackknife(self) -> Uncertainty:
        """Take what leaving out each cluster does, or groups of intents where there are none."""
        refit, observed = _Refit(self.design, self.fitted), self.design.observed(self.observed)
        if not self.kinds:
            return self._jackknife_of_intents(refit, observed)
        found = cluster_jackknife(observed, refit, normalized(self.fitted.found, self.design), self.kinds[0])
        refit.warn("parts of the table")
        source = ErrorSource(kind="jackknife", clusters=self.name, n_clusters=self.n_clusters)
        return Uncertainty(found.about_estimate, float(self.n_clusters - 1), source)

    def _jackknife_of_intents(self, refit: "_Refit", observed: Booleans) -> Uncertainty:
        rng = generator(self.options.seed)
        source = ErrorSource(kind="jackknife", n_clusters=len(self.observed), seed=name_of_seed(self.options.seed, rng))
        base = self.information()
        order = np.argsort(self.intents.astype(str), kind="stable")
        of_units, _, deviations = jackknife_inflation(observed, refit, base.covariance, order=order, rng=rng)
        refit.warn("parts of the table")
        if deviations < FEWEST_DEVIATIONS:
            of_units = np.maximum(1.0, of_units)
            warnings.warn(
                f"too few intents ({len(self.observed)}) to find standard errors by leaving some out; they may be far "
                "too small. Use more intents.",
                LangdiffWarning,
                stacklevel=5,
            )
        first, root = self.fitted.found.c[self.design.first], np.sqrt(of_units)
        covariance = normalized_covariance(root[:, None] * base.covariance * root, first)
        return Uncertainty(covariance, base.freedom, source)


class _Refit:
    """The fit of other rows of the same table, and how often it stopped short."""

    def __init__(self, design: Design, fitted: Fitted) -> None:
        self.design, self.fitted = design, fitted
        self.fits = self.stopped = 0

    def __call__(self, rows: Integers) -> Floats | None:
        """Return the normalized difficulties of the units, shape (U,); None if no residuals are left."""
        part = self.fitted.again(rows)
        if part is None:
            return None
        self.fits += 1
        self.stopped += not part.converged
        return normalized(part, self.design)

    def warn(self, what: str) -> None:
        if self.stopped:
            warnings.warn(
                f"the fit of {self.stopped} of {self.fits} {what} did not converge; do not trust the standard errors.",
                ConvergenceWarning,
                stacklevel=5,
            )


def _warn_of_few(found: Uncertainty) -> None:
    least, source = float(np.min(found.freedom)), found.source
    if source.kind != "information" and least < FEW_CLUSTERS - ROUNDING:
        of = "intents" if source.clusters == "intent" else f"clusters by {source.clusters}"
        warnings.warn(
            f"standard errors from {source.n_clusters} {of} have as few as {least:.1f} degrees of freedom: intervals "
            "are long, and hang on single ones.",
            LangdiffWarning,
            stacklevel=4,
        )
