"""The format of the Parallel Bible Corpus (Mayer & Cysouw 2014): one file an edition, one line a verse."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff._io import atomic_path, read_lines
from langdiff._progress import progress_bar
from langdiff.corpora.files import Paths, find_files
from langdiff.corpora.metadata import FILE_NAME, edition_info_of, find_metadata, metadata_csv
from langdiff.errors import ConfigError, DataError, OutputError, listing
from langdiff.multitext import Multitext, multitext_from_sources

_SUFFIXES = (".txt", ".txt.gz", ".txt.bz2", ".txt.xz")
# BB 01-99, CCC 001-151 (Psalm 151 of the Septuagint), VVV 000-176 (0 a title; Psalm 119:176)
_VERSE_ID = re.compile(r"(?!00)[0-9]{2}(?:0(?!00)[0-9]{2}|1[0-4][0-9]|15[01])(?:0[0-9]{2}|1[0-6][0-9]|17[0-6])")
_UNWRITABLE = re.compile(r"[\t\n\r\0\ud800-\udfff]")
_BOOKS = (
    "GEN EXO LEV NUM DEU JOS JDG RUT 1SA 2SA 1KI 2KI 1CH 2CH EZR NEH EST JOB PSA PRO ECC SNG ISA JER LAM EZK "
    "DAN HOS JOL AMO OBA JON MIC NAM HAB ZEP HAG ZEC MAL MAT MRK LUK JHN ACT ROM 1CO 2CO GAL EPH PHP COL 1TH "
    "2TH 1TI 2TI TIT PHM HEB JAS 1PE 2PE 1JN 2JN 3JN JUD REV"
)
_HEADER = {  # what header lines call it, in lower case: the column of edition_info
    "closest iso 639-3": "language",
    "iso-639-3": "language",
    "language_name": "language_name",
    "iso 15924": "script",
    "title": "title",
    "english_title": "title",
    "vernacular_title": "title",
    "year_short": "year",
    "licence": "licence",
    "copyright_short": "licence",
}
_WRITTEN_HEADER = ("language_name", "closest ISO 639-3", "year_short", "title", "licence")


@dataclass(frozen=True)
class PbcText:
    """The verses of one file, read when asked for.

    Attributes
    ----------
    path : Path
        The file.
    nfc : bool
        Whether texts are normalised to Unicode NFC.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.
    """

    path: Path
    nfc: bool = True
    errors: str = "strict"

    def read(self) -> pd.Series:
        """Return the texts present, indexed by verse id, in the order of the file."""
        texts = {verse: text for verse, text in _verses(self.path, self.errors, {}) if text is not None}
        if self.nfc:
            texts = {verse: unicodedata.normalize("NFC", text) for verse, text in texts.items()}
        return pd.Series(list(texts.values()), index=list(texts), dtype=object)


def read_pbc(
    path: Paths,
    *,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue files of the Parallel Bible Corpus; the texts stay there until asked for.

    A file is UTF-8 text, plain or compressed (``.gz``, ``.bz2``, ``.xz``). Lines that begin with
    ``#`` are comments; those above the first verse, ``# key: value``, describe the edition. Every
    other line is ``BBCCCVVV<TAB>text``: book 01–99 (66 is the Revelation), chapter 001–151, verse
    000–176 (000 is a title). A verse is missing if it has no line, or a text that is empty, white
    space or ``BLANK``. Empty lines count for nothing.

    The file's name without its ending is the edition; a name such as ``deu-luther1912.txt.gz`` or
    ``deu-x-bible-luther1912-v1.txt`` gives the language, too. Where metadata, header and name
    differ, the first of these is believed.

    Parameters
    ----------
    path : str, Path or sequence of these
        A file, a directory (its ``.txt``, ``.txt.gz``, ``.txt.bz2`` and ``.txt.xz`` files) or a glob.
    metadata : str or Path, optional
        CSV file with a column ``file`` or ``edition`` and, in the other columns, what is known of
        the editions, kept as text: ``iso639_3`` becomes the column ``language`` of `edition_info`
        (and ``language``, beside it, ``language_name``); ``family``, ``title``, ``year``, ``licence``
        and any other keep their names. By default ``metadata.csv`` in each file's folder, if there.
    editions : str or iterable of str, optional
        Editions to read, in the order wanted; by default all, as the metadata order them, then by name.
    nfc : bool
        Normalise texts to Unicode NFC; the column ``normalization`` of `edition_info` says so.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.
    progress : bool, optional
        Draw a progress bar or not; by default only if stderr is a terminal.

    Returns
    -------
    Multitext
        Its intents are the verse ids that any file lists, in order; the column ``book`` of
        `intent_info` is the three-letter code of USFM, beyond book 66 the two digits.

    Raises
    ------
    DataError
        If nothing is found, two files are the same edition, an id is malformed, out of range or
        there twice, a file holds no verse, or is damaged, binary or not UTF-8.
    ConfigError
        If `errors` is neither of the two.

    References
    ----------
    Mayer & Cysouw (2014), "Creating a massively parallel Bible corpus", LREC.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "deu-test.txt").write_text("# title: Test\n01001001\tIm Anfang\n")
    ...     multitext = read_pbc(folder)
    ...     print(multitext.text("deu-test").to_dict())
    {'01001001': 'Im Anfang'}
    >>> multitext.edition_info.loc["deu-test", "language"]
    'deu'
    """
    if errors not in ("strict", "replace"):
        raise ConfigError(f"errors must be 'strict' or 'replace', got {errors!r}.")
    files = find_files(path, _SUFFIXES, editions)
    table = find_metadata(files, metadata)
    if editions is None:
        files = {edition: files[edition] for edition in dict.fromkeys([*table.index, *files])}
    headers: dict[str, dict[str, str]] = {edition: {} for edition in files}
    listed: set[int] = set()
    present: dict[str, np.ndarray] = {}  # numbers, not strings: a thousand editions must fit
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("cataloguing", total=len(files), note="")
        for edition, file in files.items():
            bar.update(task, note=edition)
            present[edition] = _catalogue(file, errors, headers[edition], listed)
            bar.advance(task)
    numbers = np.array(sorted(listed))
    verses = [f"{number:08d}" for number in numbers]
    info = edition_info_of(files, table, headers)
    return multitext_from_sources(
        {edition: PbcText(file, nfc, errors) for edition, file in files.items()},
        {edition: map(verses.__getitem__, numbers.searchsorted(have)) for edition, have in present.items()},
        intents=verses,
        edition_info=info.assign(normalization="NFC" if nfc else "as is", path=[str(f) for f in files.values()]),
        intent_info=pd.DataFrame({"book": [_book(verse) for verse in verses]}, index=verses),
    )


