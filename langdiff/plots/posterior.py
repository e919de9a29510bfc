"""Posterior intervals of difficulties."""

from typing import TYPE_CHECKING, Any

import numpy as np

from langdiff.errors import DataError
from langdiff.plots.difficulty import EASIER, FAINT, HARDER, INK

if TYPE_CHECKING:
    import arviz as az
    from matplotlib.axes import Axes

WIDE, NARROW = (0.025, 0.975), (0.25, 0.75)


def plot_posterior(idata: "az.InferenceData", ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw posterior medians of difficulties with 50 % and 95 % intervals, hardest on top.

    Parameters
    ----------
    idata : arviz.InferenceData
        From `langdiff.sample`.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.plot`` of the medians, over the defaults.

    Returns
    -------
    Axes

    Raises
    ------
    DataError
        If there is no posterior of difficulties.
    """
    posterior = getattr(idata, "posterior", None)
    if posterior is None or "difficulty" not in posterior:
        raise DataError("no posterior of difficulties in it; give what langdiff.sample returned.")
    difficulty = posterior["difficulty"]
    draws = difficulty.stack(sample=("chain", "draw")).transpose("edition", "sample").to_numpy()  # (J, draws)
    order = np.argsort(draws.mean(axis=1), kind="stable")
    draws, names = draws[order], [str(name) for name in difficulty["edition"].to_numpy()[order]]
    count = len(names)
    if ax is None:
        import matplotlib.pyplot as plt

        height = 1.2 + count * (0.26 if count <= 40 else 0.15)
        ax = plt.subplots(figsize=(6.4, height), layout="constrained")[1]
    median = np.median(draws, axis=1)
    colours = [HARDER if value > 0 else EASIER for value in median]
    y = np.arange(count)
    ax.hlines(y, 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    for part, width in ((WIDE, 1.2), (NARROW, 3.2)):
        low, high = np.quantile(draws, part, axis=1)
        ax.hlines(y, low, high, colors=colours, linewidths=width, zorder=2)
    usual: dict[str, Any] = {
        "linestyle": "none",
        "marker": "o",
        "color": "white",
        "markeredgecolor": INK,
        "markersize": 4,
    }
    ax.plot(median, y, **({**usual, "zorder": 3} | style))
    ax.set_yticks(y, names, fontsize=10 if count <= 40 else 6)
    ax.set_ylim(-0.7, count - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_xlabel("difficulty (nats), median, 50 % and 95 % of the posterior")
    attributes = posterior.attrs
    ax.set_title(f"{attributes.get('lm', '')}, model {attributes.get('model', '?')}", loc="left", fontsize=11)
    return ax
