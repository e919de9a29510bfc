"""Trees in Newick's format, read without recursion: a classification may be hundreds of levels deep."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from langdiff.errors import DataError

TOKEN = re.compile(r"\s+|\[[^\]]*\]|(?P<quoted>'(?:[^']|'')*')|(?P<mark>[(),:;])|(?P<plain>[^\s()\[\]',:;]+)")
_ENDED = {"(", ",", ")", "name", "length"}
FOLLOWS = {  # what may stand before a symbol; the beginning is as after a bracket
    "(": {"(", ","},
    "name": {"(", ",", ")"},
    ":": {"(", ",", ")", "name"},
    "length": {":"},
    ",": _ENDED,
    ")": _ENDED,
    ";": _ENDED,
}


class Nodes(NamedTuple):
    """Nodes of a tree, every parent after its children.

    Attributes
    ----------
    names : list of str
        Names of the nodes, empty where a node has none.
    parents : list of int
        Position of the parent of each node; −1 for the root.
    lengths : list of float or None
        Length of the branch above each node; None where it is not given.
    """

    names: list[str]
    parents: list[int]
    lengths: list[float | None]


def parse_newick(text: str) -> Nodes:
    """Parse one tree.

    Parameters
    ----------
    text : str
        The tree, such as ``((deu:1,nld:1)west:2,swe:3);``, with or without the semicolon. Comments in square
        brackets are skipped; in quoted names two quotation marks stand for one, in others ``_`` stays.

    Returns
    -------
    Nodes
        Names, parents and lengths; the root is the last node.

    Raises
    ------
    DataError
        If the text is not a tree; the message names the position.

    Examples
    --------
    >>> parse_newick("((deu:1,nld:1)west:2,swe:3);")
    Nodes(names=['deu', 'nld', 'west', 'swe', ''], parents=[2, 2, 4, 4, -1], lengths=[1.0, 1.0, 2.0, 3.0, None])
    """
    nodes = Nodes([], [], [])
    groups: list[list[int]] = [[]]  # children found so far of every group that is open
    before = "("
    for place, symbol, value in _symbols(text):
        if before not in FOLLOWS[symbol]:
            raise _error(text, place, f"{value!r} is not expected")
        if before in "(," and symbol in ":,);":
            _add(nodes, "", [], groups)  # a leaf without a name
        if symbol in ",;)":
            _check_level(text, place, symbol, len(groups))
        if symbol == "(":
            groups.append([])
        elif symbol == ")":
            _add(nodes, "", groups.pop(), groups)
        elif symbol == "name" and before == ")":
            nodes.names[-1] = value
        elif symbol == "name":
            _add(nodes, value, [], groups)
        elif symbol == "length":
            nodes.lengths[-1] = _length(text, place, value)
        before = symbol
    return nodes


def _symbols(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield position, symbol and text of every mark, name and length, and a semicolon at the end in any case."""
    place, symbol = 0, ""
    while place < len(text):
        token = TOKEN.match(text, place)
        if token is None:
            raise _error(text, place, f"{text[place]!r} is not closed, or not expected")
        if token.lastgroup is not None:  # neither white space nor a comment
            value = token[0]
            word = "length" if symbol == ":" else "name"
            symbol = value if token.lastgroup == "mark" else word
            yield place, symbol, value[1:-1].replace("''", "'") if token.lastgroup == "quoted" else value
        place = token.end()
    if symbol != ";":
        yield place, ";", ";"


def _check_level(text: str, place: int, symbol: str, level: int) -> None:
    if symbol == ")" and level == 1:
        raise _error(text, place, "no group is open")
    if symbol == "," and level == 1:
        raise _error(text, place, "a second tree begins; separate trees by semicolons")
    if symbol == ";" and level > 1:
        raise _error(text, place, f"the tree ends, and {level - 1} group(s) are not closed")


def _add(nodes: Nodes, name: str, children: list[int], groups: list[list[int]]) -> None:
    place = len(nodes.names)
    for child in children:
        nodes.parents[child] = place
    nodes.names.append(name)
    nodes.parents.append(-1)
    nodes.lengths.append(None)
    groups[-1].append(place)


def _length(text: str, place: int, token: str) -> float:
    try:
        length = float(token)
    except ValueError:
        length = -1.0
    if not 0 <= length < float("inf"):
        raise _error(text, place, f"{token!r} is not the length of a branch, a number of at least 0")
    return length


def _error(text: str, place: int, what: str) -> DataError:
    line = text.count("\n", 0, place) + 1
    return DataError(
        f"not a tree in Newick's format: line {line}, character {place - text.rfind(chr(10), 0, place)}: {what}, after "
        f"{text[max(0, place - 20) : place]!r}."
    )
