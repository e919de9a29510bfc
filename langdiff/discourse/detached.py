"""Detached EDUs: what one side of a comparison dropped is dropped from all, so that they have the same EDUs."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise
from typing import Literal

from langdiff.discourse.nodes import NUCLEUS, SATELLITE, SPAN, Node
from langdiff.discourse.tree import DiscourseTree
from langdiff.errors import DataError

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
