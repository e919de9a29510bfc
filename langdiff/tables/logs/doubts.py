"""Doubts of logs: marks in place of log-probabilities, NaN in place of scores, one option as most answers."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.suspicion import Doubts
from langdiff.base.types import Booleans
from langdiff.tables.logs.kind import Row, Source
from langdiff.tables.long_tables import BITS_PER_UNIT, Unit

MARKS = np.array([100, 999, 1000, 9999, 1e4, 1e5, 1e9])  # that programs write with a minus in place of −∞
CERTAIN, REPEATED = 1000.0, 50.0  # nats: no token has more; none has more twice
MOST_EXCESS, MOST_RATE = 900.0, 1.5  # of the sum of a text: nats, and times the highest rate per character
NATS = float(np.log(2))  # of a bit
MOST_ALIKE_OF_TWO = 0.75  # share of the commoner of two answers
FEWEST_ANSWERS = 20  # of which the share of one says something


def without_marks(rows: Sequence[Row], source: Source, unit: Unit, doubts: Doubts, *, of_lines: bool) -> Sequence[Row]:
    """Return the rows of a file, those with a mark for −∞ or with NaN as lost; each token has a line if `of_lines`."""
    lost = _clamped(rows, source, unit, doubts, of_lines=of_lines)
    for place, row in enumerate(rows):
        if row.unscored:
            doubts.see("unscored", f"{source}: {row.unscored}", example=row.unscored, **_place(row, source))
            lost.add(place)
    for name in {row.unscored for row in rows if row.unscored}:
        doubts.see("unscored", f"{source}: {name}", 0, len(rows), file=source)
    if not lost:
        return rows
    kept = {name for name in ("clamped", "unscored") if doubts.applies(name)}
    return [
        row._replace(lost=True) if place in lost and ({"unscored"} if row.unscored else {"clamped"}) & kept else row
        for place, row in enumerate(rows)
    ]


def _place(row: Row, source: Source, line: int | None = None) -> dict[str, Any]:
    return {
        "line": row.line if line is None else line,
        "intent": row.item or f"line {row.line}",
        "file": source,
    }


def _clamped(rows: Sequence[Row], source: Source, unit: Unit, doubts: Doubts, *, of_lines: bool) -> set[int]:
    """Return the places of rows with a token, or a whole text, that has a mark in place of its log-probability."""
    scored = [(place, row.tokens) for place, row in enumerate(rows) if row.tokens is not None]
    parts = [tokens.bits for _, tokens in scored]
    sums = [place for place, row in enumerate(rows) if row.tokens is None and np.isinf(row.bits)]
    bits = np.concatenate(parts) if parts else np.zeros(0)
    high = np.flatnonzero(bits > REPEATED / NATS)
    times = Counter(bits[high].tolist())
    ends = np.cumsum([len(part) for part in parts])
    found = set()
    for at in high:
        value = float(bits[at])
        written = value / BITS_PER_UNIT[unit]
        if times[value] == 1 and value * NATS < CERTAIN and not np.isclose(written, MARKS, rtol=1e-9, atol=0).any():
            continue
        which = int(np.searchsorted(ends, at, side="right"))
        place, tokens = scored[which]
        number = int(at) - (int(ends[which - 1]) if which else 0)
        name = "" if tokens.names[number] is None else f" {tokens.names[number]!r}"
        line = rows[place].line + (number if of_lines else 0)
        example = f"token {number + 1}{name} ({-written:.10g})"
        doubts.see("clamped", str(source), example=example, **_place(rows[place], source, line))
        found.add(place)
    for place in sums:
        doubts.see("clamped", str(source), example="the whole text (-Infinity)", **_place(rows[place], source))
    if found or sums:
        doubts.see("clamped", str(source), 0, len(bits) + len(sums), file=source)
    return found | set(sums)


def clamped_sums(rows: pd.DataFrame, doubts: Doubts) -> Booleans:
    """Return which texts have sums that hold a mark: far more per character than all others of their system.

    Of texts in descending order of nats per character, the first ones are doubted if each exceeds the highest rate r of
    the rest by half, and its r · characters by 900 nats. At least half of the texts of each language are in the rest.
    """
    found = np.zeros(len(rows), dtype=bool)
    known = rows["characters"].notna() & (rows["characters"] > 0) & rows["tokens"].isna() & np.isfinite(rows["bits"])
    for system, part in rows[known].groupby("system", sort=False):
        nats, sizes = part["bits"].to_numpy(dtype=float) * NATS, part["characters"].to_numpy(dtype=float)
        order = np.argsort(-(nats / sizes), kind="stable")
        rate = (nats / sizes)[order]
        after = np.append(rate[1:], np.inf)  # the highest rate of the rest, if the text is the last that is doubted
        for last in np.flatnonzero(rate > MOST_RATE * after)[::-1]:
            first = order[: last + 1]
            language = part["language"].to_numpy()
            own = Counter(language[first])
            excess = nats[first] - after[last] * sizes[first]
            if (excess > MOST_EXCESS).all() and all(2 * n <= (language == one).sum() for one, n in own.items()):
                break
        else:
            doubts.see("clamped_sum", str(system), 0, len(part))
            continue
        for at in first:
            row = part.iloc[at]
            example = f"{row['where']} ({-nats[at]:,.6g} nats, {int(sizes[at]):,} characters)"
            doubts.see("clamped_sum", str(system), example=example, intent=f"{row['item']} in {row['language']}")
        doubts.see("clamped_sum", str(system), 0, len(part))
        if doubts.applies("clamped_sum"):
            found[rows.index.get_indexer(part.index[first])] = True
    return found


def commonest_answer(answers: pd.DataFrame) -> tuple[str, int, int]:
    """Return the option that a column has chosen most often, how often, and of how many answers that logs tell."""
    counts = answers.loc[answers["chance"] > 0, "answer"].value_counts()
    return ("", 0, 0) if counts.empty else (str(counts.index[0]), int(counts.iloc[0]), int(counts.sum()))


def doubt_answers(answers: pd.DataFrame, doubts: Doubts) -> None:
    """Count columns with one option as most of their answers, unless that option is right as often."""
    for (system, language), part in answers.groupby(["system", "language"], sort=False, dropna=False):
        chosen, n, seen = commonest_answer(part)
        if seen < FEWEST_ANSWERS or (part["chance"].max() > 1 / 3 and n <= MOST_ALIKE_OF_TWO * seen):
            continue
        if n > float((part["target"].astype(str) == chosen).mean()) * seen:
            place = f"{system} in {language}" if isinstance(language, str) else str(system)
            doubts.see("one_option", place, n, seen, example=chosen)
