"""Two runs of one system over the same items, compared item by item and language by language."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import bdtr

from langdiff.base.grids import Cell, Column, Grid, Line, Shown, signed
from langdiff.base.result import Result
from langdiff.base.types import Booleans, Floats, Integers
from langdiff.errors import ConfigError, DataError, LangdiffError, LangdiffWarning, listing, option, warn
from langdiff.regression.outcomes.design import units_of
from langdiff.regression.outcomes.fitting import fit_outcomes
from langdiff.tables.crossing import digits_of
from langdiff.tables.effects import Effects
from langdiff.tables.influences import Influence, sums
from langdiff.tables.logs.result import Logs
from langdiff.tables.outcomes import Outcomes
from langdiff.tables.rule import LEVEL, Scale, t_interval, t_p
from langdiff.tables.simultaneous import make_family

Run = Outcomes | Logs | str | Path | Sequence[str | Path]
ALL = "all"  # row of the mean over languages
UNLIKE = 20.0  # times the largest score of one run is that of the other, from which on scales are doubted
ENOUGH = 0.95  # share of the items of each run that are in both, without a warning


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class RunComparison(Result):
    """What a second run gained over a first one.

    Attributes
    ----------
    frame : DataFrame
        See `to_frame`.
    effects : mapping from str to Effects
        Gains in the share of right answers by language, for each system.
    level : float
        Level of the intervals.
    notes : tuple of str
        What to know of the comparison.
    """

    frame: pd.DataFrame
    effects: Mapping[str, Effects]
    level: float
    notes: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return one row per system and language, and one of the mean over languages, ``"all"``.

        Returns
        -------
        DataFrame
            ``system``, ``language``; ``items`` that both runs have; shares of right answers, or mean scores, ``old``
            and ``new``; ``points``, 100 times their difference (of scores ``difference``, on their scale), with
            ``std_error``, ``low``, ``high``, ``p`` and ``p_adjusted`` for all languages together (max-t, or
            Bonferroni's bound where independent units are few); items ``gained``, ``lost`` and in ``ties``;
            ``mcnemar``, the exact p-value of these, where an item is one answer and its own unit; and
            ``log_odds`` with ``log_odds_std_error``, the difference of abilities by `langdiff.fit_outcomes`, where
            items were both gained and lost.
        """
        return self.frame.copy()

    def tables(self) -> list[Shown]:
        """Return the gains by language, of each system."""
        gain, told, lines = self._gain, self._told, []
        digits = 3 if gain == "points" else self._digits
        for system, rows in self.frame.groupby("system", sort=False):
            lines += [Line("group", str(system))] if self.frame["system"].nunique() > 1 else []
            for _, row in rows.iterrows():
                texts = [f"{row['items']:,}", *(f"{row[run]:.{digits}f}" for run in ("old", "new"))]
                after = [f"{told(row['low'])} to {told(row['high'])}"]
                after += ["" if np.isnan(row[p]) else f"{row[p]:.2g}" for p in ("p", "p_adjusted")]
                after.append(f"{row['gained']}/{row['lost']}")
                change = Cell(told(row[gain]), told(row["std_error"])[1:])
                lines.append(Line("row", str(row["language"]), (*map(Cell, texts), change, *map(Cell, after))))
        heads = ["items", "old", "new", gain, "interval", "p", "adjusted", "+/-"]
        columns = [Column("", head, apart=head in heads[5:]) for head in heads]
        caption = "Gains of the new run ± standard error; p adjusted for all languages; items gained and lost"
        units = dict.fromkeys(effects.words for effects in self.effects.values())
        return [Shown(Grid(columns, lines, "language"), "gains", caption, (*units, *self.notes))]

    @property
    def _gain(self) -> str:
        return "points" if "points" in self.frame else "difference"

    @property
    def _digits(self) -> int:
        return digits_of(self.frame["std_error"], "points" if self._gain == "points" else "score")

    def _told(self, value: float) -> str:
        """Return a gain with its sign."""
        return signed(value, self._digits)

    def _lines(self) -> Iterator[str]:
        several = self.frame["system"].nunique() > 1
        for system, rows in self.frame.groupby("system", sort=False):
            yield self._sentence(rows.iloc[0], f"{system}: new" if several else "New")

    def _sentence(self, row: pd.Series, new: str) -> str:
        """Return the gain of a system, the mean over languages, in a line."""
        where = "the mean over languages" if row["language"] == ALL else row["language"]
        what = "items by language" if row["language"] == ALL else "items"
        cells = row["gained"] + row["lost"] + row["ties"]
        told, unit = self._told, " points" if self._gain == "points" else ""
        return (
            f"{new} less old in {where}: {told(row[self._gain])} ± {told(row['std_error'])[1:]}{unit} "
            f"({told(row['low'])} to {told(row['high'])}), {row['gained']:,} {what} gained, {row['lost']:,} lost of "
            f"{cells:,}"
        )

    def __repr__(self) -> str:
        """Return the gain of the first system in a line."""
        return next(iter(self._lines()))


