"""Trees of Rhetorical Structure Theory in Marcu's encoding: every node says what it is to its parent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pandas as pd

from langdiff.errors import ConfigError, DataError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

View = Literal["marcu", "binary", "attachments"]
NUCLEUS, SATELLITE, ROOT = "Nucleus", "Satellite", "Root"
SPAN = "span"  # what the nucleus beside a satellite carries instead of a relation
NO_RELATION = "---"  # what the root carries


class Node(NamedTuple):
    """A discourse unit and what it is to its parent.

    Attributes
    ----------
    first, last : int
        Numbers of its first and of its last elementary discourse unit (EDU).
    nuclearity : {"Nucleus", "Satellite", "Root"}
        Part that it has in its parent; Root for the top node only.
    relation : str
        Of a satellite the relation to its nucleus, of one of several nuclei the relation between them, of the only
        nucleus ``span``, of the root ``---``.
    """

    first: int
    last: int
    nuclearity: str
    relation: str

    @property
    def is_leaf(self) -> bool:
        """Whether the node is an elementary discourse unit."""
        return self.first == self.last

    def __str__(self) -> str:
        """Name the EDUs, for messages."""
        return f"EDU {self.first}" if self.is_leaf else f"EDUs {self.first}–{self.last}"


class NodeError(DataError):
    """Something is wrong with a node; `place` is its number in the sequence given."""

    def __init__(self, place: int, what: str) -> None:
        super().__init__(place, what)
        self.place, self.what = place, what

    def __str__(self) -> str:
        """Say what is wrong, without the number."""
        return self.what


@dataclass(frozen=True, kw_only=True, repr=False)
class DiscourseTree:
    """The discourse structure of a document.

    Attributes
    ----------
    nodes : tuple of Node
        All nodes, parents before children and in text order; they are put into this order.
    document : str
        Name of the document.
    texts : tuple of str or None
        Texts of the EDUs, if they are known.

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
    langdiff.discourse.tree.NodeError: EDUs 1–2 has a single child. Give both one label, or drop one (collapse_unary).
    """

    nodes: Sequence[Node]
    document: str = ""
    texts: tuple[str, ...] | None = None

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

    @property
    def is_binary(self) -> bool:
        """Whether no node has more than two children."""
        return all(len(own) <= 2 for own in self.children)

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

    def summary(self) -> str:
        """Format the tree as an outline: one line per node, indented by depth."""
        texts = self.leaf_texts()
        lines = [repr(self)]
        for node, depth in zip(self.nodes, self.to_frame()["depth"], strict=True):
            text = f"  {texts[node.first]}" if node.is_leaf and node.first in texts else ""
            span = str(node.first) if node.is_leaf else f"{node.first}–{node.last}"
            lines.append(f"{'  ' * depth}{node.nuclearity[0]} {node.relation} [{span}]{text}")
        return "\n".join(lines)

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
        from langdiff.discourse.attachments import attachments_of
        from langdiff.discourse.binarization import binarize
        from langdiff.plots import plot_discourse_tree  # Matplotlib only when asked for

        if view not in ("marcu", "binary", "attachments"):
            raise ConfigError(f"view is marcu, binary or attachments; got {view!r}.")
        if view == "marcu":
            return plot_discourse_tree(self.to_frame(), ax, texts=self.leaf_texts(), **options)
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
        return plot_discourse_tree(frame, ax, texts=tree.leaf_texts(), **options)

    def __repr__(self) -> str:
        """Name the document, its EDUs and the depth of the tree."""
        return f"DiscourseTree {self.document!r}: {self.n_edus:,} EDUs, depth {self.to_frame()['depth'].max():,}"


def in_order(node: Node) -> tuple[int, int]:
    """Return what puts parents before children, and all in text order."""
    return node.first, -node.last


def children_by_span(nodes: Sequence[Node]) -> list[list[int]]:
    """Return the children of nodes that are in order, by containment of their spans.

    Raises
    ------
    NodeError
        If spans cross, two are equal, or there is more than one top node.
    """
    children: list[list[int]] = [[] for _ in nodes]
    above: list[int] = []  # the nodes that contain the place reached
    for place, node in enumerate(nodes):
        while above and nodes[above[-1]].last < node.first:
            above.pop()
        if above:
            parent = nodes[above[-1]]
            if node.last > parent.last:
                raise NodeError(place, f"{node} and {parent} cross: neither contains the other.")
            if node[:2] == parent[:2]:
                raise NodeError(place, f"{node} is there twice. Give it one label, or drop one (collapse_unary).")
            children[above[-1]].append(place)
        elif place:
            raise NodeError(place, f"{node} and {nodes[0]} are both top nodes; a tree has one root.")
        above.append(place)
    return children


def check_nodes(nodes: Sequence[Node], children: Sequence[Sequence[int]]) -> None:
    """Check spans and nuclearity of every node, whatever order they are in; the first is the root.

    Raises
    ------
    NodeError
        If there is no node, the first is not the root, or a node has other children than a tree can have.
    """
    if not nodes:
        raise NodeError(0, "there is no node.")
    for place, (node, own) in enumerate(zip(nodes, children, strict=True)):
        if (node.nuclearity == ROOT) != (place == 0) or node.nuclearity not in (ROOT, NUCLEUS, SATELLITE):
            expected = "the top node is Root" if place == 0 else "below the root there are Nucleus and Satellite"
            raise NodeError(place, f"{node} is {node.nuclearity!r}; {expected}.")
        if own:
            _check_children(place, node, {child: nodes[child] for child in own})
        elif not node.is_leaf:
            raise NodeError(place, f"{node} has no children, and is not a single EDU.")


def _check_children(place: int, node: Node, own: Mapping[int, Node]) -> None:
    if len(own) == 1:
        raise NodeError(place, f"{node} has a single child. Give both one label, or drop one (collapse_unary).")
    expected = node.first
    for number, child in own.items():
        if child.first != expected or child.last < child.first:
            what = f"the children of {node} do not follow each other: {child} where {expected} comes."
            raise NodeError(number, what)
        expected = child.last + 1
    if expected != node.last + 1:
        raise NodeError(place, f"the children of {node} end with EDU {expected - 1}.")
    satellites = {number: child for number, child in own.items() if child.nuclearity == SATELLITE}
    if len(satellites) == len(own):
        raise NodeError(place, f"{node} has no nucleus, only satellites.")
    if satellites and len(own) - len(satellites) > 1:
        first = next(iter(satellites.values()))
        raise NodeError(place, f"{node} has several nuclei and a satellite ({first}); it can have either.")
    for number, child in (satellites or own).items():
        if child.relation.lower() == SPAN:
            raise NodeError(number, f"{child} carries {SPAN!r}, which only the nucleus beside a satellite does.")
