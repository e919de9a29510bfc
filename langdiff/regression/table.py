"""From what a user gives to the logarithms that can be fitted; every check of a table is made here."""

import logging
import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from langdiff.base.signature import short_hash
from langdiff.base.types import ROUNDING_OF_SINGLES, Booleans, Floats
from langdiff.errors import DataError, listing, warn
from langdiff.regression.design import Design
from langdiff.regression.kernel.two_way import edition_components, weakly_joined
from langdiff.tables.doubtful_cells import doubt_bits, warn_of_strangers
from langdiff.tables.edition_info import words_of
from langdiff.tables.long_tables import as_pandas, is_long
from langdiff.tables.stack import stack
from langdiff.tables.surprisals import Surprisals

CONSTANT_CELLS = 3  # an edition with at least this many cells, all equal, was not measured
FEW = 8

log = logging.getLogger(__name__)


def as_surprisals(table: object) -> Surprisals:
    """Return a table of surprisals from one, several by name, a frame, long or wide, an array or a tensor."""
    if isinstance(table, Surprisals):
        return table
    if isinstance(table, Mapping) and table and not any(map(_is_column, table.values())):
        return stack(named_tables(table))
    if not isinstance(table, pd.DataFrame):
        frame = as_pandas(table)
        table = table if frame is None else frame
    if isinstance(table, pd.DataFrame):
        return _of_frame(table)
    if hasattr(table, "detach"):  # a tensor; torch itself is not imported for it
        table = table.detach().cpu().numpy()
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise DataError(f"an array of surprisals has two axes, intents × editions, not shape {table.shape}.")
        return Surprisals(bits=pd.DataFrame(table, copy=False))  # read only
    raise DataError(
        "surprisals must be a Surprisals, or a DataFrame, array or tensor of bits, intents × editions, "
        f"not {type(table).__name__}."
    )


def with_edition_info(table: Surprisals, given: pd.DataFrame | None) -> tuple[Surprisals, pd.DataFrame | None]:
    """Return a table with the properties of its editions in words, and all of them for `make_design`."""
    own = table.edition_info
    if not isinstance(given, pd.DataFrame):
        return table, own if given is None else given
    if given.index.has_duplicates or not table.editions.isin(given.index).all():
        return table, given  # refused where it is used
    known = given.loc[table.editions]
    if own is not None:
        known = known.join(own.drop(columns=known.columns, errors="ignore"))
    words = known[[name for name in known if not pd.api.types.is_numeric_dtype(known[name])]]
    return replace(table, edition_info=words_of(words)), known


def _is_column(part: object) -> bool:
    """Return whether a part of a mapping is a column of a long table, in place of a table."""
    return not isinstance(part, Surprisals | pd.DataFrame | Mapping) and getattr(part, "ndim", 1) == 1


def named_tables(tables: object) -> dict[str, Surprisals]:
    """Return tables by name from a mapping to what `as_surprisals` takes."""
    if not isinstance(tables, Mapping):
        raise DataError(
            f"several tables of surprisals are given as a mapping from name to table, not {type(tables).__name__}."
        )
    return {name: as_surprisals(table) for name, table in tables.items()}


def _of_frame(table: pd.DataFrame) -> Surprisals:
    """Return surprisals from a long frame with the usual names of columns, or from a wide one."""
    if is_long(table):
        return Surprisals.from_long(table)
    words = [name for name in table if pd.api.types.is_string_dtype(table[name]) and table[name].notna().any()]
    try:
        return Surprisals(bits=table)
    except DataError as error:
        if not words:
            raise
        raise DataError(
            f"{error} A table given to `fit` is intents × editions, or long with columns intent, edition and bits; "
            f"this one has text in {listing(words)}. If it is long, name its columns: "
            "fit(Surprisals.from_long(table, intent=…, edition=…, bits=…, unit=…))."
        ) from error


