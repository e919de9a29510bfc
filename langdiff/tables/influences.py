r"""The record of the floor of inference: influences of independent units, from which every interval comes.

To first order unit g moves estimate k by :math:`\psi_{gk}`. With the share :math:`\pi_{gk}` of the unit in the
information the covariance is

.. math:: V = \sum_g \tilde\psi_g \tilde\psi_g^\top, \quad \tilde\psi_{gk} = \psi_{gk} / \sqrt{1 - \pi_{gk}}

and the rest is the rule of `langdiff.tables.rule`, with the mean share of the estimates in a contrast. The influences
of a function of two results are that function of their influences, so that what they share cancels.
"""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self

import numpy as np
import pandas as pd
from scipy.special import softmax

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, warn
from langdiff.tables.rule import (
    FEW,
    FEWEST_FLIPPED,
    MANY,
    WHOLE,
    Ends,
    JointTest,
    bonferroni,
    exact_freedom,
    freedom_of,
    joint_f,
    sign_flips,
)
from langdiff.tables.units import plural

MOST_BYTES = 20_000_000  # of influences in a file, deflated
FEWEST_BYTES = 2.0  # of an influence in single precision, deflated
MOST_EXACT = 250_000  # influences that are kept in double precision
MOST_PAIRED = 5e7  # units × pairs up to which each pair has degrees of freedom of its own shares
MOST_HALVES = 0.5  # share of editions with the same cells from which the hashes of their characters are compared


@dataclass(frozen=True, eq=False)
class Texts:
    """The table behind influences of a fit: names, which cells there are, and hashes of the texts.

    Attributes
    ----------
    intents, editions : Index
        Names of rows and columns.
    observed : ndarray of bool, shape (I, J)
        Whether the table has each cell.
    key : str
        Hash of the texts; empty if it is not known.
    counts : tuple of str, length J
        Hash of the characters of each edition by intent; empty if they are not known.
    """

    intents: pd.Index
    editions: pd.Index
    observed: Booleans
    key: str = ""
    counts: tuple[str, ...] = ()

    def same(self, other: "Texts") -> bool:
        """Return whether two tables are shown to be of the same texts, by the texts' hash or their characters."""
        if self.key and self.key == other.key:
            return True
        if not (self.counts and other.counts) or not self.intents.equals(other.intents):
            return False
        both = self.editions.intersection(other.editions)
        one, two = (each.editions.get_indexer(both) for each in (self, other))
        alike = [a for a, b in zip(one, two, strict=True) if self.counts[a] == other.counts[b]]
        whole = (self.observed[:, one] == other.observed[:, two]).all(axis=0)
        return int(whole.sum()) >= MOST_HALVES * len(both) > 0 and len(alike) == int(whole.sum())

    def not_shared(self, other: "Texts") -> float:
        """Return the share of cells, among those of either table in editions that both have, that only one has."""
        editions, intents = self.editions.intersection(other.editions), self.intents.union(other.intents)
        masks = []
        for each in (self, other):
            mask = np.zeros((len(intents), len(editions)), dtype=bool)
            mask[intents.get_indexer(each.intents)] = each.observed[:, each.editions.get_indexer(editions)]
            masks.append(mask)
        either = int((masks[0] | masks[1]).sum())
        return 1 - int((masks[0] & masks[1]).sum()) / max(either, 1)


@dataclass(frozen=True, eq=False)
class Units:
    """Independent units.

    Attributes
    ----------
    kind : str
        What they are, such as ``"book"``.
    names : Index, length G
        Their names.
    source : str
        Where they come from, in words, such as ``"from verse ids"``.
    strata : ndarray of int, shape (G,), or None
        Groups of units that the claim is about as they are; None without.
    texts : Texts or None
        The table behind them, where it matters.
    """

    kind: str
    names: pd.Index
    source: str = ""
    strata: Integers | None = None
    texts: Texts | None = None

    @classmethod
    def of(cls, kind: str, labels: pd.Index | pd.Series | Sequence[object], source: str = "") -> tuple[Self, Integers]:
        """Return the units that rows are of, and the number of the unit of each row."""
        code, names = pd.factorize(pd.Series(labels).astype(str))
        return cls(kind, pd.Index(names), source), np.asarray(code, dtype=np.int_)


