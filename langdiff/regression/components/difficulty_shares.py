"""What share of the differences between languages is their own: `difficulty_shares`, and its result."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.regression.components.nested import Block
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
from langdiff.regression.components.variances import centred_rows
from langdiff.regression.kernel.two_way import weighted_gram
from langdiff.regression.table import as_surprisals
from langdiff.tables.contrasts import Scale
from langdiff.tables.effects import Effects
from langdiff.tables.surprisals import Surprisals

LANGUAGE, CORPUS, GENRE, LM, SIZE, SEED = "language", "corpus", "genre", "lm", "size", "seed"
EDITION, REST = "edition", "rest"
NESTED, MEAN, REPRESENTATIVE = "nested", "mean", "representative"
FEWEST = 8  # languages
FEWEST_SEVERAL = 5  # languages with several editions in a corpus, from which their variance is estimated
ALIKE = 1e-9  # square of what others leave of a term, as a share of its own, that is rounding
TRAIN = re.compile(r"\btrain:(\d+)")
Table = Surprisals | pd.Series


@dataclass(frozen=True)
class Observed:
    """Editions in tables.

    Attributes
    ----------
    rows : DataFrame
        One row per edition and table: ``table``, ``corpus``, ``language``, ``edition``, ``y`` (its mean of ln bits,
        freed of missing cells).
    sums : dict from str to DataFrame
        By table, sums of residuals over clusters of intents, clusters × editions, so scaled that their products add up
        to the covariances of the means. Totals have none.
    facets : DataFrame
        Facets of the tables that have at least two values, and ``corpus``; NaN where unknown.
    families : dict from str to str
        Family of each language, where it is known.
    notes : list of str
        What a summary should tell.
    """

    rows: pd.DataFrame
    sums: dict[str, pd.DataFrame]
    facets: pd.DataFrame
    families: dict[str, str]
    notes: list[str] = field(default_factory=list)

    @property
    def languages(self) -> list[str]:
        """Languages, in the order of the first table that has them."""
        return list(dict.fromkeys(self.rows[LANGUAGE]))

    @property
    def tables(self) -> list[str]:
        """Names of the tables."""
        return list(self.facets.index)

    def several(self) -> int:
        """Return the most languages that have two editions or more in one corpus."""
        counts = self.rows.drop_duplicates([CORPUS, LANGUAGE, EDITION]).groupby([CORPUS, LANGUAGE]).size()
        return int((counts > 1).groupby(level=CORPUS).sum().max())

    def take(self, kept: Booleans) -> "Observed":
        """Return some of the rows."""
        rows = self.rows[kept]
        tables = [name for name in self.facets.index if (rows["table"] == name).any()]
        return replace(self, rows=rows, facets=self.facets.loc[tables])

    def means(self) -> "Observed":
        """Return the same with the mean of the editions of a language in each table, named after the language."""
        keys = ["table", CORPUS, LANGUAGE]
        rows = self.rows.groupby(keys, sort=False)["y"].mean().reset_index()
        language = dict(zip(self.rows[EDITION], self.rows[LANGUAGE], strict=True))
        sums = {name: of.T.groupby(of.columns.map(language)).mean().T for name, of in self.sums.items()}
        return replace(self, rows=rows.assign(**{EDITION: rows[LANGUAGE]}), sums=sums)

    def errors(self, rows: pd.DataFrame) -> Floats:
        """Return the covariance that test intents give to rows of one language, (n, n)."""
        found = np.zeros((len(rows), len(rows)))
        corpora = rows[CORPUS].to_numpy()
        known = [
            self.sums[table][edition].to_numpy() if table in self.sums else None
            for table, edition in zip(rows["table"], rows[EDITION], strict=True)
        ]
        for i, j in combinations(range(len(rows) + 1), 2):
            one, other = known[i], known[j - 1]
            if one is not None and other is not None and corpora[i] == corpora[j - 1]:
                found[i, j - 1] = found[j - 1, i] = one @ other
        return found

    def difficulties(self) -> pd.DataFrame:
        """Return the mean of each language's editions in each table, less that of all, languages × tables."""
        wide = self.rows.pivot_table(index=LANGUAGE, columns="table", values="y", aggfunc="mean", sort=False)
        wide = wide.reindex(index=self.languages, columns=self.tables)
        found: pd.DataFrame = (wide - wide.mean()).rename_axis(columns=None)
        return found

    def blocks(self, terms: Mapping[str, tuple[str, ...]], split: str | None = None) -> tuple[list[Block], list[str]]:
        """Return the observations by language, and the names of the components.

        A term that follows from those before it, since it groups the observations as they do, has none. With `split`, a
        term that this facet is part of has a component of its own for each value of the facet.
        """
        of_tables = self.facets.loc[self.rows["table"]].reset_index(drop=True)
        data = of_tables.assign(**{name: self.rows[name].to_numpy() for name in (EDITION, "table")})
        codes = {str(name): np.asarray(pd.factorize(data[name])[0]) for name in data}  # −1 where unknown
        column = np.asarray(data["table"].map({name: place for place, name in enumerate(self.tables)}))
        groups = [np.flatnonzero(self.rows[LANGUAGE].to_numpy() == name) for name in self.languages]
        parts: dict[str, list[Floats]] = {}
        for name, of in terms.items():
            alike = [_alike([codes[column][rows] for column in of], len(rows)) for rows in groups]
            values = data[split].to_numpy() if split is not None and split in of else None
            for own, masked in _split(name, alike, values, groups):
                if not _follows(masked, list(parts.values())):
                    parts[own] = masked
        y = self.rows["y"].to_numpy()
        blocks = [
            Block(
                y[rows],
                column[rows],
                np.stack([part[place] for part in parts.values()]),
                self.errors(self.rows.iloc[rows]),
            )
            for place, rows in enumerate(groups)
        ]
        return blocks, list(parts)


