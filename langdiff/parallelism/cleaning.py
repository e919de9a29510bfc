"""Clean-ups before annotations are compared: conjunctions at the start of branches, interlocked parallelisms."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Sequence
from itertools import pairwise
from string import punctuation

from langdiff.parallelism.documents import Branch, Document, Parallelism, make_document
from langdiff.parallelism.enclosing import depths

_LATIN = "et at ac atque atqui autem uel aut sed nam enim etenim nec neque ergo igitur itaque tamen uero"
CONJUNCTIONS = frozenset(_LATIN.split())


def align_conjunctions(document: Document, conjunctions: Collection[str] = CONJUNCTIONS) -> Document:
    """Let all branches of a parallelism begin with a conjunction, or none.

    A branch has a conjunction if that is its first token or the token before it. If all branches have one, those that
    do not begin with it are extended by it; else conjunctions at the start of branches are taken off.

    Parameters
    ----------
    document : Document
        Document whose parallelisms are to be changed.
    conjunctions : collection of str
        Conjunctions, in lower case; by default those of the published study of Latin sermons.

    Returns
    -------
    Document
        The document with changed branches. Branches that consist of a conjunction may vanish, and parallelisms with
        them. A branch is not extended into another branch of its parallelism.

    Examples
    --------
    >>> words = "et uenit , et uidit et uicit".split()
    >>> document = make_document("1", words, [Parallelism(((0, 2), (4, 5), (6, 7)))])
    >>> align_conjunctions(document).parallelisms[0].branches
    ((0, 2), (3, 5), (5, 7))
    """
    known = [token.lower() in conjunctions for token in document.tokens]
    changed = []
    for one in document.parallelisms:
        ends = {end for _, end in one.branches}
        if all(known[start] or (start > 0 and known[start - 1]) for start, _ in one.branches):
            branches = [(s if known[s] or s in ends else s - 1, e) for s, e in one.branches]
        else:
            branches = [(s + 1 if known[s] else s, e) for s, e in one.branches]
            branches = [(start, end) for start, end in branches if start < end]
        if branches:
            changed.append(Parallelism(tuple(branches), one.kind))
    return make_document(document.name, document.tokens, changed, document.sections)


def merge_interlocked(document: Document, conjunctions: Collection[str] = CONJUNCTIONS) -> Document:
    """Merge parallelisms whose branches follow one another throughout.

    Two parallelisms of one stratum with as many branches interlock if every branch of the first is followed by the
    branch of the second with only conjunctions and punctuation between. Chains of such parallelisms become one, whose
    branches run from the first to the last of each place. If that equals a parallelism of a lower stratum, it is left
    out.

    Parameters
    ----------
    document : Document
        Document whose parallelisms are to be changed.
    conjunctions : collection of str
        Conjunctions, in lower case; by default those of the published study of Latin sermons.

    Returns
    -------
    Document
        The document with fewer parallelisms.

    Examples
    --------
    >>> words = "uenit et uidit , uicit et rediit".split()
    >>> document = make_document("1", words, [Parallelism(((0, 1), (4, 5))), Parallelism(((2, 3), (6, 7)))])
    >>> merge_interlocked(document).parallelisms
    (Parallelism(branches=((0, 3), (4, 7)), kind=None),)
    """
    levels = depths(document)
    lower: list[set[tuple[Branch, ...]]] = [set() for _ in range(1 + max(levels, default=0))]
    for one, depth in zip(document.parallelisms, levels, strict=True):
        for above in range(depth + 1, len(lower)):
            lower[above].add(one.branches)
    kept = []
    for depth, earlier in enumerate(lower):
        own = [one for one, other in zip(document.parallelisms, levels, strict=True) if other == depth]
        for group in _interlocked(own, document.tokens, conjunctions):
            merged = _merged(group)
            if any(one[1] > other[0] for one, other in pairwise(merged.branches)):
                kept += group  # places of several branches run into each other
            elif len(group) == 1 or merged.branches not in earlier:
                kept.append(merged)
    return make_document(document.name, document.tokens, kept, document.sections)


def _interlocked(
    parallelisms: Sequence[Parallelism], tokens: Sequence[str], conjunctions: Collection[str]
) -> list[list[Parallelism]]:
    """Return groups of parallelisms that interlock; most have one member."""
    content = [
        place
        for place, token in enumerate(tokens)
        if token.lower() not in conjunctions and not all(character in punctuation for character in token)
    ]

    def following(places: Sequence[int]) -> tuple[int, ...]:
        return tuple(bisect_left(content, place) for place in places)

    begun: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for number, one in enumerate(parallelisms):
        begun[following([start for start, _ in one.branches])].append(number)
    group = list(range(len(parallelisms)))  # number of the first member
    for number, one in enumerate(parallelisms):
        for other in begun.get(following([end for _, end in one.branches]), []):
            pairs = zip(one.branches, parallelisms[other].branches, strict=True)
            if other != number and all(before[1] <= after[0] for before, after in pairs):
                old, new = sorted((group[number], group[other]), reverse=True)
                group = [new if known == old else known for known in group]
    members: defaultdict[int, list[Parallelism]] = defaultdict(list)
    for number, one in zip(group, parallelisms, strict=True):
        members[number].append(one)
    return list(members.values())


def _merged(group: Sequence[Parallelism]) -> Parallelism:
    places = zip(*(one.branches for one in group), strict=True)
    branches = tuple((min(s for s, _ in place), max(e for _, e in place)) for place in places)
    kinds = {one.kind for one in group}
    return Parallelism(branches, kinds.pop() if len(kinds) == 1 else None)
