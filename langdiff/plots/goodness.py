"""How well models fit, side by side: Figure 6 of Mielke et al. (2019)."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, DASHED, FAINT, INK, axes_of, finish


class ComparedModels(Protocol):
    """What is drawn of a cross-validation."""

    @property
    def per_intent(self) -> pd.DataFrame:
        """One column per model, in the order in which they are drawn."""

    def to_frame(self) -> pd.DataFrame:
        """Return one row per model: ``log_density`` and ``difference_std_error``."""


@takes(
    "scores",
    (pd.DataFrame, ComparedModels),
    "a table of scores, subsets × models, or the result of langdiff.cross_validate",
)
def plot_goodness_of_fit(
    scores: pd.DataFrame | ComparedModels, ax: Axes | None = None, *, title: str = "", **style: Any
) -> Axes:
    """Draw the log-density that models give to cells they have not seen: one panel, for one data set.

    From subsets of the data, dots are means and bars standard deviations over subsets, as in Figure 6; a faint line
    joins the scores of the models on one subset. These lines compare models better than the bars, which include
    what all models find hard alike. From a cross-validation, bars are standard errors of the differences to the
    best model.

    Parameters
    ----------
    scores : DataFrame or CrossValidation
        One row per subset of the data, one column per model, values the log-density in nats per cell (such as
        ``per_cell`` of `langdiff.held_out_log_likelihood`). Or the result of `langdiff.cross_validate`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure. For several data sets, give each axes of its own.
    title : str
        Name of the data set.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

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
    """
    lines: pd.DataFrame | None = None
    if isinstance(scores, pd.DataFrame):
        if not scores.size or scores.isna().to_numpy().any():
            raise DataError("scores are missing; give a complete frame, subsets × models.")
        middle, half, lines = scores.mean(), scores.std(ddof=1), scores
    else:
        table = scores.to_frame().loc[list(scores.per_intent.columns)]
        middle, half = table["log_density"], table["difference_std_error"]
    ax = axes_of(ax, 1.6 + 0.8 * len(middle), 3.6)
    x = np.arange(len(middle))
    if lines is not None and len(lines) > 1:
        ax.plot(x, lines.to_numpy().T, color=FAINT, linewidth=0.8, zorder=0)
    usual: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 6, "elinewidth": 2, "markeredgewidth": 0}
    errors = half.fillna(0.0).to_numpy()  # one subset has no spread
    ax.errorbar(x, middle.to_numpy(), yerr=errors, **(usual | style))
    ax.axhline(float(middle.max()), color=INK, linewidth=0.6, linestyle=DASHED, zorder=0)
    ax.set_xticks(x, [str(name) for name in middle.index])
    ax.set_xlim(-0.5, len(middle) - 0.5)
    return finish(ax, "model", "log-density of log bits (nats per cell)", title)
