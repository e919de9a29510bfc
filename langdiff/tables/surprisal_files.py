"""Reading of tables of surprisals, long or wide, in any unit of information."""

from dataclasses import replace
from pathlib import Path

import pandas as pd

from langdiff.base.cells import refuse_alike
from langdiff.base.io import as_path
from langdiff.base.remote import local_copy
from langdiff.base.saving import read_manifest
from langdiff.errors import DataError, listing, option, warn, words
from langdiff.tables.crossing import PREFIX as LEVEL
from langdiff.tables.crossing import SIGN
from langdiff.tables.doubtful_cells import refuse_summaries
from langdiff.tables.edition_info import words_of
from langdiff.tables.intent_info import select_info
from langdiff.tables.long_tables import (
    CELL,
    MOST_NAMES,
    Provenance,
    Unit,
    as_bits,
    check_unit,
    is_long,
    numbers_of,
    parts_of_long,
    read_table_file,
    refuse_folder,
    scoring_of,
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
    lm: str | None = None,
    intent_info: pd.DataFrame | str | Path | None = None,
    edition_info: pd.DataFrame | str | Path | None = None,
    verify: bool = True,
) -> Surprisals:
    r"""Read a table of surprisals, saved by this package or made elsewhere.

    Parameters
    ----------
    path : str or Path
        Table (.csv, .tsv, .parquet), long or intents × editions. Long (columns ``intent``, ``edition``, ``bits``;
        ``eos_bits``, ``characters``, ``bytes``, ``units``, ``replaced`` and ``lm`` if known; what is known of the
        intents in columns ``document``, ``book``, ``chapter`` and ``intent_NAME``, with one value per intent, or in any
        other column that groups them: one value per intent in all editions, and fewer values than intents) or wide
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
    lm : str, optional
        Column of the language model in a long table where it has another name. A table of several models becomes one
        of languages × models, as `langdiff.stack` returns it.
    intent_info : DataFrame, str or Path, optional
        Table of the intents, with their documents, for example; see `Surprisals.with_intent_info`.
    edition_info : DataFrame, str or Path, optional
        Properties of the editions, such as family, indexed by edition, or a table of them with the editions in its
        first column; other editions are ignored.
    verify : bool
        Refuse a table that is not the one that was saved, as its manifest says, or whose manifest is damaged. If not,
        the provenance is left out.

    Returns
    -------
    Surprisals
        In bits; with its provenance, if `Surprisals.save` wrote it.

    Raises
    ------
    DataError
        If a file cannot be read, a cell is given twice, a value is not a surprisal, an intent has several values of
        one of its properties, `intent_info` lacks an intent, or `edition_info` an edition; or if numbers are not those
        that were saved.
    ConfigError
        If the ending or the unit is unknown.

    Warns
    -----
    LangdiffWarning
        If the recorded provenance is of other columns than those named; it is then left out.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "mine.csv")
    ...     _ = path.write_text("intent,eng,deu\n1,10.0,12.0\n2,20.0,\n")
    ...     read_surprisals(path)
    Surprisals by mine: 2 intents × 2 editions, 1 of 4 cells missing
    """
    path = as_path(local_copy(path))
    refuse_folder(path)
    table_kind(path)  # an error before the file is looked for
    if unit is not None:
        check_unit(unit)
    frame = read_table_file(path, verify=verify)
    named = {
        ours: name for ours, name in zip((*CELL, "lm"), (intent, edition, bits, lm), strict=True) if name is not None
    }
    if not named and {"item", "language", "bits"} <= set(frame.columns) and not is_long(frame):  # of `Logs.write`
        table = _of_logs(frame, unit, path, verify=verify)
    elif named or is_long(frame):
        frame = with_usual_names(frame, dict(zip(CELL, CELL, strict=True)) | named, path)
        table = Surprisals(**parts_of_long(frame, unit, path, path.stem))
        if verify:
            table = _with_provenance(table, path, unit, own=all(ours == name for ours, name in named.items()))
    else:
        table = _from_wide(frame, unit, path)
    if not verify or read_manifest(path) is None:
        _refuse_odd(table.bits, path)
    if edition_info is not None:
        table = _with_edition_info(table, edition_info)
    return table if intent_info is None else table.with_intent_info(intent_info)


