"""Samples of intents and fits to parts of them, from which standard errors are estimated: bootstrap and jackknife."""

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConvergenceWarning, DataError, listing, warn
from langdiff.regression.fitting.fixed import Fitting
from langdiff.regression.kernel.optimizers import published_parameters
from langdiff.regression.kernel.two_way import (
    check_clusters,
    disconnecting_clusters,
    edition_components,
    normalized_covariance,
)
from langdiff.regression.records import ErrorSource

PARTITIONS = 5  # whose variances are averaged: of 50 groups each, 2 % of a standard error are left to chance
PULL = 20  # groups that the pooled inflation counts for beside a unit's own
MOST_GROUPS = 50
MOST_REDRAWN = 0.1  # of the samples; more, and those that are left are not representative


def bootstrap_draws(
    observed: Booleans,
    estimate: Callable[[Integers], Floats | None],
    *,
    replicates: int,
    rng: np.random.Generator,
    cluster: Integers | None = None,
) -> Floats:
    """Estimate difficulties from bootstrap samples of intents, or of clusters of intents.

    All cells of an intent come and go together, as they share its size; so do all intents of a cluster.

    Shapes: observed (I, U); cluster (I,).
    """
    members = None if cluster is None else _members(cluster)
    drawn = len(observed) if members is None else len(members)
    draws = np.empty((replicates, observed.shape[1]))
    done = redrawn = 0
    what = "intents" if members is None else "clusters"
    while done < replicates:
        rows = rng.integers(drawn, size=drawn)
        if members is not None:
            rows = np.concatenate([members[g] for g in rows])
        difficulties = estimate(rows) if _comparable(observed[rows]) else None
        if difficulties is None:
            redrawn += 1
            if redrawn > MOST_REDRAWN * replicates:
                raise DataError(
                    f"in {redrawn} of {done + redrawn} samples of {what} some editions had no intent in common, or "
                    "no residuals: the table is too sparse for a bootstrap. Leave out the rarest editions, or use "
                    "other errors."
                )
            continue
        draws[done] = difficulties
        done += 1
    return draws


class Inflation(NamedTuple):
    """Ratio of jackknife to model-based variances, with its degrees of freedom."""

    of_units: Floats
    pooled: float
    deviations: int


def jackknife_inflation(
    observed: Booleans,
    estimate: Callable[[Integers], Floats | None],
    covariance: Floats,
    *,
    order: Integers,
    rng: np.random.Generator,
) -> Inflation:
    """Estimate the ratio of jackknife to model-based variances, leaving out random groups of intents.

    The intents are put into 50 groups at random, five times over, and the variances averaged: with one
    partition the groups that happened to be drawn would show. Difficulties are taken relative to their
    mean over cells, on which a rare edition has no influence. The factor of each unit is drawn towards the
    one pooled over all cells, as the few groups of a table say little of each.

    Shapes: covariance (U, U); order (I,).

    References
    ----------
    Shao and Wu (1989), "A general theory for jackknife variance estimation": leaving out more than one
    observation at a time is right for medians too.
    """
    intents, units = observed.shape
    groups = min(intents // 2, MOST_GROUPS)
    cells = observed.sum(axis=0)
    relative = np.eye(units) - cells / cells.sum()
    variances, freedom = [], []
    for _ in range(PARTITIONS):
        group = rng.permutation(np.arange(intents) % groups)
        left_out = [_without(observed, estimate, order[group != g]) for g in range(groups)]
        draws = np.array([difficulties for difficulties in left_out if difficulties is not None])
        if len(draws) >= 2:
            variances.append((groups - 1) ** 2 / groups * np.var(draws @ relative.T, axis=0, ddof=1))
            freedom.append(len(draws) - 1)
    if not variances:
        return Inflation(np.ones(units), 1.0, 0)
    own = np.mean(variances, axis=0) / np.diag(relative @ covariance @ relative.T)
    pooled, least = float(np.average(own, weights=cells)), min(freedom)
    return Inflation((least * own + PULL * pooled) / (least + PULL), pooled, least * (units - 1))


def cluster_jackknife(
    observed: Booleans,
    estimate: Callable[[Integers], Floats | None],
    found: Floats,
    cluster: Integers,
) -> Floats:
    r"""Return the influences :math:`\hat c - \hat c_{(g)}` of clusters on difficulties, by leaving out each, (G, U).

    In model 1 the sum of their products is exactly CR3 of `langdiff.regression.kernel.clusters`. Around the mean of
    the :math:`\hat c_{(g)}` it would be smaller: where a few clusters are large this mean is not the estimate, and
    the distance of the two is error, too.

    Shapes: found (U,); cluster (I,).
    """
    members = _members(cluster)
    if len(members) < 2:
        raise DataError("all intents are in one cluster; a jackknife needs at least 2.")
    draws = np.empty((len(members), len(found)))
    for g, rows in enumerate(members):
        difficulties = _without(observed, estimate, np.setdiff1d(np.arange(len(observed)), rows))
        if difficulties is None:
            raise DataError(
                f"without the {len(rows)} intents of cluster {cluster[rows[0]]} some editions have no intent in "
                "common, or no residuals: a jackknife cannot spare it. Merge it with others."
            )
        draws[g] = difficulties
    return found - draws


def _members(cluster: Integers) -> list[Integers]:
    """Return the row numbers of each cluster."""
    order = np.argsort(cluster, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(cluster[order])) + 1)


