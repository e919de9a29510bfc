"""Fits with random sizes of intents, and fits with one dispersion per edition."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.cells import exact_numbers
from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers, check_choice, generator
from langdiff.errors import ConfigError, option, words
from langdiff.regression.design import Design, columns_of_formula, labels_of
from langdiff.regression.fitting.errors import Bootstrap
from langdiff.regression.fitting.fixed import Fitting, Settings, check_residuals, compare_intents
from langdiff.regression.fitting.sample import Uncertainty
from langdiff.regression.kernel.clusters import Clusters, SummedClusters, sums_by_cluster
from langdiff.regression.kernel.integrated.comparisons import (
    bootstrap_wald,
    compare_dispersions,
    sandwich_covariance,
)
from langdiff.regression.kernel.integrated.random import RandomEstimate, estimate_random
from langdiff.regression.kernel.integrated.size_tables import SizeTables
from langdiff.regression.kernel.integrated.unequal import (
    UnequalEstimate,
    clusters_of_unequal,
    estimate_unequal,
    pseudo_inverse,
)
from langdiff.regression.kernel.optimizers import Estimate
from langdiff.regression.kernel.two_way import TwoWay, solve_two_way
from langdiff.regression.records import Dispersions, IntentsCompared, Later, SizeDistribution
from langdiff.tables.crossing import LEVELS
from langdiff.tables.rule import likelihood_ratio
from langdiff.tables.surprisals import Surprisals

Sizes = Literal["normal", "free"]
Dispersion = str | Mapping[str, object] | pd.Series


@dataclass(frozen=True)
class Random:
    """Random sizes of intents, drawn from one distribution; an argument of `langdiff.fit`.

    Parameters
    ----------
    sizes : {"normal", "free"}
        Distribution of ln n: normal, or any.
    formula : str, optional
        Mean of ln n, as a formula over `Surprisals.intent_info`, such as ``"book"``.

    Raises
    ------
    ConfigError
        If the distribution is unknown.

    Examples
    --------
    >>> import langdiff as ld
    >>> surprisals = ld.simulate(100, 3, seed=1).surprisals
    >>> ld.fit(surprisals, intents=Random(sizes="free")).sizes.kind
    'free'
    """

    sizes: Sizes = "normal"
    formula: str | None = None

    def __post_init__(self) -> None:
        check_choice("sizes", self.sizes, get_args(Sizes))


class RandomSizes(Fitting):
    """Fit with sizes drawn from one distribution; intents with one cell take part.

    Raises
    ------
    ConfigError
        If the formula of sizes cannot be used with the attributes of the intents.
    DataError
        If the residuals vanish.
    """

    repeatable = True

    def __init__(self, z: Floats, design: Design, settings: Settings, table: Surprisals) -> None:
        super().__init__(design, settings, table)
        self._z = z
        shared = (~np.isnan(z)).sum(axis=1) > 1
        check_residuals(solve_two_way(z[shared], design.basis), settings, table)
        self.option = settings.random or Random()
        self._terms = _terms_of_sizes(self.option.formula, table)
        self.estimate = _plain_estimate(self.random)
        self.used = np.ones(len(z), dtype=bool)
        self.residual_freedom = int((~np.isnan(z)).sum()) - len(z) - design.free + 1

    @cached_property
    def _z(self) -> Floats:
        return self.z

    @cached_property
    def random(self) -> RandomEstimate:
        """The estimate with the scores of all intents."""
        return self._estimate(slice(None), None)

    def forget(self) -> None:
        """Let go of scores, which another fit gives; see `Fitting.forget`."""
        for name in ("_z", "random"):
            self.__dict__.pop(name, None)

    def _estimate(self, rows: slice | Integers, start: Floats | None) -> RandomEstimate:
        variant, terms = self.settings.variant, self._terms
        return estimate_random(
            self._z[rows],
            model="1" if variant.common_variance else "2",
            distribution=variant.distribution,
            covariates=None if terms is None else terms.to_numpy(dtype=float)[rows],
            design=self.design.basis,
            restricted=self.settings.restricted,
            sizes=self.option.sizes,
            max_iterations=self.settings.optimizer.max_iterations,
            start=start,
        )

    def again(self, rows: Integers) -> Estimate:
        """Fit some of the intents; see `Fitting.again`."""
        warm = self.option.sizes == "normal" and not self.settings.variant.common_variance
        return _plain_estimate(self._estimate(rows, self.random.theta if warm else None))

    def clusters(self, cluster: Integers) -> Clusters:
        """Return scores and information by cluster; see `Fitting.clusters`."""
        found, code = self.random, np.unique(cluster, return_inverse=True)[1]
        information = found.basis.T @ found.information_by(code) @ found.basis
        return _summed(found.scores @ found.basis, information, code, found.basis)

    def row_influence(self) -> Floats:
        """Return the influence of each intent; see `Fitting.row_influence`."""
        return self.random.influence()

    def records(self, labels: list[pd.Series], uncertainty: Uncertainty) -> dict[str, Any]:  # noqa: ARG002
        """Return the distribution of sizes, in bits of an average edition; see `Fitting.records`."""
        shift = float(np.mean(self.parameters.log_intent_size - self.random.sizes))  # the same for all
        slopes = None
        if self._terms is not None:
            terms = pd.Index(map(str, self._terms.columns), name="term")
            slopes = pd.Series(self.random.slopes, index=terms, name="slope")
        mean = self.random.mean + shift
        sizes = SizeDistribution(kind=self.option.sizes, mean=mean, sd=self.random.tau, slopes=slopes)
        return {"sizes": sizes}

    def compare(self, labels: list[pd.Series]) -> IntentsCompared | None:
        """Return the comparison with fixed intents, for normal sizes without a formula; see `Fitting.compare`."""
        return compare_intents(self, self.random, labels) if self.option == Random() else None

    def signature(self) -> dict[str, str | None]:
        """Return the distribution of sizes; see `Fitting.signature`."""
        if self.option.formula is None:
            return {"sizes": self.option.sizes}
        return {"sizes": f"{self.option.sizes},{self.option.formula}#{short_hash(self.table.intent_info)}"}


def _terms_of_sizes(formula: str | None, table: Surprisals) -> pd.DataFrame | None:
    """Return the design columns of a formula for sizes, one row per intent."""
    if formula is None:
        return None
    if table.intent_info is None:
        given = words(python="the formula of Random", command=option("size_formula"))
        raise ConfigError(f"{given} needs a table with {option('intent_info')}, the attributes of its intents.")
    terms = columns_of_formula(formula, table.intent_info.apply(_numbers_of_text), "intent")
    if 2 * terms.shape[1] > len(terms):
        given = words(python=f"Random(formula={formula!r})", command=option("size_formula", formula))
        raise ConfigError(
            f"{given} has {terms.shape[1]} terms for {len(terms)} intents: nothing "
            "would be left of the distribution of sizes."
        )
    return terms


def _numbers_of_text(column: pd.Series) -> pd.Series:
    """Return a column of text as numbers if all its cells are; attributes read from files have no types."""
    numbers = exact_numbers(column)
    return column if numbers.isna().any() else numbers


def _plain_estimate(found: RandomEstimate) -> Estimate:
    known = {name: value for name, value in found._asdict().items() if name in Estimate._fields}
    return Estimate(**known, dispersion=None if found.variance is None else float(np.expm1(found.variance)))


def _summed(scores: Floats, information: Floats, cluster: Integers, to_parameters: Floats) -> SummedClusters:
    """Return clusters of the free parameters, with a root that maps to parameters of which difficulties come first."""
    sums = sums_by_cluster(scores, cluster)
    free = np.diag(information.sum(axis=0)) > 0  # a dispersion at its boundary does not vary
    if not free.any():
        raise LinAlgError("the information vanishes")
    clusters = SummedClusters(sums[:, free], information[:, free][:, :, free])
    clusters.root = to_parameters[:, free] @ clusters.root
    return clusters


class OwnDispersions(Fitting):
    """Fit with one dispersion per edition, or per group of editions.

    Parameters
    ----------
    design, settings, table
        See `Fitting`.
    group : Series, shape (J,)
        Group of each edition that shares a dispersion, indexed by edition.

    Raises
    ------
    ConfigError
        If groups and difficulties that are shared do not fit.
    DataError
        If the table does not identify the dispersions.
    """

    def __init__(
        self,
        design: Design,
        settings: Settings,
        table: Surprisals,
        group: pd.Series,
        two_way: TwoWay | None = None,
    ) -> None:
        super().__init__(design, settings, table)
        self.group, self._code = group, pd.factorize(group)[0]
        _check_levels(settings, design, self._code)
        self._normal = settings.random is not None
        several = self.observed.sum(axis=1) > 1
        self.used = np.ones_like(several) if self._normal else several
        shared = two_way or solve_two_way(self.z if several.all() else self.z[several], design.basis, overwrite=True)
        check_residuals(shared, settings, table)
        if self.used.sum() == several.sum():
            self._shared = shared
        self.unequal = self._estimate(self._shared, self._code)
        self.estimate = _expected_estimate(self.unequal)
        self.residual_freedom = self._shared.cells - int(self.used.sum()) - design.free + 1
        self.repeatable = isinstance(self.unequal.problem.likelihood, SizeTables)
        self._kept: tuple[bytes, SummedClusters] | None = None  # of the last clusters, which several sums ask for

    def _estimate(self, table: Floats | TwoWay, group: Integers) -> UnequalEstimate:
        return estimate_unequal(
            table,
            model="1" if self.settings.variant.common_variance else "2",
            group=group,
            intents="normal" if self._normal else "flat",
            design=self.design.basis,
            max_iterations=self.settings.optimizer.max_iterations,
        )

    def again(self, rows: Integers) -> Estimate:
        """Fit some of the intents; see `Fitting.again`."""
        return _expected_estimate(self._estimate(self._shared.z(rows), self._code))

    def joint(self, cluster: Integers) -> Clusters:
        """Return scores and information of levels and log-dispersions by cluster; see `Fitting.joint`."""
        return self._clusters(cluster, self.unequal.jacobian)

    def joint_plain(self) -> Floats:
        """Return the sandwich of levels and log-dispersions; see `Fitting.joint_plain`."""
        return sandwich_covariance(self.unequal)

    def clusters(self, cluster: Integers) -> Clusters:
        """Return scores and information by cluster; see `Fitting.clusters`."""
        return self._clusters(cluster, self.unequal.expected()[1] @ self.unequal.jacobian)

    def _clusters(self, cluster: Integers, to_parameters: Floats) -> Clusters:
        """Return clusters with a root that maps to some parameters."""
        found = copy(self._of_free(cluster))
        found.root = to_parameters @ found.root
        return found

    def _of_free(self, cluster: Integers) -> SummedClusters:
        """Return clusters with a root that maps to the free parameters."""
        code = np.unique(cluster, return_inverse=True)[1]
        if self._kept is None or self._kept[0] != code.tobytes():
            self._kept = code.tobytes(), clusters_of_unequal(self.unequal, code)
        return self._kept[1]

    @cached_property
    def _shared(self) -> TwoWay:
        """Model 1 of the used intents."""
        return solve_two_way(self.z if self.used.all() else self.z[self.used], self.design.basis, overwrite=True)

    @property
    def total(self) -> float:
        """Sum of the log surprisals; see `Fitting.total`."""
        return self._shared.total

    def forget(self) -> None:
        """Let go of the residuals of model 1; see `Fitting.forget`."""
        likelihood = self.unequal.problem.likelihood
        if isinstance(likelihood, SizeTables):
            likelihood.table = None
            self.__dict__.pop("_shared", None)

    def row_influence(self) -> Floats:
        """Return the influence of each intent; see `Fitting.row_influence`."""
        likelihood = self.unequal.problem.likelihood
        if isinstance(likelihood, SizeTables) and likelihood.table is None:
            likelihood.table = self._shared
        return self.unequal.scores() @ self._to_influence.T

    def plain(self) -> Floats:
        """Return the sandwich with intents as clusters; see `Fitting.plain`."""
        return self._to_influence @ self.unequal.score_products @ self._to_influence.T

    @property
    def _to_influence(self) -> Floats:
        found = self.unequal
        return found.expected()[1] @ found.jacobian @ pseudo_inverse(found.information)

    def records(self, labels: list[pd.Series], uncertainty: Uncertainty) -> dict[str, Any]:
        """Return the dispersions with tests of their equality, and the distribution of random sizes."""
        sizes = None
        if not np.isnan(self.unequal.tau):
            shift = float(np.mean(self.parameters.log_intent_size - self.unequal.sizes))
            sizes = SizeDistribution(mean=self.unequal.mean + shift, sd=self.unequal.tau)
        return {"sizes": sizes, "dispersions": self._dispersions(labels, uncertainty)}

    def _dispersions(self, labels: list[pd.Series], uncertainty: Uncertainty) -> Dispersions:
        found, group, editions = self.unequal, self.group, self.table.editions
        names = pd.Index(list(pd.unique(group)), name=group.name)
        cluster = np.asarray(pd.factorize(labels[0][self.used])[0]) if labels else None
        covariance = sandwich_covariance(found, None if cluster is None else self._of_free(cluster).scores)
        if uncertainty.joint is not None and (len(labels) > 1 or uncertainty.source.strata):
            covariance = uncertainty.joint
        n_clusters = int(self.used.sum()) if cluster is None else uncertainty.source.n_clusters
        test = compare_dispersions(found, covariance, n_clusters=n_clusters)
        errors = self.settings.errors
        n_resamples = errors.n_resamples if isinstance(errors, Bootstrap) else 0
        by_bootstrap = cluster is None and n_resamples > 0
        both = pd.Index([*(f"level {edition}" for edition in editions), *(f"ln variance {name}" for name in names)])
        variance = np.exp(found.log_variance)
        joint = found.covariance if uncertainty.joint is None else uncertainty.joint
        if self.estimate.covariance is None:  # estimates that are out of range have no errors
            joint = np.full_like(joint, np.nan)
        return Dispersions(
            group=group,
            value=pd.Series(np.expm1(variance) if found.model == "1" else variance, names, name="dispersion"),
            level=pd.Series(found.c, editions, name="level"),
            covariance=pd.DataFrame(joint, both, both),
            wald=test.wald,
            p_value=self._bootstrap_p(n_resamples) if by_bootstrap else test.wald_p,
            test="bootstrap" if by_bootstrap else "robust",
            likelihood_ratio=Later(
                partial(_ratio_p, self.table, self.design, self.settings, found.log_likelihood, test.degrees)
            ),
            boundary=tuple(str(name) for name in names[found.boundary]),
        )

    def _bootstrap_p(self, n_resamples: int) -> float:
        """Return the p-value of the test of equal dispersions by a bootstrap of intents."""
        rng, intents = generator(self.settings.seed), int(self.used.sum())

        def resample() -> tuple[UnequalEstimate, Floats]:
            sample = self._estimate(self._shared.z(rng.integers(intents, size=intents)), self._code)
            return sample, sandwich_covariance(sample)

        return bootstrap_wald(self.unequal, resample, n_resamples=n_resamples)

    def signature(self) -> dict[str, str | None]:
        """Return the distribution of random sizes and a hash of the dispersion groups; see `Fitting.signature`."""
        return {"sizes": "normal" if self._normal else None, "dispersion": f"#{short_hash(self.unequal.group)}"}


def _ratio_p(table: Surprisals, design: Design, settings: Settings, log_likelihood: float, degrees: int) -> float:
    """Return the p-value of the likelihood ratio against one dispersion, from a fit with that."""
    group = pd.Series(0, index=table.editions)
    common = OwnDispersions(design, settings, table, group).unequal
    return likelihood_ratio(log_likelihood, common.log_likelihood, degrees).p


def _check_levels(settings: Settings, design: Design, group: Integers) -> None:
    """Check that editions of one difficulty share a dispersion in model 1, whose difficulties are of expected bits."""
    if not settings.variant.common_variance or design.basis is None:
        return
    together = design.basis @ design.basis.T  # of groups: not 0 if two editions are of one
    differ = (np.abs(together) > 0) & (group[:, None] != group)
    if design.terms is not None or differ.any():
        raise ConfigError(
            "in model '1' editions that share a difficulty must share a dispersion, and a formula needs a common one: "
            f"expected bits depend on the dispersion. Use {option('model', '2')}, or dispersions by the same groups."
        )


def dispersion_groups(dispersion: Dispersion, table: Surprisals, info: pd.DataFrame | None) -> pd.Series:
    """Return the dispersion group of each edition, indexed by edition."""
    if isinstance(dispersion, str) and dispersion == "edition":
        return pd.Series(table.editions, index=table.editions, name="edition")
    if isinstance(dispersion, str) and dispersion in LEVELS and table.columns is not None:
        return table.columns[dispersion].set_axis(table.editions)
    if not isinstance(dispersion, str | Mapping | pd.Series) or (isinstance(dispersion, str) and info is None):
        shown = dispersion if isinstance(dispersion, str) else type(dispersion).__name__
        raise ConfigError(
            f"{option('dispersion', shown)} must be 'auto', 'common', 'edition', a column of {option('edition_info')}, "
            "or the group of each edition."
        )
    labels = labels_of(table.editions, dispersion, info, "dispersion")
    return labels.map(lambda label: label if isinstance(label, str | int) else str(label))


def _expected_estimate(found: UnequalEstimate) -> Estimate:
    """Return an estimate with difficulties of expected bits."""
    (c, to_expected), variance = found.expected(), np.exp(found.log_variance)
    return Estimate(
        method="newton",
        c=c,
        sizes=found.sizes,
        covariance=to_expected @ found.covariance @ to_expected.T,
        dispersion=float(np.mean(np.expm1(variance) if found.model == "1" else variance)),
        log_likelihood=found.log_likelihood,
        converged=found.converged,
        n_iterations=found.n_iterations,
        n_evaluations=found.n_iterations,
        grad_norm=float("nan"),
        message=found.message,
    )
