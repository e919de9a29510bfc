r"""Influences of clusters of intents on difficulties, by which fits to the same intents have a joint covariance.

To first order a cluster g moves the normalized difficulties of a fit by :math:`\psi_g`, and the sandwich is
:math:`\sum_g \psi_g \psi_g^\top`. The influences of a function of two fits, such as the difference of their
difficulties, are that function of their influences, so that what the fits share cancels.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError
from scipy.special import softmax

from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.fitting.errors import USUAL_CORRECTION, freedom_of_units
from langdiff.regression.fitting.fixed import Fixed
from langdiff.regression.fitting.sample import Sample, Uncertainty
from langdiff.regression.kernel.clusters import Clusters, adjusted_influences, sums_by_cluster
from langdiff.tables.influences import Influence, Texts, Units

MOST_SHARES = 1_000_000  # shares of units in each edition that are kept; beyond, their means over editions


def influence_of(sample: Sample) -> Influence:
    """Compute the influences whose products sum to the usual sandwich of a fit, and degrees of freedom of units.

    They have the correction that `langdiff.Sandwich` uses by default: CR2, and CR1 where sizes are integrated out and
    intents are the clusters, or a cluster cannot be left out.
    """
    fitting, count, most = sample.fitting, len(sample.design.first), sample.n_clusters - 1.0
    code = sample.kinds[0] if sample.kinds else np.arange(sample.n_clusters)
    freedom, raw = np.full((count, count), most), None
    if fitting.integrated and not sample.kinds:
        # the information of every single intent would not fit into memory
        return _record(sample, _normalized(sample, np.sqrt(1 + 1 / most) * fitting.row_influence()), None, freedom)
    sample.check()
    clusters, editions = fitting.clusters(code), len(fitting.estimate.c)
    try:
        of_c, freedom = influence_on_c(clusters, code, editions), freedom_of_units(sample, clusters)
    except DataError:
        if not fitting.integrated:
            raise
        of_c = np.sqrt(1 + 1 / most) * adjusted_influences(clusters, "CR0")[:, :editions]
    if sample.kinds:
        raw = _normalized(sample, adjusted_influences(clusters, "CR0")[:, :editions])
    return _record(sample, _normalized(sample, of_c), raw, freedom)


def _record(sample: Sample, values: Floats, raw: Floats | None, freedom: Floats | None) -> Influence:
    """Return the influences of the clusters of a sample, with their shares in the information."""
    fitting = sample.fitting
    code = sample.kinds[0] if sample.kinds else np.arange(sample.n_clusters)
    if isinstance(fitting, Fixed) and fitting.by_columns:
        share = fitting.unit_shares(code)
        share = share if share.size <= MOST_SHARES else share.mean(axis=1)
    else:
        cells = (
            fitting.unit_shares(code)
            if isinstance(fitting, Fixed)
            else sums_by_cluster(sample.observed.astype(float), code)
        )
        share = cells if cells.ndim == 1 else (cells / cells.sum(axis=0)).mean(axis=1)
    names = pd.Index(sample.labels[0]) if sample.kinds else sample.intents.map(str)
    return Influence(values, share, Units(sample.name, names), corrected=True, raw=raw, freedom=freedom)


def kept_influences(sample: Sample, uncertainty: Uncertainty, source: str = "") -> Influence | None:
    """Return the influences that a fit keeps; None where there are none, as of a kink or a single cluster."""
    fitting, table = sample.fitting, sample.fitting.table
    kinked = fitting.settings.variant.kinked and not fitting.integrated and uncertainty.influence is None
    if not fitting.estimate.converged or kinked or len(sample.kinds) > 1:
        return None
    try:
        if uncertainty.influence is not None:
            columns = isinstance(fitting, Fixed) and fitting.by_columns
            count = len(fitting.design.first)
            freedom = None if columns else np.broadcast_to(uncertainty.freedom, (count, count))
            found = _record(sample, uncertainty.influence, uncertainty.raw, freedom)
        else:
            found = influence_of(sample)
    except (DataError, LinAlgError):
        return None
    texts = Texts(
        intents=table.intents.map(str),
        editions=fitting.design.units.map(str),
        observed=fitting.design.observed(~np.isnan(fitting.z)),
        key="" if table.provenance is None else table.provenance.texts or "",
        counts=() if table.characters is None else tuple(_hashes(table.characters, fitting.design.units)),
    )
    return replace(found, units=replace(found.units, source=source, texts=texts))


def _hashes(characters: pd.DataFrame, units: pd.Index) -> Iterator[str]:
    """Yield the hash of the characters of each edition; none where editions share difficulties."""
    if len(units) == characters.shape[1]:
        for column in characters.to_numpy(dtype=float).T:
            yield short_hash(column)


def influence_on_c(clusters: Clusters, code: Integers, editions: int) -> Floats:
    """Return the influences (CR2) of all clusters on the difficulties up to a constant, shape (G, J).

    Shapes: code (I,).
    """
    adjusted = adjusted_influences(clusters, USUAL_CORRECTION)[:, :editions]
    if len(adjusted) == int(code.max()) + 1:
        return adjusted
    of_c = np.zeros((int(code.max()) + 1, editions))
    of_c[clusters.numbers] = adjusted
    return of_c


def normalized_influence(of_c: Floats, difficulty: Floats) -> Floats:
    """Return influences on difficulties whose factors average 1 from those up to a constant, (G, U) → (G, U)."""
    normalized: Floats = of_c - (of_c @ softmax(difficulty))[:, None]
    return normalized


def _normalized(sample: Sample, of_c: Floats) -> Floats:
    first = sample.design.first
    of_units = of_c if np.array_equal(first, np.arange(of_c.shape[1])) else of_c[:, first]
    return normalized_influence(of_units, sample.fitting.difficulties)
