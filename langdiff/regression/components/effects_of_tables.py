"""From tables of surprisals to observations with the levels of what varies."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff._types import Floats, Integers
from langdiff._wording import option
from langdiff.errors import ConfigError, DataError, listing
from langdiff.surprisals import Surprisals

FACETS = ("corpus", "lm", "seed")
EFFECTS = (  # columns that make up the levels of each; intents belong to their corpus, seeds to their language model
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
)


class Observations(NamedTuple):
    """Log bits of all cells of all tables, and the levels of each effect that the tables can tell, all (N,)."""

    z: Floats
    levels: dict[str, Integers]

    def count(self, effect: str) -> int:
        """Return how many levels an effect has; 1 if it is not among them."""
        return int(self.levels[effect].max()) + 1 if effect in self.levels else 1


def observe(
    tables: Mapping[str, Surprisals], facets: pd.DataFrame | None, languages: Mapping[str, str] | pd.Series | None
) -> Observations:
    """Put tables into one, leaving out effects with one level or with the levels of another.

    Parameters
    ----------
    tables : mapping from str to Surprisals
        Tables by name.
    facets : DataFrame, optional
        Corpus, language model and seed of each table, indexed by its name, as columns ``corpus``, ``lm`` and ``seed``;
        what it lacks is taken from the table, the corpus being the same.
    languages : mapping or Series, optional
        What stands for an edition, by its name, so that editions of several corpora are told to be of one language.
    """
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
        parts.append(_long(table, languages).assign(**known))
    frame = pd.concat(parts, ignore_index=True)
    twice = frame.duplicated(["edition", "intent", *FACETS])
    if twice.any():
        row = frame.loc[twice].iloc[0]
        raise DataError(
            f"{int(twice.sum()):,} cell(s) are in several tables of one corpus, language model and seed, the first "
            f"{row['edition']!r}, intent {row['intent']!r}. Say in {option('facets')} how the tables differ."
        )
    levels: dict[str, Integers] = {}
    for effect, columns in EFFECTS:
        codes = np.asarray(frame.groupby(columns, sort=False).ngroup(), dtype=np.int_)
        distinct = codes.max() + 1
        if 1 < distinct < len(frame) and not any(np.array_equal(codes, other) for other in levels.values()):
            levels[effect] = codes
    return Observations(frame["z"].to_numpy(), levels)


def _long(table: Surprisals, languages: Mapping[str, str] | pd.Series | None) -> pd.DataFrame:
    z = np.log(table.bits.to_numpy())
    rows, columns = np.nonzero(~np.isnan(z))
    editions = table.editions.astype(str)
    if languages is not None:
        known = dict(languages)
        if absent := [edition for edition in editions if edition not in known]:
            raise ConfigError(f"languages lack {len(absent)} edition(s): {listing(absent)}.")
        editions = pd.Index([known[edition] for edition in editions])
    return pd.DataFrame(
        {"edition": editions[columns], "intent": table.intents[rows].astype(str), "z": z[rows, columns]}
    )
