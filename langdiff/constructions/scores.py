"""Scores of parsers on constructions, the result of an evaluation."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import pandas as pd

from langdiff.base.result import Result, drawing
from langdiff.constructions import tables
from langdiff.errors import ConfigError
from langdiff.tables.outcomes import Outcomes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
        ``polarity``, ``distance`` (words), ``outcome`` (``found``, ``not found``, ``no parse``, ``not mapped``),
        ``correct``.
    coverage : DataFrame
        One row per parser and treebank: ``parser``, ``treebank``, ``items``, ``no_parse`` (items without a block) and
        ``empty`` (blocks without lines).
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

        Columns are ``correct``, ``targets``, ``recall``, ``low`` and ``high`` (its 95 % Wilson interval), ``mapped``
        (whether the parser has a rule for the type) and ``no_parse`` (targets whose sentences it has not parsed).
        """
        return tables.recall_by_column(self.judgements)

    def by_phenomenon(self) -> pd.DataFrame:
        """Return ``mean`` (of the types' recalls) and ``pooled`` recall with its interval, by phenomenon and parser."""
        return tables.recall_by_phenomenon(self.to_frame(), self.judgements)

    def by_parser(self) -> pd.DataFrame:
        """Return ``macro`` (mean over phenomena) and ``micro`` (pooled) recall by parser, and its coverage."""
        table = tables.recall_by_parser(self.by_phenomenon(), self.judgements)
        counts = self.coverage.groupby("parser", sort=False)[["items", "no_parse", "empty"]].sum()
        return table.merge(counts.reset_index(), on="parser")

    def by_distance(self) -> pd.DataFrame:
        """Return recall of positive targets by parser and band of surface distance."""
        return tables.recall_by_distance(self.judgements)

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
        return tables.compare_parsers(self.judgements, first, second)

    def outcomes(self) -> Outcomes:
        """Return right and wrong as a table of items × systems: items are targets, systems are parsers.

        Returns
        -------
        Outcomes
            One trial per cell; a target without a parse is a failure. Attributes of items are ``construction``,
            ``type``, ``sentence`` (for errors that sentences have in common) and ``distance``.
        """
        own = self.judgements
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
        yield f"Recall of targets, {self.name}{kind}, 95 % Wilson intervals"

    def _table(self) -> pd.DataFrame:
        wide = self.to_frame()
        wide["cell"] = [
            f"{row.recall:.2f} [{row.low:.2f}, {row.high:.2f}]" + ("" if row.mapped else " not mapped")
            for row in wide.itertuples()
        ]
        targets = wide.drop_duplicates(["phenomenon", "type"]).set_index(["phenomenon", "type"])["targets"]
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
        yield CAUTION

    def summary(self) -> str:
        """Return recall by column and by parser as text, with cautions and the signature."""
        parsers = self.by_parser().to_string(index=False, float_format="{:.3f}".format)
        lines = [*self._lines(), self._table().to_string(**self.printing), "", parsers]
        return "\n".join([*lines, *self._notes(), *self._signed()])

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
