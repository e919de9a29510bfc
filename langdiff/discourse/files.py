"""Reading and writing discourse trees: one document per file, named after the file.

Plain text is the brackets of the RST Discourse Treebank, and lists of nodes or of attachments.

``( Root (span 1 2) ( Nucleus (leaf 1) (rel2par span) (text _!…_!) ) ( Satellite (leaf 2) (rel2par evidence) ) )``:
texts may hold brackets, so that their ends are looked for first.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal, get_args

from langdiff.base.archives import unpacked
from langdiff.base.io import as_paths, file_names, files_of, name_of_file, read_blocks, write_texts
from langdiff.base.suspicion import Doubts, report
from langdiff.base.types import OnError, check_choice, check_kind, check_on_error
from langdiff.discourse.documents import Documents, refuse_or_warn
from langdiff.discourse.drafts import Draft, fault, plain_text
from langdiff.discourse.nodes import NO_RELATION, NUCLEUS, ROOT, SATELLITE, Node, NodeError, in_order
from langdiff.discourse.rst_xml import Detached, rst_xml_draft, write_rst_xml
from langdiff.discourse.tree import Attachment, DiscourseTree, attachments_of, tree_of_attachments
from langdiff.errors import ConfigError, DataError, Fault, FaultsError, option, warn

_NUCLEARITY = {"n": NUCLEUS, "s": SATELLITE, "r": ROOT} | {name.lower(): name for name in (NUCLEUS, SATELLITE, ROOT)}
_PART = re.compile(
    r"\(\s*text\s*(?:_!(?P<marked>.*?)_!|<EDU>(?P<tagged>.*?)</EDU>)\s*\)"
    r"|\(\s*(?P<kind>Root|Nucleus|Satellite)(?![^\s()])"
    r"|\(\s*(?P<name>[^\s()]+)(?P<values>[^()]*)(?P<end>\))?|[()]|[^\s()]+",
    re.S,
)
_UNLIKE = {"(": "a bracket without a name.", ")": "a bracket is closed that was not opened."}
_VALUES = {"span": 2, "leaf": 1, "rel2par": 1, "text": 1}
_REMARK = "//TT_ERR"  # left behind in some files of the RST Discourse Treebank by the tool of the annotators
_NUMBER = re.compile(r"[0-9]{1,9}")


def span_draft(text: str, file: str) -> Draft:
    """Return the nodes of a list of spans; a root that is missing is added."""
    rows = [
        (Node(first, last, _nuclearity(file, line, nuclearity), relation), line)
        for line, (first, last), nuclearity, relation in _rows(text, file, 2, "start end nuclearity relation")
    ]
    if not rows:
        raise fault(file, 1, "the file has no nodes.")
    rows.sort(key=lambda row: in_order(row[0]))  # of two with one span, the first in the file is the outer
    whole = min(node.first for node, _ in rows), max(node.last for node, _ in rows)
    if rows[0][0].nuclearity != ROOT:
        rows.insert(0, (Node(*whole, ROOT, NO_RELATION), rows[0][1]))
    draft = Draft(file)
    above: list[int] = []
    for node, line in rows:
        while above and draft.nodes[above[-1]].last < node.first:
            above.pop()
        if above and node.last > draft.nodes[above[-1]].last:
            other = above[-1]
            raise fault(file, line, f"{node} and {draft.nodes[other]} (line {draft.lines[other]}) cross.")
        if node.last < node.first:
            raise fault(file, line, f"{node} ends before it begins.")
        if node.nuclearity == ROOT and above:
            raise fault(file, line, f"{node} is a second root.")
        above.append(draft.add(node, line, above[-1] if above else None))
    draft.nodes[0] = draft.nodes[0]._replace(relation=NO_RELATION)
    return draft


def read_attachments(text: str, file: str, document: str) -> DiscourseTree:
    """Return the tree of a list of attachments."""
    rows = list(_rows(text, file, 3, "start split end nuclearity relation"))
    lines = [line for line, *_ in rows]
    attachments = [Attachment(first, split, last, *labels) for _, (first, split, last), *labels in rows]
    try:
        return tree_of_attachments(attachments, document=document)
    except NodeError as error:
        raise fault(file, lines[error.place] if lines else None, error.what) from error


def write_spans(tree: DiscourseTree) -> str:
    """Return one line per node, without texts."""
    return "".join(f"{first} {last} {nuclearity} {relation}\n" for first, last, nuclearity, relation in tree.nodes)


def write_attachments(tree: DiscourseTree) -> str:
    """Return one line per decision of a binary tree, without texts."""
    decisions = attachments_of(tree)
    if not decisions:
        raise NodeError(0, f"{tree.document}: has one EDU; a list of attachments cannot stand for it.")
    return "".join(" ".join(map(str, decision)) + "\n" for decision in decisions)


def _rows(text: str, file: str, n_numbers: int, what: str) -> Iterable[tuple[int, tuple[int, ...], str, str]]:
    """Yield line number, numbers, nuclearity and relation of every line; lines that begin with # are remarks."""
    for line, content in enumerate(text.split("\n"), 1):
        cells = content.split()
        if not cells or cells[0].startswith("#"):
            continue
        numbers = cells[:n_numbers]
        if len(cells) != n_numbers + 2 or not all(
            cell.isascii() and cell.isdigit() and len(cell) < 10 for cell in numbers
        ):
            raise fault(file, line, f"a line is {what!r}, with numbers of EDUs; got {content.strip()[:60]!r}.")
        yield line, tuple(map(int, numbers)), cells[-2], cells[-1]