def sums(rows: Floats, code: Integers, count: int) -> Floats:
    """Return sums of rows by unit, (I, …) → (G, …)."""
    total = np.zeros((count, *np.shape(rows)[1:]))
    np.add.at(total, code, np.asarray(rows, dtype=float))
    return total


@dataclass(frozen=True)
class InfluenceRecord:
    """Influences as they are saved: numbers deflated; above 20 MB a root of the covariance in their place."""

    kind: str
    names: list[str]
    source: str
    strata: list[int] | None
    texts: Texts | None
    dtype: str
    values: bytes
    raw: bytes | None
    share: bytes
    shared: bool
    parameters: int
    corrected: bool
    freedom: bytes | None
    shape: bytes | None
    root: bytes | None
    parts: bytes | None
    known: bytes | None


@dataclass(frozen=True, eq=False)
class Influence:
    """Influences of G independent units on P estimates.

    Attributes
    ----------
    rows : ndarray, shape (G, P), or callable
        ψ: by how much each unit moves each estimate, to first order; or what computes that when `values` are read.
    share : ndarray, shape (G,) or (G, P)
        π: the share of each unit in the information, of all estimates or of each.
    units : Units
        The units; fewer names than values if the influences themselves were too large for a file.
    corrected : bool
        Whether `values` are corrected for few units, as those of fits (CR2) and of the jackknife are.
    raw : ndarray, shape (G, P), or None
        ψ without correction, where `values` are corrected and it is known.
    freedom : ndarray, shape (P, P), or None
        Degrees of freedom of estimates and of their differences, where they are known better than from shares.
    shape : ndarray, shape (P, P), or None
        Covariance of full rank that simultaneous inference draws from.
    root, parts : ndarray, shapes (P, r) and (G, r, r), or None
        Root of the inverse information, and shares of units in the information in its coordinates, from which degrees
        of freedom of all contrasts are exact.
    known : ndarray, shape (P, P), or None
        Covariance of the estimates, where it is known without their influences.

    Examples
    --------
    >>> units = Units("document", pd.Index(list("abc")))
    >>> found = Influence.of_ratio(np.array([[2.0], [1], [3]]), np.array([4.0, 2, 4]), units)
    >>> found.words
    'Independent units: 3 documents, which count as 2.8 equal ones; the largest has 40 %.'
    """

    rows: Floats | Callable[[], Floats]
    share: Floats
    units: Units
    corrected: bool = False
    raw: Floats | None = None
    freedom: Floats | None = None
    shape: Floats | None = field(default=None, repr=False)
    root: Floats | None = field(default=None, repr=False)
    parts: Floats | None = field(default=None, repr=False)
    known: Floats | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check numbers."""
        self._check("shares of units", self.share)
        if not callable(self.rows):
            self._check("influences", self.values)

    def _check(self, what: str, part: Floats) -> None:
        if not np.isfinite(part).all():
            bad = self.units.names[np.flatnonzero(~np.isfinite(part.reshape(len(part), -1)).all(axis=1))]
            raise DataError(f"{what} of {self.units.kind} {listing(bad)} are not finite numbers.")

    @cached_property
    def values(self) -> Floats:
        """ψ, shape (G, P), laid out as they come out of a file, so that sums are the same to the last digit."""
        return np.ascontiguousarray(self.rows() if callable(self.rows) else self.rows, dtype=float)

    @property
    def width(self) -> int:
        """Number of estimates, P."""
        return self.values.shape[1] if self.known is None else len(self.known)

    # --- constructors

    @classmethod
    def of_ratio(cls, top: Floats, bottom: Floats, units: Units, scale: Ends = "identity") -> Self:
        """Return influences on ratios of sums, R = ΣX/ΣY, X of shape (G, P), Y (G,) or (G, P), or on logs or logits."""
        whole = np.maximum(bottom.sum(axis=0), np.finfo(float).tiny)
        share = bottom / whole
        ratio = top.sum(axis=0) / whole
        wide = share if share.ndim == 2 else share[:, None]
        values = top / whole - ratio * wide
        if scale != "identity":
            values = values / (ratio if scale == "log" else ratio * (1 - ratio))
        return cls(values, share, units)

    @classmethod
    def of_mean(cls, values: Floats, units: Units) -> Self:
        """Return influences on the plain means of values of units, shape (G, P)."""
        count = len(values)
        return cls((values - values.mean(axis=0)) / count, np.full(count, 1 / max(count, 1)), units)

    @classmethod
    def of_jackknife(cls, without: Floats, share: Floats, units: Units) -> Self:
        """Return influences from estimates without each unit, shape (G, P), within the strata of the units if any."""
        values = np.zeros_like(without)
        strata = np.zeros(len(without)) if units.strata is None else units.strata
        for stratum in np.unique(strata):
            own, count = strata == stratum, int((strata == stratum).sum())
            values[own] = np.sqrt((count - 1) / count) * (without[own].mean(axis=0) - without[own])
        return cls(values, share, units, corrected=True)

    # --- the rule

    @cached_property
    def _within(self) -> Floats:
        """Shares in the information of the stratum, or of all, (G, 1) or (G, P)."""
        share = self.share if self.share.ndim == 2 else self.share[:, None]
        if self.units.strata is None:
            return share
        whole = sums(share, self.units.strata, int(self.units.strata.max()) + 1)[self.units.strata]
        return np.divide(share, whole, out=np.zeros_like(share), where=whole > 0)

    @cached_property
    def adjusted(self) -> Floats:
        """Influences whose products sum to the covariance, shape (G, P); NaN where one unit has all information."""
        if self.corrected:
            return self.values
        values = self.values
        if (strata := self.units.strata) is not None:  # about the stratum's own estimate
            values = values - self._within * sums(values, strata, int(strata.max()) + 1)[strata]
        whole = self._within >= WHOLE
        with np.errstate(divide="ignore", invalid="ignore"):
            adjusted: Floats = np.where(whole, np.nan, values / np.sqrt(np.where(whole, np.nan, 1 - self._within)))
        return adjusted

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the estimates, shape (P, P)."""
        covariance: Floats = self.adjusted.T @ self.adjusted if self.known is None else self.known
        return covariance

    @property
    def errors(self) -> Floats:
        """Standard errors of the estimates, shape (P,)."""
        errors: Floats = np.linalg.norm(self.adjusted, axis=0) if self.known is None else np.sqrt(np.diag(self.known))
        return errors

    def freedom_along(self, weights: Floats) -> Floats:
        """Return the degrees of freedom of contrasts by the shares of their estimates, (M, P) → (M,)."""
        if self.root is not None and self.parts is not None:
            return exact_freedom(weights @ self.root, self.parts)
        size = np.abs(weights)
        if self.share.ndim == 1 and self.units.strata is None:
            return np.full(len(weights), float(freedom_of(self.share)))
        mean = (self._within if self._within.shape[1] > 1 else np.repeat(self._within, size.shape[1], axis=1)) @ size.T
        mean = mean / size.sum(axis=1)
        if (strata := self.units.strata) is None:
            return freedom_of(mean)
        along, count = (self.adjusted @ weights.T) ** 2, int(strata.max()) + 1
        parts = sums(along, strata, count)
        own = np.array([freedom_of(mean[strata == s]) for s in range(count)])
        return np.asarray(parts.sum(axis=0) ** 2 / (parts**2 / own).sum(axis=0))

    @cached_property
    def freedom_of_pairs(self) -> Floats:
        """Degrees of freedom of the estimates on the diagonal and of differences of two elsewhere, (P, P)."""
        if self.freedom is not None:
            return self.freedom
        count = self.width
        own = self.freedom_along(np.eye(count))
        found = np.minimum(own[:, None], own)
        if len(self.share) * count**2 <= MOST_PAIRED and (self.share.ndim == 2 or self.units.strata is not None):
            one, other = np.triu_indices(count, 1)
            weights = np.zeros((len(one), count))
            weights[np.arange(len(one)), one], weights[np.arange(len(one)), other] = 1.0, -1.0
            found[one, other] = found[other, one] = self.freedom_along(weights)
        return found

    @property
    def plain(self) -> Floats:
        """Influences without correction, shape (G, P), which sum to 0."""
        if not self.corrected:
            return self.values
        if self.raw is not None:
            return self.raw
        share = self.share if self.share.ndim == 2 else self.share[:, None]
        undone = self.values * np.sqrt(1 - np.minimum(share, 1))
        plain: Floats = undone - share / share.sum(axis=0) * undone.sum(axis=0)
        return plain

    # --- functions of estimates

    def map(self, jacobian: Floats) -> "Influence":
        """Return influences on functions of the estimates with a Jacobian, (Q, P).

        Shares are the means of those of the estimates, by the sizes of their weights. Exact degrees of freedom are kept
        where estimates are only picked or centred.
        """
        share = self.share
        if share.ndim == 2:
            size = np.abs(jacobian)
            share = share @ (size / np.maximum(size.sum(axis=1, keepdims=True), np.finfo(float).tiny)).T
        return replace(
            self,
            rows=(lambda: self.values @ jacobian.T) if callable(self.rows) else self.values @ jacobian.T,
            known=None if self.known is None else jacobian @ self.known @ jacobian.T,
            share=share,
            raw=None if self.raw is None else self.raw @ jacobian.T,
            freedom=None,
            shape=None if self.shape is None else jacobian @ self.shape @ jacobian.T,
            root=None if self.root is None else jacobian @ self.root,
        )

    def pick(self, places: Integers, centre: Floats | None = None) -> "Influence":
        """Return influences on some estimates, less their mean by the weights `centre` where these are given."""
        jacobian = np.eye(self.width)[places]
        if centre is not None:
            jacobian = jacobian - centre @ jacobian
        picked = self.map(jacobian)
        share = self.share if self.share.ndim == 1 else self.share[:, places]
        return replace(
            picked, share=share, freedom=None if self.freedom is None else self.freedom[np.ix_(places, places)]
        )

    def minus(self, other: "Influence") -> "Influence":
        """Return influences on the estimates less those of another result; see `combine`."""
        return combine([self, other], [1.0, -1.0])

    def stack(self, other: "Influence") -> "Influence":
        """Return influences on the estimates followed by those of another result, with the units of both."""
        one, two = self.width, other.width
        first = self.map(np.eye(one + two)[:, :one])
        second = other.map(np.eye(one + two)[:, one:])
        a, b = (each.share if each.share.ndim == 2 else np.repeat(each.share[:, None], n, axis=1)
                for each, n in ((self, one), (other, two)))  # fmt: skip
        first = replace(first, share=np.hstack([a, np.zeros((len(a), two))]))
        second = replace(second, share=np.hstack([np.zeros((len(b), one)), b]))
        found = combine([first, second], [1.0, 1.0])
        return replace(found, share=2 * found.share)  # the mean of a share and of none

    # --- words

    @property
    def count(self) -> int:
        """Number of units that have a share of the information."""
        share = self.share if self.share.ndim == 1 else self.share.max(axis=1)
        return int((share > 0).sum())

    @cached_property
    def least_freedom(self) -> float:
        """The fewest degrees of freedom; NaN where they are not known."""
        known = self.freedom_of_pairs[np.isfinite(self.freedom_of_pairs)]
        return float(known.min()) if len(known) else float("nan")

    @property
    def words(self) -> str:
        """The units in one sentence: how many, where from, how many equal ones they count as, and the largest."""
        kind = self.units.kind
        if self.count == 1:
            return f"Independent units: one {kind}: errors say nothing of others."
        source = f" ({self.units.source})" if self.units.source else ""
        share = self.share if self.share.ndim == 1 else self.share.mean(axis=1)
        text = f"Independent units: {self.count:,} {plural(kind)}{source}"
        if not np.isfinite(self.least_freedom):
            return f"{text}; {kind} {self.units.names[int(share.argmax())]} has all, so that errors are not known."
        if self.least_freedom + 1 < self.count - 0.05:
            text += (
                f", which count as {self.least_freedom + 1:,.1f} equal ones; the largest has {100 * share.max():.0f} %"
            )
        return f"{text}."

    def warn_of_few(self) -> None:
        """Warn where there are fewer than ten degrees of freedom."""
        if self.least_freedom < FEW - 1e-6 or self.count == 1:
            warn(f"Few units: intervals are long and hang on single {plural(self.units.kind)}. {self.words}")

    # --- files

    @property
    def complete(self) -> bool:
        """Whether the influences themselves are there, and not only their covariance."""
        return callable(self.rows) or len(self.values) == len(self.units.names)

    def to_record(self) -> InfluenceRecord:
        """Return the record to be saved."""
        kind, raw, share = "<f8" if len(self.share) * self.width <= MOST_EXACT else "<f4", self.raw, self.share
        # of numbers that are not computed yet, it is known that too many would not be kept
        many = callable(self.rows) and len(share) * self.width > MOST_BYTES / FEWEST_BYTES
        values = b"" if many else zlib.compress(self.values.astype(kind).tobytes(), 6)
        kept = not many and len(values) <= MOST_BYTES
        if not kept:
            spread, axes = np.linalg.eigh(self.covariance)
            root = (axes * np.sqrt(np.maximum(spread, 0))) @ axes.T
            kind, raw, share = "<f8", None, np.full(len(root), 1 / len(root))
            values = zlib.compress(root.astype(kind).tobytes(), 6)

        def packed(part: Floats | None, of: str = "<f8") -> bytes | None:
            return None if part is None else zlib.compress(np.asarray(part, dtype=of).tobytes(), 6)

        freedom = self.freedom if kept or self.freedom is not None else self.freedom_of_pairs
        return InfluenceRecord(
            kind=self.units.kind,
            names=list(map(str, self.units.names)),
            source=self.units.source,
            strata=None if self.units.strata is None else self.units.strata.tolist(),
            texts=self.units.texts,
            dtype=kind,
            values=values,
            raw=packed(raw, kind),
            share=packed(share) or b"",
            shared=share.ndim == 1,
            parameters=self.width,
            corrected=self.corrected or not kept,
            freedom=packed(freedom),
            shape=packed(self.shape),
            root=packed(self.root if kept else None),
            parts=packed(self.parts if kept else None),
            known=packed(self.known),
        )

    @classmethod
    def from_record(cls, record: InfluenceRecord) -> Self:
        """Return the influences of a record."""
        count = record.parameters

        def unpacked(content: bytes | None, of: str = "<f8", columns: int = count) -> Floats | None:
            if content is None:
                return None
            found = np.frombuffer(zlib.decompress(content), dtype=of).astype(float)
            return found.reshape(-1, columns) if columns else found

        values = unpacked(record.values, record.dtype)
        share = unpacked(record.share, columns=0 if record.shared else count)
        if values is None or share is None:
            raise ValueError("influences without values")
        root, parts = unpacked(record.root, columns=0), unpacked(record.parts, columns=0)
        if root is not None and parts is not None:
            root = root.reshape(count, -1)
            parts = parts.reshape(-1, root.shape[1], root.shape[1])
        strata = None if record.strata is None else np.asarray(record.strata, dtype=np.int_)
        return cls(
            rows=values,
            share=share,
            units=Units(record.kind, pd.Index(record.names), record.source, strata, record.texts),
            corrected=record.corrected,
            raw=unpacked(record.raw, record.dtype),
            freedom=unpacked(record.freedom),
            shape=unpacked(record.shape),
            root=root,
            parts=parts,
            known=unpacked(record.known),
        )


