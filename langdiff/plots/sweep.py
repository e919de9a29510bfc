"""How surprisal depends on the number of merges (Mielke et al. 2019, Figure 2)."""

from typing import TYPE_CHECKING, Any

import numpy as np

from langdiff.plots.labels import name_line_ends

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.experiments import SweepResult

LINE, BEST, INK = "#2a6f97", "#b5532a", "#333333"


def plot_bpe_sweep(result: "SweepResult", ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw the dev bits of every edition against its merges; a dot marks each minimum.

    Parameters
    ----------
    result : SweepResult
        What to draw: one line an edition, in megabits, kilobits or bits; a dashed line shows the ratio
        that is best for all editions together.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.plot`` for the lines, over the defaults.

    Returns
    -------
    Axes
    """
    bits = result.dev_bits
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(6.4, 3.2 + 0.1 * min(bits.shape[1], 60)), layout="constrained")[1]
    scale, unit = next(
        (scale, unit) for scale, unit in ((1e6, "Mbit"), (1e3, "kbit"), (1.0, "bits")) if bits.max().max() >= scale
    )
    ratios = bits.index.to_numpy(dtype=float)
    usual: dict[str, Any] = {"color": LINE, "linewidth": 1.0}
    ax.axvline(result.best_overall, color=BEST, linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    for edition in bits.columns:
        values = bits[edition].to_numpy() / scale
        ax.plot(ratios, values, label=str(edition), **(usual | style))
        lowest = int(np.argmin(values))
        ax.plot(ratios[lowest], values[lowest], "o", color=INK, markersize=4, zorder=3)
    ax.set_xlim(ratios[0], ratios[-1] if len(ratios) > 1 else ratios[0] + 1)
    name_line_ends(ax, {str(edition): float(bits[edition].iloc[-1]) / scale for edition in bits.columns})
    ax.set_xlabel("merges per distinct word of the training text")
    ax.set_ylabel(f"surprisal of the dev part ({unit})")
    ax.set_title(f"{result.lm}: fewest bits over all editions at {result.best_overall:g}", loc="left", fontsize=11)
    ax.spines[["right", "top"]].set_visible(False)
    return ax
