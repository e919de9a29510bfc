"""The table of results that is printed, saved and put into papers: estimates, ranks, contrasts and differences."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd

from langdiff.base.grids import MISSING, Cell, Column, Grid, Line, Shown, signed
from langdiff.base.result import Drawn, Result
from langdiff.errors import en
from langdiff.tables.crossing import digits_of
from langdiff.tables.pairs import BEST, MOST_RANKED, rank_set

MOST_NAMED = 5  # editions that a sentence names
MOST_CONTRASTS = 60  # lines of contrasts in print
PERCENT_DIGITS, NATS_DIGITS = (1, 3), (3, 5)  # fewest and most


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Table(Result):
    """Difficulties of one or several fits side by side, with ranks, groups, contrasts and paired differences.

    Attributes
    ----------
    estimates : DataFrame
        One row per fit and edition, group or mean of a group: ``column``, ``row``, ``kind`` (``"edition"``,
        ``"mean"``), ``group``, ``estimate``, ``std_error``, ``df``, ``percent``, ``percent_std_error``, ``rank``,
        ``rank_low``, ``rank_high``.
    contrasts : DataFrame
        One row per fit and contrast, with simultaneous intervals and adjusted p-values, as `Pairs.frame`.
    differences : DataFrame
        One row per pair of fits and edition: the difficulty by the first less that by the second, as `estimates`,
        with ``p`` and ``p_adjusted`` (max-t).
    tests : DataFrame
        One row per pair of fits: ``by``, ``statistic``, ``df``, ``df_residual`` and ``p`` of equal difficulties, as
        `Effects.test` has them.
    counts : DataFrame
        One row per fit: ``differ`` and ``pairs``, the number of pairs shown to differ, and of all.
    columns : tuple of str
        Names of the fits.
    heads : tuple of str
        What each of them estimates, where that has to be told.
    lines : DataFrame
        Rows in the order of print: ``row``, ``kind``, ``group``, ``name``.
    spoken : dict from str to str
        Names of editions in sentences.
    unit : {"percent", "nats", "log odds"}
        Unit that is printed.
    highest : {"hardest", "ablest", "highest"}
        Meaning of rank 1.
    of : str
        What has ranks: ``"edition"``, ``"system"``, ``"family"``.
    level : float
        Probability of simultaneous statements.
    remarks : tuple of str
        Notes.
    warnings : tuple of str
        What must be read before the numbers, such as fits that did not converge.
    caption, label, signature : str
        Of the LaTeX table; everything that numbers depend on.

    Examples
    --------
    >>> import langdiff as ld
    >>> short, long = ld.datasets.ntrex10()
    >>> made = ld.table([ld.fit(table) for table in (short, long)])
    >>> made
    Table: 10 editions by kneser-ney-3 and kneser-ney-6
    >>> made.tests["by"].tolist()
    ['sign flips']
    """

    estimates: pd.DataFrame
    contrasts: pd.DataFrame
    differences: pd.DataFrame
    tests: pd.DataFrame
    counts: pd.DataFrame
    columns: tuple[str, ...]
    heads: tuple[str, ...]
    lines: pd.DataFrame
    spoken: dict[str, str]
    unit: str
    highest: str
    of: str
    level: float
    remarks: tuple[str, ...]
    warnings: tuple[str, ...]
    caption: str
    label: str
    signature: str

    between: ClassVar[str] = " "
    plot = Drawn("plot_forest")

    def to_frame(self) -> pd.DataFrame:
        """Return all numbers in one tidy table: ``column``, ``row``, ``statistic``, ``value``, none rounded."""
        parts = []
        for kind, frame in (("", self.estimates), ("", self.differences), ("contrast ", self.contrasts)):
            if not len(frame):
                continue
            numbers = [name for name in frame if pd.api.types.is_numeric_dtype(frame[name])]
            long = frame.melt(["column", "row"], numbers, var_name="statistic", value_name="value")
            parts.append(long.assign(row=kind + long["row"].astype(str)).dropna(subset="value"))
        return pd.concat(parts, ignore_index=True).astype({"value": float})

    @property
    def notes(self) -> tuple[str, ...]:
        """What the numbers are, of how many texts, with which errors and adjustment."""
        return self.remarks

    def sentences(self) -> list[str]:
        """Return the findings in sentences: extremes, pairs, differences between fits, groups."""
        found = [text for column in self.columns for text in self._extremes(column)]
        found += [text for name in self.tests["column"] for text in self._changes(name)]
        return [*found, *self._groups()]

    def _extremes(self, column: str) -> Iterator[str]:
        own = self.estimates[(self.estimates["column"] == column) & self.estimates["kind"].isin(self._ranked)]
        if len(own) < 2:
            return
        own = own.sort_values("estimate", ascending=False, kind="stable")
        under = f" under {column}" if column else ""
        best, worst = BEST[self.highest]
        top, bottom = own.iloc[0], own.iloc[-1]
        if own["rank_low"].isna().any():
            yield (
                f"{self._spoken(top)} has the highest estimate{under} ({self._value(top)}), {self._spoken(bottom)} the "
                f"lowest ({self._value(bottom)}); errors that hold together are not known."
            )
            return
        first, last = own[own["rank_low"] == 1], own[own["rank_high"] == len(own)].iloc[::-1]
        one = len(first) == 1 and top["rank_high"] == 1
        other = len(last) == 1 and bottom["rank_low"] == len(own)
        if one and other:
            yield (
                f"{self._spoken(top)} is {best}{under} ({self._value(top)}; rank 1 of {len(own)}), "
                f"{self._spoken(bottom)} {worst} ({self._value(bottom)}; rank {len(own)})."
            )
        else:
            yield (
                f"{self._spoken(top)} is {best}{under} ({self._value(top)}; rank 1 of {len(own)})."
                if one
                else f"No single {self.of} is {best}{under}: {self._several(first)}."
            )
            yield (
                f"{self._spoken(bottom)} is {worst}{under} ({self._value(bottom)}; rank {len(own)} of {len(own)})."
                if other
                else f"No single {self.of} is {worst}{under}: {self._several(last)}."
            )
        count = self.counts[self.counts["column"] == column]
        if len(count):
            differ, pairs = int(count["differ"].iloc[0]), int(count["pairs"].iloc[0])
            error = f"{100 * (1 - self.level):g} %"
            of = f"{differ:,} of {pairs:,} pairs {'was' if differ == 1 else 'were'}"
            only = "The only pair was" if differ else "The only pair was not"
            yield f"{of if pairs > 1 else only} shown to differ (simultaneous, {error})."

    def _several(self, rows: pd.DataFrame) -> str:
        first = rows.iloc[0]
        names = [f"{self._spoken(first)} ({self._value(first)})"]
        names += [self._spoken(row) for _, row in rows.iloc[1:MOST_NAMED].iterrows()]
        if more := len(rows) - MOST_NAMED:
            names += [f"{more} others" if more > 1 else "1 other"] if more > 0 else []
        ranks = rank_set(int(rows["rank_low"].min()), int(rows["rank_high"].max()))
        return f"{en(names)} {f'cannot be told apart (ranks {ranks})' if len(names) > 1 else f'has ranks {ranks}'}"

    def _changes(self, name: str) -> Iterator[str]:
        test = self.tests[self.tests["column"] == name].iloc[0]
        own = self.differences[(self.differences["column"] == name) & (self.differences["kind"] == "edition")]
        one, other = test["one"], test["other"]
        if test["p"] <= 1 - self.level:
            p = "p < .001" if test["p"] < 0.001 else f"p = {test['p']:.3f}".replace("0.", ".")
            by = f"F({test['df']:.0f}, {test['df_residual']:.1f}) = {test['statistic']:.1f}"
            yield f"{one} and {other} give different difficulties ({by if test['by'] == 'F' else test['by']}, {p})."
        elif np.isfinite(test["p"]):
            yield f"{one} and {other} were not shown to give different difficulties."
        if not len(own):
            return
        size = (own["estimate"] / own["std_error"]).abs().fillna(0)
        shown = own[own["p_adjusted"] <= 1 - self.level]
        row = own.iloc[int(np.argmax(size.where(own.index.isin(shown.index) | (len(shown) == 0), -1.0)))]
        how = ("harder" if row["estimate"] > 0 else "easier") if self.highest == "hardest" else "apart"
        value = self._value(row).lstrip("+\u2212")
        if len(shown):
            yield (
                f"The largest change is {self._spoken(row)}: {value} {how} under {one} than under {other}, relative to "
                f"the average {self.of}."
            )
        else:
            yield (
                f"No {self.of} was shown to differ between {one} and {other} (largest: {self._spoken(row)}, {value} "
                f"{how} under {one})."
            )

    def _groups(self) -> Iterator[str]:
        means = self.estimates[(self.estimates["kind"] == "mean")]
        if "edition" not in self._ranked or not len(means):
            return
        for column in self.columns:
            own = means[means["column"] == column].sort_values("estimate", ascending=False, kind="stable")
            if len(own) > MOST_NAMED or not len(own):
                continue
            told = ", ".join(f"{row['row']} {self._value(row)}" for _, row in own.iterrows())
            yield f"Means of groups{f' under {column}' if column else ''}: {told}."

    @property
    def _ranked(self) -> list[str]:
        return ["edition"] if (self.estimates["kind"] == "edition").any() else ["mean", "group"]

    def _spoken(self, row: pd.Series) -> str:
        return self.spoken.get(str(row["row"]), str(row["row"]))

    def _value(self, row: pd.Series) -> str:
        cell = self._cell(row)
        unit = " %" if self.unit == "percent" else f" {self.unit}"
        return f"{cell.text} ± {cell.error}{unit}" if cell.error else f"{cell.text}{unit}"

    @property
    def _digits(self) -> int:
        errors = pd.concat([self.estimates[self._names[1]], self.differences[self._names[1]]]).dropna()
        errors = errors[errors > 0]
        least, most = PERCENT_DIGITS if self.unit == "percent" else NATS_DIGITS
        if self.unit == "score":
            return digits_of(errors, self.unit)
        if not len(errors):
            return least
        return int(np.clip(-np.floor(np.log10(float(errors.median()))), least, most))

    @property
    def _names(self) -> tuple[str, str]:
        return ("percent", "percent_std_error") if self.unit == "percent" else ("estimate", "std_error")

    def _cell(self, row: pd.Series) -> Cell:
        value, error = row[self._names[0]], row[self._names[1]]
        if not np.isfinite(value):
            return Cell(MISSING)
        known = f"{error:.{self._digits}f}" if np.isfinite(error) else ""
        return Cell(signed(float(value), self._digits), known)

    def grid(self) -> Grid:
        """Return the table as it is printed."""
        ranked = self.estimates["rank_low"].notna().any() and self._count <= MOST_RANKED
        columns, parts = [], []
        for name, head in zip(self.columns, self.heads, strict=True):
            unit = f"{self.unit}, {head}" if head else self.unit
            columns.append(Column(name, unit))
            parts.append((self.estimates[self.estimates["column"] == name], False))
            if ranked:
                columns.append(Column(name, "ranks", True))
                parts.append((parts[-1][0], True))
        for name in self.tests["column"]:
            columns.append(Column("difference" if len(self.tests) == 1 else str(name), self.unit))
            parts.append((self.differences[self.differences["column"] == name], False))
        looked = [
            (
                {(kind, row): place for place, (kind, row) in enumerate(zip(own["kind"], own["row"], strict=True))},
                own,
                ranks,
            )
            for own, ranks in parts
        ]
        lines = []
        for line in self.lines.itertuples(index=False):
            if line.kind == "group":
                lines.append(Line("group", str(line.name)))
                continue
            cells = []
            for places, own, ranks in looked:
                place = places.get((line.kind, line.row))
                row = None if place is None else own.iloc[place]
                if row is None:
                    cells.append(Cell("" if ranks else MISSING))
                elif ranks:
                    known = pd.notna(row["rank_low"])
                    cells.append(Cell(rank_set(int(row["rank_low"]), int(row["rank_high"])) if known else ""))
                else:
                    cells.append(self._cell(row))
            lines.append(
                Line(
                    "mean" if line.kind == "mean" and self._ranked == ["edition"] else "row",
                    str(line.name),
                    tuple(cells),
                )
            )
        return Grid(columns, lines)

    @property
    def _count(self) -> int:
        return int(self.estimates[self.estimates["kind"].isin(self._ranked)]["row"].nunique())

    def contrast_grid(self) -> Grid | None:
        """Return the contrasts as they are printed; None without any."""
        if not len(self.contrasts):
            return None
        names = list(dict.fromkeys(self.contrasts["row"]))[:MOST_CONTRASTS]
        columns: list[Column] = []
        rows: dict[str, list[Cell]] = {name: [] for name in names}
        for column, own in self.contrasts.groupby("column", sort=False):
            columns += [Column(str(column), self.unit), Column(str(column), "p adjusted")]
            found = own.set_index("row")
            for name in names:
                row = found.loc[name] if name in found.index else None
                rows[name] += (
                    [Cell(MISSING), Cell("")] if row is None else [self._cell(row), Cell(p_value(row["p_adjusted"]))]
                )
        return Grid(columns, [Line("row", name, tuple(cells)) for name, cells in rows.items()])

    def _lines(self) -> Iterator[str]:
        yield from (f"{text}\n" for text in self.warnings)
        yield from self.sentences()

    def tables(self) -> list[Shown]:
        """Return the difficulties, and the contrasts if there are any."""
        found = [Shown(self.grid(), "difficulties", self.caption, self.remarks)]
        if (further := self.contrast_grid()) is not None:
            more = self.contrasts["row"].nunique() - MOST_CONTRASTS
            caption = f"Contrasts, {self.unit}, with p adjusted for their number"
            notes = (f"and {more:,} more, in contrasts",) if more > 0 else ()
            found.append(Shown(further, "contrasts", caption, notes))
        return found

    def __str__(self) -> str:
        """Return the table as text; see `text`."""
        return self.text()

    def __repr__(self) -> str:
        """Return how many rows and which fits it has, in one line."""
        by = en(self.columns)
        return f"Table: {self._count} {self.of}s{f' by {by}' if by else ''}"


def p_value(p: float) -> str:
    """Return a p-value as it is printed.

    Examples
    --------
    >>> p_value(0.0123), p_value(0.00001)
    ('.012', '< .001')
    """
    if not np.isfinite(p):
        return MISSING
    return "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0")