def _refuse_odd(bits: pd.DataFrame, path: Path) -> None:
    """Refuse the sums, means and counters of spreadsheets, and names written in two ways."""
    refuse_alike(bits.columns, "edition", str(path))
    refuse_summaries(bits, path)
    for name, column in bits.items():
        if len(column) > 9 and column.iloc[0] in (0, 1) and (column.diff().iloc[1:] == 1).all():
            raise DataError(f"{path}: {name!r} counts the rows, and is no edition: delete it.")
    numbers = list(map(str, range(bits.shape[1] + 1)))
    counted = list(map(str, bits.columns)) in (numbers[:-1], numbers[1:])
    if counted and not any(str(name).isdigit() for name in bits.index):
        warn(
            f"{path}: its {bits.shape[1]:,} editions are numbers, and its intents names, such as "
            f"{listing(bits.index[:2])}: do rows and columns have to change places?"
        )


def _with_edition_info(table: Surprisals, given: pd.DataFrame | str | Path) -> Surprisals:
    """Return a table with properties of its editions, or of its languages, which replace those of the same name."""
    languages = table.editions if table.columns is None else pd.Index(table.columns["language"])
    known = select_info(given, languages, "edition").set_axis(table.editions, axis=0)
    if table.edition_info is not None:
        known = known.join(table.edition_info.drop(columns=known.columns, errors="ignore"))
    return replace(table, edition_info=words_of(known))


def _of_logs(frame: pd.DataFrame, unit: Unit | None, path: Path, *, verify: bool) -> Surprisals:
    """Return surprisals by one system, or crossed, from a long table that was imported from logs."""
    if "token" in frame:
        from langdiff.tables.logs.reading import read_logs

        return read_logs(path, unit=unit).stack()
    systems = frame["system"].map(str) if "system" in frame else pd.Series(path.stem, frame.index)
    long = frame.rename(columns={"item": "intent", "language": "edition"}).drop(columns="system", errors="ignore")
    names = list(pd.unique(systems))
    if len(names) > 1:
        language = long["edition"].map(str)
        long["edition"] = language + SIGN + systems
        long = long.assign(**{f"{LEVEL}language": language, f"{LEVEL}system": systems})
    lm = "+".join(names) if len(names) <= MOST_NAMES else path.stem
    told = (read_manifest(path) or {}).get("logs") if verify else None
    record = None if told is None else Provenance(recipe=lm, scoring=scoring_of(told))
    return Surprisals(**parts_of_long(long, unit, path, lm), provenance=record)


def _with_provenance(table: Surprisals, path: Path, unit: Unit | None, *, own: bool) -> Surprisals:
    """Return a table with its recorded provenance; `own` is true if it has the columns of `Surprisals.save`."""
    manifest = read_manifest(path)
    if manifest is None:
        return table
    if unit not in (None, "bits"):
        off = words(python="verify=False", command="--no-verify")
        raise DataError(
            f"{path}: saved in bits, as its manifest says, not in {unit}. Leave {option('unit', unit)} out, or pass "
            f"{off}, which drops the provenance."
        )
    known = manifest.get("provenance")
    if known is not None and not own:
        warn(f"the provenance of {path} is not known: it is of other columns than those named.")
    return table if known is None or not own else replace(table, provenance=Provenance(**known))


def _from_wide(frame: pd.DataFrame, unit: Unit | None, path: Path) -> Surprisals:
    names, *editions = frame.columns
    if not editions:
        raise DataError(f"{path}: only one column. Give a table of intents × editions, or intent, edition, bits.")
    if {"item", "system"} <= set(frame.columns):
        raise DataError(f"{path}: a table of outcomes, not of bits: `langdiff outcomes fit {path}`, ld.read_outcomes.")
    try:
        bits = pd.DataFrame({edition: numbers_of(frame[edition], path) for edition in editions})
    except DataError as error:
        raise DataError(
            f"{error} Or if the table is long, with one row per cell, name its columns: intent=…, edition=…, bits=… "
            "(options of `langdiff fit`: --intent-column …)."
        ) from error
    return Surprisals(bits=as_bits(bits.set_axis(frame[names], axis=0), unit, path), lm=path.stem)
