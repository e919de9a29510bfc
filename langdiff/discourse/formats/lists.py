"""Lists: one node per line (``start end nuclearity relation``), or one attachment (``start split end NS relation``)."""

from collections.abc import Iterable

from langdiff.discourse.formats.drafts import Draft, fault
from langdiff.discourse.nodes import NO_RELATION, NUCLEUS, ROOT, SATELLITE, Node, NodeError, in_order
from langdiff.discourse.tree import Attachment, DiscourseTree, attachments_of, tree_of_attachments

_NUCLEARITY = {"n": NUCLEUS, "s": SATELLITE, "r": ROOT} | {name.lower(): name for name in (NUCLEUS, SATELLITE, ROOT)}


def span_draft(text: str, file: str) -> Draft:
    """Return the nodes of a list of spans; a root that is missing is added.

    Raises
    ------
    FaultsError
        If a line is not a node, or spans cross; the message names file and line.
    """
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
    """Return the tree of a list of attachments.

    Raises
    ------
    FaultsError
        If a line is not an attachment, or they are not those of one tree; the message names file and line.
    """
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
    """Return one line per decision of a binary tree, without texts.

    Raises
    ------
    ConfigError
        If the tree is not binary.
    DataError
        If it has one EDU only, so that there is no decision.
    """
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
