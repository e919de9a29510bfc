"""Records of texts, as JSON Lines and Parquet have them: which column is what, and which files belong together.

Four layouts are known: a text and a language per row; a structure ``translation`` with a text per language; columns
``sentence_LANG`` or ``text_LANG``; and one file or folder per language, with a column ``text`` or ``sentence``.
"""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.progress import followed
from langdiff.base.types import Floats
from langdiff.corpora.alignment.lengths import advice
from langdiff.corpora.edition_info import edition_info_csv
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import edition_of, files_in, keep, language_of
from langdiff.corpora.formats.format import FormatText, Reading, text_files, writable_texts
from langdiff.corpora.formats.moses import COLUMNS, COMPARED, ORIGINAL
from langdiff.errors import ConfigError, DataError, listing, option, warn
from langdiff.tables.multitext import Multitext

OURS = ("text", "edition", "intent", "document")  # keys of the option `columns`
ATTRIBUTES = (*COLUMNS, ORIGINAL)  # of intents, which are read from columns of these names
_TEXTS, _INTENTS, _LANGUAGES = ("text", "sentence"), ("intent", "id"), ("lang", "language")
_ISO = ("iso_639_3", "iso_15924", "glottocode")
_WIDE = re.compile(r"(sentence|text)_(.+)", re.DOTALL)
_SHARD = re.compile(r"(.+)-([0-9]{5})-of-([0-9]{5})(?:-[0-9a-f]+)?")  # some names end in a checksum
_SPLITS = frozenset({"train", "dev", "devtest", "test", "validation", "valid", "val"})
STRUCTURE = "translation"
UNWRITABLE = re.compile("[\0\ud800-\udfff]")

Columns = Mapping[str, tuple[str, ...]]  # by name, the names inside it if it is a structure


class Layout(NamedTuple):
    """Which columns of a table are what.

    Attributes
    ----------
    texts : tuple of str
        Columns of texts: one, or one per edition, or the structure of all.
    editions : tuple of str
        Columns that name the edition of a row; none if all rows are of one, or each has all.
    inside : dict from str to str
        By edition, its column or its name in the structure, if each row has all editions.
    intent : str or None
        Column that names the intent; None if the number of the row does.
    attributes : dict from str to str
        By attribute of the intents, its column.
    language : str or None
        Column of the language, where it is not that of the edition.
    """

    texts: tuple[str, ...]
    editions: tuple[str, ...]
    inside: dict[str, str]
    intent: str | None
    attributes: dict[str, str]
    language: str | None

    def columns(self) -> list[str]:
        """Return the columns that are read."""
        names = [*self.texts, *self.editions, self.intent, *self.attributes.values(), self.language]
        return list(dict.fromkeys(name for name in names if name is not None))


class Row(NamedTuple):
    """A row of a table: its place, for messages, and its cells; None if they cannot be read."""

    line: int
    cells: Mapping[str, Any] | None


@dataclass(frozen=True)
class Table:
    """Files of one table, in order.

    Attributes
    ----------
    files : tuple of Path or Member
        The files.
    name : str
        Edition of all rows, where no column says it.
    """

    files: tuple[File, ...]
    name: str


def layout_of(columns: Columns, given: Mapping[str, str], where: str) -> Layout:
    """Return which column is what."""
    if absent := [theirs for theirs in given.values() if theirs not in columns]:
        raise DataError(f"{where}: has no column {listing(absent)}, but {listing(columns, most=30)}.")
    intent = given.get("intent") or next((name for name in _INTENTS if name in columns), None)
    attributes = {name: name for name in ATTRIBUTES if name in columns}
    attributes |= {"document": given["document"]} if "document" in given else {}
    wide: dict[str, dict[str, str]] = {}
    for name in columns:
        if (match := _WIDE.fullmatch(name)) and language_of(match[2]):
            wide.setdefault(match[1], {})[match[2]] = name
    of_text = [given["text"]] if "text" in given else [name for name in _TEXTS if name in columns]
    found = [Layout((name,), *_editions(columns, given, where), intent, attributes, None) for name in of_text]
    if "text" not in given:
        found += [
            Layout(tuple(inside.values()), (), inside, intent, attributes, None)
            for inside in wide.values()
            if len(inside) > 1
        ]
        if inside := columns.get(STRUCTURE):
            names = {name: name for name in inside}
            found.append(Layout((STRUCTURE,), (), names, intent, attributes, None))
    if len(found) != 1:
        raise DataError(
            f"{where}: {'several columns may be' if found else 'no column is known to be'} the texts; the columns are "
            f"{listing(columns, most=30)}. Name them: {option('columns', {'text': 'sentence', 'edition': 'lang'})}."
        )
    (layout,) = found
    language = "language" if "language" in columns and layout.editions and "language" not in layout.editions else None
    return layout._replace(language=language)