def write_pbc(multitext: Multitext, path: str | Path) -> list[Path]:
    """Write one file an edition and ``metadata.csv`` into a directory, all of them or none.

    Every file lists every intent, with no text where the edition lacks it. `read_pbc` gives the
    texts back as they were, if they were in NFC or it is told ``nfc=False``; intents come in order
    of their ids, what is known of the editions as text, and of what is known of the intents only ``book``.

    Parameters
    ----------
    multitext : Multitext
        Its intents are verse ids, ``BBCCCVVV``.
    path : str or Path
        The directory, made if need be.

    Returns
    -------
    list of Path
        The files of the editions, then the metadata.

    Raises
    ------
    DataError
        If an intent is no verse id, or a text cannot stand in such a file: one with a tab, a line
        break, NUL or half a surrogate pair, or one that would be read as missing.
    OutputError
        If the directory holds other files that would be read with these, or cannot be written.
    """
    folder = Path(path).expanduser()
    _check_ids(multitext.intents)
    files = {edition: f"{_checked_name(edition)}.txt" for edition in multitext.editions}
    _check_empty(folder, files.values())
    table = metadata_csv(multitext.edition_info, files)
    written = [folder / name for name in (*files.values(), FILE_NAME)]
    with ExitStack() as stack:  # renames all when every one is complete
        temporary = [stack.enter_context(atomic_path(file)) for file in written]
        for edition, file in zip(multitext.editions, temporary, strict=False):
            file.write_text(_format(multitext, edition), encoding="utf-8", newline="\n")
        temporary[-1].write_text(table, encoding="utf-8", newline="\n")
    return written


