"""How sure the order of difficulties is."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from langdiff.plots.difficulty import INK
from langdiff.regression import rank_probabilities
from langdiff.regression.result import DifficultyFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRITTEN_OUT = 16  # with more editions percentages find no room


def plot_ranks(
    source: DifficultyFit | pd.DataFrame,
    ax: "Axes | None" = None,
    *,
    draws: int = 4000,
    seed: int | np.random.Generator | None = None,
    **style: Any,
) -> "Axes":
    """Draw the probability of every rank of every edition, hardest on top.

    A dark diagonal means that the order is sure, a pale band that many orders are as likely. Of few
    editions percentages are written out.

    Parameters
    ----------
    source : DifficultyFit or DataFrame
        A fit, or draws of difficulties, shape (draws, J), from a posterior or a bootstrap; see
        `langdiff.regression.rank_probabilities`.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    draws : int
        How many to draw from a fit.
    seed : int or numpy.random.Generator, optional
        Seed of the draws from a fit, which needs it.
    **style
        Passed on to ``Axes.pcolormesh``, over the defaults.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import langdiff as ld
    >>> _, surprisals = ld.simulate(200, 8, seed=0)
    >>> axes = plot_ranks(ld.fit(surprisals), seed=0)
    >>> len(axes.get_yticklabels())
    8
    >>> axes.figure.clear()
    """
    from matplotlib.colors import PowerNorm

    shares = rank_probabilities(source, draws=draws, seed=seed)
    count = len(shares)
    if ax is None:
        import matplotlib.pyplot as plt

        side = 1.2 + count * (0.42 if count <= WRITTEN_OUT else 0.3 if count <= 30 else 0.12)
        ax = plt.subplots(figsize=(max(side + 1.2, 4.8), max(side, 2.8)), layout="constrained")[1]
    figure = ax.get_figure(root=True)
    inches = ax.get_position().height * (figure.get_figheight() if figure else 4.8)
    text = float(np.clip(0.75 * 72 * inches / count, 3.5, 10))

    highest = 100 * max(float(shares.to_numpy().max()), 1 / count)
    # of many editions most probabilities are low: a root makes them visible
    usual: dict[str, Any] = {"cmap": "Blues", "norm": PowerNorm(0.5, vmin=0, vmax=highest)}
    edges = np.arange(count + 1) + 0.5
    mesh = ax.pcolormesh(edges, edges, 100 * shares.to_numpy(), **(usual | style))
    ax.invert_yaxis()
    ax.set_yticks(np.arange(1, count + 1), [str(name) for name in shares.index], fontsize=text)
    ax.tick_params(axis="both", length=0)
    ax.set_xlabel("rank (1 is hardest)")
    if count <= WRITTEN_OUT:
        ax.set_xticks(np.arange(1, count + 1))
        _write_percentages(ax, shares, text)
    else:
        ax.get_figure(root=True).colorbar(mesh, ax=ax, label="probability (%)", fraction=0.03, pad=0.02)  # type: ignore[union-attr]
    ax.spines[:].set_color("#d5d5d5")
    return ax


def _write_percentages(ax: "Axes", shares: pd.DataFrame, size: float) -> None:
    highest = float(shares.to_numpy().max())
    for (i, j), share in np.ndenumerate(shares.to_numpy()):
        if share >= 0.005:
            colour = "white" if share > 0.35 * highest else INK
            ax.text(j + 1, i + 1, f"{100 * share:.0f}", ha="center", va="center", fontsize=0.8 * size, color=colour)
