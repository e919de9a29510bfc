"""What is independent in a table by default: the divisions of intents that attributes, verse ids and names show."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import pandas as pd

from langdiff.errors import UnknownColumnError
from langdiff.tables.intent_info import label_intents

LEVELS = ("book", "document", "chapter")  # attributes that are used by themselves, the coarsest first
PLURAL = {name: f"{name}s" for name in (*LEVELS, "intent", "section", "verse", "sentence", "fold", "speaker")}
NUMBERED = re.compile(r"(.*[^._:/#-])[._:/#-][A-Za-z]{0,5}\.?([0-9]+)")  # doc3_s12, n01-003, GEN.1.3


@dataclass(frozen=True, kw_only=True, eq=False)
class IndependentUnits:
    """Units that errors take to be independent: intents, or clusters of them.

    Attributes
    ----------
    kind : {"intents", "found", "blocks", "given"}
        Whether they are intents, clusters found by default, ten blocks of neighbouring rows, or clusters that were
        given.
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

    kind: Literal["intents", "found", "blocks", "given"] = "intents"
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
    >>> plural("book"), plural("group of Bibles")
    ('books', 'clusters by group of Bibles')
    """
    return PLURAL.get(name) or ("clusters" if name == "cluster" else f"clusters by {name}")


class Level(NamedTuple):
    """A division of the intents, with its source in words and the number of intents without a value."""

    labels: pd.Series
    source: str
    missing: int = 0

    @property
    def name(self) -> str:
        """Name of its units."""
        return str(self.labels.name)

    @property
    def size(self) -> int:
        """Number of its units."""
        return int(self.labels.nunique())


def levels_of(intents: pd.Index, intent_info: pd.DataFrame | None) -> Iterator[Level]:
    """Yield the divisions of intents that are used by default, source by source and the coarsest of each first.

    Parameters
    ----------
    intents : Index
        Names of the intents, in the order of the table.
    intent_info : DataFrame, I rows, or None
        Attributes of the intents.

    Examples
    --------
    >>> [level.labels.tolist() for level in levels_of(pd.Index(["a_1", "a_2", "b_1", "b_2"]), None)]
    [['a', 'a', 'b', 'b']]
    """
    yield from _of_columns(intents, intent_info)
    for name in ("book", "chapter"):
        try:
            yield Level(label_intents(intents, None, name, "clusters"), "from verse ids")
        except UnknownColumnError:
            break
    yield from _of_names(intents)


def _of_columns(intents: pd.Index, info: pd.DataFrame | None) -> Iterator[Level]:
    coarser: pd.Series | None = None
    for name in (name for name in LEVELS if info is not None and name in info):
        given: pd.Series = info[name].astype(object)  # type: ignore[index]
        missing = given.isna().to_numpy()
        if coarser is not None and name == "chapter" and not nested(given[~missing], coarser[~missing]):
            given = coarser.astype(str) + " " + given.astype(str)  # numbers that begin anew in each book
        labels = given.map(_as_label).where(~missing, [f"({intent})" for intent in intents])
        yield Level(labels.set_axis(intents).rename(name), f"from the column {name}", int(missing.sum()))
        coarser = given if coarser is None else coarser


def _as_label(label: object) -> object:
    return label if isinstance(label, str | int) else str(label)


def _of_names(intents: pd.Index) -> Iterator[Level]:
    """Yield divisions by the names of intents: documents whose sentences are numbered, and what these are part of."""
    found: list[list[str]] = []
    names: list[str] = intents.tolist()
    while (prefixes := _prefixes(names)) is not None:
        if 2 * len(set(prefixes)) > len(intents):
            break
        found.append(prefixes)
        names = prefixes
    for depth, prefixes in enumerate(reversed(found)):
        name = "document" if depth == 0 else "section"
        yield Level(pd.Series(prefixes, intents, dtype=object, name=name), "from names")


def _prefixes(names: list[str]) -> list[str] | None:
    """Return the document of each numbered sentence; None if some name is of another form, or not in order."""
    prefixes: list[str] = []
    seen: set[str] = set()
    last, name_before = -1, ""
    for name in names:
        if prefixes and name == name_before:  # at a coarser level, the same section again
            prefixes.append(prefixes[-1])
            continue
        match = NUMBERED.fullmatch(name) if isinstance(name, str) else None
        if match is None:
            return None
        prefix, number = match[1], int(match[2])
        if prefixes and prefix == prefixes[-1]:
            if number <= last:
                return None
        elif prefix in seen:
            return None
        prefixes.append(prefix)
        seen.add(prefix)
        last, name_before = number, name
    return prefixes if len(seen) > 1 else None


def nested(finer: pd.Series, coarser: pd.Series) -> bool:
    """Return whether every unit of one division is within a unit of another.

    Examples
    --------
    >>> nested(pd.Series(["1", "2", "1"]), pd.Series(["GEN", "GEN", "EXO"]))
    False
    """
    return bool((coarser.groupby(finer.to_numpy()).nunique() <= 1).all())
