"""Line-aligned text, as of Moses, OPUS, FLORES and NTREX: one file per edition, line k is intent k.

An empty line, or one of white space, is missing. An edition is named by its file without ``.txt`` and compression,
or else without the last ending (``deu_Latn.dev`` is ``deu_Latn``); where nearly all names end in a language
(``newstest2019-ref.spa.txt``, ``Europarl.de-en.de``), by that. Two files next to the texts are not editions:
``original_language.txt`` has the code of the language in which each intent was first said (empty or ``und`` where
unknown), and ``intents.txt`` the name of each intent, by default the number of its line; both have one line per
intent.

The table ``documents.tsv`` (or ``segments.tsv``; plain or compressed) gives the document of each intent: it has a
line of tab-separated names, then one line per intent. Of its columns, those named ``session``, ``document``, ``book``,
``chapter``, ``turn`` and ``speaker`` are read. Where there are a session and a chapter but no document, as in Europarl,
chapters are counted anew in each session, and speakers in each chapter: the document is then SESSION.CHAPTER, the turn
SESSION.CHAPTER.SPEAKER.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.progress import followed
from langdiff.base.types import Booleans, Floats
from langdiff.corpora.alignment.lengths import advice
from langdiff.corpora.edition_info import FILE_NAME, edition_info_csv
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import find_files, keep, suffixes_of
from langdiff.corpora.formats.format import Format, FormatText, Reading, text_files, writable_texts, write_files
from langdiff.errors import DataError, listing, option
from langdiff.tables.multitext import Multitext, multitext_from_matrix
from langdiff.tables.text_features import Measured, Measuring

logger = logging.getLogger(__name__)

SUFFIXES = suffixes_of(".txt")
ORIGINAL, INTENTS = "original_language", "intents"  # files beside the texts that are not editions
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")

COLUMNS = ("session", "document", "book", "chapter", "turn", "speaker")  # of a table of documents
NAMES = ("documents", "segments")
COMPARED = 16  # files whose lengths tell where another has lost a line
TABLES = suffixes_of(".tsv")
NTREX = "DOCUMENT_IDS.tsv"  # of NTREX as published: the document of each line, without a header
_NO_CELL = re.compile("[\t\n\r\0\ud800-\udfff]")


@dataclass(frozen=True)
class MosesText(FormatText):
    """Source of the lines of one file, read on demand.

    Attributes
    ----------
    file : Path or Member
        The file.
    intents : File or None
        The file that names the intents, one per line; by default they are the numbers of the lines.
    """

    file: File
    intents: File | None = None

    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield (intent, text) of the lines that are present."""
        names = self._names()
        for number, line in self.lines(faults):
            if line is not None and line.strip():
                yield names.get(number, str(number)), line

    def _names(self) -> dict[int, str]:
        return dict(read_lines(self.intents)) if self.intents else {}

    def lines(self, faults: Faults) -> Iterator[tuple[int, str | None]]:
        """Yield (number, line), with None for lines that are not text."""
        damaged: dict[int, str] = {}
        names: dict[int, str] | None = None
        for number, line in read_lines(self.file, errors=self.decode_errors, on_fault=damaged.__setitem__):
            if number in damaged:
                names = self._names() if names is None else names
                faults.add(self.file, number, damaged.pop(number), intent=names.get(number, str(number)))
                yield number, None
            else:
                yield number, line


def catalogue(reading: Reading) -> Multitext:
    """Catalogue line-aligned files."""
    found = find_files(reading.path, SUFFIXES, None, (ORIGINAL, INTENTS))
    beside = {name: found.pop(name) for name in (ORIGINAL, INTENTS) if name in found}
    files = keep(found, reading.editions)
    if not files:
        others = listing(str(file) for file in beside.values())
        raise DataError(f"{reading.path}: there is no edition, only {others}. Add the files of the editions.")
    for name in (ORIGINAL, INTENTS):
        beside |= {} if name in beside else _find_beside(name, files.values())
    if reading.original_language is not None:
        beside[ORIGINAL] = Path(reading.original_language).expanduser()
    files, known = reading.ordered(files)
    names = beside.get(INTENTS)
    texts = {edition: MosesText(file, names, **reading.how) for edition, file in files.items()}
    measured: dict[str, Measured] = {}
    present = _catalogue(texts, reading, measured)
    files = {edition: files[edition] for edition in present}
    matrix = np.column_stack(list(present.values()))
    intents = _intents(names, len(matrix), next(iter(files.values())))
    return multitext_from_matrix(
        {edition: texts[edition] for edition in present},
        matrix,
        intents=intents,
        edition_info=reading.describe(files, known, {}),
        intent_info=read_documents(find_documents(files.values()), intents).join(
            _origins(beside.get(ORIGINAL), intents)
        ),
        measured=measured,
    )


