"""Trees of Rhetorical Structure Theory, their binarization, and labelled attachment decisions."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import pandas as pd

from langdiff.base.grids import Shown
from langdiff.base.result import Result, drawing
from langdiff.base.types import check_kind
from langdiff.discourse.nodes import (
    NO_RELATION,
    NUCLEUS,
    ROOT,
    SATELLITE,
    SPAN,
    Node,
    NodeError,
    check_nodes,
    children_by_span,
    in_order,
)
from langdiff.errors import ConfigError, DataError, listing, option, warn

if TYPE_CHECKING:
    from matplotlib.axes import Axes


WANTED = "a discourse tree is wanted, one of those that read_discourse reads"
View = Literal["marcu", "binary", "attachments"]
Binarization = Literal["right", "right_mixed", "left", "none"]
_LETTERS = {"NS": (NUCLEUS, SATELLITE), "SN": (SATELLITE, NUCLEUS), "NN": (NUCLEUS, NUCLEUS)}


@dataclass(frozen=True, kw_only=True, repr=False)
class DiscourseTree(Result):
    """The discourse structure of a document.

    Attributes
    ----------
    nodes : tuple of Node
        All nodes, parents before children and in text order; they are put into this order.
    document : str
        Name of the document.
    texts : tuple of str or None
        Texts of the EDUs, if they are known.
    secondary_edges : int
        Number of secondary edges of its file (eRST, ``.rs4``), which are not part of the tree and are ignored.
    dropped : tuple of (int, str)
        Number in the file and text of each EDU that belongs to no part of the tree and was dropped.

    Raises
    ------
    DataError
        If the nodes are not a tree: spans that cross, children that do not cover their parent, a node with one child,
        without nucleus, or with several nuclei and a satellite, a root that is not the only top node.

    Examples
    --------
    >>> tree = DiscourseTree(nodes=[(1, 2, "Root", "---"), (1, 1, "Nucleus", "span"), (2, 2, "Satellite", "evidence")])
    >>> tree
    DiscourseTree '': 2 EDUs, depth 1
    >>> tree.children[0]
    (1, 2)
    >>> DiscourseTree(nodes=tree.nodes[:2])
    Traceback (most recent call last):
    langdiff.discourse.nodes.NodeError: EDUs 1–2 has a single child. Give both one label, or drop one (collapse_unary).
    """

    nodes: Sequence[Node]
    document: str = ""
    texts: tuple[str, ...] | None = None
    secondary_edges: int = field(default=0, compare=False)
    dropped: tuple[tuple[int, str], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        nodes = tuple(sorted((Node(*node) for node in self.nodes), key=in_order))
        object.__setattr__(self, "nodes", nodes)
        check_nodes(nodes, self.children)
        if self.texts is not None and len(self.texts) != self.n_edus:
            raise DataError(f"{self.document}: {len(self.texts)} texts for {self.n_edus} EDUs.")

    @property
    def n_edus(self) -> int:
        """Number of elementary discourse units."""
        return self.nodes[0].last - self.nodes[0].first + 1

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Numbers of the children of every node, in text order."""
        return tuple(map(tuple, children_by_span(self.nodes)))

    def leaf_texts(self) -> dict[int, str]:
        """Return the texts by number of the EDU; empty where they are not known."""
        return dict(enumerate(self.texts or (), self.nodes[0].first))

    def to_frame(self) -> pd.DataFrame:
        """Return one row per node: first, last, nuclearity, relation, number of the parent (-1: none), depth."""
        parent, depth = [-1] * len(self.nodes), [0] * len(self.nodes)
        for place, own in enumerate(self.children):
            for child in own:  # parents come first
                parent[child], depth[child] = place, depth[place] + 1
        frame = pd.DataFrame(list(self.nodes), columns=list(Node._fields)).rename_axis("node")
        return frame.assign(parent=parent, depth=depth)

    def _lines(self) -> Iterator[str]:
        """Yield an outline: one line per node, indented by depth."""
        texts = self.leaf_texts()
        yield repr(self)
        for node, depth in zip(self.nodes, self.to_frame()["depth"], strict=True):
            text = f"  {texts[node.first]}" if node.is_leaf and node.first in texts else ""
            span = str(node.first) if node.is_leaf else f"{node.first}–{node.last}"
            yield f"{'  ' * depth}{node.nuclearity[0]} {node.relation} [{span}]{text}"

    def tables(self) -> list[Shown]:
        """Return no table: the tree is an outline."""
        return []

    def plot(self, view: View = "marcu", ax: "Axes | None" = None, **options: Any) -> "Axes":
        """Draw the tree; see `langdiff.plots.plot_discourse_tree`.

        Parameters
        ----------
        view : {"marcu", "binary", "attachments"}
            The tree as it is, made binary to the right, or its labelled attachment decisions.
        ax : Axes, optional
            Axes to draw on; by default those of a new figure.
        **options
            Options of the function that draws.

        Returns
        -------
        Axes
            The axes drawn on.

        Raises
        ------
        ConfigError
            If the view is unknown.
        """
        if view not in ("marcu", "binary", "attachments"):
            raise ConfigError(f"{option('view')} is marcu, binary or attachments; got {view!r}.")
        if view == "marcu":
            return drawing("plot_discourse_tree")(self.to_frame(), ax, texts=self.leaf_texts(), **options)
        tree = binarize(self)
        frame = tree.to_frame()
        known = set(self.nodes)
        frame["added"] = [node not in known for node in tree.nodes]
        if view == "attachments":
            decisions = {
                (first, last): f"{letters} {relation}" for first, _, last, letters, relation in attachments_of(tree)
            }
            spans = zip(frame["first"], frame["last"], strict=True)
            frame["decision"] = [decisions.get(span, "") for span in spans]
        return drawing("plot_discourse_tree")(frame, ax, texts=tree.leaf_texts(), **options)

    def __repr__(self) -> str:
        """Return a line with the document, its EDUs and the depth of the tree."""
        return f"DiscourseTree {self.document!r}: {self.n_edus:,} EDUs, depth {self.to_frame()['depth'].max():,}"


