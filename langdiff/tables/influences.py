r"""Influences of clusters of intents on difficulties, which give fits to the same texts a joint covariance.

To first order a cluster g moves the difficulties of a fit by :math:`\psi_g`, whose products sum to their sandwich
(CR2). Of the differences between two fits A and B the covariance is

.. math:: \sum_g (\psi^A_g - \psi^B_g)(\psi^A_g - \psi^B_g)^\top

so that what both fits have of the same texts cancels.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import pandas as pd
from scipy.special import softmax
from scipy.stats import f as fisher

from langdiff.base.types import Booleans, Floats
from langdiff.errors import DataError

MOST_BYTES = 20_000_000  # of influences in a file, deflated
MOST_EXACT = 250_000  # influences that are kept in double precision
MOST_HALVES = 0.5  # share of editions with the same cells from which the hashes of their characters are compared


@dataclass(frozen=True)
class InfluenceRecord:
    """Influences as they are saved: numbers deflated; none if they would take more than 20 MB."""

    by: str
    clusters: list[str]
    editions: list[str]
    intents: list[str]
    dtype: str
    values: bytes | None
    freedom: bytes
    observed: bytes
    texts: str
    counts: list[str]


@dataclass(frozen=True, eq=False)
class Influences:
    """Influences of clusters on the difficulties of a fit, with hashes of the texts behind them.

    Attributes
    ----------
    values : ndarray, shape (G, J)
        Influence of each cluster on each difficulty, nats; their factors average 1.
    freedom : ndarray, shape (J, J)
        Degrees of freedom of each difficulty (on the diagonal) and of differences.
    by : str
        What the clusters are: ``"intent"``, ``"book"``, ….
    clusters, editions, intents : Index
        Their names.
    observed : ndarray of bool, shape (I, J)
        Whether the table has each cell.
    texts : str
        Hash of the texts; empty if it is not known.
    counts : tuple of str, length J
        Hash of the characters of each edition by intent; empty if they are not known.
    """

    values: Floats
    freedom: Floats
    by: str
    clusters: pd.Index
    editions: pd.Index
    intents: pd.Index
    observed: Booleans
    texts: str = ""
    counts: tuple[str, ...] = ()

    def to_record(self) -> InfluenceRecord:
        """Return the record to be saved."""
        values = self.values if self.values.size <= MOST_EXACT else self.values.astype(np.float32)
        content = zlib.compress(values.tobytes(), 6)
        return InfluenceRecord(
            by=self.by,
            clusters=[] if self.by == "intent" else list(map(str, self.clusters)),  # which are the intents
            editions=list(map(str, self.editions)),
            intents=list(map(str, self.intents)),
            dtype=values.dtype.name,
            values=content if len(content) <= MOST_BYTES else None,
            freedom=zlib.compress(np.asarray(self.freedom, dtype=float).tobytes(), 6),
            observed=zlib.compress(np.packbits(self.observed).tobytes(), 9),
            texts=self.texts,
            counts=list(self.counts),
        )

    @classmethod
    def from_record(cls, record: InfluenceRecord) -> Self:
        """Return the influences of a record; their values are empty if they were too large to save."""
        count, intents = len(record.editions), len(record.intents)
        names = record.intents if record.by == "intent" else record.clusters
        values = np.zeros((0, count))
        if record.values is not None:
            found = np.frombuffer(zlib.decompress(record.values), dtype=np.dtype(record.dtype).newbyteorder("<"))
            values = found.astype(float).reshape(-1, count)
        bits = np.frombuffer(zlib.decompress(record.observed), dtype=np.uint8)
        return cls(
            values=values,
            freedom=np.frombuffer(zlib.decompress(record.freedom), dtype="<f8").reshape(count, count).copy(),
            by=record.by,
            clusters=pd.Index(names if len(names) == len(values) else range(len(values))),
            editions=pd.Index(record.editions),
            intents=pd.Index(record.intents),
            observed=np.unpackbits(bits, count=intents * count).astype(bool).reshape(intents, count),
            texts=record.texts,
            counts=tuple(record.counts),
        )

    def among(self, editions: Sequence[str], difficulty: Floats) -> Floats:
        """Return influences on the difficulties of some editions relative to their own average, (G, K).

        Parameters
        ----------
        editions : sequence of str
            Editions to keep.
        difficulty : ndarray, shape (K,)
            Their difficulties.
        """
        own = self.values[:, self.editions.get_indexer(pd.Index(editions))]
        relative: Floats = own - (own @ softmax(difficulty))[:, None]
        return relative

    def same_texts(self, other: "Influences") -> bool:
        """Return whether two fits are shown to measure the same texts, by the texts' hash or their characters."""
        if self.texts and self.texts == other.texts:
            return True
        if not (self.counts and other.counts):
            return False
        both = self.editions.intersection(other.editions)
        one, two = (each.editions.get_indexer(both) for each in (self, other))
        alike = [a for a, b in zip(one, two, strict=True) if self.counts[a] == other.counts[b]]
        if not self.intents.equals(other.intents):
            return False
        whole = (self.observed[:, one] == other.observed[:, two]).all(axis=0)
        return int(whole.sum()) >= MOST_HALVES * len(both) > 0 and len(alike) == int(whole.sum())

    def not_shared(self, other: "Influences") -> float:
        """Return the share of cells, among those of either fit in editions that both have, that only one has."""
        editions, intents = self.editions.intersection(other.editions), self.intents.union(other.intents)
        masks = []
        for each in (self, other):
            mask = np.zeros((len(intents), len(editions)), dtype=bool)
            mask[intents.get_indexer(each.intents)] = each.observed[:, each.editions.get_indexer(editions)]
            masks.append(mask)
        either = int((masks[0] | masks[1]).sum())
        return 1 - int((masks[0] & masks[1]).sum()) / max(either, 1)


