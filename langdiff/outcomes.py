"""The table of right and wrong: successes out of trials of every item under every system."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import pandas as pd

from langdiff._types import Booleans
from langdiff.errors import ConfigError, DataError, listing
from langdiff.evaluation_logs import read_inspect_logs, read_lm_eval_samples
from langdiff.outcome_tables import attributes_of, read_long_or_wide
from langdiff.table_files import table_kind, write_table_file

OutcomeFormat = Literal["long", "wide", "lm-eval", "inspect"]
SYSTEM = "system_"  # prefix of attributes of systems in a long table; those of items have none
CELL = ("item", "system", "successes", "trials")


def _no_attributes() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Outcomes:
    """Outcomes of systems (columns) on items (rows): successes out of trials.

    A cell is missing if the system was not run on the item, or its run failed; that is not a failure of the system.

    Attributes
    ----------
    successes : DataFrame of float64, shape (I, J)
        Numbers of successes, whole numbers from 0 to `trials`; NaN where a cell is missing.
    trials : DataFrame of float64, shape (I, J)
        Numbers of trials, whole numbers from 1; NaN where a cell is missing. May be given as None, for one trial per
        cell; 0 stands for a missing cell.
    items : DataFrame, I rows
        Attributes of the items, such as ``construction``, ``document`` or ``language``, indexed by item; without
        columns if nothing is known.
    systems : DataFrame, J rows
        Attributes of the systems, such as ``size``, indexed by system.
    name : str
        Name of the table, such as that of the benchmark or of what counts as a success.

    Raises
    ------
    DataError
        If `successes` is not a frame or is empty; if a number is not a whole one, or more successes than trials are
        given; if names occur twice or have levels; or if a frame has other items or systems than `successes`, or in
        another order.

    Examples
    --------
    >>> successes = pd.DataFrame({"small": [1, 0, 0], "large": [1, 1, float("nan")]}, index=["a", "b", "c"])
    >>> Outcomes(successes=successes, name="agreement")
    Outcomes of agreement: 3 items × 2 systems, 5 trials, 1 of 6 cells missing
    """

    successes: pd.DataFrame
    trials: pd.DataFrame = None  # type: ignore[assignment]  # filled in below
    items: pd.DataFrame = field(default_factory=_no_attributes)
    systems: pd.DataFrame = field(default_factory=_no_attributes)
    name: str = "outcomes"

    def __post_init__(self) -> None:
        """Refuse what is not a table of counts, naming the first cells."""
        successes = self.successes
        if not isinstance(successes, pd.DataFrame) or successes.empty:
            raise DataError("successes must be a DataFrame of items × systems, with at least one of each.")
        for what, names in (("item", successes.index), ("system", successes.columns)):
            if isinstance(names, pd.MultiIndex):
                raise DataError(f"{what}s have names in {names.nlevels} levels; give each one name: names.map(str).")
            twice = names[names.duplicated()].unique()
            if len(twice):
                raise DataError(f"{len(twice)} {what}(s) named twice: {listing(twice)}. Names must be unique.")
        trials = successes.notna().astype(float) if self.trials is None else self.trials
        if list(trials.index) != list(successes.index) or list(trials.columns) != list(successes.columns):
            raise DataError(
                "trials must have the items and systems of successes, in the same order; use "
                "trials.reindex(index=successes.index, columns=successes.columns)."
            )
        s, t = _counts(successes, "successes"), _counts(trials, "trials")
        _refuse(s > t.fillna(0), s, t)
        present = s.notna() & (t > 0)
        for key, frame in (("successes", s), ("trials", t)):
            object.__setattr__(self, key, frame.where(present).rename_axis(index="item", columns="system"))
        for key, what, names in (("items", "item", successes.index), ("systems", "system", successes.columns)):
            object.__setattr__(self, key, _attributes(getattr(self, key), names, what))

    @property
    def observed(self) -> Booleans:
        """Whether each cell is observed, shape (I, J)."""
        return self.successes.notna().to_numpy()

    @property
    def rates(self) -> pd.DataFrame:
        """Successes over trials, shape (I, J); NaN where a cell is missing."""
        return self.successes / self.trials

    def totals(self) -> pd.DataFrame:
        """Count over all items what each system was tried on and did.

        Returns
        -------
        DataFrame
            One row per system: ``items`` it has, ``trials``, ``successes``, and their ``rate``, which compares
            systems only if all of them have all items.

        Examples
        --------
        >>> successes = pd.DataFrame({"small": [1, 0, 0], "large": [1, 1, float("nan")]}, index=["a", "b", "c"])
        >>> Outcomes(successes=successes).totals()["rate"].round(3).to_dict()
        {'small': 0.333, 'large': 1.0}
        """
        totals = pd.DataFrame(
            {"items": self.successes.notna().sum(), "trials": self.trials.sum(), "successes": self.successes.sum()}
        ).astype(int)
        totals["rate"] = totals["successes"] / totals["trials"]
        return totals.rename_axis("system")

    def to_frame(self) -> pd.DataFrame:
        """Return the long table, one row per observed cell.

        Returns
        -------
        DataFrame
            Columns ``item``, ``system``, ``successes``, ``trials``; those of `items`; and those of `systems`, as
            ``system_size``, ….

        Examples
        --------
        >>> successes = pd.DataFrame({"small": [1, 0], "large": [1, float("nan")]}, index=["a", "b"])
        >>> Outcomes(successes=successes).to_frame()
          item system  successes  trials
        0    a  small          1       1
        1    a  large          1       1
        2    b  small          0       1
        """
        return self._long(self.observed).astype({"successes": int, "trials": int})

    def _long(self, cells: Booleans) -> pd.DataFrame:
        rows, columns = np.nonzero(cells)
        long = pd.DataFrame({"item": self.items.index[rows], "system": self.systems.index[columns]})
        long["successes"] = self.successes.to_numpy()[rows, columns]
        long["trials"] = self.trials.to_numpy()[rows, columns]
        for prefix, attributes, places in (("", self.items, rows), (SYSTEM, self.systems, columns)):
            for name, values in attributes.items():
                long[f"{prefix}{name}"] = values.array.take(places)
        return long

    def sel(self, *, items: Iterable[object] | None = None, systems: Iterable[object] | None = None) -> "Outcomes":
        """Keep some items and systems, in the order given.

        Parameters
        ----------
        items, systems : iterable, optional
            Names of those to keep; all by default.

        Returns
        -------
        Outcomes
            The smaller table.

        Raises
        ------
        DataError
            If a name is unknown or given twice.

        Examples
        --------
        >>> successes = pd.DataFrame({"small": [1, 0], "large": [1, 1]}, index=["a", "b"])
        >>> Outcomes(successes=successes).sel(systems=["large"]).successes["large"].tolist()
        [1.0, 1.0]
        """
        rows = self.items.index if items is None else list(items)
        columns = self.systems.index if systems is None else list(systems)
        for what, wanted, known in (("item", rows, self.items.index), ("system", columns, self.systems.index)):
            unknown = [name for name in wanted if name not in known]
            if unknown:
                raise DataError(f"{len(unknown)} unknown {what}(s): {listing(unknown)}.")
        return replace(
            self,
            successes=self.successes.loc[rows, columns],
            trials=self.trials.loc[rows, columns],
            items=self.items.loc[rows],
            systems=self.systems.loc[columns],
        )

    def given(self, other: "Outcomes") -> "Outcomes":
        """Count these successes among the successes of another table, in which they are nested.

        A parser that finds the span of a relation may or may not name the relation: the second outcome given the
        first says how well it names what it has found. Cells are then missing by the first outcome, and so by the
        difficulty of items wherever the two outcomes share it: compare systems by
        ``fit_outcomes(..., model="conditional")``, since marginal estimates are biased.

        Parameters
        ----------
        other : Outcomes
            Table of the same items and systems, each of whose cells has at least the successes of this one.

        Returns
        -------
        Outcomes
            The successes of this table, with those of `other` as trials; missing where `other` has no success or
            either table has no cell. Items on which no system has a success in `other` have no cell left; leave them
            out before a fit, by ``sel(items=table.items.index[table.observed.any(axis=1)])``.

        Raises
        ------
        DataError
            If items or systems differ, or a cell has more successes than `other`.

        Examples
        --------
        >>> items = ["a", "b", "c"]
        >>> found = Outcomes(successes=pd.DataFrame({"parser": [1, 1, 0]}, index=items), name="spans")
        >>> named = Outcomes(successes=pd.DataFrame({"parser": [1, 0, 0]}, index=items), name="relations")
        >>> named.given(found)
        Outcomes of relations given spans: 3 items × 1 systems, 2 trials, 1 of 3 cells missing
        """
        for what, mine, theirs in (
            ("items", self.items.index, other.items.index),
            ("systems", self.systems.index, other.systems.index),
        ):
            if set(mine) != set(theirs):
                differ = listing(mine.symmetric_difference(theirs, sort=False))
                raise DataError(f"{what} of {self.name} and {other.name} differ: {differ}. Use sel on both first.")
        trials = other.successes.reindex(index=self.items.index, columns=self.systems.index)
        trials = trials.where(self.successes.notna())
        successes = self.successes.where(trials.notna())
        _refuse(successes > trials, successes, trials, f"successes of {other.name}, in which they must be nested")
        return replace(self, successes=successes, trials=trials, name=f"{self.name} given {other.name}")

    def with_items(self, items: pd.DataFrame) -> "Outcomes":
        """Add attributes of the items.

        Parameters
        ----------
        items : DataFrame
            Attributes indexed by item, with a row for every item; others are ignored. Its columns replace those of
            the same name.

        Returns
        -------
        Outcomes
            The same outcomes, with the columns added to `items`.

        Raises
        ------
        DataError
            If an item has no row, or several.

        Examples
        --------
        >>> outcomes = Outcomes(successes=pd.DataFrame({"small": [1, 0]}, index=["a", "b"]))
        >>> outcomes.with_items(pd.DataFrame({"length": [7, 9]}, index=["b", "a"])).items["length"].to_dict()
        {'a': 9, 'b': 7}
        """
        return replace(self, items=_joined(self.items, items, "item"))

    def with_systems(self, systems: pd.DataFrame) -> "Outcomes":
        """Add attributes of the systems; see `with_items`.

        Parameters
        ----------
        systems : DataFrame
            Attributes indexed by system, with a row for every system.

        Returns
        -------
        Outcomes
            The same outcomes, with the columns added to `systems`.

        Raises
        ------
        DataError
            If a system has no row, or several.

        Examples
        --------
        >>> outcomes = Outcomes(successes=pd.DataFrame({"small": [1, 0]}, index=["a", "b"]))
        >>> outcomes.with_systems(pd.DataFrame({"size": [3.5]}, index=["small"])).systems["size"].to_dict()
        {'small': 3.5}
        """
        return replace(self, systems=_joined(self.systems, systems, "system"))

    def save(self, path: str | Path) -> None:
        """Write the long table (`to_frame`) as CSV, TSV or Parquet, by the name's ending.

        Parameters
        ----------
        path : str or Path
            The file to write, ending in ``.csv``, ``.tsv`` or ``.parquet``; `read_outcomes` reads it.

        Raises
        ------
        ConfigError
            If the name has another ending.
        DataError
            If an attribute has the name of another column of the table.
        OutputError
            If the file cannot be written.

        Examples
        --------
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Outcomes(successes=pd.DataFrame({"small": [1]}, index=["a"])).save(f"{folder}/outcomes.csv")
        ...     print(Path(folder, "outcomes.csv").read_text())
        item,system,successes,trials
        a,small,1,1
        """
        taken = [name for name in self.items if name in CELL or str(name).startswith(SYSTEM)]
        if taken:
            raise DataError(f"attributes of items cannot be called {listing(taken)} in a file; rename them.")
        cells = self.observed.copy()
        cells[:1], cells[:, :1] = True, True  # missing or not, so that all names come back in their order
        frame = self._long(cells).astype({"successes": "Int64", "trials": "Int64"})
        write_table_file(frame, Path(path), None, self.successes)

    def __repr__(self) -> str:
        """Return its size and how much is missing."""
        missing = int((~self.observed).sum())
        return (
            f"Outcomes of {self.name}: {len(self.items):,} items × {len(self.systems):,} systems, "
            f"{int(np.nansum(self.trials.to_numpy())):,} trials, {missing:,} of {self.successes.size:,} cells missing"
        )


def _counts(frame: pd.DataFrame, what: str) -> pd.DataFrame:
    """Return a frame of whole numbers from 0 as float64, naming the cells that are none."""
    numbers: pd.DataFrame = (
        frame.astype(object).where(frame.notna(), np.nan).apply(pd.to_numeric, errors="coerce").astype(float)
    )
    values = numbers.to_numpy()
    whole = np.isfinite(values) & (values >= 0) & (values == np.floor(values))
    rows, columns = np.nonzero(frame.notna().to_numpy() & ~whole)
    if len(rows):
        first = ", ".join(
            f"({frame.index[i]}, {frame.columns[j]}) = {frame.iat[i, j]!s}"
            for i, j in zip(rows[:5], columns[:5], strict=True)
        )
        raise DataError(
            f"{len(rows):,} of {int(frame.notna().to_numpy().sum()):,} {what} are not whole numbers from 0 up: "
            f"{first}. A rate, an F1 or another score says nothing of the trials behind it: give successes and trials, "
            "and NaN for a missing cell."
        )
    return numbers


def _refuse(more: pd.DataFrame, s: pd.DataFrame, t: pd.DataFrame, than: str = "trials") -> None:
    rows, columns = np.nonzero(more.to_numpy())
    if len(rows):
        first = ", ".join(
            f"({s.index[i]}, {s.columns[j]}) = {s.to_numpy()[i, j]:g} of {t.to_numpy()[i, j]:g}"
            for i, j in zip(rows[:5], columns[:5], strict=True)
        )
        raise DataError(f"{len(rows):,} cell(s) have more successes than {than}: {first}.")


def _attributes(table: pd.DataFrame, names: pd.Index, what: str) -> pd.DataFrame:
    """Return attributes as a table keeps them: named by text, indexed by name."""
    if table.shape == (0, 0):
        return pd.DataFrame(index=names.rename(what))
    if list(table.index) != list(names):
        raise DataError(
            f"{what}s must have one row per {what} of successes, in the same order; with_{what}s takes any order."
        )
    columns = pd.Index([str(name) for name in table.columns])
    if columns.has_duplicates:
        twice = listing(columns[columns.duplicated()].unique())
        raise DataError(f"{what}s have several columns {twice}; keep one.")
    return table.set_axis(columns, axis=1).rename_axis(index=what)


def _joined(known: pd.DataFrame, given: pd.DataFrame, what: str) -> pd.DataFrame:
    without = known.index.difference(given.index, sort=False)
    if len(without):
        raise DataError(
            f"no row for {len(without):,} of {len(known):,} {what}s: {listing(without)}. Give each {what} a row, and "
            "leave a cell empty where nothing is known."
        )
    twice = given.index[given.index.duplicated()].unique().intersection(known.index, sort=False)
    if len(twice):
        raise DataError(f"several rows for {len(twice):,} {what}(s): {listing(twice)}. Give each one row.")
    return known.drop(columns=given.columns, errors="ignore").join(given.loc[known.index])


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
    paths = [Path(path)] if isinstance(path, str | Path) else [Path(one) for one in path]
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
            f"{row['system']!r}. If they are repeated trials, say so (repeats='sum')."
        )
    wide = {
        count: known.pivot_table(index="item", columns="system", values=count, aggfunc="sum", observed=True)
        .reindex(index=items, columns=systems)
        .astype(float)
        for count in ("successes", "trials")
    }
    others = [str(column) for column in frame if column not in CELL]
    of_systems = [column for column in others if column.startswith(SYSTEM)]
    of_items = [column for column in others if column not in of_systems]
    return Outcomes(
        successes=wide["successes"],
        trials=wide["trials"],
        items=attributes_of(frame, "item", of_items, where),
        systems=attributes_of(frame, "system", of_systems, where).rename(columns=lambda c: str(c).removeprefix(SYSTEM)),
        name=name,
    )