def combine(parts: Sequence[Influence], weights: Sequence[float], name: str = "") -> Influence:
    """Return influences on a weighted sum of results over units of one kind; one that a result lacks has none there."""
    kinds = list(dict.fromkeys(part.units.kind for part in parts))
    if len(kinds) > 1:
        raise ConfigError(
            f"{name}{': ' if name else ''}one result has errors by {kinds[0]}, the other by {kinds[1]}: make both with "
            "the same clusters to compare them."
        )
    if not all(part.complete for part in parts):
        raise DataError("influences of more than 20 MB are not saved: compare results in the process that made them.")
    names = parts[0].units.names
    for part in parts[1:]:
        names = names if names.equals(part.units.names) else names.union(part.units.names, sort=False)
    places = [names.get_indexer(part.units.names) for part in parts]
    corrected = any(part.corrected for part in parts)

    def rows(each: Sequence[Floats]) -> list[Floats]:
        found = []
        for place, values in zip(places, each, strict=True):
            found.append(np.zeros((len(names), *values.shape[1:])))
            found[-1][place] = values
        return found

    def total(each: Sequence[Floats]) -> Floats:
        return np.asarray(sum(w * part for w, part in zip(weights, rows(each), strict=True)))

    wide = any(part.share.ndim == 2 for part in parts)
    shares = rows([part.share if part.share.ndim == 2 or not wide else part.share[:, None] for part in parts])
    size = np.abs(weights)
    strata = parts[0].units.strata if names.equals(parts[0].units.names) else None
    known = [part.freedom for part in parts if part.freedom is not None]
    return Influence(
        rows=total([part.adjusted if corrected else part.values for part in parts]),
        share=np.asarray(sum(w * part for w, part in zip(size / size.sum(), shares, strict=True))),
        units=replace(parts[0].units, names=names, strata=strata),
        corrected=corrected,
        raw=total([part.plain for part in parts]) if corrected else None,
        freedom=np.minimum.reduce(known) if len(known) == len(parts) else None,
    )


