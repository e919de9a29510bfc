"""XML of rstWeb and RSTTool (``.rs3``, ``.rs4``): segments in text order, and groups that join them.

Secondary edges of ``.rs4`` are not part of the tree and are only counted; signals are not read.
"""

from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal
from xml.sax.saxutils import escape, quoteattr

from langdiff.base.archives import File
from langdiff.base.suspicion import Doubts
from langdiff.base.xml import XmlEvents, check_writable, declared_encoding, read_xml
from langdiff.discourse.drafts import Draft, plain_text
from langdiff.discourse.nodes import NO_RELATION, NUCLEUS, ROOT, SATELLITE, SPAN, Node
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import DataError, FaultsError, option, warn

Detached = Literal["error", "drop", "attach"]
DETACHED = "detached"  # relation of trees that are attached to a new root
Part = Literal["core", "full"]  # an element without, and with, its satellites
Row = dict[str, str]  # attributes of a segment or a group to write, whose parent is known later


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


def rst_xml_draft(file: File, document: str, doubts: Doubts, *, collapse_unary: bool, detached: Detached) -> Draft:
    """Return the nodes of the file of a document."""
    events = _Events(file)
    try:
        read_xml(file, events, errors=None)
    except FaultsError as error:
        if not events.undecodable:
            raise
        events = _Events(file)
        read_xml(file, events, errors=None, encoding=declared_encoding(file, error))
    root = _only_root(events, _link(events, document, doubts), document, doubts, detached)
    for element in reversed(_below([root])):  # children before parents
        _measure(events, element, collapse_unary)
    if not root.name:  # new, above trees of the file
        _check_apart(events.draft, root.nuclei)
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
        self.undecodable = False

    def damaged(self, line: int, what: str) -> None:
        self.undecodable = what.startswith("not UTF-8")
        super().damaged(line, what)

    def begin(self, tag: str, attributes: dict[str, str]) -> None:
        if tag == "rel":
            self.kinds.setdefault(attributes.get("name", ""), set()).add(attributes.get("type", "rst"))
        elif tag in ("segment", "group"):
            self._element(tag, attributes)
        elif tag == "secedge":
            self.draft.secondary_edges += 1

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


def _link(events: _Events, document: str, doubts: Doubts) -> list[_Element]:
    """Link every element to its nuclei and satellites; return the roots."""
    roots: list[_Element] = []
    children: dict[str, list[_Element]] = {}
    for element in events.elements.values():
        if not element.parent:
            roots.append(element)
            continue
        _check_link(events, element)
        children.setdefault(element.parent, []).append(element)
    for name, own in children.items():
        parent = events.elements[name]
        multinuclear = _multinuclear(events, parent, own, doubts.applies("span_group"))
        if multinuclear and parent.kind == SPAN:
            doubts.see("span_group", document, example=name, line=parent.line, file=events.draft.file)
        for child in own:
            nuclear = child.relation.lower() == SPAN or child.relation in multinuclear
            (parent.nuclei if nuclear else parent.satellites).append(child)
    if not events.elements:
        raise events.draft.fault(None, "the file has no segments.")
    if not roots:
        raise events.draft.fault(None, "every segment and group has a parent, so that there is no root.")
    reached = {element.name for element in _below(roots)}
    if lost := [element for name, element in events.elements.items() if name not in reached]:
        what = f"{len(lost)} element(s) are not below the root but in a cycle, among them {lost[0].name!r}."
        raise events.draft.fault(lost[0].line, what)
    return roots


def _check_link(events: _Events, element: _Element) -> None:
    if element.parent not in events.elements:
        raise events.draft.fault(element.line, f"the parent {element.parent!r} of {element.name!r} does not exist.")
    if element.relation not in events.kinds and element.relation.lower() != SPAN:
        what = f"the relation {element.relation!r} of {element.name!r} is not declared in the header."
        raise events.draft.fault(element.line, what)


