"""XML of rstWeb and RSTTool (``.rs3``, ``.rs4``): segments in text order, and groups that join them.

Secondary edges and signals of ``.rs4`` are no part of the tree and are not read.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from langdiff._archives import File
from langdiff._xml import XmlEvents, read_xml
from langdiff.discourse.formats.drafts import Draft, plain_text, texts_of
from langdiff.discourse.tree import NO_RELATION, NUCLEUS, ROOT, SATELLITE, SPAN, DiscourseTree, Node
from langdiff.errors import DataError

Part = Literal["core", "full"]  # an element without, and with, its satellites


@dataclass
class _Element:
    """A segment or a group."""

    name: str
    kind: str  # "segment", "span" or "multinuc"
    parent: str
    relation: str
    line: int
    number: int = 0  # of a segment: that of its EDU
    nuclei: list["_Element"] = field(default_factory=list)
    satellites: list["_Element"] = field(default_factory=list)
    core: tuple[int, int] = (0, 0)  # first and last EDU of the core
    full: tuple[int, int] = (0, 0)  # … with the satellites


def rst_xml_draft(file: File, *, collapse_unary: bool) -> Draft:
    """Return the nodes of a file.

    Raises
    ------
    FaultsError
        If it is not well-formed, or its elements are no tree; the message names file and line.
    """
    events = _Events(file)
    read_xml(file, events)
    root = _link(events)
    for element in reversed(_below(events, root)):  # children before parents
        _measure(events, element, collapse_unary)
    return _nodes(events, root)


class _Events(XmlEvents):
    """Collects relations, segments and groups."""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self.kinds: dict[str, set[str]] = {}  # of each relation: rst, multinuc or both
        self.elements: dict[str, _Element] = {}
        self.draft = Draft(str(file))
        self._text: list[str] | None = None
        self._segments = 0

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "rel":
            self.kinds.setdefault(attributes.get("name", ""), set()).add(attributes.get("type", "rst"))
        elif tag in ("segment", "group"):
            self._element(tag, attributes)

    def _element(self, tag: str, attributes: dict[str, str]) -> None:
        name = attributes.get("id", "")
        kind = "segment" if tag == "segment" else attributes.get("type", "")
        if not name or name in self.elements:
            raise self.unusable(f"the id {name!r} of this {tag} is {'there twice' if name else 'missing'}.")
        if kind not in ("segment", "span", "multinuc"):
            raise self.unusable(f"the type of a group is span or multinuc; got {kind!r}.")
        parent, relation = attributes.get("parent", ""), attributes.get("relname", "")
        element = _Element(name, kind, parent, relation, self.line)
        if tag == "segment":
            self._segments += 1
            self._text, element.number = [], self._segments
        self.elements[name] = element

    def data(self, text: str) -> None:
        if self._text is not None:
            self._text.append(text)

    def finish(self, tag: str) -> None:
        if tag == "segment" and self._text is not None:
            self.draft.texts[self._segments] = plain_text("".join(self._text))
            self._text = None


def _link(events: _Events) -> _Element:
    """Tell every element its nuclei and satellites; return the root."""
    roots = []
    for element in events.elements.values():
        if not element.parent:
            roots.append(element)
            continue
        parent = events.elements.get(element.parent)
        kinds = events.kinds.get(element.relation, set())
        if parent is None:
            raise events.draft.fault(element.line, f"the parent {element.parent!r} of {element.name!r} does not exist.")
        if not kinds and element.relation.lower() != SPAN:
            what = f"the relation {element.relation!r} of {element.name!r} is not declared in the header."
            raise events.draft.fault(element.line, what)
        nuclear = element.relation.lower() == SPAN or (parent.kind == "multinuc" and "multinuc" in kinds)
        (parent.nuclei if nuclear else parent.satellites).append(element)
    if len(roots) != 1:
        if not roots:
            raise events.draft.fault(None, "no segment or group is without parent, so that there is no root.")
        named = ", ".join(f"{root.name!r} (line {root.line})" for root in roots[:5])
        raise events.draft.fault(roots[1].line, f"{len(roots)} elements have no parent: {named}. A tree has one root.")
    return roots[0]


def _below(events: _Events, root: _Element) -> list[_Element]:
    """Return all elements, parents first."""
    reached = [root]
    for element in reached:  # grows
        reached += [*element.nuclei, *element.satellites]
    if len(reached) < len(events.elements):
        names = {element.name for element in reached}
        lost = [element for name, element in events.elements.items() if name not in names]
        what = f"{len(lost)} element(s) are not below the root but in a cycle, among them {lost[0].name!r}."
        raise events.draft.fault(lost[0].line, what)
    return reached


def _measure(events: _Events, element: _Element, collapse_unary: bool) -> None:
    """Find the EDUs of an element whose children are measured."""
    if element.kind == "segment":
        if element.nuclei:
            what = f"segment {element.name!r} has a nucleus ({element.nuclei[0].name!r}); only groups have."
            raise events.draft.fault(element.nuclei[0].line, what)
        element.core = (element.number, element.number)
    else:
        if not element.nuclei:
            raise events.draft.fault(element.line, f"group {element.name!r} has no nucleus.")
        if len(element.nuclei) == 1 and element.nuclei[0].relation.lower() != SPAN and not collapse_unary:
            what = f"{element.name!r} is a multinuclear group with one nucleus. Mend it, or pass collapse_unary=True."
            raise events.draft.fault(element.line, what)
        element.core = _extent([nucleus.full for nucleus in element.nuclei])
    element.full = _extent([element.core, *(satellite.full for satellite in element.satellites)])


def _extent(spans: list[tuple[int, int]]) -> tuple[int, int]:
    return min(first for first, _ in spans), max(last for _, last in spans)


def _nodes(events: _Events, root: _Element) -> Draft:
    """Make a node of every element with satellites, of every group of several nuclei, and of every segment."""
    draft = events.draft
    waiting: list[tuple[_Element, Part, str, str, int | None]] = [(root, "full", ROOT, NO_RELATION, None)]
    while waiting:
        element, part, nuclearity, relation, parent = waiting.pop()
        if part == "full" and element.satellites:
            place = draft.add(Node(*element.full, nuclearity, relation), element.line, parent)
            waiting.append((element, "core", NUCLEUS, SPAN, place))
            waiting += [(other, "full", SATELLITE, other.relation, place) for other in element.satellites]
        elif len(element.nuclei) == 1:
            waiting.append((element.nuclei[0], "full", nuclearity, relation, parent))
        else:
            place = draft.add(Node(*element.core, nuclearity, relation), element.line, parent)
            waiting += [(other, "full", NUCLEUS, other.relation, place) for other in element.nuclei]
    return draft


def write_rst_xml(tree: DiscourseTree) -> str:
    """Return a tree as rstWeb writes it.

    Raises
    ------
    DataError
        If the nucleus beside a satellite carries a label other than ``span``, for which the format has no place.
    """
    kinds = _kinds(tree)
    elements: list[list[str]] = [[] for _ in tree.nodes]  # attributes parent and relname are added by the parent
    groups: list[list[str]] = []
    names = [""] * len(tree.nodes)  # name of the element that stands for the node, satellites included
    rows: dict[str, list[str]] = {}

    def group(kind: str) -> str:
        name = str(tree.n_edus + len(groups) + 1)
        groups.append(["group", name, kind])
        rows[name] = groups[-1]
        return name

    for place in reversed(range(len(tree.nodes))):  # children before parents
        node, own = tree.nodes[place], tree.children[place]
        if not own:
            names[place] = str(node.first - tree.nodes[0].first + 1)
            elements[place] = rows[names[place]] = ["segment", names[place]]
            continue
        nuclei = [child for child in own if tree.nodes[child].nuclearity == NUCLEUS]
        if len(nuclei) > 1:
            names[place] = group("multinuc")
            for child in nuclei:
                rows[names[child]] += [names[place], tree.nodes[child].relation]
            continue
        inner, satellites = nuclei[0], [child for child in own if child != nuclei[0]]
        if tree.nodes[inner].relation.lower() != SPAN:
            raise DataError(
                f"{tree.document}: the nucleus {tree.nodes[inner]} carries {tree.nodes[inner].relation!r} beside a "
                "satellite; this format has no place for it. Relabel it 'span', or use another format."
            )
        base = names[inner]
        if rows[base][-1] == "multinuc" and any(
            "multinuc" in kinds[tree.nodes[child].relation] for child in satellites
        ):
            base = group(SPAN)  # beside the nuclei, the satellite would be read as one of them
            rows[names[inner]] += [base, SPAN]
        for child in satellites:
            rows[names[child]] += [base, tree.nodes[child].relation]
        names[place] = group(SPAN)
        rows[base] += [names[place], SPAN]
    return _document(kinds, [element for element in elements if element], groups, tree)


def _kinds(tree: DiscourseTree) -> dict[str, set[str]]:
    """Return whether each relation is mononuclear, multinuclear or both."""
    kinds: dict[str, set[str]] = {}
    for own in tree.children:
        nodes = [tree.nodes[child] for child in own]
        satellites = [node for node in nodes if node.nuclearity == SATELLITE]
        for node in satellites or nodes:
            kinds.setdefault(node.relation, set()).add("rst" if satellites else "multinuc")
    return kinds


def _document(
    kinds: Mapping[str, set[str]], segments: list[list[str]], groups: list[list[str]], tree: DiscourseTree
) -> str:
    header = [
        f"\t\t\t<rel name={quoteattr(name)} type={quoteattr(kind)}/>"
        for name in sorted(kinds)
        for kind in sorted(kinds[name])
    ]
    body = []
    for (_, name, *up), text in zip(segments, texts_of(tree), strict=True):
        body.append(f"\t\t<segment id={quoteattr(name)}{_upward(up)}>{escape(text)}</segment>")
    for _, name, kind, *up in groups:
        body.append(f"\t\t<group id={quoteattr(name)} type={quoteattr(kind)}{_upward(up)}/>")
    lines = ["<rst>", "\t<header>", "\t\t<relations>", *header, "\t\t</relations>", "\t</header>"]
    return "\n".join([*lines, "\t<body>", *body, "\t</body>", "</rst>", ""])


def _upward(up: list[str]) -> str:
    return f" parent={quoteattr(up[0])} relname={quoteattr(up[1])}" if up else ""
