"""Declaration of a kind of log, the file that it is read from, and the rows that its reader returns."""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from pathlib import Path
from reprlib import repr as short
from typing import Annotated, Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import BaseModel, Field, ValidationError

from langdiff.base.archives import COMPRESSED, File, Member, members_of
from langdiff.base.io import parse_json, read_blocks, read_lines
from langdiff.base.suspicion import Doubts
from langdiff.base.types import Floats, OnError
from langdiff.errors import ConfigError, DataError, Fault, option
from langdiff.tables.long_tables import BITS_PER_UNIT, Unit, as_bits, read_table_file

TABLES = (".csv", ".tsv", ".parquet")
HEAD = 80  # characters of an unknown file that its error shows
ROLES: dict[str, tuple[str, ...]] = {  # keys and columns that tell what a row is of
    "item": ("item", "intent", "id", "doc", "doc_id"),
    "language": ("language", "edition", "lang"),
    "system": ("system", "model", "lm"),
}
NAMED = {**ROLES, "item": ("item", "intent", "custom_id")}  # the same, of records that hold more than names


class Asked(NamedTuple):
    """Settings of the user: unit of logs that do not tell it, and the keys of items, languages and systems.

    What readers doubt is counted in ``doubts``; records with a fault are gathered in ``faults``.
    """

    doubts: Doubts
    faults: list[Fault]
    unit: Unit | None = None
    item: tuple[str, ...] = ()
    language: str | None = None
    system: str | None = None
    on_error: OnError = "raise"

    def rows(self, source: "Source", records: Iterable[tuple[int, str, Any]], read: "ReadRecord") -> list["Row"]:
        """Return the rows of records, given with line and place; records that cannot be used become faults."""
        found = []
        for line, where, record in records:
            try:
                found.append(read(record, line, where))
            except DataError as error:
                said = str(error).removeprefix(f"{where}: ")
                of_line = where == f"{source}, line {line}"
                self.faults.append(
                    Fault(str(source) if of_line else where, line if of_line else None, said, level="text")
                )
        return found


class Tokens(NamedTuple):
    """Tokens of one text, in order: strings (None where unknown), ids, first characters, and bits (NaN: unscored)."""

    names: list[str | None]
    bits: Floats
    ids: list[int | None] | None = None
    starts: list[int | None] | None = None
    more: Mapping[str, list[Any]] | None = None

    def without(self, places: slice) -> "Tokens":
        """Return the tokens of a slice."""
        ids, starts = (None if part is None else part[places] for part in (self.ids, self.starts))
        more = None if self.more is None else {name: part[places] for name, part in self.more.items()}
        return Tokens(self.names[places], self.bits[places], ids, starts, more)


class Row(NamedTuple):
    """One text or question of one system, as a log has it; all but the line may be unknown.

    ``document`` has the keys by which the item can be named, ``values`` metrics or scorers by name. ``bits`` are those
    of a whole text without ``tokens``.
    """

    line: int
    document: Mapping[str, Any] = {}
    item: str | None = None
    language: str | None = None
    system: str | None = None
    task: str | None = None
    text: str | None = None
    bits: float = float("nan")
    eos_bits: float = float("nan")
    characters: float = float("nan")
    bytes: float = float("nan")
    units: float = float("nan")
    tokens: Tokens | None = None
    values: Mapping[str, Any] | None = None
    trials: float = 1.0
    chance: float = 0.0
    answer: str | None = None
    target: str | None = None
    filter: str = "none"
    checked: str | None = None  # hash of the document, which systems of one language share
    epoch: int = 1
    unscored: str = ""  # name of the scores that have NaN
    lost: bool = False  # has a fault for which it is left out


class Record(BaseModel, strict=True):
    """Fields of a record: no text serves as a number, and no truth value; other fields may hold anything."""


MOST_EXACT = 2**53  # above which integers are no scores
_CALLED = {  # by the first letters of pydantic's kinds of faults
    "string": "text", "float": "a number", "int": "a whole number", "bool": "true or false", "list": "a list",
    "dict": "an object", "model": "an object", "finite": "a finite number", "less_than": f"a number up to {MOST_EXACT}",
    "none": "null",
}  # fmt: skip


def check(model: type[Record], record: object, where: str) -> None:
    """Check the types of the fields of a record."""
    try:
        model.model_validate(record)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_context=False)
        known = _named_in(record) | ({faults[0]["loc"][-1]} if faults[0]["type"] == "missing" else set())
        names = [part for part in faults[0]["loc"] if not isinstance(part, str) or part in known]
        raise DataError(f"{where}: {_path(names)} {_said(faults)}") from None


