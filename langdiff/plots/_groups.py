"""Order and colours of editions by their family, script or macroarea."""

from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.colors import is_color_like
from matplotlib.lines import Line2D

from langdiff.errors import ConfigError, listing, option
from langdiff.plots._axes import GREY, SERIES

Order = Literal["estimate", "name", "family"]
Color = Literal["family", "script", "macroarea"]

ORDERS, COLUMNS = get_args(Order), get_args(Color)
COLOURED = 7  # groups, the most frequent; the others are grey
UNKNOWN = "not known"


def groups_of(source: Any, column: str, names: pd.Index, parameter: str) -> pd.Series:
    """Return the group of each edition, as text.

    Parameters
    ----------
    source : object
        What is drawn: a table of editions, or a result that has one as ``edition_info``.
    column : str
        Column of that table.
    names : Index
        Editions.
    parameter : str
        Name of the parameter that asks for the column, for the error.

    Raises
    ------
    ConfigError
        If there is no such column.

    Examples
    --------
    >>> info = pd.DataFrame({"family": ["Uralic"]}, index=["fin"])
    >>> groups_of(info, "family", pd.Index(["fin", "vie"]), "color").to_dict()
    {'fin': 'Uralic', 'vie': 'not known'}
    """
    info = source if isinstance(source, pd.DataFrame) else getattr(source, "edition_info", None)
    if info is None or column not in info:
        known = "nothing is known of its editions" if info is None else f"it has {listing(info.columns)}"
        raise ConfigError(
            f"{option(parameter, column)}: what is drawn has no column {column!r} of editions; {known}. Texts read "
            "with a table of editions keep such columns in surprisals and fits."
        )
    groups = info[column].reindex(names)
    return groups.where(groups.notna() & (groups.astype(str) != ""), UNKNOWN).astype(str)


def arrange(values: pd.Series, order: Order, source: Any) -> pd.Index:
    """Return editions from the lowest row to the highest: by their values, by name, or by family.

    Families stand in the order of their largest value, and editions within them by their values.
    """
    if order not in ORDERS:
        raise ConfigError(f"{option('order')} is one of {listing(ORDERS)}; got {order!r}.")
    rows = values.sort_values(kind="stable")
    if order == "name":
        return rows.sort_index(ascending=False, key=lambda names: names.astype(str)).index
    if order == "family":
        family = groups_of(source, "family", rows.index, "order")
        largest = rows.groupby(family.to_numpy()).transform("max").to_numpy()
        return rows.index[np.lexsort([rows.to_numpy(), family.to_numpy(dtype=str), largest])]
    return rows.index


def colours_of(names: pd.Index, color: Color | str, source: Any) -> tuple[list[str], dict[str, Artist]]:
    """Return the colour of each edition, and a legend with the number of editions of each group.

    A colour of Matplotlib in place of a column is the colour of all, without a legend.
    """
    if color not in COLUMNS and is_color_like(color):
        return [color] * len(names), {}
    groups = groups_of(source, color, names, "color")
    counts = groups[groups != UNKNOWN].value_counts()
    shown = dict(zip(counts.index[:COLOURED], SERIES, strict=False))
    marks = {f"{name} ({counts[name]})": colour for name, colour in shown.items()}
    if rest := len(groups) - int(counts.iloc[:COLOURED].sum()):
        marks[f"{'others' if len(counts) > COLOURED else UNKNOWN} ({rest})"] = GREY
    legend: dict[str, Artist] = {
        label: Line2D([], [], color=colour, marker="o", linestyle="none", markersize=5)
        for label, colour in marks.items()
    }
    return [shown.get(name, GREY) for name in groups], legend
