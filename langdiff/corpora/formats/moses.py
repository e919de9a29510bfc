"""Line-aligned text, as of Europarl, OPUS, FLORES and NTREX: one file an edition, line k is intent k."""

import re
import unicodedata
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from langdiff._archives import File
from langdiff._io import atomic_path, read_lines
from langdiff._progress import progress_bar
from langdiff.corpora.files import Paths, find_files, keep, suffixes_of
from langdiff.corpora.formats.bible import check_options
from langdiff.corpora.metadata import FILE_NAME, edition_info_of, find_metadata, metadata_csv
from langdiff.corpora.writing import check_empty, checked_name
from langdiff.errors import DataError, listing
from langdiff.multitext import Multitext, multitext_from_sources

SUFFIXES = suffixes_of(".txt")
ORIGINAL, INTENTS = "original_language", "intents"  # files beside the texts that are no editions
_UNWRITABLE = re.compile("[\n\r\0\ud800-\udfff]")


@dataclass(frozen=True)
class MosesText:
    """The lines of one file, read when asked for.

    Attributes
    ----------
    file : Path or Member
        The file.
    intents : File or None
        The file that names the intents, one a line; by default they are the numbers of the lines.
    nfc : bool
        Whether texts are normalised to Unicode NFC.
    errors : {"strict", "replace"}
        Whether bytes that are not UTF-8 are an error or become U+FFFD.
    """

    file: File
    intents: File | None = None
    nfc: bool = True
    errors: str = "strict"

    def read(self) -> pd.Series:
        """Return the texts present, indexed by intent."""
        texts = {number: line for number, line in read_lines(self.file, errors=self.errors) if line.strip()}
        if self.nfc:
            texts = {number: unicodedata.normalize("NFC", text) for number, text in texts.items()}
        names = dict(read_lines(self.intents)) if self.intents else {}
        index = [names.get(number, str(number)) for number in texts]
        return pd.Series(list(texts.values()), index=index, dtype=object)


def read_moses(
    path: Paths,
    *,
    original_language: str | Path | None = None,
    metadata: str | Path | None = None,
    editions: Iterable[str] | None = None,
    nfc: bool = True,
    errors: str = "strict",
    progress: bool | None = None,
) -> Multitext:
    r"""Catalogue line-aligned files; the texts stay there until asked for.

    Line k of every file is intent k; an empty line, or one of white space, is missing. An edition is
    named by its file without ``.txt`` and compression, or else without the last ending
    (``deu_Latn.dev`` is ``deu_Latn``).

    Parameters
    ----------
    path : str, Path, sequence of these, or mapping from edition to file
        Files, zip archives or directories (their ``.txt`` files, plain or compressed), or globs. Give
        a mapping where names do not tell editions apart, as in OPUS:
        ``{"deu": "Europarl.de-en.de", "eng": "Europarl.de-en.en"}``.
    original_language : str or Path, optional
        File with the code of the language in which each intent was first said, one a line, empty or
        ``und`` where unknown; by default ``original_language.txt`` (or compressed) in the files' folder,
        if there. It becomes the column ``original_language`` of `intent_info`.
    metadata, editions, nfc, errors, progress
        As for `read_pbc`.

    Returns
    -------
    Multitext
        Its intents are the numbers of the lines from 1, as str, or what ``intents.txt`` in the files'
        folder says, one a line.

    Raises
    ------
    DataError
        If files have different numbers of lines, an edition has no text, or ``intents.txt`` names
        one twice; otherwise as `read_pbc`.
    ConfigError
        If `errors` is unknown.

    References
    ----------
    Koehn et al. (2007), "Moses: open source toolkit for statistical machine translation", ACL.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "deu.txt").write_text("ein Hund\n\n")
    ...     _ = Path(folder, "eng.txt").write_text("a dog\na cat\n")
    ...     _ = Path(folder, "original_language.txt").write_text("eng\nund\n")
    ...     multitext = read_moses(folder)
    ...     print(multitext.to_frame())
              deu    eng
    intent
    1    ein Hund  a dog
    2         NaN  a cat
    >>> multitext.intent_info["original_language"].to_dict()
    {'1': 'eng', '2': 'und'}
    """
    check_options(errors)
    found = find_files(path, SUFFIXES, None)
    beside = {name: found.pop(name) for name in (ORIGINAL, INTENTS) if name in found}
    files = keep(found, editions)
    if not files:
        raise DataError(f"{path}: no edition beside {listing(str(file) for file in beside.values())}.")
    for name in (ORIGINAL, INTENTS):
        beside |= {} if name in beside else _find_beside(name, files.values())
    if original_language is not None:
        beside[ORIGINAL] = Path(original_language).expanduser()
    table = find_metadata(files, metadata)
    if editions is None:
        files = {edition: files[edition] for edition in dict.fromkeys([*table.index, *files])}
    present, lines = _catalogue(files, errors, progress)
    intents = _intents(beside.get(INTENTS), lines, next(iter(files.values())))
    info = edition_info_of(files, table, {edition: {} for edition in files})
    names = beside.get(INTENTS)
    return multitext_from_sources(
        {edition: MosesText(file, names, nfc, errors) for edition, file in files.items()},
        {edition: map(intents.__getitem__, have) for edition, have in present.items()},
        intents=intents,
        edition_info=info.assign(normalization="NFC" if nfc else "as is", path=[str(f) for f in files.values()]),
        intent_info=_origins(beside.get(ORIGINAL), intents),
    )


