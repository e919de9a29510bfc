"""Levels of columns with their joint errors: means, interaction, contrasts, as projections on languages and systems."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from langdiff.base.types import Booleans, Floats
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.crossing import LEVELS, check_columns
from langdiff.tables.effects import Effects
from langdiff.tables.rule import Contrast, JointTest, Scale

ROWS = 256  # of many vectors that are projected at once


class Projection:
    """Least squares of vectors over columns on dummies of languages and systems.

    Parameters
    ----------
    columns : DataFrame, P rows
        ``language`` and ``system`` of each column.
    weight : ndarray, shape (P,), optional
        Weights of the columns; by default all are equal.

    Raises
    ------
    DataError
        If no chain of columns leads from some of them to others, so that their means cannot be compared.

    Examples
    --------
    >>> columns = pd.DataFrame({"language": ["a", "b", "a"], "system": ["x", "x", "y"]})
    >>> Projection(columns).means(np.array([1.0, 3.0, 2.0]), "languages").round(12).tolist()
    [-1.0, 1.0]
    """

    def __init__(self, columns: pd.DataFrame, weight: Floats | None = None) -> None:
        codes, self._names = [], []
        for level in LEVELS:
            code, names = pd.factorize(columns[level])
            codes.append(code)
            self._names.append(list(names))
        self._count = len(self._names[0])
        p = np.arange(len(columns))
        places = np.concatenate([p, p]), np.concatenate([codes[0], self._count + codes[1]])
        self._dummies = csr_array((np.ones(2 * len(p)), places))
        _check_connected(codes, self._names)
        weighted = self._dummies if weight is None else csr_array(self._dummies * weight[:, None])
        self._weighted = weighted
        gram = (self._dummies.T @ weighted).toarray()
        self._solve: Floats = np.asarray(np.linalg.pinv(gram, hermitian=True), dtype=np.float64)

    def names(self, of: Literal["languages", "systems"] | str) -> Sequence[str]:
        """Return the names of languages or systems, in order of appearance."""
        return self._names[of == "systems"]

    @cached_property
    def _centred(self) -> Floats:
        """Rows that give centred languages and systems from weighted sums, shape (N + M, N + M)."""
        solve = self._solve.copy()
        for part in (slice(0, self._count), slice(self._count, None)):
            solve[part] -= solve[part].mean(axis=0)
        return solve

    def means(self, rows: Floats, of: str) -> Floats:
        """Return the effects of languages or systems of each row, centred, (…, P) → (…, N) or (…, M)."""
        part = slice(0, self._count) if of == "languages" else slice(self._count, None)
        return np.asarray((rows @ self._weighted) @ self._centred[part].T)

    def weights(self, of: str) -> Floats:
        """Return the weights of the columns in each effect, shape (N, P) or (M, P)."""
        part = slice(0, self._count) if of == "languages" else slice(self._count, None)
        return np.asarray(self._weighted @ self._centred[part].T).T

    def residual(self, rows: Floats) -> Floats:
        """Return the residual of each row, (…, P) → (…, P)."""
        if rows.ndim == 1:
            alone: Floats = self.residual(rows[None])[0]
            return alone
        found = np.empty_like(rows)
        for start in range(0, len(rows), ROWS):
            block = rows[start : start + ROWS]
            found[start : start + ROWS] = block - (block @ self._weighted @ self._solve) @ self._dummies.T
        return found

    @property
    def dummies(self) -> csr_array:
        """Indicators of languages and systems, shape (P, N + M)."""
        return self._dummies


def _check_connected(codes: list[np.ndarray], names: list[list[str]]) -> None:
    """Check that chains of columns connect all languages and systems."""
    counts = [len(each) for each in names]
    edges = csr_array((np.ones(len(codes[0])), (codes[0], counts[0] + codes[1])), shape=(sum(counts), sum(counts)))
    parts, part = connected_components(edges, directed=False)
    if parts == 1:
        return
    shown = []
    for number in range(parts):
        languages = [name for name, own in zip(names[0], part[: counts[0]], strict=True) if own == number]
        systems = [name for name, own in zip(names[1], part[counts[0] :], strict=True) if own == number]
        shown.append(f"{listing(languages, 5)} under {listing(systems, 5)}")
    raise DataError(
        f"languages and systems fall into {parts} parts that no column connects, so that their means cannot be "
        f"compared: {'; '.join(shown)}. Add a language that systems of several parts have, or compare each part by "
        "itself."
    )


Of = Literal["languages", "systems"]
MOST_COLUMNS = 2000  # up to which matrices of columns × columns are made
MEAN = Scale(centre="mean")


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ColumnLevels:
    """Levels of columns with their joint errors; for the attributes see `langdiff.TwoWay`."""

    cells: Effects
    columns: pd.DataFrame
    system_scale: Scale = field(default_factory=lambda: MEAN)
    additive: bool = False
    interacts: JointTest | None = None
    bounds: pd.DataFrame | None = None
    aside: pd.DataFrame | None = None
    system_bounds: pd.Series | None = None

    def __post_init__(self) -> None:
        """Check shapes, and that all languages and systems are connected."""
        check_columns(self.columns, self.levels.index)
        _ = self._all  # refuses what is not connected

    @property
    def levels(self) -> pd.Series:
        """Level of each column up to a constant, shape (P,)."""
        return self.cells.estimate

    @property
    def scale(self) -> Scale:
        """Quantity and unit of languages and interaction."""
        return self.cells.scale

    @cached_property
    def _compared(self) -> Booleans:
        """Which columns are of systems without bounds, of which languages are means, shape (P,)."""
        guessed = set() if self.bounds is None else set(self.bounds["system"])
        return np.asarray(~self.columns["system"].isin(guessed), dtype=bool)

    @cached_property
    def _all(self) -> Projection:
        return Projection(self.columns[self._compared])

    def _residual(self, rows: Floats) -> Floats:
        """Return the interaction in rows of levels, (…, P) → (…, P).

        With bounds it is a level less the mean of its language over systems without, less that of its system over
        languages without, plus the mean over both.
        """
        if self.bounds is None:
            return self._all.residual(rows)
        languages = pd.Index(self._all.names("languages")).get_indexer(pd.Index(self.columns["language"]))
        left = rows - self._all.means(rows[..., self._compared], "languages")[..., languages]
        system, names = pd.factorize(self.columns["system"])
        here = ~self.columns["language"].isin(self.bounds["language"]).to_numpy()
        mean = np.equal.outer(system, np.arange(len(names))) * here[:, None]
        found: Floats = left - (left @ (mean / mean.sum(axis=0)))[..., system]
        return found

    @cached_property
    def languages(self) -> Effects:
        """Mean of the levels of each language over systems, centred."""
        return self.effects("languages")

    @cached_property
    def systems(self) -> Effects:
        """Mean of the levels of each system over languages, centred; of outcomes turned into abilities."""
        return self.effects("systems")

    @cached_property
    def interaction(self) -> Effects:
        """Residual of each level, indexed by language and system; sums to 0 over both if no column is missing.

        Positive: harder for that system in that language than both suggest, also for outcomes.
        """
        self._has_interaction()
        if len(self.levels) > MOST_COLUMNS:
            raise DataError(
                f"the covariance of {len(self.levels):,} cells is not computed (most {MOST_COLUMNS:,}); flags() has "
                "their estimates, errors and tests."
            )
        return self.cells.linear(self._residual(np.eye(len(self.levels))).T, self._index, self.scale)

    def _has_interaction(self) -> None:
        if self.additive:
            raise DataError("the levels come from an additive fit, without interaction.")

    @property
    def _index(self) -> pd.MultiIndex:
        return pd.MultiIndex.from_frame(self.columns[list(LEVELS)])

    def effects(
        self, of: str = "languages", *, over: Iterable[str] | None = None, weights: Mapping[str, float] | None = None
    ) -> Effects:
        """Return means of the levels by language or by system, or the levels of one system or in one language.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> two_way = ld.fit(tables).two_way
        >>> two_way.effects("systems", weights={"e1": 3, "e2": 1, "e3": 1}).estimate.index.tolist()
        ['llama', 'gpt2']
        """
        if of not in ("languages", "systems"):
            if over is not None or weights is not None:
                raise ConfigError(f"{option('over')} and {option('weights')} are for means, not for one system.")
            return self._of_one(of)
        averaged = LEVELS[of == "languages"]  # the system, where languages are shown
        keep, weight = _chosen(self.columns[averaged][self._compared], averaged, over, weights)
        whole, inside = keep.all() and weight is None, self.columns[self._compared]
        part = self._all if whole else Projection(inside[keep], None if weight is None else weight[keep])
        keep = np.isin(np.arange(len(self.columns)), np.flatnonzero(self._compared)[keep])
        names = pd.Index(part.names(of), name=of.removesuffix("s"))
        return self._make(part.weights(of), keep, names, self.scale if of == "languages" else self.system_scale)

    def _of_one(self, name: str) -> Effects:
        """Return the levels of one system, or in one language, relative to their average."""
        found = [level for level in LEVELS if (self.columns[level] == name).any()]
        if len(found) != 1:
            why = "is both a language and a system" if found else "is neither a language nor a system"
            raise ConfigError(
                f"{name!r} {why}. Give 'languages', 'systems', one of {listing(self.columns['language'].unique())}, or "
                f"one of {listing(self.columns['system'].unique())}."
            )
        keep = (self.columns[found[0]] == name).to_numpy()
        other = LEVELS[found[0] == "language"]
        scale = self.scale if other == "language" else self.system_scale
        count, names = int(keep.sum()), pd.Index(self.columns.loc[keep, other], name=other)
        return self._make(np.eye(count) - 1 / count, keep, names, scale)

    def _make(self, weights: Floats, keep: Booleans, names: pd.Index, scale: Scale) -> Effects:
        """Return effects with weights of some columns, (K, P'), turned into abilities where these are shown."""
        jacobian = np.zeros((len(weights), len(keep)))
        jacobian[:, keep] = -weights if scale.quantity == "ability" else weights
        return self.cells.linear(jacobian, names, scale)

    def contrast(self, languages: Sequence[str] | None = None, systems: Sequence[str] | None = None) -> Contrast:
        """Compare two languages, two systems, or the difference of two languages between two systems.

        Examples
        --------
        >>> import langdiff as ld
        >>> tables = {name: ld.simulate(60, 3, seed=seed).surprisals for seed, name in enumerate(["llama", "gpt2"])}
        >>> ld.fit(tables).two_way.contrast(["e1", "e2"], ["llama", "gpt2"]).name
        '(e1 - e2) under llama less under gpt2'
        """
        for name, pair in (("languages", languages), ("systems", systems)):
            if pair is not None and (isinstance(pair, str) or len(pair) != 2 or pair[0] == pair[1]):
                raise ConfigError(f"{option(name)} must be a pair of names, got {pair!r}.")
        if languages is None and systems is None:
            raise ConfigError("a contrast needs a pair of languages, of systems, or both.")
        if systems is None:
            return self.effects("languages").contrast(*(languages or ()))
        if languages is None:
            return self.effects("systems").contrast(*systems)
        self._has_interaction()
        places = pd.MultiIndex.from_frame(self.columns[list(LEVELS)])
        cells = [(language, system) for system in systems for language in languages]
        where = places.get_indexer(pd.MultiIndex.from_tuples(cells))
        if (where < 0).any():
            lacking = [f"{cell[0]} under {cell[1]}" for cell, place in zip(cells, where, strict=True) if place < 0]
            raise ConfigError(f"there is no column {listing(lacking)}.")
        weights = np.zeros(len(self.levels))
        weights[where] = 1.0, -1.0, -1.0, 1.0
        name = f"({languages[0]} - {languages[1]}) under {systems[0]} less under {systems[1]}"
        return self.cells._contrast(weights, name)


def _chosen(
    names: pd.Series, what: str, over: Iterable[str] | None, weights: Mapping[str, float] | None
) -> tuple[Booleans, Floats | None]:
    """Return which columns take part in means, and their weights."""
    known = set(names)
    keep = np.ones(len(names), dtype=bool)
    if over is not None:
        asked = [over] if isinstance(over, str) else list(over)
        unknown = [name for name in asked if name not in known]
        if unknown or not asked:
            raise ConfigError(f"{option('over')}: unknown {what}(s) {listing(unknown)}; there are {listing(known)}.")
        keep = np.asarray(names.isin(asked), dtype=bool)
    if weights is None:
        return keep, None
    given = pd.Series(weights, dtype=float)
    lacking = sorted(set(names[keep]) - set(given.index))
    if lacking:
        raise ConfigError(f"{option('weights')}: no weight of {len(lacking)} {what}(s): {listing(lacking)}.")
    weight: Floats = np.asarray(names.map(given), dtype=np.float64)
    bad = ~(np.isfinite(weight) & (weight > 0)) & keep
    if bad.any():
        raise ConfigError(f"{option('weights')} must be positive numbers; see {listing(names[bad].unique())}.")
    return keep, weight
