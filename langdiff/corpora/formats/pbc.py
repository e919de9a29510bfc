"""The format of the Parallel Bible Corpus (Mayer & Cysouw 2014): one file an edition, one line a verse."""

import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from langdiff._io import atomic_path, read_lines
from langdiff.corpora.files import Paths, find_files, suffixes_of
from langdiff.corpora.formats.bible import VERSE_ID, VerseFile, catalogue_verses, check_options
from langdiff.corpora.metadata import FILE_NAME, find_metadata, metadata_csv
from langdiff.corpora.writing import check_empty, checked_name
from langdiff.errors import DataError, listing
from langdiff.multitext import Multitext

SUFFIXES = suffixes_of(".txt")
_NEXT = re.compile(r"\r[0-9]{8}\t")  # what would be the next line
_UNWRITABLE = re.compile(r"[\t\n\r\0\ud800-\udfff]")
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
class PbcText(VerseFile):
    """The verses of one file."""

    def verses(self, header: dict[str, str]) -> Iterator[tuple[str, str | None]]:
        """Yield (id, text or None if missing); put what lines above the first verse say into `header`."""
        lines: dict[str, int] = {}
        for number, line in read_lines(self.file, errors=self.errors):
            if line.startswith("#"):
                if not lines:
                    _read_header(line, header)
                continue
            verse, _, text = line.partition("\t")
            if not VERSE_ID.fullmatch(verse):
                if line.isspace() or not line:
                    continue
                raise DataError(f"{self.file}, line {number}: {_complaint(verse)}")
            if "\r" in text and _NEXT.search(text):
                raise DataError(
                    f"{self.file}, line {number}: lines end in \\r alone, as on old Macintoshes; convert them to \\n."
                )
            if lines.setdefault(verse, number) != number:
                raise DataError(f"{self.file}, lines {lines[verse]} and {number}: verse {verse} is there twice.")
            yield verse, None if _is_missing(text) else text


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

    A file is UTF-8 text, plain or compressed (``.gz``, ``.bz2``, ``.xz``, or in a ``.zip``). Lines that begin with
    ``#`` are comments; those above the first verse, ``# key: value``, describe the edition. Every
    other line is ``BBCCCVVV<TAB>text``: book 01–99 (66 is the Revelation), chapter 001–151, verse
    000–176 (000 is a title). A verse is missing if it has no line, or a text that is empty, white
    space or ``BLANK``. Empty lines count for nothing.

    The file's name without its ending is the edition; a name such as ``deu-luther1912.txt.gz`` or
    ``deu-x-bible-luther1912-v1.txt`` gives the language, too. Where metadata, header and name
    differ, the first of these is believed.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping
        A file, a zip archive or a directory (their ``.txt``, ``.txt.gz``, ``.txt.bz2`` and ``.txt.xz``
        files), a glob, or a mapping from edition to file.
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
        `intent_info` is the three-letter code of USFM (67 to 86: Tobit … Psalms of Solomon), beyond
        that the two digits.

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
    check_options(errors)
    files = find_files(path, SUFFIXES, editions)
    texts = {edition: PbcText(file, nfc=nfc, errors=errors) for edition, file in files.items()}
    table = find_metadata(files, metadata)
    return catalogue_verses(texts, table, in_order_of_metadata=editions is None, progress=progress)


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
    files = {edition: f"{checked_name(edition)}.txt" for edition in multitext.editions}
    check_empty(folder, files.values(), SUFFIXES)
    table = metadata_csv(multitext.edition_info, files)
    written = [folder / name for name in (*files.values(), FILE_NAME)]
    with ExitStack() as stack:  # renames all when every one is complete
        temporary = [stack.enter_context(atomic_path(file)) for file in written]
        for edition, file in zip(multitext.editions, temporary, strict=False):
            file.write_text(_format(multitext, edition), encoding="utf-8", newline="\n")
        temporary[-1].write_text(table, encoding="utf-8", newline="\n")
    return written


def are_verse_ids(intents: pd.Index) -> bool:
    """Whether every intent is a verse id, ``BBCCCVVV``, so that `write_pbc` can name it."""
    return all(isinstance(intent, str) and VERSE_ID.fullmatch(intent) for intent in intents)


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


def _check_ids(intents: pd.Index) -> None:
    if not are_verse_ids(intents):
        bad = [intent for intent in intents if not are_verse_ids(pd.Index([intent]))]
        raise DataError(
            f"{len(bad):,} of {len(intents):,} intents are no verse ids BBCCCVVV, which is all this format "
            f"can name: {listing(bad)}. Use write_moses, which can name any."
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