def _editions(columns: Columns, given: Mapping[str, str], where: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return the columns that name the edition of a row."""
    if name := given.get("edition") or ("edition" if "edition" in columns else None):
        return (name,), {}
    known: list[tuple[str, ...]] = [(name,) for name in _LANGUAGES if name in columns]
    if _ISO[0] in columns:
        known.append(tuple(name for name in _ISO if name in columns))
    if len(known) > 1:
        raise DataError(
            f"{where}: the columns {' and '.join(names[0] for names in known)} may each name the edition. Say which: "
            f"{option('columns', {'edition': known[0][0]})}."
        )
    return (known[0] if known else ()), {}


def check_columns(given: Mapping[str, str]) -> None:
    """Check the option `columns`."""
    if unknown := [name for name in given if name not in OURS]:
        raise ConfigError(f"{option('columns')}: unknown {listing(unknown)}; use {', '.join(OURS)}.")


class Cells:
    """Texts found so far, by edition and intent.

    Attributes
    ----------
    texts : dict
        By values of the columns that name the edition, and by intent, the text; it is empty where there is none.
    about : dict
        By intent, its attributes; the intents are in the order of their first appearance.
    languages : dict
        By values of the columns that name the edition, the language.
    rows : dict
        By values of the columns that name the edition, or by the table's name, the number of rows.
    """

    def __init__(self, faults: Faults) -> None:
        self.texts: dict[tuple[str, ...], dict[str, str]] = {}
        self.about: dict[str, dict[str, str]] = {}
        self.languages: dict[tuple[str, ...], str] = {}
        self.rows: dict[tuple[str, ...], int] = {}
        self._faults = faults
        self._first: dict[tuple[tuple[str, ...], str], tuple[File, int]] = {}

    def add_row(self, row: Row, layout: Layout, table: Table, file: File) -> None:
        """Add the cells of a row; a row or cell that cannot be used is added to the faults."""
        values = self._edition(row, layout, table, file)
        if values is None:
            return
        self.rows[values] = number = self.rows.get(values, 0) + 1
        if row.cells is None:
            return
        intent = str(number) if layout.intent is None else _name(row.cells.get(layout.intent))
        if intent is None:
            self._fault(file, row, f"the {layout.intent} of this row is neither text nor a whole number.")
            return
        about = {name: row.cells.get(column) for name, column in layout.attributes.items()}
        add_attributes(
            self.about, intent, {name: str(value) for name, value in about.items() if value not in (None, "")}
        )
        if layout.language is not None and isinstance(language := row.cells.get(layout.language), str):
            self.languages.setdefault(values, language)
        if not layout.inside:
            self._add(values, intent, row.cells.get(layout.texts[0]), file, row)
            return
        inside = row.cells.get(STRUCTURE) if layout.texts == (STRUCTURE,) else row.cells
        if isinstance(inside, Mapping):
            for edition, name in layout.inside.items():
                self._add((edition,), intent, inside.get(name), file, row)
        else:
            self._fault(file, row, f"the {STRUCTURE} is not a structure of texts.", intent)

    def _edition(self, row: Row, layout: Layout, table: Table, file: File) -> tuple[str, ...] | None:
        """Return what names the edition of a row; None if that is not known."""
        if not layout.editions:
            return (table.name,)
        if row.cells is not None:
            values = [row.cells.get(name) for name in layout.editions]
            names = tuple(value for value in values if isinstance(value, str) and value.strip())
            if len(names) == len(values):
                return names
            self._fault(file, row, f"the edition of this row is not a name: {listing(map(repr, values))}.")
        if layout.intent is None:
            raise DataError(
                f"{file}, line {row.line}: it is not known of which edition this row is, so that the rows below cannot "
                "be counted. Correct it, or give every row an id."
            )
        return None

    def _add(self, edition: tuple[str, ...], intent: str, text: object, file: File, row: Row) -> None:
        texts = self.texts.setdefault(edition, {})
        texts[intent] = ""
        line = self._first.setdefault((edition, intent), (file, row.line))
        if line != (file, row.line):
            what = f"intent {intent!r} of {'_'.join(edition)!r} is there twice, first in line {line[1]} of {line[0]}; "
            self._fault(file, row, f"{what}neither text is used.", intent)
        elif text is None or (isinstance(text, str) and not text.strip()):
            return
        elif not isinstance(text, str):
            self._fault(file, row, f"{text!r:.40} is not text.", intent)
        elif found := UNWRITABLE.search(text):
            self._fault(file, row, f"the text has U+{ord(found[0]):04X}, which is not a character of text.", intent)
        else:
            texts[intent] = text

    def _fault(self, file: File, row: Row, what: str, intent: str | None = None) -> None:
        self._faults.add(file, row.line, what, intent=intent)


def _name(value: object) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() and not UNWRITABLE.search(value) else None


def add_attributes(about: dict[str, dict[str, str]], intent: str, own: Mapping[str, str]) -> None:
    """Add what a row says of an intent; what two rows say differently is said once and then empty.

    Examples
    --------
    >>> about = {"s1": {"document": "a"}}
    >>> add_attributes(about, "s1", {"document": "b", "turn": "1"})
    >>> about
    {'s1': {'document': '', 'turn': '1'}}
    """
    known = about.setdefault(intent, {})
    for name, value in own.items():
        if known.setdefault(name, value) != value:
            known[name] = ""


@dataclass(frozen=True)
class RecordsText(FormatText):
    """Source of the texts of one edition in a table.

    Attributes
    ----------
    table : Table
        The files.
    layout : Layout
        What the columns are.
    values : tuple of str
        What the columns hold that name the edition; or its name.
    """

    table: Table
    layout: Layout
    values: tuple[str, ...]

    @abstractmethod
    def columns(self, file: File) -> Columns:
        """Return the names of the columns of a file."""

    @abstractmethod
    def rows(self, file: File, faults: Faults, *, only: bool) -> Iterator[Row]:
        """Yield the rows of a file, if `only` is true at least those of the edition."""

    def check_parts(self, given: Mapping[str, str]) -> None:
        """Check that all files of the table have the columns of the first that are texts, editions and intents."""
        first, *others = self.table.files
        inside = set(self.layout.inside)
        needed = [*self.layout.texts, *self.layout.editions, *([self.layout.intent] if self.layout.intent else [])]
        for file in others:
            columns = self.columns(file)
            missing = [name for name in needed if name not in columns]
            new: list[str] = []
            if not missing:
                own = layout_of(columns, given, str(file))
                missing = sorted(inside - set(own.inside))
                theirs = (*own.texts, *own.editions, *([own.intent] if own.intent else []))
                new = [name for name in theirs if name not in needed] or sorted(set(own.inside) - inside)
            for names, these, those in ((missing, file, first), (new, first, file)):
                if names:
                    raise DataError(
                        f"{these}: has no column {listing(names)}, which {those} has. All parts of a table "
                        "must have the same columns of texts, editions and ids; add it with empty cells."
                    )

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the texts that are present."""
        only = bool(self.layout.editions)
        cells = self.cells(faults, only=only)
        yield from ((intent, text) for intent, text in cells.texts.get(self.values, {}).items() if text)

    def cells(self, faults: Faults, *, only: bool = False) -> Cells:
        """Return the cells of the table."""
        cells = Cells(faults)
        for file in self.table.files:
            for row in self.rows(file, faults, only=only):
                cells.add_row(row, self.layout, self.table, file)
        return cells


def catalogue_records(reading: Reading, suffixes: Sequence[str], source: Callable[..., RecordsText]) -> Multitext:
    """Catalogue tables of records."""
    given = dict(reading.columns or {})
    check_columns(given)
    tables = _tables(reading, suffixes)
    about: dict[str, dict[str, str]] = {}
    found: dict[str, _Found] = {}
    with_id: dict[bool, File] = {}
    for table in followed(tables, "cataloguing", progress=reading.progress, note=lambda table: table.name):
        first = table.files[0]
        layout: Layout | None = None
        with reading.faults.of(None, first):
            blank = source(table, Layout((), (), {}, None, {}, None), (), **reading.how)
            layout = layout_of(blank.columns(first), given, str(first))
            if len(with_id | {layout.intent is not None: first}) > 1:
                raise DataError(
                    f"{first}: some files have an id per row, others have none, as {next(iter(with_id.values()))}."
                )
            with_id[layout.intent is not None] = first
        if layout is not None:
            with reading.faults.of(None if layout.editions or layout.inside else table.name, first):
                text = source(table, layout, (), **reading.how)
                text.check_parts(given)
                cells = text.cells(reading.faults)
                found |= _editions_of(text, cells, found)
                for intent, own in cells.about.items():
                    add_attributes(about, intent, own)
    if not found:
        reading.faults.check()
        raise DataError(f"{listing(str(table.files[0]) for table in tables)}: no rows.")
    if differing := [intent for intent, own in about.items() if "" in own.values()]:
        warn(f"rows of {len(differing):,} intents differ in attributes, which are left empty: {listing(differing)}.")
    found = keep(found, reading.editions)
    if False in with_id:
        found = _evenly_numbered(reading, found)
        about = {intent: own for intent, own in about.items() if int(intent) <= next(iter(found.values())).rows}
    names = [name for name in ATTRIBUTES if any(name in own for own in about.values())]
    rows = [[own.get(name) or float("nan") for name in names] for own in about.values()]
    return reading.multitext(
        {edition: (one.text, one.text.table.files[0], one.texts) for edition, one in found.items()},
        pd.DataFrame(rows, columns=names, index=list(about), dtype=object),
        {edition: {"language": one.language} for edition, one in found.items() if one.language},
    )


class _Found(NamedTuple):
    """An edition found: its source, the texts, the language that its rows give, and their number."""

    text: RecordsText
    texts: dict[str, str]
    language: str | None
    rows: int

    def lengths(self) -> Floats:
        """Return the number of characters of every row, where the number of a row is its intent."""
        return np.array([len(self.texts.get(str(row), "").strip()) for row in range(1, self.rows + 1)], dtype=float)


def _editions_of(text: RecordsText, cells: Cells, others: Mapping[str, _Found]) -> dict[str, _Found]:
    """Return the editions of a table by name."""
    found = {}
    for values, edition in _named(cells.texts, text.layout).items():
        if edition in others or edition in found:
            raise DataError(
                f"{text.table.files[0]}: edition {edition!r} is there twice. Give the files by edition, as a mapping."
            )
        own = values if text.layout.editions else (text.table.name,)
        language, rows = cells.languages.get(values), cells.rows[own]
        found[edition] = _Found(replace(text, values=values), cells.texts[values], language, rows)
    return found


def _evenly_numbered(reading: Reading, found: dict[str, _Found]) -> dict[str, _Found]:
    """Return the editions with as many rows as most, as all must have where the number of a row is its intent."""
    lines = Counter(one.rows for one in found.values()).most_common(1)[0][0]
    even = {edition: one for edition, one in found.items() if one.rows == lines}
    pattern, first = next((edition, one.text.table.files[0]) for edition, one in even.items())
    for edition, one in found.items():
        if edition not in even:
            file = one.text.table.files[0]
            where = advice(one.lengths(), [each.lengths() for each in list(even.values())[:COMPARED]], "row")
            with reading.faults.of(edition, file):
                raise DataError(
                    f"{file}: edition {edition!r} has {one.rows:,} rows, {pattern!r} in {first} has {lines:,}: "
                    "without an id per row, row k of every edition must be the same segment. "
                    f"{where or 'Leave a text that is missing empty, or give every row an id.'}"
                )
    return even


def _named(editions: Mapping[tuple[str, ...], object], layout: Layout) -> dict[tuple[str, ...], str]:
    """Return the name of each edition; a glottocode is part of it only where it is needed."""
    if layout.editions[:2] != _ISO[:2] or len(layout.editions) < len(_ISO):
        return {values: "_".join(values) for values in editions}
    short = [values[:2] for values in editions]
    return {
        values: "_".join(values[:2]) + (f"-{values[2]}" if short.count(values[:2]) > 1 else "") for values in editions
    }


def _tables(reading: Reading, suffixes: Sequence[str]) -> list[Table]:
    """Return the tables that files are or are parts of."""
    if isinstance(reading.path, Mapping):
        groups = [(str(name), files_in(one, suffixes)) for name, one in reading.path.items()]
        return [table for name, files in groups for table in _joined(files, suffixes, reading.split, name)]
    return _joined(list(dict.fromkeys(files_in(reading.path, suffixes))), suffixes, reading.split, None)


def _joined(files: Sequence[File], suffixes: Sequence[str], split: str | None, name: str | None) -> list[Table]:
    """Return the tables of some files: parts of one split in one folder are one table."""
    parts: dict[tuple[str, str], dict[int, File]] = {}
    announced: dict[tuple[str, str], int] = {}
    alone = []
    for file in files:
        stem = edition_of(file, suffixes)
        match = _SHARD.fullmatch(stem)
        if match is None and stem not in _SPLITS:
            alone.append(Table((file,), name or stem))
            continue
        key = str(Path(str(file)).parent), match[1] if match else stem
        number = int(match[2]) if match else 0
        if (other := parts.setdefault(key, {}).setdefault(number, file)) != file:
            raise DataError(f"two files are part {number} of {key[1]!r}: {other} and {file}. Remove one of them.")
        announced[key] = int(match[3]) if match else 1
    splits = sorted({key[1] for key in parts})
    if split is not None and split not in splits:
        raise DataError(f"there is no split {split!r}; found: {listing(splits)}.")
    if split is None and len(splits) > 1:
        raise DataError(
            f"the files are of {len(splits)} splits, {listing(splits)}. Say which: {option('split', splits[0])}."
        )
    tables = []
    for (folder, own), numbered in sorted(parts.items()):
        if split in (None, own):
            absent = [number for number in range(announced[folder, own]) if number not in numbered]
            if absent:
                raise DataError(
                    f"{folder}: of {announced[folder, own]} parts of {own!r}, number {absent[0]} is missing."
                )
            tables.append(Table(tuple(file for _, file in sorted(numbered.items())), name or Path(folder).name))
    return tables + (alone if split is None else [])


def records(multitext: Multitext, edition: str) -> dict[str, list[str | None]]:
    """Return the columns of the file of an edition: intent, edition, text, language, and attributes of the intents."""
    texts = writable_texts(multitext, edition, UNWRITABLE, lambda text: not text.strip())
    intents = [str(intent) for intent in multitext.intents]
    language = multitext.edition_info["language"].get(edition) if "language" in multitext.edition_info else None
    columns: dict[str, list[str | None]] = {
        "intent": list(intents),
        "edition": [edition] * len(intents),
        "text": [texts.get(intent) for intent in intents],
        "language": [language if isinstance(language, str) else None] * len(intents),
    }
    for name in ATTRIBUTES:
        if name in multitext.intent_info:
            columns[name] = [str(value) if pd.notna(value) else None for value in multitext.intent_info[name]]
    return columns


def files_to_write(
    multitext: Multitext, directory: Path, suffixes: Sequence[str], ending: str
) -> tuple[dict[str, str], str]:
    """Return the name of each edition's file, and the content of ``metadata.csv``."""
    files = text_files(multitext, directory, suffixes, ending=ending)
    return files, edition_info_csv(multitext.edition_info, files)
