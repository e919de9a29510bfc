"""Base class of all fits, and fits with one size estimated per intent."""

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import DataError, listing, option
from langdiff.regression.design import Design
from langdiff.regression.kernel.clusters import (
    Clusters,
    ColumnClusters,
    Kind,
    RowClusters,
    adjusted_influences,
    covariance_of_clusters,
    equal_influences,
    sums_by_cluster,
)
from langdiff.regression.kernel.integrated.comparisons import distance_of_fits, influence_of_fixed
from langdiff.regression.kernel.integrated.random import RandomEstimate, estimate_random
from langdiff.regression.kernel.likelihood import RowInformation
from langdiff.regression.kernel.optimizers import (
    USUAL_OPTIMIZER,
    Estimate,
    Optimizer,
    Parameters,
    published_parameters,
    size_of_single_cells,
)
from langdiff.regression.kernel.residual_tests import residuals_within_rows
from langdiff.regression.kernel.two_way import TwoWay, blocks_of, solve_two_way
from langdiff.regression.records import IntentsCompared
from langdiff.regression.variants.variant import Variant
from langdiff.tables.simultaneous import MOST_MEMBERS
from langdiff.tables.surprisals import Surprisals

if TYPE_CHECKING:
    from langdiff.regression.fitting.errors import Errors
    from langdiff.regression.fitting.integrated import Random
    from langdiff.regression.fitting.sample import Uncertainty

LEAST_SIGMA = 1e-8  # residuals of log bits below it are rounding, and the likelihood is unbounded
MOST_COMPARED = 1_000_000  # cells
FEWEST_PER_EDITION = 50  # intents, from which the distribution of the distance between two fits is known
LEAST_SPREAD = 0.01  # of ln n, to begin a search with


class Settings(NamedTuple):
    """Checked arguments of `langdiff.fit` that do not concern single editions or intents.

    `random` is None for fixed sizes, and `errors` is None for the default; `own_dispersions` is true if editions have
    dispersions of their own.
    """

    variant: Variant
    restricted: bool = False
    optimizer: Optimizer = USUAL_OPTIMIZER
    random: "Random | None" = None
    own_dispersions: bool = False
    errors: "Errors | None" = None
    seed: int | np.random.Generator | None = None


