"""Outcomes: successes out of trials, or a score, of every item under every system."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.cells import exact_numbers
from langdiff.base.types import Booleans
from langdiff.errors import ConfigError, DataError, listing
from langdiff.tables.crossing import LEVELS, PREFIX, check_axes, check_columns, chosen_names, first_cells, long_columns
from langdiff.tables.intent_info import check_attributes, join_info
from langdiff.tables.logs.pairing import Pairing
from langdiff.tables.long_tables import write_table_file

SYSTEM = "system_"  # prefix of attributes of systems in a long table; those of items have none
CELL = ("item", "system", "successes", "trials", "score")


def _no_attributes() -> pd.DataFrame:
    return pd.DataFrame()


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Outcomes:
    """Outcomes of systems (columns) on items (rows): successes out of trials, or scores.

    A cell is missing if the system was not run on the item, or its run failed; that is not a failure of the system.

    Attributes
    ----------
    successes : DataFrame of float64, shape (I, J)
        Numbers of successes, whole numbers from 0 to `trials`; NaN where a cell is missing. None in a table of scores.
    trials : DataFrame of float64, shape (I, J)
        Numbers of trials, whole numbers from 1; NaN where a cell is missing. May be given as None, for one trial per
        cell; 0 stands for a missing cell. Of scores, what a cell is the total of: a number of answers, or the exposure
        of a count, such as words; any positive numbers.
    items : DataFrame, I rows
        Attributes of the items, such as ``construction``, ``document`` or ``language``, indexed by item; without
        columns if nothing is known.
    systems : DataFrame, J rows
        Attributes of the systems, such as ``size``, indexed by system.
    columns : DataFrame, J rows, or None
        ``language`` and ``system`` of each column of a crossed table, whose columns are called ``language@system``.
        None for a table with one level.
    pairing : Pairing or None
        How items of several languages were paired, where they were read from logs; files do not keep it.
    name : str
        Name of the table, such as that of the benchmark or of what counts as a success.
    scores : DataFrame of float64, shape (I, J), or None
        Scores such as chrF or COMET, ratings or counts, in place of successes; NaN where a cell is missing. What may
        stand in a cell is said by the model that is fitted, see `langdiff.fit_outcomes`.

    Raises
    ------
    ConfigError
        If both `successes` and `scores` are given, or neither.
    DataError
        If `successes` is not a frame or is empty; if a number is not a whole one, or more successes than trials are
        given; if names occur twice, or have levels or control characters; or if a frame has other items or systems
        than `successes`, or in another order.

    Examples
    --------
    >>> successes = pd.DataFrame({"small": [1, 0, 0], "large": [1, 1, float("nan")]}, index=["a", "b", "c"])
    >>> Outcomes(successes=successes, name="agreement")
    Outcomes of agreement: 3 items × 2 systems, 5 trials, 1 of 6 cells missing
    >>> Outcomes(scores=pd.DataFrame({"small": [41.5, 60.2], "large": [48.0, 71.3]}, index=["a", "b"]), name="chrF")
    Outcomes of chrF: 2 items × 2 systems, 4 scores, 0 of 4 cells missing
    """

    successes: pd.DataFrame | None = None
    trials: pd.DataFrame = None  # type: ignore[assignment]  # filled in below
    items: pd.DataFrame = field(default_factory=_no_attributes)
    systems: pd.DataFrame = field(default_factory=_no_attributes)
    columns: pd.DataFrame | None = None
    pairing: Pairing | None = None
    name: str = "outcomes"
    scores: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        """Check that all cells are counts, or numbers where they are scores; an error names the first that are not."""
        if (self.successes is None) == (self.scores is None):
            raise ConfigError("a table has either successes, perhaps with trials, or scores: give one of them.")
        kind, successes = self._kind, self.values
        if not isinstance(successes, pd.DataFrame) or successes.empty:
            raise DataError(f"{kind} must be a DataFrame of items × systems, with at least one of each.")
        check_axes(successes, "item", "system")
        trials = successes.notna().astype(float) if self.trials is None else self.trials
        if list(trials.index) != list(successes.index) or list(trials.columns) != list(successes.columns):
            raise DataError(
                f"trials must have the items and systems of {kind}, in the same order; use "
                f"trials.reindex(index={kind}.index, columns={kind}.columns)."
            )
        whole = self.scores is None
        s, t = _numbers(successes, kind, whole=whole), _numbers(trials, "trials", whole=whole, least=0)
        if whole:
            _refuse(s > t.fillna(0), s, t)
        else:
            _refuse((s.fillna(0) != 0) & ~(t > 0), s, t, "scores without trials, or exposure: give both or neither")
        present = s.notna() & (t > 0)
        for key, frame in ((kind, s), ("trials", t)):
            object.__setattr__(self, key, frame.where(present).rename_axis(index="item", columns="system"))
        for key, what, names in (("items", "item", successes.index), ("systems", "system", successes.columns)):
            known, advice = getattr(self, key), f"with_{key} takes any order"
            known = known if known.shape != (0, 0) else pd.DataFrame(index=names)
            object.__setattr__(self, key, check_attributes(known, names, what, key, advice))
        object.__setattr__(self, "columns", check_columns(self.columns, successes.columns))

    @property
    def _kind(self) -> str:
        return "successes" if self.scores is None else "scores"

    @property
    def values(self) -> pd.DataFrame:
        """Successes, or scores, shape (I, J); NaN where a cell is missing."""
        found = self.successes if self.scores is None else self.scores
        assert found is not None  # noqa: S101 one of them is there
        return found

    @property
    def observed(self) -> Booleans:
        """Whether each cell is observed, shape (I, J)."""
        return self.values.notna().to_numpy()

    @property
    def rates(self) -> pd.DataFrame:
        """Successes, or scores, over trials, shape (I, J); NaN where a cell is missing."""
        return self.values / self.trials

    def totals(self) -> pd.DataFrame:
        """Return the trials and successes of each system, summed over all items.

        Returns
        -------
        DataFrame
            One row per system: ``items`` it has, ``trials``, ``successes``, and their ``rate``, which compares
            systems only if all of them have all items. Of scores, in place of the last three, their mean, ``score``,
            and standard deviation, ``sd``.

        Examples
        --------
        >>> successes = pd.DataFrame({"small": [1, 0, 0], "large": [1, 1, float("nan")]}, index=["a", "b", "c"])
        >>> Outcomes(successes=successes).totals()["rate"].round(3).to_dict()
        {'small': 0.333, 'large': 1.0}
        """
        if self.scores is not None:
            rates = self.rates
            found = {"items": rates.notna().sum(), "score": rates.mean(), "sd": rates.std()}
            return pd.DataFrame(found).rename_axis("system")
        totals = pd.DataFrame(
            {"items": self.values.notna().sum(), "trials": self.trials.sum(), "successes": self.values.sum()}
        ).astype(int)
        totals["rate"] = totals["successes"] / totals["trials"]
        return totals.rename_axis("system")

    def to_frame(self) -> pd.DataFrame:
        """Return the long table, one row per observed cell.

        Returns
        -------
        DataFrame
            Columns ``item``, ``system``, ``successes`` (or ``score``), ``trials``; of a crossed table
            ``column_language`` and ``column_system``; those of `items`; and those of `systems`, as ``system_size``, ….

        Examples
        --------
        >>> successes = pd.DataFrame({"small": [1, 0], "large": [1, float("nan")]}, index=["a", "b"])
        >>> Outcomes(successes=successes).to_frame()
          item system  successes  trials
        0    a  small          1       1
        1    a  large          1       1
        2    b  small          0       1
        """
        return self._typed(self._long(self.observed), int)

    def _typed(self, long: pd.DataFrame, whole: Any) -> pd.DataFrame:
        """Return a long table whose counts are whole numbers; of scores, one trial each is left out."""
        if self.scores is None:
            return long.astype({"successes": whole, "trials": whole})
        alone = (self.trials.fillna(1) == 1).all(axis=None)
        return long.drop(columns="trials") if alone else long

    def _long(self, cells: Booleans) -> pd.DataFrame:
        rows, columns = np.nonzero(cells)
        long = pd.DataFrame({"item": self.items.index[rows], "system": self.systems.index[columns]})
        long["successes" if self.scores is None else "score"] = self.values.to_numpy()[rows, columns]
        long["trials"] = self.trials.to_numpy()[rows, columns]
        for of_columns, level in long_columns(self.columns).items():
            long[of_columns] = level.to_numpy()[columns]
        for prefix, attributes, places in (("", self.items, rows), (SYSTEM, self.systems, columns)):
            for name, values in attributes.items():
                long[f"{prefix}{name}"] = values.array.take(places)
        return long

    def sel(self, *, items: Iterable[object] | None = None, systems: Iterable[object] | None = None) -> "Outcomes":
        """Return the outcomes of some items and systems, in the order given.

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
        rows = chosen_names("item", items, self.items.index)
        columns = chosen_names("system", systems, self.systems.index)
        cells: dict[str, Any] = {self._kind: self.values.loc[rows, columns]}
        return replace(
            self,
            **cells,
            trials=self.trials.loc[rows, columns],
            items=self.items.loc[rows],
            systems=self.systems.loc[columns],
            columns=None if self.columns is None else self.columns.loc[columns],
        )

    def given(self, other: "Outcomes") -> "Outcomes":
        """Return these successes out of the successes of another table, in which they are nested.

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
        if self.scores is not None or other.scores is not None:
            raise DataError("scores are not nested: both tables must have successes.")
        for what, mine, theirs in (
            ("items", self.items.index, other.items.index),
            ("systems", self.systems.index, other.systems.index),
        ):
            if set(mine) != set(theirs):
                differ = listing(mine.symmetric_difference(theirs, sort=False))
                raise DataError(f"{what} of {self.name} and {other.name} differ: {differ}. Use sel on both first.")
        trials = other.values.reindex(index=self.items.index, columns=self.systems.index)
        trials = trials.where(self.values.notna())
        successes = self.values.where(trials.notna())
        _refuse(
            successes > trials,
            successes,
            trials,
            f"more successes than successes of {other.name}, in which they must be nested",
        )
        return replace(self, successes=successes, trials=trials, name=f"{self.name} given {other.name}")

    def with_items(self, items: pd.DataFrame) -> "Outcomes":
        """Return the outcomes with attributes of the items added.

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
        return replace(self, items=join_info(self.items, items, "item", "items"))

    def with_systems(self, systems: pd.DataFrame) -> "Outcomes":
        """Return the outcomes with attributes of the systems added; see `with_items`.

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
        return replace(self, systems=join_info(self.systems, systems, "system", "systems"))

    def save(self, path: str | Path) -> None:
        """Write the long table (`to_frame`) as CSV, TSV or Parquet, by the name's ending.

        A manifest with a hash, by which `read_outcomes` sees damage, is written into the metadata of a Parquet file,
        and beside a CSV or TSV file as NAME.csv.json, which belongs to it: move both together.

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
        taken = [name for name in self.items if name in CELL or str(name).startswith((SYSTEM, PREFIX))]
        if taken:
            raise DataError(f"attributes of items cannot be called {listing(taken)} in a file; rename them.")
        cells = self.observed.copy()
        cells[:1], cells[:, :1] = True, True  # missing or not, so that all names come back in their order
        frame = self._typed(self._long(cells), "Int64")
        write_table_file(frame, Path(path))

    def __repr__(self) -> str:
        """Return the numbers of items, systems, trials and missing cells in one line."""
        missing = int((~self.observed).sum())
        many = f"{len(self.systems):,} systems"
        if self.columns is not None:
            many = " × ".join(f"{self.columns[level].nunique():,} {level}s" for level in LEVELS)
        trials = f"{int(np.nansum(self.trials.to_numpy())):,} trials"
        return (
            f"Outcomes of {self.name}: {len(self.items):,} items × {many}, "
            f"{trials if self.scores is None else f'{int(self.observed.sum()):,} scores'}, {missing:,} of "
            f"{self.observed.size:,} cells missing"
        )


