"""How many words parallel branches share (Bothwell et al. 2023, Figure 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import SERIES, axes_of, finish

BINS = 10


@takes("pairs", Mapping, "a mapping from names of data sets to tables of pairs of branches")
def plot_lexical_overlap(pairs: Mapping[str, pd.DataFrame], ax: Axes | None = None, **style: Any) -> Axes:
    """Draw numbers of pairs of branches by their lexical overlap, data sets side by side.

    Parameters
    ----------
    pairs : mapping from str to DataFrame
        Of each data set by name, one row per pair of branches: ``bin``, that of the overlap, from 0 to 9, and
        ``shared``, the number of tokens in both; the attribute ``pairs`` of
        `langdiff.parallelism.ParallelismStatistics`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.
    **style
        Settings for ``Axes.bar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on; bins are 0.1 wide, the last is closed. The legend has the share of pairs that share no token.

    Raises
    ------
    DataError
        If there are no data sets, or one has no pairs or not these columns.

    Examples
    --------
    >>> axes = plot_lexical_overlap({"": pd.DataFrame({"shared": [0, 1, 3], "bin": [0, 1, 3]})})
    >>> [int(bar.get_height()) for bar in axes.patches][:4]
    [1, 1, 0, 1]
    """
    for name, table in pairs.items():
        if not isinstance(table, pd.DataFrame):
            raise DataError(f"the pairs of {name!r} are not a DataFrame, but a {type(table).__name__}.")
    if not pairs or any(table.empty for table in pairs.values()):
        raise DataError("nothing to draw: a data set has no pairs of branches.")
    for name, table in pairs.items():
        if missing := [column for column in ("bin", "shared") if column not in table]:
            raise DataError(f"nothing to draw: the pairs of {name!r} have no column {missing[0]!r}.")
    ax = axes_of(ax, 6.4, 3.6)
    width = 0.09 / len(pairs)
    for place, (name, table) in enumerate(pairs.items()):
        counts = np.bincount(table["bin"], minlength=BINS)
        label = f"{name}: {100 * np.mean(table['shared'] == 0):.1f} % without overlap".removeprefix(": ")
        left = np.arange(BINS) / BINS + 0.005 + place * width
        usual: dict[str, Any] = {"width": width, "align": "edge", "color": SERIES[place % len(SERIES)], "label": label}
        ax.bar(left, counts.astype(float), **(usual | style))
    ax.set_xticks(np.arange(BINS + 1) / BINS)
    ax.set_xlim(0, 1)
    return finish(ax, "normalized lexical overlap", "pairs of branches", legend=True)
