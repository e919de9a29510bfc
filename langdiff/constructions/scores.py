"""Scores of parsers on constructions: the result of an evaluation, and its tables."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from langdiff.base.grids import Shown
from langdiff.base.result import Result, drawing
from langdiff.base.types import Integers
from langdiff.errors import ConfigError, DataError
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Units
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import shares

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CELL = ["phenomenon", "type", "parser"]
RECALL = shares("recall")
NOT_SCORED = "not expressible"  # outcome of targets that the parser's representation has no place for
BANDS = ["1", "2", "3–5", "6–10", "> 10"]
EDGES = [1, 2, 5, 10]  # last distance of each band but the last; halves belong to the band above


def order_columns(table: pd.DataFrame) -> list[tuple[str, str]]:
    """Order the types of dependency for tables and pictures.

    Columns of a phenomenon are adjacent. Within it, the type on which more parsers score higher comes first; of two on
    which as many do, that of the higher mean, then of the name that comes first. Phenomena come in the order of
    their mean recall over parsers and types, the highest first; of equal ones, the code that comes first. A recall
    of NaN (not expressible) does not enter the means, and a type that no parser can express comes last.

    Examples
    --------
    >>> rows = [("rnr", "ARG2:second", 0.2), ("rnr", "ARG2:first", 0.8), ("vpart", "ARG2", 0.9)]
    >>> table = pd.DataFrame(rows, columns=["phenomenon", "type", "recall"]).assign(parser="mine")
    >>> order_columns(table)
    [('vpart', 'ARG2'), ('rnr', 'ARG2:first'), ('rnr', 'ARG2:second')]
    """
    recall = score_matrix(table)
    means = recall.groupby(level="phenomenon").mean().mean(axis=1).round(12).fillna(-1)
    middle = recall.mean(axis=1).round(12).fillna(-1)
    ordered: list[tuple[str, str]] = []
    for phenomenon in sorted(means.index, key=lambda code: (-means[code], code)):
        part = recall.loc[phenomenon]
        places = {kind: (-_majorities(part, kind), -middle[phenomenon, kind], kind) for kind in part.index}
        places |= {kind: (math.inf, 0, kind) for kind in part.index if part.loc[kind].isna().all()}
        ordered += [(str(phenomenon), str(kind)) for kind in sorted(places, key=places.__getitem__)]
    return ordered


def score_matrix(table: pd.DataFrame) -> pd.DataFrame:
    """Return recall as a matrix, phenomena and types × parsers; NaN where a parser cannot express the type."""
    if lacking := [name for name in (*CELL, "recall") if name not in table.columns]:
        raise DataError(f"a table of scores has the columns {', '.join(CELL)} and recall; it lacks {lacking[0]!r}.")
    if table.duplicated(CELL).any():
        first = table.loc[table.duplicated(CELL), CELL].iloc[0]
        raise DataError(f"the table of scores has {' '.join(first)} twice.")
    matrix = table.pivot(index=CELL[:2], columns="parser", values="recall").astype(float)
    there = table.assign(there=True).pivot(index=CELL[:2], columns="parser", values="there").notna().to_numpy()
    if not there.all():
        row, column = np.argwhere(~there)[0]
        cell = " ".join(map(str, matrix.index[row]))
        raise DataError(f"the table of scores has no recall of {str(matrix.columns[column])!r} for {cell}.")
    return matrix


def _majorities(part: pd.DataFrame, kind: str) -> int:
    """Return the number of other types on which most parsers score lower than on this one."""
    higher = [(part.loc[kind] > part.loc[other]).sum() for other in part.index]
    lower = [(part.loc[kind] < part.loc[other]).sum() for other in part.index]
    return sum(int(up > down) for up, down in zip(higher, lower, strict=True))


def is_scored(judgements: pd.DataFrame) -> pd.Series:
    """Return which judgements are of targets that the parser can express."""
    return judgements.get("outcome", pd.Series("", index=judgements.index)) != NOT_SCORED


def recall_by(judgements: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return correct, targets, recall and its 95 % interval for each group, in order of appearance.

    Targets that are not expressible count neither as targets nor as wrong; where there are no others, recall is NaN.
    """
    groups = judgements.assign(scored=is_scored(judgements)).groupby(list(keys), sort=False, observed=True)
    table = groups.agg(correct=("correct", "sum"), targets=("scored", "sum")).reset_index()
    table["recall"] = table["correct"] / table["targets"].where(table["targets"] > 0)
    known, unit = judgements[is_scored(judgements)], units_of(judgements)
    ends = [_ends(own, keys, unit) for _, own in known.groupby("parser", sort=False, observed=True)]
    return table.merge(pd.concat(ends), on=list(keys), how="left") if ends else table.assign(low=np.nan, high=np.nan)


