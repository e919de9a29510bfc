"""Reading of outcomes from tables, and from logs."""

from collections.abc import Mapping, Sequence
from glob import has_magic
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers, refuse_alike
from langdiff.base.io import as_paths
from langdiff.base.remote import local_copies
from langdiff.base.saving import read_manifest
from langdiff.base.types import OnError, check_choice
from langdiff.errors import ConfigError, DataError, listing, option
from langdiff.tables.crossing import PREFIX, column_name, columns_of_long
from langdiff.tables.doubtful_cells import refuse_summaries
from langdiff.tables.intent_info import attributes_of
from langdiff.tables.logs.files import kind_of
from langdiff.tables.logs.flat import chances
from langdiff.tables.logs.kind import ROLES, Source
from langdiff.tables.logs.pairing import Strictness
from langdiff.tables.logs.reading import LogPaths, read_logs
from langdiff.tables.long_tables import read_table_file
from langdiff.tables.outcomes import CELL, SYSTEM, Outcomes

NOT_WHOLE = (
    "is not a whole number from 0 up. Write 1 and 0 (or true and false) for right and wrong; of rates give successes "
    "and trials; call a column of scores score; leave the cell empty if it is missing."
)
NO_NUMBER = "is not a number. Leave the cell empty if it is missing."
OUTCOMES = ("correct", "is_correct", "right", "success", "acc", "accuracy", "exact_match")  # usual names of outcomes
MISSING = ("", "NA", "NaN", "nan")
MOST_SLIPS = 0.5  # of cells other than 0 and 1, above which they are scores
NO_EXPOSURE = "is no number above 0, so that the score has no rate. Leave both empty if they are missing."
TOO_MANY = "are more successes than trials. Give both, or leave the cell empty if it is missing."


Roles = tuple[str | Sequence[str] | None, str | Mapping[str, str] | None, str | Mapping[str, str] | None]


def read_long_or_wide(
    path: Path,
    *,
    wide: bool,
    roles: Roles = (None, None, None),
    metric: str | None = None,
    verify: bool = True,
) -> pd.DataFrame:
    """Read a long or wide table of outcomes and return it in long form, with successes and trials as numbers."""
    frame = read_table_file(path, verify=verify)
    if frame.empty:
        raise DataError(f"{path}: no rows below the header. Give one per {'item' if wide else 'item and system'}.")
    if wide and metric is not None:
        raise ConfigError(f"{option('metric')} names the column of outcomes of a long table; a wide one has none.")
    if wide:
        return _melted(frame, path)
    return _checked_long(_with_roles(_with_outcomes(frame, metric, path), roles, path), path)


def _with_outcomes(frame: pd.DataFrame, metric: str | None, path: Path) -> pd.DataFrame:
    """Return a long table whose outcomes are in the column ``successes``, or ``score``, from one named or usual."""
    if metric is not None and metric not in frame:
        raise DataError(f"{path}: no column {metric!r}; there are {listing(frame.columns, 20)}.")
    there = [name for name in OUTCOMES if name in frame]
    if metric is None and ("successes" in frame or "score" in frame or not there):
        return frame
    if metric is None and len(there) > 1:
        raise DataError(f"{path}: {listing(there)} may all be the outcomes; say which: {option('metric', there[0])}.")
    found = frame[metric or there[0]]
    own = "score" if "trials" not in frame and _scored(found) else "successes"
    frame = frame.drop(columns=[str(found.name), *({"score", "successes"} & set(frame.columns))], errors="ignore")
    return frame.assign(**{own: _as_numbers(found)})


def _as_numbers(cells: pd.Series) -> pd.Series:
    """Return cells with 1 and 0 for true and false."""
    truths = cells.astype(str).str.strip().str.lower().map({"true": "1", "false": "0"})
    return cells.astype(object).where(truths.isna(), truths)


def _scored(cells: pd.Series) -> bool:
    """Return whether most cells that are filled are numbers other than 0 and 1: a few may be slips of outcomes."""
    numbers = exact_numbers(cells.mask(cells.isin(MISSING))).dropna().astype(float)
    return len(numbers) > 0 and bool((~numbers.isin([0.0, 1.0])).mean() > MOST_SLIPS)


