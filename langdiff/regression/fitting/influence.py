r"""Influences of clusters of intents on difficulties, by which fits to the same intents have a joint covariance.

To first order a cluster g moves the normalized difficulties of a fit by :math:`\psi_g`, and the sandwich is
:math:`\sum_g \psi_g \psi_g^\top`. The influences of a function of two fits, such as the difference of their
difficulties, are that function of their influences, so that what the fits share cancels.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError
from scipy.special import softmax

from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.fitting.errors import USUAL_CORRECTION, freedom_of_units
from langdiff.regression.fitting.fixed import Fitting
from langdiff.regression.fitting.sample import Sample, Uncertainty
from langdiff.regression.kernel.clusters import Clusters, adjusted_influences
from langdiff.tables.influences import Influences


class Influence(NamedTuple):
    """Influences of the clusters on the normalized difficulties, (G, U), and degrees of freedom as in `Uncertainty`."""

    values: Floats
    freedom: Floats

    @property
    def covariance(self) -> Floats:
        """Covariance of the normalized difficulties, shape (U, U)."""
        covariance: Floats = self.values.T @ self.values
        return covariance


def influence_of(sample: Sample) -> Influence:
    """Compute the influences whose products sum to the usual sandwich of a fit.

    They have the correction that `langdiff.Sandwich` uses by default: CR2, and CR1 where sizes are integrated out and
    intents are the clusters, or a cluster cannot be left out.

    Parameters
    ----------
    sample : Sample
        Fit with its intents, of one kind of clusters or none.

    Raises
    ------
    DataError
        If editions cannot be compared without one of the clusters.
    """
    fitting, units, most = sample.fitting, len(sample.design.first), sample.n_clusters - 1.0
    code = sample.kinds[0] if sample.kinds else np.arange(sample.n_clusters)
    freedom = np.full((units, units), most)
    if fitting.integrated and not sample.kinds:
        # the information of every single intent would not fit into memory
        return Influence(_normalized(sample, np.sqrt(1 + 1 / most) * fitting.row_influence()), freedom)
    sample.check()
    clusters = fitting.clusters(code)
    try:
        of_c, freedom = influence_on_c(clusters, code, len(fitting.estimate.c)), freedom_of_units(sample, clusters)
    except DataError:
        if not fitting.integrated:
            raise
        of_c = np.sqrt(1 + 1 / most) * adjusted_influences(clusters, "CR0")[:, : len(fitting.estimate.c)]
    return Influence(_normalized(sample, of_c), freedom)


def kept_influences(sample: Sample, uncertainty: Uncertainty) -> Influences | None:
    """Return the influences that a fit keeps; None where there are none, as of a kink or a single cluster."""
    fitting, table = sample.fitting, sample.fitting.table
    if not fitting.estimate.converged or fitting.settings.variant.kinked or len(sample.kinds) > 1:
        return None
    try:
        if uncertainty.factor is not None:
            own = sample.n_clusters - 1.0 if uncertainty.own_freedom is None else uncertainty.own_freedom
            own = np.broadcast_to(own, uncertainty.factor.shape[1:])
            found = Influence(uncertainty.factor, np.minimum(own[:, None], own))
        elif uncertainty.influence_on_c is not None:
            found = Influence(_normalized(sample, uncertainty.influence_on_c), np.asarray(uncertainty.freedom))
        else:
            found = influence_of(sample)
    except (DataError, LinAlgError):
        return None
    clustered = bool(sample.kinds)
    if not clustered and len(found.values) != len(table.intents):  # intents with one cell say nothing
        values = np.zeros((len(table.intents), found.values.shape[1]))
        values[fitting.used] = found.values
        found = found._replace(values=values)
    counts = () if table.characters is None else tuple(_hashes(table.characters, fitting.design.units))
    return Influences(
        values=found.values,
        freedom=found.freedom,
        by=sample.name if clustered else "intent",
        clusters=pd.Index(sample.labels[0]) if clustered else table.intents.map(str),
        editions=fitting.design.units.map(str),
        intents=table.intents.map(str),
        observed=fitting.design.observed(~np.isnan(fitting.z)),
        texts="" if table.provenance is None else table.provenance.texts or "",
        counts=counts,
    )


def _hashes(characters: pd.DataFrame, units: pd.Index) -> Iterator[str]:
    """Yield the hash of the characters of each edition; none where editions share difficulties."""
    if len(units) == characters.shape[1]:
        for column in characters.to_numpy(dtype=float).T:
            yield short_hash(column)


def influence_on_c(clusters: Clusters, code: Integers, editions: int) -> Floats:
    """Return the influences (CR2) of all clusters on the difficulties up to a constant, shape (G, J).

    Parameters
    ----------
    clusters : Clusters
        Clusters of the intents that were fitted.
    code : ndarray of int, shape (I,)
        Cluster of each intent, from 0 to G − 1, of all intents; clusters that were not fitted have no influence.
    editions : int
        Number of editions, J.
    """
    of_c = np.zeros((int(code.max()) + 1, editions))
    of_c[clusters.numbers] = adjusted_influences(clusters, USUAL_CORRECTION)[:, :editions]
    return of_c


def normalized_influence(of_c: Floats, difficulty: Floats) -> Floats:
    """Return influences on difficulties whose factors average 1 from those up to a constant, (G, U) → (G, U)."""
    normalized: Floats = of_c - (of_c @ softmax(difficulty))[:, None]
    return normalized


def _normalized(sample: Sample, of_c: Floats) -> Floats:
    fitting: Fitting = sample.fitting
    return normalized_influence(of_c[:, sample.design.first], fitting.difficulties)