def compare_runs(
    old: Run,
    new: Run,
    *,
    metric: str | None = None,
    language: str | Mapping[str, str] | None = None,
    item: str | Sequence[str] | None = None,
    clusters: str | pd.Series | None = "auto",
    pairing: Literal["checked", "unchecked"] = "checked",
    level: float = LEVEL,
) -> RunComparison:
    """Compare two runs over the same items, item by item.

    Parameters
    ----------
    old, new : Outcomes, Logs, path or sequence of paths
        The runs: logs of an evaluation, or tables, of right answers or of scores. Runs of one system are compared
        whatever their names; of several, those of one name are.
    metric, language, item, pairing
        How the files are read; see `langdiff.read_outcomes`.
    clusters : "auto", str, Series or None
        Items that are sampled together: found, an attribute of items, labels, or each by itself.
    level : float
        Level of the intervals.

    Returns
    -------
    RunComparison
        Gains by language, and their mean.

    Raises
    ------
    ConfigError
        If a setting does not suit the runs.
    DataError
        If the runs share no items or no system, or right answers to an item differ, so that it is not the same one.

    Warns
    -----
    LangdiffWarning
        If the runs share fewer than 95 % of their items, or their settings or the scales of their scores differ.

    References
    ----------
    Miller (2024), "Adding Error Bars to Evals: A Statistical Approach to Language Model Evaluations"; McNemar (1947),
    "Note on the sampling error of the difference between correlated proportions or percentages".

    Examples
    --------
    >>> rows = [f"q{i}" for i in range(200)]
    >>> right = np.arange(200) < 120
    >>> new = np.where(np.arange(200) < 15, False, right) | (np.arange(200) >= 170)
    >>> runs = [Outcomes(successes=pd.DataFrame({"llm": run.astype(float)}, index=rows)) for run in (right, new)]
    >>> compare_runs(*runs)
    New less old in the items: +7.5 ± 3.3 points (+1.0 to +14.0), 30 items gained, 15 lost of 200
    """
    if not 0.5 < level < 1:
        raise ConfigError(f"{option('level')} must be between 0.5 and 1, got {level!r}.")
    how = {"metric": metric, "language": language, "item": item, "pairing": pairing}
    runs, notes = zip(*(_read(run, how) for run in (old, new)), strict=True)
    _check_same(*notes)
    if (runs[0].scores is None) != (runs[1].scores is None):
        raise DataError("one run has scores and the other right answers: read both by one metric.")
    if runs[0].scores is not None:
        _warn_of_scales(*(np.nanmax(np.abs(run.rates.to_numpy(dtype=float)), axis=None) for run in runs))
    one, two = (_by_system(run) for run in runs)
    pairs = {name: (name, name) for name in one if name in two}
    if len(one) == len(two) == 1:
        pairs = {next(iter(two)): (next(iter(one)), next(iter(two)))}
    if not pairs:
        raise DataError(f"the runs have no system in common: {listing(one)}; {listing(two)}.")
    said = [
        f"In one run only: {listing(apart)}."
        for apart in [sorted({*one, *two} - {x for p in pairs.values() for x in p})]
        if apart
    ]
    frames, effects = [], {}
    for name, (a, b) in pairs.items():
        frame, effects[name], remarks = _compared(runs, one[a], two[b], clusters, level)
        frames.append(frame.assign(system=name))
        said += [remark if len(pairs) == 1 else f"{name}: {remark}" for remark in remarks]
    frame = pd.concat(frames, ignore_index=True)
    frame.insert(0, "system", frame.pop("system"))
    return RunComparison(frame=frame, effects=effects, level=float(level), notes=tuple(said))