def terms_of(facets: pd.DataFrame, *, nested: bool) -> dict[str, tuple[str, ...]]:
    """Return the components in their order, and the columns on whose values observations agree.

    Examples
    --------
    >>> terms_of(pd.DataFrame({"corpus": ["a", "b"]}), nested=True)
    {'language': (), 'language:corpus': ('corpus',), 'edition': ('corpus', 'edition'), 'rest': ('table', 'edition')}
    """
    names = sorted((str(name) for name in facets), key=[GENRE, CORPUS].__contains__, reverse=True)
    found: dict[str, tuple[str, ...]] = {LANGUAGE: ()}
    for name in names:
        found[f"{LANGUAGE}:{name}"] = (name,)
        if name == CORPUS and nested:
            found[EDITION] = (CORPUS, EDITION)
    for pair in combinations(names, 2):
        if set(pair) != {GENRE, CORPUS}:
            found[":".join([LANGUAGE, *pair])] = pair
    if nested and LM in names:
        found[f"{EDITION}:{LM}"] = (CORPUS, EDITION, LM)
    return {**found, REST: ("table", EDITION)}


def _alike(codes: Sequence[Integers], size: int) -> Floats:
    """Return 1 where two rows have the same codes, −1 agreeing with all, (n, n)."""
    found = np.ones((size, size), dtype=bool)
    for code in codes:
        found &= (code[:, None] == code) | (code < 0) | (code < 0)[:, None]
    return found.astype(float)


def _split(name: str, alike: list[Floats], values: Any, groups: list[Any]) -> Iterable[tuple[str, list[Floats]]]:
    """Yield a term as it is, or for each value of a facet the part of it among rows with that value."""
    if values is None:
        yield name, alike
        return
    for value in dict.fromkeys(values):
        inside = [(values[rows] == value).astype(float) for rows in groups]
        yield f"{name}@{value}", [a * i * i[:, None] for a, i in zip(alike, inside, strict=True)]


def _follows(one: list[Floats], others: Sequence[list[Floats]]) -> bool:
    """Return whether the matrices of a term are a linear combination of those of other terms, or 0."""

    def product(first: list[Floats], second: list[Floats]) -> float:
        return sum(float(np.vdot(a, b)) for a, b in zip(first, second, strict=True))

    own = product(one, one)
    gram = np.array([[product(a, b) for b in others] for a in others]).reshape(len(others), len(others))
    along = np.array([product(one, other) for other in others])
    explained = along @ np.linalg.solve(gram, along) if others else 0.0
    return bool(own - explained <= ALIKE * own)


