"""From log surprisals and options to estimates, with what standard errors need of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.numbers import exact_numbers
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing
from langdiff.regression.design import Design, columns_of_formula, labels_of
from langdiff.regression.kernel.clusters import Clusters, RowClusters, SummedClusters, covariance_of_clusters
from langdiff.regression.kernel.estimate import Estimate, published_parameters, size_of_single_cells
from langdiff.regression.kernel.random.estimate import RandomEstimate, estimate_random
from langdiff.regression.kernel.two_way import TwoWay, solve_two_way
from langdiff.regression.kernel.unequal.estimands import estimand_levels
from langdiff.regression.kernel.unequal.estimate import UnequalEstimate, estimate_unequal, pseudo_inverse
from langdiff.regression.options import Options, Settings
from langdiff.tables.surprisals import Surprisals

LEAST_SIGMA = 1e-8  # residuals of log bits below it are rounding, and the likelihood is unbounded


@dataclass(frozen=True, kw_only=True, eq=False)
class Fitted:
    """An estimate and what its standard errors can be made of.

    Attributes
    ----------
    found : Estimate
        The estimate; its sizes are those of `used` intents.
    used : ndarray of bool, shape (I,)
        The intents that were fitted.
    clusters : callable
        Takes the cluster of each used intent, returns scores and information by cluster, in which the
        difficulties of the editions are the first J parameters.
    again : callable
        Takes row numbers among the used intents, returns the estimate from these; None if no residuals are left.
    residual_freedom : int
        Cells less the difficulties that are free and the sizes of intents, random ones too: the residuals within
        intents.
    random, unequal : RandomEstimate, UnequalEstimate or None
        What else was estimated where sizes have a distribution, or editions dispersions of their own.
    plain : callable
        Returns the sandwich CR0 of the difficulties of the editions with intents as clusters, shape (J, J).
    joint : callable or None
        The same as `clusters`, of all levels and log-dispersions of `unequal`.
    equal : callable or None
        Fits one dispersion in place of several, as `unequal` does.
    unequal_again : callable or None
        The same as `again`, with all that `unequal` has.
    size_terms : tuple of str
        Names of the covariates of sizes.
    """

    found: Estimate
    used: Booleans
    clusters: Callable[[Integers], Clusters]
    again: Callable[[Integers], Estimate | None]
    residual_freedom: int
    plain: Callable[[], Floats]
    joint: Callable[[Integers], Clusters] | None = None
    random: RandomEstimate | None = None
    unequal: UnequalEstimate | None = None
    equal: Callable[[], UnequalEstimate] | None = None
    unequal_again: Callable[[Integers], UnequalEstimate] | None = None
    size_terms: tuple[str, ...] = ()


def fit_fixed(z: Floats, design: Design, options: Options, table: Surprisals) -> Fitted:
    """Fit one size to every intent; those of one cell say nothing of difficulties and are left out.

    Raises
    ------
    DataError
        If the residuals vanish, or the likelihood of model 2C has no maximum.
    """
    settings = options.settings
    used = (~np.isnan(z)).sum(axis=1) > 1
    shared = z if used.all() else z[used]
    two_way = solve_two_way(shared, design.basis)
    _check_residuals(two_way, settings, table)
    variant, restricted, optimizer = settings
    found = variant.estimate(two_way, restricted=restricted, optimizer=optimizer)

    def again(rows: Integers) -> Estimate | None:
        part = solve_two_way(shared[rows], design.basis)
        if _vanishes(part):
            return None
        start = found.sizes[rows], found.c
        return variant.estimate(part, restricted=restricted, optimizer=optimizer, start=start, with_covariance=False)

    rows = cache(lambda: variant.rows(two_way, found, restricted=restricted))
    return Fitted(
        found=found,
        used=used,
        clusters=lambda cluster: RowClusters(rows(), cluster, design.basis),
        again=again,
        residual_freedom=two_way.degrees_of_freedom,
        plain=lambda: covariance_of_clusters(RowClusters(rows(), np.arange(len(shared)), design.basis), "CR0"),
    )


def sizes_of_all(z: Floats, fitted: Fitted) -> Floats:
    """Return the sizes of all intents, those of one cell as their cell and the estimated difficulties have it."""
    sizes = np.empty(len(z))
    sizes[fitted.used] = fitted.found.sizes
    sizes[~fitted.used] = size_of_single_cells(z[~fitted.used], fitted.found.c, fitted.found)
    return sizes


def _check_residuals(two_way: TwoWay, settings: Settings, table: Surprisals) -> None:
    if _vanishes(two_way):
        raise DataError(
            "the residuals vanish: every edition is an exact multiple of every other "
            f"({listing(table.editions)}), so the likelihood has no maximum. Are they copies of one another?"
        )
    if settings.variant.unbounded_in_pairs and not settings.restricted and _is_unbounded(two_way):
        raise DataError(
            f"(nearly) all intents have two cells only: then the likelihood of model {settings.variant.name} has no "
            "maximum. Use restricted=True, or model='2L'."
        )


def _is_unbounded(two_way: TwoWay) -> bool:
    """Whether the likelihood of model 2C grows without bound as the dispersion vanishes.

    With the location of every intent on one of its cells, one of J_i ≥ 3 cells costs (J_i/2 − 1)·|ln v|,
    one of two cells nothing; and those of two cells that the difficulties can make exact gain |ln v|.
    """
    cells = two_way.cells_per_intent
    editions = two_way.residual.shape[1]
    free = editions if two_way.design is None else two_way.design.shape[1]
    exact = min(int((cells == 2).sum()), int(free) - 1)
    return float(np.sum(cells[cells > 2] / 2 - 1)) < exact


def _vanishes(two_way: TwoWay) -> bool:
    return two_way.degrees_of_freedom < 1 or two_way.sum_of_squares < LEAST_SIGMA**2 * two_way.degrees_of_freedom


def fit_random(z: Floats, design: Design, options: Options, table: Surprisals) -> Fitted:
    """Fit a distribution of sizes; intents of one cell take part.

    Raises
    ------
    ConfigError
        If `Options.size_formula` cannot be used with the attributes of the intents.
    DataError
        If the residuals vanish.
    """
    settings = options.settings
    shared = (~np.isnan(z)).sum(axis=1) > 1
    _check_residuals(solve_two_way(z[shared], design.basis), settings, table)
    covariates, terms = None, pd.DataFrame()
    if options.size_formula is not None:
        if table.intent_info is None:
            raise ConfigError("size_formula needs a table with intent_info, the attributes of its intents.")
        info = table.intent_info.apply(_numbers_of_text)
        terms = columns_of_formula(options.size_formula, info, "intent")
        if 2 * terms.shape[1] > len(terms):
            raise ConfigError(
                f"size_formula={options.size_formula!r} has {terms.shape[1]} terms for {len(terms)} intents: nothing "
                "would be left of the distribution of sizes."
            )
        covariates = terms.to_numpy(dtype=float)

    def estimate_of(rows: slice | Integers, start: Floats | None) -> RandomEstimate:
        return estimate_random(
            z[rows],
            model="1" if settings.variant.common_variance else "2",
            distribution=settings.variant.distribution,
            covariates=None if covariates is None else covariates[rows],
            design=design.basis,
            restricted=settings.restricted,
            sizes=options.sizes,
            max_iterations=settings.optimizer.max_iterations,
            start=start,
        )

    found = estimate_of(slice(None), None)
    warm = found.theta if options.sizes == "normal" and not settings.variant.common_variance else None
    return Fitted(
        found=_plain_estimate(found),
        used=np.ones(len(z), dtype=bool),
        clusters=lambda cluster: _clusters_of_random(found, cluster),
        again=lambda rows: _plain_estimate(estimate_of(rows, warm)),
        residual_freedom=int((~np.isnan(z)).sum()) - len(z) - design.free + 1,
        random=found,
        plain=lambda: found.influence().T @ found.influence(),
        size_terms=tuple(map(str, terms.columns)),
    )


def _numbers_of_text(column: pd.Series) -> pd.Series:
    """Return numbers where all of a column of text are; files have no types."""
    numbers = exact_numbers(column)
    return column if numbers.isna().any() else numbers


def _plain_estimate(found: RandomEstimate) -> Estimate:
    return Estimate(
        method=found.method,
        c=found.c,
        sizes=found.sizes,
        covariance=found.covariance,
        dispersion=None if found.variance is None else float(np.expm1(found.variance)),
        log_likelihood=found.log_likelihood,
        converged=found.converged,
        n_iterations=found.n_iterations,
        n_evaluations=found.n_evaluations,
        grad_norm=found.grad_norm,
        message=found.message,
    )


def _clusters_of_random(found: RandomEstimate, cluster: Integers) -> Clusters:
    code = np.unique(cluster, return_inverse=True)[1]
    return _summed(
        found.scores @ found.basis, found.basis.T @ found.information_by(code) @ found.basis, code, found.basis
    )


def _summed(scores: Floats, information: Floats, cluster: Integers, to_parameters: Floats) -> SummedClusters:
    """Return clusters in free parameters, whose root leads to parameters of which the difficulties are the first."""
    sums = np.zeros((len(information), scores.shape[1]))
    np.add.at(sums, cluster, scores)
    free = np.diag(information.sum(axis=0)) > 0  # a dispersion at its boundary does not vary
    if not free.any():
        raise LinAlgError("the information vanishes")
    clusters = SummedClusters(sums[:, free], information[:, free][:, :, free])
    clusters.root = to_parameters[:, free] @ clusters.root
    return clusters


def fit_unequal(z: Floats, design: Design, options: Options, table: Surprisals, info: pd.DataFrame | None) -> Fitted:
    """Fit dispersions of editions, or of groups of them; sizes are integrated out.

    Raises
    ------
    ConfigError
        If the groups of dispersions are not known of every edition.
    DataError
        If the table does not identify the dispersions.
    """
    settings = options.settings
    group = dispersion_groups(options, table, info)
    code = pd.factorize(group)[0]
    _check_levels(settings, design, code)
    normal = options.intents == "random"
    used = np.ones(len(z), dtype=bool) if normal else (~np.isnan(z)).sum(axis=1) > 1
    shared = z[used]
    _check_residuals(solve_two_way(shared[(~np.isnan(shared)).sum(axis=1) > 1], design.basis), settings, table)

    def estimate_of(rows: slice | Integers, group: Integers, cluster: Integers | None = None) -> UnequalEstimate:
        return estimate_unequal(
            shared[rows],
            model="1" if settings.variant.common_variance else "2",
            group=group,
            intents="normal" if normal else "flat",
            design=design.basis,
            clusters=cluster,
            max_iterations=settings.optimizer.max_iterations,
        )

    found = estimate_of(slice(None), code)

    information_of: dict[bytes, Floats] = {}  # by clusters, since it takes another fit

    def joint(cluster: Integers) -> SummedClusters:
        numbers = np.unique(cluster, return_inverse=True)[1]
        key = numbers.tobytes()
        if key not in information_of:
            parts = estimate_of(slice(None), code, numbers).information_by_cluster
            information_of[key] = np.zeros((1, 0, 0)) if parts is None else parts
        return _summed(found.scores, information_of[key], numbers, found.jacobian)

    def clusters(cluster: Integers) -> Clusters:
        of_levels = joint(cluster)
        of_levels.root = _to_expected(found) @ of_levels.root
        return of_levels

    def plain() -> Floats:
        influence = _to_expected(found) @ found.jacobian @ pseudo_inverse(found.information) @ found.scores.T
        covariance: Floats = influence @ influence.T
        return covariance

    return Fitted(
        found=_expected_estimate(found),
        used=used,
        clusters=clusters,
        again=lambda rows: _expected_estimate(estimate_of(rows, code)),
        residual_freedom=int((~np.isnan(shared)).sum()) - len(shared) - design.free + 1,
        unequal=found,
        plain=plain,
        joint=joint,
        equal=lambda: estimate_of(slice(None), np.zeros_like(code)),
        unequal_again=lambda rows: estimate_of(rows, code),
    )


def _check_levels(settings: Settings, design: Design, group: Integers) -> None:
    """Refuse designs of model 1 that would hold for median bits where difficulties are about expected ones."""
    if not settings.variant.common_variance or design.basis is None:
        return
    together = design.basis @ design.basis.T  # of groups: not 0 if two editions are of one
    differ = (np.abs(together) > 0) & (group[:, None] != group)
    if design.terms is not None or differ.any():
        raise ConfigError(
            "in model '1' editions that share a difficulty must share a dispersion, and a formula needs a common one: "
            "expected bits depend on the dispersion. Use model='2', or dispersions by the same groups."
        )


def dispersion_groups(options: Options, table: Surprisals, info: pd.DataFrame | None) -> pd.Series:
    """Return the group of each edition that shares a dispersion, indexed by edition."""
    if isinstance(options.dispersion, str) and options.dispersion == "edition":
        return pd.Series(table.editions, index=table.editions, name="edition")
    if not isinstance(options.dispersion, str | Mapping | pd.Series) or (
        isinstance(options.dispersion, str) and info is None
    ):
        shown = options.dispersion if isinstance(options.dispersion, str) else type(options.dispersion).__name__
        raise ConfigError(
            f"dispersion={shown!r} must be 'common', 'edition', a column of edition_info, or the group of each edition."
        )
    labels = labels_of(table.editions, options.dispersion, info, "dispersion")
    return labels.map(lambda label: label if isinstance(label, str | int) else str(label))


def _to_expected(found: UnequalEstimate) -> Floats:
    """Return the derivatives of ln expected bits in levels and log-dispersions, shape (J, J + G)."""
    editions, groups = len(found.c), len(found.log_variance)
    jacobian = np.zeros((editions, editions + groups))
    jacobian[:, :editions] = np.eye(editions)
    if found.model == "1":
        jacobian[np.arange(editions), editions + found.group] = 0.5 * np.exp(found.log_variance)[found.group]
    return jacobian


def _expected_estimate(found: UnequalEstimate) -> Estimate:
    """Return the estimate on the scale of expected bits."""
    levels, variance = estimand_levels(found, "expected"), np.exp(found.log_variance)
    return Estimate(
        method="newton",
        c=levels.values,
        sizes=found.sizes,
        covariance=levels.covariance,
        dispersion=float(np.mean(np.expm1(variance) if found.model == "1" else variance)),
        log_likelihood=found.log_likelihood,
        converged=found.converged,
        n_iterations=found.n_iterations,
        n_evaluations=found.n_iterations,
        grad_norm=float("nan"),
        message=found.message,
    )


def normalized(found: Estimate, design: Design) -> Floats:
    """Return the normalized difficulties of the units, shape (U,)."""
    return published_parameters(found, design.first).difficulty