class Fitting(ABC):
    """A model fitted to a table, which can be refitted to some of its rows.

    Parameters
    ----------
    design : Design
        Which difficulties are free.
    settings : Settings
        The model, and how it is fitted.
    table : Surprisals
        The table.

    Attributes
    ----------
    estimate : Estimate
        The estimate; its sizes are those of `used` intents.
    used : ndarray of bool, shape (I,)
        The intents that were fitted.
    residual_freedom : int
        Cells less the difficulties that are free and the sizes of intents, random ones too: the residuals within
        intents.
    integrated : bool
        Whether sizes were integrated out.
    repeatable : bool
        Whether `forget` lets go of what is large.
    """

    estimate: Estimate
    used: Booleans
    residual_freedom: int
    integrated: ClassVar[bool] = True

    def __init__(self, design: Design, settings: Settings, table: Surprisals) -> None:
        self.design, self.settings, self.table = design, settings, table

    @property
    def z(self) -> Floats:
        """Log surprisals, NaN where missing, shape (I, J), made anew."""
        bits = self.table.bits.to_numpy()
        z: Floats = np.log(bits, out=np.empty(bits.shape))
        return z

    @property
    def observed(self) -> Booleans:
        """Whether the table has each cell, shape (I, J)."""
        observed: Booleans = ~np.isnan(self.table.bits.to_numpy())
        return observed

    @property
    def total(self) -> float:
        """Sum of the log surprisals of the used intents."""
        return float(np.nansum(self.z if self.used.all() else self.z[self.used]))

    def within(self, rows: slice | Integers) -> Floats:
        """Return z less difficulties of some used intents, less their means, 0 where missing, shape (R, J)."""
        which = rows if self.used.all() else np.flatnonzero(self.used)[rows]
        return residuals_within_rows(np.log(self.table.bits.to_numpy()[which]), self.estimate.c)

    @property
    def parameters(self) -> Parameters:
        """The estimate in the parameters of the published models."""
        return published_parameters(self.estimate, self.design.first)

    @property
    def difficulties(self) -> Floats:
        """Normalized difficulties of the units, shape (U,)."""
        return self.parameters.difficulty

    repeatable = False

    def forget(self) -> None:  # noqa: B027 - most keep nothing that could be made again
        """Let go of what is of the size of the table and can be made again from it, if `repeatable`."""

    @abstractmethod
    def again(self, rows: Integers) -> Estimate | None:
        """Fit some of the used intents, given by number; return None if no residuals are left."""

    @abstractmethod
    def clusters(self, cluster: Integers) -> Clusters:
        """Return scores and information by cluster of the used intents; the editions' difficulties come first."""

    @abstractmethod
    def row_influence(self) -> Floats:
        """Return the influence of each used intent on the editions' difficulties up to a constant, shape (I, J)."""

    def plain(self) -> Floats:
        """Return the sandwich CR0 of the editions' difficulties with intents as clusters, shape (J, J)."""
        influence = self.row_influence()
        return influence.T @ influence

    def joint(self, cluster: Integers) -> Clusters | None:  # noqa: ARG002 - of dispersions
        """Return scores and information by cluster for levels and log-dispersions; None with a common dispersion."""
        return None

    def joint_plain(self) -> Floats | None:
        """Return the sandwich CR0 of levels and log-dispersions; None with a common dispersion."""
        return None

    def sizes(self) -> Floats:
        """Return ln n of all intents, shape (I,); for an intent with one cell, the size that fits it exactly."""
        found = self.estimate
        sizes = np.empty(len(self.used))
        sizes[self.used] = found.sizes
        if not self.used.all():
            sizes[~self.used] = size_of_single_cells(self.z[~self.used], found.c, found)
        return published_parameters(found._replace(sizes=sizes), self.design.first).log_intent_size

    def records(self, labels: list[pd.Series], uncertainty: "Uncertainty") -> dict[str, Any]:  # noqa: ARG002
        """Return further results of the fit, as fields of `DifficultyFit`.

        Shapes: labels (I,).
        """
        return {}

    def compare(self, labels: list[pd.Series]) -> IntentsCompared | None:  # noqa: ARG002
        """Return the distance between fixed and random intents; None where it is not computed.

        Parameters
        ----------
        labels : list of Series, shape (I,)
            Clusters of intents, of no kind, one or two.
        """
        return None

    def signature(self) -> dict[str, str | None]:
        """Return the treatment of sizes and dispersions as parts of a signature."""
        return {}


