"""Tables of attachment scores: overall, by relation, length and construction, and differences between parsers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd
from scipy.stats import t as student

from langdiff.base.result import Result
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option

METRICS = ("uas", "las", "clas", "mlas")
Metric = Literal["uas", "las", "clas", "mlas"]
Clusters = Literal["auto", "document", "sentence"]
FEWEST_DOCUMENTS = 10  # with fewer, errors by document are too rough, and sentences are taken
LENGTHS = {"1–10": 10, "11–20": 20, "21–30": 30, "31–40": 40, "> 40": np.inf}  # words of the gold sentence
QUANTILE = 0.975


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class AttachmentScores(Result):
    """Heads and relations that parsers have right, counted.

    Attributes
    ----------
    name : str
        Name of the treebank.
    counts : DataFrame
        One row per parser and sentence: ``parser``, ``sentence``, ``document`` (its number; 0 for all if the treebank
        names none), ``length`` (words), ``gold`` and ``predicted`` (words on either side), ``aligned``, ``uas``,
        ``las``, ``clas`` and ``mlas`` (right ones), ``gold_content`` and ``predicted_content`` (words with content
        relations, of which CLAS and MLAS are).
    relations : DataFrame
        One row per parser and universal relation: ``gold``, ``predicted``, ``uas`` (gold words with the right head) and
        ``las``.
    constructions : DataFrame
        One row per parser and construction: ``gold`` (words that its targets name), ``uas`` and ``las``.
    left_out : mapping from str to tuple of str
        Sentences left out of a parser's scores, because their characters differ.
    signature : str
        What the scores depend on.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    name: str
    counts: pd.DataFrame
    relations: pd.DataFrame
    constructions: pd.DataFrame
    left_out: Mapping[str, tuple[str, ...]]
    signature: str

    @property
    def parsers(self) -> list[str]:
        """Names of the parsers."""
        return list(self.left_out)

    def to_frame(self) -> pd.DataFrame:
        """Return precision, recall and F1 of each metric by parser, with counts.

        ``accuracy`` is the share of the aligned words; for CLAS and MLAS it is not given.
        """
        return self._scores(["parser"])

    def by_length(self) -> pd.DataFrame:
        """Return the scores by parser and length of the gold sentence in words."""
        bands = pd.cut(self.counts["length"], [0, *LENGTHS.values()], labels=list(LENGTHS)).astype(str)
        table = self._scores(["parser", "length"], self.counts.assign(length=bands))
        places = list(LENGTHS)
        return table.sort_values(
            ["parser", "length"],
            key=lambda column: column.map(self.parsers.index if column.name == "parser" else places.index),
            kind="stable",
        ).reset_index(drop=True)

    def by_relation(self) -> pd.DataFrame:
        """Return LAS by parser and universal relation, frequent relations first.

        ``uas`` is the share of the gold words with this relation that have the right head; ``precision``, ``recall``
        and ``f1`` are those of head and relation. NaN where there are no such words.
        """
        table = self.relations.rename(columns={"las": "correct"})
        table["uas"] = table["uas"] / table["gold"].where(table["gold"] > 0)
        table = _rated(table)
        order = self.relations.groupby("relation")["gold"].sum()
        return (
            table.assign(order=-table["relation"].map(order))
            .sort_values(["order", "relation"], kind="stable", ignore_index=True)
            .drop(columns="order")
        )

    def by_construction(self) -> pd.DataFrame:
        """Return the shares of right heads, and of right heads and relations, among words of each construction."""
        table = self.constructions.copy()
        table[["uas", "las"]] = table[["uas", "las"]].div(table["gold"], axis=0)
        return table

    def by_sentence(self) -> pd.DataFrame:
        """Return the counts by parser and sentence."""
        return self.counts.copy()

    def _scores(self, keys: list[str], counts: pd.DataFrame | None = None) -> pd.DataFrame:
        sums = (self.counts if counts is None else counts).groupby(keys, sort=False).sum(numeric_only=True)
        parts = []
        for metric in METRICS:
            gold, predicted = _sizes(metric)
            part = pd.DataFrame({"gold": sums[gold], "predicted": sums[predicted], "correct": sums[metric]})
            part = _rated(part)
            part["accuracy"] = sums[metric] / sums["aligned"] if metric in ("uas", "las") else np.nan
            parts.append(part.assign(metric=metric).reset_index())
        table = pd.concat(parts)
        places = {key: place for place, key in enumerate(sums.index)}
        order = [places[key if len(keys) > 1 else key[0]] for key in table[keys].itertuples(index=False, name=None)]
        table = table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)
        return table[[*keys, "metric", *(name for name in table.columns if name not in (*keys, "metric"))]]

    def compare(self, metric: Metric = "las", *, clusters: Clusters = "auto") -> pd.DataFrame:
        """Compare all pairs of parsers on the sentences that both have.

        Parameters
        ----------
        metric : {"uas", "las", "clas", "mlas"}
            Score to compare.
        clusters : {"auto", "document", "sentence"}
            Units that are taken as independent; ``"auto"``: documents if the treebank has ten or more, else sentences.

        Returns
        -------
        DataFrame
            One row per pair: ``difference`` in F1, ``std_error`` (of the ratio to first order, from sums by cluster),
            ``low`` and ``high`` (95 %, Student's t), ``p_value``, ``p_holm`` (adjusted for the number of pairs),
            ``clusters`` and their number ``n``.

        Raises
        ------
        ConfigError
            If `metric` or `clusters` is unknown, or there is one parser only.
        DataError
            If there are fewer than two clusters.
        """
        if metric not in METRICS:
            raise ConfigError(f"{option('metric')} is one of {', '.join(METRICS)}; got {metric!r}.")
        if clusters not in get_args(Clusters):
            raise ConfigError(f"{option('clusters')} is one of {', '.join(get_args(Clusters))}; got {clusters!r}.")
        if len(self.parsers) < 2:
            raise ConfigError(f"a comparison needs two parsers; there is only {listing(self.parsers)}.")
        if clusters == "auto":
            clusters = "document" if self.counts["document"].nunique() >= FEWEST_DOCUMENTS else "sentence"
        of_each = {name: own.set_index("sentence") for name, own in self.counts.groupby("parser", sort=False)}
        rows = [
            (one, other, *_difference(of_each[one], of_each[other], metric, clusters))
            for one, other in combinations(self.parsers, 2)
        ]
        columns = ["parser", "other", "difference", "std_error", "low", "high", "p_value", "clusters", "n"]
        table = pd.DataFrame(rows, columns=columns)
        table.insert(7, "p_holm", _holm(table["p_value"].to_numpy()))
        return table

    def _lines(self) -> Iterator[str]:
        yield f"Attachment scores (F1, percent), {self.name}"

    def _table(self) -> pd.DataFrame:
        wide = self.to_frame().pivot(index="parser", columns="metric", values="f1")
        wide = (100 * wide.loc[self.parsers, list(METRICS)]).round(2)
        table = wide.set_axis([name.upper() for name in METRICS], axis=1).rename_axis(columns=None)
        table.insert(0, "sentences", self.counts.groupby("parser").size())
        return table.reset_index()

    def _notes(self) -> Iterator[str]:
        """Yield the sentences that were left out, parsers with the same ones together."""
        for own in dict.fromkeys(filter(None, self.left_out.values())):
            names = [name for name, sentences in self.left_out.items() if sentences == own]
            yield f"Left out for {listing(names)}, because characters differ: {len(own):,} sentences ({listing(own)})."

    def __repr__(self) -> str:
        """Return a line with the numbers of parsers, sentences and words."""
        sizes = self.counts.drop_duplicates("sentence")
        return (
            f"AttachmentScores {self.name!r}: {len(self.parsers)} parsers, {len(sizes):,} sentences, "
            f"{sizes['gold'].sum():,} words"
        )


