"""Result of an evaluation of discourse parsers."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result, drawing
from langdiff.base.signature import join_signature
from langdiff.base.types import check_choice
from langdiff.discourse.items import METRICS, TRIVIAL, Metric, Procedure
from langdiff.errors import ConfigError, Fault, option
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.pairs import Pairs
from langdiff.tables.rule import shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Averaging = Literal["micro", "macro"]
AVERAGINGS: tuple[Averaging, ...] = ("micro", "macro")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DiscourseEvaluation(Result):
    """Evaluation of systems against the discourse trees of a reference.

    Attributes
    ----------
    items : DataFrame
        One row per procedure, system and item of the reference: ``procedure``, ``system``, ``document``, ``first``,
        ``last``, ``nuclearity``, ``relation``, and whether the system has it by span (``S``), with nuclearity (``N``),
        relation (``R``) and both (``F``).
    predicted : DataFrame
        One row per predicted item: ``procedure``, ``system``, ``document``, ``relation``.
    systems, documents : tuple of str
        Names of the systems and of the documents.
    procedures : tuple of str
        Procedures applied.
    binarization : str
        How trees were made binary.
    trivial_spans : bool
        Whether items were added that are always right.
    left_out : DataFrame
        Documents that could not be compared, one row per document, system and fault: ``document``, ``system``
        (``reference`` for those of the reference), ``file`` and ``line`` of a faulty file, ``reason``.
    dropped : dict from str to int
        Number of detached EDUs that were dropped from all sides, by document; without documents that have none.
    signature : str
        Settings and a hash of the reference, to be quoted with the numbers.
    secondary_edges : int
        Number of secondary edges (eRST) of the reference, which are not part of trees and were ignored.
    """

    items: pd.DataFrame
    predicted: pd.DataFrame
    systems: tuple[str, ...]
    documents: tuple[str, ...]
    procedures: tuple[Procedure, ...]
    binarization: str
    trivial_spans: bool
    left_out: pd.DataFrame
    signature: str
    dropped: Mapping[str, int] = field(default_factory=dict)
    secondary_edges: int = 0

    @cached_property
    def skipped(self) -> tuple[str, ...]:
        """Documents of one EDU in the reference, which means over documents leave out for all systems."""
        used = set(self.items["document"].unique())
        return tuple(document for document in self.documents if document not in used)

    def counts(self) -> pd.DataFrame:
        """Return true positives by metric, and numbers of items; one row per procedure, system and document."""
        keys = ["procedure", "system", "document"]
        index = pd.MultiIndex.from_product([self.procedures, self.systems, self.documents], names=keys)
        grouped = self.items.groupby(keys)
        frame = grouped[list(METRICS)].sum().assign(gold=grouped.size()).reindex(index)
        frame["predicted"] = self.predicted.groupby(keys).size()  # there may be none in the reference
        frame = frame.fillna(0).astype(int)
        if self.trivial_spans:
            frame.loc[(frame.index.get_level_values("procedure") == "rst-parseval") & (frame["gold"] > 0)] += TRIVIAL
        return frame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per procedure, averaging, system and metric.

        Columns: ``procedure``, ``averaging``, ``system``, ``metric``, ``precision``, ``recall``, ``f1``,
        ``true_positives``, ``gold``, ``predicted`` (counts over all documents), ``rank`` of the system by F1, 1 for
        the best, and how many ``documents`` were compared and ``left_out``. ``micro`` adds up counts; ``macro`` is the
        plain mean over documents that have more than one EDU in the reference.
        """
        return self._scores.copy()

    @cached_property
    def _scores(self) -> pd.DataFrame:
        counts, by = self.counts(), ["procedure", "system"]
        total = counts.groupby(level=by, sort=False).sum()
        tables = {}
        for averaging, metric in product(AVERAGINGS, METRICS):
            base = total if averaging == "micro" else counts[counts["gold"] > 0]
            table = _ratios(base[metric], base["gold"], base["predicted"])
            table = table if averaging == "micro" else table.groupby(level=by, sort=False).mean()
            tables[averaging, metric] = table.assign(
                true_positives=total[metric], gold=total["gold"], predicted=total["predicted"]
            )
        frame = pd.concat(tables, names=["averaging", "metric"]).reset_index()
        alike = frame["f1"].round(12).groupby([frame[name] for name in ("procedure", "averaging", "metric")])
        frame["rank"] = alike.rank(method="min", ascending=False).astype(int)  # equal counts are equal scores
        order = pd.MultiIndex.from_product(
            [self.procedures, AVERAGINGS, self.systems, METRICS], names=["procedure", "averaging", "system", "metric"]
        )
        frame = frame.set_index(order.names).reindex(order).reset_index()
        return frame.assign(documents=len(self.documents), left_out=self.left_out["document"].nunique())

    def scores(self, procedure: Procedure = "parseval", averaging: Averaging = "micro") -> pd.DataFrame:
        """Return F1 as a table: one row per system, one column per metric.

        Parameters
        ----------
        procedure : {"rst-parseval", "parseval"}
            Procedure of the scores.
        averaging : {"micro", "macro"}
            Whether counts are added up, or F1 is averaged over documents.

        Returns
        -------
        DataFrame
            F1 between 0 and 1.

        Raises
        ------
        ConfigError
            If the procedure was not applied, or the averaging is unknown.
        """
        self._check(procedure, averaging)
        frame = self.to_frame()
        rows = frame[(frame["procedure"] == procedure) & (frame["averaging"] == averaging)]
        table = rows.pivot(index="system", columns="metric", values="f1").reindex(self.systems)
        return table[list(METRICS)].rename_axis(index="system", columns=None)

    def averagings(self) -> pd.DataFrame:
        """Return micro and macro F1 side by side, with ranks of the systems and whether these differ."""
        return self._beside("averaging", AVERAGINGS)

    def between_procedures(self) -> pd.DataFrame:
        """Return F1 of both procedures side by side, with ranks of the systems and whether these differ.

        Raises
        ------
        ConfigError
            If only one procedure was applied.
        """
        if len(self.procedures) < 2:
            raise ConfigError("only one procedure was applied; there is nothing to compare it with.")
        return self._beside("procedure", self.procedures)

    def _beside(self, column: str, values: Sequence[str]) -> pd.DataFrame:
        frame = self.to_frame()
        keys = [name for name in ("procedure", "averaging", "system", "metric") if name != column]
        parts = [frame[frame[column] == value].set_index(keys)[["f1", "rank"]] for value in values]
        one, other = values
        table = pd.DataFrame({one: parts[0]["f1"], other: parts[1]["f1"]})
        table["difference"] = table[other] - table[one]
        table[f"rank_{one}"], table[f"rank_{other}"] = parts[0]["rank"], parts[1]["rank"]
        table["rank_changes"] = table[f"rank_{one}"] != table[f"rank_{other}"]
        return table.reset_index()

    def relations(self, procedure: Procedure = "parseval", metric: Metric = "R") -> pd.DataFrame:
        """Return one row per system and relation, the most frequent of the reference first.

        Parameters
        ----------
        procedure : {"rst-parseval", "parseval"}
            Procedure of the scores.
        metric : {"R", "F"}
            Whether an item is right by span and relation, or also by nuclearity.

        Returns
        -------
        DataFrame
            Columns ``system``, ``relation``, ``precision``, ``recall``, ``f1``, ``true_positives``, ``gold``,
            ``predicted``, and ``span_recall``, the part of the items of the reference whose span was found. The mean
            of ``f1`` over relations is not the macro average of `to_frame`, which is over documents.

        Raises
        ------
        ConfigError
            If the procedure was not applied, or the metric does not compare relations.
        """
        self._check(procedure)
        if metric not in ("R", "F"):
            raise ConfigError(f"{option('metric')} is R or F, which compare relations; got {metric!r}.")
        keys = ["system", "relation"]
        items = self.items[self.items["procedure"] == procedure].groupby(keys)
        predicted = self.predicted[self.predicted["procedure"] == procedure].groupby(keys).size()
        table = pd.DataFrame({"true_positives": items[metric].sum(), "gold": items.size(), "predicted": predicted})
        table = table.fillna(0).astype(int)
        ratios = _ratios(table["true_positives"], table["gold"], table["predicted"])
        table = pd.concat([ratios, table], axis=1).assign(span_recall=items["S"].mean())
        table = table.reset_index()
        table["system"] = pd.Categorical(table["system"], self.systems)
        table = table.sort_values(["system", "gold", "relation"], ascending=[True, False, True], ignore_index=True)
        return table.astype({"system": object})

    def outcomes(self, procedure: Procedure = "parseval", metric: Metric = "F") -> Outcomes:
        """Return items of the reference as found or not by each system, for models of outcomes.

        Items of the reference only are shared by all systems, so that this is recall; see `langdiff.Outcomes`.

        Parameters
        ----------
        procedure : {"rst-parseval", "parseval"}
            Procedure that says what an item is.
        metric : {"S", "N", "R", "F"}
            Labels that have to be right; S: the span alone.

        Returns
        -------
        Outcomes
            Items × systems, one trial per cell. Attributes of the items are ``document``, ``relation``, ``nuclearity``
            and ``length`` (EDUs, or characters).

        Raises
        ------
        ConfigError
            If the procedure was not applied, or the metric is unknown.
        """
        self._check(procedure)
        check_choice("metric", metric, METRICS)
        rows = self.items[self.items["procedure"] == procedure]
        spans = rows["first"].astype(str) + "-" + rows["last"].astype(str)
        rows = rows.assign(item=rows["document"] + "/" + spans, length=rows["last"] - rows["first"] + 1)
        parts = {system: part.set_index("item") for system, part in rows.groupby("system")}
        items = parts[self.systems[0]][["document", "relation", "nuclearity", "length"]]
        successes = pd.DataFrame({system: parts[system][metric].astype(float) for system in self.systems})
        return Outcomes(successes=successes.reindex(items.index), items=items, name=f"{procedure} {metric}")

    def effects(
        self, metric: Metric = "F", *, procedure: Procedure = "parseval", averaging: Averaging = "micro"
    ) -> Effects:
        """Return F1 of the systems with errors by document, which all functions of effects take.

        Parameters
        ----------
        metric : {"S", "N", "R", "F"}
            Metric of the scores.
        procedure : {"rst-parseval", "parseval"}
            Procedure of the scores.
        averaging : {"micro", "macro"}
            Whether counts are added up, or F1 is averaged over documents that have more than one EDU in the reference.

        Returns
        -------
        Effects
            F1 by system; differences are in points, ratios are those of ``effects.ratio``.

        Raises
        ------
        ConfigError
            If a setting is unknown.
        """
        self._check(procedure, averaging)
        check_choice("metric", metric, METRICS)
        counts = self.counts().loc[procedure]
        if averaging == "macro":
            counts = counts[counts["gold"] > 0]
        both = counts["gold"] + counts["predicted"]
        hits, sizes = (part.unstack("system")[list(self.systems)] for part in (2 * counts[metric], both))
        named = join_signature({"procedure": procedure, "metric": metric, "averaging": averaging})
        return Effects.of_ratios(
            hits,
            sizes,
            Units("document", hits.index.map(str)),
            shares("f1"),
            macro=averaging == "macro",
            title=f"{procedure} {metric}",
            signature=f"{self.signature}|{named}",
        )

    def compare(
        self, *, procedure: Procedure = "parseval", metric: Metric = "F", averaging: Averaging = "micro"
    ) -> Pairs:
        """Compare F1 of all pairs of systems, by documents; see `effects` and `langdiff.Pairs`.

        Parameters
        ----------
        procedure, metric, averaging
            Procedure, score and mean, as of `effects`.

        Raises
        ------
        ConfigError
            If a setting is unknown.
        DataError
            If there is only one system, or one document with items.
        """
        effects = self.effects(metric, procedure=procedure, averaging=averaging)
        pairs = effects.pairs()
        effects.warn_of_few()
        return pairs

    def _notes(self) -> Iterator[str]:
        yield from [self.effects(procedure=self.procedures[-1]).words, ""]
        if len(self.systems) > 1:
            yield from [*self._rank_changes(), ""]
        if self.skipped:
            yield from [f"Means without the {len(self.skipped)} document(s) of one EDU in the reference.", ""]
        if len(self.left_out):
            yield from [*self._left_out(), ""]
        if self.dropped:
            number = f"{sum(self.dropped.values()):,} detached EDU(s) of {len(self.dropped):,} document(s)"
            yield from [f"Dropped on all sides: {number}.", ""]
        if self.secondary_edges:
            number = f"{self.secondary_edges:,} secondary edge(s)"
            yield from [f"The {number} of the reference are not part of trees and were ignored.", ""]

    def tables(self) -> list[Shown]:
        """Return F1 in percent by procedure and averaging, with numbers of items."""
        frame, found = self.to_frame(), []
        for procedure, averaging in product(self.procedures, AVERAGINGS):
            means = "counts added up" if averaging == "micro" else "mean over documents"
            table = 100 * self.scores(procedure, averaging)
            own = frame[(frame["procedure"] == procedure) & (frame["averaging"] == averaging)]
            table["items"] = own.groupby("system")["gold"].first()
            caption = f"F1 in percent, {procedure}, {averaging} ({means})"
            printing = {"float_format": "{:.1f}".format, "index_names": False}
            found.append(Shown(table, f"{procedure}-{averaging}", caption, printing=printing))
        return [*found, Shown(notes=tuple(self._notes()))]

    def _lines(self) -> Iterator[str]:
        yield from ()

    def _left_out(self) -> list[str]:
        """Return lines with the number of documents left out and the reason for each."""
        number = self.left_out["document"].nunique()
        lines = [f"{number:,} of {number + len(self.documents):,} documents are left out, as they cannot be compared:"]
        for document, system, file, line, reason in self.left_out.astype(object).to_numpy():
            why = reason if pd.isna(file) else Fault(file, None if pd.isna(line) else line, reason)
            lines.append(f"  {document} ({system}): {why}")
        return lines

    def _rank_changes(self) -> Iterator[str]:
        both = [("the two averagings", self.averagings())]
        if len(self.procedures) > 1:
            both.append(("the two procedures", self.between_procedures()))
        for what, table in both:
            changed = table[table["rank_changes"]]
            names = ", ".join(dict.fromkeys(changed["system"] + " (" + changed["metric"] + ")"))
            yield f"Ranks that differ between {what}: {names or 'none'}."

    def plot(self, ax: "Axes | None" = None, *, procedure: Procedure = "parseval", **options: Any) -> "Axes":
        """Draw the recall of each relation; see `langdiff.plots.plot_discourse_relations`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        procedure : {"rst-parseval", "parseval"}
            Procedure of the scores.
        **options
            Options of the function that draws.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        return drawing("plot_discourse_relations")(self.relations(procedure), ax, **options)

    def _check(self, procedure: str, averaging: str = "micro") -> None:
        if procedure not in self.procedures:
            raise ConfigError(f"procedure is one that was applied, {' or '.join(self.procedures)}; got {procedure!r}.")
        if averaging not in get_args(Averaging):
            raise ConfigError(f"{option('averaging')} is micro or macro; got {averaging!r}.")

    def __repr__(self) -> str:
        """Return a line with the numbers of systems and documents, and the binarization."""
        return (
            f"DiscourseEvaluation of {len(self.systems)} system(s) on {len(self.documents)} document(s), "
            f"binarization {self.binarization}"
        )


def _ratios(true_positives: pd.Series, gold: pd.Series, predicted: pd.Series) -> pd.DataFrame:
    """Return precision, recall and F1; 0 where the denominator is 0."""
    with np.errstate(invalid="ignore"):
        precision, recall = true_positives / predicted, true_positives / gold
        f1 = 2 * true_positives / (gold + predicted)  # the harmonic mean of the two
    return pd.DataFrame({"precision": precision, "recall": recall, "f1": f1}).fillna(0.0)
