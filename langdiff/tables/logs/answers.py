"""Answers in logs: metric and filter, items paired across languages, and the table of outcomes."""

import re
from collections.abc import Iterable, Mapping
from itertools import takewhile
from reprlib import repr as short
from typing import Any, Literal

import numpy as np
import pandas as pd

from langdiff.base.suspicion import Doubts
from langdiff.base.types import Floats
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.crossing import column_name, make_columns
from langdiff.tables.intent_info import PREFIX
from langdiff.tables.logs.doubts import doubt_answers
from langdiff.tables.logs.kind import MOST_EXACT
from langdiff.tables.logs.lm_eval import KIND as LM_EVAL
from langdiff.tables.logs.pairing import Pairing, Strictness, check_documents
from langdiff.tables.logs.rows import with_languages
from langdiff.tables.logs.texts import attributes, no_key, paired
from langdiff.tables.outcomes import Outcomes

FEW_SCORES = 0.05  # of values beside 0 and 1, below which a metric may not be meant as a score
INSPECT_VALUES = {"C": 1.0, "I": 0.0, "N": 0.0}  # correct, incorrect, no answer


def read_answers(
    rows: pd.DataFrame,
    *,
    language: str | Mapping[str, str] | None,
    item: tuple[str, ...],
    metric: str | None,
    filter: str | None,
    pairing: Strictness,
    doubts: Doubts,
) -> tuple[pd.DataFrame, Pairing | None]:
    """Return the long table of answers, and how items were paired."""
    rows = _filtered(rows, filter)
    facts = _facts(rows)
    rows, chosen = _of_metric(rows, metric, facts)
    rows = with_languages(rows, language, alone=False, facts=facts)
    value = [_number(values.get(chosen), chosen, w) for values, w in zip(rows["values"], rows["where"], strict=True)]
    rows = rows.assign(successes=value)
    scored = _are_scores(rows, chosen)
    _see_missing(rows, chosen, doubts)
    rows.loc[rows["lost"].astype(bool), "successes"] = np.nan
    if rows["language"].isna().any() or rows["language"].nunique() < 2:
        rows["item"] = _by_task(rows, item)
        found = None
    else:
        rows["rate"] = rows["successes"] / rows["trials"]
        rows["item"], found = paired(rows, item, pairing, doubts)
    check_documents(rows, doubts)
    kept = ["item", "language", "system", "successes", "trials", "chance", "answer", "target", "task", "epoch", "kind"]
    table = rows[[*kept, "where"]].reset_index(drop=True)
    doubt_answers(table, doubts)
    table = table.rename(columns={"successes": "score"}) if scored else table
    more = attributes(rows)
    return pd.concat([table, more.reset_index(drop=True)], axis=1), found


def _filtered(rows: pd.DataFrame, wanted: str | None) -> pd.DataFrame:
    """Return the rows of a filter, and of logs that have none; tasks without it are named in a warning."""
    filters = rows["kind"] == LM_EVAL.name  # the only kind with filters
    chosen = _filter(rows[filters], wanted) if filters.any() else ""
    kept = ~filters | (rows["filter"] == chosen)
    names = rows["task"].where(rows["task"].notna(), rows["stem"])
    lost = sorted(set(names[~kept]) - set(names[kept]))
    if lost:
        warn(f"{len(lost)} task(s) have no filter {chosen!r} and are left out: {listing(lost)}.")
    return rows[kept]


def _filter(rows: pd.DataFrame, wanted: str | None) -> str:
    names = sorted(pd.unique(rows["filter"]))
    if wanted is None and len(names) == 1:
        return str(names[0])
    if wanted is None:
        raise DataError(
            f"samples have {len(names)} filters: {listing(names)}. Choose one: {option('filter', names[0])}."
        )
    if wanted not in names:
        raise DataError(f"no sample has filter {wanted!r}; there are {listing(names)}.")
    return wanted


def _facts(rows: pd.DataFrame) -> dict[str, str]:
    """Return what an error tells of each task: the number of its samples, and its metrics."""
    names = rows["task"].where(rows["task"].notna(), rows["stem"])
    found = {}
    for task, part in rows.groupby(names, sort=False):
        metrics = dict.fromkeys(name for values in part["values"].iloc[:1] for name in values)
        found[str(task)] = f"{len(part):,} samples each, metrics {', '.join(metrics)}"
    return found


