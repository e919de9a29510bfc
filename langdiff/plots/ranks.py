"""Ranks of editions, and posterior distributions."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm
from matplotlib.ticker import MaxNLocator

from langdiff.base.result import opened
from langdiff.errors import DataError
from langdiff.plots._axes import EASIER, FAINT, HARDER, INK, PAGE, add_colorbar, axes_of, finish
from langdiff.plots._rows import in_columns, name_rows, row_axes
from langdiff.tables.contrasts import Scale
from langdiff.tables.effect_sources import EffectsLike, as_effects, rank_probabilities

if TYPE_CHECKING:
    import arviz as az

WRITTEN_OUT = 16  # with more editions percentages find no room


def plot_ranks(
    source: EffectsLike,
    ax: Axes | None = None,
    *,
    n_draws: int = 4000,
    seed: int | np.random.Generator = 0,
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
        Seed of these draws; without effect if `source` is a posterior or a frame of draws.
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
        If `n_draws` or `seed` is out of range.

    Examples
    --------
    >>> draws = pd.DataFrame({"eng": [0.0, 0.1, 0.0, 0.0], "fin": [0.2, 0.0, 0.1, 0.3]})
    >>> axes = plot_ranks(draws)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['fin', 'eng']
    """
    source = opened(source)
    shares = rank_probabilities(source, n_draws=n_draws, seed=seed)
    first = (Scale() if isinstance(source, pd.DataFrame) else as_effects(source).scale).first
    count = len(shares)
    side = 1.2 + count * (0.42 if count <= WRITTEN_OUT else 0.3 if count <= 30 else 0.12)
    ax = axes_of(ax, min(max(side + 1.2, 4.8), PAGE[0]), min(max(side, 2.8), PAGE[0]))
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


WIDE, NARROW = (0.025, 0.975), (0.25, 0.75)


@in_columns
def plot_posterior(idata: "az.InferenceData", ax: Axes | None = None, **style: Any) -> Axes:
    """Draw posterior medians of difficulties with 50 % and 95 % intervals, hardest on top.

    Parameters
    ----------
    idata : arviz.InferenceData
        Posterior with a variable ``difficulty`` by chain, draw and edition, as `langdiff.sample` returns it.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.plot`` of the medians, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    DataError
        If there is no posterior of difficulties.

    Examples
    --------
    >>> import xarray as xr
    >>> from types import SimpleNamespace
    >>> draws = np.random.default_rng(0).normal([-0.1, 0.1], 0.01, (4, 100, 2))
    >>> array = xr.DataArray(draws, dims=("chain", "draw", "edition"), coords={"edition": ["eng", "fin"]})
    >>> posterior = xr.Dataset({"difficulty": array}, attrs={"lm": "char", "model": "2"})
    >>> axes = plot_posterior(SimpleNamespace(posterior=posterior))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'fin']
    """
    posterior = getattr(idata, "posterior", None)
    if posterior is None or "difficulty" not in posterior or "edition" not in posterior["difficulty"].dims:
        raise DataError("there is no posterior of difficulties; give what langdiff.sample returned.")
    difficulty = posterior["difficulty"]
    draws = difficulty.stack(sample=("chain", "draw")).transpose("edition", "sample").to_numpy()  # (J, draws)
    order = np.argsort(draws.mean(axis=1), kind="stable")
    draws, names = draws[order], difficulty["edition"].to_numpy()[order]
    ax = row_axes(ax, names)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    y, median = np.arange(len(names)), np.median(draws, axis=1)
    colours = [HARDER if value > 0 else EASIER for value in median]
    for part, width in ((WIDE, 1.2), (NARROW, 3.2)):
        low, high = np.quantile(draws, part, axis=1)
        ax.hlines(y, low, high, colors=colours, linewidths=width, zorder=2)
    usual: dict[str, Any] = {"linestyle": "none", "marker": "o", "color": "white", "markeredgecolor": INK}
    ax.plot(median, y, **(usual | {"markersize": 4, "zorder": 3} | style))
    attributes = posterior.attrs
    title = ", ".join(filter(None, [attributes.get("lm", ""), f"model {attributes.get('model', '?')}"]))
    return finish(ax, "difficulty (nats), median, 50 % and 95 % of the posterior", title=title, keep=["bottom"])
