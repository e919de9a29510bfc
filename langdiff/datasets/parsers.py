"""Published scores of parsers of syntax (Bender et al. 2011) and discourse (Morey et al. 2017); answers of parsers."""

from dataclasses import dataclass
from typing import Literal

import pandas as pd

from langdiff.base.grids import frame_text
from langdiff.base.result import Result
from langdiff.datasets.published_figures import read_shipped
from langdiff.errors import ConfigError
from langdiff.tables.outcomes import Outcomes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Bender2011:
    """Figures of "Parser Evaluation over Local and Non-Local Deep Dependencies in a Large Corpus" (EMNLP 2011).

    Column ``mark`` says how far a figure can be trusted: ``P``, stated in the text at hand (abstract, introduction,
    section on evaluation, captions); ``M``, from memory of the paper's tables and **not verified**; ``D``, our reading
    of a statement that has no number. The tables themselves, the test set and the expressions could not be obtained.

    Attributes
    ----------
    phenomena : DataFrame, 10 rows
        Indexed by ``phenomenon``: ``percent`` of the sentences of Wikipedia and candidates ``vetted`` (Table 1), both
        with mark M.
    distances : DataFrame
        Dependency types by phenomenon with ``average`` and ``maximum`` surface distance in words (Table 3), mark M.
    facts : DataFrame
        Numbers of the whole study: ``fact``, ``value``, ``mark``.
    claims : DataFrame
        Statements on results, as `langdiff.constructions.check_claims` takes them. The statements are marked P;
        ``bound`` says whether the number in ``holds`` is the paper's (P) or our reading (D).

    Examples
    --------
    >>> figures = bender2011()
    >>> figures
    Bender2011: 10 phenomena, 13 claims; figures marked M are not verified
    >>> figures.phenomena.loc["control", ["percent", "mark"]].to_dict()
    {'percent': 3.78, 'mark': 'M'}
    """

    phenomena: pd.DataFrame
    distances: pd.DataFrame
    facts: pd.DataFrame
    claims: pd.DataFrame

    def __repr__(self) -> str:
        """Return the numbers of phenomena and claims, and a caution."""
        return (
            f"Bender2011: {len(self.phenomena)} phenomena, {len(self.claims)} claims; figures marked M are not verified"
        )


def bender2011() -> Bender2011:
    """Return the published figures of Bender et al. (2011), shipped with the package.

    Returns
    -------
    Bender2011
        Frames of frequencies, distances, facts and claims, each with marks.

    Examples
    --------
    >>> bender2011().facts.set_index("fact").loc["regular expressions"].to_dict()
    {'value': '364', 'mark': 'P'}
    """
    return Bender2011(
        phenomena=read_shipped("bender2011_phenomena.csv", index_col="phenomenon"),
        distances=read_shipped("bender2011_distances.csv"),
        facts=read_shipped("bender2011_facts.csv", dtype=str),
        claims=read_shipped("bender2011_claims.csv", dtype=str),
    )


def conll_parsers(treebank: Literal["en_pud", "en_ewt", "en_gum"] = "en_pud", *, rejected: bool = False) -> Outcomes:
    """Return right and wrong answers of the parsers of the CoNLL shared tasks, by target of a construction.

    Targets are dependencies that trees can express, in English PUD (parsers of 2017 and 2018) and in the test parts of
    EWT and GUM (2018). One reader accepted or rejected each. The table has positions of words, and no words.

    Parameters
    ----------
    treebank : {"en_pud", "en_ewt", "en_gum"}
        Treebank whose targets are returned.
    rejected : bool
        Whether targets that the reader rejected are there, too (of PUD none are kept).

    Returns
    -------
    Outcomes
        Items are targets, with ``sentence`` (``sent_id``), ``construction``, ``type``, ``polarity``, ``head`` and
        ``dependent`` (positions from 0), ``verdict`` and ``reason``; systems are parsers, with ``year``, ``las`` (F1 in
        percent), and ``path`` and ``blob`` (git hash) of the output in github.com/pkolachi/depparse-conll-data. A
        target in a sentence that was not parsed, or whose last word was joined to the next, is wrong.

    Raises
    ------
    ConfigError
        If it is another treebank.

    Examples
    --------
    >>> answers = conll_parsers()
    >>> answers
    Outcomes of constructions of en_pud: 244 items × 51 systems, 12,444 trials, 0 of 12,444 cells missing
    >>> answers.systems.groupby("year")["las"].max().to_dict()
    {2017: 83.98, 2018: 87.8}
    """
    systems = read_shipped("conll_parsers_systems.csv").query("treebank == @treebank")
    if systems.empty:
        raise ConfigError(f"{treebank!r} is none of en_pud, en_ewt and en_gum.")
    systems = systems.dropna(subset="las").set_index("system").drop(columns="treebank")
    table = read_shipped("conll_parsers.csv", na_values=[])
    table = table[(table["treebank"] == treebank) & ((table["verdict"] == "yes") | rejected)]
    named = table[["sentence", "construction", "type", "head", "dependent"]].agg("/".join, axis=1)
    table = table.set_index(named.rename("item"))
    return Outcomes(
        successes=table[list(systems.index)].astype(float),
        items=table[["sentence", "construction", "type", "polarity", "head", "dependent", "verdict", "reason"]],
        systems=systems,
        name=f"constructions of {treebank}",
    )


