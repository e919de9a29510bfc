"""What a fit finds out about its table before its errors are believed: independent units, noise, missing cells."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan, nan
from typing import Literal

from langdiff.tables.units import IndependentUnits

ALIKE = 0.05  # p below which neighbouring rows are taken to be alike
UNEQUAL = 0.01  # p below which editions get dispersions of their own
DIFFERENT = 0.01  # p below which fixed and random intents are said to differ


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
        Statistic of the mean squared residuals by F, or by sign flips where units are few, with its p; NaN where it
        cannot be tested.
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
        found = f"Noise, or how much of it {self.of}s share, differs (p = {self.p_value:.2g})"
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
