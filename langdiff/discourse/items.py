"""Items by which trees are compared, which are labelled spans, and classes of relations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal, NamedTuple

from langdiff.base.io import as_path, read_table
from langdiff.base.toml import read_packaged
from langdiff.discourse.nodes import ROOT, SPAN
from langdiff.discourse.tree import DiscourseTree, attachments_of
from langdiff.errors import ConfigError, DataError, listing, option

Procedure = Literal["rst-parseval", "parseval"]
Metric = Literal["S", "N", "R", "F"]
METRICS: tuple[Metric, ...] = ("S", "N", "R", "F")
TRIVIAL = 3  # items that are always right in one parser's evaluation: (0, 0), (0, n) and the root
ClassName = Literal["rst-dt", "gum"]
Classes = ClassName | Mapping[str, str] | None
RST_DT_CLASSES: dict[str, tuple[str, ...]] = read_packaged("langdiff.discourse", "rst_dt.toml")["classes"]
_RST_DT = {member: name for name, members in RST_DT_CLASSES.items() for member in members}
_WHOLE_IN_GUM = ("same-unit", SPAN)


class Item(NamedTuple):
    """A span with its labels: a node, or a decision (then nuclearity is NS, SN or NN)."""

    first: int
    last: int
    nuclearity: str
    relation: str


def items_of(tree: DiscourseTree, procedure: Procedure) -> list[Item]:
    """Return the items of a tree."""
    if procedure == "rst-parseval":
        return [Item(*node) for node in tree.nodes[1:]]
    return [Item(first, last, letters, relation) for first, _, last, letters, relation in attachments_of(tree)]


def keys_of(items: Sequence[Item], metric: Metric) -> list[tuple[int | str, ...]]:
    """Return the keys that matching items share: the span and the labels of the metric."""
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
    """Return an indicator of items of the reference among the predicted ones.

    Examples
    --------
    >>> gold = [Item(1, 2, "Nucleus", "span"), Item(3, 3, "Satellite", "evidence")]
    >>> found(gold, [Item(1, 2, "Satellite", "span"), Item(2, 3, "Satellite", "evidence")], "R")
    [True, False]
    """
    there = set(keys_of(predicted, metric))
    return [key in there for key in keys_of(gold, metric)]


def in_characters(items: Sequence[Item], tree: DiscourseTree) -> list[Item]:
    """Return items whose spans are numbers of the first and last character of their texts, white space left out."""
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


def relation_class(relation: str, classes: Classes = None) -> str:
    """Return the class of a relation; case and a final ``-e`` (embedded) never make a difference.

    Examples
    --------
    >>> relation_class("Elaboration-object-attribute-e", "rst-dt"), relation_class("attribution-n", "rst-dt")
    ('elaboration', 'attribution')
    >>> relation_class("adversative-contrast", "gum"), relation_class("same-unit", "gum")
    ('adversative', 'same-unit')
    """
    name = relation.lower().removesuffix("-e")
    if classes is None:
        return name
    if isinstance(classes, Mapping):
        return classes.get(name, name)
    if classes == "rst-dt":
        return _RST_DT.get(name, name)
    if classes == "gum":
        return name if name in _WHOLE_IN_GUM else name.partition("-")[0]
    raise ConfigError(f"classes are 'rst-dt', 'gum' or a mapping; got {classes!r}.")


def checked_classes(classes: Classes) -> Classes:
    """Return classes with all names in the spelling that is compared."""
    if not isinstance(classes, Mapping):
        return classes
    checked: dict[str, str] = {}
    for name, to in classes.items():
        if what := _put(checked, str(name), str(to)):
            raise ConfigError(f"classes: {what}")
    return checked


def _put(classes: dict[str, str], relation: str, to: str) -> str | None:
    """Add a relation to a class; return the reason if that is not possible, else None."""
    name, to = relation_class(relation.strip()), to.strip().lower()
    if not name or not to:
        return "a relation or its class is empty."
    if (name == SPAN) != (to == SPAN):
        return (
            f"{name!r} cannot be in {to!r}: {SPAN!r} is not a relation but the label of the nucleus beside a satellite."
        )
    if classes.setdefault(name, to) != to:
        return f"{name!r} is in {classes[name]!r} and in {to!r}."
    return None


def with_classes(tree: DiscourseTree, classes: Classes) -> DiscourseTree:
    """Return a tree whose relations are classes, as `checked_classes` gives them; the root keeps its label."""
    nodes = [
        node if node.nuclearity == ROOT else node._replace(relation=relation_class(node.relation, classes))
        for node in tree.nodes
    ]
    return replace(tree, nodes=nodes)


def read_classes(path: str | Path) -> dict[str, str]:
    r"""Read classes of relations from a table.

    Parameters
    ----------
    path : str or Path
        CSV or TSV file with columns ``relation`` and ``class``.

    Returns
    -------
    dict from str to str
        Class by relation, both in lower case.

    Raises
    ------
    DataError
        If the file is not such a table, a relation has two classes, or ``span`` (which is not a relation) is put into
        a class or is one; the message names the line.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "classes.csv")
    ...     _ = path.write_text("relation,class\nEvidence,explanation\n")
    ...     read_classes(path)
    {'evidence': 'explanation'}
    """
    path = as_path(path)
    header, rows = read_table(path, "\t" if path.suffix == ".tsv" else ",")
    if sorted(header) != ["class", "relation"]:
        raise DataError(f"{path}, line 1: the columns are relation and class; got {listing(header)}.")
    classes: dict[str, str] = {}
    for line, cells in rows:
        row = dict(zip(header, cells, strict=True))
        if what := _put(classes, row["relation"], row["class"]):
            raise DataError(f"{path}, line {line}: {what}")
    return classes
