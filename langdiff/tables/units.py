"""Independent units of a table: columns, verse ids and names that tell which intents or items belong together.

Rows of the same bits are one unit, too: of copies of a text, every further one says nothing new.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, islice
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import UnknownColumnError
from langdiff.tables.intent_info import label_intents

UNITS = (  # kinds of units that columns are named after; of several that do not nest, the first
    *("book", "document", "passage", "text", "article", "talk", "speech", "story", "testlet", "cluster"),
    *("file", "source", "url", "link", "chapter", "section"),
)
PARTS = ("chapter", "section")  # whose numbers may begin anew in each book
OTHERS = ("intent", "item", "verse", "sentence", "fold", "speaker", "target", "unit", "system", "doc", "block")
PLURAL = {name: f"{name}s" for name in (*UNITS, *OTHERS)} | {"speech": "speeches", "story": "stories"}
PUNCTUATION, ENDING = re.compile(r"[-_. ]"), re.compile(r"(?<=.)(id|name|no|nr|number|key)$")
NUMBERED = re.compile(r"(.*[^._:/#-])[._:/#-][A-Za-z]{0,5}\.?([0-9]+)")  # doc3_s12, n01-003, GEN.1.3
FEWEST_NAMED = 5  # units that names tell
FEWEST_ALIKE = 3  # cells in which copies are equal
NEAR, EQUAL = 0.005, 1e-9  # nats between the bits of copies: of four cells or more, of three
SHELL = 4.0  # times as many pairs a little farther apart show that pairs are near by chance
MOST_ROWS = 100_000  # that are looked at for copies, with a pair of columns each time
COLUMNS_AT_A_TIME = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentUnits:
    """Units that errors take to be independent: intents, or clusters of them.

    Attributes
    ----------
    kind : {"intents", "copies", "found", "blocks", "given"}
        Whether they are intents, intents of which copies are one, clusters found by default, ten blocks of neighbouring
        rows, or clusters that were given.
    name : str
        Name of the units, such as ``"book"``; ``"intent"`` where each intent is one.
    count : int
        Number of units; of two kinds that cross, the smaller number.
    source : str
        Where they come from, in words, such as ``"from verse ids"``.
    labels : Series, DataFrame or None
        Unit of each intent, indexed by intent; two columns of a frame are kinds that cross. None where each intent is a
        unit.
    strata : Series or None
        Fewer than five units of which the claim is about others within them; None without.
    notes : tuple of str
        Further sentences for the paragraph of the audit.

    Examples
    --------
    >>> IndependentUnits(kind="found", name="book", count=27, source="from verse ids").words
    '27 books (from verse ids)'
    """

    kind: Literal["intents", "copies", "found", "blocks", "given"] = "intents"
    name: str = "intent"
    count: int = 0
    source: str = ""
    labels: pd.Series | pd.DataFrame | None = None
    strata: pd.Series | None = None
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> list[pd.Series]:
        """Labels of no kind of clusters, one or two."""
        if self.labels is None:
            return []
        return [self.labels] if isinstance(self.labels, pd.Series) else [self.labels[name] for name in self.labels]

    @property
    def noun(self) -> str:
        """The units, in the plural."""
        if self.kind == "blocks":
            return "ten blocks of rows"
        return plural(self.name)

    @property
    def words(self) -> str:
        """Number and source of the units, as the paragraph of the audit has them."""
        number = "" if self.kind == "blocks" else f"{self.count:,} "
        return f"{number}{self.noun} ({self.source})" if self.source else f"{number}{self.noun}"


def plural(name: str) -> str:
    """Return the plural of the name of a unit.

    Examples
    --------
    >>> plural("book"), plural("story"), plural("group of Bibles")
    ('books', 'stories', 'clusters by group of Bibles')
    """
    return PLURAL.get(name) or f"clusters by {name}"


def unit_of(column: object) -> str | None:
    """Return the kind of unit that a column is named after, in any spelling; None if it is named after none.

    Examples
    --------
    >>> [unit_of(name) for name in ("Doc_ID", "docName", "Book-No", "URL", "genre")]
    ['document', 'document', 'book', 'url', None]
    """
    plain = PUNCTUATION.sub("", str(column).lower())
    name = ENDING.sub("", plain)
    name = "document" if name == "doc" else name
    return name if name in UNITS else None


@dataclass(frozen=True, eq=False)
class Level:
    """A division of the intents, with its source in words and the number of intents without a value."""

    labels: pd.Series
    source: str
    missing: int = 0

    @property
    def name(self) -> str:
        """Name of its units."""
        return str(self.labels.name)

    @cached_property
    def size(self) -> int:
        """Number of its units."""
        return int(self.labels.nunique())


def levels_of(intents: pd.Index, info: pd.DataFrame | None) -> Iterator[Level]:
    """Yield the divisions of intents that are used by default, source by source and the coarsest of each first.

    Columns come first, but those whose units are mostly single intents, as of texts themselves, come last.

    Examples
    --------
    >>> names = pd.Index([f"{document}_{k}" for document in "abcde" for k in (1, 2)])
    >>> [level.labels.tolist() for level in levels_of(names, None)]
    [['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'e', 'e']]
    """
    columns = _coarsest_first(_of_columns(intents, info))
    small = [level for level in columns if len(intents) < 2 * level.size < 2 * len(intents)]
    yield from (level for level in columns if not any(level is one for one in small))
    for name in ("book", "chapter"):
        try:
            yield Level(label_intents(intents, None, name, "clusters"), "from verse ids")
        except UnknownColumnError:
            break
    yield from _of_names(intents)
    yield from small


def _of_columns(intents: pd.Index, info: pd.DataFrame | None) -> list[Level]:
    """Return the divisions by columns, in the order of `UNITS`."""
    columns = [] if info is None else [(unit, name) for name in info if (unit := unit_of(name)) is not None]
    found: list[Level] = []
    for unit, name in sorted(columns, key=lambda pair: UNITS.index(pair[0])):
        given: pd.Series = info[name].astype(object).set_axis(intents)  # type: ignore[index]
        missing = given.isna().to_numpy()
        whole = [level.labels for level in found if level.name not in PARTS and 1 < level.size < len(intents)]
        if unit in PARTS and whole and not any(nested(given[~missing], labels[~missing]) for labels in whole):
            given = whole[0].astype(str) + " " + given.astype(str)  # numbers that begin anew in each book
        labels = given.map(lambda label: label if isinstance(label, str | int) else str(label))
        if missing.any():
            labels = labels.where(~missing, [f"({intent})" for intent in intents])
        found.append(Level(labels.rename(unit), f"from the column {name}", int(missing.sum())))
    return found


def _coarsest_first(levels: Sequence[Level]) -> list[Level]:
    """Return divisions such that none is after one within it, otherwise in their order."""
    left, ordered = list(levels), []
    while left:
        free = (
            place
            for place, one in enumerate(left)
            if not any(other.size < one.size and nested(one.labels, other.labels) for other in left)
        )
        ordered.append(left.pop(next(free)))
    return ordered


def _of_names(intents: pd.Index) -> Iterator[Level]:
    """Yield divisions by the names of intents: documents whose sentences are numbered, and what these are part of."""
    found: list[list[str]] = []
    names: list[str] = intents.tolist()
    while (prefixes := _prefixes(names)) is not None:
        if 2 * len(set(prefixes)) <= len(intents):
            found.append(prefixes)
        names = prefixes
    if not found or len(set(found[0])) < FEWEST_NAMED:
        return
    for depth, prefixes in enumerate(reversed(found)):
        name = "document" if depth == 0 else "section"
        yield Level(pd.Series(prefixes, intents, dtype=object, name=name), "from names")


def _prefixes(names: list[str]) -> list[str] | None:
    """Return the document of each numbered sentence, in any order; None if some name is of another form."""
    of: dict[str, str] = {}
    seen: set[tuple[str, int]] = set()
    for name in dict.fromkeys(names):
        match = NUMBERED.fullmatch(name) if isinstance(name, str) else None
        if match is None or (place := (match[1], int(match[2]))) in seen:
            return None
        seen.add(place)
        of[name] = match[1]
    return [of[name] for name in names] if len(set(of.values())) > 1 else None


def nested(finer: pd.Series, coarser: pd.Series) -> bool:
    """Return whether every unit of one division is within a unit of another.

    Examples
    --------
    >>> nested(pd.Series(["1", "2", "1"]), pd.Series(["GEN", "GEN", "EXO"]))
    False
    """
    fine, coarse = pd.factorize(finer)[0], pd.factorize(coarser)[0]
    return len(pd.unique(fine * np.int64(len(coarse)) + coarse)) == len(pd.unique(fine))


def first_copies(bits: Floats) -> Integers:
    """Return for each row the first one that it is a copy of, possibly itself, (I, J) → (I,).

    Copies are equal in all cells that both have, three at least; or close, in four at least.

    Examples
    --------
    >>> first_copies(np.array([[10.0, 20, 30, 7], [10, 20, 40, 7], [10.01, np.nan, 40.1, 7], [10, 20, 30, np.nan]]))
    array([0, 1, 2, 0])
    """
    there = np.isfinite(bits) & (bits > 0)
    pairs = [np.zeros((0, 2), dtype=int)]
    near, shell = [np.zeros((0, 2), dtype=int)], 0
    for columns in islice(_pairs_of_columns(there), max(2, MOST_ROWS // max(len(bits), 1))):
        rows = np.flatnonzero(there[:, columns].all(axis=1))
        z = np.log(bits[rows[:, None], columns])
        order = np.lexsort(z.T)
        neighbours = rows[np.column_stack([order[:-1], order[1:]])]
        close = np.abs(np.diff(z[order], axis=0)).max(axis=1, initial=0) <= EQUAL
        equal, _ = _alike(bits, there, neighbours[close], EQUAL, FEWEST_ALIKE)
        pairs.append(equal)
        first = np.ones(len(bits), dtype=bool)
        first[equal.max(axis=1)] = False  # of equal rows, one is enough
        kept = first[rows]
        candidates = cKDTree(z[kept]).query_pairs(2 * NEAR, p=np.inf, output_type="ndarray")
        found, apart = _alike(bits, there, rows[kept][candidates], 2 * NEAR, FEWEST_ALIKE + 1)
        near.append(found[apart <= NEAR])
        shell += int((apart > NEAR).sum())
    if shell <= SHELL * sum(map(len, near)):
        pairs += near
    return _joined(np.concatenate(pairs), len(bits))


def _pairs_of_columns(there: Booleans) -> Iterator[list[int]]:
    """Yield pairs of columns in which rows are compared, the most frequent first; one pair where all rows have it."""
    left = there.sum(axis=1) >= FEWEST_ALIKE
    seen: list[list[int]] = []
    while left.any():
        one = int(there[left].sum(axis=0).argmax())
        both = there[left & there[:, one]].sum(axis=0)
        both[one] = -1
        pair = sorted((one, int(both.argmax())))
        if pair in seen:
            break
        yield pair
        seen.append(pair)
        left &= ~there[:, pair].all(axis=1)
    if len(seen) > 1:
        yield from (list(pair) for pair in combinations(range(there.shape[1]), 2) if list(pair) not in seen)


def _alike(bits: Floats, there: Booleans, pairs: Integers, most: float, fewest: int) -> tuple[Integers, Floats]:
    """Return the pairs of rows that differ by at most some nats in all cells that both have, and their distances."""
    apart, common = np.zeros(len(pairs)), np.zeros(len(pairs), dtype=int)
    for start in range(0, bits.shape[1], COLUMNS_AT_A_TIME):
        block = slice(start, start + COLUMNS_AT_A_TIME)
        one, other = pairs.T
        both = there[one, block] & there[other, block]
        ratio = np.where(both, bits[one, block], 1.0) / np.where(both, bits[other, block], 1.0)
        apart = np.maximum(apart, np.abs(np.log(ratio)).max(axis=1, initial=0.0))
        common = common + both.sum(axis=1)
        kept = apart <= most
        pairs, apart, common = pairs[kept], apart[kept], common[kept]
    return pairs[common >= fewest], apart[common >= fewest]


def _joined(pairs: Integers, count: int) -> Integers:
    """Return the first of the things that each is joined with by pairs, directly or not, shape (count,)."""
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    return np.unique(label, return_index=True)[1][label]


def joined_by_copies(labels: pd.Series | None, first: Integers, intents: pd.Index) -> pd.Series | None:
    """Return the units that are left where those with copies of one another are one; None if that joins half of them.

    Without `labels`, each intent is a unit.
    """
    if labels is None:
        return pd.Series(intents[first].map(str), intents, dtype=object, name="text")
    codes, names = pd.factorize(labels)
    unit = _joined(np.column_stack([codes, codes[first]]), len(names))
    if 2 * np.bincount(unit).max() >= len(names):
        return None
    return pd.Series(pd.Index(names)[unit[codes]], intents, dtype=object, name=labels.name)


def words_of_copies(first: Integers, intents: pd.Index) -> str:
    """Return which intents stand how many times.

    Examples
    --------
    >>> words_of_copies(np.array([0, 1, 0, 1, 4]), pd.Index(list("abcde")))
    '2 intents stand 2 times (a, b)'
    """
    rows, times = np.unique(first, return_counts=True)
    rows, times = rows[times > 1], times[times > 1]
    number = f"{times.min():,}" if times.min() == times.max() else f"{times.min():,} to {times.max():,}"
    names = ", ".join(map(str, intents[rows[:2]])) + (", …" if len(rows) > 2 else "")
    stand = "1 intent stands" if len(rows) == 1 else f"{len(rows):,} intents stand"
    return f"{stand} {number} times ({names})"
