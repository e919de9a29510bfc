"""Inputs of a tagger (sections with tags, batches) and learned vectors of words, of lemmata and of subwords."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor

from langdiff.base.types import Floats, import_extra
from langdiff.errors import ConfigError, DataError
from langdiff.lm.units.alphabet import Alphabet
from langdiff.lm.units.bpe import BPE_RATIO, BPEUnits
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

    @property
    def width(self) -> int | None:
        """Width of vectors that are not learned; None for learned ones."""

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the inputs of sections, given by their words."""


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


Lemmatizer = Callable[[str], str]

# u for the consonant v, as in critical editions of Latin: at the start before a vowel, and between vowels
_CONSONANT_U = re.compile(r"(?:^|(?<=[aeiouy]))u(?=[aeiouy])")
_CACHED = 1 << 18  # words
UNKNOWN = 0  # id of all words that were not seen in training


def find_lemmatizer(given: str | Lemmatizer) -> Lemmatizer:
    """Return a function from word to lemma.

    Examples
    --------
    >>> lemma = find_lemmatizer("la")
    >>> [lemma(word) for word in "uidit uitam uiuunt".split()]
    ['uideo', 'uita', 'uiuo']
    """
    if callable(given):
        return given
    simplemma = import_extra("simplemma", "simplemma is not installed: pip install 'langdiff[lemmas]'.")
    try:
        simplemma.lemmatize("a", lang=given)
    except ValueError as error:
        raise ConfigError(
            f"simplemma has no word list of language {given!r}: give a language that it has, or a function from word "
            "to lemma, or settings with lemmatize = False."
        ) from error

    @lru_cache(_CACHED)
    def lemma(word: str) -> str:
        if given != "la":
            return str(simplemma.lemmatize(word, lang=given))
        return str(simplemma.lemmatize(_CONSONANT_U.sub("v", word), lang="la")).replace("v", "u")

    return lemma


class Vocabulary(NamedTuple):
    """Words of a training part by the frequency of their types.

    Attributes
    ----------
    words : tuple of str
        Types in the order of their first occurrence; word k has id k + 1, as 0 is that of unknown words.
    once : tuple of int
        Ids of the types that occur once.
    replacement : float
        Probability with which an occurrence of such a word is replaced in training, see `replacement_probability`.
    """

    words: tuple[str, ...]
    once: tuple[int, ...]
    replacement: float


def count_words(sections: Iterable[Sequence[str]]) -> Vocabulary:
    """Return the vocabulary of a training part.

    Examples
    --------
    >>> count_words([["a", "rose", "is", "a", "rose"], ["it", "is"]])
    Vocabulary(words=('a', 'rose', 'is', 'it'), once=(4,), replacement=0.14285714285714285)
    """
    counts = Counter(word for section in sections for word in section)
    once = tuple(number for number, count in enumerate(counts.values(), 1) if count == 1)
    twice = sum(count == 2 for count in counts.values())
    return Vocabulary(tuple(counts), once, replacement_probability(len(once), twice))


def replacement_probability(once: int, twice: int) -> float:
    r"""Return the probability with which an occurrence of a singleton becomes the unknown word.

    .. math:: \lambda = n_1 / (n_1 + 2 n_2)

    Examples
    --------
    >>> round(replacement_probability(7367, 1958), 4)
    0.6529
    """
    return once / (once + 2 * twice) if once else 0.0


class LearnedWords:
    """Ids of words, of which unknown ones share one.

    Parameters
    ----------
    words : tuple of str
        Known words.
    """

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.size = len(words) + 1
        self.width = None  # a setting

    @cached_property
    def _id_of(self) -> dict[str, int]:
        return {word: number for number, word in enumerate(self.words, 1)}

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the ids of the words of each section."""
        return [
            Inputs(len(words), ids=torch.tensor([self._id_of.get(word, UNKNOWN) for word in words]))
            for words in sections
        ]


class SingletonReplacement:
    """Replaces words seen once by the unknown word, each occurrence anew.

    Parameters
    ----------
    vocabulary : Vocabulary
        Vocabulary of the training part.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._chance: Floats = np.zeros(len(vocabulary.words) + 1)
        self._chance[list(vocabulary.once)] = vocabulary.replacement

    def __call__(self, inputs: Inputs, rng: np.random.Generator) -> Inputs:
        """Return the inputs of a section with some words replaced."""
        if inputs.ids is None:
            return inputs
        replaced = torch.from_numpy(rng.random(len(inputs.ids)) < self._chance[inputs.ids.numpy()])
        return inputs._replace(ids=inputs.ids.masked_fill(replaced, UNKNOWN))


class LearnedSubwords:
    """Ids of the subwords of each word.

    Parameters
    ----------
    units : BPEUnits
        Byte-pair units; each word is cut on its own.
    """

    def __init__(self, units: BPEUnits) -> None:
        self.units = units
        self.size = units.size
        self.width = None  # a setting
        self._cut: dict[str, list[int]] = {}

    def prepare(self, sections: Sequence[Sequence[str]]) -> list[Inputs]:
        """Return the ids of the subwords of each section."""
        return [self._inputs(words) for words in sections]

    def _inputs(self, words: Sequence[str]) -> Inputs:
        cut = [self._units_of(word) for word in words]
        ids = torch.tensor([number for units in cut for number in units])
        owners = torch.arange(len(words)).repeat_interleave(torch.tensor([len(units) for units in cut]))
        return Inputs(len(words), ids=ids, owners=owners)

    def _units_of(self, word: str) -> list[int]:
        if word not in self._cut:
            alphabet = self.units.alphabet
            text = alphabet.apply(word).strip() or alphabet.replacement  # every word has a unit
            self._cut[word] = self.units.encode(text).tolist()
        return self._cut[word]


def learn_subwords(sections: Sequence[Sequence[str]], ratio: float | None) -> LearnedSubwords:
    """Learn byte-pair units from a training part."""
    texts = [" ".join(words) for words in sections]
    alphabet = Alphabet.from_texts(texts)
    units = BPEUnits.train(
        [alphabet.apply(text) for text in texts], alphabet, ratio=BPE_RATIO if ratio is None else ratio
    )
    return LearnedSubwords(units)