def _catalogue(file: Path, errors: str, header: dict[str, str], listed: set[int]) -> np.ndarray:
    numbers = []
    for verse, text in _verses(file, errors, header):
        number = int(verse)
        listed.add(number)
        if text is not None:
            numbers.append(number)
    if not numbers:
        raise DataError(f"{file}: holds no verse; expected lines of BBCCCVVV<TAB>text.")
    return np.array(numbers, dtype=np.int32)


def _verses(path: Path, errors: str, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
    """Yield (id, text or None if missing); put what lines above the first verse say into `header`."""
    lines: dict[str, int] = {}
    for number, line in read_lines(path, errors=errors):
        if line.startswith("#"):
            if not lines:
                _read_header(line, header)
            continue
        verse, _, text = line.partition("\t")
        if not _VERSE_ID.fullmatch(verse):
            if line.isspace() or not line:
                continue
            raise DataError(f"{path}, line {number}: {_complaint(verse)}")
        if lines.setdefault(verse, number) != number:
            raise DataError(f"{path}, lines {lines[verse]} and {number}: verse {verse} is there twice.")
        yield verse, None if _is_missing(text) else text


def _is_missing(text: str) -> bool:
    return not text or text.isspace() or text.strip() == "BLANK"


def _complaint(verse: str) -> str:
    if re.fullmatch(r"[0-9]{8}", verse):
        return (
            f"verse id {verse} is out of range (book 01-99, chapter 001-151, verse 000-176): "
            f"book {verse[:2]}, chapter {verse[2:5]}, verse {verse[5:]}."
        )
    shown = verse if len(verse) <= 20 else verse[:20] + "…"
    return f"expected BBCCCVVV<TAB>text, a verse id of eight digits, got {shown!r}."


def _read_header(line: str, header: dict[str, str]) -> None:
    key, _, value = line.lstrip("#").partition(":")
    column, value = _HEADER.get(key.strip().lower()), value.strip()
    if column is not None and value and value != "Not available":
        header.setdefault(column, value)


def _book(verse: str) -> str:
    number = int(verse[:2])
    return _BOOKS[4 * number - 4 : 4 * number - 1] or verse[:2]


def _check_ids(intents: pd.Index) -> None:
    bad = [intent for intent in intents if not (isinstance(intent, str) and _VERSE_ID.fullmatch(intent))]
    if bad:
        raise DataError(
            f"{len(bad):,} of {len(intents):,} intents are no verse ids BBCCCVVV, which is all this format "
            f"can name: {listing(bad)}. Save the texts another way, such as multitext.to_frame().to_csv()."
        )


def _checked_name(edition: object) -> str:
    name = str(edition)
    if not name or name.startswith(".") or not name.isprintable() or "/" in name or "\\" in name:
        raise DataError(f"edition {edition!r} cannot be the name of a file. Rename it.")
    return name


def _check_empty(folder: Path, files: Iterable[str]) -> None:
    ours = set(files)
    there = sorted(file.name for file in folder.iterdir()) if folder.is_dir() else []
    others = [name for name in there if name.lower().endswith(_SUFFIXES) and name not in ours]
    if others:
        raise OutputError(
            f"{folder}: holds {len(others)} other file(s) that would be read with the ones to write: "
            f"{listing(others)}. Choose an empty directory."
        )


def _format(multitext: Multitext, edition: str) -> str:
    texts = {str(intent): text for intent, text in multitext.text(edition).items()}
    if not texts:
        raise DataError(f"edition {edition!r} has no text at all; leave it out with multitext.sel(editions=...).")
    for intent, text in texts.items():
        found = _UNWRITABLE.search(text)
        if found or _is_missing(text):
            why = f"{found[0]!r} at position {found.start()}" if found else "would be read as missing"
            raise DataError(
                f"edition {edition!r}, intent {intent!r}: the format cannot hold this text: {why}. "
                "Change such texts with multitext.map_text(...)."
            )
    known = multitext.edition_info.loc[[edition]].iloc[0].dropna()
    header = ""
    for key in _WRITTEN_HEADER:
        if (column := _HEADER[key.lower()]) in known:
            header += f"# {key + ':':<21} {' '.join(str(known[column]).split())}\n"
    return header + "".join(f"{intent}\t{texts.get(intent, '')}\n" for intent in sorted(multitext.intents))
