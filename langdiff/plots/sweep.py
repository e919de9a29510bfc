"""How surprisal depends on the number of merges (Mielke et al. 2019, Figure 2)."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, DASHED, INK, RUST, axes_of, finish
from langdiff.plots._places import name_line_ends


class Sweep(Protocol):
    """What is drawn of a `langdiff.sweep_merges`."""

    @property
    def lm(self) -> str:
        """Name of the language model."""

    @property
    def dev_bits(self) -> pd.DataFrame:
        """Dev bits, ratios × editions."""

    @property
    def best_overall(self) -> float:
        """Ratio that is best for all editions together."""


@takes("result", Sweep, "the result of langdiff.sweep_merges")
def plot_bpe_sweep(result: Sweep, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the dev bits of every edition against its merges; a dot marks each minimum.

    Parameters
    ----------
    result : SweepResult
        Result of `langdiff.sweep_merges`: one line per edition, in megabits, kilobits or bits. A dashed line shows
        the ratio that is best for all editions together.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

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
    >>> from types import SimpleNamespace
    >>> bits = pd.DataFrame({"deu": [980.0, 900.0], "eng": [890.0, 850.0]}, index=[0.2, 0.4])
    >>> axes = plot_bpe_sweep(SimpleNamespace(lm="bpe-small", dev_bits=bits, best_overall=0.4))
    >>> axes.get_title(loc="left")
    'bpe-small: fewest bits over all editions at 0.4'
    """
    bits = result.dev_bits
    ax = axes_of(ax, 6.4, 3.2 + 0.1 * min(bits.shape[1], 120))
    most = bits.max().max()
    scale, unit = (1e6, "Mbit") if most >= 1e6 else (1e3, "kbit") if most >= 1e3 else (1.0, "bits")
    ratios = bits.index.to_numpy(dtype=float)
    usual: dict[str, Any] = {"color": BLUE, "linewidth": 1.0}
    overall = ax.axvline(result.best_overall, color=RUST, linewidth=1, linestyle=DASHED, zorder=0)
    for edition in bits.columns:
        values = bits[edition].to_numpy() / scale
        ax.plot(ratios, values, label=str(edition), **(usual | style))
        lowest = int(np.argmin(values))
        (dot,) = ax.plot(ratios[lowest], values[lowest], "o", color=INK, markersize=3.5, zorder=3, clip_on=False)
    ax.set_xlim(ratios[0], ratios[-1] if len(ratios) > 1 else ratios[0] + 1)
    name_line_ends(ax, {str(edition): float(bits[edition].iloc[-1]) / scale for edition in bits.columns})
    legend = {"fewest bits of an edition": dot, "over all editions": overall}
    title = f"{result.lm}: fewest bits over all editions at {result.best_overall:g}"
    return finish(
        ax, "merges per distinct word of the training text", f"surprisal of the dev part ({unit})", title, legend=legend
    )