def binarize(tree: DiscourseTree, mode: Binarization = "right") -> DiscourseTree:
    r"""Return a tree whose nodes with more than two children are divided by new nodes, nuclei of those above.

    Several nuclei become a chain to the right, X(c₁, X′(c₂, X″(c₃, …))), whose new nodes carry the relation. A nucleus
    takes its satellites one after the other, the nearest first; what it is with them is a new nucleus ``span``.

    Parameters
    ----------
    tree : DiscourseTree
        Tree to divide; it is not changed.
    mode : {"right", "right_mixed", "left", "none"}
        Order. ``right``: satellites to the right of the nucleus first, so that S N S becomes S (N S). ``right_mixed``:
        those to the left first, (S N) S. ``left``: these first, too, and nuclei in a chain to the left. ``none``
        returns the tree as it is.

    Returns
    -------
    DiscourseTree
        Tree with n - 1 nodes above n EDUs (unless the mode is ``none``).

    Raises
    ------
    ConfigError
        If the mode is unknown.

    Warns
    -----
    LangdiffWarning
        If nuclei of one node carry different relations; the new nodes then carry the first one's.

    References
    ----------
    Morey, Muller and Asher (2017), "How much progress have we made on RST discourse parsing?", section 3.

    Examples
    --------
    >>> from langdiff.discourse import parse_discourse
    >>> tree = parse_discourse("1 1 S background\n2 2 N span\n3 3 S evidence", format="spans")
    >>> [tuple(node) for node in binarize(tree).nodes if node not in tree.nodes]
    [(2, 3, 'Nucleus', 'span')]
    >>> [tuple(node) for node in binarize(tree, "right_mixed").nodes if node not in tree.nodes]
    [(1, 2, 'Nucleus', 'span')]
    """
    check_kind(tree, DiscourseTree, WANTED)
    if mode not in get_args(Binarization):
        raise ConfigError(f"mode is one of {', '.join(get_args(Binarization))}; got {mode!r}.")
    added: list[Node] = []
    if mode != "none":
        for node, own in zip(tree.nodes, tree.children, strict=True):
            if len(own) > 2:
                added += _between(tree.document, node, [tree.nodes[child] for child in own], mode)
    if not added:
        return tree
    return replace(tree, nodes=(*tree.nodes, *added))


def _between(document: str, node: Node, own: list[Node], mode: Binarization) -> list[Node]:
    """Return the nodes between a node and its children."""
    relation = own[0].relation
    nuclei = [place for place, child in enumerate(own) if child.nuclearity == NUCLEUS]
    if len(nuclei) == 1:
        return _around_nucleus(own, nuclei[0], satellites_to_the_right_first=mode == "right")
    if any(child.relation != relation for child in own):
        warn(f"{document}: the nuclei of {node} carry different relations; new nodes carry the first, {relation!r}.")
    if mode == "left":
        return [Node(node.first, child.last, NUCLEUS, relation) for child in own[1:-1]]
    return [Node(child.first, node.last, NUCLEUS, relation) for child in own[1:-1]]


def _around_nucleus(own: list[Node], nucleus: int, *, satellites_to_the_right_first: bool) -> list[Node]:
    right, left = list(range(nucleus + 1, len(own))), list(range(nucleus - 1, -1, -1))
    low = high = nucleus
    between = []
    for place in [*right, *left] if satellites_to_the_right_first else [*left, *right]:
        low, high = min(low, place), max(high, place)
        between.append(Node(own[low].first, own[high].last, NUCLEUS, SPAN))
    return between[:-1]  # the last is the node itself


class Attachment(NamedTuple):
    """A decision to attach two adjacent units.

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
    check_kind(tree, DiscourseTree, WANTED)
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
        warn(
            f"{tree.document}: a decision has one label, that of the satellite or of the left nucleus; the labels of "
            f"{len(lost)} other node(s) are lost: {'; '.join(lost[:5])}."
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
        raise NodeError(0, "the list has no attachments; it cannot represent a document of one EDU.")
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
        raise NodeError(0, f"no decision divides {len(undivided)} unit(s): {listing(undivided)}.")
    return DiscourseTree(nodes=nodes, document=document, texts=None if texts is None else tuple(texts))


def _check(place: int, decision: Attachment) -> None:
    if decision.nuclearity not in _LETTERS:
        raise NodeError(place, f"nuclearity is NS, SN or NN; got {decision.nuclearity!r}.")
    if not decision.first <= decision.split < decision.last:
        raise NodeError(place, f"{decision.split} does not divide EDUs {decision.first}–{decision.last}.")
    if decision.relation.lower() == SPAN:
        raise NodeError(place, f"{SPAN!r} is not a relation but the label of the nucleus of a satellite.")


def _children_of(decision: Attachment) -> list[Node]:
    first, split, last, letters, relation = decision
    spans = ((first, split), (split + 1, last))
    nuclearities = _LETTERS[letters]
    return [
        Node(*span, nuclearity, SPAN if letters != "NN" and nuclearity == NUCLEUS else relation)
        for span, nuclearity in zip(spans, nuclearities, strict=True)
    ]
