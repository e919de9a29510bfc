"""What one more edition costs in intents."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.selection.result import ParetoFront, Selection

LINE, BOUND, BEST = "#2a6f97", "#9aa5ad", "#b5532a"
CLOSED = {"hull": BOUND, "reduction": "#6fa8c9", "relaxation": LINE, "program": "#1f3b4d", "open": BEST}


def plot_pareto_front(front: "ParetoFront", ax: "Axes | None" = None, *, min_intents: int = 1, **style: Any) -> "Axes":
    """Draw the most intents against the number of editions (or languages) that share them.

    Parameters
    ----------
    front : ParetoFront
        What to draw: a dot a number of editions, filled where it is proven best; a grey line where the
        bound is above. The curve through the largest product shows all selections as good.
    ax : Axes, optional
        Where; by default a new figure.
    min_intents : int
        Least intents of the selection that is marked.
    **style
        Passed on to ``Axes.plot`` for the proven dots, over the defaults.

    Returns
    -------
    Axes
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7, 4.2), layout="constrained")[1]
    points = front.points
    units, intents, proven = points.index.to_numpy(), points["intents"].to_numpy(), points["proven"].to_numpy()
    if not proven.all():
        ax.plot(units, points["intents_at_most"], color=BOUND, linewidth=1.2, label="upper bound", zorder=1)
        ax.plot(units[~proven], intents[~proven], "o", color=LINE, mfc="white", ms=4, label="best found", zorder=2)
    usual: dict[str, Any] = {"marker": "o", "linestyle": "", "color": LINE, "markersize": 4, "label": "proven best"}
    ax.plot(units[proven], intents[proven], **(usual | style))
    most, shared = front.best(min_intents)
    top = 1.06 * intents.max()
    curve = np.linspace(max(most * shared / top, 0.5), units[-1] + 0.5, 400)
    ax.plot(curve, most * shared / curve, color=BEST, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    ax.plot(most, shared, "D", color=BEST, markersize=7, zorder=4, label=f"largest product: {most:,} × {shared:,}")
    if min_intents > 1:
        ax.axhline(min_intents, color=BOUND, linewidth=0.8, linestyle=":")
    ax.set(xlim=(0, units[-1] + 1), ylim=(0, top), xlabel=points.index.name, ylabel="intents that all of them have")
    _finish(ax)
    return ax


def plot_certificate(selection: "Selection", ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw how large the objective can be with each number of editions (or languages), and what closed it.

    Parameters
    ----------
    selection : Selection
        What to draw; the dashed line is the objective reached.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.plot`` for the dots, over the defaults.

    Returns
    -------
    Axes
    """
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7, 4.2), layout="constrained")[1]
    certificate = selection.certificate
    for closed, rows in certificate.groupby("closed", sort=False):
        usual: dict[str, Any] = {"marker": "o", "linestyle": "", "color": CLOSED[str(closed)], "markersize": 4}
        label = "open" if closed == "open" else f"closed by {closed}"
        ax.plot(rows.index, rows["bound"], **(usual | {"label": label} | style))
    ax.axhline(selection.value, color=BEST, linewidth=1, linestyle=(0, (4, 3)), label=f"reached: {selection.value:,}")
    top = 1.3 * max(selection.value, selection.upper_bound)  # bounds far above were closed by min_intents
    counted = str(certificate.index.name)
    ax.set(xlim=(0, certificate.index[-1] + 1), ylim=(0, top), xlabel=counted, ylabel=f"{counted} × intents, at most")
    _finish(ax)
    return ax


def _finish(ax: "Axes") -> None:
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.spines[["right", "top"]].set_visible(False)
    ax.legend(frameon=False)