def write(multitext: Multitext, directory: Path) -> list[Path]:
    """Write line-aligned files, and the accompanying tables that are needed; see `langdiff.write_multitext`."""
    if taken := [name for name in (ORIGINAL, INTENTS) if name in multitext.editions]:
        raise DataError(f"edition {taken[0]!r} has the name of another file of this format. Rename the edition.")
    beside = _beside(multitext)
    files = text_files(multitext, directory, SUFFIXES, beside)
    beside[FILE_NAME] = edition_info_csv(multitext.edition_info, files)
    texts = ((file, _format(multitext, edition)) for edition, file in files.items())
    return write_files(directory, chain(texts, beside.items()))


def _find_beside(name: str, files: Iterable[File]) -> dict[str, File]:
    for folder in dict.fromkeys(file.parent for file in files):
        for suffix in SUFFIXES:
            if (folder / f"{name}{suffix}").is_file():
                return {name: folder / f"{name}{suffix}"}
    return {}


def _catalogue(texts: dict[str, MosesText], reading: Reading, measured: dict[str, Measured]) -> dict[str, Booleans]:
    """Return an indicator of the lines present, by edition; store the features of the texts in `measured`.

    Editions that cannot be read are left out; so are those whose number of lines is not that of most editions.
    """
    have: dict[str, Booleans] = {}
    ends: dict[str, int] = {}  # last lines that are not empty
    for edition in followed(texts, "cataloguing", progress=reading.progress):
        with reading.faults.of(edition, texts[edition].file):
            have[edition], ends[edition], measured[edition] = _present(texts[edition], reading.faults)
    if not have:
        reading.faults.check()
    lines = _usual_length({edition: (ends[edition], len(one)) for edition, one in have.items()})
    if longer := [edition for edition, one in have.items() if ends[edition] <= lines < len(one)]:
        have |= {edition: have[edition][:lines] for edition in longer}
        names = listing(texts[edition].file.name for edition in longer)
        logger.warning("empty lines after the last segment, %s, are not counted in %s", f"{lines:,}", names)
    pattern = next(texts[edition].file for edition, one in have.items() if len(one) == lines)
    present = {}
    for edition, one in have.items():
        file = texts[edition].file
        with reading.faults.of(edition, file):
            if len(one) != lines:
                others = [texts[other] for other, have_it in have.items() if len(have_it) == lines]
                where = advice(_lengths(texts[edition]), [_lengths(other) for other in others[:COMPARED]])
                raise DataError(
                    f"{file}: has {len(one):,} lines, {pattern} has {lines:,}: line k of every file must be the "
                    f"same segment. {where or 'A line for a segment that is missing is empty, not left out.'}"
                )
            if not one.any():
                raise DataError(f"{file}: holds no text.")
            present[edition] = one
    if not present:
        reading.faults.check()
    return present


def _lengths(text: MosesText) -> Floats:
    """Return the number of characters of every line."""
    return np.array([len((line or "").strip()) for _, line in text.lines(Faults())], dtype=float)


def _present(text: MosesText, faults: Faults) -> tuple[Booleans, int, Measured]:
    """Return an indicator of the lines present in a file, the number of the last nonempty line, and features."""
    have, end = [], 0
    measuring = Measuring()
    for number, line in text.lines(faults):
        have.append(line is not None and bool(line.strip()))
        if line is not None and have[-1]:
            measuring.add(line)
        if line is None or have[-1]:
            end = number
    return np.array(have, dtype=bool), end, measuring.finish()


def _usual_length(lengths: Mapping[str, tuple[int, int]]) -> int:
    """Return the number of lines of most files, without final empty lines that other files lack.

    Examples
    --------
    >>> _usual_length({"deu": (9, 10), "eng": (9, 9)}), _usual_length({"deu": (9, 10), "eng": (8, 10)})
    (9, 10)
    """
    most = Counter(length for _, length in lengths.values()).most_common(1)[0][0]
    last = max(end for end, length in lengths.values() if length == most)
    shorter = [length for _, length in lengths.values() if last <= length < most]
    return max(shorter, default=most)


def _intents(file: File | None, lines: int, beside: File) -> list[str]:
    if file is None:
        return [str(number) for number in range(1, lines + 1)]
    names = [line for _, line in read_lines(file)]
    if len(names) != lines:
        raise DataError(
            f"{file} has {len(names):,} lines, {beside} has {lines:,}: line k must name the intent of line k."
        )
    seen: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if seen.setdefault(name, number) != number:
            raise DataError(f"{file}, lines {seen[name]} and {number}: intent {name!r} is there twice.")
    return names


