"""Whether treatments differ over blocks: Friedman's test, and Nemenyi's of every pair."""

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ALPHA = 0.05  # of the critical difference


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RankComparison:
    """Average ranks of treatments over blocks, with the tests of Friedman and Nemenyi.

    Attributes
    ----------
    ranks : Series
        Average rank of each treatment, 1 for the highest value of a block; the best first.
    n_blocks : int
        Number of blocks.
    statistic : float
        Friedman's chi-squared with correction for ties.
    p_value : float
        Its p-value, with one degree of freedom less than there are treatments.
    critical_difference : float
        Difference of average ranks at which Nemenyi's p-value is 0.05.
    pairs : DataFrame
        One row per pair of treatments: ``treatment``, ``other`` (the worse), ``difference`` of average ranks and
        Nemenyi's ``p_value``, which counts all pairs.
    """

    ranks: pd.Series
    n_blocks: int
    statistic: float
    p_value: float
    critical_difference: float
    pairs: pd.DataFrame

    def to_frame(self) -> pd.DataFrame:
        """Return one row per treatment: ``treatment`` and ``rank``, the best first."""
        return self.ranks.rename("rank").rename_axis("treatment").reset_index()

    def groups(self) -> list[list[str]]:
        """Return the largest groups of treatments whose ranks differ by less than the critical difference."""
        names, values = list(self.ranks.index), self.ranks.to_numpy()
        found: list[list[str]] = []
        last = 0
        for first in range(len(names)):
            end = int(np.searchsorted(values, values[first] + self.critical_difference, side="left"))
            if end > last and end - first > 1:
                found.append(names[first:end])
            last = max(last, end)
        return found

    def summary(self) -> str:
        """Format the ranks, the tests and the pairs that differ."""
        apart = self.pairs[self.pairs["p_value"] < ALPHA]
        lines = [
            self.to_frame().round(2).to_string(index=False),
            f"Friedman: chi-squared {self.statistic:.2f}, {len(self.ranks) - 1} degrees of freedom, "
            f"p = {self.p_value:.2g} ({self.n_blocks} blocks)",
            f"Nemenyi: critical difference {self.critical_difference:.3f} at {ALPHA}; {len(apart)} of "
            f"{len(self.pairs)} pairs differ",
        ]
        lines += [f"  {row.treatment} and {row.other}: p = {row.p_value:.2g}" for row in apart.itertuples()]
        return "\n".join(lines)

    def plot(self, ax: "Axes | None" = None, **style: Any) -> "Axes":
        """Draw the ranks; see `langdiff.plots.plot_average_ranks`.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **style
            Settings for Matplotlib, which override the defaults.

        Returns
        -------
        Axes
            The axes drawn on.
        """
        from langdiff.plots import plot_average_ranks

        return plot_average_ranks(self.to_frame(), self.groups(), self.critical_difference, ax, **style)

    def __repr__(self) -> str:
        """Give the best treatment and the test."""
        best = self.ranks.index[0]
        return (
            f"RankComparison: {len(self.ranks)} treatments, {self.n_blocks} blocks, best {best!r}, Friedman p = "
            f"{self.p_value:.2g}"
        )


def compare_treatments(table: pd.DataFrame) -> RankComparison:
    r"""Test whether treatments differ over blocks, by their ranks within each block.

    .. math::

        \chi^2 = \frac{12 N}{k(k+1)} \sum_j \bigl(\bar R_j - \tfrac{k+1}{2}\bigr)^2, \quad
        q_{ij} = |\bar R_i - \bar R_j| \Big/ \sqrt{\tfrac{k(k+1)}{6N}}

    with a correction for ties of the first; the p-value of the second comes from the studentized range of k groups
    with infinitely many degrees of freedom at :math:`q\sqrt2` (Demšar 2006).

    Parameters
    ----------
    table : DataFrame
        One row per block (such as a model), one column per treatment (such as a tagging scheme); higher values are
        better, and get the lower ranks.

    Returns
    -------
    RankComparison
        Average ranks and tests.

    Raises
    ------
    DataError
        If a cell is missing, there are fewer than two blocks or three treatments, or all values of every block are
        equal.

    Examples
    --------
    >>> found = compare_treatments(pd.DataFrame({"a": [3, 5, 4], "b": [2, 4, 3], "c": [1, 2, 1]}))
    >>> found.ranks.tolist(), round(found.statistic, 3)
    ([1.0, 2.0, 3.0], 6.0)
    """
    from scipy.stats import friedmanchisquare, rankdata, studentized_range

    n_blocks, k = table.shape
    if n_blocks < 2 or k < 3:
        raise DataError(f"the test takes two or more blocks and three or more treatments; got {n_blocks} and {k}.")
    values = table.to_numpy(float)
    if len(gaps := np.argwhere(~np.isfinite(values))):
        block, treatment = table.index[gaps[0][0]], table.columns[gaps[0][1]]
        raise DataError(f"{len(gaps)} cell(s) are missing, among them {treatment!r} of {block!r}; the test takes all.")
    if (values == values[:, :1]).all():
        raise DataError("all values of every block are equal, so that there are no ranks to compare.")
    statistic, p_value = friedmanchisquare(*values.T)
    means = pd.Series(rankdata(-values, axis=1).mean(axis=0), index=table.columns.astype(str))
    ranks = means.sort_values(kind="stable")
    scale = np.sqrt(k * (k + 1) / (6 * n_blocks))
    pairs = pd.DataFrame(list(combinations(ranks.index, 2)), columns=["treatment", "other"])
    pairs["difference"] = [late - early for early, late in combinations(ranks, 2)]
    pairs["p_value"] = studentized_range.sf(pairs["difference"] / scale * np.sqrt(2), k, np.inf)
    return RankComparison(
        ranks=ranks,
        n_blocks=n_blocks,
        statistic=float(statistic),
        p_value=float(p_value),
        critical_difference=float(studentized_range.ppf(1 - ALPHA, k, np.inf) / np.sqrt(2) * scale),
        pairs=pairs,
    )
