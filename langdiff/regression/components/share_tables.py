"""Tables of several corpora as observations of editions: languages joined, facets read, errors of test intents."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.regression.components.nested import Block
from langdiff.regression.components.variances import centred_rows
from langdiff.regression.kernel.clusters import sums_by_cluster
from langdiff.regression.kernel.two_way import weighted_gram
from langdiff.regression.table import as_surprisals
from langdiff.tables.surprisals import Surprisals

LANGUAGE, CORPUS, GENRE, LM, SIZE, SEED = "language", "corpus", "genre", "lm", "size", "seed"
EDITION, REST = "edition", "rest"
NESTED, MEAN, REPRESENTATIVE = "nested", "mean", "representative"
FEWEST_LANGUAGES = 8  # languages
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
            _check_copies(name, frame)
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
    summed = sums_by_cluster(residuals, codes)
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


def _check_copies(table: str, frame: pd.DataFrame) -> None:
    for copy in frame.columns[frame.T.duplicated().to_numpy()] if len(frame) > 1 else frame.columns[:0]:
        first = next(name for name in frame if frame[name].equals(frame[copy]))
        raise DataError(
            f"{table}: {copy} has the bits of {first}. Give same_as in {option('edition_info')}, or leave one out."
        )


def _languages(given: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the language of each edition, and the family of each language where it is told."""
    if given is None:
        raise ConfigError(f"give {option('edition_info')}: the language of each edition, by which corpora are joined.")
    if isinstance(given, pd.DataFrame):
        column = next((name for name in ("glottocode", "language") if name in given), None)
        if column is None:
            raise ConfigError(f"languages: no column glottocode or language; there are {listing(given.columns)}.")
        names = {str(edition): str(name) for edition, name in given[column].items() if _known(name)}
        families = {}
        if "family" in given:
            families = {names[str(e)]: str(f) for e, f in given["family"].dropna().items() if str(e) in names}
        return names, families
    if not isinstance(given, Mapping | pd.Series):
        raise ConfigError(f"languages are a mapping, a Series or a table of editions, not {type(given).__name__}.")
    return {str(edition): str(name) for edition, name in dict(given).items() if _known(name)}, {}


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
