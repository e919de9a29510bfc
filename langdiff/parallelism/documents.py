"""Annotated documents, and the nesting of their branches: strata, and flat, nested or overlapping sets."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from langdiff.base.types import check_kind
from langdiff.errors import ConfigError, DataError, listing, warn

Branch = tuple[int, int]  # half-open span of tokens, from 0
Category = Literal["flat", "nested", "overlapping"]


@dataclass(frozen=True, slots=True)
class Parallelism:
    """Spans of one document that are parallel to each other.

    Attributes
    ----------
    branches : tuple of (int, int)
        Half-open spans of tokens, in text order; no two share a token. Annotated parallelisms have two or more,
        predicted ones may have a single branch.
    kind : {"synchystic", "chiastic"} or None
        Whether corresponding words come in the same or in the inverted order; None where that is not annotated.
    """

    branches: tuple[Branch, ...]
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a sermon or a paragraph of an essay: a half-open span of the document's tokens."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """Tokens of a document, its sections, and its parallelisms.

    Attributes
    ----------
    name : str
        Name of the document, the same in all versions and systems.
    tokens : tuple of str
        Tokens in text order, at least one.
    parallelisms : tuple of Parallelism
        Ordered by where the first branch begins, then by where it ends; number k of messages and tables is
        `parallelisms[k - 1]`. May be empty.
    sections : tuple of Section
        Sections in text order; they cover all tokens.
    """

    name: str
    tokens: tuple[str, ...]
    parallelisms: tuple[Parallelism, ...]
    sections: tuple[Section, ...]


Documents = Mapping[str, Document]


def make_document(
    name: str,
    tokens: Sequence[str],
    parallelisms: Sequence[Parallelism],
    sections: Sequence[Section] | None = None,
) -> Document:
    """Return a document with its parallelisms in order, after checks.

    Parameters
    ----------
    name : str
        Name of the document.
    tokens : sequence of str
        Tokens in text order.
    parallelisms : sequence of Parallelism
        Parallelisms in any order, their branches in any order.
    sections : sequence of Section, optional
        Sections; by default the whole document is one section named "1".

    Returns
    -------
    Document
        The document.

    Raises
    ------
    DataError
        If there are no tokens, or a branch is empty, lies outside the document or shares a token with another
        branch of its parallelism, or a parallelism has no branches.

    Examples
    --------
    >>> document = make_document("1", "he came and he saw".split(), [Parallelism(((0, 2), (3, 5)))])
    >>> document.parallelisms
    (Parallelism(branches=((0, 2), (3, 5)), kind=None),)
    """
    if not tokens:
        raise DataError(f"Document {name} has no tokens.")
    ordered = sorted(
        (Parallelism(tuple(sorted(one.branches)), one.kind) for one in parallelisms),
        key=lambda one: one.branches[:1],
    )
    for number, one in enumerate(ordered, 1):
        _check(name, number, one, len(tokens))
    return Document(
        name, tuple(tokens), tuple(ordered), tuple(sections) if sections else (Section("1", 0, len(tokens)),)
    )


def _check(name: str, number: int, parallelism: Parallelism, length: int) -> None:
    where = f"Document {name}, parallelism {number}"
    if not parallelism.branches:
        raise DataError(f"{where} has no branches.")
    last = 0
    for start, end in parallelism.branches:
        if not 0 <= start < end <= length:
            raise DataError(f"{where}: branch ({start}, {end}) is empty or outside the {length} tokens.")
        if start < last:
            raise DataError(f"{where}: branch ({start}, {end}) shares tokens with the branch before it.")
        last = end


def strata(document: Document) -> tuple[int, ...]:
    """Return the stratum of each parallelism: the largest number of branches that enclose one of its branches.

    Of two equal branches, that of the parallelism with more tokens in its branches encloses the other; of equally
    large parallelisms, that with the smaller number.

    Parameters
    ----------
    document : Document
        Document with its parallelisms.

    Returns
    -------
    tuple of int
        Stratum of each parallelism, from 0 (outermost).

    Raises
    ------
    DataError
        If two branches of one stratum share a token; the message names both.

    Notes
    -----
    Within a stratum no two branches share a token, so that one sequence of tags per stratum describes a document
    (Bothwell et al. 2023).

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> outer, inner = Parallelism(((0, 4), (5, 9))), Parallelism(((0, 2), (2, 4)))
    >>> document = make_document("1", "to come and go , to stay or leave".split(), [outer, inner])
    >>> [(one.branches[0], stratum) for one, stratum in zip(document.parallelisms, strata(document), strict=True)]
    [((0, 2), 1), ((0, 4), 0)]
    """
    found = depths(document)
    _check_strata(document, found)
    return found


def depths(document: Document) -> tuple[int, ...]:
    """Return the stratum of each parallelism as `strata` does, whether or not branches of one stratum share tokens.

    Examples
    --------
    >>> from langdiff.parallelism import make_document
    >>> crossed = Parallelism(((0, 3), (4, 6))), Parallelism(((2, 4), (6, 8)))
    >>> depths(make_document("1", "to come and go or stay or leave".split(), crossed))
    (0, 0)
    """
    found = [0] * len(document.parallelisms)
    ends: list[int] = []  # of the branches that begin before, or in the same place and enclose
    for _, end, number in enclosing_first(document.parallelisms):
        found[number] = max(found[number], len(ends) - bisect_left(ends, end))
        insort(ends, end)
    return tuple(found)


def nesting(parallelisms: Iterable[Parallelism]) -> Category:
    """Classify the nesting of branches over all parallelisms of a set.

    Parameters
    ----------
    parallelisms : iterable of Parallelism
        Parallelisms of one document.

    Returns
    -------
    {"flat", "nested", "overlapping"}
        "flat" if no two branches share a token, "nested" if of every two that do one contains the other (or they are
        equal), else "overlapping".

    Examples
    --------
    >>> nesting([Parallelism(((0, 2), (4, 6))), Parallelism(((2, 4), (6, 8)))])
    'flat'
    >>> nesting([Parallelism(((0, 3), (4, 6))), Parallelism(((2, 4), (6, 8)))])
    'overlapping'
    """
    found: Category = "flat"
    open_ends: list[int] = []  # of branches around the current one, outermost first
    for start, end, _ in enclosing_first(parallelisms):
        while open_ends and open_ends[-1] <= start:
            open_ends.pop()
        if open_ends:
            if end > open_ends[-1]:
                return "overlapping"
            found = "nested"
        open_ends.append(end)
    return found


def enclosing_first(parallelisms: Iterable[Parallelism]) -> list[tuple[int, int, int]]:
    """Return start, end and number of the parallelism, from 0, of every branch: in text order, the enclosing one first.

    Which of two equal branches encloses the other is said in `strata`.

    Examples
    --------
    >>> enclosing_first([Parallelism(((0, 2), (4, 6))), Parallelism(((0, 2), (3, 9)))])
    [(0, 2, 1), (0, 2, 0), (3, 9, 1), (4, 6, 0)]
    """
    branches = [
        (start, -end, -sum(stop - begin for begin, stop in one.branches), number)
        for number, one in enumerate(parallelisms)
        for start, end in one.branches
    ]
    return [(start, -minus_end, number) for start, minus_end, _, number in sorted(branches)]


def _check_strata(document: Document, found: tuple[int, ...]) -> None:
    branches = sorted(
        (stratum, start, end, number)
        for number, (stratum, one) in enumerate(zip(found, document.parallelisms, strict=True))
        for start, end in one.branches
    )
    for (stratum, start, end, number), (other, begin, stop, second) in pairwise(branches):
        if stratum == other and begin < end:
            raise DataError(
                f"Document {document.name}: branch {_quote(document, (start, end))} of parallelism {number + 1} and "
                f"branch {_quote(document, (begin, stop))} of parallelism {second + 1} share tokens in stratum "
                f"{stratum}. Branches of one stratum may not; correct one of the two."
            )


def _quote(document: Document, branch: Branch) -> str:
    return f"({branch[0]}, {branch[1]}) {' '.join(document.tokens[slice(*branch)])!r}"


def check_documents(hypotheses: Mapping[str, Documents], references: Documents) -> None:
    """Check that documents can be compared, and warn about documents that systems lack."""
    by_name = "{'1': …}, as read_parallelisms reads them"
    check_kind(references, Mapping, f"references are documents by name, {by_name}")
    check_kind(hypotheses, Mapping, f"hypotheses are documents by system and by name, {{'tagger': {by_name}}}")
    for documents in hypotheses.values():
        check_kind(documents, Mapping, f"documents of a system are given by name, {by_name}")
    for document in (*references.values(), *(one for own in hypotheses.values() for one in own.values())):
        check_kind(document, Document, "what is scored are documents, as read_parallelisms reads them")
    if not hypotheses:
        raise ConfigError("there are no systems to score; give at least one.")
    if not references:
        raise DataError("there are no reference documents.")
    for system, documents in hypotheses.items():
        if more := [name for name in documents if name not in references]:
            raise DataError(f"{len(more)} document(s) of {system} are not among the references: {listing(more)}.")
        if not documents:
            raise DataError(f"{system} has no documents.")
        for name, document in documents.items():
            _check_tokens(system, document.tokens, name, references[name].tokens)
        if less := [name for name in references if name not in documents]:
            warn(
                f"{system} lacks {len(less)} of {len(references)} document(s): {listing(less)}. Its totals leave "
                "them out; compare systems on the same documents only."
            )


def _check_tokens(system: str, ours: Sequence[str], name: str, theirs: Sequence[str]) -> None:
    if len(ours) == len(theirs):
        return
    pairs = enumerate(zip(ours, theirs, strict=False))
    first = next((place for place, (one, other) in pairs if one != other), min(len(ours), len(theirs)))
    raise DataError(
        f"document {name} has {len(ours):,} tokens in {system} and {len(theirs):,} in the reference, and they differ "
        f"from token {first} on (counted from 0). Both versions must be tokenised alike."
    )
