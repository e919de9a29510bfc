"""Rules that describe how the lines of a parser express each type of dependency, and their matching."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Literal, get_args

from langdiff.base.io import as_path, read_lines
from langdiff.base.signature import short_hash
from langdiff.constructions.gold import GoldTargets
from langdiff.constructions.parses import SHAPES, Parses, Shape
from langdiff.constructions.target import Node, Target, check_column, types_of_rules
from langdiff.errors import ConfigError, DataError, Fault, FaultsError

STEP = " ; "  # between the two steps of a path
GRAPH = "@graph"  # begins a line that names what a basic tree cannot express
Scheme = Literal["ud", "clearnlp"]
SHORT = 3  # letters; shorter words in rules are not suspicious
JOINTS = "[+_~-]?"  # between the words of a predicate that a parser writes as one


@dataclass(frozen=True, slots=True)
class Rule:
    """A regular expression, or the two of a path, with ``{H}``, ``{D}`` and, in paths, ``{X}`` for nodes.

    Attributes
    ----------
    phenomenon, type : str
        What the rule is for.
    steps : tuple of str
        One expression, or two that must match two lines which share the node ``{X}``.
    line : int
        Line of the file.
    """

    phenomenon: str
    type: str
    steps: tuple[str, ...]
    line: int = 0


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class Rules:
    """Rules of one parser.

    Attributes
    ----------
    name : str
        Name of the set of rules.
    source : str
        File that they come from.
    rules : tuple of Rule
        Rules in the order of the file.
    graph_only : frozenset of (str, str)
        Phenomena and types that a basic tree, in which a word has one head, cannot express.
    shipped : bool
        Whether the rules come with the package; they name the labels of a scheme whatever a parser's output has.
    """

    name: str
    source: str
    rules: tuple[Rule, ...]
    graph_only: frozenset[tuple[str, str]] = frozenset()
    shipped: bool = False

    def of(self, target: Target) -> tuple[Rule, ...]:
        """Return the rules that serve a target.

        Parameters
        ----------
        target : Target
            The target, whose phenomenon and type count.

        Returns
        -------
        tuple of Rule
        """
        types = types_of_rules(target.type)
        return tuple(rule for rule in self.rules if rule.phenomenon == target.phenomenon and rule.type in types)

    def needs_graph(self, target: Target) -> bool:
        """Return whether no basic tree can express a target.

        Parameters
        ----------
        target : Target
            The target, whose phenomenon and type count.

        Returns
        -------
        bool
        """
        return (target.phenomenon, target.type) in self.graph_only

    @property
    def digest(self) -> str:
        """Hash of the rules, for signatures."""
        if self.graph_only:
            return short_hash(sorted(self.graph_only), [[r.phenomenon, r.type, *r.steps] for r in self.rules])
        return short_hash([[rule.phenomenon, rule.type, *rule.steps] for rule in self.rules])

    def __repr__(self) -> str:
        """Return a line with the numbers of rules and phenomena."""
        return f"Rules {self.name!r}: {len(self.rules)} rules for {len({r.phenomenon for r in self.rules})} phenomena"


def read_rules(path: str | Path, *, name: str | None = None) -> Rules:
    r"""Read the rules of a parser.

    Parameters
    ----------
    path : str or Path
        File of lines ``phenomenon type expression``, separated by white space; lines that begin with ``#`` are
        comments. ``{H}`` and ``{D}`` stand for head and dependent. Two expressions joined by ``;`` between
        spaces must match two lines that share the node ``{X}``. A line ``@graph phenomenon type`` says that a basic
        tree cannot express the type, which is then not scored for parsers whose trees are read.
    name : str, optional
        Name of the rules; by default that of the file.

    Returns
    -------
    Rules
        The rules.

    Raises
    ------
    FaultsError
        If a line is malformed, names an unknown phenomenon or type, lacks ``{H}``, ``{D}`` or (in a path) ``{X}``,
        has more than two steps, or is not a regular expression; each fault has its line.
    DataError
        If there are no rules.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cc.rules"
    ...     _ = path.write_text(r"vpart  ARG2  \(dobj {H} {D}\)")
    ...     read_rules(path)
    Rules 'cc': 1 rules for 1 phenomena
    """
    path = as_path(path)
    return _collect(read_lines(path), str(path), name or path.stem)


def default_rules(scheme: Scheme = "ud") -> Rules:
    """Return rules for a widespread scheme of dependencies, shipped with the package.

    Parameters
    ----------
    scheme : str
        ``"ud"``: Universal Dependencies, basic or enhanced. ``"clearnlp"``: the labels of spaCy's English models.

    Returns
    -------
    Rules
        Rules for lines ``head relation dependent``, as CoNLL-U is read.

    Raises
    ------
    ConfigError
        If the scheme is unknown.

    Examples
    --------
    >>> default_rules()
    Rules 'ud': 24 rules for 10 phenomena
    """
    if scheme not in get_args(Scheme):
        raise ConfigError(f"unknown scheme {scheme!r}; known are {', '.join(get_args(Scheme))}.")
    text = resources.files("langdiff.constructions").joinpath(f"data/{scheme}.rules").read_text(encoding="utf-8")
    return replace(_collect(enumerate(text.splitlines(), 1), f"{scheme}.rules", scheme), shipped=True)


def _collect(lines: Iterable[tuple[int, str]], source: str, name: str) -> Rules:
    rules: list[Rule] = []
    graph_only: set[tuple[str, str]] = set()
    faults = []
    for number, line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if line.startswith(GRAPH):
                graph_only.add(_graph_only(line))
            else:
                rules.append(_rule(line, number))
        except ValueError as error:
            faults.append(Fault(source, number, str(error)))
    if faults:
        raise FaultsError(faults)
    if not rules:
        raise DataError(f"{source}: the file has no rules.")
    return Rules(name=name, source=source, rules=tuple(rules), graph_only=frozenset(graph_only))


def _graph_only(line: str) -> tuple[str, str]:
    cells = line.split()[1:]
    if len(cells) != 2:
        raise ValueError(f"{GRAPH} needs two cells: phenomenon, type.")
    check_column(*cells)
    return cells[0], cells[1]


def _rule(line: str, number: int) -> Rule:
    cells = line.split(None, 2)
    if len(cells) < 3:
        raise ValueError("a rule needs three cells: phenomenon, type, regular expression.")
    phenomenon, kind, expression = cells
    check_column(phenomenon, kind)
    steps = tuple(step.strip() for step in expression.split(STEP))
    if len(steps) > 2:
        raise ValueError(f"{len(steps)} steps; a path has two at most.")
    for node in ("{H}", "{D}"):
        if sum(node in step for step in steps) != 1:
            raise ValueError(f"{node} must be in one expression of the rule.")
    shared = ["{X}" in step for step in steps]
    if any(shared) if len(steps) == 1 else not all(shared):
        raise ValueError("{X}, the node that two steps share, must be in both of them, and in no rule of one step.")
    for step in steps:
        try:
            re.compile(fill(step, dict.fromkeys(("{H}", "{D}", "{X}"), SHAPES["gr"].node)))
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}.") from error
    return Rule(phenomenon, kind, steps, number)


def fill(step: str, nodes: Mapping[str, str]) -> str:
    """Return an expression with nodes in place of ``{H}``, ``{D}`` and ``{X}``."""
    for name, node in nodes.items():
        step = step.replace(name, f"(?:{node})")
    return step


def lexical_words(rules: Rules, gold: GoldTargets, parses: Parses) -> dict[int, list[str]]:
    """Return words of the sentences that rules name, although the parser has no label of that name.

    Rules are about labels. One that names a word of the test set fits the sentences, not the phenomenon.
    """
    node = re.compile(SHAPES[parses.shape].node.replace("#", r"\d+"))
    lines = {node.sub(" ", line) for block in parses.blocks.values() for line in block}
    labels = {label.casefold() for line in lines for label in _letters(line)}
    words = {word.casefold() for tokens in gold.sentences.values() for token in tokens for word in _letters(token)}
    suspicious: dict[int, list[str]] = {}
    for rule in rules.rules:
        # \w and the like are classes, not letters
        named = {word.casefold() for step in rule.steps for word in _letters(re.sub(r"\\[A-Za-z]", " ", step))}
        if found := sorted((named & words) - labels):
            suspicious[rule.line] = found
    return suspicious


def _letters(text: str) -> list[str]:
    return [run for run in re.findall(r"[^\W\d_]+", text) if len(run) >= SHORT]


def is_found(
    target: Target,
    rules: Iterable[Rule],
    lines: Sequence[str],
    *,
    shape: str,
    words: Sequence[str],
    positions: Sequence[tuple[int, ...]],
) -> bool:
    r"""Return whether some rule finds some pair of alternatives in an analysis.

    Examples
    --------
    >>> target = Target("v1", "vpart", True, ((1, 2),), "ARG2", ((4,),))
    >>> words = ["He", "carried", "out", "the", "plan"]
    >>> rule = Rule("vpart", "ARG2", (r"\(dobj {H} {D}\)",))
    >>> own = [(place,) for place in range(5)]
    >>> is_found(target, [rule], ["(dobj carried_1 plan_4)"], shape="gr", words=words, positions=own)
    True
    """
    form = SHAPES[shape]
    nodes = {
        "{H}": _any_of(target.heads, form, words, positions),
        "{D}": _any_of(target.dependents, form, words, positions),
    }
    for rule in rules:
        steps = [fill(step, nodes) for step in rule.steps]
        if len(steps) == 1:
            if any(map(_compiled(steps[0]).search, lines)):
                return True
        elif _has_path(steps, lines, form):
            return True
    return False


def _any_of(nodes: Sequence[Node], shape: Shape, words: Sequence[str], positions: Sequence[tuple[int, ...]]) -> str:
    """Return the expression that matches any of the alternatives; of any word, if there are none."""
    if not nodes:
        return shape.node.replace("#", r"\d+")
    accepted = []
    for node in nodes:
        accepted += [shape.node.replace("#", str(place + shape.first)) for place in positions[node[0]]]
        if len(node) > 1 and shape.joined is not None:
            word = JOINTS.join(re.escape(words[place]) for place in node)
            places = "|".join(str(own + shape.first) for place in node for own in positions[place])
            accepted.append(shape.joined.replace("@", f"(?i:{word})").replace("#", f"(?:{places})"))
    return "|".join(dict.fromkeys(accepted))


def _has_path(steps: Sequence[str], lines: Sequence[str], shape: Shape) -> bool:
    """Return whether two lines match the two steps with the same node in place of ``{X}``."""
    any_node = {"{X}": shape.node.replace("#", r"\d+")}
    candidates = [[line for line in lines if _compiled(fill(step, any_node)).search(line)] for step in steps]
    if not all(candidates):
        return False
    shared = set.intersection(*({*re.findall(r"\d+", " ".join(lines_of))} for lines_of in candidates))
    for position in sorted(shared):
        node = {"{X}": shape.node.replace("#", position)}
        if all(any(map(_compiled(fill(step, node)).search, own)) for step, own in zip(steps, candidates, strict=True)):
            return True
    return False


@lru_cache(maxsize=4096)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
