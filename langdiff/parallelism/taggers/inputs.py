"""Inputs of a tagger: sections with their tags, sources of vectors, and batches."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from langdiff.errors import ConfigError, DataError
from langdiff.parallelism.documents import Document
from langdiff.parallelism.tagging import TaggingScheme

Documents = Mapping[str, Document] | Iterable[Document]


class TaggedSection(NamedTuple):
    """Words of a section, and their tags."""

    words: tuple[str, ...]
    tags: tuple[str, ...]


def words_of_sections(document: Document) -> list[tuple[str, ...]]:
    """Return the words of each section of a document that has any.

    Examples
    --------
    >>> from langdiff.parallelism import Section, make_document
    >>> parts = [Section("1", 0, 2), Section("2", 2, 2), Section("3", 2, 3)]
    >>> words_of_sections(make_document("1", ["a", "rose", "is"], [], parts))
    [('a', 'rose'), ('is',)]
    """
    return [document.tokens[one.start : one.end] for one in document.sections if one.end > one.start]


def tagged_sections(documents: Iterable[Document], scheme: TaggingScheme) -> list[TaggedSection]:
    """Return the sections of documents with the tags of the outermost stratum.

    Documents are tagged whole, so that a parallelism may cross from a section to the next.
    """
    found = []
    for document in documents:
        tags = scheme.encode(document)
        found += [
            TaggedSection(document.tokens[one.start : one.end], tags[one.start : one.end])
            for one in document.sections
            if one.end > one.start
        ]
    return found


def with_tags(document: Document, tags: Sequence[Sequence[str]], scheme: TaggingScheme) -> Document:
    """Return a document with the parallelisms that the tags of its sections encode."""
    joined = [tag for section in tags for tag in section]
    if len(joined) != len(document.tokens):
        raise DataError(f"Document {document.name}: {len(joined)} tags for {len(document.tokens)} tokens.")
    return replace(document, parallelisms=scheme.decode(joined))


class Inputs(NamedTuple):
    """Inputs of one section: ids of units whose vectors are learned, or fixed vectors.

    Attributes
    ----------
    length : int
        Number of words, T.
    ids : Tensor of int, shape (S,), or None
        Ids of words, or of the subwords of all words.
    owners : Tensor of int, shape (S,), or None
        Number of the word that each subword is of, never falling.
    vectors : Tensor, shape (T, D), or None
        Vectors of words.
    """

    length: int
    ids: Tensor | None = None
    owners: Tensor | None = None
    vectors: Tensor | None = None


class Source(Protocol):
    """Interface of sources that convert the words of sections to inputs."""

    @property
    def size(self) -> int | None:
        """Number of units whose vectors are learned; None if none are."""
        ...

    @property
    def width(self) -> int | None:
        """Width of vectors that are not learned; None for learned ones."""
        ...

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the inputs of sections, given by their words."""
        ...


class Batch(NamedTuple):
    """Inputs of several sections, one after the other.

    Attributes
    ----------
    lengths : Tensor of int, shape (B,)
        Numbers of words.
    ids, owners, vectors : Tensor or None
        As those of `Inputs`, of all sections; words are numbered through.
    """

    lengths: Tensor
    ids: Tensor | None
    owners: Tensor | None
    vectors: Tensor | None


def make_batch(inputs: Sequence[Inputs], device: torch.device | str = "cpu") -> Batch:
    """Return sections as a batch.

    Examples
    --------
    >>> one, two = (Inputs(2, ids=torch.tensor([5, 6, 7]), owners=torch.tensor([0, 0, 1])) for _ in range(2))
    >>> make_batch([one, two]).owners.tolist()
    [0, 0, 1, 2, 2, 3]
    """
    lengths = torch.tensor([each.length for each in inputs])
    before = (lengths.cumsum(0) - lengths).tolist()
    owners = [each.owners + first for each, first in zip(inputs, before, strict=True) if each.owners is not None]
    ids = [each.ids for each in inputs if each.ids is not None]
    vectors = [each.vectors for each in inputs if each.vectors is not None]
    joined = (torch.cat(parts).to(device) if parts else None for parts in (ids, owners, vectors))
    return Batch(lengths.to(device), *joined)


def blend(vectors: Tensor, owners: Tensor, n_words: int, how: str) -> Tensor:
    """Return one vector per word, from those of its subwords.

    Shapes: vectors (S, D); owners (S,).

    Examples
    --------
    >>> vectors, owners = torch.tensor([[1.0], [3.0], [5.0]]), torch.tensor([0, 0, 1])
    >>> [blend(vectors, owners, 2, how).flatten().tolist() for how in ("first", "mean", "sum")]
    [[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]]
    """
    counts = torch.bincount(owners, minlength=n_words)
    if how == "first":
        return vectors[counts.cumsum(0) - counts]
    total = vectors.new_zeros(n_words, vectors.shape[1]).index_add(0, owners, vectors)
    if how == "sum":
        return total
    if how == "mean":
        return total / counts[:, None]
    raise ConfigError(f"subwords are blended by first, mean or sum; got {how!r}.")


def as_list(documents: Documents) -> list[Document]:
    """Return the documents of a mapping from their names, or of an iterable, as a list."""
    return list(documents.values() if isinstance(documents, Mapping) else documents)