@dataclass(frozen=True, eq=False)
class Covariance:
    """A covariance that comes from no units: of the information, or of plain numbers.

    Attributes
    ----------
    matrix : ndarray, shape (P, P)
        The covariance; NaN where it is not known.
    freedom : float or ndarray, shape (P, P)
        Degrees of freedom, of all contrasts or of estimates and pairs; one number means that one estimate of the
        variance is behind all errors.
    shape : ndarray, shape (P, P), or None
        Covariance that simultaneous inference draws from, where it is another.
    """

    matrix: Floats
    freedom: float | Floats = np.inf
    shape: Floats | None = None


@dataclass(frozen=True, eq=False)
class Draws:
    """Draws of estimates from a posterior, shape (n, P), of which intervals are the quantiles."""

    values: Floats


Sampling = Influence | Covariance | Draws


def joint_test(estimate: Floats, sampling: Influence | Covariance, df: int, weights: Floats | None = None) -> JointTest:
    """Test that estimates of rank `df` are all 0, by the rule of `langdiff.tables.rule`.

    Weights in the statistic of sign flips are fixed beforehand, such as numbers of cells, never from residuals.
    """
    if isinstance(sampling, Covariance):
        shared = isinstance(sampling.freedom, float)
        return joint_f(estimate, sampling.matrix, df, float(np.min(sampling.freedom)), shared=shared)
    own = sampling.freedom
    freedom = sampling.freedom_along(np.eye(len(estimate))) if own is None else np.diag(own)
    least = float(np.min(freedom))
    if least >= MANY * df:
        found = joint_f(estimate, sampling.covariance, df, least)
        if found.by:
            return found
    if sampling.count < FEWEST_FLIPPED or not sampling.complete:
        return bonferroni(estimate, np.sqrt(np.diag(sampling.covariance)), freedom, df)
    share = sampling.share if sampling.share.ndim == 2 else sampling.share[:, None]
    parts = sampling.plain + share * estimate
    statistic, p, flips = sign_flips(parts, list(map(str, sampling.units.names)), weights)
    return JointTest("sign flips", statistic, df, float("nan"), p, flips)


def among(influence: Influence, editions: Sequence[str], difficulty: Floats) -> Influence:
    """Return influences on the difficulties of some editions, (K,), relative to their own average."""
    names = influence.units.texts.editions if influence.units.texts is not None else pd.Index(editions)
    return influence.pick(names.get_indexer(pd.Index(editions)), softmax(difficulty))
