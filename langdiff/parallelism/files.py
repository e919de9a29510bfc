"""Reading and writing annotated documents: one per file, named after the file."""

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Literal, get_args

from langdiff.base.archives import COMPRESSED
from langdiff.base.io import as_paths, read_blocks, write_text
from langdiff.errors import ConfigError, DataError, LangdiffWarning, listing, option
from langdiff.parallelism.documents import Document
from langdiff.parallelism.formats.brat import brat_texts, read_brat
from langdiff.parallelism.formats.table import read_token_table, write_token_table
from langdiff.parallelism.formats.text_xml import read_text_xml, write_text_xml
from langdiff.parallelism.formats.word_xml import read_word_xml, write_essay_xml, write_word_xml

ParallelismFormat = Literal["brat", "text-xml", "word-xml", "essay-xml", "tsv"]
ParallelismSource = str | Path | Iterable[str | Path]

ENDINGS = (".ann", ".xml", ".tsv")
_FIRST = re.compile(r"<(word|parallelism)[\s/>]")
_ANNOTATED = "_annotated"  # at the end of names of the published files; not part of the document's name


def read_parallelisms(
    source: ParallelismSource, *, format: ParallelismFormat | None = None, predicted: bool = False
) -> dict[str, Document]:
    r"""Read annotated documents, one per file.

    Parameters
    ----------
    source : str, Path or several of them
        Files, or folders of files, plain or compressed (``.gz``, ``.bz2``, ``.xz``).
    format : {"brat", "text-xml", "word-xml", "essay-xml", "tsv"}, optional
        Format of all files: pairs of ``.ann`` and ``.txt``; XML of running text; XML of words as that of tokenised
        sermons, of essays, and of pyrallelism (these two are read alike); the table of pyrallelism. By default the
        ending of a file says it, and of XML what is in it.
    predicted : bool
        Whether parallelisms of a single branch are taken, as predictions have them; by default they are an error.

    Returns
    -------
    dict from str to Document
        Documents by name (the name of the file without its ending and ``_annotated``), sorted.

    Raises
    ------
    ConfigError
        If the format is unknown.
    DataError
        If a file cannot be read or does not hold an annotated document (the message names file and line), there is
        none, or two files have one name.

    Warns
    -----
    LangdiffWarning
        If branches of brat annotation are in no relation, or texts of a folder have no annotation; they are left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "1.tsv").write_text("token\tp\tb\nhe\t1\t1\nran\t1\t1\nshe\t1\t2\nsat\t1\t2\n")
    ...     read_parallelisms(folder)["1"].parallelisms
    (Parallelism(branches=((0, 2), (2, 4)), kind=None),)
    """
    if format is not None and format not in get_args(ParallelismFormat):
        raise ConfigError(f"format is None or one of {', '.join(get_args(ParallelismFormat))}; got {format!r}.")
    found: dict[str, tuple[Path, Document]] = {}
    for path in _files(source):
        name = document_name(path)
        if name in found:
            raise DataError(f"{path} and {found[name][0]} are both of document {name!r}; give one file per document.")
        found[name] = (path, _READERS[format or _format(path)](path, name, predicted=predicted))
    if not found:
        raise DataError(f"{source}: no files of annotated documents ({', '.join(ENDINGS)}).")
    return {name: document for name, (_, document) in sorted(found.items())}


def write_parallelisms(
    documents: Mapping[str, Document], directory: str | Path, *, format: ParallelismFormat = "word-xml"
) -> list[Path]:
    r"""Write annotated documents, one per file; only brat keeps their kinds, and the table has no sections.

    Parameters
    ----------
    documents : mapping from str to Document
        Documents by name, which is that of the file.
    directory : str or Path
        Folder of the files; it is made if it is missing.
    format : {"brat", "text-xml", "word-xml", "essay-xml", "tsv"}
        Format of all files; see `read_parallelisms`.

    Returns
    -------
    list of Path
        Files written.

    Raises
    ------
    ConfigError
        If the format is unknown.
    DataError
        If a format cannot hold a document, or the name of a document is not that of a file. Nothing is written then.
    OutputError
        If a file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from langdiff.parallelism import Parallelism, make_document
    >>> document = make_document("1", ["he", "ran", ",", "she", "sat"], [Parallelism(((0, 2), (3, 5)))])
    >>> with TemporaryDirectory() as folder:
    ...     _, path = write_parallelisms({"1": document}, folder, format="brat")
    ...     path.name, path.read_text().splitlines()[1:]
    ('1.ann', ['T2\tParallelArm 9 16\tshe sat', 'R1\tParallel Arg1:T1 Arg2:T2\t'])
    """
    if format not in get_args(ParallelismFormat):
        raise ConfigError(f"format is one of {', '.join(get_args(ParallelismFormat))}; got {format!r}.")
    if odd := [name for name in documents if not name or Path(name).name != name or name.startswith(".")]:
        raise DataError(f"{len(odd)} document(s) cannot be names of files: {listing(odd)}.")
    texts: dict[str, str] = {}
    for name, document in documents.items():
        if format == "brat":
            texts[f"{name}.txt"], texts[f"{name}.ann"] = brat_texts(document)
        else:
            texts[f"{name}.{'tsv' if format == 'tsv' else 'xml'}"] = _WRITERS[format](document)
    paths = [Path(directory) / name for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_text(path, text)
    return paths


def document_name(path: Path) -> str:
    """Return the name of the document that a file holds.

    Examples
    --------
    >>> document_name(Path("tokenized/18_annotated.xml.gz"))
    '18'
    """
    stem = _bare(path).stem
    return stem.removesuffix(_ANNOTATED) or stem


_READERS: dict[str, Callable[..., Document]] = {
    "brat": read_brat,
    "text-xml": read_text_xml,
    "word-xml": read_word_xml,
    "essay-xml": read_word_xml,
    "tsv": read_token_table,
}
_WRITERS: dict[str, Callable[[Document], str]] = {
    "text-xml": write_text_xml,
    "word-xml": write_word_xml,
    "essay-xml": write_essay_xml,
    "tsv": write_token_table,
}


def _format(path: Path) -> ParallelismFormat:
    ending = _bare(path).suffix
    if ending in (".ann", ".txt"):
        return "brat"
    if ending == ".tsv":
        return "tsv"
    if ending != ".xml":
        raise DataError(f"{path}: the ending {ending!r} names no format. Name it: {option('format', 'word-xml')}.")
    for block in read_blocks(path, errors=None):
        if first := _FIRST.search(block.text):
            return "word-xml" if first[1] == "word" else "text-xml"
    return "text-xml"  # of a text without any parallelism


def _bare(path: Path) -> Path:
    return path.with_suffix("") if path.suffix in COMPRESSED else path


def _files(source: ParallelismSource) -> list[Path]:
    files: list[Path] = []
    for path in as_paths(source):
        if not path.exists():
            raise DataError(f"{path}: no such file or folder.")
        files += _inside(path) if path.is_dir() else [path]
    return files


def _inside(folder: Path) -> list[Path]:
    """Return the files of a folder; of a text and its annotation the annotation."""
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    found = [file for file in files if _bare(file).suffix in ENDINGS]
    annotated = {_bare(file).stem for file in found if _bare(file).suffix == ".ann"}
    texts = [file.name for file in files if _bare(file).suffix == ".txt"]
    if annotated and (lone := [name for name in texts if _bare(Path(name)).stem not in annotated]):
        what = f"{folder}: {len(lone)} text(s) have no annotation and are not read: {listing(lone)}."
        warnings.warn(what, LangdiffWarning, stacklevel=4)
    return found
