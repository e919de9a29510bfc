"""Reading of outcomes from tables, and from the logs of two evaluation programs."""

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd

from langdiff.base.io import as_paths
from langdiff.base.numbers import exact_numbers
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.crossing import PREFIX, columns_of_long
from langdiff.tables.evaluation_logs import read_inspect_logs, read_lm_eval_samples
from langdiff.tables.intent_info import attributes_of
from langdiff.tables.long_tables import read_table_file, table_kind
from langdiff.tables.outcomes import CELL, SYSTEM, Outcomes

NOT_WHOLE = (
    "is not a whole number from 0 up. Of rates and other scores give successes and trials; leave the cell empty if it "
    "is missing."
)
TOO_MANY = "are more successes than trials. Give both, or leave the cell empty if it is missing."


def read_long_or_wide(path: Path, *, wide: bool) -> pd.DataFrame:
    """Read a long or wide table of outcomes and return it in long form, with successes and trials as numbers.

    Parameters
    ----------
    path : Path
        CSV, TSV or Parquet.
    wide : bool
        Whether the file has one column per system, in place of columns ``item``, ``system``, ``successes``.

    Raises
    ------
    DataError
        If the file cannot be read as such a table, or a cell is not a count; the message names line and column.
    """
    frame = read_table_file(path)
    if frame.empty:
        raise DataError(f"{path}: no rows below the header. Give one per {'item' if wide else 'item and system'}.")
    return _melted(frame, path) if wide else _checked_long(frame, path)