def write_moses(multitext: Multitext, path: str | Path) -> list[Path]:
    """Write line-aligned files into a directory, all of them or none.

    Beside one ``.txt`` an edition there are ``intents.txt``, unless the intents are 1, 2, 3 …;
    ``original_language.txt``, if `intent_info` has this column (``und`` where unknown); and
    ``metadata.csv``. `read_moses` gives all of it back, texts as they were if they were in NFC or it
    is told ``nfc=False``; what else is known of the intents is not written.

    Parameters
    ----------
    multitext : Multitext
        What to write.
    path : str or Path
        The directory, made if need be.

    Returns
    -------
    list of Path
        The files of the editions, then the others.

    Raises
    ------
    DataError
        If a text, intent or language cannot stand on a line: one with a line break, NUL or half a
        surrogate pair, or one that would be read as missing; or an edition has no text.
    OutputError
        If the directory holds other files that would be read with these, or cannot be written.
    """
    folder = Path(path).expanduser()
    files = {edition: f"{checked_name(edition)}.txt" for edition in multitext.editions}
    taken = [name for name in (ORIGINAL, INTENTS) if f"{name}.txt" in files.values()]
    if taken:
        raise DataError(f"edition {taken[0]!r} has the name of a file that means something else. Rename it.")
    beside = _beside(multitext)
    check_empty(folder, [*files.values(), *beside], SUFFIXES)
    beside[FILE_NAME] = metadata_csv(multitext.edition_info, files)
    written = [folder / name for name in (*files.values(), *beside)]
    with ExitStack() as stack:  # renames all when every one is complete
        temporary = [stack.enter_context(atomic_path(file)) for file in written]
        for edition, file in zip(multitext.editions, temporary, strict=False):
            file.write_text(_format(multitext, edition), encoding="utf-8", newline="\n")
        for content, file in zip(beside.values(), temporary[len(files) :], strict=True):
            file.write_text(content, encoding="utf-8", newline="\n")
    return written


def _find_beside(name: str, files: Iterable[File]) -> dict[str, File]:
    for folder in dict.fromkeys(file.parent for file in files):
        for suffix in SUFFIXES:
            if (folder / f"{name}{suffix}").is_file():
                return {name: folder / f"{name}{suffix}"}
    return {}


def _catalogue(files: dict[str, File], errors: str, progress: bool | None) -> tuple[dict[str, np.ndarray], int]:
    """Return the places of the lines that are not missing, by edition, and the number of lines."""
    present: dict[str, np.ndarray] = {}
    first: tuple[File, int] | None = None
    with progress_bar(progress=progress) as bar:
        task = bar.add_task("cataloguing", total=len(files), note="")
        for edition, file in files.items():
            bar.update(task, note=edition)
            have = np.array([bool(line.strip()) for _, line in read_lines(file, errors=errors)], dtype=bool)
            if first is None:
                first = file, len(have)
            if len(have) != first[1]:
                raise DataError(
                    f"{file} has {len(have):,} lines, {first[0]} has {first[1]:,}: line k of every file must be the "
                    "same segment. A line for a segment that is missing is empty, not left out."
                )
            if not have.any():
                raise DataError(f"{file}: holds no text.")
            present[edition] = np.flatnonzero(have)
            bar.advance(task)
    return present, first[1] if first else 0


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
    """Return the files beside the editions, by name."""
    files = {}
    intents = [str(intent) for intent in multitext.intents]
    if intents != [str(number) for number in range(1, len(intents) + 1)]:
        files[f"{INTENTS}.txt"] = "".join(f"{_checked(intent, 'an intent')}\n" for intent in intents)
    if ORIGINAL in multitext.intent_info:
        codes = multitext.intent_info[ORIGINAL].astype(object)
        known = codes.where(codes.notna() & (codes != ""), "und")
        files[f"{ORIGINAL}.txt"] = "".join(f"{_checked(str(code), 'an original language')}\n" for code in known)
    return files


def _checked(text: str, what: str) -> str:
    if found := _UNWRITABLE.search(text):
        raise DataError(f"{what}, {text!r}, holds {found[0]!r} and cannot stand on a line. Rename it.")
    return text


def _format(multitext: Multitext, edition: str) -> str:
    texts = multitext.text(edition)
    if not len(texts):
        raise DataError(f"edition {edition!r} has no text at all; leave it out with multitext.sel(editions=...).")
    for intent, text in texts.items():
        found = _UNWRITABLE.search(text)
        if found or not text.strip():
            why = f"{found[0]!r} at position {found.start()}" if found else "would be read as missing"
            raise DataError(
                f"edition {edition!r}, intent {intent!r}: the format cannot hold this text: {why}. "
                "Change such texts with multitext.map_text(...)."
            )
    return "".join(f"{text}\n" for text in texts.reindex(multitext.intents, fill_value=""))
