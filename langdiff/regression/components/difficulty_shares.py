"""What share of the differences between languages is their own: `difficulty_shares`, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.errors import ConfigError, listing
from langdiff.regression.clustering import AnyClusters
from langdiff.regression.components.share_tables import (
    CORPUS,
    EDITION,
    FEWEST_LANGUAGES,
    FEWEST_SEVERAL,
    LANGUAGE,
    LM,
    REST,
    Observed,
    Table,
    choose_editions,
    observe_editions,
    terms_of,
)
from langdiff.regression.components.shares import (
    Corpora,
    agreements,
    check_enough,
    correlations,
    shares_by_corpus,
    stays,
    table_of_shares,
    told_apart,
)
from langdiff.tables.effects import Effects
from langdiff.tables.rule import Scale

MOST_CORPORA = 1000


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DifficultyShares(Result):
    """Variance components of difficulties in several tables.

    Attributes
    ----------
    frame : DataFrame
        See `to_frame`.
    difficulties : DataFrame, shape (L, G)
        Difficulty of each language in each table, the mean over its editions, nats, with mean 0; NaN where a table
        lacks it.
    facets : DataFrame, G rows
        Facets of the tables.
    means : DataFrame
        Of the languages that all corpora have: ``difficulty``, the mean over corpora, and ``variance`` of it, nats
        squared, for other corpora, editions and models.
    error : float
        Variance that test intents give to the mean of a language over all tables, nats squared.
    correlations : DataFrame
        One row per pair of corpora with the same other facets: ``one``, ``other``, these facets, ``n`` languages,
        ``pearson`` with ``low`` and ``high``, ``spearman``, and ``disattenuated``. Each pair has all languages that
        both corpora have.
    agreement : DataFrame
        One row per facet and pair of its levels: see `texts`.
    corpora : DataFrame
        See `by_corpus`.
    editions : DataFrame
        One row per edition and corpus: ``corpus``, ``language``, ``edition`` and ``difficulty``, its mean over the
        other facets, nats, less the mean of each table.
    nested : bool
        Whether editions are a component of their own.
    notes : tuple of str
        What to know of the tables.
    """

    frame: pd.DataFrame
    difficulties: pd.DataFrame
    facets: pd.DataFrame
    means: pd.DataFrame
    error: float
    correlations: pd.DataFrame
    agreement: pd.DataFrame
    corpora: pd.DataFrame
    editions: pd.DataFrame
    nested: bool = False
    notes: tuple[str, ...] = field(default=())

    plot = Drawn("plot_shares")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per component.

        Returns
        -------
        DataFrame
            Indexed by component, such as ``language``, ``language:corpus``, ``edition``: ``variance`` of difficulties,
            nats squared, at least 0; ``unconstrained``, which may be negative; ``share`` of the sum of all with ``low``
            and ``high``, 95 %; ``corpus_low`` and ``corpus_high``, the range of shares when one corpus is left out,
            where there are three; and ``family_low`` and ``family_high``, the same of families, where they are known.
        """
        return self.frame.copy()

    def by_corpus(self) -> pd.DataFrame:
        """Return components where what changes with the corpus, and editions, differ between corpora.

        Returns
        -------
        DataFrame
            One row per corpus and component: ``corpus``, ``component``, ``variance``, and ``share`` of the variance in
            that corpus with ``low`` and ``high``. What does not change with the corpus has one variance for all.
        """
        return self.corpora.copy()

    def texts(self, facet: str = CORPUS) -> pd.DataFrame:
        """Return how well one text of a corpus agrees with one of another on which languages are hard.

        Parameters
        ----------
        facet : str
            Another facet of the tables, such as ``"size"``.

        Returns
        -------
        DataFrame
            Twice the covariance of difficulties over the sum of their variances, errors of test intents out: 1 if they
            agree. On the diagonal, of two editions of one language; NaN where fewer than five languages have several.

        Raises
        ------
        ConfigError
            If there is no such facet.
        """
        own = self.agreement[self.agreement["facet"] == facet]
        if own.empty:
            raise ConfigError(f"no facet {facet!r}; there are {listing(self.agreement['facet'].unique())}.")
        levels = list(dict.fromkeys(own["one"]))
        table: pd.DataFrame = own.pivot(index="one", columns="other", values="agreement").loc[levels, levels]
        return table.rename_axis(None, axis=1)

    @property
    def stable(self) -> Effects:
        """Mean difficulty of each language over all corpora, with errors that hold for other corpora and models.

        Only of languages that all corpora have. The variance of a mean is that of every component but the language's
        own, each over its number of levels, and of test intents: ``shares.stable.pairs()`` tells which languages differ
        beyond the corpora that were at hand. Degrees of freedom are those of language × corpus.
        """
        values = self.means["difficulty"] - self.means["difficulty"].mean()
        names, count = values.index, len(values)
        centring = np.eye(count) - 1 / count
        covariance = centring * self.means["variance"].to_numpy() @ centring
        levels = int(self.facets[CORPUS].nunique())
        freedom = float((count - 1) * (levels - 1)) if levels > 1 else float(count - 1)
        return Effects.from_covariance(
            values.rename_axis(LANGUAGE),
            pd.DataFrame(covariance, names, names),
            freedom,
            scale=Scale(centre="mean"),
            title=f"{len(self.facets)} tables",
        )

    @property
    def _own(self) -> float:
        return float(self.frame["variance"].iloc[0])

    def _error_variance(self, counts: Mapping[str, int]) -> float:
        """Return the variance of a mean over given numbers of levels, by default those of the tables."""
        own = {str(name): int(self.facets[name].nunique()) for name in self.facets}
        levels = own | dict(counts)
        of = {EDITION: [CORPUS], f"{EDITION}:{LM}": [CORPUS, LM], REST: list(levels)}
        total = self.error * own[CORPUS] / levels[CORPUS]  # learners and sizes share the test intents of a corpus
        for component, variance in self.frame["variance"].iloc[1:].items():
            facets = of.get(str(component), str(component).split(":")[1:])
            total += float(variance) / np.prod([levels[name] for name in facets])
        return float(total)

    def reliability(self, **counts: int) -> float:
        """Return the share of a mean's variance that is the language's own, for given numbers of levels.

        Parameters
        ----------
        **counts
            Numbers of levels by facet, such as ``corpus=1`` or ``lm=5``; by default those of the tables. Each corpus
            has one edition.

        Raises
        ------
        ConfigError
            If there is no such facet, or a number is below 1.
        """
        self._check(counts)
        return self._own / (self._own + self._error_variance(counts))

    def pairs_expected(self, **counts: int) -> float:
        """Return the share of pairs of languages that such tables are expected to tell apart, all held at once.

        Parameters
        ----------
        **counts
            Numbers of levels by facet, such as ``corpus=10``; by default those of the tables. Each corpus has one
            edition.

        Raises
        ------
        ConfigError
            If there is no such facet, a number is below 1, or there is one corpus.

        Examples
        --------
        >>> import langdiff as ld
        >>> shares = ld.difficulty_shares(ld.datasets.three_corpora())
        >>> shares.pairs_expected() < shares.pairs_expected(corpus=20)
        True
        """
        self._check(counts)
        corpora = counts.get(CORPUS, int(self.facets[CORPUS].nunique()))
        if corpora < 2:
            raise ConfigError("one corpus does not tell how corpora vary: give corpus=2 or more.")
        variance = self._error_variance({**counts, CORPUS: corpora})
        return told_apart(len(self.difficulties), corpora, self._own / max(variance, np.finfo(float).tiny))

    def corpora_needed(self, share: float = 0.5) -> int | None:
        """Return how many corpora are expected to tell a share of the pairs apart; None for more than 1,000.

        Parameters
        ----------
        share : float
            Between 0 and 1.

        Raises
        ------
        ConfigError
            If the share is not between 0 and 1.
        """
        if not 0 < share < 1:
            raise ConfigError(f"share is between 0 and 1, not {share!r}.")
        if self.pairs_expected(corpus=MOST_CORPORA) < share:
            return None
        low, high = 1, MOST_CORPORA
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.pairs_expected(corpus=middle) >= share else (middle, high)
        return high

    def _check(self, counts: Mapping[str, int]) -> None:
        unknown = [name for name in counts if name not in self.facets]
        if unknown:
            raise ConfigError(f"no facet {listing(unknown)}; there are {listing(self.facets)}.")
        if bad := [name for name, value in counts.items() if not value >= 1]:
            raise ConfigError(f"{bad[0]} must be at least 1, got {counts[bad[0]]!r}.")

    def _table(self) -> pd.DataFrame:
        kept = self.frame.drop(columns=["variance", "unconstrained"])
        table = (100 * kept).add_suffix(" (%)").round(1)
        table.insert(0, "s.d. (%)", (100 * self.frame["variance"].to_numpy(dtype=float) ** 0.5).round(2))
        return table

    def _notes(self) -> list[str]:
        few = [f"{self.facets[name].nunique()} of {name}" for name in self.facets if self.facets[name].nunique() <= 3]
        told = list(self.notes)
        if few:
            told.append(f"components are about these levels, which are few: {', '.join(few)}")
        if not self.nested:
            told.append(
                "with one edition per language and corpus, what changes with the corpus is the edition's as well"
            )
        return told

    def __repr__(self) -> str:
        """Return a one-line description with the share of the language."""
        own = self.frame.iloc[0]
        without = ""
        if "corpus_low" in own:
            without = f"; without one corpus {own['corpus_low']:.2f} to {own['corpus_high']:.2f}"
        return (
            f"DifficultyShares: {len(self.difficulties)} languages in {len(self.facets)} tables; the language's own "
            f"share is {own['share']:.2f} ({own['low']:.2f} to {own['high']:.2f}{without})"
        )


