"""Documents whose parallelisms are annotated: tokens, sections, and sets of parallelisms."""

from collections.abc import Sequence
from dataclasses import dataclass

from langdiff.errors import DataError

Branch = tuple[int, int]  # half-open span of tokens, from 0


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
