"""Trees in which no node has more than two children."""

import warnings
from typing import Literal, get_args

from langdiff.discourse.tree import NUCLEUS, SPAN, DiscourseTree, Node
from langdiff.errors import ConfigError, LangdiffWarning

Binarization = Literal["right", "right_mixed", "left", "none"]


def binarize(tree: DiscourseTree, mode: Binarization = "right") -> DiscourseTree:
    r"""Divide nodes with more than two children by new nodes, each a nucleus of the one above.

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
    if mode not in get_args(Binarization):
        raise ConfigError(f"mode is one of {', '.join(get_args(Binarization))}; got {mode!r}.")
    added: list[Node] = []
    if mode != "none":
        for node, own in zip(tree.nodes, tree.children, strict=True):
            if len(own) > 2:
                added += _between(tree.document, node, [tree.nodes[child] for child in own], mode)
    if not added:
        return tree
    return DiscourseTree(nodes=(*tree.nodes, *added), document=tree.document, texts=tree.texts)


def _between(document: str, node: Node, own: list[Node], mode: Binarization) -> list[Node]:
    """Return the nodes between a node and its children."""
    relation = own[0].relation
    nuclei = [place for place, child in enumerate(own) if child.nuclearity == NUCLEUS]
    if len(nuclei) == 1:
        return _around_nucleus(own, nuclei[0], satellites_to_the_right_first=mode == "right")
    if any(child.relation != relation for child in own):
        warnings.warn(
            f"{document}: the nuclei of {node} carry different relations; new nodes carry the first, {relation!r}.",
            LangdiffWarning,
            stacklevel=3,
        )
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