def difficulty_shares(
    tables: Mapping[str, Table],
    *,
    languages: Any = None,
    facets: pd.DataFrame | None = None,
    editions: Literal["auto", "nested", "mean", "representative"] = "auto",
    edition_info: pd.DataFrame | None = None,
    corpora: Corpora = "fixed",
    clusters: AnyClusters | None = "auto",
) -> DifficultyShares:
    """Estimate what share of the differences between languages is the same in all corpora, editions and models.

    Components are estimated by restricted maximum likelihood from the mean of ln bits of each edition in each table;
    the errors that test intents give to it are known and taken out. Intervals are the wider of two: by leaving out one
    language at a time, on the logit, and to first order from the likelihood.

    Parameters
    ----------
    tables : mapping from str to Surprisals or Series
        Tables by name; or a Series of bits by edition where there are no intents, as of a compressor, whose errors are
        then not known and are taken as 0.
    languages : mapping, Series or DataFrame
        Language of each edition; a frame has ``glottocode`` or ``language``, and perhaps ``family``. A language that is
        in one corpus only is used, too. By default that of `edition_info`.
    facets : DataFrame, optional
        Columns ``corpus``, ``genre``, ``lm``, ``size``, ``seed`` and any others of the tables, indexed by their names;
        those with one value are left out, and an unknown value agrees with all. By default the attribute ``facets`` of
        `tables`, or what the tables tell: tables with the same test intents are of one corpus.
    editions : {"auto", "nested", "mean", "representative"}
        What to do with several editions of a language in a corpus: give them a component of their own, which takes
        five languages with two editions in a corpus; take their mean; or take those that `edition_info` names. By
        default nested where that can be, else the mean.
    edition_info : DataFrame, optional
        Indexed by edition: ``language`` or ``glottocode``, ``family``, ``representative``, and ``same_as``, an edition
        of which this one is a copy, which is left out. By default the attribute ``editions`` of `tables`.
    corpora : {"fixed", "random"}
        Whether intervals are about these corpora, with languages like these, or about others like them, which takes
        four corpora.
    clusters : "auto", str, mapping, Series or None
        Clusters of intents, found in each corpus as `langdiff.fit` finds them, or a column of the attributes of
        intents; None for independent intents.

    Returns
    -------
    DifficultyShares
        Components, shares and their intervals; correlations between corpora; the stable part of each language.

    Raises
    ------
    ConfigError
        If there is one table, languages or facets lack an edition or a table, or corpora are random and fewer than
        four.
    DataError
        If fewer than eight languages are in two corpora, two tables have the same facets, facets are confounded, or
        tables of one corpus have other test intents.

    References
    ----------
    Harville (1977), "Maximum likelihood approaches to variance component estimation"; Searle, Casella and McCulloch
    (1992), "Variance Components"; Brennan (2001), "Generalizability Theory".

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(200, 10, seed=1).surprisals
    >>> tables = {"first": table.sel(intents=table.intents[:100]), "second": table.sel(intents=table.intents[100:])}
    >>> found = difficulty_shares(tables, languages={edition: edition for edition in table.editions})
    >>> found.frame["share"].round(2).to_dict()
    {'language': 1.0, 'language:corpus': 0.0}
    """
    edition_info = getattr(tables, "editions", None) if edition_info is None else edition_info
    facets = getattr(tables, "facets", None) if facets is None else facets
    every = observe_editions(tables, languages, facets, edition_info, clusters)
    found, nested = choose_editions(every, editions, edition_info)
    check_enough(found, FEWEST_LANGUAGES)
    frame = table_of_shares(found, nested=nested, corpora=corpora)
    for facet in found.facets:
        if (name := f"{LANGUAGE}:{facet}") not in frame.index and found.facets[facet].nunique() > 1:
            found.notes.append(f"{facet} goes together with another facet: {name} is not told from it")
    means, error = _means(found, frame, nested=nested)
    return DifficultyShares(
        frame=frame,
        difficulties=found.difficulties(),
        facets=found.facets,
        means=means,
        error=error,
        correlations=correlations(found),
        agreement=_agreement(found),
        corpora=_by_corpus(found, nested=nested),
        editions=_of_editions(found.rows),
        nested=nested,
        notes=tuple(found.notes),
    )