def _named_in(record: Any) -> set[str]:
    """Return the keys of a record at all depths, apart from which a path has names of types."""
    stack: list[Any] = [record]
    found: set[str] = set()
    while stack:
        one = stack.pop()
        if isinstance(one, dict):
            found |= one.keys()
            stack += one.values()
        elif isinstance(one, list):
            stack += one
    return found


def _path(parts: Sequence[int | str]) -> str:
    named = [f" {part + 1}" if isinstance(part, int) else f".{part}" for part in parts]
    return "".join(named).strip(". ") or "the record"


def _said(faults: Sequence[Any]) -> str:
    """Return the fault of a value, which may have been of none of several types."""
    if faults[0]["type"] == "missing":
        return "is missing."
    same = [fault for fault in faults if fault["input"] is faults[0]["input"]]
    kinds = dict.fromkeys(
        called for fault in same for kind, called in _CALLED.items() if fault["type"].startswith(kind)
    )
    return f"is {short(faults[0]['input'])}, not {' or '.join(kinds) or 'what is read there'}."


@dataclass(frozen=True)
class About:
    """Facts about a file of logs, apart from its rows.

    Attributes
    ----------
    version : str
        Version of the program that wrote it.
    start : {"unknown", "possible", "none"}
        Whether a start token may have been charged to each text.
    shots : str
        Number of examples before each question, where the file tells.
    unit : {"bits", "nats", "log10"} or None
        Unit of the numbers as they were.
    below : bool or None
        Whether they were log-probabilities; None where this is known of the kind.
    rows : int or None
        Number of rows, where items are told by their row only.
    notes : tuple of str
        What the user should know, as warnings.
    """

    version: str = ""
    start: str = "none"
    shots: str = ""
    unit: Unit | None = None
    below: bool | None = None
    rows: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """A file of logs, and what its beginning tells of its kind.

    Attributes
    ----------
    file : Path or Member
        The file; a member of a zip archive is read from there.
    table : DataFrame or None
        A table in memory, in place of a file.
    """

    file: File
    table: pd.DataFrame | None = field(default=None, compare=False)

    def __str__(self) -> str:
        """Return the path."""
        return str(self.file)

    @cached_property
    def suffix(self) -> str:
        """Ending of the name without that of a compressed file, in small letters."""
        name = self.file.name.lower()
        for packed in COMPRESSED:
            name = name.removesuffix(packed)
        return Path(name).suffix

    @cached_property
    def head(self) -> str:
        """First line of text that is not empty; "" of tables and archives."""
        if self.table is not None or self.suffix in (".parquet", ".eval"):
            return ""
        lines = (line for _, line in islice(read_lines(self.file, errors="replace"), 100))
        return next((line for line in lines if line.strip()), "")

    @cached_property
    def first(self) -> Any:
        """First JSON record; None if the file does not begin with one."""
        if not self.head.lstrip().startswith(("{", "[")):
            return None
        try:
            return parse_json(self.head)
        except ValueError:
            return self._whole

    @cached_property
    def _whole(self) -> Any:
        try:
            return parse_json(self.text())
        except (ValueError, DataError):
            return None

    @cached_property
    def header(self) -> tuple[str, ...]:
        """Names of columns of a table; of flat records, those of the first; () of other files."""
        if self.table is not None:
            return tuple(map(str, self.table.columns))
        if self.suffix == ".parquet":
            return tuple(self._schema.names)
        if self.suffix in (".csv", ".tsv"):
            cells = re.split("[,;\t]" if self.suffix == ".csv" else "\t", self.head.strip())
            return tuple(cell.strip('\ufeff"') for cell in cells)
        return tuple(self.first) if isinstance(self.first, dict) else ()

    @cached_property
    def _schema(self) -> Any:
        from pyarrow import parquet  # slow to import

        try:
            return parquet.read_schema(self.file)
        except Exception as error:  # of a damaged file pyarrow raises errors of any class
            raise DataError(f"{self}: cannot be read as a table: {error}") from error

    @cached_property
    def nested(self) -> list[str]:
        """Names of columns of a Parquet file whose cells are lists or structures."""
        if self.table is not None or self.suffix != ".parquet":
            return []
        from pyarrow import types  # slow to import

        return [column.name for column in self._schema if types.is_nested(column.type)]

    @property
    def is_table(self) -> bool:
        """Whether the file is a table of columns, not of JSON records."""
        return self.table is not None or self.suffix in TABLES

    def text(self) -> str:
        """Return all text."""
        return "\n".join(line for _, line in read_lines(self.file))

    def lines(self) -> Iterator[tuple[int, str, str]]:
        """Yield number, place and text of every line that is not empty."""
        for line, text in read_lines(self.file):
            if text.strip():
                yield line, f"{self}, line {line}", text

    def frame(self) -> pd.DataFrame:
        """Return a table, or flat records as one; the index has the lines of text files."""
        if self.table is not None:
            return self.table
        if self.is_table:
            return read_table_file(self.file)
        lines, records = [], []
        nan: dict[str, list[int]] = {}  # lines by column; in the table they are as null
        for line, where, text in self.lines():
            record = json_record(text, where)
            for name in [name for name, value in record.items() if value != value]:
                nan.setdefault(name, []).append(line)
                record[name] = None
            check(Flat, record, where)
            lines.append(line)
            records.append(record)
        frame = pd.DataFrame(records, index=pd.Index(lines))
        frame.attrs["nan"] = nan
        return frame

    def digest(self) -> str:
        """Return the SHA-256 of the file as it is stored; of a member of an archive, of its content."""
        if self.table is not None:
            return ""
        if isinstance(self.file, Member):
            return hashlib.sha256(b"".join(block.raw for block in read_blocks(self.file))).hexdigest()
        with self.file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def beside(self, pattern: str) -> list[File]:
        """Return files of the same folder, or of the same place in an archive, whose names match a pattern."""
        if self.table is not None:
            return []
        if isinstance(self.file, Member):
            return [each for each in members_of(self.file.archive) if Path(each.name).match(pattern)]
        return sorted(self.file.parent.glob(pattern))


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A kind of log; each module of kinds has one or several.

    Attributes
    ----------
    name : str
        Name in messages and records.
    told : str
        How it is told from others, for messages.
    tells : callable
        Whether a file is of this kind, by its beginning.
    read : callable
        Returns the rows of a file, and what is known beside them.
    """

    name: str
    told: str
    tells: Callable[[Source], bool]
    read: Callable[[Source, "Asked"], tuple[Sequence[Row], About]]


ReadRecord = Callable[[Any, int, str], Row]  # of a record, its line and its place


def parsed(text: str | bytes, where: str) -> Any:
    """Return what JSON says."""
    try:
        return parse_json(text)
    except ValueError as error:
        raise DataError(f"{where}: not JSON: {error}.") from error


def json_record(text: str, where: str) -> dict[str, Any]:
    """Return the JSON object in a line."""
    record = parsed(text, where)
    if not isinstance(record, dict):
        raise DataError(f"{where}: not a JSON object, but {text[:HEAD]!r}.")
    return record


Name = str | int | float | None
Score = Annotated[float, Field(le=MOST_EXACT)] | None


class Flat(Record, extra="allow"):
    """A flat record: names, texts, numbers and truth values; a NaN is told apart before."""

    __pydantic_extra__: dict[str, str | int | float | bool | None]
    item: Name = None
    intent: Name = None
    language: Name = None
    edition: Name = None
    system: Name = None
    model: Name = None
    text: str | None = None
    sentence: str | None = None
    token: str | None = None
    bits: Score = None
    surprisal: Score = None
    logprob: Score = None
    log_prob: Score = None
    log_likelihood: Score = None
    loglikelihood: Score = None
    score: Score = None
    eos_bits: Score = None
    boundary_bits: Score = None
    characters: Score = None
    bytes: Score = None
    units: Score = None
    trials: Score = None
    chance: Score = None


def named(record: Mapping[str, Any], role: str) -> str | None:
    """Return the name that a record gives to its item, language or system; None if it has none."""
    found = next((record[key] for key in NAMED[role] if record.get(key) is not None), None)
    return None if found is None or isinstance(found, dict | list) else str(found)


def names_of(records: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return item, language and system of a record that is nested; outer ones count more.

    A ``custom_id`` such as ``deu:7`` has the language before the colon.
    """
    chain = list(records)
    found: dict[str, Any] = {role: next((name for one in chain if (name := named(one, role))), None) for role in ROLES}
    before, colon, after = (found["item"] or "").partition(":")
    if colon and found["language"] is None and "custom_id" in chain[0]:
        found |= {"language": before, "item": after}
    return found


def in_bits(numbers: Iterable[float | None], unit: Unit) -> Floats:
    """Return log-probabilities in bits; None becomes NaN."""
    values = np.array([np.nan if number is None else number for number in numbers], dtype=float)
    return -values * BITS_PER_UNIT[unit] + 0.0


def column_in_bits(numbers: pd.Series, unit: Unit | None, where: object) -> pd.Series:
    """Return a column of surprisals or log-probabilities in bits; see `as_bits`."""
    return as_bits(numbers.to_frame(), unit, where).iloc[:, 0]


def needed(unit: Unit | None, where: object) -> Unit:
    """Return the unit of a kind that does not tell it."""
    if unit is None:
        raise ConfigError(
            f"{where}: give the unit of the logarithms: {option('unit', 'nats')}, 'log10' or 'bits'; toolkits differ."
        )
    return unit
