"""Bias of difficulties against the share of cells that are missing (appendix A of Mielke et al. 2019)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import INK, SERIES, axes_of, finish

STYLES = (("-", "o"), ("--", "s"), (":", "^"))  # line and marker of each mechanism
CONNECTED = len(SERIES)  # of more editions, all but the first are points
APART = 0.16  # of the gap between rates, from one mechanism to the next
NEEDED = ("mechanism", "rate", "edition", "bias")


@takes("bias", pd.DataFrame, "the table to_frame() of langdiff.experiments.deletion_bias")
def plot_deletion_bias(bias: pd.DataFrame, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the bias of each edition against the deletion rate, one colour per mechanism, mechanisms side by side.

    Parameters
    ----------
    bias : DataFrame
        Table of ``to_frame()`` of `langdiff.experiments.deletion_bias`: ``mechanism``, ``rate``, ``edition``, ``bias``
        and, if known, ``bias_std_error``, both in nats.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.plot``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Thick lines are of the first edition, which stays complete under MAR and MNAR; thin lines, or
        points if there are more than eight editions, are of the others. The vertical bars of lines reach one Monte
        Carlo error to either side.

    Raises
    ------
    DataError
        If there are no rows, or a column is missing.

    Examples
    --------
    >>> columns = {"mechanism": "MAR", "rate": [0.1, 0.3] * 2, "edition": ["eng"] * 2 + ["deu"] * 2}
    >>> axes = plot_deletion_bias(pd.DataFrame(columns | {"bias": [0.0, -0.01, 0.0, 0.01]}))
    >>> axes.get_xlabel()
    'share of cells deleted'
    """
    missing = [name for name in NEEDED if name not in bias]
    if missing or bias.empty:
        raise DataError(f"nothing to draw: {f'no column {missing[0]!r}' if missing else 'no rows'}.")
    ax = axes_of(ax, 5.6, 4.0)
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    first, connected = bias["edition"].iloc[0], bias["edition"].nunique() <= CONNECTED
    rates = np.unique(bias["rate"])
    mechanisms = bias.groupby("mechanism", sort=False)
    apart = APART * (np.diff(rates).min() if len(rates) > 1 else rates[0])
    for place, (mechanism, rows) in enumerate(mechanisms):
        colour, (line, marker) = SERIES[place % len(SERIES)], STYLES[place % len(STYLES)]
        shift = apart * (place - (len(mechanisms) - 1) / 2)
        for edition, points in rows.groupby("edition", sort=False):
            points = points.sort_values("rate")
            x, y, thick = points["rate"] + shift, points["bias"], edition == first
            usual: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 3.5, "zorder": 2 + thick}
            usual |= {"linewidth": 2.2 if thick else 0.8, "linestyle": line if thick or connected else "none"}
            usual |= {"alpha": 1.0 if thick or connected else 0.5, "label": str(mechanism) if thick else None}
            ax.plot(x, y, **(usual | style))
            if "bias_std_error" in points and (thick or connected):
                error = np.nan_to_num(points["bias_std_error"].to_numpy(dtype=float))
                ax.vlines(x, y - error, y + error, color=colour, linewidth=1.0)
    ax.set_xticks(rates, [f"{rate:g}" for rate in rates])
    title = f"thick lines: {first}"
    return finish(ax, "share of cells deleted", "bias of difficulty (nats)", title, legend=True)