def observe_editions(
    tables: Mapping[str, Any],
    languages: Any,
    facets: pd.DataFrame | None,
    edition_info: pd.DataFrame | None,
    clusters: AnyClusters | None,
) -> Observed:
    """Join languages and read facets; see `langdiff.difficulty_shares`."""
    if not isinstance(tables, Mapping):
        raise ConfigError("tables are a mapping from name to Surprisals, or to a Series of bits by edition.")
    if len(tables) < 2:
        raise ConfigError("shares are of several tables; give generalizability one table.")
    known = {
        str(name): table if isinstance(table, pd.Series) else as_surprisals(table) for name, table in tables.items()
    }
    known, notes = _without_copies(known, edition_info)
    names, families = _languages(edition_info if languages is None else languages)
    if bare := [name for name, table in known.items() if isinstance(table, pd.Series)]:
        notes.append(f"errors of test intents are not known, and taken as 0, of {listing(bare, 3)}")
    found = _facets(known, facets)
    rows, sums = [], {}
    for corpus, some in found.groupby(CORPUS, sort=False):
        whole = {name: table for name in some.index if isinstance(table := known[name], Surprisals)}
        first = next(iter(whole), None)
        for name in list(whole)[1:]:
            _check_intents(corpus, str(first), name, whole)
        labels = one_clustering(whole[str(first)], clusters) if first is not None else None
        for name in some.index:
            frame = _log_bits(name, known[name], names)
            effects, residuals = _additive(frame, name)
            rows.append(
                pd.DataFrame(
                    {
                        "table": name,
                        CORPUS: corpus,
                        LANGUAGE: [names[str(edition)] for edition in frame],
                        EDITION: list(frame),
                        "y": effects,
                    }
                )
            )
            if name in whole:
                of = frame.index if labels is None else labels.set_axis(labels.index.map(str)).loc[frame.index]
                sums[name] = _by_cluster(residuals, frame, np.asarray(of))
    return Observed(pd.concat(rows, ignore_index=True), sums, found, families, notes)


def _additive(frame: pd.DataFrame, table: str) -> tuple[Floats, Floats]:
    """Return least-squares effects of editions, (J,), and residuals, (I, J), 0 where missing.

    The effects stand beside effects of intents. Residuals are so scaled that an intent's mean, which is taken out, does
    not make them smaller.
    """
    z = frame.to_numpy()
    mask = ~np.isnan(z)
    if len(z) == 1:
        return z[0], np.zeros_like(z)
    within = centred_rows(z, mask)
    if mask.all():
        effects = within.mean(axis=0)
    else:
        cells = np.maximum(mask.sum(axis=1), 1)
        laplacian = np.diag(mask.sum(axis=0).astype(float)) - weighted_gram(mask.astype(float), 1 / cells)
        if np.linalg.matrix_rank(laplacian) < z.shape[1] - 1:
            raise DataError(f"{table}: some editions have no intent in common with the others, directly or by others.")
        effects = np.linalg.pinv(laplacian, hermitian=True) @ within.sum(axis=0)
    fitted = np.where(mask, effects, 0.0)
    residuals: Floats = within - centred_rows(np.where(mask, fitted, np.nan), mask)
    present = mask.sum(axis=1, keepdims=True)
    return effects, residuals * np.sqrt(present / np.maximum(present - 1, 1))


def _by_cluster(residuals: Floats, frame: pd.DataFrame, labels: Any) -> pd.DataFrame:
    codes, clusters = pd.factorize(labels)
    count = len(clusters)
    if count < 2:
        raise DataError("all intents of a corpus are in one cluster, so that the errors of its editions are not known.")
    summed = np.zeros((count, frame.shape[1]))
    np.add.at(summed, codes, residuals)
    return pd.DataFrame(summed * np.sqrt(count / (count - 1)) / frame.notna().sum().to_numpy(), columns=frame.columns)


