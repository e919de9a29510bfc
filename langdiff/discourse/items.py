"""What two trees are compared by: spans with labels, and which of those of a reference another tree has."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from langdiff.discourse.attachments import attachments_of
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import DataError, option

Procedure = Literal["rst-parseval", "parseval"]
Metric = Literal["S", "N", "R", "F"]
METRICS: tuple[Metric, ...] = ("S", "N", "R", "F")
TRIVIAL = 3  # items that are always right in one parser's evaluation: (0, 0), (0, n) and the root


class Item(NamedTuple):
    """A span with its labels: a node, or a decision (then nuclearity is NS, SN or NN)."""

    first: int
    last: int
    nuclearity: str
    relation: str


def items_of(tree: DiscourseTree, procedure: Procedure) -> list[Item]:
    """Return the items of a tree.

    Parameters
    ----------
    tree : DiscourseTree
        Tree with n EDUs.
    procedure : {"rst-parseval", "parseval"}
        ``rst-parseval``: all nodes but the root, at most 2n - 2, which is reached by binary trees. ``parseval``: all
        decisions of a binary tree, n - 1.

    Raises
    ------
    ConfigError
        If decisions are wanted of a tree that is not binary.
    """
    if procedure == "rst-parseval":
        return [Item(*node) for node in tree.nodes[1:]]
    return [Item(first, last, letters, relation) for first, _, last, letters, relation in attachments_of(tree)]


def keys_of(items: Sequence[Item], metric: Metric) -> list[tuple[int | str, ...]]:
    """Return what has to be equal for an item to be found: the span and the labels of the metric."""
    match metric:
        case "S":
            return [(item.first, item.last) for item in items]
        case "N":
            return [(item.first, item.last, item.nuclearity) for item in items]
        case "R":
            return [(item.first, item.last, item.relation) for item in items]
        case _:
            return [tuple(item) for item in items]


def found(gold: Sequence[Item], predicted: Sequence[Item], metric: Metric) -> list[bool]:
    """Return which items of the reference are among those predicted.

    Examples
    --------
    >>> gold = [Item(1, 2, "Nucleus", "span"), Item(3, 3, "Satellite", "evidence")]
    >>> found(gold, [Item(1, 2, "Satellite", "span"), Item(2, 3, "Satellite", "evidence")], "R")
    [True, False]
    """
    there = set(keys_of(predicted, metric))
    return [key in there for key in keys_of(gold, metric)]


def in_characters(items: Sequence[Item], tree: DiscourseTree) -> list[Item]:
    """Return items whose spans are numbers of the first and last character of their texts, white space left out.

    Raises
    ------
    DataError
        If an EDU has no text.
    """
    texts = ["".join(text.split()) for text in tree.texts or [""] * tree.n_edus]
    if not all(texts):
        edu = tree.nodes[0].first + texts.index("")
        raise DataError(
            f"{tree.document}: EDU {edu} has no text, so that spans of characters are not known. Use "
            f"{option('spans', 'edus')}, or a format with texts (.dis, .rs3)."
        )
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    low = tree.nodes[0].first
    return [item._replace(first=ends[item.first - low] + 1, last=ends[item.last - low + 1]) for item in items]


def characters_of(tree: DiscourseTree) -> str:
    """Return all texts of a tree without white space."""
    return "".join("".join(text.split()) for text in tree.texts or ())
