"""Results: a selection with its certificate, and the trade-off between editions and intents."""

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from langdiff.base.result import Drawn, Result
from langdiff.errors import InfeasibleError
from langdiff.tables.multitext import Multitext
from langdiff.tables.text_sources import explain_left_out

LINE = 120  # characters of a line that names editions


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Selection(Result):
    """Editions and intents without missing cells.

    Attributes
    ----------
    multitext : Multitext
        The selected editions and intents; no cell is missing.
    objective : str
        ``"cells"`` (editions × intents) or ``"languages"`` (languages × intents).
    value : int
        The objective reached.
    upper_bound : int
        No selection that meets the requirements has more.
    optimal : bool
        Whether `value` is proven to be the largest, ties going to more editions.
    edition_intents : Series of int
        Intents that each selected edition has, before selection.
    left_out : DataFrame
        One row per edition that was not selected, that with the most intents first: ``intents``, which it has
        in all, and ``shared``, those of the selected intents that it has.
    dropped_editions : Index
        Editions of `left_out` that cannot be selected because they have fewer than `min_intents` intents.
    min_intents : int
        The fewest intents that were asked for.
    certificate : DataFrame
        One row per number of editions (or languages): ``intents_at_most``, the ``bound`` on the objective
        that follows, and what ``closed`` it (showed that it cannot beat the result): ``"hull"`` (minimum cuts
        for all numbers at once), ``"reduction"`` (minimum cuts after leaving out what cannot matter),
        ``"branching"`` (all choices tried, or those of fewer editions), ``"relaxation"`` (a linear program),
        ``"program"`` (an integer program), or it is ``"open"``.
    seconds : float
        Time taken.
    """

    multitext: Multitext
    objective: str
    value: int
    upper_bound: int
    optimal: bool
    edition_intents: pd.Series
    left_out: pd.DataFrame
    dropped_editions: pd.Index
    min_intents: int
    certificate: pd.DataFrame
    seconds: float

    @property
    def editions(self) -> pd.Index:
        """The selected editions, in the multitext's order."""
        return self.multitext.editions

    @property
    def intents(self) -> pd.Index:
        """The selected intents, in the multitext's order."""
        return self.multitext.intents

    @property
    def gap(self) -> float:
        """Largest possible improvement, relative to the value found."""
        return (self.upper_bound - self.value) / self.value

    def to_frame(self) -> pd.DataFrame:
        """Return one row per edition: language, family (if known) and its total number of intents."""
        info = self.multitext.edition_info
        columns = {name: info[name] for name in ("language", "family") if name in info}
        return pd.DataFrame({**columns, "intents": self.edition_intents}).rename_axis("edition")

    plot = Drawn("plot_certificate")

    def headline(self) -> str:
        """Return one paragraph on the selection, its proof and the editions left out."""
        info = self.multitext.edition_info
        families = f", {_count(info['family'].nunique(), 'family', 'families')}" if "family" in info else ""
        counted = "editions" if self.objective == "cells" else "languages"
        proof = (
            "proven optimal"
            if self.optimal
            else f"NOT PROVEN OPTIMAL: at most {self.upper_bound:,}, {100 * self.gap:.2f} % more"
        )
        return "\n".join(
            [
                f"{_count(len(self.editions), 'edition')} in {_count(info['language'].nunique(), 'language')}"
                f"{families} × {_count(len(self.intents), 'intent')}",
                f"{counted} × intents = {self.value:,}, {proof}, in {self.seconds:.1f} s",
                self._not_selected(),
                *filter(None, [explain_left_out(self.multitext.left_out)]),
            ]
        )

    def _not_selected(self) -> str:
        """Return the editions that were not selected, with their numbers of intents."""
        if not len(self.left_out):
            return "Not selected: none"
        few = len(self.dropped_editions)
        why = f", {few:,} of them for fewer than {_count(self.min_intents, 'intent')}" if few else ""
        names = ", ".join(f"{name} ({_count(n, 'intent')})" for name, n in self.left_out["intents"].items())
        return textwrap.fill(
            f"Not selected: {_count(len(self.left_out), 'edition')}{why}: {names}",
            width=LINE,
            subsequent_indent="  ",
            break_long_words=False,
            break_on_hyphens=False,
        )

    def _lines(self) -> Iterator[str]:
        yield self.headline()

    def __repr__(self) -> str:
        """Return the size of the selection and whether it is proven optimal."""
        state = "optimal" if self.optimal else f"gap {100 * self.gap:.2f} %"
        size = f"{_count(len(self.editions), 'edition')} × {_count(len(self.intents), 'intent')}"
        return f"Selection: {size}, {state}"


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParetoFront(Result):
    """Most intents that each number of editions (or languages) can share.

    Attributes
    ----------
    points : DataFrame
        One row per number of editions (languages): ``intents`` of the best selection found, ``intents_at_most``,
        and whether these two are ``proven`` to be equal.
    objective : str
        ``"cells"`` (editions are counted) or ``"languages"``.
    seconds : float
        Time taken.
    """

    points: pd.DataFrame
    objective: str
    seconds: float

    def to_frame(self) -> pd.DataFrame:
        """Return the points, with the intents ``lost`` relative to one edition (language) fewer."""
        return self.points.assign(lost=-self.points["intents"].diff().astype("Int64"))

    def best(self, min_intents: int = 1) -> tuple[int, int]:
        """Return the point with the largest product.

        Parameters
        ----------
        min_intents : int
            The fewest intents that it may have.

        Returns
        -------
        (int, int)
            Number of editions (or languages), and of intents.

        Raises
        ------
        InfeasibleError
            If no point has so many intents.
        """
        intents = self.points["intents"]
        enough = intents[intents >= min_intents]
        if not len(enough):
            raise InfeasibleError(f"no selection with {min_intents:,} intents; the most are {intents.max():,}.")
        product = enough.index.to_numpy() * enough.to_numpy()
        place = len(enough) - 1 - int(product[::-1].argmax())  # among equals, more editions
        return int(enough.index[place]), int(enough.iloc[place])

    plot = Drawn("plot_pareto_front")

    def __repr__(self) -> str:
        """Return the number of points and how many of them are proven."""
        proven = int(self.points["proven"].sum())
        return (
            f"ParetoFront: {len(self.points):,} numbers of {self.points.index.name}, {proven:,} proven, "
            f"in {self.seconds:.1f} s"
        )


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