def matched(parts: Sequence[Influences], values: Sequence[Floats]) -> list[Floats]:
    """Return influences of several fits in the rows of all clusters that one of them has, by name.

    Raises
    ------
    DataError
        If clusters are of different kinds, or one of the fits no longer has its influences.
    """
    kinds = list(dict.fromkeys(part.by for part in parts))
    if len(kinds) > 1:
        raise DataError(
            f"one fit has errors by {kinds[0]}, the other by {kinds[1]}: fit both with the same clusters to compare "
            "them."
        )
    if not all(len(part.values) for part in parts):
        raise DataError("influences of more than 20 MB are not saved: compare fits in the process that made them.")
    names = parts[0].clusters
    for part in parts[1:]:
        names = names if names.equals(part.clusters) else names.union(part.clusters, sort=False)
    rows = []
    for part, of_part in zip(parts, values, strict=True):
        all_rows = np.zeros((len(names), of_part.shape[1]))
        all_rows[names.get_indexer(part.clusters)] = of_part
        rows.append(all_rows)
    return rows


def joint_test(estimate: Floats, covariance: Floats, freedom: float) -> tuple[float, float, float, float]:
    """Return F, its two degrees of freedom and p of the hypothesis that all differences are 0 (Hotelling).

    The differences have a fixed sum, so that one of them is not free. NaN where there are too few degrees of freedom.

    References
    ----------
    Tipton and Pustejovsky (2015), "Small-sample adjustments for tests of moderators and model fit using robust
    variance estimation in meta-regression".

    Examples
    --------
    >>> joint_test(np.array([0.1, -0.1]), np.array([[0.01, -0.01], [-0.01, 0.01]]), 7.0)[:3]
    (1.0, 1, 7.0)
    """
    q = len(estimate) - 1
    rest = freedom - q + 1
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    kept = values[1:]  # the smallest is that of the sum
    if freedom <= q or (kept <= 1e-12 * max(values[-1], np.finfo(float).tiny)).any():
        return float("nan"), float(q), float(rest), float("nan")
    statistic = float(np.sum((vectors[:, 1:].T @ estimate) ** 2 / kept)) * rest / (freedom * q)
    return round(statistic, 12), q, rest, float(fisher.sf(statistic, q, rest))
