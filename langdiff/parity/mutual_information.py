"""Information of a source text about its translation, in bits (Bugliarello et al. 2020)."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.base.result import Result
from langdiff.base.types import check_kind
from langdiff.errors import DataError
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.tables.surprisals import Surprisals


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class CrossMutualInformation(Result):
    """Bits of texts alone minus their bits given a source, by edition.

    Attributes
    ----------
    table : DataFrame
        One row per edition: ``intents``; ``bits`` and ``conditional_bits`` per intent; ``xmi``, their difference, with
        ``std_error``, ``low`` and ``high`` (95 %, paired over intents).
    """

    table: pd.DataFrame

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
    codes = np.arange(len(intents))
    labels = one_clustering(surprisals, clusters)
    if labels is not None:
        codes = pd.factorize(labels[intents])[0]
    rows = {str(edition): _of_edition(str(edition), alone[edition], given[edition], codes) for edition in editions}
    return CrossMutualInformation(table=pd.DataFrame.from_dict(rows, orient="index").rename_axis("edition"))


def _of_edition(edition: str, alone: pd.Series, given: pd.Series, codes: np.ndarray) -> dict[str, float]:
    both = (alone.notna() & given.notna()).to_numpy()
    spared = (alone - given).to_numpy()[both]
    groups = np.unique(codes[both], return_inverse=True)[1]
    n, g = len(spared), int(groups.max()) + 1 if len(groups) else 0
    if g < 2:
        raise DataError(f"edition {edition!r} has {g} intent(s) or cluster(s) in both tables; two are needed.")
    mean = float(spared.mean())
    sums = np.bincount(groups, weights=spared - mean)
    std_error = float(np.sqrt(g / (g - 1) * (sums**2).sum())) / n
    half = float(student.ppf(0.975, g - 1)) * std_error
    return {
        "intents": n,
        "bits": float(alone[both].mean()),
        "conditional_bits": float(given[both].mean()),
        "xmi": mean,
        "std_error": std_error,
        "low": mean - half,
        "high": mean + half,
    }
