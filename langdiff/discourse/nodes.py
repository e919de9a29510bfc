"""Nodes of trees of Rhetorical Structure Theory in Marcu's encoding, labelled by their role in the parent."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from langdiff.errors import DataError, option

NUCLEUS, SATELLITE, ROOT = "Nucleus", "Satellite", "Root"
SPAN = "span"  # what the nucleus beside a satellite carries instead of a relation
NO_RELATION = "---"  # what the root carries


class Node(NamedTuple):
    """A discourse unit and its role in its parent.

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
        """Return the EDUs as messages name them."""
        return f"EDU {self.first}" if self.is_leaf else f"EDUs {self.first}–{self.last}"


class NodeError(DataError):
    """Error in a node; `place` is its number in the sequence given."""

    def __init__(self, place: int, what: str) -> None:
        super().__init__(place, what)
        self.place, self.what = place, what

    def __str__(self) -> str:
        """Return the message, without the number."""
        return self.what


def in_order(node: Node) -> tuple[int, int]:
    """Return the sort key that puts parents before children, and all in text order."""
    return node.first, -node.last


def children_by_span(nodes: Sequence[Node]) -> list[list[int]]:
    """Return the children of nodes that are in order, by containment of their spans."""
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
                raise NodeError(
                    place, f"{node} is there twice. Give it one label, or drop one ({option('collapse_unary')})."
                )
            children[above[-1]].append(place)
        elif place:
            raise NodeError(place, f"{node} and {nodes[0]} are both top nodes; a tree has one root.")
        above.append(place)
    return children


def check_nodes(nodes: Sequence[Node], children: Sequence[Sequence[int]]) -> None:
    """Check spans and nuclearity of every node, whatever order they are in; the first is the root."""
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
        raise NodeError(
            place, f"{node} has a single child. Give both one label, or drop one ({option('collapse_unary')})."
        )
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
            raise NodeError(number, f"{child} carries {SPAN!r}, which only the nucleus of a satellite does.")
