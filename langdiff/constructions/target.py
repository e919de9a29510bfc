"""Phenomena of Bender et al. (2011) and targets: dependencies that an analysis must, or must not, contain."""

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass

PHENOMENA = {
    "barerel": "bare relative clause",
    "tough": "tough adjective",
    "rnr": "right-node raising",
    "itexpl": "expletive it",
    "vpart": "verb with particle",
    "ned": "noun with -ed",
    "absol": "absolutive",
    "vger": "verbal gerund",
    "argadj": "argument and adjunct interleaved",
    "control": "control",
}
# An instance of expletive *it* is the subject or the object of its verb, never both: one column of scores
POOLED = {"itexpl": "!ARG"}

_TYPE = re.compile(r"(!?)((?:ARG[123]?|MOD)(?:/(?:ARG[123]?|MOD))*)(:[a-z]+)?")
Node = tuple[int, ...]  # positions of the words of one predicate; the first stands for it
# a word, which may contain every sign, unless it is a position alone that goes before others
_WORD = re.compile(r"(?:(?!\d+[|+])(.+?)-)?(\d+)(?:([|+])(?=.)|$)")


def is_type(text: str) -> bool:
    """Return whether a text is a type of dependency: ``ARG2``, ``ARG2/MOD``, ``!ARG2``, ``ARG2:second``.

    Examples
    --------
    >>> is_type("!ARG1/ARG2"), is_type("ARG2:gap"), is_type("ARG4")
    (True, True, False)
    """
    return _TYPE.fullmatch(text) is not None


def check_column(phenomenon: str, kind: str) -> None:
    """Check that there are such a phenomenon and such a type."""
    if phenomenon not in PHENOMENA:
        raise ValueError(f"unknown phenomenon {phenomenon!r}; known are {', '.join(PHENOMENA)}.")
    if not is_type(kind):
        raise ValueError(f"unknown type {kind!r}; types are ARG, ARG1, ARG2, ARG3 and MOD, joined by /.")


def types_of_rules(target_type: str) -> tuple[str, ...]:
    """Return the types of rules that serve a target's type: itself and, of several joined by ``/``, each alone.

    Examples
    --------
    >>> types_of_rules("ARG2/MOD")
    ('ARG2/MOD', 'ARG2', 'MOD')
    >>> types_of_rules("!ARG2"), types_of_rules("ARG2:gap")
    (('!ARG2',), ('ARG2:gap',))
    """
    match = _TYPE.fullmatch(target_type)
    if match is None:  # refused when it was read
        return (target_type,)
    negation, alternatives, label = match.group(1), match.group(2).split("/"), match.group(3) or ""
    alone = [f"{negation}{part}{label}" for part in alternatives]
    return (target_type, *alone) if len(alone) > 1 else (target_type,)


@dataclass(frozen=True, slots=True)
class Target:
    """A dependency that is characteristic of a phenomenon.

    Attributes
    ----------
    item : str
        Identifier of the sentence.
    phenomenon : str
        Code of the phenomenon.
    positive : bool
        Whether the dependency must be present; otherwise it must be absent.
    heads : tuple of tuple of int
        Alternative heads, each as the positions (from 0) of its words; empty for any head (``*``).
    type : str
        Type of the dependency, with ``!`` where it must be absent.
    dependents : tuple of tuple of int
        Alternative dependents, likewise.
    line : int
        Line of the gold file; 0 if it comes from none.

    Examples
    --------
    >>> target = Target("a1", "absol", True, ((2,), (3,), (4,)), "ARG", ((1,),))
    >>> target.distance, target.column
    (2.0, 'ARG')
    """

    item: str
    phenomenon: str
    positive: bool
    heads: tuple[Node, ...]
    type: str
    dependents: tuple[Node, ...]
    line: int = 0

    @property
    def column(self) -> str:
        """Type under which the target is scored: its own, except that expletive *it* has one type."""
        return POOLED.get(self.phenomenon, self.type)

    @property
    def distance(self) -> float | None:
        """Mean surface distance in words over the pairs of alternatives; None if the head may be any word."""
        pairs = list(itertools.product(self.heads, self.dependents))
        return sum(abs(head[0] - dependent[0]) for head, dependent in pairs) / len(pairs) if pairs else None

    @property
    def key(self) -> tuple[str, str, str, frozenset[Node], frozenset[Node]]:
        """Key by which targets are equal, independent of the order of alternatives."""
        return self.item, self.phenomenon, self.type, frozenset(self.heads), frozenset(self.dependents)


def read_nodes(cell: str) -> tuple[tuple[Node, ...], list[tuple[int, str]]]:
    """Read the cell of a head or a dependent.

    Examples
    --------
    >>> read_nodes("having-2|been-3")
    (((2,), (3,)), [(2, 'having'), (3, 'been')])
    >>> read_nodes("12+13")
    (((12, 13),), [])
    """
    if cell == "*":
        return (), []
    nodes: list[list[int]] = [[]]
    words = []
    place = 0
    while place < len(cell):
        match = _WORD.match(cell, place)
        if match is None:
            raise ValueError(f"{cell!r} is not made of word-position, joined by | or +.")
        word, position, joint = match.groups()
        nodes[-1].append(int(position))
        if word:
            words.append((int(position), word))
        if joint == "|":
            nodes.append([])
        place = match.end()
    if not nodes[-1]:
        raise ValueError("the cell is empty; write word-position, or * for any head.")
    return tuple(map(tuple, nodes)), words


def write_nodes(nodes: Sequence[Node], tokens: Sequence[str] | None = None) -> str:
    """Write the cell of a head or a dependent; the inverse of `read_nodes`.

    Examples
    --------
    >>> write_nodes([(1, 2)], ["He", "carried", "on"])
    'carried-1+on-2'
    >>> write_nodes([(1,), (2,)]), write_nodes([])
    ('1|2', '*')
    """

    def word(position: int) -> str:
        return f"{tokens[position]}-{position}" if tokens else str(position)

    return "|".join("+".join(map(word, node)) for node in nodes) or "*"
