"""Power of a study over the number of its intents."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from langdiff.plots._axes import FAINT, MARKERS, SERIES, axes_of, finish, takes

if TYPE_CHECKING:
    from langdiff.regression.components.planning import Plan

FEWEST, POINTS = 3, 60
HEIGHTS = (0.3, 0.7)  # of the names of the first and the last curve, so that names of close curves are apart


@takes("plan", "frame percent power()", "a Plan, as langdiff.plan returns it")
def plot_power(plan: "Plan", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the power over the number of intents, one curve per difference in percent.

    Parameters
    ----------
    plan : Plan
        Result of `langdiff.plan`. A line shows the power that was asked for.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the curves, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If `plan` is something else.
    AttributeError
        If Matplotlib's lines do not have a setting.

    Examples
    --------
    >>> import langdiff as ld
    >>> axes = plot_power(ld.plan(5, noise=0.17))
    >>> axes.get_ylabel()
    'power'
    """
    ax = axes_of(ax, 6.0, 4.2)
    counts = plan.frame["n_documents"]
    known = counts[np.isfinite(counts)]
    most = 2 * float(known.max()) if len(known) else 1e5
    documents = np.unique(np.geomspace(FEWEST, max(most, 10 * FEWEST), POINTS).round())
    heights = np.linspace(*HEIGHTS, len(plan.frame))
    for percent, colour, height in zip(plan.frame.index, SERIES[: len(MARKERS)], heights, strict=False):
        power = np.array([plan.power(count, percent) for count in documents])
        usual: dict[str, Any] = {"color": colour, "linewidth": 2.0 if percent == plan.percent else 1.2}
        ax.plot(documents * plan.per_document, power, **(usual | style))
        place = min(int(np.searchsorted(power, height)), len(power) - 1)  # the end of a curve that stays below
        ax.annotate(
            f"{percent:g} %",
            (documents[place] * plan.per_document, power[place]),
            ha="center" if power[place] >= height else "right",
            va="center",
            color=colour,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.0},
        )
    ax.axhline(plan.wanted, color=FAINT, linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(documents[0] * plan.per_document, documents[-1] * plan.per_document)
    ax.set_ylim(0, 1.02)
    return finish(ax, "intents (logarithmic)", "power")