def _numbers(frame: pd.DataFrame, what: str, *, whole: bool, least: float = -np.inf) -> pd.DataFrame:
    """Return a frame as float64 after checking that its cells are counts, or numbers."""
    numbers: pd.DataFrame = frame.astype(object).where(frame.notna(), np.nan).apply(exact_numbers).astype(float)
    values = numbers.to_numpy()
    right = values >= (0 if whole else least)
    if whole:
        right &= values == np.floor(values)
    if whole or least == 0:
        right &= np.isfinite(values)
    wrong = frame.notna().to_numpy() & ~right
    if wrong.any():
        first = first_cells(frame, wrong, lambda i, j: str(frame.iat[i, j]))
        advice = (
            ". A rate, an F1 or another score says nothing of the trials behind it: give successes and trials, or "
            "scores, and NaN for a missing cell."
        )
        raise DataError(
            f"{wrong.sum():,} of {int(frame.notna().to_numpy().sum()):,} {what} are not "
            f"{'whole ' if whole else ''}numbers{'' if least < 0 and not whole else ' from 0 up'}: {first}"
            f"{advice if whole else '. Leave a missing cell NaN.'}"
        )
    return numbers


def _refuse(more: pd.DataFrame, s: pd.DataFrame, t: pd.DataFrame, what: str = "more successes than trials") -> None:
    if more.to_numpy().any():
        first = first_cells(s, more.to_numpy(), lambda i, j: f"{s.to_numpy()[i, j]:g} of {t.to_numpy()[i, j]:g}")
        raise DataError(f"{more.to_numpy().sum():,} cell(s) have {what}: {first}.")
