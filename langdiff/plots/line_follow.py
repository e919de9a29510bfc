"""How the order of difficulties changes from one language model to the next (Mielke et al. 2019, Figure 3)."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from scipy.special import logsumexp

from langdiff.errors import DataError
from langdiff.plots.difficulty import EASIER, FAINT, HARDER, INK
from langdiff.plots.labels import name_line_ends
from langdiff.regression.result import DifficultyFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_line_follow(
    fits: Sequence[DifficultyFit] | Mapping[str, DifficultyFit], ax: "Axes | None" = None, **style: Any
) -> "Axes":
    """Draw difficulties under several language models side by side, one line an edition.

    The colour says whether an edition is harder under the last model than under the first.

    Parameters
    ----------
    fits : sequence of DifficultyFit, or mapping from label to DifficultyFit
        From left to right; labels are the names of their language models by default. Editions that
        all fits have are drawn, normalised so that their factors average 1.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.plot``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    DataError
        If there are fewer than two fits, or fewer than two editions in all of them.

    Examples
    --------
    >>> import langdiff as ld
    >>> fits = {name: ld.fit(ld.simulate(200, 8, seed=seed)[1]) for seed, name in enumerate(["char", "bpe"])}
    >>> axes = plot_line_follow(fits)
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['char', 'bpe']
    >>> axes.figure.clear()
    """
    labels = list(fits) if isinstance(fits, Mapping) else [fit.lm for fit in fits]
    ordered = list(fits.values()) if isinstance(fits, Mapping) else list(fits)
    if len(ordered) < 2:
        raise DataError(f"{len(ordered)} fit(s); at least two are needed to follow a line from one to the next.")
    table = pd.concat([fit.difficulty for fit in ordered], axis=1, join="inner", keys=range(len(ordered)))
    if len(table) < 2:
        raise DataError(f"{len(table)} edition(s) in all {len(ordered)} fits; at least two are needed.")
    values = table.to_numpy()  # (J, models)
    values = values - (logsumexp(values, axis=0) - np.log(len(table)))
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(1.8 + 1.6 * len(ordered), max(3.2, 0.2 * len(table))), layout="constrained")[1]
    x = np.arange(len(ordered))
    ax.axhline(0, color=INK, linewidth=0.8, zorder=0)
    for place in range(len(ordered)):
        ax.axvline(place, color=FAINT, linewidth=0.8, zorder=0)
    usual: dict[str, Any] = {"linewidth": 1.0, "marker": "o", "markersize": 3.5, "clip_on": False}
    for edition, row in zip(table.index, values, strict=True):
        colour = HARDER if row[-1] > row[0] else EASIER
        ax.plot(x, row, label=str(edition), **(usual | {"color": colour} | style))
    ax.set_xlim(0, len(ordered) - 1)
    ax.set_xticks(x, labels)
    name_line_ends(ax, dict(zip(map(str, table.index), values[:, -1].tolist(), strict=True)))
    ax.set_ylabel("difficulty (nats)")
    ax.tick_params(axis="x", length=0)
    ax.spines[["right", "top", "bottom"]].set_visible(False)
    return ax