def units_of(judgements: pd.DataFrame) -> str:
    """Return the column of the independent units: documents if there are several, else sentences."""
    return "document" if "document" in judgements and judgements["document"].nunique() > 1 else "item"


def _ends(judgements: pd.DataFrame, keys: Sequence[str], unit: str) -> pd.DataFrame:
    groups, effects = recall_effects(judgements, keys, unit)
    low, high = effects._ends()
    return groups.assign(low=low, high=high)


def recall_effects(
    judgements: pd.DataFrame, keys: Sequence[str], unit: str, **about: Any
) -> tuple[pd.DataFrame, Effects]:
    """Return the groups that have targets, and their recall with errors by the units of a column."""
    judged = judgements.assign(scored=is_scored(judgements))
    sums = judged.groupby([unit, *keys], sort=False, observed=True)[["correct", "scored"]].sum()
    tops, bottoms = (sums[name].unstack(list(keys), fill_value=0) for name in ("correct", "scored"))
    kept = bottoms.columns[bottoms.sum(axis=0) > 0]
    tops, bottoms = (each[kept].set_axis(range(len(kept)), axis=1) for each in (tops, bottoms))
    units = Units("sentence" if unit == "item" else unit, tops.index.map(str))
    return kept.to_frame(index=False), Effects.of_ratios(tops, bottoms, units, RECALL, **about)


