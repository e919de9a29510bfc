"""Documents that cannot be used or compared, named all at once; EDUs that one side dropped are dropped from all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise, zip_longest
from typing import Literal, NamedTuple

import pandas as pd

from langdiff.base.suspicion import LEFT_OUT_COLUMNS
from langdiff.base.types import OnError
from langdiff.discourse.items import characters_of
from langdiff.discourse.nodes import NUCLEUS, SATELLITE, SPAN, Node
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import DataError, Fault, FaultsError, option, warn

Spans = Literal["edus", "chars"]
_Range = tuple[int, int]  # first unit and the one after the last; units are EDUs or characters of the whole file


def without_detached(sides: Sequence[tuple[str, DiscourseTree]], spans: Spans) -> list[DiscourseTree]:
    """Return trees of one document, given with the name of each side, without what the file of any side had detached.

    A tree whose file is shorter never had these EDUs, and stays as it is.
    """
    trees = [tree for _, tree in sides]
    if not any(tree.dropped for tree in trees):
        return trees
    places = [_places(tree, spans) for tree in trees]
    ends = [max(end for _, end in [*own.values(), *dropped]) for own, dropped in places]
    gone = _union(place for _, dropped in places for place in dropped)
    found = []
    for (side, tree), (own, _), end_of_file in zip(sides, places, ends, strict=True):
        kept = []
        for edu, (first, end) in own.items():
            overlap = sum(max(0, min(end, last) - max(first, start)) for start, last in gone)
            if 0 < overlap < end - first:
                raise DataError(f"EDU {edu} of {side} is in part text that another side has detached.")
            if not overlap:
                kept.append(edu)
        if not kept:
            raise DataError("no EDU is left when what one side has detached is dropped from all.")
        found.append(tree if end_of_file < max(ends) else _pruned(tree, kept))
    return found


def _places(tree: DiscourseTree, spans: Spans) -> tuple[dict[int, _Range], list[_Range]]:
    """Return where in the file the EDUs of a tree are, and where its dropped EDUs are."""
    dropped = dict(tree.dropped)
    start = tree.nodes[0].first
    numbers = [number for number in range(start, start + tree.n_edus + len(dropped)) if number not in dropped]
    own = dict(zip(range(start, start + tree.n_edus), numbers, strict=False))
    if spans == "edus":
        return {edu: (number, number + 1) for edu, number in own.items()}, [(number, number + 1) for number in dropped]
    if tree.texts is None:
        raise DataError("a tree has no texts, so that the characters of detached EDUs are not known.")
    texts = dict(zip(numbers, tree.texts, strict=True)) | dropped
    order = sorted(texts)
    ends = accumulate((len("".join(texts[number].split())) for number in order), initial=0)
    ranges = dict(zip(order, pairwise(ends), strict=True))
    return {edu: ranges[number] for edu, number in own.items()}, [ranges[number] for number in dropped]


def _union(ranges: Iterable[_Range]) -> list[_Range]:
    """Return the union of ranges as ranges that do not touch."""
    union: list[_Range] = []
    for first, end in sorted(ranges):
        if union and first <= union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((first, end))
    return union


def _pruned(tree: DiscourseTree, kept: Sequence[int]) -> DiscourseTree:
    """Return the tree of some of its EDUs, renumbered; a node with one child left becomes that child.

    Where several satellites have lost their nucleus, the nearest, first of those to its right, takes its place.
    """
    start = tree.nodes[0].first
    if len(kept) == tree.n_edus:
        return replace(tree, dropped=())
    numbers = dict(zip(kept, range(start, start + len(kept)), strict=True))
    nodes = list(tree.nodes)
    spans: dict[int, _Range] = {}  # first and last EDU of the nodes that are left
    only: set[int] = set()  # nodes that are left out, as their parent takes their place
    for place in reversed(range(len(nodes))):  # children before parents
        own = [child for child in tree.children[place] if child in spans]
        if nodes[place].is_leaf and nodes[place].first in numbers:
            spans[place] = (numbers[nodes[place].first],) * 2
        elif own:
            spans[place] = (spans[own[0]][0], spans[own[-1]][1])
            only |= set(own) if len(own) == 1 else set()
        if len(own) > 1 and all(nodes[child].nuclearity == SATELLITE for child in own):
            nucleus = next(child for child in tree.children[place] if nodes[child].nuclearity == NUCLEUS)
            heir = next((child for child in own if child > nucleus), own[-1])
            nodes[heir] = nodes[heir]._replace(nuclearity=NUCLEUS, relation=SPAN)
    left = [Node(*spans[place], *nodes[place][2:]) for place in sorted(spans) if place not in only]
    texts = None if tree.texts is None else tuple(tree.texts[edu - start] for edu in kept)
    return replace(tree, nodes=left, texts=texts, dropped=())


REFERENCE = "reference"


class Documents(dict[str, DiscourseTree]):
    """Trees by name of the document, with the faults in the files of others.

    Attributes
    ----------
    faults : dict from str to tuple of Fault
        Faults of the documents whose files cannot be used, which are not among the trees.
    left_out : DataFrame
        These documents, and what is doubted or repaired in others. Columns: ``edition`` (the document), ``level``,
        ``what``, ``why``.
    """

    def __init__(
        self, trees: Mapping[str, DiscourseTree], faults: Mapping[str, tuple[Fault, ...]], doubted: pd.DataFrame
    ) -> None:
        super().__init__(trees)
        self.faults = dict(faults)
        unused = [(name, "file", fault.file, str(fault)) for name, own in faults.items() for fault in own]
        self.left_out = pd.DataFrame([*unused, *doubted.to_numpy()], columns=list(LEFT_OUT_COLUMNS), dtype=object)


class Unusable(NamedTuple):
    """Reason why a document cannot be used, with the system and, for a faulty file, the place."""

    document: str
    system: str
    file: str | None
    line: int | None
    reason: str


class Paired(NamedTuple):
    """Documents that all sides have, with the same EDUs.

    Attributes
    ----------
    gold, systems
        Trees of the reference, and of each system.
    left_out : DataFrame
        One row per document, system and fault: ``document``, ``system``, ``file``, ``line``, ``reason``.
    dropped : dict from str to int
        Number of EDUs of the reference's file that one side has detached, by document; without those that have none.
    """

    gold: dict[str, DiscourseTree]
    systems: dict[str, dict[str, DiscourseTree]]
    left_out: pd.DataFrame
    dropped: dict[str, int]


class DocumentsError(FaultsError):
    """Documents cannot be used; the message lists all of them.

    Examples
    --------
    >>> print(DocumentsError([Fault("a.dis", 1, "no tree.")], "1 of 2 documents cannot be used:", "Mend it."))
    1 of 2 documents cannot be used:
      a.dis, line 1: no tree.
    Mend it.
    """

    def __init__(self, faults: Iterable[Fault], head: str = "", advice: str = "") -> None:
        super().__init__(faults)
        self.args = (self.faults, head, advice)  # what pickle gives back to this function
        self.head, self.advice = head, advice

    def __str__(self) -> str:
        """Return the head, all faults and the advice."""
        lines = [str(fault) for fault in self.faults]
        if not self.head:
            return "\n".join(lines)
        return "\n  ".join([self.head, *lines]) + (f"\n{self.advice}" if self.advice else "")


def refuse_or_warn(documents: Documents, on_error: OnError) -> Documents:
    """Return documents after reading; raise an error or warn if files are faulty.

    Warns
    -----
    LangdiffWarning
        If files are faulty and `on_error` is ``"skip"``.
    """
    if documents.faults:
        faults = [fault for own in documents.faults.values() for fault in own]
        number = f"{len(documents.faults):,} of {len(documents) + len(documents.faults):,} documents"
        if not documents:
            raise DocumentsError(faults, f"{number} cannot be used:" if len(faults) > 1 else "")
        if on_error == "raise":
            raise DocumentsError(
                faults, f"{number} cannot be used:", f"Mend them, or leave them out: {option('on_error', 'skip')}."
            )
        lines = "\n  ".join(map(str, faults))
        warn(f"{number} cannot be used and are left out:\n  {lines}")
    return documents


def pair_documents(
    gold: Mapping[str, DiscourseTree],
    systems: Mapping[str, Mapping[str, DiscourseTree]],
    spans: Spans,
    on_error: OnError,
    *,
    reference: str = REFERENCE,
) -> Paired:
    """Return the documents that all sides have and can be compared, with a table of the others.

    EDUs that the file of one side has detached are dropped from all.

    Warns
    -----
    LangdiffWarning
        If documents are left out.
    """
    found = list(dict.fromkeys(_unusable(gold, systems, reference)))
    ours: dict[str, DiscourseTree] = {}
    theirs: dict[str, dict[str, DiscourseTree]] = {system: {} for system in systems}
    for document, tree in gold.items():
        sides = {system: trees[document] for system, trees in systems.items() if document in trees}
        try:
            ours[document], *others = without_detached([(reference, tree), *sides.items()], spans)
        except DataError as error:
            found.append(Unusable(document, reference, None, None, str(error)))
            continue
        for system, other in zip(sides, others, strict=True):
            theirs[system][document] = other
            if what := _difference(ours[document], other, reference, system, spans):
                found.append(Unusable(document, system, None, None, what))
    names = {row.document for row in found}
    if names:
        every = set(gold).union(*systems.values()) | names
        head = f"{len(names):,} of {len(every):,} documents cannot be compared"
        faults = list(dict.fromkeys(_lines(found)))
        kept = every - names
        if on_error == "raise" or not kept:
            raise DocumentsError(faults, f"{head}:", _advice(found, skipping=bool(kept)))
        lines = "\n  ".join(map(str, faults))
        warn(f"{head} and are left out on all sides:\n  {lines}")
    left_out = pd.DataFrame(found, columns=list(Unusable._fields)).astype({"line": "Int64"})
    ours = _without(ours, names)
    sizes = {name: gold[name].n_edus + len(gold[name].dropped) - tree.n_edus for name, tree in ours.items()}
    dropped = {name: size for name, size in sizes.items() if size}
    return Paired(ours, {system: _without(trees, names) for system, trees in theirs.items()}, left_out, dropped)


def _without(trees: Mapping[str, DiscourseTree], names: set[str]) -> dict[str, DiscourseTree]:
    return {name: tree for name, tree in trees.items() if name not in names}


def _unusable(
    gold: Mapping[str, DiscourseTree], systems: Mapping[str, Mapping[str, DiscourseTree]], reference: str
) -> Iterator[Unusable]:
    """Yield the reasons why documents are not there on all sides: faulty files, and none."""
    for system, trees in [(reference, gold), *systems.items()]:  # a system may have the name of the reference
        for document, faults in _faults(trees).items():
            yield from (Unusable(document, system, fault.file, fault.line, fault.fault) for fault in faults)
    known = set(gold) | set(_faults(gold))
    for system, trees in systems.items():
        named = set(trees) | set(_faults(trees))
        yield from (Unusable(document, system, None, None, "no prediction.") for document in sorted(known - named))
        yield from (Unusable(document, system, None, None, "no reference.") for document in sorted(named - known))


def _faults(trees: Mapping[str, DiscourseTree]) -> Mapping[str, tuple[Fault, ...]]:
    return trees.faults if isinstance(trees, Documents) else {}


def _difference(gold: DiscourseTree, predicted: DiscourseTree, reference: str, system: str, spans: Spans) -> str:
    """Describe the units in which two trees of a document differ; empty if the trees can be compared."""
    if spans == "edus":
        ours, theirs = gold.nodes[0], predicted.nodes[0]
        who = "the reference" if reference == REFERENCE else reference
        return f"{who} has {ours}, {system} has {theirs}." if ours[:2] != theirs[:2] else ""
    ours_text, theirs_text = characters_of(gold), characters_of(predicted)
    if ours_text == theirs_text or not (gold.texts and predicted.texts):
        return ""
    pairs = enumerate(zip_longest(ours_text, theirs_text))
    place = next(place for place, (one, other) in pairs if one != other)
    ours_there, theirs_there = (text[place : place + 20] for text in (ours_text, theirs_text))
    return (
        f"the text is not that of the reference. They differ first in character {place + 1} (white space not "
        f"counted): {theirs_there!r}, not {ours_there!r}."
    )


def _lines(found: Iterable[Unusable]) -> Iterator[Fault]:
    """Yield the lines of a message: faults of files, then documents by system and reason."""
    groups: dict[tuple[str, str], list[str]] = {}
    for row in found:
        if row.file is not None:
            yield Fault(row.file, row.line, row.reason)
        else:
            groups.setdefault((row.system, row.reason), []).append(row.document)
    for (system, reason), documents in groups.items():
        yield Fault(f"{system}, {', '.join(documents)}", None, reason)


def _advice(found: Iterable[Unusable], *, skipping: bool) -> str:
    said = []
    if any(row.file is None and " has EDU" in row.reason for row in found):
        said.append(f"If the text was segmented differently, compare characters: {option('spans', 'chars')}.")
    if skipping:
        said.append(f"Mend these documents, or leave them out on all sides: {option('on_error', 'skip')}.")
    return " ".join(said)
