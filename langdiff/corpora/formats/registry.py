"""Reading and writing of multitexts in any format."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import read_lines
from langdiff.base.plugins import with_plugins
from langdiff.base.remote import local_copies, local_copy
from langdiff.base.types import AnyFormat, FormatName, OnError, OwnKind, Ranges
from langdiff.corpora.files import Paths, files_in
from langdiff.corpora.formats.bible import are_verse_ids
from langdiff.corpora.formats.format import Format, Reading
from langdiff.errors import ConfigError, DataError, Fault, FaultsError, en, option
from langdiff.tables.multitext import Multitext

_HEAD = 2000  # lines of XML and JSON to look at


def guess_format(path: Paths, formats: Sequence[Format]) -> Format:
    """Return the format of the first file whose beginning is recognized, else that of neighbouring files.

    A README may come first. Line-aligned text is never guessed, because any text could be that; tables are, only where
    nothing else was given, because tables about editions lie beside texts.
    """
    suffixes = tuple(dict.fromkeys(suffix for format in formats if format.beginning for suffix in format.suffixes))
    files = files_in(list(path.values()) if isinstance(path, Mapping) else path, suffixes, tell=False)
    unreadable: DataError | None = None
    for file in files:
        try:
            if found := _of_beginning(file, formats):
                return found
        except DataError as error:
            unreadable = unreadable or error
    for format in formats:
        if format.beside is not None and format.beside(files):
            return format
    if unreadable is not None:
        raise unreadable
    known = ", ".join(format.name for format in formats if format.beginning or format.beside)
    raise DataError(
        f"{files[0]}: the file begins as in none of the formats that can be recognized ({known}). If line k of "
        f"every file is segment k, pass {option('format', 'moses')}; a table with one column per edition is one file, "
        "*.csv or *.tsv."
    )


def _of_beginning(file: File, formats: Sequence[Format]) -> Format | None:
    """Return the format whose pattern matches the shortest beginning of a file; None if no pattern matches."""
    faults: list[Fault] = []
    head = _head(file, faults)
    matches = [
        (match.end(), format)
        for format in formats
        if format.beginning and (not format.named or file.name.lower().endswith(format.suffixes))
        if (match := format.beginning.match(head))
    ]
    if faults and not matches:
        raise FaultsError(faults[:1])
    return min(matches, key=lambda match: match[0])[1] if matches else None


def _head(file: File, faults: list[Fault]) -> str:
    """Return the lines up to the first that is neither empty nor a comment, or more lines of XML and JSON."""

    def note(line: int, what: str) -> None:
        faults.append(Fault(str(file), line, what))

    read = read_lines(file, errors="replace", on_fault=note)  # of a known format, its reader says what is wrong
    lines = (line for _, line in islice(read, _HEAD))
    head = []
    for line in lines:
        head.append(line)
        text = line.strip()
        if text.startswith(("<", "{")):
            head += lines
        elif text and not text.startswith("#"):
            break
    return "\n".join(head)


FORMATS: dict[str, Format] = {
    name: import_module(f"langdiff.corpora.formats.{name}").FORMAT for name in get_args(FormatName)
}


def known_formats() -> dict[str, Format]:
    """Return all formats by name, those of plug-ins last."""
    return with_plugins("formats", FORMATS)


OPTIONS = tuple(dict.fromkeys(option for format in FORMATS.values() for option in format.options))


def check_format_options(format: str | Format, given: Iterable[str]) -> None:
    """Check that a format has the given options."""
    found = known_formats()[format] if isinstance(format, str) else format
    for name in given:
        if name not in found.options:
            known = [each.name for each in FORMATS.values() if name in each.options]
            have = f"{en(known)} {'have' if len(known) > 1 else 'has'}"
            raise ConfigError(f"format {found.name!r} does not have the option {option(name)}; {have}.")


def read_multitext(
    path: Paths,
    *,
    format: AnyFormat | str | Format = "auto",
    edition_info: str | Path | pd.DataFrame | None = None,
    edition_columns: Mapping[str, str] | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    decode_errors: Literal["strict", "replace"] = "strict",
    on_error: OnError = "raise",
    ranges: Ranges | None = None,
    markers: Mapping[str, OwnKind] | None = None,
    vref: str | Path | None = None,
    original_language: str | Path | None = None,
    columns: Mapping[str, str] | None = None,
    split: str | None = None,
    progress: bool | None = None,
    trust: Sequence[str] = (),
) -> Multitext:
    r"""Catalogue a multitext in any supported format; texts are read from their files on demand.

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from edition to file
        Files, directories, globs or archives (zip, tar); files may be compressed (``.gz``, ``.bz2``, ``.xz``). The name
        of a file without its ending is the edition, and if it begins with the code of a language
        (``deu-luther1912.txt.gz``), that is the edition's language. Files and globs elsewhere, given by their address
        (``https://``, ``hf://``, ``s3://``, ``gs://`` or ``az://``), are brought into the user's cache and read there.
    format : str or Format
        ``"pbc"`` (Parallel Bible Corpus), ``"ebible"`` (eBible corpus), ``"usfm"``, ``"usx"``, ``"usj"``, ``"usfx"``,
        ``"osis"``, ``"zefania"``, ``"beblia"``, ``"ces"`` (XML Bibles of Christodoulopoulos & Steedman), ``"moses"``
        (line-aligned text), ``"costep"`` (structured Europarl), ``"mteval"`` (test sets of WMT and NIST, in SGML or
        XML), ``"tmx"`` (translation memories), ``"jsonl"`` (JSON Lines), ``"parquet"`` (also Arrow) or ``"table"`` (one
        ``.csv`` or ``.tsv`` file: the intents in its first column, an edition in each other, an empty cell where a text
        is missing). ``"auto"`` recognizes all but ``"moses"``, which any text could be, by the beginning of the files,
        and ``"table"`` by the name of the file. A `langdiff.corpora.Format` reads files in a format of your own.
    edition_info : str, Path or DataFrame, optional
        Information on the editions: a frame indexed by edition, or a CSV file with a column ``file`` or ``edition``
        and other columns, which are kept as text; ``iso639_3`` becomes the column ``language`` of `edition_info` (and
        ``language``, beside it, ``language_name``), and ``family``, ``title``, ``year``, ``licence`` and any other
        keep their names. It counts more than what files and their names say. By default ``metadata.csv`` in each
        file's directory, if there is one.
    edition_columns : mapping from str to str, optional
        Columns of `edition_info` that have other names, such as ``{"Dateiname": "file", "Sprache": "language"}``: their
        name, and that of langdiff. Those that the usual corpora have (``Filename``, ``ISO_639-3``, ``iso``,
        ``languageCode``, ``translationId``) are recognized.
    editions : str or iterable of str, optional
        Editions to read, in the order wanted; by default all, in the order of `edition_info`, then by name.
    nfc : bool
        Whether to normalize texts to Unicode NFC; the column ``normalization`` of `edition_info` says which.
    decode_errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are a fault or become U+FFFD.
    on_error : {"raise", "skip"}
        Treatment of faults in the files. All files are read in either case. ``"raise"``: if there are faults, they are
        one error, which has all of them. ``"skip"``: what is faulty is left out, and the attribute ``left_out`` of the
        multitext says what and why; ``skipped`` lists every fault. What is left out is the smallest unit that the
        fault touches: one text where only a verse, line or segment is faulty (bytes that are not text, an id that is
        malformed or of a verse that does not exist, an unknown marker), the texts of a chapter that does not exist or
        has three verses or more that do not, every text of an intent that an edition has twice, a book of ``"usfm"``
        that cannot be read, the rest of a Bible in XML that is not well-formed, and the edition where a file is
        damaged or not in the format, has more than a thousand faults, or another number of lines than most (in
        ``"moses"``, empty lines at its end that other files do not have are not counted). Files that are about all
        editions, such as ``vref.txt``, must be without fault.
    ranges : {"missing", "merge"}, optional
        Treatment of verses that were translated together, in Bibles but ``"pbc"`` and ``"ces"``: all of them
        are missing (the default), or the first has the text and the others are missing.
    markers : mapping from str to {"char", "note", "para", "skip"}, optional
        What the markers of one's own are in ``"usfm"``, ``"usx"``, ``"usj"`` and ``"usfx"``, such as ``{"untr":
        "char"}``: a style of characters (``char``), whose text is that of the verse; a note, left out up to its end; a
        paragraph of text (``para``); or to be left out with what it holds, up to its end or to the next paragraph
        (``skip``), as ``\z…`` is. They count more than the markers of USFM.
    vref : str or Path, optional
        List of the verses of ``"ebible"``, one per line; by default ``vref.txt`` among the files, in their directory,
        the one above, or its directory ``metadata``.
    original_language : str or Path, optional
        For ``"moses"``: file with the code of the language in which each intent was first said, one per line, empty or
        ``und`` where unknown; by default ``original_language.txt`` (or compressed) in the files' directory, if there
        is one. It becomes the column ``original_language`` of `intent_info`.
    columns : mapping from str to str, optional
        For ``"jsonl"`` and ``"parquet"``: the columns that hold ``text``, ``edition``, ``intent`` and
        ``document``, such as ``{"text": "sentence"}``, where they cannot be told by their names.
    split : str, optional
        For ``"jsonl"`` and ``"parquet"``: which files to read (``"dev"``) where a folder has those of several splits.
    progress : bool, optional
        Whether to draw a progress bar on stderr; by default only if stderr is a terminal.
    trust : sequence of str
        Kinds of doubts (``"markup"``, …) that are not raised, because the texts are so on purpose. Other texts that
        look faulty are refused, repaired or named in ``left_out``: its levels ``repaired`` and ``doubted`` say that the
        texts are there.

    Returns
    -------
    Multitext
        One edition per file, except that it is one per directory or archive in ``"usfm"``, ``"usx"`` and ``"usj"``, per
        language in ``"costep"``, per language or further reference in ``"mteval"`` and per column in ``"table"``.
        Intents of Bibles are verse ids, ``BBCCCVVV``, that any file lists, in order; verses of books that have no
        number of two digits are left out, and the column ``left_out`` of `edition_info` names these books. Its column
        ``versification`` says how the edition numbers chapters and verses (``org``, ``eng``, ``vul``, ``lxx``, ``rso``
        or ``rsc``), where they tell, and ``extra_verses`` how many of its verses no versification has. Other intents
        are called by the number of their line (``"moses"``), ``DATE.CHAPTER.TURN.PARAGRAPH`` (``"costep"``) or
        ``DOCID/SEGID`` (``"mteval"``; ``SETID/DOCID/SEGID`` if there are several sets); of the last two, `intent_info`
        has the ``original_language``. What an intent belongs to is said by its columns ``book`` (code of three letters)
        and ``chapter`` (five digits, book and chapter) in Bibles, else ``document``: that of ``"mteval"``,
        ``DATE.CHAPTER`` in ``"costep"`` (beside ``session``, ``turn`` and ``speaker``), and in ``"moses"`` what a table
        ``documents.tsv`` beside the texts says.

    Raises
    ------
    ConfigError
        If the format is unknown or does not have an option that was given, or an option has an unknown value.
    DataError
        If the format is not recognized, nothing is found, two files are the same edition, or a file is damaged,
        malformed, binary, not UTF-8 or without text. Of files of editions, all faults are reported at once, as a
        `langdiff.errors.FaultsError`; the message names file and line.

    Warns
    -----
    LangdiffWarning
        If there are faults and `on_error` is ``"skip"``; if turns of ``"costep"`` are left out because their languages
        have different numbers of paragraphs; `langdiff.corpora.costep_statistics` gives all figures. In Bibles, if the
        number of a book stands before its chapters and is taken away, or editions have different versifications.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = Path(directory, "eng-a.txt").write_text("01001001\tone\n01001002\ttwo\n")
    ...     _ = Path(directory, "deu-b.txt").write_text("01001001\teins\n")
    ...     read_multitext(f"{directory}/*.txt")
    Multitext: 2 intents × 2 editions (2 languages), 1 of 4 cells missing

    A table has all editions:

    >>> with tempfile.TemporaryDirectory() as directory:
    ...     _ = Path(directory, "texts.csv").write_text("id,eng,deu\ns1,a dog,ein Hund\ns2,a cat,\n")
    ...     read_multitext(f"{directory}/texts.csv").to_frame()
                  eng       deu
    intent
    s1          a dog  ein Hund
    s2          a cat       NaN
    """
    if not isinstance(format, Format) and format not in ("auto", *(formats := known_formats())):
        raise ConfigError(f"unknown format {format!r}; use one of auto, {', '.join(formats)}.")
    if isinstance(path, Iterator):
        path = list(path)  # it is gone through twice
    path = local_copies(path)
    edition_info, vref, original_language = map(local_copy, (edition_info, vref, original_language))
    if isinstance(format, Format):
        found = format
    else:
        formats = known_formats()
        found = guess_format(path, list(formats.values())) if format == "auto" else formats[format]
    given: dict[str, Any] = {
        "ranges": ranges,
        "markers": markers,
        "vref": vref,
        "original_language": original_language,
        "columns": columns,
        "split": split,
    }
    check_format_options(found, [name for name, value in given.items() if value is not None])
    reading = Reading(
        path=path,
        edition_info=edition_info,
        edition_columns=edition_columns,
        editions=editions,
        nfc=nfc,
        decode_errors=decode_errors,
        on_error=on_error,
        progress=progress,
        trust=trust,
        **given | {"ranges": "missing" if ranges is None else ranges, "markers": dict(markers or {})},
    )
    return reading.faults.applied(found.catalogue(reading))


def write_multitext(multitext: Multitext, directory: str | Path, *, format: AnyFormat | Format = "auto") -> list[Path]:
    """Write one file per edition, in a format that `read_multitext` can read.

    Texts come back as they were if they are in NFC or are read with ``nfc=False``. What is known of the editions is
    written as text, into ``metadata.csv``; of what is known of the intents, only ``original_language`` and the columns
    of ``documents.tsv`` (in ``"moses"``, ``"jsonl"`` and ``"parquet"``), or ``book`` and ``chapter`` (in ``"pbc"``,
    where the ids say them) come back.

    Parameters
    ----------
    multitext : Multitext
        Multitext to write; all its texts are read.
    directory : str or Path
        Folder to write to; it is made if it does not exist.
    format : {"auto", "pbc", "moses", "jsonl", "parquet"}, or a Format of your own
        ``"pbc"`` for Bibles: every file lists every intent, in the order of their ids. ``"moses"`` for anything:
        line-aligned files, with ``intents.txt`` unless the intents are 1, 2, 3 …, ``original_language.txt`` if
        `intent_info` has this column, and ``documents.tsv`` if it has others such as ``document``. ``"jsonl"`` and
        ``"parquet"`` for anything: intent, edition, text, language and attributes of intents are columns. ``"auto"`` is
        ``"pbc"`` if every intent is a verse id, else ``"moses"``.

    Returns
    -------
    list of Path
        The files of the editions, then the others. All of them are written, or none if an error occurs.

    Raises
    ------
    ConfigError
        If the format is unknown or cannot be written.
    DataError
        If the format cannot hold a name or a text: an intent that is not a verse id (``"pbc"``), a text with a tab
        (``"pbc"``), a line break, NUL or half a surrogate pair, one that would be read as missing, or an edition
        without any text.
    OutputError
        If the directory holds other files that would be read with these, or cannot be written to.

    Examples
    --------
    >>> import langdiff as ld, tempfile
    >>> multitext = ld.read_frame(
    ...     pd.DataFrame({"eng": ["a dog", "a cat"], "deu": ["ein Hund", None]}, index=["1", "2"])
    ... )
    >>> with tempfile.TemporaryDirectory() as directory:
    ...     [file.name for file in write_multitext(multitext, directory)]
    ['eng.txt', 'deu.txt', 'metadata.csv']
    """
    if format == "auto":
        format = "pbc" if are_verse_ids(multitext.intents) else "moses"
    found = format if isinstance(format, Format) else known_formats().get(format)
    write = found.write if found is not None else None
    if write is None:
        writable = ", ".join(name for name, known in known_formats().items() if known.write)
        name = format.name if isinstance(format, Format) else format
        raise ConfigError(f"format {name!r} cannot be written; use one of auto, {writable}.")
    return write(multitext, Path(directory).expanduser())
