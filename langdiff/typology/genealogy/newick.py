"""Trees in Newick's format, read without recursion: a classification may be hundreds of levels deep."""

import re
from typing import NamedTuple

from langdiff.errors import DataError

TOKEN = re.compile(r"\s+|\[[^\]]*\]|(?P<quoted>'(?:[^']|'')*')|(?P<mark>[(),:;])|(?P<plain>[^\s()\[\]',:;]+)")


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
    open_groups: list[list[int]] = [[]]  # children found so far of every group that is open
    place, before = 0, "("  # the last mark, or "label" or "length": what may follow depends on it
    while place < len(text) and before != ";":
        token = TOKEN.match(text, place)
        if token is None:
            raise _error(text, place, f"{text[place]!r} is not closed or not expected")
        kind, value = token.lastgroup, token[0]
        start, place = place, token.end()
        if kind is None:  # white space, a comment
            continue
        if kind == "mark" and value == "(" and before in "(,":
            open_groups.append([])
        elif kind == "mark" and value in "),;" and before != ":":
            if before in "(,":
                _add(nodes, "", [], open_groups)
            if value != "," and (len(open_groups) == 1) != (value == ";"):
                raise _error(text, start, "a group is not closed" if value == ";" else "no group is open")
            if value == "," and len(open_groups) == 1:
                raise _error(text, start, "a second tree begins; separate trees by semicolons")
            if value == ")":
                _add(nodes, "", open_groups.pop(), open_groups)
        elif kind == "mark" and value == ":" and before not in ("length", ":"):
            if before in "(,":
                _add(nodes, "", [], open_groups)
        elif kind != "mark" and before == ":":
            nodes.lengths[-1] = _length(text, start, value)
            value = "length"
        elif kind != "mark" and before in "(,)":
            if before == ")":
                nodes.names[-1] = _name(value)
            else:
                _add(nodes, _name(value), [], open_groups)
            value = "label"
        else:
            raise _error(text, start, f"{value!r} is not expected")
        before = value
    if before == ":" or len(open_groups) > 1 or not nodes.names:
        raise _error(text, place, "the tree ends too early")
    if text[place:].strip():
        raise _error(text, place, "something follows the tree")
    return nodes


def _add(nodes: Nodes, name: str, children: list[int], open_groups: list[list[int]]) -> None:
    place = len(nodes.names)
    for child in children:
        nodes.parents[child] = place
    nodes.names.append(name)
    nodes.parents.append(-1)
    nodes.lengths.append(None)
    open_groups[-1].append(place)


def _name(token: str) -> str:
    return token[1:-1].replace("''", "'") if token.startswith("'") else token


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
