"""From what a user gives to the logarithms that can be fitted; every check of a table is made here."""

import logging

import numpy as np
import pandas as pd

from langdiff._types import Booleans, Floats
from langdiff.errors import DataError, listing
from langdiff.regression.design import Design
from langdiff.regression.kernel.connected import edition_components
from langdiff.surprisals import Surprisals

CONSTANT_CELLS = 3  # an edition with at least this many cells, all equal, was not measured

log = logging.getLogger(__name__)


def as_surprisals(table: object) -> Surprisals:
    """Return a table of surprisals from one, a frame, an array or a tensor."""
    if isinstance(table, Surprisals):
        return table
    if hasattr(table, "detach"):  # a tensor; torch itself is not imported for it
        table = table.detach().cpu().numpy()
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise DataError(f"an array of surprisals has two axes, intents × editions, not shape {table.shape}.")
        table = pd.DataFrame(table)
    if isinstance(table, pd.DataFrame):
        return Surprisals(bits=table)
    raise DataError(
        "surprisals must be a Surprisals, or a DataFrame, array or tensor of bits, intents × editions, "
        f"not {type(table).__name__}."
    )


def log_bits(table: Surprisals, design: Design) -> Floats:
    """Return z = ln(bits), shape (I, J), of a table that can be fitted.

    Raises
    ------
    DataError
        If the table cannot be fitted; see `langdiff.fit`.
    """
    bits = table.bits.to_numpy()
    intents, editions = bits.shape
    if min(bits.shape) < 2:
        raise DataError(f"{intents} intent(s) × {editions} edition(s): comparing needs at least two of each.")
    z: Floats = np.log(bits, out=np.empty(bits.shape))  # by rows, where a frame's numbers lie by columns
    observed: Booleans = ~np.isnan(z)
    empty = {
        "intent": table.intents[np.flatnonzero(~observed.any(axis=1))],
        "edition": table.editions[np.flatnonzero(~observed.any(axis=0))],
    }
    for what, names in empty.items():
        if len(names):
            raise DataError(f"{len(names)} {what}(s) without any surprisal: {listing(names)}. Leave them out.")
    _check_variation(table, z)
    _check_connected(design.units, design.observed(observed))
    cells = int(observed.sum())
    free = design.free
    if cells < intents + free:
        raise DataError(
            f"{cells:,} cells for {intents:,} intents and {free:,} free difficulties: at least "
            f"{intents + free:,} are needed to tell differences from noise. Add intents that several editions have."
        )
    return z


def _check_variation(table: Surprisals, z: Floats) -> None:
    constant = []
    for j, edition in enumerate(table.editions):  # a column at a time: the table may be large
        column = z[:, j]
        column = column[~np.isnan(column)]
        if len(column) >= CONSTANT_CELLS and column.min() == column.max():
            constant.append(edition)
    if constant:
        raise DataError(
            f"{len(constant)} edition(s) whose surprisals are all equal: {listing(constant)}. "
            "Such numbers were not measured; leave them out."
        )


def _check_connected(units: pd.Index, observed: Booleans) -> None:
    component = edition_components(observed)
    if component.max() == 0:
        return
    what = "editions" if units.name in (None, "edition") else f"{units.name}s"
    sizes = ", ".join(str(size) for size in np.bincount(component))
    one, other = units[component == 0][0], units[component == 1][0]
    raise DataError(
        f"the {what} fall into {component.max() + 1} groups (of {sizes} {what}) that share no intent; for "
        f"one, no chain of shared intents leads from {one!r} to {other!r}, so their difficulties cannot be "
        "compared. Fit each group separately, or add intents that join them."
    )