def _with_roles(frame: pd.DataFrame, roles: Roles, path: Path) -> pd.DataFrame:
    """Return a long table whose columns of items, languages and systems, named or usual, have our names."""
    for usual, named in zip(ROLES, roles, strict=True):
        if named is None and usual not in frame:
            named = next((name for name in ROLES[usual] if name in frame), None)
        if named is None or named == usual:
            continue
        keys = [named] if isinstance(named, str) else list(named)
        absent = [key for key in keys if key not in frame]
        if absent or isinstance(named, Mapping):
            raise DataError(f"{path}: no column {listing(absent)}; there are {listing(frame.columns, 20)}.")
        names = frame[keys].astype(str).agg("/".join, axis=1)
        frame = frame.drop(columns=[*keys, *([usual] if usual in frame else [])]).assign(**{usual: names})
    return frame


def _melted(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the long form of a wide table, whose cells are successes or successes/trials."""
    first, *systems = frame.columns
    if not systems:
        raise DataError(f"{path}: only one column. Give a column of items and one per system.")
    twice = frame[first][frame[first].duplicated()].unique()
    if len(twice):
        raise DataError(
            f"{path}: {len(twice)} item(s) have several rows: {listing(twice)}. Give each one row; of a long table, "
            f"name the columns of items and systems ({option('item')}, {option('system')})."
        )
    long = frame.melt(id_vars=[first], var_name="system", value_name="cell", ignore_index=False)
    long = long.rename(columns={first: "item"})
    _check_names(long, path)
    cells = _as_numbers(long.pop("cell"))
    if _scored(cells):
        return _checked_long(long.assign(score=cells), path)
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
    own = "successes" if "successes" in frame or "score" not in frame else "score"
    missing = [name for name in ("item", "system", own) if name not in frame]
    if missing:
        raise DataError(
            f"{path}: no column {listing(missing)}; a long table has item, system, and successes with perhaps trials, "
            "or score. In a wide one, with one column per system, none has these names."
        )
    if {"successes", "score"} <= set(frame.columns):
        raise DataError(
            f"{path}: both successes and score may be the outcomes; say which: {option('metric', 'score')}."
        )
    _check_names(frame, path)
    if own == "score" and "trials" not in frame:
        frame = frame.rename(columns={"exposure": "trials"})
    numbers: dict[str, Any] = {own: frame[own], "trials": frame.get("trials", pd.Series("1", frame.index))}
    for name, column in numbers.items():
        numbers[name], bad = _whole(column, whole=own == "successes")
        if bad.any():
            place = int(np.argmax(bad))
            where = f"{path}, line {column.index[place]}, column {name!r}"
            raise DataError(f"{where}: {column.iloc[place]!r} {NOT_WHOLE if own == 'successes' else NO_NUMBER}")
    successes, trials = numbers[own], numbers["trials"]
    for name, bad, why in (
        ("trials", successes.notna() & trials.isna(), "is empty though successes are given; give both or neither."),
        ("successes", (own == "successes") & (successes > trials), TOO_MANY),
        ("trials", trials.lt(0) | (trials.eq(0) & successes.fillna(0).ne(0)), NO_EXPOSURE),
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
    refuse_alike(pd.unique(long["system"]), "system", str(path))


def _whole(column: pd.Series, *, whole: bool = True) -> tuple[pd.Series, pd.Series]:
    """Return a column as numbers, NaN where empty, and an indicator of cells that are not counts, or no numbers."""
    missing = column.isna() | column.isin(MISSING)
    numbers = exact_numbers(column.mask(missing)).astype(float)
    right = (numbers >= 0) & (numbers == np.floor(numbers)) if whole else numbers.notna()
    return numbers, ~missing & ~(right & np.isfinite(numbers))


def typed(values: pd.Series) -> pd.Series:
    """Return values as numbers, for use in formulas, if all are numeric and stay distinct; else unchanged."""
    numbers = exact_numbers(values)
    alike = numbers.notna().equals(values.notna()) and numbers.nunique() == values.nunique()
    return numbers if values.notna().any() and alike else values


OF_CELLS = ("answer", "target", "task")  # columns of logs, left out where they are no attributes of items


def read_outcomes(
    path: LogPaths,
    item: str | Sequence[str] | None = None,
    language: str | Mapping[str, str] | None = None,
    system: str | Mapping[str, str] | None = None,
    *,
    chance: float | str | Mapping[str, float] | None = "auto",
    metric: str | None = None,
    filter: str | None = None,
    repeats: Literal["error", "sum"] = "error",
    pairing: Strictness = "checked",
    on_error: OnError = "raise",
    trust: Sequence[str] = (),
    name: str | None = None,
    verify: bool = True,
) -> Outcomes:
    r"""Read outcomes of systems on items.

    They are in a table, or in logs of evaluations; the format is told by content. A *long* table has columns ``item``,
    ``system``, ``successes`` and perhaps ``trials`` (1 by default) and ``language``; columns ``system_NAME`` are
    attributes of systems, all others of items. A *wide* one has the items in its first column, and in each other one
    the outcomes of a system, as ``1``, ``0`` or ``3/4``. Scores, ratings and counts are in a column ``score``, or in a
    wide table most of whose cells are other numbers than 0 and 1; ``trials``, or ``exposure``, is what counts are
    relative to, such as words.
    Anything else is read by `langdiff.read_logs`. Where several languages have the same items, the table is crossed:
    one column per language and system.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from language to path
        One table, or files, folders, archives or patterns of logs.
    item : str or sequence of str, optional
        Column, or key of documents, that names the item, or several. By default, in logs of several languages, the
        fewest keys that are unique in each file and the same in all languages; of one language, TASK/doc_id or TASK/id.
    language : str or mapping, optional
        Column or key of the language, or the language of each task; by default what differs between names of tasks.
    system : str or mapping, optional
        Column or key of the system, or its name; by default what the logs say.
    chance : "auto", float, str, mapping or None
        Probability of a right guess, which becomes the attribute ``chance`` of items: one over the number of choices
        that logs tell, or a column ``chance`` or ``choices`` of a table; a number; an attribute of items; or numbers by
        language or task. None for 0.
    metric : str, optional
        Metric (lm-evaluation-harness) or scorer (Inspect) that tells right from wrong; needed if there are several. Of
        a long table, the column of successes, by default ``successes``, ``correct`` or ``acc``.
        Tasks without it are left out, and named in a warning.
    filter : str, optional
        Filter of lm-evaluation-harness whose answers count; needed if there are several.
    repeats : {"error", "sum"}
        What becomes of several outcomes of one system on one item: an error, or trials that are added up. Epochs of
        Inspect are trials.
    pairing : {"checked", "unchecked"}
        Whether items of languages that certainly do not go together are an error or a warning.
    on_error, trust
        What becomes of faulty records of logs, and kinds of doubts that are not raised; see `langdiff.read_logs`.
    name : str, optional
        Name of the table; by default that of the file or folder.
    verify : bool
        Refuse a table that is not the one that was saved, as its manifest says, or whose manifest is damaged.

    Returns
    -------
    Outcomes
        Items and systems in order of appearance; a cell that is not there or whose run failed is missing. `pairing`
        says how items of several languages were paired.

    Raises
    ------
    DataError
        If a file cannot be read or a number is not one; a cell has more successes than trials; a pair is given twice;
        an item has several values of an attribute; an item is not the same document for all systems; items of languages
        do not go together; or a metric, filter or family of tasks has to be chosen.
    ConfigError
        If an option has an unknown value.

    Warns
    -----
    LangdiffWarning
        If tasks are left out, or pairing is doubtful.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "agreement.csv")
    ...     _ = path.write_text("item,small,large\na,1,1\nb,0,1\nc,2/3,\n")
    ...     read_outcomes(path)
    Outcomes of agreement: 3 items × 2 systems, 7 trials, 1 of 6 cells missing
    """
    check_choice("repeats", repeats, ("error", "sum"))
    path = local_copies(path)
    table = table_of(path)
    if table is None:
        logs = read_logs(
            path,
            language=language,
            system=system,
            item=item,
            metric=metric,
            filter=filter,
            pairing=pairing,
            on_error=on_error,
            trust=trust,
        )
        return logs.outcomes(chance=chance, repeats=repeats, name=name or "")
    if filter is not None:
        raise ConfigError("filter is for logs of evaluations; a table has one outcome.")
    roles: Roles = (item, language, system)
    header = Source(table).header
    long = (
        bool({"successes", "score"} & set(header))
        or all(set(ROLES[role]) & set(header) for role in ("item", "system"))
        or (item is not None and system is not None)
    )
    frame = read_long_or_wide(table, wide=not long, roles=roles, metric=metric, verify=verify)
    found = _from_long(_with_chance(frame, chance, table), str(table), name or table.stem, summed=repeats == "sum")
    if found.scores is not None and read_manifest(table) is None:
        refuse_summaries(found.scores, table)
    return found


def table_of(path: object) -> Path | None:
    """Return the file of outcomes in a table; None for logs."""
    if not isinstance(path, str | Path):
        paths = as_paths(path) if isinstance(path, Sequence) else []
        if len(paths) != 1:
            return None
        path = paths[0]
    file = Path(path)
    source = Source(file)
    if not source.is_table or file.is_dir() or not file.exists():
        return (
            None if file.exists() or file.suffix not in (".csv", ".tsv", ".parquet") or has_magic(str(file)) else file
        )
    kind = kind_of(source)
    return file if kind is None or kind.name == "outcomes" else None


def _with_chance(frame: pd.DataFrame, chance: object, where: object) -> pd.DataFrame:
    """Return a long table whose column ``chance`` has the probability of a right guess, if there is one."""
    if chance == "auto":
        if "chance" in frame or "choices" not in frame or exact_numbers(frame["choices"]).isna().any():
            return frame
        return frame.drop(columns="choices").assign(chance=chances(frame, where))
    if chance is None:
        return frame.drop(columns="chance", errors="ignore")
    if isinstance(chance, Mapping):
        known = frame.get("language", pd.Series(index=frame.index, dtype=object))
        values = known.map(chance)
        if values.isna().any():
            raise ConfigError(f"{option('chance')}: no number for language {listing(pd.unique(known[values.isna()]))}.")
    elif isinstance(chance, str):
        if chance not in frame:
            raise ConfigError(f"{option('chance', chance)}: no such column; there are {listing(frame.columns, 20)}.")
        values = exact_numbers(frame[chance]).astype(float)
    else:
        values = pd.Series(float(chance), frame.index)  # type: ignore[arg-type]  # a number
    if not ((values >= 0) & (values < 1)).all():
        raise ConfigError(f"{option('chance')} is from 0 to less than 1.")
    return frame.assign(chance=values)


def _crossed(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a long table with a column per language and system, if items have several languages."""
    if "language" not in frame or f"{PREFIX}language" in frame:
        return frame
    if frame["language"].isna().any() or (frame.groupby("item")["language"].nunique() < 2).all():
        return frame  # an attribute of items
    names = [column_name(str(one), str(other)) for one, other in zip(frame["language"], frame["system"], strict=True)]
    crossed = frame.assign(
        **{f"{PREFIX}language": frame["language"].map(str), f"{PREFIX}system": frame["system"].map(str)}, system=names
    )
    return crossed.drop(columns="language")