class Fixed(Fitting):
    """Fit with one size per intent; intents with one cell are left out, since they do not compare editions.

    Raises
    ------
    DataError
        If the residuals vanish, or the likelihood of model 2C has no maximum.
    """

    integrated: ClassVar[bool] = False
    repeatable = True

    def __init__(self, z: Floats, design: Design, settings: Settings, table: Surprisals) -> None:
        super().__init__(design, settings, table)
        self.used = (~np.isnan(z)).sum(axis=1) > 1
        kind = "sandwich" if settings.errors is None else settings.errors.kind
        self._wide = self.by_columns and kind == "sandwich" and z.shape[1] > MOST_MEMBERS
        self.shared = self._solve(z)
        check_residuals(self.shared, settings, table)
        self.residual_freedom = self.shared.degrees_of_freedom
        self.estimate = self._found = settings.variant.estimate(
            self.shared, restricted=settings.restricted, optimizer=settings.optimizer
        )

    def _solve(self, z: Floats) -> TwoWay:
        """Return model 1, whose residuals take the place of z."""
        z = z if self.used.all() else z[self.used]
        return solve_two_way(z, self.design.basis, wide=self._wide, overwrite=True)

    @cached_property
    def shared(self) -> TwoWay:
        """Model 1 of the used intents."""
        return self._solve(self.z)

    def forget(self) -> None:
        """Let go of residuals and influences; see `Fitting.forget`."""
        for name in ("shared", "_rows", "_at_kinks"):
            self.__dict__.pop(name, None)

    @property
    def observed(self) -> Booleans:
        """Whether the table has each cell; see `Fitting.observed`."""
        if not self.used.all():
            return super().observed
        mask = self.shared.mask
        return np.broadcast_to(np.True_, self.shared.residual.shape) if mask is None else mask

    @property
    def total(self) -> float:
        """Sum of the log surprisals; see `Fitting.total`."""
        return self.shared.total

    def within(self, rows: slice | Integers) -> Floats:
        """Return residuals within rows; see `Fitting.within`."""
        return self.shared.within(rows, self.estimate.c)

    @cached_property
    def _rows(self) -> RowInformation:
        return self.settings.variant.rows(self.shared, self._found, restricted=self.settings.restricted)

    def again(self, rows: Integers) -> Estimate | None:
        """Fit some of the intents, starting from the estimate of the whole table; see `Fitting.again`."""
        part = solve_two_way(self.shared.z(rows), self.design.basis, overwrite=True)
        if vanishes(part):
            return None
        variant, restricted, optimizer, *_ = self.settings
        start = self._found.sizes[rows], self._found.c
        return variant.estimate(part, restricted=restricted, optimizer=optimizer, start=start, with_covariance=False)

    def clusters(self, cluster: Integers) -> Clusters:
        """Return scores and information by cluster; see `Fitting.clusters`."""
        return RowClusters(self._rows, cluster, self.design.basis, self._inverse)

    @property
    def _inverse(self) -> Floats | None:
        """Inverse of the observed information on c, where the estimate has it."""
        variant, covariance = self.settings.variant, self._found.covariance
        if covariance is None or not variant.has_information or variant.common_variance:
            return None
        found: Floats = covariance / self.shared.inflation(self.settings.restricted)
        return found if self.design.basis is None and np.isfinite(found).all() else None

    @property
    def by_columns(self) -> bool:
        """Whether errors are kept as influences of clusters, as for the columns of a crossed table."""
        return self.table.columns is not None and self.design.basis is None

    def column_influences(self, cluster: Integers, kind: Kind) -> Floats:
        """Return adjusted influences of clusters on the editions' difficulties up to a constant, shape (G, J)."""
        if self.settings.variant.kinked:
            return sums_by_cluster(self._at_kinks, np.unique(cluster, return_inverse=True)[1])
        if self._complete_least_squares:
            return equal_influences(self.shared.residual, cluster, kind)
        known = self.shared.information if self.settings.variant.common_variance else None
        return adjusted_influences(ColumnClusters(self._rows, cluster, known), kind)

    def unit_shares(self, cluster: Integers) -> Floats:
        """Return the share of each cluster in the information on all editions, (G,), or on each of them, (G, J)."""
        if self._complete_least_squares:
            return np.bincount(cluster) / len(self.shared.residual)
        if self.settings.variant.kinked or not self.settings.variant.concave:
            precision, mask = 1 / np.logaddexp(0.0, -self._found.sizes), self.shared.mask
            of_rows = precision[:, None] * (np.ones((1, len(self._found.c))) if mask is None else mask)
        elif self.by_columns:
            of_rows = self._rows.of(slice(None)).weight
        else:  # of all editions, whose mean is all that is kept
            parts, total = blocks_of(*self._rows.shape), np.zeros(self._rows.shape[1])
            for rows in parts:
                total += self._rows.of(rows).weight.sum(axis=0)
            return np.bincount(
                cluster, np.concatenate([self._rows.of(rows).weight @ (1 / total) for rows in parts])
            ) / len(total)
        weight = sums_by_cluster(of_rows, cluster)
        share: Floats = weight / weight.sum(axis=0)
        return share[:, 0] if share.shape[1] == 1 else share

    @property
    def _complete_least_squares(self) -> bool:
        return self.shared.mask is None and self.settings.variant.common_variance

    def row_influence(self) -> Floats:
        """Return the influence of each intent of a model with kinks; see `Fitting.row_influence`."""
        return self._at_kinks

    @cached_property
    def _at_kinks(self) -> Floats:
        """Influences of intents in a model whose likelihood has kinks, shape (I, J)."""
        variant, restricted = self.settings.variant, self.settings.restricted
        return variant.influences(self.shared, self._found, restricted=restricted)

    def plain(self) -> Floats:
        """Return the sandwich with intents as clusters; see `Fitting.plain`."""
        if self.settings.variant.kinked:
            return self._at_kinks.T @ self._at_kinks
        return covariance_of_clusters(self.clusters(np.arange(len(self.shared.residual))), "CR0")

    def compare(self, labels: list[pd.Series]) -> IntentsCompared | None:
        """Return the comparison with random intents; see `Fitting.compare`."""
        return compare_intents(self, None, labels, self.shared)


