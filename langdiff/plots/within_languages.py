"""The editions of each language on one row (Mielke et al. 2019, section 4.4)."""

from typing import Any, Protocol

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from langdiff.plots._arguments import takes
from langdiff.plots._axes import BLUE, INK, RUST, finish, row_axes


class Spread(Protocol):
    """What is drawn of a `langdiff.experiments.spread_within_languages`."""

    @property
    def editions(self) -> pd.DataFrame:
        """One row per edition: ``language`` and ``difficulty`` in nats."""

    @property
    def title(self) -> str:
        """Name of the source of the difficulties."""


@takes("spread", Spread, "the result of langdiff.experiments.spread_within_languages")
def plot_within_languages(spread: Spread, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw the editions of each language that has several, the hardest language on top, and means of the others.

    Parameters
    ----------
    spread : LanguageSpread
        Result of `langdiff.experiments.spread_within_languages`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of languages needs.
    **style
        Settings for ``Axes.plot`` of the editions, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on. Languages of one edition share the lowest row.

    Examples
    --------
    >>> from langdiff.datasets import mielke2019
    >>> from langdiff.experiments import spread_within_languages
    >>> figures = mielke2019()
    >>> spread = spread_within_languages(figures.difficulties("bibles")["char"], figures.edition_info("bibles"))
    >>> plot_within_languages(spread).get_yticklabels()[0].get_text()
    '44 of one edition'
    """
    groups = spread.editions.groupby("language")["difficulty"]
    several = groups.mean()[groups.size() > 1].sort_values()
    single = spread.editions[~spread.editions["language"].isin(several.index)]["difficulty"]
    rows = [(f"{name} ({len(groups.get_group(name))})", groups.get_group(name)) for name in several.index]
    if len(single):
        rows.insert(0, (f"{len(single)} of one edition", single))
    ax = row_axes(ax, [name for name, _ in rows])
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    usual: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": BLUE, "markersize": 4.5, "alpha": 0.7}
    for place, (_, values) in enumerate(rows):
        label = "edition" if place == 0 else None
        ax.plot(values, np.full(len(values), place), label=label, **(usual | {"markeredgewidth": 0} | style))
    means = [values.mean() for _, values in rows]
    ax.plot(means, range(len(rows)), "|", color=RUST, markersize=13, markeredgewidth=2, label="mean")
    return finish(ax, "difficulty (nats)", title=spread.title, keep=["bottom"], legend=True)