def _from_long(frame: pd.DataFrame, where: str, name: str, *, summed: bool) -> Outcomes:
    frame = _crossed(frame)
    frame = frame.drop(columns=[column for column in OF_CELLS if column in frame and _varies(frame, column)])
    items, systems = pd.unique(frame["item"]), pd.unique(frame["system"])
    own = "successes" if "successes" in frame else "score"
    known = frame[frame[own].notna() & (frame["trials"] > 0)]
    twice = known.duplicated(["item", "system"])
    if twice.any() and not summed:
        row = known.loc[twice].iloc[0]
        raise DataError(
            f"{where}: {int(twice.sum()):,} outcome(s) given twice, the first item {row['item']!r}, system "
            f"{row['system']!r}. If they are repeated trials, say so ({option('repeats', 'sum')})."
        )
    wide: dict[str, Any] = {
        count: known.pivot_table(index="item", columns="system", values=count, aggfunc="sum", observed=True)
        .reindex(index=items, columns=systems)
        .astype(float)
        for count in (own, "trials")
    }
    others = [str(column) for column in frame if column not in CELL and not str(column).startswith(PREFIX)]
    of_systems = [column for column in others if column.startswith(SYSTEM)]
    of_items = [column for column in others if column not in of_systems]
    return Outcomes(
        **{"scores" if own == "score" else own: wide[own]},
        trials=wide["trials"],
        items=_attributes(frame, "item", of_items, where),
        systems=_attributes(frame, "system", of_systems, where).rename(columns=lambda c: str(c).removeprefix(SYSTEM)),
        columns=columns_of_long(frame, "system", systems),
        name=name,
    )


def _varies(frame: pd.DataFrame, column: str) -> bool:
    return bool((frame.groupby("item")[column].nunique(dropna=False) > 1).any())


def _attributes(frame: pd.DataFrame, what: str, columns: list[str], where: str) -> pd.DataFrame:
    table = attributes_of(frame, what, columns, where)
    return pd.DataFrame({column: typed(table[column]) for column in columns}, index=table.index)
