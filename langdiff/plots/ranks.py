"""How sure the order of difficulties is."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from langdiff.plots._axes import FAINT, INK, add_colorbar, axes_of, finish, name_rows
from langdiff.tables.contrasts import Scale
from langdiff.tables.effect_sources import EffectsLike, as_effects, rank_probabilities

WRITTEN_OUT = 16  # with more editions percentages find no room


def plot_ranks(
    source: EffectsLike,
    ax: Axes | None = None,
    *,
    n_draws: int = 4000,
    seed: int | np.random.Generator | None = None,
    **style: Any,
) -> Axes:
    """Draw the probability of every rank of every edition, hardest on top.

    A dark diagonal means that the order is sure, a pale band that many orders are as likely. Percentages are
    written out if there are no more than 16 editions.

    Parameters
    ----------
    source : DifficultyFit, Effects, posterior or DataFrame
        A fit or effects with their covariance, a posterior of `langdiff.sample`, or a frame of draws of difficulties,
        shape (draws, J) with columns named by edition, such as a bootstrap gives; see `langdiff.rank_probabilities`.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    n_draws : int
        Number of draws from a fit or effects, in which ranks are counted.
    seed : int or numpy.random.Generator, optional
        Seed of these draws; required unless `source` is a posterior or a frame of draws.
    **style
        Settings for ``Axes.pcolormesh``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If the covariance of effects is not known, or draws are missing.
    ConfigError
        If `n_draws` or `seed` is out of range, or `seed` is needed and missing.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> axes = plot_ranks(draws)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['fin', 'eng']
    """
    shares = rank_probabilities(source, n_draws=n_draws, seed=seed)
    first = (Scale() if isinstance(source, pd.DataFrame) else as_effects(source).scale).first
    count = len(shares)
    side = 1.2 + count * (0.42 if count <= WRITTEN_OUT else 0.3 if count <= 30 else 0.12)
    ax = axes_of(ax, max(side + 1.2, 4.8), max(side, 2.8))
    highest = 100 * max(float(shares.to_numpy().max()), 1 / count)
    # of many editions most probabilities are low: a root makes them visible
    usual: dict[str, Any] = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0, vmax=highest)}
    edges = np.arange(count + 1) + 0.5
    mesh = ax.pcolormesh(edges, edges, 100 * shares.to_numpy(), **(usual | style))
    ax.invert_yaxis()
    text = name_rows(ax, shares.index, first=1)
    ax.tick_params(axis="both", length=0)
    if count <= WRITTEN_OUT:
        ax.set_xticks(np.arange(1, count + 1))
        _write_percentages(ax, shares, text)
    else:
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        add_colorbar(ax, mesh, "probability (%)", fraction=0.03)
    ax.spines[:].set_color(FAINT)
    title = "probability (%)" if count <= WRITTEN_OUT else ""
    return finish(ax, f"rank (1 is {first})", title=title, keep=["left", "right", "top", "bottom"])


def _write_percentages(ax: Axes, shares: pd.DataFrame, size: float) -> None:
    highest = float(shares.to_numpy().max())
    for (i, j), share in np.ndenumerate(shares.to_numpy()):
        if share >= 0.005:
            colour = "white" if share > 0.35 * highest else INK
            ax.text(j + 1, i + 1, f"{100 * share:.0f}", ha="center", va="center", fontsize=0.8 * size, color=colour)
