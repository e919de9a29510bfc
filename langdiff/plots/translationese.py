"""How much harder native texts are than translated ones."""

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from langdiff.experiments import BalancedResult, TranslationeseResult

DOT, MEAN, INK, FAINT = "#2a6f97", "#b5532a", "#333333", "#d5d5d5"


def plot_translationese(result: "TranslationeseResult", ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw native less translated difficulty by edition, with 95 % intervals and the mean.

    Parameters
    ----------
    result : TranslationeseResult
        What to draw; editions in its order, the first on top, with their numbers of native and
        translated intents.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.errorbar``, over the defaults.

    Returns
    -------
    Axes
    """
    state = "" if result.fit.converged else ", NOT CONVERGED"
    title = f"{result.fit.lm}, model {result.fit.model}{state}"
    return _differences(result.to_frame(), result.mean.estimate, title, ax, style)


def plot_balanced(result: "BalancedResult", ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw native less translated difficulty by language, each under models trained on as much of either.

    Parameters
    ----------
    result : BalancedResult
        What to draw, as in `plot_translationese`.
    ax : Axes, optional
        Where; by default a new figure.
    **style
        Passed on to ``Axes.errorbar``, over the defaults.

    Returns
    -------
    Axes
    """
    fits = [translationese.fit for translationese in result.results.values()]
    state = "" if all(fit.converged for fit in fits) else ", NOT CONVERGED"
    title = f"{fits[0].lm} trained on as much of either, model {fits[0].model}{state}"
    return _differences(result.to_frame(), result.mean, title, ax, style)


def _differences(frame: pd.DataFrame, mean: float, title: str, ax: "Axes | None", style: dict[str, Any]) -> "Axes":
    rows = frame.iloc[::-1]
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(figsize=(7.0, 1.6 + 0.4 * len(rows)), layout="constrained")[1]
    y = np.arange(len(rows))
    ax.hlines(y, 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    if len(rows) > 1:
        ax.axvline(mean, color=MEAN, linewidth=1, linestyle=(0, (4, 3)), zorder=1, label="mean")
        ax.legend(frameon=False, loc="lower right", bbox_to_anchor=(1, 1), borderaxespad=0)
    half = rows["high"] - rows["difference"]
    usual: dict[str, Any] = {"fmt": "o", "color": DOT, "markersize": 5}
    ax.errorbar(rows["difference"], y, xerr=half, **(usual | style))
    names = [f"{name}  ({row.native:,} native, {row.translated:,} translated)" for name, row in rows.iterrows()]
    ax.set_yticks(y, names)
    ax.set_ylim(-0.7, len(rows) - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_xlabel("native − translated difficulty (nats), with 95 % interval")
    ax.set_title(title, loc="left", fontsize=11)
    return ax
