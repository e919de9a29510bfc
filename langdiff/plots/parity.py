"""Measures of parity: bytes, characters and bits of the same content relative to a reference."""

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from langdiff.errors import ConfigError, listing
from langdiff.plots._axes import BLUE, DASHED, GREY, INK, finish, plain_log_ticks, takes
from langdiff.plots._rows import in_columns, row_axes

if TYPE_CHECKING:
    from langdiff.parity.result import Parity

FACTORS = {"byte_premium": "character_premium"}  # what is drawn beside, fainter
LABELS = {
    "byte_premium": "bytes for the same content",
    "character_premium": "characters for the same content",
    "information_parity": "bits of the reference / bits, mean over intents",
    "information_parity_totals": "bits of the reference / bits, totals",
    "information_parity_model": "bits of the reference / bits, by the model",
    "fertility": "tokens per word",
    "split_words": "share of words that are split",
}


@takes(
    "result", "reference compared_with originals estimates low high sorting", "the result of langdiff.measure_parity"
)
@in_columns
def plot_parity(result: "Parity", measure: str | None = None, ax: Axes | None = None, **style: Any) -> Axes:
    """Draw one measure of parity by edition, with 95 % intervals, the highest on top.

    Premiums and parities have a logarithmic axis and a line at 1, the reference. With the premium of bytes, an open
    circle shows that of characters: the distance between both is the script's. Editions that are known to be the
    original of the texts are named as such.

    Parameters
    ----------
    result : Parity
        Result of `langdiff.measure_parity`.
    measure : str, optional
        Column of `Parity.estimates` to draw; by default the premium of bytes, or information parity.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure, as high as the number of editions needs.
    **style
        Settings for ``Axes.errorbar``, which override the defaults.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ConfigError
        If there is no such measure.

    Examples
    --------
    >>> import pandas as pd
    >>> import langdiff as ld
    >>> texts = pd.DataFrame({"eng": ["Good day", "Thanks"], "ell": ["Καλημέρα", "Ευχαριστώ"]})
    >>> axes = plot_parity(ld.measure_parity(ld.read_frame(texts), reference="eng", n_resamples=0))
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['eng', 'ell']
    """
    name = result.sorting if measure is None else measure
    if name not in result.estimates:
        raise ConfigError(f"unknown measure {name!r}; there are {listing(result.estimates.columns, 20)}.")
    values = result.estimates[name].dropna().sort_values(kind="stable")
    ax = row_axes(ax, [f"{edition} (original)" if edition in result.originals else edition for edition in values.index])
    rows = np.arange(len(values))
    usual: dict[str, Any] = {"fmt": "o", "color": BLUE, "markersize": 4, "elinewidth": 1.2}
    ends = None
    if name in result.low:
        low, high = (part.loc[values.index, name].to_numpy() for part in (result.low, result.high))
        ends = np.maximum([values - low, high - values], 0)
    ax.errorbar(values, rows, xerr=ends, **(usual | {"label": name.replace("_", " ")} | style))
    beside = FACTORS.get(name)
    if beside in result.estimates:
        faint: dict[str, Any] = {
            "markerfacecolor": "white",
            "markeredgecolor": GREY,
            "markersize": 4,
            "linestyle": "",
            "zorder": 1,
        }
        ax.plot(result.estimates.loc[values.index, beside], rows, "o", label=str(beside).replace("_", " "), **faint)
    relative = "premium" in name or name.startswith("information_parity")
    if relative:
        ax.set_xscale("log")
        plain_log_ticks(ax.xaxis)
        ax.axvline(1, color=INK, linewidth=1, linestyle=DASHED, zorder=0)
    of = f" ({result.compared_with.removeprefix('their ')} = 1)" if relative else ""
    known = next((LABELS[key] for key in sorted(LABELS, key=len, reverse=True) if name == key), name.replace("_", " "))
    return finish(ax, f"{known}{of}", keep=("bottom",), legend=beside in result.estimates)
