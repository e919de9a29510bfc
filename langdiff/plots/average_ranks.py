"""Average ranks of treatments, and which of them are not told apart."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, INK, RUST, finish, row_axes, text_size


@takes("ranks", pd.DataFrame, "a table of average ranks", columns=("treatment", "rank"))
def plot_average_ranks(
    ranks: pd.DataFrame,
    groups: Sequence[Sequence[str]] = (),
    critical_difference: float | None = None,
    ax: Axes | None = None,
    **style: Any,
) -> Axes:
    """Draw the average rank of each treatment, the best on top; a bar joins treatments that are not told apart.

    Parameters
    ----------
    ranks : DataFrame
        One row per treatment, the best first: ``treatment`` and ``rank``.
    groups : sequence of sequences of str
        Treatments that are not told apart; see `langdiff.parallelism.RankComparison.groups`.
    critical_difference : float, optional
        Difference of ranks at which two treatments are told apart, drawn as a scale above the ranks.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the ranks, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there are no ranks, or a group names an unknown treatment.

    Examples
    --------
    >>> axes = plot_average_ranks(pd.DataFrame({"treatment": ["a", "b", "c"], "rank": [1, 2.2, 2.8]}), [["b", "c"]])
    >>> axes.lines[0].get_xdata().tolist()
    [1.0, 2.2, 2.8]
    """
    if ranks.empty:
        raise DataError("nothing to draw: there are no ranks.")
    rows = {name: len(ranks) - 1 - place for place, name in enumerate(ranks["treatment"])}
    if unknown := {name for group in groups for name in group} - set(rows):
        raise DataError(f"{sorted(unknown)[0]!r} is in a group but has no rank.")
    ax = row_axes(ax, ranks["treatment"].iloc[::-1])
    usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE}
    ax.plot(ranks["rank"].astype(float), list(rows.values()), **(usual | style))
    best, worst = float(ranks["rank"].min()), float(ranks["rank"].max())
    gap = 0.04 * max(worst - best, 1)
    for place, group in enumerate(groups, 1):
        heights = [rows[name] for name in group]
        ax.plot([worst + gap * (place + 0.5)] * 2, [min(heights), max(heights)], color=RUST, linewidth=3)
    if critical_difference is not None:
        top = len(ranks) - 0.1
        ax.plot([best, best + critical_difference], [top, top], color=INK, marker="|")
        label = f"critical difference {critical_difference:.2f}"
        ax.text(
            best + critical_difference / 2,
            top + 0.15,
            label,
            ha="center",
            va="bottom",
            fontsize=0.9 * text_size(ax),
            color=INK,
        )
        ax.set_ylim(top=len(ranks) + 0.9)
    title = "bars join what is not told apart" if len(groups) else ""
    return finish(ax, "average rank (1 is best)", title=title, keep=["bottom"])