def _nuclearity(file: str, line: int, given: str) -> str:
    if given.lower() not in _NUCLEARITY:
        raise fault(file, line, f"nuclearity is Nucleus, Satellite or Root (or N, S, R); got {given!r}.")
    return _NUCLEARITY[given.lower()]


def dis_draft(text: str, file: str) -> Draft:
    """Return the nodes of a bracketed tree."""
    draft, ends = Draft(file), [match.start() for match in re.finditer("\n", text)]
    above: list[int] = []  # the nodes whose brackets are open
    about: list[dict[str, list[str]]] = []  # of each node, what its bracket holds
    for part in _PART.finditer(text):
        line = bisect_right(ends, part.start()) + 1
        if kind := part["kind"]:
            if about and not above:
                raise draft.fault(line, f"a second top node, {kind}; a file has one tree.")
            above.append(draft.add(Node(0, 0, kind, ""), line, above[-1] if above else None))
            about.append({})
        elif part[0] == ")" and above:
            above.pop()
        elif part[0] != _REMARK and (what := _refused(part, about[above[-1]] if above else None)):
            raise draft.fault(line, what)
    if above:
        kind = draft.nodes[above[-1]].nuclearity
        raise draft.fault(draft.lines[above[-1]], f"the bracket of this {kind} is never closed.")
    if not about:
        raise draft.fault(1, "there is no tree in it.")
    for place, own in enumerate(about):
        _fill(draft, place, own)
    return draft


def _refused(part: re.Match[str], own: dict[str, list[str]] | None) -> str | None:
    """Add what a bracket says to what the node around it has; return its fault, if there is one."""
    if part[0] in _UNLIKE or not part[0].startswith("("):
        return _UNLIKE.get(part[0], f"{part[0]!r} is not expected here.")
    inside = part["marked"] if part["tagged"] is None else part["tagged"]
    name, values = (part["name"], part["values"].split()) if inside is None else ("text", [plain_text(inside)])
    if inside is None and name == "text":
        return "the text that begins here has no end; it is _!…_! or <EDU>…</EDU>, then )."
    if inside is None and part["end"] is None:
        return f"the bracket of {name!r} is not closed."
    if name not in _VALUES:
        return f"{name!r} is not known; there are Root, Nucleus, Satellite, span, leaf, rel2par, text."
    if len(values) != _VALUES[name] or (name in ("span", "leaf") and not all(map(_NUMBER.fullmatch, values))):
        what = "a relation" if name == "rel2par" else f"{_VALUES[name]} number(s)"
        return f"{name} takes {what}; got {' '.join(values)!r}."
    if own is None or name in own:
        return f"{name} is outside of the tree." if own is None else f"this node has {name} twice."
    own[name] = values
    return None


