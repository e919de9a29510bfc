"""Reading annotated documents: one per file, named after the file."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, get_args

from langdiff._archives import COMPRESSED
from langdiff.errors import ConfigError, DataError
from langdiff.parallelism.documents import Document
from langdiff.parallelism.formats.xml_words import read_xml_words

ParallelismFormat = Literal["words"]
ParallelismSource = str | Path | Iterable[str | Path]

ENDINGS = (".xml",)
_ANNOTATED = "_annotated"  # at the end of names of the published files; not part of the document's name


def read_parallelisms(
    source: ParallelismSource, *, format: ParallelismFormat | None = None, predicted: bool = False
) -> dict[str, Document]:
    """Read annotated documents, one per file.

    Parameters
    ----------
    source : str, Path or several of them
        Files, or folders of files, plain or compressed (``.gz``, ``.bz2``, ``.xz``).
    format : {"words"}, optional
        Format of all files; by default what is in a file says it.
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
    """
    if format is not None and format not in get_args(ParallelismFormat):
        raise ConfigError(f"format is None or one of {', '.join(get_args(ParallelismFormat))}; got {format!r}.")
    found: dict[str, tuple[Path, Document]] = {}
    for path in _files(source):
        name = document_name(path)
        if name in found:
            raise DataError(f"{path} and {found[name][0]} are both of document {name!r}; give one file per document.")
        found[name] = (path, _READERS[format or _sniff(path)](path, name, predicted=predicted))
    if not found:
        raise DataError(f"{source}: no files of annotated documents ({', '.join(ENDINGS)}).")
    return {name: document for name, (_, document) in sorted(found.items())}


def document_name(path: Path) -> str:
    """Return the name of the document that a file holds.

    Examples
    --------
    >>> document_name(Path("tokenized/18_annotated.xml.gz"))
    '18'
    """
    bare = path.with_suffix("") if path.suffix in COMPRESSED else path
    return bare.stem.removesuffix(_ANNOTATED) or bare.stem


_READERS: dict[str, Callable[..., Document]] = {"words": read_xml_words}


def _sniff(path: Path) -> ParallelismFormat:
    return "words"


def _files(source: ParallelismSource) -> list[Path]:
    files: list[Path] = []
    for item in [source] if isinstance(source, (str, os.PathLike)) else source:
        path = Path(item)
        if not path.exists():
            raise DataError(f"{path}: no such file or folder.")
        files += _inside(path) if path.is_dir() else [path]
    return files


def _inside(folder: Path) -> list[Path]:
    files = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    bare = [file.with_suffix("") if file.suffix in COMPRESSED else file for file in files]
    return [file for file, name in zip(files, bare, strict=True) if name.suffix in ENDINGS]