def _of_metric(rows: pd.DataFrame, metric: str | None, facts: Mapping[str, str]) -> tuple[pd.DataFrame, str]:
    """Return the rows that have the metric, and its name; tasks without it are named in a warning."""
    names = sorted({name for values in rows["values"] for name in values})
    if not names:
        raise DataError("no sample has a metric: the logs hold no samples, or none was scored.")
    if metric is None and len(names) > 1:
        told = "; ".join(f"{task}: {fact}" for task, fact in list(facts.items())[:5])
        raise DataError(
            f"samples have {len(names)} metrics: {listing(names)}. Choose one: {option('metric', names[0])}. ({told})"
        )
    chosen = names[0] if metric is None else metric
    if chosen not in names:
        raise DataError(f"no sample has metric {chosen!r}; there are {listing(names)}.")
    scored = np.array([chosen in values or not values for values in rows["values"]])
    if not scored.all():
        tasks = listing(pd.unique(rows["task"].where(rows["task"].notna(), rows["stem"])[~scored]))
        warn(f"{int((~scored).sum()):,} samples have no metric {chosen!r} and are left out: those of {tasks}.")
    return rows[scored], chosen


def _number(value: Any, name: str, where: str) -> float:
    if value is None:
        return float("nan")  # this sample was not scored
    number: Any = INSPECT_VALUES.get(value, value) if isinstance(value, str) else value
    if isinstance(number, list | tuple):
        raise DataError(
            f"{where}: {name} is {short(value)}, from which a score of all items together is computed, such as BLEU: "
            "single items have none, so that differences have no errors. Choose a metric of items, such as chrF by "
            "sentence."
        )
    if not isinstance(number, bool | int | float) or abs(number) > MOST_EXACT:
        raise DataError(f"{where}: {name} is {short(value)}, not a number: right (1, C), wrong (0, I), or a score.")
    return float(number)


def _are_scores(rows: pd.DataFrame, name: str) -> bool:
    """Return whether the values of a metric are scores, not successes out of trials; a few that are get a warning."""
    values = rows["successes"].dropna()
    if name == "score" and (rows["kind"] == "outcomes").all():
        return True
    odd = values[(values % 1 != 0) | (values < 0) | (values > rows["trials"].loc[values.index])]
    if 0 < len(odd) < FEW_SCORES * len(values):
        warn(
            f"{len(odd):,} of {len(values):,} values of {name!r} are neither right (1) nor wrong (0), the first "
            f"{odd.iloc[0]:g} ({rows['where'].loc[odd.index[0]]}): all are taken as scores."
        )
    return len(odd) > 0


def _see_missing(rows: pd.DataFrame, name: str, doubts: Doubts) -> None:
    """Count answers whose value is NaN, and answers without a value, in each file."""
    for file, part in rows.assign(file=rows["where"].str.rpartition(", ")[0]).groupby("file", sort=False):
        missing = part[part["successes"].isna()]
        if missing.empty:
            continue
        null = np.array([values.get(name) is None for values in missing["values"]])
        for kind, own in (("null", missing[null]), ("unscored", missing[~null])):
            if len(own):
                lines = [f"line {line}" for line in own["line"]]
                doubts.see(kind, str(file), len(own), len(part), name, int(own["line"].iloc[0]), lines)


def _by_task(rows: pd.DataFrame, item: tuple[str, ...]) -> list[str]:
    """Return names of items in one language: TASK/id, or what the logs call them."""
    names = []
    for name, task, document, where in zip(rows["item"], rows["task"], rows["document"], rows["where"], strict=True):
        if item:
            absent = [key for key in item if key not in document]
            if absent and name is None:
                raise DataError(f"{where}: {no_key(absent[0], document)}")
            names.append(str(name) if absent else "/".join(str(document[key]) for key in item))
        elif name is not None:
            names.append(str(name))
        else:
            names.append(f"{task}/{document.get('doc_id', document.get('id'))}")
    return names


def benchmark_of(tasks: Iterable[object]) -> str:
    """Return what names of tasks have in common: their first or last parts, else the first and the number of others.

    Examples
    --------
    >>> benchmark_of(["belebele_deu_Latn", "belebele_fin_Latn"]), benchmark_of(["arc_de"]), benchmark_of([])
    ('belebele', 'arc_de', 'logs')
    """
    names = list(dict.fromkeys(map(str, tasks)))
    parts = [re.split(r"[_\-]", name) for name in names]
    if len(names) < 2:
        return names[0] if names else "logs"
    for step in (1, -1):
        alike = zip(*(own[::step] for own in parts), strict=False)  # as many parts as the shortest has
        common = [each[0] for each in takewhile(lambda each: len(set(each)) == 1, alike)]
        if common:
            return "_".join(common[::step])
    return f"{names[0]} and {len(names) - 1} more"


