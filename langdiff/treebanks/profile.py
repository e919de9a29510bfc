"""The tables of one treebank, with names on them."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import check_kind
from langdiff.errors import ConfigError
from langdiff.treebanks.chains import Counts, Normalizer, cooccurrences, leaves
from langdiff.treebanks.tables import (
    COST_BIN,
    METRICS,
    ROW,
    Metric,
    SimilaritySettings,
    distinct_keys,
    mean_depths,
    size_bins,
    split_cells,
    tables,
)
from langdiff.treebanks.treebank import Treebank

BOS, EOS = "BOS", "EOS"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreebankProfile(Result):
    """Counts of the five metrics in a treebank.

    Attributes
    ----------
    name : str
        Name of the treebank.
    sizes : Series
        ``sentences``, ``words``, ``leaves``, ``chains`` (words with children), ``relations``,
        ``depth_keys`` (distinct, at each depth apart), ``mean_size_bin``, ``left_out`` (sentences that are not
        trees).
    bins : mapping from metric to Series
        Counts of bins. ``size``: sentences by ``depth`` (bin of the mean depth of leaves) and ``length`` (words);
        ``depth``: leaves and ``width``: chains, by ``cost`` (lower edge of the bin, in decimal digits; inf is
        probability 0); ``length``: chains by ``children``; ``matrix``: pairs of children by relation of the
        ``head``, of the ``earlier`` and of the ``later`` child.
    mean_depth : Series
        Mean over sentences of the mean depth of leaves, by ``length`` in words.
    cooccurrences : Series
        All cells of the matrices, as ``matrix`` but with BOS and EOS, and never of neighbours alone.
    settings : SimilaritySettings
        Settings of the counts.
    """

    name: str
    sizes: pd.Series
    bins: dict[Metric, pd.Series]
    mean_depth: pd.Series
    cooccurrences: pd.Series
    settings: SimilaritySettings

    def to_frame(self) -> pd.DataFrame:
        """Return one row per metric and bin: ``treebank``, ``metric``, ``bin`` (parts joined by a blank), ``count``."""
        rows = [
            (self.name, metric, " ".join(map(str, place)) if isinstance(place, tuple) else f"{place:g}", count)
            for metric, table in self.bins.items()
            for place, count in table.items()
        ]
        return pd.DataFrame(rows, columns=["treebank", "metric", "bin", "count"])

    def matrix(self, head: str, *, by: Normalizer = "columns") -> pd.DataFrame:
        """Return the co-occurrences under heads of one relation, normalized.

        Parameters
        ----------
        head : str
            Relation of the head, or ``"BOS"`` for the artificial one above root words.
        by : {"columns", "rows"}
            Divisor: how often the later child occurs, which gives shares; or how often the earlier child occurs.

        Returns
        -------
        DataFrame
            Rows: the earlier child, BOS last. Columns: the later child, EOS last.

        Raises
        ------
        ConfigError
            If no word of that relation has children.
        """
        kinds = self.cooccurrences.index.get_level_values("head")
        if head not in kinds:
            raise ConfigError(f"no word of relation {head!r} has children in {self.name!r}.")
        counts = self.cooccurrences[kinds == head].droplevel("head").unstack(fill_value=0)
        own = sorted(set(counts.index) - {BOS})
        counts = counts.reindex(index=[*own, BOS], columns=[*own, EOS], fill_value=0)
        if by == "columns":
            return counts[own] / counts.loc[BOS, own]
        return counts.loc[own].div(counts.loc[own, EOS], axis=0)

    def _table(self) -> pd.DataFrame:
        return self.sizes.to_frame()

    def _notes(self) -> Iterator[str]:
        yield f"[{self.settings.signature}]"

    plot = Drawn("plot_treebank_profile")

    def __repr__(self) -> str:
        """Return a line with the name of the treebank and its size."""
        return f"TreebankProfile of {self.name!r}: {self.sizes['sentences']:,} sentences, {self.sizes['words']:,} words"


def profile_treebank(treebank: Treebank, settings: SimilaritySettings | None = None) -> TreebankProfile:
    """Count the bins of the five metrics in a treebank.

    Examples
    --------
    >>> from langdiff.treebanks.conllu import Tree
    >>> tree = Tree(("dogs", "bark", "."), ("NOUN", "VERB", "PUNCT"), (2, 0, 2), ("nsubj", "root", "punct"))
    >>> profile = profile_treebank(Treebank.from_trees([tree], name="eng"))
    >>> profile.bins["size"].to_dict(), profile.bins["matrix"].to_dict()
    ({(1, 3): 1}, {('root', 'nsubj', 'punct'): 1})
    >>> profile.matrix("root")
    later     nsubj  punct
    earlier
    nsubj       0.0    1.0
    punct       0.0    0.0
    BOS         1.0    1.0
    """
    check_kind(treebank, Treebank, "a profile is made of a treebank, as read_treebank reads it")
    settings = settings or SimilaritySettings()
    counted = tables(treebank, settings)
    depth_bins = size_bins(treebank, settings.size_bin) // ROW
    leaf = leaves(treebank.parents)
    sizes = {
        "sentences": treebank.sentences,
        "words": treebank.words,
        "leaves": int(leaf.sum()),
        "chains": int((~leaf).sum()),
        "relations": len(np.unique(treebank.deprels)),
        "depth_keys": distinct_keys(treebank, settings),
        "mean_size_bin": float(depth_bins.mean()),
        "left_out": int((treebank.left_out["level"] == "sentence").sum()),
    }
    all_pairs = cooccurrences(treebank.parents, treebank.deprels, len(treebank.deprel_names))
    return TreebankProfile(
        name=treebank.name,
        sizes=pd.Series(sizes, name=treebank.name, dtype=object),
        bins={metric: _labelled(counted[metric], metric, treebank) for metric in METRICS},
        mean_depth=pd.Series(mean_depths(treebank))
        .groupby(pd.Index(treebank.lengths, name="length"))
        .mean()
        .rename("mean_depth"),
        cooccurrences=_labelled(all_pairs, "matrix", treebank),
        settings=settings,
    )


def _labelled(counts: Counts, metric: Metric, treebank: Treebank) -> pd.Series:
    """Return counts with the names of their bins."""
    index: pd.Index
    if metric == "size":
        index = pd.MultiIndex.from_arrays(np.divmod(counts.bins.astype(np.int64), ROW), names=["depth", "length"])
    elif metric == "matrix":
        kind, earlier, later = split_cells(counts.bins, len(treebank.deprel_names))
        before = np.array([*treebank.deprel_names, BOS], dtype=object)
        after = np.array([*treebank.deprel_names, EOS], dtype=object)
        index = pd.MultiIndex.from_arrays(
            [before[kind], before[earlier], after[later]], names=["head", "earlier", "later"]
        )
    elif metric == "length":
        index = pd.Index(counts.bins, name="children")
    else:
        index = pd.Index(COST_BIN * counts.bins, name="cost")
    return pd.Series(counts.counts, index=index, name="count")
