"""Native less translated difficulty against the quality of the language model."""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from langdiff.plots._arguments import takes
from langdiff.plots._axes import DASHED, INK, MARKERS, SERIES, axes_of, finish

LENGTH = "length"


@takes(
    "differences",
    pd.DataFrame,
    "the table of langdiff.experiments.translationese_by_model",
    columns=("lm", "edition", "bits_per_character", "difference", "std_error"),
)
def plot_translationese_by_model(differences: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw native less translated difficulty against bits per character, one point per model, with standard errors.

    Better models are to the right. The difference of lengths is a dashed line.

    Parameters
    ----------
    differences : DataFrame
        Table of `langdiff.experiments.translationese_by_model`: ``lm``, ``edition``, ``bits_per_character``,
        ``difference`` and ``std_error``, both in nats.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
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
    >>> rows = [("length", "deu", float("nan"), -0.06, 0.01), ("kneser-ney-3", "deu", 2.1, -0.03, 0.01)]
    >>> columns = ["lm", "edition", "bits_per_character", "difference", "std_error"]
    >>> plot_translationese_by_model(pd.DataFrame(rows, columns=columns)).get_xlabel()
    'bits per character of the language model'
    """
    ax = axes_of(ax, 6.4, 4.2)
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    for number, (edition, rows) in enumerate(differences.groupby("edition", sort=False)):
        colour = SERIES[number % len(SERIES)]
        by_model = rows[rows["lm"] != LENGTH].sort_values("bits_per_character", ascending=False)
        usual: dict[str, Any] = {"color": colour, "markersize": 4, "linewidth": 1.0, "capsize": 2}
        usual["marker"] = MARKERS[number % len(MARKERS)]
        ax.errorbar(
            by_model["bits_per_character"],
            by_model["difference"],
            yerr=by_model["std_error"],
            label=str(edition),
            **(usual | style),
        )
        for length in rows.loc[rows["lm"] == LENGTH, "difference"]:
            ax.axhline(length, color=colour, linewidth=1.0, linestyle=DASHED, zorder=0)
    ax.plot([], [], color=INK, linewidth=1.0, linestyle=DASHED, label="of lengths in characters")
    ax.invert_xaxis()
    return finish(ax, "bits per character of the language model", "native − translated (nats)", legend=True)
