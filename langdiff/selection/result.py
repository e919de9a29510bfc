"""The outcome of a selection, with its certificate."""

import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from langdiff.multitext import Multitext

if TYPE_CHECKING:
    from matplotlib.axes import Axes


LINE = 120  # characters of a line that names editions


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Selection:
    """Editions and intents without a missing cell.

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
        Editions of `left_out` that were left aside at once, having fewer than `min_intents` intents.
    min_intents : int
        The requirement.
    certificate : DataFrame
        One row a number of editions (or languages): ``intents_at_most``, the ``bound`` on the objective
        which follows, and what ``closed`` it (showed that it cannot beat the result): ``"hull"`` (minimum cuts
        for all numbers at once), ``"reduction"`` (minimum cuts after leaving out what cannot matter),
        ``"relaxation"`` (a linear program), ``"program"`` (an integer program), or it is ``"open"``.
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
        """How much more there might be, relative to what was found."""
        return (self.upper_bound - self.value) / self.value

    def to_frame(self) -> pd.DataFrame:
        """Return one row an edition: language, family (if known) and the intents it has in all."""
        info = self.multitext.edition_info
        columns = {name: info[name] for name in ("language", "family") if name in info}
        return pd.DataFrame({**columns, "intents": self.edition_intents}).rename_axis("edition")

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the certificate; see `langdiff.plots.plot_certificate`."""
        from langdiff.plots.pareto import plot_certificate  # Matplotlib only when asked for

        return plot_certificate(self, ax, **style)

    def headline(self) -> str:
        """Say what was selected, whether it is proven best, and which editions were not selected."""
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
            ]
        )

    def _not_selected(self) -> str:
        """Name every edition that was not selected, with its intents."""
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

    def summary(self) -> str:
        """Add the table of the selected editions to the `headline`."""
        return f"{self.headline()}\n\n{self.to_frame().to_string()}"

    def __repr__(self) -> str:
        """Say what was selected and whether it is proven best."""
        state = "optimal" if self.optimal else f"gap {100 * self.gap:.2f} %"
        size = f"{_count(len(self.editions), 'edition')} × {_count(len(self.intents), 'intent')}"
        return f"Selection: {size}, {state}"

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.to_frame().to_html(escape=True)}"


def _count(number: int, one: str, several: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else several or one + 's'}"