def check_residuals(two_way: TwoWay, settings: Settings, table: Surprisals) -> None:
    """Check that the likelihood of a table has a maximum."""
    if vanishes(two_way):
        raise DataError(
            "the residuals vanish: every edition is an exact multiple of every other "
            f"({listing(table.editions)}), so the likelihood has no maximum. Are they copies of one another?"
        )
    if settings.variant.unbounded_in_pairs and not settings.restricted and _is_unbounded(two_way):
        raise DataError(
            f"(nearly) all intents have two cells only: then the likelihood of model {settings.variant.name} has no "
            f"maximum. Use {option('restricted', True)}, or {option('model')} 2L."
        )


def _is_unbounded(two_way: TwoWay) -> bool:
    """Return whether the likelihood of model 2C is unbounded as the dispersion approaches 0.

    With the location of every intent on one of its cells, one of J_i ≥ 3 cells costs (J_i/2 − 1)·|ln v|,
    one of two cells nothing; and those of two cells that the difficulties can make exact gain |ln v|.
    """
    cells = two_way.cells_per_intent
    editions = two_way.residual.shape[1]
    free = editions if two_way.design is None else two_way.design.shape[1]
    exact = min(int((cells == 2).sum()), int(free) - 1)
    return float(np.sum(cells[cells > 2] / 2 - 1)) < exact


def vanishes(two_way: TwoWay) -> bool:
    """Return whether all residuals are 0 up to rounding, or there are no degrees of freedom."""
    return two_way.degrees_of_freedom < 1 or two_way.sum_of_squares < LEAST_SIGMA**2 * two_way.degrees_of_freedom


def compare_intents(
    fitting: Fitting, random: RandomEstimate | None, labels: list[pd.Series], two_way: TwoWay | None = None
) -> IntentsCompared | None:
    """Test whether fixed and random intents give the same difficulties; return None where that is not computed.

    The test is for models 1 and 2, whose fits of both kinds are quick, with normal random sizes without a formula. The
    fixed fit of model 2 is the restricted one. The result is None for complete tables, where the two hardly differ, and
    for tables above a million cells, where the test would take longer than the fit itself.

    Shapes: labels (I,).
    """
    design, variant, optimizer = fitting.design, fitting.settings.variant, fitting.settings.optimizer
    model: Literal["1", "2"] = "1" if variant.common_variance else "2"
    if not variant.has_information or not fitting.estimate.converged or (fitting.settings.restricted and model == "1"):
        return None
    observed = fitting.observed
    if len(labels) > 1 or observed.size > MOST_COMPARED or observed.all():
        return None
    z, used = fitting.z, observed.sum(axis=1) > 1
    cluster = pd.factorize(labels[0])[0] if labels else np.arange(len(z))
    enough = cluster.max() >= 2 * z.shape[1] and len(z) >= FEWEST_PER_EDITION * z.shape[1]
    two_way = two_way or solve_two_way(z[used], design.basis)
    # unrestricted, model 2 has a bias of its own in incomplete tables, which would be taken for a difference
    restricted = model == "2"
    iterations = optimizer.max_iterations
    try:
        fixed = fitting.estimate
        if random is not None or restricted != fitting.settings.restricted:
            near = (fixed.sizes, fixed.c) if random is None else None
            fixed = variant.estimate(
                two_way, restricted=restricted, optimizer=optimizer, start=near, with_covariance=False
            )
        if random is None:
            near_sizes = [fixed.sizes.mean(), np.log(max(fixed.sizes.std(), LEAST_SPREAD))]
            start = np.concatenate([fixed.c, near_sizes]) if model == "2" else None
            whole = two_way if used.all() else None
            random = estimate_random(
                z, model=model, design=design.basis, max_iterations=iterations, start=start, two_way=whole
            )
        influence = np.zeros_like(z)
        influence[used] = influence_of_fixed(two_way, model=model, c=fixed.c, sizes=fixed.sizes, restricted=restricted)
        if not (fixed.converged and random.converged):
            return None
        of_fixed, of_random = (sums_by_cluster(rows, cluster) for rows in (influence, random.influence()))
        found = distance_of_fits(fixed.c, of_fixed, random.c, of_random)
    except LinAlgError:
        return None
    return IntentsCompared(
        difference=pd.Series(found.difference, fitting.table.editions, name="difference"),
        statistic=found.statistic,
        degrees_of_freedom=found.rank,
        p_value=found.p_value if enough else float("nan"),
    )