def _origins(file: File | None, intents: list[str]) -> pd.DataFrame:
    if file is None:
        return pd.DataFrame(index=intents)
    codes = [line.strip() for _, line in read_lines(file)]
    if len(codes) != len(intents):
        raise DataError(
            f"{file} has {len(codes):,} lines for {len(intents):,} intents: line k must be the original language "
            "of line k ('und' where it is not known)."
        )
    return pd.DataFrame({ORIGINAL: codes}, index=intents, dtype=object)


def _beside(multitext: Multitext) -> dict[str, str]:
    """Return the accompanying files of the editions, by name."""
    files = {}
    intents = [str(intent) for intent in multitext.intents]
    if intents != [str(number) for number in range(1, len(intents) + 1)]:
        files[f"{INTENTS}.txt"] = "".join(f"{_checked(intent, 'an intent')}\n" for intent in intents)
    if ORIGINAL in multitext.intent_info:
        codes = multitext.intent_info[ORIGINAL].astype(object)
        known = codes.where(codes.notna() & (codes != ""), "und")
        files[f"{ORIGINAL}.txt"] = "".join(f"{_checked(str(code), 'an original language')}\n" for code in known)
    return files | documents_tsv(multitext.intent_info)


def _checked(text: str, what: str) -> str:
    if found := _UNWRITABLE.search(text):
        raise DataError(f"{what}, {text!r}, holds {found[0]!r} and cannot stand on a line. Rename it.")
    return text


def _format(multitext: Multitext, edition: str) -> str:
    texts = writable_texts(multitext, edition, _UNWRITABLE, lambda text: not text.strip())
    return "".join(f"{texts.get(str(intent), '')}\n" for intent in multitext.intents)


def find_documents(files: Iterable[File]) -> File | None:
    """Return the path of the table of documents in the folder of one of the files; None without one."""
    for folder in dict.fromkeys(file.parent for file in files):
        for name in NAMES:
            for suffix in TABLES:
                if (folder / f"{name}{suffix}").is_file():
                    return folder / f"{name}{suffix}"
        for place in (folder, folder.parent):
            if (place / NTREX).is_file():
                return place / NTREX
    return None


def read_documents(file: File | None, intents: Sequence[str]) -> pd.DataFrame:
    """Read the attributes of intents from a table of documents."""
    if file is None:
        return pd.DataFrame(index=list(intents))
    header, *rows = [line.split("\t") for _, line in read_lines(file)] or [[]]
    if file.name == NTREX:
        header, rows = ["document"], [header, *rows]
    known = [name for name in COLUMNS if name in header]
    if not known:
        raise DataError(
            f"{file}: none of the columns {listing(COLUMNS, most=len(COLUMNS))} in its first line, which has "
            f"{listing(header)}. Name them there, or rename the file if it is about something else."
        )
    if len(rows) != len(intents):
        raise DataError(
            f"{file} has {len(rows):,} lines after the first for {len(intents):,} intents: line k + 1 must be about "
            "line k of the texts."
        )
    uneven = next((number for number, row in enumerate(rows, start=2) if len(row) != len(header)), None)
    if uneven is not None:
        raise DataError(
            f"{file}, line {uneven}: {len(rows[uneven - 2])} cells, but line 1 names {len(header)} columns."
        )
    table = pd.DataFrame(rows, columns=header, index=list(intents), dtype=object)[known]
    return _with_unique_names(table.mask(table == "", np.nan))


def _with_unique_names(table: pd.DataFrame) -> pd.DataFrame:
    """Return the attributes with names of documents and turns that include their session and chapter."""
    if not {"session", "chapter"} <= set(table) or "document" in table:
        return table
    document = table["session"] + "." + table["chapter"]
    columns = {"session": table["session"], "document": document}
    if "speaker" in table:
        columns["turn"] = document + "." + table["speaker"]
    return pd.DataFrame(columns)


def documents_tsv(intent_info: pd.DataFrame) -> dict[str, str]:
    """Return name and content of the table that `read_documents` reads; an empty mapping if no attribute belongs in it.

    Raises
    ------
    DataError
        If a value holds a tab or a line break.
    """
    known = [name for name in COLUMNS if name in intent_info]
    if not known:
        return {}
    table = intent_info[known].astype(object)
    lines = [known]
    for intent, row in zip(table.index, table.where(table.notna(), "").to_numpy(), strict=True):
        lines.append([str(value) for value in row])
        bad = [value for value in lines[-1] if _NO_CELL.search(value)]
        if bad:
            raise DataError(
                f"{option('intent_info')}: {bad[0]!r} of intent {intent!r} holds a tab, a line break or another "
                "character that cannot stand in a table. Rename it."
            )
    return {f"{NAMES[0]}.tsv": "".join("\t".join(line) + "\n" for line in lines)}


FORMAT = Format(name="moses", suffixes=SUFFIXES, catalogue=catalogue, options=("original_language",), write=write)
