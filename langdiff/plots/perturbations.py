"""Picture of what changes of texts cost, by kind of change."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from langdiff.plots._axes import GREY, INK, MARKERS, SERIES, finish, takes
from langdiff.plots._rows import row_axes

if TYPE_CHECKING:
    from langdiff.experiments.perturbations import PerturbationContrasts

_SPREAD = 0.7  # of the height of a row, over which its editions are placed


@takes("contrasts", "by_kind() to_frame()", "the result of langdiff.experiments.perturbation_contrasts")
def plot_perturbation_contrasts(contrasts: "PerturbationContrasts", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the percent more bits of changed texts with 95 % intervals, one row per kind and one mark per edition.

    Parameters
    ----------
    contrasts : PerturbationContrasts
        Result of `langdiff.experiments.perturbation_contrasts`; kinds are drawn in its order, the first on top. Of more
        than eight editions all have one colour, and the mean of a kind is a dark line.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of kinds needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

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
    >>> import langdiff as ld, pandas as pd
    >>> bits = pd.DataFrame({"eng": [100.0, 50.0], "eng|reverse": [101.0, 50.6]}, index=["1", "2"])
    >>> contrasts = ld.experiments.perturbation_contrasts(ld.Surprisals(bits=bits))
    >>> plot_perturbation_contrasts(contrasts).get_yticklabels()[0].get_text()
    'reverse'
    """
    means = contrasts.by_kind().iloc[::-1]
    table = contrasts.to_frame()
    ax = row_axes(ax, means.index, 7.0)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    few = len(means.columns) <= len(SERIES)
    row_of = {kind: row for row, kind in enumerate(means.index)}
    shifts = _SPREAD * ((np.arange(len(means.columns)) + 0.5) / len(means.columns) - 0.5)
    for number, edition in enumerate(means.columns):
        own = table[table["edition"] == edition]
        usual: dict[str, Any] = {"linestyle": "none", "markersize": 4, "linewidth": 1.0}
        usual |= {"color": SERIES[number] if few else GREY, "marker": MARKERS[number] if few else "o"}
        reach = [own["percent"] - own["low"], own["high"] - own["percent"]]
        places = own["kind"].map(row_of).to_numpy() - shifts[number]
        ax.errorbar(own["percent"], places, xerr=reach, label=str(edition), **(usual | style))
    if not few:
        rows = np.arange(len(means))
        ax.vlines(means.mean(axis=1), rows - 0.4, rows + 0.4, colors=INK, linewidths=1.5, zorder=3)
    label = "more bits for the same intents (%), with 95 % interval"
    return finish(ax, label, "", title=f"by {contrasts.lm}", keep=["bottom"], legend=few)