def _read(run: Run, how: Mapping[str, object]) -> tuple[Outcomes, pd.DataFrame | None]:
    """Return the outcomes of a run and, of logs, their answers."""
    from langdiff.tables.outcome_files import read_outcomes, table_of

    if isinstance(run, Outcomes | Logs):
        if given := [name for name, value in how.items() if value not in (None, "checked")]:
            raise ConfigError(f"{option(given[0])} is for files; this run has been read. Leave it out.")
        return (run, None) if isinstance(run, Outcomes) else (run.outcomes(), run.answers)
    if table_of(run) is not None:
        return read_outcomes(run, **how), None  # type: ignore[arg-type]
    from langdiff.tables.logs.reading import read_logs

    logs = read_logs(run, **how)  # type: ignore[arg-type]
    return logs.outcomes(), logs.answers.assign(shots=", ".join(map(str, pd.unique(logs.sources["shots"]))))


def _check_same(old: pd.DataFrame | None, new: pd.DataFrame | None) -> None:
    """Check that the right answers to items are the same in both runs, and how they were asked."""
    if old is None or new is None:
        return
    keys = ["item", "language"]
    if "target" in old and "target" in new:
        targets = [run.drop_duplicates(keys).set_index(keys)["target"].astype(str) for run in (old, new)]
        both = targets[0].index.intersection(targets[1].index)
        differ = both[(targets[0].loc[both] != targets[1].loc[both]).to_numpy()]
        if len(differ):
            raise DataError(
                f"{len(differ):,} of {len(both):,} items have another right answer in the new run: "
                f"{listing([name for name, _ in differ])}. They are not the same items, or their options were shuffled."
            )
    for what in ("shots", "chance"):
        values = [set(run[what].dropna()) if what in run else set() for run in (old, new)]
        if values[0] != values[1] and all(values):
            warn(f"The runs differ in {what}: {listing(sorted(values[0]))}; {listing(sorted(values[1]))}.")


def _warn_of_scales(old: float, new: float) -> None:
    """Warn if the largest scores of both runs are so unlike that their scales may be 0 to 1 and 0 to 100."""
    if max(old, new) > UNLIKE * min(old, new) > 0:
        warn(
            f"Scores of the old run go up to {old:.4g}, of the new run up to {new:.4g}: are both on one scale? 0 to 1 "
            "and 0 to 100 are two."
        )


def _by_system(run: Outcomes) -> dict[str, dict[str, str]]:
    """Return the columns of each system by language; of a table without languages under ``"the items"``."""
    if run.columns is None:
        return {str(name): {"the items": name} for name in run.values.columns}
    found: dict[str, dict[str, str]] = {}
    for name, (language, system) in run.columns[["language", "system"]].iterrows():
        found.setdefault(str(system), {})[str(language)] = str(name)
    return found


def _compared(
    runs: Sequence[Outcomes],
    old: Mapping[str, str],
    new: Mapping[str, str],
    clusters: str | pd.Series | None,
    level: float,
) -> tuple[pd.DataFrame, Effects, list[str]]:
    """Return the rows of one system, its gains by language, and remarks."""
    languages = [name for name in old if name in new]
    lonely = sorted({*old, *new} - set(languages))
    remarks = [f"In one run only: {listing(lonely)}."] if lonely else []
    items = runs[0].items.index.intersection(runs[1].items.index, sort=False)
    if not len(items) or not languages:
        raise DataError(
            f"the runs share no {'items' if languages else 'language'}: pair items by {option('item')}, or compare "
            "them as two samples with `fit_outcomes`."
        )
    sides = zip(runs, (old, new), strict=True)
    cells = [run.sel(items=items, systems=[columns[name] for name in languages]) for run, columns in sides]
    rates = [np.asarray(cell.rates, dtype=float) for cell in cells]
    both = np.isfinite(rates[0]) & np.isfinite(rates[1])
    most = max(int(run.observed.any(axis=1).sum()) for run in runs)
    if both.any(axis=1).sum() < ENOUGH * most:
        warn(f"The runs share {both.any(axis=1).sum():,} of {most:,} items: they are compared on these.")
    gone = [name for name, some in zip(languages, both.any(axis=0), strict=True) if not some]
    if gone:
        raise DataError(f"the runs share no items in {listing(gone)}: leave it out, or pair items by {option('item')}.")
    gain = np.where(both, rates[1] - rates[0], 0.0)
    units, code, _ = units_of(runs[0].items.loc[items], clusters)
    over, under = (sums(x, code, len(units.names)) for x in (gain, both.astype(float)))
    scored = any(run.scores is not None for run in runs)
    effects = Effects(
        estimate=pd.Series(over.sum(axis=0) / under.sum(axis=0), pd.Index(languages, name="language"), name="gain"),
        influence=Influence.of_ratio(over, under, units),
        scale=Scale(quantity="gain", unit="score" if scored else "share", first="highest", centre="mean"),
        title="new less old",
    )
    effects.warn_of_few()
    frame = _rows(effects, rates, both, level)
    whole = (
        not scored
        and len(units.names) == len(items)
        and all((cell.trials.fillna(1) == 1).all(axis=None) for cell in cells)
    )
    frame["mcnemar"] = [
        _mcnemar(a, b) if whole else np.nan for a, b in zip(frame["gained"], frame["lost"], strict=True)
    ]
    apart = None if len(units.names) == len(items) else code
    odds = [
        _log_odds(cells, place, apart) if a and b and not scored else (np.nan, np.nan)
        for place, (a, b) in enumerate(zip(frame["gained"], frame["lost"], strict=True))
    ]
    frame[["log_odds", "log_odds_std_error"]] = odds
    row = _mean(effects, frame, level).assign(items=int(both.any(axis=1).sum()))
    if len(languages) > 1:
        frame = pd.concat([row, frame], ignore_index=True)
    return frame, effects, remarks


