"""What share of the differences between languages is their own: `difficulty_shares`, and its result."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters
from langdiff.regression.components.share_tables import CORPUS, FEWEST, Table, correlations, prepare
from langdiff.regression.components.shares import LANGUAGE, classes_of, table_of_shares
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class DifficultyShares(Result):
    """Variance components of difficulties in several tables.

    Attributes
    ----------
    frame : DataFrame
        See `to_frame`.
    difficulties : DataFrame, shape (L, G)
        Difficulty of each language in each table, nats, with mean 0.
    facets : DataFrame, G rows
        Facets of the tables.
    error : float
        Variance that test intents give to the mean of a language over all tables, nats squared.
    correlations : DataFrame
        One row per pair of corpora with the same other facets: ``one``, ``other``, these facets, ``n`` languages,
        ``pearson`` with ``low`` and ``high``, ``spearman``, and ``disattenuated``. Each pair has all languages that
        both corpora have.
    n_left_out : int
        Number of languages that some tables lack.
    notes : tuple of str
        What to know of the tables.
    """

    frame: pd.DataFrame
    difficulties: pd.DataFrame
    facets: pd.DataFrame
    error: float
    correlations: pd.DataFrame
    n_left_out: int = 0
    notes: tuple[str, ...] = field(default=())

    plot = Drawn("plot_shares")

    def to_frame(self) -> pd.DataFrame:
        """Return one row per component.

        Returns
        -------
        DataFrame
            Indexed by component, such as ``language``, ``language:corpus``: ``variance`` of difficulties, nats squared
            (negative where nothing speaks for it); ``share`` of the sum of all, negative ones counted as 0, with
            ``low`` and ``high``, 95 % by leaving out one language at a time; and ``family_low`` and ``family_high``,
            the range of shares when one family is left out, where families are known.
        """
        return self.frame.copy()

    @property
    def stable(self) -> Effects:
        """Mean difficulty of each language over all tables, with errors that hold for other corpora and models.

        The variance of a mean is that of every component but the language's own, each over its number of levels, and of
        test intents: ``shares.stable.pairs()`` tells which languages differ beyond the corpora that were at hand.
        Degrees of freedom are those of language × corpus.
        """
        values = self.difficulties.mean(axis=1)
        names, count = values.index, len(values)
        covariance = (self._error_variance({}) + self.error) * (np.eye(count) - 1 / count)
        levels = int(self.facets[CORPUS].nunique())
        freedom = float((count - 1) * (levels - 1)) if levels > 1 else float(count - 1)
        return Effects.from_covariance(
            values.rename_axis(LANGUAGE),
            pd.DataFrame(covariance, names, names),
            freedom,
            scale=Scale(centre="mean"),
            title=f"{len(self.facets)} tables",
        )

    def _error_variance(self, counts: Mapping[str, int]) -> float:
        """Return the variance of a mean over given numbers of levels, by default those of the tables."""
        levels = {str(name): counts.get(str(name), int(self.facets[name].nunique())) for name in self.facets}
        total = 0.0
        for component, variance in self.frame["variance"].items():
            facets = str(component).split(":")[1:]
            if facets:
                total += max(float(variance), 0.0) / np.prod([levels[name] for name in facets])
        return float(total)

    def reliability(self, **counts: int) -> float:
        """Return the share of a mean's variance that is the language's own, for given numbers of levels.

        Parameters
        ----------
        **counts
            Numbers of levels by facet, such as ``corpus=1`` or ``lm=5``; by default those of the tables.

        Raises
        ------
        ConfigError
            If there is no such facet, or a number is below 1.
        """
        unknown = [name for name in counts if name not in self.facets]
        if unknown:
            raise ConfigError(f"no facet {listing(unknown)}; there are {listing(self.facets)}.")
        if bad := [name for name, value in counts.items() if not value >= 1]:
            raise ConfigError(f"{bad[0]} must be at least 1, got {counts[bad[0]]!r}.")
        own = max(float(self.frame["variance"].iloc[0]), 0.0)
        return own / (own + self._error_variance(counts) + self.error)

    def _table(self) -> pd.DataFrame:
        table = (100 * self.frame.drop(columns="variance")).add_suffix(" (%)").round(1)
        spread = 100 * self.frame["variance"].clip(lower=0).to_numpy(dtype=float) ** 0.5
        table.insert(0, "s.d. (%)", spread.round(2))
        return table

    def _notes(self) -> list[str]:
        few = [f"{self.facets[name].nunique()} of {name}" for name in self.facets if self.facets[name].nunique() <= 3]
        told = list(self.notes)
        if self.n_left_out:
            told.append(f"{self.n_left_out} languages that some tables lack are left out")
        if few:
            told.append(f"components are about these levels, which are few: {', '.join(few)}")
        told.append("with one edition per language and corpus, what changes with the corpus is the edition's as well")
        return told

    def __repr__(self) -> str:
        """Return a one-line description with the share of the language."""
        own = self.frame.iloc[0]
        return (
            f"DifficultyShares: {len(self.difficulties)} languages in {len(self.facets)} tables; the language's own "
            f"share is {own['share']:.2f} ({own['low']:.2f} to {own['high']:.2f})"
        )


def difficulty_shares(
    tables: Mapping[str, Table],
    *,
    languages: Any = None,
    facets: pd.DataFrame | None = None,
    clusters: AnyClusters | None = "auto",
) -> DifficultyShares:
    """Estimate what share of the differences between languages is the same in all corpora, language models and sizes.

    Parameters
    ----------
    tables : mapping from str to Surprisals or Series
        Tables by name; or a Series of bits by edition where there are no intents, as of a compressor, whose errors are
        then not known and are taken as 0.
    languages : mapping, Series or DataFrame
        Language of each edition; a frame has ``glottocode`` or ``language``, and perhaps ``family``. Only languages
        that every corpus has are used. Of several editions of a language, their mean. By default the attribute
        ``languages`` of `tables`.
    facets : DataFrame, optional
        Columns ``corpus``, ``lm``, ``size``, ``seed`` and any others of the tables, indexed by their names; those with
        one value are left out. By default the attribute ``facets`` of `tables`, or what the tables tell: tables with
        the same test intents are of one corpus.
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
        If there is one table, or languages or facets lack an edition or a table.
    DataError
        If fewer than eight languages are in all tables, two tables have the same facets, facets are confounded, or
        tables of one corpus have other test intents.

    References
    ----------
    Koch (1967), "A general approach to the estimation of variance components"; Brennan (2001), "Generalizability
    Theory".

    Examples
    --------
    >>> import langdiff as ld
    >>> table = ld.simulate(200, 10, seed=1).surprisals
    >>> tables = {"first": table.sel(intents=table.intents[:100]), "second": table.sel(intents=table.intents[100:])}
    >>> found = difficulty_shares(tables, languages={edition: edition for edition in table.editions})
    >>> found.frame["share"].round(2).to_dict()
    {'language': 1.0, 'language:corpus': 0.0}
    """
    languages = getattr(tables, "languages", None) if languages is None else languages
    facets = getattr(tables, "facets", None) if facets is None else facets
    if languages is None:
        raise ConfigError(f"give {option('languages')}: the language of each edition, by which corpora are joined.")
    prepared = prepare(tables, languages, facets, clusters)
    names = list(prepared.log_bits)
    used = prepared.languages_of(names)
    everywhere = {language for frame in prepared.log_bits.values() for language in frame}
    if len(used) < FEWEST:
        raise DataError(
            f"only {len(used)} language(s) are in all tables: {listing(used)}; at least {FEWEST} are needed. Give "
            "fewer corpora."
        )
    told = prepared.facets[[name for name in prepared.facets if prepared.facets[name].nunique() > 1]]
    cells = prepared.cells(names, used)
    families = [prepared.families[name] for name in used] if all(n in prepared.families for n in used) else None
    difficulty = cells.difficulty - cells.difficulty.mean(axis=0)
    return DifficultyShares(
        frame=table_of_shares(cells, classes_of(told), families),
        difficulties=pd.DataFrame(difficulty, pd.Index(used, name=LANGUAGE), names),
        facets=prepared.facets,
        error=float(cells.errors().mean()),
        correlations=correlations(prepared),
        n_left_out=len(everywhere) - len(used),
        notes=tuple(prepared.notes),
    )
