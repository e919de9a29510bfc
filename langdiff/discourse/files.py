"""Reading and writing discourse trees: one document per file, named after the file."""

import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from langdiff.base.archives import COMPRESSED
from langdiff.base.io import as_paths, read_blocks, write_text
from langdiff.base.suspicion import Doubts, report
from langdiff.base.types import OnError, check_kind, check_on_error
from langdiff.discourse.documents import Documents, refuse_or_warn
from langdiff.discourse.plain_text import (
    DisReader,
    read_attachments,
    span_draft,
    write_attachments,
    write_dis,
    write_spans,
)
from langdiff.discourse.rst_xml import Detached, rst_xml_draft, write_rst_xml
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import ConfigError, DataError, Fault, FaultsError, listing, option, warn

StringFormat = Literal["dis", "spans", "attachments"]
DiscourseFormat = Literal["dis", "rs3", "spans", "attachments"]
Trees = Mapping[str, DiscourseTree]
TreeSource = str | Path | Iterable[str | Path]

ENDINGS: dict[str, DiscourseFormat] = {
    ".dis": "dis",
    ".rs3": "rs3",
    ".rs4": "rs3",
    ".spans": "spans",
    ".attachments": "attachments",
}
_ONE_WORD = re.compile(r"[^\s()]+")
_WRITERS = {"dis": write_dis, "rs3": write_rst_xml, "spans": write_spans, "attachments": write_attachments}


def read_discourse(
    source: TreeSource,
    *,
    format: DiscourseFormat | Literal["auto"] = "auto",
    collapse_unary: bool = False,
    detached: Detached = "error",
    on_error: OnError = "raise",
    trust: Sequence[str] = (),
) -> Documents:
    r"""Read discourse trees, one per file.

    Parameters
    ----------
    source : str, Path or several of them
        Files, or folders of files, plain or compressed (``.gz``, ``.bz2``, ``.xz``).
    format : {"auto", "dis", "rs3", "spans", "attachments"}
        Format of all files. By default the ending of each file's name says it (``.rs4`` is read as ``.rs3``), and of
        folders the files with other endings are not read.
    collapse_unary : bool
        Whether a node that is an only child is left out, so that its parent takes its place with the parent's label;
        by default it is an error.
    detached : {"error", "drop", "attach"}
        Treatment of files (``.rs3``, ``.rs4``) in which segments, such as headlines, belong to no part of the tree:
        an error; of the trees in the file the one with most EDUs is kept, renumbered (a tie is an error); or all are
        put under a new root in text order, as nuclei of a relation ``detached``.
    on_error : {"raise", "skip"}
        Treatment of documents whose file cannot be read or does not hold one tree: an error that lists all of them,
        or they are left out, with a warning that lists them. `evaluate_discourse` knows of them, too, and lists them.
    trust : sequence of str
        Kinds of doubt not to raise: ``span_group``, groups that are spans but have several nuclei, as parsers write
        them; ``detached``, what was dropped or attached.

    Returns
    -------
    dict from str to DiscourseTree
        Trees by name of the document (the name of the file without its ending), sorted. Its attribute ``left_out`` is a
        table of documents that cannot be used, of groups that were repaired and of detached EDUs.

    Raises
    ------
    ConfigError
        If the format, `detached`, `on_error` or a kind of doubt is unknown.
    DataError
        If files cannot be read or do not hold one tree (the message names all of them, with file and line), two are of
        one document, or there is no tree.

    Warns
    -----
    LangdiffWarning
        If documents are left out, or EDUs dropped.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "rain.spans").write_text("1 1 Nucleus span\n2 2 Satellite cause\n")
    ...     read_discourse(folder)
    {'rain': DiscourseTree 'rain': 2 EDUs, depth 1}
    """
    check_on_error(on_error)
    found = read_documents(source, format=format, collapse_unary=collapse_unary, detached=detached, trust=trust)
    return refuse_or_warn(found, on_error)


def read_documents(
    source: TreeSource,
    *,
    format: DiscourseFormat | Literal["auto"] = "auto",
    collapse_unary: bool = False,
    detached: Detached = "error",
    trust: Sequence[str] = (),
) -> Documents:
    """Return the trees of all files that hold one, and the faults of the others; see `read_discourse`."""
    if format != "auto" and format not in get_args(DiscourseFormat):
        raise ConfigError(f"{option('format')} is auto, {', '.join(get_args(DiscourseFormat))}; got {format!r}.")
    if detached not in get_args(Detached):
        raise ConfigError(f"{option('detached')} is one of {', '.join(get_args(Detached))}; got {detached!r}.")
    doubts = Doubts(trust)
    paths: dict[str, Path] = {}
    trees: dict[str, DiscourseTree] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    for path in _files(source, any_ending=format != "auto"):
        name, ending = _name_and_ending(path, any_ending=format != "auto")
        if name in paths:
            twice = Fault(str(path), None, f"{paths[name]} is of document {name!r}, too; give one file per document.")
            faults[name] = (*faults.get(name, ()), twice)
            trees.pop(name, None)
            continue
        paths[name] = path
        try:
            kind = ENDINGS[ending] if format == "auto" else format
            if kind == "rs3":
                draft = rst_xml_draft(path, name, doubts, collapse_unary=collapse_unary, detached=detached)
                trees[name] = draft.tree(name, collapse_unary=collapse_unary)
            else:
                text = "".join(block.text for block in read_blocks(path, errors=None))
                trees[name] = _parse(text, kind, str(path), name, collapse_unary)
        except FaultsError as error:
            faults[name] = error.faults
    if not paths:
        raise DataError(
            f"{source}: no files of trees ({', '.join(ENDINGS)}). Name their format: {option('format', 'dis')}."
        )
    judged = [one for one in doubts.judged() if one.where in trees]
    return Documents({name: trees[name] for name in sorted(trees)}, faults, report(judged))


