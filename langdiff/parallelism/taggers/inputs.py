"""What a section of a document becomes before a network reads it, and several sections as one batch."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from langdiff.errors import ConfigError


class Inputs(NamedTuple):
    """One section: ids of units whose vectors are learned, or vectors that are not.

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
    """What turns the words of sections into inputs."""

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

    Parameters
    ----------
    vectors : Tensor, shape (S, D)
        Vectors of subwords.
    owners : Tensor of int, shape (S,)
        Number of the word of each, never falling; every word has at least one.
    n_words : int
        Number of words, T.
    how : {"first", "mean", "sum"}
        The vector of the first subword, their mean, or their sum.

    Returns
    -------
    Tensor, shape (T, D)

    Raises
    ------
    ConfigError
        If there is no such way to blend.

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
