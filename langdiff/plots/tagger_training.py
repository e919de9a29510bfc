"""How a tagger learned: loss and validation F1 by epoch."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, GREY, INK, RUST, axes_of, finish

_LINES = {"mbawo": ("MBAWO F1 (validation)", BLUE, "-"), "epm": ("EPM F1 (validation)", RUST, "-.")}


@takes(
    "history",
    pd.DataFrame,
    "the history of a langdiff.parallelism.Tagger",
    columns=("epoch", "loss", "mbawo", "epm", "kept"),
)
def plot_tagger_training(history: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the F1 of the validation part by epoch, the loss on a second axis, and a line at the epoch that was kept.

    Parameters
    ----------
    history : DataFrame, one row per epoch
        ``epoch``, ``loss`` (nats per token), ``mbawo``, ``epm`` and ``kept``, as `langdiff.parallelism.Tagger` has.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot`` of the lines, which override the defaults.

    Returns
    -------
    Axes
        The axes of F1; those of the loss share its horizontal axis.

    Raises
    ------
    DataError
        If there are no epochs.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> history = pd.DataFrame({"epoch": [1, 2], "loss": [0.5, 0.3], "mbawo": [0.0, 0.1], "epm": [0.0, 0.1]})
    >>> ax = plot_tagger_training(history.assign(kept=True), Figure().subplots())
    >>> [line.get_label() for line in ax.get_lines()]
    ['epoch kept: 2', 'MBAWO F1 (validation)', 'EPM F1 (validation)']
    """
    if history.empty:
        raise DataError("there is no learning curve to draw: no epoch is finished.")
    ax = axes_of(ax, 6.4, 3.6)
    epochs = history["epoch"].to_numpy()
    kept = int(epochs[history["kept"].to_numpy(bool)][-1])
    ax.axvline(kept, color=INK, linewidth=0.8, linestyle=":", label=f"epoch kept: {kept}")
    for column, (label, colour, line) in _LINES.items():
        usual: dict[str, Any] = {"color": colour, "linestyle": line, "linewidth": 1.3, "label": label}
        ax.plot(epochs, history[column].to_numpy(), **(usual | style))
    losses = axes_of(ax.twinx())
    usual = {"color": GREY, "linewidth": 1.3, "linestyle": "--", "label": "loss (training)"}
    losses.plot(epochs, history["loss"].to_numpy(), **(usual | style))
    losses.set_ylim(bottom=0)
    finish(losses, ylabel="loss (nats per token)", keep=("right",))
    ax.set_ylim(bottom=0)
    ax.set_xlim(1, max(2, int(epochs[-1])))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    legend = {str(line.get_label()): line for line in [*ax.get_lines(), *losses.get_lines()]}
    return finish(ax, "epoch", "F1", legend=legend)
