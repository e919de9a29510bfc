"""How well models fit, side by side: Figure 6 of Mielke et al. (2019)."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.errors import DataError
from langdiff.plots.difficulty import EASIER, FAINT, INK
from langdiff.regression import CrossValidation

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_goodness_of_fit(
    scores: pd.DataFrame | CrossValidation, ax: "Axes | None" = None, *, title: str = "", **style: Any
) -> "Axes":
    """Draw the log-density that models give to cells they have not seen: one panel, for one data set.

    From subsets of the data, dots are means and bars standard deviations over subsets, as in Figure 6; a
    faint line joins what the models say of one subset, for these compare better than the bars, which
    hold what all models find hard alike. From a cross-validation, bars are standard errors of the differences
    to the best model.

    Parameters
    ----------
    scores : DataFrame or CrossValidation
        Rows: subsets of the data; columns: models; values: log-density, nats a cell (such as `per_cell` of
        `langdiff.held_out_log_likelihood`). Or the outcome of `langdiff.cross_validate`.
    ax : Axes, optional
        Where; by default a new figure. For several data sets give each its own Axes.
    title : str
        Name of the data set.
    **style
        Passed on to ``Axes.errorbar``, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    DataError
        If there are no scores, or some are missing.

    Examples
    --------
    >>> scores = pd.DataFrame({"1": [0.31, 0.28], "2": [0.36, 0.34], "2L": [0.35, 0.34]})
    >>> axes = plot_goodness_of_fit(scores, title="Europarl")
    >>> [label.get_text() for label in axes.get_xticklabels()]
    ['1', '2', '2L']
    >>> axes.figure.clear()
    """
    if isinstance(scores, CrossValidation):
        table = scores.to_frame().loc[list(scores.per_intent.columns)]
        middle, half, lines = table["log_density"], table["difference_std_error"], None
    else:
        if not scores.size or scores.isna().to_numpy().any():
            raise DataError("scores are missing; give a complete frame, subsets × models.")
        middle, half, lines = scores.mean(), scores.std(ddof=1), scores
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(1.6 + 0.8 * len(middle), 3.6), layout="constrained")[1]
    x = np.arange(len(middle))
    if lines is not None and len(lines) > 1:
        ax.plot(x, lines.to_numpy().T, color=FAINT, linewidth=0.8, zorder=0)
    usual: dict[str, Any] = {"fmt": "o", "color": EASIER, "markersize": 6, "elinewidth": 2, "markeredgewidth": 0}
    errors = half.fillna(0.0).to_numpy()  # one subset has no spread
    ax.errorbar(x, middle.to_numpy(), yerr=errors, **(usual | style))
    best = int(np.argmax(middle.to_numpy()))
    ax.axhline(float(middle.iloc[best]), color=INK, linewidth=0.6, linestyle=(0, (4, 4)), zorder=0)
    ax.set_xticks(x, [str(name) for name in middle.index])
    ax.set_xlim(-0.5, len(middle) - 0.5)
    ax.set_xlabel("model")
    ax.set_ylabel("log-density of log bits (nats a cell)")
    ax.set_title(title, loc="left", fontsize=11)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
