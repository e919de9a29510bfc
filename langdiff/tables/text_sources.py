"""Sources of the texts of a multitext, and the record of faulty texts that are left out."""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any, Protocol

import pandas as pd

from langdiff.base.suspicion import KEPT, LEFT_OUT_COLUMNS
from langdiff.errors import MAX_FILES, words
from langdiff.tables.text_doubts import repaired


def nothing_left_out() -> pd.DataFrame:
    """Return an empty table of texts left out, for files without faults."""
    return pd.DataFrame(columns=list(LEFT_OUT_COLUMNS), dtype=object)


def names_left_out(left_out: pd.DataFrame) -> str:
    """Return the names of the texts left out, then of those repaired or doubted, in one line.

    Examples
    --------
    >>> rows = [
    ...     ("fra", "file", "fra.txt", "holds no text."),
    ...     ("nld", "file", "nld.txt", "holds no text."),
    ...     ("swe", "text", "2 texts (3, 7)", "2 faults, the first in line 3: a NUL byte."),
    ...     ("swe", "chapter", "1 chapter (45012022)", "line 9: ROM 12 has verses to 36."),
    ... ]
    >>> names_left_out(pd.DataFrame(rows, columns=LEFT_OUT_COLUMNS))
    'fra, nld (files); swe (2 texts, 1 chapter)'
    >>> names_left_out(pd.DataFrame([("deu", "doubted", "2 texts (3, 7)", "lost: …")], columns=LEFT_OUT_COLUMNS))
    'doubted: deu (2 texts)'
    """
    kept = left_out["level"].isin(KEPT.values())
    parts = [f"{level}: {_names(rows)}" for level, rows in left_out[kept].groupby("level", sort=False)]
    return "; ".join([*filter(None, [_names(left_out[~kept])]), *parts])


def _names(left_out: pd.DataFrame) -> str:
    rows = left_out.to_dict("records")
    files = [_name(row) for row in rows if row["level"] == "file"]
    counts: dict[str, list[str]] = {}  # by edition, "" where a file has several
    for row in rows:
        if row["level"] != "file":
            edition = row["edition"] if isinstance(row["edition"], str) else ""
            counts.setdefault(edition, []).append(row["what"].partition(" (")[0])
    parts = [f"{edition} ({', '.join(each)})" if edition else ", ".join(each) for edition, each in counts.items()]
    wholly = f"{_first_of(files)} ({'file' if len(files) == 1 else 'files'})" if files else ""
    return "; ".join(filter(None, [wholly, _first_of(parts)]))


def explain_left_out(left_out: pd.DataFrame) -> str:
    """Return the names of the texts left out and the reasons, one per line; an empty text if there are none.

    Examples
    --------
    >>> rows = [("fra", "file", "fra.txt", "holds no text.")]
    >>> print(explain_left_out(pd.DataFrame(rows, columns=LEFT_OUT_COLUMNS)))
    Left out, repaired or doubted: fra (file)
      fra.txt: holds no text.
    """
    if not len(left_out):
        return ""
    whys = [f"{_place(row)}: {row['why']}" for row in left_out.to_dict("records")]
    more = len(whys) - MAX_FILES
    if more > 0:
        rest = words(
            python="the table left_out has all", command="--json lists all", experiment="manifest.json has all"
        )
        whys[MAX_FILES:] = [f"and {more:,} more: {rest}"]
    return "\n  ".join([f"Left out, repaired or doubted: {names_left_out(left_out)}", *whys])


def _name(row: Mapping[Hashable, Any]) -> str:
    """Return the edition of a row, or the file name if a whole file is left out that has several editions."""
    return row["edition"] if isinstance(row["edition"], str) else PurePath(row["what"]).name


def _place(row: Mapping[Hashable, Any]) -> str:
    inside = row["level"] != "file" and isinstance(row["edition"], str)
    return f"{row['edition']}, {row['what']}" if inside else row["what"]


def _first_of(names: Iterable[str]) -> str:
    names = list(dict.fromkeys(names))
    more = len(names) - MAX_FILES
    return ", ".join(names[:MAX_FILES]) + (f" and {more:,} more" if more > 0 else "")


class TextSource(Protocol):
    """Interface of the source of an edition's texts; picklable, so that worker processes can read it."""

    def read(self) -> pd.Series:
        """Read the texts that are present (str), indexed by intent."""
        ...


@dataclass(frozen=True)
class InMemoryText:
    """A source whose texts are held in memory."""

    texts: pd.Series

    def read(self) -> pd.Series:
        """Return the texts."""
        return self.texts


@dataclass(frozen=True)
class MappedText:
    """A source with a function applied to its texts when they are read."""

    source: TextSource
    function: Callable[[str], str]

    def read(self) -> pd.Series:
        """Read the texts and apply the function to them."""
        return self.map(self.source.read())

    def map(self, texts: pd.Series) -> pd.Series:
        """Return texts with the function applied to each."""
        return pd.Series([self.function(text) for text in texts], index=texts.index, dtype=object)


def with_repairs(source: TextSource) -> TextSource:
    """Return a source whose texts have no invisible characters at their start; see `langdiff.tables.text_doubts`."""
    if isinstance(source, InMemoryText):
        return InMemoryText(source.texts.map(repaired))
    return replace(source, repair=True) if hasattr(source, "repair") else MappedText(source, repaired)  # type: ignore[type-var]


def read_intents(source: TextSource, wanted: pd.Index) -> pd.Series:
    """Read the texts of those intents that the source has, applying functions only to these.

    Examples
    --------
    >>> source = MappedText(InMemoryText(pd.Series({"1": "a dog", "2": "a cat"})), str.upper)
    >>> read_intents(source, pd.Index(["2", "3"])).to_dict()
    {'2': 'A CAT'}
    """
    if isinstance(source, MappedText):
        return source.map(read_intents(source.source, wanted))
    texts = source.read()
    return texts if texts.index.equals(wanted) else texts[wanted.get_indexer(texts.index) >= 0]
