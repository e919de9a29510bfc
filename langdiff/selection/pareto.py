"""The trade of editions for intents."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class ParetoFront:
    """The most intents that each number of editions (or languages) can share.

    Attributes
    ----------
    points : DataFrame
        One row a number of editions (languages): ``intents`` of the best selection found, ``intents_at_most``,
        and whether these two are ``proven`` to be the same.
    objective : str
        ``"cells"`` (editions are counted) or ``"languages"``.
    seconds : float
        Time taken.
    """

    points: pd.DataFrame
    objective: str
    seconds: float

    def to_frame(self) -> pd.DataFrame:
        """Return the points, and the intents ``lost`` against one edition (language) fewer."""
        return self.points.assign(lost=-self.points["intents"].diff().astype("Int64"))

    def best(self, min_intents: int = 1) -> tuple[int, int]:
        """Return the point (editions or languages, intents) of the largest product among those found.

        Raises
        ------
        ValueError
            If no point has so many intents.
        """
        intents = self.points["intents"]
        enough = intents[intents >= min_intents]
        if not len(enough):
            raise ValueError(f"no selection with {min_intents:,} intents; the most are {intents.max():,}.")
        product = enough.index.to_numpy() * enough.to_numpy()
        place = len(enough) - 1 - int(product[::-1].argmax())  # of equals, more editions
        return int(enough.index[place]), int(enough.iloc[place])

    def summary(self) -> str:
        """Format the table, with what is needed to trust it."""
        return f"{self!r}\n\n{self.to_frame().to_string()}"

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw intents against editions; see `langdiff.plots.plot_pareto_front`."""
        from langdiff.plots.pareto import plot_pareto_front  # Matplotlib only when asked for

        return plot_pareto_front(self, ax, **style)

    def __repr__(self) -> str:
        """Say how many points there are and how many are proven."""
        proven = int(self.points["proven"].sum())
        return (
            f"ParetoFront: {len(self.points):,} numbers of {self.points.index.name}, {proven:,} proven, "
            f"in {self.seconds:.1f} s"
        )

    def _repr_html_(self) -> str:
        return f"<p>{self!r}</p>{self.to_frame().to_html(escape=True, max_rows=20)}"
