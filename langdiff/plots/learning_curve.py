"""How language models learn: dev bits by epoch."""

from itertools import cycle
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import GREY, INK, LINES, SERIES, axes_of, finish
from langdiff.plots._places import name_line_ends


@takes("logs", pd.DataFrame, "the table of langdiff.lm.read_training_logs")
def plot_learning_curves(logs: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the dev bits per character of every model against its epochs; a dot marks the epoch that was kept.

    A pale line leads from where training has stopped, or is now, to the name; recipes differ in colour and dashes.

    Parameters
    ----------
    logs : DataFrame, one row per epoch
        ``edition``, ``lm``, ``seed``, ``epoch`` and ``dev_bits_per_character``, as
        `langdiff.lm.read_training_logs` gives them. One line per model, named by what tells it from the others.
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
    DataError
        If no model has finished an epoch.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> logs = pd.DataFrame({"edition": "eng", "lm": "char-small", "seed": 0, "epoch": [1, 2]})
    >>> ax = plot_learning_curves(logs.assign(dev_bits_per_character=[2.5, 1.9]), Figure().subplots())
    >>> ax.get_ylabel()
    'surprisal of the dev part (bits per character)'
    """
    if logs.empty:
        raise DataError("there is no learning curve to draw: no model has finished an epoch.")
    wanted = ("edition", "lm", "seed", "epoch", "dev_bits_per_character")
    if missing := [column for column in wanted if column not in logs]:
        raise DataError(f"logs have no column {missing[0]!r}; langdiff.lm.read_training_logs gives such a table.")
    models = {key: curve.sort_values("epoch") for key, curve in logs.groupby(["edition", "lm", "seed"], sort=False)}
    ax = axes_of(ax, 6.4, 3.2 + 0.1 * min(len(models), 120))
    look_of = dict(zip(logs["lm"].unique(), cycle(zip(SERIES, LINES, strict=True)), strict=False))
    last = int(logs["epoch"].max())
    names = _names(list(models))
    ends = {}
    for key, curve in models.items():
        epochs, bits = curve["epoch"].to_numpy(), curve["dev_bits_per_character"].to_numpy()
        colour, line = look_of[key[1]]
        usual: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.0}
        ax.plot(epochs, bits, label=names[key], **(usual | style))
        ax.hlines(bits[-1], epochs[-1], last, color=GREY, linewidth=0.5)
        best = int(bits.argmin())
        (dot,) = ax.plot(epochs[best], bits[best], "o", color=INK, markersize=3.5, zorder=3, clip_on=False)
        ends[names[key]] = float(bits[-1])
    ax.set_xlim(1, last if last > 1 else 2)
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    name_line_ends(ax, ends)
    legend: dict[str, Artist] = {
        str(lm): Line2D([], [], color=colour, linestyle=line) for lm, (colour, line) in look_of.items()
    }
    legend = (legend if len(legend) > 1 else {}) | {"fewest bits": dot}
    label = "surprisal of the dev part (bits per character)"
    return finish(ax, "epoch", label, legend=legend)


def _names(keys: list[tuple[Any, ...]]) -> dict[tuple[Any, ...], str]:
    """Name models by their edition, and by recipe and seed where these differ."""
    _, lms, seeds = (set(column) for column in zip(*keys, strict=True))
    names = {}
    for edition, lm, seed in keys:
        parts = [str(edition)] + [str(lm)] * (len(lms) > 1) + [f"seed {seed}"] * (len(seeds) > 1)
        names[edition, lm, seed] = " ".join(parts)
    return names
