"""Faults in the files of a corpus, collected during reading, and the handler of XML events that records them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePath
from typing import Any, NamedTuple

import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import DAMAGED
from langdiff.base.suspicion import LEFT_OUT_COLUMNS, Doubts, warn_of
from langdiff.base.types import OnError, check_on_error
from langdiff.base.xml import XmlEvents, read_xml
from langdiff.errors import (
    DataError,
    Fault,
    FaultsError,
    list_faults,
    option,
    summary_of,
    warn,
    words,
)
from langdiff.tables.multitext import FAULT_COLUMNS, Multitext
from langdiff.tables.text_doubts import Doubtful, see_repeated, see_texts
from langdiff.tables.text_sources import names_left_out, with_repairs

NAMED = 5  # intents that a row of what is left out names
MAX_FAULTS = 1000  # per edition or file; a file with more of them is not in the format


class Faults:
    """Faults found so far, in the order of the files.

    Parameters
    ----------
    on_error : {"raise", "skip"}
        Whether faults are an error in the end, or what is faulty is left out and listed.
    trust : iterable of str
        Kinds of doubts that are not raised; see `langdiff.base.suspicion`.

    Attributes
    ----------
    found : list of Fault
        The faults.
    doubts : Doubts
        Counts of what is doubted.

    Examples
    --------
    >>> faults = Faults()
    >>> with faults.of("eng", "eng.txt"):
    ...     faults.add("eng.txt", 7, "a NUL byte.", intent="01001001")
    ...     raise DataError("eng.txt: ends too early.")
    >>> faults.to_frame()
      edition     file  line    intent            fault
    0     eng  eng.txt     7  01001001      a NUL byte.
    1     eng  eng.txt  <NA>       NaN  ends too early.
    """

    def __init__(self, on_error: OnError = "raise", trust: Iterable[str] = ()) -> None:
        check_on_error(on_error)
        self.on_error = on_error
        self.doubts = Doubts(trust)
        self.found: list[Fault] = []
        self._edition: str | None = None
        self._counts: Counter[tuple[str | None, str]] = Counter()

    def __bool__(self) -> bool:
        """Return whether there are any faults."""
        return bool(self.found)

    def add(
        self,
        file: File | str,
        line: int | None,
        fault: str,
        *,
        intent: str | None = None,
        level: str = "text",
        edition: str | None = None,
    ) -> None:
        """Add a fault that makes a part of the file unusable, by default at most one text."""
        self._counts[self._edition, str(file)] += 1
        if self._counts[self._edition, str(file)] > MAX_FAULTS:
            raise FaultsError([Fault(str(file), None, self._too_many(str(file)))])
        self.found.append(Fault(str(file), line, fault, intent, edition or self._edition, level))

    def _too_many(self, file: str) -> str:
        own = [fault for fault in self.found if (fault.file, fault.edition) == (file, self._edition)]
        first = own[0]  # there are a thousand
        told = f"more than {MAX_FAULTS:,} faults, the first in line {first.line}: {first.fault}"
        if first.fault.startswith("not UTF-8"):  # which says what to do
            return told
        return f"{told} If this is not the right format, name it: {option('format')}."

    @contextmanager
    def of(self, edition: str | None, file: File | str) -> Iterator[None]:
        """Add the edition to the faults found in the block, and turn a `DataError` into a fault of the whole file."""
        self._edition = edition
        try:
            with self.of_part(file, "file"):
                yield
        finally:
            self._edition = None

    @contextmanager
    def of_part(self, file: File | str, level: str) -> Iterator[None]:
        """Turn a `DataError` in the block into a fault of the whole file; see `of`."""
        try:
            yield
        except DataError as error:
            faults = error.faults if isinstance(error, FaultsError) else [_fault_of(str(error), str(file))]
            self.found += [fault._replace(edition=fault.edition or self._edition, level=level) for fault in faults]

    def check(self) -> None:
        """Raise an error if there are faults, regardless of `on_error`, because no texts are left."""
        if self.found:
            raise FaultsError(self.found)

    def refuse(self) -> None:
        """Raise an error if there are faults and `on_error` is ``"raise"``."""
        if self.on_error == "raise":
            self.check()

    def applied(self, multitext: Multitext) -> Multitext:
        """Return a multitext without its faulty texts, with the list of faults and doubts.

        Warns
        -----
        LangdiffWarning
            If there are faults and `on_error` is ``"skip"``, or something is doubted, once per kind.
        """
        had = multitext.presence.any()
        multitext = self._doubted(multitext)
        judged = self.doubts.judged()
        refused = [one for one in judged if one.action == "refuse"]
        self.found += [one.fault() for one in refused]
        self.refuse()
        gone = {one.where for one in refused if one.level == "file"}
        empty = [str(edition) for edition in multitext.editions[had & ~multitext.presence.any()]]
        self.found += [Fault(edition, None, "holds no text.", edition=edition, level="file") for edition in empty]
        if (gone := gone | {*empty}) >= {*multitext.editions}:
            self.check()
        if gone:
            multitext = multitext.sel(editions=[one for one in multitext.editions if one not in gone])
        kept = [one for one in judged if one.action != "refuse" and one.where not in gone]
        left_out = self._left_out(multitext)
        if kept:
            warn_of(kept)
            rows: list[Any] = [one.row() for one in kept]
            left_out = pd.DataFrame([*left_out.itertuples(index=False), *rows], columns=list(LEFT_OUT_COLUMNS))
        if not len(left_out):
            return multitext
        return replace(multitext, skipped=self.to_frame(), left_out=left_out.astype(object))

    def _doubted(self, multitext: Multitext) -> Multitext:
        """Count doubts in the texts; return the multitext with repairs, and without cells that hold no text."""
        features = multitext.measured() if multitext.features is None else multitext.features
        found: dict[str, list[tuple[str, Doubtful]]] = {}
        presence, sources = multitext.presence, dict(multitext.sources)
        missing = [place for place in features.doubtful if place[2].is_missing and self.doubts.applies(place[2].kind)]
        if missing:
            presence = presence.copy()
            for row, column, _ in missing:
                presence.iat[row, column] = False
        for row, column, one in features.doubtful:
            edition = multitext.editions[column]
            found.setdefault(edition, []).append((str(multitext.intents[row]), one))
            if one.kind == "invisible" and self.doubts.applies(one.kind):
                sources[edition] = with_repairs(sources[edition])
        paths = multitext.edition_info.get("path", pd.Series(dtype=object)).to_dict()
        n_texts, places = multitext.presence.sum(), dict(zip(multitext.editions, features.n_beyond, strict=True))
        see_texts(self.doubts, found, {e: (paths.get(e, e), int(n_texts[e]), places[e]) for e in found})
        if self.doubts.applies("repeated"):
            see_repeated(self.doubts, features.hashes, multitext.intents, multitext.editions)
        kept = replace(features, doubtful=())
        return replace(multitext, presence=presence, sources=sources, features=kept)

    def _left_out(self, multitext: Multitext) -> pd.DataFrame:
        """Return the units left out because of faults, and warn of them."""
        left_out = self.left_out(multitext.editions)
        if not self.found:
            return left_out
        where = words(
            python="the multitext's attributes left_out and skipped list it",
            command="langdiff corpora describe --on-error skip lists it",
            experiment="the report lists it",
        )
        lines = [
            f"{len(self.found):,} fault(s) in {len({fault.file for fault in self.found}):,} file(s): what is faulty is "
            f"left out, and {where}.",
            *list_faults(self.found, where),
            f"Left out: {names_left_out(left_out)}",
        ]
        # at the call of the public function
        warn("\n  ".join(lines))
        return left_out

    def left_out(self, editions: Collection[str]) -> pd.DataFrame:
        """Return the texts left out, whole files and books first, for the attribute `left_out` of `langdiff.Multitext`.

        Parameters
        ----------
        editions : collection of str
            Editions of which something is left. Of others only whole files are listed, with the first fault of each.
        """
        first: dict[tuple[str, str | None], Fault] = {}  # of files that are left out as a whole
        for fault in sorted(self.found, key=lambda fault: fault.level != "file"):
            if fault.level in ("file", "book"):
                first.setdefault((fault.file, fault.edition), fault)
        files = {place: fault for place, fault in first.items() if fault.level == "file"}
        gone = {edition for _, edition in files} - set(editions)
        parts: dict[tuple[str | None, str, str | None], list[Fault]] = {}  # by edition, level, and file of several
        books = [fault for fault in first.values() if fault.level == "book"]
        texts = [fault for fault in self.found if (fault.file, fault.edition) not in first]
        for fault in (*books, *texts):
            if fault.edition not in gone:
                file = None if fault.edition else fault.file
                parts.setdefault((fault.edition, fault.level, file), []).append(fault)
        rows = [(edition, "file", file, summary_of([fault])) for (file, edition), fault in files.items()]
        rows += [(edition, level, _counted(own, level), _why(own)) for (edition, level, _), own in parts.items()]
        table = pd.DataFrame(rows, columns=list(LEFT_OUT_COLUMNS), dtype=object)
        return table.fillna({"edition": float("nan")})

    def to_frame(self) -> pd.DataFrame:
        """Return one row per fault, for the attribute `skipped` of `langdiff.Multitext`."""
        table = pd.DataFrame([fault._asdict() for fault in self.found], columns=list(FAULT_COLUMNS), dtype=object)
        return table.fillna({"edition": float("nan"), "intent": float("nan")}).astype({"line": "Int64"})


def _counted(faults: list[Fault], level: str) -> str:
    """Return the number of texts or books left out because of some faults, and the name of the first, as text."""
    if level == "rest":
        return "the rest"
    if level == "book":
        names = [PurePath(fault.file).name for fault in faults]
        number = len(names)
    else:
        names = list(dict.fromkeys(fault.intent for fault in faults if fault.intent is not None))
        number = len(names) + sum(fault.intent is None for fault in faults)
    named = f" ({', '.join(names[:NAMED])}{', …' if len(names) > NAMED else ''})" if names else ""
    return f"{number:,} {level}{'' if number == 1 else 's'}{named}"


def _why(faults: list[Fault]) -> str:
    """Return the first fault after the number of faults, with its file where the edition has several."""
    first = faults[0]
    if first.edition is not None and first.level != "book" and len({fault.file for fault in faults}) == 1:
        return summary_of(faults)
    return str(first) if len(faults) == 1 else f"{len(faults):,} faults, the first: {first}"


def _fault_of(message: str, file: str) -> Fault:
    """Return file, line and text of a message that begins with a file and possibly a line."""
    match = re.match(rf"{re.escape(file)}(?:, line ([0-9]+))?: ", message)
    if match is None:
        return Fault(file, None, message)
    return Fault(file, int(match[1]) if match[1] else None, message[match.end() :])


class Place(NamedTuple):
    """Line of a file; as a str, it is the file and line as messages name them.

    Examples
    --------
    >>> str(Place("eng.txt", 7))
    'eng.txt, line 7'
    """

    file: File | str
    line: int

    def __str__(self) -> str:
        """Return file and line."""
        return f"{self.file}, line {self.line}"


class Damage:
    r"""Lines of a file that cannot be decoded, kept until the intent that they belong to is known.

    `langdiff.base.io.read_lines` marks them when its argument `on_fault` is `note`.

    Parameters
    ----------
    file : Path or Member
        The file.
    faults : Faults
        Where the lines are noted in the end.

    Examples
    --------
    >>> faults = Faults()
    >>> damage = Damage("eng.txt", faults)
    >>> damage.note(3, "a NUL byte.")
    >>> damage.is_in("In the\n\ufdd0beginning", Place("eng.txt", 2), "01001001")
    True
    >>> faults.found[0].line, faults.found[0].intent
    (3, '01001001')
    """

    def __init__(self, file: File | str, faults: Faults) -> None:
        self._file, self._faults = file, faults
        self._lines: list[tuple[int, str]] = []

    def note(self, line: int, what: str) -> None:
        """Record a line and its fault."""
        self._lines.append((line, what))

    def is_in(self, text: str, place: Place, intent: str | None) -> bool:
        """Return whether a text contains damage; if so, add it to the faults with its intent."""
        if DAMAGED not in text:
            return False
        own = [damage for damage in self._lines if place.line <= damage[0] <= place.line + text.count("\n")]
        self._lines = [damage for damage in self._lines if damage not in own]
        for line, what in own or [(place.line, "bytes that are not text, or U+FDD0, which is not a character.")]:
            self._faults.add(self._file, line, what, intent=intent)
        return True

    def close(self) -> None:
        """Add the lines that belong to no text to the faults."""
        lines, self._lines = self._lines, []
        for line, what in lines:
            self._faults.add(self._file, line, what)


LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class Events(XmlEvents):
    """Handler of the starts and ends of elements, with the faults found so far.

    Attributes
    ----------
    faults : Faults
        What is wrong with the file.
    damage : Damage
        Lines of it that are not text.
    """

    def __init__(self, file: File, faults: Faults) -> None:
        super().__init__(file)
        self.faults, self.damage = faults, Damage(file, faults)

    def where(self) -> Place:
        """Return the file and the current line."""
        return Place(self.file, self.line)

    def fault(self, what: str, intent: str | None = None) -> None:
        """Add a fault in the current line, because of which a text is left out."""
        self.faults.add(self.file, self.line, what, intent=intent)

    def damaged(self, line: int, what: str) -> None:
        """Record a line that cannot be decoded until its intent is known."""
        self.damage.note(line, what)


def read_corpus_xml(file: File, events: Events, *, errors: str = "strict", utf16: bool = False) -> None:
    """Parse a file as `langdiff.base.xml.read_xml` does; damaged lines are faults where they are in a text."""
    read_xml(file, events, errors=errors, utf16=utf16)
