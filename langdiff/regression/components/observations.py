"""Cells of several tables, arranged by the effects that tell the tables apart."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.regression.clustering import AnyClusters, one_clustering
from langdiff.tables.surprisals import Surprisals

FACETS = ("corpus", "lm", "seed")
# columns that make up the levels of each; intents and clusters belong to their corpus, seeds to their language model
EFFECTS = (
    ("edition", ["edition"]),
    ("intent", ["corpus", "intent"]),
    ("corpus", ["corpus"]),
    ("lm", ["lm"]),
    ("seed", ["lm", "seed"]),
    ("edition:corpus", ["edition", "corpus"]),
    ("edition:lm", ["edition", "lm"]),
    ("edition:seed", ["edition", "lm", "seed"]),
    ("intent:lm", ["corpus", "intent", "lm"]),
    ("edition:intent", ["edition", "corpus", "intent"]),
    ("edition:cluster", ["edition", "corpus", "cluster"]),
)


class Observations(NamedTuple):
    """Log bits of all cells of all tables, and the groups of rows by whose effects the tables can be told apart.

    A row holds an intent in one table.

    Attributes
    ----------
    z : ndarray, shape (R, J)
        Rows × editions, NaN where missing.
    shared : dict from str to ndarray of int, shape (R,)
        Level of each row by effect that its editions share, such as ``intent``.
    of_editions : dict from str to ndarray of int, shape (R,)
        Group of rows within which an edition has one level, by effect that belongs to editions: ``edition``, for which
        all rows are one group, and interactions such as ``edition:lm``.
    levels : dict from str to int
        Number of levels by effect, in the order of `EFFECTS`.
    """

    z: Floats
    shared: dict[str, Integers]
    of_editions: dict[str, Integers]
    levels: dict[str, int]

    def count(self, effect: str) -> int:
        """Return how many levels an effect has; 1 if it is not among them."""
        return self.levels.get(effect, 1)

    def take(self, rows: Booleans, editions: Booleans) -> "Observations":
        """Return some rows and editions, without rows that have no cell there."""
        z = self.z[:, editions]
        kept = rows & ~np.isnan(z).all(axis=1)

        def renumbered(groups: dict[str, Integers]) -> dict[str, Integers]:
            return {name: np.unique(codes[kept], return_inverse=True)[1] for name, codes in groups.items()}

        return Observations(z[kept], renumbered(self.shared), renumbered(self.of_editions), self.levels)


def observe(
    tables: Mapping[str, Surprisals],
    facets: pd.DataFrame | None,
    languages: Mapping[str, str] | pd.Series | None,
    clusters: AnyClusters | None,
) -> Observations:
    """Combine tables, leaving out effects with one level or with the levels of another."""
    if facets is not None and (bad := [name for name in facets.columns if name not in FACETS]):
        raise ConfigError(f"facets have columns {', '.join(FACETS)}, not {listing(bad)}.")
    if facets is not None and (absent := [name for name in tables if name not in facets.index]):
        raise ConfigError(f"facets lack {len(absent)} table(s): {listing(absent)}.")
    if facets is not None and (not facets.index.is_unique or facets.isna().to_numpy().any()):
        raise ConfigError("facets must have one row per table, and no missing values.")
    parts = []
    for name, table in tables.items():
        seed = None if table.provenance is None else table.provenance.seed
        known = {"corpus": "", "lm": table.lm, "seed": str(seed)}
        if facets is not None:
            known |= {str(column): str(value) for column, value in facets.loc[name].items()}
        labels = one_clustering(table, clusters)
        parts.append(_long(table, languages, labels).assign(**known))
    frame = pd.concat(parts, ignore_index=True)
    twice = frame.duplicated(["edition", "intent", *FACETS])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise DataError(
            f"{int(twice.sum()):,} cell(s) are in several tables of one corpus, language model and seed, the first "
            f"{row['edition']!r}, intent {row['intent']!r}. Say in {option('facets')} how the tables differ."
        )
    return _grouped(frame)


def _grouped(frame: pd.DataFrame) -> Observations:
    """Arrange cells by rows and editions, and name the groups of rows."""
    row = frame.groupby([*FACETS, "intent"], sort=False).ngroup().to_numpy()
    edition = frame.groupby("edition", sort=False).ngroup().to_numpy()
    z = np.full((row.max() + 1, edition.max() + 1), np.nan)
    z[row, edition] = frame["z"]
    first = np.unique(row, return_index=True)[1]
    distinct: list[Integers] = []
    levels: dict[str, int] = {}
    shared: dict[str, Integers] = {}
    of_editions: dict[str, Integers] = {}
    for effect, columns in EFFECTS:
        codes = np.asarray(frame.groupby(columns, sort=False).ngroup(), dtype=np.int_)
        count = int(codes.max()) + 1
        if not 1 < count < len(frame) or any(np.array_equal(codes, other) for other in distinct):
            continue
        distinct.append(codes)
        levels[effect] = count
        if "edition" in columns:
            others = [column for column in columns if column != "edition"]
            groups = np.zeros_like(codes)
            if others:
                groups = np.asarray(frame.groupby(others, sort=False).ngroup(), dtype=np.int_)
            of_editions[effect] = groups[first]
        else:
            shared[effect] = codes[first]
    return Observations(z, shared, of_editions, levels)


def _long(table: Surprisals, languages: Mapping[str, str] | pd.Series | None, labels: pd.Series | None) -> pd.DataFrame:
    z = np.log(table.bits.to_numpy())
    rows, columns = np.nonzero(~np.isnan(z))
    editions = table.editions.astype(str)
    if languages is not None:
        known = dict(languages)
        if absent := [edition for edition in editions if edition not in known]:
            raise ConfigError(f"languages lack {len(absent)} edition(s): {listing(absent)}.")
        editions = pd.Index([known[edition] for edition in editions])
    intents = table.intents.astype(str)
    of_intents = intents if labels is None else pd.Index(labels.astype(str))
    return pd.DataFrame(
        {
            "edition": editions[columns],
            "intent": intents[rows],
            "cluster": of_intents[rows],
            "z": z[rows, columns],
        }
    )
