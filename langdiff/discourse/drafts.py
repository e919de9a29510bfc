"""Drafts of trees, not yet checked: nodes with their lines and children."""

import re
from dataclasses import dataclass, field

from langdiff.discourse.nodes import Node, NodeError, check_nodes
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import Fault, FaultsError

_MARKUP = re.compile(r"</?(?:s|S|p|P|EDU)>")


@dataclass
class Draft:
    """Nodes as a file has them, the root first; the brackets or the parents of the file say who is whose child.

    Attributes
    ----------
    file : str
        The file, for messages.
    nodes : list of Node
        Nodes, parents before children.
    lines : list of int
        Line of each node.
    children : list of list of int
        Numbers of the children of each node.
    texts : dict
        Texts by number of the EDU.
    secondary_edges : int
        Number of secondary edges, which are not part of the tree.
    dropped : dict
        Texts of detached EDUs that were dropped, by number in the file.
    """

    file: str
    nodes: list[Node] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    children: list[list[int]] = field(default_factory=list)
    texts: dict[int, str] = field(default_factory=dict)
    secondary_edges: int = 0
    dropped: dict[int, str] = field(default_factory=dict)

    def add(self, node: Node, line: int, parent: int | None) -> int:
        """Add a node, as the last child of one that is there already; return its number."""
        self.nodes.append(node)
        self.lines.append(line)
        self.children.append([])
        if parent is not None:
            self.children[parent].append(len(self.nodes) - 1)
        return len(self.nodes) - 1

    def keep(self, edus: list[int]) -> None:
        """Keep some EDUs, numbered from 1, and take the others as dropped, before there are nodes."""
        texts = {number: self.texts.pop(edu) for number, edu in enumerate(edus, start=1)}
        self.texts, self.dropped = texts, self.texts

    def tree(self, document: str, *, collapse_unary: bool) -> DiscourseTree:
        """Return the tree."""
        if collapse_unary:
            self._collapse()
        for own in self.children:
            own.sort(key=lambda child: self.nodes[child].first)
        try:
            check_nodes(self.nodes, self.children)
        except NodeError as error:
            raise self.fault(self.lines[error.place] if self.lines else None, error.what) from error
        edus = range(self.nodes[0].first, self.nodes[0].last + 1)
        texts = tuple(self.texts.get(edu, "") for edu in edus) if any(self.texts.values()) else None
        return DiscourseTree(
            nodes=self.nodes,
            document=document,
            texts=texts,
            secondary_edges=self.secondary_edges,
            dropped=tuple(self.dropped.items()),
        )

    def fault(self, line: int | None, what: str) -> FaultsError:
        """Return the error to raise in a line."""
        return fault(self.file, line, what)

    def _collapse(self) -> None:
        """Remove a node that is an only child; its children become those of its parent."""
        gone = set()
        for own in self.children:
            while len(own) == 1:
                gone.add(own[0])
                own[:] = self.children[own[0]]
        kept = [place for place in range(len(self.nodes)) if place not in gone]
        number = {place: new for new, place in enumerate(kept)}
        self.children = [[number[child] for child in self.children[place]] for place in kept]
        self.nodes = [self.nodes[place] for place in kept]
        self.lines = [self.lines[place] for place in kept]


def fault(file: str, line: int | None, what: str) -> FaultsError:
    """Return the error to raise in a line of a file."""
    return FaultsError([Fault(file, line, what)])


def plain_text(text: str) -> str:
    """Return the text of an EDU without marks of sentences and paragraphs, with single spaces."""
    return " ".join(_MARKUP.sub(" ", text).split())
