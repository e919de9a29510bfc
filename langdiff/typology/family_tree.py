"""Trees of languages, and the covariance that a trait has if it changes along their branches."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from langdiff.base.io import as_path, read_lines
from langdiff.base.types import Floats
from langdiff.errors import DataError, listing

QUOTED = r"'(?:\\'|''|[^'])*+'"  # Glottolog's trees of 2016 have a backslash where others double the mark,
_END = r"(?=(?:\s|\[[^\]]*\])*(?:[(),:;]|\Z))"
# and those of 2017 have nothing: there a mark within a name is one that cannot end it
NAMED = rf"(?:{QUOTED}{_END}|'(?:\\'|''|[^'(),:;]|'(?!{_END}))*+'{_END}|{QUOTED})"
TOKEN = re.compile(rf"\s+|\[[^\]]*\]|(?P<quoted>{NAMED})|(?P<mark>[(),:;])|(?P<plain>[^\s()\[\]',:;]+)")
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
    r"""Parse one tree.

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
            yield place, symbol, _unquoted(value)
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


def _unquoted(name: str) -> str:
    return re.sub(r"\\'|''", "'", name[1:-1]) if name[0] == "'" else name


STATEMENT = re.compile(rf"(?:\[[^\]]*\]|{QUOTED}|[^;'\[])*;?")
TREE = re.compile(rf"(?:\[[^\]]*\]|{NAMED}|[^;'\[])*;?")
NEXUS_TREE = re.compile(rf"\s*u?tree\s*\*?\s*(?:{QUOTED}|[^\s=]+)\s*=(.*)", re.IGNORECASE | re.DOTALL)
TRANSLATED = re.compile(rf"\s*(\S+)\s+({QUOTED}|[^\s,][^,]*?)\s*(?:,|$)")
TRANSLATION = re.compile(r"\s*translate\b(.*?);?\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class LanguageTree:
    """One or several trees of languages; languages of different trees are unrelated.

    Attributes
    ----------
    places : dict from str to int
        Position of every node that can be named: languages, and inner nodes with a name of their own.
    parents : list of int
        Position of the parent of every node; −1 for roots.
    depths : ndarray, shape (N,)
        Length of the path from the root to every node, the branch above the root included.
    source : str
        Name of the file, for messages.
    """

    places: dict[str, int]
    parents: list[int]
    depths: Floats
    source: str = "the tree"

    def covariance(self, languages: Iterable[str]) -> pd.DataFrame:
        r"""Return the covariance of a trait that changes by independent steps along the branches.

        .. math:: P_{ij} = s_{ij} / \sqrt{t_i t_j}

        where :math:`t_i` is the length of the path from the root to language i, and :math:`s_{ij}` that of the part
        which languages i and j share (Brownian motion, scaled to unit variance).

        Examples
        --------
        >>> tree = plant([parse_newick("((deu:1,nld:1):3,swe:4);"), parse_newick("(fin:1,ekk:1):1;")])
        >>> tree.covariance(["deu", "nld", "swe", "fin", "eus"]).round(2)
              deu   nld  swe  fin
        deu  1.00  0.75  0.0  0.0
        nld  0.75  1.00  0.0  0.0
        swe  0.00  0.00  1.0  0.0
        fin  0.00  0.00  0.0  1.0
        """
        found = [name for name in dict.fromkeys(languages) if name in self.places]
        paths = [self._path(self.places[name]) for name in found]
        depths = np.array([self.depths[path[-1]] for path in paths])
        flat = [name for name, depth in zip(found, depths, strict=True) if not depth > 0]
        if flat:
            raise DataError(f"{self.source}: {listing(flat)} is the root of its tree, at depth 0, without variance.")
        shared = np.diag(depths)
        for i, path in enumerate(paths):
            above = set(path)
            for j in range(i):
                common = [node for node in paths[j] if node in above]
                shared[i, j] = shared[j, i] = self.depths[common[-1]] if common else 0.0
        scaled = shared / np.sqrt(np.outer(depths, depths))
        return pd.DataFrame(scaled, found, found)

    def _path(self, node: int) -> list[int]:
        """Return the nodes from the root down to a node."""
        path = [node]
        while (node := self.parents[node]) >= 0:
            path.append(node)
        return path[::-1]

    def __repr__(self) -> str:
        """Return a one-line description with the numbers of trees and of named nodes."""
        return f"LanguageTree: {self.parents.count(-1):,} trees, {len(self.places):,} named nodes"


def plant(trees: Iterable[Nodes], source: str = "the tree") -> LanguageTree:
    """Join trees into one object, and measure the depth of every node.

    Examples
    --------
    >>> plant([parse_newick("(deu,eng)west;")])
    LanguageTree: 1 trees, 3 named nodes
    """
    parents: list[int] = []
    lengths: list[float] = []
    leaves: dict[str, list[int]] = {}
    inner: dict[str, list[int]] = {}
    for tree in trees:
        start, has_children = len(parents), set(tree.parents)
        parents += [-1 if parent < 0 else parent + start for parent in tree.parents]
        lengths += _lengths(tree, source)
        for place, name in enumerate(tree.names):
            if name:
                (inner if place in has_children else leaves).setdefault(name, []).append(place + start)
    twice = [name for name, places in leaves.items() if len(places) > 1]
    if twice:
        raise DataError(
            f"{source}: {len(twice)} language(s) occur more than once: {listing(twice)}. Give one tree per family, "
            "each language in one place."
        )
    # labels of inner nodes may be support values, which repeat: those name no node
    named = {name: places[0] for name, places in inner.items() if len(places) == 1}
    named |= {name: places[0] for name, places in leaves.items()}
    if not named:
        raise DataError(f"{source}: no node of any tree has a name.")
    depths = np.array(lengths)
    for node in range(len(parents) - 1, -1, -1):  # parents come after their children
        if parents[node] >= 0:
            depths[node] += depths[parents[node]]
    return LanguageTree(places=named, parents=parents, depths=depths, source=source)


def _lengths(tree: Nodes, source: str) -> list[float]:
    below_root = tree.lengths[:-1]
    missing = [place for place, length in enumerate(below_root) if length is None]
    if len(missing) == len(below_root):
        return [1.0] * len(tree.lengths)
    if missing:
        names = [tree.names[place] or "(no name)" for place in missing]
        raise DataError(
            f"{source}: {len(missing)} of {len(below_root)} branches have no length: above {listing(names)}. Give a "
            "length to all, or to none if the tree is a classification."
        )
    return [length or 0.0 for length in tree.lengths]


def read_tree(path: str | Path) -> LanguageTree:
    r"""Read a family tree of languages, with or without lengths of branches.

    Parameters
    ----------
    path : str or Path
        File in Newick's format or NEXUS, plain or gzipped. Several trees are taken as unrelated families. The
        names of languages must be those of the predictors and difficulties they are used with, such as ISO 639-3 codes.

    Returns
    -------
    LanguageTree
        The tree, for ``tree=`` of `langdiff.correlate`, `langdiff.typology.regress` and
        `langdiff.typology.compare_relatedness`. Where no branch has a length, all have length 1.

    Raises
    ------
    DataError
        If the file cannot be read or is not a tree (the message names the position), a language occurs twice, or only
        some branches have lengths.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "germanic.nwk")
    ...     _ = file.write_text("((deu:1,nld:1):1.5,swe:2.5):2;\n")
    ...     tree = read_tree(file)
    >>> tree.covariance(["deu", "nld", "swe"]).round(2)
          deu   nld   swe
    deu  1.00  0.78  0.44
    nld  0.78  1.00  0.44
    swe  0.44  0.44  1.00
    """
    file = as_path(path).expanduser()
    text = "\n".join(line for _, line in read_lines(file))
    if text.lstrip()[:6].upper() == "#NEXUS":
        statements, names = _nexus(text)
    else:
        statements, names = [found for found in _statements(text, TREE) if found[1].strip(" \t\r\n;")], {}
    if not statements:
        raise DataError(f"{file}: holds no tree. Give Newick's format, such as ((deu:1,nld:1):1,swe:2);, or NEXUS.")
    trees = []
    for line, statement in statements:
        try:
            tree = parse_newick(statement.strip())
        except DataError as error:
            raise DataError(f"{file}, tree that begins in line {line}: {error}") from error
        trees.append(tree._replace(names=[names.get(name, name) for name in tree.names]))
    return plant(trees, str(file))


def _statements(text: str, pattern: re.Pattern[str] = STATEMENT) -> list[tuple[int, str]]:
    """Return the statements that end in semicolons, each with the number of its first line."""
    found = []
    line, place = 1, 0
    while place < len(text):
        match = pattern.match(text, place)
        end = match.end() if match and match.end() > place else len(text)
        statement = text[place:end]
        blank = len(statement) - len(statement.lstrip())
        found.append((line + statement[:blank].count("\n"), statement))
        line, place = line + statement.count("\n"), end
    return found


def _nexus(text: str) -> tuple[list[tuple[int, str]], dict[str, str]]:
    """Return the trees of a NEXUS file, and the names that its numbers stand for."""
    trees: list[tuple[int, str]] = []
    names: dict[str, str] = {}
    for line, statement in _statements(text):
        if match := NEXUS_TREE.fullmatch(statement):
            trees.append((line, match[1]))
        elif match := TRANSLATION.fullmatch(statement):
            names |= {key: _unquoted(name) for key, name in TRANSLATED.findall(match[1])}
    return trees, names
