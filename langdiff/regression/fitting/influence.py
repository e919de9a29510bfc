r"""Influences of clusters of intents on difficulties, by which fits to the same intents have a joint covariance.

To first order a cluster g moves the normalized difficulties of a fit by :math:`\psi_g`, and the sandwich is
:math:`\sum_g \psi_g \psi_g^\top`. The influences of a function of two fits, such as the difference of their
difficulties, are that function of their influences, so that what the fits share cancels.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial

import numpy as np
import pandas as pd
from scipy.linalg import LinAlgError

from langdiff.base.signature import short_hash
from langdiff.base.types import Floats, Integers
from langdiff.errors import DataError
from langdiff.regression.fitting.errors import USUAL_CORRECTION, freedom_by_shares, freedom_of_units, normalized
from langdiff.regression.fitting.fixed import Fixed
from langdiff.regression.fitting.sample import Sample, Uncertainty
from langdiff.regression.kernel.clusters import Clusters, adjusted_influences, sums_by_cluster
from langdiff.regression.kernel.two_way import blocks
from langdiff.tables.influences import Influence, Texts, Units

MOST_SHARES = 1_000_000  # shares of units in each edition that are kept; beyond, their means over editions


class LaterRows:
    """Influences of intents on the difficulties of a fit, (G, U), which are computed when they are first read.

    The table is kept, and what a fit makes of it is made again.
    """

    def __init__(self, sample: Sample, of_bits: str) -> None:
        self._sample, self._hash = sample, of_bits
        sample.fitting.forget()

    def __call__(self) -> Floats:
        """Return the influences."""
        return self._values

    @cached_property
    def _values(self) -> Floats:
        if self._hash not in ("", short_hash(self._sample.fitting.table.bits)):
            raise DataError("the table was changed after its fit, so that influences of its intents are not known.")
        values = _rows_of(self._sample)
        self._sample.fitting.forget()
        return values


def _rows_of(sample: Sample) -> Floats:
    """Return the influences of intents, with the correction that `langdiff.Sandwich` uses by default, (I, U).

    That is CR2, and CR1 where sizes are integrated out or the model has a kink.
    """
    fitting, count = sample.fitting, sample.n_clusters
    if fitting.integrated or fitting.settings.variant.kinked:
        return normalized(sample, np.sqrt(count / (count - 1)) * fitting.row_influence())
    return normalized(sample, adjusted_influences(fitting.clusters(np.arange(count)), USUAL_CORRECTION))


def influence_of(sample: Sample, uncertainty: Uncertainty, of_bits: str = "") -> Influence:
    """Return the influences whose products sum to the usual sandwich of a fit, and degrees of freedom of units."""
    fitting, count, most = sample.fitting, len(sample.design.first), sample.n_clusters - 1.0
    usual = uncertainty.source.kind == "sandwich" and uncertainty.source.correction == (
        "CR1" if fitting.integrated or fitting.settings.variant.kinked else USUAL_CORRECTION
    )
    known = uncertainty.covariance if usual and not sample.kinds else None
    if not sample.kinds:
        if usual or fitting.integrated or fitting.settings.variant.kinked:
            freedom = np.broadcast_to(uncertainty.freedom if usual else most, (count, count))
        else:
            sample.check()
            freedom = freedom_of_units(sample, fitting.clusters(np.arange(sample.n_clusters)))
        found = _record(sample, partial(_rows_of, sample), None, freedom, known)
        later = fitting.repeatable and (usual or not fitting.settings.variant.kinked)  # a kink may have none
        return replace(found, rows=LaterRows(sample, of_bits) if later else _rows_of(sample))
    sample.check()
    code = sample.kinds[0]
    if fitting.settings.variant.kinked and not fitting.integrated:
        plain = normalized(sample, sums_by_cluster(fitting.row_influence(), code))
        return _record(sample, np.sqrt(1 + 1 / most) * plain, plain, freedom_by_shares(sample))
    clusters, editions = fitting.clusters(code), len(fitting.estimate.c)
    try:
        of_c, freedom = influence_on_c(clusters, code, editions), freedom_of_units(sample, clusters)
    except DataError:
        if not fitting.integrated:
            raise
        freedom = np.full((count, count), most)
        of_c = np.sqrt(1 + 1 / most) * adjusted_influences(clusters, "CR0")[:, :editions]
    raw = normalized(sample, adjusted_influences(clusters, "CR0")[:, :editions])
    return _record(sample, normalized(sample, of_c), raw, freedom)


def _record(
    sample: Sample,
    rows: Floats | Callable[[], Floats],
    raw: Floats | None,
    freedom: Floats | None,
    known: Floats | None = None,
) -> Influence:
    """Return the influences of the clusters of a sample, with their shares in the information."""
    fitting = sample.fitting
    code = sample.codes[0]
    if isinstance(fitting, Fixed):
        share = fitting.unit_shares(code)
        if share.ndim == 2 and (share.size > MOST_SHARES or not fitting.by_columns):
            share = share.mean(axis=1)
    else:
        cells = sample.observed
        per_cell = 1 / (cells.sum(axis=0) * cells.shape[1])
        of_rows = [cells[rows].astype(float) @ per_cell for rows in blocks(cells)]
        share = sums_by_cluster(np.concatenate(of_rows), code)
    names = pd.Index(sample.labels[0]) if sample.kinds else sample.intents.map(str)
    units = Units(sample.name, names)
    return Influence(rows, share, units, corrected=True, raw=raw, freedom=freedom, known=known)


def kept_influences(sample: Sample, uncertainty: Uncertainty, source: str, of_bits: str) -> Influence | None:
    """Return the influences that a fit keeps; None where there are none, as of several kinds of clusters."""
    fitting, table = sample.fitting, sample.fitting.table
    if not fitting.estimate.converged or len(sample.kinds) > 1:
        return None
    try:
        if uncertainty.influence is not None:
            columns = isinstance(fitting, Fixed) and fitting.by_columns
            count = len(fitting.design.first)
            freedom = None if columns else np.broadcast_to(uncertainty.freedom, (count, count))
            found = _record(sample, uncertainty.influence, uncertainty.raw, freedom)
        else:
            found = influence_of(sample, uncertainty, of_bits)
    except (DataError, LinAlgError):
        return None
    texts = Texts(
        intents=table.intents.map(str),
        editions=fitting.design.units.map(str),
        observed=fitting.design.observed(sample.observed if fitting.used.all() else fitting.observed),
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
