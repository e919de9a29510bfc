"""Reading of tables of surprisals, long or wide, in any unit of information."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from langdiff.base.io import as_path
from langdiff.errors import DataError, listing, option, warn, words
from langdiff.tables.long_tables import (
    CELL,
    Unit,
    as_bits,
    check_unit,
    is_long,
    numbers_of,
    parts_of_long,
    place_of_record,
    read_record,
    read_table_file,
    table_kind,
    with_usual_names,
)
from langdiff.tables.surprisals import Surprisals


def read_surprisals(
    path: str | Path,
    *,
    unit: Unit | None = None,
    intent: str | None = None,
    edition: str | None = None,
    bits: str | None = None,
    intent_info: pd.DataFrame | str | Path | None = None,
    verify: bool = True,
) -> Surprisals:
    r"""Read a table of surprisals, saved by this package or made elsewhere.

    Parameters
    ----------
    path : str or Path
        Table (.csv, .tsv, .parquet), long or intents × editions. Long (columns ``intent``, ``edition``, ``bits``;
        ``eos_bits``, ``characters``, ``bytes``, ``units``, ``replaced`` and ``lm`` if known; what is known of the
        intents in columns ``document``, ``book``, ``chapter`` and ``intent_NAME``, with one value per intent) or wide
        (first column the intents, then one column per edition; an empty cell is a missing translation). A CSV file may
        have semicolons instead of commas, and decimal commas.
    unit : {"bits", "nats", "log10"}, optional
        Unit of the table, by default bits; needed if it has log-probabilities, below 0. The base of the logarithms is
        2, e or 10. Numbers are surprisals, or log-probabilities, of which none is above 0.
    intent : str, optional
        Column of the intents in a long table that has another name for them; naming one says that the table is long.
    edition : str, optional
        Column of the editions in a long table, where it has another name.
    bits : str, optional
        Column of surprisals or log-probabilities in a long table, where it has another name.
    intent_info : DataFrame, str or Path, optional
        Table of the intents, with their documents, for example; see `Surprisals.with_intent_info`.
    verify : bool
        Refuse a table that is not the one that was saved with its provenance. If not, the provenance is left out.

    Returns
    -------
    Surprisals
        In bits; with its provenance, if `Surprisals.save` wrote it.

    Raises
    ------
    DataError
        If a file cannot be read, a cell is given twice, a value is not a surprisal, an intent has several values of
        one of its properties, or `intent_info` lacks an intent; or if numbers are not those that were saved.
    ConfigError
        If the ending or the unit is unknown.

    Warns
    -----
    LangdiffWarning
        If the record of provenance is damaged, or belongs to other columns than those named; it is then left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("intent,eng,deu\n1,10.0,12.0\n2,20.0,\n")
    ...     read_surprisals(path)
    Surprisals by mine: 2 intents × 2 editions, 1 of 4 cells missing
    """
    path = as_path(path)
    table_kind(path)  # an error before the file is looked for
    if unit is not None:
        check_unit(unit)
    frame = read_table_file(path)
    named = {ours: name for ours, name in zip(CELL, (intent, edition, bits), strict=True) if name is not None}
    if named or is_long(frame):
        frame = with_usual_names(frame, dict(zip(CELL, CELL, strict=True)) | named, path)
        table = Surprisals(**parts_of_long(frame, unit, path, path.stem))
        if verify:
            table = _with_provenance(table, path, unit, own=all(ours == name for ours, name in named.items()))
    else:
        table = _from_wide(frame, unit, path)
    return table if intent_info is None else table.with_intent_info(intent_info)


def _unverified() -> str:
    return words(python="verify=False", command="--no-verify")


def _with_provenance(table: Surprisals, path: Path, unit: Unit | None, *, own: bool) -> Surprisals:
    """Return a table with its recorded provenance; `own` is true if it has the columns of `Surprisals.save`."""
    record = read_record(path)
    if record is None:
        return table
    if unit not in (None, "bits"):
        raise DataError(
            f"{path}: saved in bits, as its record of provenance says, not in {unit}. Leave {option('unit', unit)} "
            f"out, or pass {_unverified()}, which drops the provenance."
        )
    beside = table.beside()
    altered = record.altered(table.bits, beside)
    if not altered:
        if gone := record.beside.keys() - beside.keys():
            warn(f"{path}: saved with {listing(sorted(gone))}, but not so now.")
        return replace(table, provenance=record.provenance)
    if not own:
        warn(f"the provenance of {path} is not known: it is of other columns than those named.")
        return table
    where = "the record in it" if place_of_record(path) == path else place_of_record(path).name
    raise DataError(
        f"{path}: these are not the {altered[0]} that were saved (SHA-256 differs from {where}). Restore the file, or "
        f"pass {_unverified()}, which drops the provenance."
    )


def _from_wide(frame: pd.DataFrame, unit: Unit | None, path: Path) -> Surprisals:
    names, *editions = frame.columns
    if not editions:
        raise DataError(f"{path}: only one column. Give a table of intents × editions, or intent, edition, bits.")
    try:
        bits = pd.DataFrame({edition: numbers_of(frame[edition], path) for edition in editions})
    except DataError as error:
        raise DataError(
            f"{error} Or if the table is long, with one row per cell, name its columns: intent=…, edition=…, bits=… "
            "(options of `langdiff fit`: --intent-column …)."
        ) from error
    return Surprisals(bits=as_bits(bits.set_axis(frame[names], axis=0), unit, path), lm=path.stem)
