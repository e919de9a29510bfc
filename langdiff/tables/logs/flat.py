"""Flat records and tables of bits, tokens or outcomes under usual names; minicons; files of one number per line."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.io import read_lines
from langdiff.base.suspicion import SUSPICIONS, Doubts
from langdiff.base.types import Booleans, Floats
from langdiff.errors import DataError, listing, option
from langdiff.tables.intent_info import PREFIX
from langdiff.tables.logs.kind import (
    MOST_EXACT,
    ROLES,
    About,
    Asked,
    Kind,
    Row,
    Source,
    Tokens,
    column_in_bits,
    needed,
)
from langdiff.tables.long_tables import BITS_PER_UNIT, as_bits, numbers_of
from langdiff.tables.units import unit_of

SCORES = ("bits", "surprisal", "logprob", "log_prob", "log_likelihood", "loglikelihood", "score")
TEXTS = ("text", "sentence", "stimulus")  # columns that hold the text, by preference
SIZES = ("eos_bits", "characters", "bytes", "units")
BOUNDARIES = ("boundary", "boundary_bits")  # of what may be read, the second of what is written
END = ""  # token that stands for the end of a text
ROW = "row"  # key of items that are told by the number of their row
_MISSING = {"", "NA", "NaN", "nan"}
_NUMERIC = re.compile(r"[-+]?(\d[\d._]*(e[-+]?\d+)?|nan|inf(inity)?)", re.IGNORECASE)


def _is_flat(source: Source) -> bool:
    first = source.first
    return source.is_table or (isinstance(first, dict) and not any(isinstance(v, dict | list) for v in first.values()))


def _tells_outcomes(source: Source) -> bool:
    named = all(set(names) & set(source.header) for role, names in ROLES.items() if role != "language")
    return _is_flat(source) and ("successes" in source.header or ("score" in source.header and named))


def _tells_flat(source: Source) -> bool:
    return _is_flat(source) and any(name in source.header for name in SCORES)


def _tells_minicons(source: Source) -> bool:
    unnamed = not any(name in source.header for names in ROLES.values() for name in names)
    return source.is_table and unnamed and _tells_flat(source) and any(name in source.header for name in TEXTS)


def _tells_numbers(source: Source) -> bool:
    if source.is_table or source.suffix in (".json", ".jsonl", ".eval"):
        return False
    return source.head.strip() in _MISSING or _NUMERIC.fullmatch(source.head.strip()) is not None


def _role(frame: pd.DataFrame, role: str, asked: str | None, where: object) -> str | None:
    """Return the column of items, languages or systems; None if there is none."""
    if asked in frame:
        return asked
    there = [name for name in ROLES[role] if name in frame]
    if len(there) > 1 and not _repeated(frame, there):
        raise DataError(
            f"{where}: columns {listing(there)} may both name the {role}; say which: {option(role, there[0])}."
        )
    return there[0] if there else None


def _repeated(frame: pd.DataFrame, names: Sequence[str]) -> bool:
    """Return whether columns say the same, so that any will do."""
    return all(frame[name].astype(str).equals(frame[names[0]].astype(str)) for name in names[1:])


def _score_column(frame: pd.DataFrame, where: object) -> str:
    there = [name for name in SCORES if name in frame]
    if len(there) != 1:
        raise DataError(
            f"{where}: {len(there)} columns of scores; there are {listing(frame.columns, 20)}. One is needed, called "
            f"{listing(SCORES, 9)}: rename or delete the others."
        )
    return there[0]


def _bits(frame: pd.DataFrame, source: Source, asked: Asked) -> tuple[pd.Series, About]:
    """Return the scores in bits, and whether they were log-probabilities in which unit."""
    name = _score_column(frame, source)
    numbers = numbers_of(frame[name], Path(str(source)))
    unit = asked.unit if name == "bits" else needed(asked.unit, source)
    if (numbers.abs() > MOST_EXACT).any():
        line = _lines(frame)[int((numbers.abs() > MOST_EXACT).to_numpy().argmax())]
        raise DataError(f"{source}, line {line}: {name} is above {MOST_EXACT:,}, which is no score.")
    if nan := frame.attrs.get("nan", {}).get(name):
        asked.doubts.see("unscored", str(source), len(nan), len(frame), name, nan[0], [f"line {line}" for line in nan])
    bits = column_in_bits(numbers, unit, source)
    return bits, About(unit=unit or "bits", below=bool((numbers < 0).any()) if (numbers != 0).any() else None)


def _read_flat(source: Source, asked: Asked) -> tuple[list[Row], About]:
    frame = source.frame()
    if "token" in frame and frame.empty:
        raise DataError(f"{source}: no token.")
    if "token" in frame:
        return _read_tokens(frame, source, asked)
    bits, about = _bits(frame, source, asked)
    if bits.isna().all():
        raise DataError(f"{source}: no score in {len(bits):,} row(s). Leave the file out.")
    names = _names(frame, source, asked)
    sizes = {name: numbers_of(frame[name], Path(str(source))) for name in SIZES if name in frame}
    if "eos_bits" in sizes:
        sizes["eos_bits"] = as_bits(sizes["eos_bits"].to_frame(), None if asked.unit is None else asked.unit, source)[
            "eos_bits"
        ]
    text = next((name for name in TEXTS if name in frame), None)
    known = (
        names | sizes | {"bits": bits} | ({} if text is None else {"text": frame[text].map(str, na_action="ignore")})
    )
    columns = {name: _plain(column) for name, column in known.items()}
    documents = _documents(frame, asked)
    rows = [
        Row(line, document, **dict(zip(columns, values, strict=True)))
        for line, document, *values in zip(_lines(frame), documents, *columns.values(), strict=True)
        if not np.isnan(values[list(columns).index("bits")])
    ]
    return _counted(rows, frame, names, about)


def _counted(rows: list[Row], frame: pd.DataFrame, names: Mapping[str, Any], about: About) -> tuple[list[Row], About]:
    """Return rows with their numbers, where the table does not name its items."""
    if "item" in names:
        return rows, about
    place = {line: str(number) for number, line in enumerate(_lines(frame), 1)}
    rows = [row._replace(document={**row.document, ROW: place[row.line]}) for row in rows]
    return rows, About(unit=about.unit, below=about.below, rows=len(place))


def _lines(frame: pd.DataFrame) -> list[int]:
    """Return the line of each row; rows of tables in memory are counted from 1."""
    start = 0 if frame.index.dtype.kind in "iu" and len(frame) and frame.index[0] > 0 else 1
    return (
        [int(line) + start for line in frame.index]
        if frame.index.dtype.kind in "iu"
        else list(range(1, len(frame) + 1))
    )


def _plain(column: pd.Series) -> list[Any]:
    values = column.astype(object).where(column.notna(), None).tolist()
    return [float("nan") if value is None else value for value in values] if column.dtype.kind == "f" else values


def _names(frame: pd.DataFrame, source: Source, asked: Asked) -> dict[str, pd.Series]:
    """Return the columns that name items, languages and systems."""
    found = {}
    wanted = {
        "item": asked.item[0] if len(asked.item) == 1 else None,
        "language": asked.language,
        "system": asked.system,
    }
    for role, name in wanted.items():
        absent = [key for key in asked.item if key not in frame] if role == "item" else []
        if absent:
            raise DataError(f"{source}: no column {listing(absent)} of items; there are {listing(frame.columns, 20)}.")
        column = _role(frame, role, name, source) if not (role == "item" and len(asked.item) > 1) else None
        if column is not None:
            names = frame[column].map(str, na_action="ignore")
            if names.isna().any() or names.isin([""]).any():
                raise DataError(f"{source}, column {column!r}: not every row names its {role}.")
            found[role] = names
    crossed = {"edition", "language", "system"} <= set(frame.columns)  # written by a stack of tables
    if crossed and "language" in found:
        found["language"] = frame["language"].map(str)
    return found


def shared(name: str) -> bool:
    """Return whether a column is named after what several items belong to, not after the text or the item itself."""
    return unit_of(name) is not None and name not in TEXTS and name not in ROLES["item"]


def _documents(frame: pd.DataFrame, asked: Asked) -> list[dict[str, Any]]:
    """Return what columns say of items: what they belong to, and the keys asked for."""
    keys = [name for name in map(str, frame) if shared(name) or name.startswith(PREFIX) or name in asked.item]
    if not keys:
        return [{}] * len(frame)
    return [
        {str(key).removeprefix(PREFIX): value for key, value in record.items() if value is not None}
        for record in frame[keys].astype(object).where(frame[keys].notna(), None).to_dict("records")
    ]


def _read_tokens(frame: pd.DataFrame, source: Source, asked: Asked) -> tuple[list[Row], About]:
    """Return texts with their tokens, from a table of one row per token."""
    bits, about = _bits(frame, source, asked)
    names = _names(frame, source, asked)
    marks = "begins_word" in frame  # a column named text is then the characters of the token
    text = None if marks else next((name for name in TEXTS if name in frame), None)
    keys = [*names.values(), *([frame[text].astype(str)] if text is not None and "item" not in names else [])]
    if not keys:
        raise DataError(
            f"{source}: tokens without a column that tells which text they are of: {listing(ROLES['item'])}."
        )
    code = pd.factorize(pd.MultiIndex.from_arrays(keys) if len(keys) > 1 else pd.Index(keys[0]))[0]
    starts = np.flatnonzero(np.diff(code, prepend=-1) != 0)
    _check_together(code[starts], frame, starts, source)
    ends = np.isin(frame["token"].to_numpy(), [END])
    values = _unscored_first(bits.to_numpy(dtype=float), starts, ends, source, asked.doubts)
    more = _more(frame, source, asked, starts)
    token = frame["token"].astype(object).where(frame["token"].notna(), END).map(str).to_numpy()
    begins = frame["text_start"].to_numpy() if "text_start" in frame else None
    _check_tokens(values, token, starts, frame, source)
    rows = []
    documents = _documents(frame.iloc[starts], asked)
    lines = _lines(frame)
    for number, (begin, end) in enumerate(zip(starts, np.append(starts[1:], len(frame)), strict=True)):
        part = slice(int(begin), int(end))
        told: dict[str, Any] = {role: str(column.iloc[begin]) for role, column in names.items()}
        tokens = Tokens(
            list(token[part]),
            values[part],
            starts=None if begins is None else [int(each) for each in begins[part]],
            more={name: list(column[part]) for name, column in more.items()} or None,
        )
        document = documents[number] if "item" in names else {**documents[number], ROW: str(number + 1)}
        own = None if text is None else str(frame[text].iloc[begin])
        rows.append(Row(lines[begin], document, text=own, tokens=tokens)._replace(**told))
    return rows, About(unit=about.unit, below=about.below, rows=None if "item" in names else len(rows))


def _check_together(text: Any, frame: pd.DataFrame, starts: Any, source: Source) -> None:
    twice = pd.Series(text).duplicated()
    if twice.any():
        line = _lines(frame)[int(starts[int(twice.to_numpy().argmax())])]
        raise DataError(
            f"{source}, line {line}: the tokens of a text are not together. Give the rows of each text in its order, "
            "without others between."
        )


def _unscored_first(values: Floats, starts: Any, ends: Booleans, source: Source, doubts: Doubts) -> Floats:
    """Return the bits of tokens, missing where a program wrote 0 for a first token that it did not score."""
    first = starts[~ends[starts]]
    zeros = int((values[first] == 0).sum())
    doubts.see("zeros", str(source), zeros, len(first))
    if doubts.applies("zeros") and SUSPICIONS["zeros"].doubts(zeros, len(first)):
        values = values.copy()
        values[first] = np.where(values[first] == 0, np.nan, values[first])
    return values


def _check_tokens(values: Floats, token: Any, starts: Any, frame: pd.DataFrame, source: Source) -> None:
    """Check that all tokens but first ones have a finite score, and that only ends are empty."""
    is_first = np.zeros(len(values), dtype=bool)
    is_first[starts] = True
    is_last = np.append(is_first[1:], True)
    missing = np.flatnonzero(np.isnan(values) & ~is_first)
    early = np.flatnonzero((token == END) & ~is_last)
    infinite = np.flatnonzero(np.isinf(values))
    lines = _lines(frame)
    if len(missing):
        raise DataError(
            f"{source}, line {lines[missing[0]]}: a token without a number, which is not the first of its text."
        )
    if len(early):
        raise DataError(
            f"{source}, line {lines[early[0]]}: an empty token stands for the end of a text, but more follows."
        )
    if len(infinite):
        raise DataError(
            f"{source}, line {lines[infinite[0]]}: infinite; a token that occurs has a probability above 0."
        )


def _more(frame: pd.DataFrame, source: Source, asked: Asked, starts: Any) -> dict[str, Any]:
    """Return further columns of tokens: bits of boundaries, beginnings of words, characters that they cover."""
    found: dict[str, Any] = {}
    boundary = next((name for name in BOUNDARIES if name in frame), None)
    if boundary is not None:
        numbers = numbers_of(frame[boundary], Path(str(source)))
        bits = column_in_bits(numbers, asked.unit, source).to_numpy(dtype=float)
        last = np.append(starts[1:], len(frame)) - 1
        unknown = np.isnan(bits)
        unknown[last] = False
        if unknown.any():
            line = _lines(frame)[int(unknown.argmax())]
            raise DataError(f"{source}, line {line}: a token without a number in column {boundary!r}.")
        found["boundary_bits"] = bits
    if "begins_word" in frame:
        truths = frame["begins_word"].astype(str).str.lower().map({"true": True, "false": False})
        wrong = np.flatnonzero(truths.isna())
        if len(wrong):
            raise DataError(
                f"{source}, line {_lines(frame)[wrong[0]]}: the column 'begins_word' is true or false, not "
                f"{frame['begins_word'].iloc[wrong[0]]!r}."
            )
        found["begins_word"] = truths.astype(bool).to_numpy()
        if "text" in frame:
            found["text"] = frame["text"].astype(object).where(frame["text"].notna(), "").map(str).to_numpy()
    return found


def _read_outcomes(source: Source, asked: Asked) -> tuple[list[Row], About]:
    """Return answers of a long table of outcomes; scores whose unit is given are log-probabilities of texts."""
    frame = source.frame()
    if "successes" not in frame and asked.unit is not None:
        return _read_flat(source, asked)
    names = _names(frame, source, asked)
    if "item" not in names or "system" not in names:
        raise DataError(
            f"{source}: outcomes need columns of items and systems; there are {listing(frame.columns, 20)}."
        )
    value = "successes" if "successes" in frame else "score"
    counts = {
        value: numbers_of(frame[value], Path(str(source))),
        "trials": numbers_of(frame["trials"], Path(str(source))) if "trials" in frame else pd.Series(1.0, frame.index),
    }
    chance = chances(frame, source)
    rows = [
        Row(line, document, values={value: s}, trials=t, chance=c, **dict(zip(names, told, strict=True)))
        for line, document, s, t, c, *told in zip(
            _lines(frame),
            _documents(frame, asked),
            counts[value],
            counts["trials"],
            chance,
            *names.values(),
            strict=True,
        )
    ]
    return rows, About()


def chances(frame: pd.DataFrame, where: object) -> Floats:
    """Return the probability of a right guess in each row of a table, from its column ``chance`` or ``choices``."""
    if "chance" in frame:
        return numbers_of(frame["chance"], Path(str(where))).fillna(0.0).to_numpy(dtype=float)
    if "choices" in frame:
        numbers = numbers_of(frame["choices"], Path(str(where))).to_numpy(dtype=float)
        return np.where(numbers > 1, 1 / np.maximum(numbers, 1), 0.0)
    return np.zeros(len(frame))


def _read_numbers(source: Source, asked: Asked) -> tuple[list[Row], About]:
    """Return one text per line; an empty line is a missing one."""
    unit = needed(asked.unit, source)
    numbers: dict[int, float] = {}
    lines = 0
    for line, text in read_lines(source.file):
        lines = line
        try:
            value = np.nan if text.strip() in _MISSING else _number(text)
        except ValueError:
            raise DataError(
                f"{source}, line {line}: {text[:40]!r} is not a number. Give one log-likelihood per line, and an empty "
                "line for a missing translation."
            ) from None
        if not np.isnan(value):
            numbers[line] = value
    if not numbers:
        raise DataError(f"{source}: no log-likelihood in {lines:,} line(s). Leave this edition out.")
    values = np.array(list(numbers.values()))
    if (values < 0).any() and (values > 0).any():
        below, above = (next(line for line, number in numbers.items() if sign * number > 0) for sign in (-1, 1))
        raise DataError(
            f"{source}: log-probabilities are never above 0, but there are both {numbers[below]:g} (line {below}) and "
            f"{numbers[above]:g} (line {above}): give log-probabilities, or their negatives."
        )
    factor = BITS_PER_UNIT[unit]
    rows = [Row(line, {ROW: str(line)}, bits=abs(value) * factor) for line, value in numbers.items()]
    return rows, About(unit=unit, below=bool((values < 0).any()), rows=lines)


def _number(line: str) -> float:
    """Return a number from text, without accepting Python's digit groups (``1_000``) or other spellings of NaN."""
    number = float(line)
    if np.isnan(number) or "_" in line:
        raise ValueError(line)
    return number


def _refused(source: Source, _: Asked) -> tuple[list[Row], About]:
    raise DataError(
        f"{source}: columns {listing(source.nested)} hold structures, not cells, as details of lighteval do. Write a "
        "flat table with a row per question: item, system, language and successes (0 or 1)."
    )


OUTCOMES: Kind = Kind(
    name="outcomes", told="columns item, system and successes, or score", tells=_tells_outcomes, read=_read_outcomes
)
MINICONS: Kind = Kind(
    name="minicons", told="columns text and surprisal, and no names", tells=_tells_minicons, read=_read_flat
)
FLAT: Kind = Kind(
    name="flat", told="columns by name: item, language, system, bits or token", tells=_tells_flat, read=_read_flat
)
NESTED: Kind = Kind(name="nested", told="only flat tables", tells=lambda source: bool(source.nested), read=_refused)
NUMBERS: Kind = Kind(name="numbers", told="one number per line", tells=_tells_numbers, read=_read_numbers)