def _multinuclear(events: _Events, parent: _Element, own: list[_Element], repairing: bool) -> set[str]:
    """Return the relations that make children nuclei: in a group of several nuclei all that the header declares so.

    Parsers write such groups as spans, too. One without a nucleus, but with several children of one such relation, is
    read as what it is.
    """
    declared = {relation for relation, kinds in events.kinds.items() if "multinuc" in kinds}
    if parent.kind != SPAN:
        return declared if parent.kind == "multinuc" else set()
    counts = Counter(child.relation for child in own)
    several = {relation for relation in declared if counts[relation] > 1}
    if len(several) != 1 or any(relation.lower() == SPAN for relation in counts):
        return set()
    return several if repairing else set()


def _below(roots: list[_Element]) -> list[_Element]:
    """Return all elements of the trees, parents first."""
    reached = [*roots]
    for element in reached:  # grows
        reached += [*element.nuclei, *element.satellites]
    return reached


def _only_root(events: _Events, roots: list[_Element], document: str, doubts: Doubts, detached: Detached) -> _Element:
    """Return the root; of several that of the tree with most EDUs, renumbered, or a new one above all."""
    if len(roots) == 1:
        return roots[0]
    named = ", ".join(f"{root.name!r} (line {root.line})" for root in roots[:5])
    said = f"{len(roots)} elements have no parent: {named}"
    if detached == "error":
        raise events.draft.fault(
            roots[1].line,
            f"{said}. A tree has one root: mend the file, keep the tree with most EDUs ({option('detached', 'drop')}), "
            f"or put a new root above all ({option('detached', 'attach')}).",
        )
    edus = {root.name: [part.number for part in _below([root]) if part.kind == "segment"] for root in roots}
    largest = max(roots, key=lambda root: len(edus[root.name]))
    kept = sorted(edus[largest.name])
    others = [root for root in roots if root is not largest]
    if detached == "drop" and any(len(edus[root.name]) == len(kept) for root in others):
        what = f"{said}, and several of their trees have {len(kept)} EDU(s), so that none is the largest to be kept."
        raise events.draft.fault(roots[1].line, f"{what} Mend the file, or {option('detached', 'attach')}.")
    total = sum(map(len, edus.values()))
    for root in others:
        texts = [events.draft.texts[edu] for edu in edus[root.name]]
        example = f"EDU {edus[root.name][0]}, {texts[0][:40]!r}" if texts else f"group {root.name!r}"
        doubts.see("detached", document, len(texts), total, example, root.line, file=events.draft.file)
        total = 0
    if detached == "attach":
        for root in roots:
            root.relation = DETACHED
        return _Element("", "multinuc", "", "", roots[1].line, nuclei=roots)
    events.draft.keep(kept)
    places = {edu: place for place, edu in enumerate(kept, start=1)}
    for segment in events.elements.values():
        segment.number = places.get(segment.number, 0)
    return largest


def _check_apart(draft: Draft, trees: list[_Element]) -> None:
    """Check that the trees to be attached follow each other in the text."""
    for tree, following in pairwise(sorted(trees, key=lambda tree: tree.full)):
        if following.full[0] <= tree.full[1]:
            what = f"EDU {following.full[0]}, below {following.name!r}, lies inside the tree of {tree.name!r}"
            raise draft.fault(
                following.line, f"{what}, so that it cannot be attached. Use {option('detached', 'drop')}."
            )


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
            what = (
                f"{element.name!r} is a multinuclear group with one nucleus. Mend it, or drop it "
                f"({option('collapse_unary')})."
            )
            raise events.draft.fault(element.line, what)
        element.core = _extent([nucleus.full for nucleus in element.nuclei])
    element.full = _extent([element.core, *(satellite.full for satellite in element.satellites)])


def _extent(spans: list[tuple[int, int]]) -> tuple[int, int]:
    return min(first for first, _ in spans), max(last for _, last in spans)