def outcomes_of(
    answers: pd.DataFrame,
    *,
    chance: float | str | Mapping[str, float] | None,
    repeats: Literal["error", "sum"],
    name: str,
    pairing: Pairing | None,
) -> Outcomes:
    """Return the table of outcomes of a long table of answers; see `Logs.outcomes`."""
    rows = answers.assign(chance=_chance(answers, chance))
    crossed = bool(rows["language"].notna().all()) and rows["language"].nunique() > 1
    if crossed:
        names = [column_name(str(one), str(other)) for one, other in zip(rows["language"], rows["system"], strict=True)]
        columns = make_columns(dict.fromkeys(zip(rows["language"], rows["system"], strict=True)))
        rows = rows.assign(column=names)
    else:
        rows, columns = rows.assign(column=rows["system"]), None
    own = "score" if "score" in rows else "successes"
    known = rows[rows[own].notna() & (rows["trials"] > 0)]
    _once(known, repeats)
    items, systems = pd.unique(rows["item"]), pd.unique(rows["column"]) if columns is None else columns.index
    wide = {
        count: known.pivot_table(index="item", columns="column", values=count, aggfunc="sum", observed=True)
        .reindex(index=items, columns=systems)
        .astype(float)
        for count in (own, "trials")
    }
    return Outcomes(
        **{"successes" if own == "successes" else "scores": wide[own]},
        trials=wide["trials"],
        items=_item_table(rows, items, crossed=crossed),
        columns=columns,
        pairing=pairing,
        name=name,
    )


def _chance(rows: pd.DataFrame, chance: object) -> Floats:
    """Return the probability of a right guess of each answer."""
    if chance is None:
        return np.zeros(len(rows))
    if isinstance(chance, Mapping):
        keys = pd.unique(pd.concat([rows["language"], rows["task"]]).dropna())
        unknown = [key for key in chance if key not in keys]
        if unknown:
            raise ConfigError(f"{option('chance')}: no language or task {listing(unknown)}; there are {listing(keys)}.")
        by = rows["language"].map(chance).fillna(rows["task"].map(chance))
        found = by.fillna(rows["chance"]).to_numpy(dtype=float)
    elif chance == "auto":
        found = rows["chance"].fillna(0.0).to_numpy(dtype=float)
    elif isinstance(chance, str):
        if f"{PREFIX}{chance}" not in rows:
            raise ConfigError(f"{option('chance', chance)}: no such attribute of items in the logs.")
        found = rows[f"{PREFIX}{chance}"].to_numpy(dtype=float)
    else:
        found = np.full(len(rows), float(chance))  # type: ignore[arg-type]  # a number
    if not ((found >= 0) & (found < 1)).all():
        raise ConfigError(
            f"{option('chance')} is from 0 to less than 1; got {found[~((found >= 0) & (found < 1))][0]:g}."
        )
    return found


def _once(known: pd.DataFrame, repeats: str) -> None:
    """Check that a system has one answer to an item; epochs of Inspect are trials."""
    if repeats == "sum":
        return
    twice = known.duplicated(["item", "column", "epoch"])
    several = known.duplicated(["item", "column"]) & (known["kind"] != "inspect")
    if twice.any() or several.any():
        row = known[twice | several].iloc[0]
        before = known[(known["item"] == row["item"]) & (known["column"] == row["column"])].iloc[0]
        raise DataError(
            f"{row['where']}: item {row['item']!r}, system {row['column']!r} is given twice; also {before['where']}. "
            f"If they are repeated trials, say so ({option('repeats', 'sum')})."
        )


def _item_table(rows: pd.DataFrame, items: Any, *, crossed: bool) -> pd.DataFrame:
    """Return attributes of items: task, chance, and what they belong to."""
    spread = rows.groupby("item", sort=False)["chance"].agg(["min", "max"])
    differ = spread.index[spread["max"] - spread["min"] > 1e-12]
    if len(differ):
        low, high = spread.loc[differ[0]]
        raise DataError(
            f"{len(differ)} item(s) have other numbers of choices in other files, the first {differ[0]!r} (chance "
            f"{low:.3g} and {high:.3g}): these are not the same item, or give {option('chance')}."
        )
    table = {"chance": spread["max"]} if (spread["max"] > 0).any() else {}
    first = rows.drop_duplicates("item").set_index("item")
    if not crossed and rows["task"].notna().any():
        table["task"] = first["task"]
    for column in first:
        if str(column).startswith(PREFIX):
            table[str(column).removeprefix(PREFIX)] = first[column]
    if not table:
        return pd.DataFrame(index=pd.Index(items, name="item"))
    return pd.DataFrame(table).reindex(items)
