"""Declaration of a format of corpus files, the arguments of its reader, and functions shared by writers."""

import re
import unicodedata
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from langdiff.base.archives import File
from langdiff.base.io import atomic_path, file_names
from langdiff.base.remote import source_of
from langdiff.base.types import OnError, OwnKind, Ranges
from langdiff.corpora.edition_info import edition_info_of, find_edition_info
from langdiff.corpora.faults import Faults
from langdiff.corpora.files import Paths, find_files
from langdiff.errors import ConfigError, DataError, OutputError, listing, option, words
from langdiff.tables.multitext import Multitext, multitext_from_sources
from langdiff.tables.text_doubts import repaired
from langdiff.tables.text_features import measure

_PREAMBLE = r"(?:[^\S\n]*(?:#[^\n]*)?\n)*[^\S\n]*"  # empty lines and comments


@dataclass(frozen=True, kw_only=True)
class Reading:
    """Arguments of `langdiff.read_multitext`, as a format's reader gets them.

    Attributes
    ----------
    path, edition_info, edition_columns, editions, nfc, decode_errors, on_error
        See `langdiff.read_multitext`.
    ranges, markers, vref, original_language, columns, split, progress, trust
        See `langdiff.read_multitext`.
    faults : Faults
        What is wrong with the files; readers add to it, and leave out what is faulty.

    Raises
    ------
    ConfigError
        If `decode_errors`, `on_error` or `ranges` has an unknown value.
    """

    path: Paths
    edition_info: str | Path | pd.DataFrame | None = None
    edition_columns: Mapping[str, str] | None = None
    editions: Iterable[str] | None = None
    nfc: bool = True
    decode_errors: str = "strict"
    on_error: OnError = "raise"
    ranges: Ranges = "missing"
    markers: Mapping[str, OwnKind] = field(default_factory=dict)
    vref: str | Path | None = None
    original_language: str | Path | None = None
    columns: Mapping[str, str] | None = None
    split: str | None = None
    progress: bool | None = None
    trust: Iterable[str] = ()
    faults: Faults = field(init=False)

    def __post_init__(self) -> None:
        """Check the choices among fixed values."""
        object.__setattr__(self, "faults", Faults(self.on_error, self.trust))
        for name, known in (("decode_errors", ("strict", "replace")), ("ranges", ("missing", "merge"))):
            if (given := getattr(self, name)) not in known:
                raise ConfigError(f"{name} must be {known[0]!r} or {known[1]!r}, got {given!r}.")

    def files(self, suffixes: Sequence[str]) -> dict[str, File]:
        """Return the file of every requested edition; see `langdiff.corpora.files.find_files`.

        Parameters
        ----------
        suffixes : sequence of str
            Endings of the format's file names, such as ``.txt.gz``; case does not matter.

        Returns
        -------
        dict from edition to Path or Member
            The files, in the order of the editions asked for, or by name.

        Raises
        ------
        DataError
            If nothing is found, two files are the same edition, or an edition asked for has no file.
        """
        return find_files(self.path, suffixes, self.editions)

    def ordered(self, files: Mapping[str, File]) -> tuple[dict[str, File], pd.DataFrame]:
        """Read the table of editions, and sort the files in its order unless the user gave one.

        Parameters
        ----------
        files : mapping from edition to Path or Member
            Files of the editions, as `files` returns them.

        Returns
        -------
        files : dict from edition to Path or Member
            The same files; editions that the table does not know come last.
        known : DataFrame
            Table of editions, as `langdiff.corpora.edition_info.find_edition_info` returns it.

        Raises
        ------
        DataError
            If the table of editions cannot be read, or does not have the columns asked for.
        ConfigError
            If `edition_columns` are given and there is no table.
        """
        known = find_edition_info(files, self.edition_info, self.edition_columns)
        order = dict.fromkeys([*known.index, *files]) if self.editions is None else files
        return {edition: files[edition] for edition in order}, known

    @property
    def how(self) -> dict[str, Any]:
        """Options common to every `FormatText`."""
        same = {"nfc": self.nfc, "decode_errors": self.decode_errors, "on_error": self.on_error}
        return same | {"trust": self.faults.doubts.trust}

    def describe(
        self, files: Mapping[str, File], known: pd.DataFrame, headers: Mapping[str, Mapping[str, str]]
    ) -> pd.DataFrame:
        """Return the `edition_info` of a multitext: known attributes, those of headers, and how files were read.

        Parameters
        ----------
        files : mapping from edition to Path or Member
            The editions, in order.
        known : DataFrame
            Table of editions, as `ordered` returns it.
        headers : mapping from edition to mapping
            For each edition, column to value, from the header of its file.
        """
        info = edition_info_of(files, known, headers)
        if self.faults.doubts.trust:
            info = info.assign(trust=" ".join(self.faults.doubts.trust))
        sources = [source_of(file) for file in files.values()]
        if any(sources):  # files elsewhere, of which there is a copy in the cache
            info = info.assign(sha256=[np.nan if source is None else source[1] for source in sources])
        paths = [
            str(file) if source is None else source[0] for file, source in zip(files.values(), sources, strict=True)
        ]
        return info.assign(normalization="NFC" if self.nfc else "as is", path=paths)

    def multitext(
        self,
        found: "Mapping[str, tuple[FormatText, File, Mapping[str, str | None]]]",
        intent_info: pd.DataFrame,
        headers: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Multitext:
        """Return the multitext of editions.

        Parameters
        ----------
        found : mapping from str to tuple
            For each edition its source, its file and its texts by intent.
        intent_info : DataFrame
            One row per intent.
        headers : mapping, optional
            Attributes by edition.

        Returns
        -------
        Multitext

        Raises
        ------
        DataError
            If no edition has texts.
        """
        files, known = self.ordered({edition: file for edition, (_, file, _) in found.items()})
        sources, texts = {}, {}
        for edition, file in files.items():
            with self.faults.of(edition, file):
                sources[edition], _, every = found[edition]
                texts[edition] = {intent: text for intent, text in every.items() if text and text.strip()}
                if not texts[edition]:
                    del sources[edition]
                    raise DataError(f"{file}: holds no text of edition {edition!r}.")
        if not sources:
            self.faults.check()
        return multitext_from_sources(
            sources,
            texts,
            intents=intent_info.index,
            edition_info=self.describe({edition: files[edition] for edition in sources}, known, headers or {}),
            intent_info=intent_info,
            measured={edition: measure(texts[edition].values()) for edition in sources},
        )


@dataclass(frozen=True)
class FormatText(ABC):
    """Source of the texts of one edition, read from files on demand; a `langdiff.tables.text_sources.TextSource`.

    Attributes
    ----------
    nfc : bool
        Whether texts are normalized to Unicode NFC.
    decode_errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are a fault or become U+FFFD.
    on_error : {"raise", "skip"}
        Whether faults are an error, or what is faulty is left out; the catalogue lists it.
    trust : tuple of str
        Kinds of doubts that are not raised.
    repair : bool
        Whether some texts have invisible characters that are removed.
    """

    nfc: bool = field(default=True, kw_only=True)
    decode_errors: str = field(default="strict", kw_only=True)
    on_error: OnError = field(default="raise", kw_only=True)
    trust: tuple[str, ...] = field(default=(), kw_only=True)
    repair: bool = field(default=False, kw_only=True)

    @abstractmethod
    def texts(self, faults: Faults) -> Iterator[tuple[str, str]]:
        """Yield the edition's intents that are present and not faulty, in the order of its files.

        Parameters
        ----------
        faults : Faults
            Record of faults; every faulty line or file is added to it and left out.

        Yields
        ------
        intent, text : str
            Id of an intent and its text, not yet normalized.

        Raises
        ------
        DataError
            If a file cannot be read.
        """

    def read(self) -> pd.Series:
        """Return the texts present, indexed by intent."""
        faults = Faults(self.on_error, self.trust)
        texts = dict(self.texts(faults))
        faults.refuse()
        if self.repair:
            texts = {intent: repaired(text) for intent, text in texts.items()}
        if self.nfc:
            texts = {intent: unicodedata.normalize("NFC", text) for intent, text in texts.items()}
        return pd.Series(list(texts.values()), index=list(texts), dtype=object)


@dataclass(frozen=True, kw_only=True)
class Format:
    """Format of corpus files; each module ``langdiff.corpora.formats.NAME`` has one, called ``FORMAT``.

    A format of your own is given to `langdiff.read_multitext` and `langdiff.write_multitext` as their ``format``.

    Attributes
    ----------
    name : str
        Value of the argument ``format``, and name of the module; of a format of your own, its name in messages.
    suffixes : tuple of str
        Endings of the names of its files.
    catalogue : callable
        Makes the multitext that a `Reading` asks for.
    options : tuple of str
        Those options that only some formats have and that this one does, such as ``ranges``.
    beginning : Pattern, optional
        Matches the beginning of a file in this format; see `begins_with` and `begins_as_xml`. Formats with neither
        this nor `beside` are never guessed.
    named : bool
        Whether only files with one of the endings are recognized by their beginning, because others may begin so, too.
    beside : callable, optional
        Whether files whose beginning matches nothing are in this format, judged by what lies among or beside them.
    write : callable, optional
        Writes a multitext into a directory and returns the files written; without it, the format is only read.
    """

    name: str
    suffixes: tuple[str, ...]
    catalogue: Callable[[Reading], Multitext]
    options: tuple[str, ...] = ()
    beginning: re.Pattern[str] | None = None
    named: bool = False
    beside: Callable[[Sequence[File]], bool] | None = None
    write: Callable[[Multitext, Path], list[Path]] | None = None


def begins_with(pattern: str) -> re.Pattern[str]:
    r"""Return the pattern of files whose first line, after empty lines and comments, begins with `pattern`.

    Examples
    --------
    >>> bool(begins_with(r"\\").match("# a comment\n\n\\id GEN"))
    True
    """
    return re.compile(_PREAMBLE + pattern)


def begins_as_xml(element: str) -> re.Pattern[str]:
    r"""Return the pattern of XML files with an element near the beginning; `element` matches the text after its ``<``.

    Examples
    --------
    >>> begins_as_xml(r"osis\b").match('<?xml version="1.0"?>\n<osis>').group()
    '<?xml version="1.0"?>\n<osis'
    """
    return re.compile(rf"{_PREAMBLE}(?=<)[\s\S]*?<(?:{element})")


def text_files(
    multitext: Multitext, directory: Path, suffixes: Sequence[str], beside: Iterable[str] = (), ending: str = ".txt"
) -> dict[str, str]:
    """Return the name of each edition's file."""
    files = {edition: f"{name}{ending}" for edition, name in file_names(multitext.editions, "edition(s)").items()}
    ours = {*files.values(), *beside}
    there = sorted(file.name for file in directory.iterdir()) if directory.is_dir() else []
    others = [name for name in there if name.lower().endswith(tuple(suffixes)) and name not in ours]
    if others:
        raise OutputError(
            f"{directory}: holds {len(others)} other file(s) that would be read with the ones to write: "
            f"{listing(others)}. Choose an empty directory."
        )
    return files


def writable_texts(
    multitext: Multitext, edition: str, unwritable: re.Pattern[str], is_missing: Callable[[str], bool]
) -> dict[str, str]:
    """Return the texts of an edition by intent, after checking that a format can hold them."""
    texts = {str(intent): text for intent, text in multitext.text(edition).items()}
    if not texts:
        raise DataError(
            f"edition {edition!r} has no text at all; leave it out: name the others as {option('editions')}."
        )
    for intent, text in texts.items():
        found = unwritable.search(text)
        if found or is_missing(text):
            why = f"{found[0]!r} at position {found.start()}" if found else "would be read as missing"
            raise DataError(
                f"edition {edition!r}, intent {intent!r}: the format cannot hold this text: {why}. "
                f"Change such texts {words(python='with multitext.map_text(...)', command='in their file')}."
            )
    return texts


def write_files(directory: Path, contents: Iterable[tuple[str, str]]) -> list[Path]:
    """Write files into a directory, either all of them or none."""
    written = []
    with ExitStack() as stack:  # renames all files once every one is complete
        for name, content in contents:
            temporary = stack.enter_context(atomic_path(directory / name))
            temporary.write_text(content, encoding="utf-8", newline="\n")
            written.append(directory / name)
    return written