def _sizes(metric: str) -> tuple[str, str]:
    return ("gold_content", "predicted_content") if metric in ("clas", "mlas") else ("gold", "predicted")


def _rated(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table of counts with precision, recall and F1, which are NaN if the counts are 0."""
    both = table["gold"] + table["predicted"]
    return table.assign(
        precision=table["correct"] / table["predicted"].where(table["predicted"] > 0),
        recall=table["correct"] / table["gold"].where(table["gold"] > 0),
        f1=2 * table["correct"] / both.where(both > 0),
    )


def _difference(
    one: pd.DataFrame, other: pd.DataFrame, metric: str, clusters: str
) -> tuple[float, float, float, float, float, str, int]:
    """Return the difference in F1, its error, interval and p, and the clusters."""
    common = one.index[one.index.isin(other.index)]
    groups = one.loc[common, "document"].to_numpy() if clusters == "document" else np.arange(len(common))
    labels, places = np.unique(groups, return_inverse=True)
    n = len(labels)
    if n < 2:
        raise DataError(f"errors need two clusters; all {len(common):,} sentences are in one {clusters}.")
    gold, predicted = _sizes(metric)

    def of(counts: pd.DataFrame) -> tuple[float, Floats]:
        """Return F1 and its influence by cluster."""
        own = counts.loc[common]
        sizes = np.bincount(places, (own[gold] + own[predicted]).to_numpy(float))
        hits = 2 * np.bincount(places, own[metric].to_numpy(float))
        f1 = hits.sum() / sizes.sum()
        return float(f1), (hits - f1 * sizes) / sizes.sum()

    (first, influence), (second, influence_of_other) = of(one), of(other)
    difference = first - second
    error = float(np.sqrt(n / (n - 1) * np.sum((influence - influence_of_other) ** 2)))
    reach = float(student.ppf(QUANTILE, n - 1)) * error
    p_value = float(2 * student.sf(abs(difference) / error, n - 1)) if error > 0 else float(difference == 0)
    return difference, error, difference - reach, difference + reach, p_value, clusters, n


def _holm(p_values: Floats) -> Floats:
    """Return Holm's adjusted p-values.

    Examples
    --------
    >>> _holm(np.array([0.01, 0.04, 0.03])).round(2)
    array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values)
    adjusted = np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1))
    found = np.empty_like(p_values)
    found[order] = np.minimum(adjusted, 1)
    return found