def _melted(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the long form of a wide table, whose cells are successes or successes/trials."""
    first, *systems = frame.columns
    if not systems:
        raise DataError(f"{path}: only one column. Give a column of items and one per system.")
    twice = frame[first][frame[first].duplicated()].unique()
    if len(twice):
        raise DataError(f"{path}: {len(twice)} item(s) have several rows: {listing(twice)}. Give each one row.")
    long = frame.melt(id_vars=[first], var_name="system", value_name="cell", ignore_index=False)
    long = long.rename(columns={first: "item"})
    _check_names(long, path)
    cells = long.pop("cell")
    parts = cells.where(cells.notna(), "").astype(str).str.partition("/")
    divided = parts[1] != ""
    successes, no_successes = _whole(parts[0].str.strip())
    trials, no_trials = _whole(parts[2].str.strip().where(divided, "1"))
    bad = no_successes | no_trials | (divided & (successes.isna() | trials.isna()))
    for wrong, why in ((bad, NOT_WHOLE), (successes > trials, TOO_MANY)):
        if wrong.any():
            place = int(np.argmax(wrong))
            where = f"{path}, line {long.index[place]}, column {long['system'].iloc[place]!r}"
            raise DataError(f"{where}: {cells.iloc[place]!r} {why}")
    return long.assign(successes=successes, trials=trials)


def _checked_long(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return a long table with numeric successes and trials, after checking every cell."""
    missing = [name for name in ("item", "system", "successes") if name not in frame]
    if missing:
        raise DataError(
            f"{path}: no column {listing(missing)}; a long table has item, system, successes and perhaps trials. Is it "
            f"wide, with one column per system? Then say so ({option('format', 'wide')})."
        )
    _check_names(frame, path)
    numbers = {"successes": frame["successes"], "trials": frame.get("trials", pd.Series("1", frame.index))}
    for name, column in numbers.items():
        numbers[name], bad = _whole(column)
        if bad.any():
            place = int(np.argmax(bad))
            where = f"{path}, line {column.index[place]}, column {name!r}"
            raise DataError(f"{where}: {column.iloc[place]!r} {NOT_WHOLE}")
    successes, trials = numbers["successes"], numbers["trials"]
    for name, bad, why in (
        ("trials", successes.notna() & trials.isna(), "is empty though successes are given; give both or neither."),
        ("successes", successes > trials, TOO_MANY),
    ):
        if bad.any():
            place = int(np.argmax(bad))
            cell = f"{successes.iloc[place]:g} of {trials.iloc[place]:g} " if name == "successes" else ""
            raise DataError(f"{path}, line {frame.index[place]}, column {name!r}: {cell}{why}")
    return frame.assign(**numbers)


def _check_names(long: pd.DataFrame, path: Path) -> None:
    empty = long["item"].isin(["", None]) | long["system"].isin(["", None])
    if empty.any():
        raise DataError(f"{path}, line {long.index[int(np.argmax(empty))]}: an item or a system without a name.")


def _whole(column: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return a column as numbers, NaN where empty, and an indicator of cells that are not counts."""
    missing = column.isna() | column.isin(["", "NA", "NaN", "nan"])
    numbers = exact_numbers(column.mask(missing)).astype(float)
    return numbers, ~missing & ~((numbers >= 0) & (numbers == np.floor(numbers)) & np.isfinite(numbers))


def typed(values: pd.Series) -> pd.Series:
    """Return values as numbers, for use in formulas, if all are numeric and stay distinct; else unchanged."""
    numbers = exact_numbers(values)
    alike = numbers.notna().equals(values.notna()) and numbers.nunique() == values.nunique()
    return numbers if values.notna().any() and alike else values


OutcomeFormat = Literal["long", "wide", "lm-eval", "inspect"]


def read_outcomes(
    path: str | Path | Sequence[str | Path],
    *,
    format: OutcomeFormat = "long",
    metric: str | None = None,
    filter: str | None = None,
    repeats: Literal["error", "sum"] = "error",
    name: str | None = None,
) -> Outcomes:
    r"""Read outcomes of systems on items.

    Parameters
    ----------
    path : str, Path, or sequence of them
        For ``"long"`` and ``"wide"`` one CSV, TSV or Parquet file; otherwise files, folders or glob patterns.
    format : {"long", "wide", "lm-eval", "inspect"}
        Format of the files. ``"long"``: columns ``item``, ``system``, ``successes`` and perhaps ``trials`` (1 by
        default); columns ``system_NAME`` are attributes of systems, all others of items. ``"wide"``: the first column
        has the items, each other one the outcomes of a system, as ``1``, ``0`` or ``3/4``. ``"lm-eval"``: files
        ``samples_TASK_DATE.jsonl`` of lm-evaluation-harness, each in the folder of its model; items are called
        TASK/doc_id. ``"inspect"``: JSON logs of Inspect; items are called TASK/id, and epochs are trials.
    metric : str, optional
        Metric (lm-eval) or scorer (Inspect) that tells right from wrong; required if there are several.
    filter : str, optional
        Filter of lm-eval whose answers are counted; required if there are several.
    repeats : {"error", "sum"}
        What becomes of several outcomes of one system on one item: an error, or trials that are added up.
    name : str, optional
        Name of the table; by default that of the file or folder.

    Returns
    -------
    Outcomes
        Items and systems in order of appearance; a cell that is not there or whose run failed is missing.

    Raises
    ------
    DataError
        If a file cannot be read or a number is not one; a cell has more successes than trials; a pair is given twice;
        an item has several values of an attribute; an item is not the same document for all systems; or a metric or
        filter has to be chosen.
    ConfigError
        If format, ending or `repeats` is unknown.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "agreement.csv")
    ...     _ = path.write_text("item,small,large\na,1,1\nb,0,1\nc,2/3,\n")
    ...     read_outcomes(path, format="wide")
    Outcomes of agreement: 3 items × 2 systems, 7 trials, 1 of 6 cells missing
    """
    if format not in get_args(OutcomeFormat):
        raise ConfigError(f"unknown format {format!r}; use one of {', '.join(get_args(OutcomeFormat))}.")
    if repeats not in ("error", "sum"):
        raise ConfigError(f"unknown repeats {repeats!r}; use 'error' or 'sum'.")
    paths = as_paths(path)
    if not paths:
        raise ConfigError("no file was given.")
    if format in ("long", "wide"):
        if len(paths) > 1:
            raise ConfigError(f"a {format} table is one file; got {len(paths)}.")
        if metric is not None or filter is not None:
            raise ConfigError(f"metric and filter are for lm-eval and inspect; a {format} table has one outcome.")
        table_kind(paths[0])  # an error before the file is looked for
        frame = read_long_or_wide(paths[0], wide=format == "wide")
    elif format == "lm-eval":
        frame = read_lm_eval_samples(paths, metric=metric, filter=filter)
    else:
        if filter is not None:
            raise ConfigError("filter is for lm-eval; of Inspect's scorers choose one by metric.")
        frame = read_inspect_logs(paths, scorer=metric)
    summed = repeats == "sum" or format == "inspect"  # epochs are trials
    return _from_long(frame, str(paths[0]), name or paths[0].stem, summed=summed)


def _from_long(frame: pd.DataFrame, where: str, name: str, *, summed: bool) -> Outcomes:
    items, systems = pd.unique(frame["item"]), pd.unique(frame["system"])
    known = frame[frame["successes"].notna() & (frame["trials"] > 0)]
    twice = known.duplicated(["item", "system"])
    if twice.any() and not summed:
        row = known.loc[twice].iloc[0]
        raise DataError(
            f"{where}: {int(twice.sum()):,} outcome(s) given twice, the first item {row['item']!r}, system "
            f"{row['system']!r}. If they are repeated trials, say so ({option('repeats', 'sum')})."
        )
    wide = {
        count: known.pivot_table(index="item", columns="system", values=count, aggfunc="sum", observed=True)
        .reindex(index=items, columns=systems)
        .astype(float)
        for count in ("successes", "trials")
    }
    others = [str(column) for column in frame if column not in CELL and not str(column).startswith(PREFIX)]
    of_systems = [column for column in others if column.startswith(SYSTEM)]
    of_items = [column for column in others if column not in of_systems]
    return Outcomes(
        successes=wide["successes"],
        trials=wide["trials"],
        items=_attributes(frame, "item", of_items, where),
        systems=_attributes(frame, "system", of_systems, where).rename(columns=lambda c: str(c).removeprefix(SYSTEM)),
        columns=columns_of_long(frame, "system", systems),
        name=name,
    )


def _attributes(frame: pd.DataFrame, what: str, columns: list[str], where: str) -> pd.DataFrame:
    table = attributes_of(frame, what, columns, where)
    return pd.DataFrame({column: typed(table[column]) for column in columns}, index=table.index)