def log_bits(table: Surprisals, design: Design) -> Floats:
    """Return z = ln(bits), shape (I, J), of a table that can be fitted.

    Warns
    -----
    LangdiffWarning
        If two editions are equal, or exact multiples, in all intents that both have, or editions are joined by single
        intents only.
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
    doubt_bits(table.bits, z)
    _warn_of_copies(table, z, observed)
    warn_of_strangers(z, table.intents, table.editions)
    _warn_of_weak_joins(design.units, table.intents, design.observed(observed))
    return z


def _check_variation(table: Surprisals, z: Floats) -> None:
    equal = np.fmin.reduce(z) == np.fmax.reduce(z)
    constant = [
        edition
        for j, edition in zip(np.flatnonzero(equal), table.editions[equal], strict=True)
        if np.count_nonzero(~np.isnan(z[:, j])) >= CONSTANT_CELLS
    ]
    if constant:
        raise DataError(
            f"{len(constant)} edition(s) whose surprisals are all equal: {listing(constant)}. "
            "Such numbers were not measured; leave them out."
        )


def _warn_of_copies(table: Surprisals, z: Floats, observed: Booleans) -> None:
    """Warn of editions whose surprisals equal those of another, or a multiple of them, wherever both are known."""
    copies, by_edition = [], np.ascontiguousarray(observed.T)
    for k in range(1, z.shape[1]):
        rows = np.flatnonzero(by_edition[k])
        few = rows[:: -(-len(rows) // FEW)]  # tell nearly all pairs apart
        ratio = z[few, k][:, None] - z[few, :k]
        low, high = np.fmin.reduce(ratio), np.fmax.reduce(ratio)  # NaN where none of the few is in both
        for j in np.flatnonzero(~(high - low > ROUNDING_OF_SINGLES)):
            both = rows[~np.isnan(z[rows, j])]
            if len(both) >= CONSTANT_CELLS and np.ptp(ratio := z[both, k] - z[both, j]) <= ROUNDING_OF_SINGLES:
                times = "" if np.abs(ratio).max() <= ROUNDING_OF_SINGLES else f"{np.exp(np.median(ratio)):.6g} × "
                copies.append(f"{table.editions[k]} = {times}{table.editions[int(j)]}")
    if 0 < len(copies) < z.shape[1] * (z.shape[1] - 1) // 2:  # no residuals are left of a table of copies: refused
        warn(
            f"{len(copies)} pair(s) of editions have equal surprisals in every intent that both have, or exact "
            f"multiples: {listing(copies)}. Copies are counted as independent evidence; leave one of each pair out."
        )


def _warn_of_weak_joins(units: pd.Index, intents: pd.Index, observed: Booleans) -> None:
    """Warn of editions that only single intents join to the others: nothing shows the error of such a join."""
    component = weakly_joined(observed) if not observed.all() else np.zeros(1, dtype=int)
    if component.max() == 0:
        return
    small = np.flatnonzero(component != np.bincount(component).argmax())
    several = [len(np.unique(component[row])) > 1 for row in observed]
    warn(
        f"{len(small)} edition(s) are joined to the others by single intents only: {listing(units[small])} (joined by "
        f"{listing(intents[several])}). Nothing shows the error of such a comparison; leave them out, or add intents "
        "that they share with others."
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


def identify_table(table: Surprisals) -> dict[str, str | int | None]:
    """Return what a signature says of a table: its language models as far as known, and a hash of the bits.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> identify_table(Surprisals(bits=pd.DataFrame(np.ones((2, 2))), lm="mine"))
    {'lm': 'mine', 'bits': '...'}
    """
    known = {"lm": table.lm} if table.provenance is None else table.provenance.signature()
    return {**known, "bits": short_hash(table.bits)}


def hash_of_bits(signature: str) -> str:
    """Return the hash of the bits from a signature that `identify_table` is part of; empty if there is none.

    Examples
    --------
    >>> hash_of_bits("model:2|lm:mine|bits:0123abcd|cells:12")
    '0123abcd'
    """
    found = re.findall(r"(?:^|\|)bits:([0-9a-f]+)(?=\||$)", signature)
    return found[-1] if found else ""  # the name of a language model, which comes before, may hold anything
