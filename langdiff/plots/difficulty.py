"""Difficulties of editions: a forest of intervals, and one language model against another."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp
from scipy.stats import pearsonr

from langdiff.errors import DataError
from langdiff.plots.labels import Box, box_beside, overlap
from langdiff.regression.result import DifficultyFit

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Floats = npt.NDArray[np.float64]

EASIER, HARDER, INK, FAINT = "#2a6f97", "#b5532a", "#333333", "#d5d5d5"
ALL_NAMED = 30  # with more editions than that, `plot_two_models` names only the most telling
NAMED = 16


def _new_axes(width: float, height: float) -> "Axes":
    import matplotlib.pyplot as plt

    axes: Axes = plt.subplots(figsize=(width, height), layout="constrained")[1]
    return axes


def plot_difficulties(fit: DifficultyFit, ax: "Axes | None" = None, **style: Any) -> "Axes":
    """Draw difficulties with 95 % intervals, hardest on top.

    Parameters
    ----------
    fit : DifficultyFit
        What to draw; the scale below is in nats, that above in percent of the average edition.
    ax : Axes, optional
        Where; by default a new figure, as high as the number of editions needs.
    **style
        Passed on to ``Axes.errorbar``, over the defaults.

    Returns
    -------
    Axes

    Examples
    --------
    >>> import langdiff as ld
    >>> _, surprisals = ld.simulate(200, 8, seed=0)
    >>> axes = plot_difficulties(ld.fit(surprisals))
    >>> axes.get_yticklabels()[-1].get_text() == ld.fit(surprisals).difficulty.idxmax()
    True
    >>> axes.figure.clear()
    """
    rows = fit.to_frame().iloc[::-1]
    count = len(rows)
    if ax is None:
        ax = _new_axes(6.4, 1.2 + count * (0.26 if count <= 40 else 0.15))
    figure = ax.get_figure(root=True)
    inches = ax.get_position().height * (figure.get_figheight() if figure else 4.8)
    pitch = 72 * inches / count  # points from row to row
    text, dot = float(np.clip(0.75 * pitch, 4, 10)), float(np.clip(0.4 * pitch, 2.2, 6))

    y = np.arange(count)
    ax.hlines(y, 0, 1, transform=ax.get_yaxis_transform(), colors=FAINT, linewidths=0.5, zorder=0)
    ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
    x, half = rows["difficulty"].to_numpy(), (rows["high"] - rows["difficulty"]).to_numpy()
    for harder, colour in ((True, HARDER), (False, EASIER)):
        part = (x > 0) == harder
        usual: dict[str, Any] = {
            "fmt": "o",
            "color": colour,
            "markersize": dot,
            "elinewidth": dot / 3,
            "markeredgewidth": 0,
        }
        if part.any():
            ax.errorbar(x[part], y[part], xerr=half[part], **(usual | style))
    ax.set_yticks(y, [str(name) for name in rows.index], fontsize=text)
    ax.set_ylim(-0.7, count - 0.3)
    ax.tick_params(axis="y", length=0)
    ax.spines[["left", "right", "top"]].set_visible(False)
    ax.set_xlabel("difficulty (nats), with 95 % interval")
    percent = ax.secondary_xaxis("top", functions=(_percent, _nats))
    percent.set_xlabel("more bits than the average edition (%)")
    percent.spines["top"].set_visible(False)
    state = "" if fit.converged else ", NOT CONVERGED"
    ax.set_title(f"{fit.lm}, model {fit.model}{state}", loc="left", fontsize=11)
    return ax


def _percent(nats: npt.ArrayLike) -> npt.ArrayLike:
    percent: Floats = 100 * np.expm1(np.asarray(nats, dtype=float))
    return percent


def _nats(percent: npt.ArrayLike) -> npt.ArrayLike:
    # Matplotlib tries limits of its own, below −100 % among them
    nats: Floats = np.log1p(np.maximum(np.asarray(percent, dtype=float), -99.9) / 100)
    return nats


def plot_two_models(fit_x: DifficultyFit, fit_y: DifficultyFit, ax: "Axes | None" = None) -> "Axes":
    """Draw the difficulties under one language model against those under another.

    Editions on the dashed line are as hard for both; bars are 95 % intervals. Of more than 30
    editions only those farthest from the line and those at the ends are named.

    Parameters
    ----------
    fit_x, fit_y : DifficultyFit
        Fits of the two language models; editions in both are drawn.
    ax : Axes, optional
        Where; by default a new figure.

    Returns
    -------
    Axes

    Raises
    ------
    DataError
        If fewer than two editions are in both fits.
    """
    x = fit_x.to_frame()
    y = fit_y.to_frame()
    names = [name for name in x.index if name in y.index]
    if len(names) < 2:
        raise DataError(f"{len(names)} edition(s) in both fits; at least two are needed to compare them.")
    x, y = x.loc[names], y.loc[names]
    ax = _new_axes(5.6, 5.6) if ax is None else ax

    points = np.column_stack([x["difficulty"], y["difficulty"]])
    # each fit's factors average 1 over its own editions; those drawn are to average 1 in both
    points -= logsumexp(points, axis=0) - np.log(len(names))
    bars = np.column_stack([x["high"] - x["difficulty"], y["high"] - y["difficulty"]])
    low, high = float((points - bars).min()), float((points + bars).max())
    margin = 0.08 * (high - low)
    limits = (low - margin, high + margin)
    ax.plot(limits, limits, color=INK, linewidth=0.8, linestyle=(0, (4, 4)), zorder=1)
    ax.axhline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.axvline(0, color=FAINT, linewidth=0.8, zorder=0)
    ax.errorbar(
        points[:, 0],
        points[:, 1],
        xerr=bars[:, 0],
        yerr=bars[:, 1],
        fmt="o",
        color=EASIER,
        ecolor="#2a6f9766",
        elinewidth=0.8,
        markersize=4,
        markeredgewidth=0,
        zorder=2,
    )
    ax.set(xlim=limits, ylim=limits, aspect="equal")
    _name_points(ax, points, names, limits)
    ax.set_xlabel(f"difficulty under {fit_x.lm} (nats)")
    ax.set_ylabel(f"difficulty under {fit_y.lm} (nats)")
    r = float(pearsonr(points[:, 0], points[:, 1]).statistic)
    ax.set_title(f"{len(names)} editions, Pearson's r = {r:.3f}", loc="left", fontsize=11)
    ax.spines[["right", "top"]].set_visible(False)
    return ax


def _name_points(ax: "Axes", points: Floats, names: list[Any], limits: tuple[float, float]) -> None:
    """Write names beside their points, each where it covers least; of many, leave out what finds no room."""
    from matplotlib.patheffects import withStroke

    shown = np.arange(len(names))
    if len(names) > ALL_NAMED:
        telling = np.abs(points - points.mean(axis=0)).sum(axis=1) / 2 + 2 * np.abs(points[:, 0] - points[:, 1])
        shown = np.argsort(-telling)[:NAMED]
    size = 8.0 if len(names) <= 12 else 7.0
    figure = ax.get_figure(root=True)
    width = 72 * ax.get_position().width * (figure.get_figwidth() if figure else 6.4)
    at = (points - limits[0]) * width / (limits[1] - limits[0])  # points from the lower left corner
    taken: list[Box] = [(px - 3, py - 3, px + 3, py + 3) for px, py in at]
    for i in shown:
        w, h = 0.55 * size * len(str(names[i])), 1.2 * size
        away = 1 if points[i, 1] > points[i, 0] else -1  # above the line: up and left of the point, else down and right
        sides = [(-away, away), (away, away), (-away, -away), (away, -away)]
        boxes = [box_beside(at[i], side, w, h) for side in sides]
        costs = [sum(overlap(box, other) for other in taken) + 1e6 * (box[0] < 0 or box[2] > width) for box in boxes]
        best = int(np.argmin(costs))
        if len(names) > ALL_NAMED and costs[best] > 0.3 * w * h:
            continue
        taken.append(boxes[best])
        right, up = sides[best]
        ax.annotate(
            str(names[i]),
            (float(points[i, 0]), float(points[i, 1])),
            xytext=(3 * right, 2 * up),
            textcoords="offset points",
            ha="left" if right > 0 else "right",
            va="bottom" if up > 0 else "top",
            fontsize=size,
            color=INK,
            zorder=1.5,  # its halo must hide no point
            path_effects=[withStroke(linewidth=2, foreground="white")],
        )
