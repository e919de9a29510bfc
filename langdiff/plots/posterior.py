"""Posterior intervals of difficulties."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from langdiff.errors import DataError
from langdiff.plots._axes import EASIER, HARDER, INK, finish, row_axes

if TYPE_CHECKING:
    import arviz as az

WIDE, NARROW = (0.025, 0.975), (0.25, 0.75)


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