def recall_by_column(judgements: pd.DataFrame) -> pd.DataFrame:
    """Return recall by phenomenon, type and parser, in the order of `order_columns`."""
    keys = ["phenomenon", "type", "parser"]
    table = recall_by(judgements, keys)
    outcome = judgements["outcome"]
    known = judgements.assign(mapped=outcome != "not mapped", no_parse=outcome == "no parse").groupby(keys)
    table = table.join(known.agg({"mapped": "any", "no_parse": "sum"}), on=keys)
    places = {column: place for place, column in enumerate(order_columns(table))}
    order = [places[cell] for cell in zip(table["phenomenon"], table["type"], strict=True)]
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def compare_parsers(judgements: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Return McNemar's exact test and the sign-flip test by sentences, by phenomenon, then for all targets."""
    both = judgements[is_scored(judgements)].pivot(
        index=["target", "item", "phenomenon"], columns="parser", values="correct"
    )
    both = both[[first, second]].dropna().astype(int)
    rows = []
    parts = [(code, part) for code, part in both.groupby(level="phenomenon", sort=False)]
    for code, part in [*parts, ("all", both)]:
        difference = part[first] - part[second]
        only_first, only_second = int((difference > 0).sum()), int((difference < 0).sum())
        discordant = only_first + only_second
        of_targets = float(binomtest(only_first, discordant).pvalue) if discordant else 1.0
        of_sentences = sign_flip(difference.groupby(level="item").sum().to_numpy())
        rows.append((code, len(part), only_first, only_second, of_targets, of_sentences))
    columns = ["phenomenon", "targets", f"only {first}", f"only {second}", "p_mcnemar", "p_by_sentence"]
    return pd.DataFrame(rows, columns=columns)


def sign_flip(differences: Integers) -> float:
    """Return the exact two-sided p of a sum of differences under random signs.

    Shapes: differences (n,).

    Examples
    --------
    >>> sign_flip(np.array([1, 1, 1, 1, 1])), sign_flip(np.array([2, 3, 0]))
    (0.0625, 0.5)
    """
    sizes = np.abs(differences[differences != 0]).tolist()
    total = sum(sizes)
    shares = np.zeros(2 * total + 1)  # of the sums -total … total
    shares[total] = 1
    for size in sizes:
        shares = (np.roll(shares, size) + np.roll(shares, -size)) / 2
    return float(shares[np.abs(np.arange(-total, total + 1)) >= abs(differences.sum())].sum())


CAUTION = "Phenomena weigh the same in macro recall, however frequent they are."


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ConstructionScores(Result):
    """Recall of target dependencies by parser, phenomenon and type.

    Attributes
    ----------
    name : str
        Name of the gold set.
    origin : str
        How the gold set came about.
    judgements : DataFrame
        One row per parser and target: ``parser``, ``target`` (its number), ``item``, ``phenomenon``, ``type``,
        ``polarity``, ``distance`` (words), ``outcome`` (``found``, ``not found``, ``no parse``, ``not mapped``, ``not
        expressible``), ``correct``.
    coverage : DataFrame
        One row per parser and treebank: ``parser``, ``treebank``, ``items``, ``no_parse`` (items without a block),
        ``empty`` (blocks without lines) and ``by_text`` (items found by their text).
    left_out : tuple of str
        Treebanks that were left out for all parsers, because one of them has parsed none of their sentences.
    signature : str
        What the scores depend on.
    """

    printing: ClassVar[Mapping[str, Any]] = {"index": False}

    name: str
    origin: str
    judgements: pd.DataFrame
    coverage: pd.DataFrame
    left_out: tuple[str, ...]
    signature: str

    @property
    def parsers(self) -> list[str]:
        """Names of the parsers."""
        return self.coverage["parser"].drop_duplicates().tolist()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per phenomenon, type and parser, easy columns first.

        Columns are ``correct``, ``targets``, ``recall``, ``low`` and ``high`` (95 %, by sentence), ``mapped``
        (whether the parser has a rule for the type) and ``no_parse`` (scored targets in sentences it has not parsed).
        Recall is NaN, of 0 targets, where basic trees cannot express the type.
        """
        return recall_by_column(self.judgements)

    def by_phenomenon(self) -> pd.DataFrame:
        """Return ``mean`` (of the types' recalls) and ``pooled`` recall with its interval, by phenomenon and parser."""
        keys = ["phenomenon", "parser"]
        means = self.to_frame().groupby(keys, sort=False)["recall"].mean().rename("mean")
        pooled = recall_by(self.judgements, keys).rename(columns={"recall": "pooled"})
        return means.reset_index().merge(pooled, on=keys)

    def by_parser(self) -> pd.DataFrame:
        """Return ``macro`` (mean over phenomena) and ``micro`` (pooled) recall by parser, and its coverage.

        ``macro_low`` and ``macro_high`` are the 95 % interval of the first, ``low`` and ``high`` that of the second.
        """
        table = self.by_phenomenon().groupby("parser", sort=False)["mean"].mean().rename("macro").reset_index()
        table = table.merge(recall_by(self.judgements, ["parser"]).rename(columns={"recall": "micro"}), on="parser")
        ends = self.effects("macro").to_frame()[["low", "high"]].add_prefix("macro_")
        table = table.join(ends, on="parser")
        counts = self.coverage.groupby("parser", sort=False)[["items", "no_parse", "empty"]].sum()
        return table.merge(counts.reset_index(), on="parser")

    def by_distance(self) -> pd.DataFrame:
        """Return recall of positive targets by parser and band of surface distance."""
        own = self.judgements[(self.judgements["polarity"] == 1) & self.judgements["distance"].notna()]
        own = own[is_scored(own)]
        bands = pd.cut(own["distance"], [-np.inf, *EDGES, np.inf], labels=BANDS)
        table = recall_by(
            own.assign(band=bands, parser=pd.Categorical(own["parser"], self.parsers)), ["parser", "band"]
        )
        return table.sort_values(["parser", "band"], ignore_index=True).astype({"parser": object})

    def effects(self, averaging: str = "micro") -> Effects:
        """Return recall of the parsers, with errors by sentence (or document), which all functions of effects take.

        Parameters
        ----------
        averaging : {"micro", "macro"}
            Whether targets are added up, or recall is averaged over the types of each phenomenon, and then over
            phenomena.

        Raises
        ------
        ConfigError
            If the averaging is unknown.
        """
        if averaging not in ("micro", "macro"):
            raise ConfigError(f"averaging is micro or macro; got {averaging!r}.")
        own, found = recall_effects(
            self.judgements,
            ["parser"] if averaging == "micro" else ["parser", "phenomenon", "type"],
            units_of(self.judgements),
            title=f"{averaging} recall on {self.name}",
            signature=f"{self.signature}|recall:{averaging}",
        )
        parsers = [name for name in self.parsers if name in set(own["parser"])]
        weights = (np.array(parsers, dtype=object)[:, None] == own["parser"].to_numpy()).astype(float)
        if averaging == "macro":
            of_type = own.groupby(["parser", "phenomenon"])["type"].transform("size")
            weights /= (of_type * own.groupby("parser")["phenomenon"].transform("nunique")).to_numpy()
        return found.linear(weights, pd.Index(parsers, name="parser"), RECALL)

    def compare(self, first: str, second: str) -> pd.DataFrame:
        """Test whether two parsers differ, by phenomenon and for all targets (exact tests).

        Parameters
        ----------
        first, second : str
            Names of two of the parsers.

        Returns
        -------
        DataFrame
            ``targets``, the numbers that only one of the two has right, and the two-sided p of two tests; the last
            row, ``all``, is for all phenomena. ``p_mcnemar`` is McNemar's exact test; it takes targets as
            independent, and is too small if the targets of a sentence are right or wrong together.
            ``p_by_sentence``, which is to be quoted, takes sentences as independent: without a difference between
            the parsers, they could be exchanged in any sentence (sign-flip test of the sentences' differences).

        Raises
        ------
        ConfigError
            If a parser is not among those that were evaluated.
        """
        known = self.parsers
        for parser in (first, second):
            if parser not in known or first == second:
                raise ConfigError(f"two different parsers of {', '.join(known)} are needed; got {first!r}, {second!r}.")
        return compare_parsers(self.judgements, first, second)

    def outcomes(self) -> Outcomes:
        """Return right and wrong as a table of items × systems: items are targets, systems are parsers.

        Returns
        -------
        Outcomes
            One trial per cell; a target without a parse is a failure; one that a parser cannot express is missing, and
            left out if none can. Attributes of items are ``construction``,
            ``type``, ``sentence`` (for errors that sentences have in common) and ``distance``.
        """
        own = self.judgements[is_scored(self.judgements)]
        names = own["item"] + "/" + own["phenomenon"] + "/" + own["target"].astype(str)
        successes = own.assign(name=names, correct=own["correct"].astype(float))
        wide = successes.pivot(index="name", columns="parser", values="correct")
        order = names.drop_duplicates()
        items = successes.drop_duplicates("name").set_index("name")[["phenomenon", "type", "item", "distance"]]
        return Outcomes(
            successes=wide.reindex(index=order, columns=self.parsers),
            items=items.rename(columns={"phenomenon": "construction", "item": "sentence"}),
            name=f"constructions of {self.name}",
        )

    def _lines(self) -> Iterator[str]:
        kind = f" ({self.origin})" if self.origin else ""
        yield f"Recall of targets, {self.name}{kind}, with 95 % intervals"

    def _table(self) -> pd.DataFrame:
        wide = self.to_frame()
        wide["cell"] = [
            f"{row.recall:.2f} [{row.low:.2f}, {row.high:.2f}]".replace("nan, nan", "–")
            + ("" if row.mapped else " not mapped")
            if row.targets
            else "n/a"
            for row in wide.itertuples()
        ]
        targets = wide.groupby(["phenomenon", "type"], sort=False)["targets"].max()
        table = wide.pivot(index=["phenomenon", "type"], columns="parser", values="cell").reindex(targets.index)
        table.insert(0, "targets", targets)
        return table[["targets", *self.parsers]].rename_axis(columns=None).reset_index()

    def _notes(self) -> Iterator[str]:
        """Yield notes on treebanks left out, and on numbers of sentences that parsers did not parse."""
        if self.left_out:
            yield f"Left out, because a parser has not parsed a single sentence: {', '.join(self.left_out)}."
        for parser, own in self.coverage[self.coverage["no_parse"] > 0].groupby("parser", sort=False):
            each = ", ".join(f"{row.no_parse:,} of {row.items:,} of {row.treebank}" for row in own.itertuples())
            yield f"Not parsed by {parser}, and therefore wrong: {each} (sentences)."
        if not is_scored(self.judgements).all():
            yield "n/a: a basic tree cannot express the type; it is not part of the parser's macro and micro recall."
        if self.to_frame().query("targets > 0")["low"].isna().any():
            yield "–: no interval, as all targets are in one sentence."
        yield self.effects().words
        yield CAUTION

    def tables(self) -> list[Shown]:
        """Return recall by column and by parser."""
        printing = {"index": False, "float_format": "{:.3f}".format}
        return [
            Shown(self._table(), "recall", printing=self.printing),
            Shown(self.by_parser(), "parsers", "Recall by parser", tuple(self._notes()), printing),
        ]

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw recall by type of dependency; see `langdiff.plots.plot_constructions`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Settings for ``Axes.errorbar``, which override the defaults.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        return drawing("plot_constructions")(self.to_frame(), ax, title=self.name, **style)

    def __repr__(self) -> str:
        """Return a line with the numbers of parsers, targets and phenomena."""
        targets = self.judgements["target"].nunique()
        return (
            f"ConstructionScores {self.name!r}: {len(self.parsers)} parsers, {targets:,} targets, "
            f"{self.judgements['phenomenon'].nunique()} phenomena"
        )
