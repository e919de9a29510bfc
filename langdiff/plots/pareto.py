"""Trade-off between numbers of editions and of intents."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from langdiff.plots._axes import BLUE, DASHED, GREEN, GREY, INK, RUST, SKY, VIOLET, axes_of, finish, takes

if TYPE_CHECKING:
    from langdiff.selection.result import ParetoFront, Selection

CLOSED = {  # colour and marker
    "hull": (GREY, "o"),
    "reduction": (SKY, "s"),
    "branching": (GREEN, "^"),
    "relaxation": (BLUE, "D"),
    "program": (VIOLET, "v"),
    "open": (RUST, "X"),
}


@takes("front", "points best()", "the result of langdiff.pareto_front")
def plot_pareto_front(front: "ParetoFront", ax: Axes | None = None, *, min_intents: int = 1, **style: Any) -> Axes:
    """Draw the most intents against the number of editions (or languages) that share them.

    Parameters
    ----------
    front : ParetoFront
        Result of `langdiff.pareto_front`. Each dot is a number of editions, filled where it is proven best; a grey
        line shows the bound where it is higher. The curve through the largest product joins all selections with
        the same product.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    min_intents : int
        Least number of intents of the selection that is marked.
    **style
        Settings for ``Axes.plot`` of the proven dots, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    InfeasibleError
        If no point of the front has `min_intents` intents.

    Examples
    --------
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_pareto_front(ld.pareto_front(ld.read_frame(texts)))
    >>> axes.get_xlabel(), axes.get_ylabel()
    ('editions', 'intents that all of them have')
    """
    ax = axes_of(ax, 7, 4.2)
    points = front.points
    units, intents, proven = points.index.to_numpy(), points["intents"].to_numpy(), points["proven"].to_numpy()
    if not proven.all():
        ax.plot(units, points["intents_at_most"], color=GREY, linewidth=1.2, label="upper bound", zorder=1)
        ax.plot(units[~proven], intents[~proven], "o", color=BLUE, mfc="white", ms=4, label="best found", zorder=2)
    usual: dict[str, Any] = {"marker": "o", "linestyle": "", "color": BLUE, "markersize": 4, "label": "proven best"}
    ax.plot(units[proven], intents[proven], **(usual | style))
    most, shared = front.best(min_intents)
    top = 1.06 * intents.max()
    curve = np.linspace(max(most * shared / top, 0.5), units[-1] + 0.5, 400)
    ax.plot(curve, most * shared / curve, color=RUST, linewidth=1, linestyle=DASHED, zorder=1)
    ax.plot(most, shared, "D", color=RUST, markersize=7, zorder=4, label=f"largest product: {most:,} × {shared:,}")
    if min_intents > 1:
        ax.axhline(min_intents, color=INK, linewidth=0.8, linestyle=":", label=f"at least {min_intents:,} intents")
    ax.set(xlim=(0, units[-1] + 1), ylim=(0, top))
    return _with_legend(ax, str(points.index.name), "intents that all of them have")


@takes("selection", "certificate value upper_bound", "a Selection, as langdiff.select returns it")
def plot_certificate(selection: "Selection", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw upper bounds of the objective by number of editions (or languages), with their proofs.

    Parameters
    ----------
    selection : Selection
        Selection from `langdiff.select`; the dashed line is the objective reached.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the dots, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    AttributeError
        If Matplotlib does not know a setting in `style`.

    Examples
    --------
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"deu": ["ja", None], "eng": ["yes", "no"]}, index=["1", "2"])
    >>> axes = plot_certificate(ld.select(ld.read_frame(texts)))
    >>> axes.get_ylabel()
    'editions × intents, at most'
    """
    ax = axes_of(ax, 7, 4.2)
    certificate = selection.certificate
    for closed, rows in certificate.groupby("closed", sort=False):
        colour, marker = CLOSED[str(closed)]
        usual: dict[str, Any] = {"marker": marker, "linestyle": "", "color": colour, "markersize": 4}
        label = "open" if closed == "open" else f"closed by {closed}"
        ax.plot(rows.index, rows["bound"], **(usual | {"label": label} | style))
    ax.axhline(selection.value, color=RUST, linewidth=1, linestyle=DASHED, label=f"reached: {selection.value:,}")
    top = 1.3 * max(selection.value, selection.upper_bound)  # bounds far above were closed by min_intents
    ax.set(xlim=(0, certificate.index[-1] + 1), ylim=(0, top))
    counted = str(certificate.index.name)
    return _with_legend(ax, counted, f"{counted} × intents, at most")


def _with_legend(ax: Axes, xlabel: str, ylabel: str) -> Axes:
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    return finish(ax, xlabel, ylabel, legend=True)