def _means(found: Observed, frame: pd.DataFrame, *, nested: bool) -> tuple[pd.DataFrame, float]:
    """Return the mean of each language over corpora with its variance, and the mean variance by test intents."""
    blocks, _ = found.blocks(terms_of(found.facets, nested=nested))
    of_table = found.rows.groupby("table")["y"].transform("mean")
    variances = frame["variance"].to_numpy()
    rows, errors = {}, []
    for language, block, kept in zip(found.languages, blocks, stays(found), strict=True):
        if not kept:
            continue
        own = found.rows[found.rows[LANGUAGE] == language]
        weights = (1 / own.groupby(CORPUS)["y"].transform("size") / own[CORPUS].nunique()).to_numpy()
        by_intents = float(weights @ block.errors @ weights)
        variance = sum(
            v * float(weights @ part @ weights) for v, part in zip(variances[1:], block.parts[1:], strict=True)
        )
        rows[language] = {
            "difficulty": float(weights @ (own["y"] - of_table[own.index])),
            "variance": variance + by_intents,
        }
        errors.append(by_intents)
    table = pd.DataFrame.from_dict(rows, orient="index", columns=["difficulty", "variance"])
    return table.rename_axis(LANGUAGE), float(np.mean(errors)) if errors else float("nan")


def _agreement(found: Observed) -> pd.DataFrame:
    long = []
    for facet in found.facets:
        table = agreements(found, str(facet))
        long += [(str(facet), one, other, table.at[one, other]) for other in table for one in table.index]
    return pd.DataFrame(long, columns=["facet", "one", "other", "agreement"])


def _of_editions(rows: pd.DataFrame) -> pd.DataFrame:
    less = rows.assign(difficulty=rows["y"] - rows.groupby("table")["y"].transform("mean"))
    return less.groupby([CORPUS, LANGUAGE, EDITION], sort=False)["difficulty"].mean().reset_index()


def _by_corpus(found: Observed, *, nested: bool) -> pd.DataFrame:
    """Return components with those of corpora apart, and shares of the variance in each corpus."""
    counts = found.rows.drop_duplicates([CORPUS, LANGUAGE, EDITION]).groupby([CORPUS, LANGUAGE]).size()
    several = (counts > 1).groupby(level=CORPUS).sum()
    return shares_by_corpus(found, nested=nested and bool((several >= FEWEST_SEVERAL).any()))
