"""What a change of the texts costs: bits of changed texts against those of the same texts as they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import norm

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Floats, Integers
from langdiff.corpora.perturbation import ADDED_BITS
from langdiff.errors import DataError
from langdiff.regression.clustering import AnyClusters, independent_units
from langdiff.tables.surprisals import Surprisals

NINETY_FIVE = float(norm.ppf(0.975))
RANDOM_ORDER = "shuffle"  # the kind whose added bits are known


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PerturbationContrasts(Result):
    """Costs of changes of texts, by edition and kind of change.

    Attributes
    ----------
    table : DataFrame
        The columns of `to_frame`.
    units : str
        What errors take to be independent, in words.
    lm : str
        Name of the language model.
    """

    table: pd.DataFrame
    units: str
    lm: str

    digits = 2
    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition and kind.

        Returns
        -------
        DataFrame
            ``edition``, ``kind``, number of ``intents``; ``difference``, the mean of ln(bits changed / bits) over them,
            and its ``std_error``, in nats; ``percent`` more bits, with its 95 % interval from ``low`` to ``high``;
            ``added_bits``, the most that random orders add per intent; ``learnt``, the share of these that the language
            model needed more, and its ``learnt_std_error``. The last three are NaN but for ``"shuffle"``.
        """
        return self.table.copy()

    def by_kind(self, column: str = "percent") -> pd.DataFrame:
        """Return one column of the table with a row per kind and a column per edition.

        Parameters
        ----------
        column : str
            Column of `to_frame`.

        Returns
        -------
        DataFrame
            Values, NaN where an edition lacks a kind.
        """
        wide = self.table.pivot(index="kind", columns="edition", values=column)
        return wide.reindex(index=self.table["kind"].unique(), columns=self.table["edition"].unique())

    plot = Drawn("plot_perturbation_contrasts")

    def _lines(self) -> Iterator[str]:
        yield repr(self)
        yield f"Percent more bits for the same intents by {self.lm}; errors from {self.units}."

    def _notes(self) -> Iterator[str]:
        if self.table["learnt"].notna().any():
            yield "learnt: what the language model knew of word order, as a share of the most that orders can hold."

    def __repr__(self) -> str:
        """Return the numbers of editions and kinds."""
        editions, kinds = (self.table[name].nunique() for name in ("edition", "kind"))
        return f"PerturbationContrasts: {editions} edition(s) × {kinds} kind(s) of change, by {self.lm}"


def perturbation_contrasts(surprisals: Surprisals, *, clusters: AnyClusters | None = "auto") -> PerturbationContrasts:
    r"""Estimate how many more bits changed texts need than the same texts as they are.

    For each edition ``NAME|KIND`` of a table that also has ``NAME``, the mean over the intents of both of

    .. math:: \ln(y_{i,\text{changed}} / y_i),

    in which the size of the intent cancels out.

    Parameters
    ----------
    surprisals : Surprisals
        Surprisals of editions as `langdiff.corpora.perturb` or `langdiff.treebanks.reorder` name them.
    clusters : "auto", str, Series, mapping or None
        Intents that may vary together, as in `langdiff.fit`. By default documents, books or chapters where they are
        known; None for single intents.

    Returns
    -------
    PerturbationContrasts
        One row per edition and kind. Of ``"shuffle"`` it also has ``learnt``:

        .. math:: \sum_i (y_{i,\text{shuffled}} - y_i) / \sum_i a_i

        with the most bits a that a random order adds, the columns ``added_bits|NAME`` of the table of intents. Where
        shuffling costs all of them, the model had known the order completely; what remains is order that was free, or
        that the model does not know.

    Raises
    ------
    DataError
        If no edition stands beside its changed texts, or two have no two intents in common.
    ConfigError
        If there are no such clusters.

    Notes
    -----
    The standard error of a mean of n differences :math:`r_i` is
    :math:`\sqrt{G/(G-1) \sum_g (\sum_{i \in g} (r_i - \bar r))^2} / n` with G clusters g.

    Examples
    --------
    >>> import langdiff as ld
    >>> bits = pd.DataFrame({"eng": [100.0, 50.0], "eng|reverse": [101.0, 50.5]}, index=["1", "2"])
    >>> perturbation_contrasts(ld.Surprisals(bits=bits)).by_kind().round(2)
    edition  eng
    kind
    reverse  1.0
    """
    pairs = [
        (name, *name.rpartition("|")[::2])
        for name in map(str, surprisals.editions)
        if name.rpartition("|")[0] in surprisals.editions
    ]
    if not pairs:
        raise DataError(
            "no edition NAME|KIND stands beside its edition NAME. langdiff.corpora.perturb makes texts of both with "
            "keep_base=True, which language models then read together."
        )
    units = independent_units(surprisals.intents, surprisals.intent_info, clusters)
    if len(units.columns) > 1:
        raise DataError("clusters that cross are not possible here; give one kind.")
    labels = units.columns[0].reindex(surprisals.intents) if units.columns else pd.Series(surprisals.intents)
    groups = pd.factorize(labels)[0]
    rows = [_row(surprisals, *each, groups) for each in pairs]
    return PerturbationContrasts(table=pd.DataFrame(rows), units=units.words, lm=surprisals.lm)


def _row(surprisals: Surprisals, name: str, edition: str, kind: str, groups: Integers) -> dict[str, Any]:
    changed, usual = (surprisals.bits[each].to_numpy() for each in (name, edition))
    both = ~np.isnan(changed) & ~np.isnan(usual)
    if both.sum() < 2:
        raise DataError(f"{name} and {edition} have {both.sum()} intents in common; 2 are needed.")
    ratios = np.log(changed[both] / usual[both])
    mean = float(ratios.mean())
    error = _error_of_sum(ratios - mean, groups[both]) / both.sum()
    row = {"edition": edition, "kind": kind, "intents": int(both.sum()), "difference": mean, "std_error": error}
    ends = {"low": mean - NINETY_FIVE * error, "high": mean + NINETY_FIVE * error}
    row |= {what: 100 * float(np.expm1(value)) for what, value in {"percent": mean, **ends}.items()}
    info, column = surprisals.intent_info, f"{ADDED_BITS}|{edition}"
    most = share = share_error = np.nan
    if kind == RANDOM_ORDER and info is not None and column in info:
        added = pd.to_numeric(info[column]).to_numpy(dtype=float)[both]
        more = changed[both] - usual[both]
        if added.sum() > 0:
            most, share = float(added.mean()), float(more.sum() / added.sum())
            share_error = _error_of_sum(more - share * added, groups[both]) / float(added.sum())
    return row | {ADDED_BITS: most, "learnt": share, "learnt_std_error": share_error}


def _error_of_sum(residuals: Floats, groups: Integers) -> float:
    """Return the standard error of a sum whose terms vary together within groups; NaN with one group."""
    sums = pd.Series(residuals).groupby(groups).sum().to_numpy()
    count = len(sums)
    return float(np.sqrt(count / (count - 1) * (sums @ sums))) if count > 1 else np.nan