def _nodes(events: _Events, root: _Element) -> Draft:
    """Add a node for every element with satellites, every group of several nuclei, and every segment."""
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

    Warns
    -----
    LangdiffWarning
        If the first EDU is not number 1: the format numbers them from 1.
    """
    if tree.nodes[0].first != 1:
        warn(f"{tree.document}: the first EDU is {tree.nodes[0].first}, but this format numbers EDUs from 1.")
    named = [(f"{tree.document}: the relation of {node}", node.relation) for node in tree.nodes]
    named += [(f"{tree.document}: the text of EDU {edu}", text) for edu, text in tree.leaf_texts().items()]
    check_writable(named)
    return _Writer(tree).document()


class _Writer:
    """Writer of rows for nodes; the row of a node stands for its whole subtree, satellites included."""

    def __init__(self, tree: DiscourseTree) -> None:
        self._tree = tree
        self._rows: dict[int, Row] = {}  # of each node, by its number
        self._segments: list[Row] = []
        self._groups: list[Row] = []
        self._kinds: dict[str, set[str]] = {}  # of each relation: rst, multinuc or both
        for own in tree.children:
            nodes = [tree.nodes[child] for child in own]
            satellites = [node for node in nodes if node.nuclearity == SATELLITE]
            for node in satellites or nodes:
                self._kinds.setdefault(node.relation, set()).add("rst" if satellites else "multinuc")

    def _add(self, place: int) -> None:
        """Add the row of a node whose children have theirs."""
        node, own = self._tree.nodes[place], self._tree.children[place]
        nuclei = [child for child in own if self._tree.nodes[child].nuclearity == NUCLEUS]
        if not own:
            self._rows[place] = {"id": str(node.first - self._tree.nodes[0].first + 1)}
            self._segments.append(self._rows[place])
        elif len(nuclei) > 1:
            self._rows[place] = self._group("multinuc")
            for child in nuclei:
                _hang(self._rows[child], self._rows[place], self._tree.nodes[child].relation)
        else:
            self._rows[place] = self._group(SPAN)
            both = self._with_satellites(nuclei[0], [child for child in own if child != nuclei[0]])
            _hang(both, self._rows[place], SPAN)

    def _with_satellites(self, nucleus: int, satellites: list[int]) -> Row:
        """Attach satellites to the row of their nucleus; return the row that then stands for all."""
        nodes = self._tree.nodes
        if nodes[nucleus].relation.lower() != SPAN:
            raise DataError(
                f"{self._tree.document}: the nucleus {nodes[nucleus]} carries {nodes[nucleus].relation!r} next to a "
                "satellite; this format has no place for it. Relabel it 'span', or use another format."
            )
        base = self._rows[nucleus]
        kinds = [self._kinds[nodes[child].relation] for child in satellites]
        if base.get("type") == "multinuc" and any("multinuc" in kind for kind in kinds):
            base = self._group(SPAN)  # on the group itself the satellite would be read as one of its nuclei
            _hang(self._rows[nucleus], base, SPAN)
        for child in satellites:
            _hang(self._rows[child], base, nodes[child].relation)
        return base

    def _group(self, kind: str) -> Row:
        self._groups.append({"id": str(self._tree.n_edus + len(self._groups) + 1), "type": kind})
        return self._groups[-1]

    def document(self) -> str:
        """Return the file."""
        for place in reversed(range(len(self._tree.nodes))):  # children before parents
            self._add(place)
        texts = self._tree.texts or [""] * self._tree.n_edus
        lines = ["<rst>", "\t<header>", "\t\t<relations>"]
        for name, kinds in sorted(self._kinds.items()):
            lines += [f"\t\t\t<rel{_attributes({'name': name, 'type': kind})}/>" for kind in sorted(kinds)]
        lines += ["\t\t</relations>", "\t</header>", "\t<body>"]
        for row, text in zip(reversed(self._segments), texts, strict=True):
            lines.append(f"\t\t<segment{_attributes(row)}>{escape(text)}</segment>")
        lines += [f"\t\t<group{_attributes(row)}/>" for row in self._groups]
        return "\n".join([*lines, "\t</body>", "</rst>", ""])


def _hang(row: Row, parent: Row, relation: str) -> None:
    row |= {"parent": parent["id"], "relname": relation}


def _attributes(row: Row) -> str:
    return "".join(f" {name}={quoteattr(value)}" for name, value in row.items())
