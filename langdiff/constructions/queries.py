"""Queries over dependency graphs, read from data: nodes, edges, order, and negative conditions."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import resources
from pathlib import Path
from typing import Any

from langdiff.base.io import as_path, read_lines
from langdiff.base.toml import parse_toml
from langdiff.constructions.graphs import CONTENT, FEATURES, FUNCTION, Graph, Word
from langdiff.constructions.target import PHENOMENA, Node, Target, is_type
from langdiff.errors import DataError, warn

RELATIONS = sorted(CONTENT | FUNCTION | {"punct", "ref"})
PARTS_OF_SPEECH = [
    "ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON", "PROPN", "PUNCT", "SCONJ",
    "SYM", "VERB", "X",
]  # fmt: skip
# those that scores count, and the later ones
UNIVERSAL = sorted(FEATURES | {"Clusivity", "Deixis", "DeixisRef", "ExtPos", "NounClass", "Typo"})
# in use in treebanks, and close to universal ones
OF_LANGUAGES = {"ConjType", "NameType", "NounType", "PartType", "PronClass", "SubGender"}
CLOSE = 0.75  # of difflib's ratio, from which on a language's own feature is held to be a slip

_RELATION = re.compile(r"[-=]\[(.+)\][-=]>")
_ATTRIBUTE = re.compile(r"(\w+)!?=([^,\]]+)")
Binding = dict[str, int]  # positions of the nodes that are known
Extend = Callable[[Graph, Binding], Iterator[Binding]]  # every way to satisfy a condition, given the nodes known
_NODE = re.compile(r"(\w+)\[(.+)\]")
_TEST = re.compile(r"(\w+)(!?=)(.+)")
_EDGE = re.compile(r"(\w+) ([-=])\[(.+)\][-=]> (\w+)")
_ORDER = re.compile(r"(\w+) (<|<<|>>) (\w+)")
_PLACE = re.compile(r"(\w+)(?:\{([^}]+)\})?|\w+(?:\+\w+)+")
_BAR = re.compile(r"\|(?![^{]*\})")  # between alternatives, not between relations
_TEXTS = ("form", "lemma")  # columns whose case does not matter
_COLUMNS = (*_TEXTS, "upos", "xpos", "deprel")


def doubtful_names(condition: str) -> Iterator[str]:
    """Yield doubts about the names in a condition of a query.

    Relations and parts of speech are universal, but for subtypes; features may be a language's own, so that only
    those which are nearly universal ones are doubted.

    Examples
    --------
    >>> list(doubtful_names("V -[nsubjj]-> S"))
    ["no relation of Universal Dependencies matches 'nsubjj'; did you mean 'nsubj'?"]
    >>> list(doubtful_names("V[upos=VERB, Tens=Past]"))
    ["'Tens' is not a universal feature; did you mean 'Tense'?"]
    """
    if edge := _RELATION.search(condition):
        yield from _unmatched("relation", edge[1], RELATIONS)
        return
    for name, expression in _ATTRIBUTE.findall(condition):
        if name in ("deprel", "upos"):
            what, names = ("relation", RELATIONS) if name == "deprel" else ("part of speech", PARTS_OF_SPEECH)
            yield from _unmatched(what, expression, names)
        elif name[0].islower() or name in OF_LANGUAGES or name in UNIVERSAL:
            continue
        elif near := get_close_matches(name, UNIVERSAL, 1, CLOSE):
            yield f"{name!r} is not a universal feature; did you mean {near[0]!r}?"


def _unmatched(what: str, expression: str, names: list[str]) -> Iterator[str]:
    """Yield the alternatives of a regular expression that match none of the names, without subtypes."""
    if re.search(r"[()\[\]\\]", expression):  # alternatives may be inside
        return
    for alternative in expression.split("|"):
        base = alternative.partition(":")[0]
        if not any(re.fullmatch(base, name) for name in names):
            near = get_close_matches(base, names, 1, 0.5)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            yield f"no {what} of Universal Dependencies matches {alternative!r}{hint}" + ("" if hint else ".")


@dataclass(frozen=True)
class Query:
    """Pattern of a phenomenon: positive and negative conditions, and the targets of each match.

    Attributes
    ----------
    phenomenon : str
        Code of the phenomenon.
    pattern : tuple
        Conditions, each giving every way to satisfy it.
    without : tuple of tuple
        Groups of conditions, none of which may be satisfied as a whole.
    targets : tuple of str
        Lines ``head type dependent`` with names of nodes.
    enhanced : bool
        Whether the pattern has edges of the enhanced graph, without which nothing is found.
    in_tree : Query or None
        Of a pattern with such edges, what is left of it without them: how often the tree has the pattern.
    """

    phenomenon: str
    pattern: tuple[Extend, ...]
    without: tuple[tuple[Extend, ...], ...]
    targets: tuple[str, ...]
    enhanced: bool
    in_tree: "Query | None" = None

    def matches(self, graph: Graph) -> list[Binding]:
        """Return the positions of the nodes wherever the pattern is found, from left to right."""
        found = [
            binding
            for binding in _satisfy(graph, {}, self.pattern)
            if not any(next(_satisfy(graph, binding, group), None) is not None for group in self.without)
        ]
        unique = {tuple(sorted(binding.items())): binding for binding in found}
        return sorted(unique.values(), key=lambda binding: tuple(binding.values()))

    def targets_of(self, graph: Graph, binding: Binding) -> tuple[Target, ...]:
        """Return the targets of one place where the pattern is found."""
        made = []
        for line in self.targets:
            head, kind, dependent = line.split()
            heads, dependents = (_nodes(graph, binding, cell) for cell in (head, dependent))
            made.append(Target(graph.item, self.phenomenon, not kind.startswith("!"), heads, kind, dependents))
        return tuple(made)


def read_queries(path: str | Path | None = None) -> tuple[Query, ...]:
    """Read queries for candidates of phenomena, in the form that `mine_candidates` describes.

    Examples
    --------
    >>> sorted({query.phenomenon for query in read_queries()} ^ set(PHENOMENA))
    []
    """
    if path is None:
        source = "english_ud.toml"
        text = resources.files("langdiff.constructions").joinpath(f"data/{source}").read_text(encoding="utf-8")
    else:
        source = str(path)
        text = "\n".join(line for _, line in read_lines(as_path(path)))
    try:
        content = parse_toml(text)
    except ValueError as error:
        raise DataError(f"{source}: not TOML: {error}.") from error
    queries = []
    for phenomenon, tables in content.items():
        if phenomenon not in PHENOMENA:
            raise DataError(f"{source}: unknown phenomenon {phenomenon!r}; known are {', '.join(PHENOMENA)}.")
        for table in tables if isinstance(tables, list) else [tables]:
            try:
                queries.append(_query(phenomenon, table))
            except (ValueError, KeyError, AttributeError, TypeError, re.error) as error:
                raise DataError(f"{source}, {phenomenon}: {error}") from error
            _warn_of_names(source, text, phenomenon, table)
    if not queries:
        raise DataError(f"{source}: there are no queries; write tables such as [[vpart]], see the handbook.")
    return tuple(queries)


def _warn_of_names(source: str, text: str, phenomenon: str, table: dict[str, Any]) -> None:
    """Warn about names in a query that may be misspelt, since they would silently match nothing."""
    for condition in [*table["pattern"], *(one for group in table.get("without", ()) for one in group)]:
        for doubt in doubtful_names(condition):
            line = text[: max(text.find(condition), 0)].count("\n") + 1
            warn(f"{source}, line {line}, {phenomenon}: {condition!r}: {doubt}")


def _query(phenomenon: str, table: dict[str, Any]) -> Query:
    if unknown := sorted(set(table) - {"pattern", "without", "targets"}):
        raise ValueError(f"unknown key {unknown[0]!r}; a query has pattern, without and targets.")
    known: set[str] = set()
    pattern = tuple(_condition(text, known) for text in table["pattern"])
    without = tuple(
        tuple(_condition(text, own) for text in group) for group in table.get("without", ()) for own in [set(known)]
    )
    for line in table["targets"]:
        cells = line.split()
        if len(cells) != 3 or not is_type(cells[1]):
            raise ValueError(f"{line!r} is not a target: head, type, dependent.")
        if cells[2] == "*":
            raise ValueError(f"{line!r}: only the head may be *.")
        for place in [place for cell in (cells[0], cells[2]) if cell != "*" for place in _BAR.split(cell)]:
            match = _PLACE.fullmatch(place)
            if match is None:
                raise ValueError(f"{place!r} in {line!r} is not a node; these are V, V{{aux|cop}} and V+P.")
            re.compile(match.group(2) or "")
            names = place.split("+") if match.group(1) is None else [match.group(1)]
            if unknown := [name for name in names if name not in known]:
                raise ValueError(f"{line!r} names node {unknown[0]!r}, which is not in the pattern.")
    enhanced = any(map(_is_enhanced, table["pattern"]))
    in_tree = _in_tree(phenomenon, table["pattern"], table.get("without", ())) if enhanced else None
    return Query(phenomenon, pattern, without, tuple(table["targets"]), enhanced, in_tree)


def _is_enhanced(text: str) -> bool:
    match = _EDGE.fullmatch(text)
    return match is not None and match[2] == "="


def _in_tree(phenomenon: str, pattern: Iterable[str], without: Iterable[Iterable[str]]) -> Query:
    """Return a query without edges of the enhanced graph and without conditions on nodes that only these introduce.

    A node somewhere below another (``R >> G``) that is in nothing else but such an edge is such a node, too.
    """
    left = [text for text in pattern if not _is_enhanced(text)]
    words = [re.findall(r"\w+", text) for text in left]
    left = [
        text for text, own in zip(left, words, strict=True) if ">>" not in text or sum(own[-1] in w for w in words) > 1
    ]
    known: set[str] = set()
    kept = _conditions(left, known)
    groups = [_conditions(group, set(known)) for group in map(list, without) if not any(map(_is_enhanced, group))]
    return Query(phenomenon, tuple(kept), tuple(tuple(group) for group in groups if group), (), enhanced=False)


def _conditions(texts: Iterable[str], known: set[str]) -> list[Extend]:
    found = []
    for text in texts:
        try:
            found.append(_condition(text, known))
        except ValueError:  # its nodes are not known
            continue
    return found


def _condition(text: str, known: set[str]) -> Extend:
    """Return a condition; nodes that it introduces are added to the known ones."""
    if match := _NODE.fullmatch(text):
        known.add(match.group(1))
        return _node(match.group(1), match.group(2))
    if match := _EDGE.fullmatch(text):
        head, line, relation, dependent = match.groups()
        known |= {head, dependent}
        return _edge(head, re.compile(relation), dependent, enhanced=line == "=")
    if match := _ORDER.fullmatch(text):
        first, sign, second = match.groups()
        if sign == ">>":
            known.add(second)
        if not {first, second} <= known:
            raise ValueError(f"{text!r} comes before the conditions that say what its nodes are.")
        return _above(first, second) if sign == ">>" else _before(first, second, adjacent=sign == "<<")
    raise ValueError(f"{text!r} is not a condition; these are V[upos=VERB], V -[obj]-> O, V =[obj]=> O, V >> X, A < B.")


def _satisfy(graph: Graph, binding: Binding, conditions: tuple[Extend, ...]) -> Iterator[Binding]:
    if not conditions:
        yield binding
        return
    for longer in conditions[0](graph, binding):
        yield from _satisfy(graph, longer, conditions[1:])


def _bind(binding: Binding, **nodes: int) -> Iterator[Binding]:
    """Yield the binding with more nodes unless it contradicts them; two nodes are never the same word."""
    longer = binding | nodes
    if longer == nodes | binding and len(set(longer.values())) == len(longer):
        yield longer


def _node(name: str, tests: str) -> Extend:
    checks = []
    for test in tests.split(", "):
        match = _TEST.fullmatch(test)
        if match is None:
            raise ValueError(f"{test!r} is not a test such as upos=VERB or lemma!=be.")
        key, sign, expression = match.groups()
        if key not in _COLUMNS and (key.lower() in _COLUMNS or not key[0].isupper()):
            raise ValueError(f"{key!r} is neither {', '.join(_COLUMNS)} nor a feature, which begins with a capital.")
        checks.append((key, sign == "=", re.compile(expression, re.IGNORECASE if key in _TEXTS else 0)))

    def extend(graph: Graph, binding: Binding) -> Iterator[Binding]:
        for place in [binding[name]] if name in binding else range(len(graph.words)):
            word = graph.words[place]
            if all((pattern.fullmatch(_value(word, key)) is not None) == wanted for key, wanted, pattern in checks):
                yield from _bind(binding, **{name: place})

    return extend


def _value(word: Word, key: str) -> str:
    """Return a column or a feature of a word, empty where it has none; the form for a lemma that is not given."""
    if key == "lemma" and word.lemma == "_":
        return word.form
    return str(getattr(word, key)) if key in _COLUMNS else word.features.get(key, "")


def _edge(head: str, relation: re.Pattern[str], dependent: str, *, enhanced: bool) -> Extend:
    def extend(graph: Graph, binding: Binding) -> Iterator[Binding]:
        for place in [binding[dependent]] if dependent in binding else range(len(graph.words)):
            word = graph.words[place]
            edges: Iterable[tuple[str, str]] = word.enhanced if enhanced else [(str(word.head), word.deprel)]
            for parent, label in edges:
                if parent.isdigit() and relation.fullmatch(label):  # neither the root's head nor an empty node
                    yield from _bind(binding, **{head: int(parent), dependent: place})

    return extend


def _before(first: str, second: str, *, adjacent: bool) -> Extend:
    def extend(_: Graph, binding: Binding) -> Iterator[Binding]:
        gap = binding[second] - binding[first]
        if gap == 1 or (gap > 1 and not adjacent):
            yield binding

    return extend


def _above(upper: str, lower: str) -> Extend:
    def extend(graph: Graph, binding: Binding) -> Iterator[Binding]:
        for place in [binding[lower]] if lower in binding else range(len(graph.words)):
            seen = {place}
            head = graph.words[place].head
            while head >= 0 and head not in seen:  # a graph need not be a tree and may have a cycle
                if head == binding[upper]:
                    yield from _bind(binding, **{lower: place})
                    break
                seen.add(head)
                head = graph.words[head].head

    return extend


def _nodes(graph: Graph, binding: Binding, cell: str) -> tuple[Node, ...]:
    """Return the alternatives of a cell such as ``V{aux|cop}``, ``V+P|O`` or ``*``."""
    nodes: set[Node] = set()
    for place in _BAR.split(cell) if cell != "*" else ():
        if "+" in place and "{" not in place:
            nodes.add(tuple(binding[name] for name in place.split("+")))
            continue
        name, _, relations = place.removesuffix("}").partition("{")
        nodes.add((binding[name],))
        children = [i for i, word in enumerate(graph.words) if word.head == binding[name]]
        nodes |= {(i,) for i in children if relations and re.fullmatch(relations, graph.words[i].deprel)}
    return tuple(sorted(nodes))
