"""Samples of intents and fits to parts of them, from which standard errors are estimated."""

from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConvergenceWarning, listing, warn
from langdiff.regression.fitting.fixed import Fitting
from langdiff.regression.kernel.connected import check_clusters, disconnecting_clusters
from langdiff.regression.kernel.estimate import published_parameters
from langdiff.regression.kernel.two_way import normalized_covariance
from langdiff.regression.records import ErrorSource


class Uncertainty(NamedTuple):
    """Covariance of the units' normalized difficulties, with its degrees of freedom and source."""

    covariance: Floats  # (U, U)
    freedom: float | Floats  # a number, or (U, U): of each unit on the diagonal, of differences elsewhere
    source: ErrorSource
    joint: Floats | None = None  # sandwich of levels and log-dispersions, (J + G, J + G)
    of_c: Floats | None = None  # (J, J), of difficulties up to a constant; None from resampling
    reference: Floats | None = None  # (U, U), of full rank, for simultaneous inference; None if it is `covariance`
    factor: Floats | None = None  # (K, U), whose square is the covariance, which is left empty where it is large
    own_freedom: Floats | None = None  # (U,), of each unit, beside a factor
    influence_on_c: Floats | None = None  # (G, J), CR2, of one kind of clusters without strata


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
        self.observed, self.intents = ~np.isnan(fitting.z[used]), fitting.table.intents[used]
        self.name = " and ".join(str(column.name) for column in clusters) or "intent"
        # the cluster of each intent, of one kind or of two that cross, and the labels
        self.kinds: list[Integers] = [np.asarray(pd.factorize(column[used])[0]) for column in clusters]
        self.labels = [[str(label) for label in pd.factorize(column[used])[1]] for column in clusters]
        self.strata = "" if strata is None else str(strata.name)
        self.stratum: Integers | None = None  # of each cluster
        if strata is not None:
            first = np.unique(self.kinds[0], return_index=True)[1]
            self.stratum = pd.factorize(strata[used])[0][first]

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
