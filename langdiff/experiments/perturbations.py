"""What a change of the texts costs: bits of changed texts against those of the same texts as they are."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Integers
from langdiff.corpora.perturbation import ADDED_BITS
from langdiff.errors import DataError
from langdiff.regression.clustering import AnyClusters, units_of
from langdiff.tables.effects import NATS, Effects
from langdiff.tables.influences import Units
from langdiff.tables.surprisals import Surprisals

RANDOM_ORDER = "shuffle"  # the kind whose added bits are known


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class PerturbationContrasts(Result):
    """Costs of changes of texts, by edition and kind of change.

    Attributes
    ----------
    table : DataFrame
        The columns of `to_frame`.
    effects : Effects
        The differences in nats, named ``EDITION|KIND``; ``effects.words`` tells what errors take to be independent.
    lm : str
        Name of the language model.
    """

    table: pd.DataFrame
    effects: Effects
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
        yield f"Percent more bits for the same intents by {self.lm}. {self.effects.words}"

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
    Errors are those of ratios of sums over independent units, with intervals by Student's t.

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
    units, code = units_of(surprisals, clusters)
    bits = surprisals.bits
    changed, usual = bits[[pair[0] for pair in pairs]], bits[[pair[1] for pair in pairs]].to_numpy()
    both = changed.notna() & ~np.isnan(usual)
    for (name, edition, _), count in zip(pairs, both.sum(), strict=True):
        if count < 2:
            raise DataError(f"{name} and {edition} have {count} intents in common; 2 are needed.")
    logs = pd.DataFrame(np.log(changed.to_numpy() / usual), columns=changed.columns).where(both.to_numpy(), 0.0)
    logs, counts = logs.groupby(code).sum(), both.groupby(code).sum()
    effects = Effects.of_ratios(logs, counts, units, NATS)
    table = pd.DataFrame([{"edition": e, "kind": k, "intents": int(both[name].sum())} for name, e, k in pairs])
    frame = effects.to_frame().loc[changed.columns]
    table[["difference", "std_error"]] = frame[["difference", "std_error"]].to_numpy()
    for column, of in (("percent", "difference"), ("low", "low"), ("high", "high")):
        table[column] = 100 * np.expm1(frame[of].to_numpy())
    known = [_learnt(surprisals, *pair, code, units) for pair in pairs]
    table[[ADDED_BITS, "learnt", "learnt_std_error"]] = np.array(known)
    return PerturbationContrasts(table=table, effects=effects, lm=surprisals.lm)


def _learnt(
    surprisals: Surprisals, name: str, edition: str, kind: str, code: Integers, units: Units
) -> tuple[float, float, float]:
    """Return the most bits that random orders add per intent, the share of them that is needed, and its error."""
    info, column = surprisals.intent_info, f"{ADDED_BITS}|{edition}"
    if kind != RANDOM_ORDER or info is None or column not in info:
        return np.nan, np.nan, np.nan
    more = (surprisals.bits[name] - surprisals.bits[edition]).to_numpy()
    both = ~np.isnan(more)
    added = np.where(both, pd.to_numeric(info[column]).to_numpy(dtype=float), 0.0)
    if not added.sum() > 0:
        return np.nan, np.nan, np.nan
    sums = pd.DataFrame({"more": np.where(both, more, 0.0), "added": added}).groupby(code).sum()
    found = Effects.of_ratios(sums[["more"]], sums[["added"]].set_axis(["more"], axis=1), units, NATS)
    return float(added.sum() / both.sum()), float(found.estimate.iloc[0]), float(found.std_error.iloc[0])
