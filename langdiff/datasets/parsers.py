"""Published scores of parsers of syntax (Bender et al. 2011) and discourse (Morey et al. 2017); answers of parsers."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import pandas as pd

from langdiff.base.grids import Shown
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

    def _lines(self) -> Iterator[str]:
        yield "Published F1 in percent (Morey, Muller and Asher 2017), not computed here; micro averages"

    def tables(self) -> list[Shown]:
        """Return both tables with their marks."""
        found = []
        for number, rows in self.scores.groupby("table"):
            table = rows[["system", *METRICS]].copy()
            table["system"] += rows["asterisks"].where(rows["asterisks"] == "", " " + rows["asterisks"])
            table["mark"] = rows["source"].map(MARKS)
            caption = f"Table {number}: {rows['procedure'].iloc[0]}"
            found.append(Shown(table, f"table-{number}", caption, printing={"index": False}))
        notes = (
            "c: confirmed by a public page that cites the paper. m: from memory, not checked.",
            "**: predictions by an improved, unpublished version of the parser.",
        )
        return [*found, Shown(notes=notes)]

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


MODELS = {  # embedding and encoder
    "learned-word": ("learned-word", "bilstm"),
    "word2vec": ("word2vec", "bilstm"),
    "learned-subword": ("learned-subword", "transformer"),
    "latin-bert": ("bert", "none"),
    "latin-bert-bilstm": ("bert", "bilstm"),
    "latin-bert-transformer": ("bert", "transformer"),
    "chinese-bert": ("bert", "none"),
    "chinese-bert-bilstm": ("bert", "bilstm"),
    "chinese-bert-transformer": ("bert", "transformer"),
}
MATCHES = ("EPM", "MPBM", "MBAWO", "MWO")
_KEYS = ["corpus", "model", "scheme"]


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Bothwell2023(Result):
    """Figures of "Introducing Rhetorical Parallelism Detection" (EMNLP 2023).

    Of every model and tagging scheme there is one row per metric: that of the best of eight trials with random
    settings, by MBAWO on the optimization part. The texts are not shipped.

    Attributes
    ----------
    scores : DataFrame
        One row per corpus (``ASP``, ``PSE-I``), ``model``, ``scheme`` and ``metric`` (EPM, MPBM, MBAWO, MWO):
        ``precision``, ``recall`` and ``f1`` on the test part; ``embedding``, ``encoder``, ``tagset`` and ``link``.
    settings : DataFrame
        One row per corpus, model and scheme, with the same keys: ``table`` of the paper, ``activation``, ``blending``,
        ``depth``, ``heads``, ``hidden_size`` (of a BiLSTM both directions together, of a Transformer the width of its
        feed-forward layer), ``input_size``, ``lemmatized``, ``learning_rate``; missing where the model has no such
        setting or the paper does not print it.

    Notes
    -----
    Figures only, which are facts; cite the paper. The scores are those of the authors' results (Mythologos/Intro-RPD,
    which states no licence), rounded to six decimals; the settings are those of the paper's Tables 14 to 18. Latin BERT
    with a Transformer has the same settings for BIOM-TD and BIOM-BD, though the scores differ: one may be a misprint.

    Examples
    --------
    >>> figures = bothwell2023()
    >>> figures
    Bothwell2023: 576 scores and 144 settings of 9 models under 16 tagging schemes
    >>> figures.setting("ASP/learned-word/BIO-TD").dropna().to_dict()["hidden_size"]
    384
    """

    scores: pd.DataFrame
    settings: pd.DataFrame

    def setting(self, key: str) -> pd.Series:
        """Return the best setting of a model under a tagging scheme.

        Parameters
        ----------
        key : str
            Corpus, model and scheme, such as ``"ASP/learned-word/BIO-TD"``.

        Returns
        -------
        Series
            The row of `settings`.

        Raises
        ------
        ConfigError
            If there is none.
        """
        keys = self.settings["corpus"] + "/" + self.settings["model"] + "/" + self.settings["scheme"]
        found = self.settings[keys == key]
        if found.empty:
            known = ", ".join(dict.fromkeys(keys.str.rpartition("/")[0]))
            raise ConfigError(f"no published setting {key!r}; there are {known}, each with a scheme such as BIO-TD.")
        return found.iloc[0]

    def table(self, corpus: str, metric: str = "EPM") -> pd.DataFrame:
        """Return F1 on the test part: one row per model, one column per tagging scheme.

        Parameters
        ----------
        corpus : {"ASP", "PSE-I"}
            Corpus: Latin sermons (ASP) or Chinese student essays (PSE-I).
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric whose F1 is wanted; exact match (EPM) is the strictest.

        Returns
        -------
        DataFrame
            Table that `langdiff.parallelism.compare_treatments` takes.

        Raises
        ------
        ConfigError
            If corpus or metric is unknown.
        """
        rows = self.scores[(self.scores["corpus"] == corpus) & (self.scores["metric"] == metric)]
        if rows.empty:
            raise ConfigError(f"corpora are ASP and PSE-I, metrics {', '.join(MATCHES)}; got {corpus!r}, {metric!r}.")
        table = rows.pivot_table(index="model", columns="scheme", values="f1", sort=False)
        table.columns.name = None
        return table

    def best(self, metric: str = "EPM") -> pd.DataFrame:
        """Return the best scheme of every model, and mean and standard deviation of F1 over the schemes.

        Parameters
        ----------
        metric : {"EPM", "MPBM", "MBAWO", "MWO"}
            Metric whose F1 is wanted; exact match (EPM) is the strictest.

        Returns
        -------
        DataFrame
            One row per corpus and model: ``scheme``, ``precision``, ``recall``, ``f1``, ``mean``, ``std``.

        Raises
        ------
        ConfigError
            If the metric is unknown.
        """
        if metric not in MATCHES:
            raise ConfigError(f"metrics are {', '.join(MATCHES)}; got {metric!r}.")
        rows = self.scores[self.scores["metric"] == metric].reset_index(drop=True)
        groups = rows.groupby(["corpus", "model"], sort=False)["f1"]
        best = rows.loc[groups.idxmax(), [*_KEYS, "precision", "recall", "f1"]]
        spread = groups.agg(["mean", "std"]).reset_index()
        return best.merge(spread, on=["corpus", "model"])

    def to_frame(self) -> pd.DataFrame:
        """Return the scores, each with its settings."""
        return self.scores.merge(self.settings, on=_KEYS, validate="many_to_one")

    def tables(self) -> list[Shown]:
        """Return the best scheme of every model."""
        caption = "Published F1 (EPM) on the test parts (Bothwell et al. 2023), best scheme of every model"
        return [Shown(self.best().round(4), "best", caption, printing={"index": False})]

    def __repr__(self) -> str:
        """Return the number of figures."""
        models, schemes = self.scores["model"].nunique(), self.scores["scheme"].nunique()
        return (
            f"Bothwell2023: {len(self.scores)} scores and {len(self.settings)} settings of {models} models under "
            f"{schemes} tagging schemes"
        )


def bothwell2023() -> Bothwell2023:
    """Return the published test scores and best settings of parallelism taggers, shipped with the package.

    Returns
    -------
    Bothwell2023
        Scores and settings.

    Examples
    --------
    >>> best = bothwell2023().best().set_index("model")
    >>> best.at["latin-bert", "scheme"], round(float(best.at["latin-bert", "f1"]), 4)
    ('BIOMJ-TD', 0.3989)
    """
    scores = read_shipped("bothwell2023_scores.csv")
    scores[["embedding", "encoder"]] = scores["model"].map(MODELS).to_list()
    scores[["tagset", "link"]] = scores["scheme"].str.split("-", expand=True)
    whole = dict.fromkeys(["depth", "heads", "hidden_size", "input_size"], "Int64")
    settings = read_shipped("bothwell2023_settings.csv", dtype=whole)
    settings["lemmatized"] = settings["lemmatized"].map({"yes": True, "no": False}).astype("boolean")
    return Bothwell2023(scores=scores, settings=settings)