def _fill(draft: Draft, place: int, own: dict[str, list[str]]) -> None:
    """Fill in a node from the contents of its bracket."""
    kind, line = draft.nodes[place].nuclearity, draft.lines[place]
    spans = [own[name] for name in ("span", "leaf") if name in own]
    if len(spans) != 1:
        raise draft.fault(line, f"a {kind} has one (span I J) or one (leaf I); this one has {len(spans)}.")
    relation = NO_RELATION if kind == ROOT else own.get("rel2par", [""])[0]
    if not relation:
        raise draft.fault(line, f"this {kind} has no (rel2par RELATION).")
    first, last = int(spans[0][0]), int(spans[0][-1])
    draft.nodes[place] = Node(first, last, kind, relation)
    if "text" in own:
        if first != last:
            raise draft.fault(line, "a text belongs to a leaf, which has (leaf I).")
        draft.texts[first] = own["text"][0]


def write_dis(tree: DiscourseTree) -> str:
    """Return a tree in brackets, indented by one space per level down to level 40."""
    texts = tree.leaf_texts()
    lines: list[str] = []
    ends: list[int] = []  # last EDU of the nodes whose brackets are open
    for node in tree.nodes:
        while ends and ends[-1] < node.first:
            ends.pop()
            lines[-1] += " )"
        relation = "" if node.nuclearity == ROOT else f" (rel2par {node.relation})"
        span = f"(leaf {node.first})" if node.is_leaf else f"(span {node.first} {node.last})"
        text = texts.get(node.first, "") if node.is_leaf else ""
        if "_!" in text:
            raise DataError(
                f"{tree.document}: the text of EDU {node.first} holds '_!', which would end it in this format."
            )
        lines.append(
            f"{' ' * min(len(ends), 40)}( {node.nuclearity} {span}{relation}{f' (text _!{text}_!)' if text else ''}"
        )
        ends.append(node.last)
    return "\n".join(lines) + " )" * len(ends) + "\n"


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
    check_choice("detached", detached, get_args(Detached))
    doubts = Doubts(trust)
    paths: dict[str, Path] = {}
    trees: dict[str, DiscourseTree] = {}
    faults: dict[str, tuple[Fault, ...]] = {}
    for path in files_of(source, wanted=lambda file: format != "auto" or unpacked(file).suffix in ENDINGS):
        name, ending = name_of_file(unpacked(path).stem), unpacked(path).suffix
        if format == "auto" and ending not in ENDINGS:
            raise DataError(f"{path}: the ending {ending!r} names no format. Name it: {option('format', 'dis')}.")
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
        where = ", ".join(map(str, as_paths(source)))
        raise DataError(
            f"{where}: no files of trees ({', '.join(ENDINGS)}). Name their format: {option('format', 'dis')}."
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
    check_choice("format", format, get_args(DiscourseFormat))
    check_kind(trees, Mapping, "trees are given by name of the document, {'rain': …}")
    files = file_names(trees, "document(s)")
    if format != "rs3":
        _check_relations(trees, format)
    texts = {f"{files[name]}.{format}": _WRITERS[format](tree) for name, tree in trees.items()}
    if format in ("spans", "attachments") and any(tree.texts for tree in trees.values()):
        warn(f"the format {format!r} has no place for texts; they are not written.")
    return write_texts(directory, texts)


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
            return dis_draft(text, file).tree(document, collapse_unary=collapse_unary)
        case "spans":
            return span_draft(text, file).tree(document, collapse_unary=collapse_unary)
        case "attachments":
            return read_attachments(text, file, document)
        case _:
            raise ConfigError(f"{option('format')} is one of {', '.join(get_args(StringFormat))}; got {format!r}.")