def parse_discourse(
    text: str, *, format: StringFormat = "dis", document: str = "", collapse_unary: bool = False
) -> DiscourseTree:
    """Parse the discourse tree in a string.

    Parameters
    ----------
    text : str
        Bracketed tree, list of spans or list of attachments.
    format : {"dis", "spans", "attachments"}
        Notation of the string.
    document : str
        Name of the document.
    collapse_unary : bool
        Whether a node that is an only child is left out; see `read_discourse`.

    Returns
    -------
    DiscourseTree
        The tree.

    Raises
    ------
    ConfigError
        If the format is unknown.
    DataError
        If the string does not describe a tree; the message names the line.

    Examples
    --------
    >>> tree = parse_discourse(
    ...     "( Root (span 1 2) ( Nucleus (leaf 1) (rel2par span) (text _!It is late_!) )"
    ...     " ( Satellite (leaf 2) (rel2par cause) (text _!because (as always) the train was_!) ) )"
    ... )
    >>> print(tree.summary())
    DiscourseTree '': 2 EDUs, depth 1
    R --- [1–2]
      N span [1]  It is late
      S cause [2]  because (as always) the train was
    """
    return _parse(text, format, document or "string", document, collapse_unary)


def write_discourse(trees: Trees, directory: str | Path, *, format: DiscourseFormat = "dis") -> list[Path]:
    r"""Write discourse trees, one file per document.

    Parameters
    ----------
    trees : mapping from str to DiscourseTree
        Trees by name of the document.
    directory : str or Path
        Folder of the files; it is made if it is missing.
    format : {"dis", "rs3", "spans", "attachments"}
        Format of all files, and their ending.

    Returns
    -------
    list of Path
        Files written.

    Raises
    ------
    ConfigError
        If the format is unknown, or takes binary trees and one is not.
    DataError
        If a format cannot hold a tree, or the name of a document is not that of a file. Nothing is written then.
    OutputError
        If a file cannot be written.

    Warns
    -----
    LangdiffWarning
        If texts are not written, because the format has no place for them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> tree = parse_discourse("1 1 N span\n2 2 S cause", format="spans", document="rain")
    >>> with TemporaryDirectory() as folder:
    ...     [path] = write_discourse({"rain": tree}, folder, format="attachments")
    ...     path.name, path.read_text()
    ('rain.attachments', '1 1 2 NS cause\n')
    """
    if format not in get_args(DiscourseFormat):
        raise ConfigError(f"{option('format')} is one of {', '.join(get_args(DiscourseFormat))}; got {format!r}.")
    check_kind(trees, Mapping, "trees are given by name of the document, {'rain': …}")
    if odd := [name for name in trees if not name or Path(name).name != name or name.startswith(".")]:
        raise DataError(f"{len(odd)} document(s) cannot be names of files: {listing(odd)}.")
    if format != "rs3":
        _check_relations(trees, format)
    texts = {name: _WRITERS[format](tree) for name, tree in trees.items()}
    if format in ("spans", "attachments") and any(tree.texts for tree in trees.values()):
        warn(f"the format {format!r} has no place for texts; they are not written.")
    paths = [Path(directory) / f"{name}.{format}" for name in texts]
    for path, text in zip(paths, texts.values(), strict=True):
        write_text(path, text)
    return paths


def _check_relations(trees: Trees, format: str) -> None:
    for name, tree in trees.items():
        for node in tree.nodes:
            if not _ONE_WORD.fullmatch(node.relation):
                raise DataError(
                    f"{name}: the relation {node.relation!r} of {node} is not one word without brackets, as the format "
                    f"{format!r} needs it. Replace it by a class (see read_classes), or write 'rs3'."
                )


def _parse(text: str, format: str, file: str, document: str, collapse_unary: bool) -> DiscourseTree:
    match format:
        case "dis":
            return DisReader(text, file).draft().tree(document, collapse_unary=collapse_unary)
        case "spans":
            return span_draft(text, file).tree(document, collapse_unary=collapse_unary)
        case "attachments":
            return read_attachments(text, file, document)
        case _:
            raise ConfigError(f"{option('format')} is one of {', '.join(get_args(StringFormat))}; got {format!r}.")


def _files(source: TreeSource, *, any_ending: bool) -> list[Path]:
    files: list[Path] = []
    for path in as_paths(source):
        if not path.exists():
            raise DataError(f"{path}: no such file or folder.")
        if path.is_dir():
            inside = sorted(file for file in path.iterdir() if file.is_file() and not file.name.startswith("."))
            files += [file for file in inside if any_ending or _name_and_ending(file, any_ending=True)[1] in ENDINGS]
        else:
            files.append(path)
    return files


def _name_and_ending(path: Path, *, any_ending: bool) -> tuple[str, str]:
    """Return the name of the document and the ending that says the format."""
    bare = path.with_suffix("") if path.suffix in COMPRESSED else path
    if not any_ending and bare.suffix not in ENDINGS:
        raise DataError(f"{path}: the ending {bare.suffix!r} names no format. Name it: {option('format', 'dis')}.")
    return bare.stem, bare.suffix
