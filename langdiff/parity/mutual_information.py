"""Information of a source text about its translation, in bits (Bugliarello et al. 2020)."""

from dataclasses import dataclass

import pandas as pd

from langdiff.base.result import Result
from langdiff.base.types import check_kind
from langdiff.errors import DataError
from langdiff.regression.clustering import AnyClusters, units_of
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.surprisals import Surprisals

SPARED = Scale(quantity="xmi", unit="bits")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CrossMutualInformation(Result):
    """Bits of texts alone minus their bits given a source, by edition.

    Attributes
    ----------
    table : DataFrame
        One row per edition: ``intents``; ``bits`` and ``conditional_bits`` per intent; ``xmi``, their difference, with
        ``std_error``, ``low`` and ``high`` (95 %, paired over intents).
    effects : Effects
        The same differences, in bits, to be compared between editions; ``effects.words`` tells the independent units.
    """

    table: pd.DataFrame
    effects: Effects

    digits = 2

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition."""
        return self.table.copy()

    def __repr__(self) -> str:
        """Return the number of editions and the mean."""
        return f"XMI of {len(self.table)} editions, mean {self.table['xmi'].mean():.2f} bits per intent"


def xmi(
    surprisals: Surprisals, conditional: Surprisals, *, clusters: AnyClusters | None = "auto"
) -> CrossMutualInformation:
    r"""Measure the bits per intent that the source text saves a translation model.

    .. math:: \mathrm{XMI}(s \to t) = \frac1I \sum_i \left[ -\log_2 q_\mathrm{LM}(t_i) + \log_2 q_\mathrm{MT}(t_i \mid
              s_i) \right]

    The greater it is, the easier the translation: bits that the target needs by itself are taken off.

    Parameters
    ----------
    surprisals : Surprisals
        Bits of the targets by a language model.
    conditional : Surprisals
        Bits of the same targets by a translation model, given their sources.
    clusters : "auto", str, mapping, Series, DifficultyFit or None
        Intents whose errors depend on one another: a column of `intent_info`, or the cluster of each intent; see
        `langdiff.fit`.

    Returns
    -------
    CrossMutualInformation
        One row per edition that both tables have, over the intents that both have.

    Raises
    ------
    DataError
        If the tables share no edition, or an edition has fewer than two intents (clusters) in both.
    ConfigError
        If `clusters` names no column, or one of the tables is none.

    References
    ----------
    Bugliarello, Mielke, Anastasopoulos, Cotterell and Okazaki (2020), "It's Easier to Translate out of English than
    into it: Measuring Neural Translation Difficulty by Cross-Mutual Information", equation 5.

    Examples
    --------
    >>> alone = Surprisals(bits=pd.DataFrame({"deu": [160.0, 150.0, 170.0]}))
    >>> given = Surprisals(bits=pd.DataFrame({"deu": [60.0, 48.0, 72.0]}))
    >>> xmi(alone, given).to_frame().round(2)
             intents   bits  conditional_bits    xmi  std_error    low   high
    edition
    deu            3  160.0              60.0  100.0       1.15  95.03  104.97
    """
    for table in (surprisals, conditional):
        check_kind(table, Surprisals, "give bits alone and given the source, both as read_surprisals reads them")
    editions = surprisals.editions.intersection(conditional.editions, sort=False)
    intents = surprisals.intents.intersection(conditional.intents, sort=False)
    if not len(editions) or not len(intents):
        raise DataError(
            f"the tables share {len(editions)} editions and {len(intents)} intents; both must score the same targets."
        )
    alone, given = (table.bits.loc[intents, editions] for table in (surprisals, conditional))
    units, code = units_of(surprisals, clusters)
    both = alone.notna() & given.notna()
    code = code[surprisals.intents.get_indexer(intents)]
    spared, counts = (
        each.groupby(code).sum().reindex(range(len(units.names)), fill_value=0)
        for each in ((alone - given).where(both, 0.0), both)
    )
    for edition, found in (counts > 0).sum().items():
        if found < 2:
            raise DataError(f"edition {edition!r} has {found} intent(s) or cluster(s) in both tables; two are needed.")
    effects = Effects.of_ratios(spared, counts, units, SPARED)
    frame = effects.to_frame().loc[editions, ["xmi", "std_error", "low", "high"]]
    means = {"intents": both.sum(), "bits": alone[both].mean(), "conditional_bits": given[both].mean()}
    rows = pd.concat([pd.DataFrame(means), frame], axis=1).rename_axis("edition")
    return CrossMutualInformation(table=rows, effects=effects)