def _without(observed: Booleans, estimate: Callable[[Integers], Floats | None], rows: Integers) -> Floats | None:
    return estimate(rows) if _comparable(observed[rows]) else None


def _comparable(sample: Booleans) -> bool:
    return bool(sample.any(axis=0).all()) and edition_components(sample).max() == 0


class Uncertainty(NamedTuple):
    """Covariance of the units' normalized difficulties, with its degrees of freedom and source."""

    covariance: Floats  # (U, U)
    freedom: float | Floats  # a number, or (U, U): of each unit on the diagonal, of differences elsewhere
    source: ErrorSource
    joint: Floats | None = None  # sandwich of levels and log-dispersions, (J + G, J + G)
    of_c: Floats | None = None  # (J, J), of difficulties up to a constant; None from resampling
    reference: Floats | None = None  # (U, U), of full rank, for simultaneous inference; None if it is `covariance`
    influence: Floats | None = None  # (G, U), whose products are the covariance, which is left empty where it is large
    raw: Floats | None = None  # (G, U), influences without correction, where they are known


class Sample:
    """The intents behind a fit, with the clusters and strata in which they depend on one another.

    Parameters
    ----------
    fitting : Fitting
        The fit.
    clusters : list of Series, shape (I,)
        Cluster of each intent; none, or one or two kinds.
    strata : Series, shape (I,), optional
        Stratum of each intent, in which its whole cluster is.
    """

    def __init__(self, fitting: Fitting, clusters: list[pd.Series], strata: pd.Series | None = None) -> None:
        self.fitting, self.design, used = fitting, fitting.design, fitting.used
        observed = fitting.observed
        self.observed, self.intents = observed if used.all() else observed[used], fitting.table.intents[used]
        self.name = " and ".join(str(column.name) for column in clusters) or "intent"
        # the cluster of each intent, of one kind or of two that cross, and the labels
        self.kinds: list[Integers] = [np.asarray(pd.factorize(column[used])[0]) for column in clusters]
        self.labels = [[str(label) for label in pd.factorize(column[used])[1]] for column in clusters]
        self.strata = "" if strata is None else str(strata.name)
        self.stratum: Integers | None = None  # of each cluster
        if strata is not None:
            first = np.unique(self.kinds[0], return_index=True)[1]
            self.stratum = pd.factorize(strata[used])[0][first]

    @cached_property
    def codes(self) -> list[Integers]:
        """Clusters of intents of each kind, and of two kinds also of both; of no kind, the intents themselves."""
        if len(self.kinds) == 2:
            return [*self.kinds, np.unique(np.column_stack(self.kinds), axis=0, return_inverse=True)[1].ravel()]
        return self.kinds or [np.arange(self.n_clusters)]

    @property
    def n_clusters(self) -> int:
        """Number of clusters; with two kinds of clusters, the smaller number."""
        return min([int(code.max()) + 1 for code in self.kinds], default=len(self.observed))

    @property
    def units(self) -> Booleans:
        """Whether each unit is observed in each intent, shape (I, U)."""
        return self.design.observed(self.observed)

    def check(self) -> None:
        """Check that all editions remain comparable without any single cluster."""
        for code, labels in zip(self.kinds, self.labels, strict=True):
            check_clusters(self.units, code, labels)

    @cached_property
    def joining(self) -> Integers:
        """Numbers of the intents whose removal leaves some editions without a common intent."""
        return disconnecting_clusters(self.units, np.arange(len(self.observed)), most=None)

    @property
    def named_joining(self) -> str:
        """Names of the intents `joining` in brackets, for messages; empty if there are none."""
        return f" ({listing(self.intents[self.joining])})" if len(self.joining) else ""

    def of_units(self, covariance: Floats) -> Floats:
        """Return the covariance of normalized difficulties from that of c."""
        first = self.design.first
        return normalized_covariance(covariance[np.ix_(first, first)], self.fitting.estimate.c[first])

    def unknown(self, source: ErrorSource) -> Uncertainty:
        """Return an uncertainty whose covariance is not known (NaN)."""
        units = len(self.design.first)
        return Uncertainty(np.full((units, units), np.nan), np.inf, source)


class Refit:
    """Fits to other rows of the same table, with a count of those that did not converge."""

    def __init__(self, fitting: Fitting) -> None:
        self.fitting = fitting
        self.fits = self.stopped = 0

    def __call__(self, rows: Integers) -> Floats | None:
        """Fit some rows and return the units' normalized difficulties, shape (U,); None without residuals."""
        part = self.fitting.again(rows)
        if part is None:
            return None
        self.fits += 1
        self.stopped += not part.converged
        return published_parameters(part, self.fitting.design.first).difficulty

    def warn(self, what: str) -> None:
        """Warn about fits that did not converge."""
        if self.stopped:
            warn(
                f"the fit of {self.stopped} of {self.fits} {what} did not converge; do not trust the standard errors.",
                ConvergenceWarning,
            )
