"""Tables of attachment scores: overall, by relation, length and construction, and differences between parsers."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Cell, Column, Grid, Line, Shown
from langdiff.base.result import Result
from langdiff.base.types import check_choice
from langdiff.errors import DataError, listing
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.pairs import Pairs
from langdiff.tables.rule import shares

METRICS = ("uas", "las", "clas", "mlas")
Metric = Literal["uas", "las", "clas", "mlas"]
Clusters = Literal["auto", "document", "sentence"]
LENGTHS = {"1–10": 10, "11–20": 20, "21–30": 30, "31–40": 40, "> 40": np.inf}  # words of the gold sentence


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
        tables = {}
        for metric in METRICS:
            gold, predicted = _sizes(metric)
            table = _rated(pd.DataFrame({"gold": sums[gold], "predicted": sums[predicted], "correct": sums[metric]}))
            accuracy = sums[metric] / sums["aligned"] if metric in ("uas", "las") else np.nan
            tables[metric] = table.assign(accuracy=accuracy)
        return pd.concat(tables, axis=1, names=["metric"]).stack("metric", future_stack=True).reset_index()

    def effects(self, metric: Metric = "las", *, clusters: Clusters = "auto") -> Effects:
        """Return F1 of the parsers, on the sentences that all have, with errors by document or sentence.

        Parameters
        ----------
        metric : {"uas", "las", "clas", "mlas"}
            Score that is compared.
        clusters : {"auto", "document", "sentence"}
            Units that are taken as independent; ``"auto"``: documents if the treebank has several, else sentences.

        Raises
        ------
        ConfigError
            If `metric` or `clusters` is unknown.
        DataError
            If parsers have no sentence in common.
        """
        check_choice("metric", metric, METRICS)
        check_choice("clusters", clusters, get_args(Clusters))
        if clusters == "auto":
            clusters = "document" if self.counts["document"].nunique() > 1 else "sentence"
        own, parsers = self.counts, self.parsers
        common = own.groupby("sentence", sort=False)["parser"].nunique() == len(parsers)
        own = own[own["sentence"].map(common)]
        if own.empty:
            raise DataError("the parsers have no sentence in common.")
        gold, predicted = _sizes(metric)
        counts = pd.DataFrame({"x": 2 * own[metric], "y": own[gold] + own[predicted]}).astype(float)
        sums = counts.groupby([own[clusters], own["parser"]], sort=False).sum()
        tops, bottoms = (sums[name].unstack("parser")[parsers] for name in ("x", "y"))
        return Effects.of_ratios(
            tops,
            bottoms,
            Units(clusters, tops.index.map(str)),
            shares(metric),
            title=f"{metric.upper()} on {self.name}",
            signature=f"{self.signature}|metric:{metric}|clusters:{clusters}",
        )

    def compare(self, metric: Metric = "las", *, clusters: Clusters = "auto") -> Pairs:
        """Compare all pairs of parsers on the sentences that all have; see `effects` and `langdiff.Pairs`.

        Parameters
        ----------
        metric, clusters
            Score and independent units, as of `effects`.

        Raises
        ------
        ConfigError
            If `metric` or `clusters` is unknown.
        DataError
            If there is one parser only, or one document or sentence.
        """
        effects = self.effects(metric, clusters=clusters)
        pairs = effects.pairs()
        effects.warn_of_few()
        return pairs

    def _lines(self) -> Iterator[str]:
        las = self.effects().to_frame().sort_values("las", ascending=False, kind="stable")
        best = las.iloc[0]
        ranks = f"; ranks {best['ranks']}" if "ranks" in las else ""
        what = f"the highest LAS of {len(las)} on {self.name}:" if len(las) > 1 else "an LAS of"
        where, error = "" if len(las) > 1 else f" on {self.name}", _of_error(best["std_error"])
        yield f"{las.index[0]} has {what} {100 * best['las']:.2f}{f' ± {error}' if error else ''}{where}{ranks}."

    def tables(self) -> list[Shown]:
        """Return F1 of each metric in percent with its error, and the sentences that were left out."""
        sizes, f1 = self.counts.groupby("parser").size(), self.to_frame().set_index(["metric", "parser"])["f1"]
        errors = {metric: self.effects(metric).std_error for metric in get_args(Metric)}
        cells = {
            parser: [Cell(f"{100 * f1[metric, parser]:.2f}", _of_error(errors[metric][parser])) for metric in METRICS]
            for parser in self.parsers
        }
        heads = [Column("", "sentences"), *(Column("", name.upper()) for name in METRICS)]
        lines = [Line("row", name, (Cell(f"{sizes[name]:,}"), *own)) for name, own in cells.items()]
        notes = [self.effects().words]
        for own in dict.fromkeys(filter(None, self.left_out.values())):
            names = [name for name, sentences in self.left_out.items() if sentences == own]
            notes.append(
                f"Left out for {listing(names)}, because characters differ: {len(own):,} sentences ({listing(own)}); "
                "errors are those of the sentences that all parsers have."
            )
        caption = f"Attachment scores on {self.name}, F1 in percent ± standard error"
        return [Shown(Grid(heads, lines, "parser"), "attachment", caption, notes)]

    def __repr__(self) -> str:
        """Return a line with the numbers of parsers, sentences and words."""
        sizes = self.counts.drop_duplicates("sentence")
        return (
            f"AttachmentScores {self.name!r}: {len(self.parsers)} parsers, {len(sizes):,} sentences, "
            f"{sizes['gold'].sum():,} words"
        )


def _of_error(error: float) -> str:
    return f"{100 * error:.2f}" if np.isfinite(error) else ""


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