def _without_copies(known: dict[str, Table], info: pd.DataFrame | None) -> tuple[dict[str, Table], list[str]]:
    """Return tables without the editions that `same_as` calls copies."""
    if info is None or "same_as" not in info:
        return known, []
    copies = info["same_as"].dropna().astype(str)
    copies = copies[copies != ""]
    editions = {
        str(e) for table in known.values() for e in (table.index if isinstance(table, pd.Series) else table.editions)
    }
    if bad := [f"{one} ({of})" for one, of in copies.items() if of not in editions | set(info.index.map(str))]:
        raise DataError(f"same_as names editions that no table has: {listing(bad)}.")
    left = set(copies.index.map(str)) & editions
    if not left:
        return known, []
    found: dict[str, Table] = {}
    for name, table in known.items():
        if isinstance(table, pd.Series):
            found[name] = table[[str(e) not in left for e in table.index]]
        else:
            found[name] = table.sel(editions=[e for e in table.editions if str(e) not in left])
    return found, [f"{len(left)} copies of other editions are left out: {listing(sorted(left), 3)}"]


def choose_editions(found: Observed, editions: str, info: pd.DataFrame | None) -> tuple[Observed, bool]:
    """Return the observations of nested, mean or representative editions, and whether editions are nested."""
    if editions not in (NESTED, MEAN, REPRESENTATIVE, "auto"):
        raise ConfigError(f"{option('editions')} is nested, mean, representative or auto, not {editions!r}.")
    several = found.several()
    if editions == NESTED and several < FEWEST_SEVERAL:
        raise DataError(
            f"{option('editions')}: nested editions need {FEWEST_SEVERAL} languages with two editions in a corpus; "
            f"there are {several}. Take their means."
        )
    if editions == REPRESENTATIVE:
        if info is None or REPRESENTATIVE not in info:
            raise ConfigError(f"representative editions need a column {REPRESENTATIVE} in {option('edition_info')}.")
        chosen = info[REPRESENTATIVE].map(lambda value: str(value).strip().lower() in ("true", "1", "yes"))
        marked = set(info.index[chosen.to_numpy()].map(str))
        kept = found.rows[EDITION].isin(marked).to_numpy()
        lacking = sorted(set(found.rows[LANGUAGE]) - set(found.rows[LANGUAGE][kept]))
        if lacking:
            found.notes.append(f"{len(lacking)} language(s) without a representative edition are left out")
        found = found.take(kept)
        twice = found.rows[found.rows.duplicated(["table", LANGUAGE])]
        if len(twice):
            row = twice.iloc[0]
            raise DataError(
                f"{row[LANGUAGE]} has several representative editions in {row['table']}: {row[EDITION]}, …."
            )
        return found, False
    if several >= FEWEST_SEVERAL and editions != MEAN:
        return found, True
    if several:
        found.notes.append(f"means over the editions of languages with several ({several} in one corpus)")
        return found.means(), False
    return found, False


def _check_intents(corpus: object, one: str, other: str, tables: Mapping[str, Surprisals]) -> None:
    first, second = (tables[name].intents.map(str) for name in (one, other))
    if set(first) != set(second):
        apart = listing([*first.difference(second), *second.difference(first)], 3)
        raise DataError(
            f"corpus {corpus}: {one} and {other} have other test intents (such as {apart}). All tables of a corpus are "
            "of the same intents; take those in common, or name other corpora in the facets."
        )


