"""What a fit finds out about its table before its errors are believed: independent units, noise, missing cells."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, NamedTuple

import pandas as pd

from langdiff.errors import UnknownColumnError
from langdiff.tables.intent_info import label_intents

LEVELS = ("book", "document", "chapter")  # attributes that are used by themselves, the coarsest first
PLURAL = {name: f"{name}s" for name in (*LEVELS, "intent", "section", "verse", "sentence", "fold", "speaker")}
NUMBERED = re.compile(r"(.*[^._:/#-])[._:/#-][A-Za-z]{0,5}\.?([0-9]+)")  # doc3_s12, n01-003, GEN.1.3
ALIKE = 0.05  # p below which neighbouring rows are taken to be alike
UNEQUAL = 0.01  # p below which editions get dispersions of their own
DIFFERENT = 0.01  # p below which fixed and random intents are said to differ


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


@dataclass(frozen=True, kw_only=True)
class OrderTest:
    """Test whether neighbouring rows of the table are alike, as sentences of one document are.

    Attributes
    ----------
    statistic : float
        Standard normal where rows are independent; large where neighbours are alike.
    p_value : float
        One-sided.
    """

    statistic: float
    p_value: float

    @property
    def alike(self) -> bool:
        """Whether neighbouring rows are taken to be alike."""
        return self.p_value < ALIKE

    @property
    def words(self) -> str:
        """The outcome in words."""
        return f"neighbouring rows are {'alike' if self.alike else 'not alike'}, p = {self.p_value:.2g}"


@dataclass(frozen=True, kw_only=True)
class NoiseTest:
    """Test whether all editions have the same noise, and what was done if not.

    Attributes
    ----------
    statistic, p_value : float
        Hotelling's T² of the mean squared residuals, with its p; NaN where it cannot be tested.
    fitted : {"common", "edition", "given"}
        Dispersions that were fitted: one, one per edition because of the test, or those that were asked for.
    why : str
        Why noise cannot be tested, or why unequal noise is not fitted, in words; empty otherwise.
    largest_change : float
        Where editions got dispersions because of the test: largest change of a difference between two editions, in
        percent. Otherwise NaN.
    totals : str
        Ratio of total bits of the pair of editions that the fit concerns most, in words; empty where that is not
        needed.
    """

    statistic: float = nan
    p_value: float = nan
    fitted: Literal["common", "edition", "given"] = "common"
    why: str = ""
    largest_change: float = nan
    totals: str = ""
    of: Literal["edition", "system"] = "edition"

    @property
    def tested(self) -> bool:
        """Whether noise could be tested."""
        return not isnan(self.p_value)

    @property
    def unequal(self) -> bool:
        """Whether editions are taken to differ in noise."""
        return self.p_value < UNEQUAL

    @property
    def words(self) -> str:
        """What was tested and done, in a sentence or two."""
        totals = f" {self.totals}" if self.totals else ""
        if self.fitted == "given":
            return f"Noise by edition or group was asked for.{totals}"
        if not self.tested:
            return f"Equal noise is not tested: {self.why}.{totals}"
        if not self.unequal:
            return f"Noise does not differ between {self.of}s (p = {self.p_value:.2g}).{totals}"
        found = f"Noise differs between {self.of}s (p = {self.p_value:.2g})"
        if self.fitted == "edition":
            changed = f"; no difference changes by more than {self.largest_change:.2g} %"
            return f"{found}, so that each has its own and difficulties are about expected bits{changed}.{totals}"
        return f"{found}, but all have one dispersion: {self.why}.{totals}"


@dataclass(frozen=True, kw_only=True)
class MissingCells:
    """How much is missing, and whether difficulties depend on how sizes of intents are treated.

    Attributes
    ----------
    percent : float
        Share of the cells that are missing.
    p_value : float
        Probability of so large a distance between fixed and random intents where both are right; NaN where it is not
        known, as with fewer than fifty intents per edition.
    largest : float
        Largest difference in the difficulty of an edition, in percent; NaN where the two were not compared.
    edition : str
        That edition.
    """

    percent: float = 0.0
    p_value: float = nan
    largest: float = nan
    edition: str = ""

    @property
    def differ(self) -> bool:
        """Whether fixed and random intents are said to differ."""
        return self.p_value < DIFFERENT

    @property
    def words(self) -> str:
        """How much is missing and what that does, in a sentence."""
        if self.percent == 0:
            return "No cell is missing."
        number = f"{self.percent:.0f}" if self.percent >= 1 else f"{self.percent:.2g}"
        missing = f"{number} % of the cells are missing"
        if isnan(self.largest):
            return f"{missing}; fixed and random intents are not compared."
        by = f"by up to {self.largest:.2g} % ({self.edition})"
        if isnan(self.p_value):
            return f"{missing}; fixed and random intents differ {by}, p not known with so few intents."
        if self.differ:
            return f"{missing}; fixed and random intents differ {by}, p = {self.p_value:.2g}: see `intents`."
        return f"{missing}; fixed and random intents agree (p = {self.p_value:.2g})."


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """What a fit found out about its table, and what it did because of that.

    Attributes
    ----------
    clusters : IndependentUnits
        What errors take to be independent.
    order : OrderTest or None
        Whether neighbouring rows are alike; None where documents are known, or nothing was to be found.
    noise : NoiseTest
        Whether editions have the same noise.
    missing : MissingCells
        Share of missing cells, and what they do.
    errors : str
        Source of the standard errors, in words.
    design_effect : float
        Factor by which clusters multiply variances; NaN without clusters.
    taken : str
        What errors take to be independent though it was found not to be, in words; empty otherwise.
    also : str
        What errors are about beside other units, such as ``"other seeds"``; empty otherwise.

    Examples
    --------
    >>> units = IndependentUnits(kind="found", name="book", count=27, source="from verse ids")
    >>> errors = "sandwich CR2, 9.8 degrees of freedom or more"
    >>> audit = Audit(clusters=units, noise=NoiseTest(p_value=0.4), errors=errors, design_effect=3.4)
    >>> print(audit.words)
    Independent units: 27 books (from verse ids), design effect 3.4. Noise does not differ between editions (p = 0.4). \
No cell is missing. Errors: sandwich CR2, 9.8 degrees of freedom or more. They are about other books, not about other \
translations, seeds or training texts.
    """

    clusters: IndependentUnits
    order: OrderTest | None = None
    noise: NoiseTest = NoiseTest()
    missing: MissingCells = MissingCells()
    errors: str = ""
    design_effect: float = nan
    taken: str = ""
    also: str = ""

    @property
    def words(self) -> str:
        """The paragraph that tells what was found, a sentence or two for each step."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        effect = "" if isnan(self.design_effect) else f", design effect {self.design_effect:.1f}"
        yield f"Independent units: {self.clusters.words}{effect}."
        if self.order is not None and self.clusters.kind == "intents":
            yield f"{self.order.words[0].upper()}{self.order.words[1:]}."
        yield from self.clusters.notes
        yield self.noise.words
        yield self.missing.words
        yield f"Errors: {self.errors}.{f' {self.taken}.' if self.taken else ''}"
        yield f"They are about {self._about}."

    @property
    def _about(self) -> str:
        """What the errors are about, and what not."""
        units = self.clusters
        about = f"other {'rows of the text' if units.kind == 'blocks' else units.noun}"
        if units.strata is not None:
            about = f"{about} of the same {units.strata.nunique()} {units.strata.name}s"
        if self.also:
            return f"{about} and {self.also}, not about other translations or training texts"
        return f"{about}, not about other translations, seeds or training texts"