def _interval(effects: Effects, level: float) -> dict[str, Floats]:
    """Return gains in points with their intervals and p-values, one by one."""
    value, error = effects.estimate.to_numpy(dtype=float), effects.std_error.to_numpy(dtype=float)
    freedom = np.diag(np.asarray(effects.degrees_of_freedom, dtype=float))
    low, high = t_interval(value, error, freedom, level=level)
    name, times = ("points", 100) if effects.scale.unit == "share" else ("difference", 1)
    gains = {name: value, "std_error": error, "low": low, "high": high}
    return {name: times * each for name, each in gains.items()} | {"p": t_p(value, error, freedom)}


def _rows(effects: Effects, rates: Sequence[Floats], both: Booleans, level: float) -> pd.DataFrame:
    """Return one row per language. Shapes: rates, both (I, L)."""
    found, count = _interval(effects, level), both.sum(axis=0)
    adjusted = found["p"]
    if len(count) > 1 and effects.known and (found["std_error"] > 0).all():
        family = make_family(
            csr_array(np.eye(len(count))),
            np.diag(np.asarray(effects.degrees_of_freedom, dtype=float)),
            estimate=effects.estimate.to_numpy(dtype=float),
            covariance=effects.covariance.to_numpy(),
            reference=None if effects.reference is None else effects.reference.to_numpy(),
            shared=False,
        )
        adjusted = family.adjusted(family.maxima(0))
    old, new = (np.where(both, rate, 0.0).sum(axis=0) / count for rate in rates)
    gained, lost = (((sign * (rates[1] - rates[0]) > 0) & both).sum(axis=0) for sign in (1, -1))
    signs = {"gained": gained, "lost": lost, "ties": count - gained - lost}
    columns = {"language": effects.estimate.index, "items": count, "old": old, "new": new}
    return pd.DataFrame(columns | found | {"p_adjusted": adjusted} | signs)


def _mean(effects: Effects, frame: pd.DataFrame, level: float) -> pd.DataFrame:
    """Return the row of the mean over languages."""
    w = np.full(len(effects.estimate), 1 / len(effects.estimate))
    mean = effects.linear(w[None], pd.Index([ALL]), effects.scale)
    sides = {side: w @ frame[side].to_numpy() for side in ("old", "new")}
    row = pd.DataFrame({"language": [ALL], **sides, **_interval(mean, level)})
    return row.assign(**{name: int(frame[name].sum()) for name in ("gained", "lost", "ties")})


def _mcnemar(gained: int, lost: int) -> float:
    """Return the exact two-sided p-value of gains against losses."""
    return float(min(1.0, 2 * bdtr(min(gained, lost), gained + lost, 0.5))) if gained + lost else 1.0


def _log_odds(cells: Sequence[Outcomes], place: int, code: Integers | None) -> tuple[float, float]:
    """Return the difference of the abilities of both runs in one language with its error; NaN if it is not finite."""
    parts = [
        pd.concat([table.iloc[:, place] for table in tables], axis=1, keys=["old", "new"])
        for tables in ([cell.values for cell in cells], [cell.trials for cell in cells])
    ]
    known = parts[0].notna().all(axis=1)
    successes, trials = (part[known] for part in parts)
    items = cells[0].items.loc[known[known].index]
    if code is not None:
        items = items.assign(unit=code[known.to_numpy()])
    table = Outcomes(successes=successes, trials=trials, items=items)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LangdiffWarning)  # of few units, which are named above the table
            fit = fit_outcomes(table, clusters=None if code is None else "unit")
        contrast = fit.abilities.contrast("new", "old")
    except LangdiffError:
        return np.nan, np.nan
    return contrast.estimate, contrast.std_error