def _languages(given: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the language of each edition, and the family of each language where it is told."""
    if given is None:
        raise ConfigError(f"give {option('edition_info')}: the language of each edition, by which corpora are joined.")
    if isinstance(given, pd.DataFrame):
        column = next((name for name in ("glottocode", "language") if name in given), None)
        if column is None:
            raise ConfigError(f"languages: no column glottocode or language; there are {listing(given.columns)}.")
        names = {str(edition): str(name) for edition, name in given[column].dropna().items()}
        families = {}
        if "family" in given:
            families = {names[str(e)]: str(f) for e, f in given["family"].dropna().items() if str(e) in names}
        return names, families
    if not isinstance(given, Mapping | pd.Series):
        raise ConfigError(f"languages are a mapping, a Series or a table of editions, not {type(given).__name__}.")
    return {str(edition): str(name) for edition, name in dict(given).items() if pd.notna(name)}, {}


def _log_bits(name: str, table: Table, languages: Mapping[str, str]) -> pd.DataFrame:
    """Return ln bits of a table, intents × editions; of totals one row."""
    bits = table.to_frame().T.astype(float) if isinstance(table, pd.Series) else table.bits
    absent = [edition for edition in bits if str(edition) not in languages]
    if absent:
        raise ConfigError(
            f"languages lack {len(absent)} edition(s) of {name}: {listing(absent)}. Add them, or leave them out of the "
            "tables."
        )
    if isinstance(table, pd.Series) and not (bits.to_numpy() > 0).all():
        raise DataError(f"{name}: bits of editions must be numbers above 0.")
    return pd.DataFrame(np.log(bits.to_numpy(dtype=float)), bits.index.map(str), bits.columns.map(str))


def _facets(tables: Mapping[str, Table], given: pd.DataFrame | None) -> pd.DataFrame:
    """Return facets with at least two values, and the corpus of each table; NaN where a facet is unknown."""
    if given is None:
        found = pd.DataFrame.from_dict({name: _own_facets(name, tables) for name in tables}, orient="index")
    else:
        absent = [name for name in tables if name not in given.index.map(str)]
        if absent:
            raise ConfigError(f"{option('facets')} lack {len(absent)} table(s): {listing(absent)}.")
        found = given.set_axis(given.index.map(str), axis=0).loc[list(tables)]
    found = found.astype(object).apply(lambda column: column.map(lambda value: str(value) if _known(value) else np.nan))
    if CORPUS not in found:
        found[CORPUS] = "one"
    if lacking := list(found.index[found[CORPUS].isna()]):
        raise ConfigError(f"{option('facets')}: the corpus of {listing(lacking)} is not said.")
    kept = [name for name in found if found[name].nunique() > 1]
    twice = found[kept].duplicated()
    if twice.any() or not kept:
        first = found.index[twice][0] if twice.any() else found.index[1]
        raise DataError(
            f"{first} has the facets of another table. Say in the facets ({CORPUS}, {LM}, {SIZE}, {SEED}) how tables "
            "differ."
        )
    if GENRE in kept:
        each = found.groupby(CORPUS)[GENRE].nunique(dropna=False)
        if (each > 1).any():
            raise DataError(f"{GENRE} varies within the corpus {each.index[each > 1][0]}: a corpus is of one genre.")
        if found[GENRE].nunique() == found[CORPUS].nunique():
            raise DataError(f"each corpus is of a {GENRE} of its own: leave {GENRE} out of {option('facets')}.")
    shown: pd.DataFrame = found[list(dict.fromkeys([*kept, CORPUS]))]
    return shown


def _known(value: Any) -> bool:
    return bool(pd.notna(value)) and str(value) not in ("", "None")


def _own_facets(name: str, tables: Mapping[str, Table]) -> dict[str, str]:
    """Return what a table tells of itself: the corpus is that of the first table with its test intents."""
    table = tables[name]
    if isinstance(table, pd.Series):
        raise ConfigError(f"{name} has no intents, so that its facets are not known: give {option('facets')}.")
    intents = set(table.intents)
    corpus = next(n for n, other in tables.items() if isinstance(other, Surprisals) and set(other.intents) == intents)
    known = table.provenance
    size = TRAIN.search(known.split or "") if known is not None else None
    return {
        CORPUS: corpus,
        LM: table.lm,
        SIZE: size[1] if size else "",
        SEED: str(known.seed) if known is not None else "",
    }


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
        levels = {str(name): counts.get(str(name), int(self.facets[name].nunique())) for name in self.facets}
        of = {EDITION: [CORPUS], f"{EDITION}:{LM}": [CORPUS, LM], REST: list(levels)}
        total = 0.0
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
        return self._own / (self._own + self._error_variance(counts) + self.error)

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
        variance = self._error_variance({**counts, CORPUS: corpora}) + self.error
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
    check_enough(found, FEWEST)
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
        each = table.rename_axis("one").reset_index().melt("one", var_name="other", value_name="agreement")
        long.append(each.assign(facet=str(facet)))
    return pd.concat(long, ignore_index=True)[["facet", "one", "other", "agreement"]]


def _by_corpus(found: Observed, *, nested: bool) -> pd.DataFrame:
    """Return components with those of corpora apart, and shares of the variance in each corpus."""
    counts = found.rows.drop_duplicates([CORPUS, LANGUAGE, EDITION]).groupby([CORPUS, LANGUAGE]).size()
    several = (counts > 1).groupby(level=CORPUS).sum()
    return shares_by_corpus(found, nested=nested and bool((several >= FEWEST_SEVERAL).any()))
