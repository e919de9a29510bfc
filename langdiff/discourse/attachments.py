"""Binary trees as labelled attachment decisions: one per pair of sisters."""

import warnings
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from langdiff.discourse.tree import (
    NO_RELATION,
    NUCLEUS,
    ROOT,
    SATELLITE,
    SPAN,
    DiscourseTree,
    Node,
    NodeError,
)
from langdiff.errors import ConfigError, LangdiffWarning, listing

_LETTERS = {"NS": (NUCLEUS, SATELLITE), "SN": (SATELLITE, NUCLEUS), "NN": (NUCLEUS, NUCLEUS)}


class Attachment(NamedTuple):
    """Two units become one.

    Attributes
    ----------
    first, split, last : int
        First EDU, last EDU of the left part, last EDU.
    nuclearity : {"NS", "SN", "NN"}
        Nuclearity of the left and of the right part.
    relation : str
        Relation of the satellite to the nucleus, or of both nuclei.
    """

    first: int
    split: int
    last: int
    nuclearity: str
    relation: str


def attachments_of(tree: DiscourseTree) -> tuple[Attachment, ...]:
    r"""Return the decisions that a binary tree consists of, n - 1 for n EDUs, parents before children.

    Parameters
    ----------
    tree : DiscourseTree
        Binary tree; see `binarize`.

    Returns
    -------
    tuple of Attachment
        Decisions in text order of their spans, parents before children.

    Raises
    ------
    ConfigError
        If a node has more than two children.

    Warns
    -----
    LangdiffWarning
        If labels are lost: two nuclei carry different relations (the left one's is taken), or the nucleus beside a
        satellite carries another label than ``span``.

    References
    ----------
    Morey, Muller and Asher (2017), section 4.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> tree = parse_discourse("1 1 S background\n2 3 N span\n2 2 N list\n3 3 N list", format="spans")
    >>> for attachment in attachments_of(tree):
    ...     print(*attachment)
    1 1 3 SN background
    2 2 3 NN list
    """
    decisions, lost = [], []
    for node, own in zip(tree.nodes, tree.children, strict=True):
        if not own:
            continue
        if len(own) > 2:
            raise ConfigError(
                f"{tree.document}: {node} has {len(own)} children; attachment decisions are those of binary trees. "
                "Make it binary first (binarization right, right_mixed or left)."
            )
        left, right = (tree.nodes[child] for child in own)
        letters = left.nuclearity[0] + right.nuclearity[0]
        taken, other = (right, left) if letters == "NS" else (left, right)
        if other.relation != (taken.relation if letters == "NN" else SPAN):
            lost.append(f"{other} ({other.relation!r})")
        decisions.append(Attachment(node.first, left.last, node.last, letters, taken.relation))
    if lost:
        warnings.warn(
            f"{tree.document}: a decision has one label, that of the satellite or of the left nucleus; those of "
            f"{len(lost)} other node(s) are not in it: {'; '.join(lost[:5])}.",
            LangdiffWarning,
            stacklevel=2,
        )
    return tuple(decisions)


def tree_of_attachments(
    attachments: Iterable[Attachment | tuple[int, int, int, str, str]],
    *,
    document: str = "",
    texts: Sequence[str] | None = None,
) -> DiscourseTree:
    """Return the binary tree that consists of some decisions, in Marcu's encoding.

    Parameters
    ----------
    attachments : iterable of Attachment
        Decisions, in any order.
    document : str
        Name of the document.
    texts : sequence of str, optional
        Texts of the EDUs.

    Returns
    -------
    DiscourseTree
        Tree whose satellites carry the relations, and their nuclei ``span``; both of two nuclei carry it.

    Raises
    ------
    DataError
        If the decisions are not those of one tree.

    Examples
    --------
    >>> tree = tree_of_attachments([(1, 1, 2, "NS", "evidence")])
    >>> [tuple(node) for node in tree.nodes]
    [(1, 2, 'Root', '---'), (1, 1, 'Nucleus', 'span'), (2, 2, 'Satellite', 'evidence')]
    """
    decisions = [Attachment(*attachment) for attachment in attachments]
    if not decisions:
        raise NodeError(0, "there is no attachment; a list of them cannot stand for a document of one EDU.")
    for place, decision in enumerate(decisions):
        _check(place, decision)
    top = min(decisions, key=lambda decision: (decision.first, -decision.last))
    nodes = [Node(top.first, top.last, ROOT, NO_RELATION)]
    spans = {nodes[0][:2]}
    for decision in decisions:
        for node in _children_of(decision):
            nodes.append(node)
            spans.add(node[:2])
    divided: set[tuple[int, int]] = set()
    for place, decision in enumerate(decisions):
        span = (decision.first, decision.last)
        if span not in spans:
            raise NodeError(place, f"EDUs {decision.first}–{decision.last} are not a part of another decision.")
        if span in divided:
            raise NodeError(place, f"EDUs {decision.first}–{decision.last} are divided a second time.")
        divided.add(span)
    undivided = sorted(span for span in spans if span[0] < span[1] and span not in divided)
    if undivided:
        raise NodeError(0, f"{len(undivided)} unit(s) are divided by no decision: {listing(undivided)}.")
    return DiscourseTree(nodes=nodes, document=document, texts=None if texts is None else tuple(texts))


def _check(place: int, decision: Attachment) -> None:
    if decision.nuclearity not in _LETTERS:
        raise NodeError(place, f"nuclearity is NS, SN or NN; got {decision.nuclearity!r}.")
    if not decision.first <= decision.split < decision.last:
        raise NodeError(place, f"{decision.split} does not divide EDUs {decision.first}–{decision.last}.")
    if decision.relation.lower() == SPAN:
        raise NodeError(place, f"{SPAN!r} is not a relation but the label of the nucleus beside a satellite.")


def _children_of(decision: Attachment) -> list[Node]:
    first, split, last, letters, relation = decision
    spans = ((first, split), (split + 1, last))
    nuclearities = _LETTERS[letters]
    return [
        Node(*span, nuclearity, SPAN if letters != "NN" and nuclearity == NUCLEUS else relation)
        for span, nuclearity in zip(spans, nuclearities, strict=True)
    ]
