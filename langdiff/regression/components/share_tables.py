"""Tables of several corpora as cells of languages: languages joined, facets read, test intents made alike."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import pearsonr, spearmanr

from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.regression.components.shares import Cells, deviations, jackknife
from langdiff.regression.table import as_surprisals
from langdiff.tables.surprisals import Surprisals

CORPUS, LM, SIZE, SEED = "corpus", "lm", "size", "seed"
FEWEST = 8  # languages
FEWEST_CORRELATED = 5
PERFECT = 1 - 1e-9  # correlation of which arctanh is finite
TRAIN = re.compile(r"\btrain:(\d+)")
Table = Surprisals | pd.Series


@dataclass(frozen=True)
class Prepared:
    """Tables with a column per language.

    Attributes
    ----------
    log_bits : dict from str to DataFrame
        ln bits by table, intents × languages; of tables without intents one row.
    facets : DataFrame
        Facets of each table that have at least two values, and ``corpus``.
    clusters : dict from str to Series
        Cluster of each intent by corpus.
    families : dict from str to str
        Family of each language, where it is known.
    notes : list of str
        What a summary should tell.
    """

    log_bits: dict[str, pd.DataFrame]
    facets: pd.DataFrame
    clusters: dict[str, pd.Series]
    families: dict[str, str]
    notes: list[str] = field(default_factory=list)

    def languages_of(self, names: Any) -> list[str]:
        """Return the languages that all of some tables have, in the order of the first."""
        first, *others = (self.log_bits[name] for name in names)
        return [str(language) for language in first if all(language in other for other in others)]

    def cells(self, names: list[str], languages: list[str]) -> Cells:
        """Return the cells of some tables and languages, each corpus with the intents that all of these have."""
        difficulty = np.full((len(languages), len(names)), np.nan)
        corpora = []
        for corpus, some in self.facets.loc[names].groupby(CORPUS, sort=False):
            frames = {name: self.log_bits[name][languages] for name in some.index}
            whole = [frame for frame in frames.values() if len(frame) > 1]
            shared = whole[0].index if whole else pd.Index([])
            for frame in whole:
                shared = shared[shared.isin(frame.index[frame.notna().all(axis=1)])]
            if whole and len(shared) < 2:
                raise DataError(f"corpus {corpus}: fewer than two intents are in all {len(languages)} languages.")
            codes = np.unique(self.clusters[str(corpus)].loc[shared], return_inverse=True)[1] if whole else None
            places, parts = [], []
            for name, frame in frames.items():
                place = names.index(name)
                values = frame.loc[shared] if len(frame) > 1 else frame
                difficulty[:, place] = values.to_numpy().mean(axis=0)
                if codes is not None and len(frame) > 1:
                    places.append(place)
                    parts.append(deviations(values.to_numpy(), codes))
            if parts:
                corpora.append((places, np.stack(parts)))
        return Cells(difficulty, corpora)


def prepare(
    tables: Mapping[str, Any], languages: Any, facets: pd.DataFrame | None, clusters: AnyClusters | None
) -> Prepared:
    """Join languages and read facets; see `langdiff.difficulty_shares`."""
    if not isinstance(tables, Mapping):
        raise ConfigError("tables are a mapping from name to Surprisals, or to a Series of bits by edition.")
    if len(tables) < 2:
        raise ConfigError("shares are of several tables; give generalizability one table.")
    known = {
        str(name): table if isinstance(table, pd.Series) else as_surprisals(table) for name, table in tables.items()
    }
    names, families = _languages(languages)
    notes: list[str] = []
    log_bits = {name: _log_bits(name, table, names) for name, table in known.items()}
    several = {name: count for name, table in known.items() if (count := _several(table, names))}
    if several:
        first, count = next(iter(several.items()))
        notes.append(f"mean over editions of {count} language(s) of {first} with several")
    if bare := [name for name, table in known.items() if isinstance(table, pd.Series)]:
        notes.append(f"errors of test intents are not known, and taken as 0, of {listing(bare, 3)}")
    found = _facets(known, facets)
    of_corpora: dict[str, pd.Series] = {}
    for corpus, some in found.groupby(CORPUS, sort=False):
        whole = [name for name in some.index if not isinstance(known[name], pd.Series)]
        for name in whole[1:]:
            _check_intents(corpus, whole[0], name, log_bits)
        if whole:
            table = known[whole[0]]
            labels = one_clustering(table, clusters) if isinstance(table, Surprisals) else None
            intents = log_bits[whole[0]].index
            of_corpora[str(corpus)] = pd.Series(intents if labels is None else labels.to_numpy(), index=intents)
    return Prepared(log_bits, found, of_corpora, families, notes)


def _check_intents(corpus: object, one: str, other: str, log_bits: Mapping[str, pd.DataFrame]) -> None:
    first, second = log_bits[one].index, log_bits[other].index
    if set(first) != set(second):
        apart = listing([*first.difference(second), *second.difference(first)], 3)
        raise DataError(
            f"corpus {corpus}: {one} and {other} have other test intents (such as {apart}). All tables of a corpus are "
            "of the same intents; take those in common, or name other corpora in the facets."
        )


def _languages(given: Any) -> tuple[dict[str, str], dict[str, str]]:
    """Return the language of each edition, and the family of each language where it is told."""
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
    bits = table.to_frame().T.astype(float) if isinstance(table, pd.Series) else table.bits
    absent = [edition for edition in bits if str(edition) not in languages]
    if absent:
        raise ConfigError(
            f"languages lack {len(absent)} edition(s) of {name}: {listing(absent)}. Add them, or leave them out of the "
            "tables."
        )
    if isinstance(table, pd.Series) and not (bits.to_numpy() > 0).all():
        raise DataError(f"{name}: bits of editions must be numbers above 0.")
    of = [languages[str(edition)] for edition in bits]
    logs = pd.DataFrame(np.log(bits.to_numpy(dtype=float)), bits.index, bits.columns)
    grouped = logs.T.groupby(of, sort=False)
    # of several editions, intents that all of them have: a mean of other ones would depend on which edition has which
    whole = grouped.count().eq(grouped.size(), axis=0)
    found: pd.DataFrame = grouped.mean().where(whole).T
    return found.set_axis(found.index.map(str), axis=0)


def _several(table: Table, languages: Mapping[str, str]) -> int:
    editions = table.index if isinstance(table, pd.Series) else table.editions
    return int((pd.Series([languages[str(edition)] for edition in editions]).value_counts() > 1).sum())


def _facets(tables: Mapping[str, Table], given: pd.DataFrame | None) -> pd.DataFrame:
    """Return facets with at least two values, and the corpus of each table."""
    if given is None:
        found = pd.DataFrame.from_dict({name: _own_facets(name, tables) for name in tables}, orient="index")
    else:
        absent = [name for name in tables if name not in given.index.map(str)]
        if absent:
            raise ConfigError(f"{option('facets')} lack {len(absent)} table(s): {listing(absent)}.")
        found = given.set_axis(given.index.map(str), axis=0).loc[list(tables)].astype(str)
    if CORPUS not in found:
        found[CORPUS] = "one"
    kept = [name for name in found if found[name].nunique() > 1]
    twice = found[kept].duplicated()
    if twice.any() or not kept:
        first = found.index[twice][0] if twice.any() else found.index[1]
        raise DataError(
            f"{first} has the facets of another table. Say in the facets ({CORPUS}, {LM}, {SIZE}, {SEED}) how tables "
            "differ."
        )
    return found[list(dict.fromkeys([*kept, CORPUS]))]


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


def correlations(prepared: Prepared) -> pd.DataFrame:
    """Return correlations of difficulties between corpora, at the same facets otherwise.

    Returns
    -------
    DataFrame
        One row per pair of tables: the two corpora, the other facets, ``n`` languages, ``pearson`` with ``low`` and
        ``high`` (by leaving out languages), ``spearman``, and ``disattenuated``, Pearson's over the root of both
        reliabilities.
    """
    facets = prepared.facets
    others = [str(name) for name in facets if name != CORPUS]
    corpora = facets[CORPUS].to_dict()
    alike = facets[others].apply(tuple, axis=1).to_dict() if others else dict.fromkeys(corpora, ())
    rows = []
    for one, other in combinations(corpora, 2):
        if alike[one] != alike[other] or corpora[one] == corpora[other]:
            continue
        languages = prepared.languages_of([one, other])
        if len(languages) >= FEWEST_CORRELATED:
            told = {"one": corpora[one], "other": corpora[other], **dict(zip(others, alike[one], strict=True))}
            rows.append(told | _correlated(prepared.cells([str(one), str(other)], languages)))
    return pd.DataFrame(rows)


def _arctanh(r: Floats) -> Floats:
    found: Floats = np.arctanh(np.clip(r, -PERFECT, PERFECT))
    return found


def _correlated(cells: Cells) -> dict[str, float]:
    x, y = cells.difficulty.T
    found = cells.covariances()
    total = found + cells.errors()
    reliability = np.prod(np.clip(np.diag(found) / np.diag(total), 0, None))
    places = np.arange(len(x))
    r = float(pearsonr(x, y).statistic)
    each = np.array([np.corrcoef(x[places != k], y[places != k])[0, 1] for k in places])
    low, high = jackknife(_arctanh(np.array([r])), _arctanh(each)[:, None])
    return {
        "n": len(x),
        "pearson": r,
        "low": float(np.tanh(low[0])),
        "high": float(np.tanh(high[0])),
        "spearman": float(spearmanr(x, y).statistic),
        "disattenuated": r / float(np.sqrt(reliability)) if reliability > 0 else float("nan"),
    }