METRICS = ["S", "N", "R", "F"]
MARKS = {"confirmed": "c", "memory": "m"}


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Morey2017(Result):
    """Figures of "How much progress have we made on RST discourse parsing?" (EMNLP 2017).

    F1 in percent on the test set of the RST Discourse Treebank (38 documents, EDUs given, 18 classes, references made
    binary to the right), averaged over items (micro). The treebank and the parsers' output are not free, so that none
    of these figures can be recomputed here.

    Attributes
    ----------
    scores : DataFrame
        One row per table of the paper and system: ``table`` (2 or 4), ``procedure``, ``averaging``, ``system``,
        ``reported_averaging`` (of the system's own publication; empty of human agreement), ``S``, ``N``, ``R``, ``F``;
        ``source``, which is ``confirmed`` if the figures are repeated by the NLP-progress page with reference to the
        paper, else ``memory``: quoted from memory, not checked against the paper; ``asterisks``, the paper's mark of
        predictions by an improved, unpublished version of a parser (``**``; the paper marks predictions that its
        authors reproduced by ``*``, but which rows have it is not known here); and ``underlined``, whether the paper's
        text expects the row to repeat what was published (which of its cells are underlined is not known).

    Notes
    -----
    Tables 1 (scores of the parsers' own publications) and 3 (macro averages) are not known here.

    Examples
    --------
    >>> figures = morey2017()
    >>> figures
    Morey2017: 10 rows of table 2 (rst-parseval), 10 rows of table 4 (parseval)
    >>> figures.table(4).loc["human"].tolist()
    [78.7, 66.8, 57.1, 55.0]
    """

    scores: pd.DataFrame

    def table(self, number: Literal[2, 4]) -> pd.DataFrame:
        """Return S, N, R and F of a table of the paper: one row per system.

        Parameters
        ----------
        number : {2, 4}
            Number of the table: RST-Parseval, or Parseval on attachment decisions.

        Returns
        -------
        DataFrame
            F1 in percent.

        Raises
        ------
        ConfigError
            If it is another table.
        """
        rows = self.scores[self.scores["table"] == number]
        if rows.empty:
            raise ConfigError(f"tables 2 and 4 are known; got {number!r}.")
        return rows.set_index("system")[METRICS]

    def to_frame(self) -> pd.DataFrame:
        """Return the scores."""
        return self.scores.copy()

    def summary(self) -> str:
        """Format both tables with their marks."""
        lines = ["Published F1 in percent (Morey, Muller and Asher 2017), not computed here; micro averages"]
        for number, rows in self.scores.groupby("table"):
            table = rows[["system", *METRICS]].copy()
            table["system"] += rows["asterisks"].where(rows["asterisks"] == "", " " + rows["asterisks"])
            table["mark"] = rows["source"].map(MARKS)
            lines += ["", f"Table {number}: {rows['procedure'].iloc[0]}", frame_text(table, index=False)]
        lines += [
            "",
            "c: confirmed by a public page that cites the paper. m: from memory, not checked.",
            "**: predictions by an improved, unpublished version of the parser.",
        ]
        return "\n".join(lines)

    def __repr__(self) -> str:
        """Return the number of rows of each table."""
        sizes = self.scores.groupby(["table", "procedure"]).size().reset_index(name="rows")
        parts = [f"{row.rows} rows of table {row.table} ({row.procedure})" for row in sizes.itertuples()]
        return f"Morey2017: {', '.join(parts)}"


def morey2017() -> Morey2017:
    """Return the published scores of nine discourse parsers and of human annotators, shipped with the package.

    Returns
    -------
    Morey2017
        Scores, with what is known of where each row comes from.

    Examples
    --------
    >>> morey2017().table(2)["F"].idxmax()
    'human'
    """
    return Morey2017(scores=read_shipped("morey2017_scores.csv", na_values=[]))
